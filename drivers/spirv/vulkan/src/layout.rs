//! The layout of the harness buffer, from the JSON embedded in the code as a string.

use serde_json::Value;
use tgsi_driver_spirv::harness::{Layout, SystemSlot};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::shader::ShaderStage;

/// The beginning of the string.
pub const START: &str = "{\"tgsic_harness\":";
/// The supported version of the JSON.
const VERSION: u64 = 1;

/// Parses the JSON.
///
/// # Errors
/// It is not in the supported form.
pub fn parse(json: &str) -> Result<Layout, String> {
    let value: Value = serde_json::from_str(json).map_err(|error| format!("the layout of the harness: {error}"))?;
    read(&value).ok_or_else(|| "the layout of the harness was written by another version of this program".to_owned())
}

fn read(value: &Value) -> Option<Layout> {
    if value["tgsic_harness"].as_u64()? != VERSION {
        return None;
    }
    let number = |name: &str| value[name].as_u64().and_then(|number| u32::try_from(number).ok());
    let name = value["stage"].as_str()?;
    let mut streams = [false; 4];
    for (stream, value) in streams.iter_mut().zip(value["streams"].as_array()?) {
        *stream = value.as_bool()?;
    }
    let slots = value["system_values"].as_array()?.iter().map(slot).collect::<Option<Vec<SystemSlot>>>()?;
    Some(Layout {
        stage: ShaderStage::ALL.iter().copied().find(|stage| stage.name() == name)?,
        output_registers: number("outputs")?,
        system_values: slots,
        streams,
        vertices_out: number("vertices_out")?,
        patch_vertices: number("patch_vertices")?,
        stores_texels: value["stores_texels"].as_bool()?,
        quads: value["quads"].as_bool()?,
        shared: value["shared"].as_bool()?,
    })
}

fn slot(value: &Value) -> Option<SystemSlot> {
    let small = |number: usize| value[number].as_u64().and_then(|number| u8::try_from(number).ok());
    Some(SystemSlot {
        op: IntrinsicOp::from_name(value[0].as_str()?)?,
        component: small(1)?.into(),
        components: small(2)?,
        bit_size: small(3)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_come_back() {
        let system_values =
            vec![SystemSlot { op: IntrinsicOp::LoadFragCoordZw, component: 2, components: 1, bit_size: 32 }];
        let layout = Layout {
            stage: ShaderStage::Geometry,
            output_registers: 3,
            system_values,
            streams: [true, false, true, false],
            vertices_out: 7,
            patch_vertices: 0,
            stores_texels: true,
            quads: false,
            shared: true,
        };
        assert!(layout.to_json().starts_with(START));
        assert_eq!(parse(&layout.to_json()), Ok(layout));
        assert!(parse("{\"tgsic_harness\":2}").is_err());
    }
}

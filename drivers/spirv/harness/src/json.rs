//! The text form of a layout: JSON, which code for a device contains, so that the code alone can be run.

use std::fmt::Write as _;

use serde_json::Value;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::shader::ShaderStage;

use crate::layout::{BUFFER, Layout, SystemSlot};

/// The beginning of the string.
const START: &str = "{\"tgsic_harness\":";
/// The supported version of the JSON.
const VERSION: u64 = 1;

impl Layout {
    /// Serialises the layout to JSON, with which a program that has only the code can run it.
    pub fn to_json(&self) -> String {
        let mut json = format!(
            "{{\"tgsic_harness\":1,\"buffer\":{BUFFER},\"stage\":\"{}\",\"outputs\":{},\"streams\":[{}],\
             \"vertices_out\":{},\"patch_vertices\":{},\"stores_texels\":{},\"quads\":{},\"shared\":{},\
             \"system_values\":[",
            self.stage.name(),
            self.output_registers,
            self.streams.map(|stream| stream.to_string()).join(","),
            self.vertices_out,
            self.patch_vertices,
            self.stores_texels,
            self.quads,
            self.shared,
        );
        for (number, slot) in self.system_values.iter().enumerate() {
            let comma = if number == 0 { "" } else { "," };
            let SystemSlot { op, component, components, bit_size } = slot;
            let _ = write!(json, "{comma}[\"{}\",{component},{components},{bit_size}]", op.name());
        }
        json.push_str("]}");
        json
    }

    /// Parses the JSON in a string of the code; `None` if the string is another one.
    ///
    /// # Errors
    /// It is not in the supported form.
    pub fn from_json(json: &str) -> Option<Result<Layout, String>> {
        json.starts_with(START).then(|| {
            let value: Value =
                serde_json::from_str(json).map_err(|error| format!("the layout of the harness: {error}"))?;
            read(&value)
                .ok_or_else(|| "the layout of the harness was written by another version of this program".to_owned())
        })
    }
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
        assert_eq!(Layout::from_json(&layout.to_json()), Some(Ok(layout)));
        assert!(Layout::from_json("{\"tgsic_harness\":2}").is_some_and(|layout| layout.is_err()));
        assert_eq!(Layout::from_json("{}"), None);
    }
}

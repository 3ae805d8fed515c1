//! Names of slots in declarations and I/O semantics, with constant-time lookup.

use hashbrown::HashMap;
use std::sync::LazyLock;

use crate::intrinsics::IntrinsicOp;
use crate::shader::ShaderStage;
use crate::slots::{FragResult, VaryingSlot, VertAttrib};
use crate::variable::VariableModes;
use tgsi_environment::SystemValue;

/// Kinds of slots.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum SlotKind {
    VertAttrib,
    Varying,
    FragResult,
    SystemValue,
}

struct Tables {
    /// Names with prefix, by kind and number.
    names: [Vec<Option<String>>; 4],
    /// Kind and number by name.
    numbers: HashMap<String, (SlotKind, i32)>,
}

static TABLES: LazyLock<Tables> = LazyLock::new(|| {
    let full = |prefix: &str, name: fn(u8) -> Option<String>| -> Vec<Option<String>> {
        (0..=127).map(|slot| name(slot).map(|n| format!("{prefix}{n}"))).collect()
    };
    let names = [
        full(VertAttrib::PREFIX, VertAttrib::name),
        full(VaryingSlot::PREFIX, VaryingSlot::name),
        full(FragResult::PREFIX, FragResult::name),
        SystemValue::ALL.iter().map(|v| Some(format!("SYSTEM_VALUE_{}", v.name()))).collect(),
    ];
    let kinds = [SlotKind::VertAttrib, SlotKind::Varying, SlotKind::FragResult, SlotKind::SystemValue];
    let numbers = kinds
        .into_iter()
        .zip(&names)
        .flat_map(|(kind, names)| {
            names.iter().enumerate().filter_map(move |(i, n)| Some((n.clone()?, (kind, i as i32))))
        })
        .collect();
    Tables { names, numbers }
});

fn kind_of(stage: ShaderStage, mode: VariableModes) -> Option<SlotKind> {
    let graphics = !matches!(stage, ShaderStage::Compute | ShaderStage::Kernel);
    if mode == VariableModes::SYSTEM_VALUE {
        Some(SlotKind::SystemValue)
    } else if mode == VariableModes::SHADER_IN && graphics {
        Some(if stage == ShaderStage::Vertex { SlotKind::VertAttrib } else { SlotKind::Varying })
    } else if mode == VariableModes::SHADER_OUT && graphics {
        Some(if stage == ShaderStage::Fragment { SlotKind::FragResult } else { SlotKind::Varying })
    } else {
        None
    }
}

/// Name of a location with its prefix; `None` if it has no name.
pub(super) fn slot_name(stage: ShaderStage, mode: VariableModes, location: i32) -> Option<&'static str> {
    let kind = kind_of(stage, mode)?;
    TABLES.names[kind as usize].get(usize::try_from(location).ok()?)?.as_deref()
}

/// The location with this name (with prefix). The prefix alone determines the kind, so names of other stages are
/// understood, too.
pub(super) fn slot_from_name(name: &str) -> Option<i32> {
    TABLES.numbers.get(name).map(|&(_, number)| number)
}

/// Mode of the variables that an I/O intrinsic accesses, for its comment and the name of its slot.
pub(super) fn io_mode(op: IntrinsicOp) -> VariableModes {
    use IntrinsicOp as I;
    match op {
        I::LoadInput
        | I::LoadInputVertex
        | I::LoadPerVertexInput
        | I::LoadInterpolatedInput
        | I::LoadPerPrimitiveInput
        | I::LoadFsInputInterpDeltas => VariableModes::SHADER_IN,
        I::LoadOutput
        | I::LoadPerVertexOutput
        | I::LoadPerViewOutput
        | I::LoadPerPrimitiveOutput
        | I::StoreOutput
        | I::StorePerVertexOutput
        | I::StorePerViewOutput
        | I::StorePerPrimitiveOutput => VariableModes::SHADER_OUT,
        I::LoadUniform => VariableModes::UNIFORM,
        _ => VariableModes::NONE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for (number, name) in TABLES.names.iter().flat_map(|names| names.iter().enumerate()) {
            if let Some(name) = name {
                assert_eq!(slot_from_name(name), Some(number as i32), "{name}");
            }
        }
        assert_eq!(slot_from_name("VARYING_SLOT_VAR1"), Some(33));
        assert_eq!(slot_from_name("FRAG_RESULT_DATA1"), Some(5));
    }
}

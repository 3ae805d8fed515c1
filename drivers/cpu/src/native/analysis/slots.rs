//! Loads of inputs, and stores of outputs at places that are the same in all lanes.

use tgsi_ir::ShaderStage;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::run::Program;
use tgsi_ir::run::native::Intrinsic;

use crate::native::limits::MAX_INPUTS;

/// Returns whether code is generated for a load or store.
pub(in crate::native) fn is_native(program: &Program, intrinsic: &Intrinsic) -> bool {
    // In other stages inputs may come from vertices.
    let simple = matches!(program.stage(), ShaderStage::Vertex | ShaderStage::Fragment);
    // Outputs of tessellation control shaders are shared by all invocations.
    let own_outputs = program.stage() != ShaderStage::TessCtrl;
    match intrinsic.op {
        IntrinsicOp::LoadInput => {
            // A dynamic index requires a range.
            let is_named = intrinsic.offset.is_some()
                || (intrinsic.index(IndexKind::Range) != 0
                    && program.sources_of(intrinsic).last().is_some_and(|offset| offset.bits == 32));
            simple
                && intrinsic.dest.bits == 32
                && is_named
                && last_component(intrinsic).is_none_or(|at| at / 4 < u64::from(MAX_INPUTS))
        }
        IntrinsicOp::StoreOutput => {
            let bits = program.sources_of(intrinsic).first().map_or(0, |value| value.bits);
            own_outputs && matches!(bits, 32 | 64) && intrinsic.offset.is_some()
        }
        _ => false,
    }
}

/// Returns the last component of the file that a load of inputs can read; `None` if it reads none.
fn last_component(intrinsic: &Intrinsic) -> Option<u64> {
    let range = u64::from(intrinsic.index(IndexKind::Range) as u32);
    let offset = match intrinsic.offset {
        Some(offset) => u64::from(offset),
        None => range.checked_sub(1)?,
    };
    let first = u64::from(intrinsic.first_component());
    let last = u64::from(intrinsic.dest.components).checked_sub(1)?;
    let is_inside = range == 0 || offset < range;
    is_inside.then(|| (u64::from(intrinsic.base as u32) + offset) * 4 + first + last)
}

/// Returns the number of input registers accessed by the program's loads that become code.
pub(in crate::native) fn input_registers(program: &Program) -> usize {
    let loads = program
        .intrinsics()
        .iter()
        .filter(|intrinsic| intrinsic.op == IntrinsicOp::LoadInput && is_native(program, intrinsic));
    loads.filter_map(last_component).max().map_or(0, |last| last as usize / 4 + 1)
}

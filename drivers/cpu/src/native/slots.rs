//! Loads of inputs and stores of outputs at places that are the same in all lanes.

use tgsi_ir::Stage;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::run::program::{Intrinsic, Program};

/// Input registers that code reaches. Others are left to the interpreter.
const MAX_INPUTS: u32 = 256;

/// Whether code is made for a load or store.
pub(super) fn is_native(program: &Program, intrinsic: &Intrinsic) -> bool {
    // In other stages inputs may come from vertices.
    let simple = matches!(program.stage(), Stage::Vertex | Stage::Fragment);
    // What tessellation control shaders write is shared by all invocations.
    let own_outputs = program.stage() != Stage::TessCtrl;
    match intrinsic.op {
        IntrinsicOp::LoadInput => {
            let last = u32::from(intrinsic.dest.components).saturating_sub(1);
            simple
                && intrinsic.dest.bits == 32
                && intrinsic.offset.is_some()
                && (0..=last).all(|component| component_of(intrinsic, component).is_none_or(|at| at / 4 < MAX_INPUTS))
        }
        IntrinsicOp::StoreOutput => {
            let bits = program.sources_of(intrinsic).first().map_or(0, |value| value.bits);
            own_outputs && matches!(bits, 32 | 64) && intrinsic.offset.is_some()
        }
        _ => false,
    }
}

/// The component of the file, counted over all registers, that word `word` of the access is; none if it is beyond what
/// the access names.
pub(super) fn component_of(intrinsic: &Intrinsic, word: u32) -> Option<u32> {
    let offset = intrinsic.offset?;
    let range = intrinsic.index(IndexKind::Range) as u32;
    if range != 0 && offset >= range {
        return None;
    }
    let register = (intrinsic.base as u32).wrapping_add(offset);
    let first = (intrinsic.index(IndexKind::Component) & 3) as u32;
    register.checked_mul(4)?.checked_add(first + word)
}

/// Input registers that loads of a program reach, as far as code is made for them.
pub(super) fn input_registers(program: &Program) -> usize {
    let loads = program
        .intrinsics()
        .iter()
        .filter(|intrinsic| intrinsic.op == IntrinsicOp::LoadInput && is_native(program, intrinsic));
    let last = loads.flat_map(|load| {
        (0..u32::from(load.dest.components)).filter_map(move |component| component_of(load, component))
    });
    last.max().map_or(0, |last| last as usize / 4 + 1)
}

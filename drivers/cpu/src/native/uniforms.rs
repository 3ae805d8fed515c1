//! Loads from constant buffers at places that are the same in every run of a shader.

use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::run::program::{Intrinsic, Program};

/// Constant buffers that code can reach. Others are left to the interpreter.
pub(super) const MAX_BUFFERS: u32 = 16;

/// Most words behind the start of a buffer that code reaches.
const MAX_WORD: u64 = 1 << 26;

/// Words of a constant buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The buffer.
    pub buffer: u32,
    /// The first word.
    pub word: u32,
    /// Whether a load that is not all inside gives zero in all components, else only in those outside.
    pub whole: bool,
}

/// The words that a load reads, if their place is known and code can read them.
pub(super) fn place(program: &Program, intrinsic: &Intrinsic) -> Option<Place> {
    let sources = program.sources_of(intrinsic);
    let offset = intrinsic.offset?;
    if intrinsic.dest.bits != 32 {
        return None;
    }
    let buffer = || Some(program.constant(*sources.first()?)?.wrapping_add(program.first_ubo_buffer()));
    let register = u64::from((intrinsic.base as u32).wrapping_add(offset));
    let (buffer, word, whole) = match intrinsic.op {
        IntrinsicOp::LoadUniform => (0, register * 4, false),
        IntrinsicOp::LoadUboVec4 => {
            (buffer()?, register * 4 + (intrinsic.index(IndexKind::Component) as u64 & 3), false)
        }
        IntrinsicOp::LoadUbo if offset % 4 == 0 => {
            let by_vectors =
                intrinsic.index(IndexKind::AlignMul) as u32 >= 16 && intrinsic.index(IndexKind::AlignOffset) & 15 == 0;
            (buffer()?, u64::from(offset / 4), !by_vectors)
        }
        _ => return None,
    };
    (buffer < MAX_BUFFERS && word < MAX_WORD).then_some(Place { buffer, word: word as u32, whole })
}

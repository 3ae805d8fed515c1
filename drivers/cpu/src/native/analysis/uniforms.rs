//! Loads that give all lanes the same words, from constant places: constant buffers, and vertices of the primitive.

use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::run::Program;
use tgsi_ir::run::native::Intrinsic;

use crate::native::limits::{MAX_CONSTANTS, MAX_VERTICES, MAX_WORD};

/// Memory that code reads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(in crate::native) enum Memory {
    /// The constant buffer with this number.
    Constants(u32),
    /// The registers of the primitive's vertex with this number.
    Vertex(u32),
    /// The storage buffer with this number.
    Storage(u32),
    /// Shared memory.
    Shared,
}

/// Words of a buffer.
#[derive(Clone, Copy, Debug)]
pub(in crate::native) struct BufferWords {
    /// The buffer.
    pub memory: Memory,
    /// The first word.
    pub word: u32,
    /// The number of words that are zero together unless all of them are in bounds.
    pub together: u32,
}

/// Returns the words that a load reads, if their place is constant and code can read them.
pub(in crate::native) fn place(program: &Program, intrinsic: &Intrinsic) -> Option<BufferWords> {
    let sources = program.sources_of(intrinsic);
    let offset = intrinsic.offset?;
    if !matches!(intrinsic.dest.bits, 32 | 64) {
        return None;
    }
    let register = u64::from((intrinsic.base as u32).wrapping_add(offset));
    let component = u64::from(intrinsic.first_component());
    let (memory, word) = match intrinsic.op {
        IntrinsicOp::LoadUniform => (constant_buffer(0)?, register * 4),
        IntrinsicOp::LoadUboVec4 => (ubo(program, intrinsic)?, register * 4 + component),
        IntrinsicOp::LoadUbo if offset % 4 == 0 => (ubo(program, intrinsic)?, u64::from(offset / 4)),
        IntrinsicOp::LoadPerVertexInput => {
            let range = intrinsic.index(IndexKind::Range) as u32;
            let vertex = program.constant(*sources.first()?)?;
            let named = vertex < MAX_VERTICES && (range == 0 || offset < range);
            (named.then_some(Memory::Vertex(vertex))?, register * 4 + component)
        }
        _ => return None,
    };
    let together = together(intrinsic);
    (word < MAX_WORD).then_some(BufferWords { memory, word: word as u32, together })
}

/// Returns the number of words of a load that are zero together unless all of them are in bounds.
pub(in crate::native) fn together(intrinsic: &Intrinsic) -> u32 {
    let each = u32::from(intrinsic.dest.bits / 32);
    match intrinsic.op {
        IntrinsicOp::LoadUniform | IntrinsicOp::LoadUboVec4 | IntrinsicOp::LoadPerVertexInput => 1,
        IntrinsicOp::LoadUbo
            if intrinsic.index(IndexKind::AlignMul) as u32 >= 16
                && intrinsic.index(IndexKind::AlignOffset) & 15 == 0 =>
        {
            each
        }
        _ => each * u32::from(intrinsic.dest.components),
    }
}

/// Returns the constant buffer of a load of the `load_ubo` family, if it is constant.
pub(in crate::native) fn ubo(program: &Program, intrinsic: &Intrinsic) -> Option<Memory> {
    let block = program.constant(*program.sources_of(intrinsic).first()?)?;
    constant_buffer(block.wrapping_add(program.first_ubo_buffer()))
}

/// Returns the constant buffer with a number.
pub(in crate::native) fn constant_buffer(number: u32) -> Option<Memory> {
    (number < MAX_CONSTANTS).then_some(Memory::Constants(number))
}

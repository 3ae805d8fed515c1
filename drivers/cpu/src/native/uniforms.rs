//! Loads that give all lanes the same words, from constant places: constant buffers, and vertices of the primitive.

use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::run::program::{Intrinsic, Program};

use super::context::Memory;

/// The number of constant buffers that code can access. Others are left to the interpreter.
pub(super) const MAX_CONSTANTS: u32 = 16;

/// The number of vertices of a primitive that code can access: as many as a patch has.
pub(super) const MAX_VERTICES: u32 = 32;

/// The greatest word of a buffer that code accesses.
const MAX_WORD: u64 = 1 << 26;

/// Words of a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The buffer.
    pub memory: Memory,
    /// The first word.
    pub word: u32,
    /// The number of words that are zero together unless all of them are in bounds.
    pub together: u32,
}

/// Returns the words that a load reads, if their place is constant and code can read them.
pub(super) fn place(program: &Program, intrinsic: &Intrinsic) -> Option<Place> {
    let sources = program.sources_of(intrinsic);
    let offset = intrinsic.offset?;
    if !matches!(intrinsic.dest.bits, 32 | 64) {
        return None;
    }
    let register = u64::from((intrinsic.base as u32).wrapping_add(offset));
    let component = intrinsic.index(IndexKind::Component) as u64 & 3;
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
    (word < MAX_WORD).then_some(Place { memory, word: word as u32, together })
}

/// Returns the number of words of a load that are zero together unless all of them are in bounds.
pub(super) fn together(intrinsic: &Intrinsic) -> u32 {
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
pub(super) fn ubo(program: &Program, intrinsic: &Intrinsic) -> Option<Memory> {
    let block = program.constant(*program.sources_of(intrinsic).first()?)?;
    constant_buffer(block.wrapping_add(program.first_ubo_buffer()))
}

/// Returns the constant buffer with a number.
pub(super) fn constant_buffer(number: u32) -> Option<Memory> {
    (number < MAX_CONSTANTS).then_some(Memory::Constants(number))
}

//! Loads from places that differ by lane: constant buffers with dynamic indices, storage buffers, shared memory.
//!
//! Each lane's address is checked against the length of the memory before it is read; lanes out of bounds read the
//! zeros of the context.

use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::run::Program;
use tgsi_ir::run::native::{Intrinsic, Value};

use super::uniforms::{self, Memory};
use crate::native::limits::{MAX_STORAGE, ZEROS};

/// A load from a place that differs by lane.
#[derive(Clone, Copy, Debug)]
pub(in crate::native) struct Gather {
    /// The memory it reads.
    pub memory: Memory,
    /// The place that each lane reads, in units of `1 << shift` bytes: `index + base`, in 32 bits.
    pub index: Value,
    pub base: u32,
    pub shift: u32,
    /// Bytes to add.
    pub first: u32,
    /// The number of words.
    pub words: u32,
    /// The number of words that are zero together unless all of them are in bounds.
    pub together: u32,
}

/// Returns the load of an intrinsic, if code can perform it.
pub(in crate::native) fn gather(program: &Program, intrinsic: &Intrinsic) -> Option<Gather> {
    use IntrinsicOp as I;
    let sources = program.sources_of(intrinsic);
    let component = u32::from(intrinsic.first_component());
    let (memory, index, base, shift, first) = match intrinsic.op {
        I::LoadUniform => (uniforms::constant_buffer(0)?, 0, intrinsic.base, 4, 0),
        I::LoadUboVec4 => (uniforms::ubo(program, intrinsic)?, 1, intrinsic.base, 4, component * 4),
        I::LoadUbo => (uniforms::ubo(program, intrinsic)?, 1, 0, 0, 0),
        I::LoadSsbo => {
            let block = program.constant(*sources.first()?).filter(|&block| block < MAX_STORAGE)?;
            (Memory::Storage(block), 1, intrinsic.base, 0, 0)
        }
        I::LoadShared => (Memory::Shared, 0, intrinsic.base, 0, 0),
        _ => return None,
    };
    let index = *sources.get(index)?;
    let words = intrinsic.dest.vectors();
    let fits = matches!(intrinsic.dest.bits, 32 | 64) && index.bits == 32 && words as usize * 4 <= ZEROS;
    let together = uniforms::together(intrinsic);
    fits.then_some(Gather { memory, index, base: base as u32, shift, first, words, together })
}

//! Machine code that replaces regions of a program.
//!
//! A region is a range of operations without jumps into or out of it: straight-line code, and whole `If`s
//! and loops. A code generator reads the operations (`Program::ops` and the lists they refer to), and installs
//! [`NativeCode`] for them with `Program::set_native`. The interpreter then executes one [`Op::Native`] instead of
//! the region. All other operations, such as atomics, image stores and barriers, are left to the interpreter, so the
//! order of side effects does not change. Machine code may sample textures and read buffers and shared memory one quad
//! at a time, which is not observable because regions do not modify them.
//!
//! Machine code must leave the same memory contents as the operations: the lane vectors that other operations read, in
//! the active lanes. Lane vectors not in `Program::kept` may have any words in inactive lanes. Outputs in
//! `Program::always_stored` may have any words before, and must have zeros in inactive lanes afterwards.

use tgsi_environment::{Resources, Vec4};

pub use super::ops::{Alu, Copy, Intrinsic, JumpTarget, Op, Span, TEX_SOURCE_KINDS, Texture, Value};
pub use super::quad::QuadWords;

/// The state that machine code works on.
pub struct NativeState<'m> {
    /// Textures, for code that samples them; see [`Texture::execute`].
    pub resources: &'m mut dyn Resources,
    /// Whether each existing lane of the block was neither killed nor demoted.
    pub live: &'m mut [bool],
    /// Lane vectors of values, [`width`](Self::width) words each.
    pub words: &'m mut [u32],
    /// Lane vectors of registers.
    pub registers: &'m mut [u32],
    /// The active lanes: 0 or all ones.
    pub active: &'m [u32],
    /// The existing lanes: 0 or all ones.
    pub exists: &'m [u32],
    /// Constant buffers.
    pub constants: &'m [Vec<u32>],
    /// Registers of the vertices of the primitive, in stages with primitives.
    pub vertices: &'m [Vec<Vec4>],
    /// Storage buffers, read-only.
    pub buffers: &'m [Vec<u8>],
    /// Shared memory, read-only.
    pub shared: &'m [u8],
    /// Inputs of the block: one component after the other, [`input_stride`](Self::input_stride) words apart. All
    /// components of [`NativeCode::input_registers`] exist, for whole quads.
    pub inputs: &'m [u32],
    /// Distance between input components, in words.
    pub input_stride: usize,
    /// Outputs of the block in the same form, all `Program::output_registers` of them.
    pub outputs: &'m mut [u32],
    /// Distance between output components, in words.
    pub output_stride: usize,
    /// Number of words of a lane vector, a multiple of 4.
    pub width: usize,
    /// Number of lanes of the block, rounded up to whole quads.
    pub lanes: usize,
    /// Maximum number of operations that each quad may execute.
    pub steps: u64,
}

impl std::fmt::Debug for NativeState<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeState").field("lanes", &self.lanes).field("steps", &self.steps).finish_non_exhaustive()
    }
}

/// Code for the regions of a program.
pub trait NativeCode: Send + Sync + std::fmt::Debug {
    /// Executes a region for all quads with active lanes.
    ///
    /// Returns the maximum number of operations that a quad executed (loop iterations only, so 0 for straight-line
    /// code), or more than [`NativeState::steps`] if a quad exceeded that limit.
    fn execute(&self, region: u32, state: &mut NativeState<'_>) -> u64;

    /// Number of input registers that the code reads.
    fn input_registers(&self) -> usize;

    /// Whether the code reads or writes lane vectors of values or registers. If it does not, and the interpreter
    /// executes nothing else, lane vectors are not allocated.
    fn uses_lane_vectors(&self) -> bool;
}

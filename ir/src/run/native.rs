//! Machine code that replaces regions of a program.
//!
//! A region (a *stretch*) is a range of operations without jumps into or out of it: straight-line code, and whole `If`s
//! and loops. A code generator reads the operations ([`Program::ops`] and the lists they refer to), and installs
//! [`NativeCode`] for them with [`Program::set_native`]. The interpreter then executes one [`Op::Native`] instead of
//! the region. All other operations, such as atomics, image stores and barriers, are left to the interpreter, so the
//! order of side effects does not change. Machine code may sample textures and read buffers and shared memory one quad
//! at a time, which is not observable because regions do not modify them.
//!
//! Machine code must leave the same memory contents as the operations: the planes that other operations read, in the
//! active lanes. Planes not in [`Program::kept`] may have any words in inactive lanes. Outputs in
//! [`Program::always_stored`] may have any words before, and must have zeros in inactive lanes afterwards.

use std::ops::Range;
use std::sync::Arc;

use super::RunError;
use super::machine::Machine;
use super::program::{Op, Program};
use tgsi_environment::{Resources, Vec4};

/// The state that machine code works on.
pub struct NativeState<'m> {
    /// Textures, for code that samples them; see [`Texture::execute`](super::program::Texture::execute).
    pub resources: &'m mut dyn Resources,
    /// Whether each existing lane of the block was neither killed nor demoted.
    pub live: &'m mut [bool],
    /// Planes of values, [`width`](Self::width) words each.
    pub words: &'m mut [u32],
    /// Planes of registers.
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
    /// Outputs of the block in the same form, all [`Program::output_registers`] of them.
    pub outputs: &'m mut [u32],
    /// Distance between output components, in words.
    pub output_stride: usize,
    /// Number of words of a plane, a multiple of 4.
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
    fn execute(&self, stretch: u32, state: &mut NativeState<'_>) -> u64;

    /// Number of input registers that the code reads.
    fn input_registers(&self) -> usize;

    /// Whether the code reads or writes planes of values or registers. If it does not, and the interpreter executes
    /// nothing else, planes are not allocated.
    fn uses_planes(&self) -> bool;
}

impl Program {
    /// Lets `code` execute regions, which are ranges of [`ops`](Self::ops) in ascending order; the code identifies a
    /// region by its position in the list. Overlapping and empty ranges are ignored.
    pub fn set_native(&mut self, stretches: &[Range<u32>], code: Arc<dyn NativeCode>) {
        let mut last = 0;
        for (stretch, range) in (0u32..).zip(stretches) {
            if range.start < last || range.is_empty() {
                continue;
            }
            if let Some(op) = self.ops.get_mut(range.start as usize) {
                *op = Op::Native { stretch, end: range.end };
                last = range.end;
            }
        }
        let mut at = 0;
        while let Some(&Op::Native { end, .. }) = self.ops.get(at) {
            at = end as usize;
        }
        let is_interpreted = !matches!(self.ops.get(at..), Some([Op::End]));
        self.needs_planes = is_interpreted || code.uses_planes();
        self.native = Some(code);
    }

    /// Whether executing needs planes. Without them, larger blocks are cheaper, because only inputs and outputs occupy
    /// the cache.
    pub fn needs_planes(&self) -> bool {
        self.needs_planes
    }
}

impl Machine<'_, '_> {
    /// Executes the machine code of a region.
    pub fn run_native(&mut self, stretch: u32, limit: u64) -> Result<(), RunError> {
        let Some(code) = &self.program.native else { return Ok(()) };
        let left = limit - self.steps.min(limit);
        let inputs = &self.inputs.inputs;
        // The code reads all of its input registers. If some are missing, or if the quads of the block do not match
        // those of the file, it gets a copy with zeros for missing registers.
        let fits = self.first.is_multiple_of(4) && self.first + self.lanes <= inputs.lanes();
        let copy = (inputs.len() < code.input_registers() || !fits)
            .then(|| inputs.extended(self.first..self.first + self.lanes, code.input_registers()));
        let (inputs, input_stride) = match &copy {
            Some(copy) => copy.words_from(0),
            None => inputs.words_from(self.first),
        };
        let first = self.output_lane(0);
        let (outputs, output_stride) = self.outputs.outputs.words_from_mut(first);
        let live = self.outputs.live.get_mut(first..first + self.lanes).unwrap_or(&mut []);
        let mut state = NativeState {
            resources: &mut *self.resources,
            live,
            words: &mut self.words,
            registers: &mut self.registers,
            active: &self.active,
            exists: &self.exists,
            constants: &self.inputs.constants,
            vertices: &self.inputs.vertices,
            buffers: &self.outputs.buffers,
            shared: &self.outputs.shared,
            inputs,
            input_stride,
            outputs,
            output_stride,
            width: self.width,
            lanes: self.lanes.next_multiple_of(4),
            steps: left,
        };
        let steps = code.execute(stretch, &mut state);
        if steps > left {
            return Err(RunError::StepLimit { limit });
        }
        self.steps += steps;
        Ok(())
    }
}

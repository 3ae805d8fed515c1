//! Machine code in the place of stretches of a program.
//!
//! A stretch is a range of operations without a jump in or out of it: straight code, and whole `If`s and loops. A code
//! generator reads the operations ([`Program::ops`] and the lists beside it), and gives the program [`NativeCode`] for
//! them with [`Program::set_native`]. The interpreter then executes one [`Op::Native`] instead of the stretch. All
//! else, such as atomics, image stores and barriers, stays with the interpreter, so effects happen in the same order as
//! without. Code may look up textures and read buffers and shared memory: quad after quad, which nobody sees because
//! nothing in a stretch changes them.
//!
//! Code must leave in memory what the operations would have left: the planes that other operations read, in the active
//! lanes. The planes that [`Program::kept`] does not name may have any words in inactive lanes. Outputs that
//! [`Program::always_stored`] names may have any words before, and must have zeros in inactive lanes.

use std::ops::Range;
use std::sync::Arc;

use super::RunError;
use super::machine::Machine;
use super::program::{Op, Program};
use tgsi_environment::{Resources, Vec4};

/// What code works on.
pub struct NativeState<'m> {
    /// Textures, for code that makes lookups; see [`Texture::execute`](super::program::Texture::execute).
    pub resources: &'m mut dyn Resources,
    /// By lane of the block: whether it was neither killed nor demoted. Only lanes that there are.
    pub live: &'m mut [bool],
    /// Planes of values, [`width`](Self::width) words each.
    pub words: &'m mut [u32],
    /// Planes of registers.
    pub registers: &'m mut [u32],
    /// The lanes that execute: 0 or all ones.
    pub active: &'m [u32],
    /// The lanes that there are: 0 or all ones.
    pub exists: &'m [u32],
    /// Constant buffers.
    pub constants: &'m [Vec<u32>],
    /// Registers of the vertices of the primitive, in stages that have one.
    pub vertices: &'m [Vec<Vec4>],
    /// Storage buffers, of which code may read.
    pub buffers: &'m [Vec<u8>],
    /// Shared memory, of which code may read.
    pub shared: &'m [u8],
    /// Inputs of the block: component after component, [`input_stride`](Self::input_stride) words from one to the next.
    /// All components of [`NativeCode::input_registers`] are there, each for whole quads.
    pub inputs: &'m [u32],
    /// Distance of input components in words.
    pub input_stride: usize,
    /// Outputs of the block, in the same form, all [`Program::output_registers`] of them.
    pub outputs: &'m mut [u32],
    /// Distance of output components in words.
    pub output_stride: usize,
    /// Words of a plane, a multiple of 4.
    pub width: usize,
    /// Lanes of the block, rounded up to whole quads.
    pub lanes: usize,
    /// Most operations that each quad may execute.
    pub steps: u64,
}

impl std::fmt::Debug for NativeState<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NativeState").field("lanes", &self.lanes).field("steps", &self.steps).finish_non_exhaustive()
    }
}

/// Code for the stretches of a program.
pub trait NativeCode: Send + Sync + std::fmt::Debug {
    /// Executes a stretch for all quads that have active lanes.
    ///
    /// Returns the number of operations that the quad with the most of them executed (repetitions of loops only, so 0
    /// for straight code), more than [`NativeState::steps`] if a quad was given up for that.
    fn execute(&self, stretch: u32, state: &mut NativeState<'_>) -> u64;

    /// Input registers that code reads.
    fn input_registers(&self) -> usize;

    /// Whether code reads or writes planes, of values or of registers. If no stretch does, and nothing is left to the
    /// interpreter, there are none.
    fn uses_planes(&self) -> bool;
}

impl Program {
    /// Lets `code` execute the stretches, which are ranges of [`ops`](Self::ops) in ascending order; the code knows
    /// them by their position in the list. Stretches that overlap or are empty are left out.
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

    /// Whether runs have planes. Runs without take larger blocks at less cost, as nothing but inputs and outputs has to
    /// stay in the cache.
    pub fn needs_planes(&self) -> bool {
        self.needs_planes
    }
}

impl Machine<'_, '_> {
    /// Executes a stretch of machine code.
    pub fn run_native(&mut self, stretch: u32, limit: u64) -> Result<(), RunError> {
        let Some(code) = &self.program.native else { return Ok(()) };
        let left = limit - self.steps.min(limit);
        let inputs = &self.inputs.inputs;
        // Code reads all registers that it knows. Where there are fewer, it gets a copy with zeros for the others; also
        // where its quads are not those of the file.
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

//! The state of a run, and access to it.

use std::ops::Range;

use super::error::RunError;
use super::native::NativeState;
use super::ops::{Intrinsic, Value};
use super::program::Program;
use crate::shader::ShaderStage;
use tgsi_environment::RunLimits;
use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, Outputs, Resources, Vec4};

/// Number of lanes of a quad.
const QUAD: usize = 4;

/// Maximum number of words on the stack of masks.
const MAX_MASK_WORDS: usize = 1 << 26;

/// An open construct; its masks are on the stack of masks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// Masks: active lanes before the `If`, lanes of its else side.
    If,
    /// Masks: active lanes before the loop, `iteration` and `in_loop` outside of it.
    Loop,
    /// Masks: active lanes before the call, `iteration`, `in_loop` and `in_function` of the caller.
    Call {
        /// The operation at which the caller continues.
        back: u32,
        /// The called function.
        callee: u32,
    },
}

/// The state of a run.
pub(super) struct Machine<'p, 'r> {
    pub program: &'p Program,
    pub inputs: &'r Inputs,
    pub resources: &'r mut dyn Resources,
    /// The first lane of the inputs that is executed, which is lane 0 of the outputs.
    pub start: usize,
    /// The lane of the inputs that is lane 0 of the block.
    pub first: usize,
    /// Number of lanes of the block.
    pub lanes: usize,
    /// Number of words of a lane vector: the lanes of the largest block, in whole quads. Lanes beyond the block are
    /// never active.
    pub width: usize,
    /// Lane vectors of values.
    pub words: Vec<u32>,
    /// Lane vectors of registers.
    pub registers: Vec<u32>,
    /// Private cells (one per lane).
    pub private: Vec<u32>,
    /// Common cells (shared by all lanes).
    pub common: Vec<u32>,
    /// Scratch memory, lane by lane.
    pub scratch: Vec<u8>,
    /// Buffer for one lane vector.
    pub result: Vec<u32>,
    /// Sources of parallel copies.
    pub copied: Vec<u32>,

    /// Mask of the existing lanes: 0 or all ones.
    pub exists: Vec<u32>,
    /// Mask of the active lanes.
    pub active: Vec<u32>,
    /// Whether any lane is active, and whether all existing lanes are.
    pub any: bool,
    pub full: bool,
    /// Lanes still in the current iteration of the innermost loop of the function (outside of loops: in the function).
    pub iteration: Vec<u32>,
    /// Lanes that have not left the innermost loop.
    pub in_loop: Vec<u32>,
    /// Lanes that have not returned from the function.
    pub in_function: Vec<u32>,
    /// Lanes that have not halted.
    pub running: Vec<u32>,
    /// Whether lanes have left a loop, a function or the shader in this block. If not, the four masks above are the
    /// same at its end as at its start.
    pub has_jumped: bool,
    /// Whether the program has kills.
    pub has_kills: bool,
    pub frames: Vec<Frame>,
    pub masks: Vec<u32>,
    /// Functions that are executing.
    pub calling: Vec<bool>,
    pub steps: u64,

    pub outputs: Outputs,
    /// Number of words that geometry shaders emitted.
    pub emitted_words: u64,
    /// By lane and stream: the open primitive, and the completed ones.
    pub open_primitives: Vec<Vec<Vec<Vec4>>>,
    pub primitives: Vec<Vec<Vec<Vec<Vec4>>>>,
}

/// Copies the lane vector `source` to a lane vector of `file`, in the lanes of `active`.
#[inline]
pub(super) fn put(file: &mut [u32], vector: u32, source: &[u32], active: &[u32], full: bool) {
    let start = vector as usize * source.len();
    let Some(dest) = file.get_mut(start..start + source.len()) else { return };
    if full {
        dest.copy_from_slice(source);
    } else {
        for ((dest, &source), &mask) in dest.iter_mut().zip(source).zip(active) {
            *dest = *dest & !mask | source & mask;
        }
    }
}

/// The bits of a boolean of any size. [`Machine::set`] truncates them.
pub(super) fn truth(truth: bool) -> u64 {
    if truth { u64::MAX } else { 0 }
}

impl<'p, 'r> Machine<'p, 'r> {
    /// Makes a machine for the lanes `lanes` of the inputs, which executes up to `block` of them at once.
    /// [`start_block`](Self::start_block) must be called before each block. The outputs reuse the memory of `reused`.
    pub fn new(
        program: &'p Program,
        inputs: &'r Inputs,
        lanes: Range<usize>,
        block: usize,
        resources: &'r mut dyn Resources,
        limits: RunLimits,
        reused: LaneRegisters,
    ) -> Result<Machine<'p, 'r>, RunError> {
        let largest = block.min(lanes.len());
        if largest > MAX_LANES {
            return Err(RunError::TooManyLanes { lanes: largest });
        }
        let width = largest.next_multiple_of(QUAD);
        let (values, registers, masks) = match program.needs_lane_vectors {
            true => (program.num_value_vectors as usize, program.num_register_vectors as usize, width),
            false => (0, 0, 0),
        };
        let vectors = (values + registers) as u64
            + u64::from(program.layout.private_cells)
            + u64::from(program.properties.scratch_size / 4);
        let total = vectors * width as u64 + u64::from(program.layout.common_cells) + inputs.shared_size as u64 / 4;
        if total > limits.memory / 4 {
            return Err(RunError::TooLarge { words: total });
        }
        let mut outputs = Self::empty_outputs(program, lanes.len(), largest, reused);
        outputs.live = vec![true; lanes.len()];
        outputs.buffers.clone_from(&inputs.buffers);
        outputs.counters.clone_from(&inputs.counters);
        outputs.shared = vec![0; inputs.shared_size];
        let mut machine = Machine {
            program,
            inputs,
            resources,
            start: lanes.start,
            first: lanes.start,
            lanes: 0,
            width,
            words: vec![0; values * width],
            registers: vec![0; registers * width],
            private: vec![0; program.layout.private_cells as usize * width],
            common: vec![0; program.layout.common_cells as usize],
            scratch: vec![0; program.properties.scratch_size as usize * largest],
            result: vec![0; masks],
            copied: Vec::new(),
            exists: vec![0; width],
            active: vec![0; width],
            any: false,
            full: false,
            iteration: vec![0; masks],
            in_loop: vec![0; masks],
            in_function: vec![0; masks],
            running: vec![0; masks],
            has_jumped: true,
            has_kills: program.has_kills(),
            frames: Vec::new(),
            masks: Vec::new(),
            calling: vec![false; program.functions.len()],
            steps: 0,
            outputs,
            emitted_words: 0,
            open_primitives: Vec::new(),
            primitives: Vec::new(),
        };
        for &(vector, word) in program.constants.iter().filter(|_| program.needs_lane_vectors) {
            let start = vector as usize * width;
            machine.words[start..start + width].fill(word);
        }
        Ok(machine)
    }

    /// Resets the state for a block with the lanes `first..first + lanes` of the inputs.
    pub fn start_block(&mut self, first: usize, lanes: usize) {
        let program = self.program;
        if lanes != self.lanes || self.has_jumped {
            self.exists.fill(0);
            self.exists[..lanes].fill(u32::MAX);
            for mask in [&mut self.iteration, &mut self.in_loop, &mut self.in_function, &mut self.running] {
                // Empty without lane vectors, because the interpreter then executes nothing.
                let lanes = mask.len();
                mask.copy_from_slice(&self.exists[..lanes]);
            }
            self.has_jumped = false;
        }
        self.active.copy_from_slice(&self.exists);
        (self.first, self.lanes) = (first, lanes);
        (self.any, self.full) = (lanes != 0, true);
        (self.steps, self.emitted_words) = (0, 0);
        let streams = if program.properties.stage == ShaderStage::Geometry { 4 * lanes } else { 0 };
        self.open_primitives.resize(streams, Vec::new());
        self.primitives.resize(streams, Vec::new());
        if first != self.start {
            // Clears lane vectors of the previous block that code may read without writing them.
            for &vector in program.read_inactive.iter().filter(|_| program.needs_lane_vectors) {
                self.words[vector as usize * self.width..][..self.width].fill(0);
            }
            self.registers.fill(0);
            self.private.fill(0);
            self.common.fill(0);
            self.scratch.fill(0);
            self.outputs.shared.fill(0);
            self.frames.clear();
            self.masks.clear();
            self.calling.fill(false);
        }
        let output = self.output_lane(0);
        self.outputs.outputs.clear_lanes(output..output + lanes.next_multiple_of(QUAD), &program.always_stored);
        self.fill_variables();
        if let Some(main) = program.functions.first() {
            for &(address, word) in &main.initial {
                self.initialize(address, word);
            }
        }
    }

    /// Stores the results of a block in the outputs.
    pub fn finish_block(&mut self) {
        self.finish_primitives();
        self.flush_outputs();
        self.outputs.steps += self.steps;
    }

    /// The words of an input component for the lanes of the block; empty if there is no such register.
    pub fn input_words(&self, register: u32, component: usize) -> &'r [u32] {
        let inputs = self.inputs;
        self.lanes_of(inputs.inputs.component(register as usize, component))
    }

    /// The words of the lanes of the block, from the words of all lanes; empty if there are too few.
    pub fn lanes_of<'w>(&self, words: &'w [u32]) -> &'w [u32] {
        words.get(self.first..self.first + self.lanes).unwrap_or(&[])
    }

    /// Converts a lane number to its number in the outputs.
    pub fn output_lane(&self, lane: usize) -> usize {
        self.first - self.start + lane
    }

    /// A lane vector of the values.
    #[inline]
    pub fn vector(&self, vector: u32) -> &[u32] {
        let start = vector as usize * self.width;
        &self.words[start..start + self.width]
    }

    /// Bits of a component in a lane; 0 for a missing component or lane.
    #[inline]
    pub fn get(&self, value: Value, component: usize, lane: usize) -> u64 {
        if component >= usize::from(value.components) || lane >= self.lanes {
            return 0;
        }
        let at = (value.vector as usize + component) * self.width + lane;
        let low = u64::from(self.words[at]);
        if value.bits == 64 {
            low | u64::from(self.words[at + usize::from(value.components) * self.width]) << 32
        } else {
            low
        }
    }

    /// Like [`get`](Self::get), but sign-extended.
    pub fn get_signed(&self, value: Value, component: usize, lane: usize) -> i64 {
        let bits = self.get(value, component, lane);
        match value.bits {
            8 => i64::from(bits as i8),
            16 => i64::from(bits as i16),
            32 => i64::from(bits as i32),
            _ => bits as i64,
        }
    }

    /// Sets a component in a lane, regardless of the mask, truncating the bits.
    #[inline]
    pub fn set(&mut self, value: Value, component: usize, lane: usize, bits: u64) {
        if component >= usize::from(value.components) || lane >= self.lanes {
            return;
        }
        let at = (value.vector as usize + component) * self.width + lane;
        match value.bits {
            64 => {
                self.words[at] = bits as u32;
                self.words[at + usize::from(value.components) * self.width] = (bits >> 32) as u32;
            }
            32 => self.words[at] = bits as u32,
            size => self.words[at] = bits as u32 & ((1 << (size & 31)) - 1),
        }
    }

    /// The sources of an intrinsic.
    pub fn sources(&self, intrinsic: &Intrinsic) -> &'p [Value] {
        self.program.sources_of(intrinsic)
    }

    /// Calls a function for every active lane. It must not change the mask.
    #[inline]
    pub fn each_active(&mut self, mut visit: impl FnMut(&mut Self, usize)) {
        for lane in 0..self.lanes {
            if self.active[lane] != 0 {
                visit(self, lane);
            }
        }
    }

    /// Sets a component in every active lane to a value computed from the lane's number.
    pub fn set_lanes(&mut self, dest: Value, component: usize, mut compute: impl FnMut(&mut Self, usize) -> u64) {
        self.each_active(|machine, lane| {
            let bits = compute(machine, lane);
            machine.set(dest, component, lane, bits);
        });
    }

    /// Whether memory writes of a lane have an effect: it is neither killed nor a helper.
    pub fn may_write(&self, lane: usize) -> bool {
        self.outputs.live.get(self.output_lane(lane)).copied().unwrap_or(false) && !self.is_initial_helper(lane)
    }

    /// Whether a lane is initially a helper.
    pub fn is_initial_helper(&self, lane: usize) -> bool {
        self.inputs.helpers.get(self.first + lane).copied().unwrap_or(false)
    }

    /// The first active lane of the quad of a lane. It determines the texture units of the whole quad.
    pub fn leader(&self, lane: usize) -> usize {
        let quad = lane & !3;
        (quad..quad + 4).find(|&l| self.active.get(l).is_some_and(|&mask| mask != 0)).unwrap_or(lane)
    }

    /// Checks that one more construct can be entered.
    pub fn check_depth(&self) -> Result<(), RunError> {
        if self.masks.len() > MAX_MASK_WORDS {
            return Err(RunError::TooLarge { words: self.masks.len() as u64 });
        }
        Ok(())
    }

    /// Must be called after every change of `active`.
    pub fn mask_changed(&mut self) {
        let lanes = &self.active[..self.lanes];
        let (or, and) = lanes.iter().fold((0, u32::MAX), |(or, and), &mask| (or | mask, and & mask));
        self.any = or != 0;
        self.full = and != 0;
    }
}

impl Machine<'_, '_> {
    /// Executes the machine code of a region.
    pub fn run_native(&mut self, region: u32, limit: u64) -> Result<(), RunError> {
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
        let steps = code.execute(region, &mut state);
        if steps > left {
            return Err(RunError::StepLimit { limit });
        }
        self.steps += steps;
        Ok(())
    }
}

impl Program {
    /// Executes the shader.
    ///
    /// # Errors
    /// If it does not end within the limits, or executes an instruction without a counterpart in the environment.
    pub fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        self.run_blocks(inputs, 0..inputs.lanes, inputs.lanes, resources, limits, LaneRegisters::default())
    }

    /// Executes the shader for a range of lanes of the inputs, of any size, in consecutive blocks of `block` lanes,
    /// rounded up to whole quads. Each block executes like a separate run, but buffers, counters and resources are
    /// passed on from block to block. The outputs are those of the range of lanes; their shared memory is that of the
    /// last block. The output registers reuse the memory of `reused`, regardless of its content.
    ///
    /// # Errors
    /// Like [`run`](Self::run), with the limits applied to each block.
    #[doc(hidden)]
    pub fn run_blocks(
        &self,
        inputs: &Inputs,
        lanes: Range<usize>,
        block: usize,
        resources: &mut dyn Resources,
        limits: RunLimits,
        reused: LaneRegisters,
    ) -> Result<Outputs, RunError> {
        let block = block.next_multiple_of(4).max(4);
        let mut machine = Machine::new(self, inputs, lanes.clone(), block, resources, limits, reused)?;
        for first in lanes.clone().step_by(block) {
            machine.start_block(first, block.min(lanes.end - first));
            machine.run_ops(limits.steps)?;
            machine.finish_block();
        }
        Ok(machine.outputs)
    }
}

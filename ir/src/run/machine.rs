//! The state of a run, and the access to it.

use super::environment::{Inputs, MAX_LANES, Outputs, Resources, Vec4};
use super::program::{Alu, Intrinsic, Program, Value};
use super::{RunError, RunLimits};
use crate::shader::Stage;

/// Most words on the stack of masks.
const MAX_MASK_WORDS: usize = 1 << 26;

/// A construct that is being executed; its masks stand on the stack of masks.
#[derive(Clone, Copy, Debug)]
pub(super) enum Frame {
    /// Masks: lanes before the `If`, lanes of its second side.
    If,
    /// Masks: lanes before the loop, `iteration` and `in_loop` of the surroundings.
    Loop,
    /// Masks: lanes before the call, `iteration`, `in_loop` and `in_function` of the caller.
    Call {
        /// Where the caller goes on.
        back: u32,
        /// The function that runs.
        callee: u32,
    },
}

/// The state of a run.
pub(super) struct Machine<'p, 'r> {
    pub program: &'p Program<'p>,
    pub inputs: &'r Inputs,
    pub resources: &'r mut dyn Resources,
    pub lanes: usize,
    /// Planes of values.
    pub words: Vec<u32>,
    /// Planes of registers.
    pub registers: Vec<u32>,
    /// Private cells.
    pub private: Vec<u32>,
    /// Common cells.
    pub common: Vec<u32>,
    /// Scratch memory, lane after lane.
    pub scratch: Vec<u8>,
    /// One plane under construction.
    pub result: Vec<u32>,
    /// Sources of copies that happen at once.
    pub copied: Vec<u32>,

    /// Mask of the lanes that execute: 0 or all ones.
    pub active: Vec<u32>,
    /// Whether any lane executes, whether all do.
    pub any: bool,
    pub full: bool,
    /// Lanes still in the current iteration of the innermost loop of the function (in the function, outside of loops).
    pub iteration: Vec<u32>,
    /// Lanes that have not left the innermost loop.
    pub in_loop: Vec<u32>,
    /// Lanes that have not returned from the function.
    pub in_function: Vec<u32>,
    /// Lanes that have not halted.
    pub running: Vec<u32>,
    pub frames: Vec<Frame>,
    pub masks: Vec<u32>,
    /// Functions that are being executed.
    pub calling: Vec<bool>,
    pub steps: u64,

    pub outputs: Outputs,
    /// Words that geometry shaders emitted.
    pub emitted_words: u64,
    /// By lane and stream: the primitive that is open, those that are done.
    pub open_primitives: Vec<Vec<Vec<Vec4>>>,
    pub primitives: Vec<Vec<Vec<Vec<Vec4>>>>,
}

/// Copies `source` into a plane of `file`, in the lanes of `active`.
#[inline]
pub(super) fn put(file: &mut [u32], plane: u32, source: &[u32], active: &[u32], full: bool) {
    let start = plane as usize * source.len();
    let Some(dest) = file.get_mut(start..start + source.len()) else { return };
    if full {
        dest.copy_from_slice(source);
    } else {
        for ((dest, &source), &mask) in dest.iter_mut().zip(source).zip(active) {
            *dest = *dest & !mask | source & mask;
        }
    }
}

/// The bits of a boolean of any size: none or all. [`Machine::set`] cuts off surplus bits.
pub(super) fn truth(truth: bool) -> u64 {
    if truth { u64::MAX } else { 0 }
}

impl<'p, 'r> Machine<'p, 'r> {
    /// The state at the start.
    pub fn new(
        program: &'p Program<'p>,
        inputs: &'r Inputs,
        resources: &'r mut dyn Resources,
        limits: RunLimits,
    ) -> Result<Machine<'p, 'r>, RunError> {
        let lanes = inputs.lanes;
        if lanes > MAX_LANES {
            return Err(RunError::TooManyLanes { lanes });
        }
        let planes = u64::from(program.num_value_planes)
            + u64::from(program.num_register_planes)
            + u64::from(program.layout.private_cells)
            + u64::from(program.shader.scratch_size / 4);
        let total = planes * lanes as u64 + u64::from(program.layout.common_cells) + inputs.shared_size as u64 / 4;
        if total > limits.memory / 4 {
            return Err(RunError::TooLarge { words: total });
        }
        let mut words = vec![0; program.num_value_planes as usize * lanes];
        for &(plane, word) in &program.constants {
            let start = plane as usize * lanes;
            words[start..start + lanes].fill(word);
        }
        let mut outputs = Self::empty_outputs(program, lanes);
        outputs.live = vec![true; lanes];
        outputs.buffers.clone_from(&inputs.buffers);
        outputs.counters.clone_from(&inputs.counters);
        outputs.shared = vec![0; inputs.shared_size];
        let streams = if program.shader.stage == Stage::Geometry { 4 * lanes } else { 0 };
        let all = vec![u32::MAX; lanes];
        let mut machine = Machine {
            program,
            inputs,
            resources,
            lanes,
            words,
            registers: vec![0; program.num_register_planes as usize * lanes],
            private: vec![0; program.layout.private_cells as usize * lanes],
            common: vec![0; program.layout.common_cells as usize],
            scratch: vec![0; program.shader.scratch_size as usize * lanes],
            result: vec![0; lanes],
            copied: Vec::new(),
            active: all.clone(),
            any: lanes != 0,
            full: true,
            iteration: all.clone(),
            in_loop: all.clone(),
            in_function: all.clone(),
            running: all,
            frames: Vec::new(),
            masks: Vec::new(),
            calling: vec![false; program.functions.len()],
            steps: 0,
            outputs,
            emitted_words: 0,
            open_primitives: vec![Vec::new(); streams],
            primitives: vec![Vec::new(); streams],
        };
        machine.fill_variables();
        if let Some(main) = program.functions.first() {
            for &(address, word) in &main.initial {
                machine.initialize(address, word);
            }
        }
        Ok(machine)
    }

    /// Runs to the end.
    pub fn execute(&mut self, limits: RunLimits) -> Result<(), RunError> {
        if self.lanes == 0 {
            return Ok(());
        }
        self.run_ops(limits.steps)
    }

    /// The outputs of the run.
    pub fn finish(mut self) -> Outputs {
        self.finish_primitives();
        self.flush_outputs();
        self.outputs.steps = self.steps;
        self.outputs
    }

    // ---- values

    /// A plane of the values.
    #[inline]
    pub fn plane(&self, plane: u32) -> &[u32] {
        let start = plane as usize * self.lanes;
        &self.words[start..start + self.lanes]
    }

    /// Bits of a component in a lane; 0 for a component or lane that there is not.
    #[inline]
    pub fn get(&self, value: Value, component: usize, lane: usize) -> u64 {
        if component >= usize::from(value.components) || lane >= self.lanes {
            return 0;
        }
        let at = (value.plane as usize + component) * self.lanes + lane;
        let low = u64::from(self.words[at]);
        if value.bits == 64 {
            low | u64::from(self.words[at + usize::from(value.components) * self.lanes]) << 32
        } else {
            low
        }
    }

    /// The same, sign-extended.
    pub fn get_signed(&self, value: Value, component: usize, lane: usize) -> i64 {
        let bits = self.get(value, component, lane);
        match value.bits {
            8 => i64::from(bits as i8),
            16 => i64::from(bits as i16),
            32 => i64::from(bits as i32),
            _ => bits as i64,
        }
    }

    /// Sets a component in a lane, whatever the mask says; surplus bits are cut off.
    #[inline]
    pub fn set(&mut self, value: Value, component: usize, lane: usize, bits: u64) {
        if component >= usize::from(value.components) || lane >= self.lanes {
            return;
        }
        let at = (value.plane as usize + component) * self.lanes + lane;
        match value.bits {
            64 => {
                self.words[at] = bits as u32;
                self.words[at + usize::from(value.components) * self.lanes] = (bits >> 32) as u32;
            }
            32 => self.words[at] = bits as u32,
            size => self.words[at] = bits as u32 & ((1 << (size & 31)) - 1),
        }
    }

    /// Sources of an intrinsic.
    pub fn sources(&self, intrinsic: &Intrinsic) -> &'p [Value] {
        let start = intrinsic.sources as usize;
        let program = self.program;
        &program.operands[start..start + usize::from(intrinsic.num_sources)]
    }

    /// Calls something for every active lane. The mask stays as it is meanwhile.
    #[inline]
    pub fn each_active(&mut self, mut visit: impl FnMut(&mut Self, usize)) {
        for lane in 0..self.lanes {
            if self.active[lane] != 0 {
                visit(self, lane);
            }
        }
    }

    /// Gives every active lane a value computed from its number.
    pub fn set_lanes(&mut self, dest: Value, component: usize, mut compute: impl FnMut(&mut Self, usize) -> u64) {
        self.each_active(|machine, lane| {
            let bits = compute(machine, lane);
            machine.set(dest, component, lane, bits);
        });
    }

    /// Whether memory writes of a lane count: it is neither killed nor a helper.
    pub fn may_write(&self, lane: usize) -> bool {
        self.outputs.live.get(lane).copied().unwrap_or(false) && !self.is_initial_helper(lane)
    }

    /// Whether a lane is a helper from the start.
    pub fn is_initial_helper(&self, lane: usize) -> bool {
        self.inputs.helpers.get(lane).copied().unwrap_or(false)
    }

    /// The first active lane of the quad that a lane is in. Units of textures are taken from it for the whole quad.
    pub fn leader(&self, lane: usize) -> usize {
        let quad = lane & !3;
        (quad..quad + 4).find(|&l| self.active.get(l).is_some_and(|&mask| mask != 0)).unwrap_or(lane)
    }

    // ---- masks

    /// Whether one more construct can be entered.
    pub fn check_depth(&self) -> Result<(), RunError> {
        if self.masks.len() > MAX_MASK_WORDS {
            return Err(RunError::TooLarge { words: self.masks.len() as u64 });
        }
        Ok(())
    }

    /// To be called after every change of `active`.
    pub fn mask_changed(&mut self) {
        let (or, and) = self.active.iter().fold((0, u32::MAX), |(or, and), &mask| (or | mask, and & mask));
        self.any = or != 0;
        self.full = and != 0;
    }

    /// The planes of an ALU source.
    pub fn alu_source_planes(&self, alu: &Alu, number: usize) -> &'p [u32] {
        let program = self.program;
        let source = program.alu_sources[alu.sources as usize + number];
        &program.planes[source.start as usize..source.start as usize + usize::from(source.components)]
    }
}

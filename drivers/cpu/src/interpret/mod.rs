//! The block interpreter: executes a lane program for all lanes of a block, operation by operation, in safe Rust.
//!
//! A plane takes [`CHUNK`] words or a multiple of it, so that the loops over lanes have a fixed length and become
//! vector code. The lanes of a workgroup are one block: a barrier is passed by all of them together, and atomics happen
//! in the order of the operations, then of the lanes.

mod alu;
mod control;
mod input_output;
mod intrinsics;
mod memory;
mod subgroup;
mod texture;

use std::collections::BTreeMap;

use tgsi_ir::run::{Inputs, LaneRegisters, MAX_LANES, Outputs, Resources, RunLimits, Vec4};
use tgsi_ir::{Stage, system_value::SystemValue};

use crate::error::RunError;
use crate::program::{Program, Value};

pub(crate) use intrinsics::{knows, writes_memory};

/// Lanes that one step of a loop over lanes covers.
pub const CHUNK: usize = 32;

/// Most words on the stack of masks.
const MAX_MASK_WORDS: usize = 1 << 26;

/// The bits of a boolean of any size; [`Block::set`] cuts off surplus bits.
pub(crate) fn truth(truth: bool) -> u64 {
    if truth { u64::MAX } else { 0 }
}

/// A block of lanes and its planes. It can be used for one run after the other.
#[derive(Debug, Default)]
pub struct Block {
    /// Planes, [`width`](Self::width) words each.
    words: Vec<u32>,
    lanes: usize,
    width: usize,
    active: Vec<u32>,
    any: bool,
    full: bool,
    iteration: Vec<u32>,
    in_loop: Vec<u32>,
    running: Vec<u32>,
    masks: Vec<u32>,
    copied: Vec<u32>,
    scratch: Vec<u8>,
    steps: u64,
    emitted_words: u64,
    open_primitives: Vec<Vec<Vec<Vec4>>>,
    primitives: Vec<Vec<Vec<Vec<Vec4>>>>,
}

/// A run: a block, and what it works on.
pub(crate) struct Run<'r> {
    pub program: &'r Program,
    pub inputs: &'r Inputs,
    pub resources: &'r mut dyn Resources,
    pub outputs: Outputs,
    pub block: &'r mut Block,
}

impl Program {
    /// Runs all lanes of the inputs at once, as one block.
    ///
    /// # Errors
    /// The run exceeds a limit.
    pub fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        self.run_in(&mut Block::default(), inputs, resources, limits)
    }

    /// The same in a block that was used before, without allocating its planes again.
    ///
    /// # Errors
    /// The run exceeds a limit.
    pub fn run_in(
        &self,
        block: &mut Block,
        inputs: &Inputs,
        resources: &mut dyn Resources,
        limits: RunLimits,
    ) -> Result<Outputs, RunError> {
        let lanes = inputs.lanes;
        if lanes > MAX_LANES {
            return Err(RunError::TooManyLanes { lanes });
        }
        let width = lanes.next_multiple_of(CHUNK);
        let words = self.num_planes() as u64 * width as u64
            + u64::from(self.scratch_size / 4) * lanes as u64
            + inputs.shared_size as u64 / 4;
        if words > limits.memory / 4 {
            return Err(RunError::TooLarge { words });
        }
        block.prepare(self, lanes, width);
        let registers = self.output_registers as usize;
        let mut outputs = Outputs { outputs: LaneRegisters::new(lanes, registers), ..Outputs::default() };
        if self.stage == Stage::TessCtrl {
            let vertices = if self.patch_vertices == 0 { lanes } else { self.patch_vertices as usize };
            outputs.vertices = vec![vec![[0; 4]; registers]; vertices];
        }
        outputs.live = vec![true; lanes];
        outputs.buffers.clone_from(&inputs.buffers);
        outputs.counters.clone_from(&inputs.counters);
        outputs.shared = vec![0; inputs.shared_size];
        let mut run = Run { program: self, inputs, resources, outputs, block };
        if lanes != 0 {
            run.execute(limits.steps)?;
        }
        run.finish_primitives();
        run.outputs.steps = run.block.steps;
        Ok(run.outputs)
    }
}

impl Block {
    fn prepare(&mut self, program: &Program, lanes: usize, width: usize) {
        let total = program.num_planes() * width;
        if self.words.len() != total || self.width != width {
            self.words.clear();
            self.words.resize(total, 0);
        } else {
            self.words.fill(0);
        }
        for &(plane, word) in &program.constants {
            let start = plane as usize * width;
            self.words[start..start + width].fill(word);
        }
        for &(cell, word) in &program.initial {
            let start = (program.first_cell + cell) as usize * width;
            if let Some(words) = self.words.get_mut(start..start + width) {
                words.fill(word);
            }
        }
        (self.lanes, self.width) = (lanes, width);
        self.active.clear();
        self.active.resize(lanes, u32::MAX);
        self.active.resize(width, 0);
        for mask in [&mut self.iteration, &mut self.in_loop, &mut self.running] {
            mask.clone_from(&self.active);
        }
        (self.any, self.full) = (lanes != 0, true);
        self.masks.clear();
        self.scratch.clear();
        self.scratch.resize(program.scratch_size as usize * lanes, 0);
        (self.steps, self.emitted_words) = (0, 0);
        let streams = if program.stage == Stage::Geometry { 4 * lanes } else { 0 };
        self.open_primitives.clear();
        self.open_primitives.resize(streams, Vec::new());
        self.primitives.clear();
        self.primitives.resize(streams, Vec::new());
    }

    /// The words of a plane.
    #[inline]
    fn plane(&self, plane: u32) -> &[u32] {
        let start = plane as usize * self.width;
        &self.words[start..start + self.width]
    }

    /// Bits of a component in a lane; 0 for a component or lane that there is not.
    #[inline]
    fn get(&self, value: Value, component: usize, lane: usize) -> u64 {
        if component >= usize::from(value.components) || lane >= self.lanes {
            return 0;
        }
        let at = (value.plane as usize + component) * self.width + lane;
        let low = u64::from(self.words[at]);
        if value.bits == 64 {
            low | u64::from(self.words[at + usize::from(value.components) * self.width]) << 32
        } else {
            low
        }
    }

    /// The same, sign-extended.
    fn get_signed(&self, value: Value, component: usize, lane: usize) -> i64 {
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
    fn set(&mut self, value: Value, component: usize, lane: usize, bits: u64) {
        if component >= usize::from(value.components) || lane >= self.lanes {
            return;
        }
        let at = (value.plane as usize + component) * self.width + lane;
        match value.bits {
            64 => {
                self.words[at] = bits as u32;
                self.words[at + usize::from(value.components) * self.width] = (bits >> 32) as u32;
            }
            32 => self.words[at] = bits as u32,
            size => self.words[at] = bits as u32 & ((1 << (size & 31)) - 1),
        }
    }

    /// Copies words into a plane, in the active lanes.
    #[inline]
    fn copy_plane(&mut self, dest: u32, source: u32) {
        let (dest, source) = (dest as usize * self.width, source as usize * self.width);
        if self.full {
            self.words.copy_within(source..source + self.width, dest);
            return;
        }
        for lane in 0..self.width {
            let mask = self.active[lane];
            self.words[dest + lane] = self.words[dest + lane] & !mask | self.words[source + lane] & mask;
        }
    }

    /// Fills a plane with words, in the active lanes.
    #[inline]
    fn put(&mut self, dest: u32, words: &[u32]) {
        let start = dest as usize * self.width;
        let dest = &mut self.words[start..start + words.len().min(self.width)];
        if self.full {
            dest.copy_from_slice(&words[..dest.len()]);
            return;
        }
        for ((dest, &word), &mask) in dest.iter_mut().zip(words).zip(&self.active) {
            *dest = *dest & !mask | word & mask;
        }
    }

    /// Fills a plane with one word, in the active lanes.
    #[inline]
    fn fill(&mut self, dest: u32, word: u32) {
        let start = dest as usize * self.width;
        let dest = &mut self.words[start..start + self.width];
        if self.full {
            dest.fill(word);
            return;
        }
        for (dest, &mask) in dest.iter_mut().zip(&self.active) {
            *dest = *dest & !mask | word & mask;
        }
    }

    /// To be called after every change of `active`.
    fn mask_changed(&mut self) {
        let (or, and) =
            self.active[..self.lanes].iter().fold((0, u32::MAX), |(or, and), &mask| (or | mask, and & mask));
        (self.any, self.full) = (or != 0, and != 0);
    }

    /// The first active lane of the quad that a lane is in.
    fn leader(&self, lane: usize) -> usize {
        let quad = lane & !3;
        (quad..quad + 4).find(|&lane| self.active.get(lane).is_some_and(|&mask| mask != 0)).unwrap_or(lane)
    }
}

impl Run<'_> {
    /// Calls something for every active lane.
    #[inline]
    fn each_active(&mut self, mut visit: impl FnMut(&mut Self, usize)) {
        for lane in 0..self.block.lanes {
            if self.block.active[lane] != 0 {
                visit(self, lane);
            }
        }
    }

    /// Gives every active lane a value computed from its number.
    fn set_lanes(&mut self, dest: Value, component: usize, mut compute: impl FnMut(&mut Self, usize) -> u64) {
        self.each_active(|run, lane| {
            let bits = compute(run, lane);
            run.block.set(dest, component, lane, bits);
        });
    }

    /// Whether memory writes of a lane count: it is neither killed nor a helper.
    fn may_write(&self, lane: usize) -> bool {
        let helper = self.inputs.helpers.get(lane).copied().unwrap_or(false);
        !helper && self.outputs.live.get(lane).copied().unwrap_or(false)
    }

    /// A word of a system value, as the inputs say; values that no front end asks for by themselves follow from others.
    fn system_value_word(&self, value: SystemValue, word: usize, lane: usize) -> u32 {
        use SystemValue as S;
        let values: &BTreeMap<SystemValue, Vec<Vec<u32>>> = &self.inputs.system_values;
        let other = |value: SystemValue, word: usize| {
            let words = values.get(&value).and_then(|words| words.get(word));
            words.and_then(|lanes| lanes.get(lane)).copied().unwrap_or(0)
        };
        if values.contains_key(&value) {
            return other(value, word);
        }
        match (value, word) {
            (S::LocalInvocationIndex, 0) => {
                let (size, id) = (|word| other(S::WorkgroupSize, word), |word| other(S::LocalInvocationId, word));
                let rows = id(2).wrapping_mul(size(1)).wrapping_add(id(1));
                rows.wrapping_mul(size(0)).wrapping_add(id(0))
            }
            (S::GlobalInvocationId, 0..=2) => {
                let groups = other(S::WorkgroupId, word).wrapping_mul(other(S::WorkgroupSize, word));
                groups.wrapping_add(other(S::LocalInvocationId, word))
            }
            _ => 0,
        }
    }
}

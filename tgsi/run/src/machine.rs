//! The state of a run and its main loop.

use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, Outputs, Resources, RunLimits, Vec4};

use super::accesses::AccessObserver;
use super::control::{Flow, Frame};
use super::geometry::Emission;
use super::kernel::Kernel;
use super::program::{Op, Program};
use super::{OpcodeCounts, RunError, alu, alu_integer, alu_wide, packing};
use tgsi::tables::{Class, File, Processor};

/// A run. Masks have one word per lane, all ones or zero.
pub(super) struct Machine<'a> {
    pub(super) program: &'a Program,
    pub(super) inputs: &'a Inputs,
    pub(super) resources: &'a mut dyn Resources,
    /// Maximum number of words of the registers, and of the saved masks.
    pub(super) most_words: usize,
    pub(super) lanes: usize,
    pub(super) steps: u64,
    /// All per-lane files, `[row][lane]`.
    pub(super) registers: Vec<u32>,
    /// Fetched sources, each `[channel][lane]`.
    pub(super) scratch: [Vec<u32>; 5],
    /// Result of the instruction, `[channel][lane]`.
    pub(super) result: Vec<u32>,

    /// Lanes that execute: the conjunction of the following six masks.
    pub(super) exec: Vec<u32>,
    pub(super) all_execute: bool,
    pub(super) any_executes: bool,
    pub(super) cond: Vec<u32>,
    pub(super) loops: Vec<u32>,
    pub(super) cont: Vec<u32>,
    pub(super) switch: Vec<u32>,
    pub(super) func: Vec<u32>,
    /// Lanes that have not reached an `END` inside a block.
    pub(super) running: Vec<u32>,
    /// Instruction at which each lane enters the innermost switch.
    pub(super) switch_targets: Vec<u32>,
    pub(super) frames: Vec<Frame>,
    /// Masks that [`Self::frames`] restore.
    pub(super) saved: Vec<u32>,
    /// Indices of the open calls in [`Self::frames`].
    pub(super) calls: Vec<usize>,

    /// Lanes that were killed or demoted, which makes them helpers.
    pub(super) killed: Vec<u32>,
    /// Lanes that are helpers from the start.
    pub(super) helpers: Vec<u32>,

    /// Per-vertex outputs of a tessellation control shader.
    pub(super) vertices: Vec<Vec<Vec4>>,
    /// Patch outputs of a tessellation control shader.
    pub(super) patch: Vec<Vec4>,
    pub(super) emission: Emission,
    pub(super) buffers: Vec<Vec<u8>>,
    pub(super) counters: Vec<Vec<u32>>,
    pub(super) shared: Vec<u8>,

    /// Called for every access.
    pub(super) observer: Option<AccessObserver<'a>>,
    /// The instruction being executed.
    pub(super) current: usize,
}

impl<'a> Machine<'a> {
    pub(super) fn new(
        program: &'a Program,
        inputs: &'a Inputs,
        resources: &'a mut dyn Resources,
        limits: RunLimits,
    ) -> Result<Machine<'a>, RunError> {
        let lanes = inputs.lanes;
        if lanes > MAX_LANES {
            return Err(RunError::TooManyLanes { lanes });
        }
        if program.processor == Processor::Fragment && !lanes.is_multiple_of(4) {
            return Err(RunError::PartialQuad { lanes });
        }
        let layout = &program.layout;
        let outputs = layout.count(File::Output);
        let patch_vertices = if program.processor == Processor::TessControl {
            program.patch_vertices.unwrap_or(lanes).min(MAX_LANES)
        } else {
            0
        };
        let words = layout.rows.saturating_mul(lanes).saturating_add(patch_vertices.saturating_mul(outputs * 4));
        let most_words = usize::try_from(limits.memory / 4).unwrap_or(usize::MAX);
        if words > most_words {
            return Err(RunError::TooManyRegisters { registers: layout.rows / 4, lanes, limit: limits.memory });
        }
        let full = vec![u32::MAX; lanes];
        let mut machine = Machine {
            program,
            inputs,
            resources,
            lanes,
            most_words,
            steps: 0,
            registers: vec![0; layout.rows * lanes],
            scratch: std::array::from_fn(|_| vec![0; 4 * lanes]),
            result: vec![0; 4 * lanes],
            exec: full.clone(),
            all_execute: true,
            any_executes: lanes != 0,
            cond: full.clone(),
            loops: full.clone(),
            cont: full.clone(),
            switch: full.clone(),
            func: full.clone(),
            running: full,
            switch_targets: vec![0; lanes],
            frames: Vec::new(),
            saved: Vec::new(),
            calls: Vec::new(),
            killed: vec![0; lanes],
            helpers: (0..lanes)
                .map(|lane| if inputs.helpers.get(lane).copied().unwrap_or(false) { u32::MAX } else { 0 })
                .collect(),
            vertices: vec![vec![[0; 4]; outputs]; patch_vertices],
            patch: if program.processor == Processor::TessControl { vec![[0; 4]; outputs] } else { Vec::new() },
            emission: Emission::new(if program.processor == Processor::Geometry { lanes } else { 0 }),
            buffers: inputs.buffers.clone(),
            counters: inputs.counters.clone(),
            shared: vec![0; inputs.shared_size],
            observer: None,
            current: 0,
        };
        machine.load_inputs();
        machine.load_system_values();
        Ok(machine)
    }

    /// Copies the inputs into their registers. In stages with vertices, an input without a vertex index reads the first
    /// vertex where no per-lane input is given.
    fn load_inputs(&mut self) {
        let file = self.program.layout.file(File::Input);
        let by_vertex = self.program.processor.has_vertices(File::Input);
        for register in file.declared.iter_ones() {
            let first_row = file.first_row + register * 4;
            for component in 0..4 {
                let words = self.inputs.inputs.component(register, component);
                let row = &mut self.registers[(first_row + component) * self.lanes..][..self.lanes];
                if words.is_empty() && by_vertex {
                    let vertex = self.inputs.vertices.first().and_then(|vertex| vertex.get(register));
                    row.fill(vertex.map_or(0, |words| words[component]));
                }
                for (to, &from) in row.iter_mut().zip(words) {
                    *to = from;
                }
            }
        }
    }

    fn load_system_values(&mut self) {
        let first_row = self.program.layout.file(File::SystemValue).first_row;
        for &(register, semantic) in &self.program.system_values {
            let Some(value) = semantic.system_value() else { continue };
            let Some(components) = self.inputs.system_values.get(&value) else { continue };
            for (component, words) in components.iter().take(4).enumerate() {
                let start = (first_row + register * 4 + component) * self.lanes;
                let Some(row) = self.registers.get_mut(start..start + self.lanes) else { continue };
                for (to, &from) in row.iter_mut().zip(words) {
                    *to = from;
                }
            }
        }
    }

    /// Executes until the end. With `COUNT`, counts the instructions that some lane executes.
    pub(super) fn run<const COUNT: bool>(
        mut self,
        limits: RunLimits,
        counts: &mut OpcodeCounts,
    ) -> Result<Outputs, RunError> {
        let program = self.program;
        let mut counter = 0usize;
        while let Some(op) = program.code.get(counter) {
            if self.steps >= limits.steps {
                return Err(RunError::StepLimit {
                    limit: limits.steps,
                    instruction: counter as u32,
                    opcode: op.opcode,
                    span: op.span,
                });
            }
            self.steps += 1;
            self.current = counter;
            if COUNT && self.any_executes {
                counts.count(op.opcode);
            }
            counter = match op.class {
                Class::Control => match self.control(counter, op) {
                    Flow::Next => counter + 1,
                    Flow::Jump(target) => target,
                    Flow::Stop => break,
                    Flow::TooDeep => {
                        let instruction = counter as u32;
                        return Err(RunError::TooDeep { instruction, lanes: self.lanes, span: op.span });
                    }
                },
                _ => {
                    if self.any_executes {
                        self.execute(counter, op)?;
                    }
                    counter + 1
                }
            };
        }
        Ok(self.finish())
    }

    fn execute(&mut self, number: usize, op: &Op) -> Result<(), RunError> {
        self.fetch_sources(op);
        let legacy = self.program.legacy_math;
        let mut kernel =
            Kernel { sources: &self.scratch, result: &mut self.result, lanes: self.lanes, mask: op.write_mask };
        let mask = match op.class {
            Class::Float => alu::execute(kernel, op.opcode, legacy),
            Class::Integer => alu_integer::execute(kernel, op.opcode),
            Class::Wide => alu_wide::execute(&mut kernel, op.opcode),
            Class::Packing => packing::execute(kernel, op.opcode),
            Class::Lanes => self.lanes_opcode(op),
            Class::Texture => self.texture(op),
            Class::Memory => self.memory(op),
            Class::Geometry => {
                self.emit(number, op)?;
                0
            }
            Class::Control => 0,
        };
        self.write_result(op, mask);
        Ok(())
    }

    fn finish(mut self) -> Outputs {
        let layout = &self.program.layout;
        let count = layout.count(File::Output);
        let mut outputs = LaneRegisters::new(self.lanes, count);
        let first_row = layout.file(File::Output).first_row;
        for register in 0..count {
            for component in 0..4 {
                let to = outputs.component_mut(register, component);
                match self.patch.get(register) {
                    Some(words) => to.fill(words[component]),
                    None => {
                        let row = first_row + register * 4 + component;
                        to.copy_from_slice(&self.registers[row * self.lanes..][..self.lanes]);
                    }
                }
            }
        }
        let emitted = self.take_emitted();
        Outputs {
            outputs,
            live: self.killed.iter().map(|&killed| killed == 0).collect(),
            vertices: self.vertices,
            emitted,
            buffers: self.buffers,
            counters: self.counters,
            shared: self.shared,
            steps: self.steps,
        }
    }

    /// Whether a lane may change memory.
    pub(super) fn writes_memory(&self, lane: usize) -> bool {
        self.exec[lane] & !(self.helpers[lane] | self.killed[lane]) != 0
    }
}

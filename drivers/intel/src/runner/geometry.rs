//! Runs geometry programs: one or two invocations at a time.

use std::collections::BTreeMap;

use tgsi_compiler::{RunError, Runner};
use tgsi_environment::{Inputs, Outputs, Resources, RunLimits, SUBGROUP_SIZE, SystemValue, Vec4};

use super::resources::{Fragments, Surroundings, push_constants};
use super::run_error;
use crate::container::words_to_bytes;
use crate::isa::{Register, Source};
use crate::program::{Control, Dispatch, GeometryProgram};
use crate::simulator::{Launch, Registers, Simulator};

/// A geometry program with valid words.
#[derive(Clone, Debug)]
pub(super) struct GeometryRunner {
    program: GeometryProgram,
    simulator: Simulator,
    /// The register of the header that ends the thread.
    end: u8,
}

/// The handles of the entries of both halves.
const HANDLES: [u32; 2] = [0x40, 0x80];

impl GeometryRunner {
    /// Decodes a program.
    ///
    /// # Errors
    /// [`RunError::Code`]: words are not an instruction, or no message ends the thread.
    pub(super) fn new(program: GeometryProgram) -> Result<GeometryRunner, RunError> {
        let kernel = &program.kernel;
        let simulator =
            Simulator::new(&kernel.words, kernel.chip).map_err(|error| RunError::Code(error.to_string()))?;
        let ends = |instruction: &&crate::isa::Instruction| instruction.message().is_some_and(|m| m.end_of_thread);
        let last = simulator.instructions().iter().find(ends).and_then(|instruction| instruction.sources.first());
        let end = match last.and_then(Source::operand).map(|operand| operand.register) {
            Some(Register::Direct { number, .. }) => number,
            _ => return Err(RunError::Code("no message ends the thread".to_owned())),
        };
        Ok(GeometryRunner { program, simulator, end })
    }

    /// The registers of a thread for invocations from a lane on.
    fn payload(&self, inputs: &Inputs, first: usize) -> Registers {
        let mut registers = Registers::default();
        let interface = &self.program.interface;
        let kernel = &self.program.kernel;
        for (half, handles) in HANDLES.into_iter().enumerate() {
            let lane = first + half;
            let value = |value: SystemValue| -> u32 {
                let words = inputs.system_values.get(&value).and_then(|components| components.first());
                words.and_then(|words| words.get(lane)).copied().unwrap_or(0)
            };
            registers.set_word(0, half, handles | value(SystemValue::InvocationId) << 27);
            registers.set_word(0, 6 + half, (lane % SUBGROUP_SIZE) as u32);
            if interface.has_primitive_id {
                registers.set_word(1, 4 * half, value(SystemValue::PrimitiveId));
            }
        }
        push_constants(&mut registers, kernel, inputs);
        let start = kernel.dispatch_start + kernel.push_registers();
        let stride = usize::from(interface.read_length()) * 2;
        for vertex in 0..usize::from(interface.vertices_in) {
            let Some(words) = inputs.vertices.get(vertex) else { continue };
            for input in &interface.inputs {
                let value = words.get(input.register as usize).copied().unwrap_or_default();
                let index = vertex * stride + usize::from(input.slot);
                for (component, word) in value.into_iter().enumerate() {
                    if input.mask >> component & 1 == 0 {
                        continue;
                    }
                    let component = (component + usize::from(input.component)) % 4;
                    if interface.dispatch.has_half_inputs() {
                        registers.set_word(start + (index / 2) as u8, index % 2 * 4 + component, word);
                    } else {
                        registers.set_word(start + index as u8, component, word);
                        registers.set_word(start + index as u8, 4 + component, word);
                    }
                }
            }
        }
        registers
    }

    /// Adds the primitives in an entry to those of all streams.
    fn add_primitives(&self, surroundings: &Surroundings<'_>, handle: u32, count: u32, emitted: &mut Emitted) {
        let interface = &self.program.interface;
        let registers = interface.outputs.iter().map(|output| output.register as usize + 1).max().unwrap_or(0);
        let row_of = |row: u32| surroundings.entries.get(&(handle, row)).copied().unwrap_or_default();
        let mut open: Vec<Vec<Vec4>> = Vec::new();
        for number in 0..count.min(interface.limit) {
            let start = (interface.control_size + number * interface.vertex_size) * 2;
            let mut vertex: Vec<Vec4> = vec![[0; 4]; registers];
            for output in &interface.outputs {
                let row = row_of(start + u32::from(output.slot));
                for component in (0..4).filter(|component| output.mask >> component & 1 != 0) {
                    vertex[output.register as usize][component] = row[(component + usize::from(output.component)) % 4];
                }
            }
            // The bits of control data from the one of the vertex on.
            let bits_at = |bit: u32| row_of(bit / 128)[(bit / 32 % 4) as usize] >> (bit % 32);
            match interface.control {
                Some(Control::Stream) => {
                    emitted[(bits_at(number * 2) & 3) as usize].push(vec![vertex]);
                    continue;
                }
                Some(Control::Cut) if bits_at(number) & 1 != 0 => {
                    open.push(vertex);
                    emitted[0].push(std::mem::take(&mut open));
                }
                Some(Control::Cut) | None => open.push(vertex),
            }
        }
        if !open.is_empty() {
            emitted[0].push(open);
        }
    }
}

/// For each stream its primitives, for each primitive its vertices, for each vertex its registers.
type Emitted = [Vec<Vec<Vec<Vec4>>>; 4];

impl Runner for GeometryRunner {
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        let kernel = &self.program.kernel;
        let mut outputs = Outputs { live: vec![true; inputs.lanes], ..Outputs::default() };
        let mut surroundings = Surroundings {
            bindings: kernel.bindings,
            textures: &kernel.textures,
            inputs,
            resources,
            buffers: inputs.buffers.clone(),
            counters: inputs.counters.iter().map(|words| words_to_bytes(words)).collect(),
            entries: BTreeMap::new(),
            images: &[],
            fragments: Fragments::default(),
        };
        let width = if self.program.interface.dispatch == Dispatch::Single { 1 } else { 2 };
        for first in (0..inputs.lanes).step_by(width) {
            let lanes = width.min(inputs.lanes - first);
            surroundings.entries.clear();
            let registers = self.payload(inputs, first);
            let handles = [0, 1].map(|word| registers.word(0, word));
            let launch = Launch {
                registers,
                dispatch_mask: if lanes == 2 { 0xff } else { 0x0f },
                scratch: kernel.scratch,
                steps: limits.steps.min(u32::MAX.into()) as u32,
                ..Launch::default()
            };
            let result = self.simulator.run(&launch, &mut surroundings).map_err(run_error)?;
            outputs.steps = outputs.steps.max(result.steps.into());
            let counts = result.registers.word(self.end, 2);
            for (half, handle) in handles.into_iter().enumerate().take(lanes) {
                let count = counts >> (16 * half) & 0xffff;
                self.add_primitives(&surroundings, handle, count, &mut outputs.emitted);
            }
        }
        outputs.counters = surroundings.counter_words();
        outputs.buffers = surroundings.buffers;
        Ok(outputs)
    }
}

//! Runs vertex programs, two vertices at a time.

use std::collections::BTreeMap;

use tgsi_compiler::{RunError, Runner};
use tgsi_environment::{Inputs, LaneRegisters, Outputs, Resources, RunLimits, SUBGROUP_SIZE, SystemValue};

use super::resources::{Fragments, Surroundings, push_constants};
use super::run_error;
use crate::container::words_to_bytes;
use crate::program::VertexProgram;
use crate::simulator::{Launch, Registers, Simulator};

/// A vertex program with valid words.
#[derive(Clone, Debug)]
pub(super) struct VertexRunner {
    program: VertexProgram,
    simulator: Simulator,
}

/// The handles of the entries of both vertices.
const HANDLES: [u32; 2] = [0x40, 0x80];

impl VertexRunner {
    /// Decodes a program.
    ///
    /// # Errors
    /// [`RunError::Code`]: words are not an instruction.
    pub(super) fn new(program: VertexProgram) -> Result<VertexRunner, RunError> {
        let kernel = &program.kernel;
        let simulator =
            Simulator::new(&kernel.words, kernel.chip).map_err(|error| RunError::Code(error.to_string()))?;
        Ok(VertexRunner { program, simulator })
    }

    /// The registers of a thread for vertices from a lane on.
    fn payload(&self, inputs: &Inputs, first: usize) -> Registers {
        let mut registers = Registers::default();
        HANDLES.into_iter().enumerate().for_each(|(word, handle)| registers.set_word(0, word, handle));
        let kernel = &self.program.kernel;
        push_constants(&mut registers, kernel, inputs);
        let attributes = kernel.dispatch_start + kernel.push_registers();
        let interface = &self.program.interface;
        for vertex in 0..2 {
            let lane = first + vertex;
            let mut set = |attribute: u8, component: usize, word: u32| {
                registers.set_word(attributes + attribute, 4 * vertex + component, word);
            };
            for input in &interface.inputs {
                for component in 0..4 {
                    set(input.slot, component, inputs.inputs.get(input.register as usize, component, lane));
                }
            }
            let value =
                |value: SystemValue| -> Option<u32> { inputs.system_values.get(&value)?.first()?.get(lane).copied() };
            let or_zero = |known: Option<u32>| known.unwrap_or(0);
            // The base of an indexed draw is the first vertex.
            let base = value(SystemValue::FirstVertex).or(value(SystemValue::BaseVertex));
            let number = value(SystemValue::VertexIdZeroBase);
            let difference = value(SystemValue::VertexId).zip(number).map(|(with, number)| with.wrapping_sub(number));
            let first_vertex = or_zero(base.or(difference));
            let number = number.unwrap_or_else(|| or_zero(value(SystemValue::VertexId)).wrapping_sub(first_vertex));
            if let Some(attribute) = interface.system_values.vertex {
                set(attribute, 0, first_vertex);
                set(attribute, 1, or_zero(value(SystemValue::BaseInstance)));
                set(attribute, 2, number);
                set(attribute, 3, or_zero(value(SystemValue::InstanceId)));
            }
            if let Some(attribute) = interface.system_values.draw {
                set(attribute, 0, or_zero(value(SystemValue::DrawId)));
                set(attribute, 1, u32::MAX);
                set(attribute, 2, (lane % SUBGROUP_SIZE) as u32);
            }
        }
        registers
    }
}

impl Runner for VertexRunner {
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        let interface = &self.program.interface;
        let registers = interface.outputs.iter().map(|output| output.register as usize + 1).max().unwrap_or(0);
        let mut outputs = Outputs {
            outputs: LaneRegisters::new(inputs.lanes, registers),
            live: vec![true; inputs.lanes],
            ..Outputs::default()
        };
        let mut surroundings = Surroundings {
            bindings: self.program.kernel.bindings,
            inputs,
            resources,
            textures: &self.program.kernel.textures,
            images: &[],
            buffers: inputs.buffers.clone(),
            counters: inputs.counters.iter().map(|words| words_to_bytes(words)).collect(),
            entries: BTreeMap::new(),
            fragments: Fragments::default(),
        };
        for first in (0..inputs.lanes).step_by(2) {
            let both = first + 1 < inputs.lanes;
            surroundings.entries.clear();
            let launch = Launch {
                registers: self.payload(inputs, first),
                dispatch_mask: if both { 0xff } else { 0x0f },
                scratch: self.program.kernel.scratch,
                steps: limits.steps.min(u32::MAX.into()) as u32,
                ..Launch::default()
            };
            let result = self.simulator.run(&launch, &mut surroundings).map_err(run_error)?;
            outputs.steps = outputs.steps.max(result.steps.into());
            for (vertex, handle) in HANDLES.into_iter().enumerate().take(if both { 2 } else { 1 }) {
                for output in &interface.outputs {
                    let row = surroundings.entries.get(&(handle, output.slot.into())).copied().unwrap_or_default();
                    for component in (0..4).filter(|component| output.mask >> component & 1 != 0) {
                        let word = row[(component + usize::from(output.component)) % 4];
                        outputs.outputs.set(output.register as usize, component, first + vertex, word);
                    }
                }
            }
        }
        outputs.counters = surroundings.counter_words();
        outputs.buffers = surroundings.buffers;
        Ok(outputs)
    }
}

//! Runs fragment programs, eight fragments at a time.
//!
//! Inputs of a run are interpolated already, and differ between lanes in any way: planes have the value of the lane.

use std::collections::BTreeMap;

use tgsi_compiler::{RunError, Runner};
use tgsi_environment::{Inputs, LaneRegisters, Outputs, Resources, RunLimits, SUBGROUP_SIZE, SystemValue};

use super::resources::{Fragments, Surroundings, push_constants};
use super::run_error;
use crate::container::words_to_bytes;
use crate::program::{DEPTH_OUTPUT, FragmentProgram, SAMPLE_MASK_OUTPUT, SECOND_COLOUR_OUTPUT};
use crate::simulator::{Launch, Registers, Simulator};

/// A fragment program with valid words.
#[derive(Clone, Debug)]
pub(super) struct FragmentRunner {
    program: FragmentProgram,
    simulator: Simulator,
}

/// Fragments of a thread.
const LANES: usize = 8;

impl FragmentRunner {
    /// Decodes a program.
    ///
    /// # Errors
    /// [`RunError::Code`]: words are not an instruction.
    pub(super) fn new(program: FragmentProgram) -> Result<FragmentRunner, RunError> {
        let kernel = &program.kernel;
        let simulator =
            Simulator::new(&kernel.words, kernel.chip).map_err(|error| RunError::Code(error.to_string()))?;
        Ok(FragmentRunner { program, simulator })
    }

    /// The registers of a thread, without attributes.
    fn payload(&self, inputs: &Inputs, first: usize) -> Registers {
        let mut registers = Registers::default();
        // Stores of helpers are dropped, so that kills of helpers are known.
        let live = (0..LANES).filter(|&lane| first + lane < inputs.lanes).fold(0, |mask, lane| mask | 1 << lane);
        registers.set_word(1, 7, live);
        push_constants(&mut registers, &self.program.kernel, inputs);
        registers
    }

    /// The words of attributes in the lanes of a thread, by the register and the dword of the plane.
    fn planes(&self, inputs: &Inputs, first: usize) -> BTreeMap<(u8, u8), [u32; LANES]> {
        let interface = &self.program.interface;
        let kernel = &self.program.kernel;
        let attributes = kernel.dispatch_start + kernel.push_registers();
        let mut planes = BTreeMap::new();
        let mut set = |attribute: u8, component: u8, word: &dyn Fn(usize) -> u32| {
            let place = (attributes + attribute * 2 + component / 2, component % 2 * 4);
            let words = std::array::from_fn(|lane| if first + lane < inputs.lanes { word(first + lane) } else { 0 });
            planes.insert(place, words);
        };
        for input in &interface.inputs {
            for component in 0..4 {
                let word = |lane| inputs.inputs.get(input.register as usize, component, lane);
                set(input.slot, component as u8, &word);
            }
        }
        let value = |value: SystemValue, component: usize| {
            move |lane: usize| {
                let words = inputs.system_values.get(&value).and_then(|components| components.get(component));
                words.and_then(|words| words.get(lane)).copied().unwrap_or(0)
            }
        };
        if let Some(attribute) = interface.system_values.position {
            for component in 0..4 {
                set(attribute, component as u8, &value(SystemValue::FragCoord, component));
            }
        }
        if let Some(attribute) = interface.system_values.facts {
            let face = value(SystemValue::FrontFace, 0);
            set(attribute, 0, &move |lane| if face(lane) == 0 { 0 } else { u32::MAX });
            set(attribute, 1, &|lane| (lane % SUBGROUP_SIZE) as u32);
            set(attribute, 2, &value(SystemValue::SampleId, 0));
            set(attribute, 3, &value(SystemValue::SampleMaskIn, 0));
        }
        if let Some(attribute) = interface.system_values.sample {
            set(attribute, 0, &value(SystemValue::SamplePos, 0));
            set(attribute, 1, &value(SystemValue::SamplePos, 1));
            let is_helper = |lane: usize| inputs.helpers.get(lane).copied().unwrap_or(false);
            set(attribute, 2, &move |lane| if is_helper(lane) { u32::MAX } else { 0 });
        }
        if let Some(attribute) = interface.system_values.point {
            set(attribute, 0, &value(SystemValue::PointCoord, 0));
            set(attribute, 1, &value(SystemValue::PointCoord, 1));
            set(attribute, 2, &value(SystemValue::PrimitiveId, 0));
        }
        planes
    }
}

impl Runner for FragmentRunner {
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
            images: &self.program.interface.images,
            buffers: inputs.buffers.clone(),
            counters: inputs.counters.iter().map(|words| words_to_bytes(words)).collect(),
            entries: BTreeMap::new(),
            fragments: Fragments::default(),
        };
        for first in (0..inputs.lanes).step_by(LANES) {
            let count = (inputs.lanes - first).min(LANES);
            surroundings.fragments = Fragments { first, planes: self.planes(inputs, first), ..Fragments::default() };
            let launch = Launch {
                registers: self.payload(inputs, first),
                dispatch_mask: (1 << count) - 1,
                scratch: self.program.kernel.scratch,
                steps: limits.steps.min(u32::MAX.into()) as u32,
                has_sample_mask: interface.writes_sample_mask,
                ..Launch::default()
            };
            let result = self.simulator.run(&launch, &mut surroundings).map_err(run_error)?;
            outputs.steps = outputs.steps.max(result.steps.into());
            let flags = result.flags[0] >> 16;
            for lane in 0..count {
                if interface.kills {
                    outputs.live[first + lane] = flags >> lane & 1 != 0;
                }
                for output in &interface.outputs {
                    for component in (0..4).filter(|component| output.mask >> component & 1 != 0) {
                        let place = (component + usize::from(output.component)) % 4;
                        let word = match interface.sample_mask {
                            // Messages have the lower half.
                            Some(register) if output.slot == SAMPLE_MASK_OUTPUT => {
                                result.registers.words(register)[lane]
                            }
                            _ => surroundings.fragments.output(output.slot, place, lane),
                        };
                        outputs.outputs.set(output.register as usize, component, first + lane, word);
                    }
                }
            }
        }
        outputs.counters = surroundings.counter_words();
        outputs.buffers = surroundings.buffers;
        Ok(outputs)
    }
}

impl Fragments {
    /// A word of an output.
    fn output(&self, number: u8, component: usize, lane: usize) -> u32 {
        let words = match number {
            DEPTH_OUTPUT => self.writes.values().next().and_then(|write| write.depth),
            SECOND_COLOUR_OUTPUT => {
                self.writes.get(&0).and_then(|write| write.second_colour).map(|colour| colour[component])
            }
            target => self.writes.get(&target).map(|write| write.colour[component]),
        };
        words.map_or(0, |words| words[lane])
    }
}

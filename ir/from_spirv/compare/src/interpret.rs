//! Runs a shader that the front end made in the interpreter of the IR.

use std::collections::BTreeMap;

use tgsi_compiler::front_end::Interface;
use tgsi_environment::{Inputs, LaneRegisters, RunLimits, SystemValue};
use tgsi_ir::Shader;
use tgsi_ir::run::Program;
use tgsi_ir::slots::{FragResult, VaryingSlot};
use tgsi_ir::variable::VariableModes;
use tgsi_spirv_vulkan::native::{
    Attribute, Content, DEPTH, NativeInterface, NativeOutputs, NativeStage, TargetPixels, VaryingValue, Work,
};

use crate::registers::Registers;
use crate::resources::RunResources;
use crate::seed::Setup;

/// Most steps of a run.
const STEPS: u64 = 1_000_000;
/// Locations of varyings.
const LOCATIONS: i32 = 32;

/// A place of the interface of a shader: its register, the slot.
struct SlotRegister {
    register: u32,
    slot: i32,
}

/// Lists the registers of inputs or outputs.
fn slots(shader: &Shader, mode: VariableModes) -> Vec<SlotRegister> {
    let mut found = Vec::new();
    for (_, data) in shader.globals_with(mode) {
        for number in 0..shader.types.slots(data.ty).max(1) {
            let (register, slot) = (data.driver_location + number, data.location + number as i32);
            found.push(SlotRegister { register, slot });
        }
    }
    found
}

/// Returns the locations of inputs by their registers.
pub fn input_locations(shader: &Shader) -> BTreeMap<u32, u32> {
    let first = i32::from(VaryingSlot::VAR0);
    let slots = slots(shader, VariableModes::SHADER_IN).into_iter();
    let located = slots.filter(|slot| (first..first + LOCATIONS).contains(&slot.slot));
    located.map(|slot| (slot.register, (slot.slot - first) as u32)).collect()
}

/// Returns the locations of colours by their registers.
pub fn output_locations(shader: &Shader) -> BTreeMap<u32, u32> {
    let first = i32::from(FragResult::DATA0);
    let slots = slots(shader, VariableModes::SHADER_OUT).into_iter();
    let location = |slot: i32| match slot {
        slot if slot == i32::from(FragResult::COLOR) => Some(0),
        slot => u32::try_from(slot - first).ok(),
    };
    slots.filter_map(|slot| Some((slot.register, location(slot.slot)?))).collect()
}

/// Runs a shader with the contents of a setup.
///
/// # Errors
/// The shader cannot be run, or does not end.
pub fn interpret(
    shader: &Shader,
    names: &Interface,
    native: &NativeInterface,
    setup: &Setup,
) -> Result<NativeOutputs, String> {
    let registers = Registers::new(names, setup)?;
    let mut resources = RunResources::new(&registers, setup)?;
    let program = Program::new(shader).map_err(|error| error.to_string())?;
    let mut run = Run { registers: &registers, program, buffers: Vec::new() };
    run.buffers = vec![Vec::new(); registers.buffers.keys().next_back().map_or(0, |&last| last as usize + 1)];
    for (&register, &(binding, element)) in &registers.buffers {
        if let Content::Storage(bytes) = &setup.bindings[binding].contents[element] {
            run.buffers[register as usize] = bytes.clone();
        }
    }
    let targets = match (&setup.work, native.stage) {
        (Work::Groups(groups), NativeStage::Compute(size)) => {
            run.groups(*groups, size, shader, &mut resources)?;
            Vec::new()
        }
        (Work::Vertices { count, attributes }, _) => {
            run.vertices(*count, attributes, &mut resources)?;
            Vec::new()
        }
        (Work::Pixels { size, varyings }, _) => run.pixels(*size, varyings, shader, native, &mut resources)?,
        _ => return Err("work of another stage".to_owned()),
    };
    let mut bindings = setup.bindings.clone();
    for (&register, &(binding, element)) in &registers.buffers {
        bindings[binding].contents[element] = Content::Storage(run.buffers[register as usize].clone());
    }
    for (&register, &(binding, element)) in &registers.images {
        if let Some(picture) = resources.images.remove(&register) {
            bindings[binding].contents[element] = Content::Image(picture);
        }
    }
    Ok(NativeOutputs { bindings, targets })
}

struct Run<'a> {
    registers: &'a Registers,
    program: Program,
    buffers: Vec<Vec<u8>>,
}

impl Run<'_> {
    /// The inputs that all stages have.
    fn inputs(&self, lanes: usize) -> Inputs {
        let count = self.registers.constants.keys().next_back().map_or(0, |&last| last as usize + 1);
        let mut constants = vec![Vec::new(); count];
        for (&register, bytes) in &self.registers.constants {
            constants[register as usize] = words(bytes);
        }
        Inputs { lanes, constants, buffers: self.buffers.clone(), ..Inputs::default() }
    }

    fn limits(&self) -> RunLimits {
        RunLimits::of_steps(STEPS)
    }

    fn groups(
        &mut self,
        groups: [u32; 3],
        size: [u32; 3],
        shader: &Shader,
        resources: &mut RunResources,
    ) -> Result<(), String> {
        let count: u32 = size.iter().product();
        for group in positions(groups) {
            let mut inputs = self.inputs(count as usize);
            inputs.shared_size = shader.info.shared_size as usize;
            let mut set = |value: SystemValue, components: Vec<Vec<u32>>| {
                inputs.system_values.insert(value, components);
            };
            let local: Vec<[u32; 3]> = positions(size).collect();
            let by_lane = |of: &dyn Fn(usize, usize) -> u32| {
                (0..3).map(|axis| (0..local.len()).map(|lane| of(lane, axis)).collect()).collect::<Vec<Vec<u32>>>()
            };
            set(SystemValue::LocalInvocationId, by_lane(&|lane, axis| local[lane][axis]));
            set(SystemValue::GlobalInvocationId, by_lane(&|lane, axis| group[axis] * size[axis] + local[lane][axis]));
            set(SystemValue::WorkgroupId, by_lane(&|_, axis| group[axis]));
            set(SystemValue::WorkgroupSize, by_lane(&|_, axis| size[axis]));
            set(SystemValue::NumWorkgroups, by_lane(&|_, axis| groups[axis]));
            set(SystemValue::LocalInvocationIndex, vec![(0..count).collect()]);
            let outputs = self.program.run(&inputs, resources, self.limits()).map_err(|error| error.to_string())?;
            self.buffers = outputs.buffers;
        }
        Ok(())
    }

    fn vertices(&mut self, count: u32, attributes: &[Attribute], resources: &mut RunResources) -> Result<(), String> {
        let lanes = count as usize;
        let mut inputs = self.inputs(lanes);
        let numbers = vec![(0..count).collect()];
        let zero = || vec![vec![0; lanes]];
        inputs.system_values = BTreeMap::from([
            (SystemValue::VertexId, numbers.clone()),
            (SystemValue::VertexIdZeroBase, numbers),
            (SystemValue::BaseVertex, zero()),
            (SystemValue::FirstVertex, zero()),
            (SystemValue::InstanceId, zero()),
            (SystemValue::BaseInstance, zero()),
            (SystemValue::DrawId, zero()),
        ]);
        // The registers of attributes are their locations.
        inputs.inputs = LaneRegisters::new(lanes, 0);
        for attribute in attributes {
            inputs.inputs.set_lanes(attribute.location as usize, &attribute.words, |row| *row);
        }
        let outputs = self.program.run(&inputs, resources, self.limits()).map_err(|error| error.to_string())?;
        self.buffers = outputs.buffers;
        Ok(())
    }

    fn pixels(
        &mut self,
        (width, height): (u32, u32),
        varyings: &[VaryingValue],
        shader: &Shader,
        native: &NativeInterface,
        resources: &mut RunResources,
    ) -> Result<Vec<TargetPixels>, String> {
        // Quads, from left to right.
        let mut places = Vec::new();
        for (y, x) in (0..height / 2).flat_map(|y| (0..width / 2).map(move |x| (2 * y, 2 * x))) {
            places.extend([(x, y), (x + 1, y), (x, y + 1), (x + 1, y + 1)]);
        }
        let lanes = places.len();
        let mut inputs = self.inputs(lanes);
        let center = |(x, y): (u32, u32)| [x as f32 + 0.5, y as f32 + 0.5];
        let coordinates: Vec<[u32; 4]> = places
            .iter()
            .map(|&place| {
                let [x, y] = center(place);
                [x, y, DEPTH, 1.0].map(f32::to_bits)
            })
            .collect();
        let column = |rows: &[[u32; 4]]| (0..4).map(|at| rows.iter().map(|row| row[at]).collect()).collect();
        let all = |word: u32| vec![vec![word; lanes]];
        inputs.system_values = BTreeMap::from([
            (SystemValue::FragCoord, column(&coordinates)),
            (SystemValue::FrontFace, all(u32::MAX)),
            (SystemValue::SampleId, all(0)),
            (SystemValue::SamplePos, vec![vec![0.5f32.to_bits(); lanes]; 2]),
            (SystemValue::SampleMaskIn, all(1)),
            (SystemValue::HelperInvocation, all(0)),
            (SystemValue::PrimitiveId, all(0)),
        ]);
        let mut file = LaneRegisters::new(lanes, 0);
        let first = i32::from(VaryingSlot::VAR0);
        for SlotRegister { register, slot } in slots(shader, VariableModes::SHADER_IN) {
            let rows: Vec<[u32; 4]> = if slot == i32::from(VaryingSlot::POS) {
                coordinates.clone()
            } else if slot == i32::from(VaryingSlot::FACE) {
                vec![[1f32.to_bits(), 0, 0, 1f32.to_bits()]; lanes]
            } else if let Some(value) = varyings.iter().find(|value| value.location as i32 == slot - first) {
                let at = |plane: [f32; 3], [x, y]: [f32; 2]| (plane[0] + plane[1] * x + plane[2] * y).to_bits();
                let words = |place| value.words.unwrap_or_else(|| value.planes.map(|plane| at(plane, center(place))));
                places.iter().map(|&place| words(place)).collect()
            } else {
                continue;
            };
            file.set_lanes(register as usize, &rows, |row| *row);
        }
        inputs.inputs = file;
        let outputs = self.program.run(&inputs, resources, self.limits()).map_err(|error| error.to_string())?;
        self.buffers = outputs.buffers;
        let mut targets: Vec<TargetPixels> = Vec::new();
        let located = output_locations(shader);
        let mask = slots(shader, VariableModes::SHADER_OUT).into_iter();
        let mask = mask.filter(|slot| slot.slot == i32::from(FragResult::SAMPLE_MASK)).map(|slot| slot.register).next();
        // The only sample may be masked out.
        let is_covered = |lane| mask.is_none_or(|register| outputs.outputs.get(register as usize, 0, lane) & 1 != 0);
        for output in &native.outputs {
            if targets.iter().any(|target| target.location == output.location) {
                continue;
            }
            let mut pixels = vec![[0; 4]; (width * height) as usize];
            let register =
                located.iter().find(|(_, location)| **location == output.location).map(|(&register, _)| register);
            if let Some(register) = register {
                for (lane, &(x, y)) in places.iter().enumerate() {
                    if outputs.live.get(lane) != Some(&false) && is_covered(lane) {
                        pixels[(y * width + x) as usize] =
                            [0, 1, 2, 3].map(|component| outputs.outputs.get(register as usize, component, lane));
                    }
                }
            }
            targets.push(TargetPixels { location: output.location, class: output.class, pixels });
        }
        Ok(targets)
    }
}

/// All positions in a grid, x first.
fn positions([width, height, depth]: [u32; 3]) -> impl Iterator<Item = [u32; 3]> {
    (0..depth).flat_map(move |z| (0..height).flat_map(move |y| (0..width).map(move |x| [x, y, z])))
}

fn words(bytes: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| {
        let mut word = [0; 4];
        word[..bytes.len()].copy_from_slice(bytes);
        u32::from_le_bytes(word)
    };
    bytes.chunks(4).map(word).collect()
}

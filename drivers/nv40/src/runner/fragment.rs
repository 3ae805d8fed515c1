//! Runs fragment programs.

use std::cell::RefCell;

use tgsi_compiler::{RunError, Runner};
use tgsi_environment::{Inputs, Outputs, Resources, RunLimits, SamplerDim, SystemValue, TextureLookup, TextureRequest};
use tgsi_ir::slots::VaryingSlot;

use super::{no_outputs, run_error};
use crate::isa::fragment::Register;
use crate::program::{FragmentProgram, SYSTEM_VALUE, Texture, TextureKind, Varying};
use crate::simulator::{FragmentSimulator, Lookup, QuadInputs, Rules, TextureFetch};

/// The lanes of a quad.
const QUAD: usize = 4;

/// The register of the depth.
const DEPTH: u8 = 1;

/// A fragment program of valid words.
#[derive(Clone, Debug)]
pub struct FragmentRunner {
    program: FragmentProgram,
}

impl FragmentRunner {
    /// Checks a program.
    ///
    /// # Errors
    /// [`RunError::Code`]: words are not an instruction, or a constant slot is outside of the program.
    pub fn new(program: FragmentProgram) -> Result<FragmentRunner, RunError> {
        let words = &program.program.words;
        if program.program.patches.iter().any(|patch| (patch.slot as usize + 1).saturating_mul(4) > words.len()) {
            return Err(RunError::Code("a constant slot lies behind the program".to_owned()));
        }
        FragmentSimulator::new(words, program.chip).map_err(|trap| RunError::Code(trap.to_string()))?;
        Ok(FragmentRunner { program })
    }

    /// The simulator of the words with the values of uniforms.
    fn simulator(&self, inputs: &Inputs) -> Result<FragmentSimulator, RunError> {
        let mut words = self.program.program.words.clone();
        let uniforms = inputs.constants.first().map_or(&[][..], Vec::as_slice);
        for patch in &self.program.program.patches {
            let first = (patch.constant as usize).saturating_mul(4);
            let slot = patch.slot as usize * 4;
            for (component, word) in words[slot..slot + 4].iter_mut().enumerate() {
                *word = uniforms.get(first + component).copied().unwrap_or(0);
            }
        }
        FragmentSimulator::new(&words, self.program.chip).map_err(|trap| RunError::Code(trap.to_string()))
    }

    /// The inputs of a lane by number.
    fn inputs(&self, inputs: &Inputs, lane: usize) -> Vec<[f32; 4]> {
        let mut values = vec![[0.0; 4]; self.program.chip.limits().fragment.inputs.into()];
        for input in &self.program.inputs {
            let first = usize::from(input.component & 3);
            if let Some(value) = values.get_mut(usize::from(input.number)) {
                for (component, value) in value[first..].iter_mut().enumerate() {
                    *value = if input.register == SYSTEM_VALUE {
                        system_value(inputs, input.location, component, lane)
                    } else {
                        f32::from_bits(inputs.inputs.get(input.register as usize, component, lane))
                    };
                }
            }
        }
        values
    }

    /// Samples a texture for one lane.
    fn sample(&self, resources: &mut dyn Resources, fetch: &TextureFetch) -> [f32; 4] {
        let texture = self.program.textures.iter().find(|texture| texture.unit == fetch.unit);
        texture.map_or([0.0; 4], |texture| sample(resources, *texture, fetch))
    }

    /// The components of an output.
    fn output(&self, output: &Varying, registers: &crate::simulator::Registers) -> [f32; 4] {
        if output.number == DEPTH {
            return [registers.get(Register::R(DEPTH))[2]; 4];
        }
        let is_full = self.program.exports_full;
        registers.get(if is_full { Register::R(output.number) } else { Register::H(output.number) })
    }
}

/// A component of a system value. The face is 1 or -1.
fn system_value(inputs: &Inputs, location: i32, component: usize, lane: usize) -> f32 {
    let is = |slot: u8| location == i32::from(slot);
    let word = |value: SystemValue| {
        let words = inputs.system_values.get(&value).and_then(|components| components.get(component));
        words.and_then(|words| words.get(lane)).copied().unwrap_or(0)
    };
    if is(VaryingSlot::FACE) {
        if component > 0 {
            0.0
        } else if word(SystemValue::FrontFace) != 0 {
            1.0
        } else {
            -1.0
        }
    } else if is(VaryingSlot::POS) {
        f32::from_bits(word(SystemValue::FragCoord))
    } else if is(VaryingSlot::PNTC) {
        f32::from_bits(word(SystemValue::PointCoord))
    } else {
        0.0
    }
}

/// Samples a texture.
fn sample(resources: &mut dyn Resources, texture: Texture, fetch: &TextureFetch) -> [f32; 4] {
    let (dim, components) = match texture.kind {
        TextureKind::D1 => (SamplerDim::Dim1D, 1),
        TextureKind::D2 => (SamplerDim::Dim2D, 2),
        TextureKind::Rect => (SamplerDim::Rect, 2),
        TextureKind::D3 => (SamplerDim::Dim3D, 3),
        TextureKind::Cube => (SamplerDim::Cube, 3),
    };
    let (lookup, lod, derivatives) = match fetch.lookup {
        Lookup::Implicit { bias: 0.0, .. } => (TextureLookup::Implicit, 0.0, None),
        Lookup::Implicit { bias, .. } => (TextureLookup::Bias, bias, None),
        Lookup::Level(level) => (TextureLookup::Explicit, level, None),
        Lookup::Gradient { ddx, ddy } => (TextureLookup::Gradient, 0.0, Some((ddx, ddy))),
    };
    let mut request = TextureRequest {
        texture: texture.unit.into(),
        sampler: texture.unit.into(),
        is_shadow: texture.is_shadow,
        lod: [lod.to_bits(); QUAD],
        ..TextureRequest::new(lookup, dim)
    };
    for component in 0..components {
        request.coordinate[component] = fetch.quad.map(|coordinate| coordinate[component].to_bits());
        if let Some((ddx, ddy)) = derivatives {
            request.ddx[component] = [ddx[component].to_bits(); QUAD];
            request.ddy[component] = [ddy[component].to_bits(); QUAD];
        }
    }
    if texture.is_shadow {
        request.comparator = fetch.quad.map(|coordinate| coordinate[if components == 3 { 3 } else { 2 }].to_bits());
    }
    resources.texture(&request).map(|lanes| f32::from_bits(lanes[fetch.lane & (QUAD - 1)]))
}

impl Runner for FragmentRunner {
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        let mut outputs = no_outputs(&self.program.outputs, inputs.lanes);
        let simulator = self.simulator(inputs)?;
        let resources = RefCell::new(resources);
        for first in (0..inputs.lanes).step_by(QUAD) {
            let values = [0, 1, 2, 3].map(|lane| self.inputs(inputs, first + lane));
            let result = simulator.run(&QuadInputs {
                inputs: values.each_ref().map(Vec::as_slice),
                texture: &|fetch| self.sample(&mut **resources.borrow_mut(), fetch),
                rules: Rules::Ieee,
                steps: limits.steps.min(u32::MAX.into()) as u32,
            });
            let result = result.map_err(run_error)?;
            outputs.steps = outputs.steps.max(result.steps.into());
            for (lane, registers) in result.registers.iter().enumerate().take(inputs.lanes - first) {
                outputs.live[first + lane] = !result.killed[lane];
                for output in &self.program.outputs {
                    let values = self.output(output, registers);
                    for component in (0..4).filter(|component| output.mask >> component & 1 != 0) {
                        let word = values[component].to_bits();
                        outputs.outputs.set(output.register as usize, component, first + lane, word);
                    }
                }
            }
        }
        Ok(outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::fragment::{FragmentOp, Instruction, Patch, Program, Source};
    use crate::isa::{Chip, Condition, Mask, Predicate, Swizzle};
    use tgsi_environment::{AnalyticResources, LaneRegisters};

    fn varying(register: u32, location: i32, number: u8, mask: u8) -> Varying {
        Varying { register, location, number, component: 0, mask }
    }

    /// An input, the face, a uniform and a texture reach registers of the interface; fragments are killed.
    #[test]
    fn registers_of_the_interface() {
        let mut words = Program::default();
        let tex = Instruction {
            destination: Some(Register::R(2)),
            sources: [Source::input(), Source::default(), Source::default()],
            input: Some(5),
            texture: Some(3),
            ..Instruction::new(FragmentOp::Tex)
        };
        words.push(&tex, None, Chip::Nv40).unwrap();
        let add = Instruction {
            destination: Some(Register::R(0)),
            sources: [Source::full(2), Source::constant(), Source::default()],
            constant: Some([0; 4]),
            ..Instruction::new(FragmentOp::Add)
        };
        words.push(&add, Some(1), Chip::Nv40).unwrap();
        let face = Instruction {
            destination: Some(Register::R(1)),
            mask: Mask(4),
            writes_condition: Some(0),
            sources: [Source::input().swizzled(Swizzle::replicate(0)), Source::default(), Source::default()],
            input: Some(14),
            ..Instruction::new(FragmentOp::Mov)
        };
        words.push(&face, None, Chip::Nv40).unwrap();
        let predicate = Predicate { register: 0, condition: Condition::LT, swizzle: Swizzle::replicate(2) };
        let kill = Instruction { predicate, end: true, ..Instruction::new(FragmentOp::Kil) };
        words.push(&kill, None, Chip::Nv40).unwrap();
        let program = FragmentProgram {
            chip: Chip::Nv40,
            program: words,
            registers: 3,
            inputs: vec![varying(1, 0, 5, 15), varying(SYSTEM_VALUE, VaryingSlot::FACE.into(), 14, 1)],
            outputs: vec![varying(2, 0, 0, 15), varying(0, 0, 1, 4)],
            exports_full: true,
            writes_depth: true,
            kills: true,
            textures: vec![Texture { unit: 3, kind: TextureKind::D2, is_shadow: false }],
        };
        let mut inputs = Inputs { lanes: 8, inputs: LaneRegisters::new(8, 2), ..Inputs::default() };
        inputs.constants = vec![[[0.0f32; 4], [100.0; 4]].concat().into_iter().map(f32::to_bits).collect()];
        inputs.system_values.insert(SystemValue::FrontFace, vec![vec![1, 0, 1, 1, 0, 1, 1, 1]]);
        for lane in 0..8 {
            let values = [lane as f32, 0.5, 9.0, 9.0];
            (0..).zip(values).for_each(|(component, value)| inputs.inputs.set(1, component, lane, value.to_bits()));
        }
        let runner = FragmentRunner::new(program.clone()).unwrap();
        let outputs = runner.run(&inputs, &mut AnalyticResources::default(), RunLimits::default()).unwrap();
        assert_eq!(outputs.live, [true, false, true, true, false, true, true, true]);
        assert_eq!(outputs.outputs.component(0, 2)[..2], [1.0f32, -1.0].map(f32::to_bits));
        let quad = [4.0, 5.0, 6.0, 7.0f32].map(|x| [x, 0.5, 9.0, 9.0]);
        for (lane, coordinate) in quad.into_iter().enumerate() {
            let lookup = Lookup::Implicit { ddx: [0.0; 4], ddy: [0.0; 4], bias: 0.0 };
            let fetch = TextureFetch { unit: 3, lane, coordinate, quad, lookup };
            let texel = sample(&mut AnalyticResources::default(), program.textures[0], &fetch);
            let found = [0, 1, 2, 3].map(|component| f32::from_bits(outputs.outputs.get(2, component, 4 + lane)));
            assert_eq!(found, texel.map(|value| value + 100.0));
        }
        assert_eq!(outputs.steps, 4);

        let limits = RunLimits { steps: 3, ..RunLimits::default() };
        let run = runner.run(&inputs, &mut AnalyticResources::default(), limits);
        assert!(matches!(run, Err(RunError::StepLimit(_))));
        let mut damaged = program;
        damaged.program.patches.push(Patch { constant: 0, slot: u32::MAX });
        assert!(matches!(FragmentRunner::new(damaged), Err(RunError::Code(_))));
    }
}

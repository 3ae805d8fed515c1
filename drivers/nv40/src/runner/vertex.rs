//! Runs vertex programs.

use std::cell::RefCell;

use tgsi_compiler::{RunError, Runner};
use tgsi_environment::{Inputs, Outputs, Resources, RunLimits, SamplerDim, TextureLookup, TextureRequest};

use super::{no_outputs, run_error};
use crate::program::{Texture, TextureKind, VertexProgram};
use crate::simulator::{Rules, VertexInputs, VertexSimulator};

/// A vertex program with valid words.
#[derive(Clone, Debug)]
pub struct VertexRunner {
    program: VertexProgram,
    simulator: VertexSimulator,
}

impl VertexRunner {
    /// Decodes a program.
    ///
    /// # Errors
    /// [`RunError::Code`]: words are not an instruction.
    pub fn new(program: VertexProgram) -> Result<VertexRunner, RunError> {
        let simulator = VertexSimulator::new(&program.slots, program.chip);
        let simulator = simulator.map_err(|trap| RunError::Code(trap.to_string()))?;
        Ok(VertexRunner { program, simulator })
    }

    /// The constants by number: constant buffer 0, then literals.
    fn constants(&self, inputs: &Inputs) -> Vec<[f32; 4]> {
        let words = inputs.constants.first().map_or(&[][..], Vec::as_slice);
        let mut constants = vec![[0.0; 4]; self.program.constants.into()];
        for (constant, words) in constants.iter_mut().zip(words.chunks(4)) {
            for (value, word) in constant.iter_mut().zip(words) {
                *value = f32::from_bits(*word);
            }
        }
        for literal in &self.program.literals {
            if let Some(constant) = constants.get_mut(usize::from(literal.constant)) {
                *constant = literal.words.map(f32::from_bits);
            }
        }
        constants
    }

    /// The inputs of a lane by number.
    fn inputs(&self, inputs: &Inputs, lane: usize) -> Vec<[f32; 4]> {
        let mut values = vec![[0.0; 4]; self.program.chip.limits().vertex.inputs.into()];
        for input in &self.program.inputs {
            if let Some(value) = values.get_mut(usize::from(input.number)) {
                for component in 0..4 {
                    let word = inputs.inputs.get(input.register as usize, component, lane);
                    value[(component + usize::from(input.component)) % 4] = f32::from_bits(word);
                }
            }
        }
        values
    }

    /// Samples a texture for one lane.
    fn sample(&self, resources: &mut dyn Resources, unit: u8, coordinates: [f32; 4]) -> [f32; 4] {
        let texture = self.program.textures.iter().find(|texture| texture.unit == unit);
        texture.map_or([0.0; 4], |texture| sample(resources, *texture, coordinates))
    }
}

/// Samples a texture at coordinates with the level of detail in w.
fn sample(resources: &mut dyn Resources, texture: Texture, coordinates: [f32; 4]) -> [f32; 4] {
    let (dim, components) = match texture.kind {
        TextureKind::D1 => (SamplerDim::Dim1D, 1),
        TextureKind::D2 => (SamplerDim::Dim2D, 2),
        TextureKind::Rect => (SamplerDim::Rect, 2),
        TextureKind::D3 => (SamplerDim::Dim3D, 3),
        TextureKind::Cube => (SamplerDim::Cube, 3),
    };
    let words = coordinates.map(|value| [value.to_bits(); 4]);
    let mut request = TextureRequest {
        texture: texture.unit.into(),
        sampler: texture.unit.into(),
        is_shadow: texture.is_shadow,
        lod: words[3],
        ..TextureRequest::new(TextureLookup::Explicit, dim)
    };
    request.coordinate[..components].copy_from_slice(&words[..components]);
    if texture.is_shadow {
        request.comparator = words[2];
    }
    resources.texture(&request).map(|lanes| f32::from_bits(lanes[0]))
}

impl Runner for VertexRunner {
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        let mut outputs = no_outputs(&self.program.outputs, inputs.lanes);
        let constants = self.constants(inputs);
        let resources = RefCell::new(resources);
        for lane in 0..inputs.lanes {
            let values = self.inputs(inputs, lane);
            let result = self.simulator.run(&VertexInputs {
                inputs: &values,
                constants: &constants,
                texture: &|unit, coordinates| self.sample(&mut **resources.borrow_mut(), unit, coordinates),
                rules: Rules::Ieee,
                steps: limits.steps.min(u32::MAX.into()) as u32,
                ..VertexInputs::default()
            });
            let result = result.map_err(run_error)?;
            outputs.steps = outputs.steps.max(result.steps.into());
            for output in &self.program.outputs {
                let Some(value) = result.outputs.get(usize::from(output.number)) else { continue };
                for component in (0..4).filter(|component| output.mask >> component & 1 != 0) {
                    let value = value[(component + usize::from(output.component)) % 4];
                    outputs.outputs.set(output.register as usize, component, lane, value.to_bits());
                }
            }
        }
        Ok(outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::vertex::{Part, Slot, Source, SourceKind, VecOp, encode};
    use crate::isa::{Chip, Mask};
    use crate::program::{Literal, Varying};
    use tgsi_environment::{AnalyticResources, LaneRegisters};

    fn varying(register: u32, number: u8, component: u8, mask: u8) -> Varying {
        Varying { register, location: 0, number, component, mask }
    }

    /// An input, a uniform, a literal and a texture reach registers of the interface.
    #[test]
    fn registers_of_the_interface() {
        let mut lookup = Slot {
            vec: Some(Part::to_register(VecOp::Txl, 0, Mask::ALL)),
            sources: [Some(Source::input()), None, None],
            input: Some(3),
            texture: Some(1),
            ..Slot::default()
        };
        let sum = |constant, output, mask| Slot {
            vec: Some(Part::to_output(VecOp::Add, mask)),
            sources: [Some(Source::new(SourceKind::Temporary(0))), None, Some(Source::constant())],
            constant: Some(constant),
            output: Some(output),
            ..Slot::default()
        };
        let slots = [lookup, sum(0, 0, Mask::ALL), Slot { end: true, ..sum(1, 5, Mask(0b1110)) }];
        let program = VertexProgram {
            chip: Chip::Nv40,
            slots: slots.iter().map(|slot| encode(slot, Chip::Nv40).unwrap()).collect(),
            temporaries: 1,
            inputs: vec![varying(2, 3, 0, 15)],
            outputs: vec![varying(0, 0, 0, 15), varying(4, 5, 1, 3), varying(4, 5, 1, 4)],
            constants: 2,
            literals: vec![Literal { constant: 1, words: [5.0f32.to_bits(); 4] }],
            branches: Vec::new(),
            constant_slots: vec![1, 2],
            textures: vec![Texture { unit: 1, kind: TextureKind::D2, is_shadow: false }],
        };
        let mut inputs = Inputs { lanes: 2, inputs: LaneRegisters::new(2, 3), ..Inputs::default() };
        inputs.constants = vec![vec![100.0f32.to_bits(); 4]];
        let coordinates = [[0.25, 0.5, 0.0, 1.0], [0.75, 0.25, 0.0, 2.0f32]];
        for (lane, values) in coordinates.iter().enumerate() {
            (0..).zip(values).for_each(|(component, value)| inputs.inputs.set(2, component, lane, value.to_bits()));
        }
        let runner = VertexRunner::new(program.clone()).unwrap();
        let outputs = runner.run(&inputs, &mut AnalyticResources::default(), RunLimits::default()).unwrap();
        for (lane, values) in coordinates.into_iter().enumerate() {
            let texel = sample(&mut AnalyticResources::default(), program.textures[0], values);
            let found = [0, 1, 2, 3].map(|component| f32::from_bits(outputs.outputs.get(0, component, lane)));
            assert_eq!(found, texel.map(|value| value + 100.0));
            let found = [0, 1, 2, 3].map(|component| f32::from_bits(outputs.outputs.get(4, component, lane)));
            assert_eq!(found, [texel[1] + 5.0, texel[2] + 5.0, texel[3] + 5.0, 0.0]);
        }
        assert_eq!(outputs.steps, 3);

        lookup.end = false;
        let endless = VertexProgram { slots: vec![encode(&lookup, Chip::Nv40).unwrap()], ..program };
        let run = |steps| {
            let limits = RunLimits { steps, ..RunLimits::default() };
            VertexRunner::new(endless.clone()).unwrap().run(&inputs, &mut AnalyticResources::default(), limits)
        };
        assert!(matches!(run(0), Err(RunError::StepLimit(_))));
        assert!(matches!(run(9), Err(RunError::Failed(_))));
    }
}

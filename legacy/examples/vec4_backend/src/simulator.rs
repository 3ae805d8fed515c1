//! Runs code, lane by lane.

use std::any::Any;

use tgsi_compiler::{Code, RunError, Runner, Target};
use tgsi_environment::{Inputs, LaneRegisters, Outputs, Resources, RunLimits};
use tgsi_vec4::simple::{File, Source};

use crate::Vec4Options;
use crate::code::{Decoded, decode};
use crate::driver::TEMPORARIES;
use crate::machine::Op;

/// Creates the runner of code of this driver.
pub(crate) fn runner(target: &dyn Target, code: &Code) -> Option<Result<Box<dyn Runner>, RunError>> {
    (target as &dyn Any).downcast_ref::<Vec4Options>()?;
    Some(match decode(code) {
        Some(decoded) => Ok(Box::new(decoded)),
        None => Err(RunError::Code("the code is damaged".into())),
    })
}

/// The registers of a lane.
struct Lane<'a> {
    code: &'a Decoded,
    inputs: &'a Inputs,
    number: usize,
    temporaries: [[f32; 4]; TEMPORARIES as usize],
    address: i64,
}

impl Lane<'_> {
    fn read(&self, source: &Source) -> [f32; 4] {
        let index = i64::from(source.index) + if source.relative.is_some() { self.address } else { 0 };
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        source.swizzle.map(|c| {
            let c = usize::from(c);
            let uniform = || self.inputs.constants.first()?.get(index.checked_mul(4)? + c).copied();
            let value = match source.file {
                File::Temporary => self.temporaries.get(index).map_or(0.0, |register| register[c]),
                File::Input => f32::from_bits(self.inputs.inputs.get(index, c, self.number)),
                File::Uniform => f32::from_bits(uniform().unwrap_or(0)),
                _ => f32::from_bits(self.code.rows.get(index).map_or(0, |row| row[c])),
            };
            let value = if source.absolute { value.abs() } else { value };
            if source.negate { -value } else { value }
        })
    }

    /// Runs the code; returns the number of steps, and whether the lane is live in the end.
    fn run(&mut self, outputs: &mut LaneRegisters, limits: RunLimits) -> Result<(u64, bool), RunError> {
        let (mut next, mut steps) = (0, 0);
        while let Some((instruction, target)) = self.code.instructions.get(next) {
            (next, steps) = (next + 1, steps + 1);
            if steps > limits.steps {
                return Err(RunError::StepLimit(format!("more than {} instructions", limits.steps)));
            }
            let mut operands = [[0.0; 4]; 3];
            operands.iter_mut().zip(&instruction.sources).for_each(|(operand, source)| *operand = self.read(source));
            match instruction.op {
                Op::Kil if operands[0][0] != 0.0 => return Ok((steps, false)),
                Op::Brz if operands[0][0] == 0.0 => next = *target,
                Op::Bra => next = *target,
                _ => {}
            }
            let Some(to) = instruction.destination else { continue };
            for c in (0..4).filter(|c| to.mask >> c & 1 != 0) {
                let value = instruction.op.compute(&operands, c);
                let value = if instruction.saturate { value.max(0.0).min(1.0) } else { value };
                match to.file {
                    File::Output => outputs.set(to.index as usize, c, self.number, value.to_bits()),
                    File::Special => self.address = value as i64,
                    _ => self.temporaries[to.index as usize % TEMPORARIES as usize][c] = value,
                }
            }
        }
        Ok((steps, true))
    }
}

impl Runner for Decoded {
    fn run(&self, inputs: &Inputs, _: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        let mut outputs = Outputs { outputs: LaneRegisters::new(inputs.lanes, 0), ..Outputs::default() };
        for number in 0..inputs.lanes {
            let temporaries = [[0.0; 4]; TEMPORARIES as usize];
            let mut lane = Lane { code: self, inputs, number, temporaries, address: 0 };
            let (steps, is_live) = lane.run(&mut outputs.outputs, limits)?;
            outputs.live.push(is_live);
            outputs.steps = outputs.steps.max(steps);
        }
        Ok(outputs)
    }
}

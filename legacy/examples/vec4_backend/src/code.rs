//! Passes, listing and simulator. In place of words, code is stored as JSON: an encoder is not the subject here.

use std::any::Any;

use serde::{Deserialize, Serialize};
use tgsi_compiler::{Code, CodeSize, RunError, Runner, Target, Unsupported};
use tgsi_environment::{Inputs, LaneRegisters, Outputs, Resources, RunLimits};
use tgsi_vec4::allocate::{AllocationMode, allocate};
use tgsi_vec4::branches::{Step, branches};
use tgsi_vec4::simple::{File, Instruction, Source, optimize, pack_constants};
use tgsi_vec4::{ConstantPool, Program};

use crate::machine::{Machine, Op};
use crate::{TEMPORARIES, TOO_LARGE, Vec4Options};

/// Code: instructions, each with the target of a branch, and rows of literals.
#[derive(Serialize, Deserialize)]
struct Machinecode {
    instructions: Vec<(Instruction<Op>, usize)>,
    rows: Vec<[u32; 4]>,
}

/// The code of a program. With `registers`, its temporaries are registers of the machine already.
pub(crate) fn emit(mut program: Program<Machine>, registers: bool) -> Result<Code, Unsupported> {
    if !registers {
        optimize(&mut program);
        let count = allocate(&mut program, AllocationMode::Pack, false);
        if count > TEMPORARIES {
            return Err(Unsupported::new(TOO_LARGE, None, format!("{count} temporaries are needed")));
        }
    }
    let mut pool = ConstantPool::default();
    let large = |number| Unsupported::new(TOO_LARGE, None, format!("instruction {number} reads too many literals"));
    pack_constants(&mut program, &mut pool).map_err(large)?;
    let steps = branches((0..program.instructions().len()).map(|number| program.flow(number)));
    let steps = steps.map_err(|error| Unsupported::new(TOO_LARGE, None, error))?;
    let instruction = |number: usize| program.instructions()[number].clone();
    let instructions = steps.into_iter().map(|step| match step {
        Step::Instruction(number) | Step::End(number) => (instruction(number), 0),
        Step::Unless(number, target) => (Instruction { op: Op::Brz, ..instruction(number) }, target),
        Step::Always(number, target) => (Instruction { op: Op::Bra, ..instruction(number) }, target),
    });
    let code = Machinecode { instructions: instructions.collect(), rows: pool.rows().collect() };
    serde_json::to_vec(&code).map(Code::Binary).map_err(|error| Unsupported::new(TOO_LARGE, None, error))
}

/// Reads code; none if it is not of this driver.
fn read(code: &Code) -> Option<Machinecode> {
    if let Code::Binary(bytes) = code { serde_json::from_slice(bytes).ok() } else { None }
}

/// The listing of code.
pub(crate) fn disassemble(code: &Code) -> Option<Result<String, String>> {
    let Machinecode { instructions, rows } = read(code)?;
    let lines = instructions.iter().enumerate().map(|(number, (instruction, target))| match instruction.op {
        Op::Brz | Op::Bra => format!("{number:4}: {instruction} -> {target}\n"),
        _ => format!("{number:4}: {instruction}\n"),
    });
    let literals = rows.iter().enumerate().map(|(n, row)| format!("Constant[{n}] = {:?}\n", row.map(f32::from_bits)));
    Some(Ok(lines.chain(literals).collect()))
}

pub(crate) fn size(code: &Code) -> Option<CodeSize> {
    let Machinecode { instructions, rows } = read(code)?;
    let to = instructions.iter().filter_map(|(instruction, _)| instruction.destination);
    let temporaries = to.filter(|to| to.file == File::Temporary).map(|to| to.index as u32 + 1).max().unwrap_or(0);
    Some(CodeSize { instructions: instructions.len() as u32, temporaries, immediates: rows.len() as u32 })
}

pub(crate) fn runner(target: &dyn Target, code: &Code) -> Option<Result<Box<dyn Runner>, RunError>> {
    (target as &dyn Any).downcast_ref::<Vec4Options>()?;
    Some(read(code).map(|code| Box::new(code) as _).ok_or_else(|| RunError::Code("the code is damaged".into())))
}

impl Runner for Machinecode {
    fn run(&self, inputs: &Inputs, _: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        let mut outputs = Outputs { outputs: LaneRegisters::new(inputs.lanes, 0), ..Outputs::default() };
        outputs.live = vec![true; inputs.lanes];
        (0..inputs.lanes).try_for_each(|lane| self.run_lane(lane, inputs, limits, &mut outputs))?;
        Ok(outputs)
    }
}

impl Machinecode {
    fn run_lane(&self, lane: usize, inputs: &Inputs, limits: RunLimits, result: &mut Outputs) -> Result<(), RunError> {
        let (mut temporaries, mut address) = ([[0.0f32; 4]; TEMPORARIES as usize], 0);
        let uniforms = inputs.constants.first().map_or(&[][..], |words| words.as_chunks::<4>().0);
        let (mut next, mut steps) = (0, 0);
        while let Some((instruction, target)) = self.instructions.get(next) {
            (next, steps) = (next + 1, steps + 1);
            if steps > limits.steps {
                return Err(RunError::StepLimit(format!("more than {} instructions", limits.steps)));
            }
            let read = |source: &Source| {
                let index = usize::try_from(i64::from(source.index) + source.relative.map_or(0, |_| address));
                let index = index.unwrap_or(usize::MAX);
                source.swizzle.map(|c| {
                    let word = match source.file {
                        File::Temporary => temporaries[index % temporaries.len()][usize::from(c)].to_bits(),
                        File::Input => inputs.inputs.get(index, c.into(), lane),
                        File::Uniform => uniforms.get(index).map_or(0, |row| row[usize::from(c)]),
                        _ => self.rows.get(index).map_or(0, |row| row[usize::from(c)]),
                    };
                    let value = f32::from_bits(if source.absolute { word & 0x7fff_ffff } else { word });
                    if source.negate { -value } else { value }
                })
            };
            let operands = [0, 1, 2].map(|number| instruction.sources.get(number).map_or([0.0; 4], read));
            match instruction.op {
                Op::Kil => result.live[lane] &= operands[0][0] == 0.0,
                Op::Brz if operands[0][0] == 0.0 => next = *target,
                Op::Bra => next = *target,
                _ => {}
            }
            let Some(to) = instruction.destination else { continue };
            for c in (0..4).filter(|c| to.mask >> c & 1 != 0) {
                let value = instruction.op.compute(&operands, c);
                let value = match instruction.saturate {
                    true if value > 0.0 => value.min(1.0),
                    true => 0.0,
                    false => value,
                };
                match to.file {
                    File::Output => result.outputs.set(to.index as usize, c, lane, value.to_bits()),
                    File::Special => address = value as i64,
                    _ => temporaries[to.index as usize % TEMPORARIES as usize][c] = value,
                }
            }
        }
        result.steps = result.steps.max(steps);
        Ok(())
    }
}

//! Runs one machine pass on a program written as TGSI: for tests, for inspecting a pass, and for reducing its faults.
//!
//! TGSI is the text form of the machine program. Temporaries outside of arrays are virtual, any number of them; arrays
//! come first. Immediates are the rows of constants. The result is TGSI again, so that it can be run.

use std::collections::BTreeMap;

use tgsi::Shader;
use tgsi::builder::{BuildError, ShaderBuilder};
use tgsi::shader::{Declaration, Immediate, Instruction};
use tgsi::tables::{File, ImmediateType, Opcode, Processor, Semantic};
use tgsi_ir::shader::ShaderStage;
use thiserror::Error;

use super::table::{Context, PASSES, Pass};
use crate::consumers::options::TgsiOptions;
use crate::consumers::virgl::rules::Rules;
use crate::machine::{Immediates, Program, Tgsi};

/// Why a machine pass cannot run on a shader.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MachinePassError {
    /// There is no pass of this name.
    #[error("no machine pass `{name}`; there are {}", machine_passes().collect::<Vec<_>>().join(", "))]
    UnknownPass {
        /// The name.
        name: String,
    },
    /// An array follows other temporaries.
    #[error("TEMP[{0}]: arrays of temporaries come first")]
    ArraysFirst(u16),
    /// Each function is a separate program.
    #[error("{} is not part of a machine program", .0.info().name)]
    UnsupportedOpcode(Opcode),
    /// The result does not fit TGSI's limits.
    #[error("{0}")]
    Build(#[from] BuildError),
}

/// Names of the machine passes that [`run_machine_pass`] knows.
pub fn machine_passes() -> impl Iterator<Item = &'static str> {
    PASSES.iter().map(|pass| short_name(pass))
}

fn short_name(pass: Pass) -> &'static str {
    pass.name.strip_prefix("tgsi:").unwrap_or(pass.name)
}

/// Runs one machine pass on a shader whose temporaries are virtual, except for arrays.
///
/// # Errors
/// [`MachinePassError`].
pub fn run_machine_pass(shader: &Shader, name: &str, options: &TgsiOptions) -> Result<Shader, MachinePassError> {
    let pass = PASSES.iter().find(|pass| short_name(pass) == name);
    let pass = pass.ok_or_else(|| MachinePassError::UnknownPass { name: name.to_owned() })?;
    let rules = rules_of_virgl(shader);
    let mut program = program(shader, options)?;
    let context = Context { stage: stage(shader.processor), options: options.clone(), rules };
    (pass.run)(&mut program, &context);
    with_program(shader, program)
}

const fn stage(processor: Processor) -> ShaderStage {
    match processor {
        Processor::Vertex => ShaderStage::Vertex,
        Processor::Fragment => ShaderStage::Fragment,
        Processor::Geometry => ShaderStage::Geometry,
        Processor::TessControl => ShaderStage::TessCtrl,
        Processor::TessEval => ShaderStage::TessEval,
        Processor::Compute => ShaderStage::Compute,
        Processor::Task => ShaderStage::Task,
        Processor::Mesh => ShaderStage::Mesh,
    }
}

fn rules_of_virgl(shader: &Shader) -> Rules {
    let of = |file: File| {
        let declared = shader.declarations.iter().filter(move |d| d.file == file);
        let rows = declared.filter_map(|d| Some((d, d.semantic?.name)));
        rows.flat_map(|(d, semantic)| (d.first..=d.last).map(move |r| (u32::from(r), semantic))).collect::<Vec<_>>()
    };
    let system_values: Vec<Semantic> = of(File::SystemValue).into_iter().map(|(_, semantic)| semantic).collect();
    Rules::of_virgl(stage(shader.processor), of(File::Output), of(File::Input), &system_values, &[])
}

fn temporaries(shader: &Shader) -> impl Iterator<Item = &Declaration> {
    shader.declarations.iter().filter(|d| d.file == File::Temporary)
}

/// Converts a shader to the machine program.
fn program(shader: &Shader, options: &TgsiOptions) -> Result<Program, MachinePassError> {
    let is_array = |d: &&Declaration| d.array().is_some();
    let end = |d: &Declaration| u32::from(d.last) + 1;
    let first_temp = temporaries(shader).filter(is_array).map(end).max().unwrap_or(0);
    if let Some(before) = temporaries(shader).find(|d| !is_array(d) && u32::from(d.first) < first_temp) {
        return Err(MachinePassError::ArraysFirst(before.first));
    }
    let mut program = Program::new(Tgsi::new(options), first_temp);
    program.set_num_temps(temporaries(shader).map(end).max().unwrap_or(0));
    let words = |immediate: &Immediate| [0, 1, 2, 3].map(|c| immediate.word(c));
    let rows: Vec<i32> = shader.immediates.iter().map(|row| program.constants.intern(words(row))).collect();
    for instruction in &shader.instructions {
        use Opcode::{Bgnsub, Cal, Case, Default, End, Endsub, Endswitch, Ret, Switch};
        match instruction.opcode {
            End => continue,
            opcode @ (Bgnsub | Cal | Case | Default | Endsub | Endswitch | Ret | Switch) => {
                return Err(MachinePassError::UnsupportedOpcode(opcode));
            }
            _ => {}
        }
        let mut instruction = instruction.clone();
        instruction.label = None;
        each_immediate(&mut instruction, |index| {
            *index = usize::try_from(*index).ok().and_then(|i| rows.get(i)).copied().unwrap_or(0);
        });
        program.push(instruction);
    }
    Ok(program)
}

fn each_immediate(instruction: &mut Instruction, mut change: impl FnMut(&mut i32)) {
    let sources = instruction.src.iter_mut().filter(|src| src.register.file == File::Immediate);
    sources.for_each(|src| change(&mut src.register.index));
    let offsets = instruction.texture.iter_mut().flat_map(|texture| &mut texture.offsets);
    offsets.filter(|offset| offset.file == File::Immediate).for_each(|offset| change(&mut offset.index));
}

/// The shader with another program: temporaries and immediates as that has them.
fn with_program(shader: &Shader, program: Program) -> Result<Shader, MachinePassError> {
    let (first_temp, num_temps) = (program.first_temp(), program.num_temps());
    let (mut instructions, constants) = program.into_instructions();
    let mut finished = shader.clone();
    finished.declarations.retain(|d| d.file != File::Temporary || d.array().is_some());
    if let (Ok(first), Ok(last)) = (u16::try_from(first_temp), u16::try_from(num_temps.saturating_sub(1)))
        && first_temp < num_temps
    {
        finished.declarations.push(Declaration::new(File::Temporary, first, last));
    }
    finished.immediates = used_immediates(shader, &constants, &mut instructions);
    let mut builder = ShaderBuilder::new(shader.processor);
    // It gives labels to blocks.
    builder.append(instructions);
    builder.end();
    finished.instructions = builder.finish()?.instructions;
    finished.order_by_kind();
    Ok(finished)
}

/// The rows that are used, in the order of their numbers; of those that the source has, the type is the same.
fn used_immediates(shader: &Shader, constants: &Immediates, instructions: &mut [Instruction]) -> Vec<Immediate> {
    let mut numbers: BTreeMap<i32, i32> = BTreeMap::new();
    for instruction in instructions.iter_mut() {
        each_immediate(instruction, |index| {
            numbers.insert(*index, 0);
        });
    }
    let mut rows = Vec::with_capacity(numbers.len());
    for (row, number) in &mut numbers {
        *number = rows.len() as i32;
        let words = constants.row(*row);
        let is_same = |known: &&Immediate| (0..4).all(|c| known.word(c) == words[c]);
        let known = shader.immediates.iter().find(is_same);
        rows.push(Immediate::new(known.map_or(ImmediateType::Uint32, |known| known.data_type), words));
    }
    for instruction in instructions {
        each_immediate(instruction, |index| *index = numbers.get(index).copied().unwrap_or(0));
    }
    rows
}

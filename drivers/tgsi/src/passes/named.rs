//! One machine pass alone, on a program that is written as TGSI: for tests, for looking at what a pass does, and for
//! reducing what it does wrong.
//!
//! TGSI is the text form of the machine program. Temporaries outside of arrays are virtual, any number of them; arrays
//! come first. Immediates are the rows of constants. What comes out is TGSI again, so that it can be run.

use std::collections::BTreeMap;

use super::choose_components::Divides;
use super::pipeline::extent;
use tgsi::Shader;
use tgsi::builder::{BuildError, ShaderBuilder};
use tgsi::shader::{Declaration, Immediate, Instruction};
use tgsi::tables::{File, ImmediateType, Opcode, Processor, Semantic};
use tgsi_ir::shader::Stage;
use tgsi_vec4::allocate::{allocate, coalesce_copies};
use tgsi_vec4::dead_code::remove_dead_code;
use tgsi_vec4::hoist_constants::hoist_constants;
use tgsi_vec4::merge::merge_instructions;
use tgsi_vec4::propagate_backward::propagate_backward;
use tgsi_vec4::propagate_copies::propagate_copies;
use tgsi_vec4::vectorize::vectorize;
use thiserror::Error;

use super::{choose_components, combine, group_addresses, legalize_virgl, lower_continues, simplify_cfg};
use crate::machine::{Immediates, Program, Tgsi};
use crate::target::options::TgsiOptions;
use crate::target::virgl::rules::Rules;

/// Why a machine pass cannot run on a shader.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum MachinePassError {
    /// There is no pass of this name.
    #[error("no machine pass `{name}`; there are {}", MACHINE_PASSES.join(", "))]
    UnknownPass {
        /// The name.
        name: String,
    },
    /// An array stands after other temporaries.
    #[error("TEMP[{0}]: arrays of temporaries come first")]
    ArraysFirst(u16),
    /// Each function is a program of its own.
    #[error("{} is not part of a machine program", .0.info().name)]
    UnsupportedOpcode(Opcode),
    /// The result does not fit TGSI's limits.
    #[error("{0}")]
    Build(#[from] BuildError),
}

/// The target that a pass runs for.
struct Context<'a> {
    processor: Processor,
    options: &'a TgsiOptions,
    rules: Rules,
}

type Pass = fn(&mut Program, &Context<'_>);

macro_rules! machine_passes {
    ($($name:literal => |$program:ident, $context:pat_param| $pass:expr;)+) => {
        /// Names of the machine passes that [`run_machine_pass`] knows.
        pub const MACHINE_PASSES: &[&str] = &[$($name),+];

        fn pass(name: &str) -> Option<Pass> {
            Some(match name {
                $($name => |$program, $context| { $pass; },)+
                _ => return None,
            })
        }
    };
}

machine_passes! {
    "simplify_cfg" => |program, context| simplify_cfg::simplify_cfg(program, context.options);
    "propagate_copies" => |program, _| propagate_copies(program);
    "combine" => |program, context| combine::combine(program, context.options);
    "remove_dead_code" => |program, _| remove_dead_code(program);
    "propagate_backward" => |program, _| propagate_backward(program);
    "merge_instructions" => |program, _| merge_instructions(program);
    "vectorize" => |program, _| vectorize(program);
    "group_addresses" => |program, _| group_addresses::group_addresses(program);
    "hoist_constants" => |program, _| {
        if let Some((hoisted, _)) = hoist_constants(program) {
            *program = hoisted;
        }
    };
    "coalesce_copies" => |program, _| coalesce_copies(program);
    "allocate" => |program, context| {
        let outputs_wait = !matches!(context.processor, Processor::Geometry | Processor::TessControl);
        allocate(program, extent(context.options), outputs_wait);
    };
    "choose_components" => |program, _| choose_components::choose_components(program, Divides::Values);
    "lower_continues" => |program, context| {
        lower_continues::lower_continues(program, context.options.native_integers);
    };
    "legalize_virgl" => |program, context| {
        legalize_virgl::rewrite(program, stage(context.processor), context.rules.clone());
    };
}

/// Runs one machine pass on a shader whose temporaries are virtual, but for arrays.
///
/// # Errors
/// [`MachinePassError`].
pub fn run_machine_pass(shader: &Shader, name: &str, options: &TgsiOptions) -> Result<Shader, MachinePassError> {
    let pass = pass(name).ok_or_else(|| MachinePassError::UnknownPass { name: name.to_owned() })?;
    let rules = rules_of_virgl(shader);
    let mut program = program(shader, options)?;
    pass(&mut program, &Context { processor: shader.processor, options, rules });
    with_program(shader, program)
}

const fn stage(processor: Processor) -> Stage {
    match processor {
        Processor::Vertex => Stage::Vertex,
        Processor::Fragment => Stage::Fragment,
        Processor::Geometry => Stage::Geometry,
        Processor::TessControl => Stage::TessCtrl,
        Processor::TessEval => Stage::TessEval,
        Processor::Compute => Stage::Compute,
        Processor::Task => Stage::Task,
        Processor::Mesh => Stage::Mesh,
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

/// The machine program that a shader says.
fn program(shader: &Shader, options: &TgsiOptions) -> Result<Program, MachinePassError> {
    let is_array = |d: &&Declaration| d.array().is_some();
    let end = |d: &Declaration| u32::from(d.last) + 1;
    let first_temp = temporaries(shader).filter(is_array).map(end).max().unwrap_or(0);
    if let Some(before) = temporaries(shader).find(|d| !is_array(d) && u32::from(d.first) < first_temp) {
        return Err(MachinePassError::ArraysFirst(before.first));
    }
    let machine = Tgsi {
        rules: Rules::default(),
        has_whole_textures: options.whole_texture_writes,
        has_plain_coordinates: options.plain_coordinates,
        has_whole_results: options.whole_results,
        has_halves_in_turn: options.halves_in_turn,
        has_derivatives_of_xy: options.derivatives_of_xy,
        has_own_allocator: options.unoptimized_ra,
    };
    let mut program = Program::new(machine, first_temp);
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

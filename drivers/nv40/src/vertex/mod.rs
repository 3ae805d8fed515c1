//! Vertex programs after selection.
//!
//! | step | effect |
//! |---|---|
//! | passes of [`tgsi_vec4`] | fewer instructions, registers of the chip |
//! | [`literals`] | rows of constants after the uniforms |
//! | [`blocks`] | branches instead of constructs |
//! | [`pairs`] | operations of both units in one slot |
//! | [`emit`] | words |

mod blocks;
mod combine;
mod conditions;
mod emit;
mod literals;
mod operation;
mod pairs;
mod registers;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use tgsi_vec4::Flow;
use tgsi_vec4::access::swizzled;
use tgsi_vec4::allocate::{AllocationMode, allocate};
use tgsi_vec4::dead_code::remove_dead_code;
use tgsi_vec4::hoist_constants::hoist_constants;
use tgsi_vec4::merge::merge_instructions;
use tgsi_vec4::propagate_backward::propagate_backward;
use tgsi_vec4::propagate_copies::propagate_copies;
use tgsi_vec4::simple::{File, share_operands, sink_guarded};
use tgsi_vec4::vectorize::vectorize;

use self::conditions::Conditions;
use self::literals::Line;
use self::operation::{Operation, predicate};
use crate::Nv40Error;
use crate::isa::{EncodeError, Predicate};
use crate::machine::{Program, Selected};
use crate::program::{Varying, VertexProgram};

/// The options of vertex programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the driver")]
pub(crate) struct VertexOptions {
    /// Operations of both units are paired.
    pub(crate) pairs: bool,
    /// Instructions are optimised.
    pub(crate) optimize: bool,
    /// Vector operations may share a slot with a branch.
    pub(crate) vector_beside_branch: bool,
    /// All temporaries of GeForce 6 and 7 are available, as after a setting of the driver.
    pub(crate) all_temporaries: bool,
}

impl Default for VertexOptions {
    fn default() -> VertexOptions {
        VertexOptions { pairs: true, optimize: true, vector_beside_branch: false, all_temporaries: false }
    }
}

/// The passes before allocation, rerun until none changes anything.
const PASSES: [fn(&mut Program) -> bool; 6] =
    [propagate_copies, remove_dead_code, propagate_backward, sink_guarded, merge_instructions, vectorize];

/// Bounds the rounds through the passes.
const MAX_ROUNDS: usize = 4;

fn optimize(program: &mut Program) {
    for _ in 0..MAX_ROUNDS {
        let mut changed = false;
        for pass in PASSES {
            changed |= pass(program);
        }
        if !changed {
            break;
        }
    }
}

/// Assigns registers.
fn allocated(mut program: Program, options: &VertexOptions) -> Program {
    // Copies to outputs after an end are not always executed.
    let ends_early = (0..program.instructions().len().saturating_sub(1)).any(|at| program.flow(at) == Some(Flow::End));
    allocate(&mut program, AllocationMode::Pack, options.optimize && !ends_early);
    if options.optimize {
        // Neighbours may have become mergeable.
        merge_instructions(&mut program);
    }
    program
}

/// Other forms of an optimised program: with constants hoisted, with copies of operands shared, or both.
fn variants(program: &mut Program) -> Vec<Program> {
    let mut variants: Vec<Program> = hoist_constants(program).map(|(hoisted, _)| hoisted).into_iter().collect();
    variants.iter_mut().for_each(optimize);
    let mut shared: Vec<Program> = variants.iter().chain([&*program]).cloned().collect();
    shared.retain_mut(share_operands);
    shared.iter_mut().for_each(optimize);
    variants.extend(shared);
    variants
}

/// Optimises, allocates and encodes a program. Of several forms, the one with the fewest slots is returned.
pub(crate) fn finish(selected: Selected, options: &VertexOptions) -> Result<VertexProgram, Nv40Error> {
    let Selected { mut program, inputs, outputs, textures, uniforms } = selected;
    let mut others = Vec::new();
    if options.optimize {
        optimize(&mut program);
        others = variants(&mut program);
    }
    let finished = |program: Program| encoded(allocated(program, options), &inputs, uniforms, options);
    let mut best = finished(program);
    for other in others.into_iter().filter_map(|other| finished(other).ok()) {
        if best.as_ref().map_or(true, |best| other.slots.len() < best.slots.len()) {
            best = Ok(other);
        }
    }
    best.map(|program| VertexProgram { outputs, textures, ..program })
}

/// Encodes an allocated program, without outputs and textures of the interface.
fn encoded(
    program: Program,
    inputs: &[Varying],
    uniforms: u16,
    options: &VertexOptions,
) -> Result<VertexProgram, Nv40Error> {
    let chip = program.machine.chip;
    let limits = &chip.limits().vertex;
    let too_many = |what, found: u32, limit: u32| {
        if found > limit { Err(Nv40Error::TooMany { what, found, limit, chip }) } else { Ok(()) }
    };
    let temporaries = if options.all_temporaries { limits.temporaries } else { limits.usual_temporaries };
    too_many("temporary registers", program.num_temps(), temporaries.into())?;
    let inputs = narrowed(inputs, &program);

    let conditions = Conditions::of(&program);
    let flow: Vec<_> = (0..program.instructions().len()).map(|number| program.flow(number)).collect();
    let channels: Vec<_> = program.accesses().iter().map(|access| [0, 1, 2, 3].map(|at| access.channels(at))).collect();
    let used = program.num_temps() as u8;
    let (instructions, constants) = program.into_instructions();
    let mut lines: Vec<Line> =
        instructions.into_iter().zip(channels).map(|(instruction, channels)| Line { instruction, channels }).collect();
    let literals = literals::place(&mut lines, &constants, uniforms)?;
    let constants = u32::from(uniforms) + literals.len() as u32;
    too_many("constants", constants, limits.constants.into())?;

    let condition = |number: usize| lines[number].instruction.guard.map_or(Predicate::ALWAYS, predicate);
    let blocks =
        blocks::blocks(flow, condition).map_err(|_| EncodeError::Conflict("constructs that are not nested"))?;
    let operation = |number: usize| -> Result<Operation, Nv40Error> {
        let Line { instruction, channels } = &lines[number];
        Ok(Operation::new(instruction, chip, |at| channels[at & 3])?)
    };
    let code = emit::emit(&blocks, operation, &conditions, options, chip)?;
    Ok(VertexProgram {
        chip,
        slots: code.slots,
        temporaries: used,
        inputs,
        outputs: Vec::new(),
        constants: constants as u16,
        literals,
        branches: code.branches,
        constant_slots: code.constant_slots,
        textures: Vec::new(),
    })
}

/// Returns the inputs with the components that are read.
pub(crate) fn narrowed(inputs: &[Varying], program: &Program) -> Vec<Varying> {
    let mut read: BTreeMap<i32, u8> = BTreeMap::new();
    for (instruction, access) in program.instructions().iter().zip(program.accesses()) {
        for (at, source) in instruction.sources.iter().enumerate().filter(|(_, source)| source.file == File::Input) {
            if source.relative.is_some() {
                return inputs.to_vec();
            }
            *read.entry(source.index).or_default() |= swizzled(access.channels(at), source.swizzle);
        }
    }
    let mask = |input: &Varying| {
        let mask = read.get(&input.number.into()).copied().unwrap_or(0);
        let shift = input.component & 3;
        mask >> shift | mask << (4 - shift) & 15
    };
    let narrowed = inputs.iter().map(|input| Varying { mask: input.mask & mask(input), ..*input });
    narrowed.filter(|input| input.mask != 0).collect()
}

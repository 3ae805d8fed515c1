//! Fragment programs after selection: passes over virtual registers, order, registers, encoding.

mod allocate;
mod conditions;
mod convert;
mod cost;
mod fold_scales;
mod halves;
mod layout;
mod live;
mod schedule;
#[cfg(test)]
mod tests;

use tgsi_vec4::Flow;
use tgsi_vec4::allocate::AllocationMode;
use tgsi_vec4::dead_code::remove_dead_code;
use tgsi_vec4::hoist_constants::hoist_constants;
use tgsi_vec4::merge::merge_instructions;
use tgsi_vec4::propagate_backward::propagate_backward;
use tgsi_vec4::propagate_copies::propagate_copies;
use tgsi_vec4::simple::{File, sink_guarded};
use tgsi_vec4::vectorize::vectorize;

use crate::error::Nv40Error;
use crate::isa::EncodeError;
use crate::isa::fragment::{Instruction, Program as Words};
use crate::machine::{ADDRESSES, Code, DEPTH, Program, Selected};
use crate::program::{FragmentProgram, Varying};
use crate::vertex::narrowed;
use allocate::{Allocated, exported};
use conditions::Condition;
use convert::{Context, Placed, predicate};
use layout::{Flag, Item};
use live::{Live, OUTPUTS};

/// Bounds the rounds of the passes.
const MAX_ROUNDS: usize = 4;

/// The options of fragment programs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct FragmentOptions {
    /// Whether colours are exported from R registers.
    pub(crate) exports_full: bool,
    /// Whether values that only colours depend on are computed with 16 bits.
    pub(crate) half: bool,
    /// Whether passes run.
    pub(crate) optimize: bool,
    /// Whether instructions are ordered for few passes of the chip.
    pub(crate) schedule: bool,
}

impl Default for FragmentOptions {
    fn default() -> FragmentOptions {
        FragmentOptions { exports_full: false, half: false, optimize: true, schedule: true }
    }
}

impl FragmentProgram {
    /// Estimates the passes of the chip that the program takes, each instruction executed once.
    pub fn passes(&self) -> u32 {
        let mut instructions: Vec<Instruction> = Vec::new();
        let mut slot = 0;
        while let Some(words) = self.program.words.get(slot * 4..).filter(|words| !words.is_empty()) {
            let Ok(instruction) = crate::isa::fragment::decode(words, self.chip) else { break };
            slot += instruction.slots() as usize;
            instructions.push(instruction);
        }
        cost::passes(&instructions, self.chip)
    }
}

/// Makes a program of the chip.
///
/// # Errors
/// [`Nv40Error`]: the chip lacks something, or the program takes more of something than the chip has.
pub(crate) fn finish(selected: Selected, options: &FragmentOptions) -> Result<FragmentProgram, Nv40Error> {
    let Selected { mut program, inputs, outputs, textures, .. } = selected;
    let chip = program.machine.chip;
    if options.optimize {
        optimize(&mut program);
        if let Some((mut hoisted, _)) = hoist_constants(&mut program) {
            optimize(&mut hoisted);
            if hoisted.instructions().len() < program.instructions().len() {
                program = hoisted;
            }
        }
    }
    check_size(&program)?;
    let mode = AllocationMode::Coalesce { once: false, joined: false };
    // Copies to outputs after an end are not always executed.
    let ends_early = (0..program.instructions().len().saturating_sub(1)).any(|at| program.flow(at) == Some(Flow::End));
    tgsi_vec4::allocate::allocate(&mut program, mode, options.optimize && !ends_early);
    if options.optimize {
        // Neighbours may have become mergeable.
        merge_instructions(&mut program);
    }
    let inputs = narrowed(&inputs, &program);
    let masks = output_masks(&program, &outputs);
    let best = if options.optimize && options.schedule {
        let source = finished(&program, masks, options);
        let mut narrow = program.clone();
        schedule::schedule(&mut narrow, true);
        schedule::schedule(&mut program, false);
        let others = [&program, &narrow].map(|ordered| finished(ordered, masks, options));
        others.into_iter().fold(source, better)
    } else {
        finished(&program, masks, options)
    };
    let Finished { words, registers, code, .. } = best?;
    let export = |output: Varying| {
        let register = exported(i32::from(output.number), options.exports_full);
        let number = register.map_or(output.number, |register| match register {
            crate::isa::fragment::Register::R(number) | crate::isa::fragment::Register::H(number) => number,
        });
        Varying { number, ..output }
    };
    Ok(FragmentProgram {
        chip,
        registers: registers.max(2) as u8,
        inputs,
        writes_depth: masks[DEPTH as usize] != 0,
        outputs: outputs.into_iter().map(export).collect(),
        exports_full: options.exports_full,
        kills: code.iter().any(|instruction| instruction.op == crate::isa::fragment::FragmentOp::Kil),
        textures: textures
            .into_iter()
            .filter(|texture| code.iter().any(|instruction| instruction.texture == Some(texture.unit)))
            .collect(),
        program: words,
    })
}

/// The passes before allocation, rerun until none changes anything.
const PASSES: [fn(&mut Program) -> bool; 7] = [
    propagate_copies,
    fold_scales::fold_scales,
    remove_dead_code,
    propagate_backward,
    sink_guarded,
    merge_instructions,
    vectorize,
];

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

/// Rejects programs that are much too long, which bounds the time of the passes.
fn check_size(program: &Program) -> Result<(), Nv40Error> {
    let chip = program.machine.chip;
    let limit = chip.limits().fragment.slots;
    let is_counted = |code: Code| !matches!(code, Code::Else | Code::EndIf | Code::EndLoop | Code::End | Code::Mov);
    let found = program.instructions().iter().filter(|instruction| is_counted(instruction.op.code)).count() as u32;
    let is_too_long = found > limit || program.instructions().len() as u32 > 4 * limit;
    if is_too_long {
        return Err(Nv40Error::TooMany { what: "instructions and constants", found, limit, chip });
    }
    Ok(())
}

/// The components of outputs that the chip exports.
fn output_masks(program: &Program, outputs: &[Varying]) -> [u8; OUTPUTS] {
    let mut masks = [0; OUTPUTS];
    let written = program.instructions().iter().filter_map(|instruction| instruction.destination);
    let written = written.filter(|to| to.file == File::Output).map(|to| to.index);
    let declared = outputs.iter().map(|output| i32::from(output.number));
    for output in declared.chain(written) {
        if let Some(mask) = usize::try_from(output).ok().and_then(|output| masks.get_mut(output)) {
            *mask = if output == DEPTH { 0b0100 } else { 0b1111 };
        }
    }
    masks
}

/// A program in one order.
struct Finished {
    words: Words,
    code: Vec<Instruction>,
    registers: u32,
    passes: u32,
}

/// Chooses between the source order and another one, which may not take more registers.
fn better(best: Result<Finished, Nv40Error>, other: Result<Finished, Nv40Error>) -> Result<Finished, Nv40Error> {
    /// Programs with at most this number of registers run at full speed.
    const FEW: u32 = 4;
    match (best, other) {
        (Ok(best), Ok(other)) => {
            let cost = |program: &Finished| (program.registers.max(FEW), program.passes, program.words.slots());
            let fits = other.registers <= best.registers.max(FEW);
            Ok(if fits && cost(&other) < cost(&best) { other } else { best })
        }
        (Err(_), Ok(other)) => Ok(other),
        (best, Err(_)) => best,
    }
}

/// Allocates, converts and encodes.
fn finished(program: &Program, masks: [u8; OUTPUTS], options: &FragmentOptions) -> Result<Finished, Nv40Error> {
    let machine = program.machine;
    let chip = machine.chip;
    let live = Live::of(program, masks);
    let uses_halves = options.half && !options.exports_full;
    let halves = if uses_halves { halves::halves(program) } else { Vec::new() };
    let fixed = to_conditions(program);
    let Allocated { instructions, registers } =
        allocate::allocate(program, &live, &halves, &fixed, options.exports_full)?;
    let flags = free_flags(program);
    let conditions = if options.optimize {
        let mut reserved = [0; ADDRESSES as usize];
        flags.iter().for_each(|flag| reserved[usize::from(flag.register)] |= 1 << flag.component);
        conditions::join(machine, &instructions, &live, reserved, options.exports_full)
    } else {
        vec![Condition::None; instructions.len()]
    };
    let context =
        Context { chip, constants: &program.constants, exports_full: options.exports_full, computes_half: uses_halves };
    let mut items = Vec::with_capacity(instructions.len());
    for (index, (instruction, &condition)) in instructions.iter().zip(&conditions).enumerate() {
        let is_last = index + 1 == instructions.len();
        items.push(match instruction.op.code {
            _ if condition == Condition::Removed => continue,
            Code::If => Item::If(predicate(instruction.guard)),
            Code::Else => Item::Else,
            Code::EndIf => Item::EndIf,
            Code::Loop => Item::Loop,
            Code::EndLoop => Item::EndLoop,
            Code::Brk => Item::Break(predicate(instruction.guard)),
            Code::Cont => return Err(EncodeError::Lacks(chip, "continue").into()),
            Code::End if is_last => continue,
            Code::End => Item::Return,
            _ => Item::Plain(context.convert(instruction, condition)?),
        });
    }
    let code: Vec<Instruction> = items
        .iter()
        .filter_map(|item| match item {
            Item::Plain(Placed { instruction, .. }) => Some(*instruction),
            Item::If(_) => Some(Instruction::new(crate::isa::fragment::FragmentOp::If)),
            _ => None,
        })
        .collect();
    let passes = cost::passes(&code, chip);
    let words = layout::encode(items, chip, &flags)?;
    Ok(Finished { words, code, registers, passes })
}

/// The virtual temporaries with components that are copied to the same components of condition registers.
fn to_conditions(program: &Program) -> Vec<bool> {
    let mut fixed = vec![false; program.temps()];
    for instruction in program.instructions() {
        if let Some((_, from)) = conditions::copy_to_condition(instruction)
            && let Some(temp) = usize::try_from(from.index - program.first_temp() as i32).ok()
            && let Some(fixed) = fixed.get_mut(temp)
        {
            *fixed = true;
        }
    }
    fixed
}

/// The components of condition registers that the program does not use.
fn free_flags(program: &Program) -> Vec<Flag> {
    let count = program.machine.chip.limits().fragment.conditions.min(ADDRESSES);
    let mut used = [0u8; ADDRESSES as usize];
    for access in program.accesses() {
        for components in access.reads().iter().copied().chain(access.written()) {
            let special = components.dense().filter(|_| components.temp().is_none());
            if let Some(used) = special.and_then(|special| used.get_mut(special)) {
                *used |= components.mask();
            }
        }
    }
    let all = (0..count).rev().flat_map(|register| (0..4).map(move |component| Flag { register, component }));
    all.filter(|flag| used[usize::from(flag.register)] >> flag.component & 1 == 0).collect()
}

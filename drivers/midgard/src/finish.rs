//! Instructions after selection to words: passes, scheduling, register allocation and emission.

mod legalize;
mod operands;
mod spill;
mod uniforms;

use tgsi_vec4::allocate::{AllocationMode, allocate};
use tgsi_vec4::simple::{self, File};

use crate::MidgardError;
use crate::emit::emit;
use crate::isa::Chip;
use crate::machine::{Op, Selected};
use crate::options::MidgardOptions;
use crate::program::{Program, Stage, UniformRow};
use crate::schedule::{BundledProgram, schedule};

/// The number of uniform registers that take no work registers.
const FREE_UNIFORMS: usize = 8;
/// The greatest number of uniform registers.
const UNIFORMS: usize = 16;
/// The number of work registers if no more than [`FREE_UNIFORMS`] uniforms have registers.
const WORK_REGISTERS: u32 = 16;
/// The number of work registers that are reserved together.
const RESERVED: u32 = 2;
/// The greatest number of instructions of a program that is finished in two ways.
const LONGEST_RETRY: usize = 2000;
/// The maximum number of rounds of spilling.
const SPILL_ROUNDS: usize = 64;

/// The work registers that programs cannot allocate, from r0 on.
fn reserved(selected: &Selected, chip: Chip) -> u32 {
    let instructions = selected.program.instructions();
    let has_textures = instructions.iter().any(|instruction| instruction.op == Op::Texture);
    // Write-outs before the last one overwrite r0 and r1, as do depth and stencil value.
    let mut write_outs = instructions.iter().filter_map(|instruction| match instruction.op {
        Op::WriteOut { has_depth, has_stencil, .. } => Some(has_depth || has_stencil),
        _ => None,
    });
    let is_simple = write_outs.next().is_none_or(|has_state| !has_state) && write_outs.next().is_none();
    if !is_simple || has_textures && chip.aliases_texture_registers() { RESERVED } else { 0 }
}

/// Finishes a selected shader.
pub(crate) fn finish(mut selected: Selected, stage: Stage, options: &MidgardOptions) -> Result<Program, MidgardError> {
    let operands = operands::make_virtual(&mut selected.program);
    if options.optimize {
        simple::optimize(&mut selected.program);
    }
    operands::assign(&mut selected, &operands, options.chip);
    if options.chip.aliases_texture_registers() {
        legalize::keep_texels(&mut selected.program);
    }
    legalize::legalize(&mut selected.program);
    let reserved = reserved(&selected, options.chip);
    let mut best = Attempt::new(&selected, reserved, options)?;
    // Without values in r0 and r1, more instructions can write a colour directly.
    if stage == Stage::Fragment
        && reserved == 0
        && options.optimize
        && selected.program.instructions().len() <= LONGEST_RETRY
        && let Ok(other) = Attempt::new(&selected, RESERVED, options)
        && other.bundles() < best.bundles()
    {
        best = other;
    }
    emit(&best, stage, options.chip)
}

/// A program with registers.
pub(crate) struct Attempt {
    pub(crate) selected: Selected,
    pub(crate) bundled: BundledProgram,
    /// The rows of uniforms in registers.
    pub(crate) uniforms: Vec<UniformRow>,
    /// The number of work registers that hold values, after those that are reserved.
    pub(crate) registers: u32,
    /// The first work registers, which hold no values.
    pub(crate) reserved: u32,
}

impl Attempt {
    /// Maps uniforms, schedules, allocates registers and spills.
    fn new(selected: &Selected, reserved: u32, options: &MidgardOptions) -> Result<Attempt, MidgardError> {
        let wanted = if options.map_uniforms { selected.uniforms.len().min(UNIFORMS) } else { 0 };
        // More uniforms in registers leave fewer work registers.
        let mut count = wanted;
        loop {
            let mut attempt = selected.clone();
            let uniforms = uniforms::map_uniforms(&mut attempt, count);
            let limit = WORK_REGISTERS.min(24 - (count.max(FREE_UNIFORMS) as u32)) - reserved;
            let mut bundled = scheduled(&mut attempt, limit, reserved, options);
            let mut hot = spill::hot_temporaries(&bundled, limit);
            let mut needed = allocate(&mut bundled, AllocationMode::Pack, false);
            if needed > limit && count > FREE_UNIFORMS {
                let fewer = 24usize.saturating_sub((needed + reserved) as usize);
                count = fewer.clamp(FREE_UNIFORMS, count - 1);
                continue;
            }
            let mut spilled = spill::Spilled::default();
            for _ in 0..SPILL_ROUNDS {
                if needed <= limit {
                    break;
                }
                log::debug!("{needed} registers for {limit}, {} instructions", attempt.program.instructions().len());
                if !spilled.spill(&mut attempt, &hot, (needed - limit) as usize) {
                    return Err(MidgardError::Registers);
                }
                bundled = scheduled(&mut attempt, limit, reserved, options);
                hot = spill::hot_temporaries(&bundled, limit);
                needed = allocate(&mut bundled, AllocationMode::Pack, false);
            }
            if needed > limit {
                return Err(MidgardError::Registers);
            }
            return Ok(Attempt { selected: attempt, bundled, uniforms, registers: needed, reserved });
        }
    }

    fn bundles(&self) -> u32 {
        self.bundled.instructions().last().map_or(0, |last| last.op.bundle + 1)
    }
}

/// Schedules a program.
fn scheduled(selected: &mut Selected, registers: u32, reserved: u32, options: &MidgardOptions) -> BundledProgram {
    let packs = options.schedule && options.optimize;
    schedule(&mut selected.program, &selected.operations, packs, registers, reserved)
}

/// Whether a source is a uniform.
fn is_uniform(source: &simple::Source) -> bool {
    source.file == File::Uniform
}

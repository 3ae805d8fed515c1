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
use crate::program::{Program, Stage};
use crate::schedule::{BundledProgram, schedule};

/// The number of uniform registers that take no work registers.
const FREE_UNIFORMS: usize = 8;
/// The greatest number of uniform registers.
const UNIFORMS: usize = 16;
/// The number of work registers if no more than [`FREE_UNIFORMS`] uniforms have registers.
const WORK_REGISTERS: u32 = 16;
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
    if !is_simple || has_textures && chip.aliases_texture_registers() { 2 } else { 0 }
}

/// Finishes a selected shader.
pub(crate) fn finish(mut selected: Selected, stage: Stage, options: &MidgardOptions) -> Result<Program, MidgardError> {
    let operands = operands::make_virtual(&mut selected.program);
    if options.optimize {
        simple::optimize(&mut selected.program);
    }
    operands::assign(&mut selected, &operands, options.chip);
    legalize::legalize(&mut selected.program);
    let reserved = reserved(&selected, options.chip);
    let wanted = if options.map_uniforms { selected.uniforms.len().min(UNIFORMS) } else { 0 };
    // More uniforms in registers leave fewer work registers.
    let mut count = wanted;
    loop {
        let mut attempt = selected.clone();
        let uniforms = uniforms::map_uniforms(&mut attempt, count);
        let work_registers = WORK_REGISTERS.min(24 - (count.max(FREE_UNIFORMS) as u32)) - reserved;
        let mut bundled = scheduled(&mut attempt, work_registers, options);
        let mut hot = spill::hot_temporaries(&bundled, work_registers);
        let mut needed = allocate(&mut bundled, AllocationMode::Pack, false);
        if needed > work_registers && count > FREE_UNIFORMS {
            let fewer = 24usize.saturating_sub((needed + reserved) as usize);
            count = fewer.clamp(FREE_UNIFORMS, count - 1);
            continue;
        }
        let mut spilled = spill::Spilled::default();
        for _ in 0..SPILL_ROUNDS {
            if needed <= work_registers {
                break;
            }
            log::debug!("{needed} registers for {work_registers}, {} instructions", attempt.program.instructions().len());
            if !spilled.spill(&mut attempt, &hot, (needed - work_registers) as usize) {
                return Err(MidgardError::Registers);
            }
            bundled = scheduled(&mut attempt, work_registers, options);
            hot = spill::hot_temporaries(&bundled, work_registers);
            needed = allocate(&mut bundled, AllocationMode::Pack, false);
        }
        if needed > work_registers {
            return Err(MidgardError::Registers);
        }
        return emit(&attempt, &bundled, &uniforms, needed, reserved, stage, options.chip);
    }
}

/// Schedules a program.
fn scheduled(selected: &mut Selected, registers: u32, options: &MidgardOptions) -> BundledProgram {
    schedule(&mut selected.program, &selected.operations, options.schedule && options.optimize, registers)
}

/// Whether a source is a uniform.
fn is_uniform(source: &simple::Source) -> bool {
    source.file == File::Uniform
}

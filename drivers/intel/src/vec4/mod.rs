//! Vec4 programs after selection.
//!
//! | step | effect |
//! |---|---|
//! | passes of [`tgsi_vec4`] | fewer instructions |
//! | allocation | registers |
//! | [`layout`] | places of payload, temporaries, messages and outputs in the general registers |
//! | [`emit`], [`operands`], [`messages`] | instructions |
//! | [`branches`] | targets of control flow |

pub(crate) mod branches;
mod emit;
mod layout;
mod messages;
mod operands;

use tgsi_vec4::allocate::{AllocationMode, allocate};
use tgsi_vec4::dead_code::remove_dead_code;
use tgsi_vec4::merge::merge_instructions;
use tgsi_vec4::propagate_backward::propagate_backward;
use tgsi_vec4::propagate_copies::propagate_copies;
use tgsi_vec4::vectorize::vectorize;

use crate::error::IntelError;
use crate::isa::{Chip, Instruction, compact_program, encode_program};
use crate::machine::Program;
use crate::options::IntelOptions;
use crate::program::{Kernel, VertexInterface, VertexProgram};
use crate::select::Selected;

use emit::Emitter;
use layout::Layout;

/// The passes before allocation, rerun until none changes anything.
const PASSES: [fn(&mut Program) -> bool; 5] =
    [propagate_copies, remove_dead_code, propagate_backward, merge_instructions, vectorize];

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

/// Optimises, allocates and encodes a program.
pub(crate) fn finish(selected: Selected, interface: VertexInterface, options: &IntelOptions) -> Result<crate::program::Program, IntelError> {
    let Selected { mut program, push, scratch, bindings, textures, .. } = selected;
    if options.optimize {
        optimize(&mut program);
    }
    allocate(&mut program, AllocationMode::Pack, options.optimize);
    if options.optimize {
        // Neighbours may have become mergeable.
        merge_instructions(&mut program);
    }
    let layout = Layout::new(&program, push.len(), interface.attributes, interface.vue.len());
    let room = layout.room();
    if program.num_temps() > room {
        let found = program.num_temps();
        return Err(IntelError::TooMany { what: "registers", found, limit: room, chip: options.chip });
    }
    let emitter = Emitter::new(options.chip, &layout, &push, &program.constants);
    let instructions = emitter.vertex_program(&program)?;
    let registers = layout.end();
    let words = encoded(&instructions, options)?;
    let kernel = Kernel {
        chip: options.chip,
        words,
        registers,
        dispatch_start: 1,
        push,
        scratch: scratch_size(scratch),
        bindings,
        textures,
    };
    Ok(crate::program::Program::Vertex(VertexProgram { kernel, interface }))
}

/// The size of the scratch space of a thread, for vectors of both vertices: the hardware has powers of two.
fn scratch_size(vectors: u32) -> u32 {
    if vectors == 0 { 0 } else { vectors.saturating_mul(32).next_power_of_two().max(1024) }
}

/// Encodes instructions, compacted if the options ask for that.
pub(crate) fn encoded(instructions: &[Instruction], options: &IntelOptions) -> Result<Vec<u32>, IntelError> {
    debug_validate(instructions, options.chip);
    let compacted;
    let instructions = if options.compaction {
        compacted = compact_program(instructions, options.chip)?;
        &compacted
    } else {
        instructions
    };
    Ok(encode_program(instructions, options.chip)?)
}

/// Checks the rules of hardware in debug builds.
fn debug_validate(instructions: &[Instruction], chip: Chip) {
    if cfg!(debug_assertions) {
        let broken = crate::validate::validate_program(instructions, chip);
        let text = |&(index, rule): &(usize, &crate::validate::Rule)| {
            format!("{} breaks {}", instructions[index], rule.name)
        };
        debug_assert!(broken.is_empty(), "{}", broken.iter().map(text).collect::<Vec<_>>().join("\n"));
    }
}

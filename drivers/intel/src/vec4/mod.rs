//! Vec4 programs after selection.
//!
//! | step | effect |
//! |---|---|
//! | passes of [`tgsi_vec4`] | fewer instructions |
//! | [`payload`] | values that are computed in the payload of their message |
//! | [`spill`] | registers; temporaries that do not fit are in scratch space |
//! | [`layout`] | places of payload, temporaries, messages and outputs in the general registers |
//! | [`emit`], [`operands`], [`messages`] | instructions |
//! | [`branches`] | targets of control flow |

pub(crate) mod branches;
mod emit;
mod layout;
mod messages;
mod operands;
mod payload;
mod spill;

use tgsi_vec4::dead_code::remove_dead_code;
use tgsi_vec4::merge::merge_instructions;
use tgsi_vec4::propagate_backward::propagate_backward;
use tgsi_vec4::propagate_copies::propagate_copies;
use tgsi_vec4::vectorize::vectorize;

use crate::error::IntelError;
use crate::isa::{Chip, Instruction, compact_program, encode_program};
use crate::machine::Program;
use crate::options::IntelOptions;
use crate::program::{GeometryProgram, Kernel, VertexProgram};
use crate::select::{Interfaces, Selected};

use emit::Emitter;
use layout::{Layout, Payload};
use spill::{Steps, allocate_within, temporaries};

/// The passes before allocation, rerun until none changes anything.
const PASSES: [fn(&mut Program) -> bool; 5] =
    [propagate_copies, remove_dead_code, propagate_backward, merge_instructions, vectorize];

/// The registers of temporaries if the options ask for few.
const FEW: u32 = 8;

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
pub(crate) fn finish(selected: Selected, options: &IntelOptions) -> Result<crate::program::Program, IntelError> {
    let Selected { mut program, interfaces, push, scratch, bindings, textures } = selected;
    let (dispatch_start, inputs, slots) = match &interfaces {
        Interfaces::Vertex(interface) => (1, interface.attributes.into(), interface.vue.len()),
        Interfaces::Geometry(interface) => {
            (1 + u8::from(interface.has_primitive_id), interface.input_registers(), interface.vue.len())
        }
    };
    let payload = Payload { dispatch_start, pushed: push.len(), inputs };
    if options.optimize {
        optimize(&mut program);
    }
    let mut scratch = scratch;
    // A geometry program has several vertices, each with all outputs.
    let may_write_early = options.optimize && matches!(interfaces, Interfaces::Vertex(_));
    let layout_of = |program: &Program| Layout::new(program, &payload, slots);
    let room = |program: &Program| layout_of(program).room().min(if options.few_registers { FEW } else { u32::MAX });
    let steps = Steps { place_in_payloads: options.optimize, write_outputs_early: may_write_early };
    let fits = allocate_within(&mut program, &mut scratch, steps, room);
    let layout = layout_of(&program);
    if !fits {
        let (found, limit) = (temporaries(&program), layout.room());
        return Err(IntelError::TooMany { what: "registers", found, limit, chip: options.chip });
    }
    if options.optimize {
        // Neighbours may have become mergeable.
        merge_instructions(&mut program);
    }
    let emitter = Emitter::new(options.chip, &layout, &push, &program.constants);
    let instructions = match &interfaces {
        Interfaces::Vertex(_) => emitter.vertex_program(&program)?,
        Interfaces::Geometry(interface) => emitter.geometry_program(&program, interface.control_size)?,
    };
    let registers = layout.end();
    let words = encoded(&instructions, options)?;
    let kernel = Kernel {
        chip: options.chip,
        words,
        registers,
        dispatch_start,
        push,
        scratch: scratch_size(scratch),
        bindings,
        textures,
    };
    Ok(match interfaces {
        Interfaces::Vertex(interface) => crate::program::Program::Vertex(VertexProgram { kernel, interface }),
        Interfaces::Geometry(interface) => crate::program::Program::Geometry(GeometryProgram { kernel, interface }),
    })
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
        let text =
            |&(index, rule): &(usize, &crate::validate::Rule)| format!("{} breaks {}", instructions[index], rule.name);
        debug_assert!(broken.is_empty(), "{}", broken.iter().map(text).collect::<Vec<_>>().join("\n"));
    }
}

//! Scalar programs: eight lanes at a time (SIMD8).
//!
//! The passes of [`tgsi_vec4`] know registers of four components; a component is a general register here, with a value
//! for each lane. Instructions on several components become one for each.
//!
//! | step | effect |
//! |---|---|
//! | passes of [`tgsi_vec4`] | fewer instructions |
//! | allocation | registers |
//! | [`layout`] | places of payload, temporaries, messages and outputs in the general registers |
//! | [`emit`], [`operands`], [`fragment`], [`messages`] | instructions |

mod copies;
mod emit;
mod fragment;
mod layout;
mod messages;
mod operands;
mod operation;
mod outputs;
mod payload;
mod spill;

use tgsi_vec4::allocate::{AllocationMode, allocate};
use tgsi_vec4::dead_code::remove_dead_code;
use tgsi_vec4::propagate_backward::propagate_backward;
use tgsi_vec4::propagate_copies::propagate_copies;

use crate::error::IntelError;
use crate::machine::{Op, Program};
use crate::options::IntelOptions;
use crate::program::{Barycentrics, FragmentInterface, FragmentPayload, FragmentProgram, Kernel};
use crate::select::Selected;
use crate::vec4::encoded;

use emit::Emitter;
use layout::Layout;
use payload::remove_unread_parameters;
use spill::Spills;

pub use operation::{EvaluationPlace, FragmentOp, Lookup, PAYLOAD_VECTORS, PayloadValue, TypedAccess, TypedMessage};

/// The passes before allocation, rerun until none changes anything.
const PASSES: [fn(&mut Program) -> bool; 4] =
    [propagate_copies, remove_dead_code, remove_unread_parameters, propagate_backward];

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
pub(crate) fn finish(
    selected: Selected<FragmentInterface>,
    options: &IntelOptions,
) -> Result<crate::program::Program, IntelError> {
    let Selected { mut program, interfaces: mut interface, push, scratch, bindings, textures } = selected;
    if options.optimize {
        optimize(&mut program);
    }
    interface.payload = payload_of(&program);
    let arrays = scratch_size(scratch) / 32;
    let (program, layout, spilled) = allocated(program, push.len(), &interface, options);
    let (found, limit) = (program.num_temps() - program.first_temp(), layout.room());
    if found > limit {
        return Err(IntelError::TooMany { what: "registers", found, limit, chip: options.chip });
    }
    interface.sample_mask = layout.sample_mask;
    let emitter = Emitter::new(options.chip, &layout, &push, &program.constants, &interface, bindings, arrays);
    let instructions = emitter.program(&program)?;
    let words = encoded(&instructions, options)?;
    let kernel = Kernel {
        chip: options.chip,
        words,
        registers: crate::isa::GENERAL_REGISTERS,
        dispatch_start: layout.push,
        push,
        scratch: scratch_bytes(arrays.saturating_add(spilled).saturating_mul(32)),
        bindings,
        textures,
    };
    Ok(crate::program::Program::Fragment(FragmentProgram { kernel, interface }))
}

/// The parts of the payload that a program reads.
fn payload_of(program: &Program) -> FragmentPayload {
    let mut payload = FragmentPayload::default();
    for instruction in program.instructions() {
        let Op::Fragment(op) = instruction.op else { continue };
        match op {
            FragmentOp::Plane { coordinates, .. } => payload.barycentrics |= coordinates.bit(),
            // The unit needs coordinates of the kind.
            FragmentOp::Interpolate { is_linear: false, .. } => {
                payload.barycentrics |= Barycentrics::PerspectivePixel.bit();
            }
            FragmentOp::Interpolate { is_linear: true, .. } => payload.barycentrics |= Barycentrics::LinearPixel.bit(),
            FragmentOp::Payload(PayloadValue::Depth) => payload.depth = true,
            FragmentOp::Payload(PayloadValue::W) => payload.w = true,
            FragmentOp::Payload(PayloadValue::SamplePosition { .. }) => payload.sample_positions = true,
            FragmentOp::Payload(PayloadValue::SampleMask) => payload.sample_mask = true,
            _ => {}
        }
    }
    payload
}

/// The number of vectors for tests of spilling.
const FEW: u32 = 6;

/// The rounds of spilling after which a program is given up.
const MAX_SPILL_ROUNDS: usize = 32;

/// Allocates registers, and spills temporaries until they suffice. Returns the number of spilled registers, too.
fn allocated(
    mut program: Program,
    pushed: usize,
    interface: &FragmentInterface,
    options: &IntelOptions,
) -> (Program, Layout, u32) {
    let mut spills = Spills::default();
    loop {
        let mut attempt = program.clone();
        allocate(&mut attempt, AllocationMode::Pack, options.optimize);
        let layout = Layout::new(&attempt, pushed, interface, options.chip);
        let found = attempt.num_temps() - attempt.first_temp();
        let few = if options.few_registers { FEW } else { u32::MAX };
        let excess = found.saturating_sub(layout.room().min(few));
        if excess == 0 || spills.rounds == MAX_SPILL_ROUNDS || !spills.spill(&mut program, excess as usize) {
            return (attempt, layout, spills.registers.into());
        }
    }
}

/// The size of the scratch space of a thread, for vectors of eight lanes.
fn scratch_size(vectors: u32) -> u32 {
    scratch_bytes(vectors.saturating_mul(128))
}

/// The size of the scratch space of a thread: the hardware has powers of two.
fn scratch_bytes(bytes: u32) -> u32 {
    if bytes == 0 { 0 } else { bytes.checked_next_power_of_two().unwrap_or(1 << 31).max(1024) }
}

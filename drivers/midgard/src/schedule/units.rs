//! The units that can execute an instruction.

use tgsi_vec4::simple::{File, SimpleMachine};

use crate::isa::alu::{AluOp, Clamp, Unit};
use crate::machine::{Machine, MachineInstruction, Op};

/// The opcode of the ALU for an instruction. Selections have the form for the condition of each component if
/// `is_vector`.
pub(crate) fn opcode(instruction: &MachineInstruction, is_vector: bool) -> Option<AluOp> {
    let has_modifiers = instruction.saturate || instruction.sources.iter().any(|source| !source.is_plain());
    Some(match instruction.op {
        Op::Mov if has_modifiers => AluOp::Fmov,
        Op::Mov => AluOp::Imov,
        Op::Alu(op) => op,
        Op::Clamped(_) | Op::FromHalf { .. } | Op::ToHalf => AluOp::Fmov,
        Op::Select => match (has_modifiers, is_vector) {
            (false, false) => AluOp::Icsel,
            (false, true) => AluOp::IcselV,
            (true, false) => AluOp::Fcsel,
            (true, true) => AluOp::FcselV,
        },
        _ => return None,
    })
}

/// The limit of the result.
pub(crate) fn clamp(instruction: &MachineInstruction) -> Clamp {
    match instruction.op {
        _ if instruction.saturate => Clamp::Unit,
        Op::Clamped(clamp) => clamp,
        _ => Clamp::None,
    }
}

/// Whether the components of a selection have conditions of different components.
pub(crate) fn is_vector_selection(instruction: &MachineInstruction) -> bool {
    let Some(condition) = instruction.sources.first().filter(|_| instruction.op == Op::Select) else { return false };
    let mask = instruction.mask();
    let mut components = (0..4).filter(|c| mask >> c & 1 != 0).map(|c: usize| condition.swizzle[c]);
    let first = components.next();
    condition.file != File::Constant && components.any(|component| Some(component) != first)
}

/// Whether a unit can execute an instruction.
pub(crate) fn can_execute(unit: Unit, instruction: &MachineInstruction) -> bool {
    let is_vector = is_vector_selection(instruction);
    let Some(op) = opcode(instruction, is_vector) else { return false };
    let row = op.row();
    let count = instruction.mask().count_ones();
    // Halves of words are components of scalar units.
    let is_half = matches!(instruction.op, Op::FromHalf { .. } | Op::ToHalf);
    row.units.contains(unit) && if unit.is_scalar() { count == 1 } else { !is_half }
}

/// Whether an instruction has one component only: functions of the table unit, reductions, and halves of words.
pub(crate) fn is_scalar_only(instruction: &MachineInstruction) -> bool {
    match instruction.op {
        Op::FromHalf { .. } | Op::ToHalf => true,
        Op::Alu(op) => op.row().reduces != 0 || op.row().units == crate::isa::alu::Units::LUT,
        _ => false,
    }
}

/// The channels of a source on which the result depends.
pub(crate) fn channels(instruction: &MachineInstruction, source: usize) -> u8 {
    instruction.channels(&Machine::info(instruction.op), source)
}

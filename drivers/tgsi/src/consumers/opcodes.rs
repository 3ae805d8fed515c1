//! Properties of opcodes: effects on components, and other effects.
//!
//! They are facts about TGSI, the same for every consumer, and derived from the table of opcodes.

use tgsi::tables::{Opcode, OperandType, OutputMode};

/// Whether each channel of the result depends only on the same channel of the sources, and all of them have 32 bits.
pub(crate) fn is_componentwise(opcode: Opcode) -> bool {
    let info = opcode.info();
    info.output_mode == OutputMode::Componentwise
        && !info.dst_type.is_64bit()
        && !info.src_types.iter().any(|t| t.is_64bit())
        && !matches!(
            opcode,
            Opcode::ReadInvoc
                | Opcode::ReadHelper
                | Opcode::VoteAll
                | Opcode::VoteAny
                | Opcode::VoteEq
                | Opcode::ReadFirst
        )
}

/// Whether every channel of the result is the same.
pub(crate) fn is_replicated(opcode: Opcode) -> bool {
    opcode.info().output_mode == OutputMode::Replicate
}

/// Whether components of the result can be moved to other components of the destination by changing swizzles and mask.
pub(crate) fn is_permutable(opcode: Opcode) -> bool {
    is_componentwise(opcode) || is_replicated(opcode)
}

/// Whether the operand supports float modifiers.
pub(crate) fn takes_modifiers(opcode: Opcode, source: usize) -> bool {
    let info = opcode.info();
    let arithmetic = matches!(info.output_mode, OutputMode::Componentwise | OutputMode::Replicate)
        || matches!(opcode, Opcode::KillIf | Opcode::If);
    arithmetic
        && matches!(info.src_types.get(source), Some(OperandType::Float | OperandType::Untyped))
        && !matches!(
            opcode,
            Opcode::ReadInvoc | Opcode::ReadFirst | Opcode::VoteAll | Opcode::VoteAny | Opcode::VoteEq | Opcode::Ballot
        )
}

/// Whether each 64-bit operand gives one 32-bit result: x and y the first channel of the mask, z and w the next one.
pub(crate) fn is_narrowing(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::D2f | Opcode::D2i | Opcode::D2u | Opcode::I642f | Opcode::U642f)
}

/// Whether an instruction begins, divides or ends a basic block.
pub(crate) fn is_flow(opcode: Opcode) -> bool {
    use Opcode::*;
    // A subroutine may access all registers with a fixed location, and address registers.
    matches!(opcode, If | Uif | Else | Endif | Bgnloop | Endloop | Brk | Cont | End | Cal)
}

/// Whether an instruction has an effect besides writing the destination.
pub(crate) fn has_effect(opcode: Opcode) -> bool {
    let info = opcode.info();
    info.num_dst == 0 || info.is_store || is_flow(opcode)
}

/// Whether the first source is a resource, possibly a handle in a register.
pub(crate) fn reads_resource(opcode: Opcode) -> bool {
    matches!(opcode, Opcode::Load | Opcode::Resq) || (opcode.info().is_store && opcode != Opcode::Store)
}

/// Whether a 64-bit instruction has only pairs as operands: both halves of all of them can be swapped together.
pub(crate) fn moves_in_pairs(opcode: Opcode) -> bool {
    let info = opcode.info();
    info.output_mode == OutputMode::Componentwise
        && info.dst_type.is_64bit()
        && info.src_types.iter().all(|t| t.is_64bit())
        && !matches!(opcode, Opcode::U64shl | Opcode::I64shr | Opcode::U64shr)
}

/// Whether operands or results are 64-bit integers.
pub(crate) fn has_wide_integers(opcode: Opcode) -> bool {
    let info = opcode.info();
    let is_wide = |of: &OperandType| matches!(of, OperandType::Int64 | OperandType::Uint64);
    info.src_types.iter().chain([&info.dst_type]).any(is_wide)
}

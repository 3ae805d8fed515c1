//! Rules of files, types and constants.

use super::Rule;
use super::facts::{ExecutionType, Facts, direct_offset, source_size};
use crate::isa::{Chip, Destination, Immediate, ImmediateType, Opcode, Type};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "illegal",
        message: "illegal raises an exception",
        is_broken: |facts| facts.opcode() == Opcode::Illegal,
    },
    Rule {
        name: "three-sources-align1",
        message: "instructions with three sources must be align16",
        is_broken: |facts| facts.is_ternary() && facts.is_align1(),
    },
    Rule {
        name: "null-first-source",
        message: "the first source must not be null",
        is_broken: |facts| is_null(facts, 0),
    },
    Rule {
        name: "null-second-source",
        message: "the second source must not be null",
        is_broken: |facts| is_null(facts, 1),
    },
    Rule {
        name: "packed-bytes",
        message: "only mov without conversion writes consecutive bytes",
        is_broken: |facts| packed_bytes(facts) && !facts.is_raw_move(),
    },
    Rule {
        name: "byte-double-conversion",
        message: "bytes and elements of 64 bits must not be converted to each other",
        is_broken: byte_double_conversion,
    },
    Rule {
        name: "destination-stride-ratio",
        message: "the stride of the destination in bytes must be the size of the type in which the instruction \
                  computes",
        is_broken: stride_ratio,
    },
    Rule {
        name: "destination-alignment",
        message: "the first byte of the destination must be a multiple of the size of the type in which the \
                  instruction computes; of a byte destination, the next byte may be the first one too",
        is_broken: alignment,
    },
    Rule {
        name: "vector-constant-alignment",
        message: "the destination of an instruction with a vector constant must begin at a multiple of 16 bytes",
        is_broken: |facts| {
            vector(facts).is_some()
                && facts.is_align1()
                && facts.destination.is_some_and(|destination| {
                    direct_offset(destination.register).is_some_and(|offset| offset % 16 != 0)
                })
        },
    },
    Rule {
        name: "vf-constant-stride",
        message: "the destination of an instruction with a VF constant must have a stride of four bytes",
        is_broken: |facts| vector(facts) == Some(4) && stride_in_bytes(facts) != Some(4),
    },
    Rule {
        name: "v-constant-stride",
        message: "the destination of an instruction with a V or UV constant must have a stride of two bytes",
        is_broken: |facts| vector(facts) == Some(2) && stride_in_bytes(facts) != Some(2),
    },
];

fn is_null(facts: &Facts<'_>, index: usize) -> bool {
    let source = facts.sources.get(index).and_then(|source| source.operand());
    !facts.is_ternary() && source.is_some_and(|operand| operand.register.is_null())
}

/// The destination, if the rules of operand types concern the instruction.
fn typed_destination<'i>(facts: &Facts<'i>) -> Option<&'i Destination> {
    let is_free = facts.opcode().is_send() || facts.is_ternary() || facts.channels == 1 || facts.sources.is_empty();
    facts.destination.filter(|_| !is_free)
}

fn packed_bytes(facts: &Facts<'_>) -> bool {
    typed_destination(facts).is_some_and(|destination| destination.ty.size() == 1 && destination.stride.elements() == 1)
}

fn byte_double_conversion(facts: &Facts<'_>) -> bool {
    let Some(destination) = typed_destination(facts).filter(|_| !packed_bytes(facts)) else { return false };
    let has_source = |size| facts.sources.iter().any(|source| source_size(source) == size);
    match destination.ty.size() {
        1 => has_source(8),
        8 => has_source(1),
        _ => false,
    }
}

/// The type in which the instruction computes, if it is larger than the destination.
fn narrowing<'i>(facts: &Facts<'i>) -> Option<(&'i Destination, ExecutionType, u32)> {
    let destination = typed_destination(facts).filter(|_| !packed_bytes(facts))?;
    let execution = facts.execution_type()?;
    let size = match (facts.chip, execution, destination.ty.size()) {
        // Destinations of instructions that compute with 64 bits count elements of 64 bits.
        (Chip::Gen7, ExecutionType::Double, 4) => 8,
        (_, _, size) => size,
    };
    (execution.size() > size).then_some((destination, execution, size))
}

fn stride_ratio(facts: &Facts<'_>) -> bool {
    let Some((destination, execution, size)) = narrowing(facts) else { return false };
    let is_byte_move = destination.ty.size() == 1 && facts.is_raw_move();
    !is_byte_move && destination.stride.elements() * size != execution.size()
}

fn alignment(facts: &Facts<'_>) -> bool {
    let Some((destination, execution, _)) = narrowing(facts).filter(|_| facts.is_align1()) else { return false };
    let Some(offset) = direct_offset(destination.register) else { return false };
    let excess = offset % execution.size();
    excess != 0 && !(destination.ty.size() == 1 && excess == 1)
}

/// The size of the elements of a vector constant.
fn vector(facts: &Facts<'_>) -> Option<u32> {
    match facts.immediate().map(Immediate::ty)? {
        ImmediateType::Vf => Some(4),
        ImmediateType::V | ImmediateType::Uv => Some(2),
        ImmediateType::Ud | ImmediateType::D | ImmediateType::Uw | ImmediateType::W | ImmediateType::F => None,
    }
}

fn stride_in_bytes(facts: &Facts<'_>) -> Option<u32> {
    facts.destination.map(|Destination { ty, stride, .. }| Type::size(*ty) * stride.elements())
}

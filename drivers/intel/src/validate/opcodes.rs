//! Rules of single opcodes.

use super::Rule;
use super::facts::{Facts, is_dword, source_size};
use crate::isa::{Condition, Opcode, Source, ThreadControl, Type};

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "cmp-accumulator",
        message: "cmp and cmpn must write a general register or null",
        is_broken: |facts| {
            is_comparison(facts) && facts.written().is_some_and(|written| written.register.is_architecture())
        },
    },
    Rule {
        name: "cmp-null-switch",
        message: "cmp and cmpn that write null must switch the thread",
        is_broken: |facts| {
            is_comparison(facts) && facts.is_destination_null() && facts.instruction.thread != ThreadControl::Switch
        },
    },
    Rule {
        name: "cmp-condition",
        message: "cmp and cmpn must have a condition",
        is_broken: |facts| is_comparison(facts) && facts.instruction.condition.is_none(),
    },
    Rule {
        name: "sel-condition",
        message: "sel must have either a predicate or a condition",
        is_broken: |facts| {
            let instruction = facts.instruction;
            facts.opcode() == Opcode::Sel && instruction.predicate.is_some() == instruction.condition.is_some()
        },
    },
    Rule {
        name: "mul-dword-first",
        message: "of an integer of 32 bits and a smaller one, mul must have the larger one first",
        is_broken: |facts| is_product(facts, |first, second| source_size(first) < 4 && is_dword(second)),
    },
    Rule {
        name: "mul-accumulator",
        message: "mul must not read the accumulator",
        is_broken: |facts| {
            facts.opcode() == Opcode::Mul && facts.operands().any(|operand| operand.register.is_accumulator())
        },
    },
    Rule {
        name: "mul-float-destination",
        message: "mul of an integer of 32 bits must not write floats",
        is_broken: |facts| has_dword(facts) && facts.destination.is_some_and(|destination| destination.ty == Type::F),
    },
    Rule {
        name: "mul-dword-flags",
        message: "mul of an integer of 32 bits must have neither a condition nor saturation",
        is_broken: |facts| {
            let is_integer = facts
                .destination
                .is_some_and(|destination| matches!(destination.ty, Type::Ud | Type::D | Type::Uw | Type::W));
            let has_flags = facts.instruction.saturate || facts.instruction.condition.is_some();
            has_dword(facts) && is_integer && has_flags
        },
    },
    Rule {
        name: "division-modifiers",
        message: "sources of integer divisions must not have modifiers",
        is_broken: |facts| {
            let is_division = facts.instruction.math_function().is_some_and(|function| function.is_integer());
            is_division && facts.operands().any(|operand| operand.negate || operand.absolute)
        },
    },
    Rule {
        name: "logic-condition",
        message: "and, or, xor and not must not have condition o, r or u",
        is_broken: |facts| {
            let condition = facts.instruction.condition;
            facts.opcode().is_logic() && matches!(condition, Some(Condition::O | Condition::R | Condition::U))
        },
    },
    Rule {
        name: "bfi2-condition",
        message: "bfi2 must not have a condition",
        is_broken: |facts| is_insertion(facts) && facts.instruction.condition.is_some(),
    },
    Rule {
        name: "bfi2-saturate",
        message: "bfi2 must not have saturation",
        is_broken: |facts| is_insertion(facts) && facts.instruction.saturate,
    },
    Rule {
        name: "bfi2-type",
        message: "bfi2 must write integers",
        is_broken: |facts| {
            is_insertion(facts)
                && facts.destination.is_some_and(|destination| !matches!(destination.ty, Type::D | Type::Ud))
        },
    },
    Rule {
        name: "bfi2-source-type",
        message: "the sources of bfi2 must have the type of the destination",
        is_broken: |facts| {
            let ty = facts.destination.map(|destination| destination.ty);
            is_insertion(facts) && facts.operands().any(|operand| Some(operand.ty) != ty)
        },
    },
];

fn is_comparison(facts: &Facts<'_>) -> bool {
    matches!(facts.opcode(), Opcode::Cmp | Opcode::Cmpn)
}

fn is_insertion(facts: &Facts<'_>) -> bool {
    facts.opcode() == Opcode::Bfi2
}

fn is_product(facts: &Facts<'_>, is_broken: impl Fn(&Source, &Source) -> bool) -> bool {
    facts.opcode() == Opcode::Mul && matches!(facts.sources, [first, second] if is_broken(first, second))
}

/// Whether the instruction is a multiplication of an integer of 32 bits.
fn has_dword(facts: &Facts<'_>) -> bool {
    is_product(facts, |first, second| is_dword(first) || is_dword(second))
}

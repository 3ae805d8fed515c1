//! The rules of hardware beyond the encoding.
//!
//! Each rule is a row of a table: its name, its message, and a function that decides whether an instruction breaks it.
//! Rules concern single instructions. They are those that Mesa's validator has for Gen7 and Gen7.5; the words of an
//! instruction that breaks one are valid, but its results are not defined.

mod alignment;
mod facts;
mod messages;
mod opcodes;
mod operands;
mod regions;

use crate::isa::{Chip, Instruction};
use facts::Facts;

use std::fmt::{Debug, Formatter};

/// A rule.
#[derive(Clone, Copy)]
pub struct Rule {
    /// A short name in lower case with hyphens.
    pub name: &'static str,
    /// What instructions must do.
    pub message: &'static str,
    /// Whether an instruction breaks the rule.
    is_broken: fn(&Facts<'_>) -> bool,
}

impl Debug for Rule {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// The tables of rules.
static TABLES: [&[Rule]; 5] = [operands::RULES, regions::RULES, alignment::RULES, opcodes::RULES, messages::RULES];

/// All rules.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    TABLES.into_iter().flatten()
}

/// Returns the rules that an instruction breaks. An instruction without the operands of its opcode, which has no words
/// either, breaks none.
pub fn validate(instruction: &Instruction, chip: Chip) -> Vec<&'static Rule> {
    if !instruction.has_form() {
        return Vec::new();
    }
    let facts = Facts::new(instruction, chip);
    rules().filter(|rule| (rule.is_broken)(&facts)).collect()
}

/// Returns the broken rules of a program with the indices of the instructions.
pub fn validate_program(instructions: &[Instruction], chip: Chip) -> Vec<(usize, &'static Rule)> {
    let broken = |(index, instruction)| validate(instruction, chip).into_iter().map(move |rule| (index, rule));
    instructions.iter().enumerate().flat_map(broken).collect()
}

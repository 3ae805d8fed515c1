//! The program between instruction selection and the finished shader: TGSI instructions over any number of virtual temporaries and
//! immediates, and the passes over it.
//!
//! * `TEMP` below [`Program::first_temp`] are elements of arrays, whose place is fixed. From there on they are virtual: written and read
//!   without index registers, [`allocate`](allocate::allocate) gives them numbers.
//! * `IMM` names a row of [`Immediates`]; what is used of the rows is packed at the end.
//! * `ADDR` registers are real.
//!
//! Control flow is in the list itself; [`flow`] finds the blocks.

pub(crate) mod allocate;
pub(crate) mod combine;
pub(crate) mod dead_code;
pub(crate) mod flow;
pub(crate) mod forward;
pub(crate) mod hoist_constants;
pub(crate) mod merge;
pub(crate) mod operands;
pub(crate) mod propagate;
pub(crate) mod tidy_flow;
mod tracker;
pub(crate) mod vectorize;

use std::collections::HashMap;

use tgsi::shader::Instruction;

/// Constants, four words each; equal ones have equal numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Immediates {
    rows: Vec<[u32; 4]>,
    numbers: HashMap<[u32; 4], u32>,
}

impl Immediates {
    /// Number of the row with these words.
    pub(crate) fn intern(&mut self, words: [u32; 4]) -> i32 {
        let next = self.rows.len() as u32;
        let number = *self.numbers.entry(words).or_insert(next);
        if number == next {
            self.rows.push(words);
        }
        number as i32
    }

    /// Words of a row.
    pub(crate) fn row(&self, number: i32) -> [u32; 4] {
        usize::try_from(number).ok().and_then(|n| self.rows.get(n)).copied().unwrap_or_default()
    }
}

/// A program over virtual temporaries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Program {
    /// In order, control flow included, `END` excluded.
    pub(crate) instructions: Vec<Instruction>,
    /// Constants.
    pub(crate) immediates: Immediates,
    /// Temporaries below this number are array elements.
    pub(crate) first_temp: u32,
    /// One past the last temporary.
    pub(crate) num_temps: u32,
}

impl Program {
    /// A new virtual temporary.
    pub(crate) fn new_temp(&mut self) -> u32 {
        self.num_temps += 1;
        self.num_temps - 1
    }

    /// Drops instructions marked in `dead` (one flag an instruction).
    pub(crate) fn remove(&mut self, dead: &[bool]) {
        let mut place = 0;
        self.instructions.retain(|_| {
            place += 1;
            !dead.get(place - 1).copied().unwrap_or(false)
        });
    }
}

//! The program between instruction selection and the finished shader: TGSI instructions over any number of virtual
//! temporaries and immediates.
//!
//! * `TEMP` below [`Program::first_temp`] are elements of arrays or shared by functions: their place is fixed. From
//!   there on they are virtual: written and read
//!   without index registers, allocation gives them numbers.
//! * `IMM` names a row of [`Immediates`]; what is used of the rows is packed at the end.
//! * `ADDR` registers are real.
//!
//! Control flow is in the list itself; [`flow`] finds the blocks. Each function is a program until they are put
//! together.

pub(crate) mod access;
pub(crate) mod flow;
pub(crate) mod hash;
pub(crate) mod liveness;
pub(crate) mod operands;
mod regions;

use hashbrown::HashMap;
use std::rc::Rc;

use tgsi::shader::Instruction;
use tgsi::tables::File;

use crate::target::virgl::rules::Rules;
use access::{ADDRESS_REGISTERS, ARRAYS, Access, Traits};
use hash::BuildFastHasher;
use liveness::Liveness;

/// Constants, four words each; equal ones have equal numbers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Immediates {
    rows: Vec<[u32; 4]>,
    numbers: HashMap<[u32; 4], u32, BuildFastHasher>,
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
    /// What each instruction reads and writes.
    pub(crate) access: Vec<Access>,
    /// Constants.
    pub(crate) immediates: Immediates,
    /// Temporaries below this number are array elements.
    pub(crate) first_temp: u32,
    /// One past the last temporary.
    pub(crate) num_temps: u32,
    /// Which instructions the target takes. Passes keep to it.
    pub(crate) rules: Rules,
    /// The target [stores whole results](crate::TgsiOptions::whole_results).
    pub(crate) has_whole_results: bool,
    /// The target [runs 64-bit instructions half by half](crate::TgsiOptions::halves_in_turn).
    pub(crate) has_halves_in_turn: bool,
    /// What is live where blocks meet, if it was asked for since the last change.
    liveness: Option<Rc<Liveness>>,
}

impl Program {
    /// From here on temporaries are virtual: those that there are already are elements of arrays. To be called before the first instruction.
    pub(crate) fn end_arrays(&mut self) {
        debug_assert!(self.instructions.is_empty(), "what instructions access would change");
        self.first_temp = self.num_temps;
    }

    /// Temporaries below this number are elements of arrays or shared by functions.
    pub(crate) fn first_temp(&self) -> u32 {
        self.first_temp
    }

    /// A new virtual temporary.
    pub(crate) fn new_temp(&mut self) -> u32 {
        self.num_temps += 1;
        self.num_temps - 1
    }

    /// How many virtual temporaries there are.
    pub(crate) fn temps(&self) -> usize {
        (self.num_temps - self.first_temp) as usize
    }

    /// How many numbers of address registers and virtual temporaries there are.
    pub(crate) fn registers(&self) -> usize {
        self.temps() + ADDRESS_REGISTERS as usize
    }

    /// Number of an address register or virtual temporary that is named directly.
    pub(crate) fn register(&self, file: File, index: i32) -> Option<usize> {
        access::number(file, index, self.first_temp).filter(|&n| n < ARRAYS).map(|n| n as usize)
    }

    /// Number of a virtual temporary, counted from 0.
    pub(crate) fn temp(&self, file: File, index: i32) -> Option<usize> {
        if file != File::Temporary {
            return None;
        }
        Some(u32::try_from(index).ok()?.checked_sub(self.first_temp)? as usize)
    }

    /// Whether an instruction stores all components of its register, whatever its mask says. Before allocation masks
    /// hold nevertheless: allocation sees to it that nothing that is needed stands there.
    pub(crate) fn stores_whole(&self, access: &Access) -> bool {
        self.has_whole_results && access.traits.any(Traits::STORES_WHOLE)
    }

    /// Whether the target would overwrite what an instruction has still to read.
    pub(crate) fn overwrites_itself(&self, instruction: &Instruction) -> bool {
        self.has_halves_in_turn && operands::overwrites_itself(instruction)
    }

    /// The instructions in order, control flow included, `END` excluded.
    pub(crate) fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// Hands the instructions out.
    pub(crate) fn into_instructions(self) -> (Vec<Instruction>, Immediates) {
        (self.instructions, self.immediates)
    }

    /// Makes room for more instructions.
    pub(crate) fn reserve(&mut self, count: usize) {
        self.instructions.reserve(count);
        self.access.reserve(count);
    }

    pub(crate) fn note_change(&mut self) {
        self.liveness = None;
    }

    /// What is live where blocks meet.
    pub(crate) fn liveness(&mut self) -> Rc<Liveness> {
        let liveness = self.liveness.take().unwrap_or_else(|| Rc::new(Liveness::of(self)));
        self.liveness.insert(liveness).clone()
    }

    /// Appends an instruction.
    #[inline]
    pub(crate) fn push(&mut self, instruction: Instruction) {
        self.note_change();
        self.access.push(Access::of(&instruction, self.first_temp));
        self.instructions.push(instruction);
    }

    /// Replaces an instruction.
    pub(crate) fn set(&mut self, place: usize, instruction: Instruction) {
        self.note_change();
        self.access[place] = Access::of(&instruction, self.first_temp);
        self.instructions[place] = instruction;
    }

    /// Exchanges two instructions.
    pub(crate) fn swap(&mut self, a: usize, b: usize) {
        if a != b {
            self.note_change();
            self.access.swap(a, b);
            self.instructions.swap(a, b);
        }
    }

    /// Drops all instructions from a place on.
    pub(crate) fn truncate(&mut self, count: usize) {
        if count < self.access.len() {
            self.note_change();
            self.access.truncate(count);
            self.instructions.truncate(count);
        }
    }

    /// Changes an instruction.
    pub(crate) fn edit(&mut self, place: usize, change: impl FnOnce(&mut Instruction)) {
        self.note_change();
        if let (Some(instruction), Some(access)) = (self.instructions.get_mut(place), self.access.get_mut(place)) {
            change(instruction);
            *access = Access::of(instruction, self.first_temp);
        }
    }

    /// Takes all instructions out, to be put back in another form.
    pub(crate) fn take_instructions(&mut self) -> Vec<Instruction> {
        self.note_change();
        self.access.clear();
        std::mem::take(&mut self.instructions)
    }

    /// Drops instructions marked in `dead` (one flag an instruction).
    pub(crate) fn remove(&mut self, dead: &[bool]) {
        self.note_change();
        let is_dead = |place: &mut usize| {
            *place += 1;
            dead.get(*place - 1).copied().unwrap_or(false)
        };
        let mut place = 0;
        self.instructions.retain(|_| !is_dead(&mut place));
        let mut place = 0;
        self.access.retain(|_| !is_dead(&mut place));
    }
}

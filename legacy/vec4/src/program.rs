//! A program over virtual temporaries: the instructions with their accesses, and the constants.

use std::rc::Rc;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::access::{RegisterAccess, SPECIAL_REGISTERS, Traits};
use super::liveness::Liveness;
use super::{Flow, Machine};

/// Constants of four words each, deduplicated.
#[derive(Clone, Debug, Default)]
pub struct Constants {
    rows: Vec<[u32; 4]>,
    numbers: HashMap<[u32; 4], u32, FxBuildHasher>,
}

impl Constants {
    /// Returns the number of the row with these words, adding it if needed.
    pub fn intern(&mut self, words: [u32; 4]) -> i32 {
        let next = self.rows.len() as u32;
        let number = *self.numbers.entry(words).or_insert(next);
        if number == next {
            self.rows.push(words);
        }
        number as i32
    }

    /// The words of a row.
    #[inline]
    pub fn row(&self, number: i32) -> [u32; 4] {
        usize::try_from(number).ok().and_then(|n| self.rows.get(n)).copied().unwrap_or_default()
    }
}

/// A program over virtual temporaries.
///
/// Temporaries below [`first_temp`](Program::first_temp) have a fixed location. The others are virtual: accessed
/// without index registers, until allocation assigns registers. Accesses are stored next to the instructions, so
/// instructions can be changed only by the functions of this type.
#[derive(Clone, Debug, Default)]
pub struct Program<M: Machine> {
    /// The machine.
    pub machine: M,
    /// The constants that instructions refer to.
    pub constants: Constants,
    pub(super) instructions: Vec<M::Instruction>,
    pub(super) access: Vec<RegisterAccess<M::Opcode>>,
    first_temp: u32,
    num_temps: u32,
    /// Liveness at block boundaries, if it was computed since the last change.
    liveness: Option<Rc<Liveness>>,
}

impl<M: Machine> Program<M> {
    /// Creates an empty program with `fixed` temporaries of a fixed location.
    pub fn new(machine: M, fixed: u32) -> Program<M> {
        Program {
            machine,
            constants: Constants::default(),
            instructions: Vec::new(),
            access: Vec::new(),
            first_temp: fixed,
            num_temps: fixed,
            liveness: None,
        }
    }

    /// Temporaries below this number have a fixed location.
    #[inline]
    pub fn first_temp(&self) -> u32 {
        self.first_temp
    }

    /// One past the last temporary, fixed ones included.
    #[inline]
    pub fn num_temps(&self) -> u32 {
        self.num_temps
    }

    /// Sets the number of temporaries, including fixed ones, after renumbering.
    pub fn set_num_temps(&mut self, count: u32) {
        self.note_change();
        self.num_temps = count;
    }

    /// Creates a virtual temporary. Its number is at least [`first_temp`](Self::first_temp).
    #[inline]
    pub fn new_temp(&mut self) -> u32 {
        self.num_temps += 1;
        self.num_temps - 1
    }

    /// The number of virtual temporaries.
    #[inline]
    pub fn temps(&self) -> usize {
        self.num_temps.saturating_sub(self.first_temp) as usize
    }

    /// The number of rows of tables of special registers and virtual temporaries.
    #[inline]
    pub fn registers(&self) -> usize {
        self.temps() + SPECIAL_REGISTERS as usize
    }

    /// The instructions in order, control flow included.
    #[inline]
    pub fn instructions(&self) -> &[M::Instruction] {
        &self.instructions
    }

    /// The accesses of each instruction.
    #[inline]
    pub fn accesses(&self) -> &[RegisterAccess<M::Opcode>] {
        &self.access
    }

    /// The kind of control flow of an instruction; none for other instructions.
    #[inline]
    pub fn flow(&self, index: usize) -> Option<Flow> {
        flow::<M>(self.access.get(index)?)
    }

    /// Returns the instructions and constants.
    pub fn into_instructions(self) -> (Vec<M::Instruction>, Constants) {
        (self.instructions, self.constants)
    }

    /// Reserves space for more instructions.
    pub fn reserve(&mut self, count: usize) {
        self.instructions.reserve(count);
        self.access.reserve(count);
    }

    #[inline]
    pub(super) fn note_change(&mut self) {
        self.liveness = None;
    }

    /// The liveness of registers at block boundaries.
    pub fn liveness(&mut self) -> Rc<Liveness> {
        let liveness = self.liveness.take().unwrap_or_else(|| Rc::new(Liveness::of(self)));
        self.liveness.insert(liveness).clone()
    }

    /// Appends an instruction.
    #[inline]
    pub fn push(&mut self, instruction: M::Instruction) {
        self.note_change();
        self.access.push(self.machine.access(&instruction, self.first_temp));
        self.instructions.push(instruction);
    }

    /// Appends an instruction with a valid access.
    #[inline]
    pub(super) fn push_known(&mut self, instruction: M::Instruction, access: RegisterAccess<M::Opcode>) {
        self.note_change();
        self.access.push(access);
        self.instructions.push(instruction);
    }

    /// Replaces an instruction. An index beyond the end is ignored.
    pub fn set(&mut self, index: usize, instruction: M::Instruction) {
        self.edit(index, |old| *old = instruction);
    }

    /// Swaps two instructions.
    pub fn swap(&mut self, a: usize, b: usize) {
        if a != b {
            self.note_change();
            self.access.swap(a, b);
            self.instructions.swap(a, b);
        }
    }

    /// Drops all instructions after the first `count`.
    pub fn truncate(&mut self, count: usize) {
        if count < self.access.len() {
            self.note_change();
            self.access.truncate(count);
            self.instructions.truncate(count);
        }
    }

    /// Changes an instruction. An index beyond the end is ignored.
    #[inline]
    pub fn edit(&mut self, index: usize, change: impl FnOnce(&mut M::Instruction)) {
        self.edit_with(index, |_, instruction| change(instruction));
    }

    /// Like `edit`, with access to the machine.
    #[inline]
    pub(super) fn edit_with(&mut self, index: usize, change: impl FnOnce(&M, &mut M::Instruction)) {
        self.note_change();
        if let (Some(instruction), Some(access)) = (self.instructions.get_mut(index), self.access.get_mut(index)) {
            change(&self.machine, instruction);
            *access = self.machine.access(instruction, self.first_temp);
        }
    }

    /// Removes and returns all instructions, to be pushed again in another form.
    pub fn take_instructions(&mut self) -> Vec<M::Instruction> {
        self.note_change();
        self.access.clear();
        std::mem::take(&mut self.instructions)
    }

    /// Removes and returns all instructions and their accesses.
    pub(super) fn take_all(&mut self) -> (Vec<M::Instruction>, Vec<RegisterAccess<M::Opcode>>) {
        self.note_change();
        (std::mem::take(&mut self.instructions), std::mem::take(&mut self.access))
    }

    /// Drops instructions marked in `dead` (one flag per instruction).
    pub fn remove(&mut self, dead: &[bool]) {
        self.note_change();
        let is_dead = |index: &mut usize| {
            *index += 1;
            dead.get(*index - 1).copied().unwrap_or(false)
        };
        let mut index = 0;
        self.instructions.retain(|_| !is_dead(&mut index));
        let mut index = 0;
        self.access.retain(|_| !is_dead(&mut index));
    }

    /// Drops instructions marked in `dead`, and inserts new ones before the given indices, in order.
    pub fn remove_and_insert(&mut self, dead: &[bool], mut new: Vec<(usize, M::Instruction)>) {
        if new.is_empty() {
            self.remove(dead);
            return;
        }
        new.sort_by_key(|&(index, _)| index);
        let (old, access) = self.take_all();
        self.reserve(old.len() + new.len());
        let mut new = new.into_iter().peekable();
        for (index, (instruction, access)) in old.into_iter().zip(access).enumerate() {
            while let Some((_, part)) = new.next_if(|&(before, _)| before == index) {
                self.push(part);
            }
            if !dead.get(index).copied().unwrap_or(false) {
                self.push_known(instruction, access);
            }
        }
    }
}

/// The kind of control flow of an access.
#[inline]
pub(super) fn flow<M: Machine>(access: &RegisterAccess<M::Opcode>) -> Option<Flow> {
    if access.traits.any(Traits::FLOW) { M::flow(access.opcode) } else { None }
}

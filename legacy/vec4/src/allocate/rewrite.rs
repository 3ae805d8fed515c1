//! Replaces virtual temporaries by registers and removes copies of a register to itself.

use super::super::dead_code::copies_to_itself;
use super::super::{Program, Traits};
use super::{Allocate, Allocation};

/// Replaces virtual temporaries by registers. With `drop_copies`, removes copies of a register to itself.
pub(super) fn rewrite<M: Allocate>(program: &mut Program<M>, allocation: &Allocation, drop_copies: bool) {
    let first_temp = program.first_temp();
    let mut dead: Vec<bool> = Vec::new();
    let count = program.instructions.len();
    for index in 0..count {
        let Program { machine, instructions, access, .. } = &mut *program;
        let (instruction, access) = (&mut instructions[index], &mut access[index]);
        if !machine.rename(instruction, access, first_temp, |temp| allocation.location(temp)) {
            continue;
        }
        debug_assert_eq!(*access, machine.access(instruction, first_temp), "{instruction:?}");
        if drop_copies && access.traits.any(Traits::COPY) && copies_to_itself(program, index) {
            dead.resize(count, false);
            dead[index] = true;
        }
    }
    program.note_change();
    if !dead.is_empty() {
        program.remove(&dead);
    }
}

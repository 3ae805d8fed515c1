//! Removes instructions, and components of results, without uses.

use super::access::{RegisterAccess, Traits};
use super::{Machine, Program};

/// The components that are live at a point of the backward walk.
struct Live {
    /// Taking removed instructions into account.
    needed: Vec<u8>,
    /// As computed before the pass, which is the basis of the liveness of other blocks.
    computed: Vec<u8>,
    /// The registers for which the two may differ.
    differ: Vec<u32>,
}

impl Live {
    fn new(registers: usize) -> Live {
        Live { needed: vec![0; registers], computed: vec![0; registers], differ: Vec::new() }
    }

    /// Moves from the start of a block to the end of the previous one.
    fn enter(&mut self, changes: &[(u32, u8)]) {
        for register in self.differ.drain(..) {
            self.needed[register as usize] = self.computed[register as usize];
        }
        for &(register, mask) in changes {
            self.needed[register as usize] = mask;
            self.computed[register as usize] = mask;
        }
    }

    /// Adds the reads of an instruction that is kept.
    #[inline]
    fn read<Opcode>(&mut self, access: &RegisterAccess<Opcode>) {
        for read in access.reads() {
            if let Some(register) = read.dense() {
                self.needed[register] |= read.mask();
                self.computed[register] |= read.mask();
            }
        }
    }

    /// Records the reads of an instruction that is removed or changed.
    fn forget<Opcode>(&mut self, access: &RegisterAccess<Opcode>) {
        for read in access.reads() {
            if let Some(register) = read.dense() {
                self.computed[register] |= read.mask();
                self.differ.push(register as u32);
            }
        }
    }
}

/// Removes dead instructions and components. Returns whether anything changed.
pub fn remove_dead_code<M: Machine>(program: &mut Program<M>) -> bool {
    let liveness = program.liveness();
    let mut live = Live::new(program.registers());
    let mut dead: Vec<bool> = Vec::new();
    let mut changed = false;
    for (number, block) in liveness.blocks.iter().enumerate().rev() {
        live.enter(liveness.changes(number));
        for index in (block.start..block.end).rev() {
            let access = &program.access[index];
            let written = access.written().and_then(|w| Some((w.dense()?, w.mask())));
            if let Some((register, mask)) = written {
                let needed = live.needed[register] & mask;
                live.computed[register] &= !mask;
                if needed == 0 && !access.traits.any(Traits::EFFECT) {
                    live.forget(access);
                    mark(&mut dead, program, index);
                    continue;
                }
                live.needed[register] &= !mask;
                if needed != mask
                    && needed != 0
                    && access.traits.any(Traits::NARROWS)
                    && let Some(narrowed) = program.machine.narrowed(&program.instructions[index], needed)
                {
                    live.forget(access);
                    program.edit_with(index, |machine, instruction| machine.set_mask(instruction, narrowed));
                    changed = true;
                }
            }
            if program.access[index].traits.any(Traits::COPY) && copies_to_itself(program, index) {
                mark(&mut dead, program, index);
                if let (Some((register, before)), Some(now)) = (written, program.access[index].written()) {
                    live.computed[register] |= before;
                    live.needed[register] |= now.mask();
                    live.differ.push(register as u32);
                }
                continue;
            }
            live.read(&program.access[index]);
        }
    }
    if !dead.is_empty() {
        program.remove(&dead);
        changed = true;
    }
    changed
}

fn mark<M: Machine>(dead: &mut Vec<bool>, program: &Program<M>, index: usize) {
    if dead.is_empty() {
        dead.resize(program.instructions.len(), false);
    }
    dead[index] = true;
}

/// Whether an instruction copies a register to itself.
#[inline]
pub(super) fn copies_to_itself<M: Machine>(program: &Program<M>, index: usize) -> bool {
    let copy = program.machine.register_copy(&program.instructions[index], program.first_temp());
    copy.is_some_and(|copy| copy.is_empty())
}

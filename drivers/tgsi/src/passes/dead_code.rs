//! Removes instructions, and components of results, that nobody reads.

use tgsi::shader::Instruction;
use tgsi::tables::{File, Opcode};

use crate::machine::Program;
use crate::machine::access::{Access, Traits};

/// The components that are live at a place of the walk backward.
struct Live {
    /// With what was removed out of the way.
    needed: Vec<u8>,
    /// As the liveness was computed: what is known of other blocks is this.
    computed: Vec<u8>,
    /// Registers for which the two may differ.
    differ: Vec<u32>,
}

impl Live {
    fn new(registers: usize) -> Live {
        Live { needed: vec![0; registers], computed: vec![0; registers], differ: Vec::new() }
    }

    /// Goes to the end of a block from the start of the one behind it.
    fn enter(&mut self, changes: &[(u32, u8)]) {
        for register in self.differ.drain(..) {
            self.needed[register as usize] = self.computed[register as usize];
        }
        for &(register, mask) in changes {
            self.needed[register as usize] = mask;
            self.computed[register as usize] = mask;
        }
    }

    /// An instruction that stays reads.
    fn read(&mut self, access: &Access) {
        for read in access.reads().iter().filter(|r| r.is_dense()) {
            self.needed[read.register()] |= read.mask();
            self.computed[read.register()] |= read.mask();
        }
    }

    /// What an instruction read that goes, or changes.
    fn forget(&mut self, access: &Access) {
        for read in access.reads().iter().filter(|r| r.is_dense()) {
            self.computed[read.register()] |= read.mask();
            self.differ.push(read.register() as u32);
        }
    }
}

/// Removes what is not needed. Returns whether anything changed.
pub(crate) fn remove_dead_code(program: &mut Program) -> bool {
    let liveness = program.liveness();
    let mut live = Live::new(program.registers());
    let mut dead: Vec<bool> = Vec::new();
    let mut changed = false;
    for (number, block) in liveness.blocks.iter().enumerate().rev() {
        live.enter(liveness.changes(number));
        for place in (block.start..block.end).rev() {
            let access = &program.access[place];
            let written = access.written().filter(|w| w.is_dense());
            if let Some(written) = written {
                let (register, mask) = (written.register(), written.mask());
                let mut needed = live.needed[register] & mask;
                live.computed[register] &= !mask;
                if needed == 0 && !access.traits.any(Traits::EFFECT) {
                    live.forget(access);
                    mark(&mut dead, program, place);
                    continue;
                }
                // A load reads 0 everywhere unless all words up to its last lie in the buffer: the last stays.
                if access.opcode == Opcode::Load && needed != 0 {
                    needed |= 0x80u8.unbounded_shr(mask.leading_zeros());
                }
                live.needed[register] &= !mask;
                // Results that come in pairs are written in pairs; loads and lookups may leave out what is not needed.
                let narrows = needed != mask && needed != 0 && access.traits.any(Traits::NARROWS);
                if narrows && program.rules.allows_mask(&program.instructions[place], needed) {
                    live.forget(access);
                    program.edit(place, |instruction| instruction.dst[0].write_mask = needed);
                    changed = true;
                }
            }
            if program.access[place].opcode == Opcode::Mov && is_no_copy(&program.instructions[place]) {
                mark(&mut dead, program, place);
                if let (Some(before), Some(now)) = (written, program.access[place].written()) {
                    live.computed[before.register()] |= before.mask();
                    live.needed[before.register()] |= now.mask();
                    live.differ.push(before.register() as u32);
                }
                continue;
            }
            live.read(&program.access[place]);
        }
    }
    if !dead.is_empty() {
        program.remove(&dead);
        changed = true;
    }
    changed
}

fn mark(dead: &mut Vec<bool>, program: &Program, place: usize) {
    if dead.is_empty() {
        dead.resize(program.instructions.len(), false);
    }
    dead[place] = true;
}

/// Whether a `MOV` copies a register to itself.
pub(super) fn is_no_copy(copy: &Instruction) -> bool {
    let (Some(dst), Some(src)) = (copy.dst.first(), copy.src.first()) else { return false };
    let register = &dst.register;
    !copy.saturate
        && *register == src.register
        && !src.negate
        && !src.absolute
        && matches!(register.file, File::Temporary | File::Output)
        && register.dimension.is_none()
        && register.indirect.is_none()
        && (0..4u8).all(|c| dst.write_mask & 1 << c == 0 || src.swizzle[usize::from(c)] == c)
}

//! Results that would destroy something where they stand get temporaries of their own.
//!
//! Before registers are given, those that the machine [stores whole](super::Machine::stores_whole), if something else
//! of their temporary is needed afterwards, or if they go to a fixed register, an output or through an index
//! register:
//!
//! ```text
//! MUL TEMP[3].y, a, b                             MUL TEMP[3].y, a, b
//! ATOMUADD TEMP[3].x, BUFFER[0], c, d             ATOMUADD TEMP[9].x, BUFFER[0], c, d
//! ADD TEMP[4].x, TEMP[3].xxxx, TEMP[3].yyyy  =>   MOV TEMP[3].x, TEMP[9].xxxx
//!                                                 ADD TEMP[4].x, TEMP[3].xxxx, TEMP[3].yyyy
//! ```
//!
//! Whatever stores its result whole then writes a virtual temporary of which nothing else is live, and coalescing finds
//! those for which the copy is not needed.
//!
//! Afterwards, instructions that [overwrite](Allocate::overwrites_itself) what they have still to read: those of
//! which a part is run after another one. [Segments](super::segments) have left few:
//!
//! ```text
//! DMUL TEMP[5], TEMP[5].zwxy, TEMP[6]        =>   DMUL TEMP[9], TEMP[5].zwxy, TEMP[6]
//!                                                 MOV TEMP[5], TEMP[9]
//! ```

use super::super::access::{Access, SPECIAL_REGISTERS};
use super::super::{Machine, Program, Traits};
use super::Allocate;

/// The fate of an instruction.
struct Separate {
    index: usize,
    /// Somebody reads the result.
    is_read: bool,
}

/// Separates results that are stored whole.
pub(super) fn separate_results<M: Allocate>(program: &mut Program<M>) {
    if program.access.iter().any(|access| stores_whole(&program.machine, access)) {
        let found = find(program);
        apply(program, &found);
    }
}

#[inline]
fn stores_whole<M: Machine>(machine: &M, access: &Access<M::Opcode>) -> bool {
    access.traits.any(Traits::STORES_WHOLE) && machine.stores_whole(access)
}

/// Separates results from operands that are read after them.
pub(super) fn keep_operands<M: Allocate>(program: &mut Program<M>) {
    let overwrites = |(index, instruction)| program.machine.overwrites_itself(instruction).then_some(index);
    let indices = program.instructions.iter().enumerate().filter_map(overwrites);
    let found: Vec<Separate> = indices.map(|index| Separate { index, is_read: true }).collect();
    apply(program, &found);
}

/// The instructions that would destroy something by storing their result whole, the first one first.
fn find<M: Machine>(program: &mut Program<M>) -> Vec<Separate> {
    let liveness = program.liveness();
    let mut live = vec![0u8; program.temps()];
    let mut found = Vec::new();
    for (number, block) in liveness.blocks.iter().enumerate().rev() {
        for &(register, mask) in liveness.changes(number) {
            if let Some(temp) = register.checked_sub(SPECIAL_REGISTERS) {
                live[temp as usize] = mask;
            }
        }
        for index in (block.start..block.end).rev() {
            let access = &program.access[index];
            let target = access.written().and_then(|w| Some((w.temp()?, w.mask())));
            if stores_whole(&program.machine, access) {
                let after = target.map(|(temp, mask)| (live[temp] & mask, live[temp] & !mask));
                if after.is_none_or(|(_, others)| others != 0) {
                    found.push(Separate { index, is_read: after.is_none_or(|(result, _)| result != 0) });
                }
            }
            if let Some((temp, mask)) = target {
                live[temp] &= !mask;
            }
            for read in access.reads() {
                if let Some(temp) = read.temp() {
                    live[temp] |= read.mask();
                }
            }
        }
    }
    found.reverse();
    found
}

fn apply<M: Allocate>(program: &mut Program<M>, found: &[Separate]) {
    if found.is_empty() {
        return;
    }
    let mut next = found.iter().peekable();
    for (index, mut instruction) in program.take_instructions().into_iter().enumerate() {
        let Some(separate) = next.next_if(|s| s.index == index) else {
            program.push(instruction);
            continue;
        };
        let temp = program.new_temp();
        let copy = program.machine.redirect(&mut instruction, temp);
        program.push(instruction);
        if let Some(copy) = copy.filter(|_| separate.is_read) {
            program.push(copy);
        }
    }
}

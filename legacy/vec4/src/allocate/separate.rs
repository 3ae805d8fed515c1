//! Moves results that would clobber live values to separate temporaries.
//!
//! Before allocation, results that the machine [stores whole](super::Machine::stores_whole), if other components of
//! their temporary are live afterwards, or if the destination is a fixed register, an output or addressed through an
//! index register:
//!
//! ```text
//! MUL TEMP[3].y, a, b                             MUL TEMP[3].y, a, b
//! ATOMUADD TEMP[3].x, BUFFER[0], c, d             ATOMUADD TEMP[9].x, BUFFER[0], c, d
//! ADD TEMP[4].x, TEMP[3].xxxx, TEMP[3].yyyy  =>   MOV TEMP[3].x, TEMP[9].xxxx
//!                                                 ADD TEMP[4].x, TEMP[3].xxxx, TEMP[3].yyyy
//! ```
//!
//! Every result stored whole is then in a virtual temporary with no other live components, and coalescing removes the
//! copies that are not needed.
//!
//! After allocation, instructions that [overwrite](Allocate::overwrites_itself) operands they have still to read,
//! because they execute in parts. [Segments](super::segments) leave few of them:
//!
//! ```text
//! DMUL TEMP[5], TEMP[5].zwxy, TEMP[6]        =>   DMUL TEMP[9], TEMP[5].zwxy, TEMP[6]
//!                                                 MOV TEMP[5], TEMP[9]
//! ```

use super::super::access::{RegisterAccess, SPECIAL_REGISTERS};
use super::super::{Machine, Program, Traits};
use super::Allocate;

/// An instruction that needs a temporary.
struct Separate {
    index: usize,
    /// Whether the result has uses.
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
fn stores_whole<M: Machine>(machine: &M, access: &RegisterAccess<M::Opcode>) -> bool {
    access.traits.any(Traits::STORES_WHOLE) && machine.stores_whole(access)
}

/// Separates results from operands that are read after the write.
pub(super) fn keep_operands<M: Allocate>(program: &mut Program<M>) {
    let overwrites = |(index, instruction)| program.machine.overwrites_itself(instruction).then_some(index);
    let indices = program.instructions.iter().enumerate().filter_map(overwrites);
    let found: Vec<Separate> = indices.map(|index| Separate { index, is_read: true }).collect();
    apply(program, &found);
}

/// The instructions that would clobber live values by storing their result whole, in order.
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

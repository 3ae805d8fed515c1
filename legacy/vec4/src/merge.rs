//! Merges instructions that do the same to different components of a register.
//!
//! ```text
//! MUL TEMP[3].x, TEMP[1].yyyy, CONST[2].xxxx
//! MUL TEMP[3].z, TEMP[1].wwww, CONST[2].yyyy     =>     MUL TEMP[3].xz, TEMP[1].yyww, CONST[2].xxyy
//! ```
//!
//! The later instruction moves up to the earlier one, past at most [`WINDOW`] others that it does not depend on;
//! [`LastAccesses`] bounds the distance.

use super::access::{RegisterAccess, Traits};
use super::blocks::block_from;
use super::last_accesses::LastAccesses;
use super::{Constants, Machine, Program};

/// The distance that an instruction may move.
pub const WINDOW: usize = 48;

/// Properties of instructions that may be merged.
const MERGEABLE: Traits = Traits::COMPONENTWISE.with(Traits::REPLICATED).with(Traits::PAIRS);

const NONE: u32 = u32::MAX;

/// Merging of two instructions.
pub trait Merge: Machine {
    /// Returns one instruction for two that do the same to different components of one register, to replace the first;
    /// none if they do not match, or if the target has no such instruction. `access` is that of the first.
    fn merged(
        &self,
        constants: &mut Constants,
        first: &Self::Instruction,
        access: &RegisterAccess<Self::Opcode>,
        second: &Self::Instruction,
    ) -> Option<Self::Instruction>;
}

/// Merges instructions. Returns whether anything changed.
pub fn merge_instructions<M: Merge>(program: &mut Program<M>) -> bool {
    let mut dead: Vec<bool> = Vec::new();
    let mut accesses = LastAccesses::new(program);
    // The last instruction that writes a register, and for each instruction the previous one.
    let mut last_writer = vec![NONE; accesses.len()];
    let mut earlier_writer = vec![NONE; program.instructions.len()];
    let mut next = 0;
    while let Some(block) = block_from(program, next) {
        next = block.end;
        for index in block.clone() {
            let Program { machine, constants, instructions, access: all, .. } = &mut *program;
            let access = &all[index];
            let Some(row) = access.written().map(|w| accesses.row_of(w)) else {
                accesses.record(machine, access, index);
                continue;
            };
            let mut merges = false;
            if access.traits.any(MERGEABLE) {
                let first = block.start.max(index.saturating_sub(WINDOW));
                // Computed only if there is a candidate.
                let mut limit = None;
                let mut candidate = last_writer[row];
                while candidate != NONE && candidate as usize >= first {
                    let earlier = candidate as usize;
                    candidate = earlier_writer[earlier];
                    if all[earlier].opcode != access.opcode {
                        continue;
                    }
                    if earlier < *limit.get_or_insert_with(|| accesses.limit(access)) {
                        break;
                    }
                    let (a, b) = (&instructions[earlier], &instructions[index]);
                    if let Some(both) = machine.merged(constants, a, &all[earlier], b) {
                        accesses.record(machine, access, earlier);
                        program.set(earlier, both);
                        dead.resize(program.instructions.len(), false);
                        dead[index] = true;
                        merges = true;
                        break;
                    }
                }
            }
            if !merges {
                accesses.record(&program.machine, &program.access[index], index);
                earlier_writer[index] = std::mem::replace(&mut last_writer[row], index as u32);
            }
        }
    }
    if !dead.is_empty() {
        program.remove(&dead);
    }
    !dead.is_empty()
}

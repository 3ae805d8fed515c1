//! Results that would destroy something where they stand get temporaries of their own.
//!
//! Before registers are given, those that the target [stores whole](crate::TgsiOptions::whole_results), if something
//! else of their temporary is needed afterwards, or if they go to an array, an output or through an index register:
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
//! Afterwards, 64-bit instructions that overwrite what their second half has still to read, where halves are run
//! [in turn](crate::TgsiOptions::halves_in_turn). [Segments](super::segments) have left few:
//!
//! ```text
//! DMUL TEMP[5], TEMP[5].zwxy, TEMP[6]        =>   DMUL TEMP[9], TEMP[5].zwxy, TEMP[6]
//!                                                 MOV TEMP[5], TEMP[9]
//! ```

use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode};

use crate::machine::Program;
use crate::machine::access::{ADDRESS_REGISTERS, Access};

/// What becomes of an instruction.
struct Separate {
    place: usize,
    /// Somebody reads the result.
    is_read: bool,
}

/// Separates results that are stored whole.
pub(super) fn separate_results(program: &mut Program) {
    if program.access.iter().any(|access| program.stores_whole(access)) {
        let found = find(program);
        apply(program, &found);
    }
}

/// Separates results from operands that are read after them.
pub(super) fn keep_operands(program: &mut Program) {
    let is_concerned = |(place, instruction)| program.overwrites_itself(instruction).then_some(place);
    let places = program.instructions.iter().enumerate().filter_map(is_concerned);
    let found: Vec<Separate> = places.map(|place| Separate { place, is_read: true }).collect();
    apply(program, &found);
}

/// The instructions that would destroy something by storing their result whole, the first one first.
fn find(program: &mut Program) -> Vec<Separate> {
    let liveness = program.liveness();
    let mut live = vec![0u8; program.temps()];
    let mut found = Vec::new();
    for (number, block) in liveness.blocks.iter().enumerate().rev() {
        for &(register, mask) in liveness.changes(number) {
            if let Some(temp) = register.checked_sub(ADDRESS_REGISTERS) {
                live[temp as usize] = mask;
            }
        }
        for place in (block.start..block.end).rev() {
            let access: &Access = &program.access[place];
            let target = access.written().and_then(|w| Some((w.temp()?, w.mask())));
            if program.stores_whole(access) {
                let after = target.map(|(temp, mask)| (live[temp] & mask, live[temp] & !mask));
                if after.is_none_or(|(_, others)| others != 0) {
                    found.push(Separate { place, is_read: after.is_none_or(|(result, _)| result != 0) });
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

fn apply(program: &mut Program, found: &[Separate]) {
    if found.is_empty() {
        return;
    }
    let mut next = found.iter().peekable();
    for (place, mut instruction) in program.take_instructions().into_iter().enumerate() {
        let separate = next.next_if(|s| s.place == place);
        let Some((separate, dst)) = separate.and_then(|s| Some((s, instruction.dst.first_mut()?))) else {
            program.push(instruction);
            continue;
        };
        let temp = Register::new(File::Temporary, program.new_temp() as i32);
        let target = std::mem::replace(dst, Dst::new(temp).masked(dst.write_mask));
        program.push(instruction);
        if separate.is_read {
            let mut copy = Instruction::new(Opcode::Mov);
            copy.dst.push(target);
            copy.src.push(Src::new(temp));
            program.push(copy);
        }
    }
}

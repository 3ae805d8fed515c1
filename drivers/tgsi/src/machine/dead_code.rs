//! Removes instructions, and components of results, that nobody reads.

use tgsi::tables::{File, Opcode};

use super::Program;
use super::flow::{Liveness, Numbering};
use super::operands::{for_each_read, has_effect, is_permutable, written};

/// Removes what is not needed. Returns whether anything changed.
pub(crate) fn remove_dead_code(program: &mut Program) -> bool {
    let numbering = Numbering::of(program);
    let liveness = Liveness::of(program);
    let mut dead = vec![false; program.instructions.len()];
    let mut changed = false;
    for (number, block) in liveness.blocks.iter().enumerate() {
        let mut live = liveness.live_out(number);
        for place in (block.start..block.end).rev() {
            let instruction = &mut program.instructions[place];
            if let Some((file, index, mask)) = written(instruction)
                && let Some(register) = numbering.number(file, index)
            {
                let mut needed = live.get(register) & mask;
                if needed == 0 && !has_effect(instruction) {
                    dead[place] = true;
                    changed = true;
                    continue;
                }
                // A load reads 0 everywhere unless all words up to its last lie in the buffer: the last stays.
                if instruction.opcode == Opcode::Load && needed != 0 {
                    needed |= 0x80u8.unbounded_shr(mask.leading_zeros());
                }
                // Results that come in pairs are written in pairs; loads and lookups may leave out what is not needed.
                let info = instruction.opcode.info();
                let narrow = is_permutable(instruction.opcode)
                    || (!info.is_store && !info.dst_type.is_64bit() && !info.src_types.iter().any(|t| t.is_64bit()));
                if needed != mask && needed != 0 && narrow && instruction.opcode != Opcode::Clock {
                    instruction.dst[0].write_mask = needed;
                    changed = true;
                }
                live.remove(register, mask);
            }
            // A copy of a register to itself.
            if instruction.opcode == Opcode::Mov
                && !instruction.saturate
                && instruction.dst[0].register == instruction.src[0].register
                && !instruction.src[0].negate
                && !instruction.src[0].absolute
                && matches!(instruction.dst[0].register.file, File::Temporary | File::Output)
                && instruction.dst[0].register.dimension.is_none()
                && instruction.dst[0].register.indirect.is_none()
                && (0..4u8).all(|c| {
                    instruction.dst[0].write_mask & 1 << c == 0 || instruction.src[0].swizzle[usize::from(c)] == c
                })
            {
                dead[place] = true;
                changed = true;
                if let Some((file, index, mask)) = written(instruction)
                    && let Some(register) = numbering.number(file, index)
                {
                    live.insert(register, mask);
                }
                continue;
            }
            for_each_read(instruction, |file, index, mask| {
                if let Some(register) = numbering.number(file, index) {
                    live.insert(register, mask);
                }
            });
        }
    }
    if changed {
        program.remove(&dead);
    }
    changed
}

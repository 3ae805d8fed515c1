//! Virtual temporaries are replaced by registers, and copies of a register to itself are gone.

use tgsi::shader::Instruction;
use tgsi::tables::{File, Opcode, OperandType};

use super::super::dead_code::is_no_copy;
use super::{Allocation, IDENTITY, register_of};
use crate::machine::Program;
use crate::machine::access::Access;
use crate::target::opcodes::{is_componentwise, is_replicated, moves_in_pairs};
use crate::target::virgl::doubles;

/// Replaces virtual temporaries by registers. With `drop_copies`, what copies a register to itself then goes.
pub(super) fn rewrite(program: &mut Program, allocation: &Allocation, drop_copies: bool) {
    let first_temp = program.first_temp;
    let mut dead: Vec<bool> = Vec::new();
    let count = program.instructions.len();
    let is_temp = |temp: usize| register_of(allocation.bundle_of[temp]).0 == File::Temporary;
    for (place, (instruction, access)) in program.instructions.iter_mut().zip(&mut program.access).enumerate() {
        let is_concerned = access.reads().iter().copied().chain(access.written()).any(|a| a.temp().is_some());
        if is_concerned || instruction.src.iter().any(|s| s.register.file == File::Temporary) {
            let is_spread = program.rules.is_single_double(access.opcode);
            if is_spread {
                doubles::spread(instruction);
            }
            rewrite_instruction(instruction, is_spread, allocation, first_temp);
            if drop_copies && access.opcode == Opcode::Mov && is_no_copy(instruction) {
                dead.resize(count, false);
                dead[place] = true;
            } else if access.reads().iter().copied().chain(access.written()).filter_map(|a| a.temp()).all(is_temp) {
                access.rename(instruction, |temp| (allocation.bundle_of[temp] - first_temp, allocation.place_of[temp]));
                debug_assert_eq!(*access, Access::of(instruction, first_temp));
            } else {
                *access = Access::of(instruction, first_temp);
            }
        }
    }
    if !dead.is_empty() {
        program.remove(&dead);
    }
    debug_assert!(
        program.instructions.iter().all(|i| {
            i.dst.first().is_none_or(|d| d.write_mask != 0 || i.opcode.info().dst_type == OperandType::None)
        })
    );
}

/// Number of a virtual temporary.
fn number(file: File, index: i32, first_temp: u32) -> Option<usize> {
    Some(u32::try_from(index).ok().filter(|_| file == File::Temporary)?.checked_sub(first_temp)? as usize)
}

/// Operands of an instruction that `is_spread` fit wherever the result is.
fn rewrite_instruction(instruction: &mut Instruction, is_spread: bool, allocation: &Allocation, first_temp: u32) {
    for src in instruction.src.iter_mut().filter(|s| s.register.indirect.is_none()) {
        if let Some(temp) = number(src.register.file, src.register.index, first_temp) {
            (src.register.file, src.register.index) = register_of(allocation.bundle_of[temp]);
            src.swizzle = src.swizzle.map(|c| allocation.place_of[temp][usize::from(c & 3)]);
        }
    }
    for offset in instruction.texture.iter_mut().flat_map(|t| &mut t.offsets) {
        if let Some(temp) = number(offset.file, offset.index, first_temp) {
            offset.index = allocation.bundle_of[temp] as i32;
            offset.swizzle = offset.swizzle.map(|c| allocation.place_of[temp][usize::from(c & 3)]);
        }
    }
    let opcode = instruction.opcode;
    let Some(dst) = instruction.dst.first_mut().filter(|d| d.register.indirect.is_none()) else { return };
    let Some(temp) = number(dst.register.file, dst.register.index, first_temp) else { return };
    (dst.register.file, dst.register.index) = register_of(allocation.bundle_of[temp]);
    let place = allocation.place_of[temp];
    if opcode == Opcode::Store || place == IDENTITY {
        return;
    }
    let old = dst.write_mask;
    let mask = (0..4).filter(|c| old & 1 << c != 0).fold(0, |m, c| m | 1 << place[c]);
    dst.write_mask = mask;
    if is_replicated(opcode) || is_spread {
        return;
    }
    if is_componentwise(opcode) {
        for src in &mut instruction.src {
            let swizzle = src.swizzle;
            for c in (0..4).filter(|c| old & 1 << c != 0) {
                src.swizzle[usize::from(place[c])] = swizzle[c];
            }
        }
    } else if moves_in_pairs(opcode) && place == [2, 3, 0, 1] {
        for src in &mut instruction.src {
            let [x, y, z, w] = src.swizzle;
            src.swizzle = [z, w, x, y];
        }
    }
}

//! Opcodes of doubles as virgl hosts interpret them: one result at a time, from the components in the first two letters
//! of a swizzle.
//!
//! ```text
//! DADD TEMP[0].zw, TEMP[1].xyxy, CONST[3].zwzw      z and w of TEMP[0] = x and y of TEMP[1] + z and w of CONST[3]
//! DSLT TEMP[0].y, TEMP[1], TEMP[1].zwzw             y of TEMP[0]
//! ```
//!
//! By TGSI's rules a result in z and w reads z and w of a swizzle. Operands with equal halves mean the same in both
//! interpretations, so that results may be anywhere: [`spread`] creates such operands. Hosts apply the swizzles of
//! these operands twice, which preserves `xyxy` and `zwzw`, and few others.

use tgsi::shader::{Instruction, Src};
use tgsi::tables::{Opcode, OperandType};

use crate::consumers::opcodes::is_narrowing;

/// Whether an operand or the result of an opcode is a double.
pub(crate) fn is_of_doubles(opcode: Opcode) -> bool {
    let info = opcode.info();
    info.dst_type == OperandType::Double || info.src_types.contains(&OperandType::Double)
}

/// The half of its operands that an instruction with one result reads by TGSI's rules: 0 for x and y. For a 32-bit
/// operand, x or y.
pub(crate) fn half_for(opcode: Opcode, mask: u8) -> usize {
    usize::from(!is_narrowing(opcode) && mask & 0b11 == 0)
}

/// The components of a double that an operand selects for a half.
pub(crate) fn pair_of(src: &Src, half: usize) -> [u8; 2] {
    [src.swizzle[2 * half] & 3, src.swizzle[2 * half + 1] & 3]
}

/// Whether hosts can read a double in these components.
pub(crate) fn is_readable(pair: [u8; 2]) -> bool {
    matches!(pair, [0, 1] | [2, 3])
}

/// Makes both halves of the operands of an instruction with one result equal.
pub(crate) fn spread(instruction: &mut Instruction) {
    let opcode = instruction.opcode;
    let Some(mask) = instruction.dst.first().map(|d| d.write_mask).filter(|_| is_of_doubles(opcode)) else { return };
    let half = half_for(opcode, mask);
    let types = opcode.info().src_types;
    for (number, src) in instruction.src.iter_mut().enumerate() {
        if types.get(number) == Some(&OperandType::Double) {
            let [a, b] = pair_of(src, half);
            src.swizzle = [a, b, a, b];
        } else {
            src.swizzle = [src.swizzle[half]; 4];
        }
    }
}

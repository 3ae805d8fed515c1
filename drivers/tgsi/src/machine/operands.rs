//! Queries and changes of instruction operands.

use tgsi::shader::{Instruction, Register, Src};
use tgsi::tables::{File, Opcode, OperandType};

use super::Immediates;
use crate::consumers::opcodes::{is_componentwise, is_narrowing};

/// Whether a register is accessed without index registers or dimension.
#[inline]
pub(crate) fn is_direct(register: &Register) -> bool {
    register.indirect.is_none() && register.dimension.is_none()
}

/// Applies the modifiers of `outer` to a source with modifiers.
pub(crate) fn apply_modifiers(outer: &Src, mut inner: Src) -> Src {
    if outer.absolute {
        inner.absolute = true;
        inner.negate = outer.negate;
    } else {
        inner.negate ^= outer.negate;
    }
    inner
}

/// Whether a source is a value (and not a sampler, image, buffer, ...).
pub(crate) fn is_value(src: &Src) -> bool {
    matches!(
        src.register.file,
        File::Temporary
            | File::Input
            | File::Output
            | File::Constant
            | File::Immediate
            | File::SystemValue
            | File::Address
    )
}

/// Whether two sources read the same register with the same modifiers.
pub(crate) fn same_register(a: &Src, b: &Src) -> bool {
    a.register == b.register && a.absolute == b.absolute && a.negate == b.negate
}

/// Moves channel `from[c]` of the result of a componentwise or replicated instruction to channel `c`, for the channels
/// of `mask`.
pub(crate) fn permute(instruction: &mut Instruction, mask: u8, from: [u8; 4]) {
    if is_componentwise(instruction.opcode) {
        let first = (0..4).find(|c| mask & 1 << c != 0).unwrap_or(0);
        for src in &mut instruction.src {
            let old = src.swizzle;
            for c in 0..4 {
                let channel = if mask & 1 << c != 0 { c } else { first };
                src.swizzle[c] = old[usize::from(from[channel] & 3)];
            }
        }
    }
    if let Some(dst) = instruction.dst.first_mut() {
        dst.write_mask = mask;
    }
}

/// Whether a source has no modifiers.
pub(crate) fn is_plain(src: &Src) -> bool {
    !src.absolute && !src.negate
}

/// Whether a source is an immediate without modifiers.
pub(crate) fn is_plain_immediate(src: &Src) -> bool {
    src.register.file == File::Immediate && is_plain(src)
}

/// Words that a source reads, if it is an immediate without modifiers.
pub(crate) fn immediate_words(immediates: &Immediates, src: &Src) -> Option<[u32; 4]> {
    is_plain_immediate(src).then(|| {
        let row = immediates.row(src.register.index);
        src.swizzle.map(|c| row[usize::from(c & 3)])
    })
}

/// Whether source `number` of an opcode is an immediate without modifiers, or with modifiers that can be applied to its
/// words.
pub(crate) fn is_immediate_value(opcode: Opcode, number: usize, src: &Src) -> bool {
    src.register.file == File::Immediate
        && (is_plain_immediate(src) || opcode.info().src_types.get(number) == Some(&OperandType::Float))
}

/// The words of such an immediate with its modifiers applied.
pub(crate) fn immediate_value(immediates: &Immediates, opcode: Opcode, number: usize, src: &Src) -> Option<[u32; 4]> {
    const SIGN: u32 = 0x8000_0000;
    is_immediate_value(opcode, number, src).then(|| {
        let row = immediates.row(src.register.index);
        src.swizzle.map(|c| {
            let word = row[usize::from(c & 3)];
            let word = if src.absolute { word & !SIGN } else { word };
            if src.negate { word ^ SIGN } else { word }
        })
    })
}

/// The components that a 64-bit instruction with two results writes with the first of them; none if it has only one.
pub(crate) fn first_half(instruction: &Instruction) -> u8 {
    let info = instruction.opcode.info();
    let Some(mask) = instruction.dst.first().map(|dst| dst.write_mask & 0xf) else { return 0 };
    let (xy, zw) = (mask & 0b0011, mask & 0b1100);
    let reads_wide = || info.src_types.iter().any(|t| t.is_64bit());
    if info.dst_type.is_64bit() {
        return if zw == 0 { 0 } else { xy };
    }
    let has_two = if is_narrowing(instruction.opcode) { mask.count_ones() > 1 } else { xy != 0 && zw != 0 };
    if has_two && reads_wide() { mask & mask.wrapping_neg() } else { 0 }
}

/// The components of a source that such an instruction reads for the second result.
pub(crate) fn read_by_second_half(instruction: &Instruction, source: usize) -> u8 {
    let Some(src) = instruction.src.get(source) else { return 0 };
    let is_wide = instruction.opcode.info().src_types.get(source).is_some_and(|t| t.is_64bit());
    src.swizzle.iter().skip(if is_wide { 2 } else { 0 }).fold(0, |mask, &c| mask | 1 << (c & 3))
}

/// Whether an instruction executed half by half would overwrite operands of its second half.
pub(crate) fn overwrites_itself(instruction: &Instruction) -> bool {
    let first = first_half(instruction);
    let Some(dst) = instruction.dst.first().filter(|_| first != 0) else { return false };
    instruction.src.iter().enumerate().any(|(source, src)| {
        let may_be_same = src.register.file == dst.register.file
            && (src.register.index == dst.register.index
                || src.register.indirect.is_some()
                || dst.register.indirect.is_some());
        may_be_same && read_by_second_half(instruction, source) & first != 0
    })
}

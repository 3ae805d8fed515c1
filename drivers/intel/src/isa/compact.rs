//! Compacted instructions: 64 bits, in which indices of tables replace most fields.
//!
//! | bits | contents |
//! |---|---|
//! | 0 to 6 | opcode |
//! | 7 | breakpoint |
//! | 8 to 12 | control fields, an index of [`CONTROL`] |
//! | 13 to 17 | files and types, an index of [`DATA_TYPE`] |
//! | 18 to 22 | offsets in registers, an index of [`SUBREGISTER`] |
//! | 23 | write of the accumulator |
//! | 24 to 27 | condition, function or receiver |
//! | 29 | 1 |
//! | 30 to 34 | first source, an index of [`SOURCE`] |
//! | 35 to 39 | second source, an index of [`SOURCE`]; or bits 8 to 12 of a constant |
//! | 40 to 47 | register of the destination |
//! | 48 to 55 | register of the first source |
//! | 56 to 63 | register of the second source; or bits 0 to 7 of a constant |
//!
//! Bit 12 of a constant is copied to the bits above it.

use super::bits::field;
use super::compact_table::{CONTROL, DATA_TYPE, SOURCE, SUBREGISTER};
use super::encode::{IMMEDIATE_FILE, encode};
use super::{Chip, Destination, Form, Immediate, Instruction, InvalidInstruction, Opcode, Source, Type};

/// The compacted form of an instruction that does nothing, which fills the space up to a multiple of 128 bits.
pub(super) const NOP: u64 = 1 << COMPACTED | 126;

/// The bit that marks compacted instructions.
const COMPACTED: u32 = 29;

/// The number of bits of a constant.
const CONSTANT_BITS: u32 = 13;

/// Whether either source is a constant.
fn has_constant(word: u128) -> bool {
    field(word, 38, 37) == IMMEDIATE_FILE || field(word, 43, 42) == IMMEDIATE_FILE
}

fn index(table: &[u32; 32], bits: u32) -> Option<u64> {
    Some(table.iter().position(|&entry| entry == bits)? as u64)
}

/// Returns the compacted form of a word, if it has one.
pub(super) fn compress(word: u128, form: Form) -> Option<u64> {
    let is_end = form == Form::Send && field(word, 127, 127) != 0;
    let has_other_bits = field(word, 95, 91) != 0 || field(word, 47, 47) != 0 || field(word, 7, 7) != 0;
    if form == Form::Ternary || is_end || has_other_bits {
        return None;
    }
    let control = field(word, 90, 89) << 17 | field(word, 31, 31) << 16 | field(word, 23, 8);
    let data_type = field(word, 63, 61) << 15 | field(word, 46, 32);
    let offsets = field(word, 68, 64) << 5 | field(word, 52, 48);
    let constant = field(word, 127, 96);
    let (offsets, second, last) = if has_constant(word) {
        let unused = 32 - CONSTANT_BITS;
        if (constant << unused) as i32 >> unused != constant as i32 {
            return None;
        }
        (offsets, constant >> 8 & 31, constant & 0xff)
    } else {
        if field(word, 127, 121) != 0 {
            return None;
        }
        let second = index(&SOURCE, field(word, 120, 109))? as u32;
        (offsets | field(word, 100, 96) << 10, second, field(word, 108, 101))
    };
    Some(
        u64::from(field(word, 6, 0))
            | u64::from(field(word, 30, 30)) << 7
            | index(&CONTROL, control)? << 8
            | index(&DATA_TYPE, data_type)? << 13
            | index(&SUBREGISTER, offsets)? << 18
            | u64::from(field(word, 28, 28)) << 23
            | u64::from(field(word, 27, 24)) << 24
            | 1 << COMPACTED
            | index(&SOURCE, field(word, 88, 77))? << 30
            | u64::from(second) << 35
            | u64::from(field(word, 60, 53)) << 40
            | u64::from(field(word, 76, 69)) << 48
            | u64::from(last) << 56,
    )
}

/// Returns the word of a compacted form.
pub(super) fn expand(compacted: u64, form: Form) -> Result<u128, InvalidInstruction> {
    let bits = u128::from(compacted);
    let get = |high, low| u128::from(field(bits, high, low));
    let entry = |table: &[u32; 32], low| u128::from(table[field(bits, low + 4, low) as usize]);
    let (control, data_type, offsets) = (entry(&CONTROL, 8), entry(&DATA_TYPE, 13), entry(&SUBREGISTER, 18));
    let mut word = get(6, 0)
        | (control & 0xffff) << 8
        | get(27, 24) << 24
        | get(23, 23) << 28
        | get(7, 7) << 30
        | (control >> 16 & 1) << 31
        | (data_type & 0x7fff) << 32
        | (offsets & 31) << 48
        | get(47, 40) << 53
        | data_type >> 15 << 61
        | (offsets >> 5 & 31) << 64
        | get(55, 48) << 69
        | entry(&SOURCE, 30) << 77
        | control >> 17 << 89;
    if has_constant(word) {
        let constant = get(39, 35) << 8 | get(63, 56);
        let unused = 32 - CONSTANT_BITS;
        word |= u128::from(((constant as u32) << unused) as i32 as u32 >> unused) << 96;
        if constant >> (CONSTANT_BITS - 1) != 0 {
            word |= u128::from(u32::MAX << CONSTANT_BITS) << 96;
        }
    } else {
        word |= offsets >> 10 << 96 | get(63, 56) << 101 | entry(&SOURCE, 35) << 109;
    }
    // A word may have several compacted forms, one of which the encoder uses.
    match compress(word, form) {
        Some(again) if again == compacted => Ok(word),
        Some(again) => Err(InvalidInstruction::Reserved("a compacted instruction", (again ^ compacted) as u32)),
        None => Err(InvalidInstruction::NotCompactable),
    }
}

/// Returns the compacted form of an instruction, if it has one. Moves of small signed constants become those of
/// unsigned constants, which have a compacted form.
pub fn compact(instruction: &Instruction, chip: Chip) -> Option<Instruction> {
    let mut compacted = Instruction { compacted: true, ..instruction.clone() };
    if let (Opcode::Mov, None, Some(Destination { ty: ty @ Type::D, .. }), [Source::Immediate(constant)]) =
        (compacted.opcode, compacted.condition, &mut compacted.destination, compacted.sources.as_mut_slice())
        && let Immediate::D(value) = *constant
    {
        *ty = Type::Ud;
        *constant = Immediate::Ud(value as u32);
    }
    encode(&compacted, chip, &mut Vec::with_capacity(2)).ok()?;
    Some(compacted)
}

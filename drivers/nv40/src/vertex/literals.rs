//! Literals: rows of constants after the uniforms.
//!
//! The words that an instruction reads are in one row. A literal and its negation share a word, and moves of only 0 or
//! 1 become `SFL` and `STR`, which read nothing.

use std::cmp::Reverse;

use arrayvec::ArrayVec;
use tgsi_vec4::simple::{File, Source};
use tgsi_vec4::{ConstantPool, Constants};

use crate::isa::EncodeError;
use crate::machine::{Code, MachineInstruction};
use crate::program::Literal;

/// The sign of a word.
const SIGN: u32 = 1 << 31;

/// An instruction, with the channels of each operand on which the result depends.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) instruction: MachineInstruction,
    pub(super) channels: [u8; 4],
}

/// The words that an operand reads, one for each channel of `channels`.
fn words(constants: &Constants, source: &Source, channels: u8) -> ArrayVec<u32, 4> {
    let row = constants.row(source.index);
    let is_read = |channel: &usize| channels >> channel & 1 != 0;
    (0..4).filter(is_read).map(|channel| row[usize::from(source.swizzle[channel] & 3)]).collect()
}

/// Whether a word is less than zero, or negative zero, so that its negation may replace it.
fn is_negative(word: u32) -> bool {
    word & SIGN != 0 && !f32::from_bits(word).is_nan()
}

/// Removes signs: returns the words that a row needs, and changes the modifiers of the operand.
fn without_signs(words: &mut [u32], source: &mut Source) {
    let is_number = words.iter().all(|&word| !f32::from_bits(word).is_nan());
    if source.absolute && is_number {
        words.iter_mut().for_each(|word| *word &= !SIGN);
        source.absolute = false;
    } else if !source.absolute && words.iter().all(|&word| is_negative(word)) {
        words.iter_mut().for_each(|word| *word &= !SIGN);
        source.negate = !source.negate;
    }
}

/// Replaces a move of only 0 or 1.
fn simplify(line: &mut Line, constants: &Constants) {
    let Some(source) = line.instruction.sources.first().copied() else { return };
    if line.instruction.op != Code::Mov.into() || source.file != File::Constant || source.relative.is_some() {
        return;
    }
    let mut words = words(constants, &source, line.channels[0]);
    for word in &mut words {
        *word &= if source.absolute { !SIGN } else { u32::MAX };
        *word ^= if source.negate { SIGN } else { 0 };
    }
    let is_all = |value: f32| words.iter().all(|&word| word == value.to_bits());
    let code = if is_all(0.0) {
        Code::Sfl
    } else if is_all(1.0) {
        Code::Str
    } else {
        return;
    };
    line.instruction.op = code.into();
    line.instruction.sources.clear();
}

/// Places the literals that an instruction reads in a row of the pool, without their signs where the operand can negate
/// them. Returns the row, and the components of each operand.
fn place_operands(
    pool: &mut ConstantPool,
    constants: &Constants,
    instruction: &mut MachineInstruction,
    channels: &[u8; 4],
    drops_signs: bool,
) -> Option<(u32, Vec<ArrayVec<u8, 4>>)> {
    let mut operands: ArrayVec<ArrayVec<u32, 4>, 4> = ArrayVec::new();
    for (source, &channels) in instruction.sources.iter_mut().zip(channels.iter()) {
        if source.file == File::Constant {
            let mut words = words(constants, source, channels);
            if drops_signs {
                without_signs(&mut words, source);
            }
            operands.push(words);
        }
    }
    let operands: ArrayVec<&[u32], 4> = operands.iter().map(|words| &words[..]).collect();
    pool.place_together(&operands)
}

/// Replaces literals by constants from `first` on, and returns their rows.
pub(super) fn place(lines: &mut [Line], constants: &Constants, first: u16) -> Result<Vec<Literal>, EncodeError> {
    let mut pool = ConstantPool::default();
    let mut order: Vec<(usize, usize)> = Vec::new();
    for (number, line) in lines.iter_mut().enumerate() {
        simplify(line, constants);
        let mut different: Vec<u32> = Vec::new();
        for (source, channels) in line.instruction.sources.iter().zip(line.channels) {
            if source.file == File::Constant {
                different.extend(words(constants, source, channels));
            }
        }
        different.sort_unstable();
        different.dedup();
        if !different.is_empty() {
            order.push((number, different.len()));
        }
    }
    // Rows are fuller if the instructions with most words come first.
    order.sort_by_key(|&(_, count)| Reverse(count));
    for (number, _) in order {
        let Line { instruction, channels } = &mut lines[number];
        let is_literal = |source: &Source| source.file == File::Constant;
        if instruction.sources.iter().any(|source| is_literal(source) && source.relative.is_some()) {
            return Err(EncodeError::Conflict("an index of literals"));
        }
        // A magnitude serves both signs. Only with the signs are the words surely those of one row.
        let mut plain = instruction.clone();
        let placed = place_operands(&mut pool, constants, instruction, channels, true).or_else(|| {
            std::mem::swap(instruction, &mut plain);
            place_operands(&mut pool, constants, instruction, channels, false)
        });
        let (row, places) = placed.ok_or(EncodeError::Conflict("two rows of literals"))?;
        let literals = instruction.sources.iter_mut().zip(channels.iter()).filter(|(source, _)| is_literal(source));
        for ((source, channels), places) in literals.zip(places) {
            source.file = File::Uniform;
            source.index = i32::from(first).saturating_add(row as i32);
            let read = (0..4).filter(|channel| *channels >> channel & 1 != 0);
            for (channel, place) in read.zip(places) {
                source.swizzle[channel] = place;
            }
        }
    }
    let rows = (u32::from(first)..).zip(pool.rows());
    rows.map(|(number, words)| {
        let constant = u16::try_from(number).map_err(|_| EncodeError::Range("constant", number, 1 << 16))?;
        Ok(Literal { constant, words })
    })
    .collect()
}

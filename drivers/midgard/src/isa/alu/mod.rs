//! Bundles of the ALU: up to five instructions in two stages, a branch and embedded constants.

mod branch;
mod modifier;
mod opcode;
mod scalar;
mod vector;

pub use branch::{Branch, BranchOp, CallMode, Condition, repeat};
pub use modifier::{Clamp, Extension, Narrow, OutputModifier, SourceModifier};
pub use opcode::{AluOp, AluRow, Input, Output, Property, Unit, Units};
pub use scalar::{Component, Scalar, ScalarOperand, ScalarSource};
pub use vector::{Expand, Shrink, Vector, VectorOperand, VectorSource};

use super::bits::{bit_fields, take, zero};
use super::{DecodeError, InvalidInstruction, Register, Tag};

/// Constants in a bundle, which its instructions read as r26.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Constants(pub [u32; 4]);

/// A bundle of the ALU.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AluBundle {
    /// The instruction of the vector multiplier.
    pub vmul: Option<Vector>,
    /// The instruction of the scalar adder.
    pub sadd: Option<Scalar>,
    /// The instruction of the vector adder.
    pub vadd: Option<Vector>,
    /// The instruction of the scalar multiplier.
    pub smul: Option<Scalar>,
    /// The instruction of the table unit.
    pub vlut: Option<Vector>,
    /// The branch, executed last.
    pub branch: Option<Branch>,
    /// The embedded constants.
    pub constants: Option<Constants>,
    /// Whether the tag is one of those for bundles with a write-out.
    pub is_writeout: bool,
}

/// An instruction of one unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UnitInstruction<'b> {
    /// Of a vector unit.
    Vector(&'b Vector),
    /// Of a scalar unit.
    Scalar(&'b Scalar),
}

bit_fields! {
    /// The word with the registers of an instruction.
    RegisterWord { first: 5, second: 5, destination: 5, is_immediate: 1, }
}

/// The bits of the control word for branches.
const COMPACT_BRANCH: u32 = 1 << 26;
const EXTENDED_BRANCH: u32 = 1 << 27;

/// Distributes the lowest bits: each part states the shift and the width of the next bits.
fn scatter(mut bits: u32, parts: &[(u32, u32)]) -> u16 {
    let mut value = 0;
    for &(shift, width) in parts {
        value |= (bits & ((1 << width) - 1)) << shift;
        bits >>= width;
    }
    value as u16
}

/// The inverse of [`scatter`].
fn gather(value: u16, parts: &[(u32, u32)]) -> u32 {
    let part = |&(shift, width): &(u32, u32)| u32::from(value) >> shift & ((1 << width) - 1);
    parts.iter().rev().fold(0, |bits, at| bits << at.1 | part(at))
}

impl AluBundle {
    /// The instructions in the order of their words.
    pub fn instructions(&self) -> impl Iterator<Item = (Unit, UnitInstruction<'_>)> {
        let all = [
            (Unit::Vmul, self.vmul.as_ref().map(UnitInstruction::Vector)),
            (Unit::Sadd, self.sadd.as_ref().map(UnitInstruction::Scalar)),
            (Unit::Vadd, self.vadd.as_ref().map(UnitInstruction::Vector)),
            (Unit::Smul, self.smul.as_ref().map(UnitInstruction::Scalar)),
            (Unit::Vlut, self.vlut.as_ref().map(UnitInstruction::Vector)),
        ];
        all.into_iter().filter_map(|(unit, instruction)| Some((unit, instruction?)))
    }

    /// The number of 16-bit parts without padding and constants.
    fn parts(&self) -> u32 {
        let instructions = self.instructions().map(|(unit, _)| 1 + body_parts(unit)).sum::<u32>();
        2 + instructions + self.branch.map_or(0, |branch| if branch.is_extended() { 3 } else { 1 })
    }

    /// The number of 16-byte words.
    pub fn quadwords(&self) -> u32 {
        self.parts().div_ceil(8) + u32::from(self.constants.is_some())
    }

    /// The tag.
    pub fn tag(&self) -> Option<Tag> {
        Tag::alu(self.quadwords(), self.is_writeout)
    }

    fn reads_constants(&self) -> bool {
        self.instructions().any(|(_, instruction)| match instruction {
            UnitInstruction::Vector(vector) => vector.sources().any(|source| source == Register::CONSTANTS),
            UnitInstruction::Scalar(scalar) => scalar.sources().any(|source| source == Register::CONSTANTS),
        })
    }

    /// Appends the words; tags are those of the caller.
    pub(super) fn encode(&self, tags: u32, words: &mut Vec<u32>) -> Result<(), InvalidInstruction> {
        if self.constants.is_none() && self.reads_constants() {
            return Err(InvalidInstruction::NoConstants);
        }
        let mut control = tags;
        let (mut registers, mut bodies) = (Vec::new(), Vec::new());
        for (unit, instruction) in self.instructions() {
            let (word, body) = match instruction {
                UnitInstruction::Vector(vector) => vector.encode()?,
                UnitInstruction::Scalar(scalar) => scalar.encode()?,
            };
            control |= unit.enable();
            registers.push(word.to_bits() as u16);
            push_parts(&mut bodies, body, body_parts(unit));
        }
        if let Some(branch) = &self.branch {
            control |= if branch.is_extended() { EXTENDED_BRANCH } else { COMPACT_BRANCH };
            push_parts(&mut bodies, branch.encode()?, if branch.is_extended() { 3 } else { 1 });
        }
        let mut parts = vec![control as u16, (control >> 16) as u16];
        parts.append(&mut registers);
        parts.append(&mut bodies);
        parts.resize(parts.len().next_multiple_of(8), 0);
        words.extend(parts.chunks(2).map(|pair| pair.iter().rev().fold(0, |word, &part| word << 16 | u32::from(part))));
        words.extend(self.constants.iter().flat_map(|constants| constants.0));
        Ok(())
    }

    /// Reads the words of a bundle with the length that its tag states.
    pub(super) fn decode(words: &[u32], is_writeout: bool) -> Result<AluBundle, DecodeError> {
        let control = words.first().copied().unwrap_or_default();
        let mut parts = Parts { words, next: 2 };
        let mut bundle = AluBundle { is_writeout, ..AluBundle::default() };
        let units = || Unit::ALL.into_iter().filter(|unit| control & unit.enable() != 0);
        let known = units().fold(COMPACT_BRANCH | EXTENDED_BRANCH | 0xff, |bits, unit| bits | unit.enable());
        zero("the control word", control & !known).map_err(|error| error.at(0))?;
        if control & COMPACT_BRANCH != 0 && control & EXTENDED_BRANCH != 0 {
            return Err(InvalidInstruction::Conflict("two branches").at(0));
        }
        let registers: Vec<_> = units().map(|_| RegisterWord::from_bits(parts.take(1))).collect();
        for (unit, word) in units().zip(registers) {
            let position = parts.word();
            let body = parts.take(body_parts(unit));
            let at = |error: InvalidInstruction| error.at(position);
            match unit {
                Unit::Vmul => bundle.vmul = Some(Vector::decode(word, body).map_err(at)?),
                Unit::Sadd => bundle.sadd = Some(Scalar::decode(word, body).map_err(at)?),
                Unit::Vadd => bundle.vadd = Some(Vector::decode(word, body).map_err(at)?),
                Unit::Smul => bundle.smul = Some(Scalar::decode(word, body).map_err(at)?),
                Unit::Vlut => bundle.vlut = Some(Vector::decode(word, body).map_err(at)?),
            }
        }
        let position = parts.word();
        if control & COMPACT_BRANCH != 0 {
            bundle.branch = Some(Branch::decode_compact(parts.take(1) as u16).map_err(|error| error.at(position))?);
        } else if control & EXTENDED_BRANCH != 0 {
            bundle.branch = Some(Branch::decode_extended(parts.take(3)).map_err(|error| error.at(position))?);
        }
        bundle.finish(parts)
    }

    /// Reads padding and constants, and checks the length.
    fn finish(mut self, mut parts: Parts<'_>) -> Result<AluBundle, DecodeError> {
        let stated = (parts.words.len() / 4) as u32;
        let needed = self.parts().div_ceil(8);
        if stated != needed && stated != needed + 1 {
            return Err(InvalidInstruction::Length(stated, needed).at(0));
        }
        while !parts.next.is_multiple_of(8) {
            let position = parts.word();
            zero("padding", parts.take(1) as u32).map_err(|error| error.at(position))?;
        }
        if stated > needed {
            self.constants = parts.words.last_chunk().map(|&constants| Constants(constants));
        }
        if self.constants.is_none() && self.reads_constants() {
            return Err(InvalidInstruction::NoConstants.at(0));
        }
        Ok(self)
    }
}

/// The number of 16-bit parts of an instruction, without its registers.
fn body_parts(unit: Unit) -> u32 {
    if unit.is_scalar() { 2 } else { 3 }
}

fn push_parts(parts: &mut Vec<u16>, bits: u64, count: u32) {
    let mut bits = bits.into();
    parts.extend((0..count).map(|_| take(&mut bits, 16) as u16));
}

/// Words as 16-bit parts. Parts beyond the end are zero; the length is checked after the last part.
struct Parts<'w> {
    words: &'w [u32],
    next: usize,
}

impl Parts<'_> {
    fn word(&self) -> usize {
        self.next / 2
    }

    fn take(&mut self, count: u32) -> u64 {
        let mut bits = 0;
        for index in 0..count {
            let word = self.words.get(self.next / 2).copied().unwrap_or_default();
            bits |= u64::from(word >> (self.next % 2 * 16) & 0xffff) << (16 * index);
            self.next += 1;
        }
        bits
    }
}

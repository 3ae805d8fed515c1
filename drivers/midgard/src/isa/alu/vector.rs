//! Instructions of vector units.

use super::modifier::{OutputModifier, SourceModifier};
use super::opcode::{AluOp, AluRow};
use super::{RegisterWord, scatter};
use crate::isa::bits::{bit_fields, enumeration, zero};
use crate::isa::{InvalidInstruction, Register, Swizzle, Width};

enumeration! {
    /// The half of a register from which each half of a source is taken, before the swizzle.
    Expand {
        None = 0 "" "Each half is its own.";
        ReplicateLow = 1 "rep_low" "Both halves are the low half (8 and 16 bits).";
        ReplicateHigh = 2 "rep_high" "Both halves are the high half (8 and 16 bits).";
        Swap = 3 "swap" "The halves are exchanged (8 and 16 bits).";
        Low = 4 "expand_low" "The low half, each component expanded to twice its width (16 bits and more).";
        High = 5 "expand_high" "The high half, expanded (16 bits and more).";
        LowSwap = 6 "expand_low_swap" "The low half, expanded, then the halves are exchanged (16 bits).";
        HighSwap = 7 "expand_high_swap" "The high half, expanded, then the halves are exchanged (16 bits).";
    }
}

impl Expand {
    /// Whether components are expanded to twice their width.
    pub fn expands(self) -> bool {
        self.code() >= Expand::Low.code()
    }

    /// Whether the mode exists for instructions of a width.
    pub fn is_valid_for(self, width: Width) -> bool {
        match self {
            Expand::None => true,
            Expand::ReplicateLow | Expand::ReplicateHigh | Expand::Swap => matches!(width, Width::W8 | Width::W16),
            Expand::Low | Expand::High => width != Width::W8,
            Expand::LowSwap | Expand::HighSwap => width == Width::W16,
        }
    }
}

enumeration! {
    /// The half of the destination that receives a result of half the width.
    Shrink {
        Lower = 0 "lower" "The lower half.";
        Upper = 1 "upper" "The upper half.";
    }
}

/// The number of the shrink mode for results of the full width.
const NO_SHRINK: u32 = 2;

/// A source of a vector unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VectorSource {
    /// The register.
    pub register: Register,
    /// The modifier.
    pub modifier: SourceModifier,
    /// Halves and expansion.
    pub expand: Expand,
    /// The selectors, applied in each half for widths of 8 and 16 bits; with 64 bits, two to a component.
    pub swizzle: Swizzle,
}

impl VectorSource {
    /// A register without modifiers.
    pub fn new(op: AluOp, register: Register) -> VectorSource {
        VectorSource {
            register,
            modifier: SourceModifier::none(op.row()),
            expand: Expand::None,
            swizzle: Swizzle::IDENTITY,
        }
    }

    /// The components of the register from which a component is taken: their width, and the numbers of its lower and
    /// upper half, which are equal except for 64 bits.
    pub fn parts(&self, width: Width, index: u32) -> (Width, [u32; 2]) {
        let expands = self.expand.expands();
        let upper = |offset| if self.expand == Expand::High { offset } else { 0 };
        let twice = |part| [part, part];
        match width {
            // Of each pair of selectors, the upper bit selects.
            Width::W64 if expands => (Width::W32, twice(self.swizzle.get(2 * index) / 2 + upper(2))),
            Width::W64 => (Width::W32, [0, 1].map(|part| self.swizzle.get(2 * index + part))),
            Width::W32 if expands => (Width::W16, twice(self.swizzle.get(index) + upper(4))),
            Width::W32 => (Width::W32, twice(self.swizzle.get(index))),
            Width::W16 => {
                let first = self.halves(width)[index as usize / 4 % 2];
                (if expands { Width::W8 } else { Width::W16 }, twice(first + self.swizzle.get(index)))
            }
            Width::W8 => {
                let first = self.halves(width)[index as usize / 8 % 2];
                (Width::W8, twice(first + 2 * self.swizzle.get(index / 2) + index % 2))
            }
        }
    }

    /// The components in which the halves begin, for widths of 8 and 16 bits.
    fn halves(&self, width: Width) -> [u32; 2] {
        let middle = if width == Width::W8 { 8 } else { 4 };
        match self.expand {
            Expand::None => [0, middle],
            Expand::ReplicateLow => [0, 0],
            Expand::ReplicateHigh => [middle, middle],
            Expand::Swap => [middle, 0],
            // Components of 8 bits.
            Expand::Low => [0, 4],
            Expand::High => [8, 12],
            Expand::LowSwap => [4, 0],
            Expand::HighSwap => [12, 8],
        }
    }

    fn from_bits(row: &AluRow, bits: u32, register: u32) -> Result<VectorSource, InvalidInstruction> {
        let raw = RawSource::from_bits(bits);
        let expand = Expand::from_code(raw.expand).ok_or(InvalidInstruction::Field("expand mode", raw.expand))?;
        Ok(VectorSource {
            register: Register::from_bits(register),
            modifier: SourceModifier::from_bits(row, raw.modifier),
            expand,
            swizzle: Swizzle(raw.swizzle as u8),
        })
    }

    fn to_bits(self, row: &AluRow, width: Width) -> Result<u32, InvalidInstruction> {
        if !self.expand.is_valid_for(width) {
            return Err(InvalidInstruction::Field("expand mode", self.expand.code()));
        }
        let raw = RawSource {
            modifier: self.modifier.to_bits(row)?,
            expand: self.expand.code(),
            swizzle: self.swizzle.0.into(),
        };
        Ok(raw.to_bits() as u32)
    }
}

/// The second operand of a vector unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VectorOperand {
    /// A register.
    Source(VectorSource),
    /// A number, for all components: a half float for float inputs.
    Immediate(u16),
}

impl From<VectorSource> for VectorOperand {
    fn from(source: VectorSource) -> VectorOperand {
        VectorOperand::Source(source)
    }
}

/// An instruction of a vector unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vector {
    /// The opcode.
    pub op: AluOp,
    /// The width of components.
    pub width: Width,
    /// The destination.
    pub destination: Register,
    /// The half that receives the result, if its components have half the width.
    pub shrink: Option<Shrink>,
    /// The modifier of the result.
    pub output: OutputModifier,
    /// The written parts, one bit for two bytes of the result before it shrinks.
    pub mask: u8,
    /// The first operand.
    pub first: VectorSource,
    /// The second operand.
    pub second: VectorOperand,
}

bit_fields! {
    /// The bits of an instruction.
    RawVector { op: 8, width: 2, first: 13, second: 13, shrink: 2, output: 2, mask: 8, }
}

bit_fields! {
    /// The bits of a source.
    RawSource { modifier: 2, expand: 3, swizzle: 8, }
}

/// The bits of an immediate, from the lowest bit of the field up; the highest five are the register.
const IMMEDIATE: [(u32, u32); 2] = [(8, 3), (0, 8)];

impl Vector {
    /// An instruction on four components of 32 bits. Opcodes that reduce components write the first.
    pub fn new(op: AluOp, destination: Register, first: VectorSource, second: VectorOperand) -> Vector {
        Vector {
            op,
            width: Width::W32,
            destination,
            shrink: None,
            output: OutputModifier::none(op.row()),
            mask: if op.row().reduces == 0 { 0xff } else { 3 },
            first,
            second,
        }
    }

    /// The written components, one bit each, as the disassembler and dot products count them: a component is written
    /// if its first part is.
    pub fn components(&self) -> u32 {
        let parts = (self.width.bits() / 16).max(1);
        let written = |part: u32| u32::from(self.mask) >> part & 1;
        match self.width {
            Width::W8 => (0..16).fold(0, |mask, component| mask | written(component / 2) << component),
            width => (0..width.components()).fold(0, |mask, component| mask | written(component * parts) << component),
        }
    }

    /// The written bytes of the destination, one bit each.
    pub fn written_bytes(&self) -> u16 {
        let bytes = self.width.bits() / 8;
        let (bytes, first) = match self.shrink {
            None => (bytes, 0),
            Some(Shrink::Lower) => (bytes / 2, 0),
            Some(Shrink::Upper) => (bytes / 2, 8),
        };
        let components = self.components();
        let part =
            |index: u32| if components >> index & 1 != 0 { ((1 << bytes) - 1) << (first + index * bytes) } else { 0 };
        (0..self.width.components()).map(part).fold(0, |all, part: u32| all | part as u16)
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = Register> {
        let second = match self.second {
            VectorOperand::Source(source) => Some(source.register),
            VectorOperand::Immediate(_) => None,
        };
        [Some(self.first.register), second].into_iter().flatten()
    }

    pub(crate) fn decode(word: RegisterWord, body: u64) -> Result<Vector, InvalidInstruction> {
        let raw = RawVector::from_bits(body);
        let op = AluOp::from_code(raw.op).ok_or(InvalidInstruction::Opcode("ALU", raw.op))?;
        let row = op.row();
        let second = if word.is_immediate == 0 {
            VectorOperand::Source(VectorSource::from_bits(row, raw.second, word.second)?)
        } else {
            zero("the source of an immediate", raw.second & 3)?;
            VectorOperand::Immediate(scatter(raw.second >> 2, &IMMEDIATE) | (word.second as u16) << 11)
        };
        let shrink = match raw.shrink {
            NO_SHRINK => None,
            mode => Some(Shrink::from_code(mode).ok_or(InvalidInstruction::Field("shrink mode", mode))?),
        };
        let vector = Vector {
            op,
            width: Width::from_code(raw.width).ok_or(InvalidInstruction::Field("width", raw.width))?,
            destination: Register::from_bits(word.destination),
            shrink,
            output: OutputModifier::from_bits(row, raw.output)?,
            mask: raw.mask as u8,
            first: VectorSource::from_bits(row, raw.first, word.first)?,
            second,
        };
        // The encoder has the remaining rules.
        vector.encode()?;
        Ok(vector)
    }

    pub(crate) fn encode(&self) -> Result<(RegisterWord, u64), InvalidInstruction> {
        let row = self.op.row();
        if self.shrink.is_some() && self.width == Width::W8 {
            return Err(InvalidInstruction::Conflict("a shrunk result of 8 bits"));
        }
        if row.reduces != 0 && self.components().count_ones() != 1 {
            return Err(InvalidInstruction::Conflict("a reduction to several components"));
        }
        let (second, second_register) = match self.second {
            VectorOperand::Source(source) => (source.to_bits(row, self.width)?, source.register.number().into()),
            VectorOperand::Immediate(value) => (super::gather(value, &IMMEDIATE) << 2, u32::from(value >> 11)),
        };
        let raw = RawVector {
            op: row.code.into(),
            width: self.width.code(),
            first: self.first.to_bits(row, self.width)?,
            second,
            shrink: self.shrink.map_or(NO_SHRINK, Shrink::code),
            output: self.output.to_bits(row, self.shrink.is_some())?,
            mask: self.mask.into(),
        };
        let word = RegisterWord {
            first: self.first.register.number().into(),
            second: second_register,
            destination: self.destination.number().into(),
            is_immediate: matches!(self.second, VectorOperand::Immediate(_)).into(),
        };
        Ok((word, raw.to_bits() as u64))
    }
}

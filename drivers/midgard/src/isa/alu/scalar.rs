//! Instructions of scalar units.

use super::modifier::{OutputModifier, SourceModifier};
use super::opcode::{AluOp, AluRow};
use super::{RegisterWord, gather, scatter};
use crate::isa::bits::{bit_fields, zero};
use crate::isa::{InvalidInstruction, Register};

/// A part of a register that scalar units read or write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Component {
    /// One of 8 components of 16 bits.
    Half(u8),
    /// One of 4 components of 32 bits.
    Full(u8),
}

impl Component {
    /// Whether the component has 32 bits.
    pub fn is_full(self) -> bool {
        matches!(self, Component::Full(_))
    }

    /// The index of the component.
    pub fn index(self) -> u8 {
        match self {
            Component::Half(index) | Component::Full(index) => index,
        }
    }

    fn from_bits(is_full: u32, component: u32) -> Result<Component, InvalidInstruction> {
        match (is_full, component % 2) {
            (0, _) => Ok(Component::Half(component as u8)),
            (_, 0) => Ok(Component::Full(component as u8 / 2)),
            _ => Err(InvalidInstruction::Field("component of 32 bits", component)),
        }
    }

    fn to_bits(self) -> Result<u32, InvalidInstruction> {
        match self {
            Component::Half(index @ 0..8) => Ok(index.into()),
            Component::Full(index @ 0..4) => Ok(u32::from(index) * 2),
            _ => Err(InvalidInstruction::Field("component", self.index().into())),
        }
    }
}

/// A source of a scalar unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScalarSource {
    /// The register.
    pub register: Register,
    /// The component; one of 16 bits is expanded.
    pub component: Component,
    /// The modifier.
    pub modifier: SourceModifier,
}

impl ScalarSource {
    /// A component of 32 bits without modifiers.
    pub fn new(op: AluOp, register: Register, component: u8) -> ScalarSource {
        ScalarSource { register, component: Component::Full(component), modifier: SourceModifier::none(op.row()) }
    }

    fn from_bits(row: &AluRow, bits: u32, register: u32) -> Result<ScalarSource, InvalidInstruction> {
        let raw = RawSource::from_bits(bits);
        zero("a scalar source", raw.reserved)?;
        Ok(ScalarSource {
            register: Register::from_bits(register),
            component: Component::from_bits(raw.is_full, raw.component)?,
            modifier: SourceModifier::from_bits(row, raw.modifier),
        })
    }

    fn to_bits(self, row: &AluRow) -> Result<u32, InvalidInstruction> {
        let raw = RawSource {
            modifier: self.modifier.to_bits(row)?,
            is_full: self.component.is_full().into(),
            component: self.component.to_bits()?,
            reserved: 0,
        };
        Ok(raw.to_bits() as u32)
    }
}

/// The second operand of a scalar unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ScalarOperand {
    /// A register.
    Source(ScalarSource),
    /// A number: a half float for float inputs.
    Immediate(u16),
}

impl From<ScalarSource> for ScalarOperand {
    fn from(source: ScalarSource) -> ScalarOperand {
        ScalarOperand::Source(source)
    }
}

/// An instruction of a scalar unit, which computes with 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Scalar {
    /// The opcode.
    pub op: AluOp,
    /// The destination.
    pub destination: Register,
    /// The written component; for one of 16 bits the result is narrowed.
    pub component: Component,
    /// The modifier of the result.
    pub output: OutputModifier,
    /// The first operand.
    pub first: ScalarSource,
    /// The second operand.
    pub second: ScalarOperand,
}

bit_fields! {
    /// The bits of an instruction.
    RawScalar { op: 8, first: 6, second: 11, reserved: 1, output: 2, is_full: 1, component: 3, }
}

bit_fields! {
    /// The bits of a source.
    RawSource { modifier: 2, is_full: 1, component: 3, reserved: 5, }
}

/// The bits of an immediate, from the lowest bit of the field up; the highest five are the register.
const IMMEDIATE: [(u32, u32); 4] = [(9, 2), (8, 1), (5, 3), (0, 5)];

impl Scalar {
    /// An instruction that writes a component of 32 bits.
    pub fn new(
        op: AluOp,
        destination: Register,
        component: u8,
        first: ScalarSource,
        second: impl Into<ScalarOperand>,
    ) -> Scalar {
        Scalar {
            op,
            destination,
            component: Component::Full(component),
            output: OutputModifier::none(op.row()),
            first,
            second: second.into(),
        }
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = Register> {
        let second = match self.second {
            ScalarOperand::Source(source) => Some(source.register),
            ScalarOperand::Immediate(_) => None,
        };
        [Some(self.first.register), second].into_iter().flatten()
    }

    pub(crate) fn decode(word: RegisterWord, body: u64) -> Result<Scalar, InvalidInstruction> {
        let raw = RawScalar::from_bits(body);
        let op = AluOp::from_code(raw.op).ok_or(InvalidInstruction::Opcode("ALU", raw.op))?;
        let row = op.row();
        zero("a scalar instruction", raw.reserved)?;
        let second = if word.is_immediate == 0 {
            ScalarOperand::Source(ScalarSource::from_bits(row, raw.second, word.second)?)
        } else {
            ScalarOperand::Immediate(scatter(raw.second, &IMMEDIATE) | (word.second as u16) << 11)
        };
        let scalar = Scalar {
            op,
            destination: Register::from_bits(word.destination),
            component: Component::from_bits(raw.is_full, raw.component)?,
            output: OutputModifier::from_bits(row, raw.output)?,
            first: ScalarSource::from_bits(row, raw.first, word.first)?,
            second,
        };
        // The encoder has the remaining rules.
        scalar.encode()?;
        Ok(scalar)
    }

    pub(crate) fn encode(&self) -> Result<(RegisterWord, u64), InvalidInstruction> {
        let row = self.op.row();
        let (second, second_register) = match self.second {
            ScalarOperand::Source(source) => (source.to_bits(row)?, source.register.number().into()),
            ScalarOperand::Immediate(value) => (gather(value, &IMMEDIATE), u32::from(value >> 11)),
        };
        let raw = RawScalar {
            op: row.code.into(),
            first: self.first.to_bits(row)?,
            second,
            reserved: 0,
            output: self.output.to_bits(row, !self.component.is_full())?,
            is_full: self.component.is_full().into(),
            component: self.component.to_bits()?,
        };
        let word = RegisterWord {
            first: self.first.register.number().into(),
            second: second_register,
            destination: self.destination.number().into(),
            is_immediate: matches!(self.second, ScalarOperand::Immediate(_)).into(),
        };
        Ok((word, raw.to_bits() as u64))
    }
}

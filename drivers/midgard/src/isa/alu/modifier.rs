//! Modifiers of sources and results.

use super::opcode::{AluRow, Output};
use crate::isa::InvalidInstruction;
use crate::isa::bits::enumeration;

enumeration! {
    /// The effect on integer sources that are expanded to twice their width. Without expansion it is not used.
    Extension {
        Signed = 0 ".sext" "Sign extension.";
        Zero = 1 ".zext" "Zero extension.";
        Replicate = 2 ".replicate" "Both halves are the source.";
        ShiftLeft = 3 ".lshift" "The high half is the source, the low half zero.";
    }
}

/// The modifier of a source. Its kind is that of the opcode's input.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SourceModifier {
    /// Of a float, after expansion.
    Float {
        /// The absolute value, before negation.
        abs: bool,
        /// The negated value.
        negate: bool,
    },
    /// Of an integer.
    Integer(Extension),
}

impl SourceModifier {
    /// The modifier without effect.
    pub fn none(row: &AluRow) -> SourceModifier {
        SourceModifier::from_bits(row, 0)
    }

    pub(crate) fn from_bits(row: &AluRow, bits: u32) -> SourceModifier {
        match Extension::from_code(bits & 3) {
            Some(extension) if row.input.is_integer() => SourceModifier::Integer(extension),
            _ => SourceModifier::Float { abs: bits & 1 != 0, negate: bits & 2 != 0 },
        }
    }

    pub(crate) fn to_bits(self, row: &AluRow) -> Result<u32, InvalidInstruction> {
        match self {
            SourceModifier::Float { abs, negate } if !row.input.is_integer() => {
                Ok(u32::from(abs) | u32::from(negate) << 1)
            }
            SourceModifier::Integer(extension) if row.input.is_integer() => Ok(extension.code()),
            _ => Err(InvalidInstruction::Conflict("a modifier and an opcode of another type")),
        }
    }
}

enumeration! {
    /// A limit of float results. NaN becomes the lower bound.
    Clamp {
        None = 0 "" "None.";
        Positive = 1 ".clamp_0_inf" "At least 0.";
        Signed = 2 ".clamp_m1_1" "From -1 to 1.";
        Unit = 3 ".clamp_0_1" "From 0 to 1.";
    }
}

enumeration! {
    /// The conversion of integer results to half of their width. Without it the value is [`Narrow::Low`].
    Narrow {
        SignedSaturate = 0 ".ssat" "Saturation to the signed range.";
        UnsignedSaturate = 1 ".usat" "Saturation to the unsigned range.";
        Low = 2 ".keeplo" "The low half.";
        High = 3 ".keephi" "The high half.";
    }
}

/// The modifier of a result. Its kind is that of the opcode's output.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OutputModifier {
    /// Of a float.
    Float(Clamp),
    /// Of an integer.
    Integer(Narrow),
}

impl OutputModifier {
    /// The modifier without effect.
    pub fn none(row: &AluRow) -> OutputModifier {
        match row.output {
            Output::Float => OutputModifier::Float(Clamp::None),
            Output::Integer => OutputModifier::Integer(Narrow::Low),
        }
    }

    pub(crate) fn from_bits(row: &AluRow, bits: u32) -> Result<OutputModifier, InvalidInstruction> {
        let invalid = InvalidInstruction::Field("output modifier", bits);
        match row.output {
            Output::Float => Clamp::from_code(bits).map(OutputModifier::Float).ok_or(invalid),
            Output::Integer => Narrow::from_code(bits).map(OutputModifier::Integer).ok_or(invalid),
        }
    }

    /// The bits, for a result with the full or half of the width.
    pub(crate) fn to_bits(self, row: &AluRow, is_narrowed: bool) -> Result<u32, InvalidInstruction> {
        match (self, row.output) {
            (OutputModifier::Float(clamp), Output::Float) => Ok(clamp.code()),
            (OutputModifier::Integer(narrow), Output::Integer) if is_narrowed || narrow == Narrow::Low => {
                Ok(narrow.code())
            }
            (OutputModifier::Integer(narrow), Output::Integer) => {
                Err(InvalidInstruction::Field("output modifier", narrow.code()))
            }
            _ => Err(InvalidInstruction::Conflict("a modifier and an opcode of another type")),
        }
    }
}

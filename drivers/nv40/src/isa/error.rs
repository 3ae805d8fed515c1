//! Errors of encoders and decoders.

use super::Chip;

use thiserror::Error;

/// An instruction that a chip cannot encode.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The chip lacks an opcode or a feature.
    #[error("{0} has no {1}")]
    Lacks(Chip, &'static str),
    /// A number out of range: its kind, the number, the limit.
    #[error("{0} {1} is not below {2}")]
    Range(&'static str, u32, u32),
    /// The opcode needs a field that is `None`.
    #[error("the instruction needs {0}")]
    Missing(&'static str),
    /// The opcode has no use for a field that is `Some`.
    #[error("the instruction has no use for {0}")]
    Unused(&'static str),
    /// Two fields with different values share bits, or one excludes the other.
    #[error("the encoding excludes {0}")]
    Conflict(&'static str),
}

/// Words that are not a known instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// An opcode that is unknown, or that the chip lacks: the unit and the number.
    #[error("{0} opcode {1:#04x} is unknown")]
    Opcode(&'static str, u32),
    /// Bits without a known meaning: the number of the word and the bits.
    #[error("bits {1:#010x} of word {0} have no known meaning")]
    Reserved(u8, u32),
    /// A field with an invalid value: its kind and the value.
    #[error("{0} {1} is invalid")]
    Field(&'static str, u32),
    /// The words end within an instruction.
    #[error("the words end within an instruction")]
    Truncated,
}

impl EncodeError {
    /// Returns a number below a limit, or an error.
    pub(crate) fn below(what: &'static str, number: impl Into<u32>, limit: impl Into<u32>) -> Result<u32, EncodeError> {
        let (number, limit) = (number.into(), limit.into());
        if number < limit { Ok(number) } else { Err(EncodeError::Range(what, number, limit)) }
    }

    /// Returns an error if a field is present without a use, or absent with one.
    pub(crate) fn unless_used(is_present: bool, is_used: bool, what: &'static str) -> Result<(), EncodeError> {
        match (is_present, is_used) {
            (true, false) => Err(EncodeError::Unused(what)),
            (false, true) => Err(EncodeError::Missing(what)),
            _ => Ok(()),
        }
    }
}

impl DecodeError {
    /// Returns a number below a limit, or an error.
    pub(crate) fn below(what: &'static str, number: u32, limit: impl Into<u32>) -> Result<u32, DecodeError> {
        if number < limit.into() { Ok(number) } else { Err(DecodeError::Field(what, number)) }
    }
}

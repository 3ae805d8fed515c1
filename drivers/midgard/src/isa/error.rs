//! Errors of the encoder and the decoder.

use thiserror::Error;

/// A rule of the instruction set that an instruction or its words break.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum InvalidInstruction {
    /// An unknown opcode: the table and the number.
    #[error("{0} opcode {1:#04x} is unknown")]
    Opcode(&'static str, u32),
    /// Bits without a known meaning: their place and the value.
    #[error("reserved bits of {0} are {1:#x}")]
    Reserved(&'static str, u32),
    /// A field with an invalid value: its kind and the value.
    #[error("{0} {1} is invalid")]
    Field(&'static str, u32),
    /// Two fields exclude each other.
    #[error("the encoding excludes {0}")]
    Conflict(&'static str),
    /// A source is the register of embedded constants, which the bundle lacks.
    #[error("a source reads embedded constants, and the bundle has none")]
    NoConstants,
    /// The tag states another number of quadwords than the contents have.
    #[error("the tag states {0} quadwords, and the contents need {1}")]
    Length(u32, u32),
    /// The words end within a bundle.
    #[error("the words end within a bundle")]
    Truncated,
}

/// Words that are not a valid bundle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("word {word}: {reason}")]
pub struct DecodeError {
    /// The index of the 32-bit word in which the faulty part begins.
    pub word: usize,
    /// The broken rule.
    pub reason: InvalidInstruction,
}

impl InvalidInstruction {
    /// Adds the position.
    pub(crate) fn at(self, word: usize) -> DecodeError {
        DecodeError { word, reason: self }
    }
}

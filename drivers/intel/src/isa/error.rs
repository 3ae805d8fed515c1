//! Errors of the encoder and the decoder.

use thiserror::Error;

/// A rule of the encoding that an instruction or its words break.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum InvalidInstruction {
    /// An opcode that the generation lacks: the number.
    #[error("opcode {0} is unknown")]
    Opcode(u32),
    /// Bits without a known meaning: their place and the value.
    #[error("reserved bits of {0} are {1:#x}")]
    Reserved(&'static str, u32),
    /// A field with an invalid value: its kind and the value.
    #[error("{0} {1} is invalid")]
    Field(&'static str, u32),
    /// Two facts exclude each other.
    #[error("the encoding excludes {0}")]
    Conflict(&'static str),
    /// The opcode needs another number of sources: the number that it has, and the number that it needs.
    #[error("the instruction has {0} sources and needs {1}")]
    Sources(usize, usize),
    /// The instruction has no compacted form.
    #[error("the instruction has no compacted form")]
    NotCompactable,
    /// The words end within an instruction.
    #[error("the words end within an instruction")]
    Truncated,
}

/// Words that are not a valid instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("word {word}: {reason}")]
pub struct DecodeError {
    /// The index of the first 32-bit word of the instruction.
    pub word: usize,
    /// The broken rule.
    pub reason: InvalidInstruction,
}

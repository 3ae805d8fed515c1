//! Errors of writers and readers.

use thiserror::Error;

use crate::isa::{Chip, EncodeError};

/// A program that a file cannot represent.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// The format is not one of the chip.
    #[error("{0} files have no programs for {1}")]
    Chip(&'static str, Chip),
    /// A number exceeds the field of the format: the objects, their number, the limit.
    #[error("{1} {0} exceed the {2} of the format")]
    Limit(&'static str, u64, u64),
    /// A name that the format cannot have.
    #[error("the name `{0}` {1}")]
    Name(String, &'static str),
    /// Two names are equal to lookups, which may ignore case.
    #[error("the names `{0}` and `{1}` are the same for lookups in the file")]
    Ambiguous(String, String),
    /// A uniform of a type that the format lacks.
    #[error("uniform `{0}` {1}")]
    Uniform(String, &'static str),
    /// The program contradicts the limits of its chip.
    #[error("the program is invalid: {0}")]
    Program(#[from] EncodeError),
}

/// Bytes that are not a valid file.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file does not begin as files of its kind do.
    #[error("the file does not begin with `{0}`")]
    Magic(&'static str),
    /// A part of the file is not in the file: its kind and the offset.
    #[error("{0} at offset {1:#x} exceeds the file")]
    Truncated(&'static str, u32),
    /// An offset with an invalid value: its kind and the value.
    #[error("the offset {1:#x} of {0} is invalid")]
    Offset(&'static str, u32),
    /// A number with an invalid value: its kind and the value.
    #[error("{0} is {1}, which is invalid")]
    Number(&'static str, u32),
    /// The tables of offsets overlap.
    #[error("tables of offsets overlap")]
    Overlap,
    /// A name that exceeds the limit, at this offset.
    #[error("the name at offset {0:#x} is too long")]
    Name(u32),
    /// Text that is not a program in JSON.
    #[error("{0}")]
    Json(String),
    /// The program contradicts the limits of its chip.
    #[error("the program is invalid: {0}")]
    Program(#[from] EncodeError),
}

//! Errors of the assembler.

use crate::isa::InvalidInstruction;

use thiserror::Error;

/// Text that is not a program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{line}:{column}: {problem}")]
pub struct ParseError {
    /// The line, from 1 on.
    pub line: usize,
    /// The column in characters, from 1 on.
    pub column: usize,
    /// The problem.
    pub problem: Problem,
}

/// A problem of the text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Problem {
    /// Something else should be at the place.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A name has no meaning at the place: the kind and the name.
    #[error("unknown {0} `{1}`")]
    Unknown(&'static str, String),
    /// A number has too many digits or is outside of its range.
    #[error("{0} is out of range")]
    Range(&'static str),
    /// The predicate and the condition need different flags.
    #[error("the predicate and the condition have different flags")]
    Flags,
    /// A label is defined twice.
    #[error("label `{0}` is defined twice")]
    Duplicate(String),
    /// A label is not defined.
    #[error("label `{0}` is not defined")]
    Label(String),
    /// A label is too far from the branch.
    #[error("label `{0}` is too far")]
    TooFar(String),
    /// A comment has no end.
    #[error("the comment has no end")]
    Comment,
    /// The instruction has no words.
    #[error("{0}")]
    Invalid(InvalidInstruction),
}

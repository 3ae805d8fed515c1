//! Errors of readers.

use thiserror::Error;

/// Text that is not a valid program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// Text that is not a program in JSON.
    #[error("{0}")]
    Json(String),
    /// A number exceeds its limit: its kind, the number, and the smallest invalid number.
    #[error("{0} is {1}, which is not below {2}")]
    Range(&'static str, u64, u64),
    /// An entry of a table occurs twice: the table and the number.
    #[error("the {0} have two entries for {1}")]
    Duplicate(&'static str, u32),
    /// Parts of the program contradict each other.
    #[error("the program is invalid: {0}")]
    Conflict(&'static str),
}

//! Programs in JSON: `{"program": ...}`. Words are numbers.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::program::Program;

/// Text that is not a program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{0}")]
pub struct ReadError(
    /// The reason.
    pub String,
);

#[derive(Serialize)]
struct Written<'a> {
    program: &'a Program,
}

#[derive(Deserialize)]
struct Read {
    program: Program,
}

/// Returns a program as JSON.
pub fn program_json(program: &Program) -> String {
    // Serialisation to a string fails only for maps with keys that are not strings.
    serde_json::to_string(&Written { program }).unwrap_or_default()
}

/// Reads the program of [`program_json`].
///
/// # Errors
/// [`ReadError`].
pub fn read_program_json(text: &str) -> Result<Program, ReadError> {
    let Read { program } = serde_json::from_str(text).map_err(|error| ReadError(error.to_string()))?;
    Ok(program)
}

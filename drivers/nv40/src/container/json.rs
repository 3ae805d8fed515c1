//! Programs in JSON: `{"program": ..., "interface": ...}`. Words are numbers.

use serde::{Deserialize, Serialize};
use tgsi_compiler::front_end::Interface;

use super::{ReadError, check};
use crate::program::Program;

#[derive(Serialize)]
struct Written<'a> {
    program: &'a Program,
    interface: &'a Interface,
}

#[derive(Deserialize)]
struct Read {
    program: Program,
}

/// Returns a program and the names of its interface as JSON.
pub fn program_json(program: &Program, interface: &Interface) -> String {
    // Serialisation to a string fails only for maps with keys that are not strings.
    serde_json::to_string(&Written { program, interface }).unwrap_or_default()
}

/// Reads the program of [`program_json`].
///
/// # Errors
/// [`ReadError::Json`], or [`ReadError::Program`] if a number exceeds the limits of the chip.
pub fn read_program_json(text: &str) -> Result<Program, ReadError> {
    let Read { program } = serde_json::from_str(text).map_err(|error| ReadError::Json(error.to_string()))?;
    check::program(&program)?;
    Ok(program)
}

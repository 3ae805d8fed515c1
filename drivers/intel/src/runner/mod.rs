//! Runners of compiled programs, by the simulator.

use tgsi_compiler::{RunError, Runner};

use crate::program::Program;

/// Creates the runner of a program.
///
/// # Errors
/// [`RunError::Code`]: words are not an instruction.
pub(crate) fn run_program(_: Program) -> Result<Box<dyn Runner>, RunError> {
    Err(RunError::Code("there is no simulator".to_owned()))
}

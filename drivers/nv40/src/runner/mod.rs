//! Runners of compiled programs, by the simulators.

mod fragment;
mod vertex;

use tgsi_compiler::{RunError, Runner};

use crate::program::Program;

/// Creates the runner of a program.
///
/// # Errors
/// [`RunError::Code`]: words are not an instruction.
pub(crate) fn run_program(program: Program) -> Result<Box<dyn Runner>, RunError> {
    Ok(match program {
        Program::Vertex(program) => Box::new(vertex::VertexRunner::new(program)?),
        Program::Fragment(program) => Box::new(fragment::FragmentRunner::new(program)?),
    })
}

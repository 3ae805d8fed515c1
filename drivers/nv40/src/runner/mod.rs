//! Runners of compiled programs, by the simulators.

mod vertex;

use tgsi_compiler::{RunError, Runner};

use crate::program::Program;

/// Creates the runner of a program.
///
/// # Errors
/// [`RunError::Code`]: words are not an instruction.
pub(crate) fn run_program(program: Program) -> Option<Result<Box<dyn Runner>, RunError>> {
    match program {
        Program::Vertex(program) => {
            Some(vertex::VertexRunner::new(program).map(|runner| Box::new(runner) as Box<dyn Runner>))
        }
        Program::Fragment(_) => None,
    }
}

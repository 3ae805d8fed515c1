//! Runners of compiled programs, by the simulator.

mod fragment;
mod geometry;
mod quads;
mod resources;
mod textures;
mod vertex;

use tgsi_compiler::{RunError, Runner};

use crate::program::Program;
use crate::simulator::Trap;

/// Creates the runner of a program.
///
/// # Errors
/// [`RunError::Code`]: words are not an instruction.
pub(crate) fn run_program(program: Program) -> Result<Box<dyn Runner>, RunError> {
    Ok(match program {
        Program::Vertex(program) => Box::new(vertex::VertexRunner::new(program)?),
        Program::Fragment(program) => Box::new(fragment::FragmentRunner::new(program)?),
        Program::Geometry(program) => Box::new(geometry::GeometryRunner::new(program)?),
    })
}

/// The error of a run that a trap ended.
fn run_error(trap: Trap) -> RunError {
    match trap {
        Trap::Steps => RunError::StepLimit(trap.to_string()),
        _ => RunError::Failed(trap.to_string()),
    }
}

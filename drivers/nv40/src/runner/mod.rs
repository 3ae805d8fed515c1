//! Runners of compiled programs, by the simulators.

mod fragment;
mod vertex;

use tgsi_compiler::{RunError, Runner};
use tgsi_environment::{LaneRegisters, Outputs};

use crate::program::{Program, Varying};
use crate::simulator::Trap;

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

/// The result of a run before any lane has run, with the registers of these outputs.
fn no_outputs(outputs: &[Varying], lanes: usize) -> Outputs {
    let registers = outputs.iter().map(|output| output.register as usize + 1).max().unwrap_or(0);
    Outputs { outputs: LaneRegisters::new(lanes, registers), live: vec![true; lanes], ..Outputs::default() }
}

/// The error of a run that a trap ended.
fn run_error(trap: Trap) -> RunError {
    match trap {
        Trap::Steps => RunError::StepLimit(trap.to_string()),
        _ => RunError::Failed(trap.to_string()),
    }
}

//! Runs compiled programs with the simulator, for comparison with the interpreter of the IR.
//!
//! All lanes of a run are the threads of one launch: the workgroup of a compute program, the quads of a fragment
//! program, or any number of vertices. The results are those that the interpreter defines:
//!
//! - Derivatives are [`Derivatives::Quad`](crate::simulator::Derivatives::Quad).
//! - Helpers from the start compute as other lanes do, and their outputs are results. Their stores are dropped, and
//!   their atomic operations give 0. The same holds for discarded lanes, except that their outputs are not defined.
//! - The first lane of a quad that executes a fetch states the texture and the sampler.
//! - After [`KILLED_STEPS`], discarded lanes leave loops that no other lane of the quad is in.
//! - Components of outputs that no instruction writes are 0.
//! - Memory has the addresses of `runner/memory.rs`. Accesses beyond the end of a buffer load 0 and store nothing.
//!
//! A step is a bundle.

mod environment;
mod image;
mod memory;
mod system;
mod texture;

#[cfg(test)]
mod tests;

use tgsi_compiler::{RunError, Runner};
use tgsi_environment::{Inputs, KILLED_STEPS, LaneRegisters, Outputs, Resources, RunLimits};

use crate::program::{FragmentOutput, FragmentResult, Program, Slot, Stage};
use crate::simulator::{LaneResult, Launch, Registers, Simulator, Trap, Vec4, WriteOut};

use environment::Surroundings;
use system::Tables;

/// Creates the runner of a program.
///
/// # Errors
/// [`RunError::Code`]: words are not an instruction, or there are too many uniforms in registers.
pub fn run_program(program: Program) -> Result<Box<dyn Runner>, RunError> {
    Ok(Box::new(ProgramRunner::new(program)?))
}

/// The largest number of uniforms in registers.
const REGISTER_UNIFORMS: usize = 16;

/// A program of valid words.
#[derive(Clone, Debug)]
struct ProgramRunner {
    program: Program,
    tables: Tables,
    simulator: Simulator,
}

impl ProgramRunner {
    fn new(program: Program) -> Result<ProgramRunner, RunError> {
        let code = |error: String| RunError::Code(error);
        if program.uniforms.len() > REGISTER_UNIFORMS {
            return Err(code(format!("registers have no place for {} uniforms", program.uniforms.len())));
        }
        let simulator = Simulator::new(&program.words, program.chip).map_err(|error| code(error.to_string()))?;
        Ok(ProgramRunner { tables: Tables::new(&program), program, simulator })
    }

    /// The number of output registers.
    fn registers(&self) -> u64 {
        let varyings = self.program.outputs.iter().filter_map(|output| match output.slot {
            Slot::Register(register) => Some(register),
            _ => None,
        });
        let registers = varyings.chain(self.program.results.iter().map(|result| result.register));
        registers.max().map_or(0, |last| u64::from(last) + 1)
    }

    /// Checks the memory that a run needs.
    fn check_memory(&self, inputs: &Inputs, limits: RunLimits) -> Result<(), RunError> {
        let thread = self.registers() * size_of::<Vec4>() as u64 + size_of::<Registers>() as u64;
        let threads = thread.saturating_add(self.program.stack.into()).saturating_mul(inputs.lanes as u64);
        let workgroup = u64::from(self.program.shared).max(inputs.shared_size as u64);
        if threads.saturating_add(workgroup) > limits.memory {
            let message = format!("the run needs more than {} bytes for registers and storage", limits.memory);
            return Err(RunError::Failed(message));
        }
        Ok(())
    }
}

impl Runner for ProgramRunner {
    fn run(&self, inputs: &Inputs, resources: &mut dyn Resources, limits: RunLimits) -> Result<Outputs, RunError> {
        self.check_memory(inputs, limits)?;
        let registers = LaneRegisters::new(inputs.lanes, self.registers() as usize);
        let mut surroundings = Surroundings::new(&self.program, &self.tables, inputs, resources, registers);
        // The values of uniforms may differ between threads, see `Surroundings::preload`.
        let uniforms = vec![[0; 4]; self.program.uniforms.len()];
        let launch = Launch {
            lanes: inputs.lanes,
            uniforms: &uniforms,
            work_registers: self.program.work_registers.min(16),
            steps: limits.steps.min(u32::MAX.into()) as u32,
            killed_steps: KILLED_STEPS.min(u32::MAX.into()) as u32,
            has_uniform_textures: true,
            // Helpers have outputs here; `Surroundings::has_effects` states that they have no effects.
            helpers: &[],
            ..Launch::default()
        };
        let result = self.simulator.run(&launch, &mut surroundings).map_err(run_error)?;
        let (memory, registers) = surroundings.finish();
        let mut outputs = Outputs {
            outputs: registers,
            live: result.lanes.iter().map(|lane| !lane.is_killed).collect(),
            buffers: memory.buffers,
            counters: memory.counters.iter().map(|bytes| memory::words(bytes)).collect(),
            shared: memory.workgroup,
            steps: result.steps.into(),
            ..Outputs::default()
        };
        outputs.shared.truncate(inputs.shared_size);
        if self.program.stage == Stage::Fragment {
            for (lane, result) in result.lanes.iter().enumerate() {
                self.write_results(&mut outputs.outputs, lane, result);
            }
        }
        Ok(outputs)
    }
}

impl ProgramRunner {
    /// Copies the results of a fragment to output registers.
    fn write_results(&self, registers: &mut LaneRegisters, lane: usize, result: &LaneResult) {
        for write in &result.writes {
            for output in &self.program.results {
                let Some(value) = value_of(write, output) else { continue };
                let first = output.component & 3;
                for component in (first..4).filter(|component| output.mask >> component & 1 != 0) {
                    let word = value[usize::from(component - first)];
                    registers.set(output.register as usize, component.into(), lane, word);
                }
            }
        }
    }
}

/// The value that a write-out has for an output.
fn value_of(write: &WriteOut, output: &FragmentOutput) -> Option<Vec4> {
    match output.result {
        FragmentResult::Colour(target) => write.colour.filter(|_| write.target == target),
        FragmentResult::Depth => write.depth.map(|depth| [depth; 4]),
        FragmentResult::Stencil => write.stencil.map(|stencil| [stencil; 4]),
    }
}

/// The error of a run that a trap ended.
fn run_error(trap: Trap) -> RunError {
    match trap {
        Trap::Steps => RunError::StepLimit(trap.to_string()),
        _ => RunError::Failed(trap.to_string()),
    }
}

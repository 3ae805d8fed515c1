//! The interpreter of the IR: runs a shader on a set of lanes in lock-step, with the results that every other executor
//! must have.
//!
//! It runs a shader as it comes out of the conversion (variables, registers), in SSA, out of SSA again, and after a
//! driver's lowering of inputs, outputs, samplers and booleans.
//!
//! [`Program`] is the shader in executable form: one flat list of operations for all functions, made once and run any
//! number of times. A value is a number of *planes*, one word a lane each; 64-bit components take two planes, the low
//! words first. A lane whose mask bit is off keeps what it has: derivatives read such lanes as they are.
//!
//! What the IR leaves undefined is defined here: registers and temporaries start as zero, `undef` is zero, reads out of
//! bounds give zero, writes out of bounds are dropped, a killed lane goes on as a helper whose memory writes have no
//! effect.

mod alu;
mod control;
mod derefs;
mod intrinsics;
mod io;
mod layout;
mod machine;
mod memory;
pub mod native;
pub mod program;
pub mod quad;
mod stores;
mod subgroup;
mod texture;

#[cfg(test)]
mod tests;

pub use program::Program;

use tgsi_environment::{Inputs, MAX_LANES, Outputs, Resources, RunLimits};

use crate::entities::Inst;
use crate::shader::Shader;

tgsi_diagnostics::error_table! {
    /// The reason why a shader could not be run, or not to its end.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub enum RunError {
        "T1400" "step-limit" StepLimit { limit: u64 } "gave up after {limit} instructions";
        "T1401" "too-many-lanes" TooManyLanes { lanes: usize } "{lanes} lanes; at most {MAX_LANES} can be run at once";
        "T1402" "too-large" TooLarge { words: u64 } "the values and variables need too much memory ({words} words)";
        "T1403" "too-much-output" TooMuchOutput { words: u64 } "more than {words} words of vertices are emitted";
        "T1404" "no-entry-point" NoEntryPoint "the shader has no entry point with code";
        "T1405" "unstructured" Unstructured { function: String } "function {function} has unstructured control flow";
        // A function is called while it is running.
        "T1406" "recursion" Recursion { function: String } "function {function} is called recursively";
        // Global memory, ray tracing and the like: `Inputs` does not describe them.
        "T1407" "unsupported" Unsupported { function: String, inst: Inst, name: &'static str }
            "function {function}, {inst} ({name}): nothing in the environment corresponds to it";
        // The shader would not pass validation. `name` is the opcode.
        "T1408" "malformed" Malformed { function: String, inst: Inst, name: &'static str, what: &'static str }
            "function {function}, {inst} ({name}): {what}";
    }
}

/// Runs a shader once. To run it several times, make a [`Program`].
pub fn run(
    shader: &Shader,
    inputs: &Inputs,
    resources: &mut dyn Resources,
    limits: RunLimits,
) -> Result<Outputs, RunError> {
    Program::new(shader)?.run(inputs, resources, limits)
}

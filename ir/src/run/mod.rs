//! The interpreter of the IR. It executes a shader on a set of lanes in lock-step, and defines the results that every
//! other executor must have.
//!
//! It executes shaders as the conversion creates them (variables, registers), in SSA form, after out-of-SSA, and after
//! a driver's lowering of inputs, outputs, samplers and booleans.
//!
//! [`Program`] is the shader in executable form: one flat list of operations for all functions, compiled once and
//! executed any number of times. A value consists of *planes* of one word per lane; 64-bit components take two planes,
//! with the low words first. Lanes with a cleared mask bit keep their values, which derivatives may read.
//!
//! Behaviour that the IR leaves undefined is defined here: registers and temporaries start as zero, `undef` is zero,
//! out-of-bounds reads give zero, out-of-bounds writes are dropped, and a killed lane continues as a helper without
//! memory writes.

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
    /// The reason why a shader could not be executed to its end.
    #[derive(Clone, PartialEq, Eq, Debug)]
    pub enum RunError {
        "T1400" "step-limit" StepLimit { limit: u64 } "gave up after {limit} instructions";
        "T1401" "too-many-lanes" TooManyLanes { lanes: usize } "{lanes} lanes; at most {MAX_LANES} can be run at once";
        "T1402" "too-large" TooLarge { words: u64 } "the values and variables need too much memory ({words} words)";
        "T1403" "too-much-output" TooMuchOutput { words: u64 } "more than {words} words of vertices are emitted";
        "T1404" "no-entry-point" NoEntryPoint "the shader has no entry point with code";
        "T1405" "unstructured" Unstructured { function: String } "function {function} has unstructured control flow";
        // The function is called while it is executing.
        "T1406" "recursion" Recursion { function: String } "function {function} is called recursively";
        // Global memory, ray tracing and similar, which `Inputs` does not describe.
        "T1407" "unsupported" Unsupported { function: String, inst: Inst, name: &'static str }
            "function {function}, {inst} ({name}): nothing in the environment corresponds to it";
        // The shader is not valid. `name` is the opcode.
        "T1408" "malformed" Malformed { function: String, inst: Inst, name: &'static str, what: &'static str }
            "function {function}, {inst} ({name}): {what}";
    }
}

/// Executes a shader once. To execute it several times, make a [`Program`].
pub fn run(
    shader: &Shader,
    inputs: &Inputs,
    resources: &mut dyn Resources,
    limits: RunLimits,
) -> Result<Outputs, RunError> {
    Program::new(shader)?.run(inputs, resources, limits)
}

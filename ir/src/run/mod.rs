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

pub mod environment;
pub mod random;

mod alu;
mod control;
mod derefs;
mod intrinsics;
mod io;
mod layout;
mod machine;
mod memory;
mod program;
mod subgroup;
mod texture;

#[cfg(test)]
mod tests;

pub use environment::{
    AnalyticResources, ImageTexel, Inputs, LaneRegisters, MAX_LANES, Outputs, Resources, RunLimits, SUBGROUP_SIZE,
    TextureLookup, TextureRequest, TextureSize, Vec4,
};
pub use program::Program;

use crate::entities::Inst;
use crate::shader::Shader;

/// Why a shader could not be run, or not to its end.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RunError {
    /// The shader took more steps than allowed.
    #[error("gave up after {limit} instructions")]
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// More lanes than [`MAX_LANES`].
    #[error("{lanes} lanes; at most {MAX_LANES} can be run at once")]
    TooManyLanes {
        /// Lanes asked for.
        lanes: usize,
    },
    /// The values and variables would need too much memory.
    #[error("the values and variables need too much memory ({words} words)")]
    TooLarge {
        /// Words needed.
        words: u64,
    },
    /// A geometry shader emitted too much.
    #[error("more than {words} words of vertices are emitted")]
    TooMuchOutput {
        /// The limit.
        words: u64,
    },
    /// There is no function to start with.
    #[error("the shader has no entry point with code")]
    NoEntryPoint,
    /// A function's control flow has `goto`s.
    #[error("function {function} has unstructured control flow")]
    Unstructured {
        /// Name of the function.
        function: String,
    },
    /// A function is called while it is running.
    #[error("function {function} is called recursively")]
    Recursion {
        /// Name of the function.
        function: String,
    },
    /// An instruction needs surroundings that [`Inputs`] does not describe (global memory, ray tracing, ...).
    #[error("function {function}, {inst} ({name}): nothing in the environment corresponds to it")]
    Unsupported {
        /// Name of the function.
        function: String,
        /// The instruction.
        inst: Inst,
        /// Its opcode.
        name: &'static str,
    },
    /// The shader would not pass validation.
    #[error("function {function}, {inst} ({name}): {what}")]
    Malformed {
        /// Name of the function.
        function: String,
        /// The instruction.
        inst: Inst,
        /// Its opcode.
        name: &'static str,
        /// What is wrong.
        what: &'static str,
    },
}

impl RunError {
    crate::error_codes! {
        StepLimit => "T1400" "step-limit",
        TooManyLanes => "T1401" "too-many-lanes",
        TooLarge => "T1402" "too-large",
        TooMuchOutput => "T1403" "too-much-output",
        NoEntryPoint => "T1404" "no-entry-point",
        Unstructured => "T1405" "unstructured",
        Recursion => "T1406" "recursion",
        Unsupported => "T1407" "unsupported",
        Malformed => "T1408" "malformed",
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

//! The interpreter of the IR. It executes a shader on a set of lanes in lock-step, and defines the results that every
//! other executor must have.
//!
//! It executes shaders as the conversion creates them (variables, registers), in SSA form, after out-of-SSA, and after
//! a driver's lowering of inputs, outputs, samplers and booleans.
//!
//! [`Program`] is the shader in executable form: one flat list of operations for all functions, compiled once and
//! executed any number of times. A value consists of *lane vectors* of one word per lane; 64-bit components take two
//! lane vectors, with the low words first. Lanes with a cleared mask bit keep their values, which derivatives may read.
//!
//! # Layers
//!
//! Each file uses only those before it in this table. A program is data: it does not know its executor.
//!
//! | files | contents |
//! |---|---|
//! | `error`, `layout`, `fast_alu` | errors; memory layout of variables; opcodes with a loop over lanes |
//! | `ops`, `plans` | operations and values; precomputed parts for memory, images, inputs and outputs |
//! | `quad`, `native` | execution of a texture instruction; the interface to machine code |
//! | `program` | the list of operations |
//! | `compile` | from a shader to a program |
//! | `machine` | the state of a run, and access to it; blocks of lanes |
//! | `memory`, `alu`, `control`, `derefs`, `intrinsics`, `io`, `subgroup`, `texture` | the execution of operations |
//!
//! # Undefined behaviour
//!
//! Behaviour that the IR leaves undefined is defined here: registers and temporaries start as zero, `undef` is zero,
//! out-of-bounds reads give zero, out-of-bounds writes are dropped, and a killed lane continues as a helper without
//! memory writes. After [`KILLED_STEPS`](tgsi_environment::KILLED_STEPS), killed lanes leave loops that no live lane of
//! their quad is in.

mod alu;
mod compile;
mod control;
mod derefs;
mod error;
mod fast_alu;
mod intrinsics;
mod io;
mod layout;
mod machine;
mod memory;
#[doc(hidden)]
pub mod native;
mod ops;
mod plans;
mod program;
mod quad;
mod subgroup;
mod texture;

#[cfg(test)]
mod tests;

pub use error::RunError;
pub use program::Program;

use tgsi_environment::{Inputs, Outputs, Resources, RunLimits};

use crate::shader::Shader;

/// Executes a shader once. To execute it several times, make a [`Program`].
pub fn run(
    shader: &Shader,
    inputs: &Inputs,
    resources: &mut dyn Resources,
    limits: RunLimits,
) -> Result<Outputs, RunError> {
    Program::new(shader)?.run(inputs, resources, limits)
}

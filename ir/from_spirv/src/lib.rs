//! SPIR-V front end: converts modules of the graphics and compute stages to the IR.
//!
//! | phase | from | to |
//! |---|---|---|
//! | `words` | bytes | words, instructions |
//! | `module` | instructions | types, constants, variables, decorations, functions and their blocks |
//! | `emit` | the functions that an entry point calls | IR with typed variables |
//! | `interface`, `resources` | the variables that were used | slots, registers, units, and their description |
//!
//! Each phase reports all its findings; a later phase runs on what an earlier one could read.

mod alu;
mod compile;
mod composites;
mod constants;
mod decorations;
mod emit;
mod error;
mod front_end;
mod glsl450;
mod grammar;
mod images;
mod interface;
mod limits;
#[cfg(test)]
mod manual;
mod module;
mod options;
mod own_addresses;
mod resources;
mod scopes;
mod specialize;
#[cfg(test)]
mod tests;
mod types;
mod words;

pub use compile::{Compiled, Module, compile};
pub use front_end::{SPIRV, Spirv};
pub use limits::SpirvLimits;
pub use options::{Bind, BindKind, Depth, Environment, SpirvOptions};

/// The pages of the error codes.
const EXPLANATIONS: &str = include_str!("../explanations.txt");

//! Plays the test section of `.shader_test` files.
//!
//! ```text
//! file ──Script──> commands ──play, with a vertex and a fragment shader──> picture, failures by line
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `script` | sections of a file, commands by line |
//! | `command` | a command, and its parser |
//! | `vertex_data` | the section of vertices |
//! | `textures` | the textures that commands create |
//! | `matrices` | projections, and the state that depends on them |
//! | `play` | the machine: state, draws and probes |
//!
//! The format and the meaning of the commands are those of piglit's `shader_runner`. Window coordinates of commands have
//! their origin in the lower left corner.

mod command;
mod matrices;
mod play;
mod script;
mod textures;
mod vertex_data;

pub use play::{Failure, Outcome, TestShader, play};
pub use script::Script;

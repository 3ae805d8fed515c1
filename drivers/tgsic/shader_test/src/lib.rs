//! Plays the test section of `.shader_test` files.
//!
//! ```text
//! file ──Script──> commands ──play, with the shaders──> picture, failures by line
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `script` | sections of a file, commands by line |
//! | `words`, `command` | words of a line; a command, and its parser |
//! | `vertex_data` | the section of vertices |
//! | `formats`, `textures` | the textures that commands create |
//! | `images` | textures as images |
//! | `framebuffer` | the window, or a texture to draw to |
//! | `lists` | display lists |
//! | `matrices` | projections, and the state that depends on them |
//! | `blocks`, `buffers` | uniforms of blocks; storage buffers and counters |
//! | `memory` | the buffers of runs |
//! | `stream_output` | captured outputs |
//! | `queries` | properties of programs |
//! | `draw` | draws and workgroups |
//! | `play` | the machine: state and probes |
//!
//! The format and the meaning of the commands are those of piglit's `shader_runner`. Window coordinates of commands
//! have their origin in the lower left corner.

mod blocks;
mod buffers;
mod command;
mod draw;
mod formats;
mod framebuffer;
mod images;
mod lists;
mod matrices;
mod memory;
mod play;
mod queries;
mod script;
mod stream_output;
mod textures;
mod vertex_data;
mod words;

pub use play::{Failure, Outcome, Shaders, TestShader, play};
pub use script::{PASSTHROUGH, Script, ShaderText};

//! TGSI, the token IR of Mesa's Gallium drivers: reads, checks, scans, builds and writes shaders.
//!
//! # Modules
//!
//! | module | in Mesa | contents |
//! |---|---|---|
//! | [`tables`] | `p_shader_tokens.h`, `tgsi_info.c`, `tgsi_strings.c` | opcodes, files, semantics, properties, ..., one table each |
//! | [`shader`] | `tgsi_full_*` of `tgsi_parse.h` | the typed shader, from text, tokens or builder |
//! | [`tokens`] | `tgsi_parse.c`, `tgsi_build.c` | the 32-bit token stream, decoded and encoded exactly |
//! | [`text`] | `tgsi_text.c`, `tgsi_dump.c` | the text form of every era: parsed with recovery, printed as Mesa does or losslessly |
//! | [`check`] | `tgsi_sanity.c` | validation of everything that a driver relies on, with positions and hints |
//! | [`scan`] | `tgsi_scan.c` | a summary of a shader for drivers |
//! | [`builder`] | `tgsi_ureg.c` | constructs shaders |
//! | [`limits`] | – | bounds on inputs, with their reasons |
//! | [`explain`] | – | a page of documentation for each error code |
//!
//! The reference interpreter is `tgsi-run`, the conversion to the IR `tgsi-to-ir`, the generator `tgsi-smith`.
//!
//! # From text to tokens
//!
//! ```
//! let text = b"VERT\nDCL OUT[0], POSITION\nIMM[0] FLT32 {1.0, 2.0, 3.0, 0.5}\nRCP OUT[0], IMM[0].wwww\nEND\n";
//! let shader = tgsi::text::parse(text).expect("the text is valid").shader;
//! assert!(!tgsi::check::check(&shader).has_errors());
//! assert_eq!(tgsi::scan::scan(&shader).num_instructions, 2);
//!
//! let words = tgsi::tokens::encode(&shader)?;
//! assert_eq!(tgsi::tokens::decode(&words)?.instructions.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Differences from Mesa
//!
//! - Invalid input of any kind is an error with a position, never a crash, and all errors of a text are reported.
//! - Texts of every era are read; constructs that TGSI has since removed are rewritten to current ones ([`text`]).
//! - The default print is lossless: a float that four decimals would change is written so that it reads back.
//! - Undefined behaviour of TGSI has one meaning here: temporaries, outputs and addresses start as zero, reads out of
//!   range give zero, writes out of range are dropped, float to integer conversion saturates.
//! - The interpreter follows nesting, not labels, and runs every opcode and stage.

pub mod builder;
mod call_graph;
pub mod check;
pub mod explain;
pub mod limits;
mod operands;
pub mod scan;
pub mod shader;
mod structure;
pub mod tables;
pub mod text;
pub mod tokens;

pub use shader::Shader;
pub use structure::MalformedShader;

/// Parts for the other crates of the workspace, which may change in any version.
#[doc(hidden)]
pub mod internals {
    pub use crate::call_graph::{CallGraph, Inlining, InliningThresholds};
    pub use crate::structure::{NO_PARTNER, Structure, StructureError, prepared, structure};
}

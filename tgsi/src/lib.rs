//! TGSI, the token IR of Mesa's Gallium drivers: everything that can be done with a shader without compiling it, and
//! the conversion to the IR.
//!
//! # Modules
//!
//! | module | in Mesa | contents |
//! |---|---|---|
//! | [`tables`] | `p_shader_tokens.h`, `tgsi_info.c`, `tgsi_strings.c` | opcodes, files, semantics, properties, ..., one table each |
//! | [`shader`] | `tgsi_full_*` of `tgsi_parse.h` | the typed shader, from text, tokens or builder |
//! | [`tokens`] | `tgsi_parse.c`, `tgsi_build.c` | the 32-bit token stream, decoded and encoded exactly |
//! | [`text`] | `tgsi_text.c`, `tgsi_dump.c` | the text form of every era: parsed with recovery, printed as Mesa does or losslessly |
//! | [`structure`] | – | matches instructions that open, close, continue or leave a block |
//! | [`check`] | `tgsi_sanity.c` | validation of everything that a driver relies on, with positions and hints |
//! | [`scan`] | `tgsi_scan.c` | a summary of a shader for drivers |
//! | [`builder`] | `tgsi_ureg.c` | constructs shaders |
//! | [`run`] | `tgsi_exec.c` | the reference interpreter for all stages |
//! | [`to_ir`] | `tgsi_to_nir.c` | conversion to the IR |
//! | [`slots`] | part of `tgsi_to_nir.c` and `nir_to_tgsi.c` | maps every semantic to a slot and back |
//!
//! # From text to a result
//!
//! ```
//! use tgsi_run::{Program, run};
//! use tgsi_environment::{AnalyticResources, Inputs, RunLimits};
//!
//! let text = b"VERT\nDCL OUT[0], POSITION\nIMM[0] FLT32 {1.0, 2.0, 3.0, 0.5}\nRCP OUT[0], IMM[0].wwww\nEND\n";
//! let shader = tgsi::text::parse(text).expect("the text is valid").shader;
//! assert!(!tgsi::check::check(&shader).has_errors());
//!
//! let program = Program::new(&shader)?;
//! let inputs = Inputs { lanes: 4, ..Inputs::default() };
//! let outputs = run(&program, &inputs, &mut AnalyticResources::default(), RunLimits::default())?;
//! assert_eq!(f32::from_bits(outputs.outputs.get(0, 0, 3)), 2.0);
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
#[doc(hidden)]
pub mod call_graph;
pub mod check;
pub mod explain;
pub mod limits;
pub mod operands;
pub mod scan;
pub mod shader;
pub mod structure;
pub mod tables;
pub mod text;
pub mod tokens;

pub use call_graph::KeepSubroutines;
pub use shader::Shader;

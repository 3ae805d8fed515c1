//! TGSI, the token IR of Mesa's Gallium drivers: everything that can be done with a shader without compiling it, and
//! the way into the IR.
//!
//! # Where to find what
//!
//! | here | in Mesa | holds |
//! |---|---|---|
//! | [`tables`] | `p_shader_tokens.h`, `tgsi_info.c`, `tgsi_strings.c` | opcodes, files, semantics, properties, ...: each one table |
//! | [`shader`] | `tgsi_full_*` of `tgsi_parse.h` | the typed shader, from text, tokens or builder |
//! | [`tokens`] | `tgsi_parse.c`, `tgsi_build.c` | the 32-bit token stream, decoded and encoded exactly |
//! | [`text`] | `tgsi_text.c`, `tgsi_dump.c` | the text form of every era, parsed with recovery, printed as Mesa does or without loss |
//! | [`structure`] | nothing | which instruction closes, continues or leaves which |
//! | [`check`] | `tgsi_sanity.c` | everything that a driver may rely on, with positions and hints |
//! | [`scan`] | `tgsi_scan.c` | what a driver wants to know |
//! | [`builder`] | `tgsi_ureg.c` | making shaders |
//! | [`run`] | `tgsi_exec.c` | the reference interpreter, for all stages |
//! | [`to_ir`] | `tgsi_to_nir.c` | conversion to the IR |
//! | [`slots`] | part of `tgsi_to_nir.c` and `nir_to_tgsi.c` | semantics to slots and back, for every semantic |
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
//! # Where we differ from Mesa, and why
//!
//! - Bad input of any kind is an error with a position, never a crash, and all errors of a text are reported.
//! - Texts of every era are read; what is gone from TGSI is rewritten to what there is ([`text`]).
//! - The default print loses nothing: a float that four decimals would change is written so that it reads back.
//! - What TGSI leaves undefined has one meaning here: temporaries, outputs and addresses start as zero, reads outside
//!   give zero, writes outside are dropped, float to integer saturates.
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

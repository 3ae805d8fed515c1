//! The instruction set of Intel's execution units of Gen7 (Ivy Bridge, Bay Trail) and Gen7.5 (Haswell).
//!
//! | module | contents |
//! |---|---|
//! | [`container`] | files with compiled programs |
//! | [`isa`] | instructions as data, the table of opcodes, encoding and decoding, compacted instructions |
//! | [`program`] | compiled programs: words, and the facts that a driver of the hardware needs |
//! | [`text`] | assembler and disassembler, in the form of Mesa's tools |
//! | [`validate`] | the rules of hardware beyond the encoding |
//! | [`simulator`] | execution of programs, for tests |
//!
//! ```
//! use tgsi_driver_intel::isa::{AccessMode, Chip, Destination, Instruction, Opcode, Operand, Type, decode, encode};
//! use tgsi_driver_intel::validate::validate;
//!
//! let sources = [Operand::linear(1, Type::F).into(), Operand::scalar(2, 4, Type::F).negated().into()];
//! let sum = Instruction::new(Opcode::Add, AccessMode::Align1, Destination::general(3, Type::F), sources);
//! let mut words = Vec::new();
//! encode(&sum, Chip::Gen7, &mut words)?;
//! assert_eq!(decode(&words, Chip::Gen7)?, (sum.clone(), 4));
//! assert_eq!(sum.to_string(), "add(8)          g3<1>F          g1<8,8,1>F      -g2.1<0,1,0>F   { align1 1Q };");
//! assert!(validate(&sum, Chip::Gen7).is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod container;
mod driver;
mod error;
mod fit;
pub mod isa;
mod lower;
mod machine;
mod message;
mod options;
pub mod program;
mod runner;
mod scalar;
mod select;
pub mod simulator;
pub mod text;
pub mod validate;
mod vec4;
mod vue;

pub use driver::{DRIVER, run_target, runner};
pub use error::IntelError;

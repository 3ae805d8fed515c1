//! The instruction set of Arm's Mali T600 to T880 (Midgard).
//!
//! | module | contents |
//! |---|---|
//! | [`isa`] | instructions as data, opcode tables, encoding and decoding, rules of bundles |
//! | [`program`] | compiled programs |
//! | [`container`] | files with compiled programs |
//! | [`runner`](mod@runner) | runs of compiled programs, for comparison with the interpreter |
//! | [`simulator`] | execution of words |
//! | [`text`] | programs as text, in the form of Mesa's disassembler |
//!
//! ```
//! use tgsi_driver_midgard::isa::alu::{AluBundle, AluOp, Vector, VectorSource};
//! use tgsi_driver_midgard::isa::{Body, Bundle, Chip, Register, Tag, decode, encode};
//! use tgsi_driver_midgard::text::{Listing, Options};
//!
//! let product = Vector::new(
//!     AluOp::Fmul,
//!     Register::new(0).unwrap(),
//!     VectorSource::new(AluOp::Fmul, Register::new(1).unwrap()),
//!     VectorSource::new(AluOp::Fmul, Register::new(2).unwrap()).into(),
//! );
//! let bundle = Bundle { next: Tag::Break, body: Body::Alu(AluBundle { vmul: Some(product), ..Default::default() }) };
//! let mut words = Vec::new();
//! encode(&bundle, &mut words)?;
//! assert_eq!(decode(&words)?, (bundle.clone(), 4));
//! let listing = Listing { bundles: &[bundle], options: Options::new(Chip::T760) };
//! assert_eq!(listing.to_string(), "FMUL.f32 R0, R1, R2\n\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod container;
mod driver;
mod emit;
mod error;
mod finish;
pub mod isa;
mod lower;
mod machine;
mod options;
pub mod program;
pub mod runner;
mod schedule;
mod select;
pub mod simulator;
pub mod text;

pub use driver::{DRIVER, Midgard, run_target, runner};
pub use error::MidgardError;

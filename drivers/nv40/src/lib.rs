//! The shader processors of NVIDIA's GeForce FX (NV30), GeForce 6 and 7 (NV40) and the PlayStation 3 (RSX).
//!
//! | module | contents |
//! |---|---|
//! | [`container`] | files with compiled programs, for loaders |
//! | [`isa`] | instructions as data, opcode tables, encoding and decoding |
//! | [`listing`] | programs as text in NVIDIA's syntax |
//! | [`program`] | compiled programs: words, and the facts that a loader needs |
//! | [`simulator`] | execution of encoded programs |
//!
//! ```
//! use tgsi_driver_nv40::isa::{Chip, Mask, vertex};
//!
//! let mov = vertex::Slot {
//!     vec: Some(vertex::Part::to_register(vertex::VecOp::Mov, 1, Mask::X)),
//!     sources: [Some(vertex::Source::constant()), None, None],
//!     constant: Some(2),
//!     ..Default::default()
//! };
//! let words = vertex::encode(&mov, Chip::Nv40)?;
//! assert_eq!(words, [0x0000_9c6c, 0x0040_200d, 0x8186_c083, 0x6041_1ffc]);
//! # Ok::<(), tgsi_driver_nv40::isa::EncodeError>(())
//! ```

pub mod container;
mod driver;
mod error;
mod fit;
mod fragment;
pub mod isa;
pub mod listing;
mod lower;
mod machine;
mod options;
pub mod program;
mod runner;
mod select;
pub mod simulator;
mod vertex;

pub use driver::{DRIVER, run_target, runner};
pub use error::Nv40Error;

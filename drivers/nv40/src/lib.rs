//! The shader processors of NVIDIA's GeForce FX (NV30), GeForce 6 and 7 (NV40) and the PlayStation 3 (RSX).
//!
//! | module | contents |
//! |---|---|
//! | [`isa`] | instructions as data, opcode tables, encoding and decoding |
//! | [`listing`] | programs as text in NVIDIA's syntax |
//! | [`machine`] | instructions of both stages over virtual registers |
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

mod error;
pub(crate) mod fragment;
pub mod isa;
pub mod listing;
pub mod machine;
pub mod program;
pub mod simulator;

pub use error::Nv40Error;

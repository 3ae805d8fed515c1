//! Machine code, by Cranelift: compiles the regions of a program that write only lane vectors and outputs. The
//! interpreter of the IR executes the rest, in the same order as without machine code; see [`tgsi_ir::run::native`].
//!
//! A value is one vector of four 32-bit lanes for each quad. Cranelift has no wider vectors. No operation that can trap
//! is ever emitted.
//!
//! Code is compiled at run time (`jit`), or ahead of time for an object file (`write`). It contains no addresses. All
//! memory that it can access is in `runtime::context`: lane vectors at offsets known at compile time, buffers behind a
//! check of their length, texels of known textures behind a clamp, and the functions that it calls.
//!
//! Each layer uses only those before it in this table:
//!
//! | layer | contents |
//! |---|---|
//! | `limits` | constants |
//! | `analysis` | the operations that become code, and their accesses; independent of Cranelift |
//! | `runtime` | execution of code: its argument, the functions that it calls; exists without feature `machine-code` |
//! | `emission` | from regions to functions of Cranelift |
//! | `jit`, `write` | compilation at run time, and to object files |

mod analysis;
#[cfg(feature = "machine-code")]
mod emission;
#[cfg(feature = "machine-code")]
mod jit;
mod limits;
mod runtime;
#[cfg(feature = "machine-code")]
mod write;

#[cfg(feature = "machine-code")]
pub(crate) use jit::compile;
pub(crate) use runtime::code::{Code, Function};
#[cfg(feature = "machine-code")]
pub(crate) use write::{processor, write_object};

/// Sizes of structures with offsets that are part of code.
pub(crate) const SIZES: [usize; 2] = [size_of::<runtime::context::Context>(), size_of::<runtime::calls::Functions>()];

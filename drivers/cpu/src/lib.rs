//! The driver `cpu`: runs shaders on the CPU, many invocations side by side.
//!
//! [`compile`] converts a shader of the IR to a [`Program`], once; the program runs any number of times, in any number
//! of threads. Its results are those of the IR's interpreter, bit for bit except for the payload of NaN.
//!
//! ```text
//! Shader ── lower ──> Shader ── tgsi_ir::run::Program ──> operations over lane vectors ── native ──> machine code
//! ```
//!
//! `lower` runs passes of the IR. The interpreter of the IR flattens the result: a list of operations over
//! numbered *lane vectors*, each with one word per lane, with structured control flow. It executes each operation for
//! all lanes of a block before the next one. `native` replaces the regions of the list that write no memory by machine
//! code, with the feature `machine-code`. Code can also be generated ahead of time and linked into a program; see
//! [`load`].

#[cfg(feature = "machine-code")]
mod ahead_of_time;
mod batch;
mod driver;
mod error;
mod form;
mod lower;
mod native;
mod object;
mod options;
mod program;
mod resources;
pub mod sampler;

pub use batch::BLOCK_LANES;
pub use driver::{DRIVER, run_target, runner};
pub use error::CpuError;
pub use object::{ObjectData, load};
pub use options::{Options, Report};
pub use program::{Program, compile, compile_with};
pub use resources::{HostResources, NoResources, Shared};
pub use tgsi_ir::run::RunError;

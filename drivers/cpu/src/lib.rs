//! The driver `cpu`: shaders run on the processor, many invocations side by side.
//!
//! [`compile`] takes a shader of the IR and makes a [`Program`], once; the program runs any number of times, in any
//! number of threads. It computes what the interpreter of the IR computes, bit for bit but for the payload of NaN.
//!
//! ```text
//! Shader ── lower ──> Shader ── tgsi_ir::run::Program ──> operations over planes ── native ──> machine code
//! ```
//!
//! [`lower`](mod@lower) runs passes of the IR. The interpreter of the IR flattens the result: a list of operations over
//! numbered planes, one word a lane each, with structured control flow. It executes an operation for all lanes of a
//! block before it goes on to the next. `native` puts machine code in the place of the stretches of the list that
//! change no memory; it is made with the feature `machine-code`. Code can also be made ahead of time and linked into a
//! program: see [`object`].

pub mod driver;
pub mod error;
pub mod lower;
pub mod object;
pub mod program;
pub mod resources;
pub mod sampler;

mod batch;
mod native;

pub use batch::{BLOCK_LANES, Limits};
pub use driver::{DRIVER, runner};
pub use error::CpuError;
pub use object::{ObjectData, load};
pub use program::{Options, Program, Report, compile, compile_with};
pub use resources::HostResources;
pub use tgsi_ir::run::RunError;

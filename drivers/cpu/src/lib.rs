//! The driver `cpu`: shaders run on the processor, many invocations side by side.
//!
//! [`compile`] takes a shader of the IR and makes a [`Program`], once; the program runs any number of times, in any
//! number of threads. It computes what the interpreter of the IR computes, bit for bit.
//!
//! ```text
//! Shader ── lower ──> Shader ── program ──> lane program ── interpret ──> outputs
//! ```
//!
//! [`lower`](mod@lower) runs passes of the IR. [`program`] flattens the result: a list of small operations over
//! numbered planes, one word a lane each, with structured control flow. [`interpret`] executes an operation for all
//! lanes of a block before it goes on to the next; masks say which lanes take part.

pub mod driver;
pub mod error;
pub mod interpret;
pub mod lower;
pub mod program;
pub mod resources;

mod batch;

pub use batch::{BLOCK_LANES, Limits};
pub use driver::{DRIVER, runner};
pub use error::{CpuError, RunError};
pub use program::{Options, Program, compile};
pub use resources::HostResources;

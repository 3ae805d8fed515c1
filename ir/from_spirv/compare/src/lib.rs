//! Compares the results of SPIR-V modules: on Vulkan as they are, in the interpreter after the front end, which reads
//! them, and on Vulkan as the SPIR-V driver writes them again. Also of modules that were changed without changing their
//! meaning.
//!
//! | file | holds |
//! |---|---|
//! | `seed` | contents of resources and inputs from a seed |
//! | `registers` | the registers of the front end for resources |
//! | `resources`, `interpret` | runs in the interpreter |
//! | `translated` | runs of the driver's SPIR-V |
//! | `difference` | differences of results |
//! | `check` | all comparisons of a module |
//!
//! Vulkan leaves much undefined that the IR defines, and devices have errors: a difference is a reason to look, and
//! names the executors that differ.

mod check;
mod difference;
mod interpret;
mod registers;
mod resources;
mod seed;
mod translated;

pub use check::{Checks, Report, check};
pub use difference::{Difference, differences};
pub use interpret::interpret;
pub use seed::{SIZE, Setup};
pub use translated::run_translated;

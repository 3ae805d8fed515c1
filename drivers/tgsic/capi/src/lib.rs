//! libtgsic: the compiler for programs in C. `include/tgsic.h` is generated from this crate; the manual page `tgsic.3`
//! describes its use.
//!
//! Rules for every function:
//!
//! - Nothing unwinds into C: a panic becomes a result with `TGSIC_ERROR_INTERNAL` (`guard.rs`). The process ends only
//!   if the system is out of memory, as for all Rust programs.
//! - A function that creates an object never returns NULL without an error object.
//! - There is no state outside of the objects, except the hook that silences panics: no environment, no locale, no
//!   output. A `tgsic_compiler` is immutable; any number of threads may use it.
//! - Pointers to memory of length 0 may be NULL. Strings are UTF-8 with a NUL at the end.
//! - Structs that cross the boundary begin with their size, so that callers and library may have different versions
//!   (`sized.rs`).
//!
//! A `tgsic_result` has several kinds of data, each in a file that does not know results: `code`, `finding`,
//! `limit_use`, `link_report`, `resource`, `scan`.
//!
//! `unsafe` is used only here, and only to access pointers that C passed in.

#![allow(non_camel_case_types, reason = "the names are those of the C interface")]

mod allocator;
mod code;
mod compiler;
mod failure;
mod finding;
mod fit;
mod front_end;
mod guard;
mod limit_use;
mod link;
mod link_report;
mod resource;
mod resources;
mod result;
mod run;
mod scan;
mod sized;
mod strings;
mod version;
mod virgl;

pub use allocator::{tgsic_allocate_function, tgsic_allocator};
pub use code::*;
pub use compiler::*;
pub use failure::*;
pub use finding::*;
pub use fit::*;
pub use limit_use::*;
pub use link::*;
pub use link_report::*;
pub use resource::*;
pub use resources::*;
pub use result::*;
pub use run::*;
pub use scan::*;
pub use version::*;
pub use virgl::*;

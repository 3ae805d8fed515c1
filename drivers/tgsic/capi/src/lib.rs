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
//! `unsafe` is used only here, and only to access pointers that C passed in.

#![allow(non_camel_case_types, reason = "the names are those of the C interface")]

mod allocator;
mod compiler;
mod fit;
mod guard;
mod link;
mod resource;
mod resources;
mod result;
mod run;
mod scan;
mod sized;
mod version;
mod virgl;

pub use allocator::{tgsic_allocate_function, tgsic_allocator};
pub use compiler::*;
pub use fit::*;
pub use link::*;
pub use resource::*;
pub use resources::*;
pub use result::*;
pub use run::*;
pub use scan::*;
pub use version::*;
pub use virgl::*;

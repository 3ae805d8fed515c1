//! libtgsic: the compiler for programs in C. `include/tgsic.h` is generated from this crate; the manual page `tgsic.3`
//! says how to use it.
//!
//! Rules that hold at every function:
//!
//! - Nothing unwinds into C: a panic becomes a result with `TGSIC_ERROR_INTERNAL` (`guard.rs`). Only when the system
//!   has no memory left does the process end, as Rust programs do.
//! - A function that makes an object never returns NULL without an error object.
//! - There is no state outside of the objects, but for the hook that silences panics: no environment, no locale, no
//!   output. A `tgsic_compiler` does not change after it was made; any number of threads may use it.
//! - Pointers to be read may be NULL where a length is 0. Strings are UTF-8 with a NUL at the end.
//! - Structs that cross the boundary begin with their size, so that callers and library may differ in version
//!   (`sized.rs`).
//!
//! `unsafe` stands only here, and only to follow pointers that C passed in.

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

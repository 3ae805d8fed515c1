//! NIR-style SSA intermediate representation.

pub mod alu;
pub mod intrinsics;

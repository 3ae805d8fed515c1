//! NIR-style SSA intermediate representation.

pub mod alu;
pub mod intrinsics;
pub mod run;
pub mod system_value;

//! The execution of machine code, compiled at run time or linked into the process.

#![cfg_attr(not(feature = "machine-code"), allow(dead_code, reason = "only code generation uses all of it"))]

pub(super) mod calls;
pub(super) mod code;
pub(super) mod context;
pub(super) mod sampling;

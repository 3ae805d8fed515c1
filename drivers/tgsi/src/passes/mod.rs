//! The passes over the machine program, allocation of registers among them: from what selection gives to what is emitted.
//!
//! Every pass takes a [`Program`](crate::machine::Program), changes it in place and says whether it did. What the
//! program computes stays the same, and what the target does not allow is not made.
//! [`pipeline`] says which pass runs when.

pub(crate) mod allocate;
mod combine;
mod dead_code;
mod forward;
mod hoist_constants;
pub(crate) mod join;
pub(crate) mod legalize_virgl;
mod merge;
pub(crate) mod pipeline;
mod propagate;
mod tidy_flow;
mod tracker;
mod vectorize;

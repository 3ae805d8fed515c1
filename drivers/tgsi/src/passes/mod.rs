//! The passes over the machine program, from what selection gives to what is emitted. Here are those that are about
//! TGSI; the others, allocation of registers among them, are those of [`tgsi_vec4`].
//!
//! Every pass takes a [`Program`](crate::machine::Program), changes it in place and says whether it did. What the
//! program computes stays the same, and what the target does not allow is not made.
//! [`table`] lists them, [`pipeline`](crate::pipeline) runs them.

pub(crate) mod choose_components;
mod combine;
mod group_addresses;
pub(crate) mod group_lookups;
pub(crate) mod join;
pub(crate) mod legalize_virgl;
pub(crate) mod lower_continues;
pub(crate) mod named;
mod share_constants;
mod share_swizzles;
mod simplify_cfg;
pub(crate) mod table;

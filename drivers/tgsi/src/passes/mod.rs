//! The passes over the machine program, from what selection gives to what is emitted. Here are those that are about
//! TGSI; the others, allocation of registers among them, are those of [`tgsi_vec4`].
//!
//! Every pass takes a [`Program`](crate::machine::Program), changes it in place and returns whether it did. Passes
//! preserve the results of the program, and create only instructions that the target allows. [`pipeline`] defines their
//! order.

mod choose_components;
mod combine;
mod group_addresses;
mod group_lookups;
pub(crate) mod join;
pub(crate) mod legalize_virgl;
pub(crate) mod lower_continues;
pub(crate) mod named;
pub(crate) mod pipeline;
mod share_constants;
mod share_swizzles;
mod simplify_cfg;

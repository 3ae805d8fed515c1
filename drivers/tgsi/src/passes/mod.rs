//! The passes over the machine program, between selection and emission. This folder has the passes specific to TGSI;
//! the others, register allocation among them, are those of [`tgsi_vec4`].
//!
//! Every pass takes a [`Program`](crate::machine::Program), changes it in place and returns whether it did. Passes
//! preserve the results of the program, and introduce nothing that the target does not allow. [`table`] lists them,
//! [`pipeline`](crate::pipeline) runs them.

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

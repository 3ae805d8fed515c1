//! Converts functions, registers and variables to SSA, and repairs SSA.

pub mod convert_to_lcssa;
pub(crate) mod exposed_reads;
pub mod inline_functions;
pub mod lower_global_vars_to_local;
pub mod lower_reg_intrinsics_to_ssa;
pub mod lower_returns;
pub mod lower_vars_to_ssa;
pub mod opt_unwritten_outputs;
pub mod phi_builder;
pub(crate) mod phi_slots;
pub mod rematerialize_derefs_in_use_blocks;
pub mod repair_ssa;

pub use convert_to_lcssa::convert_to_lcssa;
pub use inline_functions::inline_functions;
pub use lower_global_vars_to_local::lower_global_vars_to_local;
pub use lower_reg_intrinsics_to_ssa::lower_reg_intrinsics_to_ssa;
pub use lower_returns::lower_returns;
pub use lower_vars_to_ssa::lower_vars_to_ssa;
pub use opt_unwritten_outputs::opt_unwritten_outputs;
pub use rematerialize_derefs_in_use_blocks::rematerialize_derefs_in_use_blocks;
pub use repair_ssa::repair_ssa;

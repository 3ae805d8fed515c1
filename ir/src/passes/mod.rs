//! Passes: each a file with one public function that takes the shader, returns whether it changed anything, and opens with what it does.

pub mod inline_functions;
pub mod lower_bool_to_float;
pub mod lower_bool_to_int32;
pub mod lower_global_vars_to_local;
pub mod lower_int_to_float;
pub mod lower_io;
pub mod lower_phis_to_regs_block;
pub mod lower_reg_intrinsics_to_ssa;
pub mod lower_returns;
pub mod lower_var_copies;
pub mod lower_vars_to_ssa;
pub mod opt_constant_folding;
pub mod opt_copy_prop;
pub mod opt_cse;
pub mod opt_dce;
pub mod opt_dead_cf;
pub mod opt_peephole_cleanup;
pub mod opt_remove_phis;
pub mod opt_undef;
pub mod pass_manager;
pub mod phi_builder;
pub mod pipeline;
pub mod rematerialize_derefs_in_use_blocks;
pub mod remove_dead_variables;
pub mod repair_ssa;
pub mod split_var_copies;

pub use inline_functions::inline_functions;
pub use lower_bool_to_float::lower_bool_to_float;
pub use lower_bool_to_int32::lower_bool_to_int32;
pub use lower_global_vars_to_local::lower_global_vars_to_local;
pub use lower_int_to_float::lower_int_to_float;
pub use lower_io::lower_io;
pub use lower_phis_to_regs_block::{lower_phis_to_regs_block, lower_ssa_defs_to_regs_block};
pub use lower_reg_intrinsics_to_ssa::lower_reg_intrinsics_to_ssa;
pub use lower_returns::lower_returns;
pub use lower_var_copies::lower_var_copies;
pub use lower_vars_to_ssa::lower_vars_to_ssa;
pub use opt_constant_folding::opt_constant_folding;
pub use opt_copy_prop::opt_copy_prop;
pub use opt_cse::opt_cse;
pub use opt_dce::opt_dce;
pub use opt_dead_cf::opt_dead_cf;
pub use opt_peephole_cleanup::opt_peephole_cleanup;
pub use opt_remove_phis::opt_remove_phis;
pub use opt_undef::opt_undef;
pub use pass_manager::run_pass;
pub use pipeline::into_ssa;
pub use rematerialize_derefs_in_use_blocks::rematerialize_derefs_in_use_blocks;
pub use remove_dead_variables::remove_dead_variables;
pub use repair_ssa::repair_ssa;
pub use split_var_copies::split_var_copies;

#[cfg(test)]
mod tests;

//! Passes: each a file with one public function that takes the shader, returns whether it changed anything, and opens with what it does.

pub mod lower_reg_intrinsics_to_ssa;
pub mod opt_copy_prop;
pub mod opt_dce;
pub mod phi_builder;

pub use lower_reg_intrinsics_to_ssa::lower_reg_intrinsics_to_ssa;
pub use opt_copy_prop::opt_copy_prop;
pub use opt_dce::opt_dce;

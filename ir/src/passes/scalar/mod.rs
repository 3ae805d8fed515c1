//! Simplifies values: single instructions, independent of the control flow around them.

pub mod opt_algebraic;
pub mod opt_comparison_pre;
pub mod opt_constant_folding;
pub mod opt_copy_prop;
pub mod opt_cse;
pub mod opt_dce;
pub mod opt_idiv_const;
pub mod opt_narrow_selects;
pub mod opt_phi_precision;
pub mod opt_rematerialize_compares;
pub mod opt_remove_phis;
pub mod opt_reuse_components;
pub mod opt_shrink_vectors;
pub mod opt_undef;

pub use opt_algebraic::{opt_algebraic, opt_algebraic_distribute_src_mods, opt_algebraic_late, opt_algebraic_lower};
pub use opt_comparison_pre::opt_comparison_pre;
pub use opt_constant_folding::opt_constant_folding;
pub use opt_copy_prop::opt_copy_prop;
pub use opt_cse::opt_cse;
pub use opt_dce::opt_dce;
pub use opt_idiv_const::opt_idiv_const;
pub use opt_narrow_selects::opt_narrow_selects;
pub use opt_phi_precision::opt_phi_precision;
pub use opt_rematerialize_compares::opt_rematerialize_compares;
pub use opt_remove_phis::opt_remove_phis;
pub use opt_reuse_components::opt_reuse_components;
pub use opt_shrink_vectors::opt_shrink_vectors;
pub use opt_undef::opt_undef;

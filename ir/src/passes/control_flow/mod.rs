//! Branches.

pub mod opt_conditional_discard;
pub mod opt_dead_cf;
pub mod opt_if;
pub mod opt_peephole_select;

pub use opt_conditional_discard::opt_conditional_discard;
pub use opt_dead_cf::opt_dead_cf;
pub use opt_if::opt_if;
pub use opt_peephole_select::opt_peephole_select;

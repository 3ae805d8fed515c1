//! Loops, and code that leaves them.

pub mod lower_loop_jumps;
pub(crate) mod motion;
pub mod opt_licm;
pub mod opt_loop;
pub mod opt_loop_unroll;

pub use lower_loop_jumps::lower_loop_jumps;
pub use opt_licm::opt_licm;
pub use opt_loop::opt_loop;
pub use opt_loop_unroll::opt_loop_unroll;

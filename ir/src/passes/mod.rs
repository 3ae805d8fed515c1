//! The passes. Each is one file with one public function, which takes the shader and returns whether it changed. They
//! are grouped into folders by subject.
//!
//! [`pipeline`] has the pipelines, [`table`] one row for each pass, by name. The functions of single passes
//! (`passes::opt_dce`, ...) are reachable, but not part of the documented interface: they may change in any version.
//! The manual of the IR describes each pass.

#[doc(hidden)]
pub mod control_flow;
#[doc(hidden)]
pub mod into_ssa;
pub mod linking;
#[doc(hidden)]
pub mod loops;
#[doc(hidden)]
pub mod lower_booleans;
#[doc(hidden)]
pub mod lower_indirects;
#[doc(hidden)]
pub mod lower_numbers;
#[doc(hidden)]
pub mod lower_resources;
pub mod pass_manager;
#[doc(hidden)]
pub mod pass_table;
pub mod pipeline;
pub mod profiles;
#[doc(hidden)]
pub mod scalar;
pub mod table;
#[doc(hidden)]
pub mod variables;

#[doc(hidden)]
pub use control_flow::*;
#[doc(hidden)]
pub use into_ssa::*;
pub use linking::*;
#[doc(hidden)]
pub use loops::*;
#[doc(hidden)]
pub use lower_booleans::*;
#[doc(hidden)]
pub use lower_indirects::*;
#[doc(hidden)]
pub use lower_numbers::*;
#[doc(hidden)]
pub use lower_resources::*;
pub use pass_manager::run_pass;
pub use pipeline::into_ssa;
#[doc(hidden)]
pub use scalar::*;
#[doc(hidden)]
pub use variables::*;

#[cfg(test)]
mod tests;

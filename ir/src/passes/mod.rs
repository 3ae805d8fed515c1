//! The passes. Each is one file with one public function, which takes the shader and returns whether it changed. They
//! are grouped into folders by subject.

pub mod control_flow;
pub mod into_ssa;
pub mod linking;
pub mod loops;
pub mod lower_booleans;
pub mod lower_indirects;
pub mod lower_numbers;
pub mod lower_resources;
pub mod pass_manager;
pub mod pass_table;
pub mod pipeline;
pub mod profiles;
pub mod scalar;
pub mod table;
pub mod variables;

pub use control_flow::*;
pub use into_ssa::*;
pub use linking::*;
pub use loops::*;
pub use lower_booleans::*;
pub use lower_indirects::*;
pub use lower_numbers::*;
pub use lower_resources::*;
pub use pass_manager::run_pass;
pub use pipeline::into_ssa;
pub use scalar::*;
pub use variables::*;

#[cfg(test)]
mod tests;

//! Optimises variables and arrays in memory, and memory that is accessed like these.

pub(crate) mod deref_tree;
pub mod lower_array_deref_of_vec;
pub mod lower_var_copies;
pub mod lower_variable_initializers;
pub(crate) mod memory_versions;
pub mod opt_copy_prop_vars;
pub mod opt_dead_write_vars;
pub mod opt_find_array_copies;
pub mod opt_large_constants;
pub mod opt_load_store_vectorize;
pub mod remove_dead_variables;
pub mod shrink_vec_array_vars;
pub mod split_aggregates;

pub use lower_array_deref_of_vec::lower_array_deref_of_vec;
pub use lower_var_copies::lower_var_copies;
pub use lower_variable_initializers::lower_variable_initializers;
pub use opt_copy_prop_vars::opt_copy_prop_vars;
pub use opt_dead_write_vars::opt_dead_write_vars;
pub use opt_find_array_copies::opt_find_array_copies;
pub use opt_large_constants::opt_large_constants;
pub use opt_load_store_vectorize::opt_load_store_vectorize;
pub use remove_dead_variables::remove_dead_variables;
pub use shrink_vec_array_vars::shrink_vec_array_vars;
pub use split_aggregates::split_aggregates;

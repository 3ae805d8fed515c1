//! Lowers booleans to the representation of the target.

pub(crate) mod boolean_numbers;
pub mod lower_bool_to_float;
pub mod lower_bool_to_int32;

pub use lower_bool_to_float::lower_bool_to_float;
pub use lower_bool_to_int32::lower_bool_to_int32;

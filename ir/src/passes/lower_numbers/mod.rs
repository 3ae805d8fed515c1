//! Lowers arithmetic that a target lacks: widths, sizes, number formats.

pub(crate) mod arithmetic;
pub mod lower_alu;
pub mod lower_alu_to_scalar;
pub mod lower_doubles;
pub mod lower_fp16_casts;
pub mod lower_frexp;
pub mod lower_idiv;
pub mod lower_int64;
pub mod lower_int_to_float;
pub mod lower_load_const_to_scalar;
pub mod lower_pack;
pub mod lower_phis_to_scalar;
pub mod lower_small_types;

pub use lower_alu::lower_alu;
pub use lower_alu_to_scalar::lower_alu_to_scalar;
pub use lower_doubles::lower_doubles;
pub use lower_fp16_casts::lower_fp16_casts;
pub use lower_frexp::lower_frexp;
pub use lower_idiv::lower_idiv;
pub use lower_int_to_float::lower_int_to_float;
pub use lower_int64::lower_int64;
pub use lower_load_const_to_scalar::lower_load_const_to_scalar;
pub use lower_pack::lower_pack;
pub use lower_phis_to_scalar::lower_phis_to_scalar;
pub use lower_small_types::lower_small_types;

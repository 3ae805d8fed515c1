//! Registers for backends that think in registers: out of SSA, trivial register accesses, and the helpers that find registers, write masks and
//! modifiers behind SSA values again.
//!
//! A backend of the old kind runs, on optimised SSA:
//!
//! 1. [`convert_from_ssa`](convert_from_ssa()): phis become registers;
//! 2. [`lower_vec_to_regs`](lower_vec_to_regs()): vectors that are put together become masked writes;
//! 3. [`lower_locals_to_regs`](lower_locals_to_regs()): arrays that are left become register arrays;
//! 4. [`legacy_trivialize`](legacy_trivialize()), last: float modifiers go into loads and stores, and every access becomes *trivial*: it can be folded
//!    into the instruction that uses or makes the value.
//!
//! Instruction selection then asks the functions of [`chase`] for each source and destination and emits nothing for what they report as folded.
//! [`check`] proves, independently of how the trivialisation worked, that folding is sound.
//!
//! The names are NIR's (`nir_convert_from_ssa`, `nir_lower_vec_to_regs`, `nir_legacy_trivialize`, `nir_legacy_chase_alu_src`, ...).

pub mod chase;
pub mod check;
pub mod convert_from_ssa;
pub mod legacy_trivialize;
pub mod lower_locals_to_regs;
pub mod lower_vec_to_regs;
mod merge_sets;
pub mod trivialize_registers;
pub mod vec4;

pub use convert_from_ssa::convert_from_ssa;
pub use legacy_trivialize::legacy_trivialize;
pub use lower_locals_to_regs::lower_locals_to_regs;
pub use lower_vec_to_regs::lower_vec_to_regs;
pub use trivialize_registers::trivialize_registers;

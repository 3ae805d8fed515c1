//! Registers for backends that think in registers: out of SSA, trivial register accesses, and the helpers that find
//! registers, write masks and modifiers of SSA values again.
//!
//! A backend of the old kind runs, on optimised SSA:
//!
//! 1. [`flatten_control_flow`](flatten_control_flow()), if the hardware has no branches;
//! 2. [`convert_from_ssa`](convert_from_ssa()): phis become registers;
//! 3. [`move_vec_src_uses_to_dest`](move_vec_src_uses_to_dest()) and [`lower_vec_to_regs`](lower_vec_to_regs()):
//!    vectors that are put together become masked writes;
//! 4. [`lower_locals_to_regs`](lower_locals_to_regs()): arrays that are left become register arrays (before the first
//!    step for backends that want them while code is SSA);
//! 5. [`legacy_trivialize`](legacy_trivialize()): float modifiers go into loads and stores, and every access becomes
//!    *trivial*: it can be folded into the instruction that uses or makes the value. Backends that fold modifiers
//!    themselves use [`trivialize_registers`](trivialize_registers()) alone;
//!    Both are told which values are operands that the backend reads in place ([`IsOperand`]), as it may do with
//!    uniforms and inputs: a store is never folded into one of these;
//! 6. [`legalize_operands`](legalize_operands()), last, if instructions cannot read any operands.
//!
//! Instruction selection then asks the functions of [`chase`] for each source and destination and emits nothing for
//! what they report as folded. A [`ModifierPolicy`](modifiers::ModifierPolicy) says which modifiers the target has; the
//! same one goes to all of these. [`later_reads`] tells whether instructions may be fused or split, [`registers`] lists
//! declarations and accesses, [`assign_registers`] finds locations for all of it. [`check`] proves, independently of
//! how the trivialisation worked, that folding is sound.
//!
//! The names are NIR's (`nir_convert_from_ssa`, `nir_lower_vec_to_regs`, `nir_legacy_trivialize`,
//! `nir_legacy_chase_alu_src`, ...).

pub mod assign_registers;
pub mod chase;
pub mod check;
pub mod convert_from_ssa;
pub mod flatten_control_flow;
pub mod later_reads;
pub mod legacy_trivialize;
pub mod legalize_operands;
pub mod lower_locals_to_regs;
pub mod lower_vec_to_regs;
mod merge_sets;
pub mod modifiers;
pub mod move_vec_src_uses_to_dest;
pub mod registers;
mod table;
pub mod trivialize_registers;

pub use convert_from_ssa::convert_from_ssa;
pub use flatten_control_flow::flatten_control_flow;
pub use legacy_trivialize::legacy_trivialize;
pub use legalize_operands::legalize_operands;
pub use lower_locals_to_regs::lower_locals_to_regs;
pub use lower_vec_to_regs::lower_vec_to_regs;
pub use move_vec_src_uses_to_dest::move_vec_src_uses_to_dest;
pub use table::{PASSES, PassInfo};
pub use trivialize_registers::{IsOperand, NO_OPERANDS, trivialize_registers};

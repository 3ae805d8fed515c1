//! Registers for register-based backends: out of SSA, trivial register accesses, and helpers that map SSA values back
//! to registers, write masks and modifiers.
//!
//! [`lower`] does all of the following in the right order, and before it what machines with floats only need. The steps
//! of a register-based backend, on optimised SSA:
//!
//! 1. [`flatten_control_flow`](flatten_control_flow()), if the hardware has no branches;
//! 2. [`convert_from_ssa`](convert_from_ssa()): phis become registers;
//! 3. [`move_vec_src_uses_to_dest`](move_vec_src_uses_to_dest()) and [`lower_vec_to_regs`](lower_vec_to_regs()): `vecN`
//!    instructions become masked writes;
//! 4. [`lower_locals_to_regs`](lower_locals_to_regs()): the remaining arrays become register arrays (before the first
//!    step for backends that need them while the code is in SSA form);
//! 5. [`legacy_trivialize`](legacy_trivialize()): float modifiers are folded into loads and stores, and every access
//!    becomes *trivial*: it can be folded into the instruction that uses or defines the value. Backends that fold
//!    modifiers themselves use [`trivialize_registers`](trivialize_registers()) alone. Both are told which values are
//!    operands that the backend reads in place ([`IsOperand`]), such as uniforms and inputs: a store is never folded
//!    into the definition of such a value;
//! 6. [`legalize_operands`](legalize_operands()), last, if instructions cannot read arbitrary operands.
//!
//! [`select`] does instruction selection for machines with the instruction type of [`tgsi_vec4::simple`].
//!
//! Other instruction selection queries [`chase`] for each source and destination and emits nothing for instructions
//! that are folded. A [`ModifierPolicy`](modifiers::ModifierPolicy) describes the target's modifiers; all of these
//! functions must get the same one. [`later_reads`] decides whether instructions may be fused or split, [`registers`]
//! lists declarations and accesses, [`assign_registers`] assigns locations. [`check`] proves, independently of the
//! trivialisation, that folding is sound.
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
pub mod lower;
pub mod lower_locals_to_regs;
pub mod lower_vec_to_regs;
mod merge_sets;
pub mod modifiers;
pub mod move_vec_src_uses_to_dest;
pub mod registers;
pub mod select;
mod table;
pub mod trivialize_registers;

pub use convert_from_ssa::convert_from_ssa;
pub use flatten_control_flow::flatten_control_flow;
pub use legacy_trivialize::legacy_trivialize;
pub use legalize_operands::legalize_operands;
pub use lower_locals_to_regs::lower_locals_to_regs;
pub use lower_vec_to_regs::lower_vec_to_regs;
pub use move_vec_src_uses_to_dest::move_vec_src_uses_to_dest;
pub use table::PASSES;
pub use trivialize_registers::{IsOperand, NO_OPERANDS, trivialize_registers};

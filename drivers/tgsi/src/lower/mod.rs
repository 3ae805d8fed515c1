//! Lowers optimised SSA to IR in register form in which every instruction has a TGSI form. The result is valid IR and
//! can be run.
//!
//! [`tgsi_registers::lower`] does what every vec4 machine needs; the passes here are about words of 32 and 64 bits.

mod choose_boolean_form;
mod lower_boolean_words;
mod lower_subgroup_ids;
mod lower_wide_signs;
mod lower_wide_vectors;

use tgsi_compiler::InterfaceIntegers;
use tgsi_ir::Shader;
use tgsi_ir::options::{CompilerOptions, DoubleOps, Int64Ops};
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::pipeline::finish;
use tgsi_ir::passes::{
    lower_bool_to_int32, lower_doubles, lower_frexp, lower_int64, lower_pack, lower_sample_positions,
    lower_samples_identical, lower_small_types, opt_copy_prop, opt_dce,
};
use tgsi_ir::shader::ShaderStage;
use tgsi_registers::NO_OPERANDS;
use tgsi_registers::lower::{self, Vec4Target, lower_for_floats, lower_structure, lower_to_registers};

use crate::DriverError;
use crate::consumers::options::{Dialect, TgsiOptions};

use choose_boolean_form::choose_boolean_form;
use lower_boolean_words::lower_boolean_words;
use lower_subgroup_ids::lower_subgroup_ids;
use lower_wide_signs::lower_wide_signs;
use lower_wide_vectors::lower_wide_vectors;

/// Lists the integers of a shader in SSA form that are floats for a target without integers.
///
/// # Errors
/// Returns an error for operations that floats cannot compute.
pub(crate) fn interface_integers(shader: &mut Shader, options: &TgsiOptions) -> Result<InterfaceIntegers, DriverError> {
    lower_unknown_words(shader, options, &mut Passes::default());
    Ok(lower::interface_integers(shader, &options.vec4_target(shader.stage))?)
}

/// Lowers operations that the target lacks: numbers of 8 and 16 bits, 64-bit integers, packed numbers, roundings of
/// 64-bit floats, positions of samples, numbers of subgroups, fractions and exponents of floats (for virgl hosts of
/// 64-bit floats, too).
fn lower_unknown_words(shader: &mut Shader, options: &TgsiOptions, passes: &mut Passes<'_>) {
    let rounding = DoubleOps::TRUNC.union(DoubleOps::CEIL).union(DoubleOps::ROUND_EVEN);
    // TGSI has no opcodes for high halves of products of 64 bits, and moves words between invocations.
    let lacking = Int64Ops::MUL_HIGH.union(Int64Ops::SHUFFLE).union(Int64Ops::VOTE);
    let lowering = CompilerOptions {
        lower_int64: if options.has_wide_integers { lacking } else { Int64Ops::ALL },
        lower_frexp: options.dialect == Dialect::Virgl,
        lower_frexp_32: true,
        lower_pack_vectors: !options.has_packing,
        lower_pack_32_4x8_split: !options.has_packing,
        lower_doubles: if options.has_wide_rounding { DoubleOps::NONE } else { rounding },
        ..CompilerOptions::default()
    };
    // First: 64-bit integers are packed from words.
    let mut progress = passes.run_on(shader, "tgsi:lower_small_types", lower_small_types);
    passes.run_on(shader, "tgsi:lower_wide_vectors", lower_wide_vectors);
    progress |= passes.run_on(shader, "tgsi:lower_frexp", |s| lower_frexp(s, &lowering));
    progress |= passes.run_on(shader, "tgsi:lower_subgroup_ids", lower_subgroup_ids);
    progress |=
        !options.has_sample_queries() && passes.run_on(shader, "tgsi:lower_sample_positions", lower_sample_positions);
    progress |= passes.run_on(shader, "tgsi:lower_samples_identical", lower_samples_identical);
    progress |= !options.has_wide_rounding && passes.run_on(shader, "tgsi:lower_wide_signs", lower_wide_signs);
    progress |= passes.run_on(shader, "tgsi:lower_doubles", |s| lower_doubles(s, &lowering));
    if passes.run_on(shader, "tgsi:lower_int64", |s| lower_int64(s, &lowering)) {
        progress = true;
        passes.run_on(shader, "tgsi:lower_wide_vectors", lower_wide_vectors);
    }
    progress |= passes.run_on(shader, "tgsi:lower_pack", |s| lower_pack(s, &lowering));
    if progress {
        passes.run_on(shader, "tgsi:finish", |s| finish(s, &options.compiler_options_of_any_stage()));
    }
}

/// Lowers booleans to 32-bit integers.
fn lower_to_integers(shader: &mut Shader, options: &TgsiOptions, passes: &mut Passes<'_>) {
    passes.run_on(shader, "tgsi:lower_bool_to_int32", lower_bool_to_int32);
    while passes.run_on(shader, "tgsi:lower_boolean_words", lower_boolean_words)
        | passes.run_on(shader, "tgsi:opt_copy_prop", opt_copy_prop)
    {
        passes.run_on(shader, "tgsi:opt_dce", opt_dce);
    }
    let comparisons_return_masks = options.comparisons_return_masks;
    passes.run_on(shader, "tgsi:choose_boolean_form", |s| choose_boolean_form(s, comparisons_return_masks));
}

/// Lowers a shader in SSA form for selection, up to and including the trivialisation of register accesses. The options
/// must match the stage. No pass is skipped.
///
/// # Errors
/// Returns [`DriverError`] for operations that a target without integers cannot compute.
pub(crate) fn lower(shader: &mut Shader, options: &TgsiOptions, passes: &mut Passes<'_>) -> Result<(), DriverError> {
    if options.dialect == Dialect::Virgl {
        // Virgl hosts refuse the property: its rules for products must be in the code.
        shader.info.use_legacy_math_rules = false;
    }
    lower_unknown_words(shader, options, passes);
    let target = options.vec4_target(shader.stage);
    if options.native_integers {
        lower_structure(shader, &target, passes)?;
        lower_to_integers(shader, options, passes);
        lower_to_registers(shader, &target, passes);
    } else {
        lower_for_floats(shader, &target, passes)?;
    }
    Ok(())
}

impl TgsiOptions {
    fn vec4_target(&self, stage: ShaderStage) -> Vec4Target<'static> {
        Vec4Target {
            compiler: self.compiler_options_of_any_stage(),
            optimize: !self.unoptimized,
            keep_rounding: self.keep_rounding,
            has_subroutines: self.has_subroutines(),
            has_branches: self.has_branches,
            has_periodic: self.has_periodic,
            has_cmp: self.has_cmp,
            has_comparisons: self.native_integers || self.has_comparisons,
            has_truncation: self.native_integers || self.has_trunc || self.has_flr || self.has_cmp,
            has_swizzled_lookups: !self.unswizzled_coordinates,
            modifiers: self.modifiers(),
            is_operand: NO_OPERANDS,
            single_constant_operand: self.single_constant_operand,
            single_input_operand: self.single_input_operand,
            per_component_negation: self.per_component_negation,
            merges_copies: self.merges_copies,
            selection_cost: if self.slow_cmp { 3 } else { 1 },
            equality_cost: if self.slow_equality { 3 } else { 1 },
            fuses_sums: self.fuse_mad && !self.keep_rounding,
            forms_multiply_adds: false,
            is_scalar: &|_| false,
            narrows_broadcasts: self.pairing_scheduler,
            // Virgl hosts may round a dot product differently than its parts, and splitting depends on the uses.
            forms_dot_products: self.dialect != Dialect::Virgl || stage == ShaderStage::Fragment,
            has_vector_registers: self.vec_to_regs,
        }
    }
}

//! Lowers optimised SSA to IR in register form in which every instruction has a TGSI form. The result is valid IR and
//! can be run.

/// Runs a pass over the IR as a pass of the driver.
macro_rules! run {
    ($passes:expr, $shader:expr, $name:ident) => {
        run!($passes, $shader, $name, |s| $name(s))
    };
    ($passes:expr, $shader:expr, $name:ident, |$s:ident| $pass:expr) => {{
        let name = concat!("tgsi:", stringify!($name));
        let shader: &mut Shader = $shader;
        $passes.run_driver(name, || run_pass(shader, name, |$s| $pass))
    }};
}

mod choose_boolean_form;
mod form_dot_products;
mod lower_boolean_words;
mod lower_control_flow;
mod lower_float_comparisons;
mod lower_interface_integers;
mod lower_periodic;
mod lower_truncated_indices;
mod lower_wide_signs;
mod lower_wide_vectors;
mod narrow_broadcasts;
mod nest_selections;
mod reuse_differences;
mod reuse_vectors;
mod split_operands;
mod swap_inverted_sides;

use tgsi_compiler::InterfaceIntegers;
use tgsi_ir::options::{CompilerOptions, DoubleOps, Int64Ops};
use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::pipeline::{finish, into_ssa};
use tgsi_ir::passes::{
    lower_bool_to_float, lower_bool_to_int32, lower_doubles, lower_frexp, lower_global_vars_to_local,
    lower_indirect_derefs, lower_indirect_io, lower_indirect_registers, lower_int_to_float, lower_int64, lower_io,
    lower_pack, lower_sample_positions, lower_vars_to_ssa, opt_constant_folding, opt_copy_prop, opt_cse, opt_dce,
    remove_dead_variables, run_pass,
};
use tgsi_ir::shader::{NO_INLINE, ShaderStage};
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Body, Inst, Shader};
use tgsi_registers::convert_from_ssa::ConvertFromSsaOptions;
use tgsi_registers::{NO_OPERANDS, convert_from_ssa, legacy_trivialize, lower_locals_to_regs, lower_vec_to_regs};

use crate::consumers::options::{Dialect, TgsiOptions};
use crate::{DriverError, Located};

use choose_boolean_form::choose_boolean_form;
use form_dot_products::form_dot_products;
use lower_boolean_words::lower_boolean_words;
use lower_control_flow::{flatten_branches, unroll_loops};
use lower_float_comparisons::{compare_instead_of_select, lower_float_comparisons, make_selections_boolean};
pub(crate) use lower_interface_integers::is_interface_load;
use lower_interface_integers::lower_interface_integers;
use lower_periodic::lower_periodic;
use lower_truncated_indices::lower_truncated_indices;
use lower_wide_signs::lower_wide_signs;
use lower_wide_vectors::lower_wide_vectors;
use narrow_broadcasts::narrow_broadcasts;
use nest_selections::{Selections, nest_selections};
use reuse_differences::reuse_differences;
use reuse_vectors::reuse_vectors;
use split_operands::{Costs, split_operands};
use swap_inverted_sides::swap_inverted_sides;

/// The maximum length of an array of temporaries that is split into values. Longer arrays become registers, because a
/// write through an index needs a number of phis logarithmic in the length.
const LONGEST_SPLIT_ARRAY: u32 = 64;

/// Makes accesses through run-time indices direct where the target cannot address the file indirectly. Returns whether
/// there were any.
fn lower_indirect(shader: &mut Shader, options: &TgsiOptions, passes: &mut Passes<'_>) -> bool {
    let missing = options.no_indirect();
    let interface = VariableModes(missing.0 & (VariableModes::SHADER_IN.0 | VariableModes::SHADER_OUT.0));
    let mut progress = run!(passes, shader, lower_indirect_derefs, |s| lower_indirect_derefs(s, interface, u32::MAX));
    progress |= run!(passes, shader, lower_indirect_io, |s| lower_indirect_io(s, missing));
    if !options.indirect_temporaries {
        let temporaries = VariableModes::FUNCTION_TEMP;
        progress |= run!(passes, shader, lower_indirect_derefs, |s| {
            lower_indirect_derefs(s, temporaries, LONGEST_SPLIT_ARRAY)
        });
    }
    progress
}

/// Lists the integers of a shader in SSA form that are floats for a target without integers.
///
/// # Errors
/// Returns an error for operations that floats cannot compute.
pub(crate) fn interface_integers(shader: &Shader, options: &TgsiOptions) -> Result<InterfaceIntegers, Located> {
    let mut shader = shader.clone();
    let mut passes = Passes::default();
    lower_variables(&mut shader, options, &mut passes);
    let integers = lower_to_floats(&mut shader, options, &mut passes);
    integers.map_err(|error| error.in_shader(&shader, options.native_integers))
}

/// Lowers accesses to inputs and outputs to slots, other variables to SSA values, and indices that the target does not
/// support.
fn lower_variables(shader: &mut Shader, options: &TgsiOptions, passes: &mut Passes<'_>) {
    let unshared = run!(passes, shader, lower_global_vars_to_local) && shader.functions.len() > 1;
    let direct = lower_indirect(shader, options, passes);
    let interface = VariableModes::SHADER_IN.union(VariableModes::SHADER_OUT);
    run!(passes, shader, lower_io, |s| lower_io(s, interface));
    run!(passes, shader, lower_vars_to_ssa);
    if direct || unshared {
        // Cleans up equal conditions, elements that are never written, and sides that compute the same.
        run!(passes, shader, finish, |s| finish(s, &options.compiler_options_of_any_stage()));
    }
    run!(passes, shader, lower_wide_vectors);
    if lower_unknown_words(shader, options, passes) {
        run!(passes, shader, finish, |s| finish(s, &options.compiler_options_of_any_stage()));
    }
    if !options.indirect_temporaries {
        run!(passes, shader, lower_locals_to_regs, |s| lower_locals_to_regs(s, 1));
        run!(passes, shader, lower_indirect_registers);
    }
}

/// Lowers operations that the target lacks: 64-bit integers, packed numbers, roundings of 64-bit floats, positions of
/// samples, and for virgl hosts fractions and exponents.
fn lower_unknown_words(shader: &mut Shader, options: &TgsiOptions, passes: &mut Passes<'_>) -> bool {
    let rounding = DoubleOps::TRUNC.union(DoubleOps::CEIL).union(DoubleOps::ROUND_EVEN);
    let lowering = CompilerOptions {
        lower_int64: if options.has_wide_integers { Int64Ops::NONE } else { Int64Ops::ALL },
        lower_frexp: options.dialect == Dialect::Virgl,
        lower_pack_vectors: !options.has_packing,
        lower_pack_32_4x8_split: !options.has_packing,
        lower_doubles: if options.has_wide_rounding { DoubleOps::NONE } else { rounding },
        ..CompilerOptions::default()
    };
    let mut progress = run!(passes, shader, lower_frexp, |s| lower_frexp(s, &lowering));
    progress |= !options.has_sample_queries() && run!(passes, shader, lower_sample_positions);
    progress |= !options.has_wide_rounding && run!(passes, shader, lower_wide_signs);
    progress |= run!(passes, shader, lower_doubles, |s| lower_doubles(s, &lowering));
    progress |= run!(passes, shader, lower_int64, |s| lower_int64(s, &lowering));
    progress | run!(passes, shader, lower_pack, |s| lower_pack(s, &lowering))
}

/// Lowers integers and booleans to floats.
fn lower_to_floats(
    shader: &mut Shader,
    options: &TgsiOptions,
    passes: &mut Passes<'_>,
) -> Result<InterfaceIntegers, DriverError> {
    let mut lowered = Ok(false);
    // Indices are truncated numbers, and an address register takes the floor: keep truncations until selection.
    let compiler_options = CompilerOptions { lower_ftrunc: false, ..options.compiler_options_of_any_stage() };
    run!(passes, shader, lower_int_to_float, |s| {
        lowered = lower_int_to_float(s, &compiler_options);
        matches!(lowered, Ok(true))
    });
    lowered.map_err(|error| DriverError::UnsupportedAlu { inst: error.inst, op: error.op })?;
    let mut interface = Ok(InterfaceIntegers::default());
    run!(passes, shader, lower_interface_integers, |s| {
        interface = lower_interface_integers(s);
        interface.is_ok()
    });
    let interface = interface?;
    run!(passes, shader, make_selections_boolean);
    run!(passes, shader, lower_bool_to_float);
    if options.has_cmp {
        run!(passes, shader, lower_float_comparisons, |s| lower_float_comparisons(s, options.has_comparisons));
    }
    Ok(interface)
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
    if !options.has_subroutines() && shader.functions.len() > 1 {
        // Subroutines kept for another target.
        for function in shader.functions.values_mut() {
            function.attributes.retain(|attribute| attribute != NO_INLINE);
        }
        run!(passes, shader, inline_functions, |s| into_ssa(s) | finish(s, &options.compiler_options_of_any_stage()));
    }
    if !options.has_branches {
        // Before indices become trees of conditions: many are constant in straight-line code. Counters next to an
        // indexed array are values only after the indices have become conditions.
        let _ = unroll_loops(shader, options, passes);
    }
    lower_variables(shader, options, passes);
    if !options.has_branches {
        unroll_loops(shader, options, passes)?;
        flatten_branches(shader, options, passes)?;
    }
    if !options.has_periodic {
        run!(passes, shader, lower_periodic);
    }
    if !options.unoptimized {
        run!(passes, shader, swap_inverted_sides);
    }
    if !options.unoptimized && options.has_cmp {
        let has_comparisons = options.native_integers || options.has_comparisons;
        if !options.keep_rounding {
            run!(passes, shader, reuse_differences, |s| reuse_differences(s, has_comparisons));
        }
        let selections = Selections { has_comparisons, cost: if options.slow_cmp { 3 } else { 1 } };
        run!(passes, shader, nest_selections, |s| nest_selections(s, selections));
    }
    if options.native_integers {
        run!(passes, shader, lower_bool_to_int32);
    } else {
        lower_to_floats(shader, options, passes)?;
    }
    loop {
        let mut progress = options.native_integers && run!(passes, shader, lower_boolean_words);
        progress |= run!(passes, shader, opt_copy_prop);
        if !progress {
            break;
        }
        run!(passes, shader, opt_dce);
    }
    let comparisons_return_masks = options.comparisons_return_masks;
    if options.native_integers
        && run!(passes, shader, choose_boolean_form, |s| choose_boolean_form(s, comparisons_return_masks))
    {
        run!(passes, shader, opt_copy_prop);
    }
    // Lowered comparisons have become differences, perhaps of negated constants.
    if !options.native_integers && !options.has_comparisons {
        run!(passes, shader, opt_constant_folding);
    }
    if !options.unoptimized && options.pairing_scheduler && run!(passes, shader, narrow_broadcasts) {
        run!(passes, shader, opt_copy_prop);
        run!(passes, shader, opt_dce);
    }
    run!(passes, shader, opt_cse);
    let has_truncation = options.has_trunc || options.has_flr || options.has_cmp;
    if !options.unoptimized && !options.native_integers && !has_truncation {
        run!(passes, shader, lower_truncated_indices);
    }
    if !options.unoptimized {
        let costs = Costs {
            single_constant_operand: options.single_constant_operand,
            single_input_operand: options.single_input_operand,
            per_component_negation: options.per_component_negation,
            merges_copies: options.merges_copies,
            selection: if options.slow_cmp { 3 } else { 1 },
            equality: if options.slow_equality { 3 } else { 1 },
            fuses_sums: options.fuse_mad && !options.keep_rounding,
        };
        let swizzled_lookups = !options.unswizzled_coordinates;
        // Vectors that are shared must not be split.
        let reused = run!(passes, shader, reuse_vectors, |s| reuse_vectors(s, swizzled_lookups));
        let mut progress = run!(passes, shader, split_operands, |s| split_operands(s, costs));
        progress |= options.slow_cmp && run!(passes, shader, compare_instead_of_select);
        if progress {
            run!(passes, shader, opt_copy_prop);
        }
        if reused || progress {
            run!(passes, shader, reuse_vectors, |s| reuse_vectors(s, swizzled_lookups));
        }
        // Virgl hosts may round a dot product differently than its parts, and splitting depends on the uses.
        let is_invariant = options.dialect != Dialect::Virgl || shader.stage == ShaderStage::Fragment;
        if is_invariant {
            run!(passes, shader, form_dot_products);
        }
    }
    run!(passes, shader, opt_dce);
    let temporaries = VariableModes::FUNCTION_TEMP.union(VariableModes::SHADER_TEMP);
    run!(passes, shader, remove_dead_variables, |s| remove_dead_variables(s, temporaries));

    let no_divergence = ConvertFromSsaOptions::default();
    let mut progress = run!(passes, shader, convert_from_ssa, |s| convert_from_ssa(s, no_divergence));
    if options.vec_to_regs {
        // A register holds two 64-bit values, so instructions on them must not be widened.
        let narrow = |body: &Body, producer: Inst, _: u32| {
            body.inst_def(producer)
                .into_iter()
                .chain(body.sources(producer).map(|s| body.src_def(s)))
                .all(|def| body.bit_size(def) != 64)
        };
        progress |= run!(passes, shader, lower_vec_to_regs, |s| lower_vec_to_regs(s, Some(&narrow)));
    }
    progress |= run!(passes, shader, lower_locals_to_regs, |s| lower_locals_to_regs(s, 32));
    if progress {
        run!(passes, shader, opt_dce);
        run!(passes, shader, compact, |s| {
            s.bodies_mut().fold(false, |progress, body| body.compact(true) | progress)
        });
    }
    run!(passes, shader, legacy_trivialize, |s| legacy_trivialize(s, options.modifiers(), NO_OPERANDS));
    #[cfg(debug_assertions)]
    if let Err(violations) = tgsi_registers::check::check(shader, options.modifiers(), NO_OPERANDS) {
        log::error!("register accesses are not trivial: {violations:?}");
        debug_assert!(false, "register accesses are not trivial: {violations:?}");
    }
    Ok(())
}

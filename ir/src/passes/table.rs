//! The table of passes. A row is all that is stated about a pass outside of its file: pipelines, `--skip`, `--after`,
//! `--passes`, `--time-passes`, fixtures and the manual take names and functions from it.
//!
//! A row specifies which changes give the pass no new work, so that pipelines do not rerun it needlessly:
//!
//! - `once`, `loops`, `again`, `first`: whether a run of the pass can give it new work. A `once` pass changes nothing
//!   if it is rerun at once; a `loops` pass may, in shaders with loops; an `again` pass may. A `first` pass has no work
//!   after its first run, whatever other passes change.
//! - The list: passes with changes that give this one no work. For example, the removals of
//!   [`opt_dce`](PassId::opt_dce) matter only to passes that count uses or effects.
//!
//! - `if`: pipelines run the pass only in shaders with this property. When named explicitly, it always runs.
//!
//! If in doubt, write `again []`: the pass then reruns whenever anything has changed. A list that is too long costs
//! optimisation, not correctness.

use crate::body::Body;
use crate::options::CompilerOptions;
use crate::pass_table;
pub use crate::passes::pass_table::{PassInfo, PassSet};
use crate::shader::Shader;
use crate::variable::VariableModes;

/// The modes of variables that only the shader itself accesses.
const TEMPORARIES: VariableModes = VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0);

/// Runs a pass for a target; returns whether it changed the shader.
pub type PassFn = fn(&mut Shader, &CompilerOptions) -> bool;

/// A pass in a list: a reference to its row. Lists link only the passes that they name; [`PASSES`], for lookup by name,
/// links all.
pub type Pass = &'static PassInfo;

impl PassSet {
    /// Creates a set.
    pub const fn of(passes: &[PassId]) -> PassSet {
        // There are no more.
        let mut numbers = [0; 128];
        let mut index = 0;
        while index < passes.len() {
            numbers[index] = passes[index] as u32;
            index += 1;
        }
        PassSet::of_numbers(numbers.split_at(index).0)
    }
}

impl PassId {
    /// Returns the row of the pass.
    pub fn info(self) -> Pass {
        PASSES[self as usize]
    }

    /// Returns the pass of a name.
    pub fn from_name(name: &str) -> Option<PassId> {
        PASSES.iter().find(|pass| pass.name == name).map(|pass| pass.id())
    }
}

impl PassInfo {
    /// The pass.
    pub fn id(&self) -> PassId {
        PassId::ALL[self.number as usize]
    }
}

pass_table! {
    Shader, CompilerOptions, "":
    into_ssa {
        inline_functions again [] "Inlines functions." |s, _| super::inline_functions(s);
        lower_returns again [] "Lowers returns to structured control flow." |s, _| super::lower_returns(s);
        lower_global_vars_to_local again [] "Moves global variables that functions do not share to their function."
            |s, _| super::lower_global_vars_to_local(s);
        lower_vars_to_ssa once [] "Converts variables without run-time indices to SSA values."
            |s, _| super::lower_vars_to_ssa(s);
        lower_reg_intrinsics_to_ssa once [] "Converts registers to SSA values."
            |s, _| super::lower_reg_intrinsics_to_ssa(s);
        repair_ssa again [] "Inserts phis where a definition no longer dominates a use." |s, _| super::repair_ssa(s);
        convert_to_lcssa again [] "Adds phis for values that are used after a loop." |s, _| super::convert_to_lcssa(s);
        rematerialize_derefs_in_use_blocks again [] "Clones derefs into the blocks that use them."
            |s, _| super::rematerialize_derefs_in_use_blocks(s);
        opt_unwritten_outputs again [] "Removes stores of initial values to outputs."
            |s, _| super::opt_unwritten_outputs(s);
    }
    scalar {
        opt_algebraic once [] "Applies the algebraic rules." super::opt_algebraic;
        opt_algebraic_late again [] "Applies the algebraic rules that undo the normal form of the others."
            super::opt_algebraic_late;
        opt_algebraic_lower again [] "Applies only the algebraic rules that lower operations missing on the target."
            super::opt_algebraic_lower;
        opt_algebraic_distribute_src_mods again [] "Moves negation and absolute value to operands where they are modifiers."
            |s, o| o.source_modifiers && super::opt_algebraic_distribute_src_mods(s, o);
        opt_constant_folding once [opt_dce remove_dead_variables opt_cse opt_shrink_vectors]
            "Folds instructions on constants." |s, _| super::opt_constant_folding(s);
        opt_copy_prop once [opt_dce remove_dead_variables opt_cse opt_constant_folding opt_algebraic]
            "Propagates copies through moves and vectors." |s, _| super::opt_copy_prop(s);
        opt_cse loops [opt_dce remove_dead_variables] "Merges equal instructions." |s, _| super::opt_cse(s);
        opt_dce once [opt_cse] "Removes instructions without uses and effects." |s, _| super::opt_dce(s);
        opt_undef again [opt_dce remove_dead_variables opt_cse opt_constant_folding]
            "Chooses undefined values so that their uses can be removed." |s, _| super::opt_undef(s);
        opt_remove_phis again [opt_dce remove_dead_variables] "Removes phis of a single value."
            |s, _| super::opt_remove_phis(s);
        opt_shrink_vectors once [opt_dce remove_dead_variables opt_cse] "Removes unused components."
            |s, _| super::opt_shrink_vectors(s);
        opt_reuse_components once [opt_dce remove_dead_variables]
            "Replaces scalars with equal components of existing vectors." |s, _| super::opt_reuse_components(s);
        opt_narrow_selects again [] "Narrows selections between vectors that share components."
            |s, _| super::opt_narrow_selects(s);
        opt_phi_precision again [opt_dce remove_dead_variables] "Moves conversions through phis."
            |s, _| super::opt_phi_precision(s);
        opt_comparison_pre again [] "Replaces operands of comparisons by a difference that is computed anyway."
            |s, _| super::opt_comparison_pre(s);
        opt_rematerialize_compares again [] "Rematerialises comparisons at their uses."
            |s, _| super::opt_rematerialize_compares(s);
        opt_idiv_const again [] "Converts divisions by constants to multiplications." |s, _| super::opt_idiv_const(s);
    }
    control_flow {
        opt_dead_cf again [opt_cse] "Removes untaken branches and loops without effects." |s, _| super::opt_dead_cf(s);
        opt_if again [] "Simplifies and merges dependent branches." |s, _| super::opt_if(s);
        opt_peephole_select again [] "Converts small branches to selections." super::opt_peephole_select;
        opt_conditional_discard again [] "Converts branches that only discard to conditional discards."
            |s, _| super::opt_conditional_discard(s);
    }
    loops {
        lower_loop_jumps again [] "Lowers nested jumps in loops to flags." |s, _| super::lower_loop_jumps(s);
        opt_loop again [] "Simplifies the exits of loops." super::opt_loop;
        opt_loop_unroll again [] "Unrolls loops with few known iterations." super::opt_loop_unroll;
        opt_licm again [] "Hoists loop-invariant code." super::opt_licm;
    }
    variables {
        lower_array_deref_of_vec again [] "Lowers accesses to components of vectors in variables."
            |s, _| super::lower_array_deref_of_vec(s);
        lower_var_copies first [] "Lowers copies of variables to loads and stores."
            |s, _| super::lower_var_copies(s);
        lower_variable_initializers again [] if have_initializers "Turns initialisers of variables into stores."
            |s, _| super::lower_variable_initializers(s);
        opt_copy_prop_vars again [] if have_variables "Forwards stored and loaded values to later loads."
            super::opt_copy_prop_vars;
        opt_dead_write_vars again [] if have_variables "Removes stores that are overwritten before they are read."
            |s, _| super::opt_dead_write_vars(s);
        opt_find_array_copies first [] if have_variables "Converts element-by-element copies of arrays to array copies."
            |s, _| super::opt_find_array_copies(s);
        opt_large_constants again [] "Moves constant arrays to the shader's constant data."
            |s, _| super::opt_large_constants(s);
        opt_load_store_vectorize again [] "Merges accesses to adjacent memory."
            |s, _| super::opt_load_store_vectorize(s);
        shrink_vec_array_vars again [] if have_variables "Removes unused components and elements of arrays."
            |s, _| super::shrink_vec_array_vars(s);
        split_aggregates again [] if have_aggregates "Splits structs, matrices and arrays of arrays."
            |s, _| super::split_aggregates(s);
        remove_dead_variables once [] "Removes variables that are never read."
            |s, _| super::remove_dead_variables(s, TEMPORARIES);
    }
    lower_indirects {
        lower_indirect_derefs again [] "Lowers run-time indices of variables to branches."
            |s, _| super::lower_indirect_derefs(s, VariableModes(u32::MAX), u32::MAX);
        lower_indirect_io again [] "Lowers run-time indices of inputs, outputs and constants to branches."
            |s, _| super::lower_indirect_io(s, VariableModes(u32::MAX));
        lower_indirect_registers again [] "Lowers run-time indices of registers to branches."
            |s, _| super::lower_indirect_registers(s);
    }
    lower_numbers {
        lower_alu again [] "Lowers bit counts, reversals and high products that the target lacks." super::lower_alu;
        lower_alu_to_scalar again [] "Splits vector operations into scalar ones."
            super::lower_alu_to_scalar;
        lower_doubles again [] "Lowers operations on 64-bit floats that the target lacks." super::lower_doubles;
        lower_fp16_casts again [] "Lowers conversions to 16-bit floats that the target lacks." super::lower_fp16_casts;
        lower_frexp again [] "Lowers extraction of fractions and exponents that the target lacks." super::lower_frexp;
        lower_idiv again [] "Lowers integer divisions that the target lacks." super::lower_idiv;
        lower_int64 again [] "Lowers operations on 64-bit integers that the target lacks." super::lower_int64;
        lower_int_to_float again [] "Converts integers to floats, for targets without integers."
            |s, o| super::lower_int_to_float(s, o).unwrap_or(false);
        lower_load_const_to_scalar again [] "Splits vector constants into scalar ones."
            |s, _| super::lower_load_const_to_scalar(s);
        lower_pack again [] "Lowers packing and unpacking that the target lacks." super::lower_pack;
        lower_phis_to_scalar again [] "Splits vector phis into scalar ones." |s, _| super::lower_phis_to_scalar(s);
        lower_small_types again [] if have_small_values "Turns numbers of 8 and 16 bits into 32-bit numbers."
            |s, _| super::lower_small_types(s);
    }
    lower_booleans {
        lower_bool_to_float again [] "Converts booleans to 0.0 and 1.0." |s, _| super::lower_bool_to_float(s);
        lower_bool_to_int32 again [] "Converts booleans to 0 and -1." |s, _| super::lower_bool_to_int32(s);
    }
    lower_resources {
        lower_io again [] "Lowers accesses of inputs and outputs to slots." |s, _| {
            super::lower_io(s, VariableModes(VariableModes::SHADER_IN.0 | VariableModes::SHADER_OUT.0))
        };
        lower_explicit_access again [] if have_memory_variables "Lowers accesses of variables in memory to offsets."
            |s, _| super::lower_explicit_access(s);
        lower_gradients again [] "Computes the levels of lookups with gradients." |s, _| super::lower_gradients(s);
        lower_sample_positions again [] "Computes sample positions from the number of samples."
            |s, _| super::lower_sample_positions(s);
        lower_samples_identical again [] "Replaces comparisons of the samples of a texel by false."
            |s, _| super::lower_samples_identical(s);
        lower_samplers again [] if have_nested_samplers "Takes samplers and images out of structs."
            |s, _| super::lower_samplers(s);
        lower_system_values again [] "Computes system values that follow from the size of the workgroup."
            |s, _| super::lower_system_values(s);
        lower_uniforms_to_ubo again [] "Converts uniforms to loads from a uniform buffer."
            |s, _| super::lower_uniforms_to_ubo(s);
        lower_wide_io again [] "Splits accesses of 64-bit inputs and outputs by slot into 32-bit ones."
            |s, _| super::lower_wide_io(s);
        lower_atomics_to_ssbo again [] "Converts atomic counters to atomics on storage buffers."
            |s, _| super::lower_atomics_to_ssbo(s);
    }
}

fn bodies(shader: &Shader) -> impl Iterator<Item = &Body> {
    shader.functions.values().filter_map(|function| function.body.as_ref())
}

fn have_loops(shader: &Shader) -> bool {
    bodies(shader).any(|body| body.num_loops() > 0)
}

/// Returns whether functions may share variables.
fn have_shared_variables(shader: &Shader) -> bool {
    shader.globals_with(VariableModes::SHADER_TEMP).next().is_some()
}

/// Returns whether there are variables that only the shader accesses: most shaders have none left in SSA form.
fn have_variables(shader: &Shader) -> bool {
    bodies(shader).any(|body| !body.locals.is_empty()) || shader.functions.len() > 1 && have_shared_variables(shader)
}

/// Returns whether variables are more than vectors and arrays of vectors.
fn have_aggregates(shader: &Shader) -> bool {
    super::variables::split_aggregates::has_aggregates(shader)
}

/// Returns whether there are initialisers of variables.
fn have_initializers(shader: &Shader) -> bool {
    super::variables::lower_variable_initializers::has_initializers(shader)
}

/// Returns whether there are values of 8 or 16 bits.
fn have_small_values(shader: &Shader) -> bool {
    super::lower_numbers::lower_small_types::has_small_values(shader)
}

/// Returns whether there are samplers or images in structs or arrays of arrays.
fn have_nested_samplers(shader: &Shader) -> bool {
    super::lower_resources::lower_samplers::has_nested_samplers(shader)
}

/// Returns whether there are variables in memory.
fn have_memory_variables(shader: &Shader) -> bool {
    super::lower_resources::lower_explicit_access::has_memory_variables(shader)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pass_is_in_its_group() {
        let passes = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/passes");
        for info in PASSES {
            // Some files contain several passes that share code.
            let text = |path: &str| std::fs::read_to_string(passes.join(info.group).join(path)).unwrap_or_default();
            let in_own_file = text(&format!("{}.rs", info.name)) + &text(&format!("{}/mod.rs", info.name));
            let function = format!("pub fn {}(", info.name);
            let in_group = std::fs::read_dir(passes.join(info.group)).is_ok_and(|files| {
                let mut files = files.flatten().filter_map(|file| std::fs::read_to_string(file.path()).ok());
                files.any(|text| text.contains(&function))
            });
            assert!(in_own_file.contains(&function) || in_group, "{} is not in {}", info.name, info.group);
            assert!(info.about.ends_with('.') && info.about.len() < 80, "{}: {}", info.name, info.about);
        }
    }

    #[test]
    fn changes_enable_what_does_not_ignore_them() {
        let shader = Shader::without_functions(crate::shader::ShaderStage::Vertex);
        let enabled = |pass: Pass, other: PassId| pass.enables.has(other as u32);
        assert!(!enabled(rows::opt_dce, PassId::opt_remove_phis) && enabled(rows::opt_dce, PassId::opt_algebraic));
        assert!(!(rows::opt_dce.repeats)(&shader) && (rows::opt_if.repeats)(&shader));
        assert!(!enabled(rows::opt_if, PassId::opt_find_array_copies), "first");
    }
}

//! The pipelines, each a list on this page.
//!
//! | stage | from | by |
//! |---|---|---|
//! | `ssa` | what a translator makes: functions, registers, variables | [`into_ssa`] |
//! | `opt` | clean SSA | [`optimize`], which ends with [`finish`] |

use crate::options::CompilerOptions;
use crate::passes::pass_manager::{LOG_TARGET, run_pass};
use crate::passes::*;
use crate::shader::Shader;
use crate::variable::VariableModes;

/// Rounds after which cleaning stops even if something still changes. Each round shortens the code or brings it closer to its normal form, so
/// that real shaders take a handful; the bound is there for those that nobody has seen.
const MAX_ROUNDS: usize = 100;

/// Variables that only the shader itself sees.
const TEMPORARIES: VariableModes = VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0);

macro_rules! run {
    ($shader:expr, $($pass:ident),+ $(,)?) => {
        [$(run_pass($shader, stringify!($pass), $pass)),+].contains(&true)
    };
}

/// Turns what a translator makes into clean SSA: no calls, no `return` but by the end, no registers and no variables but arrays that are indexed at
/// run time. Returns whether anything changed.
pub fn into_ssa(shader: &mut Shader) -> bool {
    let mut progress = run!(
        shader,
        inline_functions,
        lower_returns,
        lower_global_vars_to_local,
        split_var_copies,
        lower_var_copies,
        lower_vars_to_ssa,
        lower_reg_intrinsics_to_ssa,
    );
    progress |= clean(shader);
    progress
}

/// Cleans SSA: runs the cheap passes again as long as one of them changes something.
pub fn clean(shader: &mut Shader) -> bool {
    clean_for(shader, &CompilerOptions::default())
}

/// The same with the algebraic rules for a target.
pub fn clean_for(shader: &mut Shader, options: &CompilerOptions) -> bool {
    let mut progress = false;
    for round in 0.. {
        if round == MAX_ROUNDS {
            log::info!(target: LOG_TARGET, "cleaning still finds something after {MAX_ROUNDS} rounds");
            break;
        }
        let mut changed = run!(shader, opt_copy_prop, opt_constant_folding);
        changed |= run_pass(shader, "opt_algebraic", |s| opt_algebraic(s, options));
        changed |= run!(shader, opt_undef, opt_remove_phis, opt_dead_cf, opt_cse, opt_dce);
        // Indices may have become constant, loads may have gone.
        changed |= run_pass(shader, "remove_dead_variables", |s| remove_dead_variables(s, TEMPORARIES));
        changed |= run!(shader, lower_vars_to_ssa, lower_reg_intrinsics_to_ssa);
        progress |= changed;
        if !changed {
            break;
        }
    }
    progress
}

/// Optimises clean SSA for a target: the passes of this list run as long as one of them changes something.
pub fn optimize(shader: &mut Shader, options: &CompilerOptions) -> bool {
    let mut progress = false;
    for round in 0.. {
        if round == MAX_ROUNDS {
            log::info!(target: LOG_TARGET, "optimising still finds something after {MAX_ROUNDS} rounds");
            break;
        }
        let mut changed = run!(shader, opt_shrink_vectors, opt_conditional_discard, opt_if);
        changed |= run_pass(shader, "opt_peephole_select", |s| opt_peephole_select(s, options));
        changed |= run!(shader, opt_phi_precision, opt_loop);
        changed |= run_pass(shader, "opt_loop_unroll", |s| opt_loop_unroll(s, options));
        changed |= clean_for(shader, options);
        progress |= changed;
        if !changed {
            break;
        }
    }
    progress | finish(shader, options)
}

/// Turns the normal forms of the other stages into what the target has, once and last: a stage before would undo it.
pub fn finish(shader: &mut Shader, options: &CompilerOptions) -> bool {
    let mut progress = run_pass(shader, "opt_algebraic_late", |s| opt_algebraic_late(s, options));
    if options.source_modifiers {
        let pass = opt_algebraic_distribute_src_mods;
        progress |= run_pass(shader, "opt_algebraic_distribute_src_mods", |s| pass(s, options));
    }
    if progress {
        let _ = run!(shader, opt_copy_prop, opt_cse, opt_dce);
    }
    progress
}

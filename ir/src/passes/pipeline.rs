//! The pipelines, each a list on this page. What the passes do stands in the [table](super::table).
//!
//! | stage | from | by |
//! |---|---|---|
//! | `ssa` | what a translator makes: functions, registers, variables | [`into_ssa`] |
//! | `opt` | SSA | [`optimize`], which ends with [`finish`] |
//!
//! [`into_ssa_with`] and [`optimize_with`] are the same under control: passes left out, an observer, a [`Level`].

use crate::options::CompilerOptions;
use crate::passes::pass_manager::{LOG_TARGET, Passes};
use crate::passes::table::rows::*;
use crate::passes::table::{Pass, PassId};
use crate::shader::Shader;

/// Calls, returns and copies go.
const FLATTEN: &[Pass] = &[inline_functions, lower_returns, lower_global_vars_to_local, lower_var_copies];

/// While there are registers: what only feeds itself, and loops that do nothing, need no phis.
const SIMPLIFY_REGISTERS: &[Pass] = &[opt_dce, opt_dead_cf];

/// Variables and registers become values, which are cleaned once.
const INTO_SSA: &[Pass] = &[
    lower_vars_to_ssa,
    lower_reg_intrinsics_to_ssa,
    opt_unwritten_outputs,
    opt_copy_prop,
    opt_constant_folding,
    opt_remove_phis,
    opt_dead_cf,
    opt_dce,
    remove_dead_variables,
];

/// Cheap passes, until none of them changes anything.
const CLEAN: &[Pass] = &[
    opt_copy_prop,
    opt_constant_folding,
    opt_algebraic,
    opt_undef,
    opt_remove_phis,
    opt_dead_cf,
    // After the rules, some of which ask for a single use.
    opt_cse,
    opt_dce,
    // Indices may have become constant, loads may have gone.
    remove_dead_variables,
    lower_vars_to_ssa,
    lower_reg_intrinsics_to_ssa,
];

/// Before anything else: what a translator makes for whole vectors, although only some components are needed, is not
/// worth the work of the others.
const BEFORE: &[Pass] = &[opt_shrink_vectors];

/// Everything else, with [`CLEAN`] after each round, until nothing changes.
const OPTIMIZE: &[Pass] = &[
    // Variables. Those that are `first` in the table run in the first round only.
    lower_global_vars_to_local,
    opt_find_array_copies,
    opt_copy_prop_vars,
    opt_dead_write_vars,
    lower_var_copies,
    shrink_vec_array_vars,
    // Values and branches.
    opt_shrink_vectors,
    opt_reuse_components,
    opt_conditional_discard,
    opt_if,
    opt_peephole_select,
    opt_narrow_selects,
    opt_phi_precision,
    // Loops.
    opt_loop,
    opt_loop_unroll,
];

/// Rules for what a target has, once and last, as a stage before would undo it.
const LATE: &[Pass] = &[opt_algebraic_late, opt_algebraic_distribute_src_mods];

/// After that.
const AFTER_LATE: &[Pass] = &[opt_copy_prop, opt_cse, opt_dce];

/// Rounds after which cleaning stops even if something still changes. Each round shortens the code or brings it closer
/// to its normal form, so that real shaders take a handful; the bound is there for those that nobody has seen.
const MAX_ROUNDS: usize = 100;

/// Rounds of cleaning in all rounds of the optimiser together: a row of a thousand things each of which can only be
/// seen once the one before it is gone must not be walked a thousand times.
const MAX_CLEANING_ROUNDS: usize = 2 * MAX_ROUNDS;

/// Loops in a row that are found to do nothing while there are registers. What is left is found in SSA form.
const MAX_REGISTER_ROUNDS: usize = 3;

/// The limits of [`optimize_with`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum Level {
    /// Only [`finish`]: the shader stays as it was cleaned.
    Finish,
    /// Nothing that can make the code larger: loops stay loops.
    NoGrowth,
    /// Everything.
    #[default]
    All,
}

/// Turns what a translator makes into SSA: no calls, no `return` but by the end, no registers and no variables but
/// arrays that are indexed at run time; without copies, needless phis and dead code. Returns whether anything changed.
pub fn into_ssa(shader: &mut Shader) -> bool {
    into_ssa_with(shader, &mut Passes::default())
}

/// The same under control. What is left out or comes after the end is missing in the result, which is still valid.
pub fn into_ssa_with(shader: &mut Shader, passes: &mut Passes<'_>) -> bool {
    let options = CompilerOptions::default();
    let mut progress = run_all(shader, FLATTEN, &options, passes);
    // From here on it is kept which passes have nothing left to do: the optimiser does not begin with those.
    passes.set_all_due();
    if shader.functions.values().filter_map(|f| f.body.as_ref()).any(|body| !body.is_one_block()) {
        // The last loop of a row goes first.
        for _ in 0..=MAX_REGISTER_ROUNDS {
            if !passes.run_due(shader, SIMPLIFY_REGISTERS, &options) {
                break;
            }
            progress = true;
        }
    }
    progress |= run_all(shader, INTO_SSA, &options, passes);
    compact(shader);
    progress
}

fn run_all(shader: &mut Shader, list: &[Pass], options: &CompilerOptions, passes: &mut Passes<'_>) -> bool {
    list.iter().fold(false, |progress, &pass| passes.run(shader, pass, options) | progress)
}

/// Large bodies get new numbers, which all that follows is faster for.
fn compact(shader: &mut Shader) {
    for body in shader.bodies_mut() {
        body.compact(false);
    }
}

/// Cleans SSA for a target.
pub fn clean_for(shader: &mut Shader, options: &CompilerOptions) -> bool {
    clean(shader, options, &mut Passes::default())
}

fn clean(shader: &mut Shader, options: &CompilerOptions, passes: &mut Passes<'_>) -> bool {
    let mut progress = false;
    for round in 0.. {
        if round == MAX_ROUNDS || !passes.may_clean(MAX_CLEANING_ROUNDS) {
            log::info!(target: LOG_TARGET, "cleaning still finds something after {round} rounds");
            break;
        }
        passes.round_mut().cleaning = round + 1;
        if !passes.run_due(shader, CLEAN, options) {
            break;
        }
        progress = true;
    }
    passes.round_mut().cleaning = 0;
    progress
}

/// Optimises SSA for a target.
pub fn optimize(shader: &mut Shader, options: &CompilerOptions) -> bool {
    optimize_with(shader, options, Level::All, &mut Passes::default())
}

/// The same as far as a level says and under control. If `passes` have run [`into_ssa_with`] on the shader, nothing
/// else may have changed it since: passes that it left with nothing to do are not run again.
pub fn optimize_with(shader: &mut Shader, options: &CompilerOptions, level: Level, passes: &mut Passes<'_>) -> bool {
    let progress = match level {
        Level::Finish => false,
        Level::NoGrowth => {
            let options = CompilerOptions { max_unroll_iterations: 0, ..options.clone() };
            optimize_rounds(shader, &options, passes)
        }
        Level::All => optimize_rounds(shader, options, passes),
    };
    let progress = progress | finish_with(shader, options, passes);
    compact(shader);
    progress
}

/// What [`optimize_with`] does before it turns code into what the target has: the shader can be changed and optimised
/// again.
pub fn optimize_early(shader: &mut Shader, options: &CompilerOptions, level: Level, passes: &mut Passes<'_>) -> bool {
    passes.set_all_due();
    match level {
        Level::Finish => clean(shader, options, passes),
        Level::NoGrowth => {
            let options = CompilerOptions { max_unroll_iterations: 0, ..options.clone() };
            optimize_rounds(shader, &options, passes)
        }
        Level::All => optimize_rounds(shader, options, passes),
    }
}

fn optimize_rounds(shader: &mut Shader, options: &CompilerOptions, passes: &mut Passes<'_>) -> bool {
    if passes.is_late() {
        return false;
    }
    let mut progress = passes.run_due(shader, BEFORE, options);
    progress |= clean(shader, options, passes);
    for round in 0.. {
        if passes.is_late() {
            break;
        }
        if round == MAX_ROUNDS {
            log::info!(target: LOG_TARGET, "optimising still finds something after {MAX_ROUNDS} rounds");
            break;
        }
        passes.round_mut().optimizing = round + 1;
        let changed = passes.run_due(shader, OPTIMIZE, options) | clean(shader, options, passes);
        progress |= changed;
        if !changed {
            break;
        }
    }
    progress
}

/// Turns code into what the target has.
pub fn finish(shader: &mut Shader, options: &CompilerOptions) -> bool {
    finish_with(shader, options, &mut Passes::default())
}

fn finish_with(shader: &mut Shader, options: &CompilerOptions, passes: &mut Passes<'_>) -> bool {
    let lowered = clean(shader, options, passes);
    let progress = run_all(shader, LATE, options, passes);
    if progress {
        run_all(shader, AFTER_LATE, options, passes);
    }
    progress | lowered
}

/// The passes that run in the pipelines, each once, in the order of their first run in code of one block.
pub fn passes() -> Vec<PassId> {
    let mut all = Vec::new();
    for pass in [FLATTEN, INTO_SSA, BEFORE, CLEAN, OPTIMIZE, LATE].into_iter().flatten() {
        if !all.contains(&pass.id) {
            all.push(pass.id);
        }
    }
    all
}

//! The pipelines, each a list on this page. The [table](super::table) describes the passes.
//!
//! | stage | from | by |
//! |---|---|---|
//! | `ssa` | the output of a translator: functions, registers, variables | [`into_ssa`] |
//! | `opt` | SSA | [`optimize`], which ends with [`finish`] |
//!
//! [`into_ssa_with`] and [`optimize_with`] do the same with control over skipped passes, an observer and an
//! [`OptLevel`].

use crate::options::CompilerOptions;
use crate::passes::pass_manager::{LOG_TARGET, Passes};
use crate::passes::table::rows::*;
use crate::passes::table::{Pass, PassId};
use crate::shader::Shader;

/// Removes calls, returns and copies, and makes variables registers, vectors and arrays of vectors. Pointers to
/// variables lead to them after inlining; copies of aggregates end where their parts become variables.
const FLATTEN: &[Pass] = &[
    inline_functions,
    lower_returns,
    lower_variable_initializers,
    lower_global_vars_to_local,
    lower_var_copies,
    lower_samplers,
    lower_explicit_access,
    lower_array_deref_of_vec,
    split_aggregates,
];

/// Runs while there are registers: self-feeding instructions and loops without effects then need no phis.
const SIMPLIFY_REGISTERS: &[Pass] = &[opt_dce, opt_dead_cf];

/// Turns variables and registers into values and cleans up once.
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

/// Cheap passes, repeated until none of them changes anything.
const CLEAN: &[Pass] = &[
    opt_copy_prop,
    opt_constant_folding,
    opt_algebraic,
    opt_undef,
    opt_remove_phis,
    opt_dead_cf,
    // After the rules, some of which require a single use.
    opt_cse,
    opt_dce,
    // Indices may have become constant, and loads may have been removed.
    remove_dead_variables,
    lower_vars_to_ssa,
    lower_reg_intrinsics_to_ssa,
];

/// Runs first: whole-vector code of which only some components are needed is not worth the work of other passes.
const BEFORE: &[Pass] = &[opt_shrink_vectors];

/// The other passes, with [`CLEAN`] after each round, repeated until nothing changes.
const OPTIMIZE: &[Pass] = &[
    // Variables. Those that are `first` in the table run in the first round only.
    lower_global_vars_to_local,
    opt_find_array_copies,
    opt_copy_prop_vars,
    opt_dead_write_vars,
    lower_var_copies,
    // Indices of several dimensions may have become constant.
    split_aggregates,
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

/// Rules that adapt code to the target, run once at the end because earlier passes would undo them.
const LATE: &[Pass] = &[opt_algebraic_late, opt_algebraic_distribute_src_mods];

/// Runs after [`LATE`].
const AFTER_LATE: &[Pass] = &[opt_copy_prop, opt_cse, opt_dce];

/// The maximum number of clean-up rounds in a row. Each round shortens the code or brings it closer to its normal form,
/// so real shaders take a handful; the limit guards against pathological ones.
const MAX_ROUNDS: usize = 100;

/// Bounds the clean-up rounds of the whole optimisation: a chain of a thousand simplifications, each exposed only by
/// the previous one, must not cost a thousand walks.
const MAX_CLEANING_ROUNDS: usize = 2 * MAX_ROUNDS;

/// The number of rounds that remove consecutive loops without effects while there are registers. SSA passes find the
/// rest.
const MAX_REGISTER_ROUNDS: usize = 3;

/// How much [`optimize_with`] does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub enum OptLevel {
    /// Only [`finish`]: the shader is not optimised further.
    LowerOnly,
    /// No transformation that can enlarge the code: loops stay loops.
    NoSizeGrowth,
    /// Everything.
    #[default]
    Full,
}

/// Converts the output of a translator to SSA: no calls, no `return` except the final one, no registers and variables
/// except arrays with run-time indices, no copies, redundant phis and dead code. Returns whether anything changed.
pub fn into_ssa(shader: &mut Shader) -> bool {
    into_ssa_with(shader, &mut Passes::default())
}

/// [`into_ssa`] under control of `passes`. If passes are skipped or stopped, the result is less simplified, but valid.
pub fn into_ssa_with(shader: &mut Shader, passes: &mut Passes<'_>) -> bool {
    let options = CompilerOptions::default();
    let mut progress = run_all(shader, FLATTEN, &options, passes);
    // From here on, passes without work are recorded, so that the optimiser need not start with them.
    passes.set_all_due();
    if shader.functions.values().filter_map(|f| f.body.as_ref()).any(|body| !body.is_one_block()) {
        // The last loop of a sequence is removed first.
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

/// Renumbers large bodies, which speeds up all later passes.
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
            log::info!(target: LOG_TARGET, "cleaning has reached no fixpoint after {round} rounds");
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
    optimize_with(shader, options, OptLevel::Full, &mut Passes::default())
}

/// [`optimize`] up to a level and under control of `passes`. If `passes` have run [`into_ssa_with`] on the shader,
/// nothing else may have changed it since: passes without work are not run again.
pub fn optimize_with(shader: &mut Shader, options: &CompilerOptions, level: OptLevel, passes: &mut Passes<'_>) -> bool {
    let progress = match level {
        OptLevel::LowerOnly => false,
        OptLevel::NoSizeGrowth => {
            let options = CompilerOptions { max_unroll_iterations: 0, ..options.clone() };
            optimize_rounds(shader, &options, passes)
        }
        OptLevel::Full => optimize_rounds(shader, options, passes),
    };
    let progress = progress | finish_with(shader, options, passes);
    compact(shader);
    progress
}

/// The part of [`optimize_with`] before [`finish`]: its result can be changed and optimised again.
pub fn optimize_early(
    shader: &mut Shader,
    options: &CompilerOptions,
    level: OptLevel,
    passes: &mut Passes<'_>,
) -> bool {
    passes.set_all_due();
    match level {
        OptLevel::LowerOnly => clean(shader, options, passes),
        OptLevel::NoSizeGrowth => {
            let options = CompilerOptions { max_unroll_iterations: 0, ..options.clone() };
            optimize_rounds(shader, &options, passes)
        }
        OptLevel::Full => optimize_rounds(shader, options, passes),
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
            log::info!(target: LOG_TARGET, "optimising has reached no fixpoint after {MAX_ROUNDS} rounds");
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

/// Lowers code to the operations that the target has.
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

/// Returns the passes of the pipelines, each once, in the order of their first run in a body of one block.
pub fn passes() -> Vec<PassId> {
    let mut all = Vec::new();
    for pass in [FLATTEN, INTO_SSA, BEFORE, CLEAN, OPTIMIZE, LATE].into_iter().flatten() {
        if !all.contains(&pass.id()) {
            all.push(pass.id());
        }
    }
    all
}

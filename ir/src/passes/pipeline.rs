//! The pipelines, each a list on this page.
//!
//! | stage | from | by |
//! |---|---|---|
//! | `ssa` | what a translator makes: functions, registers, variables | [`into_ssa`] |
//! | `opt` | SSA | [`optimize`], which ends with [`finish`] |
//!
//! [`into_ssa_with`] and [`optimize_with`] are the same under control: passes left out, an observer, a [`Level`].

use crate::options::CompilerOptions;
use crate::passes::pass_manager::{Again, Ignores, LOG_TARGET, Leaves, Passes};
use crate::passes::*;
use crate::shader::Shader;
use crate::variable::VariableModes;

/// Rounds after which cleaning stops even if something still changes. Each round shortens the code or brings it closer to its normal form, so
/// that real shaders take a handful; the bound is there for those that nobody has seen.
const MAX_ROUNDS: usize = 100;

/// Rounds of cleaning in all rounds of the optimiser together: a row of a thousand things each of which can only be seen once the one before it is gone must not
/// be walked a thousand times.
const MAX_CLEANING_ROUNDS: usize = 2 * MAX_ROUNDS;

/// Loops one behind the other that are found to do nothing while there are registers, the last first. What is left is found in SSA form.
const MAX_EARLY_ROUNDS: usize = 3;

/// Variables that only the shader itself sees.
const TEMPORARIES: VariableModes = VariableModes(VariableModes::FUNCTION_TEMP.0 | VariableModes::SHADER_TEMP.0);

/// Names of all passes that run in the pipelines, in the order of their first run in code of one block.
pub const PASSES: &[&str] = &[
    "inline_functions",
    "lower_returns",
    "lower_global_vars_to_local",
    "split_var_copies",
    "lower_var_copies",
    "lower_vars_to_ssa",
    "lower_reg_intrinsics_to_ssa",
    "opt_unwritten_outputs",
    "opt_copy_prop",
    "opt_constant_folding",
    "opt_remove_phis",
    "opt_dead_cf",
    "opt_dce",
    "remove_dead_variables",
    "opt_shrink_vectors",
    "opt_algebraic",
    "opt_undef",
    "opt_cse",
    "split_array_vars",
    "opt_find_array_copies",
    "opt_copy_prop_vars",
    "opt_dead_write_vars",
    "shrink_vec_array_vars",
    "opt_reuse_components",
    "opt_conditional_discard",
    "opt_if",
    "opt_peephole_select",
    "opt_narrow_selects",
    "opt_phi_precision",
    "opt_loop",
    "opt_loop_unroll",
    "opt_algebraic_late",
    "opt_algebraic_distribute_src_mods",
];

/// How far [`optimize_with`] goes.
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

macro_rules! run {
    ($passes:expr, $shader:expr, $($pass:ident),+ $(,)?) => {
        [$($passes.run($shader, stringify!($pass), $pass)),+].contains(&true)
    };
}

/// A pass that runs again and again: what it leaves to itself, and whose changes it may sleep through.
macro_rules! again {
    ($leaves:ident, $ignores:expr, $pass:ident $(, $variant:expr)?) => {
        Again {
            name: stringify!($pass),
            variant: 0 $(+ $variant)?,
            leaves: Leaves::$leaves,
            ignores: $ignores,
            concerns: None,
        }
    };
}

// Whose changes concern whom: the removal of what nobody uses only those who count uses or effects; that equal values are one nobody who looks for copies,
// constants or dead code.
const NONE: Ignores = Ignores::NONE;
const REMOVALS: Ignores = Ignores::REMOVALS;
const CSE: Ignores = Ignores::CSE;
const MERGED: Ignores = REMOVALS.and(CSE);
const MERGED_OR_FOLDED: Ignores = MERGED.and(Ignores::FOLDING);
const MERGED_OR_NARROWED: Ignores = MERGED.and(Ignores::NARROWING);
const NO_COPIES: Ignores = MERGED_OR_FOLDED.and(Ignores::RULES);

/// [`run`] for passes that run again and again: not where nothing that they heed has changed since. With an `if` they say themselves which changes concern them.
macro_rules! run_again {
    ($passes:expr, $shader:expr, $($leaves:ident $ignores:ident $pass:ident $(if $concerns:path)?),+ $(,)?) => {
        [$({
            let again = again!($leaves, $ignores, $pass);
            $(let again = Again { concerns: Some($concerns), ..again };)?
            $passes.run_again($shader, again, $pass)
        }),+]
        .contains(&true)
    };
}

/// Turns what a translator makes into SSA: no calls, no `return` but by the end, no registers and no variables but arrays that are indexed at
/// run time; without copies, needless phis and dead code. Returns whether anything changed.
pub fn into_ssa(shader: &mut Shader) -> bool {
    into_ssa_with(shader, &mut Passes::default())
}

/// The same under control. What is left out or comes after the end is missing in the result, which is still valid.
pub fn into_ssa_with(shader: &mut Shader, passes: &mut Passes<'_>) -> bool {
    let mut progress = run!(
        passes,
        shader,
        inline_functions,
        lower_returns,
        lower_global_vars_to_local,
        split_var_copies,
        lower_var_copies
    );
    if shader.functions.values().filter_map(|f| f.body.as_ref()).any(|body| !body.is_one_block()) {
        // What only feeds itself needs no phis.
        progress |= run!(passes, shader, opt_dce);
        for _ in 0..MAX_EARLY_ROUNDS {
            if !run!(passes, shader, opt_dead_cf) {
                break;
            }
            let _ = run!(passes, shader, opt_dce);
            progress = true;
        }
    }
    progress |= run!(passes, shader, lower_vars_to_ssa, lower_reg_intrinsics_to_ssa, opt_unwritten_outputs);
    progress |= run!(passes, shader, opt_copy_prop, opt_constant_folding, opt_remove_phis, opt_dead_cf, opt_dce);
    progress |= passes.run(shader, "remove_dead_variables", |s| remove_dead_variables(s, TEMPORARIES));
    compact(shader);
    progress
}

/// Large bodies get new numbers, which all that follows is faster for.
fn compact(shader: &mut Shader) {
    for body in shader.bodies_mut() {
        body.compact(false);
    }
}

/// Cleans SSA for a target: runs the cheap passes again as long as one of them changes something.
pub fn clean_for(shader: &mut Shader, options: &CompilerOptions) -> bool {
    clean_with(shader, options, &mut Passes::default())
}

fn clean_with(shader: &mut Shader, options: &CompilerOptions, passes: &mut Passes<'_>) -> bool {
    let mut progress = false;
    // Rules for other switches are another pass.
    let switches = options.switches();
    let algebraic = again!(Nothing, NONE, opt_algebraic, switches);
    for round in 0.. {
        if round == MAX_ROUNDS || !passes.may_clean(MAX_CLEANING_ROUNDS) {
            log::info!(target: LOG_TARGET, "cleaning still finds something after {round} rounds");
            break;
        }
        passes.round_mut().cleaning = round + 1;
        let mut changed = run_again!(
            passes,
            shader,
            Nothing NO_COPIES opt_copy_prop if opt_copy_prop::concerns,
            Nothing MERGED_OR_NARROWED opt_constant_folding if opt_constant_folding::concerns,
        );
        changed |= passes.run_again(shader, algebraic, |s| opt_algebraic(s, options));
        changed |= run_again!(
            passes,
            shader,
            Something MERGED_OR_FOLDED opt_undef if opt_undef::concerns,
            Something REMOVALS opt_remove_phis if opt_remove_phis::concerns,
            Something CSE opt_dead_cf if opt_dead_cf::concerns,
        );
        // Behind the rules, some of which ask for a single use. Phis of loops may be equal once what comes round is.
        let has_loops = shader.functions.values().filter_map(|f| f.body.as_ref()).any(|body| body.num_loops() > 0);
        let cse = Again { concerns: Some(opt_cse::concerns), ..again!(Nothing, REMOVALS, opt_cse) };
        let leaves = if has_loops { Leaves::Something } else { Leaves::Nothing };
        changed |= passes.run_again(shader, Again { leaves, ..cse }, opt_cse);
        changed |= run_again!(passes, shader, Nothing CSE opt_dce);
        // Indices may have become constant, loads may have gone.
        let remove = |s: &mut Shader| remove_dead_variables(s, TEMPORARIES);
        changed |= passes.run_again(shader, again!(Nothing, NONE, remove_dead_variables), remove);
        changed |= run_again!(passes, shader, Nothing NONE lower_vars_to_ssa, Nothing NONE lower_reg_intrinsics_to_ssa);
        progress |= changed;
        if !changed {
            break;
        }
    }
    passes.round_mut().cleaning = 0;
    progress
}

/// Optimises SSA for a target: it is cleaned, then the passes of this list run as long as one of them changes something.
pub fn optimize(shader: &mut Shader, options: &CompilerOptions) -> bool {
    optimize_with(shader, options, Level::All, &mut Passes::default())
}

/// The same as far as a level says and under control.
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

fn optimize_rounds(shader: &mut Shader, options: &CompilerOptions, passes: &mut Passes<'_>) -> bool {
    // What a translator makes for whole vectors, although only some components are needed, is not worth the work of the others.
    let mut progress = run_again!(passes, shader, Nothing MERGED opt_shrink_vectors);
    progress |= clean_with(shader, options, passes);
    for round in 0.. {
        if round == MAX_ROUNDS {
            log::info!(target: LOG_TARGET, "optimising still finds something after {MAX_ROUNDS} rounds");
            break;
        }
        passes.round_mut().optimizing = round + 1;
        let mut changed = variables_with(shader, options, passes, round == 0);
        changed |= run_again!(
            passes,
            shader,
            Nothing MERGED opt_shrink_vectors,
            Nothing REMOVALS opt_reuse_components,
            Something NONE opt_conditional_discard,
            Something NONE opt_if,
        );
        let select = |s: &mut Shader| opt_peephole_select(s, options);
        changed |= passes.run_again(shader, again!(Something, NONE, opt_peephole_select), select);
        changed |= run_again!(
            passes,
            shader,
            Something NONE opt_narrow_selects if opt_narrow_selects::concerns,
            Something REMOVALS opt_phi_precision if opt_phi_precision::concerns,
        );
        let exits = |s: &mut Shader| opt_loop(s, options);
        changed |= passes.run_again(shader, again!(Something, NONE, opt_loop), exits);
        let unroll = |s: &mut Shader| opt_loop_unroll(s, options);
        changed |= passes.run_again(shader, again!(Something, NONE, opt_loop_unroll), unroll);
        changed |= clean_with(shader, options, passes);
        progress |= changed;
        if !changed {
            break;
        }
    }
    progress
}

/// The passes over variables. Most shaders have none that is left, and are asked for that only.
fn variables_with(shader: &mut Shader, options: &CompilerOptions, passes: &mut Passes<'_>, is_first: bool) -> bool {
    let any = shader.functions.values().filter_map(|f| f.body.as_ref()).any(|body| !body.locals.is_empty());
    // What functions share.
    let is_shared = |s: &Shader| s.functions.len() > 1 && s.globals_with(VariableModes::SHADER_TEMP).next().is_some();
    let mut progress = false;
    if is_shared(shader) {
        progress |= run!(passes, shader, lower_global_vars_to_local);
    }
    let any = any || is_shared(shader);
    if is_first {
        progress |= passes.run(shader, "split_array_vars", |s| any && split_array_vars(s));
        progress |= passes.run(shader, "opt_find_array_copies", |s| any && opt_find_array_copies(s));
    }
    let copy_prop = |s: &mut Shader| any && opt_copy_prop_vars(s, options);
    progress |= passes.run_again(shader, again!(Something, NONE, opt_copy_prop_vars), copy_prop);
    let dead_write = |s: &mut Shader| any && opt_dead_write_vars(s);
    progress |= passes.run_again(shader, again!(Something, NONE, opt_dead_write_vars), dead_write);
    if is_first && any {
        // The copies that were found and are still of use.
        progress |= run!(passes, shader, lower_var_copies);
    }
    let shrink = |s: &mut Shader| any && shrink_vec_array_vars(s);
    progress | passes.run_again(shader, again!(Something, NONE, shrink_vec_array_vars), shrink)
}

/// Turns code into what the target has, once and last, as a stage before would undo it: what it lacks goes, and the normal forms become its own.
pub fn finish(shader: &mut Shader, options: &CompilerOptions) -> bool {
    finish_with(shader, options, &mut Passes::default())
}

fn finish_with(shader: &mut Shader, options: &CompilerOptions, passes: &mut Passes<'_>) -> bool {
    let lowered = clean_with(shader, options, passes);
    let mut progress = passes.run(shader, "opt_algebraic_late", |s| opt_algebraic_late(s, options));
    if options.source_modifiers {
        let pass = opt_algebraic_distribute_src_mods;
        progress |= passes.run(shader, "opt_algebraic_distribute_src_mods", |s| pass(s, options));
    }
    if progress {
        let _ = run!(passes, shader, opt_copy_prop, opt_cse, opt_dce);
    }
    progress | lowered
}

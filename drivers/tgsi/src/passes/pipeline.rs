//! The machine passes in their order, and when each has something to do.

use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::shader::Stage;
use tgsi_vec4::allocate;
use tgsi_vec4::allocate::Extent;
use tgsi_vec4::dead_code::remove_dead_code;
use tgsi_vec4::hoist_constants::hoist_constants;
use tgsi_vec4::merge::merge_instructions;
use tgsi_vec4::propagate_backward::propagate_backward;
use tgsi_vec4::propagate_copies::propagate_copies;
use tgsi_vec4::vectorize::vectorize;

use super::choose_components::{Divides, choose_components, cost_of_swizzles, least_cost_of_swizzles};
use super::group_addresses::group_addresses;
use super::group_lookups::group_lookups;
use super::share_constants::share_constants;
use super::share_swizzles::share_swizzles;
use super::{combine, simplify_cfg};
use crate::machine::Program;
use crate::target::options::TgsiOptions;

/// The machine passes and allocation.
pub(crate) fn run(program: &mut Program, stage: Stage, options: &TgsiOptions, passes: &mut Passes<'_>) {
    let is_large = program.instructions().len() > LARGE;
    optimize(program, options, if is_large { &EARLY } else { &ALL }, passes);
    // Outputs of these stages are seen by others before the end, or again and again.
    let outputs_wait = !matches!(stage, Stage::Geometry | Stage::TessCtrl);
    if options.optimize
        && options.lookup_phases
        && let Some(grouped) = grouped(program, options, outputs_wait, passes)
    {
        *program = grouped;
        return;
    }
    let mut hoisted = None;
    if options.optimize && !options.unoptimized_ra {
        passes.run_driver("tgsi:hoist_constants", || {
            hoisted = hoist_constants(program);
            hoisted.is_some()
        });
    }
    let rest: &[Pass] = if is_large { &AFTER_EARLY } else { &[] };
    let mut allocate = |program: &mut Program, wanted: &[Pass]| {
        optimize(program, options, wanted, passes);
        allocate_registers(program, options, outputs_wait, passes);
    };
    let Some((mut hoisted, fewest_temps)) = hoisted else { return allocate(program, rest) };
    let more_temps = |count: u32| count + count / 8 + 1;
    let is_better = |hoisted: &Program, program: &Program, temps: u32| {
        hoisted.instructions().len() < program.instructions().len() && hoisted.num_temps() <= more_temps(temps)
    };
    // Branches may be empty now.
    allocate(&mut hoisted, &ALL);
    // No allocation of the other program has less.
    if !is_better(&hoisted, program, fewest_temps) {
        allocate(program, rest);
        if !is_better(&hoisted, program, program.num_temps()) {
            return;
        }
    }
    *program = hoisted;
}

/// The program allocated with its lookups together, where that takes fewer phases and the temporaries suffice.
fn grouped(
    program: &mut Program,
    options: &TgsiOptions,
    outputs_wait: bool,
    passes: &mut Passes<'_>,
) -> Option<Program> {
    let mut grouped = None;
    passes.run_driver("tgsi:group_lookups", || {
        grouped = group_lookups(program);
        grouped.is_some()
    });
    let mut grouped = grouped?;
    allocate_registers(&mut grouped, options, outputs_wait, passes);
    let fits = options.max_temporaries.is_none_or(|most| grouped.num_temps() <= most);
    fits.then_some(grouped)
}

/// Liveness, which the next pass asks for, as a pass of its own.
fn find_liveness(program: &mut Program, passes: &mut Passes<'_>) {
    passes.run_driver("tgsi:liveness", || {
        program.liveness();
        false
    });
}

/// Allocation, and what it makes possible.
fn allocate_registers(
    program: &mut Program,
    options: &TgsiOptions,
    may_write_outputs_early: bool,
    passes: &mut Passes<'_>,
) {
    // Copies that are shared live for longer. Where the temporaries do not suffice for that, there are none. Targets
    // that allocate by themselves propagate copies: they gain nothing.
    let mut unshared = None;
    if options.optimize && options.one_constant && !options.unoptimized_ra {
        passes.run_driver("tgsi:share_constants", || {
            unshared = options.max_temporaries.map(|_| program.clone());
            let progress = share_constants(program, options.free_zero_and_one);
            unshared.take_if(|_| !progress);
            progress
        });
    }
    let mut allocate = |program: &mut Program| {
        find_liveness(program, passes);
        passes.run_driver("tgsi:allocate", || {
            allocate::allocate(program, extent(options), may_write_outputs_early && options.optimize);
            true
        });
    };
    allocate(program);
    if let Some(mut unshared) = unshared
        && options.max_temporaries.is_some_and(|most| program.num_temps() > most)
    {
        allocate(&mut unshared);
        *program = unshared;
    }
    if options.optimize && options.few_swizzles && !options.native_integers {
        fit_swizzles(program, passes);
    }
    if options.optimize {
        // Neighbours may have become mergeable.
        passes.run_driver(MERGE, || merge_instructions(program));
    }
}

/// Puts values where the operands of the target read them, and shares the copies that are left. What is best for one
/// value depends on others: of several ways that with the fewest instructions is taken.
fn fit_swizzles(program: &mut Program, passes: &mut Passes<'_>) {
    let least = least_cost_of_swizzles(program);
    let mut best: Option<(u32, Program)> = None;
    for (shares_first, divides) in [(false, Divides::Values), (false, Divides::Operands), (true, Divides::Values)] {
        let cost = best.as_ref().map_or_else(|| cost_of_swizzles(program), |(cost, _)| *cost);
        if cost <= least {
            break;
        }
        let mut fitted = program.clone();
        if shares_first && !passes.run_driver(SHARE_SWIZZLES, || share_swizzles(&mut fitted)) {
            continue;
        }
        passes.run_driver("tgsi:choose_components", || choose_components(&mut fitted, divides));
        if !shares_first {
            passes.run_driver(SHARE_SWIZZLES, || share_swizzles(&mut fitted));
        }
        let fitted_cost = cost_of_swizzles(&fitted);
        if fitted_cost < cost {
            best = Some((fitted_cost, fitted));
        }
    }
    if let Some((_, fitted)) = best {
        *program = fitted;
    }
}

/// What the allocator does for the target.
pub(super) fn extent(options: &TgsiOptions) -> Extent {
    match options.unoptimized_ra {
        true if options.optimize => Extent::Coalesce { once: options.schedules, joined: options.joined_copies },
        true => Extent::Number,
        false => Extent::Pack,
    }
}

const MERGE: &str = "tgsi:merge_instructions";

const SHARE_SWIZZLES: &str = "tgsi:share_swizzles";

/// Times that the list of machine passes is gone through at most.
const MAX_ROUNDS: usize = 4;

/// Instructions above which only copies are propagated before constants are hoisted: what is read then shows which
/// copies are of constants, and the other passes have less to do afterwards.
const LARGE: usize = 2000;

/// The machine passes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    SimplifyCfg,
    PropagateCopies,
    Combine,
    RemoveDeadCode,
    PropagateBackward,
    Merge,
    Vectorize,
    GroupAddresses,
}

use Pass::{
    Combine, GroupAddresses, Merge, PropagateBackward, PropagateCopies, RemoveDeadCode, SimplifyCfg, Vectorize,
};

/// A row of the table: a pass, its name and function, and the passes to which its changes may leave something.
type Row = (Pass, &'static str, fn(&mut Program, &TgsiOptions) -> bool, &'static [Pass]);

/// The passes in their order.
const TABLE: [Row; 8] = [
    (SimplifyCfg, "tgsi:simplify_cfg", simplify_cfg::simplify_cfg, &ALL),
    (PropagateCopies, "tgsi:propagate_copies", |p, _| propagate_copies(p), &[PropagateCopies, Combine, RemoveDeadCode]),
    (Combine, "tgsi:combine", combine::combine, &[PropagateCopies, Combine, RemoveDeadCode]),
    (RemoveDeadCode, "tgsi:remove_dead_code", |p, _| remove_dead_code(p), &[]),
    (
        PropagateBackward,
        "tgsi:propagate_backward",
        |p, _| propagate_backward(p),
        &[PropagateBackward, Merge, Vectorize],
    ),
    (Merge, MERGE, |p, _| merge_instructions(p), &[Vectorize]),
    (Vectorize, "tgsi:vectorize", |p, _| vectorize(p), &[RemoveDeadCode, PropagateBackward, Merge, Vectorize]),
    (GroupAddresses, "tgsi:group_addresses", |p, _| group_addresses(p), &[]),
];

const ALL: [Pass; 8] =
    [SimplifyCfg, PropagateCopies, Combine, RemoveDeadCode, PropagateBackward, Merge, Vectorize, GroupAddresses];

/// The first passes over a large program.
const EARLY: [Pass; 1] = [PropagateCopies];

/// The passes that are left after these.
const AFTER_EARLY: [Pass; 7] =
    [SimplifyCfg, Combine, RemoveDeadCode, PropagateBackward, Merge, Vectorize, GroupAddresses];

/// Runs machine passes, until none that is due has anything left to do. Where only [`EARLY`] ones are wanted, no other
/// becomes due.
fn optimize(program: &mut Program, options: &TgsiOptions, wanted: &[Pass], passes: &mut Passes<'_>) {
    if !options.optimize {
        return;
    }
    let is_early = wanted == EARLY;
    let mut due = wanted.to_vec();
    for _ in 0..MAX_ROUNDS {
        if due.is_empty() {
            break;
        }
        for (pass, name, run, enables) in TABLE {
            let Some(index) = due.iter().position(|&other| other == pass) else { continue };
            due.swap_remove(index);
            if pass == RemoveDeadCode {
                find_liveness(program, passes);
            }
            if passes.run_driver(name, || run(program, options)) {
                let enabled = enables.iter().filter(|pass| !is_early || EARLY.contains(pass));
                for &pass in enabled {
                    if !due.contains(&pass) {
                        due.push(pass);
                    }
                }
            }
        }
    }
}

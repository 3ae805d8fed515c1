//! The pipeline of the driver, on one page.
//!
//! | step | from | to |
//! |---|---|---|
//! | [`lower`](crate::lower) | optimised SSA | IR in register form, each instruction of which has a TGSI form |
//! | [`select`](mod@crate::select) | that | for each function, a program of instructions over virtual temporaries |
//! | [machine passes](crate::passes::table) | each program | fewer instructions, allocated temporaries |
//! | [`join`] | the programs | one program |
//! | [`emit`](mod@crate::emit) | that | a shader with declarations and immediates |

use std::borrow::Cow;

use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::passes::pass_table::{PassSet, Schedule};
use tgsi_vec4::hoist_constants as constants;

use crate::consumers::options::{Dialect, TgsiOptions};
use crate::consumers::virgl::rules::Rules;
use crate::emit::{finish, finish_virgl, interface::Interface};
use crate::machine::Program;
use crate::passes::choose_components::{self as components, SplitScope};
use crate::passes::group_lookups as lookups;
use crate::passes::join::join;
use crate::passes::legalize_virgl::is_legal;
use crate::passes::table::rows::*;
use crate::passes::table::{Context, Pass, PassId};
use crate::select::declared::IoFile;
use crate::select::{Selected, SelectedFunction, select};
use crate::{DriverError, Located};

/// The machine passes before allocation, rerun until none is due.
const OPTIMIZE: &[Pass] = &[
    simplify_cfg,
    propagate_copies,
    combine,
    remove_dead_code,
    propagate_backward,
    merge_instructions,
    vectorize,
    group_addresses,
];

/// The first passes over a large program: the operands then show which copies are of constants, and the other passes
/// have less to do once constants are hoisted.
const EARLY: &[Pass] = &[propagate_copies];

/// Number of instructions above which a program is large.
const LARGE: usize = 2000;

/// Bounds the rounds through the list of machine passes.
const MAX_ROUNDS: usize = 4;

/// Passes that use liveness, which is computed, and timed, before them.
const USES_LIVENESS: PassSet = PassSet::of_numbers(&[PassId::remove_dead_code as u32, PassId::allocate as u32]);

/// Emits TGSI for a shader that [`lower`](crate::lower) has lowered with the same options, which fit the stage. If
/// `interface` is given, visible declarations and properties are taken from it, used or not. Every pass is reported to
/// the observer.
///
/// # Errors
/// [`DriverError`]: the shader uses something that TGSI cannot express.
pub(crate) fn emit(
    mut shader: tgsi_ir::Shader,
    interface: Option<&Interface>,
    options: &TgsiOptions,
    passes: &mut Passes<'_>,
) -> Result<tgsi::Shader, Located> {
    let selected = observed(passes, "tgsi:select", || select(&shader, options))?;
    // Large shaders need the memory.
    for function in shader.functions.values_mut() {
        function.body = None;
    }
    let Selected { parts, declared, arrays } = selected;
    let rules = match options.dialect {
        Dialect::Mesa => Rules::default(),
        Dialect::Virgl => Rules::of_virgl(
            shader.stage,
            declared.semantics(shader.stage, IoFile::Output),
            declared.semantics(shader.stage, IoFile::Input),
            declared.system_values(),
            interface.map_or(&[], Interface::converted_outputs),
        ),
    };
    let context = Context { stage: shader.stage, options: options.clone(), rules };
    let mut machine = Machine { context: &context, passes };
    let parts =
        parts.into_iter().map(|part| SelectedFunction { program: machine.run_all(part.program), ..part }).collect();
    let program = join(parts).ok_or(DriverError::NoEntryPoint)?;
    finish::check_indirect(&program, options)?;
    let mut finished =
        observed(passes, "tgsi:build", || Ok(finish::build(&shader, &declared, &arrays, program, options)?))?;
    if let Some(interface) = interface {
        interface.apply(&mut finished)?;
    }
    if options.dialect == Dialect::Virgl {
        finish_virgl::adapt_to_hosts(&mut finished)?;
    }
    Ok(finished)
}

fn observed<T>(
    passes: &mut Passes<'_>,
    name: &'static str,
    step: impl FnOnce() -> Result<T, Located>,
) -> Result<T, Located> {
    let mut result = Err(DriverError::NoEntryPoint.into());
    passes.run_driver(name, || {
        result = step();
        true
    });
    result
}

/// The machine passes of one shader.
struct Machine<'a, 'o> {
    context: &'a Context,
    passes: &'a mut Passes<'o>,
}

impl Machine<'_, '_> {
    /// Runs all passes over the program of a function, and allocates it.
    fn run_all(&mut self, mut program: Program) -> Program {
        let options = &self.context.options;
        if !options.has_continue {
            self.run(&mut program, lower_continues);
        }
        if options.dialect == Dialect::Virgl {
            self.run(&mut program, legalize_virgl);
            debug_assert!(is_legal(&program));
        }
        if options.unoptimized {
            self.run(&mut program, allocate);
            return program;
        }
        let is_large = program.instructions().len() > LARGE;
        let first = if is_large { EARLY } else { OPTIMIZE };
        self.run_due(&mut program, Schedule::default(), first);
        if options.lookup_phases
            && let Some(grouped) = self.grouped(&mut program)
        {
            return grouped;
        }
        // The passes that are still due for the program without hoisted constants.
        let rest = Schedule::default().without(first);
        let Some((mut hoisted, fewest_temps)) = self.hoisted(&mut program) else {
            self.run_due(&mut program, rest, OPTIMIZE);
            return self.allocated(program);
        };
        // Branches may be empty now.
        self.run_due(&mut hoisted, Schedule::default(), OPTIMIZE);
        let hoisted = self.allocated(hoisted);
        // The bound for the temporaries of hoisted constants.
        let limit = |temps: u32| temps + temps / 8 + 1;
        // No allocation of the other program has fewer temporaries.
        if hoisted.instructions().len() < program.instructions().len() && hoisted.num_temps() <= limit(fewest_temps) {
            return hoisted;
        }
        self.run_due(&mut program, rest, OPTIMIZE);
        let program = self.allocated(program);
        let limit = limit(program.num_temps());
        let cost = |program: &Program| (program.num_temps() > limit, program.instructions().len());
        best_of(program, [hoisted], cost, (false, 0))
    }

    /// The program with its constants hoisted, and the temporaries that the other one needs at least.
    fn hoisted(&mut self, program: &mut Program) -> Option<(Program, u32)> {
        if self.context.options.unoptimized_ra {
            return None;
        }
        let mut hoisted = None;
        self.passes.run_driver(hoist_constants.name, || {
            hoisted = constants::hoist_constants(program);
            hoisted.is_some()
        });
        hoisted
    }

    /// The program allocated with its lookups together, if that takes fewer phases and the temporaries suffice.
    fn grouped(&mut self, program: &mut Program) -> Option<Program> {
        let mut grouped = None;
        self.passes.run_driver(group_lookups.name, || {
            grouped = lookups::group_lookups(program);
            grouped.is_some()
        });
        let grouped = self.allocated(grouped?);
        (grouped.num_temps() <= self.max_temps()).then_some(grouped)
    }

    fn max_temps(&self) -> u32 {
        self.context.options.max_temporaries.unwrap_or(u32::MAX)
    }

    /// Allocates a program, and does what allocation makes possible.
    fn allocated(&mut self, mut program: Program) -> Program {
        let options = &self.context.options;
        // Shared copies live longer. If the temporaries do not suffice, constants are not shared. Targets with an
        // allocator propagate copies, so sharing gains nothing there.
        let mut unshared = None;
        if options.single_constant_operand && !options.unoptimized_ra {
            unshared = options.max_temporaries.map(|_| program.clone());
            let shares = self.run(&mut program, share_constants);
            unshared.take_if(|_| !shares);
        }
        self.run(&mut program, allocate);
        let most = self.max_temps();
        let cost = |p: &Program| if p.num_temps() <= most { 0 } else { 1 + p.instructions().len() };
        let others = unshared.into_iter().map(|mut unshared| {
            self.run(&mut unshared, allocate);
            unshared
        });
        let mut program = best_of(program, others, cost, 0);
        if options.restricted_swizzles && !options.native_integers {
            program = self.with_fitted_swizzles(program);
        }
        // Neighbours may have become mergeable.
        self.run(&mut program, merge_instructions);
        program
    }

    /// Assigns components to fit the target's swizzles, then shares the remaining copies. Tries several orders, because
    /// assignments depend on each other.
    fn with_fitted_swizzles(&mut self, program: Program) -> Program {
        let orders = [(false, SplitScope::Values), (false, SplitScope::Operands), (true, SplitScope::Values)];
        let candidates = orders.into_iter().filter_map(|(shares_first, scope)| {
            let mut candidate = program.clone();
            if shares_first && !self.run(&mut candidate, share_swizzles) {
                return None;
            }
            self.passes.run_driver(choose_components.name, || components::choose_components(&mut candidate, scope));
            if !shares_first {
                self.run(&mut candidate, share_swizzles);
            }
            Some(Cow::Owned(candidate))
        });
        let best = best_of(
            Cow::Borrowed(&program),
            candidates,
            |p| components::cost_of_swizzles(p),
            components::least_cost_of_swizzles(&program),
        );
        match best {
            Cow::Owned(chosen) => chosen,
            Cow::Borrowed(_) => program,
        }
    }

    fn run(&mut self, program: &mut Program, pass: Pass) -> bool {
        if USES_LIVENESS.has(pass.number) {
            self.passes.run_driver("tgsi:liveness", || {
                program.liveness();
                false
            });
        }
        self.passes.run_driver(pass.name, || (pass.run)(program, self.context))
    }

    /// Runs the passes of a list that are due, until none is.
    fn run_due(&mut self, program: &mut Program, mut schedule: Schedule, list: &[Pass]) {
        for _ in 0..MAX_ROUNDS {
            if !schedule.run_due(program, list, |program, pass| self.run(program, pass)) {
                break;
            }
        }
    }
}

/// The candidate of least cost, the first of equal ones. No other one is made once a cost is as low as `least`.
fn best_of<T, C: PartialOrd>(first: T, others: impl IntoIterator<Item = T>, cost: impl Fn(&T) -> C, least: C) -> T {
    let mut lowest = cost(&first);
    let mut best = first;
    let mut others = others.into_iter();
    while lowest > least
        && let Some(other) = others.next()
    {
        let cost = cost(&other);
        if cost < lowest {
            (best, lowest) = (other, cost);
        }
    }
    best
}

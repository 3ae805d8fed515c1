//! The machine passes in their order, and when each has something to do.

use tgsi_ir::passes::pass_manager::Passes;
use tgsi_ir::shader::Stage;
use tgsi_legacy::vec4::allocate;
use tgsi_legacy::vec4::dead_code::remove_dead_code;
use tgsi_legacy::vec4::hoist_constants::hoist_constants;
use tgsi_legacy::vec4::merge::merge_instructions;
use tgsi_legacy::vec4::propagate_backward::propagate_backward;
use tgsi_legacy::vec4::propagate_copies::propagate_copies;
use tgsi_legacy::vec4::vectorize::vectorize;

use super::{combine, simplify_cfg};
use crate::machine::Program;
use crate::target::options::TgsiOptions;

/// The machine passes and allocation.
pub(crate) fn run(program: &mut Program, stage: Stage, options: &TgsiOptions, passes: &mut Passes<'_>) {
    let is_large = program.instructions().len() > LARGE;
    optimize(program, options, if is_large { EARLY } else { ALL }, passes);
    // Outputs of these stages are seen by others before the end, or again and again.
    let outputs_wait = !matches!(stage, Stage::Geometry | Stage::TessCtrl);
    let mut hoisted = None;
    if options.optimize && !options.unoptimized_ra {
        passes.run_driver("tgsi:hoist_constants", || {
            hoisted = hoist_constants(program);
            hoisted.is_some()
        });
    }
    let (hoisted, fewest_temps) = hoisted.unzip();
    let more_temps = |count: u32| count + count / 8 + 1;
    let rest = if is_large { ALL & !EARLY } else { 0 };
    if let Some(mut hoisted) = hoisted {
        // Branches may be empty now.
        optimize(&mut hoisted, options, ALL, passes);
        allocate_registers(&mut hoisted, options, outputs_wait, passes);
        if fewest_temps.is_none_or(|fewest| hoisted.num_temps() > more_temps(fewest)) {
            optimize(program, options, rest, passes);
            allocate_registers(program, options, outputs_wait, passes);
        }
        let is_shorter = hoisted.instructions().len() < program.instructions().len();
        if is_shorter && hoisted.num_temps() <= more_temps(program.num_temps()) {
            *program = hoisted;
        }
    } else {
        optimize(program, options, rest, passes);
        allocate_registers(program, options, outputs_wait, passes);
    }
}

/// What the next pass asks for first, as a pass of its own.
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
    find_liveness(program, passes);
    passes.run_driver("tgsi:allocate", || {
        allocate::allocate(program, !options.unoptimized_ra, may_write_outputs_early && options.optimize);
        true
    });
    if options.optimize {
        // Neighbours may have become mergeable.
        passes.run_driver(MERGE, || merge_instructions(program));
    }
}

const DEAD_CODE: &str = "tgsi:remove_dead_code";
const MERGE: &str = "tgsi:merge_instructions";

/// Times that the list of machine passes is gone through at most.
const MAX_ROUNDS: usize = 4;

/// All machine passes, by position in the list of [`optimize`].
const ALL: u8 = 0b111_1111;

/// The propagation of copies: what is read then shows which copies are of constants.
const EARLY: u8 = 0b000_0010;

/// Instructions above which only [`EARLY`] passes run before constants are hoisted: the others have less to do
/// afterwards.
const LARGE: usize = 2000;

/// The machine passes, until none that is due has anything left to do.
fn optimize(program: &mut Program, options: &TgsiOptions, mut due: u8, passes: &mut Passes<'_>) {
    if !options.optimize {
        return;
    }
    // Each pass with those, by position, that its changes leave something to.
    type Pass = fn(&mut Program, &TgsiOptions) -> bool;
    let machine_passes: [(&str, Pass, u8); 7] = [
        (
            "tgsi:simplify_cfg",
            |program, options| simplify_cfg::simplify_cfg(program, options.native_integers),
            0b111_1111,
        ),
        ("tgsi:propagate_copies", |program, _| propagate_copies(program), 0b000_1110),
        ("tgsi:combine", combine::combine, 0b000_1110),
        (DEAD_CODE, |program, _| remove_dead_code(program), 0b000_0000),
        ("tgsi:propagate_backward", |program, _| propagate_backward(program), 0b110_0000),
        (MERGE, |program, _| merge_instructions(program), 0b100_0000),
        ("tgsi:vectorize", |program, _| vectorize(program), 0b111_1000),
    ];
    let only = if due == EARLY { EARLY } else { ALL };
    for _ in 0..MAX_ROUNDS {
        if due == 0 {
            break;
        }
        for (position, (name, pass, leaves)) in machine_passes.into_iter().enumerate() {
            if due >> position & 1 != 0 {
                due &= !(1 << position);
                if name == DEAD_CODE {
                    find_liveness(program, passes);
                }
                if passes.run_driver(name, || pass(program, options)) {
                    due |= leaves & only;
                }
            }
        }
    }
}

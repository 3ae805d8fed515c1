//! The generic vec4 passes on random programs of a test machine: the visible effects of a run stay the same.

mod generator;
mod interpreter;
mod liveness;
mod machine;

use generator::program;
use interpreter::run;
use machine::{Op, Program, text};
use tgsi_vec4::allocate::{AllocationMode, allocate, coalesce_copies};
use tgsi_vec4::dead_code::remove_dead_code;
use tgsi_vec4::hoist_constants::hoist_constants;
use tgsi_vec4::merge::merge_instructions;
use tgsi_vec4::propagate_backward::propagate_backward;
use tgsi_vec4::propagate_copies::propagate_copies;
use tgsi_vec4::simple::{share_operands, sink_guarded};
use tgsi_vec4::vectorize::vectorize;

const ROUNDS: u64 = 4000;

/// A pass, and whether registers are allocated after it.
type Pass = (&'static str, fn(&mut Program) -> bool, bool);

fn hoist(program: &mut Program) -> bool {
    let hoisted = hoist_constants(program);
    let is_some = hoisted.is_some();
    if let Some((hoisted, _)) = hoisted {
        *program = hoisted;
    }
    is_some
}

fn sees_outputs(program: &Program) -> bool {
    program.instructions().iter().any(|instruction| instruction.op == Op::Emit)
}

/// Allocates; returns whether that needs fewer temporaries.
fn pack(program: &mut Program) -> bool {
    let before = program.num_temps();
    let may_write_early = !sees_outputs(program);
    allocate(program, AllocationMode::Pack, may_write_early) < before
}

fn number(program: &mut Program) -> bool {
    allocate(program, AllocationMode::Number, false);
    true
}

fn coalesce(program: &mut Program) -> bool {
    let before = program.instructions().len();
    coalesce_copies(program);
    program.instructions().len() < before
}

const PASSES: [Pass; 11] = [
    ("propagate_copies", propagate_copies, false),
    ("propagate_backward", propagate_backward, false),
    ("sink_guarded", sink_guarded, false),
    ("share_operands", share_operands, false),
    ("remove_dead_code", remove_dead_code, false),
    ("merge_instructions", merge_instructions, false),
    ("vectorize", vectorize, false),
    ("hoist_constants", hoist, false),
    ("coalesce_copies", coalesce, false),
    ("allocate", pack, true),
    ("allocate without packing", number, true),
];

#[test]
fn each_pass_keeps_what_others_see() {
    let mut changes = [0; PASSES.len()];
    for seed in 0..ROUNDS {
        let original = program(seed);
        let seen = run(&original, false);
        for (count, (name, pass, is_allocated)) in changes.iter_mut().zip(PASSES) {
            let mut changed = original.clone();
            *count += u32::from(pass(&mut changed));
            assert_eq!(
                run(&changed, is_allocated),
                seen,
                "{name} of program {seed}:
{}
=>
{}",
                text(&original),
                text(&changed)
            );
        }
    }
    // Each must have changed enough programs to be tested.
    for (count, (name, ..)) in changes.iter().zip(PASSES) {
        assert!(*count > 50, "{name} has changed {count} programs");
    }
}

#[test]
fn all_passes_one_after_the_other_keep_what_others_see() {
    let (mut before, mut after) = (0, 0);
    for seed in 0..ROUNDS {
        let original = program(seed);
        let seen = run(&original, false);
        let mut changed = original.clone();
        for _ in 0..3 {
            propagate_copies(&mut changed);
            remove_dead_code(&mut changed);
            propagate_backward(&mut changed);
            sink_guarded(&mut changed);
            merge_instructions(&mut changed);
            vectorize(&mut changed);
        }
        hoist(&mut changed);
        pack(&mut changed);
        merge_instructions(&mut changed);
        assert_eq!(run(&changed, true), seen, "program {seed}:\n{}\n=>\n{}", text(&original), text(&changed));
        before += original.instructions().len();
        after += changed.instructions().len();
    }
    assert!(after < before * 9 / 10, "{before} instructions became {after}");
}

#[test]
fn allocation_needs_few_registers() {
    use machine::{Instruction, Toy};
    use tgsi_vec4::simple::{Destination, File, Source};
    // Sums of products, each a separate scalar: four of them fit a register.
    let mut program = Program::new(Toy, 0);
    let mut sums = Vec::new();
    for input in 0..4 {
        let temp = program.new_temp();
        let dst = Destination { file: File::Temporary, index: temp as i32, relative: None, mask: 1 };
        let src = Source { swizzle: [input; 4], ..Source::new(File::Input, 0) };
        program.push(Instruction::new(Op::Mul, Some(dst), [src, src]));
        sums.push(Source { swizzle: [0; 4], ..Source::new(File::Temporary, temp as i32) });
    }
    let sum = program.new_temp();
    let dst = Destination { file: File::Temporary, index: sum as i32, relative: None, mask: 1 };
    program.push(Instruction::new(Op::Add, Some(dst), [sums[0], sums[1]]));
    for &other in &sums[2..] {
        let so_far = Source { swizzle: [0; 4], ..Source::new(File::Temporary, sum as i32) };
        program.push(Instruction::new(Op::Add, Some(dst), [so_far, other]));
    }
    program.push(Instruction::new(
        Op::Store,
        None,
        [Source { swizzle: [0; 4], ..Source::new(File::Temporary, sum as i32) }],
    ));
    let seen = run(&program, false);
    assert_eq!(allocate(&mut program, AllocationMode::Pack, true), 1);
    assert_eq!(run(&program, true), seen);
}

/// A comparison writes the condition that a copy would put there.
#[test]
fn results_are_written_to_special_registers() {
    use machine::{FLAGS, Instruction, Toy};
    use tgsi_vec4::simple::{Destination, File, Guard, Source};
    let mut program = Program::new(Toy, 2);
    let temp = program.new_temp() as i32;
    let to = |file, index| Some(Destination::new(file, index, 1));
    let value = Source::new(File::Temporary, temp).swizzled([0; 4]);
    let row = Source::new(File::Constant, program.constants.intern([7; 4]));
    program.push(Instruction::new(Op::Less, to(File::Temporary, temp), [Source::new(File::Input, 0), row]));
    program.push(Instruction::new(Op::Mov, to(File::Special, FLAGS.into()), [value]));
    let mut guarded = Instruction::new(Op::Mov, to(File::Output, 0), [row]);
    guarded.guard = Some(Guard { register: FLAGS, condition: 0, swizzle: [0; 4] });
    program.push(guarded.clone());
    // A second use of the flags in between.
    let mut used = program.clone();
    used.swap(1, 2);
    used.push(guarded);
    let seen = run(&program, false);
    assert!(propagate_backward(&mut program));
    assert_eq!((program.instructions().len(), run(&program, false)), (2, seen));
    assert!(!propagate_backward(&mut used), "{}", text(&used));
}

//! Branches of threads.

use super::support::{World, alu, run, scalar, simulate, vector, words};
use tgsi_driver_midgard::isa::alu::{
    AluBundle, AluOp::*, Branch, BranchOp, CallMode, Condition, Scalar, ScalarOperand, Vector, VectorOperand, repeat,
};
use tgsi_driver_midgard::isa::texture::Barrier;
use tgsi_driver_midgard::isa::{Body, Bundle, Chip, Tag, encode_program};
use tgsi_driver_midgard::simulator::{Launch, Simulator, Trap};

use pretty_assertions::assert_eq;

fn add(register: u8, value: u16) -> Body {
    alu(Vector { second: VectorOperand::Immediate(value), ..vector(Iadd, register, register, 0) })
}

/// A branch on r1.x < r2.x or on its negation.
fn branch(condition: Condition, offset: i8, target: Tag) -> Body {
    let mut bundle = AluBundle { smul: Some(scalar(Ilt, (31, 3), (1, 0), (2, 0))), ..AluBundle::default() };
    bundle.branch = Some(Branch::Conditional { op: BranchOp::Conditional, condition, target, offset });
    Body::Alu(bundle)
}

#[test]
fn loops() {
    // r1 += 3 while r1 < r2.
    let bodies = [add(1, 3), branch(Condition::True, -2, Tag::Alu4), add(3, 1)];
    let mut world = World::with(&[(1, [0; 4]), (2, [10; 4])]);
    let result = run(&bodies, &mut world).unwrap();
    assert_eq!((words(&result, 0, 1)[0], words(&result, 0, 3)[0], result.steps), (12, 1, 9));
    world.registers = vec![(2, [i32::MAX as u32; 4])];
    let launch = Launch { lanes: 1, steps: 100, ..Launch::default() };
    assert_eq!(simulate(&bodies, &launch, &mut world), Err(Trap::Steps));
}

/// Threads with other directions are together again after the branch.
#[test]
fn threads_reconverge() {
    let bodies = [branch(Condition::False, 1, Tag::Alu4), add(3, 1), add(4, 1)];
    let mut world = World::with(&[(2, [2; 4])]);
    world.of_lanes = (0..4).map(|lane| (lane, 1, [lane as u32; 4])).collect();
    let result = simulate(&bodies, &Launch::default(), &mut world).unwrap();
    let registers = [3, 4].map(|number| [0, 1, 2, 3].map(|lane| words(&result, lane, number)[0]));
    assert_eq!((registers, result.steps), ([[1, 1, 0, 0], [1, 1, 1, 1]], 3));
}

#[test]
fn unconditional_and_extended_branches() {
    let jump = |branch| Body::Alu(AluBundle { branch: Some(branch), ..AluBundle::default() });
    let (mode, target) = (CallMode::Default, Tag::Alu4);
    let forms = [
        Branch::Jump { mode, target, offset: 1 },
        Branch::Extended { op: BranchOp::Conditional, mode, conditions: repeat(Condition::Always), target, offset: 1 },
    ];
    for branch in forms {
        let result = run(&[jump(branch), add(3, 1), add(4, 1)], &mut World::default()).unwrap();
        assert_eq!([3, 4].map(|number| words(&result, 0, number)[0]), [0, 1]);
    }
    let never = Branch::Conditional { op: BranchOp::Conditional, condition: Condition::Write0, target, offset: 1 };
    assert_eq!(run(&[jump(never), add(3, 1), add(4, 1)], &mut World::default()).unwrap().steps, 3);
    // A branch to the tag of the end.
    let end = Branch::Jump { mode, target: Tag::Break, offset: 1 };
    assert_eq!(run(&[jump(end), add(3, 1), add(4, 1)], &mut World::default()).unwrap().steps, 1);
    let call = Branch::Jump { mode: CallMode::Call, target, offset: 1 };
    assert_eq!(run(&[jump(call), add(3, 1), add(4, 1)], &mut World::default()), Err(Trap::Undefined(0, "a call")));
    let table = Branch::Extended { op: BranchOp::Conditional, mode, conditions: 0x1234, target, offset: 1 };
    let trap = Trap::Undefined(0, "a branch on several conditions");
    assert_eq!(run(&[jump(table), add(3, 1), add(4, 1)], &mut World::default()), Err(trap));
}

#[test]
fn conditions_need_a_writer() {
    let mut bundle = AluBundle::default();
    let condition = Condition::True;
    let conditional = Branch::Conditional { op: BranchOp::Conditional, condition, target: Tag::Alu4, offset: 0 };
    bundle.branch = Some(conditional);
    let trap = Trap::Undefined(0, "a condition that no unit writes");
    assert_eq!(run(&[Body::Alu(bundle), add(3, 1)], &mut World::default()), Err(trap));
    // A unit that writes other components does not count.
    bundle.vadd = Some(Vector { mask: 3, ..vector(Imov, 31, 24, 1) });
    assert_eq!(run(&[Body::Alu(bundle), add(3, 1)], &mut World::default()), Err(trap));
}

#[test]
fn tags_are_checked() {
    let run_bundles = |bundles: &[Bundle]| {
        let simulator = Simulator::new(&encode_program(bundles).unwrap(), Chip::T760).unwrap();
        simulator.run(&Launch::default(), &mut World::default()).map(|result| result.steps)
    };
    let one = |next| Bundle { next, body: add(3, 1) };
    assert_eq!(run_bundles(&[one(Tag::Break)]), Ok(1));
    assert_eq!(run_bundles(&[one(Tag::Alu4)]), Err(Trap::End(0, Tag::Alu4)));
    assert_eq!(run_bundles(&[one(Tag::Alu8), one(Tag::Break)]), Err(Trap::Tag(0, Tag::Alu8, Tag::Alu4)));
    let jump = |target, offset| {
        let branch = Branch::Jump { mode: CallMode::Default, target, offset };
        let body = Body::Alu(AluBundle { branch: Some(branch), ..AluBundle::default() });
        Bundle { next: Tag::Alu4, body }
    };
    assert_eq!(run_bundles(&[jump(Tag::Alu8, 0), one(Tag::Break)]), Err(Trap::Tag(0, Tag::Alu8, Tag::Alu4)));
    assert_eq!(run_bundles(&[jump(Tag::Alu4, 5), one(Tag::Break)]), Err(Trap::Target(0, 6)));
    assert_eq!(run_bundles(&[jump(Tag::Alu4, -3), one(Tag::Break)]), Err(Trap::Target(0, -2)));
    let error = Simulator::new(&[0x0000_0006, 0, 0, 0], Chip::T760).unwrap_err();
    assert_eq!(error.word, 0);
    assert_eq!(run_bundles(&[]), Err(Trap::End(0, Tag::Break)));
}

/// A barrier waits for threads that take a longer way, and not for threads that have ended.
#[test]
fn barriers_wait() {
    let store = |value: u16| {
        let second = ScalarOperand::Immediate(value);
        let sadd = Scalar { second, ..scalar(Iadd, (3, 0), (3, 0), (3, 0)) };
        Body::Alu(AluBundle { sadd: Some(sadd), ..AluBundle::default() })
    };
    let barrier = || Body::Barrier(Barrier::default());
    let bodies = [branch(Condition::False, 1, Tag::TextureBarrier), store(1), barrier(), store(2), barrier(), store(4)];
    let mut world = World::with(&[(2, [4; 4])]);
    world.of_lanes = (0..8).map(|lane| (lane, 1, [lane as u32; 4])).collect();
    let result = simulate(&bodies, &Launch { lanes: 8, ..Launch::default() }, &mut world).unwrap();
    let found: Vec<_> = (0..8).map(|lane| words(&result, lane, 3)[0]).collect();
    assert_eq!((found, result.steps), (vec![7, 7, 7, 7, 6, 6, 6, 6], 6));
}

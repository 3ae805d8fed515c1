//! Write-outs and discards.

use super::support::{World, add, floats, on, r, scalar, simulate_on, vector};
use tgsi_driver_midgard::isa::alu::{AluBundle, AluOp::*, Branch, BranchOp, Condition, Scalar, ScalarOperand, Unit};
use tgsi_driver_midgard::isa::{Body, Chip, Tag};
use tgsi_driver_midgard::simulator::{Launch, WriteOut};

use pretty_assertions::assert_eq;

/// A write-out of the colour r4, with an immediate as component of r1, that repeats until it is accepted.
fn write_out(component: u8, state: u16) -> Body {
    let mut bundle = on(Unit::Vmul, vector(Imov, 0, 24, 4));
    let second = ScalarOperand::Immediate(state);
    bundle.sadd = Some(Scalar { second, ..scalar(Imov, (1, component), (24, 0), (24, 0)) });
    bundle.is_writeout = true;
    let branch = |target, offset| {
        Some(Branch::Conditional { op: BranchOp::Writeout, condition: Condition::Always, target, offset })
    };
    bundle.branch = branch(Tag::AluWriteout4, 0);
    let length = bundle.quadwords() as i8;
    bundle.branch = branch(bundle.tag().unwrap(), -length);
    Body::Alu(bundle)
}

fn discard() -> Body {
    let mut bundle = AluBundle { smul: Some(scalar(Ilt, (31, 3), (1, 0), (2, 0))), ..AluBundle::default() };
    let (op, condition, target) = (BranchOp::Discard, Condition::True, Tag::Break);
    bundle.branch = Some(Branch::Conditional { op, condition, target, offset: 0 });
    Body::Alu(bundle)
}

const COLOUR: [f32; 4] = [1.0, 0.5, 0.25, 0.0];

fn run(bodies: &[Body], world: &mut World) -> tgsi_driver_midgard::simulator::RunResult {
    simulate_on(Chip::T860, bodies, &Launch::default(), world).unwrap()
}

#[test]
fn colours_reach_the_target() {
    let mut world = World::with(&[(4, floats(COLOUR))]);
    let result = run(&[write_out(2, 0x0302)], &mut world);
    let expected =
        |lane| WriteOut { lane, target: 3, sample: 2, colour: Some(floats(COLOUR)), depth: None, stencil: None };
    assert_eq!(world.written, [0, 1, 2, 3].map(expected));
    assert_eq!(result.lanes[2].writes, [expected(2)]);
    assert_eq!(result.steps, 1);
}

/// The bundle is its own loop.
#[test]
fn refused_colours_are_written_again() {
    let mut world = World { refusals: 6, ..World::with(&[(4, floats(COLOUR))]) };
    let result = run(&[write_out(2, 0)], &mut world);
    assert_eq!((world.written.len(), result.steps), (4, 3));
}

#[test]
fn depth_and_stencil() {
    let mut world = World::with(&[(4, floats(COLOUR))]);
    run(&[write_out(0, 0x3c00)], &mut world);
    let write = world.written[0];
    assert_eq!((write.target, write.colour.is_some(), write.depth.is_some(), write.stencil), (0, true, true, None));
    let mut world = World::with(&[(4, floats(COLOUR))]);
    run(&[write_out(1, 7)], &mut world);
    assert_eq!((world.written[0].depth, world.written[0].stencil), (None, Some(7)));
    // The number without a colour.
    let mut world = World::with(&[(4, floats(COLOUR))]);
    run(&[write_out(2, 0xff)], &mut world);
    assert_eq!(world.written[0].colour, None);
}

/// Discarded threads execute the rest for their quad, and write no results.
#[test]
fn discarded_threads_write_nothing() {
    let mut world = World::with(&[(2, [2; 4]), (4, floats(COLOUR))]);
    world.of_lanes = (0..4).map(|lane| (lane, 1, [lane as u32; 4])).collect();
    let result = run(&[discard(), add(3, 1), write_out(2, 0)], &mut world);
    let killed: Vec<_> = result.lanes.iter().map(|lane| lane.is_killed).collect();
    assert_eq!(killed, [true, true, false, false]);
    assert_eq!(world.written.iter().map(|write| write.lane).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(result.lanes[0].registers.words(r(3))[0], 1);
}

/// A quad without live threads ends.
#[test]
fn discarded_quads_end() {
    let mut world = World::with(&[(2, [2; 4])]);
    let result = run(&[discard(), add(3, 1)], &mut world);
    assert_eq!((result.steps, result.lanes[3].registers.words(r(3))[0]), (1, 0));
}

//! Write-outs and discards.

use super::support::{World, alu, on, r, scalar, simulate, vector, words};
use tgsi_driver_midgard::isa::alu::{
    AluBundle, AluOp::*, Branch, BranchOp, Condition, Scalar, ScalarOperand, Unit, Vector, VectorOperand,
};
use tgsi_driver_midgard::isa::{Body, Tag};
use tgsi_driver_midgard::simulator::{Launch, WriteOut};

use pretty_assertions::assert_eq;

fn immediate(vector: Vector, value: u16) -> Vector {
    Vector { second: VectorOperand::Immediate(value), ..vector }
}

/// A write-out of r2 to a render target, as Mesa's scheduler arranges it: colour in r0, the target in r1.z, the address
/// of the next bundle in r1.w.
fn write_out(target: u16, offset: i8) -> AluBundle {
    let mut bundle = on(Unit::Vmul, vector(Imov, 0, 24, 2));
    let mov = scalar(Imov, (1, 2), (24, 0), (24, 0));
    bundle.sadd = Some(Scalar { second: ScalarOperand::Immediate(target), ..mov });
    bundle.vadd = Some(immediate(Vector { mask: 0xc0, ..vector(Iadd, 1, 31, 0) }, 0));
    let condition = Condition::Always;
    bundle.branch = Some(Branch::Conditional { op: BranchOp::Writeout, condition, target: Tag::Alu12, offset });
    bundle
}

fn write(lane: usize, target: u32, colour: Option<[u32; 4]>) -> WriteOut {
    WriteOut { lane, target, sample: 0, colour, depth: None, stencil: None }
}

#[test]
fn colours() {
    let mut world = World::with(&[(2, [1, 2, 3, 4])]);
    let bodies = [Body::Alu(write_out(0, -3)), Body::Alu(write_out(0x203, -3))];
    let launch = Launch { lanes: 2, ..Launch::default() };
    let found = simulate(&bodies, &launch, &mut world).unwrap();
    let colour = Some([1, 2, 3, 4]);
    for lane in 0..2 {
        let second = WriteOut { sample: 3, ..write(lane, 2, colour) };
        assert_eq!(found.lanes[lane].writes, [write(lane, 0, colour), second]);
    }
    // The address of the bundle after the second write-out of two quadwords and more.
    assert_eq!(words(&found, 0, 1)[2], 0x203);
}

#[test]
fn depth_and_stencil() {
    let mut world = World::with(&[(2, [1, 2, 3, 4])]);
    let mut bundle = write_out(0xff, -3);
    bundle.smul = Some(scalar(Imov, (1, 0), (24, 0), (2, 1)));
    bundle.vlut = Some(Vector { mask: 0x0c, ..vector(Imov, 1, 24, 2) });
    let found = simulate(&[Body::Alu(bundle)], &Launch { lanes: 1, ..Launch::default() }, &mut world).unwrap();
    let expected = WriteOut { lane: 0, target: 0, sample: 0xff, colour: None, depth: Some(2), stencil: Some(2) };
    assert_eq!(found.lanes[0].writes, [expected]);
}

/// A write-out that is not accepted branches to itself.
#[test]
fn write_outs_are_repeated() {
    let quadwords = write_out(0, 0).quadwords();
    let mut bundle = write_out(0, -(quadwords as i8));
    if let Some(Branch::Conditional { target, .. }) = &mut bundle.branch {
        *target = Tag::alu(quadwords, false).unwrap();
    }
    let mut world = World { refusals: 3, ..World::with(&[(2, [5; 4])]) };
    let found = simulate(&[Body::Alu(bundle)], &Launch { lanes: 1, ..Launch::default() }, &mut world).unwrap();
    assert_eq!((found.steps, found.lanes[0].writes.len(), world.written.len()), (4, 1, 1));
}

fn discard(condition: Condition) -> Body {
    let mut bundle = AluBundle { smul: Some(scalar(Imov, (31, 3), (24, 0), (1, 0))), ..AluBundle::default() };
    bundle.branch = Some(Branch::Conditional { op: BranchOp::Discard, condition, target: Tag::Invalid, offset: 2 });
    Body::Alu(bundle)
}

/// Discarded fragments continue as helpers, and write nothing.
#[test]
fn discards() {
    let mut world = World::with(&[(2, [5; 4])]);
    world.of_lanes = (0..4).map(|lane| (lane, 1, [lane as u32 & 1; 4])).collect();
    let add = alu(immediate(vector(Iadd, 3, 3, 0), 1));
    let bodies = [discard(Condition::True), add.clone(), Body::Alu(write_out(0, 0))];
    let found = simulate(&bodies, &Launch::default(), &mut world).unwrap();
    let lanes = [0, 1, 2, 3]
        .map(|lane| (found.lanes[lane].is_killed, found.lanes[lane].writes.len(), words(&found, lane, 3)[0]));
    assert_eq!(lanes, [(false, 1, 1), (true, 0, 1), (false, 1, 1), (true, 0, 1)]);
    // A quad without fragments ends.
    let bodies = [discard(Condition::Always), add];
    let found = simulate(&bodies, &Launch { lanes: 8, ..Launch::default() }, &mut world).unwrap();
    assert_eq!((found.steps, found.lanes.iter().all(|lane| lane.is_killed)), (1, true));
    assert_eq!(words(&found, 0, 3), [0; 4]);
    assert_eq!(r(3).number(), 3);
}

/// A branch on the tile buffer repeats until it is ready.
#[test]
fn tile_buffer_wait() {
    let condition = Condition::Always;
    let branch = Branch::Conditional { op: BranchOp::TileBufferPending, condition, target: Tag::Alu4, offset: -1 };
    let body = Body::Alu(AluBundle { branch: Some(branch), ..AluBundle::default() });
    let mut world = World { refusals: 4, ..World::default() };
    let found = simulate(&[body], &Launch { lanes: 1, ..Launch::default() }, &mut world).unwrap();
    assert_eq!(found.steps, 4);
}

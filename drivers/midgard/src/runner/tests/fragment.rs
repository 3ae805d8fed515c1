//! Fragments: varyings, results, discards, helpers, the framebuffer.

use super::*;
use crate::isa::alu::{ScalarOperand, VectorOperand};
use crate::isa::texture::{Axis, Mode, Texture, TextureOp};
use crate::program::{FragmentOutput, FragmentResult, SystemRow};

use pretty_assertions::assert_eq;

/// A bundle that writes r2 to a render target. With `is_deep`, the depth is r3.x and the stencil value is r4.x.
fn write_out(target: u16, is_deep: bool) -> Body {
    let mov = |component, register| {
        let source = |number| ScalarSource::new(AluOp::Imov, r(number), 0);
        Scalar::new(AluOp::Imov, r(1), component, source(24), source(register))
    };
    let mut bundle = bundle(vector(AluOp::Imov, 0, 24, 2));
    bundle.sadd = Some(Scalar { second: ScalarOperand::Immediate(target), ..mov(2, 24) });
    let counter = vector(AluOp::Iadd, 1, 31, 0);
    bundle.vadd = Some(Vector { second: VectorOperand::Immediate(0), mask: 0xc0, ..counter });
    if is_deep {
        bundle.smul = Some(mov(0, 3));
        bundle.vlut = Some(spread(1, 0x0c, 4));
    }
    let op = BranchOp::Writeout;
    bundle.branch = Some(Branch::Conditional { op, condition: Condition::Always, target: Tag::Alu4, offset: 0 });
    Body::Alu(bundle)
}

fn colour(register: u32, target: u32, component: u8, mask: u8) -> FragmentOutput {
    FragmentOutput { register, result: FragmentResult::Colour(target), component, mask }
}

/// A fragment program that writes a varying to the render target 0.
fn fragment(before: &[Body]) -> Program {
    let mut bodies = before.to_vec();
    bodies.push(write_out(0, false));
    Program { results: vec![colour(0, 0, 0, 15)], ..program(Stage::Fragment, &bodies) }
}

/// System values reach results.
#[test]
fn varyings() {
    let mut inputs = numbered(4, 2);
    set(&mut inputs, SystemValue::FragCoord, |component, lane| 10 * lane + component);
    set(&mut inputs, SystemValue::PointCoord, |component, lane| 20 * lane + component);
    set(&mut inputs, SystemValue::FrontFace, |_, lane| if lane == 2 { u32::MAX } else { 0 });
    set(&mut inputs, SystemValue::PrimitiveId, |_, _| 77);
    let rows = [
        (Slot::Register(1), [1, 2, 3, 4].map(|index| number(1, index - 1, 2))),
        (Slot::FragCoord, [20, 21, 22, 23]),
        (Slot::PointCoord, [40, 41, 0, 0]),
        (Slot::FrontFace, [1, 0, 0, 0]),
        (Slot::PrimitiveId, [77, 0, 0, 0]),
    ];
    for (slot, expected) in rows {
        let mut program = fragment(&[entry(LoadStoreOp::LdVaryU32, 2, 3)]);
        program.inputs = vec![varying(3, slot, 15)];
        assert_eq!(output(&run(program, &inputs), 0, 2), expected, "{slot:?}");
    }
}

/// Colours of two targets, depth and stencil. Results begin at any component of their register.
#[test]
fn results() {
    let bodies = [
        entry(LoadStoreOp::LdVaryU32, 2, 0),
        constant(3, [50; 4]),
        constant(4, [60; 4]),
        write_out(0, false),
        constant(2, [1, 2, 3, 4]),
        write_out(0x200, true),
        constant(2, [9; 4]),
        write_out(0x100, false),
    ];
    let mut program = program(Stage::Fragment, &bodies);
    program.inputs = vec![varying(0, Slot::Register(0), 15)];
    program.results = vec![
        colour(3, 0, 0, 0b1011),
        colour(1, 2, 1, 0b0110),
        FragmentOutput { register: 4, result: FragmentResult::Depth, component: 2, mask: 4 },
        FragmentOutput { register: 5, result: FragmentResult::Stencil, component: 1, mask: 2 },
    ];
    let outputs = run(program, &numbered(8, 1));
    assert_eq!(outputs.outputs.len(), 6);
    for lane in 0..8 {
        let [x, y, w] = [0, 1, 3].map(|component| number(0, component, lane));
        let found = [0, 1, 2, 3, 4, 5].map(|register| output(&outputs, register, lane));
        assert_eq!(found, [[0; 4], [0, 1, 2, 0], [0; 4], [x, y, 0, w], [0, 0, 50, 0], [0, 60, 0, 0]]);
    }
}

/// Stores r2.x to the storage buffer 0, at four times r5.x.
fn store_result() -> [Body; 3] {
    let store = LoadStore {
        argument: operand(LoadStoreRegister::L1, 0),
        is_wide: true,
        index: operand(LoadStoreRegister::L1, 2),
        index_format: crate::isa::load_store::IndexFormat::U32,
        shift: 2,
        ..LoadStore::new(LoadStoreOp::St32, r(0))
    };
    [copy(26, 2), Body::Alu(bundle(spread(27, 0x30, 5))), load_store(store)]
}

/// Loads the address of the storage buffer 0 to r27.xy, and the varyings 0 and 1 to r2 and r5.
fn load_operands() -> [Body; 3] {
    [uniform_row(27, 3, 0), entry(LoadStoreOp::LdVaryU32, 2, 0), entry(LoadStoreOp::LdVaryU32, 5, 1)]
}

/// Discarded lanes and helpers store nothing; the output of a helper exists.
#[test]
fn discards_and_helpers() {
    let before =
        [&load_operands()[..], &[branch(BranchOp::Discard, (2, 1), 0, Tag::Invalid)], &store_result()].concat();
    let mut program = fragment(&before);
    program.discards = true;
    program.system_rows = vec![SystemRow::StorageBuffer(0)];
    program.inputs = vec![varying(0, Slot::Register(0), 15), varying(1, Slot::Register(1), 15)];
    let mut inputs = numbered(8, 2);
    inputs.buffers = vec![vec![0xff; 4 * 8]];
    inputs.helpers = vec![false, true, false, false, false, true, false, false];
    for lane in 0..8 {
        inputs.inputs.set(0, 0, lane, 30 + lane as u32);
        inputs.inputs.set(0, 1, lane, u32::from(lane == 2 || lane >= 4 && lane != 5));
        inputs.inputs.set(1, 0, lane, lane as u32);
    }
    let outputs = run(program, &inputs);
    assert_eq!(outputs.live, [true, true, false, true, false, true, false, false]);
    let stored = super::super::memory::words(&outputs.buffers[0]);
    let none = u32::MAX;
    assert_eq!(stored, [30, none, none, 33, none, none, none, none]);
    // The helpers 1 and 5 have outputs, even if all others of the quad are discarded.
    assert_eq!([0, 1, 3, 5].map(|lane| output(&outputs, 0, lane)[0]), [30, 31, 33, 35]);
}

/// A helper's atomic operation has no effect, and gives 0.
#[test]
fn atomic_operations_of_helpers() {
    let atomic = LoadStore {
        argument: operand(LoadStoreRegister::L1, 0),
        is_wide: true,
        swizzle: Swizzle(2 | 1 << 2),
        ..LoadStore::new(LoadStoreOp::AtomicAdd, r(2))
    };
    // The operand is r27.z: the size of the buffer.
    let mut program = fragment(&[uniform_row(27, 3, 0), load_store(atomic)]);
    program.system_rows = vec![SystemRow::StorageBuffer(0)];
    let mut inputs = numbered(4, 0);
    inputs.buffers = vec![vec![1, 0, 0, 0]];
    inputs.helpers = vec![false, true];
    let outputs = run(program, &inputs);
    assert_eq!([0, 1, 2, 3].map(|lane| output(&outputs, 0, lane)[0]), [1, 0, 5, 9]);
    assert_eq!(outputs.buffers[0], [13, 0, 0, 0]);
}

/// Discarded lanes leave a loop that has no other end for them.
#[test]
fn discarded_lanes_leave_loops() {
    let before = [
        entry(LoadStoreOp::LdVaryU32, 2, 0),
        branch(BranchOp::Discard, (2, 1), 0, Tag::Invalid),
        branch(BranchOp::Conditional, (2, 1), -1, Tag::Alu4),
    ];
    let mut program = fragment(&before);
    program.discards = true;
    program.inputs = vec![varying(0, Slot::Register(0), 15)];
    let mut inputs = numbered(4, 1);
    (0..4).for_each(|lane| inputs.inputs.set(0, 1, lane, u32::from(lane == 1)));
    let outputs = run(program, &inputs);
    assert_eq!(outputs.live, [true, false, true, true]);
    assert!(outputs.steps > 1 << 14 && outputs.steps < (1 << 14) + 10, "{}", outputs.steps);
    assert_eq!(output(&outputs, 0, 3)[0], 3);
}

/// Derivatives are the same in the whole quad.
#[test]
fn derivatives() {
    let derivative = |axis| Texture { mode: Mode::Derivative(axis), ..Texture::new(TextureOp::Derivative, 0, 0) };
    for (axis, expected) in [(Axis::X, 4.0), (Axis::Y, 3.0_f32)] {
        let before = [entry(LoadStoreOp::LdVaryF32, 28, 0), Body::Texture(derivative(axis)), copy(2, 28)];
        let mut program = fragment(&before);
        program.inputs = vec![varying(0, Slot::Register(0), 15)];
        let mut inputs = numbered(4, 1);
        for (lane, value) in [1.0, 2.0, 4.0, 8.0_f32].into_iter().enumerate() {
            inputs.inputs.set(0, 0, lane, value.to_bits());
        }
        let outputs = run(program, &inputs);
        assert_eq!([0, 1, 2, 3].map(|lane| f32::from_bits(output(&outputs, 0, lane)[0])), [expected; 4]);
    }
}

/// Colours of the framebuffer, the mask of samples, and the number of the sample.
#[test]
fn framebuffer_and_samples() {
    let tile =
        LoadStore { index: operand(LoadStoreRegister::L0, 2), ..LoadStore::new(LoadStoreOp::LdTileBufferF32, r(2)) };
    let mut program = fragment(&[load_store(tile)]);
    program.results.push(colour(1, 2, 1, 14));
    let mut inputs = numbered(4, 0);
    inputs.framebuffer = numbered(4, 3).inputs;
    let found = output(&run(program.clone(), &inputs), 0, 3);
    assert_eq!(found, [number(1, 1, 3), number(1, 2, 3), number(1, 3, 3), 0]);
    program.results.truncate(1);
    assert_eq!(output(&run(program, &inputs), 0, 3), [0, 1, 2, 3].map(|component| number(2, component, 3)));

    set(&mut inputs, SystemValue::SampleId, |_, lane| lane);
    inputs.helpers = vec![false, true, false, false];
    let special = |inputs: &Inputs, selector| {
        let outputs = run(fragment(&[entry(LoadStoreOp::LdSpecialU32, 2, selector)]), inputs);
        [0, 1, 2, 3].map(|lane| output(&outputs, 0, lane)[0])
    };
    assert_eq!([special(&inputs, 96), special(&inputs, 97)], [[1, 0, 4, 8], [0, 1, 2, 3]]);
    set(&mut inputs, SystemValue::SampleMaskIn, |_, lane| 5 + lane);
    assert_eq!(special(&inputs, 96), [5, 6, 7, 8]);
}

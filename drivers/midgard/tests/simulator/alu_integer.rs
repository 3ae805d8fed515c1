//! Integer opcodes.

use super::support::{World, alu, on, result, run, scalar, vector};
use tgsi_driver_midgard::isa::alu::{
    AluBundle, AluOp, AluOp::*, Input, Narrow, Output, OutputModifier, Shrink, Unit, Vector, VectorOperand,
};
use tgsi_driver_midgard::isa::{Body, Width};
use tgsi_driver_midgard::simulator::Trap;

use pretty_assertions::assert_eq;

const MIN: i64 = i64::MIN;
const MAX: i64 = i64::MAX;

/// Opcode, operands and result, as signed numbers that are cut to the width. `MIN` and `MAX` are the limits of the
/// width.
const ROWS: &[(AluOp, i64, i64, i64)] = &[
    (Iadd, 5, -7, -2),
    (Iadd, MAX, 1, MIN),
    (Ishladd, 5, 3, 13),
    (Isub, 5, 7, -2),
    (Ishlsub, 5, 3, 7),
    (Iaddsat, MAX, 1, MAX),
    (Iaddsat, MIN, -1, MIN),
    (Uaddsat, -1, 1, -1),
    (Uaddsat, 3, 4, 7),
    (Isubsat, MIN, 1, MIN),
    (Isubsat, 3, 4, -1),
    (Usubsat, 3, 4, 0),
    (Usubsat, -1, 4, -5),
    (Imul, -3, 5, -15),
    (Imul, MIN, 2, 0),
    (Imin, -1, 1, -1),
    (Umin, -1, 1, 1),
    (Imax, -1, 1, 1),
    (Umax, -1, 1, -1),
    (Iavg, -3, 0, -2),
    (Iavg, MAX, MAX, MAX),
    (Uavg, -1, -1, -1),
    (Iravg, 2, 3, 3),
    (Uravg, -1, -2, -1),
    (Iasr, -8, 2, -2),
    (Ilsr, MIN, 1, 0),
    (Ilsr, 12, 2, 3),
    (Ishlsat, 3, 2, 12),
    (Ishlsat, MAX, 1, MAX),
    (Ishlsat, MIN, 3, MIN),
    (Ushlsat, -1, 1, -1),
    (Ishl, 3, 4, 48),
    (Iand, 12, 10, 8),
    (Ior, 12, 10, 14),
    (Inand, 12, 10, -9),
    (Inor, 12, 10, -15),
    (Iandnot, 12, 10, 4),
    (Iornot, 12, 10, -3),
    (Ixor, 12, 10, 6),
    (Inxor, 12, 10, -7),
    (Iclz, -1, 0, 0),
    (Ipopcnt, 7, 0, 3),
    (Imov, 9, -4, -4),
    (Iabsdiff, -3, 4, 7),
    (Iabsdiff, MIN, 0, MIN),
    (Uabsdiff, 3, 5, 2),
    (Ichoose, 7, 0, 7),
    (Ieq, 3, 3, -1),
    (Ieq, 3, 4, 0),
    (Ine, 3, 4, -1),
    (Ult, 1, -1, -1),
    (Ult, -1, 1, 0),
    (Ule, 1, 1, -1),
    (Ilt, -1, 1, -1),
    (Ile, 2, 1, 0),
    (IallEq, 3, 3, -1),
    (IallNe, 3, 3, 0),
    (UallLt, 1, -1, -1),
    (UallLe, -1, 1, 0),
    (IallLt, -1, 1, -1),
    (IallLe, 1, 1, -1),
    (IanyEq, 3, 4, 0),
    (IanyNe, 3, 4, -1),
    (UanyLt, -1, 1, 0),
    (UanyLe, 1, 1, -1),
    (IanyLt, 1, -1, 0),
    (IanyLe, -1, 1, -1),
];

/// Products of twice the width have no known place, selections have tests of their conditions.
const OTHERS: &[AluOp] = &[Iwmul, Uwmul, Iuwmul, Icsel, IcselV];

/// The bits of a number in a width.
fn bits(value: i64, width: Width) -> u64 {
    let unused = 64 - width.bits();
    match value {
        MIN | MAX => value as u64 >> unused,
        _ => value as u64 & u64::MAX >> unused,
    }
}

fn fill(value: u64, width: Width) -> [u32; 4] {
    let all = (0..width.components()).fold(0_u128, |all, index| all | u128::from(value) << (index * width.bits()));
    [0, 32, 64, 96].map(|low| (all >> low) as u32)
}

#[test]
fn integers_of_all_widths() {
    for &(op, a, b, expected) in ROWS {
        for &width in Width::ALL {
            if op.row().reduces != 0 && matches!(width, Width::W8 | Width::W64) {
                continue;
            }
            // A shift of the smallest number to the right depends on the width.
            let expected = match (op, a) {
                (Ilsr, MIN) => 1 << (width.bits() - 2),
                _ => bits(expected, width),
            };
            let (a, b) = (bits(a, width), bits(b, width));
            let mut world = World::with(&[(1, fill(a, width)), (2, fill(b, width))]);
            let parts = (width.bits() / 16).max(1);
            let mask = if op.row().reduces == 0 { 0xff } else { (1 << parts) - 1 };
            let found = result(&[alu(Vector { width, mask: mask as u8, ..vector(op, 0, 1, 2) })], &mut world, 0);
            let low = u64::from(found[0]) | u64::from(found[1]) << 32;
            assert_eq!(low & u64::MAX >> (64 - width.bits()), expected, "{op:?} {width:?}");
            if op.row().reduces == 0 {
                assert_eq!(found, fill(expected, width), "{op:?} {width:?}");
            }
        }
    }
}

#[test]
fn each_integer_opcode_has_a_row() {
    for row in AluOp::table().iter().filter(|row| row.input != Input::Float && row.output == Output::Integer) {
        assert!(ROWS.iter().any(|of| of.0 == row.op) || OTHERS.contains(&row.op), "{:?}", row.op);
    }
    for &op in &OTHERS[..3] {
        let found = run(&[alu(vector(op, 0, 1, 2))], &mut World::default());
        assert_eq!(found, Err(Trap::Undefined(0, op.row().name)));
    }
}

#[test]
fn leading_zeros() {
    let mut world = World::with(&[(1, [0x0000_ffff, 1, 0, u32::MAX])]);
    assert_eq!(result(&[alu(vector(Iclz, 0, 1, 2))], &mut world, 0), [16, 31, 32, 0]);
    let instruction = Vector { width: Width::W16, ..vector(Iclz, 0, 1, 2) };
    assert_eq!(result(&[alu(instruction)], &mut world, 0), [0x10_0000, 0x10_000f, 0x10_0010, 0]);
}

#[test]
fn shuffles() {
    let mut world = World::with(&[(1, [10, 11, 12, 13]), (2, [3, 3, 0, 2])]);
    assert_eq!(result(&[alu(vector(Ichoose, 0, 1, 2))], &mut world, 0), [13, 13, 10, 12]);
}

#[test]
fn reductions_depend_on_all_components() {
    let mut world = World::with(&[(1, [1, 2, 3, 4]), (2, [1, 2, 3, 5])]);
    let mut first = |op| result(&[alu(Vector { mask: 3, ..vector(op, 0, 1, 2) })], &mut world, 0)[0];
    assert_eq!([first(IallEq), first(IanyEq), first(IallLe), first(IanyNe)], [0, u32::MAX, u32::MAX, u32::MAX]);
}

#[test]
fn results_narrow() {
    let mut world = World::with(&[(2, [0x1234_5678, -70_000_i32 as u32, 40_000, 5])]);
    let mut narrowed = |op, mode| {
        let mut instruction = Vector { shrink: Some(Shrink::Lower), ..vector(op, 0, 24, 2) };
        instruction.output = OutputModifier::Integer(mode);
        let [low, high, ..] = result(&[alu(instruction)], &mut world, 0);
        [low & 0xffff, low >> 16, high & 0xffff, high >> 16]
    };
    assert_eq!(narrowed(Imov, Narrow::Low), [0x5678, 0xee90, 0x9c40, 5]);
    assert_eq!(narrowed(Imov, Narrow::High), [0x1234, 0xfffe, 0, 0]);
    assert_eq!(narrowed(Imov, Narrow::SignedSaturate), [0x7fff, 0x8000, 0x7fff, 5]);
    assert_eq!(narrowed(Imov, Narrow::UnsignedSaturate), [0xffff, 0, 0x9c40, 5]);
    // Of an unsigned operation, all values are positive.
    let mut instruction = Vector { shrink: Some(Shrink::Lower), ..vector(Umax, 0, 2, 2) };
    instruction.output = OutputModifier::Integer(Narrow::SignedSaturate);
    assert_eq!(result(&[alu(instruction)], &mut world, 0), [0x7fff_7fff, 0x0005_7fff, 0, 0]);
}

/// The high half of a product of 32 bits is computed with 64 bits.
#[test]
fn high_products() {
    use tgsi_driver_midgard::isa::alu::{Expand, Extension, SourceModifier};
    let mut world = World::with(&[(1, [0xffff_ffff, 0x8000_0000, 0, 0]), (2, [0xffff_fffe, 3, 0, 0])]);
    let mut high = |extension| {
        let mut instruction = Vector { width: Width::W64, shrink: Some(Shrink::Lower), ..vector(Imul, 0, 1, 2) };
        instruction.output = OutputModifier::Integer(Narrow::High);
        instruction.first.expand = Expand::Low;
        instruction.first.modifier = SourceModifier::Integer(extension);
        let mut second = instruction.first;
        second.register = super::support::r(2);
        instruction.second = VectorOperand::Source(second);
        let [x, y, ..] = result(&[alu(instruction)], &mut world, 0);
        [x, y]
    };
    assert_eq!(high(Extension::Zero), [0xffff_fffd, 1]);
    assert_eq!(high(Extension::Signed), [0, 0xffff_fffe]);
}

#[test]
fn bits_are_selected() {
    let mut world = World::with(&[(1, [0xaaaa_aaaa; 4]), (2, [0x5555_5555; 4]), (3, [u32::MAX, 0, 0xffff, 0])]);
    let mut bundle = on(Unit::Vmul, vector(Imov, 31, 24, 3));
    bundle.vadd = Some(vector(IcselV, 0, 1, 2));
    assert_eq!(result(&[Body::Alu(bundle)], &mut world, 0), [0xaaaa_aaaa, 0x5555_5555, 0x5555_aaaa, 0x5555_5555]);
    let mut bundle = AluBundle { sadd: Some(scalar(Imov, (31, 3), (24, 0), (3, 1))), ..AluBundle::default() };
    bundle.smul = Some(scalar(Icsel, (0, 2), (1, 0), (2, 0)));
    assert_eq!(result(&[Body::Alu(bundle)], &mut world, 0), [0, 0, 0x5555_5555, 0]);
}

#[test]
fn immediates_are_signed() {
    let mut world = World::with(&[(1, [5, 6, 7, 8])]);
    let instruction = Vector { second: VectorOperand::Immediate(0xffff), ..vector(Iadd, 0, 1, 2) };
    assert_eq!(result(&[alu(instruction)], &mut world, 0), [4, 5, 6, 7]);
    let instruction = Vector { second: VectorOperand::Immediate(0x4000), ..vector(Fmul, 0, 1, 2) };
    world.registers = vec![(1, [1.0_f32.to_bits(); 4])];
    assert_eq!(result(&[alu(instruction)], &mut world, 0), [2.0_f32.to_bits(); 4]);
}

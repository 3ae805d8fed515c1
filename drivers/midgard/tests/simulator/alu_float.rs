//! Float opcodes.

use super::support::{World, alu, f, on, r, result, run, scalar, source, vector};
use tgsi_driver_midgard::isa::alu::{
    AluBundle, AluOp, AluOp::*, Clamp, Component, Input, Output, OutputModifier, ScalarSource, Shrink, SourceModifier,
    Unit, Vector,
};
use tgsi_driver_midgard::isa::{Body, Swizzle, Width};
use tgsi_driver_midgard::simulator::Trap;

use half::f16;
use pretty_assertions::assert_eq;

const INF: f32 = f32::INFINITY;
const NAN: f32 = f32::NAN;
const ALL: u32 = u32::MAX;
const TINY: f32 = 5.960_464_5e-8; // 2^-24
const MAX: f32 = f32::MAX;

/// The first component of a result on registers that have the operands in all components.
fn first(op: AluOp, a: u32, b: u32) -> u32 {
    let mut world = World::with(&[(1, [a; 4]), (2, [b; 4])]);
    let instruction = Vector { mask: 3, ..vector(op, 0, 1, 2) };
    result(&[alu(instruction)], &mut world, 0)[0]
}

/// Opcode, operands and result; NaN matches any NaN.
const FLOATS: &[(AluOp, f32, f32, f32)] = &[
    (Fadd, 1.5, 2.25, 3.75),
    (Fadd, 1.0, TINY, 1.0),
    (Fadd, INF, -INF, NAN),
    (Fadd, 1e-45, 1e-45, 2.8e-45),
    (FaddRtz, 1.0, TINY, 1.0),
    (FaddRtz, -1.0, -TINY, -1.0),
    (FaddRtz, MAX, MAX, MAX),
    (FaddRtn, 1.0, TINY, 1.0),
    (FaddRtn, -1.0, -TINY, -1.000_000_1),
    (FaddRtn, 1.0, -1.0, -0.0),
    (FaddRtp, 1.0, TINY, 1.000_000_1),
    (FaddRtp, -1.0, -TINY, -1.0),
    (FaddRtp, 1.0, 1e-40, 1.000_000_1),
    (FaddRtp, -MAX, -MAX, -MAX),
    (Fmul, 3.0, -0.5, -1.5),
    (Fmul, 0.0, INF, NAN),
    (FmulRtz, 1.000_000_1, 1.000_000_1, 1.000_000_2),
    (FmulRtn, 1.000_000_1, 1.000_000_1, 1.000_000_2),
    (FmulRtn, 1.000_000_1, -1.000_000_1, -1.000_000_4),
    (FmulRtp, 1.000_000_1, 1.000_000_1, 1.000_000_4),
    (FmulRtp, 1e-30, 1e-30, 1e-45),
    (Fmin, 1.0, 2.0, 1.0),
    (Fmin, NAN, 2.0, 2.0),
    (Fmin, 0.0, -0.0, -0.0),
    (FminNan, 1.0, NAN, NAN),
    (FminNan, 1.0, -3.0, -3.0),
    (Fabsmin, -5.0, 2.0, 2.0),
    (FabsminNan, -5.0, 7.0, 5.0),
    (FabsminNan, NAN, 7.0, NAN),
    (Fmax, 1.0, 2.0, 2.0),
    (Fmax, -0.0, 0.0, 0.0),
    (Fmax, 1.0, NAN, 1.0),
    (FmaxNan, 4.0, 1.0, 4.0),
    (FmaxNan, 4.0, NAN, NAN),
    (Fabsmax, -5.0, 2.0, 5.0),
    (FabsmaxNan, -5.0, 2.0, 5.0),
    (FabsmaxNan, -5.0, NAN, NAN),
    (Fmov, 9.0, -7.5, -7.5),
    (FmovRtz, 9.0, -7.5, -7.5),
    (FmovRtn, 9.0, 1e-45, 1e-45),
    (FmovRtp, 9.0, -0.0, -0.0),
    (Froundeven, 2.5, 0.0, 2.0),
    (Froundeven, -3.5, 0.0, -4.0),
    (Ftrunc, -2.7, 0.0, -2.0),
    (Ffloor, -2.1, 0.0, -3.0),
    (Fceil, 2.1, 0.0, 3.0),
    (Fceil, -0.5, 0.0, -0.0),
    (Froundaway, 2.5, 0.0, 3.0),
    (Froundaway, -2.5, 0.0, -3.0),
    (Ffma, 3.0, 0.5, 9.5),
    (FfmaRtz, 1.0, TINY, 1.0),
    (FfmaRtn, -1.0, -TINY, 0.999_999_94),
    (FfmaRtp, 1.0, TINY, 1.000_000_1),
    (Fdot3, 2.0, 3.0, 18.0),
    (Fdot4, 2.0, 3.0, 24.0),
    (Fcsel, 1.0, 2.0, 1.0),
    (FcselV, 1.0, 2.0, 1.0),
    (I2f, 0.0, 0.0, 0.0),
    (Frcp, 4.0, 0.0, 0.25),
    (Frcp, -0.0, 0.0, -INF),
    (Frsqrt, 16.0, 0.0, 0.25),
    (Fsqrt, 16.0, 0.0, 4.0),
    (Fsqrt, -1.0, 0.0, NAN),
    (Fexp2, -3.0, 0.0, 0.125),
    (Flog2, 32.0, 0.0, 5.0),
    (Fsinpi, 0.5, 0.0, 1.0),
    (Fcospi, 1.0, 0.0, -1.0),
];

/// Opcode, bits of the first operand, and the result as a float.
const CONVERSIONS: &[(AluOp, u32, f32)] = &[
    (I2f, -5_i32 as u32, -5.0),
    (I2f, 0x0100_0001, 16_777_216.0),
    (I2fRtz, -0x0100_0001_i32 as u32, -16_777_216.0),
    (I2fRtn, -0x0100_0001_i32 as u32, -16_777_218.0),
    (I2fRtp, 0x0100_0001, 16_777_218.0),
    (U2f, ALL, 4_294_967_296.0),
    (U2fRtz, ALL, 4_294_967_040.0),
    (U2fRtn, ALL, 4_294_967_040.0),
    (U2fRtp, ALL, 4_294_967_296.0),
];

/// Opcode, operands and the result as bits.
const COMPARISONS: &[(AluOp, f32, f32, u32)] = &[
    (Feq, 0.0, -0.0, ALL),
    (Feq, NAN, NAN, 0),
    (Fne, NAN, 1.0, ALL),
    (Fne, 1.0, 1.0, 0),
    (Flt, 1.0, 2.0, ALL),
    (Flt, 2.0, 2.0, 0),
    (Fle, 2.0, 2.0, ALL),
    (Fle, NAN, 2.0, 0),
    (FallEq, 1.0, 1.0, ALL),
    (FallNe, 1.0, 2.0, ALL),
    (FallLt, 1.0, 2.0, ALL),
    (FallLe, 3.0, 2.0, 0),
    (FanyEq, 1.0, 2.0, 0),
    (FanyNe, 1.0, 2.0, ALL),
    (FanyLt, 1.0, 2.0, ALL),
    (FanyLe, 3.0, 2.0, 0),
    (F2i, 2.5, 0.0, 2),
    (F2i, NAN, 0.0, 0),
    (F2iRtz, -2.7, 0.0, -2_i32 as u32),
    (F2iRtz, 1e10, 0.0, 0x7fff_ffff),
    (F2iRtn, -2.1, 0.0, -3_i32 as u32),
    (F2iRtp, 2.1, 0.0, 3),
    (F2u, 3.5, 0.0, 4),
    (F2uRtz, -1.0, 0.0, 0),
    (F2uRtz, 3e9, 0.0, 3_000_000_000),
    (F2uRtn, 2.9, 0.0, 2),
    (F2uRtp, 2.1, 0.0, 3),
];

/// Opcodes without a known definition.
const UNDEFINED: &[AluOp] = &[Fdot3r, Freduce, Fatan2Pt2, FpowPt1, FpownPt1, FpowrPt1, Fatan2Pt1];

fn assert_float(op: AluOp, found: u32, expected: f32) {
    let found = f32::from_bits(found);
    assert!(found.to_bits() == expected.to_bits() || found.is_nan() && expected.is_nan(), "{op:?} {found} {expected}");
}

#[test]
fn floats_of_32_bits() {
    for &(op, a, b, expected) in FLOATS {
        if !matches!(op, Fcsel | FcselV) {
            assert_float(op, first(op, f(a), f(b)), expected);
        }
    }
    for &(op, a, expected) in CONVERSIONS {
        assert_float(op, first(op, a, 0), expected);
    }
    for &(op, a, b, expected) in COMPARISONS {
        assert_eq!(first(op, f(a), f(b)), expected, "{op:?}");
    }
}

#[test]
fn each_float_opcode_has_a_row() {
    for row in AluOp::table().iter().filter(|row| row.input == Input::Float || row.output == Output::Float) {
        let is_listed = FLOATS.iter().any(|of| of.0 == row.op)
            || CONVERSIONS.iter().any(|of| of.0 == row.op)
            || COMPARISONS.iter().any(|of| of.0 == row.op)
            || UNDEFINED.contains(&row.op);
        assert!(is_listed, "{:?}", row.op);
    }
}

#[test]
fn undefined_opcodes_trap() {
    for &op in UNDEFINED {
        let found = run(&[alu(Vector { mask: 3, ..vector(op, 0, 1, 2) })], &mut World::default());
        assert_eq!(found, Err(Trap::Undefined(0, op.row().name)));
    }
}

/// Operations of the same table on 16 and 64 bits, where the numbers have these widths.
#[test]
fn floats_of_other_widths() {
    let is_exact = |value: f32| f16::from_f32(value).to_f32() == value || value.is_nan();
    let mut count = 0;
    for &(op, a, b, expected) in FLOATS {
        if matches!(op, Fcsel | FcselV) || ![a, b, expected].into_iter().all(is_exact) {
            continue;
        }
        count += 1;
        let half = |value: f32| u32::from(f16::from_f32(value).to_bits()) * 0x1_0001;
        let mut world = World::with(&[(1, [half(a); 4]), (2, [half(b); 4])]);
        let instruction = Vector { width: Width::W16, mask: 1, ..vector(op, 0, 1, 2) };
        let found = result(&[alu(instruction)], &mut world, 0)[0];
        assert_float(op, f16::from_bits(found as u16).to_f32().to_bits(), expected);
        if op.row().reduces != 0 {
            continue;
        }
        let double = |value: f32| {
            let bits = f64::from(value).to_bits();
            [bits as u32, (bits >> 32) as u32, bits as u32, (bits >> 32) as u32]
        };
        let mut world = World::with(&[(1, double(a)), (2, double(b))]);
        let instruction = Vector { width: Width::W64, mask: 0xf, ..vector(op, 0, 1, 2) };
        let [low, high, ..] = result(&[alu(instruction)], &mut world, 0);
        let found = f64::from_bits(u64::from(low) | u64::from(high) << 32);
        let is_close = (found - f64::from(expected)).abs() < 1e-6;
        assert!(
            is_close || found == f64::from(expected) || found.is_nan() && expected.is_nan(),
            "{op:?} {found} {expected}"
        );
    }
    assert!(count > 45, "{count}");
}

/// Sums and products of 16 bits are rounded once: all pairs of some numbers, beside exact arithmetic on integers.
#[test]
fn halves_are_rounded_once() {
    let numbers: Vec<u16> = (0..200_u16).map(|index| 0x3c00_u16.wrapping_add(index.wrapping_mul(331))).collect();
    for pair in numbers.chunks(2) {
        let [a, b] = [pair[0], pair[1]].map(|bits| f16::from_bits(bits & 0x7bff));
        let mut world = World::with(&[(1, [u32::from(a.to_bits()); 4]), (2, [u32::from(b.to_bits()); 4])]);
        // All halves are multiples of 2^-24, so that sums of 64-bit integers are exact.
        let scaled = |value: f16| (value.to_f64() * 16_777_216.0) as i64;
        let exact = scaled(a) + scaled(b);
        let instruction = Vector { width: Width::W16, mask: 1, ..vector(Fadd, 0, 1, 2) };
        let found = f16::from_bits(result(&[alu(instruction)], &mut world, 0)[0] as u16);
        if found.is_finite() {
            let error = (scaled(found) - exact).abs();
            for neighbour in [found.to_bits() - 1, found.to_bits() + 1].map(f16::from_bits) {
                if neighbour.is_finite() {
                    assert!(error <= (scaled(neighbour) - exact).abs(), "{a} + {b} = {found}");
                }
            }
        }
    }
}

#[test]
fn fma_is_rounded_once() {
    // (1 + 2^-12)^2 - 1 - 2^-11 = 2^-24.
    let factor = 1.0 + 2_f32.powi(-12);
    let mut world = World::with(&[(1, [f(factor); 4]), (2, [f(-1.0 - 2_f32.powi(-11)); 4])]);
    let found = result(&[alu(Vector { mask: 3, ..vector(Ffma, 0, 1, 2) })], &mut world, 0)[0];
    assert_eq!(f32::from_bits(found), 2_f32.powi(-24));
}

#[test]
fn dot_products_sum_from_the_last() {
    // ((1 + -1e10) + 1e10) + 1 of components w, z, y, x.
    let mut world = World::with(&[(1, [1.0, 1e10, -1e10, 1.0].map(f)), (2, [f(1.0); 4])]);
    let instruction = |op| alu(Vector { mask: 3, ..vector(op, 0, 1, 2) });
    assert_eq!(f32::from_bits(result(&[instruction(Fdot4)], &mut world, 0)[0]), 1.0);
    assert_eq!(f32::from_bits(result(&[instruction(Fdot3)], &mut world, 0)[0]), 1.0);
}

#[test]
fn modifiers_of_floats() {
    let modified = |abs, negate, clamp| {
        let mut instruction = vector(Fmov, 0, 24, 2);
        instruction.output = OutputModifier::Float(clamp);
        instruction.second = tgsi_driver_midgard::isa::alu::VectorSource {
            modifier: SourceModifier::Float { abs, negate },
            ..source(Fmov, 2)
        }
        .into();
        let mut world = World::with(&[(2, [-2.5, 0.5, NAN, -0.0].map(f))]);
        result(&[alu(instruction)], &mut world, 0).map(f32::from_bits)
    };
    assert_eq!(modified(true, false, Clamp::None)[..2], [2.5, 0.5]);
    assert_eq!(modified(true, true, Clamp::None)[..2], [-2.5, -0.5]);
    assert_eq!(modified(false, true, Clamp::None)[..2], [2.5, -0.5]);
    assert_eq!(modified(false, false, Clamp::Unit), [0.0, 0.5, 0.0, 0.0]);
    assert_eq!(modified(false, false, Clamp::Signed), [-1.0, 0.5, -1.0, -0.0]);
    assert_eq!(modified(false, false, Clamp::Positive), [0.0, 0.5, 0.0, 0.0]);
    assert_eq!(modified(false, true, Clamp::Unit), [1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn results_shrink() {
    let mut world = World::with(&[(0, [0x1111_1111; 4]), (2, [1.0, -2.0, 65536.0, 1.000_976_6].map(f))]);
    let mut instruction = vector(Fmov, 0, 24, 2);
    instruction.shrink = Some(Shrink::Upper);
    assert_eq!(result(&[alu(instruction)], &mut world, 0), [0x1111_1111, 0x1111_1111, 0xc000_3c00, 0x3c01_7c00]);
    let mut instruction = Vector { mask: 0x0c, ..vector(FmovRtz, 0, 24, 2) };
    instruction.shrink = Some(Shrink::Lower);
    assert_eq!(result(&[alu(instruction)], &mut world, 0), [0xc000_1111, 0x1111_1111, 0x1111_1111, 0x1111_1111]);
}

#[test]
fn scalar_units_compute_with_32_bits() {
    let mut world = World::with(&[(1, [f(1.5), 0x4000_3c00, 0, 0]), (2, [f(2.0); 4])]);
    let mut instruction = scalar(Fadd, (0, 1), (1, 0), (2, 0));
    let bundle = |sadd| Body::Alu(AluBundle { sadd: Some(sadd), ..AluBundle::default() });
    assert_eq!(result(&[bundle(instruction)], &mut world, 0), [0, f(3.5), 0, 0]);
    // 16-bit component 3 is 2.0.
    instruction.first = ScalarSource { component: Component::Half(3), ..ScalarSource::new(Fadd, r(1), 0) };
    instruction.component = Component::Half(5);
    assert_eq!(result(&[bundle(instruction)], &mut world, 0), [0, 0, 0x4400_0000, 0]);
    let product = scalar(Fmul, (0, 0), (1, 0), (2, 0));
    let smul = Body::Alu(AluBundle { smul: Some(product), ..AluBundle::default() });
    assert_eq!(result(&[smul], &mut world, 0)[0], f(3.0));
}

#[test]
fn float_selections() {
    let mut bundle = on(Unit::Vmul, vector(Imov, 31, 24, 3));
    bundle.vadd = Some(vector(FcselV, 0, 1, 2));
    let mut world = World::with(&[(1, [1.0, 2.0, 3.0, 4.0].map(f)), (2, [f(9.0); 4]), (3, [ALL, 0, ALL, 0])]);
    assert_eq!(result(&[Body::Alu(bundle)], &mut world, 0), [1.0, 9.0, 3.0, 9.0].map(f));
    let mut bundle = AluBundle { sadd: Some(scalar(Imov, (31, 3), (24, 0), (3, 0))), ..AluBundle::default() };
    bundle.vadd = Some(vector(Fcsel, 0, 1, 2));
    assert_eq!(result(&[Body::Alu(bundle)], &mut world, 0), [1.0, 2.0, 3.0, 4.0].map(f));
    let lone = on(Unit::Vadd, vector(Fcsel, 0, 1, 2));
    let trap = Trap::Undefined(0, "a condition that no unit writes");
    assert_eq!(run(&[Body::Alu(lone)], &mut world), Err(trap));
}

#[test]
fn fma_takes_two_components() {
    let mut world = World::with(&[(1, [2.0, 3.0, 5.0, 7.0].map(f)), (2, [1.0, 10.0, 100.0, 1000.0].map(f))]);
    let mut instruction = Vector { mask: 0x30, ..vector(Ffma, 0, 1, 2) };
    assert_eq!(result(&[alu(instruction)], &mut world, 0), [0, 0, f(106.0), 0]);
    instruction.first.swizzle = Swizzle::new([3, 2, 0, 0]);
    assert_eq!(result(&[alu(instruction)], &mut world, 0), [0, 0, f(135.0), 0]);
}

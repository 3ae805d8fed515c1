//! Tests 64-bit floats emulated with 32-bit integers.

use super::*;
use crate::options::{CompilerOptions, DoubleOps};
use crate::passes::lower_doubles;

fn lower(shader: &mut Shader) -> bool {
    let options =
        CompilerOptions { lower_doubles: DoubleOps::ALL, software_doubles: true, ..CompilerOptions::default() };
    lower_doubles(shader, &options)
}

/// To the nearest with denormals, and toward zero.
const MODES: [ExecutionMode; 3] = [ExecutionMode::DEFAULT, ExecutionMode(7 << 18), ExecutionMode(7 << 12)];

/// Floats with exponents that are close, far apart, or at the limits.
fn triples(count: usize) -> Vec<Vec<u64>> {
    let mut words = Words::new(99);
    let special = special_floats(64);
    (0..count)
        .map(|_| {
            let base = words.word() % 2047;
            let mut near = |spread: u64, base: u64| {
                let exponent = (base + words.word() % spread).saturating_sub(spread / 2).min(2046);
                let fraction = match words.word() % 3 {
                    0 => words.word() & 0xff << 44,
                    1 => words.word() & 0xff,
                    _ => words.word() & mask(52),
                };
                (words.word() & 1) << 63 | exponent << 52 | fraction
            };
            match base % 4 {
                0 => vec![near(120, base), near(4, 1023), near(120, base)],
                1 => vec![near(3, base), near(3, 1023), near(3, base)],
                2 => vec![near(4, base), near(4, 2047 - base), near(200, 1023)],
                _ => (0..3).map(|i| special[(near(2046, 1023) as usize >> (20 + i)) % special.len()]).collect(),
            }
        })
        .collect()
}

#[test]
fn sums_and_products() {
    let mut cases = float_pairs(64);
    cases.extend(triples(40_000).into_iter().map(|case| vec![case[0], case[2]]));
    cases.extend(triples(10_000).into_iter().map(|case| vec![case[0], case[1]]));
    for mode in MODES {
        for op in [AluOp::Fadd, AluOp::Fmul] {
            Check { mode, ..Check::new(op, 64, &lower) }.run(&cases);
        }
    }
}

#[test]
fn fused_products() {
    let mut cases = triples(60_000);
    // Products that the summand cancels except for their last bits.
    for case in triples(20_000) {
        let product = f64::from_bits(case[0]) * f64::from_bits(case[1]);
        cases.push(vec![case[0], case[1], (-product).to_bits()]);
        cases.push(vec![case[0], case[1], (-product).to_bits() ^ 1]);
    }
    for mode in MODES {
        Check { mode, ..Check::new(AluOp::Ffma, 64, &lower) }.run(&cases);
    }
}

#[test]
fn comparisons() {
    let cases = float_pairs(64);
    let mut checked = 0;
    for &op in AluOp::ALL {
        if op.info().group == "compare-float" {
            Check::new(op, 64, &lower).run(&cases);
            checked += 1;
        }
    }
    assert_eq!(checked, 40);
}

#[test]
fn signs() {
    for op in [AluOp::Fneg, AluOp::Fabs, AluOp::Fsign] {
        Check::new(op, 64, &lower).run(&floats(64));
    }
}

#[test]
fn conversions() {
    use AluOp as O;
    let cases = floats(64);
    for op in [O::F2i8, O::F2i16, O::F2i32, O::F2i64, O::F2u8, O::F2u16, O::F2u32, O::F2u64] {
        Check::new(op, 64, &lower).run(&cases);
    }
    for mode in [0, 2 << 18, 2 << 12].map(ExecutionMode) {
        let check = Check { mode, ..Check::new(O::F2f32, 64, &lower) };
        check.run(&cases);
        // Around midpoints between 32-bit floats of random magnitude, denormals included.
        let mut words = Words::new(32);
        let middles: Vec<Vec<u64>> = (0..30_000)
            .map(|_| {
                let exponent = 860 + words.word() % 320;
                let fraction = (words.word() & mask(24)) << 28;
                let offset = [u64::MAX, 0, 1][(words.word() % 3) as usize];
                vec![(words.word() & 1) << 63 | (exponent << 52 | fraction).wrapping_add(offset)]
            })
            .collect();
        check.run(&middles);
    }
    for bits in [16, 32] {
        Check::new(O::F2f64, bits, &lower).run(&floats(bits));
    }
    for bits in [8, 16, 32, 64] {
        for op in [O::I2f64, O::U2f64] {
            Check::new(op, bits, &lower).run(&integers(bits));
        }
    }
    for bits in [1, 8, 16, 32] {
        Check::new(O::B2f64, bits, &lower).run(&[vec![0], vec![mask(bits)]]);
    }
}

/// Operations composed of sums and products are emulated too, and give the same results.
#[test]
fn all_the_way() {
    let neighbours = |a: u64, b: u64| a >> 63 == b >> 63 && a.abs_diff(b) <= 1;
    let cases: Vec<Vec<u64>> = floats(64).into_iter().step_by(5).collect();
    for op in [AluOp::Frcp, AluOp::Fsqrt, AluOp::Frsq] {
        Check { same: &neighbours, ..Check::new(op, 64, &lower) }.run(&cases);
    }
    for op in [AluOp::Ftrunc, AluOp::Ffloor, AluOp::Fceil, AluOp::FroundEven, AluOp::Ffract, AluOp::Fsat] {
        Check::new(op, 64, &lower).run(&cases);
    }
    let cases: Vec<Vec<u64>> = float_pairs(64).into_iter().step_by(9).collect();
    Check { same: &neighbours, ..Check::new(AluOp::Fdiv, 64, &lower) }.run(&cases);
    for op in [AluOp::Fmin, AluOp::Fmax, AluOp::Fsub] {
        Check::new(op, 64, &lower).run(&cases);
    }
    // The only remaining 64-bit operations are moves, selections and packing.
    let mut shader = Check::new(AluOp::Fdiv, 64, &lower).shader(&[]);
    lower(&mut shader);
    let body = shader.main();
    let mut checked = 0;
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        let Some(op) = body.alu_op(inst) else { continue };
        let is_wide = |number: usize| body.bit_size(body.src(inst, number)) == 64;
        if body.inst_def(inst).is_some_and(|def| body.bit_size(def) == 64) || (0..body.num_sources(inst)).any(is_wide) {
            let moves = op.is_vec_or_mov() || matches!(op, AluOp::Bcsel) || op.info().group == "pack";
            assert!(moves, "{op} of 64 bits remains");
            checked += 1;
        }
    }
    assert!(checked > 20);
}

//! Tests 64-bit float operations computed with sums, products and 32-bit estimates.

use super::*;
use crate::options::{CompilerOptions, DoubleOps};
use crate::passes::lower_doubles;

fn lacking(set: DoubleOps) -> impl Fn(&mut Shader) -> bool {
    move |shader| lower_doubles(shader, &CompilerOptions { lower_doubles: set, ..CompilerOptions::default() })
}

fn lower(shader: &mut Shader) -> bool {
    lacking(DoubleOps::ALL)(shader)
}

/// At most one apart among the floats, of which 0 and -0 are different.
fn neighbours(a: u64, b: u64) -> bool {
    a >> 63 == b >> 63 && a.abs_diff(b) <= 1
}

/// Includes denormals and the largest numbers.
fn wide_floats(seed: u64, count: usize) -> Vec<Vec<u64>> {
    let mut words = Words::new(seed);
    let mut cases: Vec<Vec<u64>> = special_floats(64).into_iter().map(|value| vec![value]).collect();
    for _ in 0..count {
        let word = words.word();
        cases.push(vec![word]);
        cases.push(vec![word & (1 << 63 | mask(52)) >> (words.word() % 50) | word & 1 << 63]);
    }
    cases
}

#[test]
fn reciprocals_and_roots() {
    let mut cases = floats(64);
    cases.extend(wide_floats(1, 20_000));
    for op in [AluOp::Frcp, AluOp::Fsqrt, AluOp::Frsq] {
        Check { same: &neighbours, ..Check::new(op, 64, &lower) }.run(&cases);
        // Exact where the result is an integer.
        for power in -300..300 {
            let value = match op {
                AluOp::Frcp => 2f64.powi(power),
                _ => 4f64.powi(power) * if op == AluOp::Fsqrt { 9.0 } else { 1.0 },
            };
            Check::new(op, 64, &lower).run(&[vec![value.to_bits()]]);
        }
    }
}

#[test]
fn quotients() {
    let mut cases = float_pairs(64);
    let wide = wide_floats(2, 20_000);
    cases.extend(wide.windows(2).map(|pair| vec![pair[0][0], pair[1][0]]));
    let check = Check { same: &neighbours, ..Check::new(AluOp::Fdiv, 64, &lower) };
    check.run(&cases);
    // Exact where the quotient is an integer.
    let mut words = Words::new(3);
    let whole: Vec<Vec<u64>> = (0..20_000)
        .map(|_| {
            let (q, d) = (words.word() >> 38, (words.word() >> 38).max(1));
            vec![((q * d) as f64).to_bits(), (d as f64).to_bits()]
        })
        .collect();
    Check::new(AluOp::Fdiv, 64, &lower).run(&whole);
}

const MODES: [ExecutionMode; 2] = [ExecutionMode::DEFAULT, ExecutionMode(4 << 18)];

#[test]
fn rounding() {
    let mut cases = floats(64);
    cases.extend(wide_floats(4, 10_000));
    let ops = [
        (AluOp::Ftrunc, DoubleOps::TRUNC),
        (AluOp::Ffloor, DoubleOps::FLOOR),
        (AluOp::Fceil, DoubleOps::CEIL),
        (AluOp::FroundEven, DoubleOps::ROUND_EVEN),
        (AluOp::Ffract, DoubleOps::FRACT),
    ];
    for (op, family) in ops {
        for mode in MODES {
            // The table's fraction rounds to the nearest whatever the mode.
            if op == AluOp::Ffract && mode != ExecutionMode::DEFAULT {
                continue;
            }
            Check { mode, ..Check::new(op, 64, &lower) }.run(&cases);
            Check { mode, ..Check::new(op, 64, &lacking(family)) }.run(&cases);
        }
    }
}

#[test]
fn sums_and_limits() {
    let cases = float_pairs(64);
    for op in [AluOp::Fmin, AluOp::Fmax, AluOp::Fsub] {
        Check::new(op, 64, &lower).run(&cases);
    }
    Check::new(AluOp::Fsat, 64, &lower).run(&floats(64));
    Check::new(AluOp::Fsat, 64, &lacking(DoubleOps::SAT)).run(&floats(64));
}

/// The table's remainders round the quotient to 32 bits before truncation, so they agree with the formula only where
/// that is exact.
#[test]
fn remainders() {
    let mut words = Words::new(6);
    let mut cases = Vec::new();
    for _ in 0..30_000 {
        // Multiples of a quarter, with small quotients.
        let (a, b) = ((words.word() % 4_000) as f64 * 0.25 - 500.0, (words.word() % 99) as f64 * 0.25 - 12.0);
        let quotient = a / b;
        if f64::from(quotient as f32).floor() == quotient.floor()
            && f64::from(quotient as f32).trunc() == quotient.trunc()
        {
            cases.push(vec![a.to_bits(), b.to_bits()]);
        }
    }
    assert!(cases.len() > 20_000);
    let zeros = |a: u64, b: u64| a == b || (a | b) & mask(63) == 0;
    for op in [AluOp::Fmod, AluOp::Frem] {
        for set in [DoubleOps::ALL, DoubleOps::MOD] {
            Check { same: &zeros, ..Check::new(op, 64, &lacking(set)) }.run(&cases);
        }
    }
}

#[test]
fn families_are_chosen_one_by_one() {
    let families = [
        (AluOp::Frcp, DoubleOps::RCP),
        (AluOp::Fsqrt, DoubleOps::SQRT),
        (AluOp::Frsq, DoubleOps::RSQ),
        (AluOp::Ftrunc, DoubleOps::TRUNC),
        (AluOp::Ffloor, DoubleOps::FLOOR),
        (AluOp::Fceil, DoubleOps::CEIL),
        (AluOp::Ffract, DoubleOps::FRACT),
        (AluOp::FroundEven, DoubleOps::ROUND_EVEN),
        (AluOp::Fmod, DoubleOps::MOD),
        (AluOp::Fsub, DoubleOps::SUB),
        (AluOp::Fdiv, DoubleOps::DIV),
        (AluOp::Fmax, DoubleOps::MIN_MAX),
        (AluOp::Fsat, DoubleOps::SAT),
    ];
    for (op, family) in families {
        let check = Check::new(op, 64, &lower);
        assert!(lacking(family)(&mut check.shader(&[])), "{op}");
        assert!(!lacking(DoubleOps(DoubleOps::ALL.0 & !family.0))(&mut check.shader(&[])), "{op}");
        assert!(!lower(&mut Check::new(op, 32, &lower).shader(&[])), "{op}");
        let mut shader = check.shader(&[]);
        lower(&mut shader);
        let count = values(&shader).len();
        assert!(count <= 140, "{op}: {count} instructions");
        // Only operations that remain for a target without any of the others.
        for (other, _) in families {
            assert!(!has_op(&shader, other, 64), "{op} needs {other}");
        }
    }
}

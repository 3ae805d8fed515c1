//! Checks the error bounds of float functions in the manual (`manual/alu.md`) against 64-bit floats.
//!
//! Tests a sample of the 32-bit operands, and the operand with the greatest error. `TGSIC_EVERY=1 cargo test --release
//! -p tgsi-ir --test all accuracy -- --nocapture` tests all 2^32, and prints the figures.

#[path = "support/accuracy.rs"]
mod measured;

use measured::{check, error, table};
use tgsi_ir::alu::{AluOp, ExecutionMode, evaluate};

const PAGE: &str = include_str!("../manual/alu.md");

type Exact = fn(f64) -> f64;

/// Operands of one evaluation.
const COMPONENTS: usize = 16;

/// Evaluates an opcode on many operands.
fn evaluate_all(op: AluOp, sources: &[&[u32]], results: &mut [u32]) {
    let mut wide = [[0u64; COMPONENTS]; 2];
    let mut found = [0u64; COMPONENTS];
    for (block, results) in results.chunks_mut(COMPONENTS).enumerate() {
        let count = results.len();
        for (wide, source) in wide.iter_mut().zip(sources) {
            for (wide, &word) in wide.iter_mut().zip(&source[block * COMPONENTS..]) {
                *wide = word.into();
            }
        }
        let sources = [&wide[0][..count], &wide[1][..count]];
        evaluate(
            op,
            32,
            count as u8,
            &sources[..usize::from(op.info().num_inputs)],
            ExecutionMode::default(),
            &mut found,
        );
        results.iter_mut().zip(found).for_each(|(result, word)| *result = word as u32);
    }
}

#[test]
fn functions_of_one_operand_are_as_accurate_as_stated() {
    let functions: [(AluOp, Exact); 7] = [
        (AluOp::Frcp, |a| 1.0 / a),
        (AluOp::Frsq, |a| 1.0 / a.sqrt()),
        (AluOp::Fsqrt, f64::sqrt),
        (AluOp::Fexp2, f64::exp2),
        (AluOp::Flog2, f64::log2),
        (AluOp::Fsin, f64::sin),
        (AluOp::Fcos, f64::cos),
    ];
    let rows = table(PAGE, "| Function | Error in ulp | Absolute error | Greatest at |");
    let mut wrong = Vec::new();
    for (op, exact) in functions {
        let row = rows.iter().find(|row| row[0] == op.info().name).cloned().unwrap_or(vec![op.info().name.to_owned()]);
        wrong.extend(check(&row, |a, results| evaluate_all(op, &[a], results), |a| exact(a.into())).err());
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(rows.len(), functions.len(), "a row for each");
}

/// Operands of `fpow`: bases with all exponents, and exponents for which the result is mostly finite.
fn pair(number: u64) -> (u32, u32) {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let base = (z >> 32) as u32 & 0x7fff_ffff;
    // From 2^-20 to 2^12, with both signs.
    let exponent = (107 + (z as u32 >> 8 & 31)) << 23 | z as u32 & 0x7f_ffff | (z as u32) << 31;
    (base, exponent)
}

#[test]
fn powers_are_as_accurate_as_stated() {
    let stated = PAGE.split("on 2^24 pairs, `fpow` has an error of at\nmost ").nth(1).expect("the manual states it");
    let stated: f64 = stated.split(' ').next().and_then(|number| number.parse().ok()).expect("a number");
    let count = if measured::step() == 1 { 1 << 24 } else { 1 << 18 };
    let (mut worst, mut worst_pair, mut finite) = (0f64, (0, 0), 0u64);
    for number in 0..count {
        let (base, exponent) = pair(number);
        let mut result = [0];
        evaluate_all(AluOp::Fpow, &[&[base], &[exponent]], &mut result);
        let exact = f64::from(f32::from_bits(base)).powf(f32::from_bits(exponent).into());
        finite += u64::from(exact.is_finite() && exact != 0.0);
        let error = error(f32::from_bits(result[0]), exact);
        if error > worst {
            (worst, worst_pair) = (error, (base, exponent));
        }
    }
    println!("fpow: {worst:.4} ulp at {worst_pair:#x?}, {finite} of {count} finite");
    assert!(finite > count / 4, "only {finite} of {count} are finite");
    assert!(worst <= stated, "{worst} ulp at {worst_pair:x?}");
}

#[test]
fn errors_are_counted() {
    assert_eq!(error(1.0, 1.0), 0.0);
    assert_eq!(error(1.0 + f32::EPSILON, 1.0), 1.0);
    assert_eq!(error(f32::from_bits(3), f64::from(f32::from_bits(1))), 2.0);
    assert_eq!(error(f32::NAN, f64::NAN), 0.0);
    assert_eq!(error(0.0, f64::NAN), f64::INFINITY);
    assert_eq!(error(f32::NEG_INFINITY, f64::INFINITY), f64::INFINITY);
    assert_eq!(error(f32::MAX, f64::INFINITY), f64::INFINITY);
    // Above the greatest number, but below the threshold of rounding to infinity.
    assert_eq!(error(f32::MAX, f64::from(f32::MAX) + 2f64.powi(102)), 0.25);
    assert_eq!(error(f32::INFINITY, 2f64.powi(200)), 0.0);
}

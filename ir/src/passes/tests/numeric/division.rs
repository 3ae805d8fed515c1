//! Tests integer division by constants and by other values.

use super::*;
use crate::options::CompilerOptions;
use crate::passes::{lower_idiv, opt_idiv_const};

const DIVISIONS: [AluOp; 5] = [AluOp::Udiv, AluOp::Umod, AluOp::Idiv, AluOp::Irem, AluOp::Imod];

fn lower(shader: &mut Shader) -> bool {
    lower_idiv(shader, &CompilerOptions { lower_idiv: true, ..CompilerOptions::default() })
}

fn lower_by_fp16(shader: &mut Shader) -> bool {
    lower_idiv(shader, &CompilerOptions { lower_idiv: true, idiv_by_fp16: true, ..CompilerOptions::default() })
}

fn by_constants(shader: &mut Shader) -> bool {
    opt_idiv_const(shader)
}

/// Pairs of 32-bit numbers with quotients that are integers or just below.
fn near_multiples(bits: u8, count: usize) -> Vec<Vec<u64>> {
    let mut words = Words::new(77);
    let mut cases = Vec::new();
    for _ in 0..count {
        let (d, q) = (words.integer(bits), words.integer(bits));
        let product = d.wrapping_mul(q) & mask(bits);
        for n in [product, product.wrapping_sub(1), product.wrapping_add(1)] {
            cases.push(vec![n & mask(bits), d]);
        }
    }
    cases
}

#[test]
fn division_without_division() {
    for op in DIVISIONS {
        for bits in [8, 16, 32] {
            let check = Check::new(op, bits, &lower);
            check.run(&integer_pairs(bits));
            if bits > 8 {
                check.run(&near_multiples(bits, 5_000));
            }
        }
        Check::new(op, 8, &lower_by_fp16).run(&integer_pairs(8));
    }
}

/// Rounding toward zero makes the reciprocal smaller.
#[test]
fn division_without_division_when_rounding_toward_zero() {
    for op in [AluOp::Udiv, AluOp::Irem] {
        for bits in [8, 16, 32] {
            let check = Check { mode: ExecutionMode(7 << 18 | 7 << 12), ..Check::new(op, bits, &lower) };
            check.run(&integer_pairs(bits));
        }
        let check = Check { mode: ExecutionMode(7 << 18 | 7 << 12), ..Check::new(op, 8, &lower_by_fp16) };
        check.run(&integer_pairs(8));
    }
}

#[test]
fn division_by_every_byte() {
    let all: Vec<u64> = (0..256).collect();
    for op in DIVISIONS {
        Check::new(op, 8, &by_constants).run_with_constants(&all, &all);
    }
}

#[test]
fn division_by_constants() {
    for bits in [16, 32, 64] {
        let special = special_integers(bits);
        let mut words = Words::new(3);
        let random = |words: &mut Words| (0..200).map(|_| words.integer(bits)).collect::<Vec<_>>();
        let mut divisors = special.clone();
        divisors.extend(random(&mut words));
        let mut values = special;
        values.extend(random(&mut words));
        values.truncate(MAX_LANES);
        for op in DIVISIONS {
            Check::new(op, bits, &by_constants).run_with_constants(&values, &divisors);
        }
    }
}

/// Dividends that reveal a slightly wrong multiplier: the largest multiples of the divisor and their neighbours.
#[test]
fn division_of_the_largest_multiples_by_constants() {
    let mut words = Words::new(9);
    for bits in [16, 32, 64] {
        for _ in 0..200 {
            let d = words.integer(bits).max(1);
            let signed = ((d << (64 - bits)) as i64 >> (64 - bits)).unsigned_abs();
            let mut values = Vec::new();
            for (limit, d) in [(mask(bits), d), (mask(bits) >> 1, signed), (mask(bits) >> 1, signed)] {
                let largest = limit / d * d;
                for value in [largest, largest - 1, largest.wrapping_add(1), largest.saturating_sub(d)] {
                    values.extend([value & mask(bits), value.wrapping_neg() & mask(bits)]);
                }
            }
            for op in DIVISIONS {
                Check::new(op, bits, &by_constants).run_with_constants(&values, &[d]);
            }
        }
    }
}

#[test]
fn divisions_by_what_is_no_constant_stay() {
    let sixteen = Check::new(AluOp::Udiv, 16, &by_constants);
    assert!(opt_idiv_const(&mut sixteen.shader(&[None, Some([3, 5, 7, 8])])));
    assert!(!opt_idiv_const(&mut sixteen.shader(&[])));
    assert!(!opt_idiv_const(&mut sixteen.shader(&[Some([3, 5, 7, 8])])));
    // A target with division.
    assert!(!lower_idiv(&mut sixteen.shader(&[]), &CompilerOptions::default()));
}

/// Runs the pass, and replaces each reciprocal by the other neighbour of the exact value.
fn lower_for_poor_reciprocals(shader: &mut Shader) -> bool {
    let progress = lower(shader);
    if progress {
        let body = shader.main_mut();
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                let (Some(AluOp::Frcp), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { continue };
                let divisor = body.src(inst, 0);
                let readers = body.uses_vec(def);
                let mut b = Builder::new(body, crate::cursor::Cursor::After(inst));
                let (one, zero) = (b.f32_const(1.0), b.f32_const(0.0));
                let negated = b.alu(AluOp::Fneg, &[divisor]);
                let [one, zero] = [one, zero].map(|constant| AluSrc::component(constant, 0));
                let error = b.alu_sized(AluOp::Ffma, COMPONENTS, &[negated.into(), def.into(), one]);
                let below = b.alu_sized(AluOp::Flt, COMPONENTS, &[zero, error.into()]);
                let above = b.alu_sized(AluOp::Flt, COMPONENTS, &[error.into(), zero]);
                let [up, down] = [below, above].map(|truth| b.alu(AluOp::B2i32, &[truth]));
                let moved = b.alu(AluOp::Iadd, &[def, up]);
                let moved = b.alu(AluOp::Isub, &[moved, down]);
                for reader in readers {
                    body.set_src(reader, moved);
                }
            }
        }
    }
    progress
}

/// A target's reciprocal need not be the nearest float.
#[test]
fn division_by_poor_reciprocals() {
    for op in [AluOp::Udiv, AluOp::Umod, AluOp::Imod] {
        for bits in [8, 16, 32] {
            let check = Check::new(op, bits, &lower_for_poor_reciprocals);
            check.run(&integer_pairs(bits));
            check.run(&near_multiples(bits, 20_000));
        }
    }
}

//! Fused multiplication and addition, on 128-bit integers.

use super::{INFINITY, NAN, NOTHING, gathered, product_class, rounded, take_apart, with_special};
use crate::alu::{AluOp, ExecutionMode};
use crate::entities::Def;
use crate::passes::lower_numbers::arithmetic::Arithmetic;
use crate::passes::lower_numbers::lower_int64::pair::Pair;

/// A 128-bit integer.
#[derive(Clone, Copy)]
struct Int128 {
    lo: Pair,
    hi: Pair,
}

/// Shifts right by 0 to 127; the lowest bit is set if a bit was lost.
fn wide_shift_out(m: &mut Arithmetic<'_>, a: Int128, count: Def) -> Int128 {
    let zero = m.int(0);
    let nothing = Pair { lo: zero, hi: zero };
    let one = m.int(1);
    let bit = m.iand_imm(count, 64);
    let is_high = m.ine(bit, zero);
    // Shift by the count modulo 64.
    let complement = m.inot(count);
    let over = m.shl64(a.hi, one);
    let over = m.shl64(over, complement);
    let low = m.shr64(a.lo, count, false);
    let low = m.each64(AluOp::Ior, low, over);
    let high = m.shr64(a.hi, count, false);
    // The lost bits: a mask of ones in the lower half, or in the upper half plus all of the lower one.
    let power = m.shl64(Pair { lo: one, hi: zero }, count);
    let mask = m.sub64(power, Pair { lo: one, hi: zero });
    let part = m.select64(is_high, a.hi, a.lo);
    let lost = m.each64(AluOp::Iand, part, mask);
    let all = m.select64(is_high, a.lo, nothing);
    let lost = m.each64(AluOp::Ior, lost, all);
    let lost = gathered(m, lost);
    let low = m.select64(is_high, high, low);
    Int128 { lo: Pair { lo: m.ior(low.lo, lost), hi: low.hi }, hi: m.select64(is_high, nothing, high) }
}

/// Returns the upper 64 bits after a left shift by 0 to 127, with the lowest bit set if any lower bit is.
fn wide_upper(m: &mut Arithmetic<'_>, a: Int128, count: Def) -> Pair {
    let zero = m.int(0);
    let one = m.int(1);
    let bit = m.iand_imm(count, 64);
    let is_high = m.ine(bit, zero);
    let complement = m.inot(count);
    let over = m.shr64(a.lo, one, false);
    let over = m.shr64(over, complement, false);
    let high = m.shl64(a.hi, count);
    let high = m.each64(AluOp::Ior, high, over);
    let low = m.shl64(a.lo, count);
    let upper = m.select64(is_high, low, high);
    let below = m.select64(is_high, Pair { lo: zero, hi: zero }, low);
    let lost = gathered(m, below);
    Pair { lo: m.ior(upper.lo, lost), hi: upper.hi }
}

fn wide_add(m: &mut Arithmetic<'_>, a: Int128, b: Int128) -> Int128 {
    let lo = m.add64(a.lo, b.lo);
    let carries = m.ult64(lo, a.lo);
    let carry = m.b2i32(carries);
    let hi = m.add64(a.hi, b.hi);
    Int128 { lo, hi: m.add_word64(hi, carry) }
}

fn wide_sub(m: &mut Arithmetic<'_>, a: Int128, b: Int128) -> Int128 {
    let lo = m.sub64(a.lo, b.lo);
    let borrows = m.ult64(a.lo, b.lo);
    let borrow = m.b2i32(borrows);
    let hi = m.sub64(a.hi, b.hi);
    let zero = m.int(0);
    Int128 { lo, hi: m.sub64(hi, Pair { lo: borrow, hi: zero }) }
}

fn wide_less(m: &mut Arithmetic<'_>, a: Int128, b: Int128) -> Def {
    let high = m.ult64(a.hi, b.hi);
    let difference = m.difference(a.hi, b.hi);
    let same = m.is_zero(difference);
    let low = m.ult64(a.lo, b.lo);
    let low = m.iand(same, low);
    m.ior(high, low)
}

/// Emits `a * b + c`, rounded once.
pub(super) fn fuse(m: &mut Arithmetic<'_>, (a, b): (Pair, Pair), c: Pair, mode: ExecutionMode) -> Pair {
    let (a, b, c) = (take_apart(m, a), take_apart(m, b), take_apart(m, c));
    let class = product_class(m, a, b);
    let zero = m.int(0);
    let nothing = Pair { lo: zero, hi: zero };
    // The exact product and the summand, as 128 bits with one free for the carry; the lowest 22 bits of each are 0.
    let product = Int128 { lo: m.mul64(a.significand, b.significand), hi: m.umul_high64(a.significand, b.significand) };
    let product_exponent = m.iadd(a.exponent, b.exponent);
    let product_exponent = m.iadd_imm(product_exponent, 1);
    let summand = Int128 { lo: nothing, hi: c.significand };
    // The exponent of a zero must not displace the other operand.
    let least = m.int(NOTHING as u32);
    let product_exponent = m.bcsel(class.is_zero, least, product_exponent);
    let summand_exponent = m.bcsel(c.is_zero, least, c.exponent);
    let (one, most) = (m.int(1), m.int(127));
    let exponent = m.op(AluOp::Imax, &[product_exponent, summand_exponent]);
    let aligned = [(product, product_exponent), (summand, summand_exponent)].map(|(number, own)| {
        let distance = m.isub(exponent, own);
        let distance = m.iadd(distance, one);
        let distance = m.op(AluOp::Umin, &[distance, most]);
        wide_shift_out(m, number, distance)
    });
    let [product, summand] = aligned;
    let signs = m.ixor(class.sign, c.sign);
    let differ = m.ine(signs, zero);
    let is_less = wide_less(m, product, summand);
    let (sum, positive, negative) =
        (wide_add(m, product, summand), wide_sub(m, product, summand), wide_sub(m, summand, product));
    let choose = |m: &mut Arithmetic<'_>, condition: Def, x: Int128, y: Int128| Int128 {
        lo: m.select64(condition, x.lo, y.lo),
        hi: m.select64(condition, x.hi, y.hi),
    };
    let difference = choose(m, is_less, negative, positive);
    let sum = choose(m, differ, difference, sum);
    let sign = m.bcsel(is_less, c.sign, class.sign);
    let (high, low) = (m.find_msb64(sum.hi), m.find_msb64(sum.lo));
    let is_low = m.is_negative(high);
    let beyond = m.iadd_imm(high, 64);
    let top_bit = m.bcsel(is_low, low, beyond);
    let up = m.isub(most, top_bit);
    let normal = wide_upper(m, sum, up);
    let exponent = m.iadd(exponent, one);
    let exponent = m.isub(exponent, up);
    let result = rounded(m, sign, exponent, normal, mode);
    let is_nothing = m.is_negative(top_bit);
    let both_signs = m.iand(class.sign, c.sign);
    let infinity = m.int(INFINITY);
    let (first, second) = (m.ior(class.sign, infinity), m.ior(c.sign, infinity));
    let nan = m.int(NAN);
    let opposite = m.iand(class.is_infinite, c.is_infinite);
    let opposite = m.iand(opposite, differ);
    let is_nan = m.ior(class.is_nan, c.is_nan);
    let is_nan = m.ior(is_nan, opposite);
    let cases = [(is_nothing, both_signs), (c.is_infinite, second), (class.is_infinite, first), (is_nan, nan)];
    with_special(m, result, &cases)
}

//! Lowers 64-bit division to 32-bit divisions, without control flow.
//!
//! The high word of the quotient is a quotient of words, and is 0 unless the divisor fits in a word. The remaining
//! dividend is below the divisor times 2^32, so the low word of the quotient fits in a word. If the divisor fits in a
//! word, this is a division of two words by a word. Otherwise the divisor is replaced by its upper word, with the
//! highest bit shifted to the top; that estimate is at most 1 too large and is decremented. Division of two words by a
//! word is long division by two 16-bit digits, each of which is estimated from the upper digit of the divisor and
//! corrected at most twice.

use super::pair::Pair;
use crate::alu::AluOp;
use crate::entities::Def;
use crate::passes::lower_numbers::arithmetic::Arithmetic;

/// Returns a quotient or remainder of the first two sources.
pub(super) fn divide(m: &mut Arithmetic<'_>, op: AluOp) -> Pair {
    let (n, d) = (m.pair(0), m.pair(1));
    let result = match op {
        AluOp::Udiv => divide_unsigned(m, n, d).0,
        AluOp::Umod => divide_unsigned(m, n, d).1,
        _ => {
            let (positive_n, positive_d) = (m.abs64(n), m.abs64(d));
            let (quotient, remainder) = divide_unsigned(m, positive_n, positive_d);
            let signs = m.ixor(n.hi, d.hi);
            let differ = m.is_negative(signs);
            if op == AluOp::Idiv {
                let negated = m.neg64(quotient);
                m.select64(differ, negated, quotient)
            } else {
                let is_negative = m.is_negative(n.hi);
                let negated = m.neg64(remainder);
                let remainder = m.select64(is_negative, negated, remainder);
                if op == AluOp::Irem { remainder } else { floored(m, differ, d, remainder) }
            }
        }
    };
    let any = m.ior(d.lo, d.hi);
    let by_zero = m.is_zero(any);
    let zero = m.int(0);
    m.select64(by_zero, Pair { lo: zero, hi: zero }, result)
}

/// Converts a remainder with the sign of the dividend to one with the sign of the divisor.
fn floored(m: &mut Arithmetic<'_>, signs_differ: Def, d: Pair, remainder: Pair) -> Pair {
    let any = m.ior(remainder.lo, remainder.hi);
    let zero = m.int(0);
    let is_left = m.ine(any, zero);
    let adjust = m.iand(signs_differ, is_left);
    let adjusted = m.add64(remainder, d);
    m.select64(adjust, adjusted, remainder)
}

/// Returns quotient and remainder; the results of a division by 0 are arbitrary.
fn divide_unsigned(m: &mut Arithmetic<'_>, n: Pair, d: Pair) -> (Pair, Pair) {
    let zero = m.int(0);
    let by_word = m.is_zero(d.hi);
    // The high word of the quotient, and the remaining dividend.
    let quotient = m.op(AluOp::Udiv, &[n.hi, d.lo]);
    let high = m.bcsel(by_word, quotient, zero);
    let product = m.imul(high, d.lo);
    let left = Pair { lo: n.lo, hi: m.isub(n.hi, product) };
    // Divisor in one word: left / d.lo. Otherwise: (left / 2) / (upper word of the shifted divisor).
    let top_bit = m.op(AluOp::UfindMsb, &[d.hi]);
    let top = m.int(31);
    let up = m.isub(top, top_bit);
    let shifted = m.shl64(d, up);
    let one = m.int(1);
    let half = m.shr64(left, one, false);
    let dividend = m.select64(by_word, left, half);
    let divisor = m.bcsel(by_word, d.lo, shifted.hi);
    let quotient = divide_by_word(m, dividend, divisor);
    // The quotient is too large by a factor of 2^top_bit, from the shifted divisor and the halved dividend.
    let estimate = m.ushr(quotient, top_bit);
    let is_some = m.ine(estimate, zero);
    let surplus = m.b2i32(is_some);
    let estimate = m.isub(estimate, surplus);
    let low = m.bcsel(by_word, quotient, estimate);
    let product = {
        let lo = m.imul(low, d.lo);
        let carried = m.umul_high(low, d.lo);
        let hi = m.imul(low, d.hi);
        Pair { lo, hi: m.iadd(carried, hi) }
    };
    let remainder = m.sub64(left, product);
    let is_less = m.ult64(remainder, d);
    let next = m.iadd_imm(low, 1);
    let rest = m.sub64(remainder, d);
    let quotient = Pair { lo: m.bcsel(is_less, low, next), hi: high };
    (quotient, m.select64(is_less, remainder, rest))
}

/// Divides two words by a word that is larger than the upper one, so that the quotient fits in a word.
fn divide_by_word(m: &mut Arithmetic<'_>, n: Pair, d: Def) -> Def {
    // With the highest bit of the divisor at the top, its upper half gives a good estimate.
    let top_bit = m.op(AluOp::UfindMsb, &[d]);
    let top = m.int(31);
    let up = m.isub(top, top_bit);
    let d = m.ishl(d, up);
    let digits = (m.ushr_imm(d, 16), m.iand_imm(d, 0xffff));
    let hi = m.ishl(n.hi, up);
    let over = m.ushr_imm(n.lo, 1);
    let over = m.ushr(over, top_bit);
    let hi = m.ior(hi, over);
    let lo = m.ishl(n.lo, up);
    let next = m.ushr_imm(lo, 16);
    let first = digit(m, hi, next, digits);
    // The rest, followed by the next digit: it is below the divisor, so it is correct modulo 2^32.
    let moved = m.ishl_imm(hi, 16);
    let moved = m.iadd(moved, next);
    let product = m.imul(first, d);
    let left = m.isub(moved, product);
    let next = m.iand_imm(lo, 0xffff);
    let second = digit(m, left, next, digits);
    let first = m.ishl_imm(first, 16);
    m.ior(first, second)
}

/// Returns a digit of the quotient of `n`, followed by one more digit, and a two-digit divisor with an upper digit of
/// at least 0x8000.
fn digit(m: &mut Arithmetic<'_>, n: Def, next: Def, (upper, lower): (Def, Def)) -> Def {
    let estimate = m.op(AluOp::Udiv, &[n, upper]);
    let most = m.int(0xffff);
    let mut digit = m.op(AluOp::Umin, &[estimate, most]);
    let product = m.imul(digit, upper);
    let mut rest = m.isub(n, product);
    for _ in 0..2 {
        // Too large if digit * divisor > n followed by its next digit; never if the rest has more than one digit.
        let product = m.imul(digit, lower);
        let moved = m.ishl_imm(rest, 16);
        let limit = m.ior(moved, next);
        let exceeds = m.ult(limit, product);
        let fits = m.uge(most, rest);
        let too_large = m.iand(exceeds, fits);
        let one = m.b2i32(too_large);
        digit = m.isub(digit, one);
        let zero = m.int(0);
        let back = m.bcsel(too_large, upper, zero);
        rest = m.iadd(rest, back);
    }
    digit
}

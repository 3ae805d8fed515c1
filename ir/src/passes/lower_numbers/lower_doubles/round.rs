//! Emits rounding to integers, minima and maxima.

use super::{Doubles, double, joined, subtract, words};
use crate::alu::AluOp;
use crate::entities::Def;
use crate::passes::lower_numbers::arithmetic::Arithmetic;

/// Rounds toward zero: clears the fraction bits.
pub(super) fn truncate(m: &mut Arithmetic<'_>, a: Def) -> Def {
    let (low, high) = words(m, a);
    let biased = m.ushr_imm(high, 20);
    let biased = m.iand_imm(biased, 0x7ff);
    // Number of fraction bits, valid if it is from 1 to 52.
    let last = m.int(1023 + 52);
    let fraction = m.isub(last, biased);
    let ones = m.int(u32::MAX);
    // One shift for both words: counts are modulo 32.
    let cut = m.ishl(ones, fraction);
    let word = m.int(32);
    let is_low = m.ilt(fraction, word);
    let zero = m.int(0);
    let low_mask = m.bcsel(is_low, cut, zero);
    let high_mask = m.bcsel(is_low, ones, cut);
    let (low, high) = (m.iand(low, low_mask), m.iand(high, high_mask));
    let whole = joined(m, low, high);
    let one = m.int(1023);
    let is_small = m.ult(biased, one);
    let sign = m.iand_imm(high, 0x8000_0000);
    let signed_zero = joined(m, zero, sign);
    let result = m.bcsel(is_small, signed_zero, whole);
    let is_whole = m.uge(biased, last);
    m.bcsel(is_whole, a, result)
}

/// Returns the minimum or maximum: of a NaN and another operand the latter; zeros are ordered by sign.
pub(super) fn least_or_greatest(m: &mut Arithmetic<'_>, op: AluOp, a: Def, b: Def) -> Def {
    let is_first = if op == AluOp::Fmin { m.flt(a, b) } else { m.flt(b, a) };
    let is_nan = m.fneu(b, b);
    let first = m.ior(is_first, is_nan);
    let different = m.bcsel(first, a, b);
    // Equal numbers have equal bits, except zeros: a minimum of these is negative if either is.
    let same = m.feq(a, b);
    let (low, high) = words(m, a);
    let (_, other) = words(m, b);
    let high = if op == AluOp::Fmin { m.ior(high, other) } else { m.iand(high, other) };
    let equal = joined(m, low, high);
    m.bcsel(same, equal, different)
}

impl Doubles {
    /// Rounds toward minus infinity.
    pub(super) fn floor_of_parts(self, m: &mut Arithmetic<'_>, a: Def) -> Def {
        let (zero, less) = (double(m, 0.0), double(m, -1.0));
        let whole = self.truncate(m, a);
        let positive = m.fge(a, zero);
        self.beside(m, a, whole, (positive, less))
    }

    /// Rounds toward infinity.
    pub(super) fn ceiling(self, m: &mut Arithmetic<'_>, a: Def) -> Def {
        let (zero, more) = (double(m, 0.0), double(m, 1.0));
        let whole = self.truncate(m, a);
        let negative = m.fge(zero, a);
        self.beside(m, a, whole, (negative, more))
    }

    /// Returns `whole` if `stays` or if it equals `a`, otherwise the next integer.
    fn beside(self, m: &mut Arithmetic<'_>, a: Def, whole: Def, (stays, step): (Def, Def)) -> Def {
        let is_whole = m.feq(a, whole);
        let stays = m.ior(stays, is_whole);
        let beside = m.fadd(whole, step);
        m.bcsel(stays, whole, beside)
    }

    /// Rounds to the nearest integer, ties to even.
    pub(super) fn round_even(self, m: &mut Arithmetic<'_>, a: Def) -> Def {
        let magnitude = m.fabs(a);
        let (_, high) = words(m, a);
        let sign = m.iand_imm(high, 0x8000_0000);
        let rounded = if self.mode.rounds_toward_zero(64) {
            let whole = self.truncate(m, magnitude);
            let rest = subtract(m, magnitude, whole);
            let half = double(m, 0.5);
            let halved = m.fmul(whole, half);
            let of_half = self.truncate(m, halved);
            let odd = m.fneu(halved, of_half);
            let is_tie = m.feq(rest, half);
            let up = m.iand(is_tie, odd);
            let is_more = m.flt(half, rest);
            let up = m.ior(up, is_more);
            let (zero, one) = (double(m, 0.0), double(m, 1.0));
            let step = m.bcsel(up, one, zero);
            m.fadd(whole, step)
        } else {
            // Numbers from 2^52 on have no fraction bits: the sum rounds them away.
            let large = double(m, 4_503_599_627_370_496.0);
            let sum = m.fadd(magnitude, large);
            subtract(m, sum, large)
        };
        let (low, high) = words(m, rounded);
        let high = m.ior(high, sign);
        let rounded = joined(m, low, high);
        let large = double(m, 4_503_599_627_370_496.0);
        let has_rest = m.flt(magnitude, large);
        m.bcsel(has_rest, rounded, a)
    }
}

//! Conversions from and to other types.

use super::{INFINITY, denormal_shift, exponent_field, shift_out, take_apart};
use crate::alu::{AluOp, ExecutionMode};
use crate::entities::Def;
use crate::passes::lower_numbers::arithmetic::Arithmetic;
use crate::passes::lower_numbers::lower_int64::convert::round_up;
use crate::passes::lower_numbers::lower_int64::pair::Pair;

/// Returns the integral part, or the nearest integer in range.
pub(super) fn to_int64(m: &mut Arithmetic<'_>, is_signed: bool) -> Pair {
    let value = m.pair(0);
    let number = take_apart(m, value);
    let top = m.int(63);
    let zero = m.int(0);
    let down = m.isub(top, number.exponent);
    let whole = m.shr64(number.significand, down, false);
    let is_small = m.is_negative(number.exponent);
    let nothing = Pair { lo: zero, hi: zero };
    let whole = m.select64(is_small, nothing, whole);
    let limit = m.int(if is_signed { 63 } else { 64 });
    let too_large = m.ige(number.exponent, limit);
    let is_negative = m.is_negative(value.hi);
    let ones = m.int(u32::MAX);
    let result = if is_signed {
        let negated = m.neg64(whole);
        let signed = m.select64(is_negative, negated, whole);
        let (least, most) = (m.int(0x8000_0000), m.int(0x7fff_ffff));
        let limit = m.select64(is_negative, Pair { lo: zero, hi: least }, Pair { lo: ones, hi: most });
        m.select64(too_large, limit, signed)
    } else {
        let result = m.select64(too_large, Pair { lo: ones, hi: ones }, whole);
        m.select64(is_negative, nothing, result)
    };
    // Zeros have an exponent far below 0.
    m.select64(number.is_nan, nothing, result)
}

pub(super) fn to_word(m: &mut Arithmetic<'_>, op: AluOp) -> Def {
    use AluOp as O;
    let is_signed = matches!(op, O::F2i8 | O::F2i16 | O::F2i32);
    let wide = to_int64(m, is_signed);
    // Clamps the wide integer to the limits of the small type.
    let bits = m.result_bits();
    let most = if is_signed { (1u32 << (bits - 1)) - 1 } else { u32::MAX >> (32 - bits) };
    let word = if is_signed {
        let sign = m.ishr_imm(wide.lo, 31);
        let fits = m.ieq(sign, wide.hi);
        let beyond = m.ishr_imm(wide.hi, 31);
        let largest = m.int(0x7fff_ffff);
        let limit = m.ixor(beyond, largest);
        let word = m.bcsel(fits, wide.lo, limit);
        let (least, most) = (m.int(!most), m.int(most));
        let word = m.op(O::Imin, &[word, most]);
        m.op(O::Imax, &[word, least])
    } else {
        let fits = m.is_zero(wide.hi);
        let ones = m.int(u32::MAX);
        let word = m.bcsel(fits, wide.lo, ones);
        let most = m.int(most);
        m.op(O::Umin, &[word, most])
    };
    match bits {
        8 => m.op(O::U2u8, &[word]),
        16 => m.op(O::U2u16, &[word]),
        _ => word,
    }
}

pub(super) fn to_single(m: &mut Arithmetic<'_>, mode: ExecutionMode) -> Def {
    let value = m.pair(0);
    let number = take_apart(m, value);
    let biased = m.iadd_imm(number.exponent, 127);
    let down = denormal_shift(m, biased);
    let significand = shift_out(m, number.significand, down);
    let mantissa = m.ushr_imm(significand.hi, 8);
    let zero = m.int(0);
    let more = m.ine(significand.lo, zero);
    let more = m.b2i32(more);
    let rest = m.ishl_imm(significand.hi, 24);
    let rest = m.ior(rest, more);
    let toward_zero = mode.rounds_toward_zero(32);
    let up = if toward_zero { zero } else { round_up(m, mantissa, rest, 0x8000_0000) };
    let field = exponent_field(m, biased);
    let field = m.ishl_imm(field, 23);
    let sum = m.iadd(field, mantissa);
    let mut result = m.iadd(sum, up);
    if mode.flushes_denormals(32) {
        let least = m.int(1 << 23);
        let is_denormal = m.ult(result, least);
        result = m.zero_if(is_denormal, result);
    }
    let last = m.int(255);
    let overflows = m.ige(biased, last);
    let infinity = f32::INFINITY.to_bits();
    let limit = m.int(if toward_zero { infinity - 1 } else { infinity });
    let result = m.bcsel(overflows, limit, result);
    let result = m.zero_if(number.is_zero, result);
    let infinity = m.int(infinity);
    let result = m.bcsel(number.is_infinite, infinity, result);
    let result = m.ior(result, number.sign);
    let nan = m.int(f32::NAN.to_bits());
    m.bcsel(number.is_nan, nan, result)
}

/// Converts a 16-bit or 32-bit float.
pub(super) fn from_float(m: &mut Arithmetic<'_>) -> Pair {
    let value = m.source(0);
    let value = if m.bits(value) == 16 { m.op(AluOp::F2f32, &[value]) } else { value };
    let sign = m.iand_imm(value, 0x8000_0000);
    let magnitude = m.iand_imm(value, 0x7fff_ffff);
    let upper = m.ushr_imm(magnitude, 3);
    let lower = m.ishl_imm(magnitude, 29);
    let normal = m.iadd_imm(upper, (1023 - 127) << 20);
    let exponent = m.int(INFINITY);
    let special = m.ior(upper, exponent);
    let infinity = m.int(f32::INFINITY.to_bits());
    let is_special = m.uge(magnitude, infinity);
    let plain = Pair { lo: lower, hi: m.bcsel(is_special, special, normal) };
    // Denormals become normal: their highest bit moves to the top and becomes implicit.
    let top_bit = m.op(AluOp::UfindMsb, &[magnitude]);
    let top = m.int(31);
    let up = m.isub(top, top_bit);
    let shifted = m.ishl(magnitude, up);
    let fraction = m.iand_imm(shifted, 0x7fff_ffff);
    let fraction = m.ushr_imm(fraction, 11);
    let biased = m.iadd_imm(top_bit, 1023 - 149);
    let field = m.ishl_imm(biased, 20);
    let denormal = Pair { lo: m.ishl_imm(shifted, 21), hi: m.ior(fraction, field) };
    let least = m.int(1 << 23);
    let is_denormal = m.ult(magnitude, least);
    let result = m.select64(is_denormal, denormal, plain);
    let is_zero = m.is_zero(magnitude);
    let zero = m.int(0);
    let result = m.select64(is_zero, Pair { lo: zero, hi: zero }, result);
    Pair { lo: result.lo, hi: m.ior(result.hi, sign) }
}

//! Lowers conversions between 64-bit integers and other types.

use super::pair::Pair;
use crate::alu::AluOp;
use crate::entities::Def;
use crate::passes::lower_numbers::arithmetic::Arithmetic;

/// Converts the operand of the instruction to a 64-bit integer.
pub(super) fn to_int64(m: &mut Arithmetic<'_>, op: AluOp) -> Pair {
    let value = m.source(0);
    match op {
        AluOp::B2i64 => Pair { lo: m.b2i32(value), hi: m.int(0) },
        AluOp::I2i64 | AluOp::U2u64 if m.bits(value) == 64 => m.split(value),
        AluOp::I2i64 => {
            let lo = if m.bits(value) == 32 { value } else { m.op(AluOp::I2i32, &[value]) };
            Pair { lo, hi: m.ishr_imm(lo, 31) }
        }
        AluOp::U2u64 => {
            let lo = if m.bits(value) == 32 { value } else { m.op(AluOp::U2u32, &[value]) };
            Pair { lo, hi: m.int(0) }
        }
        _ => from_float(m, value, op == AluOp::F2i64),
    }
}

/// Returns a float constant of a size.
fn float(m: &mut Arithmetic<'_>, bits: u8, value: f64) -> Def {
    m.constant(bits, if bits == 64 { value.to_bits() } else { (value as f32).to_bits().into() })
}

/// Returns the integral part of a float; the nearest integer in range if it is out of range, 0 for NaN.
fn from_float(m: &mut Arithmetic<'_>, value: Def, is_signed: bool) -> Pair {
    m.exact();
    let value = if m.bits(value) == 16 { m.op(AluOp::F2f32, &[value]) } else { value };
    let bits = m.bits(value);
    let back = if bits == 64 { AluOp::U2f64 } else { AluOp::U2f32 };
    let zero = float(m, bits, 0.0);
    let magnitude = if is_signed { m.fabs(value) } else { value };
    // NaN becomes 0 here.
    let magnitude = m.op(AluOp::Fmax, &[magnitude, zero]);
    // Scaling by a power of two is exact, and so is the difference, as all its bits are bits of the float.
    let down = float(m, bits, 1.0 / 4_294_967_296.0);
    let up = float(m, bits, 4_294_967_296.0);
    let scaled = m.fmul(magnitude, down);
    let hi = m.op(AluOp::F2u32, &[scaled]);
    let upper = m.op(back, &[hi]);
    let upper = m.fmul(upper, up);
    let lower = m.fsub(magnitude, upper);
    let whole = Pair { lo: m.op(AluOp::F2u32, &[lower]), hi };
    let limit = float(m, bits, if is_signed { 9_223_372_036_854_775_808.0 } else { 18_446_744_073_709_551_616.0 });
    let too_large = m.fge(magnitude, limit);
    if !is_signed {
        let most = m.int(u32::MAX);
        return m.select64(too_large, Pair { lo: most, hi: most }, whole);
    }
    let is_negative = m.flt(value, zero);
    let negated = m.neg64(whole);
    let signed = m.select64(is_negative, negated, whole);
    let (lo, hi) = (m.int(0), m.int(0x8000_0000));
    let smallest = Pair { lo, hi };
    let (lo, hi) = (m.int(u32::MAX), m.int(0x7fff_ffff));
    let limit = m.select64(is_negative, smallest, Pair { lo, hi });
    m.select64(too_large, limit, signed)
}

/// Returns the nearest float of the result's size, ties to even.
pub(crate) fn to_float(m: &mut Arithmetic<'_>, op: AluOp, value: Pair) -> Def {
    let is_signed = matches!(op, AluOp::I2f16 | AluOp::I2f32 | AluOp::I2f64);
    let magnitude = if is_signed { m.abs64(value) } else { value };
    // Moves the highest bit to the top.
    let top_bit = m.find_msb64(magnitude);
    let top = m.int(63);
    let up = m.isub(top, top_bit);
    let shifted = m.shl64(magnitude, up);
    let any = m.ior(value.lo, value.hi);
    let is_zero = m.is_zero(any);
    let sign = m.iand_imm(value.hi, 0x8000_0000);
    if matches!(op, AluOp::I2f64 | AluOp::U2f64) {
        let (mantissa, rest) = {
            let shift = m.int(11);
            (m.shr64(shifted, shift, false), m.iand_imm(shifted.lo, 0x7ff))
        };
        let rounding = round_up(m, mantissa.lo, rest, 0x400);
        // The highest bit of the mantissa increments the exponent, and so does a carry from rounding.
        let exponent = m.iadd_imm(top_bit, 1022);
        let exponent = m.ishl_imm(exponent, 20);
        let zero = m.int(0);
        let float = m.add64(mantissa, Pair { lo: rounding, hi: exponent });
        let mut float = m.select64(is_zero, Pair { lo: zero, hi: zero }, float);
        if is_signed {
            float.hi = m.ior(float.hi, sign);
        }
        return m.join(float);
    }
    let mantissa = m.ushr_imm(shifted.hi, 8);
    // The lost bits; of the low word only whether it is 0 matters.
    let zero = m.int(0);
    let more = m.ine(shifted.lo, zero);
    let more = m.b2i32(more);
    let rest = m.ishl_imm(shifted.hi, 24);
    let rest = m.ior(rest, more);
    let rounding = round_up(m, mantissa, rest, 0x8000_0000);
    let exponent = m.iadd_imm(top_bit, 126);
    let exponent = m.ishl_imm(exponent, 23);
    let float = m.iadd(exponent, mantissa);
    let float = m.iadd(float, rounding);
    let mut float = m.zero_if(is_zero, float);
    if is_signed {
        float = m.ior(float, sign);
    }
    if matches!(op, AluOp::I2f16 | AluOp::U2f16) {
        // Values that are inexact in 32 bits are infinite in 16.
        return m.op(AluOp::F2f16, &[float]);
    }
    float
}

/// Returns 1 if the rest is more than half, or half and the mantissa odd; otherwise 0.
pub(crate) fn round_up(m: &mut Arithmetic<'_>, mantissa: Def, rest: Def, half: u32) -> Def {
    let half = m.int(half);
    let odd = m.iand_imm(mantissa, 1);
    let limit = m.isub(half, odd);
    let up = m.ult(limit, rest);
    m.b2i32(up)
}

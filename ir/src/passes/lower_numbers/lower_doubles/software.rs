//! Emulates 64-bit floats with 32-bit integers.
//!
//! A number is split into a sign, an exponent and a 64-bit significand with its highest bit set. Sums and products are
//! computed with extra bits; lost bits are collected in the lowest bit, which is far below the last place of the
//! result, and everything is rounded once, in one place.

mod conversions;
mod fused;

use crate::alu::{AluOp, ExecutionMode};
use crate::entities::Def;
use crate::passes::lower_numbers::arithmetic::Arithmetic;
use crate::passes::lower_numbers::lower_int64::convert::{round_up, to_float};
use crate::passes::lower_numbers::lower_int64::pair::Pair;
use conversions::{from_float, to_int64, to_single, to_word};
use fused::fuse;

/// The upper word of an infinity, and of the NaN that operations return.
const INFINITY: u32 = 0x7ff0_0000;
const NAN: u32 = 0x7ff8_0000;
/// An exponent below the exponents of all products.
const NOTHING: i32 = -5000;

/// Returns the replacement of an instruction on 64-bit floats; `None` for other instructions.
pub(super) fn lower(m: &mut Arithmetic<'_>, op: AluOp, mode: ExecutionMode) -> Option<Def> {
    use AluOp as O;
    let (makes, takes) = (m.result_bits() == 64, m.source_bits(0) == 64);
    let pair = match op {
        O::Fadd if makes => {
            let (a, b) = (m.pair(0), m.pair(1));
            add(m, a, b, mode)
        }
        O::Fmul if makes => {
            let (a, b) = (m.pair(0), m.pair(1));
            multiply(m, a, b, mode)
        }
        O::Ffma if makes => {
            let (a, b, c) = (m.pair(0), m.pair(1), m.pair(2));
            fuse(m, (a, b), c, mode)
        }
        O::Fneg | O::Fabs if makes => {
            let a = m.pair(0);
            let mask = m.int(if op == O::Fneg { 0x8000_0000 } else { 0x7fff_ffff });
            Pair { lo: a.lo, hi: if op == O::Fneg { m.ixor(a.hi, mask) } else { m.iand(a.hi, mask) } }
        }
        O::Fsign if makes => {
            let a = m.pair(0);
            let zero = m.int(0);
            let sign = m.iand_imm(a.hi, 0x8000_0000);
            let one = m.int(1023 << 20);
            let signed = m.ior(sign, one);
            let is_zero = is_zero(m, a);
            let hi = m.bcsel(is_zero, sign, signed);
            let is_nan = is_nan(m, a);
            Pair { lo: zero, hi: m.zero_if(is_nan, hi) }
        }
        O::F2f64 if !takes => from_float(m),
        O::I2f64 | O::U2f64 => {
            let value = m.source(0);
            let wide = match m.bits(value) {
                64 => m.split(value),
                bits => {
                    let widen = if op == O::I2f64 { O::I2i32 } else { O::U2u32 };
                    let lo = if bits == 32 { value } else { m.op(widen, &[value]) };
                    Pair { lo, hi: if op == O::I2f64 { m.ishr_imm(lo, 31) } else { m.int(0) } }
                }
            };
            return Some(to_float(m, op, wide));
        }
        O::B2f64 => {
            let condition = m.source(0);
            let (zero, one) = (m.int(0), m.int(1023 << 20));
            let select = match m.bits(condition) {
                1 => O::Bcsel,
                8 => O::B8csel,
                16 => O::B16csel,
                _ => O::B32csel,
            };
            Pair { lo: zero, hi: m.op(select, &[condition, one, zero]) }
        }
        O::F2i64 | O::F2u64 if takes => to_int64(m, op == O::F2i64),
        O::F2f32 if takes => return Some(to_single(m, mode)),
        O::F2i8 | O::F2i16 | O::F2i32 | O::F2u8 | O::F2u16 | O::F2u32 if takes => return Some(to_word(m, op)),
        _ if takes => return compare(m, op),
        _ => return None,
    };
    Some(m.join(pair))
}

fn is_nan(m: &mut Arithmetic<'_>, a: Pair) -> Def {
    let magnitude = m.iand_imm(a.hi, 0x7fff_ffff);
    // With exponent bits all ones, a lower word other than 0 makes it a NaN.
    let zero = m.int(0);
    let more = m.ine(a.lo, zero);
    let more = m.b2i32(more);
    let sum = m.iadd(magnitude, more);
    let infinity = m.int(INFINITY);
    m.ult(infinity, sum)
}

fn is_zero(m: &mut Arithmetic<'_>, a: Pair) -> Def {
    let magnitude = m.iand_imm(a.hi, 0x7fff_ffff);
    let any = m.ior(magnitude, a.lo);
    m.is_zero(any)
}

/// A number split into its parts: `(-1)^sign * significand * 2^(exponent - 63)`.
#[derive(Clone, Copy)]
struct Number {
    /// The sign bit of the upper word.
    sign: Def,
    /// The exponent of the highest bit of the significand.
    exponent: Def,
    /// 0 if the number is 0; otherwise the highest bit is set.
    significand: Pair,
    is_zero: Def,
    is_infinite: Def,
    is_nan: Def,
}

fn take_apart(m: &mut Arithmetic<'_>, a: Pair) -> Number {
    let sign = m.iand_imm(a.hi, 0x8000_0000);
    let magnitude = m.iand_imm(a.hi, 0x7fff_ffff);
    let biased = m.ushr_imm(magnitude, 20);
    let fraction = m.iand_imm(a.hi, 0x000f_ffff);
    let zero = m.int(0);
    let one = m.int(1);
    let implicit = m.int(1 << 20);
    let is_denormal = m.ieq(biased, zero);
    let whole = m.ior(fraction, implicit);
    let hi = m.bcsel(is_denormal, fraction, whole);
    let biased_or_one = m.op(AluOp::Umax, &[biased, one]);
    let plain = Pair { lo: a.lo, hi };
    let top_bit = m.find_msb64(plain);
    let top = m.int(63);
    let up = m.isub(top, top_bit);
    let significand = m.shl64(plain, up);
    // The exponent is that of bit 52.
    let exponent = m.iadd(biased_or_one, top_bit);
    let exponent = m.iadd_imm(exponent, (-1023i64 - 52) as u64);
    let any = m.ior(magnitude, a.lo);
    let rest = m.ior(fraction, a.lo);
    let last = m.int(0x7ff);
    let is_special = m.ieq(biased, last);
    let no_rest = m.is_zero(rest);
    let some_rest = m.ine(rest, zero);
    Number {
        sign,
        exponent,
        significand,
        is_zero: m.is_zero(any),
        is_infinite: m.iand(is_special, no_rest),
        is_nan: m.iand(is_special, some_rest),
    }
}

/// Returns 1 if any bit is set.
fn gathered(m: &mut Arithmetic<'_>, a: Pair) -> Def {
    let any = m.ior(a.lo, a.hi);
    let zero = m.int(0);
    let is_some = m.ine(any, zero);
    m.b2i32(is_some)
}

/// Shifts right by 0 to 63; the lowest bit is set if a bit was lost.
fn shift_out(m: &mut Arithmetic<'_>, a: Pair, count: Def) -> Pair {
    let shifted = m.shr64(a, count, false);
    let back = m.shl64(shifted, count);
    let lost = m.each64(AluOp::Ixor, a, back);
    let lost = gathered(m, lost);
    Pair { lo: m.ior(shifted.lo, lost), hi: shifted.hi }
}

/// Returns the shift that makes a number with this biased exponent denormal; 0 if it is normal.
fn denormal_shift(m: &mut Arithmetic<'_>, biased: Def) -> Def {
    let (zero, one, most) = (m.int(0), m.int(1), m.int(63));
    let down = m.isub(one, biased);
    let down = m.op(AluOp::Imax, &[down, zero]);
    m.op(AluOp::Imin, &[down, most])
}

/// Returns the exponent to add to a significand with a highest bit that increments it: 0 for denormals.
fn exponent_field(m: &mut Arithmetic<'_>, biased: Def) -> Def {
    let (zero, less) = (m.int(0), m.int(u32::MAX));
    let field = m.iadd(biased, less);
    m.op(AluOp::Imax, &[field, zero])
}

/// Rounds a significand with its highest bit set to the nearest float, or toward zero.
fn rounded(m: &mut Arithmetic<'_>, sign: Def, exponent: Def, significand: Pair, mode: ExecutionMode) -> Pair {
    let biased = m.iadd_imm(exponent, 1023);
    let down = denormal_shift(m, biased);
    let significand = shift_out(m, significand, down);
    let eleven = m.int(11);
    let mantissa = m.shr64(significand, eleven, false);
    let rest = m.iand_imm(significand.lo, 0x7ff);
    let toward_zero = mode.rounds_toward_zero(64);
    let up = if toward_zero { m.int(0) } else { round_up(m, mantissa.lo, rest, 0x400) };
    let field = exponent_field(m, biased);
    let field = m.ishl_imm(field, 20);
    let mut result = m.add64(mantissa, Pair { lo: up, hi: field });
    if mode.flushes_denormals(64) {
        let least = m.int(1 << 20);
        let is_denormal = m.ult(result.hi, least);
        result = Pair { lo: m.zero_if(is_denormal, result.lo), hi: m.zero_if(is_denormal, result.hi) };
    }
    let last = m.int(0x7ff);
    let overflows = m.ige(biased, last);
    let limit = if toward_zero { (u32::MAX, INFINITY - 1) } else { (0, INFINITY) };
    let limit = Pair { lo: m.int(limit.0), hi: m.int(limit.1) };
    let result = m.select64(overflows, limit, result);
    Pair { lo: result.lo, hi: m.ior(result.hi, sign) }
}

/// Replaces a result in special cases, given as (condition, upper word); the last one that holds counts.
fn with_special(m: &mut Arithmetic<'_>, mut result: Pair, cases: &[(Def, Def)]) -> Pair {
    let zero = m.int(0);
    for &(condition, hi) in cases {
        result = m.select64(condition, Pair { lo: zero, hi }, result);
    }
    result
}

fn add(m: &mut Arithmetic<'_>, a: Pair, b: Pair, mode: ExecutionMode) -> Pair {
    // The larger one comes first.
    let magnitudes = [a, b].map(|number| Pair { lo: number.lo, hi: m.iand_imm(number.hi, 0x7fff_ffff) });
    let is_less = m.ult64(magnitudes[0], magnitudes[1]);
    let (large, small) = (m.select64(is_less, b, a), m.select64(is_less, a, b));
    let (large, small) = (take_apart(m, large), take_apart(m, small));
    let distance = m.isub(large.exponent, small.exponent);
    let most = m.int(63);
    let distance = m.op(AluOp::Umin, &[distance, most]);
    // One bit for the carry; eleven are free at the other end.
    let one = m.int(1);
    let first = m.shr64(large.significand, one, false);
    let second = m.shr64(small.significand, one, false);
    let second = shift_out(m, second, distance);
    let signs = m.ixor(large.sign, small.sign);
    let zero = m.int(0);
    let differ = m.ine(signs, zero);
    let (sum, difference) = (m.add64(first, second), m.sub64(first, second));
    let sum = m.select64(differ, difference, sum);
    let top_bit = m.find_msb64(sum);
    let top = m.int(63);
    let up = m.isub(top, top_bit);
    let normal = m.shl64(sum, up);
    let exponent = m.iadd_imm(large.exponent, 1);
    let exponent = m.isub(exponent, up);
    let result = rounded(m, large.sign, exponent, normal, mode);
    // A sum of zero is positive unless both operands were negative zeros.
    let any = m.ior(sum.lo, sum.hi);
    let is_nothing = m.is_zero(any);
    let both_signs = m.iand(large.sign, small.sign);
    let infinity = m.int(INFINITY);
    let infinite = m.ior(large.sign, infinity);
    let nan = m.int(NAN);
    let opposite = m.iand(small.is_infinite, differ);
    let is_nan = m.ior(large.is_nan, opposite);
    let is_nan = m.ior(is_nan, small.is_nan);
    with_special(m, result, &[(is_nothing, both_signs), (large.is_infinite, infinite), (is_nan, nan)])
}

/// The class of a product, derived from its factors.
struct Product {
    sign: Def,
    is_zero: Def,
    is_infinite: Def,
    is_nan: Def,
}

fn product_class(m: &mut Arithmetic<'_>, a: Number, b: Number) -> Product {
    let sign = m.ixor(a.sign, b.sign);
    let is_zero = m.ior(a.is_zero, b.is_zero);
    let is_infinite = m.ior(a.is_infinite, b.is_infinite);
    let is_nan = m.ior(a.is_nan, b.is_nan);
    let neither = m.iand(is_zero, is_infinite);
    Product { sign, is_zero, is_infinite, is_nan: m.ior(is_nan, neither) }
}

fn multiply(m: &mut Arithmetic<'_>, a: Pair, b: Pair, mode: ExecutionMode) -> Pair {
    let (a, b) = (take_apart(m, a), take_apart(m, b));
    let class = product_class(m, a, b);
    let high = m.umul_high64(a.significand, b.significand);
    let low = m.mul64(a.significand, b.significand);
    // The highest bit is in the last or the second to last place.
    let top_bit = m.find_msb64(high);
    let top = m.int(63);
    let up = m.isub(top, top_bit);
    let normal = m.shl64(high, up);
    let lost = gathered(m, low);
    let normal = Pair { lo: m.ior(normal.lo, lost), hi: normal.hi };
    let exponent = m.iadd(a.exponent, b.exponent);
    let exponent = m.iadd_imm(exponent, 1);
    let exponent = m.isub(exponent, up);
    let result = rounded(m, class.sign, exponent, normal, mode);
    let infinity = m.int(INFINITY);
    let infinite = m.ior(class.sign, infinity);
    let nan = m.int(NAN);
    with_special(m, result, &[(class.is_zero, class.sign), (class.is_infinite, infinite), (class.is_nan, nan)])
}

/// Emits a comparison: an opcode tests `a < b`, `a == b` or whether either is NaN; it differs in the result for NaN, in
/// negation, and in the size of the boolean.
fn compare(m: &mut Arithmetic<'_>, op: AluOp) -> Option<Def> {
    let name = op.name();
    if op.info().group != "compare-float" {
        return None;
    }
    let (question, widen) = match name.trim_start_matches(|c: char| c.is_ascii_alphabetic()) {
        "" => (name, None),
        "8" => (&name[..name.len() - 1], Some(AluOp::B2b8)),
        "16" => (&name[..name.len() - 2], Some(AluOp::B2b16)),
        _ => (&name[..name.len() - 2], Some(AluOp::B2b32)),
    };
    let (a, b) = (m.pair(0), m.pair(1));
    let nans = [is_nan(m, a), is_nan(m, b)];
    let unordered = m.ior(nans[0], nans[1]);
    let answer = match question {
        "funord" => unordered,
        "ford" => m.inot(unordered),
        _ => {
            let is_less = matches!(question, "flt" | "fge" | "fltu" | "fgeu");
            let holds = if is_less { less(m, a, b) } else { equal(m, a, b) };
            let holds = if matches!(question, "fge" | "fgeu" | "fneu" | "fneo") { m.inot(holds) } else { holds };
            if matches!(question, "fltu" | "fgeu" | "fequ" | "fneu") {
                m.ior(holds, unordered)
            } else {
                let ordered = m.inot(unordered);
                m.iand(holds, ordered)
            }
        }
    };
    Some(match widen {
        Some(widen) => m.op(widen, &[answer]),
        None => answer,
    })
}

/// Returns whether both are zeros.
fn both_zero(m: &mut Arithmetic<'_>, a: Pair, b: Pair) -> Def {
    let any = m.each64(AluOp::Ior, a, b);
    is_zero(m, any)
}

/// Returns `a < b` for numbers other than NaN.
fn less(m: &mut Arithmetic<'_>, a: Pair, b: Pair) -> Def {
    let zeros = both_zero(m, a, b);
    let not_zeros = m.inot(zeros);
    let negative = m.is_negative(a.hi);
    let signs = m.ixor(a.hi, b.hi);
    let differ = m.is_negative(signs);
    let (first, second) = (m.ult64(a, b), m.ult64(b, a));
    let alike = m.bcsel(negative, second, first);
    let by_sign = m.bcsel(differ, negative, alike);
    m.iand(by_sign, not_zeros)
}

/// Returns `a == b` for numbers other than NaN.
fn equal(m: &mut Arithmetic<'_>, a: Pair, b: Pair) -> Def {
    let zeros = both_zero(m, a, b);
    let difference = m.difference(a, b);
    let same = m.is_zero(difference);
    m.ior(same, zeros)
}

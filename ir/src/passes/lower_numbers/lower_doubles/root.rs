//! Emits reciprocals, roots and quotients by Newton's method from a 32-bit estimate.
//!
//! All work on mantissas near 1, so that no intermediate result overflows, and apply the exponent afterwards by
//! products with powers of two, of which only the last can round.

use super::{double, joined, words};
use crate::alu::AluOp;
use crate::entities::Def;
use crate::passes::lower_numbers::arithmetic::Arithmetic;

/// A number as `mantissa * 2^exponent`, with the magnitude of the mantissa in [1, 2). Arbitrary for zeros, infinities
/// and NaN.
struct FloatParts {
    mantissa: Def,
    exponent: Def,
}

fn take_apart(m: &mut Arithmetic<'_>, a: Def) -> FloatParts {
    let (_, high) = words(m, a);
    let magnitude = m.iand_imm(high, 0x7fff_ffff);
    let least = m.int(1 << 20);
    let is_denormal = m.ult(magnitude, least);
    let scale = double(m, 18_014_398_509_481_984.0);
    let scaled = m.fmul(a, scale);
    let normal = m.bcsel(is_denormal, scaled, a);
    let (low, high) = words(m, normal);
    let magnitude = m.iand_imm(high, 0x7fff_ffff);
    let biased = m.ushr_imm(magnitude, 20);
    let (bias, scaled_bias) = (m.int(1023), m.int(1023 + 54));
    let bias = m.bcsel(is_denormal, scaled_bias, bias);
    let exponent = m.isub(biased, bias);
    let rest = m.iand_imm(high, 0x800f_ffff);
    let one = m.int(1023 << 20);
    let high = m.ior(rest, one);
    FloatParts { mantissa: joined(m, low, high), exponent }
}

/// Returns a power of two with the exponent of a normal number.
fn power(m: &mut Arithmetic<'_>, exponent: Def) -> Def {
    let biased = m.iadd_imm(exponent, 1023);
    let high = m.ishl_imm(biased, 20);
    let zero = m.int(0);
    joined(m, zero, high)
}

/// Returns `a * 2^exponent` for a number near 1. Uses two factors, as a single one may be out of range.
fn scaled(m: &mut Arithmetic<'_>, a: Def, exponent: Def) -> Def {
    let first = m.ishr_imm(exponent, 1);
    let second = m.isub(exponent, first);
    let factor = power(m, first);
    let product = m.fmul(a, factor);
    let factor = power(m, second);
    m.fmul(product, factor)
}

/// Returns `1 / a` for a mantissa.
fn reciprocal_of_mantissa(m: &mut Arithmetic<'_>, a: Def) -> Def {
    let single = m.op(AluOp::F2f32, &[a]);
    let single = m.frcp(single);
    let mut result = m.op(AluOp::F2f64, &[single]);
    let negated = m.fneg(a);
    let one = double(m, 1.0);
    for _ in 0..2 {
        let error = m.ffma(negated, result, one);
        result = m.ffma(error, result, result);
    }
    result
}

/// Returns the sign bit of the upper word, whether the number is 0, and whether it is infinite.
fn classes(m: &mut Arithmetic<'_>, a: Def) -> (Def, Def, Def) {
    let (_, high) = words(m, a);
    let sign = m.iand_imm(high, 0x8000_0000);
    let zero = double(m, 0.0);
    let is_zero = m.feq(a, zero);
    let magnitude = m.fabs(a);
    let infinity = double(m, f64::INFINITY);
    let is_infinite = m.feq(magnitude, infinity);
    (sign, is_zero, is_infinite)
}

/// Returns an infinity and a zero with the given sign.
fn signed(m: &mut Arithmetic<'_>, sign: Def) -> (Def, Def) {
    let zero = m.int(0);
    let exponent = m.int(0x7ff0_0000);
    let high = m.ior(sign, exponent);
    (joined(m, zero, high), joined(m, zero, sign))
}

pub(super) fn reciprocal(m: &mut Arithmetic<'_>, a: Def) -> Def {
    let parts = take_apart(m, a);
    let inverse = reciprocal_of_mantissa(m, parts.mantissa);
    let exponent = m.ineg(parts.exponent);
    let result = scaled(m, inverse, exponent);
    let (sign, is_zero, is_infinite) = classes(m, a);
    let (infinity, zero) = signed(m, sign);
    let result = m.bcsel(is_zero, infinity, result);
    let result = m.bcsel(is_infinite, zero, result);
    let is_nan = m.fneu(a, a);
    m.bcsel(is_nan, a, result)
}

pub(super) fn quotient(m: &mut Arithmetic<'_>, a: Def, b: Def) -> Def {
    let (dividend, divisor) = (take_apart(m, a), take_apart(m, b));
    let inverse = reciprocal_of_mantissa(m, divisor.mantissa);
    let estimate = m.fmul(dividend.mantissa, inverse);
    let negated = m.fneg(divisor.mantissa);
    let rest = m.ffma(negated, estimate, dividend.mantissa);
    let mantissa = m.ffma(rest, inverse, estimate);
    let exponent = m.isub(dividend.exponent, divisor.exponent);
    // Beyond these limits, results are infinite or 0 anyway.
    let (least, most) = (m.int(-1100i32 as u32), m.int(1100));
    let exponent = m.op(AluOp::Imax, &[exponent, least]);
    let exponent = m.op(AluOp::Imin, &[exponent, most]);
    let result = scaled(m, mantissa, exponent);
    // If either number is a zero, an infinity or NaN, the result is the product with the reciprocal, of which only the
    // class matters.
    let (_, a_is_zero, _) = classes(m, a);
    let (sign, b_is_zero, b_is_infinite) = classes(m, b);
    let (infinity, zero) = signed(m, sign);
    let inverse = m.bcsel(b_is_zero, infinity, b);
    let inverse = m.bcsel(b_is_infinite, zero, inverse);
    let special = m.fmul(a, inverse);
    let any_zero = m.ior(a_is_zero, b_is_zero);
    let largest = double(m, f64::MAX);
    let mut is_plain = m.inot(any_zero);
    for number in [a, b] {
        let magnitude = m.fabs(number);
        let is_finite = m.fge(largest, magnitude);
        is_plain = m.iand(is_plain, is_finite);
    }
    m.bcsel(is_plain, result, special)
}

/// Common start of both roots: a number in [1, 4), its root and half of the root's reciprocal to about 46 bits, and the
/// exponent of the root.
struct Root {
    number: Def,
    root: Def,
    half_inverse: Def,
    exponent: Def,
}

fn root(m: &mut Arithmetic<'_>, a: Def) -> Root {
    let parts = take_apart(m, a);
    // Makes the exponent even: an odd one leaves a factor of 2 in the mantissa.
    let odd = m.iand_imm(parts.exponent, 1);
    let exponent = m.ishr_imm(parts.exponent, 1);
    let (low, high) = words(m, parts.mantissa);
    let more = m.ishl_imm(odd, 20);
    let high = m.iadd(high, more);
    let number = joined(m, low, high);
    let single = m.op(AluOp::F2f32, &[number]);
    let single = m.op(AluOp::Frsq, &[single]);
    let inverse = m.op(AluOp::F2f64, &[single]);
    let half = double(m, 0.5);
    let root = m.fmul(number, inverse);
    let half_inverse = m.fmul(inverse, half);
    let negated = m.fneg(half_inverse);
    let error = m.ffma(negated, root, half);
    let half_inverse = m.ffma(half_inverse, error, half_inverse);
    Root { number, root: m.ffma(root, error, root), half_inverse, exponent }
}

/// Returns `result`, or NaN for a negative number.
fn of_negative(m: &mut Arithmetic<'_>, a: Def, result: Def) -> Def {
    let zero = double(m, 0.0);
    let is_negative = m.flt(a, zero);
    let nan = double(m, f64::NAN);
    m.bcsel(is_negative, nan, result)
}

pub(super) fn square_root(m: &mut Arithmetic<'_>, a: Def) -> Def {
    let Root { number, root, half_inverse, exponent } = root(m, a);
    let negated = m.fneg(root);
    let rest = m.ffma(negated, root, number);
    let result = m.ffma(rest, half_inverse, root);
    let factor = power(m, exponent);
    let result = m.fmul(result, factor);
    let result = of_negative(m, a, result);
    let (_, is_zero, is_infinite) = classes(m, a);
    let is_nan = m.fneu(a, a);
    let is_special = m.ior(is_zero, is_infinite);
    let is_special = m.ior(is_special, is_nan);
    // Of the special numbers, only minus infinity is not its own root.
    let special = of_negative(m, a, a);
    m.bcsel(is_special, special, result)
}

pub(super) fn reciprocal_square_root(m: &mut Arithmetic<'_>, a: Def) -> Def {
    let Root { number, half_inverse, exponent, .. } = root(m, a);
    // The product number * inverse^2 in twice the precision: its distance from 1 is twice the relative error of the
    // inverse.
    let two = double(m, 2.0);
    let inverse = m.fmul(half_inverse, two);
    let product = m.fmul(number, inverse);
    let negated = m.fneg(product);
    let rest = m.ffma(number, inverse, negated);
    let one = double(m, 1.0);
    let error = m.ffma(negated, inverse, one);
    let negated = m.fneg(rest);
    let error = m.ffma(negated, inverse, error);
    let result = m.ffma(half_inverse, error, inverse);
    let exponent = m.ineg(exponent);
    let factor = power(m, exponent);
    let result = m.fmul(result, factor);
    let result = of_negative(m, a, result);
    let (sign, is_zero, _) = classes(m, a);
    let (infinity, zero) = signed(m, sign);
    let result = m.bcsel(is_zero, infinity, result);
    let largest = double(m, f64::INFINITY);
    let is_infinite = m.feq(a, largest);
    let result = m.bcsel(is_infinite, zero, result);
    let is_nan = m.fneu(a, a);
    m.bcsel(is_nan, a, result)
}

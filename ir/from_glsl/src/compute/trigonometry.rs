//! Angles and hyperbolic functions, for which the IR has no opcodes. Floats of 32 bits only.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

use tgsi_ir::alu::AluOp;

use super::Sink;
use super::functions::{exp, log, times};
use super::operators::{add, subtract};
use crate::builtins::functions::BuiltinOp;

/// Computes a function.
pub(super) fn value<S: Sink>(sink: &mut S, op: BuiltinOp, arguments: &[S::Value]) -> Option<S::Value> {
    use BuiltinOp as B;
    Some(match (op, arguments) {
        (B::Tan, &[x]) => {
            let (sine, cosine) = (sink.one(AluOp::Fsin, x), sink.one(AluOp::Fcos, x));
            sink.two(AluOp::Fdiv, sine, cosine)
        }
        (B::Asin, &[x]) => arcsine(sink, x, 0.086566724, -0.03102955),
        (B::Acos, &[x]) => {
            let (right_angle, arcsine) = (sink.float(x, FRAC_PI_2), arcsine(sink, x, 0.08132463, -0.02363318));
            subtract(sink, right_angle, arcsine)
        }
        (B::Atan, &[x]) => arctangent(sink, x),
        (B::Atan, &[y, x]) => arctangent_of_quotient(sink, y, x),
        (B::Sinh, &[x]) => {
            let (rising, falling) = exponentials(sink, x);
            let difference = subtract(sink, rising, falling);
            times(sink, difference, 0.5)
        }
        (B::Cosh, &[x]) => {
            let (rising, falling) = exponentials(sink, x);
            let sum = add(sink, rising, falling);
            times(sink, sum, 0.5)
        }
        (B::Tanh, &[x]) => {
            // Beyond 10 the result is 1, and the exponentials would overflow.
            let (low, high) = (sink.float(x, -10.0), sink.float(x, 10.0));
            let bounded = sink.two(AluOp::Fmax, x, low);
            let bounded = sink.two(AluOp::Fmin, bounded, high);
            let (rising, falling) = exponentials(sink, bounded);
            let (difference, sum) = (subtract(sink, rising, falling), add(sink, rising, falling));
            sink.two(AluOp::Fdiv, difference, sum)
        }
        (B::Asinh, &[x]) => {
            let (size, sign, one) = (sink.one(AluOp::Fabs, x), sink.one(AluOp::Fsign, x), sink.float(x, 1.0));
            let square = sink.two(AluOp::Fmul, x, x);
            let sum = add(sink, square, one);
            let root = sink.one(AluOp::Fsqrt, sum);
            let sum = add(sink, size, root);
            let logarithm = log(sink, sum);
            sink.two(AluOp::Fmul, sign, logarithm)
        }
        (B::Acosh, &[x]) => {
            let (square, one) = (sink.two(AluOp::Fmul, x, x), sink.float(x, 1.0));
            let difference = subtract(sink, square, one);
            let root = sink.one(AluOp::Fsqrt, difference);
            let sum = add(sink, x, root);
            log(sink, sum)
        }
        (B::Atanh, &[x]) => {
            let one = sink.float(x, 1.0);
            let (above, below) = (add(sink, one, x), subtract(sink, one, x));
            let quotient = sink.two(AluOp::Fdiv, above, below);
            let logarithm = log(sink, quotient);
            times(sink, logarithm, 0.5)
        }
        _ => return None,
    })
}

/// `e` to the power of a value and of its opposite.
fn exponentials<S: Sink>(sink: &mut S, x: S::Value) -> (S::Value, S::Value) {
    let opposite = sink.one(AluOp::Fneg, x);
    (exp(sink, x), exp(sink, opposite))
}

/// A polynomial by Horner's rule; the first coefficient is that of the highest power.
fn polynomial<S: Sink>(sink: &mut S, x: S::Value, coefficients: &[f64]) -> S::Value {
    let mut sum = sink.float(x, 0.0);
    for (number, &coefficient) in coefficients.iter().enumerate() {
        let coefficient = sink.float(x, coefficient);
        sum = if number == 0 { coefficient } else { sink.each(AluOp::Fmad, &[sum, x, coefficient]) };
    }
    sum
}

/// The arcsine: the square root of `1 - |x|` times a polynomial that is exact at 0 and 1, and two coefficients that
/// distribute the error.
fn arcsine<S: Sink>(sink: &mut S, x: S::Value, p0: f64, p1: f64) -> S::Value {
    let (size, sign) = (sink.one(AluOp::Fabs, x), sink.one(AluOp::Fsign, x));
    let (one, right_angle) = (sink.float(x, 1.0), sink.float(x, FRAC_PI_2));
    let rest = subtract(sink, one, size);
    let root = sink.one(AluOp::Fsqrt, rest);
    let factor = polynomial(sink, size, &[p1, p0, FRAC_PI_4 - 1.0, FRAC_PI_2]);
    let product = sink.two(AluOp::Fmul, root, factor);
    let angle = subtract(sink, right_angle, product);
    sink.two(AluOp::Fmul, sign, angle)
}

/// The arctangent: a polynomial on 0 to 1, to which greater values are mapped by their reciprocals.
fn arctangent<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    let (size, sign, one) = (sink.one(AluOp::Fabs, x), sink.one(AluOp::Fsign, x), sink.float(x, 1.0));
    let (small, great) = (sink.two(AluOp::Fmin, size, one), sink.two(AluOp::Fmax, size, one));
    let u = sink.two(AluOp::Fdiv, small, great);
    let square = sink.two(AluOp::Fmul, u, u);
    let factor = polynomial(
        sink,
        square,
        &[
            -0.0121323213173444,
            0.0536813784310406,
            -0.1173503194786851,
            0.193892497711561,
            -0.3326756418091246,
            0.9999793128310355,
        ],
    );
    let angle = sink.two(AluOp::Fmul, factor, u);
    let right_angle = sink.float(x, FRAC_PI_2);
    let complement = subtract(sink, right_angle, angle);
    let is_great = sink.two(AluOp::Flt, one, size);
    let angle = sink.each(AluOp::Bcsel, &[is_great, complement, angle]);
    sink.two(AluOp::Fmul, angle, sign)
}

/// The angle of the vector `(x, y)`. Left of the axis the plane is turned by a right angle, so that the quotient stays
/// finite; where both are infinite or zero, the quotient counts as 1.
fn arctangent_of_quotient<S: Sink>(sink: &mut S, y: S::Value, x: S::Value) -> S::Value {
    let zero = sink.float(x, 0.0);
    let is_left = sink.two(AluOp::Fge, zero, x);
    let (size_x, size_y) = (sink.one(AluOp::Fabs, x), sink.one(AluOp::Fabs, y));
    let numerator = sink.each(AluOp::Bcsel, &[is_left, size_x, y]);
    let denominator = sink.each(AluOp::Bcsel, &[is_left, y, size_x]);
    // The reciprocal of a great number would be denormal, which hardware may flush.
    let (great, quarter, one) = (sink.float(x, 1e18), sink.float(x, 0.25), sink.float(x, 1.0));
    let size = sink.one(AluOp::Fabs, denominator);
    let is_great = sink.two(AluOp::Fge, size, great);
    let scale = sink.each(AluOp::Bcsel, &[is_great, quarter, one]);
    let scaled = sink.two(AluOp::Fmul, denominator, scale);
    let reciprocal = sink.one(AluOp::Frcp, scaled);
    let scaled = sink.two(AluOp::Fmul, numerator, scale);
    let quotient = sink.two(AluOp::Fmul, scaled, reciprocal);
    let quotient = sink.one(AluOp::Fabs, quotient);
    let is_diagonal = sink.two(AluOp::Feq, size_x, size_y);
    let tangent = sink.each(AluOp::Bcsel, &[is_diagonal, one, quotient]);
    let arctangent = arctangent(sink, tangent);
    let turn = sink.one(AluOp::B2f32, is_left);
    let turn = times(sink, turn, FRAC_PI_2);
    let angle = add(sink, arctangent, turn);
    // Negative if `y` is, or is the negative zero of a denominator, whose reciprocal tells its sign.
    let least = sink.two(AluOp::Fmin, y, reciprocal);
    let is_negative = sink.two(AluOp::Flt, least, zero);
    let opposite = sink.one(AluOp::Fneg, angle);
    sink.each(AluOp::Bcsel, &[is_negative, opposite, angle])
}

//! Angles, trigonometric and hyperbolic functions of floats. Sines and cosines are opcodes.
//!
//! Floats of 16 bits are computed in 32; their results are rounded, which adds to the errors below. Those of 64 bits are
//! computed in 64, but by the same polynomials, whose errors are far above the rounding of 32 bits.

use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

use tgsi_ir::alu::AluOp;

use crate::Sink;
use crate::common::{boolean_to_float, times};
use crate::exponential::{exp, log};
use crate::operators::{difference, multiply_add, sum};
use crate::sink::in_single;

/// Degrees in radians.
pub fn radians<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    times(sink, x, PI / 180.0)
}

/// Radians in degrees.
pub fn degrees<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    times(sink, x, 180.0 / PI)
}

/// The tangent: the quotient of sine and cosine.
pub fn tan<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| {
        let (sine, cosine) = (sink.one(AluOp::Fsin, x), sink.one(AluOp::Fcos, x));
        sink.two(AluOp::Fdiv, sine, cosine)
    })
}

/// The arcsine, from -π/2 to π/2. The error is below 4e-4. Beyond -1 and 1 the result is NaN.
pub fn asin<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| arcsine(sink, x, 0.086566724, -0.03102955))
}

/// The arccosine, from 0 to π. The error is below 2e-4. Beyond -1 and 1 the result is NaN.
pub fn acos<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| {
        let (right_angle, arcsine) = (sink.float(x, FRAC_PI_2), arcsine(sink, x, 0.08132463, -0.02363318));
        difference(sink, right_angle, arcsine)
    })
}

/// The arcsine, from -π/2 to π/2, within 4096 units in the last place, as Vulkan requires: near 0 the error is relative.
/// Beyond -1 and 1 the result is NaN.
pub fn accurate_asin<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| accurate_arcsine(sink, x))
}

/// The arccosine, from 0 to π, within 4096 units in the last place. Beyond -1 and 1 the result is NaN.
pub fn accurate_acos<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| {
        // Near 1 the arccosine is twice the arcsine of a small number, not the difference of two angles.
        let (one, half, two) = (sink.float(x, 1.0), sink.float(x, 0.5), sink.float(x, 2.0));
        let is_large = sink.two(AluOp::Flt, half, x);
        let rest = difference(sink, one, x);
        let halved = sink.two(AluOp::Fmul, rest, half);
        let root = sink.one(AluOp::Fsqrt, halved);
        let argument = sink.each(AluOp::Bcsel, &[is_large, root, x]);
        let angle = accurate_arcsine(sink, argument);
        let doubled = sink.two(AluOp::Fmul, angle, two);
        let right_angle = sink.float(x, FRAC_PI_2);
        let complement = difference(sink, right_angle, angle);
        sink.each(AluOp::Bcsel, &[is_large, doubled, complement])
    })
}

/// The arctangent, from -π/2 to π/2. The error is below 5e-6.
pub fn atan<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| arctangent(sink, x))
}

/// The angle of the vector `(x, y)`, from -π to π, with the sign of `y`, also of a zero. The error is below 5e-6.
pub fn atan2<S: Sink>(sink: &mut S, y: S::Value, x: S::Value) -> S::Value {
    in_single(sink, [y, x], |sink, [y, x]| arctangent_of_quotient(sink, y, x))
}

/// The hyperbolic sine from exponentials; near 0 the error is that of their difference.
pub fn sinh<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| {
        let (rising, falling) = exponentials(sink, x);
        let difference = difference(sink, rising, falling);
        times(sink, difference, 0.5)
    })
}

/// The hyperbolic cosine from exponentials.
pub fn cosh<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| {
        let (rising, falling) = exponentials(sink, x);
        let sum = sum(sink, rising, falling);
        times(sink, sum, 0.5)
    })
}

/// The hyperbolic tangent from exponentials; near 0 the error is that of their difference.
pub fn tanh<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| {
        // Beyond 10 the result is 1, and the exponentials would overflow.
        let (low, high) = (sink.float(x, -10.0), sink.float(x, 10.0));
        let bounded = sink.two(AluOp::Fmax, x, low);
        let bounded = sink.two(AluOp::Fmin, bounded, high);
        let (rising, falling) = exponentials(sink, bounded);
        let (difference, sum) = (difference(sink, rising, falling), sum(sink, rising, falling));
        sink.two(AluOp::Fdiv, difference, sum)
    })
}

/// The inverse of the hyperbolic sine, from a logarithm.
pub fn asinh<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| {
        let (size, sign, one) = (sink.one(AluOp::Fabs, x), sink.one(AluOp::Fsign, x), sink.float(x, 1.0));
        let square = sink.two(AluOp::Fmul, x, x);
        let beneath = sum(sink, square, one);
        let root = sink.one(AluOp::Fsqrt, beneath);
        let sum = sum(sink, size, root);
        let logarithm = log(sink, sum);
        sink.two(AluOp::Fmul, sign, logarithm)
    })
}

/// The inverse of the hyperbolic cosine, from a logarithm; not negative. Below 1 the result is NaN.
pub fn acosh<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| {
        let (square, one) = (sink.two(AluOp::Fmul, x, x), sink.float(x, 1.0));
        let difference = difference(sink, square, one);
        let root = sink.one(AluOp::Fsqrt, difference);
        let sum = sum(sink, x, root);
        log(sink, sum)
    })
}

/// The inverse of the hyperbolic tangent, from a logarithm. Beyond -1 and 1 the result is NaN.
pub fn atanh<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    in_single(sink, [x], |sink, [x]| {
        let one = sink.float(x, 1.0);
        let (above, below) = (sum(sink, one, x), difference(sink, one, x));
        let quotient = sink.two(AluOp::Fdiv, above, below);
        let logarithm = log(sink, quotient);
        times(sink, logarithm, 0.5)
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
        if number == 0 {
            sum = coefficient;
            continue;
        }
        let [sum_so_far, factor, summand] = [sum, x, coefficient].map(|value| sink.repeated(value));
        sum = multiply_add(sink, sink.components(x), sum_so_far, factor, summand);
    }
    sum
}

/// The arcsine: the square root of `1 - |x|` times a polynomial that is exact at 0 and 1, and two coefficients that
/// distribute the error.
fn arcsine<S: Sink>(sink: &mut S, x: S::Value, p0: f64, p1: f64) -> S::Value {
    let (size, sign) = (sink.one(AluOp::Fabs, x), sink.one(AluOp::Fsign, x));
    let (one, right_angle) = (sink.float(x, 1.0), sink.float(x, FRAC_PI_2));
    let rest = difference(sink, one, size);
    let root = sink.one(AluOp::Fsqrt, rest);
    let factor = polynomial(sink, size, &[p1, p0, FRAC_PI_4 - 1.0, FRAC_PI_2]);
    let product = sink.two(AluOp::Fmul, root, factor);
    let angle = difference(sink, right_angle, product);
    sink.two(AluOp::Fmul, sign, angle)
}

/// The arcsine: its series up to 1/2, above it π/2 minus twice the arcsine of `sqrt((1 - |x|) / 2)`.
fn accurate_arcsine<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    let (size, one, half) = (sink.one(AluOp::Fabs, x), sink.float(x, 1.0), sink.float(x, 0.5));
    let is_large = sink.two(AluOp::Flt, half, size);
    let rest = difference(sink, one, size);
    let halved = sink.two(AluOp::Fmul, rest, half);
    let root = sink.one(AluOp::Fsqrt, halved);
    let argument = sink.each(AluOp::Bcsel, &[is_large, root, size]);
    let square = sink.two(AluOp::Fmul, argument, argument);
    let series = [945.0 / 42240.0, 105.0 / 3456.0, 15.0 / 336.0, 3.0 / 40.0, 1.0 / 6.0, 1.0];
    let factor = polynomial(sink, square, &series);
    let angle = sink.two(AluOp::Fmul, argument, factor);
    let doubled = sum(sink, angle, angle);
    let right_angle = sink.float(x, FRAC_PI_2);
    let complement = difference(sink, right_angle, doubled);
    let angle = sink.each(AluOp::Bcsel, &[is_large, complement, angle]);
    let sign = sink.one(AluOp::Fsign, x);
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
    let complement = difference(sink, right_angle, angle);
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
    let turn = boolean_to_float(sink, is_left, x);
    let turn = times(sink, turn, FRAC_PI_2);
    let angle = sum(sink, arctangent, turn);
    // Negative if `y` is, or is the negative zero of a denominator, whose reciprocal tells its sign.
    let least = sink.two(AluOp::Fmin, y, reciprocal);
    let is_negative = sink.two(AluOp::Flt, least, zero);
    let opposite = sink.one(AluOp::Fneg, angle);
    sink.each(AluOp::Bcsel, &[is_negative, opposite, angle])
}

//! Lengths and directions of vectors of floats.

use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;

use crate::Sink;
use crate::operators::{difference, dot, sum};
use crate::sink::in_single;

/// The length of a vector: the root of its dot product with itself; of a scalar the absolute value.
pub fn length<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    if sink.components(x) == 1 {
        return sink.one(AluOp::Fabs, x);
    }
    in_single(sink, [x], |sink, [x]| {
        let square = dot(sink, x, x);
        sink.one(AluOp::Fsqrt, square)
    })
}

/// The length of the difference of two vectors of one size.
pub fn distance<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> S::Value {
    in_single(sink, [a, b], |sink, [a, b]| {
        let difference = difference(sink, a, b);
        length(sink, difference)
    })
}

/// A vector divided by its length; of a scalar the sign. Of a vector of zeros it is NaN.
pub fn normalize<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    if sink.components(x) == 1 {
        return sink.one(AluOp::Fsign, x);
    }
    in_single(sink, [x], |sink, [x]| {
        let square = dot(sink, x, x);
        let factor = sink.one(AluOp::Frsq, square);
        sink.two(AluOp::Fmul, x, factor)
    })
}

/// The cross product of two vectors of three components.
pub fn cross<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> S::Value {
    let (yzx, zxy) = (Swizzle::new(&[1, 2, 0]), Swizzle::new(&[2, 0, 1]));
    let first = sink.alu(AluOp::Fmul, 3, &[(a, yzx), (b, zxy)]);
    let second = sink.alu(AluOp::Fmul, 3, &[(a, zxy), (b, yzx)]);
    difference(sink, first, second)
}

/// `normal` if the dot product of `reference` and `incident` is negative, else its opposite. All have one size.
pub fn face_forward<S: Sink>(sink: &mut S, normal: S::Value, incident: S::Value, reference: S::Value) -> S::Value {
    let (cosine, zero) = (dot(sink, reference, incident), sink.float(normal, 0.0));
    let (keep, opposite) = (sink.two(AluOp::Flt, cosine, zero), sink.one(AluOp::Fneg, normal));
    sink.each(AluOp::Bcsel, &[keep, normal, opposite])
}

/// The reflection of a vector on a plane with a normal of length 1 and of the same size.
pub fn reflect<S: Sink>(sink: &mut S, incident: S::Value, normal: S::Value) -> S::Value {
    let (cosine, two) = (dot(sink, normal, incident), sink.float(normal, 2.0));
    let factor = sink.two(AluOp::Fmul, cosine, two);
    let change = sink.two(AluOp::Fmul, normal, factor);
    difference(sink, incident, change)
}

/// The refraction of a vector of length 1 on a plane with a normal of length 1 and of the same size, by a quotient of
/// indices of refraction, a scalar. Zeros in case of total reflection.
pub fn refract<S: Sink>(sink: &mut S, incident: S::Value, normal: S::Value, eta: S::Value) -> S::Value {
    let (cosine, one, zero) = (dot(sink, normal, incident), sink.float(normal, 1.0), sink.float(normal, 0.0));
    // k = 1 - eta * eta * (1 - cosine * cosine)
    let square = sink.two(AluOp::Fmul, cosine, cosine);
    let sine = difference(sink, one, square);
    let scaled = sink.two(AluOp::Fmul, eta, sine);
    let scaled = sink.two(AluOp::Fmul, eta, scaled);
    let k = difference(sink, one, scaled);
    // eta * incident - (eta * cosine + sqrt(k)) * normal
    let (root, along) = (sink.one(AluOp::Fsqrt, k), sink.two(AluOp::Fmul, eta, cosine));
    let factor = sum(sink, along, root);
    let (first, second) = (sink.two(AluOp::Fmul, incident, eta), sink.two(AluOp::Fmul, normal, factor));
    let refracted = difference(sink, first, second);
    let is_total = sink.two(AluOp::Flt, k, zero);
    sink.each(AluOp::Bcsel, &[is_total, zero, refracted])
}

//! Bounds, interpolation, and parts and properties of numbers.

use tgsi_ir::alu::AluOp;

use crate::operators::difference;
use crate::{Kind, Sink, exactly};

/// The product of floats with a constant.
pub fn times<S: Sink>(sink: &mut S, x: S::Value, factor: f64) -> S::Value {
    let factor = sink.float(x, factor);
    sink.two(AluOp::Fmul, x, factor)
}

/// The absolute value. That of the least signed integer is the integer itself.
pub fn absolute<S: Sink>(sink: &mut S, kind: Kind, x: S::Value) -> S::Value {
    match kind {
        Kind::Float => sink.one(AluOp::Fabs, x),
        Kind::Int => sink.one(AluOp::Iabs, x),
        Kind::Uint | Kind::Bool => x,
    }
}

/// The sign of floats and signed integers: -1, 0 or 1. Of NaN it is 0.
pub fn sign<S: Sink>(sink: &mut S, kind: Kind, x: S::Value) -> S::Value {
    sink.one(if kind == Kind::Float { AluOp::Fsign } else { AluOp::Isign }, x)
}

/// The lesser of two numbers. Of a NaN and a number it is the number.
pub fn min<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    sink.two(least(kind), a, b)
}

/// The greater of two numbers. Of a NaN and a number it is the number.
pub fn max<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> S::Value {
    sink.two(greatest(kind), a, b)
}

fn least(kind: Kind) -> AluOp {
    match kind {
        Kind::Float => AluOp::Fmin,
        Kind::Int => AluOp::Imin,
        Kind::Uint | Kind::Bool => AluOp::Umin,
    }
}

fn greatest(kind: Kind) -> AluOp {
    match kind {
        Kind::Float => AluOp::Fmax,
        Kind::Int => AluOp::Imax,
        Kind::Uint | Kind::Bool => AluOp::Umax,
    }
}

/// The least of three numbers.
pub fn min3<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value, c: S::Value) -> S::Value {
    let first = min(sink, kind, a, b);
    min(sink, kind, first, c)
}

/// The greatest of three numbers.
pub fn max3<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value, c: S::Value) -> S::Value {
    let first = max(sink, kind, a, b);
    max(sink, kind, first, c)
}

/// The middle one of three numbers.
pub fn mid3<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value, c: S::Value) -> S::Value {
    let (least, greatest) = (min(sink, kind, a, b), max(sink, kind, a, b));
    let bounded = min(sink, kind, greatest, c);
    max(sink, kind, least, bounded)
}

/// The number within bounds that is nearest to `x`: the lesser of `high` and the greater of `x` and `low`.
pub fn clamp<S: Sink>(sink: &mut S, kind: Kind, x: S::Value, low: S::Value, high: S::Value) -> S::Value {
    let bounded = max(sink, kind, x, low);
    min(sink, kind, bounded, high)
}

/// The interpolation of floats: `x` where `a` is 0, `y` where it is 1. Values of 32 bits that need not be exact are
/// `x + a * (y - x)`, others `x * (1 - a) + y * a`.
pub fn mix<S: Sink>(sink: &mut S, x: S::Value, y: S::Value, a: S::Value) -> S::Value {
    if sink.bit_size(x) == 32 && !sink.is_exact() {
        // Targets have this form, and it needs fewer instructions where they do not.
        sink.each(AluOp::FlrpMad, &[a, y, x])
    } else {
        sink.each(AluOp::Flrp, &[x, y, a])
    }
}

/// `y` where the condition is true, else `x`. Components are of any kind.
pub fn select<S: Sink>(sink: &mut S, condition: S::Value, y: S::Value, x: S::Value) -> S::Value {
    sink.each(AluOp::Bcsel, &[condition, y, x])
}

/// Floats that are 1 if `x >= edge`, else 0.
pub fn step<S: Sink>(sink: &mut S, edge: S::Value, x: S::Value) -> S::Value {
    let reached = sink.two(AluOp::Fge, x, edge);
    boolean_to_float(sink, reached, x)
}

/// 1 and 0 as floats of the size of `like`.
pub(crate) fn boolean_to_float<S: Sink>(sink: &mut S, x: S::Value, like: S::Value) -> S::Value {
    let op = match sink.bit_size(like) {
        16 => AluOp::B2f16,
        64 => AluOp::B2f64,
        _ => AluOp::B2f32,
    };
    sink.one(op, x)
}

/// Floats from 0 where `x <= low` to 1 where `x >= high`, by a cubic curve between.
pub fn smoothstep<S: Sink>(sink: &mut S, low: S::Value, high: S::Value, x: S::Value) -> S::Value {
    let (offset, range) = (difference(sink, x, low), difference(sink, high, low));
    let quotient = sink.two(AluOp::Fdiv, offset, range);
    let t = sink.one(AluOp::Fsat, quotient);
    let (square, twice, three) = (sink.two(AluOp::Fmul, t, t), times(sink, t, 2.0), sink.float(t, 3.0));
    let rest = difference(sink, three, twice);
    sink.two(AluOp::Fmul, square, rest)
}

/// The fraction and the whole part of floats, both with the sign of the value. The fraction of an infinity is NaN.
pub fn modf<S: Sink>(sink: &mut S, x: S::Value) -> (S::Value, S::Value) {
    let whole = sink.one(AluOp::Ftrunc, x);
    (difference(sink, x, whole), whole)
}

/// The significands of floats, from 0.5 to 1, and the exponents to base 2 as signed integers of 32 bits.
pub fn frexp<S: Sink>(sink: &mut S, x: S::Value) -> (S::Value, S::Value) {
    (sink.one(AluOp::FrexpSig, x), sink.one(AluOp::FrexpExp, x))
}

/// Floats times 2 to the power of signed integers of any size. Results out of the range of normal numbers are zero, as
/// those of the opcode.
pub fn ldexp<S: Sink>(sink: &mut S, x: S::Value, exponent: S::Value) -> S::Value {
    let exponent = if sink.bit_size(exponent) == 32 { exponent } else { saturated(sink, exponent) };
    sink.two(AluOp::Ldexp, x, exponent)
}

/// A signed integer in 32 bits, or the nearest one if it is too large. Only 64 bits can be.
fn saturated<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    if sink.bit_size(x) != 64 {
        return sink.one(AluOp::I2i32, x);
    }
    let [low, high] = [i32::MIN, i32::MAX].map(|bound| sink.constant(64, &[i64::from(bound) as u64]));
    let bounded = clamp(sink, Kind::Int, x, low, high);
    sink.one(AluOp::I2i32, bounded)
}

/// `a * b + c` of floats with one rounding.
pub fn fma<S: Sink>(sink: &mut S, a: S::Value, b: S::Value, c: S::Value) -> S::Value {
    exactly(sink, |sink| sink.each(AluOp::Ffma, &[a, b, c]))
}

/// Whether floats are NaN.
pub fn is_nan<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    exactly(sink, |sink| sink.two(AluOp::Fneu, x, x))
}

/// Whether floats are infinite.
pub fn is_inf<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    exactly(sink, |sink| {
        let (size, infinity) = (sink.one(AluOp::Fabs, x), sink.float(x, f64::INFINITY));
        sink.two(AluOp::Feq, size, infinity)
    })
}

/// The sums of unsigned integers and their carries, 0 or 1.
pub fn add_carry<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> (S::Value, S::Value) {
    (sink.two(AluOp::Iadd, a, b), sink.two(AluOp::UaddCarry, a, b))
}

/// The differences of unsigned integers and their borrows, 0 or 1.
pub fn subtract_borrow<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> (S::Value, S::Value) {
    (sink.two(AluOp::Isub, a, b), sink.two(AluOp::UsubBorrow, a, b))
}

/// The number of zero bits below the lowest one bit of unsigned 32-bit integers: 32 for zero.
pub fn count_trailing_zeros<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    let lowest = sink.one(AluOp::FindLsb, x);
    let all = sink.constant(32, &[32]);
    // Without a one bit it is -1, the largest unsigned integer.
    sink.two(AluOp::Umin, lowest, all)
}

/// The high and the low half of the products of integers.
pub fn multiply_extended<S: Sink>(sink: &mut S, kind: Kind, a: S::Value, b: S::Value) -> (S::Value, S::Value) {
    let high = if kind == Kind::Int { AluOp::ImulHigh } else { AluOp::UmulHigh };
    (sink.two(high, a, b), sink.two(AluOp::Imul, a, b))
}

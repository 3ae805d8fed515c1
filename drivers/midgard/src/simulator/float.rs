//! Floats of 16, 32 and 64 bits, as numbers of 64 bits that are rounded after each operation.
//!
//! Results are IEEE 754's, with denormal numbers. A sum or product that 64 bits cannot hold is a number and an error
//! term, so that each result is rounded once. NaN results of arithmetic are positive and quiet.

use crate::isa::Width;

use half::f16;

/// The direction of rounding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Rounding {
    /// To nearest, halves to even.
    Even,
    /// To zero.
    Zero,
    /// Down.
    Down,
    /// Up.
    Up,
}

/// Returns the value of the bits of a float. There are no floats of 8 bits.
pub(super) fn from_bits(bits: u64, width: Width) -> f64 {
    match width {
        Width::W8 | Width::W16 => f16::from_bits(bits as u16).to_f64(),
        Width::W32 => f32::from_bits(bits as u32).into(),
        Width::W64 => f64::from_bits(bits),
    }
}

/// Returns the bits of a float, rounded to the width.
pub(super) fn to_bits(value: f64, width: Width, rounding: Rounding) -> u64 {
    match width {
        Width::W8 | Width::W16 => narrow_to_half(value, rounding).to_bits().into(),
        Width::W32 => narrow_to_single(value, rounding).to_bits().into(),
        Width::W64 => value.to_bits(),
    }
}

/// Chooses between the value rounded to nearest and its neighbours. `toward_zero` and `away` are those of a magnitude,
/// and `nearest` is that of the exact value.
fn choose<T: Copy>(value: f64, nearest: (T, f64), rounding: Rounding, toward_zero: fn(T) -> T, away: fn(T) -> T) -> T {
    let (bits, rounded) = nearest;
    if rounding == Rounding::Even || value.is_nan() || rounded == value {
        return bits;
    }
    let truncated = if rounded.abs() > value.abs() { toward_zero(bits) } else { bits };
    match rounding {
        Rounding::Down if value < 0.0 => away(truncated),
        Rounding::Up if value > 0.0 => away(truncated),
        _ => truncated,
    }
}

fn narrow_to_single(value: f64, rounding: Rounding) -> f32 {
    let nearest = value as f32;
    choose(
        value,
        (nearest, nearest.into()),
        rounding,
        |value| f32::from_bits(value.to_bits().wrapping_sub(1)),
        |value| f32::from_bits(value.to_bits().wrapping_add(1)),
    )
}

fn narrow_to_half(value: f64, rounding: Rounding) -> f16 {
    // Rounded to odd, the number of 32 bits still states on which side of a half it is.
    let single = narrow_to_single(value, Rounding::Zero);
    let is_exact = value.is_nan() || f64::from(single) == value;
    let odd = if is_exact { single } else { f32::from_bits(single.to_bits() | 1) };
    let nearest = f16::from_f32(odd);
    choose(
        value,
        (nearest, nearest.to_f64()),
        rounding,
        |value| f16::from_bits(value.to_bits().wrapping_sub(1)),
        |value| f16::from_bits(value.to_bits().wrapping_add(1)),
    )
}

/// Rounds the exact value `value + error`, of which `value` is the nearest number, to the width.
fn round(value: f64, error: f64, width: Width, rounding: Rounding) -> f64 {
    if value.is_nan() {
        return f64::NAN;
    }
    let is_exact = error == 0.0 || error.is_nan() || value.is_infinite();
    if width == Width::W64 {
        let is_larger = (error > 0.0) == (value > 0.0);
        return match rounding {
            _ if is_exact => value,
            Rounding::Zero if !is_larger && value > 0.0 => value.next_down(),
            Rounding::Zero if !is_larger => value.next_up(),
            Rounding::Down if error < 0.0 => value.next_down(),
            Rounding::Up if error > 0.0 => value.next_up(),
            _ => value,
        };
    }
    let odd = if is_exact || value.to_bits() & 1 == 1 {
        value
    } else if (error > 0.0) == (value > 0.0) {
        f64::from_bits(value.to_bits() + 1)
    } else {
        f64::from_bits(value.to_bits() - 1)
    };
    from_bits(to_bits(odd, width, rounding), width)
}

/// The largest number, where an infinite result of finite operands is rounded to it.
fn overflow(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Zero => f64::MAX.copysign(value),
        Rounding::Down if value > 0.0 => f64::MAX,
        Rounding::Up if value < 0.0 => -f64::MAX,
        _ => value,
    }
}

/// The sum and its error.
fn two_sum(a: f64, b: f64) -> (f64, f64) {
    let sum = a + b;
    let part = sum - a;
    (sum, (a - (sum - part)) + (b - part))
}

/// A sum.
pub(super) fn add(a: f64, b: f64, width: Width, rounding: Rounding) -> f64 {
    let (sum, error) = two_sum(a, b);
    if sum == 0.0 && rounding == Rounding::Down && (a != 0.0 || a.to_bits() != b.to_bits()) {
        return -0.0;
    }
    if sum.is_infinite() && a.is_finite() && b.is_finite() {
        return overflow(sum, rounding);
    }
    round(sum, error, width, rounding)
}

/// A product.
pub(super) fn multiply(a: f64, b: f64, width: Width, rounding: Rounding) -> f64 {
    let product = a * b;
    if product.is_infinite() && a.is_finite() && b.is_finite() {
        return overflow(product, rounding);
    }
    // Products of narrower floats are exact. Errors of products of doubles below the normal range are not computed.
    round(product, if width == Width::W64 { a.mul_add(b, -product) } else { 0.0 }, width, rounding)
}

/// A product and a sum, rounded once.
pub(super) fn multiply_add(a: f64, b: f64, c: f64, width: Width, rounding: Rounding) -> f64 {
    if width == Width::W64 {
        let value = a.mul_add(b, c);
        if value.is_infinite() && a.is_finite() && b.is_finite() && c.is_finite() {
            return overflow(value, rounding);
        }
        // The error term, by Boldo and Muller.
        let product = a * b;
        let (low, low_error) = two_sum(c, a.mul_add(b, -product));
        let (high, high_error) = two_sum(product, low);
        let error = ((high - value) + high_error) + low_error;
        return round(value, error, width, rounding);
    }
    add(a * b, c, width, rounding)
}

/// An integer as a float.
pub(super) fn from_integer(value: i128, width: Width, rounding: Rounding) -> f64 {
    let nearest = value as f64;
    round(nearest, (value - nearest as i128) as f64, width, rounding)
}

/// A float as an integer, rounded; values out of range are limited, and NaN is 0.
pub(super) fn to_integer(value: f64, rounding: Rounding, lowest: i128, highest: i128) -> i128 {
    (integral(value, rounding) as i128).clamp(lowest, highest)
}

/// The integer in a direction.
pub(super) fn integral(value: f64, rounding: Rounding) -> f64 {
    match rounding {
        Rounding::Even => value.round_ties_even(),
        Rounding::Zero => value.trunc(),
        Rounding::Down => value.floor(),
        Rounding::Up => value.ceil(),
    }
}

/// The minimum: of a number and NaN the number, and -0 is less than +0.
pub(super) fn minimum(a: f64, b: f64) -> f64 {
    let is_first = if a == b { a.is_sign_negative() } else { a < b || b.is_nan() };
    if is_first { a } else { b }
}

/// The maximum: of a number and NaN the number, and +0 is greater than -0.
pub(super) fn maximum(a: f64, b: f64) -> f64 {
    let is_first = if a == b { a.is_sign_positive() } else { a > b || b.is_nan() };
    if is_first { a } else { b }
}

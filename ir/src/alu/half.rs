//! Conversions between 16-bit floats, which stable Rust lacks, and wider floats; arithmetic rounded toward zero.

/// Widens a 16-bit float exactly. NaNs keep their sign and payload.
#[inline]
pub fn to_f32(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let exponent = u32::from(bits >> 10 & 0x1f);
    let mantissa = u32::from(bits & 0x3ff);
    match exponent {
        // Denormals are multiples of 2^-24, all of them normal 32-bit floats.
        0 => f32::from_bits((mantissa as f32 * f32::from_bits(0x3380_0000)).to_bits() | sign),
        31 => f32::from_bits(sign | 0x7f80_0000 | mantissa << 13),
        _ => f32::from_bits(sign | (exponent + 112) << 23 | mantissa << 13),
    }
}

/// Rounds to a 16-bit float in one step, to nearest even or toward zero. A finite value out of range becomes infinity,
/// or the largest finite value if rounding is toward zero.
#[inline]
pub fn from_f64(value: f64, toward_zero: bool) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 48) as u16 & 0x8000;
    let mantissa = bits & ((1 << 52) - 1);
    let exponent = (bits >> 52 & 0x7ff) as i32 - 1023;
    if exponent == 1024 {
        return match mantissa {
            0 => sign | 0x7c00,
            _ => sign | 0x7e00 | (mantissa >> 42) as u16,
        };
    }
    if exponent > 15 {
        return sign | if toward_zero { 0x7bff } else { 0x7c00 };
    }
    if exponent < -25 {
        return sign;
    }
    let significand = mantissa | 1 << 52;
    // The implicit leading one of a normal number is added to the exponent field, so the bias here is 14 instead of 15.
    let (dropped, field) =
        if exponent >= -14 { (42, ((exponent + 14) as u64) << 10) } else { ((28 - exponent) as u32, 0) };
    let kept = significand >> dropped;
    let rest = significand & ((1 << dropped) - 1);
    let tie = 1 << (dropped - 1);
    let up = !toward_zero && (rest > tie || rest == tie && kept & 1 == 1);
    // A carry into the exponent is correct, up to infinity.
    sign | (field + kept + u64::from(up)) as u16
}

/// Rounds to 32 bits toward zero.
#[inline]
pub fn single_toward_zero(value: f64) -> f32 {
    let nearest = value as f32;
    if f64::from(nearest).abs() > value.abs() && value.is_finite() {
        f32::from_bits(nearest.to_bits() - 1)
    } else {
        nearest
    }
}

/// Narrows to 32 bits, rounding inexact values to the neighbour with an odd last bit, so that a second rounding to 16
/// bits gives the same result as a single rounding.
#[inline]
pub fn single_to_odd(value: f64) -> f32 {
    let truncated = single_toward_zero(value);
    if f64::from(truncated) == value || value.is_nan() { truncated } else { f32::from_bits(truncated.to_bits() | 1) }
}

/// Computes `a * b + c` with one rounding, to nearest even.
///
/// Without a hardware instruction, `f32::mul_add` is a slow library function. Here the product is exact in 64 bits, and
/// so is the error of the sum (Knuth's two-sum). An inexact sum is replaced by the neighbour with an odd last bit, so
/// that narrowing rounds like the exact sum (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums").
#[inline]
pub fn fma_single(a: f32, b: f32, c: f32) -> f32 {
    let product = f64::from(a) * f64::from(b);
    let c = f64::from(c);
    let sum = product + c;
    let virtual_c = sum - product;
    let error = (product - (sum - virtual_c)) + (c - virtual_c);
    if error == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
        return sum as f32;
    }
    let away = (error > 0.0) == (sum > 0.0);
    f64::from_bits(if away { sum.to_bits() + 1 } else { sum.to_bits() - 1 }) as f32
}

/// Significand with its leading one at bit 125, and the exponent with value = significand * 2^exponent.
fn normalize(significand: u128, exponent: i32) -> (u128, i32) {
    let shift = significand.leading_zeros() as i32 - 2;
    if shift >= 0 { (significand << shift, exponent - shift) } else { (significand >> -shift, exponent - shift) }
}

/// Decomposes a finite value into sign, significand and exponent.
fn decompose(value: f64) -> (bool, u64, i32) {
    let bits = value.to_bits();
    let mantissa = bits & ((1 << 52) - 1);
    match (bits >> 52 & 0x7ff) as i32 {
        0 => (value.is_sign_negative(), mantissa, -1074),
        exponent => (value.is_sign_negative(), mantissa | 1 << 52, exponent - 1075),
    }
}

/// Computes significand * 2^exponent, rounded toward zero; the significand must not be zero.
fn compose(negative: bool, significand: u128, exponent: i32) -> f64 {
    let top = 127 - significand.leading_zeros() as i32;
    // Exponent of the last kept bit: 52 below the leading one, but not below the exponent of denormals.
    let last = (exponent + top - 52).max(-1074);
    let shift = last - exponent;
    let kept = match shift {
        128.. => 0,
        0.. => (significand >> shift) as u64,
        _ => (significand << -shift) as u64,
    };
    let bits = if last > 971 {
        f64::MAX.to_bits()
    } else if kept >> 52 == 0 {
        kept
    } else {
        ((last + 1074) as u64) * (1 << 52) + kept
    };
    f64::from_bits(bits | u64::from(negative) << 63)
}

/// Computes `a * b + c` with one rounding, toward zero.
///
/// The product is exact in 106 bits. The smaller summand is aligned, and its lost bits are collected in the lowest bit,
/// which is far below the last bit of the result.
pub fn fma_toward_zero(a: f64, b: f64, c: f64) -> f64 {
    if !(a.is_finite() && b.is_finite() && c.is_finite()) || a == 0.0 || b == 0.0 {
        return a.mul_add(b, c);
    }
    let (sign_a, significand_a, exponent_a) = decompose(a);
    let (sign_b, significand_b, exponent_b) = decompose(b);
    let sign = sign_a != sign_b;
    let product = normalize(u128::from(significand_a) * u128::from(significand_b), exponent_a + exponent_b);
    if c == 0.0 {
        return compose(sign, product.0, product.1);
    }
    let (sign_c, significand_c, exponent_c) = decompose(c);
    let summand = normalize(u128::from(significand_c), exponent_c);
    let ((sign_large, large), (sign_small, small)) = if (product.1, product.0) >= (summand.1, summand.0) {
        ((sign, product), (sign_c, summand))
    } else {
        ((sign_c, summand), (sign, product))
    };
    let distance = large.1 - small.1;
    let aligned = if distance > 126 {
        1
    } else {
        let kept = small.0 >> distance;
        kept | u128::from(kept << distance != small.0)
    };
    let sum = if sign_large == sign_small { large.0 + aligned } else { large.0 - aligned };
    if sum == 0 { 0.0 } else { compose(sign_large, sum, large.1) }
}

/// Computes `a * b`, rounded toward zero.
pub fn mul_toward_zero(a: f64, b: f64) -> f64 {
    // Adding zero must not lose the sign of a zero product.
    if a == 0.0 || b == 0.0 { a * b } else { fma_toward_zero(a, b, 0.0) }
}

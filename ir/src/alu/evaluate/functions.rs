//! Functions that the formulas of the table use.

use std::array;

use super::{mask, sign_extend};

#[inline]
pub(super) fn unordered<T: PartialOrd>(a: T, b: T) -> bool {
    a.partial_cmp(&b).is_none()
}

/// Sums the products, starting with the last one.
#[inline]
pub(super) fn dot<T, const N: usize>(a: [T; N], b: [T; N]) -> T
where
    T: Copy + Default + std::ops::Mul<Output = T> + std::ops::Add<Output = T>,
{
    let products = a.iter().zip(&b).rev().map(|(&a, &b)| a * b);
    products.reduce(|sum, product| sum + product).unwrap_or_default()
}

/// Remainder with the sign of the divisor; 0 if the divisor is 0.
#[inline]
pub(super) fn modulo(a: i64, b: i64) -> i64 {
    if b == 0 {
        return 0;
    }
    let remainder = a.wrapping_rem(b);
    if remainder == 0 || (a >= 0) == (b >= 0) { remainder } else { remainder + b }
}

/// The `index`-th group of `bits` bits; 0 if out of range.
#[inline]
pub(super) fn extract(value: u64, index: u64, bits: u32) -> u64 {
    let shift = index.saturating_mul(u64::from(bits));
    if shift < 64 { value >> shift & mask(bits) } else { 0 }
}

/// The `index`-th group of bits, sign-extended. Groups out of range consist of sign bits.
#[inline]
pub(super) fn extract_signed(value: i64, index: u64, bits: u32) -> i64 {
    let shift = index.saturating_mul(u64::from(bits)).min(63);
    sign_extend((value >> shift) as u64 & mask(bits), bits)
}

/// The low `bits` bits moved to the `index`-th group.
#[inline]
pub(super) fn insert(value: u64, index: u64, bits: u32) -> u64 {
    let shift = index.saturating_mul(u64::from(bits));
    if shift < 64 { (value & mask(bits)) << shift } else { 0 }
}

/// Bytes of a 32-bit word, lowest first.
#[inline]
pub(super) fn bytes(value: u64) -> [u64; 4] {
    array::from_fn(|i| value >> (8 * i) & 0xff)
}

/// Bytes of a 32-bit word, sign-extended.
#[inline]
pub(super) fn signed_bytes(value: u64) -> [i64; 4] {
    bytes(value).map(|byte| sign_extend(byte, 8))
}

/// Halves of a 32-bit word, lowest first.
#[inline]
pub(super) fn halves(value: u64) -> [u64; 2] {
    [value & 0xffff, value >> 16 & 0xffff]
}

/// Halves of a 32-bit word, sign-extended.
#[inline]
pub(super) fn signed_halves(value: u64) -> [i64; 2] {
    halves(value).map(|half| sign_extend(half, 16))
}

/// Concatenates the low `bits` bits of the parts, the first one lowest.
#[inline]
pub(super) fn pack<const N: usize>(parts: [u64; N], bits: u32) -> u64 {
    parts.iter().rev().fold(0, |word, part| word << bits | part & mask(bits))
}

#[inline]
pub(super) fn saturate_i32(value: i64) -> i64 {
    value.clamp(i32::MIN.into(), i32::MAX.into())
}

/// Sum with an unsigned 32-bit accumulator, which the table declares as signed.
#[inline]
pub(super) fn saturate_u32(sum: u64, accumulator: i64) -> i64 {
    (sum as i64 + i64::from(accumulator as u32)).min(u32::MAX.into())
}

/// Adds to `c` the absolute differences of the bytes of `a` and `b`, except where the byte of `a` is 0.
#[inline]
pub(super) fn masked_absolute_differences(a: u64, b: u64, c: u64) -> u64 {
    bytes(a).iter().zip(bytes(b)).filter(|&(&a, _)| a != 0).fold(c, |sum, (a, b)| sum + a.abs_diff(b))
}

/// The same at four byte offsets in a 64-bit window.
#[inline]
pub(super) fn quad_masked_absolute_differences(a: [u64; 1], b: [u64; 2], c: [u64; 4]) -> [u64; 4] {
    let window = b[1] << 32 | b[0];
    array::from_fn(|i| masked_absolute_differences(a[0], window >> (8 * i), c[i]))
}

/// Index of the highest set bit; -1 if no bit is set.
#[inline]
pub(super) fn find_msb(value: u64) -> i64 {
    63 - i64::from(value.leading_zeros())
}

/// Converts a bit index to count from the top of `bits` bits; -1 is kept.
#[inline]
pub(super) fn from_top(bit: i64, bits: u32) -> i64 {
    if bit < 0 { -1 } else { i64::from(bits) - 1 - bit }
}

/// Bits [offset, offset + width) of a 32-bit value, sign-extended; width 32 counts as 0, and a field that exceeds the
/// value is cut off at the top.
#[inline]
pub(super) fn bitfield_extract_sm5(value: i64, offset: u64, width: u64) -> i64 {
    let (offset, width) = (offset as u32 & 31, width as u32 & 31);
    let shifted = value >> offset;
    if offset + width < 32 || width == 0 { sign_extend(shifted as u64, width) } else { shifted }
}

/// Bits [offset, offset + width) of a 32-bit value; 0 if the field is not within the value.
#[inline]
pub(super) fn bitfield_extract(value: u64, offset: i64, width: i64) -> u64 {
    if width <= 0 || offset < 0 || offset + width > 32 { 0 } else { value >> offset & mask(width as u32) }
}

/// Replaces bits [offset, offset + width) of `base`; 0 if the field is not within the value.
#[inline]
pub(super) fn bitfield_insert(base: u64, insert: u64, offset: i64, width: i64) -> u64 {
    if width == 0 {
        base
    } else if offset < 0 || width < 0 || offset + width > 32 {
        0
    } else {
        let field = mask(width as u32) << offset;
        (base & !field) | (insert << offset & field)
    }
}

/// Coordinates on the cube face that a direction points to: s and t, twice the major axis, and the face.
pub(super) fn cube_coordinates([x, y, z]: [f32; 3]) -> [f32; 4] {
    if z.abs() >= x.abs() && z.abs() >= y.abs() {
        if z >= 0.0 { [-y, x, 2.0 * z, 4.0] } else { [-y, -x, 2.0 * z, 5.0] }
    } else if y.abs() >= x.abs() && y.abs() >= z.abs() {
        if y >= 0.0 { [z, x, 2.0 * y, 2.0] } else { [-z, x, 2.0 * y, 3.0] }
    } else if x.abs() >= y.abs() && x.abs() >= z.abs() {
        if x >= 0.0 { [-y, -z, 2.0 * x, 0.0] } else { [-y, z, 2.0 * x, 1.0] }
    } else {
        // With a NaN, no component is the largest.
        [0.0; 4]
    }
}

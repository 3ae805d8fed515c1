//! Types of operands: reads and writes of bits.

use super::{Context, mask, sign_extend};
use crate::alu::half;

/// A type of the table: conversion from and to bits.
pub(super) trait Number {
    /// The Rust type of the computation.
    type Value: Copy;
    /// Size if this is a float, otherwise 0.
    const FLOAT_SIZE: u8 = 0;
    fn read(bits: u64, context: &Context<'_>) -> Self::Value;
    fn write(value: Self::Value, context: &Context<'_>) -> u64;
}

/// Signed integer of `SIZE` bits; 0 for unsized.
pub(super) struct Int<const SIZE: u32>;

/// Unsigned integer of `SIZE` bits; 0 for unsized.
pub(super) struct Uint<const SIZE: u32>;

/// Boolean of `SIZE` bits; 0 for unsized.
pub(super) struct Bool<const SIZE: u32>;

/// 16-bit float, computed in 32 bits.
pub(super) struct F16;

/// 32-bit float.
pub(super) struct F32;

/// 64-bit float.
pub(super) struct F64;

/// Raw bits.
pub(super) struct Bits;

#[inline]
pub(super) fn size(fixed: u32, context: &Context<'_>) -> u32 {
    if fixed == 0 { context.bit_size } else { fixed }
}

impl<const SIZE: u32> Number for Int<SIZE> {
    type Value = i64;
    #[inline]
    fn read(bits: u64, context: &Context<'_>) -> i64 {
        sign_extend(bits, size(SIZE, context))
    }
    #[inline]
    fn write(value: i64, context: &Context<'_>) -> u64 {
        value as u64 & mask(size(SIZE, context))
    }
}

impl<const SIZE: u32> Number for Uint<SIZE> {
    type Value = u64;
    #[inline]
    fn read(bits: u64, context: &Context<'_>) -> u64 {
        bits & mask(size(SIZE, context))
    }
    #[inline]
    fn write(value: u64, context: &Context<'_>) -> u64 {
        value & mask(size(SIZE, context))
    }
}

impl<const SIZE: u32> Number for Bool<SIZE> {
    type Value = bool;
    #[inline]
    fn read(bits: u64, context: &Context<'_>) -> bool {
        bits & mask(size(SIZE, context)) != 0
    }
    #[inline]
    fn write(value: bool, context: &Context<'_>) -> u64 {
        if value { mask(size(SIZE, context)) } else { 0 }
    }
}

impl Number for F16 {
    type Value = f32;
    const FLOAT_SIZE: u8 = 16;
    #[inline]
    fn read(bits: u64, _: &Context<'_>) -> f32 {
        half::to_f32(bits as u16)
    }
    #[inline]
    fn write(value: f32, context: &Context<'_>) -> u64 {
        let bits = half::from_f64(value.into(), context.rtz);
        let flushed = context.flush && bits & 0x7c00 == 0;
        u64::from(if flushed { bits & 0x8000 } else { bits })
    }
}

impl Number for F32 {
    type Value = f32;
    const FLOAT_SIZE: u8 = 32;
    #[inline]
    fn read(bits: u64, _: &Context<'_>) -> f32 {
        f32::from_bits(bits as u32)
    }
    #[inline]
    fn write(value: f32, context: &Context<'_>) -> u64 {
        let flushed = context.flush && value.is_subnormal();
        u64::from(if flushed { value.to_bits() & 0x8000_0000 } else { value.to_bits() })
    }
}

impl Number for F64 {
    type Value = f64;
    const FLOAT_SIZE: u8 = 64;
    #[inline]
    fn read(bits: u64, _: &Context<'_>) -> f64 {
        f64::from_bits(bits)
    }
    #[inline]
    fn write(value: f64, context: &Context<'_>) -> u64 {
        let flushed = context.flush && value.is_subnormal();
        if flushed { value.to_bits() & 1 << 63 } else { value.to_bits() }
    }
}

impl Number for Bits {
    type Value = u64;
    #[inline]
    fn read(bits: u64, _: &Context<'_>) -> u64 {
        bits
    }
    #[inline]
    fn write(value: u64, context: &Context<'_>) -> u64 {
        value & mask(context.bit_size)
    }
}

/// Smallest normal 16-bit float.
pub(super) const HALF_MIN_NORMAL: f32 = 1.0 / 16384.0;

//! Integers of 8, 16, 32 and 64 bits.

use crate::isa::Width;
use crate::isa::alu::{Extension, Narrow};

use super::registers::ones;

/// Returns the signed value of bits.
pub(super) fn signed(bits: u64, width: Width) -> i128 {
    let unused = 64 - width.bits();
    i128::from((bits << unused) as i64 >> unused)
}

/// The range of integers.
pub(super) fn range(width: Width, is_signed: bool) -> (i128, i128) {
    let all = i128::from(ones(width));
    if is_signed { (-(all >> 1) - 1, all >> 1) } else { (0, all) }
}

/// Returns the nearest value in the range of the width.
pub(super) fn saturate(value: i128, width: Width, is_signed: bool) -> u64 {
    let (lowest, highest) = range(width, is_signed);
    value.clamp(lowest, highest) as u64 & ones(width)
}

/// Expands bits to twice their width.
pub(super) fn extend(bits: u64, width: Width, extension: Extension) -> u64 {
    match extension {
        Extension::Signed => signed(bits, width) as u64 & (u64::MAX >> (64 - 2 * width.bits())),
        Extension::Zero => bits,
        Extension::Replicate => bits | bits << width.bits(),
        Extension::ShiftLeft => bits << width.bits(),
    }
}

/// Converts bits to half of their width.
pub(super) fn narrow(bits: u64, width: Width, is_signed: bool, narrow: Narrow) -> u64 {
    let Some(half) = width.half() else { return bits };
    let value = if is_signed { signed(bits, width) } else { i128::from(bits) };
    match narrow {
        Narrow::SignedSaturate => saturate(value, half, true),
        Narrow::UnsignedSaturate => saturate(value, half, false),
        Narrow::Low => bits & ones(half),
        Narrow::High => bits >> half.bits(),
    }
}

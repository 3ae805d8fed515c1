//! 16-bit floats.

/// Rounds to the nearest 16-bit float, ties to even. NaN remains NaN.
pub(super) fn from_float(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = (bits >> 16) as u16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    let half = if magnitude > 0x7f80_0000 {
        0x7e00
    } else if magnitude >= 0x477f_f000 {
        // 65520 and above round to infinity.
        0x7c00
    } else if magnitude < 0x3880_0000 {
        // Below 2^-14: multiples of 2^-24. The product is exact.
        (f32::from_bits(magnitude) * 16_777_216.0).round_ties_even() as u32
    } else {
        let rebiased = magnitude - 0x3800_0000;
        (rebiased + 0xfff + (rebiased >> 13 & 1)) >> 13
    };
    sign | half as u16
}

/// Converts a 16-bit float, exactly.
pub(super) fn to_float(half: u16) -> f32 {
    let sign = u32::from(half & 0x8000) << 16;
    let magnitude = u32::from(half & 0x7fff);
    let bits = if magnitude >= 0x7c00 {
        0x7f80_0000 | (magnitude & 0x3ff) << 13
    } else if magnitude < 0x400 {
        (magnitude as f32 / 16_777_216.0).to_bits()
    } else {
        (magnitude << 13) + 0x3800_0000
    };
    f32::from_bits(sign | bits)
}

/// Rounds to a value of a 16-bit float.
pub(super) fn round(value: f32) -> f32 {
    to_float(from_float(value))
}

#[cfg(test)]
mod tests {
    use super::{from_float, to_float};

    #[test]
    fn every_half_survives() {
        for half in 0..=u16::MAX {
            let value = to_float(half);
            if value.is_nan() {
                assert!(to_float(from_float(value)).is_nan());
            } else {
                assert_eq!(from_float(value), half);
            }
        }
    }

    #[test]
    fn ties_round_to_even() {
        assert_eq!(from_float(1.0 + 1.0 / 2048.0), 0x3c00);
        assert_eq!(from_float(1.0 + 3.0 / 2048.0), 0x3c02);
        assert_eq!(from_float(65519.0), 0x7bff);
        assert_eq!(from_float(65520.0), 0x7c00);
        assert_eq!(from_float(-1e-9), 0x8000);
    }
}

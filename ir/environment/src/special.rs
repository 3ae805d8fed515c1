//! Edge-case numbers, for which operations differ or a replacement of an operation is likely to be wrong. They are
//! inputs of tests, of generated shaders and of checks that compare two executors.
//!
//! Each list holds every number once. Nothing depends on the order, and lists may grow.

/// 32-bit floats without [NaN](NANS).
pub const FLOATS: &[f32] = &[
    // Neutral and absorbing operands of both signs.
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    -2.0,
    0.5,
    -0.5,
    f32::INFINITY,
    f32::NEG_INFINITY,
    // Next to a half or an integer: the sum with 0.5 rounds to the next integer.
    0.499_999_97,
    -0.499_999_97,
    0.500_000_06,
    -0.500_000_06,
    0.999_999_94,
    -0.999_999_94,
    1.000_000_1,
    1.499_999_9,
    -1.500_000_1,
    // Halves between an even and an odd number, and between an odd and an even one.
    1.5,
    -1.5,
    2.5,
    -2.5,
    4_194_303.5,
    -4_194_304.5,
    8_388_607.5,
    -8_388_606.5,
    // Integers to which 0.5 cannot be added, and integers around the last one to which 1 can.
    4_194_305.0,
    8_388_608.0,
    8_388_609.0,
    -8_388_609.0,
    8_388_611.0,
    16_777_215.0,
    16_777_216.0,
    -16_777_216.0,
    16_777_218.0,
    // Small negative numbers: the fraction rounds to 1.
    -1e-10,
    -2.980_232_2e-8,
    1e-10,
    // Numbers that do not give 1 when multiplied by their rounded reciprocal, and multiples of them.
    41.0,
    -47.0,
    55.0,
    97.0,
    123.0,
    10_455.0,
    // Limits of 8-bit, 16-bit and 32-bit integers.
    127.0,
    128.0,
    255.0,
    65_535.0,
    65_536.0,
    2_147_483_520.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    -2_147_483_904.0,
    4_294_967_040.0,
    4_294_967_296.0,
    // Exponents at which powers of two become infinite, denormal or zero.
    -126.0,
    -127.0,
    -149.0,
    -150.5,
    // Denormals, and the limits of the range of normal numbers.
    f32::from_bits(1),
    f32::from_bits(0x8000_0001),
    f32::from_bits(0x007f_ffff),
    f32::from_bits(0x807f_ffff),
    f32::MIN_POSITIVE,
    -f32::MIN_POSITIVE,
    f32::MAX,
    f32::MIN,
    // Squares and products of these are out of range.
    1e20,
    -1e-20,
    // Out of the 16-bit float range, and between two 16-bit floats.
    65_519.996,
    65_520.0,
    6.103_515_6e-5,
    1.000_488_3,
    // Ordinary numbers.
    0.1,
    -0.75,
    core::f32::consts::PI,
];

/// 32-bit NaNs: quiet and signalling, of both signs, with and without a payload.
pub const NANS: &[u32] = &[0x7fc0_0000, 0xffc1_2345, 0x7f80_0001, 0xffff_ffff];

/// 32-bit integers.
pub const INTEGERS: &[u32] = &[
    // Neutral and absorbing operands, invalid divisors, and their neighbours.
    0,
    1,
    -1_i32 as u32,
    2,
    -2_i32 as u32,
    3,
    -3_i32 as u32,
    // Shift counts and bit-field widths.
    7,
    8,
    16,
    31,
    32,
    33,
    63,
    64,
    // Numbers that, as floats, do not give 1 when multiplied by their rounded reciprocal.
    41,
    -47_i32 as u32,
    55,
    97,
    123,
    // Limits of 8-bit and 16-bit integers.
    0x7f,
    0x80,
    0xff,
    0x100,
    0x7fff,
    0x8000,
    0xffff,
    0x1_0000,
    -0x80_i32 as u32,
    -0x8000_i32 as u32,
    // Around the first integers that a float cannot represent.
    0x7f_ffff,
    0x80_0001,
    0xff_ffff,
    0x100_0000,
    0x100_0001,
    -0x100_0001_i32 as u32,
    // Limits of signed and unsigned 32-bit integers.
    0x7fff_fffe,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    // Bit patterns.
    0x5555_5555,
    0xaaaa_aaaa,
    0x0f0f_0f0f,
    0x1234_5678,
    // Bits of floats.
    0x3f00_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x4f00_0000,
    0x7f80_0000,
];

/// 64-bit floats, with NaN.
pub const DOUBLES: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    2.0,
    0.5,
    -0.5,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    // Next to a half or an integer.
    0.499_999_999_999_999_94,
    -0.499_999_999_999_999_94,
    0.500_000_000_000_000_1,
    -0.500_000_000_000_000_1,
    0.999_999_999_999_999_9,
    1.000_000_000_000_000_2,
    // Halves, up to the largest ones.
    1.5,
    -1.5,
    2.5,
    -2.5,
    2_251_799_813_685_247.5,
    -4_503_599_627_370_495.5,
    4_503_599_627_370_494.5,
    // Integers to which 0.5 cannot be added, and integers around the last one to which 1 can.
    4_503_599_627_370_497.0,
    -4_503_599_627_370_497.0,
    9_007_199_254_740_991.0,
    9_007_199_254_740_992.0,
    -1e-20,
    // Numbers that do not give 1 when multiplied by their rounded reciprocal.
    49.0,
    -98.0,
    103.0,
    // Limits of integers.
    2_147_483_647.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    -2_147_483_649.0,
    4_294_967_295.0,
    4_294_967_296.0,
    9_223_372_036_854_774_784.0,
    9_223_372_036_854_775_808.0,
    -9_223_372_036_854_775_808.0,
    18_446_744_073_709_549_568.0,
    18_446_744_073_709_551_616.0,
    // Out of the 32-bit float range, or denormal there.
    1e40,
    -1e-40,
    f32::MAX as f64,
    // Denormals, and the limits of the range of normal numbers.
    f64::from_bits(1),
    f64::from_bits(0x800f_ffff_ffff_ffff),
    f64::MIN_POSITIVE,
    f64::MAX,
    f64::MIN,
    0.1,
    core::f64::consts::PI,
];

/// Returns the special 32-bit word (float, NaN or integer) with this number, which wraps around.
pub fn word(number: usize) -> u32 {
    let number = number % (FLOATS.len() + NANS.len() + INTEGERS.len());
    if let Some(float) = FLOATS.get(number) {
        return float.to_bits();
    }
    let number = number - FLOATS.len();
    NANS.get(number).copied().unwrap_or_else(|| INTEGERS[number - NANS.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_listed_once() {
        let distinct = |mut bits: Vec<u64>| {
            let count = bits.len();
            bits.sort_unstable();
            bits.dedup();
            bits.len() == count
        };
        assert!(distinct(FLOATS.iter().map(|value| value.to_bits().into()).collect()));
        assert!(distinct(INTEGERS.iter().map(|&value| value.into()).collect()));
        assert!(distinct(DOUBLES.iter().map(|value| value.to_bits()).collect()));
        assert!(NANS.iter().all(|&bits| f32::from_bits(bits).is_nan()) && FLOATS.iter().all(|value| !value.is_nan()));
    }

    /// Checks the properties that the comments of the lists state.
    #[test]
    fn numbers_are_what_they_are_listed_for() {
        assert!([41.0f32, 47.0, 55.0, 97.0, 123.0].iter().any(|&n| n * (1.0 / n) < 1.0));
        assert!([49.0f64, 98.0, 103.0].iter().all(|&n| n * (1.0 / n) < 1.0));
        assert_eq!(0.499_999_97f32 + 0.5, 1.0);
        assert_eq!(8_388_609.0f32 + 0.5, 8_388_610.0);
        assert_eq!(-1e-10f32 - (-1e-10f32).floor(), 1.0);
    }
}

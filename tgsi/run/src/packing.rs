//! The opcodes that pack small numbers into a word and unpack them.

use super::kernel::{Kernel, f};
use tgsi::tables::Opcode;

/// Converts a float to a half float: rounds to nearest, ties to even; NaN stays NaN.
pub(super) fn float_to_half(bits: u32) -> u32 {
    let sign = bits >> 16 & 0x8000;
    let magnitude = bits & 0x7fff_ffff;
    let half = if magnitude > 0x7f80_0000 {
        0x7e00 | magnitude >> 13 & 0x1ff
    } else if magnitude >= 0x477f_f000 {
        // 65520 and above round to infinity.
        0x7c00
    } else if magnitude < 0x3880_0000 {
        // Below 2^-14: multiples of 2^-24. The product is exact.
        (f(magnitude) * 16_777_216.0).round_ties_even() as u32
    } else {
        // Rebias the exponent. Adding half a unit minus one, plus one if odd, rounds ties to even when the low bits are
        // dropped.
        let rebiased = magnitude - 0x3800_0000;
        (rebiased + 0xfff + (rebiased >> 13 & 1)) >> 13
    };
    sign | half
}

/// Converts the half float in the low 16 bits to a float, exactly. Does not use the crate `half`, because that quiets
/// signalling NaNs, the bits of which must be kept.
pub(super) fn half_to_float(half: u32) -> u32 {
    let sign = (half & 0x8000) << 16;
    let magnitude = half & 0x7fff;
    let bits = if magnitude >= 0x7c00 {
        0x7f80_0000 | (magnitude & 0x3ff) << 13
    } else if magnitude < 0x400 {
        (magnitude as f32 * (1.0 / 16_777_216.0)).to_bits()
    } else {
        (magnitude << 13) + 0x3800_0000
    };
    sign | bits
}

fn unorm(value: f32, max: f32) -> u32 {
    // NaN gives 0: the conversion saturates it.
    (value.clamp(0.0, 1.0) * max).round_ties_even() as u32
}

fn snorm8(value: f32) -> u32 {
    (value.clamp(-1.0, 1.0) * 127.0).round_ties_even() as i8 as u8 as u32
}

fn snorm8_to_float(byte: u32) -> f32 {
    // Both -128 and -127 represent -1.
    (f32::from(byte as u8 as i8) / 127.0).max(-1.0)
}

pub(super) fn execute(kernel: Kernel<'_>, opcode: Opcode) -> u8 {
    let byte = |word: u32, channel: usize| word >> (8 * channel) & 0xff;
    match opcode {
        Opcode::Pk2h => {
            kernel.replicate(|k, lane| float_to_half(k.word(0, 0, lane)) | float_to_half(k.word(0, 1, lane)) << 16)
        }
        Opcode::Pk2us => {
            kernel.replicate(|k, lane| unorm(k.float(0, 0, lane), 65535.0) | unorm(k.float(0, 1, lane), 65535.0) << 16)
        }
        Opcode::Pk4b => {
            kernel.replicate(|k, lane| (0..4).fold(0, |word, c| word | snorm8(k.float(0, c, lane)) << (8 * c)))
        }
        Opcode::Pk4ub => {
            kernel.replicate(|k, lane| (0..4).fold(0, |word, c| word | unorm(k.float(0, c, lane), 255.0) << (8 * c)))
        }
        Opcode::Up2h => kernel.vector(|k, lane| {
            let word = k.word(0, 0, lane);
            let (low, high) = (half_to_float(word & 0xffff), half_to_float(word >> 16));
            [low, high, low, high]
        }),
        Opcode::Up2us => kernel.vector(|k, lane| {
            let word = k.word(0, 0, lane);
            let (low, high) = ((word & 0xffff) as f32 / 65535.0, (word >> 16) as f32 / 65535.0);
            [low, high, low, high].map(f32::to_bits)
        }),
        Opcode::Up4b => kernel.vector(|k, lane| {
            let word = k.word(0, 0, lane);
            std::array::from_fn(|channel| snorm8_to_float(byte(word, channel)).to_bits())
        }),
        Opcode::Up4ub => kernel.vector(|k, lane| {
            let word = k.word(0, 0, lane);
            std::array::from_fn(|channel| (byte(word, channel) as f32 / 255.0).to_bits())
        }),
        // All other opcodes have another class.
        other => {
            other.lacks_code();
            0
        }
    }
}

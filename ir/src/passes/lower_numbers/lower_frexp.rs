//! Extracts fractions and exponents of floats from their bits, for targets without `frexp_sig` and `frexp_exp`
//! ([`lower_frexp`](CompilerOptions::lower_frexp)).
//!
//! ```text
//! 32 %2 = frexp_exp %1     =>     32 %3 = iand %1, 0x7fffffff
//!                                 32 %4 = ushr %3, 23
//!                                 32 %5 = iadd %4, -126          (0 for zeros, infinities and NaN)
//! ```
//!
//! Handles floats of all sizes. Denormals are scaled to normal numbers first, which is exact. The fraction of a zero,
//! an infinity or NaN is the number itself.
//!
//! Cost: linear.

use crate::alu::AluOp;
use crate::entities::Def;
use crate::options::CompilerOptions;
use crate::passes::lower_numbers::arithmetic::{Arithmetic, replace_alu};
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_frexp(shader: &mut Shader, options: &CompilerOptions) -> bool {
    if !options.lower_frexp && !options.lower_frexp_32 {
        return false;
    }
    replace_alu(shader, |op, m| {
        if !matches!(op, AluOp::FrexpExp | AluOp::FrexpSig) {
            return None;
        }
        let value = m.source(0);
        (options.lower_frexp || m.bits(value) < 64).then(|| {
            m.exact();
            let layout = Layout::of(m.bits(value));
            if op == AluOp::FrexpExp { exponent(m, value, layout) } else { fraction(m, value, layout) }
        })
    })
}

/// The layout of a float in the word that contains its exponent: the float itself, or the upper half of a 64-bit float.
#[derive(Clone, Copy)]
struct Layout {
    float_bits: u8,
    /// Size of the word.
    word_bits: u8,
    /// Bits of the mantissa in the word.
    mantissa: u32,
    bias: u64,
    /// The exponent of a power of two that makes every denormal a normal number, and that power as a float.
    scale: (u64, u64),
}

impl Layout {
    const fn of(float_bits: u8) -> Layout {
        match float_bits {
            16 => Layout { float_bits, word_bits: 16, mantissa: 10, bias: 15, scale: (11, 26 << 10) },
            32 => Layout { float_bits, word_bits: 32, mantissa: 23, bias: 127, scale: (24, 151 << 23) },
            _ => Layout { float_bits, word_bits: 32, mantissa: 20, bias: 1023, scale: (54, 1077 << 52) },
        }
    }

    const fn sign(self) -> u64 {
        1 << (self.word_bits - 1)
    }

    /// Returns the bits of the exponent in place.
    const fn exponent_mask(self) -> u64 {
        (2 * self.bias + 1) << self.mantissa
    }
}

/// The parts that both opcodes need.
struct FrexpParts {
    /// The number, scaled to a normal one if it is finite and not 0.
    normal: Def,
    /// The word with its exponent.
    word: Def,
    /// Whether it was denormal.
    is_denormal: Def,
    /// Whether it is a zero, an infinity or NaN.
    is_special: Def,
}

fn take_apart(m: &mut Arithmetic<'_>, value: Def, layout: Layout) -> FrexpParts {
    let word = |m: &mut Arithmetic<'_>, value: Def| {
        if layout.float_bits == 64 { m.op(AluOp::Unpack642x32SplitY, &[value]) } else { value }
    };
    let original = word(m, value);
    let magnitude = m.iand_imm(original, layout.sign() - 1);
    let least = m.constant(layout.word_bits, 1 << layout.mantissa);
    let is_denormal = m.ult(magnitude, least);
    let infinity = m.constant(layout.word_bits, layout.exponent_mask());
    let is_infinite = m.uge(magnitude, infinity);
    let zero = m.constant(layout.float_bits, 0);
    let is_zero = m.feq(value, zero);
    let is_special = m.ior(is_infinite, is_zero);
    let scale = m.constant(layout.float_bits, layout.scale.1);
    let scaled = m.fmul(value, scale);
    let normal = m.bcsel(is_denormal, scaled, value);
    FrexpParts { normal, word: word(m, normal), is_denormal, is_special }
}

fn exponent(m: &mut Arithmetic<'_>, value: Def, layout: Layout) -> Def {
    let parts = take_apart(m, value, layout);
    let magnitude = m.iand_imm(parts.word, layout.sign() - 1);
    let biased = m.ushr_imm(magnitude, layout.mantissa);
    let biased = if layout.word_bits == 32 { biased } else { m.op(AluOp::U2u32, &[biased]) };
    // A fraction is in [0.5, 1): one less than the bias.
    let (plain, scaled) = (layout.bias - 1, layout.bias - 1 + layout.scale.0);
    let (plain, scaled) = (m.constant(32, plain), m.constant(32, scaled));
    let bias = m.bcsel(parts.is_denormal, scaled, plain);
    let exponent = m.isub(biased, bias);
    m.zero_if(parts.is_special, exponent)
}

fn fraction(m: &mut Arithmetic<'_>, value: Def, layout: Layout) -> Def {
    let parts = take_apart(m, value, layout);
    let rest = m.iand_imm(parts.word, !layout.exponent_mask());
    let half = m.constant(layout.word_bits, (layout.bias - 1) << layout.mantissa);
    let word = m.ior(rest, half);
    let fraction = if layout.float_bits == 64 {
        let low = m.op(AluOp::Unpack642x32SplitX, &[parts.normal]);
        m.op(AluOp::Pack642x32Split, &[low, word])
    } else {
        word
    };
    m.bcsel(parts.is_special, value, fraction)
}

//! Constants in instructions.

use super::bits::enumeration;

enumeration! {
    /// The type of an immediate.
    ImmediateType {
        Ud = 0 "UD" "Unsigned, 32 bits.";
        D = 1 "D" "Signed, 32 bits.";
        Uw = 2 "UW" "Unsigned, 16 bits.";
        W = 3 "W" "Signed, 16 bits.";
        Uv = 4 "UV" "Eight unsigned numbers of 4 bits.";
        Vf = 5 "VF" "Four floats of 8 bits.";
        V = 6 "V" "Eight signed numbers of 4 bits.";
        F = 7 "F" "Floating-point, 32 bits.";
    }
}

/// A constant in the instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Immediate {
    /// Unsigned, 32 bits.
    Ud(u32),
    /// Signed, 32 bits.
    D(i32),
    /// Unsigned, 16 bits.
    Uw(u16),
    /// Signed, 16 bits.
    W(i16),
    /// Eight unsigned numbers of 4 bits, the first one lowest.
    Uv(u32),
    /// Four floats of 8 bits, the first one lowest: sign, three bits of exponent with bias 3, four bits of fraction.
    Vf(u32),
    /// Eight signed numbers of 4 bits, the first one lowest.
    V(u32),
    /// The bits of a float of 32 bits.
    F(u32),
    /// The bits of a float of 64 bits, in `dim` only, where its type is F.
    Dim(u64),
}

impl Immediate {
    /// A float of 32 bits.
    pub fn float(value: f32) -> Immediate {
        Immediate::F(value.to_bits())
    }

    /// Four floats of 8 bits, or `None` if one of them has no such form.
    pub fn vector(values: [f32; 4]) -> Option<Immediate> {
        let mut bits = 0;
        for value in values.into_iter().rev() {
            bits = bits << 8 | u32::from(restricted_float(value)?);
        }
        Some(Immediate::Vf(bits))
    }

    /// The type.
    pub fn ty(self) -> ImmediateType {
        match self {
            Immediate::Ud(_) => ImmediateType::Ud,
            Immediate::D(_) => ImmediateType::D,
            Immediate::Uw(_) => ImmediateType::Uw,
            Immediate::W(_) => ImmediateType::W,
            Immediate::Uv(_) => ImmediateType::Uv,
            Immediate::Vf(_) => ImmediateType::Vf,
            Immediate::V(_) => ImmediateType::V,
            Immediate::F(_) | Immediate::Dim(_) => ImmediateType::F,
        }
    }

    /// The last word of the instruction; numbers of 16 bits are in both halves. Of `dim` the upper half.
    pub fn word(self) -> u32 {
        let both = |half: u16| u32::from(half) << 16 | u32::from(half);
        match self {
            Immediate::Ud(bits)
            | Immediate::Uv(bits)
            | Immediate::Vf(bits)
            | Immediate::V(bits)
            | Immediate::F(bits) => bits,
            Immediate::D(value) => value as u32,
            Immediate::Uw(value) => both(value),
            Immediate::W(value) => both(value as u16),
            Immediate::Dim(bits) => (bits >> 32) as u32,
        }
    }

    /// Returns the immediate of a word, or `None` for a number of 16 bits with different halves.
    pub fn from_word(ty: ImmediateType, word: u32) -> Option<Immediate> {
        let half = || (word >> 16 == word & 0xffff).then_some(word as u16);
        Some(match ty {
            ImmediateType::Ud => Immediate::Ud(word),
            ImmediateType::D => Immediate::D(word as i32),
            ImmediateType::Uw => Immediate::Uw(half()?),
            ImmediateType::W => Immediate::W(half()? as i16),
            ImmediateType::Uv => Immediate::Uv(word),
            ImmediateType::Vf => Immediate::Vf(word),
            ImmediateType::V => Immediate::V(word),
            ImmediateType::F => Immediate::F(word),
        })
    }
}

/// Returns the float of 8 bits (see [`Immediate::Vf`]) with a value, if there is one.
pub fn restricted_float(value: f32) -> Option<u8> {
    let bits = value.to_bits();
    let sign = (bits >> 24) as u8 & 0x80;
    if value == 0.0 {
        return Some(sign);
    }
    let exponent = (bits >> 23 & 0xff).checked_sub(127 - 3)?;
    let small = (exponent << 4 | bits >> 19 & 15) as u8;
    // The code of 0.125 is that of zero.
    (bits & 0x7_ffff == 0 && exponent < 8 && small != 0).then_some(sign | small)
}

/// The value of a float of 8 bits (see [`Immediate::Vf`]).
pub fn expand_restricted_float(bits: u8) -> f32 {
    let sign = u32::from(bits & 0x80) << 24;
    let magnitude = u32::from(bits & 0x7f);
    f32::from_bits(if magnitude == 0 { sign } else { sign | ((magnitude << 19) + ((127 - 3) << 23)) })
}

//! Pixel formats with the names of Vulkan, and their texels.
//!
//! A texel is four words: red, green, blue, alpha, as floats or integers. A depth is in red. Missing components are
//! zero, a missing alpha is one.

use half::f16;
use tgsi_driver_cpu::sampler::Format;

/// Formats of the built-in sampler by name.
const SAMPLED: &[(&str, Format)] = &[
    ("R8_UNORM", Format::R8Unorm),
    ("R8G8_UNORM", Format::Rg8Unorm),
    ("R8G8B8A8_UNORM", Format::Rgba8Unorm),
    ("B8G8R8A8_UNORM", Format::Bgra8Unorm),
    ("R8_SNORM", Format::R8Snorm),
    ("R8G8_SNORM", Format::Rg8Snorm),
    ("R8G8B8A8_SNORM", Format::Rgba8Snorm),
    ("R8G8B8A8_SRGB", Format::Rgba8Srgb),
    ("B8G8R8A8_SRGB", Format::Bgra8Srgb),
    ("R8G8B8A8_UINT", Format::Rgba8Uint),
    ("R8G8B8A8_SINT", Format::Rgba8Sint),
    ("R16_SFLOAT", Format::R16Float),
    ("R16G16_SFLOAT", Format::Rg16Float),
    ("R16G16B16A16_SFLOAT", Format::Rgba16Float),
    ("R32_SFLOAT", Format::R32Float),
    ("R32G32_SFLOAT", Format::Rg32Float),
    ("R32G32B32A32_SFLOAT", Format::Rgba32Float),
    ("R32_SINT", Format::R32Int),
    ("R32_UINT", Format::R32Int),
    ("R32G32_SINT", Format::Rg32Int),
    ("R32G32_UINT", Format::Rg32Int),
    ("R32G32B32A32_SINT", Format::Rgba32Int),
    ("R32G32B32A32_UINT", Format::Rgba32Int),
    ("B10G11R11_UFLOAT_PACK32", Format::R11G11B10Float),
    ("A2B10G10R10_UNORM_PACK32", Format::Rgb10A2Unorm),
    ("R5G6B5_UNORM_PACK16", Format::Rgb565Unorm),
    ("D16_UNORM", Format::D16Unorm),
    ("D32_SFLOAT", Format::D32Float),
];

/// The meaning of the bits of a number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Encoding {
    /// From 0 to 1.
    Unorm,
    /// From -1 to 1.
    Snorm,
    /// An integer, read as a float.
    Uscaled,
    /// A signed integer, read as a float.
    Sscaled,
    /// An integer.
    Uint,
    /// A signed integer.
    Sint,
    /// From 0 to 1 on the curve of sRGB.
    Srgb,
    /// A float without sign.
    Ufloat,
    /// A float.
    Sfloat,
}

impl Encoding {
    const NAMES: &[(&str, Encoding)] = &[
        ("UNORM", Encoding::Unorm),
        ("SNORM", Encoding::Snorm),
        ("USCALED", Encoding::Uscaled),
        ("SSCALED", Encoding::Sscaled),
        ("UINT", Encoding::Uint),
        ("SINT", Encoding::Sint),
        ("SRGB", Encoding::Srgb),
        ("UFLOAT", Encoding::Ufloat),
        ("SFLOAT", Encoding::Sfloat),
    ];

    /// Whether numbers of scripts are floats.
    pub fn is_float(self) -> bool {
        matches!(self, Encoding::Ufloat | Encoding::Sfloat)
    }

    /// Whether numbers of scripts are signed integers.
    pub fn is_signed(self) -> bool {
        matches!(self, Encoding::Snorm | Encoding::Sscaled | Encoding::Sint)
    }

    /// Whether shaders see integers.
    pub fn is_integer(self) -> bool {
        matches!(self, Encoding::Uint | Encoding::Sint)
    }
}

/// The component of a texel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Channel {
    Red,
    Green,
    Blue,
    Alpha,
    Depth,
    Stencil,
    Unused,
}

impl Channel {
    fn of_letter(letter: char) -> Option<Channel> {
        Some(match letter {
            'R' => Channel::Red,
            'G' => Channel::Green,
            'B' => Channel::Blue,
            'A' => Channel::Alpha,
            'D' => Channel::Depth,
            'S' => Channel::Stencil,
            'X' => Channel::Unused,
            _ => return None,
        })
    }

    /// The word of a texel that holds it.
    fn word(self) -> Option<usize> {
        match self {
            Channel::Red | Channel::Depth => Some(0),
            Channel::Green => Some(1),
            Channel::Blue => Some(2),
            Channel::Alpha => Some(3),
            Channel::Stencil | Channel::Unused => None,
        }
    }
}

/// A part of a texel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Part {
    /// The component.
    pub channel: Channel,
    /// The meaning of its bits.
    pub encoding: Encoding,
    /// The first bit, from the lowest of the first byte on.
    pub offset: u32,
    /// Number of bits.
    pub bits: u32,
}

/// A pixel format.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PixelFormat {
    /// The parts, in the order of the name.
    pub parts: Vec<Part>,
    /// Bytes of a texel.
    pub bytes: usize,
    /// Whether a texel is one number, which scripts write as an integer.
    pub is_packed: bool,
}

/// Most parts of a format, and most bits of one.
const MAX_PARTS: usize = 4;
const MAX_BITS: u32 = 64;

impl PixelFormat {
    /// The format with this name: `R8G8B8A8_UNORM`.
    pub fn from_name(name: &str) -> Option<PixelFormat> {
        let mut parts: Vec<(Channel, Option<Encoding>, u32)> = Vec::new();
        let mut packed = None;
        for chunk in name.split('_') {
            if let Some((_, encoding)) = Encoding::NAMES.iter().find(|(name, _)| *name == chunk) {
                parts.iter_mut().for_each(|(_, of, _)| *of = of.or(Some(*encoding)));
            } else if let Some(bits) = chunk.strip_prefix("PACK") {
                packed = Some(bits.parse::<u32>().ok().filter(|bits| [8, 16, 32].contains(bits))?);
            } else {
                let mut rest = chunk;
                while let Some(letter) = rest.chars().next() {
                    let digits = rest.get(1..)?;
                    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
                    let bits = digits.get(..end)?.parse().ok().filter(|bits| (1..=MAX_BITS).contains(bits))?;
                    parts.push((Channel::of_letter(letter)?, None, bits));
                    rest = digits.get(end..)?;
                }
            }
        }
        let total: u32 = parts.iter().map(|(.., bits)| bits).sum();
        if parts.is_empty() || parts.len() > MAX_PARTS || packed.is_some_and(|packed| packed != total) {
            return None;
        }
        let mut offset = 0;
        let mut all = Vec::with_capacity(parts.len());
        for (channel, encoding, bits) in parts {
            // A padding has no encoding, and the first part of a packed format has the highest bits.
            let encoding = encoding.or((channel == Channel::Unused).then_some(Encoding::Uint))?;
            let first = if packed.is_some() { total - offset - bits } else { offset };
            all.push(Part { channel, encoding, offset: first, bits });
            offset += bits;
        }
        Some(PixelFormat { parts: all, bytes: total.div_ceil(8) as usize, is_packed: packed.is_some() })
    }

    /// A format of one to four numbers with the same encoding and size.
    pub fn of_numbers(encoding: Encoding, bits: u32, count: usize) -> PixelFormat {
        let channels = [Channel::Red, Channel::Green, Channel::Blue, Channel::Alpha];
        let parts = (0..).zip(channels).take(count);
        let parts = parts.map(|(at, channel)| Part { channel, encoding, offset: at * bits, bits }).collect();
        PixelFormat { parts, bytes: (count.min(MAX_PARTS) * bits as usize).div_ceil(8), is_packed: false }
    }

    /// The same format of the built-in sampler.
    pub fn sampled(&self) -> Option<Format> {
        let is_same = |name: &str| PixelFormat::from_name(name).as_ref() == Some(self);
        SAMPLED.iter().find_map(|&(name, format)| is_same(name).then_some(format))
    }

    /// The format of texels of the built-in sampler. Integers of 32 bits are signed.
    pub fn of_sampled(format: Format) -> Option<PixelFormat> {
        let (name, _) = SAMPLED.iter().find(|&&(_, sampled)| sampled == format)?;
        PixelFormat::from_name(name)
    }

    /// Whether shaders see integers.
    pub fn is_integer(&self) -> bool {
        self.parts.iter().any(|part| part.encoding.is_integer() && part.channel.word().is_some())
    }

    /// Whether it has a depth.
    pub fn has_depth(&self) -> bool {
        self.parts.iter().any(|part| part.channel == Channel::Depth)
    }

    /// Returns the part with a component.
    pub fn part(&self, channel: Channel) -> Option<&Part> {
        self.parts.iter().find(|part| part.channel == channel)
    }

    /// Returns the words of a texel.
    pub fn decode(&self, texel: &[u8]) -> [u32; 4] {
        let one = if self.is_integer() { 1 } else { 1f32.to_bits() };
        let mut words = [0, 0, 0, one];
        for part in &self.parts {
            if let Some(word) = part.channel.word() {
                words[word] = part.decode(bits(texel, part.offset, part.bits));
            }
        }
        words
    }

    /// Writes the words of a texel. Parts that texels lack keep their bits.
    pub fn encode(&self, words: [u32; 4], texel: &mut [u8]) {
        for part in &self.parts {
            if let Some(word) = part.channel.word() {
                set_bits(texel, part.offset, part.bits, part.encode(words[word]));
            }
        }
    }

    /// Returns the values that scripts compare, by component: normalised ones as fractions.
    pub fn values(&self, texel: &[u8]) -> [Option<f64>; 4] {
        let mut values = [None; 4];
        for part in &self.parts {
            if let Some(word) = part.channel.word() {
                values[word] = Some(part.value(bits(texel, part.offset, part.bits)));
            }
        }
        values
    }
}

impl Part {
    /// Returns the value of its bits: of normalised ones as a fraction.
    fn value(&self, bits: u64) -> f64 {
        let highest = (1u64 << (self.bits - 1).min(62)) as f64;
        match self.encoding {
            Encoding::Unorm => bits as f64 / (2.0 * highest - 1.0),
            Encoding::Snorm => (sign_extended(bits, self.bits) as f64 / (highest - 1.0)).max(-1.0),
            Encoding::Srgb if self.channel == Channel::Alpha => bits as f64 / (2.0 * highest - 1.0),
            Encoding::Srgb => linear_of_srgb(bits as f64 / (2.0 * highest - 1.0)),
            Encoding::Uint | Encoding::Uscaled => bits as f64,
            Encoding::Sint | Encoding::Sscaled => sign_extended(bits, self.bits) as f64,
            Encoding::Ufloat | Encoding::Sfloat => float(bits, self.bits),
        }
    }

    /// Returns the word that a shader reads.
    fn decode(&self, bits: u64) -> u32 {
        match self.encoding {
            Encoding::Uint => bits as u32,
            Encoding::Sint => sign_extended(bits, self.bits) as u32,
            _ => (self.value(bits) as f32).to_bits(),
        }
    }

    /// Returns the bits for a word that a shader writes. NaN is 0 in formats without it.
    fn encode(&self, word: u32) -> u64 {
        let number = f64::from(f32::from_bits(word));
        let highest = (1u64 << (self.bits - 1).min(62)) as f64;
        let unorm = |value: f64| (value.clamp(0.0, 1.0) * (2.0 * highest - 1.0)).round() as u64;
        match self.encoding {
            Encoding::Unorm => unorm(number),
            Encoding::Srgb if self.channel == Channel::Alpha => unorm(number),
            Encoding::Srgb => unorm(srgb_of_linear(number.clamp(0.0, 1.0))),
            Encoding::Snorm => (number.clamp(-1.0, 1.0) * (highest - 1.0)).round() as i64 as u64,
            Encoding::Uscaled => number.clamp(0.0, 2.0 * highest - 1.0) as u64,
            Encoding::Sscaled => number.clamp(-highest, highest - 1.0) as i64 as u64,
            Encoding::Uint => word.into(),
            Encoding::Sint => i64::from(word as i32) as u64,
            Encoding::Ufloat | Encoding::Sfloat => float_bits(number, self.bits),
        }
    }
}

/// The value of an encoded sRGB component.
fn linear_of_srgb(value: f64) -> f64 {
    if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

fn srgb_of_linear(value: f64) -> f64 {
    if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 }
}

/// The signed integer with these bits.
pub fn sign_extended(value: u64, bits: u32) -> i64 {
    let shift = 64 - bits.clamp(1, 64);
    (value << shift) as i64 >> shift
}

/// The float with these bits: 64, 32, 16, or 11 or 10 without sign.
pub fn float(value: u64, bits: u32) -> f64 {
    match bits {
        64 => f64::from_bits(value),
        32 => f32::from_bits(value as u32).into(),
        // Both are halves without sign and with a shorter mantissa.
        11 => f16::from_bits((value as u16 & 0x7ff) << 4).to_f64(),
        10 => f16::from_bits((value as u16 & 0x3ff) << 5).to_f64(),
        _ => f16::from_bits(value as u16).to_f64(),
    }
}

/// The bits of a float.
pub fn float_bits(value: f64, bits: u32) -> u64 {
    match bits {
        64 => value.to_bits(),
        32 => (value as f32).to_bits().into(),
        10 | 11 => {
            let shift = 15 - bits;
            // Negative numbers, infinity too, are zero; NaN has no sign.
            if value < 0.0 {
                return 0;
            }
            let half = u64::from(f16::from_f64(value).to_bits() & 0x7fff);
            let (infinity, quiet) = (0x7c00, 0x200);
            match half {
                _ if half > infinity => (infinity | quiet) >> shift,
                _ if half == infinity => infinity >> shift,
                // To the nearest, and to the even one of two.
                _ => (half + (1 << (shift - 1)) - 1 + (half >> shift & 1)) >> shift,
            }
        }
        _ => f16::from_f64(value).to_bits().into(),
    }
}

/// Bits of a row of bytes, the lowest first; missing ones are zero.
pub fn bits(bytes: &[u8], offset: u32, count: u32) -> u64 {
    let first = (offset / 8) as usize;
    let mut all = 0u128;
    for (at, byte) in bytes.iter().skip(first).take(9).enumerate() {
        all |= u128::from(*byte) << (8 * at);
    }
    let value = all >> (offset % 8);
    (value & ((1u128 << count.min(64)) - 1)) as u64
}

/// Sets bits of a row of bytes; those beyond its end are dropped.
pub fn set_bits(bytes: &mut [u8], offset: u32, count: u32, value: u64) {
    let first = (offset / 8) as usize;
    let mask = ((1u128 << count.min(64)) - 1) << (offset % 8);
    let value = u128::from(value) << (offset % 8) & mask;
    for (at, byte) in bytes.iter_mut().skip(first).take(9).enumerate() {
        let (mask, value) = ((mask >> (8 * at)) as u8, (value >> (8 * at)) as u8);
        *byte = *byte & !mask | value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    fn format(name: &str) -> PixelFormat {
        PixelFormat::from_name(name).expect("a format")
    }

    #[test]
    fn names_have_parts() {
        let parts = |name: &str| -> Vec<(Channel, Encoding, u32, u32)> {
            format(name).parts.iter().map(|part| (part.channel, part.encoding, part.offset, part.bits)).collect()
        };
        use {Channel as C, Encoding as E};
        assert_eq!(parts("B8G8_UNORM"), [(C::Blue, E::Unorm, 0, 8), (C::Green, E::Unorm, 8, 8)]);
        assert_eq!(
            parts("B10G11R11_UFLOAT_PACK32"),
            [(C::Blue, E::Ufloat, 22, 10), (C::Green, E::Ufloat, 11, 11), (C::Red, E::Ufloat, 0, 11)]
        );
        assert_eq!(parts("D24_UNORM_S8_UINT"), [(C::Depth, E::Unorm, 0, 24), (C::Stencil, E::Uint, 24, 8)]);
        assert_eq!(parts("X8_D24_UNORM_PACK32")[1], (C::Depth, E::Unorm, 0, 24));
        assert_eq!(format("R16G16B16_SFLOAT").bytes, 6);
        for name in ["", "R8", "R8G8_", "Q8_UNORM", "R0_UNORM", "R8_UNORM_PACK32", "R8R8R8R8R8_UNORM", "vec4<float>"] {
            assert_eq!(PixelFormat::from_name(name), None, "{name}");
        }
    }

    #[test]
    fn texels_are_written_and_read() {
        let through = |name: &str, value: [f32; 4]| -> ([f32; 4], Vec<u8>) {
            let format = format(name);
            let mut texel = vec![0; format.bytes];
            format.encode(value.map(f32::to_bits), &mut texel);
            (format.decode(&texel).map(f32::from_bits), texel)
        };
        assert_eq!(through("B8G8R8A8_UNORM", [1.0, 0.2, -3.0, f32::NAN]), ([1.0, 0.2, 0.0, 0.0], vec![0, 51, 255, 0]));
        assert_eq!(through("R8G8_SNORM", [-1.0, 0.5, 1.0, 1.0]).1, [0x81, 64]);
        assert_eq!(through("R8G8_SNORM", [-2.0, 1.0, 1.0, 0.0]).0, [-1.0, 1.0, 0.0, 1.0]);
        assert_eq!(through("A2B10G10R10_UNORM_PACK32", [1.0, 0.0, 0.0, 1.0]).1, [0xff, 3, 0, 0xc0]);
        assert_eq!(through("R16G16_SFLOAT", [0.1, 65504.0, 0.0, 0.0]).0, [0.099975586, 65504.0, 0.0, 1.0]);
        let (found, _) = through("B10G11R11_UFLOAT_PACK32", [1.0, -1.0, 2.03, 0.0]);
        assert_eq!(found, [1.0, 0.0, 2.0, 1.0]);
        assert!(through("B10G11R11_UFLOAT_PACK32", [f32::NAN, 1e9, 0.0, 0.0]).0[0].is_nan());
        assert_eq!(through("R8_SRGB", [0.5, 0.0, 0.0, 0.0]).1, [188]);
        assert_eq!(through("D24_UNORM_S8_UINT", [1.0, 0.0, 0.0, 0.0]).1, [255, 255, 255, 0]);
    }

    #[test]
    fn formats_of_the_sampler_have_names() {
        for sampled in Format::ALL {
            let format = PixelFormat::of_sampled(sampled).expect("a format");
            assert_eq!((format.sampled(), format.bytes), (Some(sampled), sampled.bytes()));
        }
    }

    #[test]
    fn integers_keep_their_sign() {
        let format = format("R8G8B8A8_SINT");
        let mut texel = [0; 4];
        format.encode([u32::MAX, 5, -128i32 as u32, 300], &mut texel);
        assert_eq!(texel, [255, 5, 128, 44]);
        assert_eq!(format.decode(&texel), [u32::MAX, 5, -128i32 as u32, 44]);
        assert_eq!(format.values(&texel)[0], Some(-1.0));
        let missing = PixelFormat::of_numbers(Encoding::Uint, 32, 2);
        assert_eq!(missing.decode(&[1, 0, 0, 0, 2, 0, 0, 0]), [1, 2, 0, 1]);
    }
}

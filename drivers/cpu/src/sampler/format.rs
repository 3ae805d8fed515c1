//! Formats of texels: their size, and their decoding.
//!
//! Texels of normalised formats are first decoded to integers, which a filter weights directly; one division by
//! [`Format::divisor`] at the end gives the value. A single texel therefore has its exact value, and a lookup in four
//! bytes needs no division for each texel.

use std::sync::LazyLock;

/// The encoding of a texel. Multi-byte numbers are little-endian, components in the order of the name from the lowest
/// address or the lowest bit on.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// One normalised byte.
    R8Unorm,
    /// Two normalised bytes.
    Rg8Unorm,
    /// Four normalised bytes.
    Rgba8Unorm,
    /// Four normalised bytes, blue first.
    Bgra8Unorm,
    /// One normalised signed byte.
    R8Snorm,
    /// Two normalised signed bytes.
    Rg8Snorm,
    /// Four normalised signed bytes.
    Rgba8Snorm,
    /// Three bytes on the sRGB curve, and a linear alpha.
    Rgba8Srgb,
    /// The same, blue first.
    Bgra8Srgb,
    /// Four bytes as unsigned integers.
    Rgba8Uint,
    /// Four bytes as signed integers.
    Rgba8Sint,
    /// One 16-bit float.
    R16Float,
    /// Two 16-bit floats.
    Rg16Float,
    /// Four 16-bit floats.
    Rgba16Float,
    /// One 32-bit float.
    R32Float,
    /// Two 32-bit floats.
    Rg32Float,
    /// Four 32-bit floats.
    Rgba32Float,
    /// One 32-bit integer, signed or unsigned.
    R32Int,
    /// Two 32-bit integers.
    Rg32Int,
    /// Four 32-bit integers.
    Rgba32Int,
    /// Unsigned floats of 11, 11 and 10 bits, red in the low bits.
    R11G11B10Float,
    /// Normalised numbers of 10, 10, 10 and 2 bits, red in the low bits.
    Rgb10A2Unorm,
    /// Normalised numbers of 5, 6 and 5 bits, red in the high bits.
    Rgb565Unorm,
    /// A normalised 16-bit depth.
    D16Unorm,
    /// A 32-bit float depth.
    D32Float,
}

/// Linear values of bytes on the sRGB curve.
static SRGB: LazyLock<[f32; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let value = byte as f64 / 255.0;
        let linear = if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) };
        linear as f32
    })
});

/// Returns the table of linear values of bytes on the sRGB curve.
pub(crate) fn srgb() -> &'static [f32; 256] {
    &SRGB
}

/// Converts a 16-bit float.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits & 0x8000) << 16;
    let rest = u32::from(bits & 0x7fff);
    let magnitude = match rest >> 10 {
        // A denormal is a multiple of the smallest one.
        0 => (rest as f32 * f32::from_bits(0x3380_0000)).to_bits(),
        31 => 0x7f80_0000 | (rest & 0x3ff) << 13,
        _ => (rest << 13) + (112 << 23),
    };
    f32::from_bits(sign | magnitude)
}

#[inline(always)]
fn byte(bytes: &[u8], at: usize) -> u8 {
    bytes.get(at).copied().unwrap_or(0)
}

#[inline(always)]
fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([byte(bytes, 2 * at), byte(bytes, 2 * at + 1)])
}

#[inline(always)]
fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from(short(bytes, 2 * at)) | u32::from(short(bytes, 2 * at + 1)) << 16
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 25] = [
        Format::R8Unorm,
        Format::Rg8Unorm,
        Format::Rgba8Unorm,
        Format::Bgra8Unorm,
        Format::R8Snorm,
        Format::Rg8Snorm,
        Format::Rgba8Snorm,
        Format::Rgba8Srgb,
        Format::Bgra8Srgb,
        Format::Rgba8Uint,
        Format::Rgba8Sint,
        Format::R16Float,
        Format::Rg16Float,
        Format::Rgba16Float,
        Format::R32Float,
        Format::Rg32Float,
        Format::Rgba32Float,
        Format::R32Int,
        Format::Rg32Int,
        Format::Rgba32Int,
        Format::R11G11B10Float,
        Format::Rgb10A2Unorm,
        Format::Rgb565Unorm,
        Format::D16Unorm,
        Format::D32Float,
    ];

    /// Returns the bytes of a texel.
    #[inline]
    pub fn bytes(self) -> usize {
        use Format as F;
        match self {
            F::R8Unorm | F::R8Snorm => 1,
            F::Rg8Unorm | F::Rg8Snorm | F::R16Float | F::Rgb565Unorm | F::D16Unorm => 2,
            F::Rgba8Unorm | F::Bgra8Unorm | F::Rgba8Snorm | F::Rgba8Srgb | F::Bgra8Srgb => 4,
            F::Rgba8Uint | F::Rgba8Sint => 4,
            F::Rg16Float | F::R32Float | F::R32Int | F::R11G11B10Float | F::Rgb10A2Unorm | F::D32Float => 4,
            F::Rgba16Float | F::Rg32Float | F::Rg32Int => 8,
            F::Rgba32Float | F::Rgba32Int => 16,
        }
    }

    /// Returns whether texels are integers, which are not filtered.
    #[inline]
    pub(crate) fn is_integer(self) -> bool {
        use Format as F;
        matches!(self, F::Rgba8Uint | F::Rgba8Sint | F::R32Int | F::Rg32Int | F::Rgba32Int)
    }

    /// Returns the components of a texel.
    #[cfg(feature = "machine-code")]
    pub(crate) fn components(self) -> usize {
        use Format as F;
        match self {
            F::R8Unorm | F::R8Snorm | F::R16Float | F::R32Float | F::R32Int | F::D16Unorm | F::D32Float => 1,
            F::Rg8Unorm | F::Rg8Snorm | F::Rg16Float | F::Rg32Float | F::Rg32Int => 2,
            F::R11G11B10Float | F::Rgb565Unorm => 3,
            F::Rgba8Unorm | F::Bgra8Unorm | F::Rgba8Snorm | F::Rgba8Srgb | F::Bgra8Srgb | F::Rgba8Uint => 4,
            F::Rgba8Sint | F::Rgba16Float | F::Rgba32Float | F::Rgba32Int | F::Rgb10A2Unorm => 4,
        }
    }

    /// Returns whether texels are normalised depths, for which reference values are clamped.
    #[inline]
    pub(crate) fn is_normalized_depth(self) -> bool {
        matches!(self, Format::D16Unorm)
    }

    /// Returns the divisor that converts [`numbers`](Self::numbers) to values.
    #[inline]
    pub(crate) fn divisor(self) -> f32 {
        use Format as F;
        match self {
            F::R8Unorm | F::Rg8Unorm | F::Rgba8Unorm | F::Bgra8Unorm => 255.0,
            F::R8Snorm | F::Rg8Snorm | F::Rgba8Snorm => 127.0,
            F::D16Unorm => 65535.0,
            _ => 1.0,
        }
    }

    /// Decodes the components of a texel, times the divisor; missing components are 0, 0, 0 and 1.
    #[inline(always)]
    pub(crate) fn numbers(self, bytes: &[u8]) -> [f32; 4] {
        use Format as F;
        let unsigned = |at: usize| f32::from(byte(bytes, at));
        let signed = |at: usize| f32::from((byte(bytes, at) as i8).max(-127));
        let half = |at: usize| half(short(bytes, at));
        let single = |at: usize| f32::from_bits(word(bytes, at));
        let srgb = |at: usize| SRGB[usize::from(byte(bytes, at))];
        let one = self.divisor();
        match self {
            F::R8Unorm => [unsigned(0), 0.0, 0.0, one],
            F::Rg8Unorm => [unsigned(0), unsigned(1), 0.0, one],
            F::Rgba8Unorm => [unsigned(0), unsigned(1), unsigned(2), unsigned(3)],
            F::Bgra8Unorm => [unsigned(2), unsigned(1), unsigned(0), unsigned(3)],
            F::R8Snorm => [signed(0), 0.0, 0.0, one],
            F::Rg8Snorm => [signed(0), signed(1), 0.0, one],
            F::Rgba8Snorm => [signed(0), signed(1), signed(2), signed(3)],
            F::Rgba8Srgb => [srgb(0), srgb(1), srgb(2), unsigned(3) / 255.0],
            F::Bgra8Srgb => [srgb(2), srgb(1), srgb(0), unsigned(3) / 255.0],
            F::R16Float => [half(0), 0.0, 0.0, 1.0],
            F::Rg16Float => [half(0), half(1), 0.0, 1.0],
            F::Rgba16Float => [half(0), half(1), half(2), half(3)],
            F::R32Float => [single(0), 0.0, 0.0, 1.0],
            F::Rg32Float => [single(0), single(1), 0.0, 1.0],
            F::Rgba32Float => [single(0), single(1), single(2), single(3)],
            F::D16Unorm => [short(bytes, 0).into(), 0.0, 0.0, one],
            F::D32Float => [single(0), 0.0, 0.0, 1.0],
            F::R11G11B10Float => {
                // Both are 16-bit floats without a sign and with a shorter mantissa.
                let all = word(bytes, 0);
                let float = |bits: u32| self::half(bits as u16);
                [float((all & 0x7ff) << 4), float((all >> 11 & 0x7ff) << 4), float((all >> 22) << 5), 1.0]
            }
            F::Rgb10A2Unorm => {
                let all = word(bytes, 0);
                let ten = |shift: u32| (all >> shift & 1023) as f32 / 1023.0;
                [ten(0), ten(10), ten(20), (all >> 30) as f32 / 3.0]
            }
            F::Rgb565Unorm => {
                let all = short(bytes, 0);
                [f32::from(all >> 11) / 31.0, f32::from(all >> 5 & 63) / 63.0, f32::from(all & 31) / 31.0, 1.0]
            }
            F::Rgba8Uint | F::Rgba8Sint | F::R32Int | F::Rg32Int | F::Rgba32Int => {
                self.integers(bytes).map(|word| word as f32)
            }
        }
    }

    /// Decodes the components of an integer texel; missing ones are 0, 0, 0 and 1.
    fn integers(self, bytes: &[u8]) -> [u32; 4] {
        use Format as F;
        let components = match self {
            F::R32Int => 1,
            F::Rg32Int => 2,
            _ => 4,
        };
        std::array::from_fn(|at| match self {
            F::Rgba8Uint => byte(bytes, at).into(),
            F::Rgba8Sint => i32::from(byte(bytes, at) as i8) as u32,
            _ if at < components => word(bytes, at),
            _ => u32::from(at == 3),
        })
    }

    /// Decodes the components of a texel as a lookup returns them: bits of floats, or integers.
    #[inline]
    pub(crate) fn words(self, bytes: &[u8]) -> [u32; 4] {
        if self.is_integer() {
            return self.integers(bytes);
        }
        let divisor = self.divisor();
        self.numbers(bytes).map(|number| (number / divisor).to_bits())
    }
}

//! Buffers and images: their memory, and its values.

use tgsi_raster::format::{Encoding, PixelFormat, bits, float, float_bits, set_bits, sign_extended};

use crate::layout::{DataType, Layout, Segment};

/// A number of a script.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// An integer, in two's complement.
    Integer(u64),
    /// A float.
    Float(f64),
}

impl Value {
    /// Reads a word for a number of this encoding.
    pub(crate) fn parse(word: &str, encoding: Encoding) -> Option<Value> {
        if encoding.is_float() {
            return crate::tokens::number(word).map(Value::Float);
        }
        crate::tokens::integer(word).map(Value::Integer)
    }

    fn bits(self, encoding: Encoding, bits: u32) -> u64 {
        match (self, encoding.is_float()) {
            (Value::Integer(value), false) => value,
            (Value::Integer(value), true) => float_bits(value as i64 as f64, bits),
            (Value::Float(value), true) => float_bits(value, bits),
            (Value::Float(value), false) => value as i64 as u64,
        }
    }
}

/// The number of dimensions of an image.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Dimension {
    One,
    #[default]
    Two,
    Three,
}

/// Most bytes of a buffer.
pub(crate) const MAX_BYTES: usize = 1 << 28;

/// A buffer or image.
#[derive(Clone, PartialEq, Debug)]
pub struct Buffer {
    /// Its name.
    pub name: String,
    /// The name of its type, with the rules of its layout, to compare types.
    pub type_name: String,
    /// Places of the numbers of an element.
    pub layout: Layout,
    /// The format of its texels, unless its type has none.
    pub format: Option<PixelFormat>,
    /// Its memory. Mip levels follow each other.
    pub bytes: Vec<u8>,
    /// Width, height and depth of the first level, if it is an image or is drawn on.
    pub size: Option<[u32; 3]>,
    /// Dimensions of an image.
    pub dimension: Dimension,
    /// Mip levels.
    pub levels: u32,
    /// Samples of a texel.
    pub samples: u32,
}

impl Buffer {
    /// An empty buffer of a type.
    pub fn new(name: &str, type_name: String, ty: &DataType, layout: Layout) -> Buffer {
        Buffer {
            name: name.to_owned(),
            type_name,
            layout,
            format: ty.pixel_format(),
            bytes: Vec::new(),
            size: None,
            dimension: Dimension::Two,
            levels: 1,
            samples: 1,
        }
    }

    /// The number of elements.
    pub fn elements(&self) -> usize {
        self.bytes.len() / self.layout.stride.max(1)
    }

    /// Sets the size of the first level, and adds memory for all levels. Returns whether it fits the limits.
    pub fn set_size(&mut self, size: [u32; 3]) -> bool {
        self.size = Some(size);
        let texels = (0..self.levels).map(|level| self.level_texels(level)).try_fold(0usize, usize::checked_add);
        let bytes = texels.and_then(|texels| texels.checked_mul(self.layout.stride * self.samples as usize));
        let Some(bytes) = bytes.filter(|bytes| *bytes <= MAX_BYTES) else { return false };
        if self.bytes.len() < bytes {
            self.bytes.resize(bytes, 0);
        }
        true
    }

    /// The size of a level.
    pub fn level_size(&self, level: u32) -> [u32; 3] {
        // Buffers without a size are rows of texels.
        let size = self.size.unwrap_or([self.elements() as u32, 1, 1]);
        size.map(|side| side.checked_shr(level).unwrap_or(0).max(1))
    }

    fn level_texels(&self, level: u32) -> usize {
        self.level_size(level).iter().fold(1usize, |count, side| count.saturating_mul(*side as usize))
    }

    /// The bytes of a level.
    pub fn level_range(&self, level: u32) -> std::ops::Range<usize> {
        let size = |level: u32| self.level_texels(level).saturating_mul(self.layout.stride * self.samples as usize);
        let start = (0..level.min(self.levels)).map(size).fold(0usize, usize::saturating_add);
        start.min(self.bytes.len())..start.saturating_add(size(level)).min(self.bytes.len())
    }

    /// Writes values from a byte on. Memory is added.
    pub fn write(&mut self, layout: &Layout, offset: usize, values: &[Value]) -> bool {
        let count = layout.segments.len().max(1);
        let end = values.len().div_ceil(count).checked_mul(layout.stride).and_then(|size| size.checked_add(offset));
        let Some(end) = end.filter(|end| *end <= MAX_BYTES) else { return false };
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        for (element, values) in values.chunks(count).enumerate() {
            for (segment, value) in layout.segments.iter().zip(values) {
                let at = offset + element * layout.stride + segment.offset;
                let bits = value.bits(segment.encoding, segment.bits);
                if let Some(bytes) = self.bytes.get_mut(at..) {
                    set_bits(bytes, 0, segment.bits, bits);
                }
            }
        }
        true
    }
}

/// A number in memory.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    Unsigned(u64),
    Signed(i64),
    Float(f64),
}

impl Number {
    /// Reads the number of a segment; `None` beyond the end.
    pub(crate) fn read(bytes: &[u8], segment: &Segment, element: usize) -> Option<Number> {
        let at = element.checked_add(segment.offset)?;
        let bytes = bytes.get(at..at.checked_add(segment.bits.div_ceil(8) as usize)?)?;
        let value = bits(bytes, 0, segment.bits);
        Some(if segment.encoding.is_float() {
            Number::Float(float(value, segment.bits))
        } else if segment.encoding.is_signed() {
            Number::Signed(sign_extended(value, segment.bits))
        } else {
            Number::Unsigned(value)
        })
    }

    pub(crate) fn as_float(self) -> f64 {
        match self {
            Number::Unsigned(value) => value as f64,
            Number::Signed(value) => value as f64,
            Number::Float(value) => value,
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::Unsigned(value) => write!(f, "{value}"),
            Number::Signed(value) => write!(f, "{value}"),
            Number::Float(value) => write!(f, "{value}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Rules;
    use pretty_assertions::assert_eq;

    fn buffer(name: &str) -> Buffer {
        let ty = DataType::from_name(name).expect("a type");
        Buffer::new("b", name.to_owned(), &ty, Layout::new(&ty, false, Rules::Std430).expect("a layout"))
    }

    #[test]
    fn values_are_written_in_elements() {
        let mut vectors = buffer("vec3<int16>");
        let layout = vectors.layout.clone();
        let values: Vec<Value> = [1, 2, u64::MAX, 4].map(Value::Integer).to_vec();
        assert!(vectors.write(&layout, 0, &values));
        assert_eq!(vectors.bytes, [1, 0, 2, 0, 255, 255, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(vectors.elements(), 2);
        let third = layout.segments[2];
        assert_eq!(Number::read(&vectors.bytes, &third, 0), Some(Number::Signed(-1)));
        assert_eq!(Number::read(&vectors.bytes, &third, 16), None);
    }

    #[test]
    fn integers_fill_floats() {
        let mut floats = buffer("float16");
        let layout = floats.layout.clone();
        assert!(floats.write(&layout, 2, &[Value::Integer(u64::MAX), Value::Float(0.5)]));
        assert_eq!(floats.bytes, [0, 0, 0, 0xbc, 0, 0x38]);
    }

    #[test]
    fn levels_follow_each_other() {
        let mut image = buffer("R8G8B8A8_UNORM");
        image.levels = 3;
        assert!(image.set_size([4, 2, 1]));
        assert_eq!([0, 1, 2].map(|level| image.level_range(level)), [0..32, 32..40, 40..44]);
        assert_eq!(image.bytes.len(), 44);
        assert!(!image.set_size([1 << 16, 1 << 16, 1]));
    }
}

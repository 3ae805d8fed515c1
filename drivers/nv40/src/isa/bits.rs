//! Bit fields of the four words of an instruction.

/// A bit field.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    word: u8,
    low: u8,
    width: u8,
}

impl Field {
    /// A field of `width` bits from bit `low` of a word.
    pub(crate) const fn new(word: u8, low: u8, width: u8) -> Field {
        Field { word, low, width }
    }

    /// A field of one bit.
    pub(crate) const fn bit(word: u8, low: u8) -> Field {
        Field::new(word, low, 1)
    }

    /// The greatest value.
    pub(crate) const fn max(self) -> u32 {
        u32::MAX >> (32 - self.width)
    }

    /// Reads the field.
    pub(crate) fn get(self, words: &[u32; 4]) -> u32 {
        words[usize::from(self.word)] >> self.low & self.max()
    }

    /// Whether any bit is set.
    pub(crate) fn is_set(self, words: &[u32; 4]) -> bool {
        self.get(words) != 0
    }

    /// Writes the field; excess bits are dropped.
    pub(crate) fn set(self, words: &mut [u32; 4], value: u32) {
        let word = &mut words[usize::from(self.word)];
        *word = *word & !(self.max() << self.low) | (value & self.max()) << self.low;
    }
}

/// A value in several fields, from its lowest bits up.
pub(crate) fn get_split(parts: &[Field], words: &[u32; 4]) -> u32 {
    parts.iter().rev().fold(0, |value, part| value << part.width | part.get(words))
}

/// Writes a value in several fields, from its lowest bits up.
pub(crate) fn set_split(parts: &[Field], words: &mut [u32; 4], mut value: u32) {
    for part in parts {
        part.set(words, value);
        value >>= part.width;
    }
}

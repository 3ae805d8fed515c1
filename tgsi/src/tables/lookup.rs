//! Finds a row of a table by its name, ignoring ASCII case.
//!
//! A [`Word`] has its first eight bytes, folded to one case, as a number. For words of up to eight letters, digits and
//! underscores, which almost all names are, this number identifies the word. A [`NameTable`] is an open-addressed hash
//! table of these numbers, computed at compile time; a search visits one or two slots. A `phf` map would hash every
//! word byte by byte with SipHash, and would need a proc macro at build time.
//!
//! Invariant: the bytes of a word are letters, digits and underscores only. For others, folding would make different
//! words equal.

/// Number of bytes of a word in its key.
const KEY_BYTES: usize = 8;

/// Clears the bit that distinguishes lower from upper case. Letters, digits and the underscore remain distinct.
const FOLD: u64 = u64::from_ne_bytes([0xdf; KEY_BYTES]);

/// Whether words may contain this byte.
pub(crate) const fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// A word of a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    bytes: &'a [u8],
    key: u64,
}

impl<'a> Word<'a> {
    /// Returns the word of the first `length` bytes of `text`, which must be word bytes.
    #[inline]
    pub(crate) fn at_start(text: &'a [u8], length: usize) -> Word<'a> {
        let bytes = text.get(..length).unwrap_or(text);
        let key = match text.first_chunk() {
            // The chunk may contain bytes after the word.
            Some(chunk) if length < KEY_BYTES => u64::from_le_bytes(*chunk) & ((1 << (8 * length)) - 1),
            Some(chunk) => u64::from_le_bytes(*chunk),
            None => first_bytes(bytes),
        };
        Word { bytes, key: key & FOLD }
    }

    /// Returns the bytes as a word, or none if another byte is among them.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Word<'a>> {
        bytes.iter().all(|&byte| is_word_byte(byte)).then(|| Word::at_start(bytes, bytes.len()))
    }

    /// Returns the bytes as written in the text.
    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the word as a string, for messages.
    pub(crate) fn as_str(self) -> &'a str {
        // Word bytes are ASCII.
        std::str::from_utf8(self.bytes).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn len(self) -> usize {
        self.bytes.len()
    }

    /// Whether the word is this name.
    #[inline]
    pub(crate) fn is(self, name: &str) -> bool {
        self.bytes.len() == name.len() && self.bytes.eq_ignore_ascii_case(name.as_bytes())
    }

    /// Whether the word consists of digits only.
    #[inline]
    pub(crate) fn is_digits(self) -> bool {
        self.bytes.iter().all(u8::is_ascii_digit)
    }

    /// Splits the word before byte `at`.
    pub(crate) fn split_at(self, at: usize) -> (Word<'a>, Word<'a>) {
        let (head, tail) = self.bytes.split_at_checked(at).unwrap_or((self.bytes, &[]));
        (Word::at_start(self.bytes, head.len()), Word::at_start(tail, tail.len()))
    }
}

/// Returns up to eight bytes as a number, the first one lowest.
const fn first_bytes(bytes: &[u8]) -> u64 {
    let (mut key, mut position) = (0, 0);
    while position < bytes.len() && position < KEY_BYTES {
        key |= (bytes[position] as u64) << (8 * position);
        position += 1;
    }
    key
}

/// Returns the number of slots for a table of `names` names: a power of two, at most half of them used.
pub(crate) const fn slots(names: usize) -> usize {
    (2 * names).next_power_of_two()
}

/// Rows by name, in `SLOTS` slots.
pub(crate) struct NameTable<const SLOTS: usize> {
    /// Key and row + 1 (0 if the slot is free).
    slots: [(u64, u8); SLOTS],
}

impl<const SLOTS: usize> NameTable<SLOTS> {
    /// Creates the table of at most 255 names: row i is `names[i]`.
    pub(crate) const fn new(names: &[&str]) -> NameTable<SLOTS> {
        assert!(names.len() < 256 && SLOTS >= slots(names.len()));
        let mut slots = [(0, 0); SLOTS];
        let mut row = 0;
        while row < names.len() {
            let key = first_bytes(names[row].as_bytes()) & FOLD;
            let mut slot = Self::slot(key);
            while slots[slot].1 != 0 {
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = (key, row as u8 + 1);
            row += 1;
        }
        NameTable { slots }
    }

    /// Returns the slot where the search for a key begins.
    #[inline]
    const fn slot(key: u64) -> usize {
        (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize % SLOTS
    }

    /// Returns the row of a name. `name` returns the name of a row.
    #[inline(always)]
    pub(crate) fn find(&self, word: Word<'_>, name: impl Fn(usize) -> &'static str) -> Option<usize> {
        let mut slot = Self::slot(word.key);
        // Half of the slots are free, so the search terminates.
        loop {
            let (key, row) = self.slots[slot];
            let row = usize::from(row).checked_sub(1)?;
            // Names longer than the key must be compared beyond it.
            if key == word.key && (word.len() < KEY_BYTES || word.is(name(row))) {
                return Some(row);
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 5] = ["MOV", "SAMPLE_C", "SAMPLE_C_LZ", "SAMPLE_D", "2D"];
    static TABLE: NameTable<{ slots(NAMES.len()) }> = NameTable::new(&NAMES);

    fn find(word: &str) -> Option<&'static str> {
        TABLE.find(Word::new(word.as_bytes())?, |row| NAMES[row]).map(|row| NAMES[row])
    }

    #[test]
    fn names_are_found_whatever_their_case() {
        for name in NAMES {
            assert_eq!(find(name), Some(name));
            assert_eq!(find(&name.to_ascii_lowercase()), Some(name));
        }
        for other in
            ["", "M", "MO", "MOVE", "SAMPLE", "SAMPLE_C_", "SAMPLE_C_LX", "SAMPLE_C_LZ_", "2", "2D_", "M-V", "\u{12}D"]
        {
            assert_eq!(find(other), None, "{other}");
        }
    }

    #[test]
    fn words_in_their_text() {
        let word = Word::at_start(b"MOV, x and more", 3);
        assert!(word.is("mov") && !word.is("mo") && word.len() == 3 && !word.is_digits());
        assert_eq!(word.key, Word::at_start(b"mov", 3).key);
        assert_eq!(word.key, Word::at_start(b"MoV.x", 3).key);
        let (head, tail) = Word::at_start(b"MUL_SAT", 7).split_at(3);
        assert_eq!((head.as_str(), tail.as_str()), ("MUL", "_SAT"));
        assert_eq!((head.key, tail.key), (Word::at_start(b"MUL", 3).key, Word::at_start(b"_SAT", 4).key));
    }
}

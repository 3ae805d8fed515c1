//! Hashing of small keys that nobody outside chooses: a multiplication a word.

use std::hash::{BuildHasherDefault, Hasher};

/// Makes [`FastHasher`]s.
pub(crate) type BuildFastHasher = BuildHasherDefault<FastHasher>;

/// Odd, with bits all over.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Mixes words by multiplication.
#[derive(Clone, Copy, Default)]
pub(crate) struct FastHasher(u64);

impl FastHasher {
    /// Mixes a word in.
    pub(crate) fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(FACTOR);
    }
}

impl Hasher for FastHasher {
    fn finish(&self) -> u64 {
        // Tables take the low bits, which multiplication mixes least.
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.mix(value.into());
    }

    fn write_u32(&mut self, value: u32) {
        self.mix(value.into());
    }

    fn write_u64(&mut self, value: u64) {
        self.mix(value);
    }

    fn write_usize(&mut self, value: usize) {
        self.mix(value as u64);
    }
}

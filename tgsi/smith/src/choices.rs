//! The source of the generator's decisions: bytes from a fuzzer, or a seed.
//!
//! Every decision consumes bytes from the front. After the last byte every number is 0, which is always the simplest
//! choice.

use tgsi_environment::Random;

/// A source of decisions.
pub(super) struct Choices<'a> {
    source: Source<'a>,
}

enum Source<'a> {
    Bytes(&'a [u8]),
    /// An infinite sequence of random numbers: the rest of the last one, and its number of bytes.
    Seed(Random, u64, u32),
}

impl<'a> Choices<'a> {
    /// Creates decisions from bytes.
    pub(super) fn from_bytes(bytes: &'a [u8]) -> Choices<'a> {
        Choices { source: Source::Bytes(bytes) }
    }

    /// Creates decisions from a seed; they never run out.
    pub(super) fn from_seed(seed: u64) -> Choices<'static> {
        Choices { source: Source::Seed(Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)), 0, 0) }
    }

    /// Whether all bytes are consumed.
    pub(super) fn exhausted(&self) -> bool {
        matches!(self.source, Source::Bytes([]))
    }

    fn byte(&mut self) -> u32 {
        match &mut self.source {
            Source::Bytes(bytes) => match bytes.split_first() {
                Some((&first, rest)) => {
                    *bytes = rest;
                    u32::from(first)
                }
                None => 0,
            },
            Source::Seed(random, left, count) => {
                if *count == 0 {
                    (*left, *count) = (random.bits(), 8);
                }
                let byte = *left as u8;
                *left >>= 8;
                *count -= 1;
                u32::from(byte)
            }
        }
    }

    /// Returns a word of arbitrary bits.
    pub(super) fn word(&mut self) -> u32 {
        (0..4).fold(0, |word, _| word << 8 | self.byte())
    }

    /// Returns a number below `count`, or 0 if `count` is 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        match count {
            0 | 1 => 0,
            2..=256 => (self.byte() as usize * count) >> 8,
            _ => (self.byte() << 8 | self.byte()) as usize % count,
        }
    }

    /// Returns true in one of `count` cases; false after the last byte.
    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) + 1 == count
    }

    /// Returns one of several values, the first one after the last byte.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        of.get(self.below(of.len())).copied()
    }

    /// Returns one of several given values.
    pub(super) fn of<T: Copy, const N: usize>(&mut self, of: [T; N]) -> T {
        of[self.below(N)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_bytes_everything_is_simple() {
        let mut choices = Choices::from_bytes(&[0xff, 0x80]);
        assert_eq!((choices.below(10), choices.below(10), choices.exhausted()), (9, 5, true));
        assert_eq!((choices.below(10), choices.one_in(2), choices.of([7, 8]), choices.word()), (0, false, 7, 0));
        assert_eq!(choices.pick::<u8>(&[]), None);
    }

    #[test]
    fn all_numbers_below_a_bound_come() {
        let mut choices = Choices::from_seed(3);
        for count in [2, 7, 200, 1000] {
            let mut seen = vec![false; count];
            for _ in 0..count * 40 {
                seen[choices.below(count)] = true;
            }
            assert!(seen.iter().all(|&seen| seen), "{count}");
        }
    }
}

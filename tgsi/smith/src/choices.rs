//! Where the decisions of the generator come from: bytes that a fuzzer gives, or a seed.
//!
//! Every decision takes bytes from the front. When they have run out, every number is 0, which stands for the simplest
//! choice everywhere.

use tgsi_environment::Random;

/// A source of decisions.
pub(super) struct Choices<'a> {
    source: Source<'a>,
}

enum Source<'a> {
    Bytes(&'a [u8]),
    /// Numbers without end, and what is left of the last one with the number of its bytes.
    Seed(Random, u64, u32),
}

impl<'a> Choices<'a> {
    /// Decisions that bytes make.
    pub(super) fn from_bytes(bytes: &'a [u8]) -> Choices<'a> {
        Choices { source: Source::Bytes(bytes) }
    }

    /// Decisions that a seed makes; they never run out.
    pub(super) fn from_seed(seed: u64) -> Choices<'static> {
        Choices { source: Source::Seed(Random::new(seed.wrapping_mul(0x2545_f491_4f6c_dd1d)), 0, 0) }
    }

    /// Whether there are no more bytes.
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

    /// A word of any bits.
    pub(super) fn word(&mut self) -> u32 {
        (0..4).fold(0, |word, _| word << 8 | self.byte())
    }

    /// A number below `count`; 0 if there is nothing to choose from.
    pub(super) fn below(&mut self, count: usize) -> usize {
        match count {
            0 | 1 => 0,
            2..=256 => (self.byte() as usize * count) >> 8,
            _ => (self.byte() << 8 | self.byte()) as usize % count,
        }
    }

    /// True in one of `count` cases, never without bytes.
    pub(super) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) + 1 == count
    }

    /// One of several, the first without bytes.
    pub(super) fn pick<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        of.get(self.below(of.len())).copied()
    }

    /// One of several that are named one by one.
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

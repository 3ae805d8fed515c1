//! Sets of registers of one file.
//!
//! The registers with usual outer indices are stored as bits; those with outer indices from [`DENSE_OUTER`] on are in a
//! list. A set takes at most 8 KiB per outer index, and only as much as its highest register needs.

use super::declared::Key;

/// Outer indices below this are stored as bits. Drivers support at most 32 buffers.
const DENSE_OUTER: usize = 64;

/// A set of registers of a file.
#[derive(Default)]
pub(super) struct RegisterSet {
    /// Bits by inner index, for outer index 0.
    first: Vec<u64>,
    /// Bits for the outer indices from 1 on.
    more: Vec<Vec<u64>>,
    others: Vec<Key>,
}

impl RegisterSet {
    /// Whether a register is in the set. Always false for outer indices from [`DENSE_OUTER`] on.
    #[inline]
    pub(super) fn contains(&self, outer: usize, index: usize) -> bool {
        let words = if outer == 0 { Some(&self.first) } else { self.more.get(outer - 1) };
        words.and_then(|words| words.get(index / 64)).is_some_and(|word| word >> (index % 64) & 1 != 0)
    }

    /// Adds a register.
    #[inline]
    pub(super) fn insert(&mut self, outer: usize, index: usize) {
        let words = if outer == 0 { Some(&mut self.first) } else { self.more.get_mut(outer - 1) };
        match words.and_then(|words| words.get_mut(index / 64)) {
            Some(word) => *word |= 1 << (index % 64),
            None => self.insert_beyond(outer, index),
        }
    }

    fn insert_beyond(&mut self, outer: usize, index: usize) {
        if outer >= DENSE_OUTER {
            self.others.push((outer as Key) << 16 | index as Key);
            return;
        }
        self.words(outer, index)[index / 64] |= 1 << (index % 64);
    }

    /// Returns the bits of an outer index, enough for `index`.
    fn words(&mut self, outer: usize, index: usize) -> &mut Vec<u64> {
        if self.more.len() < outer {
            self.more.resize_with(outer, Vec::new);
        }
        let words = if outer == 0 { &mut self.first } else { &mut self.more[outer - 1] };
        if words.len() <= index / 64 {
            words.resize(index / 64 + 1, 0);
        }
        words
    }

    /// Adds the registers of a range with one outer index. Does nothing for outer indices from [`DENSE_OUTER`] on.
    pub(super) fn insert_range(&mut self, first: Key, last: Key) {
        let outer = (first >> 16) as usize;
        if outer >= DENSE_OUTER {
            return;
        }
        let (first, last) = ((first & 0xffff) as usize, (last & 0xffff) as usize);
        let words = self.words(outer, last);
        for (position, word) in words.iter_mut().enumerate().take(last / 64 + 1).skip(first / 64) {
            let low = if position == first / 64 { u64::MAX << (first % 64) } else { u64::MAX };
            let high = if position == last / 64 { u64::MAX >> (63 - last % 64) } else { u64::MAX };
            *word |= low & high;
        }
    }

    /// Returns all registers in ascending order.
    pub(super) fn sorted(&self) -> Vec<Key> {
        let mut keys = Vec::new();
        for (outer, words) in std::iter::once(&self.first).chain(&self.more).enumerate() {
            for (position, &word) in words.iter().enumerate() {
                let mut left = word;
                while left != 0 {
                    keys.push((outer << 16 | position << 6) as Key | left.trailing_zeros());
                    left &= left - 1;
                }
            }
        }
        let dense = keys.len();
        keys.extend(&self.others);
        keys[dense..].sort_unstable();
        keys.dedup();
        keys
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_and_ranges() {
        let mut set = RegisterSet::default();
        let members = [(0, 0), (0, 63), (0, 64), (3, 65535), (63, 1), (64, 7), (65535, 65535)];
        for (outer, index) in members.into_iter().rev().chain(members) {
            set.insert(outer, index);
        }
        assert_eq!(set.sorted(), members.map(|(outer, index)| (outer as Key) << 16 | index as Key));
        assert!(set.contains(0, 63) && !set.contains(0, 62) && !set.contains(1, 0) && !set.contains(0, 70000));

        for (first, last) in [(0, 0), (5, 70), (64, 127), (3, 63), (60, 200), (65535, 65535)] {
            let mut range = RegisterSet::default();
            range.insert_range(2 << 16 | first, 2 << 16 | last);
            assert_eq!(range.sorted(), (first..=last).map(|index| 2 << 16 | index).collect::<Vec<_>>());
        }
    }
}

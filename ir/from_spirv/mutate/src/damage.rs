//! Damages modules.

use std::ops::Range;

use crate::random::Random;

const HEADER: usize = 5;
/// The largest known opcode of the core, and of most extensions.
const MAX_OPCODES: [u32; 2] = [400, 6500];

/// Returns a damaged module, the same for the same seed.
///
/// For even seeds, instructions still end where their lengths say; for odd ones any word may be wrong.
pub fn damage(words: &[u32], seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed ^ 0x5eed_da3a_6e00_0000);
    let mut words = words.to_vec();
    let keeps_framing = seed.is_multiple_of(2);
    for _ in 0..1 + random.below(4) {
        let ranges = instructions(&words);
        match random.choose(&(0..ranges.len()).collect::<Vec<_>>()) {
            Some(at) if keeps_framing => framed(&mut words, &ranges, at, &mut random),
            Some(at) if random.one_in(3) => framed(&mut words, &ranges, at, &mut random),
            _ => unframed(&mut words, &ranges, &mut random),
        }
    }
    words
}

/// The places of instructions, while their lengths are right.
fn instructions(words: &[u32]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = HEADER;
    while let Some(&first) = words.get(at) {
        let length = (first >> 16) as usize;
        if length == 0 || at + length > words.len() {
            break;
        }
        ranges.push(at..at + length);
        at += length;
    }
    ranges
}

/// Changes words, but no lengths.
fn framed(words: &mut Vec<u32>, ranges: &[Range<usize>], at: usize, random: &mut Random) {
    let range = ranges[at].clone();
    let bound = words.get(3).copied().unwrap_or(1);
    let operand = (range.len() > 1).then(|| range.start + 1 + random.below(range.len() - 1));
    match random.below(12) {
        // An operand: another id, a near number, a special number, or a word from elsewhere.
        0..=4 => {
            if let Some(place) = operand {
                let other = words[random.below(words.len())];
                words[place] = match random.below(7) {
                    0 => random.below(bound as usize) as u32,
                    1 => words[place].wrapping_add(1),
                    2 => words[place].wrapping_sub(1),
                    3 => words[place] ^ (1 << random.below(32)),
                    4 => [0, 1, u32::MAX, 0x7fff_ffff, 0x8000_0000, bound, 0x10000][random.below(7)],
                    5 => other,
                    _ => random.below(64) as u32,
                };
            }
        }
        // Two operands, or two instructions.
        5 => {
            if let Some(place) = operand {
                let other = range.start + 1 + random.below(range.len() - 1);
                words.swap(place, other);
            }
        }
        6 => {
            let other = ranges[random.below(ranges.len())].clone();
            let (first, second) = if other.start < range.start { (other, range) } else { (range, other) };
            if first.end <= second.start {
                let swapped = [&words[second.clone()], &words[first.end..second.start], &words[first.clone()]].concat();
                words.splice(first.start..second.end, swapped);
            }
        }
        7 => {
            words.drain(range);
        }
        8 => {
            let copy = words[range].to_vec();
            let place = ranges[random.below(ranges.len())].start;
            words.splice(place..place, copy);
        }
        9 => {
            let most = MAX_OPCODES[random.below(2)] as usize;
            let opcode = random.below(most) as u32;
            words[range.start] = words[range.start] & 0xffff_0000 | opcode;
        }
        // Shorter or longer, with the length corrected.
        10 => {
            if let Some(place) = operand {
                words.remove(place);
                words[range.start] -= 1 << 16;
            }
        }
        _ => {
            if range.len() < 0xffff {
                let word = words[random.below(words.len())];
                words.insert(range.end, word);
                words[range.start] += 1 << 16;
            }
        }
    }
}

/// Changes any words.
fn unframed(words: &mut Vec<u32>, ranges: &[Range<usize>], random: &mut Random) {
    if words.is_empty() {
        return;
    }
    let place = random.below(words.len());
    match random.below(7) {
        0 => words[place] ^= 1 << random.below(32),
        1 => words[place] = random.bits() as u32,
        2 => words.truncate(place),
        3 => {
            let first = random.below(HEADER.min(words.len()));
            words[first] = random.bits() as u32 >> random.below(32);
        }
        4 => {
            words.remove(place);
        }
        5 => words.insert(place, random.bits() as u32 >> random.below(32)),
        _ => {
            if let Some(range) = ranges.get(random.below(ranges.len())) {
                let length = [0, 1, 2, range.len() as u32 - 1, range.len() as u32 + 1, 0xffff][random.below(6)];
                words[range.start] = words[range.start] & 0xffff | length << 16;
            }
        }
    }
}

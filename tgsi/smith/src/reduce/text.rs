//! The reducer of texts in any language. It knows lines, brackets and words.

use super::{Limits, halved};

/// The largest range of words that is removed at once. Larger ones are mostly whole lines.
const MAX_WORDS: usize = 8;

/// Returns the smallest interesting text that was found by removing ranges of lines, the blocks around others, and
/// words. The function is never called with the text itself, and should reject texts that are not valid.
///
/// ```
/// use tgsi_smith::reduce::{Limits, reduce_text};
///
/// let text = b"a\nif b {\n    c, d\n} else {\n    e\n}\nf\n";
/// let small = reduce_text(text, Limits::default(), &mut |text| text.contains(&b'd'));
/// assert_eq!(small, b"d\n");
/// ```
pub fn reduce_text(text: &[u8], limits: Limits, interesting: &mut dyn FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut reducer = TextReducer { best: text.to_vec(), left: limits.candidates, interesting };
    loop {
        let length = reducer.best.len();
        reducer.remove_lines();
        reducer.remove_blocks();
        reducer.remove_words();
        if reducer.best.len() == length {
            return reducer.best;
        }
    }
}

/// A reduction in progress.
struct TextReducer<'a> {
    /// The smallest interesting text so far.
    best: Vec<u8>,
    /// Remaining number of candidates to try.
    left: u64,
    interesting: &'a mut dyn FnMut(&[u8]) -> bool,
}

impl TextReducer<'_> {
    /// Makes the candidate of these parts the best one if it is interesting.
    fn try_parts(&mut self, parts: &[&[u8]]) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        let candidate = parts.concat();
        let is_interesting = (self.interesting)(&candidate);
        if is_interesting {
            self.best = candidate;
        }
        is_interesting
    }

    /// Removes ranges of lines, large ones first.
    fn remove_lines(&mut self) {
        let text = self.best.clone();
        let mut lines = lines(&text);
        for size in halved(lines.len()) {
            self.remove_of_size(&mut lines, size, |_| true);
        }
    }

    /// Removes ranges of words within lines, large ones first.
    fn remove_words(&mut self) {
        let text = self.best.clone();
        let mut words = words(&text);
        for size in halved(2 * MAX_WORDS) {
            self.remove_of_size(&mut words, size, |range| range.iter().all(|word| !word.contains(&b'\n')));
        }
    }

    fn remove_of_size(&mut self, parts: &mut Vec<&[u8]>, size: usize, may_remove: fn(&[&[u8]]) -> bool) {
        let mut end = parts.len();
        while end > 0 {
            let start = end.saturating_sub(size);
            if may_remove(&parts[start..end]) {
                let rest = [&parts[..start], &parts[end..]].concat();
                if self.try_parts(&rest) {
                    *parts = rest;
                }
            }
            end = start;
        }
    }

    /// Removes blocks in brackets, or replaces them with their contents: those of one side if they are divided. The
    /// contents and the text after the block may begin with a label, which is then removed too.
    fn remove_blocks(&mut self) {
        let text = self.best.clone();
        let mut lines = lines(&text);
        let mut first = 0;
        while first < lines.len() {
            let bounds = bounds(&lines, first);
            let last = bounds.last().copied().unwrap_or(first);
            let sides = bounds.windows(2).map(|side| (side[0] + 1..side[1], last + 1));
            let labels = sides.clone().map(|(kept, next)| (kept.start + 1..kept.end, next + 1));
            let mut kept = std::iter::once((first..first, last + 1)).chain(sides).chain(labels);
            let smaller = kept.find_map(|(kept, next)| {
                let rest = [&lines[..first], lines.get(kept)?, lines.get(next..)?].concat();
                (last > first && self.try_parts(&rest)).then_some(rest)
            });
            match smaller {
                Some(rest) => lines = rest,
                None => first += 1,
            }
        }
    }
}

/// Splits a text into lines, line breaks included.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// Splits a text into words, each with the spaces after it, line breaks, and other characters.
fn words(text: &[u8]) -> Vec<&[u8]> {
    let is_of_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii();
    let is_joined = |&first: &u8, &second: &u8| second == b' ' || is_of_word(first) && is_of_word(second);
    text.chunk_by(is_joined).collect()
}

/// Returns the lines with the brackets of the block that a line opens: the line, those that divide the block, and the
/// last one. Empty if it opens no block.
fn bounds(lines: &[&[u8]], first: usize) -> Vec<usize> {
    let (mut depth, mut bounds) = (0i64, Vec::new());
    for (number, line) in lines.iter().enumerate().skip(first) {
        let (before, mut least) = (depth, depth);
        for byte in *line {
            depth += i64::from(matches!(byte, b'{' | b'(' | b'[')) - i64::from(matches!(byte, b'}' | b')' | b']'));
            least = least.min(depth);
        }
        if number == first && depth <= before {
            return bounds;
        }
        if least <= 0 {
            bounds.push(number);
        }
        if depth <= 0 {
            return bounds;
        }
    }
    Vec::new()
}

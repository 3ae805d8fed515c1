//! Numbers of lines, with the changes of `#line`.

use super::lexer::newline_length;

/// From byte offsets to numbers of lines and source strings.
#[derive(Clone, Debug, Default)]
pub(crate) struct LineMap {
    /// Byte offset of the first byte of each line.
    starts: Vec<u32>,
    /// Changes by `#line`, by ascending line.
    changes: Vec<Change>,
    /// The index of the first line of the unit.
    first: u32,
}

/// The effect of a `#line` directive.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// The index of the first line after the directive.
    from: u32,
    /// The number of that line.
    line: u32,
    /// The number of the source string.
    source: u32,
}

impl LineMap {
    /// Finds the lines of a text, whose unit begins at an offset. A line ends at LF, CR, CR LF or LF CR.
    pub(super) fn new(text: &[u8], start: u32) -> LineMap {
        let mut starts = Vec::with_capacity(1 + text.len() / 24);
        starts.push(0);
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            if byte == b'\n' || byte == b'\r' {
                at += newline_length(text, at);
                starts.push(at as u32);
            } else {
                at += 1;
            }
        }
        let mut map = LineMap { starts, changes: Vec::new(), first: 0 };
        map.first = map.index(start);
        map
    }

    /// Gives the line of an offset, which is after all earlier ones, a number, and optionally the source string.
    pub(super) fn change(&mut self, offset: u32, line: u32, source: Option<u32>) {
        let source = source.unwrap_or_else(|| self.changes.last().map_or(0, |change| change.source));
        self.changes.push(Change { from: self.index(offset), line, source });
    }

    /// The number of the line of an offset in the text, from 1, without the effect of `#line`.
    pub(crate) fn physical_line(&self, offset: u32) -> u32 {
        self.index(offset) + 1
    }

    /// The number of the line of an offset, and the number of its source string: what `__LINE__` and `__FILE__` are
    /// there.
    pub(crate) fn line(&self, offset: u32) -> (u32, u32) {
        let index = self.index(offset);
        let after = self.changes.partition_point(|change| change.from <= index);
        match after.checked_sub(1).and_then(|at| self.changes.get(at)) {
            Some(change) => (change.line.wrapping_add(index - change.from), change.source),
            None => ((index + 1).saturating_sub(self.first), 0),
        }
    }

    /// Whether a `#line` changes numbers anywhere.
    pub(crate) fn has_changes(&self) -> bool {
        !self.changes.is_empty()
    }

    /// The index of the line of an offset.
    fn index(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1) as u32
    }
}

//! A line with columns.

/// Text under construction, and the column that decides on the spaces before the next operand. Some parts of messages
/// do not count.
#[derive(Default)]
pub(super) struct Line {
    text: String,
    column: usize,
}

impl Line {
    /// Appends text.
    pub(super) fn put(&mut self, text: &str) {
        self.column += text.len();
        self.text.push_str(text);
    }

    /// Appends text that does not count.
    pub(super) fn put_uncounted(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Appends spaces up to a column, at least one.
    pub(super) fn pad(&mut self, column: usize) {
        let count = column.saturating_sub(self.column).max(1);
        self.column += count;
        self.text.extend(std::iter::repeat_n(' ', count));
    }

    /// Begins a new line.
    pub(super) fn newline(&mut self) {
        self.text.push('\n');
        self.column = 0;
    }

    /// The text.
    pub(super) fn finish(self) -> String {
        self.text
    }
}

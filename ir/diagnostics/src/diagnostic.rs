//! Diagnostics in a form that every front end can show: severity, position, message, rule and hint.
//!
//! The parser and the check report [`Diagnostic`]s; [`LineIndex`] turns their byte offsets into lines and columns.

use serde::Serialize;

use crate::code::ErrorCode;
use crate::span::Span;

/// The severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Suspicious, but the shader has a meaning.
    Warning,
    /// The shader is not valid.
    Error,
}

impl std::fmt::Display for Severity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// The token of an item that is meant, where only the span of the item is known: the front end of the language finds
/// it in the text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Focus {
    /// The whole span.
    #[default]
    Whole,
    /// The first word: the mnemonic of an instruction, without suffixes.
    Mnemonic,
    /// A suffix of the mnemonic.
    Suffix(&'static str),
    /// A word after the first: a semantic, a target, a property, ...
    Word(&'static str),
    /// The register of a declaration, with its brackets.
    Register,
    /// The last word: the value of a property.
    Last,
    /// The components after a register, with their dot.
    Components,
}

/// Another position that a diagnostic refers to, such as the other side of a conflict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Note {
    /// The position.
    pub span: Span,
    /// The relevant token of the span.
    pub focus: Focus,
    /// The message, without position and full stop.
    pub message: String,
}

/// A diagnostic.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The position: bytes of the text or words of the token stream.
    pub span: Span,
    /// The relevant token of the span.
    pub focus: Focus,
    /// The message, without position and full stop.
    pub message: String,
    /// Number and name of the rule.
    pub code: ErrorCode,
    /// The remedy.
    pub hint: Option<String>,
    /// Other positions that the diagnostic refers to.
    pub notes: Vec<Note>,
}

/// Sorts diagnostics by start position, stably. All sorting of diagnostics uses this function, because each further
/// instance of the sort adds 6 KB of code.
pub fn sort_by_start(findings: &mut [Diagnostic]) {
    findings.sort_by_key(|finding| finding.span.start);
}

impl Diagnostic {
    /// Creates a diagnostic.
    pub fn new(severity: Severity, code: ErrorCode, span: Span, message: impl Into<String>) -> Diagnostic {
        let (focus, message) = (Focus::Whole, message.into());
        Diagnostic { severity, span, focus, message, code, hint: None, notes: Vec::new() }
    }

    /// Creates an error.
    pub fn error(code: ErrorCode, span: Span, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, span, message)
    }

    /// Adds a hint.
    pub fn with_hint(mut self, hint: impl Into<String>) -> Diagnostic {
        self.hint = Some(hint.into());
        self
    }

    /// Narrows the diagnostic to one token of its span.
    pub fn with_focus(mut self, focus: Focus) -> Diagnostic {
        self.focus = focus;
        self
    }

    /// Adds a note on another position. Notes without a position are dropped.
    pub fn with_note(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.note(span, Focus::Whole, message);
        self
    }

    /// Adds a note on another position. Notes without a position are dropped.
    pub fn note(&mut self, span: Span, focus: Focus, message: impl Into<String>) {
        if span.end > span.start {
            self.notes.push(Note { span, focus, message: message.into() });
        }
    }

    /// Whether the diagnostic is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}[{}]: {}", self.severity, self.code, self.message)
    }
}

/// Start offsets of the lines of a text, to convert byte offsets to lines and columns.
#[derive(Clone, Debug)]
pub struct LineIndex {
    /// Byte offset of the first byte of each line.
    starts: Vec<u32>,
}

impl LineIndex {
    /// Indexes `text`. Lines end at LF.
    pub fn new(text: &[u8]) -> LineIndex {
        let after_newlines = text.iter().enumerate().filter(|&(_, &byte)| byte == b'\n').map(|(at, _)| at as u32 + 1);
        LineIndex { starts: std::iter::once(0).chain(after_newlines).collect() }
    }

    /// Returns the 1-based line and column (in bytes) of a byte offset. An offset past the end is in the last line.
    pub fn line_column(&self, offset: u32) -> (u32, u32) {
        let line = self.starts.partition_point(|&start| start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        (line as u32, offset - start + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns() {
        let index = LineIndex::new(b"FRAG\n\nEND\n");
        let positions = [0, 4, 5, 6, 8, 9, 10, 12].map(|offset| index.line_column(offset));
        assert_eq!(positions, [(1, 1), (1, 5), (2, 1), (3, 1), (3, 3), (3, 4), (4, 1), (4, 3)]);
        assert_eq!(LineIndex::new(b"").line_column(0), (1, 1));
    }

    #[test]
    fn shown_with_its_code() {
        let code = ErrorCode::new("T9999", "no-such-thing");
        let diagnostic = Diagnostic::error(code, Span::new(1, 2), "there is no such thing").with_hint("x");
        assert_eq!(diagnostic.to_string(), "error[T9999]: there is no such thing");
        assert_eq!(diagnostic.hint.as_deref(), Some("x"));
        assert!(diagnostic.is_error() && Severity::Error > Severity::Warning);
        let noted = diagnostic.with_note(Span::default(), "nowhere").with_note(Span::new(5, 6), "there");
        assert_eq!(noted.notes.iter().map(|note| note.message.as_str()).collect::<Vec<_>>(), ["there"]);
    }
}

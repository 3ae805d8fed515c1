//! The cursor of the parser: blanks, characters, words, numbers, and errors at its position.

use super::{Parse, Parser};
use crate::limits::MAX_DIAGNOSTICS;
use crate::tables::lookup::Word;
use crate::text::error::ParseErrorKind;
use crate::text::lexer;
use tgsi_diagnostics::{Span, suggest};

/// A range of blanks and comments in the text.
#[derive(Clone, Copy)]
pub(super) struct BlankRange {
    pub(super) from: usize,
    to: usize,
    /// The first comment, or the end if there is no comment.
    pub(super) comment: usize,
}

impl BlankRange {
    /// A value that matches no position in the text.
    pub(super) const NONE: BlankRange = BlankRange { from: usize::MAX, to: usize::MAX, comment: usize::MAX };
}

impl<'a> Parser<'a> {
    #[inline]
    pub(super) fn rest(&self) -> &'a [u8] {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Reserves capacity for the instructions of the rest of the text, assuming that it is like the part already
    /// parsed. A copy that is left behind has been written and stays resident, but unused capacity is never touched.
    #[cold]
    pub(super) fn make_room(&mut self) {
        let count = self.shader.instructions.len();
        let expected = count * (self.text.len() - self.at.min(self.text.len())) / self.at.max(1);
        self.shader.instructions.reserve_exact((expected + expected / 16).max(count / 4 + 16));
    }

    /// The end of the text.
    pub(super) fn end(&self) -> usize {
        self.source.len()
    }

    /// Restricts parsing to the text from `at` to `end`; returns the previous position and end.
    pub(super) fn enter(&mut self, at: usize, end: usize) -> (usize, usize) {
        let outside = (self.at, self.end());
        self.at = at;
        self.source = self.text.get(..end).unwrap_or(self.text);
        self.blanks = BlankRange::NONE;
        outside
    }

    /// Moves the cursor to the beginning of `rest`, a suffix of [`Parser::rest`].
    pub(super) fn advance_to(&mut self, rest: &[u8]) {
        self.at = self.end() - rest.len();
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    /// Returns the end of the blanks at the cursor.
    #[inline]
    pub(super) fn ahead(&mut self) -> usize {
        match self.source.get(self.at..) {
            Some(&[byte, ..]) if !lexer::may_be_skipped(byte) => self.at,
            Some(&[b' ', byte, ..]) if !lexer::may_be_skipped(byte) => self.at + 1,
            _ => self.behind_blanks(),
        }
    }

    pub(super) fn behind_blanks(&mut self) -> usize {
        if self.blanks.from != self.at {
            let rest = lexer::skip_only_blanks(self.rest());
            let comment = self.end() - rest.len();
            let to = if lexer::at_comment(rest) { self.end() - lexer::skip_blanks(rest).len() } else { comment };
            self.blanks = BlankRange { from: self.at, to, comment };
        }
        self.blanks.to
    }

    #[inline]
    pub(super) fn skip(&mut self) {
        self.at = self.ahead();
    }

    /// Returns the byte after blanks.
    #[inline]
    pub(super) fn peek_ahead(&mut self) -> Option<u8> {
        let ahead = self.ahead();
        self.source.get(ahead).copied()
    }

    #[inline]
    pub(super) fn span_from(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    /// Accepts `byte` after blanks; consumes nothing if another byte follows.
    #[inline(always)]
    pub(super) fn accept(&mut self, byte: u8) -> bool {
        let ahead = self.ahead();
        let found = self.source.get(ahead) == Some(&byte);
        if found {
            self.at = ahead + 1;
        }
        found
    }

    #[inline]
    pub(super) fn expect(&mut self, byte: u8) -> Parse<()> {
        if self.accept(byte) { Ok(()) } else { self.expected(byte) }
    }

    #[cold]
    pub(super) fn expected(&mut self, byte: u8) -> Parse<()> {
        let (found, span) = self.found_ahead();
        self.fail(ParseErrorKind::ExpectedCharacter { expected: byte as char, found }, span)
    }

    /// Returns the word after blanks without consuming it.
    pub(super) fn peek_word(&mut self) -> Option<Word<'a>> {
        let ahead = self.ahead();
        lexer::word(self.source.get(ahead..)?)
    }

    /// Consumes the word after blanks; consumes nothing if there is no word.
    #[inline]
    pub(super) fn word(&mut self) -> Option<(Word<'a>, Span)> {
        let start = self.ahead();
        let word = lexer::word(self.source.get(start..)?)?;
        self.at = start + word.len();
        Some((word, self.span_from(start)))
    }

    #[inline]
    pub(super) fn expect_word(&mut self, expected: &'static str) -> Parse<(Word<'a>, Span)> {
        match self.word() {
            Some(word) => Ok(word),
            None => {
                let (found, span) = self.found_ahead();
                self.fail(ParseErrorKind::Expected { expected, found }, span)
            }
        }
    }

    /// Accepts this keyword after blanks.
    pub(super) fn keyword(&mut self, keyword: &str) -> bool {
        let before = self.at;
        let found = self.word().is_some_and(|(word, _)| word.is(keyword));
        if !found {
            self.at = before;
        }
        found
    }

    /// Parses a number with optional sign in a range, after blanks.
    pub(super) fn number(&mut self, what: &'static str, low: i64, high: i64) -> Parse<i64> {
        self.skip();
        let start = self.at;
        let negative = match self.peek() {
            Some(sign @ (b'-' | b'+')) => {
                self.at += 1;
                sign == b'-'
            }
            _ => false,
        };
        let Ok((rest, magnitude)) = lexer::number(self.rest()) else {
            self.at = start;
            let (found, span) = self.found();
            return self.fail(ParseErrorKind::Expected { expected: "a number", found }, span);
        };
        self.advance_to(rest);
        let magnitude = i64::try_from(magnitude).unwrap_or(i64::MAX);
        let value = if negative { -magnitude } else { magnitude };
        if (low..=high).contains(&value) {
            return Ok(value);
        }
        let span = self.span_from(start);
        self.fail(ParseErrorKind::OutOfRange { what, value: self.quote(span), low, high }, span)
    }

    #[cold]
    pub(super) fn fail<T>(&self, kind: ParseErrorKind, span: Span) -> Parse<T> {
        Err(Box::new(kind.at(span)))
    }

    /// Returns an error for an unknown name, with the closest known one as hint.
    #[cold]
    pub(super) fn fail_name<'n, T>(
        &self,
        kind: ParseErrorKind,
        span: Span,
        known: impl Iterator<Item = &'n str>,
    ) -> Parse<T> {
        // Hints are only shown for errors that are reported.
        let word = self.quote(span);
        let diagnostic = kind.at(span);
        Err(Box::new(match suggest(&word, known) {
            Some(name) => diagnostic.with_hint(format!("did you mean `{name}`?")),
            None => diagnostic,
        }))
    }

    pub(super) fn warn(&mut self, kind: ParseErrorKind, span: Span) {
        if self.diagnostics.len() < 2 * MAX_DIAGNOSTICS {
            self.diagnostics.push(kind.at(span));
        }
    }

    /// Quotes the text of a span for a message, shortened if long.
    pub(super) fn quote(&self, span: Span) -> String {
        const LONGEST: usize = 60;
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let quoted = String::from_utf8_lossy(text.get(..LONGEST).unwrap_or(text));
        if text.len() > LONGEST { format!("{quoted}...") } else { quoted.into_owned() }
    }

    /// Describes, for a message, the token after blanks or the end of the line, and returns its span.
    pub(super) fn found_ahead(&mut self) -> (String, Span) {
        let before = self.at;
        let blanks = lexer::skip_blanks_of_line(self.rest());
        if blanks.first().is_none_or(|&byte| byte != b'\n') && !lexer::at_comment(blanks) {
            self.skip();
            return self.found();
        }
        ("the end of the line".to_owned(), Span::new(before as u32, before as u32 + 1))
    }

    /// Describes, for a message, the token at the cursor, and returns its span.
    pub(super) fn found(&self) -> (String, Span) {
        let start = self.at;
        let rest = self.rest();
        let (length, description) = match rest {
            [] => return ("the end of the text".to_owned(), Span::new(start as u32, start as u32)),
            [b'\n', ..] => return ("the end of the line".to_owned(), Span::new(start as u32, start as u32 + 1)),
            _ => match lexer::word(rest) {
                Some(word) => (word.len(), None),
                None => {
                    // A whole character, if it is valid.
                    let length = (1..=4)
                        .find(|&n| rest.get(..n).is_some_and(|bytes| std::str::from_utf8(bytes).is_ok()))
                        .unwrap_or(1);
                    let first = rest.first().copied().unwrap_or(0);
                    let printable = rest.get(..length).is_some_and(|b| std::str::from_utf8(b).is_ok()) && first >= b' ';
                    (length, (!printable).then(|| format!("byte 0x{first:02x}")))
                }
            },
        };
        let span = Span::new(start as u32, (start + length) as u32);
        (description.unwrap_or_else(|| format!("`{}`", self.quote(span))), span)
    }
}

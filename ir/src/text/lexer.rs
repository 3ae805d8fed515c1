//! Lines and the tokens in them. All of them are slices of the text; nothing is copied.

use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, digit1, space0};
use nom::combinator::{opt, recognize};
use nom::sequence::pair;
use nom::{IResult, Parser};

use super::error::TextErrorKind;

/// An error in a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Failure {
    /// Byte offset in the text.
    pub offset: usize,
    pub kind: TextErrorKind,
    pub hint: Option<String>,
}

pub(super) type ParseResult<T> = Result<T, Failure>;

/// A non-blank line of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct SourceLine<'a> {
    /// Number, starting at 1.
    pub number: u32,
    /// Byte offset of the start of the line.
    pub start: usize,
    /// Byte offset of `full`.
    pub offset: usize,
    /// The line without surrounding blanks.
    pub full: &'a str,
    /// The line up to its comment.
    pub code: &'a str,
    /// The text after the first `//`.
    pub comment: Option<&'a str>,
}

impl<'a> SourceLine<'a> {
    /// Returns a scanner for the code of the line.
    pub(super) fn scanner(&self) -> Scanner<'a> {
        Scanner { rest: self.code, end: self.offset + self.code.len() }
    }

    /// The parts of the comment: `// a // b` has two.
    pub(super) fn comments(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.comment.into_iter().flat_map(|r| r.split("//")).map(str::trim)
    }

    /// The words of all parts of the comment.
    pub(super) fn comment_words(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.comments().flat_map(str::split_ascii_whitespace)
    }
}

/// The non-blank lines of a text.
pub(super) fn lines(text: &str) -> Vec<SourceLine<'_>> {
    let mut start = 0;
    let mut lines = Vec::new();
    for (i, line) in text.split('\n').enumerate() {
        let full = line.trim();
        if !full.is_empty() {
            let (code, comment) = match full.split_once("//") {
                Some((code, comment)) => (code.trim_end(), Some(comment)),
                None => (full, None),
            };
            let offset = start + (line.len() - line.trim_start().len());
            lines.push(SourceLine { number: i as u32 + 1, start, offset, full, code, comment });
        }
        start += line.len() + 1;
    }
    lines
}

fn identifier(input: &str) -> IResult<&str, &str> {
    take_while1(|c: char| c.is_ascii_alphanumeric() || c == '_').parse(input)
}

fn decimal(input: &str) -> IResult<&str, &str> {
    recognize(pair(opt(char('-')), digit1)).parse(input)
}

/// A position in a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scanner<'a> {
    rest: &'a str,
    /// Offset of the end of the scanned text.
    end: usize,
}

impl<'a> Scanner<'a> {
    /// Makes a scanner for a piece of the text that starts at this offset.
    pub(super) fn new(text: &'a str, offset: usize) -> Scanner<'a> {
        Scanner { rest: text, end: offset + text.len() }
    }

    /// Byte offset of the next character.
    pub(super) fn offset(&self) -> usize {
        self.end - self.rest.len()
    }

    /// The rest of the text.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Returns an error at the next character.
    pub(super) fn fail<T>(&self, kind: TextErrorKind) -> ParseResult<T> {
        let blanks = self.rest.len() - self.rest.trim_start().len();
        Err(Failure { offset: self.offset() + blanks, kind, hint: None })
    }

    fn run<O>(&mut self, parser: impl Parser<&'a str, Output = O, Error = nom::error::Error<&'a str>>) -> Option<O> {
        let mut parser = nom::sequence::preceded(space0, parser);
        match parser.parse(self.rest) {
            Ok((rest, output)) => {
                self.rest = rest;
                Some(output)
            }
            Err(_) => None,
        }
    }

    /// Skips `text` and blanks before it. Returns whether it was there.
    pub(super) fn eat(&mut self, text: &str) -> bool {
        self.run(tag(text)).is_some()
    }

    /// Skips `text` if no letter, digit or underscore follows it.
    pub(super) fn eat_word(&mut self, text: &str) -> bool {
        let before = *self;
        if self.eat(text) && !self.rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_') {
            return true;
        }
        *self = before;
        false
    }

    /// Skips `text`, or fails.
    pub(super) fn expect(&mut self, text: &str, what: &'static str) -> ParseResult<()> {
        if self.eat(text) { Ok(()) } else { self.fail(TextErrorKind::Expected(what)) }
    }

    /// Scans a word of letters, digits and underscores.
    pub(super) fn identifier(&mut self) -> Option<&'a str> {
        self.run(identifier)
    }

    /// Scans up to the next blank.
    pub(super) fn word(&mut self) -> Option<&'a str> {
        self.run(take_while1(|c: char| !c.is_ascii_whitespace()))
    }

    /// Scans a run of characters, possibly empty, without skipping blanks before it.
    pub(super) fn letters(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(self.rest.len());
        let (letters, rest) = self.rest.split_at(end);
        self.rest = rest;
        letters
    }

    /// Scans a decimal number.
    pub(super) fn number<T: std::str::FromStr>(&mut self, what: &'static str) -> ParseResult<T> {
        let before = *self;
        let parsed = self.run(decimal).and_then(|d| d.parse::<T>().ok());
        parsed.map_or_else(
            || {
                *self = before;
                self.fail(TextErrorKind::Expected(what))
            },
            Ok,
        )
    }

    /// Scans the number of a value, `%7`.
    pub(super) fn value_number(&mut self) -> ParseResult<u64> {
        self.expect("%", "a value")?;
        self.number("the number of a value")
    }

    /// Scans the number of a block, `b7`.
    pub(super) fn block_number(&mut self) -> ParseResult<u32> {
        self.expect("b", "a block")?;
        self.number("the number of a block")
    }

    /// Whether only blanks are left.
    pub(super) fn is_done(&self) -> bool {
        self.rest.trim_start().is_empty()
    }

    /// Fails if anything is left.
    pub(super) fn finish(&self) -> ParseResult<()> {
        if self.is_done() { Ok(()) } else { self.fail(TextErrorKind::Trailing) }
    }

    /// Skips the value of a constant after an operand, `(0x1, 0x2)`, which is redundant.
    pub(super) fn skip_constant(&mut self) {
        let before = *self;
        if self.eat("(") {
            let inner = self.rest;
            let is_value = inner.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+')
                || ["true", "false", "nan", "inf"]
                    .iter()
                    .any(|word| inner.strip_prefix(word).is_some_and(|after| after.starts_with([',', ')'])));
            if is_value && let Some(end) = inner.find(')') {
                self.rest = &inner[end + 1..];
                return;
            }
        }
        *self = before;
    }

    /// Scans up to `text`, which is skipped, too.
    pub(super) fn until(&mut self, text: &str, what: &'static str) -> ParseResult<Scanner<'a>> {
        match self.rest.split_once(text) {
            Some((inside, rest)) => {
                let inner = Scanner::new(inside, self.offset());
                self.rest = rest;
                Ok(inner)
            }
            None => self.fail(TextErrorKind::Expected(what)),
        }
    }

    /// Scans the content of a pair of parentheses, which may contain others.
    pub(super) fn group(&mut self) -> ParseResult<Scanner<'a>> {
        self.expect("(", "`(`")?;
        let mut depth = 1usize;
        for (i, c) in self.rest.bytes().enumerate() {
            match c {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let inner = Scanner::new(&self.rest[..i], self.offset());
                self.rest = &self.rest[i + 1..];
                return Ok(inner);
            }
        }
        self.fail(TextErrorKind::Expected("`)`"))
    }

    /// Scans up to the next comma outside of parentheses.
    pub(super) fn piece(&mut self) -> Option<Scanner<'a>> {
        if self.is_done() {
            return None;
        }
        let mut depth = 0usize;
        for (i, c) in self.rest.bytes().enumerate() {
            match c {
                b'(' | b'{' => depth += 1,
                b')' | b'}' => depth = depth.saturating_sub(1),
                b',' if depth == 0 => {
                    let inner = Scanner::new(&self.rest[..i], self.offset());
                    self.rest = &self.rest[i + 1..];
                    return Some(inner);
                }
                _ => {}
            }
        }
        let inner = *self;
        self.rest = "";
        Some(inner)
    }

    /// Splits the rest at the last ` (`: returns the part before it, and keeps the parentheses.
    pub(super) fn split_last_group(&mut self) -> Option<Scanner<'a>> {
        let at = self.rest.rfind(" (")?;
        let head = Scanner::new(&self.rest[..at], self.offset());
        self.rest = &self.rest[at..];
        Some(head)
    }

    /// Skips blanks.
    pub(super) fn skip_blanks(&mut self) {
        self.run(take_while(|_| false));
    }
}

/// Suggests the most similar name for an unknown one.
pub(super) fn did_you_mean<'n>(wrong: &str, names: impl Iterator<Item = &'n str>) -> Option<String> {
    tgsi_diagnostics::suggest(wrong, names).map(|name| format!("did you mean `{name}`?"))
}

/// Parses a decimal number, or a hexadecimal one after `0x`.
pub(super) fn parse_number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// Sets a field to the parsed value, if any, and returns whether there was one.
pub(super) fn set<T>(field: &mut T, value: Option<T>) -> bool {
    value.map(|value| *field = value).is_some()
}

//! Parses text into a shader.
//!
//! Statements are parsed by recursive descent of fixed depth over a cursor; the recognisers of the lexer use nom. After
//! an error in a statement, parsing resumes at the next statement (the next line, or the next instruction number), so
//! that all errors of a text are found. The parser accepts everything that Mesa's parser accepts or should accept, the
//! prints of older Mesa versions, and the extensions of our [`print`](super::print()).
//!
//! Invariants: every loop consumes input or ends. Lookahead is bounded by the blanks before the next token, and each
//! function looks ahead a bounded number of times per token, so parsing takes linear time.

mod common_operands;
mod declaration;
mod instruction;
mod operand;
mod predicate;
mod preprocess;
mod recovery;
mod value;

use super::error::ParseErrorKind;
use super::legacy::Legacy;
use super::lexer;
use crate::limits::{Limits, MAX_DIAGNOSTICS, MAX_POSITION};
use crate::shader::Shader;
use crate::tables::Processor;
use crate::tables::lookup::Word;
use preprocess::Preprocessor;
use tgsi_diagnostics::Diagnostic;
use tgsi_diagnostics::Span;
use tgsi_diagnostics::suggest;

pub use recovery::{Gaps, Reading};

/// A parsed text.
#[derive(Clone, PartialEq, Debug)]
pub struct Parsed {
    /// The shader; spans are byte ranges of the text.
    pub shader: Shader,
    /// Warnings, sorted by position.
    pub warnings: Vec<Diagnostic>,
}

/// Parses a text.
///
/// # Errors
///
/// All errors of the text (and its warnings), sorted by position; the parser gives up after [`MAX_DIAGNOSTICS`].
pub fn parse(text: &[u8]) -> Result<Parsed, Vec<Diagnostic>> {
    let Reading { shader, diagnostics, gaps } = read(text);
    if gaps.is_some() { Err(diagnostics) } else { Ok(Parsed { shader, warnings: diagnostics }) }
}

/// Parses as much of a text as possible, so that the result can be analysed despite errors.
pub fn read(text: &[u8]) -> Reading {
    read_within(text, &Limits::default())
}

/// Parses as much of a text as possible, with the given limits.
pub fn read_within(text: &[u8], limits: &Limits) -> Reading {
    let mut gaps = Gaps::default();
    let limit = limits.text_bytes.min(MAX_POSITION);
    if text.len() as u64 > limit {
        let kind = ParseErrorKind::TooLong { length: text.len() as u64, limit };
        gaps.unrecoverable = true;
        let shader = Shader::new(Processor::Fragment);
        return Reading { shader, diagnostics: vec![kind.at(Span::new(0, 1))], gaps: Some(gaps) };
    }
    let mut parser = Parser::new(text);
    // The check reports which limit is exceeded; this bound only makes parsing terminate.
    let items = [limits.instructions, limits.declarations, limits.immediates].into_iter().fold(0, u64::saturating_add);
    parser.most_items = usize::try_from(items).unwrap_or(usize::MAX).saturating_add(1);
    parser.program();
    let Parser { shader, mut diagnostics, errors, gaps, .. } = parser;
    diagnostics.sort_by_key(|d| (d.span.start, d.span.end));
    Reading { shader, diagnostics, gaps: (errors > 0).then_some(gaps) }
}

/// Usual minimum number of bytes per instruction of a text. If there are fewer, the list of instructions grows.
const BYTES_PER_INSTRUCTION: usize = 31;
/// Minimum number of bytes of any other item.
const BYTES_PER_ITEM: usize = 64;
/// Maximum capacity for instructions that is reserved in advance; few texts have more, and some long texts have none.
const MAX_RESERVED: usize = 1 << 14;

/// The result of parsing a part of a statement. An error ends the statement.
type Parse<T> = Result<T, Box<Diagnostic>>;

struct Parser<'a> {
    text: &'a [u8],
    /// The cursor.
    at: usize,
    /// The text up to the end of parsing: of the text, or of the macro definition that is being parsed.
    source: &'a [u8],
    /// The blanks that were skipped last, cached because several functions peek past them.
    blanks: Blanks,
    shader: Shader,
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    /// The parts of the text that were not understood.
    gaps: Gaps,
    /// Maximum number of items before parsing ends: the shader is too large, whatever follows.
    most_items: usize,
    preprocessor: Preprocessor<'a>,
    legacy: Legacy,
    /// Number of vertices that an empty bracket denotes.
    vertices: u32,
}

/// A range of blanks and comments in the text.
#[derive(Clone, Copy)]
struct Blanks {
    from: usize,
    to: usize,
    /// The first comment, or the end if there is no comment.
    comment: usize,
}

impl Blanks {
    /// A value that matches no position in the text.
    const NONE: Blanks = Blanks { from: usize::MAX, to: usize::MAX, comment: usize::MAX };
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8]) -> Parser<'a> {
        let trailing_nuls = text.iter().rev().take_while(|&&byte| byte == 0).count();
        let mut shader = Shader::new(Processor::Fragment);
        let instructions = (text.len() / BYTES_PER_INSTRUCTION).min(MAX_RESERVED);
        shader.instructions.reserve(instructions);
        shader.order.reserve(instructions + text.len() / BYTES_PER_ITEM);
        Parser {
            text,
            at: if text.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 },
            source: text.get(..text.len() - trailing_nuls).unwrap_or(text),
            blanks: Blanks::NONE,
            shader,
            diagnostics: Vec::new(),
            errors: 0,
            gaps: Gaps::default(),
            most_items: usize::MAX,
            preprocessor: Preprocessor::default(),
            legacy: Legacy::default(),
            vertices: 0,
        }
    }

    #[inline]
    fn rest(&self) -> &'a [u8] {
        self.source.get(self.at..).unwrap_or_default()
    }

    /// Reserves capacity for the instructions of the rest of the text, assuming that it is like the part already
    /// parsed. A copy that is left behind has been written and stays resident, but unused capacity is never touched.
    #[cold]
    fn make_room(&mut self) {
        let count = self.shader.instructions.len();
        let expected = count * (self.text.len() - self.at.min(self.text.len())) / self.at.max(1);
        self.shader.instructions.reserve_exact((expected + expected / 16).max(count / 4 + 16));
    }

    /// The end of the text.
    fn end(&self) -> usize {
        self.source.len()
    }

    /// Restricts parsing to the text from `at` to `end`; returns the previous position and end.
    fn enter(&mut self, at: usize, end: usize) -> (usize, usize) {
        let outside = (self.at, self.end());
        self.at = at;
        self.source = self.text.get(..end).unwrap_or(self.text);
        self.blanks = Blanks::NONE;
        outside
    }

    /// Moves the cursor to the beginning of `rest`, a suffix of [`Parser::rest`].
    fn advance_to(&mut self, rest: &[u8]) {
        self.at = self.end() - rest.len();
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.source.get(self.at).copied()
    }

    /// Returns the end of the blanks at the cursor.
    #[inline]
    fn ahead(&mut self) -> usize {
        match self.source.get(self.at..) {
            Some(&[byte, ..]) if !lexer::may_be_skipped(byte) => self.at,
            Some(&[b' ', byte, ..]) if !lexer::may_be_skipped(byte) => self.at + 1,
            _ => self.behind_blanks(),
        }
    }

    fn behind_blanks(&mut self) -> usize {
        if self.blanks.from != self.at {
            let rest = lexer::skip_only_blanks(self.rest());
            let comment = self.end() - rest.len();
            let to = if lexer::at_comment(rest) { self.end() - lexer::skip_blanks(rest).len() } else { comment };
            self.blanks = Blanks { from: self.at, to, comment };
        }
        self.blanks.to
    }

    #[inline]
    fn skip(&mut self) {
        self.at = self.ahead();
    }

    /// Returns the byte after blanks.
    #[inline]
    fn peek_ahead(&mut self) -> Option<u8> {
        let ahead = self.ahead();
        self.source.get(ahead).copied()
    }

    #[inline]
    fn span_from(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    /// Accepts `byte` after blanks; consumes nothing if another byte follows.
    #[inline(always)]
    fn accept(&mut self, byte: u8) -> bool {
        let ahead = self.ahead();
        let found = self.source.get(ahead) == Some(&byte);
        if found {
            self.at = ahead + 1;
        }
        found
    }

    #[inline]
    fn expect(&mut self, byte: u8) -> Parse<()> {
        if self.accept(byte) { Ok(()) } else { self.expected(byte) }
    }

    #[cold]
    fn expected(&mut self, byte: u8) -> Parse<()> {
        let (found, span) = self.found_ahead();
        self.fail(ParseErrorKind::ExpectedCharacter { expected: byte as char, found }, span)
    }

    /// Returns the word after blanks without consuming it.
    fn peek_word(&mut self) -> Option<Word<'a>> {
        let ahead = self.ahead();
        lexer::word(self.source.get(ahead..)?)
    }

    /// Consumes the word after blanks; consumes nothing if there is no word.
    #[inline]
    fn word(&mut self) -> Option<(Word<'a>, Span)> {
        let start = self.ahead();
        let word = lexer::word(self.source.get(start..)?)?;
        self.at = start + word.len();
        Some((word, self.span_from(start)))
    }

    #[inline]
    fn expect_word(&mut self, expected: &'static str) -> Parse<(Word<'a>, Span)> {
        match self.word() {
            Some(word) => Ok(word),
            None => {
                let (found, span) = self.found_ahead();
                self.fail(ParseErrorKind::Expected { expected, found }, span)
            }
        }
    }

    /// Accepts this keyword after blanks.
    fn keyword(&mut self, keyword: &str) -> bool {
        let before = self.at;
        let found = self.word().is_some_and(|(word, _)| word.is(keyword));
        if !found {
            self.at = before;
        }
        found
    }

    /// Parses a number with optional sign in a range, after blanks.
    fn number(&mut self, what: &'static str, low: i64, high: i64) -> Parse<i64> {
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
    fn fail<T>(&self, kind: ParseErrorKind, span: Span) -> Parse<T> {
        Err(Box::new(kind.at(span)))
    }

    /// Returns an error for an unknown name, with the closest known one as hint.
    #[cold]
    fn fail_name<'n, T>(&self, kind: ParseErrorKind, span: Span, known: impl Iterator<Item = &'n str>) -> Parse<T> {
        // Hints are only shown for errors that are reported.
        let word = self.quote(span);
        let diagnostic = kind.at(span);
        Err(Box::new(match suggest(&word, known) {
            Some(name) => diagnostic.with_hint(format!("did you mean `{name}`?")),
            None => diagnostic,
        }))
    }

    fn warn(&mut self, kind: ParseErrorKind, span: Span) {
        if self.diagnostics.len() < 2 * MAX_DIAGNOSTICS {
            self.diagnostics.push(kind.at(span));
        }
    }

    /// Quotes the text of a span for a message, shortened if long.
    fn quote(&self, span: Span) -> String {
        const LONGEST: usize = 60;
        let text = self.text.get(span.start as usize..span.end as usize).unwrap_or_default();
        let quoted = String::from_utf8_lossy(text.get(..LONGEST).unwrap_or(text));
        if text.len() > LONGEST { format!("{quoted}...") } else { quoted.into_owned() }
    }

    /// Describes, for a message, the token after blanks or the end of the line, and returns its span.
    fn found_ahead(&mut self) -> (String, Span) {
        let before = self.at;
        let blanks = lexer::skip_blanks_of_line(self.rest());
        if blanks.first().is_none_or(|&byte| byte != b'\n') && !lexer::at_comment(blanks) {
            self.skip();
            return self.found();
        }
        ("the end of the line".to_owned(), Span::new(before as u32, before as u32 + 1))
    }

    /// Describes, for a message, the token at the cursor, and returns its span.
    fn found(&self) -> (String, Span) {
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

    fn program(&mut self) {
        let full = self.end();
        if self.header().is_err() {
            self.gaps.unrecoverable = true;
            return;
        }
        loop {
            self.preprocess();
            if self.errors >= MAX_DIAGNOSTICS {
                self.gaps.unrecoverable = true;
                self.skip();
                let here = Span::new(self.at as u32, self.at as u32);
                self.diagnostics.push(ParseErrorKind::TooManyErrors.at(here));
                return;
            }
            if self.at >= self.end() || self.shader.order.len() > self.most_items {
                break;
            }
            let start = self.at;
            let before = self.counts();
            if let Err(diagnostic) = self.statement() {
                // The error may have occurred within a macro definition.
                self.enter(self.at, full);
                self.leave_gap(start, before);
                let position = (diagnostic.span.start as usize).max(start);
                self.report(*diagnostic);
                self.at = self.resume(start, position);
            }
        }
        self.finish_preprocessor();
        let known = self.diagnostics.len();
        if let Err(kind) = self.legacy.finish(&mut self.shader, &mut self.diagnostics) {
            if self.errors == 0 {
                let here = Span::new(self.end() as u32, self.end() as u32);
                self.report(kind.at(here));
            }
            self.gaps.unrecoverable = true;
        }
        if self.errors > 0 && !self.gaps.unrecoverable {
            // These diagnostics would refer to placeholders for statements that were not understood.
            self.diagnostics.truncate(known);
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.errors += 1;
        if self.errors <= MAX_DIAGNOSTICS {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Parses the stage. Without a stage the rest cannot be parsed.
    fn header(&mut self) -> Result<(), ()> {
        self.preprocess();
        self.skip();
        if self.at >= self.end() {
            self.report(ParseErrorKind::Empty.at(Span::new(0, self.end() as u32)));
            return Err(());
        }
        let Some((word, span)) = self.word() else {
            let (found, span) = self.found();
            self.report(ParseErrorKind::Expected { expected: "the name of a stage", found }.at(span));
            return Err(());
        };
        // The oldest prints have a version: `FRAG1.1`.
        let versionless = word.bytes().ends_with(b"1") && self.peek() == Some(b'.');
        let processor = Processor::from_word(word).or_else(|| {
            let versionless = versionless.then(|| word.split_at(word.len() - 1).0)?;
            let processor = Processor::from_word(versionless)?;
            let (rest, _) = lexer::number(self.rest().get(1..)?).ok()?;
            self.advance_to(rest);
            Some(processor)
        });
        let Some(processor) = processor else {
            let known = || Processor::ALL.iter().map(|p| p.name());
            let mut diagnostic = ParseErrorKind::UnknownStage(self.quote(span)).at(span);
            let upper = word.as_str().to_ascii_uppercase();
            let meant = known().find(|&name| upper.starts_with(name)).or_else(|| suggest(word.as_str(), known()));
            if let Some(name) = meant {
                diagnostic = diagnostic.with_hint(format!("did you mean `{name}`?"));
            }
            self.report(diagnostic);
            // The rest is parsed as if the stage was the suggested one.
            match meant.and_then(|name| Processor::ALL.iter().copied().find(|p| p.name() == name)) {
                Some(processor) => {
                    self.begin_stage(processor, span);
                    return Ok(());
                }
                None => return Err(()),
            }
        };
        self.begin_stage(processor, span);
        if let Err(diagnostic) = self.after_statement() {
            let position = diagnostic.span.start as usize;
            self.report(*diagnostic);
            self.at = self.resume(span.start as usize, position);
        }
        Ok(())
    }

    fn begin_stage(&mut self, processor: Processor, span: Span) {
        self.shader.processor = processor;
        self.shader.processor_span = span;
        self.vertices = match processor {
            Processor::TessControl | Processor::TessEval => 32,
            _ => 0,
        };
    }

    /// Returns the position to resume at after an error at `position` in the statement that began at `start`:
    /// `position` if it is the first of its line (the statement above it was incomplete), otherwise the next line or
    /// the next instruction number.
    fn resume(&self, start: usize, position: usize) -> usize {
        let end = self.end();
        let position = position.min(end);
        let line = self.text.get(start..position).unwrap_or_default();
        let blanks = line.iter().rev().take_while(|&&byte| lexer::is_blank(byte));
        if position > start && blanks.clone().any(|&byte| byte == b'\n') {
            return position;
        }
        let mut at = position;
        while let Some(&byte) = self.text.get(at).filter(|_| at < end) {
            at += 1;
            if byte == b'\n' {
                return at;
            }
            if lexer::is_blank(byte)
                && let Ok((rest, _)) = lexer::number(self.text.get(at..end).unwrap_or_default())
            {
                let after_number = lexer::skip_blanks_of_line(rest);
                if after_number.first() == Some(&b':') {
                    return at;
                }
                // Skip the digits, so that each is scanned once.
                at = end - rest.len();
            }
        }
        end
    }

    /// Accepts the number before an instruction: digits, directly followed by a colon.
    #[inline]
    fn instruction_number(&mut self) -> bool {
        let rest = self.rest();
        let digits = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        let found = digits > 0 && rest.get(digits) == Some(&b':');
        if found {
            self.at += digits + 1;
        }
        found
    }

    #[inline]
    fn statement(&mut self) -> Parse<()> {
        // The number is ignored: instructions are numbered by their order.
        if self.instruction_number() {
            return self.numbered_instruction();
        }
        let predicate = self.predicate()?;
        let Some((word, span)) = self.word() else {
            let (found, span) = self.found();
            return self.fail(ParseErrorKind::ExpectedStatement(found), span);
        };
        if predicate.is_some() {
            self.instruction(word, span, predicate.as_ref())?;
        } else if word.is_digits() {
            self.expect(b':')?;
            return self.numbered_instruction();
        } else if word.is("DCL") {
            self.declaration(span)?;
        } else if word.is("IMM") {
            self.immediate(span)?;
        } else if word.is("PROPERTY") {
            self.property(span)?;
        } else {
            self.instruction(word, span, None)?;
        }
        self.after_statement()
    }

    /// Parses an instruction after its number.
    #[inline]
    fn numbered_instruction(&mut self) -> Parse<()> {
        let rest = lexer::skip_only_blanks(self.rest());
        if let Some(word) = lexer::word(rest) {
            let start = self.end() - rest.len();
            self.at = start + word.len();
            self.instruction(word, self.span_from(start), None)?;
            return self.after_statement();
        }
        let predicate = self.predicate()?;
        let (word, span) = self.expect_word("an opcode")?;
        self.instruction(word, span, predicate.as_ref())?;
        self.after_statement()
    }

    /// Requires a blank, a comment or the end after a statement.
    #[inline]
    fn after_statement(&self) -> Parse<()> {
        let rest = self.rest();
        if rest.first().is_none_or(|&byte| lexer::is_blank(byte)) || lexer::at_comment(rest) {
            return Ok(());
        }
        let (found, span) = self.found();
        self.fail(ParseErrorKind::AfterStatement(found), span)
    }
}

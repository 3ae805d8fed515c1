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
mod cursor;
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
use cursor::BlankRange;
use preprocess::Preprocessor;
use tgsi_diagnostics::Diagnostic;
use tgsi_diagnostics::Span;
use tgsi_diagnostics::suggest;

pub use recovery::{ParseResult, SkippedParts};

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
    let ParseResult { shader, diagnostics, skipped } = read(text);
    if skipped.is_some() { Err(diagnostics) } else { Ok(Parsed { shader, warnings: diagnostics }) }
}

/// Parses as much of a text as possible, so that the result can be analysed despite errors.
pub fn read(text: &[u8]) -> ParseResult {
    read_within(text, &Limits::default())
}

/// Parses as much of a text as possible, with the given limits.
pub fn read_within(text: &[u8], limits: &Limits) -> ParseResult {
    let mut skipped = SkippedParts::default();
    let limit = limits.text_bytes.min(MAX_POSITION);
    if text.len() as u64 > limit {
        let kind = ParseErrorKind::TooLong { length: text.len() as u64, limit };
        skipped.unrecoverable = true;
        let shader = Shader::new(Processor::Fragment);
        return ParseResult { shader, diagnostics: vec![kind.at(Span::new(0, 1))], skipped: Some(skipped) };
    }
    let mut parser = Parser::new(text);
    // The check reports which limit is exceeded; this bound only makes parsing terminate.
    let items = [limits.instructions, limits.declarations, limits.immediates].into_iter().fold(0, u64::saturating_add);
    parser.most_items = usize::try_from(items).unwrap_or(usize::MAX).saturating_add(1);
    parser.program();
    let Parser { shader, mut diagnostics, errors, skipped, .. } = parser;
    diagnostics.sort_by_key(|d| (d.span.start, d.span.end));
    ParseResult { shader, diagnostics, skipped: (errors > 0).then_some(skipped) }
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
    blanks: BlankRange,
    shader: Shader,
    diagnostics: Vec<Diagnostic>,
    errors: usize,
    /// The parts of the text that were not understood.
    skipped: SkippedParts,
    /// Maximum number of items before parsing ends: the shader is too large, whatever follows.
    most_items: usize,
    preprocessor: Preprocessor<'a>,
    legacy: Legacy,
    /// Number of vertices that an empty bracket denotes.
    vertices: u32,
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
            blanks: BlankRange::NONE,
            shader,
            diagnostics: Vec::new(),
            errors: 0,
            skipped: SkippedParts::default(),
            most_items: usize::MAX,
            preprocessor: Preprocessor::default(),
            legacy: Legacy::default(),
            vertices: 0,
        }
    }

    fn program(&mut self) {
        let full = self.end();
        if self.header().is_err() {
            self.skipped.unrecoverable = true;
            return;
        }
        loop {
            self.preprocess();
            if self.errors >= MAX_DIAGNOSTICS {
                self.skipped.unrecoverable = true;
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
                self.record_skipped(start, before);
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
            self.skipped.unrecoverable = true;
        }
        if self.errors > 0 && !self.skipped.unrecoverable {
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

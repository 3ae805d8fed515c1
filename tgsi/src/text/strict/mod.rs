//! The exact grammar of Mesa 25: accepts a text only if Mesa's parser does.
//!
//! [`read`](super::read()) accepts texts of every era. For programs that send TGSI to hosts, [`mesa25`] finds the first
//! position where the parser of Mesa 25 stops. It only decides acceptance; our parser determines the meaning. Texts
//! that crash Mesa's parser are rejected.
//!
//! The relevant differences: blanks are blank, TAB and LF, and there are no comments; names and suffixes have one
//! order; direct indices have no sign; the parts of a declaration have a fixed order; immediates must have all of their
//! values; nothing that was removed from TGSI is accepted.

mod declaration;

use crate::tables::lookup::Word;
use crate::tables::{
    File, ImmediateType, Interpolation, InterpolationLocation, MemoryQualifiers, MemoryType, Opcode, PixelFormat,
    Primitive, Processor, PropertyName, ReturnType, Semantic, TextureTarget,
};
use tgsi_diagnostics::Diagnostic;
use tgsi_diagnostics::Span;

use super::error::ParseErrorKind;
use super::legacy::strip;
use super::{float, lexer, names};

/// Removed opcodes that still have names in Mesa, such as `UNK67`, and no operands.
const REMOVED: [&str; 9] = ["UNK67", "UNK81", "UNK82", "UNK93", "UNK113", "UNK114", "UNK115", "UNK165", "UNK212"];

/// Opcodes with a memory word in Mesa's parser, besides `RESQ`.
const MEMORY: std::ops::RangeInclusive<u8> = 161..=176;

/// Formats from this number on follow a hole in the table of names, where the search ends.
const FORMAT_HOLE: u16 = 425;

/// Mesa's buffer for the name of a property holds this number of bytes.
const MAX_PROPERTY_NAME: usize = 63;

/// Checks whether Mesa 25 accepts a text.
///
/// # Errors
/// The first position where its parser stops, with the expected token.
pub fn mesa25(text: &[u8]) -> Result<(), Box<Diagnostic>> {
    // The text ends at the first NUL.
    let end = text.iter().position(|&byte| byte == 0).unwrap_or(text.len());
    let mut reader = Strict { text: &text[..end], at: 0, processor: Processor::Fragment, vertices: 0, immediates: 0 };
    reader.program().map_err(|wanted| {
        let rest = &text[reader.at..end];
        let length = lexer::word(rest).map_or(1, |word| word.len()).min(rest.len()).max(1);
        let span = Span::new(reader.at as u32, (reader.at + length) as u32);
        Box::new(ParseErrorKind::NotMesa25(wanted).at(span))
    })
}

/// The error is the token expected where the parser stops.
type Read<T = ()> = Result<T, &'static str>;

struct Strict<'a> {
    text: &'a [u8],
    at: usize,
    processor: Processor,
    /// Number of vertices that `[]` denotes.
    vertices: u32,
    immediates: u64,
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n')
}

impl<'a> Strict<'a> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    /// Skips optional blanks.
    fn blanks(&mut self) {
        while self.peek().is_some_and(is_blank) {
            self.at += 1;
        }
    }

    /// Requires at least one blank.
    fn must_blank(&mut self, wanted: &'static str) -> Read {
        let before = self.at;
        self.blanks();
        if self.at > before { Ok(()) } else { Err(wanted) }
    }

    fn accept(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    /// Accepts `byte` after optional blanks; consumes nothing if another byte follows.
    fn accept_ahead(&mut self, byte: u8) -> bool {
        let before = self.at;
        self.blanks();
        let found = self.accept(byte);
        if !found {
            self.at = before;
        }
        found
    }

    fn expect_ahead(&mut self, byte: u8, wanted: &'static str) -> Read {
        self.blanks();
        if self.accept(byte) { Ok(()) } else { Err(wanted) }
    }

    fn word(&self) -> Option<Word<'a>> {
        lexer::word(self.text.get(self.at..)?)
    }

    /// Accepts a word of a table; consumes nothing if it is not in the table.
    fn of_table<T>(&mut self, table: impl Fn(Word<'a>) -> Option<T>) -> Option<T> {
        let word = self.word()?;
        let found = table(word)?;
        self.at += word.len();
        Some(found)
    }

    fn keyword(&mut self, keyword: &str) -> bool {
        self.of_table(|word| word.is(keyword).then_some(())).is_some()
    }

    /// Parses digits, modulo 2^32.
    fn uint(&mut self) -> Read<u32> {
        let start = self.at;
        let mut value = 0u32;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            value = value.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
            self.at += 1;
        }
        if self.at > start { Ok(value) } else { Err("an unsigned number") }
    }

    fn int(&mut self) -> Read {
        if !self.accept(b'-') {
            self.accept(b'+');
        }
        self.uint().map(|_| ())
    }

    fn program(&mut self) -> Read {
        self.blanks();
        let known = |p: &Processor| !matches!(p, Processor::Task | Processor::Mesh);
        let stage = self.of_table(|word| Processor::from_word(word).filter(known));
        self.processor = stage.ok_or("the name of a stage")?;
        if matches!(self.processor, Processor::TessControl | Processor::TessEval) {
            self.vertices = 32;
        }
        while self.at < self.text.len() {
            self.must_blank("a blank, TAB or line end between statements")?;
            if self.at < self.text.len() {
                self.statement()?;
            }
        }
        Ok(())
    }

    fn statement(&mut self) -> Read {
        let start = self.at;
        if self.uint().is_ok() {
            if self.accept_ahead(b':') {
                self.blanks();
                return self.instruction();
            }
            self.at = start;
        }
        if self.keyword("DCL") {
            return self.declaration();
        }
        if self.keyword("IMM") {
            return self.immediate();
        }
        if self.keyword("PROPERTY") {
            return self.property();
        }
        self.instruction()
    }

    fn instruction(&mut self) -> Read {
        let word = self.word().ok_or("DCL, IMM, PROPERTY or a current opcode")?;
        let opcode = Opcode::from_word(word).or_else(|| {
            // Suffixes in this order only; a name that includes a suffix takes precedence.
            let name = strip(word, "_PRECISE").unwrap_or(word);
            Opcode::from_word(strip(name, "_SAT").unwrap_or(name))
        });
        let Some(opcode) = opcode else {
            if REMOVED.iter().any(|name| word.is(name)) {
                self.at += word.len();
                return Ok(());
            }
            return Err("DCL, IMM, PROPERTY or a current opcode");
        };
        let info = opcode.info();
        self.at += word.len();
        let operands = info.num_dst + info.num_src + u8::from(info.is_tex);
        if operands > 0 && self.at < self.text.len() {
            self.must_blank("a blank after the opcode")?;
        }
        for number in 0..operands {
            if number > 0 {
                self.expect_ahead(b',', "a comma and another operand")?;
            }
            self.blanks();
            if number < info.num_dst {
                self.dst()?;
            } else if number < info.num_dst + info.num_src {
                self.src()?;
            } else {
                self.of_table(TextureTarget::from_word).ok_or("a texture target")?;
            }
        }
        if info.is_tex || info.is_sample_family {
            for _ in 0..4 {
                if !self.accept_ahead(b',') {
                    break;
                }
                self.blanks();
                self.bracketed()?;
                self.components(3)?;
            }
        }
        if MEMORY.contains(&opcode.value()) || opcode == Opcode::Resq {
            while self.accept_ahead(b',') {
                self.blanks();
                let qualifier =
                    |word: Word<'_>| MemoryQualifiers::NAMES.iter().any(|(_, name)| word.is(name)).then_some(());
                let item = self.of_table(qualifier).is_some()
                    || self.of_table(TextureTarget::from_word).is_some()
                    || self.of_table(format).is_some();
                if !item {
                    return Err("a memory qualifier, target or format");
                }
            }
        }
        use Opcode::{Bgnloop, Cal, Else, Endloop, If, Uif};
        if matches!(opcode, Cal | If | Uif | Else | Bgnloop | Endloop) && self.accept_ahead(b':') {
            self.blanks();
            self.uint().map_err(|_| "a label")?;
        }
        Ok(())
    }

    fn file(&mut self) -> Read<File> {
        self.of_table(File::from_word).ok_or("a current register file")
    }

    fn bracketed(&mut self) -> Read {
        self.file()?;
        self.expect_ahead(b'[', "`[`")?;
        self.bracket_rest()
    }

    fn bracket_rest(&mut self) -> Read {
        self.blanks();
        if self.word().is_some_and(|word| File::from_word(word).is_some()) {
            self.file()?;
            self.expect_ahead(b'[', "`[`")?;
            self.blanks();
            self.uint()?;
            self.expect_ahead(b']', "`]`")?;
            self.blanks();
            if self.accept(b'.') {
                self.blanks();
                self.component()?;
                self.blanks();
            }
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.int()?;
            }
        } else {
            self.uint().map_err(|_| "an unsigned index or an indirect one")?;
        }
        self.expect_ahead(b']', "`]`")?;
        if self.accept(b'(') {
            self.blanks();
            self.uint()?;
            self.expect_ahead(b')', "`)`")?;
        }
        Ok(())
    }

    fn component(&mut self) -> Read {
        let found = matches!(self.peek(), Some(b'x' | b'y' | b'z' | b'w' | b'X' | b'Y' | b'Z' | b'W'));
        self.at += usize::from(found);
        if found { Ok(()) } else { Err("a component") }
    }

    /// Accepts `.` and exactly `count` components, if there is a dot.
    fn components(&mut self, count: usize) -> Read {
        if !self.accept_ahead(b'.') {
            return Ok(());
        }
        self.blanks();
        (0..count).try_for_each(|_| self.component().map_err(|_| "the number of components of a swizzle"))
    }

    fn mask(&mut self) -> Read {
        if !self.accept_ahead(b'.') {
            return Ok(());
        }
        self.blanks();
        let start = self.at;
        for letter in *b"xyzw" {
            let found = self.peek().is_some_and(|byte| byte.eq_ignore_ascii_case(&letter));
            self.at += usize::from(found);
        }
        if self.at > start { Ok(()) } else { Err("a write mask") }
    }

    fn second_bracket(&mut self) -> Read {
        if self.accept_ahead(b'[') { self.bracket_rest() } else { Ok(()) }
    }

    fn dst(&mut self) -> Read {
        self.bracketed()?;
        self.second_bracket()?;
        self.mask()
    }

    fn src(&mut self) -> Read {
        if self.accept(b'-') {
            self.blanks();
        }
        let absolute = self.accept(b'|');
        if absolute {
            self.blanks();
        }
        self.bracketed()?;
        self.second_bracket()?;
        self.components(4)?;
        if absolute { self.expect_ahead(b'|', "`|`") } else { Ok(()) }
    }
}

/// Returns a format that the search in Mesa's table finds: it stops at the hole, and compares with the text in upper
/// case.
fn format(word: Word<'_>) -> Option<PixelFormat> {
    let format = names::pixel_format(word)?;
    let lost = format.short_name().bytes().any(|byte| byte.is_ascii_lowercase());
    (format.value() < FORMAT_HOLE && !lost).then_some(format)
}

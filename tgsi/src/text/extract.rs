//! Finds shaders in any text: logs, reports, quoted mail, C sources, traces.
//!
//! A text is split into lines, at line feeds and at their escapes in strings (`\n`), XML (`&#10;`), HTML (`<br>`) and
//! system logs (`#012`). A line has at most one statement, which begins at the first word that can begin one and ends
//! before the first byte that cannot be in a statement, such as a quotation mark. The surrounding text (time stamps,
//! line numbers, quotation marks) is dropped. A shader begins with a line that ends with the name of a stage, and ends
//! with `END` and the subroutines after it.
//!
//! Names are recognised in upper case only, as Mesa prints them: logs often contain `if` and `end` as words.
//!
//! Takes linear time: each word is read only for the statements that may begin one or two words before it.

use super::{legacy, lexer};
use crate::limits::MAX_POSITION;
use crate::shader::Shader;
use crate::tables::lookup::Word;
use crate::tables::{File, Opcode, Processor};
use tgsi_diagnostics::Diagnostic;
use tgsi_diagnostics::Span;

/// A shader found in a text.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Extracted {
    /// The stage.
    pub processor: Processor,
    /// The text of the shader alone, one statement per line.
    pub text: Vec<u8>,
    /// The range in the searched text, from the stage to the end of the last statement.
    pub span: Span,
    /// Whether the end of the shader was found.
    pub is_complete: bool,
    /// Lines between the first statement and the last that were dropped because they are not TGSI: their number, and
    /// the first one.
    pub skipped: Option<(usize, Span)>,
    /// The start of each line, in [`text`](Self::text) and in the searched text.
    lines: Vec<(u32, u32)>,
}

impl Extracted {
    /// Maps a byte offset in the [text](Self::text) of the shader to the searched text.
    pub fn original(&self, offset: u32) -> u32 {
        let line = self.lines.partition_point(|&(start, _)| start <= offset).saturating_sub(1);
        let (start, original) = self.lines.get(line).copied().unwrap_or_default();
        original.saturating_add(offset.saturating_sub(start)).min(self.span.end)
    }

    fn relocate_span(&self, span: &mut Span) {
        *span = Span::new(self.original(span.start), self.original(span.end));
    }

    /// Maps the positions in a shader that was parsed from the [text](Self::text) to the searched text.
    pub fn relocate(&self, shader: &mut Shader) {
        let declarations = shader.declarations.iter_mut().map(|declaration| &mut declaration.span);
        let immediates = shader.immediates.iter_mut().map(|immediate| &mut immediate.span);
        let properties = shader.properties.iter_mut().map(|property| &mut property.span);
        declarations.chain(immediates).chain(properties).for_each(|span| self.relocate_span(span));
        for instruction in &mut shader.instructions {
            self.relocate_span(&mut instruction.span);
            instruction.dst.iter_mut().for_each(|dst| self.relocate_span(&mut dst.span));
            instruction.src.iter_mut().for_each(|src| self.relocate_span(&mut src.span));
            let offsets = instruction.texture.iter_mut().flat_map(|texture| &mut texture.offsets);
            offsets.for_each(|offset| self.relocate_span(&mut offset.span));
        }
    }

    /// Maps the positions of findings in the same way.
    pub fn relocate_findings(&self, findings: &mut [Diagnostic]) {
        for finding in findings {
            self.relocate_span(&mut finding.span);
            finding.notes.iter_mut().for_each(|note| self.relocate_span(&mut note.span));
        }
    }
}

/// Whether a text begins with the name of a stage, which suggests that it consists of one shader only.
pub fn begins_with_stage(text: &[u8]) -> bool {
    let text = lexer::skip_blanks(text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text));
    lexer::word(text).is_some_and(|word| stage(word, text.get(word.len()..).unwrap_or_default(), false).is_some())
}

/// Finds the shaders in a text, in order. Returns nothing for a text that is too long for 32-bit positions.
pub fn extract(text: &[u8]) -> Vec<Extracted> {
    let mut found = ExtractedShaders::default();
    if text.len() as u64 > MAX_POSITION {
        return found.shaders;
    }
    let mut at = 0;
    while at < text.len() {
        let (end, next) = line_end(text, at);
        found.line(text, Span::new(at as u32, end as u32));
        at = next;
    }
    found.finish();
    found.shaders
}

/// Returns the end of the line that begins at `at`, and the start of the next one.
fn line_end(text: &[u8], at: usize) -> (usize, usize) {
    for (end, &byte) in text.iter().enumerate().skip(at) {
        if !matches!(byte, b'\n' | b'\r' | b'\\' | b'&' | b'#' | b'<') {
            continue;
        }
        let length = match text.get(end..).unwrap_or_default() {
            [b'\n' | b'\r', ..] => 1,
            [b'\\', b'n', ..] => 2,
            [b'\\', b'x', b'0', b'a' | b'A', ..] => 4,
            [b'\\', b'u', b'0', b'0', b'0', b'a' | b'A', ..] => 6,
            [b'&', b'#', b'1', b'0', b';', ..] | [b'&', b'#', b'x', b'a' | b'A', b';', ..] => 5,
            [b'#', b'0', b'1', b'2', ..] => 4,
            [b'<', b'b', b'r', b'>', ..] => 4,
            [b'<', b'b', b'r', b'/', b'>', ..] => 5,
            _ => continue,
        };
        return (end, end + length);
    }
    (text.len(), text.len())
}

/// The kinds of statements in a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Statement {
    Stage(Processor),
    Instruction(Opcode),
    Other,
}

/// The shaders found so far, and the current one.
#[derive(Default)]
struct ExtractedShaders {
    shaders: Vec<Extracted>,
    current: Option<Current>,
}

struct Current {
    shader: Extracted,
    /// Indentation of the stage, common to all lines.
    indentation: usize,
    /// The stage is the first word of its line.
    is_at_start: bool,
    /// `END` was read.
    has_end: bool,
    /// `BGNSUB` was read after the last `ENDSUB`.
    in_subroutine: bool,
    /// `ENDSUB` was read.
    has_subroutines: bool,
    /// Bytes before the last statement in its line; the statement continues in the next line.
    continued: Option<Span>,
    /// Lines since the last statement that are not TGSI.
    skipped: Option<(usize, Span)>,
}

impl ExtractedShaders {
    fn line(&mut self, text: &[u8], line: Span) {
        let bytes = text.get(line.start as usize..line.end as usize).unwrap_or_default();
        let Some((at, statement)) = find_statement(bytes) else {
            let Some(current) = self.current.as_mut().filter(|current| !current.has_ended()) else { return };
            if let Some(prefix) = current.continued {
                let prefix = text.get(prefix.start as usize..prefix.end as usize).unwrap_or_default();
                let at = if bytes.starts_with(prefix) { prefix.len() } else { 0 };
                let blanks = lexer::skip_blanks_of_line(bytes.get(at..).unwrap_or_default()).len();
                current.push(bytes, line.start, bytes.len() - blanks);
            } else if bytes.iter().any(|&byte| lexer::is_word_byte(byte)) {
                let (count, first) = current.skipped.unwrap_or((0, line));
                current.skipped = Some((count + 1, first));
            }
            return;
        };
        let at_end = line.start + at as u32;
        match (statement, &mut self.current) {
            (Statement::Stage(processor), _) => {
                self.finish();
                let shader = Extracted {
                    processor,
                    text: Vec::new(),
                    span: Span::new(at_end, at_end),
                    is_complete: false,
                    skipped: None,
                    lines: Vec::new(),
                };
                let indentation = indentation(bytes, at);
                let mut current = Current {
                    shader,
                    indentation,
                    is_at_start: indentation == at,
                    has_end: false,
                    in_subroutine: false,
                    has_subroutines: false,
                    continued: None,
                    skipped: None,
                };
                current.push(bytes, line.start, at);
                self.current = Some(current);
            }
            (_, None) => {}
            (_, Some(current)) if current.has_ended() && statement != Statement::Instruction(Opcode::Bgnsub) => {}
            (_, Some(current)) => {
                current.push(bytes, line.start, at);
                match statement {
                    Statement::Instruction(Opcode::End) => current.has_end = true,
                    Statement::Instruction(Opcode::Bgnsub) => current.in_subroutine = true,
                    Statement::Instruction(Opcode::Endsub) => {
                        current.in_subroutine = false;
                        current.has_subroutines = true;
                    }
                    _ => {}
                }
            }
        }
    }

    fn finish(&mut self) {
        let Some(mut current) = self.current.take() else { return };
        // The name of a stage alone is just a word in prose.
        if current.shader.lines.len() > 1 {
            // Old compute shaders consist of subroutines only.
            current.shader.is_complete = !current.in_subroutine && (current.has_end || current.has_subroutines);
            self.shaders.push(current.shader);
        }
    }
}

impl Current {
    fn has_ended(&self) -> bool {
        self.has_end && !self.in_subroutine
    }

    /// Appends the statement at position `at` of a line.
    fn push(&mut self, line: &[u8], line_start: u32, at: usize) {
        let own = indentation(line, at);
        // In a string, a line without the prefix does not have the prefix's indentation either.
        let common = if (own == at) == self.is_at_start { self.indentation } else { 0 };
        let from = at - own.saturating_sub(common).min(at);
        let rest = line.get(from..).unwrap_or_default();
        let mut statement =
            rest.get(..rest.iter().position(|&byte| ends_text(byte)).unwrap_or(rest.len())).unwrap_or(rest);
        while let [before @ .., last] = statement
            && lexer::is_blank(*last)
        {
            statement = before;
        }
        let shader = &mut self.shader;
        shader.lines.push((shader.text.len() as u32, line_start + from as u32));
        shader.text.extend_from_slice(statement);
        shader.text.push(b'\n');
        shader.span = Span::new(shader.span.start, line_start + (from + statement.len()) as u32);
        if let Some((count, first)) = self.skipped.take() {
            let (before, first) = shader.skipped.unwrap_or((0, first));
            shader.skipped = Some((before + count, first));
        }
        self.continued = statement.ends_with(b",").then_some(Span::new(line_start, line_start + from as u32));
    }
}

/// Returns the number of blanks directly before a position of a line.
fn indentation(line: &[u8], at: usize) -> usize {
    line.get(..at).unwrap_or_default().iter().rev().take_while(|&&byte| matches!(byte, b' ' | b'\t')).count()
}

/// Whether a byte cannot be in a statement: it ends the enclosing string, element or quotation.
fn ends_text(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`' | b'<' | b'&' | b'\\' | 0x1b | 0)
}

/// Whether a statement may end here.
fn at_end(rest: &[u8]) -> bool {
    let rest = lexer::skip_blanks_of_line(rest);
    rest.first().is_none_or(|&byte| byte == b'\n' || ends_text(byte)) || lexer::at_comment(rest)
}

/// Finds the statement of a line and its position.
fn find_statement(line: &[u8]) -> Option<(usize, Statement)> {
    let mut at = 0;
    while let Some(rest) = line.get(at..).filter(|rest| !rest.is_empty()) {
        match *rest {
            // A terminal control sequence.
            [0x1b, b'[', ref sequence @ ..] => {
                let length = sequence.iter().position(|byte| (0x40..=0x7e).contains(byte));
                at += 2 + length.map_or(sequence.len(), |length| length + 1);
            }
            // An escaped character.
            [b'\\', _, ..] => at += 2,
            [b'#', ref rest @ ..] if is_directive(rest) => return Some((at, Statement::Other)),
            [b'(', ..] => match predicated(rest).and_then(|rest| instruction(rest, false)) {
                Some(opcode) => return Some((at, Statement::Instruction(opcode))),
                None => at += 1,
            },
            [byte, ..] if lexer::is_word_byte(byte) => {
                let word = lexer::word(rest)?;
                if let Some(statement) = statement(word, rest) {
                    return Some((at, statement));
                }
                at += word.len();
            }
            _ => at += 1,
        }
    }
    None
}

/// Whether the text after a `#` is a directive that the parser accepts.
fn is_directive(rest: &[u8]) -> bool {
    let known: [&[u8]; 6] = [b"define", b"undef", b"ifdef", b"ifndef", b"else", b"endif"];
    lexer::word(rest).is_some_and(|word| known.contains(&word.bytes()))
}

/// Returns the text after the predicate of an instruction.
fn predicated(rest: &[u8]) -> Option<&[u8]> {
    const LONGEST: usize = 64;
    let end = rest.iter().take(LONGEST).position(|&byte| byte == b')')?;
    Some(lexer::skip_blanks_of_line(rest.get(end + 1..)?))
}

/// Classifies the statement that begins with `word`; `rest` begins with the same word.
fn statement(word: Word<'_>, rest: &[u8]) -> Option<Statement> {
    let after = rest.get(word.len()..)?;
    if word.is_digits() {
        let after = lexer::skip_blanks_of_line(after.strip_prefix(b":")?);
        let after = if after.first() == Some(&b'(') { predicated(after)? } else { after };
        return instruction(after, true).map(Statement::Instruction);
    }
    if !is_upper(word) {
        return None;
    }
    if let Some(processor) = stage(word, after, true) {
        return Some(Statement::Stage(processor));
    }
    let argument = lexer::skip_blanks_of_line(after);
    let is_item = match word.bytes() {
        b"DCL" => is_declaration(argument),
        b"IMM" => argument.first() == Some(&b'[') || lexer::word(argument).is_some_and(|kind| kind.is("FLT32")),
        b"PROPERTY" => lexer::word(argument).is_some_and(is_upper),
        _ => return instruction(rest, false).map(Statement::Instruction),
    };
    is_item.then_some(Statement::Other)
}

/// Whether the text after `DCL` declares a register; in prose, other words follow.
fn is_declaration(rest: &[u8]) -> bool {
    let Some(file) = lexer::word(rest).filter(|&file| is_upper(file)) else { return false };
    let mut after = rest.get(file.len()..).unwrap_or_default();
    if after.first() != Some(&b'[') && !is_file(file) {
        return false;
    }
    let is_part = |&byte: &u8| lexer::is_word_byte(byte) || matches!(byte, b'[' | b']' | b'.');
    after = after.get(after.iter().position(|byte| !is_part(byte)).unwrap_or(after.len())..).unwrap_or_default();
    after = lexer::skip_blanks_of_line(after);
    after.first() == Some(&b',') || at_end(after) || lexer::word(after).is_some_and(is_upper)
}

/// Returns the opcode of the instruction at the beginning of `rest`, or `NOP` if it is unknown or old. With
/// `is_numbered`, an operand may be a macro name.
fn instruction(rest: &[u8], is_numbered: bool) -> Option<Opcode> {
    let word = lexer::word(rest).filter(|&word| is_upper(word))?;
    // These may follow a line number.
    if matches!(word.bytes(), b"DCL" | b"IMM" | b"PROPERTY") {
        return None;
    }
    let after = rest.get(word.len()..)?;
    let (name, _) = legacy::split_suffixes(word);
    let opcode = Opcode::from_word(name);
    let is_known = opcode.is_some() || legacy::opcode(name).is_some();
    let after = lexer::skip_blanks_of_line(after);
    let is_label = after.strip_prefix(b":").is_some_and(|label| label.first().is_some_and(u8::is_ascii_digit));
    let is_defined = is_numbered && lexer::word(after).is_some_and(is_upper);
    let is_instruction = has_operand(after) || is_known && (is_label || is_defined || at_end(after));
    is_instruction.then(|| opcode.unwrap_or(Opcode::Nop))
}

/// Whether an operand follows.
fn has_operand(rest: &[u8]) -> bool {
    const LONGEST: usize = 4;
    let signs = rest.iter().take(LONGEST).take_while(|byte| matches!(byte, b'-' | b'+' | b'|' | b' ')).count();
    let rest = rest.get(signs..).unwrap_or_default();
    lexer::word(rest).is_some_and(|word| is_file(word) || is_upper(word) && rest.get(word.len()) == Some(&b'['))
}

fn is_file(word: Word<'_>) -> bool {
    is_upper(word) && (File::from_word(word).is_some() || legacy::file(word).is_some())
}

fn is_upper(word: Word<'_>) -> bool {
    word.bytes().first().is_some_and(u8::is_ascii_uppercase) && !word.bytes().iter().any(u8::is_ascii_lowercase)
}

/// Returns the stage with this name. The oldest prints have a version after it (`FRAG1.1`). With `alone`, only if it
/// ends the line.
fn stage(word: Word<'_>, after: &[u8], alone: bool) -> Option<Processor> {
    let (name, after) = match after.strip_prefix(b".") {
        Some(version) if word.bytes().ends_with(b"1") => {
            let (rest, _) = lexer::number(version).ok()?;
            (word.split_at(word.len() - 1).0, rest)
        }
        _ => (word, after),
    };
    Processor::from_word(name).filter(|_| !alone || at_end(after))
}

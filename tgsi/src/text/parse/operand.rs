//! Registers: files, brackets, masks, swizzles, and the register names of older texts.

use super::{Parse, Parser};
use crate::limits::{MAX_ARRAY_ID, MAX_MACRO_DEPTH, MAX_OPERAND_INDEX, MIN_OPERAND_INDEX};
use crate::shader::{Dimension, Dst, Indirect, Register, Src, TextureOffset};
use crate::tables::lookup::Word;
use crate::tables::{File, ImmediateType, Opcode, TextureTarget};
use crate::text::error::ParseErrorKind;
use crate::text::legacy::{self, LegacyFile};
use crate::text::lexer;
use tgsi_diagnostics::Span;

/// A register as parsed.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub(super) register: Register,
    /// Swizzle that is part of a macro definition.
    swizzle: Option<[u8; 4]>,
    /// Target of the resource, if its file is the old `RES` and it became an image.
    pub(super) resource_target: Option<TextureTarget>,
}

impl Operand {
    fn new(register: Register) -> Operand {
        Operand { register, swizzle: None, resource_target: None }
    }
}

/// Value in [`COMPONENTS`] for bytes that are not component names.
const NO_COMPONENT: u8 = 0x80;

/// The component for each byte.
static COMPONENTS: [u8; 256] = {
    let mut components = [NO_COMPONENT; 256];
    let mut component = 0;
    while component < 4 {
        components[b"xyzw"[component] as usize] = component as u8;
        components[b"XYZW"[component] as usize] = component as u8;
        component += 1;
    }
    components
};

#[inline]
pub(super) fn component_of(letter: u8) -> Option<u8> {
    let component = COMPONENTS[usize::from(letter)];
    (component != NO_COMPONENT).then_some(component)
}

/// Parses the components of a swizzle or mask; returns none if a letter is not a component.
fn components<const N: usize>(word: Word<'_>) -> Option<[u8; N]> {
    let bytes: [u8; N] = word.bytes().try_into().ok()?;
    components_of(bytes)
}

#[inline]
pub(super) fn components_of<const N: usize>(letters: [u8; N]) -> Option<[u8; N]> {
    let components = letters.map(|letter| COMPONENTS[usize::from(letter)]);
    let all = components.iter().fold(0, |all, component| all | component);
    (all < NO_COMPONENT).then_some(components)
}

/// Parses a mask: letters in the order x y z w, at least one.
fn mask_of(word: Word<'_>) -> Option<u8> {
    let mut mask = 0u8;
    for &letter in word.bytes() {
        let bit = 1 << component_of(letter)?;
        if mask >= bit {
            return None;
        }
        mask |= bit;
    }
    (mask != 0).then_some(mask)
}

impl<'a> Parser<'a> {
    /// Whether the statement ends here: the next token is on another line and begins a statement.
    pub(super) fn at_statement(&mut self) -> bool {
        let ahead = self.ahead();
        if ahead >= self.end() {
            return true;
        }
        let blanks = self.source.get(self.at..ahead).unwrap_or_default();
        blanks.contains(&b'\n') && self.begins_statement(ahead)
    }

    /// Whether the text at `position`, the first token of its line, begins a statement.
    fn begins_statement(&self, position: usize) -> bool {
        let ahead = self.source.get(position..).unwrap_or_default();
        let Some(word) = lexer::word(ahead) else { return ahead.first() == Some(&b'#') };
        let after = ahead.get(word.len()..).unwrap_or_default();
        if word.is_digits() {
            return lexer::skip_blanks(after).first() == Some(&b':');
        }
        let keyword = ["DCL", "PROPERTY"].iter().any(|keyword| word.is(keyword));
        keyword
            || (word.is("IMM") && !is_immediate_operand(after))
            || (File::from_word(word).is_none() && is_mnemonic(word))
    }

    /// Parses `[number]` or `[FILE[n].c+m]`, each with an optional array number after it.
    fn bracket(&mut self) -> Parse<(i32, Option<Indirect>)> {
        self.expect(b'[')?;
        self.skip();
        let (index, mut indirect) = match self.peek() {
            Some(b'-' | b'+' | b'0'..=b'9') => (self.operand_index()?, None),
            _ => self.indirect()?,
        };
        self.expect(b']')?;
        if self.peek() == Some(b'(') {
            self.at += 1;
            let array = self.number("array number", 0, MAX_ARRAY_ID as i64)? as u16;
            self.expect(b')')?;
            if let Some(indirect) = &mut indirect {
                indirect.array_id = array;
            }
        } else if indirect.is_some_and(|indirect| indirect.file == File::Null) {
            // Like Mesa: no register, no indirection, unless there is an array number.
            indirect = None;
        }
        Ok((index, indirect))
    }

    fn operand_index(&mut self) -> Parse<i32> {
        Ok(self.number("register index", MIN_OPERAND_INDEX, MAX_OPERAND_INDEX)? as i32)
    }

    fn indirect(&mut self) -> Parse<(i32, Option<Indirect>)> {
        let base = self.plain_register(0)?;
        let mut indirect = Indirect { file: base.register.file, index: base.register.index, component: 0, array_id: 0 };
        if let Some([component, ..]) = base.swizzle {
            indirect.component = component;
        }
        if self.accept(b'.') {
            let (word, span) = self.expect_word("a component")?;
            indirect.component = match components::<1>(word) {
                Some([component]) => component,
                None => {
                    let diagnostic = ParseErrorKind::Swizzle(self.quote(span)).at(span);
                    return Err(Box::new(diagnostic.with_hint("an address is one component: x, y, z or w")));
                }
            };
        }
        self.skip();
        let offset = match self.peek() {
            Some(sign @ (b'+' | b'-')) => {
                self.at += 1;
                let (low, high) = if sign == b'-' { (0, -MIN_OPERAND_INDEX) } else { (0, MAX_OPERAND_INDEX) };
                let magnitude = self.number("register offset", low, high)? as i32;
                if sign == b'-' { -magnitude } else { magnitude }
            }
            _ => 0,
        };
        Ok((offset, Some(indirect)))
    }

    /// Parses the register of an indirect index: `FILE[n]`, or a macro for one.
    fn plain_register(&mut self, depth: usize) -> Parse<Operand> {
        let (word, span) = self.expect_word("a register")?;
        if let Some(file) = File::from_word(word) {
            self.expect(b'[')?;
            let index = self.operand_index()?;
            self.expect(b']')?;
            return Ok(Operand::new(Register::new(file, index)));
        }
        match self.preprocessor.definition(word) {
            Some(body) => self.definition(word, span, body, depth, Self::plain_register),
            None => self.unknown_file(word, span),
        }
    }

    /// Parses the definition of a macro. `depth` bounds the nesting of definitions.
    fn definition(
        &mut self,
        name: Word<'_>,
        span: Span,
        body: Span,
        depth: usize,
        read: impl Fn(&mut Self, usize) -> Parse<Operand>,
    ) -> Parse<Operand> {
        if depth >= MAX_MACRO_DEPTH {
            return self.fail(ParseErrorKind::MacroDepth(name.as_str().to_owned()), span);
        }
        let outside = self.enter(body.start as usize, body.end as usize);
        let result = read(self, depth + 1).and_then(|mut operand| {
            if let Some(swizzle) = self.swizzle()? {
                operand.swizzle = Some(swizzle);
            }
            self.skip();
            if self.at < self.end() {
                let (found, span) = self.found();
                return self.fail(ParseErrorKind::Expected { expected: "a register", found }, span);
            }
            Ok(operand)
        });
        self.enter(outside.0, outside.1);
        // Report the error at the use of the name.
        result.map_err(|mut diagnostic| {
            diagnostic.span = span;
            diagnostic
        })
    }

    #[cold]
    fn unknown_file<T>(&self, word: Word<'_>, span: Span) -> Parse<T> {
        let known = File::ALL.iter().map(|f| f.name());
        self.fail_name(ParseErrorKind::UnknownFile(word.as_str().to_owned()), span, known)
    }

    /// Parses a register with one or two brackets.
    pub(super) fn register(&mut self, depth: usize) -> Parse<Operand> {
        let (word, span) = self.expect_word("a register")?;
        if let Some(file) = File::from_word(word) {
            let (index, indirect, dimension) = self.brackets()?;
            return Ok(Operand::new(Register { file, index, indirect, dimension }));
        }
        if let Some(body) = self.preprocessor.definition(word) {
            return self.definition(word, span, body, depth, Self::register);
        }
        let Some(file) = legacy::file(word) else { return self.unknown_file(word, span) };
        if let LegacyFile::Memory(memory) = file {
            return Ok(Operand::new(self.legacy.memory(memory)));
        }
        let (index, indirect, dimension) = self.brackets()?;
        let resolved = self.legacy.register(file, Register { file: File::Null, index, indirect, dimension });
        let Some((register, resource_target)) = resolved else {
            return self.fail(ParseErrorKind::UnknownFile(self.quote(self.span_from(span.start as usize))), span);
        };
        Ok(Operand { register, swizzle: None, resource_target })
    }

    fn brackets(&mut self) -> Parse<(i32, Option<Indirect>, Option<Dimension>)> {
        let (index, indirect) = self.bracket()?;
        if self.peek_ahead() != Some(b'[') {
            return Ok((index, indirect, None));
        }
        // The outer index comes first.
        let dimension = Dimension { index, indirect };
        let (index, indirect) = self.bracket()?;
        Ok((index, indirect, Some(dimension)))
    }

    /// Parses `.xyzw`, if there is a dot.
    fn swizzle(&mut self) -> Parse<Option<[u8; 4]>> {
        if !self.accept(b'.') {
            return Ok(None);
        }
        let Some((word, span)) = self.word() else {
            let (found, span) = self.found();
            return self.fail(ParseErrorKind::Expected { expected: "four components", found }, span);
        };
        if let Some(swizzle) = components(word) {
            return Ok(Some(swizzle));
        }
        let last = word.bytes().iter().rev().find_map(|&letter| component_of(letter).map(|_| letter));
        let mut full = word.bytes().to_vec();
        full.resize(full.len().max(4), last.unwrap_or(b'x'));
        let hint = match Word::new(&full).and_then(components::<4>) {
            Some(_) => format!("a swizzle has four components: `.{}`", String::from_utf8_lossy(&full)),
            None => "a swizzle has four components out of x, y, z, w".to_owned(),
        };
        let diagnostic = ParseErrorKind::Swizzle(self.quote(span)).at(span).with_hint(hint);
        Err(Box::new(diagnostic))
    }

    /// Parses a write or usage mask: `xyzw` if there is no dot, an empty mask if there is only the dot.
    pub(super) fn mask(&mut self) -> Parse<u8> {
        if !self.accept(b'.') {
            return Ok(0xf);
        }
        let touches = self.peek().is_some_and(lexer::is_word_byte);
        let before = self.at;
        let Some((word, span)) = self.word() else { return Ok(0) };
        match mask_of(word) {
            Some(mask) => Ok(mask),
            // The word is separate from the dot.
            None if !touches => {
                self.at = before;
                Ok(0)
            }
            None => {
                let mut letters: Vec<u8> = word.bytes().iter().filter_map(|&byte| component_of(byte)).collect();
                letters.sort_unstable();
                letters.dedup();
                let hint: String = letters.iter().map(|&c| ['x', 'y', 'z', 'w'][(c & 3) as usize]).collect();
                let diagnostic = ParseErrorKind::WriteMask(self.quote(span)).at(span);
                let only_components = word.bytes().iter().all(|&byte| component_of(byte).is_some());
                Err(Box::new(diagnostic.with_hint(if only_components {
                    format!("components must be in order, each once: `.{hint}`")
                } else {
                    "a write mask has components out of x, y, z, w".to_owned()
                })))
            }
        }
    }

    pub(super) fn dst(&mut self) -> Parse<(Dst, Option<TextureTarget>)> {
        self.skip();
        let start = self.at;
        let operand = self.register(0)?;
        let write_mask = self.mask()?;
        let dst = Dst { register: operand.register, write_mask, span: self.span_from(start) };
        Ok((dst, operand.resource_target))
    }

    pub(super) fn src(&mut self) -> Parse<(Src, Option<TextureTarget>)> {
        self.skip();
        let start = self.at;
        let negate = self.accept(b'-');
        let absolute = self.accept(b'|');
        let operand = self.register(0)?;
        let outer = self.swizzle()?;
        let swizzle = match (operand.swizzle, outer) {
            (Some(inner), Some(outer)) => outer.map(|c| inner[(c & 3) as usize]),
            (inner, outer) => outer.or(inner).unwrap_or([0, 1, 2, 3]),
        };
        if absolute && !self.accept(b'|') {
            let (_, span) = self.found();
            return self.fail(ParseErrorKind::UnclosedAbsolute, span);
        }
        let src = Src { register: operand.register, swizzle, absolute, negate, span: self.span_from(start) };
        Ok((src, operand.resource_target))
    }

    /// Parses a texture offset. Only the constant part of an indirect index is used; without a swizzle all components
    /// are x.
    pub(super) fn texture_offset(&mut self) -> Parse<TextureOffset> {
        self.skip();
        let start = self.at;
        let operand = self.register(0)?;
        let mut swizzle = [0; 3];
        if self.accept(b'.') {
            let (word, span) = self.expect_word("three components")?;
            swizzle = match components(word) {
                Some(swizzle) => swizzle,
                None => {
                    let diagnostic = ParseErrorKind::Swizzle(self.quote(span)).at(span);
                    return Err(Box::new(diagnostic.with_hint("an offset has three components out of x, y, z, w")));
                }
            };
        }
        let Register { file, index, .. } = operand.register;
        Ok(TextureOffset { file, index, swizzle, span: self.span_from(start) })
    }
}

/// Whether `IMM` followed by `after` is an operand: it has an index, and no type follows.
fn is_immediate_operand(after: &[u8]) -> bool {
    let after = lexer::skip_blanks(after);
    let Some(inside) = after.strip_prefix(b"[") else { return false };
    let Ok((rest, _)) = lexer::number(lexer::skip_blanks(inside)) else { return true };
    let Some(rest) = lexer::skip_blanks(rest).strip_prefix(b"]") else { return true };
    match lexer::word(lexer::skip_blanks(rest)) {
        Some(word) => ImmediateType::from_word(word).is_none(),
        None => true,
    }
}

/// Whether the word is a mnemonic, suffixes included.
fn is_mnemonic(word: Word<'_>) -> bool {
    let (name, _) = legacy::split_suffixes(word);
    Opcode::from_word(name).is_some() || legacy::opcode(name).is_some()
}

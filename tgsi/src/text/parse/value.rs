//! `IMM` and `PROPERTY`.

use arrayvec::ArrayVec;

use super::{Parse, Parser};
use crate::shader::{Immediate, Property};
use crate::tables::lookup::Word;
use crate::tables::{ImmediateType, Primitive, PropertyName};
use crate::text::error::ParseErrorKind;
use crate::text::float::{self, FloatLiteral};
use crate::text::lexer;
use crate::text::names;
use tgsi_diagnostics::Focus;
use tgsi_diagnostics::Span;

impl<'a> Parser<'a> {
    pub(super) fn immediate(&mut self, keyword: Span) -> Parse<()> {
        let expected = self.shader.immediates.len();
        if self.accept(b'[') {
            let number = self.number("immediate", 0, u32::MAX as i64)? as u64;
            let span = self.span_from(keyword.start as usize);
            self.expect(b']')?;
            if number != expected as u64 {
                let kind = ParseErrorKind::ImmediateOrder { number, expected };
                let mut diagnostic = kind.at(span);
                if let Some(last) = self.shader.immediates.last() {
                    diagnostic.note(last.span, Focus::Whole, format!("this is IMM[{}]", expected.saturating_sub(1)));
                }
                let result = Err(Box::new(diagnostic));
                // Later ones are numbered from here.
                let last = number.min(crate::limits::MAX_OPERAND_INDEX as u64) as usize;
                let gap = (last + 1).saturating_sub(expected);
                self.shader.immediates.extend((0..gap).map(|_| Immediate::new(ImmediateType::Float32, [0; 4])));
                return result;
            }
        }
        let result = self.immediate_value(keyword);
        if result.is_err() {
            // Later ones keep their numbers.
            self.shader.push_immediate(Immediate::new(ImmediateType::Float32, [0; 4]));
        }
        result
    }

    fn immediate_value(&mut self, keyword: Span) -> Parse<()> {
        let (word, span) = self.expect_word("the type of an immediate")?;
        let Some(data_type) = ImmediateType::from_word(word) else {
            let known = ImmediateType::ALL.iter().map(|t| t.name());
            return self.fail_name(ParseErrorKind::UnknownImmediateType(self.quote(span)), span, known);
        };
        let words = if self.keyword("WORDS") { self.raw_words(data_type)? } else { self.braced_values(data_type)? };
        let span = self.span_from(keyword.start as usize);
        self.shader.push_immediate(Immediate { data_type, words, span });
        Ok(())
    }

    /// Parses `{0x1, 0x2}`: words, independent of the type.
    fn raw_words(&mut self, data_type: ImmediateType) -> Parse<ArrayVec<u32, 4>> {
        let mut words = ArrayVec::new();
        self.expect(b'{')?;
        while !self.accept(b'}') {
            if !words.is_empty() {
                self.expect(b',')?;
            }
            self.skip();
            let start = self.at;
            let word = match lexer::number_any_base(self.rest()) {
                Ok((rest, value)) => {
                    self.advance_to(rest);
                    value.and_then(|value| u32::try_from(value).ok())
                }
                Err(_) => None,
            };
            let Some(word) = word else { return self.bad_value(data_type, start) };
            if words.try_push(word).is_err() {
                return self.too_many_values(data_type, 4, start);
            }
        }
        Ok(words)
    }

    /// Parses `{a, b, c, d}` of one type, and returns it as words.
    pub(super) fn braced_values(&mut self, data_type: ImmediateType) -> Parse<ArrayVec<u32, 4>> {
        let wide = data_type.is_64bit();
        let limit = if wide { 2 } else { 4 };
        let mut words = ArrayVec::<u32, 4>::new();
        // The 64-bit floats of virgl are written as their words.
        let mut halves = ArrayVec::<u32, 4>::new();
        let mut count = 0;
        self.expect(b'{')?;
        while !self.accept(b'}') {
            if count > 0 {
                self.expect(b',')?;
            }
            self.skip();
            let start = self.at;
            let value = match data_type {
                ImmediateType::Float32 | ImmediateType::Float64 => match float::float_literal(self.rest()) {
                    Ok((rest, literal)) if !rest.first().is_some_and(|&byte| lexer::is_word_byte(byte)) => {
                        self.advance_to(rest);
                        if let FloatLiteral::Word(word) = literal {
                            halves.try_push(word).ok();
                        }
                        Some(if wide { literal.to_f64_bits() } else { literal.to_f32_bits() as u64 })
                    }
                    _ => None,
                },
                ImmediateType::Uint32 | ImmediateType::Int32 => self
                    .integer(lexer::number)
                    .filter(|n| (i32::MIN as i128..=u32::MAX as i128).contains(n))
                    .map(|n| n as u64),
                ImmediateType::Uint64 | ImmediateType::Int64 => self
                    .integer(lexer::number_any_base)
                    .filter(|n| (i64::MIN as i128..=u64::MAX as i128).contains(n))
                    .map(|n| n as u64),
            };
            let Some(value) = value else { return self.bad_value(data_type, start) };
            count += 1;
            let all_halves = halves.len() == count && data_type == ImmediateType::Float64;
            if count > limit && !(all_halves && count <= 4) {
                return self.too_many_values(data_type, limit, start);
            }
            if count <= limit {
                words.push(value as u32);
                if wide {
                    words.push((value >> 32) as u32);
                }
            }
        }
        if data_type == ImmediateType::Float64 && count > limit {
            if count != halves.len() {
                return self.too_many_values(data_type, limit, self.at - 1);
            }
            return Ok(halves);
        }
        Ok(words)
    }

    /// Parses a number with optional sign; `digits` parses the digits. A number that is too large gives a value beyond
    /// 64 bits.
    fn integer<N: Into<Option<u64>>>(
        &mut self,
        digits: impl Fn(&'a [u8]) -> nom::IResult<&'a [u8], N>,
    ) -> Option<i128> {
        let rest = self.rest();
        let (negative, digits_at) = match rest {
            [b'-', tail @ ..] => (true, tail),
            [b'+', tail @ ..] => (false, tail),
            _ => (false, rest),
        };
        let (rest, value) = digits(digits_at).ok()?;
        if rest.first().is_some_and(|&byte| lexer::is_word_byte(byte) || byte == b'.') {
            return None;
        }
        self.advance_to(rest);
        // None means too large.
        let magnitude = value.into().map_or(i128::MAX, i128::from);
        Some(if negative { -magnitude } else { magnitude })
    }

    /// Returns the error for an invalid value at `start`.
    fn bad_value<T>(&mut self, data_type: ImmediateType, start: usize) -> Parse<T> {
        self.at = start;
        let end = |byte: &u8| matches!(byte, b',' | b'}' | b'\n');
        let length = self.rest().iter().take(64).position(end);
        let span = match length {
            None | Some(0) => self.found().1,
            Some(length) => Span::new(start as u32, (start + length) as u32),
        };
        let value = if self.peek().is_none() { "the end of the text".to_owned() } else { self.quote(span) };
        let value = value.trim().to_owned();
        self.fail(ParseErrorKind::ImmediateValue { data_type: data_type.name(), value }, span)
    }

    fn too_many_values<T>(&self, data_type: ImmediateType, limit: usize, start: usize) -> Parse<T> {
        let span = Span::new(start as u32, self.at.max(start + 1) as u32);
        self.fail(ParseErrorKind::ImmediateCount { data_type: data_type.name(), limit }, span)
    }

    pub(super) fn property(&mut self, keyword: Span) -> Parse<()> {
        let (word, span) = self.expect_word("the name of a property")?;
        let Some(name) = names::property(word) else {
            let known = PropertyName::ALL.iter().map(|p| p.name());
            return self.fail_name(ParseErrorKind::UnknownProperty(self.quote(span)), span, known);
        };
        let mut data = ArrayVec::<u32, 8>::new();
        if self.accept(b'{') {
            self.expect(b'}')?;
        } else {
            loop {
                let value = self.property_value(name)?;
                if data.try_push(value).is_err() {
                    let (found, span) = self.found();
                    return self.fail(ParseErrorKind::AfterStatement(found), span);
                }
                if !self.accept(b',') {
                    break;
                }
            }
        }
        if name == PropertyName::GsInputPrimitive
            && let Some(primitive) = data.first().copied().and_then(Primitive::from_value)
        {
            self.vertices = primitive.input_vertices() as u32;
        }
        let span = self.span_from(keyword.start as usize);
        self.shader.push_property(Property { name, data, span });
        Ok(())
    }

    fn property_value(&mut self, name: PropertyName) -> Parse<u32> {
        self.skip();
        let start = self.at;
        if let Some(value) = self.integer(lexer::number)
            && (i32::MIN as i128..=u32::MAX as i128).contains(&value)
        {
            return Ok(value as u32);
        }
        self.at = start;
        let (found, span) = self.found();
        let word = self.peek_word().unwrap_or(Word::at_start(&[], 0));
        let known = name.value_names().unwrap_or_default();
        if let Some(value) = known.iter().position(|name| word.is(name)) {
            self.at = span.end as usize;
            return Ok(value as u32);
        }
        let value = found.trim_matches('`').to_owned();
        let kind = ParseErrorKind::PropertyValue { property: name.name(), value };
        let diagnostic = match known.len() {
            0 => kind.at(span).with_hint("a number of 32 bits"),
            1..=8 => kind.at(span).with_hint(format!("possible are {}", known.join(", "))),
            _ => return self.fail_name(kind, span, known.iter().copied()),
        };
        Err(Box::new(diagnostic))
    }
}

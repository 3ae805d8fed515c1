//! Names of values and blocks: definitions and uses.

use super::{BodyParser, Dest, MAX_SPARE_VALUES};
use crate::body::{Shape, SourceSpec};
use crate::entities::{Block, Def};
use crate::text::error::TextErrorKind;
use crate::text::lexer::{ParseResult, Scanner};

impl<'a> BodyParser<'_, 'a> {
    /// Parses `[div|con] 32x4 %7 =` if the line begins with it. The value is reserved with its shape.
    pub(super) fn destination(&mut self, s: &mut Scanner<'a>) -> ParseResult<Option<Dest>> {
        let start = *s;
        let divergent = s.eat_word("div");
        let marked = divergent || s.eat_word("con");
        if !s.rest().trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            return if marked { s.fail(TextErrorKind::Expected("the bit size of a value")) } else { Ok(None) };
        }
        let bits: u32 = s.number("a bit size")?;
        let gap_start = s.offset();
        let components: u32 = if s.rest().starts_with('x') {
            s.eat("x");
            s.number("a number of components")?
        } else {
            1
        };
        s.skip_blanks();
        let gap = s.offset() - gap_start;
        let number_start = *s;
        let number = s.value_number()?;
        s.expect("=", "`=`")?;
        if !matches!(bits, 1 | 8 | 16 | 32 | 64) || !matches!(components, 1..=5 | 8 | 16) {
            return start.fail(TextErrorKind::BadShape { bits, components });
        }
        let shape = Shape::new(components as u8, bits as u8);
        let def = self.reserve(&number_start, number)?;
        let index = def.as_u32() as usize;
        if self.made.len() <= index {
            self.made.resize(index + 1, false);
        }
        if self.made.replace(index, true) {
            return number_start.fail(TextErrorKind::DuplicateValue(def.as_u32()));
        }
        self.body.set_reserved_shape(def, shape);
        let digits = (gap + crate::text::print::digits(index)).checked_sub(4 + usize::from(bits <= 8));
        self.digits = match self.digits {
            None => Some(digits),
            Some(known) if known == digits => Some(known),
            Some(_) => Some(None),
        };
        Ok(Some(Dest { def, shape, divergent: marked.then_some(divergent) }))
    }

    /// Reserves the value with this number.
    pub(super) fn reserve(&mut self, s: &Scanner<'a>, number: u64) -> ParseResult<Def> {
        if number >= MAX_SPARE_VALUES + self.parser.text.len() as u64 || number >= u64::from(u32::MAX) {
            return s.fail(TextErrorKind::ValueNumberTooLarge(number));
        }
        self.body.reserve_defs(number as usize + 1);
        Ok(Def::from_u32(number as u32))
    }

    pub(super) fn is_made(&self, number: u32) -> bool {
        self.made.get(number as usize).is_some_and(|b| *b)
    }

    /// Parses a block name.
    pub(in crate::text) fn block_at(&mut self, s: &mut Scanner<'a>) -> ParseResult<Block> {
        let start = *s;
        let number = s.block_number()?;
        match self.blocks.get(&number) {
            Some(&block) => Ok(block),
            None => start.fail(TextErrorKind::UnknownBlock(number)),
        }
    }

    /// Parses an operand, skipping its constant value.
    pub(in crate::text) fn value(&mut self, s: &mut Scanner<'a>) -> ParseResult<Def> {
        let start = *s;
        let number = s.value_number()?;
        s.skip_constant();
        match u32::try_from(number).ok().filter(|&n| self.is_made(n)) {
            Some(number) => Ok(Def::from_u32(number)),
            None => start.fail(TextErrorKind::UndefinedValue(u32::try_from(number).unwrap_or(u32::MAX))),
        }
    }

    /// Reserves removed numbers that affect the width of all other numbers.
    pub(super) fn reserve_width(&mut self) {
        if let Some(Some(digits)) = self.digits
            && digits > crate::text::print::digits(self.body.num_defs())
            && let Some(count) = 10usize.checked_pow(digits as u32 - 1)
            && count as u64 <= MAX_SPARE_VALUES
        {
            self.body.reserve_defs(count);
        }
    }

    /// Parses a source that reads a value.
    pub(in crate::text) fn plain(&mut self, s: &mut Scanner<'a>) -> ParseResult<SourceSpec> {
        Ok(SourceSpec::plain(self.value(s)?))
    }
}

//! A position in text.

use super::Problem;

/// A problem at a position in bytes.
pub(super) type Fault = (usize, Problem);

/// The rest of a text. Spaces, line feeds and comments before each part are skipped.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'t> {
    text: &'t str,
    position: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Cursor<'t> {
        Cursor { text, position: 0 }
    }

    /// The position in bytes.
    pub(super) fn position(&self) -> usize {
        self.position
    }

    fn rest(&self) -> &'t str {
        &self.text[self.position..]
    }

    /// Skips spaces, line feeds and comments.
    pub(super) fn skip(&mut self) -> Result<(), Fault> {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.position += rest.len() - trimmed.len();
            if trimmed.starts_with("//") {
                self.position += trimmed.find('\n').unwrap_or(trimmed.len());
            } else if trimmed.starts_with("/*") {
                let end = trimmed.find("*/").ok_or((self.position, Problem::Comment))?;
                self.position += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// Whether the text ends here.
    pub(super) fn is_end(&self) -> bool {
        self.rest().is_empty()
    }

    /// The next character.
    pub(super) fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// A fault here.
    pub(super) fn fault(&self, problem: Problem) -> Fault {
        (self.position, problem)
    }

    /// Skips a prefix, if the text has it here.
    pub(super) fn eat(&mut self, prefix: &str) -> bool {
        let found = self.rest().starts_with(prefix);
        if found {
            self.position += prefix.len();
        }
        found
    }

    /// Skips spaces and a prefix, if the text has it there.
    pub(super) fn eat_spaced(&mut self, prefix: &str) -> Result<bool, Fault> {
        self.skip()?;
        Ok(self.eat(prefix))
    }

    /// Skips spaces and a prefix.
    pub(super) fn expect(&mut self, prefix: &'static str, name: &'static str) -> Result<(), Fault> {
        if self.eat_spaced(prefix)? { Ok(()) } else { Err(self.fault(Problem::Expected(name))) }
    }

    /// Takes the longest prefix of characters.
    pub(super) fn take(&mut self, is_part: impl Fn(char) -> bool) -> &'t str {
        let rest = self.rest();
        let part = &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())];
        self.position += part.len();
        part
    }

    /// Takes a name of letters, digits and underscores.
    pub(super) fn name(&mut self) -> &'t str {
        self.take(|c| c.is_ascii_alphanumeric() || c == '_')
    }

    /// Takes the text before a character of a set, or all.
    pub(super) fn until(&mut self, ends: &[char]) -> &'t str {
        self.take(|c| !ends.contains(&c))
    }

    /// Takes a decimal number, or a hexadecimal one with lower-case digits after `0x`.
    pub(super) fn number(&mut self, what: &'static str) -> Result<u64, Fault> {
        let start = *self;
        let (digits, radix) = if self.eat("0x") {
            (self.take(|c| matches!(c, '0'..='9' | 'a'..='f')), 16)
        } else {
            (self.take(|c| c.is_ascii_digit()), 10)
        };
        if digits.is_empty() {
            return Err(start.fault(Problem::Expected(what)));
        }
        u64::from_str_radix(digits, radix).map_err(|_| start.fault(Problem::Range(what)))
    }

    /// Takes a number that may have a sign.
    pub(super) fn signed(&mut self, what: &'static str) -> Result<i128, Fault> {
        let is_negative = self.eat("-");
        let value = i128::from(self.number(what)?);
        Ok(if is_negative { -value } else { value })
    }

    /// Takes a number of at most 8 bits.
    pub(super) fn small(&mut self, what: &'static str) -> Result<u8, Fault> {
        let start = *self;
        u8::try_from(self.number(what)?).map_err(|_| start.fault(Problem::Range(what)))
    }
}

//! Words of a script, by line.

use crate::error::Refusal;

/// A word, or the end of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token<'s> {
    /// Characters without blanks. A parenthesis or comma is a separate word.
    Word(&'s str),
    /// The end of a line.
    EndOfLine,
}

/// A position in a script.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tokens<'s> {
    rest: &'s str,
    line: usize,
}

impl<'s> Tokens<'s> {
    /// The start of a text whose first line has this number.
    pub(crate) fn new(text: &'s str, line: usize) -> Tokens<'s> {
        Tokens { rest: text, line }
    }

    /// The number of the line.
    pub(crate) fn line(&self) -> usize {
        self.line
    }

    /// The next token; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Token<'s>> {
        loop {
            self.rest = self.rest.trim_start_matches(|c: char| c != '\n' && (c.is_whitespace() || c == '\0'));
            let first = self.rest.chars().next()?;
            match first {
                '#' => self.rest = self.rest.find('\n').and_then(|at| self.rest.get(at..)).unwrap_or_default(),
                '\n' => {
                    self.take(1);
                    self.line += 1;
                    return Some(Token::EndOfLine);
                }
                '"' => {
                    let inside = self.rest.get(1..).unwrap_or_default();
                    let end = inside.find(['"', '\n']).unwrap_or(inside.len());
                    let word = inside.get(..end).unwrap_or_default();
                    // The end of the line is left.
                    let closing = usize::from(inside.get(end..).is_some_and(|rest| rest.starts_with('"')));
                    self.take(1 + end + closing);
                    return Some(Token::Word(word));
                }
                ',' | '(' | ')' => return Some(Token::Word(self.take(1))),
                _ => {}
            }
            if first == '#' {
                continue;
            }
            let is_end = |c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')');
            let end = self.rest.find(is_end).unwrap_or(self.rest.len());
            let word = self.take(end);
            // A line that the next one continues.
            if word == "\\" && self.rest.trim_start_matches([' ', '\t', '\r']).starts_with('\n') {
                let at = self.rest.find('\n').unwrap_or(0);
                self.take(at + 1);
                self.line += 1;
                continue;
            }
            return Some(Token::Word(word));
        }
    }

    /// Removes and returns the first bytes.
    fn take(&mut self, count: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at_checked(count).unwrap_or((self.rest, ""));
        self.rest = rest;
        taken
    }

    /// The next token, which stays.
    pub(crate) fn peek(&self) -> Option<Token<'s>> {
        let mut ahead = *self;
        ahead.next()
    }

    /// The next word of the line, which stays; `None` at its end.
    pub(crate) fn peek_word(&self) -> Option<&'s str> {
        match self.peek() {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// The next word of the line; `None` at its end, which stays.
    pub(crate) fn try_word(&mut self) -> Option<&'s str> {
        let word = self.peek_word()?;
        self.next();
        Some(word)
    }

    /// The next word of the line.
    pub(crate) fn word(&mut self, what: &str) -> Result<&'s str, Refusal> {
        let line = self.line;
        self.try_word().ok_or_else(|| Refusal::syntax(line, format!("expected {what}")))
    }

    /// Skips this word if it is next.
    pub(crate) fn eat(&mut self, word: &str) -> bool {
        let is_next = self.peek_word() == Some(word);
        if is_next {
            self.next();
        }
        is_next
    }

    /// Skips this word.
    pub(crate) fn expect(&mut self, word: &str) -> Result<(), Refusal> {
        if self.eat(word) { Ok(()) } else { Err(Refusal::syntax(self.line, format!("expected {word}"))) }
    }

    /// The next word as a number of any kind.
    pub(crate) fn number(&mut self, what: &str) -> Result<f64, Refusal> {
        let line = self.line;
        let word = self.word(what)?;
        number(word).ok_or_else(|| Refusal::syntax(line, format!("expected {what}, found {word}")))
    }

    /// The next word as a float.
    pub(crate) fn float(&mut self, what: &str) -> Result<f32, Refusal> {
        Ok(self.number(what)? as f32)
    }

    /// The next word as an integer.
    pub(crate) fn integer(&mut self, what: &str) -> Result<u32, Refusal> {
        let line = self.line;
        let word = self.word(what)?;
        let value = integer(word).and_then(|value| u32::try_from(value).ok());
        value.ok_or_else(|| Refusal::syntax(line, format!("expected {what}, found {word}")))
    }

    /// `on` or `off`.
    pub(crate) fn switch(&mut self, what: &str) -> Result<bool, Refusal> {
        let line = self.line;
        match self.word(what)? {
            "on" => Ok(true),
            "off" => Ok(false),
            other => Err(Refusal::syntax(line, format!("expected on or off after {what}, found {other}"))),
        }
    }

    /// Ends a line.
    pub(crate) fn end_of_line(&mut self, command: &str) -> Result<(), Refusal> {
        let line = self.line;
        match self.next() {
            None | Some(Token::EndOfLine) => Ok(()),
            Some(Token::Word(word)) => Err(Refusal::syntax(line, format!("{word} after {command}"))),
        }
    }

    /// Skips empty lines, and returns the first word of the next line; `None` at the end.
    pub(crate) fn first_word(&mut self) -> Option<&'s str> {
        loop {
            match self.next()? {
                Token::Word(word) => return Some(word),
                Token::EndOfLine => {}
            }
        }
    }

    /// The first words of the lines of a block, until `END`, which is skipped.
    pub(crate) fn block_word(&mut self, command: &str) -> Result<Option<&'s str>, Refusal> {
        match self.first_word() {
            Some("END") => Ok(None),
            Some(word) => Ok(Some(word)),
            None => Err(Refusal::syntax(self.line, format!("{command} without END"))),
        }
    }

    /// The text from here to a line that begins with `END`, which is skipped, and the line where it begins.
    pub(crate) fn text_until_end(&mut self, command: &str) -> Result<(&'s str, usize), Refusal> {
        let (text, first) = (self.rest, self.line);
        let mut length = 0;
        for line in text.split_inclusive('\n') {
            let word = line.trim_start();
            let is_end = word
                .strip_prefix("END")
                .is_some_and(|rest| rest.chars().next().is_none_or(|next| next.is_whitespace() || next == '#'));
            if is_end {
                let block = self.take(length);
                self.next();
                self.end_of_line("END")?;
                return Ok((block, first));
            }
            length += line.len();
            self.line += usize::from(line.ends_with('\n'));
        }
        Err(Refusal::syntax(first, format!("{command} without END")))
    }
}

/// An integer: decimal, with a sign, or hexadecimal. Negative ones are in two's complement.
pub(crate) fn integer(word: &str) -> Option<u64> {
    if let Some(digits) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok();
    }
    word.parse::<u64>().ok().or_else(|| word.parse::<i64>().ok().map(|value| value as u64))
}

/// A number. Hexadecimal digits are an integer.
pub(crate) fn number(word: &str) -> Option<f64> {
    if let Some(digits) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
        return u64::from_str_radix(digits, 16).ok().map(|value| value as f64);
    }
    let is_number = word.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.' | '+'));
    if is_number || word.eq_ignore_ascii_case("nan") { word.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn words_have_lines() {
        let text = "A b # c\n\n  D \"e f\" \\\n g(1,2)\nEND # end\nH";
        let mut tokens = Tokens::new(text, 1);
        let mut found = Vec::new();
        while let Some(token) = tokens.next() {
            if let Token::Word(word) = token {
                found.push((tokens.line(), word));
            }
        }
        let expected = [
            (1, "A"),
            (1, "b"),
            (3, "D"),
            (3, "e f"),
            (4, "g"),
            (4, "("),
            (4, "1"),
            (4, ","),
            (4, "2"),
            (4, ")"),
            (5, "END"),
            (6, "H"),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn blocks_end_at_a_line() {
        let mut tokens = Tokens::new("X\n a END\n ENDING\n END # x\nrest", 7);
        assert_eq!(tokens.first_word(), Some("X"));
        assert_eq!(tokens.end_of_line("X"), Ok(()));
        assert_eq!(tokens.text_until_end("X"), Ok((" a END\n ENDING\n", 8)));
        assert_eq!((tokens.first_word(), tokens.line()), (Some("rest"), 11));
        let error = Tokens::new("a\nb", 1).text_until_end("SHADER").expect_err("no end");
        assert_eq!(error.to_string(), "line 1: syntax: SHADER without END");
    }

    #[test]
    fn numbers_have_forms() {
        assert_eq!(integer("-1"), Some(u64::MAX));
        assert_eq!(integer("0x10"), Some(16));
        assert_eq!(integer("1.5"), None);
        assert_eq!(number("-1.5e3"), Some(-1500.0));
        assert_eq!(number("0x10"), Some(16.0));
        assert!(number("NaN").is_some_and(f64::is_nan));
        assert_eq!(number("inf"), None);
        assert_eq!(number("EQ"), None);
    }
}

//! The lexical rules: recognisers over byte slices.
//!
//! Blanks are blank, TAB, LF, CR, VT and FF (Mesa accepts the first three). Comments begin with `#`, `;` or `//`, which
//! no TGSI token begins with, and extend to the end of the line. A word is a run of letters, digits and underscores, so
//! `2D_ARRAY` is one word; names are case-insensitive (ASCII).

use nom::branch::alt;
use nom::bytes::complete::{tag, take_till, take_while, take_while1};
use nom::character::complete::digit1;
use nom::sequence::preceded;
use nom::{IResult, Parser};

use crate::tables::lookup::Word;
pub(crate) use crate::tables::lookup::is_word_byte;

/// Class of a byte: a blank.
const BLANK: u8 = 1;
/// Letter, digit or underscore.
const WORD: u8 = 2;
/// May begin a comment.
const COMMENT: u8 = 4;

/// The classes of each byte.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c => BLANK,
            b'#' | b';' | b'/' => COMMENT,
            other if is_word_byte(other) => WORD,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

#[inline]
fn is(byte: u8, class: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

#[inline]
pub(crate) fn is_blank(byte: u8) -> bool {
    is(byte, BLANK)
}

/// Whether blanks or a comment may begin with this byte; otherwise [`skip_blanks`] skips nothing.
#[inline]
pub(crate) fn may_be_skipped(byte: u8) -> bool {
    is(byte, BLANK | COMMENT)
}

/// Whether a comment begins here.
#[inline]
pub(crate) fn at_comment(input: &[u8]) -> bool {
    matches!(input, [b'#' | b';', ..] | [b'/', b'/', ..])
}

fn comment(input: &[u8]) -> IResult<&[u8], &[u8]> {
    preceded(alt((tag("#"), tag(";"), tag("//"))), take_till(|byte| byte == b'\n')).parse(input)
}

/// Skips blanks.
#[inline]
pub(crate) fn skip_only_blanks(mut input: &[u8]) -> &[u8] {
    loop {
        // Most blanks are indentation.
        while let Some(chunk) = input.first_chunk() {
            let spaces = (u64::from_le_bytes(*chunk) ^ u64::from_ne_bytes([b' '; 8])).trailing_zeros() as usize / 8;
            input = input.get(spaces..).unwrap_or_default();
            if spaces < chunk.len() {
                break;
            }
        }
        match input {
            [first, rest @ ..] if is_blank(*first) => input = rest,
            _ => return input,
        }
    }
}

/// Skips blanks and comments.
pub(crate) fn skip_blanks(input: &[u8]) -> &[u8] {
    let mut input = skip_only_blanks(input);
    while at_comment(input) {
        input = skip_only_blanks(comment(input).map_or(input, |(rest, _)| rest));
    }
    input
}

/// Skips the blanks in this line.
pub(crate) fn skip_blanks_of_line(input: &[u8]) -> &[u8] {
    let blanks: IResult<&[u8], &[u8]> = take_while(|byte| is_blank(byte) && byte != b'\n').parse(input);
    blanks.map_or(input, |(rest, _)| rest)
}

/// Recognises a word; it may begin with a digit.
#[inline]
pub(crate) fn word(input: &[u8]) -> Option<Word<'_>> {
    let length = input.iter().position(|&byte| !is(byte, WORD)).unwrap_or(input.len());
    (length > 0).then(|| Word::at_start(input, length))
}

/// Recognises decimal digits; a number above 64 bits gives the maximum.
pub(crate) fn number(input: &[u8]) -> IResult<&[u8], u64> {
    let (rest, digits) = digit1.parse(input)?;
    let value = digits.iter().fold(0u64, |n, &d| n.saturating_mul(10).saturating_add((d - b'0') as u64));
    Ok((rest, value))
}

/// Recognises a number as C's `strtoull` with base 0 does: decimal, `0x` hexadecimal, octal after a leading 0. Gives no
/// value if the number is above 64 bits or has a digit that is invalid in the base.
pub(crate) fn number_any_base(input: &[u8]) -> IResult<&[u8], Option<u64>> {
    let (rest, digits) = take_while1(is_word_byte).parse(input)?;
    if !digits.first().is_some_and(u8::is_ascii_digit) {
        return Err(nom::Err::Error(nom::error::Error::new(input, nom::error::ErrorKind::Digit)));
    }
    let digits = std::str::from_utf8(digits).unwrap_or_default();
    let value = if let Some(digits) = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        u64::from_str_radix(digits, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        u64::from_str_radix(digits, 8)
    } else {
        digits.parse()
    };
    Ok((rest, value.ok()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_and_comments() {
        assert_eq!(skip_blanks(b" \t\r\n# a comment\n// another\n; and one\n MOV"), b"MOV");
        assert_eq!(skip_blanks(b"/ x"), b"/ x");
        assert_eq!(skip_blanks(b"                   \t        x"), b"x");
        assert_eq!(skip_blanks(b"# to the end"), b"");
        for byte in 0..=255u8 {
            let skips = skip_blanks(&[byte, b'/', b'x']).len() < 3;
            assert_eq!(skips, may_be_skipped(byte), "{byte}");
            assert_eq!(is_word_byte(byte), word(&[byte]).is_some(), "{byte}");
        }
        assert_eq!(skip_blanks_of_line(b" \t\n x"), b"\n x");
    }

    #[test]
    fn words_and_numbers() {
        assert_eq!(word(b"2D_ARRAY, x").map(Word::bytes), Some(&b"2D_ARRAY"[..]));
        assert!(word(b".x").is_none());
        assert_eq!(number(b"12..3"), Ok((&b"..3"[..], 12)));
        assert_eq!(number(b"99999999999999999999").map(|(_, n)| n), Ok(u64::MAX));
        assert_eq!(number_any_base(b"0x10}").map(|(_, n)| n), Ok(Some(16)));
        assert_eq!(number_any_base(b"010}").map(|(_, n)| n), Ok(Some(8)));
        assert_eq!(number_any_base(b"18446744073709551616}").map(|(_, n)| n), Ok(None));
        assert!(number_any_base(b"x").is_err());
    }
}

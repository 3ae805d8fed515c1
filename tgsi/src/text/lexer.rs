//! The lexical rules: recognisers over byte slices.
//!
//! Blanks are blank, TAB, LF, CR, VT and FF (Mesa knows the first three). Comments begin with `#`, `;` or `//` and go to the end of the
//! line; nothing of TGSI begins so. A word is a run of letters, digits and underscores, so that `2D_ARRAY` is one; names are compared
//! without regard to ASCII case.

use nom::branch::alt;
use nom::bytes::complete::{tag, take_till, take_while, take_while1};
use nom::character::complete::digit1;
use nom::multi::many0_count;
use nom::sequence::preceded;
use nom::{IResult, Parser};

pub(crate) fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0b | 0x0c)
}

pub(crate) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Whether a comment begins here.
pub(crate) fn at_comment(input: &[u8]) -> bool {
    matches!(input, [b'#' | b';', ..] | [b'/', b'/', ..])
}

fn comment(input: &[u8]) -> IResult<&[u8], &[u8]> {
    preceded(alt((tag("#"), tag(";"), tag("//"))), take_till(|byte| byte == b'\n')).parse(input)
}

/// What is left after blanks and comments.
pub(crate) fn skip_blanks(input: &[u8]) -> &[u8] {
    match input {
        // Most calls stand at something already.
        [first, ..] if !is_blank(*first) && !at_comment(input) => input,
        _ => {
            let blanks: IResult<&[u8], usize> = many0_count(alt((take_while1(is_blank), comment))).parse(input);
            blanks.map_or(input, |(rest, _)| rest)
        }
    }
}

/// What is left after the blanks of this line.
pub(crate) fn skip_blanks_of_line(input: &[u8]) -> &[u8] {
    let blanks: IResult<&[u8], &[u8]> = take_while(|byte| is_blank(byte) && byte != b'\n').parse(input);
    blanks.map_or(input, |(rest, _)| rest)
}

/// A word; it may begin with a digit.
pub(crate) fn word(input: &[u8]) -> IResult<&[u8], &str> {
    let (rest, word) = take_while1(is_word_byte).parse(input)?;
    // All word bytes are ASCII.
    Ok((rest, std::str::from_utf8(word).unwrap_or_default()))
}

/// Decimal digits; a number beyond 64 bits reads as the largest.
pub(crate) fn number(input: &[u8]) -> IResult<&[u8], u64> {
    let (rest, digits) = digit1.parse(input)?;
    let value = digits.iter().fold(0u64, |n, &d| n.saturating_mul(10).saturating_add((d - b'0') as u64));
    Ok((rest, value))
}

/// A number as C's `strtoull` with base 0 reads it: decimal, `0x` hexadecimal, octal after a leading 0. None instead of a value that is
/// beyond 64 bits or has a digit that the base does not have.
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
        assert_eq!(skip_blanks(b"# to the end"), b"");
        assert_eq!(skip_blanks_of_line(b" \t\n x"), b"\n x");
    }

    #[test]
    fn words_and_numbers() {
        assert_eq!(word(b"2D_ARRAY, x").map(|(_, w)| w), Ok("2D_ARRAY"));
        assert!(word(b".x").is_err());
        assert_eq!(number(b"12..3"), Ok((&b"..3"[..], 12)));
        assert_eq!(number(b"99999999999999999999").map(|(_, n)| n), Ok(u64::MAX));
        assert_eq!(number_any_base(b"0x10}").map(|(_, n)| n), Ok(Some(16)));
        assert_eq!(number_any_base(b"010}").map(|(_, n)| n), Ok(Some(8)));
        assert_eq!(number_any_base(b"18446744073709551616}").map(|(_, n)| n), Ok(None));
        assert!(number_any_base(b"x").is_err());
    }
}

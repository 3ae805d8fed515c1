//! Lossless conversion between floats and text, in both directions.
//!
//! There are two print forms: the fixed notation of C's `%10.4f` and `%10.8f`, and one that reads back to the same
//! bits. Parsing accepts the syntax of C's `strtof` and `strtod`; decimal numbers are rounded by the standard library,
//! hexadecimal ones here.

use std::fmt::Write;

use nom::branch::alt;
use nom::bytes::complete::{tag_no_case, take_while};
use nom::character::complete::{char, digit1, hex_digit1, one_of};
use nom::combinator::{opt, recognize};
use nom::sequence::{delimited, preceded};
use nom::{IResult, Parser};

/// The NaN that C's `strtof` returns for `nan`, as 32 bits.
const NAN32: u32 = 0x7fc0_0000;
const SIGN32: u32 = 0x8000_0000;
const NAN64: u64 = 0x7ff8_0000_0000_0000;
const SIGN64: u64 = 1 << 63;

/// Writes the float with bits `bits` as `%10.4f` does.
pub(crate) fn print_f32_fixed(out: &mut String, bits: u32) {
    print_fixed(out, f32::from_bits(bits) as f64, bits & SIGN32 != 0, 4);
}

/// Writes the float with bits `bits` as `%10.8f` does.
pub(crate) fn print_f64_fixed(out: &mut String, bits: u64) {
    print_fixed(out, f64::from_bits(bits), bits & SIGN64 != 0, 8);
}

/// Works for both widths, because widening a 32-bit float does not change its value.
fn print_fixed(out: &mut String, value: f64, negative: bool, decimals: usize) {
    // Writing to a string cannot fail.
    let _ = match (value.is_nan(), negative) {
        (true, true) => write!(out, "{:>10}", "-nan"),
        (true, false) => write!(out, "{:>10}", "nan"),
        _ => write!(out, "{value:>10.decimals$}"),
    };
}

/// Returns a value as a number of ten thousandths, if it is small and reads back to the value.
fn short_form(value: f32) -> Option<u32> {
    let value = value.abs();
    // 24 bits times 14 bits: exact.
    let scaled = f64::from(value) * 1e4;
    let digits = (scaled < f64::from(FIRST_INEXACT - 1) && scaled.fract() != 0.5).then_some(scaled.round() as u32)?;
    // The quotient of exact numbers is rounded once, as in parsing.
    (digits as f32 / 1e4 == value).then_some(digits)
}

/// Writes `digits / 10000` as `%10.4f` does.
fn print_short(out: &mut String, negative: bool, digits: u32) {
    const POINT: usize = 5;
    let mut text = [b' '; POINT + 5];
    text[POINT] = b'.';
    let (mut whole, mut fraction) = (digits / 10_000, digits % 10_000);
    for letter in text[POINT + 1..].iter_mut().rev() {
        *letter = b'0' + (fraction % 10) as u8;
        fraction /= 10;
    }
    // Less than five digits before the point: the number of ten thousandths is below 2^24.
    let mut letters = text[..POINT].iter_mut().rev();
    for letter in letters.by_ref() {
        *letter = b'0' + (whole % 10) as u8;
        whole /= 10;
        if whole == 0 {
            break;
        }
    }
    if negative && let Some(letter) = letters.next() {
        *letter = b'-';
    }
    out.push_str(std::str::from_utf8(&text).unwrap_or_default());
}

/// Writes a 32-bit float so that it reads back to the same bits: in fixed notation if that is exact, otherwise as the
/// shortest decimal; NaNs with their bits.
pub(crate) fn print_f32_exact(out: &mut String, bits: u32) {
    let start = out.len();
    let value = f32::from_bits(bits);
    if value.is_nan() && bits & !SIGN32 != NAN32 {
        let _ = write!(out, "nan(0x{bits:08x})");
        return;
    }
    if let Some(digits) = short_form(value) {
        print_short(out, bits & SIGN32 != 0, digits);
        return;
    }
    print_f32_fixed(out, bits);
    let reads_back = |text: &str| text.trim_start().parse::<f32>().is_ok_and(|v| v.to_bits() == bits);
    if !value.is_nan() && !out.get(start..).is_some_and(reads_back) {
        out.truncate(start);
        let _ = write!(out, "{value:>10?}");
    }
}

/// Writes a 64-bit float in the same way.
pub(crate) fn print_f64_exact(out: &mut String, bits: u64) {
    let start = out.len();
    let value = f64::from_bits(bits);
    if value.is_nan() && bits & !SIGN64 != NAN64 {
        let _ = write!(out, "nan(0x{bits:016x})");
        return;
    }
    print_f64_fixed(out, bits);
    let reads_back = |text: &str| text.trim_start().parse::<f64>().is_ok_and(|v| v.to_bits() == bits);
    if !value.is_nan() && !out.get(start..).is_some_and(reads_back) {
        out.truncate(start);
        let _ = write!(out, "{value:>10?}");
    }
}

/// Powers of ten that are exact as 32-bit floats.
const TENS: [f64; 11] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10];
/// Integers below this are exact as 32-bit floats.
const FIRST_INEXACT: u32 = 1 << 24;

/// A float literal, recognised but not yet rounded to a width.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum FloatLiteral<'a> {
    /// A short decimal number: `digits / 10^decimals`, both of which are exact as 32-bit floats.
    Short { negative: bool, digits: u32, decimals: u8 },
    /// Decimal digits with optional fraction and exponent, sign included.
    Decimal(&'a str),
    /// `0x` and exactly 8 digits: the bits of a 32-bit word.
    Word(u32),
    /// A hexadecimal number: sign, and the exact value as `mantissa * 2^exponent`; `sticky` if lower digits were
    /// dropped.
    Hex { negative: bool, mantissa: u64, exponent: i32, sticky: bool },
    /// Infinity.
    Infinity { negative: bool },
    /// NaN with the number in its parentheses and the number of digits.
    Nan { negative: bool, payload: Option<(u64, usize)> },
}

impl FloatLiteral<'_> {
    /// Returns the bits of the nearest 32-bit float.
    pub(crate) fn to_f32_bits(self) -> u32 {
        match self {
            // The quotient of exact numbers is rounded once.
            FloatLiteral::Short { negative, digits, decimals } => {
                (negative as u32) << 31 | (digits as f32 / TENS[usize::from(decimals)] as f32).to_bits()
            }
            FloatLiteral::Decimal(text) => text.parse::<f32>().map_or(NAN32, f32::to_bits),
            FloatLiteral::Word(bits) => bits,
            FloatLiteral::Hex { negative, mantissa, exponent, sticky } => {
                (negative as u32) << 31 | round_hex(mantissa, exponent, sticky, 24, -149, 127) as u32
            }
            FloatLiteral::Infinity { negative } => (negative as u32) << 31 | 0x7f80_0000,
            FloatLiteral::Nan { negative, payload } => {
                let bits = match payload {
                    // All bits of the NaN are given.
                    Some((bits, 8)) if f32::from_bits(bits as u32).is_nan() => bits as u32,
                    Some((payload, _)) => NAN32 | payload as u32 & 0x003f_ffff,
                    None => NAN32,
                };
                (negative as u32) << 31 | bits
            }
        }
    }

    /// Returns the bits of the nearest 64-bit float. A [`FloatLiteral::Word`] is treated as a number.
    pub(crate) fn to_f64_bits(self) -> u64 {
        match self {
            FloatLiteral::Short { negative, digits, decimals } => {
                (negative as u64) << 63 | (digits as f64 / TENS[usize::from(decimals)]).to_bits()
            }
            FloatLiteral::Decimal(text) => text.parse::<f64>().map_or(NAN64, f64::to_bits),
            FloatLiteral::Word(number) => (number as f64).to_bits(),
            FloatLiteral::Hex { negative, mantissa, exponent, sticky } => {
                (negative as u64) << 63 | round_hex(mantissa, exponent, sticky, 53, -1074, 1023)
            }
            FloatLiteral::Infinity { negative } => (negative as u64) << 63 | f64::INFINITY.to_bits(),
            FloatLiteral::Nan { negative, payload } => {
                let bits = match payload {
                    Some((bits, 16)) if f64::from_bits(bits).is_nan() => bits,
                    Some((payload, _)) => NAN64 | payload & 0x0007_ffff_ffff_ffff,
                    None => NAN64,
                };
                (negative as u64) << 63 | bits
            }
        }
    }
}

/// Rounds `mantissa * 2^exponent` (plus less than one unit if `sticky`) to a binary float with `precision` bits,
/// smallest value `2^min_exponent` and largest exponent `max_exponent`; ties to even. Returns its bits without the
/// sign.
fn round_hex(mantissa: u64, exponent: i32, sticky: bool, precision: u32, min_exponent: i32, max_exponent: i32) -> u64 {
    if mantissa == 0 {
        return 0;
    }
    let length = 64 - mantissa.leading_zeros();
    // Weight of the lowest bit of the result.
    let last = (exponent.saturating_add(length as i32 - precision as i32)).max(min_exponent);
    let drop = last.saturating_sub(exponent);
    let (mut kept, rest, half) = match drop {
        ..=0 => (mantissa << drop.unsigned_abs().min(63), 0, 1),
        1..=63 => (mantissa >> drop, mantissa & ((1 << drop) - 1), 1u64 << (drop - 1)),
        64 => (0, mantissa, 1 << 63),
        _ => (0, 0, 1),
    };
    let round_up = rest > half || (rest == half && (sticky || kept & 1 == 1));
    kept += round_up as u64;
    // In the packed form, a carry out of the significand increments the exponent.
    let infinity = (max_exponent as u64 * 2 + 1) << (precision - 1);
    if last > max_exponent - precision as i32 + 1 {
        return infinity;
    }
    let hidden = 1u64 << (precision - 1);
    let packed = if kept >= hidden { (((last - min_exponent) as u64) << (precision - 1)) + kept } else { kept };
    packed.min(infinity)
}

fn sign(input: &[u8]) -> IResult<&[u8], bool> {
    let (rest, sign) = opt(one_of("+-")).parse(input)?;
    Ok((rest, sign == Some('-')))
}

fn special(input: &[u8]) -> IResult<&[u8], FloatLiteral<'_>> {
    let (rest, negative) = sign(input)?;
    let infinity: IResult<&[u8], &[u8]> = alt((tag_no_case("infinity"), tag_no_case("inf"))).parse(rest);
    if let Ok((rest, _)) = infinity {
        return Ok((rest, FloatLiteral::Infinity { negative }));
    }
    let (rest, _) = tag_no_case("nan").parse(rest)?;
    let in_brackets = take_while(|byte: u8| byte.is_ascii_alphanumeric() || byte == b'_');
    let (rest, payload) = opt(delimited(char('('), in_brackets, char(')'))).parse(rest)?;
    Ok((rest, FloatLiteral::Nan { negative, payload: payload.and_then(nan_payload) }))
}

/// Returns the number in the parentheses of a NaN and its number of digits, or none if it is not a number.
fn nan_payload(text: &[u8]) -> Option<(u64, usize)> {
    let text = std::str::from_utf8(text).ok()?;
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => Some((u64::from_str_radix(digits, 16).ok()?, digits.len())),
        None => Some((text.parse().ok()?, 0)),
    }
}

fn hexadecimal(input: &[u8]) -> IResult<&[u8], FloatLiteral<'_>> {
    let (rest, negative) = sign(input)?;
    let signed = rest.len() != input.len();
    let (rest, _) = tag_no_case("0x").parse(rest)?;
    let (rest, whole) = opt(hex_digit1).parse(rest)?;
    let whole: &[u8] = whole.unwrap_or_default();
    let (after_point, point) = opt(char('.')).parse(rest)?;
    // In `0x0..` the first point is read as part of the number. This is harmless, because ranges never occur where
    // floats do.
    let (rest, fraction): (&[u8], Option<&[u8]>) =
        if point.is_some() { opt(hex_digit1).parse(after_point)? } else { (rest, None) };
    let fraction = fraction.unwrap_or_default();
    if whole.is_empty() && fraction.is_empty() {
        return Err(nom::Err::Error(nom::error::Error::new(input, nom::error::ErrorKind::HexDigit)));
    }
    let (rest, power) = opt(preceded(one_of("pP"), (opt(one_of("+-")), digit1))).parse(rest)?;
    let (mut mantissa, mut sticky, mut exponent) = (0u64, false, 0i32);
    for (position, &digit) in whole.iter().chain(fraction).enumerate() {
        let digit = (digit as char).to_digit(16).unwrap_or(0) as u64;
        let in_fraction = position >= whole.len();
        if mantissa >> 60 == 0 {
            mantissa = mantissa << 4 | digit;
            exponent = exponent.saturating_sub(if in_fraction { 4 } else { 0 });
        } else {
            sticky |= digit != 0;
            exponent = exponent.saturating_add(if in_fraction { 0 } else { 4 });
        }
    }
    if let Some((power_sign, digits)) = power {
        let digits: &[u8] = digits;
        // Any exponent above 2^20 is infinite for every width.
        let power = digits.iter().fold(0i32, |n, &d| (n.saturating_mul(10) + (d - b'0') as i32).min(1 << 20));
        exponent = exponent.saturating_add(if power_sign == Some('-') { -power } else { power });
    } else if point.is_none() && whole.len() == 8 && !signed {
        return Ok((rest, FloatLiteral::Word(mantissa as u32)));
    }
    Ok((rest, FloatLiteral::Hex { negative, mantissa, exponent, sticky }))
}

/// Recognises digits with an optional fraction, if they form a [`FloatLiteral::Short`].
fn short(input: &[u8]) -> Option<(&[u8], FloatLiteral<'_>)> {
    let (negative, unsigned) = match input {
        [sign @ (b'+' | b'-'), unsigned @ ..] => (*sign == b'-', unsigned),
        _ => (false, input),
    };
    let (mut digits, mut point) = (0, None);
    for (position, &byte) in unsigned.iter().enumerate() {
        match byte {
            b'0'..=b'9' => {
                digits = 10 * digits + u32::from(byte - b'0');
                if digits >= FIRST_INEXACT {
                    return None;
                }
            }
            b'.' if point.is_none() && position > 0 => point = Some(position),
            b'e' | b'E' | b'.' => return None,
            _ => {
                let decimals = point.map_or(0, |point| position - point - 1);
                if position == 0 || decimals >= TENS.len() {
                    return None;
                }
                let rest = unsigned.get(position..)?;
                return Some((rest, FloatLiteral::Short { negative, digits, decimals: decimals as u8 }));
            }
        }
    }
    // A number is never at the end of the text.
    None
}

fn decimal(input: &[u8]) -> IResult<&[u8], FloatLiteral<'_>> {
    let fraction = (char('.'), opt(digit1));
    let digits = alt((recognize((digit1, opt(fraction))), recognize((char('.'), digit1))));
    let exponent = (one_of("eE"), opt(one_of("+-")), digit1);
    let (rest, text) = recognize((opt(one_of("+-")), digits, opt(exponent))).parse(input)?;
    match std::str::from_utf8(text) {
        Ok(text) => Ok((rest, FloatLiteral::Decimal(text))),
        Err(_) => Err(nom::Err::Error(nom::error::Error::new(input, nom::error::ErrorKind::Float))),
    }
}

/// Recognises a float literal at the start of `input`, without leading blanks.
pub(crate) fn float_literal(input: &[u8]) -> IResult<&[u8], FloatLiteral<'_>> {
    let unsigned = match input {
        [b'+' | b'-', unsigned @ ..] => unsigned,
        _ => input,
    };
    match unsigned {
        [b'0', b'x' | b'X', ..] => alt((hexadecimal, decimal)).parse(input),
        [b'0'..=b'9' | b'.', ..] => short(input).map_or_else(|| decimal(input), Ok),
        _ => special(input),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn f32_of(text: &str) -> u32 {
        let (rest, literal) = float_literal(text.as_bytes()).expect("a literal");
        assert!(rest.is_empty(), "{text}: {rest:?} left");
        literal.to_f32_bits()
    }

    fn f64_of(text: &str) -> u64 {
        float_literal(text.as_bytes()).expect("a literal").1.to_f64_bits()
    }

    #[test]
    fn fixed_notation_is_that_of_c() {
        let printed = |value: f32| {
            let mut out = String::new();
            print_f32_fixed(&mut out, value.to_bits());
            out
        };
        assert_eq!(printed(0.00005), "    0.0000");
        assert_eq!(printed(0.00015), "    0.0002");
        assert_eq!(printed(2.00005), "    2.0001");
        assert_eq!(printed(-0.0), "   -0.0000");
        assert_eq!(printed(f32::MAX), "340282346638528859811704183484516925440.0000");
        assert_eq!(printed(f32::INFINITY), "       inf");
        assert_eq!(printed(f32::NEG_INFINITY), "      -inf");
        assert_eq!(printed(f32::from_bits(0x7fc0_0000)), "       nan");
        assert_eq!(printed(f32::from_bits(0xffc0_0001)), "      -nan");
        let mut out = String::new();
        print_f64_fixed(&mut out, (-2.25f64).to_bits());
        assert_eq!(out, "-2.25000000");
    }

    #[test]
    fn hexadecimal_floats() {
        assert_eq!(f32_of("0x1.8p1"), 3.0f32.to_bits());
        assert_eq!(f32_of("-0x.8"), (-0.5f32).to_bits());
        assert_eq!(f32_of("0x10"), 16.0f32.to_bits());
        assert_eq!(f32_of("0x3f800000"), 1.0f32.to_bits());
        assert_eq!(f32_of("0x03f800000"), (0x3f80_0000u32 as f32).to_bits());
        assert_eq!(f32_of("0x1p-149"), 1);
        assert_eq!(f32_of("0x1p-150"), 0);
        assert_eq!(f32_of("0x1.8p-150"), 1);
        assert_eq!(f32_of("0x1p-151"), 0);
        assert_eq!(f32_of("0x1.fffffep127"), f32::MAX.to_bits());
        assert_eq!(f32_of("0x1.ffffffp127"), f32::INFINITY.to_bits());
        assert_eq!(f32_of("0x1p99999999999"), f32::INFINITY.to_bits());
        assert_eq!(f32_of("0x1.000001p0"), 1.0f32.to_bits());
        assert_eq!(f32_of("0x1.0000010000000000000001p0"), 1.0f32.to_bits() + 1);
        assert_eq!(f64_of("0x1.8p1"), 3.0f64.to_bits());
        assert_eq!(f64_of("0x1p-1074"), 1);
        assert_eq!(f64_of("0x1.fffffffffffffp1023"), f64::MAX.to_bits());
        // Every exponent, with a few significands.
        for bits in (0..0x7f80_0000u32).step_by(0x0003_1234) {
            let (exponent, fraction) = ((bits >> 23) as i32, bits & 0x7f_ffff);
            let text = if exponent == 0 {
                format!("0x0.{:06x}p-126", fraction << 1)
            } else {
                format!("0x1.{:06x}p{}", fraction << 1, exponent - 127)
            };
            assert_eq!(f32_of(&text), bits, "{text}");
        }
    }

    #[test]
    fn short_decimals_are_those_of_the_library() {
        let mut pattern = 1u32;
        for _ in 0..20_000 {
            pattern = pattern.wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15);
            let (digits, decimals) = (pattern >> 8 >> (pattern & 15), (pattern >> 4) as usize % 12);
            let text =
                if decimals == 0 { format!("-{digits}") } else { format!("{:.1$}", digits as f64 * 0.37, decimals) };
            let literal = text.clone() + ",";
            let (rest, short) = float_literal(literal.as_bytes()).expect("a literal");
            assert_eq!(rest, b",");
            assert_eq!(short.to_f32_bits(), text.parse::<f32>().unwrap().to_bits(), "{text}");
            assert_eq!(short.to_f64_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
        for (text, is_short) in [
            ("0.0000,", true),
            ("-0}", true),
            ("+1. ", true),
            ("16777215,", true),
            ("16777216,", false),
            ("1e3,", false),
            ("0.00000000001,", false),
            ("0.0000000001,", true),
            (".5,", false),
            ("1.5", false),
        ] {
            assert_eq!(short(text.as_bytes()).is_some(), is_short, "{text}");
        }
        assert_eq!(short(b"-0.0,").map(|(_, zero)| zero.to_f32_bits()), Some(SIGN32));
        assert_eq!(float_literal(b"1.5.2").map(|(rest, _)| rest), Ok(&b".2"[..]));
    }

    #[test]
    fn special_values() {
        assert_eq!(f32_of("inf"), 0x7f80_0000);
        assert_eq!(f32_of("-Infinity"), 0xff80_0000);
        assert_eq!(f32_of("nan"), 0x7fc0_0000);
        assert_eq!(f32_of("-nan"), 0xffc0_0000);
        assert_eq!(f32_of("nan(0x7f800001)"), 0x7f80_0001);
        assert_eq!(f32_of("nan(0xffc01234)"), 0xffc0_1234);
        assert_eq!(f32_of("nan(0x12)"), 0x7fc0_0012);
        assert_eq!(f32_of("nan(12)"), 0x7fc0_000c);
        assert_eq!(f64_of("nan(0xfff8000000000001)"), 0xfff8_0000_0000_0001);
        assert!(float_literal(b"zwei").is_err() && float_literal(b"-").is_err() && float_literal(b".").is_err());
    }

    #[test]
    fn short_prints_are_fixed_prints() {
        let mut pattern = 1u32;
        for step in 0..40_000u32 {
            pattern = pattern.wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15);
            // Numbers with few digits, their neighbours, and arbitrary ones.
            let value = ((pattern >> 8 >> (step & 23)) as f32 / 1e4) * if step & 32 == 0 { 1.0 } else { -1.0 };
            let bits = [value.to_bits(), value.to_bits() + 1, pattern, 0x8000_0000, 0][step as usize % 5];
            let Some(digits) = short_form(f32::from_bits(bits)) else { continue };
            let (mut short, mut fixed) = (String::new(), String::new());
            print_short(&mut short, bits & SIGN32 != 0, digits);
            print_f32_fixed(&mut fixed, bits);
            assert_eq!(short, fixed, "{bits:#x}");
        }
    }

    #[test]
    fn exact_prints_read_back() {
        let mut pattern = 0x1234_5678u32;
        for _ in 0..20_000 {
            pattern = pattern.wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15);
            let mut out = String::new();
            print_f32_exact(&mut out, pattern);
            assert_eq!(f32_of(out.trim_start()), pattern, "{out}");
            let wide = (pattern as u64) << 32 | pattern.rotate_left(7) as u64;
            out.clear();
            print_f64_exact(&mut out, wide);
            assert_eq!(f64_of(out.trim_start()), wide, "{out}");
        }
        for pattern in [0, 1, SIGN32, NAN32, NAN32 | SIGN32, 0x7f80_0001, 0xff80_0001, 0x7f80_0000, 0x3dcc_cccd] {
            let mut out = String::new();
            print_f32_exact(&mut out, pattern);
            assert_eq!(f32_of(out.trim_start()), pattern, "{out}");
        }
    }
}

//! Conversion of numbers.

use super::error::{PreprocessError, shown};
use crate::extension::{Extension, Extensions};
use crate::version::{NEVER, Since, Version};

/// The value of a number.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Number {
    /// An integer of 32 bits. Values beyond 2^31 - 1 without the suffix `u` keep their bits.
    Int { bits: u32, unsigned: bool },
    /// An integer of 64 bits: with the suffix `l` or `ul`.
    Int64 { bits: u64, unsigned: bool },
    /// A float of 32 bits, rounded to the nearest; infinite if the number is too large.
    Float(f32),
    /// A float of 64 bits: with the suffix `lf`.
    Double(f64),
}

/// A number, and a warning about its spelling.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Literal {
    pub(crate) number: Number,
    /// The warning, if the version lacks the suffix.
    pub(crate) warning: Option<PreprocessError>,
}

/// Suffixes, longest first, and the versions and extensions that have them.
const SUFFIXES: [(&str, Since); 5] = [
    ("lf", Since::new(400, NEVER).or(&[Extension::ARBGpuShaderFp64])),
    ("ul", Since::new(NEVER, NEVER).or(&[Extension::ARBGpuShaderInt64, Extension::AMDGpuShaderInt64])),
    ("f", Since::new(120, 300)),
    ("u", Since::new(130, 300).or(&[Extension::EXTGpuShader4])),
    ("l", Since::new(NEVER, NEVER).or(&[Extension::ARBGpuShaderInt64, Extension::AMDGpuShaderInt64])),
];

/// Converts the spelling of a number.
pub(crate) fn parse_number(text: &str, version: Version, enabled: &Extensions) -> Result<Literal, PreprocessError> {
    let is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    let suffix = SUFFIXES.iter().find(|&&(suffix, _)| {
        // `f` is a digit of a hexadecimal number, and a suffix has one case.
        !(is_hexadecimal && suffix.ends_with('f'))
            && (text.ends_with(suffix) || text.ends_with(&suffix.to_ascii_uppercase()))
    });
    let digits = text.get(..text.len() - suffix.map_or(0, |(suffix, _)| suffix.len())).unwrap_or_default();
    let name = suffix.map_or("", |&(name, _)| name);
    let is_float = !is_hexadecimal && digits.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E'));
    let number = match (is_float, name) {
        (true, "" | "f") => Number::Float(parse_float(digits, text)?),
        (true, "lf") => Number::Double(parse_float(digits, text)?),
        (false, "" | "u") => {
            let value = parse_integer(digits, text)?;
            let bits = value.and_then(|value| u32::try_from(value).ok());
            let bits = bits.ok_or_else(|| PreprocessError::IntegerTooLarge { text: shown(text), bits: 32 })?;
            Number::Int { bits, unsigned: name == "u" }
        }
        (false, "l" | "ul") => {
            let bits = parse_integer(digits, text)?;
            let bits = bits.ok_or_else(|| PreprocessError::IntegerTooLarge { text: shown(text), bits: 64 })?;
            Number::Int64 { bits, unsigned: name == "ul" }
        }
        _ => return Err(PreprocessError::BadNumber { text: shown(text) }),
    };
    let warning = match suffix {
        Some(&(name, since)) if !since.holds(version, enabled) => {
            if name != "f" {
                return Err(PreprocessError::Suffix { suffix: name, version, remedy: since.remedy(version) });
            }
            Some(PreprocessError::OldFloatSuffix { version })
        }
        _ => None,
    };
    Ok(Literal { number, warning })
}

/// Converts digits with a point or an exponent.
fn parse_float<F: std::str::FromStr>(digits: &str, text: &str) -> Result<F, PreprocessError> {
    let bad = || PreprocessError::BadNumber { text: shown(text) };
    if !digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')) {
        return Err(bad());
    }
    digits.parse().map_err(|_| bad())
}

/// Converts decimal, octal or hexadecimal digits; `None` beyond 64 bits.
fn parse_integer(digits: &str, text: &str) -> Result<Option<u64>, PreprocessError> {
    let (digits, radix) = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => (digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        None => (digits, 10),
    };
    if radix == 8 && digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.contains(['8', '9']) {
        return Err(PreprocessError::BadOctal { text: shown(text) });
    }
    if digits.is_empty() || !digits.chars().all(|digit| digit.is_digit(radix)) {
        return Err(PreprocessError::BadNumber { text: shown(text) });
    }
    Ok(u64::from_str_radix(digits, radix).ok())
}

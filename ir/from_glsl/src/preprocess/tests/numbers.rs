//! Values of numbers.

use super::*;

/// The value of a number, or the name of the error, and whether there is a warning.
fn value(text: &str, number: u16, profile: Profile, extensions: &[Extension]) -> Result<(Number, bool), &'static str> {
    let mut enabled = Extensions::default();
    extensions.iter().for_each(|&extension| enabled.set(extension, true));
    match parse_number(text, Version { number, profile }, &enabled) {
        Ok(literal) => Ok((literal.number, literal.warning.is_some())),
        Err(error) => Err(error.code().name),
    }
}

fn int(bits: u32) -> Result<(Number, bool), &'static str> {
    Ok((Number::Int { bits, unsigned: false }, false))
}

#[test]
fn integers() {
    let value = |text| value(text, 130, Profile::Compatibility, &[]);
    assert_eq!(value("0"), int(0));
    assert_eq!(value("42"), int(42));
    assert_eq!(value("017"), int(15));
    assert_eq!(value("0x1fE"), int(0x1fe));
    assert_eq!(value("0X0f"), int(15));
    assert_eq!(value("4294967295"), int(u32::MAX));
    assert_eq!(value("00000000000000000000000000000001"), int(1));
    assert_eq!(value("0xffffffffu"), Ok((Number::Int { bits: u32::MAX, unsigned: true }, false)));
    assert_eq!(value("7U"), Ok((Number::Int { bits: 7, unsigned: true }, false)));
    assert_eq!(value("4294967296"), Err("integer-too-large"));
    assert_eq!(value("99999999999999999999999999"), Err("integer-too-large"));
    assert_eq!(value("019"), Err("bad-octal"));
    for text in ["0x", "0xg", "1x", "12ab", "1uu", "1_", "1i", "0b1", "1f", "0u8", ""] {
        assert_eq!(value(text), Err("bad-number"), "{text}");
    }
}

#[test]
fn floats() {
    let value = |text| value(text, 130, Profile::Compatibility, &[]);
    for (text, expected) in [
        ("1.", 1.0),
        (".5", 0.5),
        ("1.5e3", 1500.0),
        ("1e-2", 0.01),
        ("1.E+1", 10.0),
        ("09.5", 9.5),
        ("1.0f", 1.0),
        ("1e1F", 10.0),
        ("1e99", f32::INFINITY),
        ("16777217.0", 16_777_216.0),
        ("0.1", 0.1),
    ] {
        assert_eq!(value(text), Ok((Number::Float(expected), false)), "{text}");
    }
    for text in ["1.0.0", "1e", "1e+", "1.0g", "1.0ff", "1.0u", "1.0xx"] {
        assert_eq!(value(text), Err("bad-number"), "{text}");
    }
}

#[test]
fn suffixes_have_versions() {
    use Profile::{Compatibility, Core, Es};
    assert_eq!(value("1u", 120, Compatibility, &[]), Err("number-suffix"));
    assert_eq!(value("1u", 100, Es, &[]), Err("number-suffix"));
    assert!(value("1u", 300, Es, &[]).is_ok());
    assert!(value("1u", 110, Compatibility, &[Extension::EXTGpuShader4]).is_ok());
    assert_eq!(value("1.0f", 110, Compatibility, &[]), Ok((Number::Float(1.0), true)));
    assert_eq!(value("1.0f", 100, Es, &[]), Ok((Number::Float(1.0), true)));
    assert_eq!(value("1.0f", 120, Compatibility, &[]), Ok((Number::Float(1.0), false)));
    assert_eq!(value("0.1lf", 400, Core, &[]), Ok((Number::Double(0.1), false)));
    assert_eq!(value("0.1LF", 150, Core, &[Extension::ARBGpuShaderFp64]), Ok((Number::Double(0.1), false)));
    assert_eq!(value("0.1lf", 330, Core, &[]), Err("number-suffix"));
    assert_eq!(value("0.1Lf", 400, Core, &[]), Err("bad-number"));
    let wide = &[Extension::ARBGpuShaderInt64];
    assert_eq!(value("5l", 400, Core, wide), Ok((Number::Int64 { bits: 5, unsigned: false }, false)));
    assert_eq!(
        value("0xffffffffffffffffUL", 400, Core, wide),
        Ok((Number::Int64 { bits: u64::MAX, unsigned: true }, false))
    );
    assert_eq!(value("5l", 400, Core, &[]), Err("number-suffix"));
}

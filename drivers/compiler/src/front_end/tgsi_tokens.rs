//! The front end of TGSI tokens: words of 32 bits in either byte order, or in hexadecimal as text.

use tgsi::check::Rule;
use tgsi::limits::{LimitInfo, Limits};
use tgsi::text::SkippedParts;
use tgsi::tokens::DecodeError;
use tgsi_diagnostics::{Diagnostic, ErrorCode, Span};

use super::{FrontEnd, PositionUnit, ReadRequest, Reader, Reading, Recognition, check_options};
use crate::driver::UnknownOption;

/// The front end of TGSI tokens.
pub static TGSI_TOKENS: TgsiTokens = TgsiTokens;

/// The front end of TGSI tokens.
#[derive(Clone, Copy, Debug)]
pub struct TgsiTokens;

impl FrontEnd for TgsiTokens {
    fn name(&self) -> &'static str {
        "tokens"
    }

    fn about(&self) -> &'static str {
        "TGSI as tokens, binary or as words in hexadecimal"
    }

    fn file_extensions(&self) -> &'static [&'static str] {
        &["tok"]
    }

    fn position_unit(&self) -> PositionUnit {
        PositionUnit::Words
    }

    fn recognize(&self, bytes: &[u8]) -> Recognition {
        if tgsi::tokens::looks_like_tokens(bytes) || tgsi::tokens::words_from_hexadecimal(bytes).is_some() {
            Recognition::Certain
        } else {
            Recognition::No
        }
    }

    fn limits(&self) -> &'static [LimitInfo] {
        Limits::TABLE
    }

    fn error_codes(&self) -> Vec<ErrorCode> {
        DecodeError::CODES.iter().copied().chain(Rule::ALL.iter().map(|rule| rule.code())).collect()
    }

    fn reader(&self, options: &[&str]) -> Result<Box<dyn Reader>, UnknownOption> {
        check_options(self, options)?;
        Ok(Box::new(TgsiTokens))
    }
}

impl Reader for TgsiTokens {
    fn read(&self, bytes: &[u8], request: &ReadRequest<'_>) -> Reading {
        let mut shader = match decode(bytes, request.limits) {
            Ok(shader) => shader,
            Err(finding) => return Reading::new(None, vec![*finding]),
        };
        let findings =
            request.compiler.map(|compiler| compiler.check(&mut shader, &SkippedParts::default()).diagnostics);
        Reading::new(Some(shader.into()), findings.unwrap_or_default())
    }
}

/// Reads TGSI tokens: words in either byte order, or in hexadecimal as text. Zeros may follow the shader, as in an array
/// that is larger.
///
/// # Errors
/// The first word that cannot be decoded.
fn decode(bytes: &[u8], limits: &Limits) -> Result<tgsi::Shader, Box<Diagnostic>> {
    let mut words = match tgsi::tokens::words_from_hexadecimal(bytes) {
        Some(words) => words,
        None => tgsi::tokens::words_from_bytes(bytes).map_err(|error| Box::new(decode_diagnostic(&error)))?,
    };
    let error = match tgsi::tokens::decode_within(&words, limits) {
        Ok(shader) => return Ok(shader),
        Err(error) => error,
    };
    // The input is a whole array that is larger than the shader.
    if let DecodeError::BodySize { announced, actual } = error
        && announced < actual
        && let Some((shader, rest)) = words.split_at_checked(announced)
        && let Ok(shader) = tgsi::tokens::decode_within(shader, limits)
    {
        return if rest.iter().all(|&word| word == 0) {
            Ok(shader)
        } else {
            let finding = decode_diagnostic(&error);
            Err(Box::new(finding.with_hint(format!(
                "the first {announced} words are a whole shader; the rest looks like the unused end of an array: \
                 leave it out"
            ))))
        };
    }
    words.iter_mut().for_each(|word| *word = word.swap_bytes());
    match tgsi::tokens::decode_within(&words, limits) {
        Ok(shader) => Ok(shader),
        Err(_) => Err(Box::new(decode_diagnostic(&error))),
    }
}

/// Converts a decoding error. The span holds the word number, so it is removed from the message.
fn decode_diagnostic(error: &DecodeError) -> Diagnostic {
    let message = error.to_string();
    let at = error.word() as u32;
    let message = message.strip_prefix(&format!("word {at}: ")).unwrap_or(&message);
    Diagnostic::error(error.code(), Span::new(at, at + 1), message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_as_they_are_found() {
        let shader =
            tgsi::text::parse(b"VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nMOV OUT[0], IN[0]\nEND\n").unwrap().shader;
        let words = tgsi::tokens::encode(&shader).unwrap();
        let read = |bytes: &[u8]| {
            assert_eq!(TGSI_TOKENS.recognize(bytes), Recognition::Certain);
            let shader = decode(bytes, &Limits::default());
            shader.map(|shader| tgsi::text::print(&shader, Default::default()))
        };
        let expected = Ok(tgsi::text::print(&shader, Default::default()));
        let little: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let big: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        let printed: Vec<String> = words.iter().map(|word| format!("0x{word:08x}")).collect();
        assert_eq!(read(&little), expected);
        assert_eq!(read(&big), expected);
        assert_eq!(read(printed.join(", ").as_bytes()), expected);
        assert_eq!(read(format!("{{ {} }};", printed.join(",\n")).as_bytes()), expected);
        assert_eq!(read(printed.join("\n").replace("0x", "").as_bytes()), expected);
        let slack = |with: u8| [&little[..], &vec![with; 4 * 1000]].concat();
        assert_eq!(read(&slack(0)), expected);
        let error = read(&slack(0xab)).unwrap_err();
        assert_eq!(error.code.name, "body-size");
        let hint = error.hint.unwrap();
        assert!(hint.starts_with(&format!("the first {} words are a whole shader", words.len())), "{hint}");
    }
}

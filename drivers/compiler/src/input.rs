//! Reading shaders: TGSI text, TGSI tokens or IR text, told apart by content.
//!
//! What is found in an input is a list of [`Diagnostic`]s, never anything else. Positions are bytes of a text and words
//! of tokens.

use tgsi::limits::{Limits, MAX_POSITION};
use tgsi::text::{Gaps, Reading};
use tgsi::tokens::DecodeError;
use tgsi_diagnostics::Span;
use tgsi_diagnostics::{Diagnostic, Severity};
use tgsi_ir::text::TextError;
use thiserror::Error;

/// The language of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// TGSI as text.
    Text,
    /// TGSI as tokens, or as their words in hexadecimal.
    Tokens,
    /// The IR as text. The first line begins with `shader:`.
    Ir,
}

impl Language {
    /// The language of an input, by its first bytes.
    pub fn of(bytes: &[u8]) -> Language {
        if tgsi::tokens::looks_like_tokens(bytes) || tgsi::tokens::words_from_hexadecimal(bytes).is_some() {
            Language::Tokens
        } else if bytes.trim_ascii_start().starts_with(b"shader:") {
            Language::Ir
        } else {
            Language::Text
        }
    }
}

/// Reads TGSI text as far as it is understood.
///
/// With `strict`, what Mesa 25 does not read is an error too; all of the text is understood then even so.
pub fn read_text(text: &[u8], limits: &Limits, strict: bool) -> Reading {
    let mut reading = tgsi::text::read_within(text, limits);
    if strict
        && reading.gaps.is_none()
        && let Err(finding) = tgsi::text::mesa25(text)
    {
        reading.diagnostics.push(*finding);
        tgsi_diagnostics::sort_by_start(&mut reading.diagnostics);
        reading.gaps = Some(Gaps::default());
    }
    reading
}

/// Reads TGSI tokens: words in either byte order, or in hexadecimal as text. Zeros may follow the shader, as they do in
/// an array that is larger.
///
/// # Errors
/// The first word that cannot be decoded.
pub fn read_tokens(bytes: &[u8], limits: &Limits) -> Result<tgsi::Shader, Box<Diagnostic>> {
    let mut words = match tgsi::tokens::words_from_hexadecimal(bytes) {
        Some(words) => words,
        None => tgsi::tokens::words_from_bytes(bytes).map_err(|error| Box::new(decode_diagnostic(&error)))?,
    };
    let error = match tgsi::tokens::decode_within(&words, limits) {
        Ok(shader) => return Ok(shader),
        Err(error) => error,
    };
    // The whole of an array that was larger than the shader.
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
                "the first {announced} words are a whole shader; the rest looks like what an array has behind it: \
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

/// Reads the text of the IR, and validates what it says.
///
/// # Errors
/// All that is found.
pub fn read_ir(bytes: &[u8], limits: &Limits) -> Result<tgsi_ir::Shader, Vec<Diagnostic>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to() as u32;
        vec![InputError::NotUtf8.at(Span::new(at, at + 1))]
    })?;
    let limit = limits.text_bytes.min(MAX_POSITION);
    if text.len() as u64 > limit {
        let error = InputError::IrTooLong { length: text.len(), limit };
        return Err(vec![error.at(Span::new(0, 1))]);
    }
    let (shader, source_map) = tgsi_ir::text::parse_with_source_map(text)
        .map_err(|errors| errors.iter().map(|error| ir_diagnostic(text, error)).collect::<Vec<_>>())?;
    let errors = tgsi_ir::validate::find_errors(&shader);
    if errors.is_empty() {
        return Ok(shader);
    }
    let findings = errors.iter().map(|error| {
        let line = source_map.line_of(error.target());
        let span = Span::new(line.start as u32, line.end as u32);
        Diagnostic::error(error.kind.code(), span, error.kind.to_string())
    });
    Err(findings.collect())
}

/// An error in the form of an input.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum InputError {
    /// IR where only TGSI will do.
    #[error("this is IR, not TGSI")]
    NotTgsi,
    /// Bytes that are no text.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// A text of the IR that is too long to be read.
    #[error("the text has {length} bytes, {limit} are possible")]
    IrTooLong {
        /// Its length.
        length: usize,
        /// The limit.
        limit: u64,
    },
    /// A text with several shaders where only one can be read.
    #[error("the text has {count} shaders: {places}")]
    SeveralShaders {
        /// How many.
        count: usize,
        /// Stages and lines.
        places: String,
    },
    /// A text without a shader.
    #[error("there is no shader in the text")]
    NoShader,
    /// A shader in a text that ends without `END`.
    #[error("the shader is cut off: the text has no END for it")]
    CutOff,
    /// Warning: lines between those of a shader that are not TGSI.
    #[error("{count} line{} of the text {} no TGSI, and left out", if *count == 1 { "" } else { "s" }, if *count == 1 { "is" } else { "are" })]
    LinesLeftOut {
        /// How many.
        count: usize,
    },
    /// Warning: text after a shader that is not TGSI.
    #[error("what follows the shader is no TGSI, and left out")]
    RestLeftOut,
}

impl InputError {
    tgsi_diagnostics::error_codes! {
        NotTgsi => "T0800" "not-tgsi",
        NotUtf8 => "T0801" "not-utf8",
        IrTooLong => "T0802" "ir-too-long",
        SeveralShaders => "T0803" "several-shaders",
        NoShader => "T0804" "no-shader",
        CutOff => "T0805" "cut-off",
        LinesLeftOut => "T0806" "lines-left-out",
        RestLeftOut => "T0807" "rest-left-out",
    }

    /// The error or warning at a position.
    pub fn at(&self, span: Span) -> Diagnostic {
        let severity = match self {
            InputError::LinesLeftOut { .. } | InputError::RestLeftOut => Severity::Warning,
            InputError::NotTgsi
            | InputError::NotUtf8
            | InputError::IrTooLong { .. }
            | InputError::SeveralShaders { .. }
            | InputError::NoShader
            | InputError::CutOff => Severity::Error,
        };
        let finding = Diagnostic::new(severity, self.code(), span, self.to_string());
        match self {
            InputError::SeveralShaders { .. } => {
                finding.with_hint("`tgsic extract --out-dir DIR` writes each to a file of its own")
            }
            InputError::NoShader => finding.with_hint(
                "a shader begins with a line that ends with the name of its stage (VERT, FRAG, ...), and TGSI follows",
            ),
            _ => finding,
        }
    }

    /// [`NoShader`](Self::NoShader) for a whole text.
    pub fn no_shader() -> Diagnostic {
        InputError::NoShader.at(Span::new(0, 1))
    }

    /// [`NotTgsi`](Self::NotTgsi) at the first word of IR text.
    pub fn not_tgsi(bytes: &[u8]) -> Diagnostic {
        let start = bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0) as u32;
        InputError::NotTgsi.at(Span::new(start, start + 7))
    }
}

/// The word stands in the span, so that the message need not name it.
fn decode_diagnostic(error: &DecodeError) -> Diagnostic {
    let message = error.to_string();
    let at = error.word() as u32;
    let message = message.strip_prefix(&format!("word {at}: ")).unwrap_or(&message);
    Diagnostic::error(error.code(), Span::new(at, at + 1), message)
}

fn ir_diagnostic(text: &str, error: &TextError) -> Diagnostic {
    let rest = text.get(error.offset..).unwrap_or("");
    let word = rest.find(|c: char| c.is_whitespace() || ",()".contains(c)).unwrap_or(rest.len());
    let span = Span::new(error.offset as u32, (error.offset + word.max(1)) as u32);
    let mut finding = Diagnostic::error(error.kind.code(), span, error.kind.to_string());
    finding.hint.clone_from(&error.hint);
    finding
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
            assert_eq!(Language::of(bytes), Language::Tokens);
            let shader = read_tokens(bytes, &Limits::default());
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

    #[test]
    fn content_decides() {
        for (bytes, language) in [
            (&b"FRAG\nEND\n"[..], Language::Text),
            (b"", Language::Text),
            (b"; a remark\nVERT", Language::Text),
            (b"\n  shader: MESA_SHADER_VERTEX\n", Language::Ir),
            (b"shader:", Language::Ir),
            (b"\x02\x02\x00\x00\x00\x00\x00\x00", Language::Tokens),
            (b"\xef\xbb\xbfFRAG\n", Language::Text),
            (b"0x202, 0x0, 0x12, 0x34", Language::Tokens),
            (b"FACE 12", Language::Text),
        ] {
            assert_eq!(Language::of(bytes), language, "{bytes:?}");
        }
    }
}

//! Reading shaders: files or standard input; TGSI text, TGSI tokens or IR text, told apart by content.

use std::io::Read;
use std::path::{Path, PathBuf};

use tgsi::diagnostic::{Code, Diagnostic};
use tgsi::limits::Limits;
use tgsi::span::Span;
use tgsi::text::{Gaps, Reading};
use tgsi::tokens::DecodeError;
use tgsi_ir::text::TextError;
use thiserror::Error;

use crate::limits;
use crate::status::Failure;

/// The name that stands for standard input.
pub const STDIN: &str = "-";

/// The language of an input.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// TGSI as text.
    Text,
    /// TGSI as tokens.
    Tokens,
    /// The IR as text, as `tgsic ir` prints it: the first line begins with `shader:`.
    Ir,
}

/// An input as read.
pub struct Source {
    /// Path, or `<stdin>`.
    pub path: PathBuf,
    /// Content.
    pub bytes: Vec<u8>,
    /// The language of the content.
    pub language: Language,
    /// The limits of the shader.
    pub limits: Limits,
    /// Accept only what Mesa 25 takes.
    pub strict: bool,
}

impl Source {
    /// Reads a file, or standard input for `-`.
    pub fn read(path: &Path) -> Result<Source, Failure> {
        let failure = |error| Failure::Read { path: path.to_owned(), error };
        if path == Path::new(STDIN) {
            let bytes = read_bounded(&mut std::io::stdin().lock(), 0).map_err(failure)?;
            return Ok(Source::new(PathBuf::from("<stdin>"), bytes));
        }
        let mut file = std::fs::File::open(path).map_err(failure)?;
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        Ok(Source::new(path.to_owned(), read_bounded(&mut file, length).map_err(failure)?))
    }

    /// An input with this content.
    pub fn new(path: PathBuf, bytes: Vec<u8>) -> Source {
        let language = language_of(&bytes);
        Source { path, bytes, language, limits: limits::current(), strict: limits::strict() }
    }

    /// The text as far as it was understood. Where Mesa 25 stops is an error if only what it takes is taken.
    pub fn read_text(&self) -> Reading {
        let mut reading = tgsi::text::read_within(&self.bytes, &self.limits);
        if self.strict
            && reading.gaps.is_none()
            && let Err(finding) = tgsi::text::mesa25(&self.bytes)
        {
            reading.diagnostics.push(*finding);
            reading.diagnostics.sort_by_key(|d| d.span.start);
            // All of it was understood.
            reading.gaps = Some(Gaps::default());
        }
        reading
    }

    /// The TGSI shader, with warnings; or what is wrong, IR text included.
    pub fn tgsi(&self) -> Result<(tgsi::Shader, Vec<Diagnostic>), ShaderError> {
        match self.language {
            Language::Tokens => {
                let words = tgsi::tokens::words_from_bytes(&self.bytes).map_err(of_decode_error)?;
                let shader = tgsi::tokens::decode_within(&words, &self.limits).map_err(of_decode_error)?;
                Ok((shader, Vec::new()))
            }
            Language::Text => {
                let Reading { shader, diagnostics, gaps } = self.read_text();
                if gaps.is_none() { Ok((shader, diagnostics)) } else { Err(ShaderError::Findings(diagnostics)) }
            }
            Language::Ir => {
                let start = self.bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0) as u32;
                let finding = InputError::NotTgsi.at(Span::new(start, start + 7));
                Err(ShaderError::Findings(vec![finding.with_hint("`tgsic translate` makes TGSI of IR")]))
            }
        }
    }

    /// The IR, valid.
    pub fn ir(&self) -> Result<tgsi_ir::Shader, ShaderError> {
        let text = std::str::from_utf8(&self.bytes).map_err(|error| {
            let at = error.valid_up_to() as u32;
            ShaderError::Findings(vec![InputError::NotUtf8.at(Span::new(at, at + 1))])
        })?;
        let limit = self.limits.text_bytes.min(tgsi::limits::MAX_POSITION);
        if text.len() as u64 > limit {
            let error = InputError::IrTooLong { length: text.len(), limit };
            return Err(ShaderError::Findings(vec![error.at(Span::new(0, 1))]));
        }
        let (shader, places) = tgsi_ir::text::parse_with_source_map(text)
            .map_err(|errors| ShaderError::Findings(errors.iter().map(|e| of_text_error(text, e)).collect()))?;
        tgsi_ir::validate::validate(&shader).map_err(|errors| {
            let findings = errors.errors.iter().map(|error| {
                let line = places.line_of(error.target());
                let span = Span::new(line.start as u32, line.end as u32);
                Diagnostic::error(error.kind.code(), span, error.kind.to_string())
            });
            ShaderError::Findings(findings.collect())
        })?;
        Ok(shader)
    }
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
}

impl InputError {
    tgsi_ir::error_codes! {
        NotTgsi => "T0800" "not-tgsi",
        NotUtf8 => "T0801" "not-utf8",
        IrTooLong => "T0802" "ir-too-long",
    }

    fn at(&self, span: Span) -> Diagnostic {
        Diagnostic::error(self.code(), span, self.to_string())
    }
}

/// The word stands in the span, so that the message need not name it.
fn of_decode_error(error: DecodeError) -> ShaderError {
    let message = error.to_string();
    let at = error.word() as u32;
    let message = message.strip_prefix(&format!("word {at}: ")).unwrap_or(&message);
    ShaderError::Findings(vec![Diagnostic::error(error.code(), Span::new(at, at + 1), message)])
}

fn of_text_error(text: &str, error: &TextError) -> Diagnostic {
    let rest = text.get(error.offset..).unwrap_or("");
    let word = rest.find(|c: char| c.is_whitespace() || ",()".contains(c)).unwrap_or(rest.len());
    let span = Span::new(error.offset as u32, (error.offset + word.max(1)) as u32);
    let mut finding = Diagnostic::error(error.kind.code(), span, error.kind.to_string());
    finding.hint.clone_from(&error.hint);
    finding
}

fn language_of(bytes: &[u8]) -> Language {
    if tgsi::tokens::looks_like_tokens(bytes) {
        Language::Tokens
    } else if bytes.trim_ascii_start().starts_with(b"shader:") {
        Language::Ir
    } else {
        Language::Text
    }
}

/// Reads until it is clear that no limit lets it through: an input need not end.
fn read_bounded(input: &mut impl Read, expected: u64) -> std::io::Result<Vec<u8>> {
    let limits = limits::current();
    let most = limits.text_bytes.max(limits.tokens.saturating_mul(4)).saturating_add(4);
    let mut bytes = Vec::with_capacity(usize::try_from(expected.min(most)).unwrap_or(0));
    input.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The error of a shader.
#[derive(Debug)]
pub enum ShaderError {
    /// Findings of the parser or a check, with their positions.
    Findings(Vec<Diagnostic>),
    /// An error that has a code but no position.
    Coded(Code, String),
    /// Any other error, without a position.
    Other(String),
}

impl ShaderError {
    /// In one line, for lists of results.
    pub fn brief(&self) -> String {
        match self {
            ShaderError::Findings(findings) => findings.first().map(ToString::to_string).unwrap_or_default(),
            ShaderError::Coded(code, message) => format!("{message} [{code}]"),
            ShaderError::Other(message) => message.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            assert_eq!(language_of(bytes), language, "{bytes:?}");
        }
    }
}

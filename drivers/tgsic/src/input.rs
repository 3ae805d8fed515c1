//! Reading shaders from files or standard input.

use std::io::Read;
use std::path::{Path, PathBuf};

use tgsi::limits::Limits;
use tgsi::text::Reading;
use tgsi_compiler::input::{self, InputError, Language};
use tgsi_diagnostics::{Diagnostic, ErrorCode};

use crate::pasted::PastedText;
use crate::status::Failure;
use crate::{limits, pasted};

/// The name that stands for standard input.
pub const STDIN: &str = "-";

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
        let language = Language::of(&bytes);
        Source { path, bytes, language, limits: limits::current(), strict: limits::strict() }
    }

    /// The source as a text that may hold more than a shader.
    pub fn pasted(&self) -> PastedText<'_> {
        PastedText { bytes: &self.bytes, most_bytes: self.limits.text_bytes, strict: self.strict }
    }

    /// The TGSI shader, with warnings; or what is wrong, IR text included.
    pub fn tgsi(&self) -> Result<(tgsi::Shader, Vec<Diagnostic>), ShaderError> {
        match self.language {
            Language::Tokens => {
                let shader = input::read_tokens(&self.bytes, &self.limits);
                shader.map(|shader| (shader, Vec::new())).map_err(|finding| ShaderError::Findings(vec![*finding]))
            }
            Language::Text => {
                let read = |text: &[u8]| {
                    let Reading { shader, diagnostics, gaps } = input::read_text(text, &self.limits, self.strict);
                    (gaps.is_none().then_some(shader), diagnostics)
                };
                let (shader, findings) = pasted::read(&self.pasted(), read, |shader, found| found.relocate(shader));
                match shader {
                    Some(shader) if !findings.iter().any(Diagnostic::is_error) => Ok((shader, findings)),
                    _ => Err(ShaderError::Findings(findings)),
                }
            }
            Language::Ir => {
                let finding = InputError::not_tgsi(&self.bytes);
                Err(ShaderError::Findings(vec![finding.with_hint("`tgsic translate` makes TGSI of IR")]))
            }
        }
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
    Coded(ErrorCode, String),
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

//! Reading shaders: files or standard input; text, tokens or IR text, told apart by content.

use std::io::Read;
use std::path::{Path, PathBuf};

use tgsi::Shader;
use tgsi::diagnostic::Diagnostic;

use crate::commands::Failure;

/// An input as read.
pub struct Source {
    /// Path, or `<stdin>`.
    pub path: PathBuf,
    /// Content.
    pub bytes: Vec<u8>,
}

impl Source {
    /// Reads a file, or standard input for `-`.
    pub fn read(path: &Path) -> Result<Source, Failure> {
        let failure = |error| Failure::Read { path: path.to_owned(), error };
        if path == Path::new("-") {
            let mut bytes = Vec::new();
            std::io::stdin().lock().read_to_end(&mut bytes).map_err(failure)?;
            return Ok(Source { path: PathBuf::from("<stdin>"), bytes });
        }
        Ok(Source { path: path.to_owned(), bytes: std::fs::read(path).map_err(failure)? })
    }

    /// Whether the content is a token stream.
    pub fn is_tokens(&self) -> bool {
        tgsi::tokens::looks_like_tokens(&self.bytes)
    }

    /// The shader, with warnings; or what is wrong.
    pub fn shader(&self) -> Result<(Shader, Vec<Diagnostic>), Problem> {
        if self.is_tokens() {
            let words = tgsi::tokens::words_from_bytes(&self.bytes).map_err(Problem::Tokens)?;
            let shader = tgsi::tokens::decode(&words).map_err(Problem::Tokens)?;
            return Ok((shader, Vec::new()));
        }
        match tgsi::text::parse(&self.bytes) {
            Ok(parsed) => Ok((parsed.shader, parsed.warnings)),
            Err(diagnostics) => Err(Problem::Text(diagnostics)),
        }
    }
}

/// What is wrong with an input.
#[derive(Debug)]
pub enum Problem {
    /// Errors in a text or found by the check, with their places.
    Text(Vec<Diagnostic>),
    /// An error in a token stream.
    Tokens(tgsi::tokens::DecodeError),
    /// Anything else, without a place in the source.
    Other(String),
}

//! Errors about the form of an input.

use tgsi_diagnostics::{Diagnostic, Severity, Span};
use thiserror::Error;

use super::FrontEnd;

/// An error in the form of an input.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum InputError {
    /// A shader in another language where TGSI is needed.
    #[error("this is {}, not TGSI", if *language == "ir" { "IR" } else { language })]
    NotTgsi {
        /// The name of the front end of its language.
        language: &'static str,
    },
    /// Bytes that are not text.
    #[error("the text is not UTF-8")]
    NotUtf8,
    /// An IR text that is too long.
    #[error("the text has {length} bytes, at most {limit} are read")]
    IrTooLong {
        /// Its length.
        length: usize,
        /// The limit.
        limit: u64,
    },
    /// A text with several shaders where only one is accepted.
    #[error("the text has {count} shaders: {places}")]
    SeveralShaders {
        /// The number of shaders.
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
    #[error("{count} line{} of the text {} not TGSI and ignored", if *count == 1 { "" } else { "s" }, if *count == 1 { "is" } else { "are" })]
    LinesLeftOut {
        /// The number of lines.
        count: usize,
    },
    /// Warning: text after a shader that is not TGSI.
    #[error("the text after the shader is not TGSI and is ignored")]
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

    /// Returns the error or warning at a position.
    pub fn at(&self, span: Span) -> Diagnostic {
        let severity = match self {
            InputError::LinesLeftOut { .. } | InputError::RestLeftOut => Severity::Warning,
            InputError::NotTgsi { .. }
            | InputError::NotUtf8
            | InputError::IrTooLong { .. }
            | InputError::SeveralShaders { .. }
            | InputError::NoShader
            | InputError::CutOff => Severity::Error,
        };
        let finding = Diagnostic::new(severity, self.code(), span, self.to_string());
        match self {
            InputError::SeveralShaders { .. } => {
                finding.with_hint("`tgsic extract --out-dir DIR` writes each to its own file")
            }
            InputError::NoShader => finding.with_hint(
                "a shader begins with a line that ends with the name of its stage (VERT, FRAG, ...), followed by TGSI",
            ),
            _ => finding,
        }
    }

    /// Returns [`NoShader`](Self::NoShader) for a whole text.
    pub fn no_shader() -> Diagnostic {
        InputError::NoShader.at(Span::new(0, 1))
    }

    /// Returns [`NotTgsi`](Self::NotTgsi) at the first word of an input in the language of a front end.
    pub fn not_tgsi(bytes: &[u8], front_end: &dyn FrontEnd) -> Diagnostic {
        let start = bytes.iter().position(|b| !b.is_ascii_whitespace()).unwrap_or(0);
        let rest = bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        InputError::NotTgsi { language: front_end.name() }.at(Span::new(start as u32, (start + length) as u32))
    }
}

//! Errors of the drivers.

use tgsi_compiler::TargetError;
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::ShaderStage;

use thiserror::Error;

/// A failed translation.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum TextError {
    /// A stage that the language or the library lacks.
    #[error("{0:?} shaders cannot be translated to {1}")]
    Stage(ShaderStage, &'static str),
    /// A feature that the language or the library lacks, found before the library is called.
    #[error("{0} has no {1}")]
    Lacks(&'static str, String),
    /// The library cannot read the module.
    #[error("{0} cannot read the module: {1}")]
    Reader(&'static str, String),
    /// The library's validator rejects the module.
    #[error("{0} rejects the module: {1}")]
    Validator(&'static str, String),
    /// The library cannot write the language.
    #[error("{0} cannot write the shader: {1}")]
    Writer(&'static str, String),
    /// The library panicked.
    #[error("{0} panicked: {1}")]
    Panic(&'static str, String),
}

impl TextError {
    tgsi_diagnostics::error_codes! {
        Stage => "T2100" "text-stage",
        Lacks => "T2101" "text-lacks",
        Reader => "T2102" "text-reader",
        Validator => "T2103" "text-validator",
        Writer => "T2104" "text-writer",
        Panic => "T2105" "text-panic",
    }
}

impl TargetError for TextError {
    fn code(&self) -> ErrorCode {
        TextError::code(self)
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            TextError::Stage(..) => "`--driver spirv` supports all stages".to_owned(),
            TextError::Lacks(..) => "`--driver spirv` or another language may support it".to_owned(),
            TextError::Reader(..) | TextError::Validator(..) | TextError::Writer(..) => {
                "`--driver spirv --target portable` writes the module".to_owned()
            }
            TextError::Panic(..) => "please report it with the shader".to_owned(),
        })
    }
}

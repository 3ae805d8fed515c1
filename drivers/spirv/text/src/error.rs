//! Errors of the drivers.

use tgsi_compiler::{Subject, TargetError};
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::Stage;

use thiserror::Error;

/// Why there is no text.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum TextError {
    /// The language, or the library on the way, has no such stage.
    #[error("there is no way to {1} for {0:?} shaders")]
    Stage(Stage, &'static str),
    /// Something that the language or the library lacks, found before it was asked.
    #[error("{0} has no {1}")]
    Lacks(&'static str, String),
    /// The library does not read the module.
    #[error("{0} does not read the module: {1}")]
    Reader(&'static str, String),
    /// The library's validator refuses what it has read.
    #[error("{0} refuses the module: {1}")]
    Validator(&'static str, String),
    /// The library does not write the language.
    #[error("{0} does not write the shader: {1}")]
    Writer(&'static str, String),
    /// The library has panicked.
    #[error("{0} gave up: {1}")]
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
            TextError::Stage(..) => "`--driver spirv` has all stages".to_owned(),
            TextError::Lacks(..) => "`--driver spirv` may have it; so may another language".to_owned(),
            TextError::Reader(..) | TextError::Validator(..) | TextError::Writer(..) => {
                "`--driver spirv --target portable` gives the module that was to be read".to_owned()
            }
            TextError::Panic(..) => "please report it with the shader".to_owned(),
        })
    }
}

/// An error, and the part of the source that it is about.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{error}")]
pub struct Located {
    /// The error.
    pub error: TextError,
    /// What it is about.
    pub subject: Subject,
}

impl TargetError for Located {
    fn code(&self) -> ErrorCode {
        self.error.code()
    }

    fn subject(&self) -> Subject {
        self.subject
    }

    fn hint(&self) -> Option<String> {
        self.error.hint()
    }
}

impl From<Located> for Box<dyn TargetError> {
    fn from(error: Located) -> Self {
        Box::new(error)
    }
}

impl From<TextError> for Box<dyn TargetError> {
    fn from(error: TextError) -> Self {
        Box::new(error)
    }
}

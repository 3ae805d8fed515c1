//! Errors of the driver.

use tgsi_compiler::TargetError;
use tgsi_diagnostics::ErrorCode;

use tgsi_ir::Inst;
use tgsi_ir::run::RunError;
use thiserror::Error;

/// The reason why a shader, or an object file with its code, cannot become a program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CpuError {
    /// The shader has no function to translate, or cannot be run.
    #[error("{0}")]
    NotRunnable(#[from] RunError),
    /// The object file cannot be written.
    #[error("the object file cannot be written: {0}")]
    NotWritten(String),
    /// NULL, or something other than the symbol of an object file.
    #[error("this is not an object of tgsic")]
    NotAnObject,
    /// The object has a layout that this version does not support.
    #[error("the object has layout {found}, but this version of the library reads layout {known}")]
    OtherLayout {
        /// The layout of the object.
        found: u32,
        /// The layout of this version.
        known: u32,
    },
    /// The versions of code and library differ.
    #[error("the object was made by version {found}, but this is version {known}")]
    OtherVersion {
        /// The version that made it.
        found: String,
        /// This version.
        known: &'static str,
    },
    /// The contents of the object do not match each other or this build of the library.
    #[error("the object was modified, or belongs to another build of the library")]
    Changed,
    /// The CPU cannot execute the code.
    #[error("the object needs a processor with {0}")]
    MissingExtensions(&'static str),
}

impl CpuError {
    tgsi_diagnostics::error_codes! {
        NotRunnable => "T2200" "cpu-not-runnable",
        NotWritten => "T2201" "cpu-object-not-written",
        NotAnObject => "T2202" "cpu-not-an-object",
        OtherLayout => "T2203" "cpu-object-layout",
        OtherVersion => "T2204" "cpu-object-version",
        Changed => "T2205" "cpu-object-changed",
        MissingExtensions => "T2206" "cpu-missing-extensions",
    }
}

impl TargetError for CpuError {
    fn code(&self) -> ErrorCode {
        CpuError::code(self)
    }

    fn inst(&self) -> Option<Inst> {
        match self {
            CpuError::NotRunnable(RunError::Unsupported { inst, .. } | RunError::Malformed { inst, .. }) => Some(*inst),
            _ => None,
        }
    }
}

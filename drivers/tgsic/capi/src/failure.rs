//! The reasons why calls fail.

/// The outcome of a call.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum tgsic_status {
    /// Without errors. There may be warnings.
    TGSIC_OK = 0,
    /// The shader has errors, or the target cannot express it.
    TGSIC_ERROR_SHADER = 1,
    /// The arguments or options of the call are wrong.
    TGSIC_ERROR_ARGUMENT = 2,
    /// A defect of the library.
    TGSIC_ERROR_INTERNAL = 3,
}

use tgsic_status::*;

/// The reason why a call failed. Findings that are errors are already in the result.
pub(crate) struct Failure {
    pub(crate) status: tgsic_status,
    pub(crate) message: Option<String>,
    /// Whether the data of the result describes the failure.
    pub(crate) keeps_data: bool,
}

impl Failure {
    pub(crate) fn argument(message: impl Into<String>) -> Failure {
        Failure { status: TGSIC_ERROR_ARGUMENT, message: Some(message.into()), keeps_data: false }
    }

    pub(crate) fn internal(message: impl Into<String>) -> Failure {
        Failure { status: TGSIC_ERROR_INTERNAL, message: Some(message.into()), keeps_data: false }
    }

    pub(crate) fn shader(message: impl Into<String>) -> Failure {
        Failure { status: TGSIC_ERROR_SHADER, message: Some(message.into()), keeps_data: false }
    }

    /// Returns a failure with the status of another one.
    pub(crate) fn like(status: tgsic_status, message: String) -> Failure {
        Failure { status, message: Some(message), keeps_data: false }
    }

    /// Returns a failure that is described by the findings of the result.
    pub(crate) fn found() -> Failure {
        Failure { status: TGSIC_ERROR_SHADER, message: None, keeps_data: false }
    }

    /// Returns the same failure, keeping the data of the result.
    pub(crate) fn with_data(self) -> Failure {
        Failure { keeps_data: true, ..self }
    }
}

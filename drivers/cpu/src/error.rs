//! Errors of the driver, and of runs.

use tgsi_compiler::{Subject, TargetError};
use tgsi_ir::error_codes;
use tgsi_ir::run::MAX_LANES;
use tgsi_ir::{Inst, Shader};
use thiserror::Error;

/// What the lane program has no form for.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CpuError {
    /// There is no function to translate.
    #[error("the shader has no entry point")]
    NoEntryPoint,
    /// Something that a run has no counterpart of.
    #[error("{inst}: {what}")]
    Unsupported {
        /// The instruction.
        inst: Inst,
        /// The obstacle.
        what: &'static str,
    },
    /// More planes than a program can have.
    #[error("the values and variables need more than {0} planes")]
    TooLarge(u32),
}

impl CpuError {
    error_codes! {
        NoEntryPoint => "T2200" "cpu-no-entry-point",
        Unsupported => "T2201" "cpu-unsupported",
        TooLarge => "T2202" "cpu-too-large",
    }

    /// The error with the number of the instruction of the source that it is about.
    pub fn located(self, shader: &Shader) -> Box<dyn TargetError> {
        let entry = shader.entry_point().and_then(|entry| shader.functions[entry].body.as_ref());
        let inst = match self {
            CpuError::Unsupported { inst, .. } => Some(inst),
            CpuError::NoEntryPoint | CpuError::TooLarge(_) => None,
        };
        let instruction = entry.zip(inst).and_then(|(body, inst)| body.origin(inst));
        Box::new(Located { error: self, instruction })
    }
}

/// An error, and the number of the instruction of the source that it is about.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{error}")]
pub struct Located {
    /// The error.
    pub error: CpuError,
    /// The number, from 0.
    pub instruction: Option<u32>,
}

impl TargetError for Located {
    fn code(&self) -> error_codes::Code {
        self.error.code()
    }

    fn subject(&self) -> Subject {
        self.instruction.map_or(Subject::Shader, Subject::Instruction)
    }
}

/// The reason why a run did not come to its end.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum RunError {
    /// The shader does not end within the limit.
    #[error("gave up after {limit} operations")]
    StepLimit {
        /// The limit.
        limit: u64,
    },
    /// More lanes than may run in lock-step.
    #[error("{lanes} lanes; at most {MAX_LANES} can be run at once")]
    TooManyLanes {
        /// Their number.
        lanes: usize,
    },
    /// The planes of a block need too much memory.
    #[error("the values and variables need too much memory ({words} words)")]
    TooLarge {
        /// Their size.
        words: u64,
    },
    /// A geometry shader emits too much.
    #[error("more than {words} words of vertices are emitted")]
    TooMuchOutput {
        /// The limit.
        words: u64,
    },
}

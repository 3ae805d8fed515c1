//! Errors of the driver.

use tgsi_compiler::{Subject, TargetError};
use tgsi_ir::error_codes;
use tgsi_ir::run::RunError;
use tgsi_ir::{Inst, Shader};
use thiserror::Error;

/// The reason why a shader cannot be made a program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum CpuError {
    /// There is no function to translate, or it cannot be run.
    #[error("{0}")]
    NotRunnable(#[from] RunError),
}

impl CpuError {
    error_codes! {
        NotRunnable => "T2200" "cpu-not-runnable",
    }

    /// The error with the number of the instruction of the source that it is about.
    pub fn located(self, shader: &Shader) -> Box<dyn TargetError> {
        let CpuError::NotRunnable(error) = &self;
        let inst: Option<Inst> = match error {
            RunError::Unsupported { inst, .. } | RunError::Malformed { inst, .. } => Some(*inst),
            _ => None,
        };
        let entry = shader.entry_point().and_then(|entry| shader.functions[entry].body.as_ref());
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

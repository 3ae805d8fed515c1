//! Errors of the driver.

use tgsi_compiler::TargetError;
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::{Inst, ShaderStage};
use tgsi_registers::lower::LowerError;
use thiserror::Error;

use crate::isa::{Chip, EncodeError, ProgramError};

/// The reason why a shader cannot become a program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum IntelError {
    /// The driver has no programs of the stage.
    #[error("{chip} has no programs for {} shaders here", stage.name().to_ascii_lowercase())]
    Stage {
        /// The generation.
        chip: Chip,
        /// The stage.
        stage: ShaderStage,
    },
    /// The shader has no function to translate.
    #[error("the shader has no entry point")]
    NoEntryPoint,
    /// Control flow cannot be lowered.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// There is no form of an instruction.
    #[error("{chip} has no {what}")]
    Lacks {
        /// The instruction.
        inst: Option<Inst>,
        /// The generation.
        chip: Chip,
        /// The missing feature.
        what: String,
    },
    /// More of something than there is.
    #[error("{found} {what}, but {chip} has {limit}")]
    TooMany {
        /// The unit: `registers`.
        what: &'static str,
        /// Units that the program takes.
        found: u32,
        /// Units that there are.
        limit: u32,
        /// The generation.
        chip: Chip,
    },
    /// An instruction cannot be encoded.
    #[error("an instruction cannot be encoded: {0}")]
    Encode(#[from] EncodeError),
    /// A branch is too long.
    #[error("a branch cannot be encoded: {0}")]
    Branch(#[from] ProgramError),
}

impl IntelError {
    tgsi_diagnostics::error_codes! {
        Stage => "T2600" "intel-stage",
        NoEntryPoint => "T2601" "intel-no-entry-point",
        Lower => "T2602" "intel-not-lowered",
        Lacks => "T2603" "intel-lacks",
        TooMany => "T2604" "intel-too-many",
        Encode => "T2605" "intel-encoding",
        Branch => "T2606" "intel-branch",
    }
}

impl TargetError for IntelError {
    fn code(&self) -> ErrorCode {
        IntelError::code(self)
    }

    fn is_limit(&self) -> bool {
        matches!(self, IntelError::Stage { .. } | IntelError::Lacks { .. } | IntelError::TooMany { .. })
    }

    fn inst(&self) -> Option<Inst> {
        match self {
            IntelError::Lacks { inst, .. } => *inst,
            IntelError::Lower(error) => error.inst(),
            _ => None,
        }
    }
}

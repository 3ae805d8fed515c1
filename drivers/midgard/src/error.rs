//! Errors of the driver.

use tgsi_compiler::TargetError;
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::{Inst, ShaderStage};
use tgsi_registers::lower::LowerError;
use thiserror::Error;

use crate::isa::InvalidInstruction;

/// The reason why a shader cannot become a program.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum MidgardError {
    /// The chips have no programs of the stage.
    #[error("Midgard has no programs for {} shaders", stage.name().to_ascii_lowercase())]
    Stage {
        /// The stage.
        stage: ShaderStage,
    },
    /// The shader has no function to translate.
    #[error("the shader has no entry point")]
    NoEntryPoint,
    /// Control flow cannot be lowered.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// The machine has no form of an instruction.
    #[error("Midgard has no {what}")]
    Lacks {
        /// The instruction.
        inst: Option<Inst>,
        /// The missing feature.
        what: String,
    },
    /// An instruction cannot be encoded.
    #[error("an instruction cannot be encoded: {0}")]
    Encode(#[from] InvalidInstruction),
    /// Values of one bundle need more registers than a program has.
    #[error("the program needs more registers than Midgard has")]
    Registers,
}

impl MidgardError {
    tgsi_diagnostics::error_codes! {
        Stage => "T2500" "midgard-stage",
        NoEntryPoint => "T2501" "midgard-no-entry-point",
        Lower => "T2502" "midgard-not-lowered",
        Lacks => "T2503" "midgard-lacking-feature",
        Encode => "T2504" "midgard-encoding",
        Registers => "T2505" "midgard-registers",
    }
}

impl TargetError for MidgardError {
    fn code(&self) -> ErrorCode {
        MidgardError::code(self)
    }

    fn is_limit(&self) -> bool {
        matches!(self, MidgardError::Stage { .. } | MidgardError::Lacks { .. } | MidgardError::Registers)
    }

    fn inst(&self) -> Option<Inst> {
        match self {
            MidgardError::Lacks { inst, .. } => *inst,
            MidgardError::Lower(error) => error.inst(),
            _ => None,
        }
    }
}

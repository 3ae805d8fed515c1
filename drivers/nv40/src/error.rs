//! Errors of the driver.

use tgsi_compiler::TargetError;
use tgsi_diagnostics::ErrorCode;
use tgsi_ir::{Inst, ShaderStage};
use tgsi_registers::assign_registers::TooManyRegisters;
use tgsi_registers::lower::LowerError;
use thiserror::Error;

use crate::container::ContainerError;
use crate::isa::{Chip, EncodeError};

/// The reason why a shader cannot become a program of a chip.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum Nv40Error {
    /// The chips have no programs of the stage.
    #[error("{chip} has no programs for {} shaders", stage.name().to_ascii_lowercase())]
    Stage {
        /// The chip.
        chip: Chip,
        /// The stage.
        stage: ShaderStage,
    },
    /// The shader has no function to translate.
    #[error("the shader has no entry point")]
    NoEntryPoint,
    /// Floats cannot compute an operation, or control flow cannot be removed.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// The chip has no form of an instruction.
    #[error("{chip} has no {what}")]
    Lacks {
        /// The instruction.
        inst: Option<Inst>,
        /// The chip.
        chip: Chip,
        /// The missing feature.
        what: String,
    },
    /// The chip has no register for an input or output.
    #[error("{chip} has no register for {what}")]
    Interface {
        /// The instruction that accesses it.
        inst: Option<Inst>,
        /// The chip.
        chip: Chip,
        /// The input or output.
        what: String,
    },
    /// More of something than the chip has.
    #[error("{found} {what}, but {chip} has {limit}")]
    TooMany {
        /// The unit: `instructions`, `temporary registers`.
        what: &'static str,
        /// Units that the program takes.
        found: u32,
        /// Units that the chip has.
        limit: u32,
        /// The chip.
        chip: Chip,
    },
    /// An instruction cannot be encoded.
    #[error("an instruction cannot be encoded: {0}")]
    Encode(#[from] EncodeError),
    /// A program or its names do not fit the form of the code.
    #[error(transparent)]
    Container(#[from] ContainerError),
}

impl Nv40Error {
    /// The error for registers of the chasing style.
    pub(crate) fn too_many_registers(error: &TooManyRegisters, chip: Chip) -> Nv40Error {
        Nv40Error::TooMany { what: "temporary registers", found: error.peak, limit: error.limit, chip }
    }

    tgsi_diagnostics::error_codes! {
        Stage => "T2400" "nv40-stage",
        NoEntryPoint => "T2401" "nv40-no-entry-point",
        Lower => "T2402" "nv40-not-lowered",
        Lacks => "T2403" "nv40-lacks",
        Interface => "T2404" "nv40-interface",
        TooMany => "T2405" "nv40-too-many",
        Encode => "T2406" "nv40-encoding",
        Container => "T2407" "nv40-container",
    }
}

impl TargetError for Nv40Error {
    fn code(&self) -> ErrorCode {
        Nv40Error::code(self)
    }

    fn inst(&self) -> Option<Inst> {
        match self {
            Nv40Error::Lacks { inst, .. } | Nv40Error::Interface { inst, .. } => *inst,
            Nv40Error::Lower(error) => error.inst(),
            _ => None,
        }
    }
}

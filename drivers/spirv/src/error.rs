//! Errors of the driver.

use tgsi_compiler::{Subject, TargetError};
use tgsi_ir::alu::AluOp;
use tgsi_ir::error_codes;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Inst, Shader, Stage};
use thiserror::Error;

use crate::harness::Unliftable;

/// What cannot be said in SPIR-V for the target.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum SpirvError {
    /// There is no function to translate.
    #[error("the shader has no entry point")]
    NoEntryPoint,
    /// Vulkan has no such stage, or this driver does not know it.
    #[error("there are no {0:?} shaders in SPIR-V for this target")]
    Stage(Stage),
    /// An operation without a form in SPIR-V.
    #[error("{inst}: {op} of {bits} bits has no SPIR-V form")]
    UnsupportedAlu {
        /// The instruction.
        inst: Inst,
        /// Its opcode.
        op: AluOp,
        /// Bits of a component.
        bits: u8,
    },
    /// An intrinsic without a form in SPIR-V.
    #[error("{inst}: {op} has no SPIR-V form")]
    UnsupportedIntrinsic {
        /// The instruction.
        inst: Inst,
        /// Its opcode.
        op: IntrinsicOp,
    },
    /// Something that the target lacks, or SPIR-V cannot express.
    #[error("{inst}: {what}")]
    Unsupported {
        /// The instruction.
        inst: Inst,
        /// The obstacle.
        what: &'static str,
    },
    /// A part of the interface that the target lacks, or SPIR-V cannot express.
    #[error("{name}: {what}")]
    Interface {
        /// The variable.
        name: String,
        /// The obstacle.
        what: &'static str,
    },
    /// Something that the lowering should have removed.
    #[error("{inst}: {what} is left")]
    NotLowered {
        /// The instruction.
        inst: Inst,
        /// Its description.
        what: &'static str,
    },
    /// More words or ids than a module can have.
    #[error("the module would have more than {0} words")]
    TooLarge(u32),
    /// The option `harness` has no counterpart of a part of the shader.
    #[error(transparent)]
    Harness(#[from] Unliftable),
}

impl SpirvError {
    error_codes! {
        NoEntryPoint => "T2000" "spirv-no-entry-point",
        Stage => "T2001" "spirv-stage",
        UnsupportedAlu => "T2002" "spirv-unsupported-alu",
        UnsupportedIntrinsic => "T2003" "spirv-unsupported-intrinsic",
        Unsupported => "T2004" "spirv-unsupported",
        Interface => "T2005" "spirv-interface",
        NotLowered => "T2006" "spirv-not-lowered",
        TooLarge => "T2007" "spirv-too-large",
        Harness => "T2008" "spirv-harness",
    }
}

impl SpirvError {
    /// The instruction that it is about.
    pub fn inst(&self) -> Option<Inst> {
        match *self {
            SpirvError::UnsupportedAlu { inst, .. }
            | SpirvError::UnsupportedIntrinsic { inst, .. }
            | SpirvError::Unsupported { inst, .. }
            | SpirvError::NotLowered { inst, .. } => Some(inst),
            SpirvError::NoEntryPoint
            | SpirvError::Stage(_)
            | SpirvError::Interface { .. }
            | SpirvError::TooLarge(_)
            | SpirvError::Harness(_) => None,
        }
    }

    /// The error with the number of the instruction of the source that it is about.
    pub fn located(self, shader: &Shader) -> Box<dyn TargetError> {
        let entry = shader.entry_point().and_then(|entry| shader.functions[entry].body.as_ref());
        let instruction = entry.zip(self.inst()).and_then(|(body, inst)| body.origin(inst));
        Box::new(Located { error: self, instruction })
    }
}

/// An error, and the number of the instruction of the source that it is about.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{error}")]
pub struct Located {
    /// The error.
    pub error: SpirvError,
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

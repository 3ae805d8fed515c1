//! Inputs and outputs: variables with locations, built-ins, what stages ask for.

use tgsi_ir::Inst;
use tgsi_ir::intrinsics::IntrinsicOp;

use super::Emitter;
use crate::error::SpirvError;

/// State.
#[derive(Debug, Default)]
pub struct Io {}

impl Emitter<'_> {
    pub(super) fn deref_access(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        Err(SpirvError::UnsupportedIntrinsic { inst, op })
    }

    pub(super) fn indexed_io(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        Err(SpirvError::UnsupportedIntrinsic { inst, op })
    }

    pub(super) fn interpolation(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        Err(SpirvError::UnsupportedIntrinsic { inst, op })
    }

    pub(super) fn geometry(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        Err(SpirvError::UnsupportedIntrinsic { inst, op })
    }

    pub(super) fn kill(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        Err(SpirvError::UnsupportedIntrinsic { inst, op })
    }

    pub(super) fn derivative(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        Err(SpirvError::UnsupportedIntrinsic { inst, op })
    }
}

impl Emitter<'_> {
    /// The execution modes of the stage.
    pub(super) fn execution_modes(&mut self) -> Result<(), SpirvError> {
        Ok(())
    }

    /// What comes before the first instruction.
    pub(super) fn at_start(&mut self) -> Result<(), SpirvError> {
        Ok(())
    }

    /// What comes before each return.
    pub(super) fn at_end(&mut self) -> Result<(), SpirvError> {
        Ok(())
    }

    /// Ends the open block and the invocation.
    pub(super) fn end_invocation(&mut self) {
        let op = if self.module.at_least(1, 6) { spirv::Op::TerminateInvocation } else { spirv::Op::Kill };
        self.end(op, &[]);
    }
}

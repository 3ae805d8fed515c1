//! Registers and variables of the function.

use tgsi_ir::Inst;
use tgsi_ir::intrinsics::IntrinsicOp;

use super::Emitter;
use crate::error::SpirvError;

/// State.
#[derive(Debug, Default)]
pub struct Locals {}

impl Emitter<'_> {
    pub(super) fn register(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        Err(SpirvError::UnsupportedIntrinsic { inst, op })
    }

    /// `load_deref`, `store_deref` of variables that are no inputs or outputs.
    pub(super) fn local_access(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        Err(SpirvError::UnsupportedIntrinsic { inst, op })
    }
}

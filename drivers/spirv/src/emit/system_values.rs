//! System values: built-in inputs and driver parameters.

use tgsi_ir::Inst;
use tgsi_ir::intrinsics::IntrinsicOp;

use super::Emitter;
use crate::error::SpirvError;

/// State.
#[derive(Debug, Default)]
pub struct SystemValues {}

impl Emitter<'_> {
    pub(super) fn system_value(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        Err(SpirvError::UnsupportedIntrinsic { inst, op })
    }
}

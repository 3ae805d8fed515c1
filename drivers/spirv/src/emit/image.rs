//! Storage images.

use tgsi_ir::Inst;
use tgsi_ir::intrinsics::IntrinsicOp;

use super::Emitter;
use crate::error::SpirvError;

/// State.
#[derive(Debug, Default)]
pub struct Images {}

impl Emitter<'_> {
    pub(super) fn image(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        Err(SpirvError::UnsupportedIntrinsic { inst, op })
    }
}

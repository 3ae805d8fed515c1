//! Subgroups, votes, barriers, clocks.

use tgsi_ir::Inst;
use tgsi_ir::intrinsics::IntrinsicOp;

use super::Emitter;
use crate::error::SpirvError;

impl Emitter<'_> {
    pub(super) fn subgroup(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        Err(SpirvError::UnsupportedIntrinsic { inst, op })
    }
}

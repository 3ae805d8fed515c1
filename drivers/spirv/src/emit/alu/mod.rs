//! Arithmetic.

use tgsi_ir::alu::AluOp;
use tgsi_ir::{AluFlags, Inst};

use super::Emitter;
use crate::error::SpirvError;

impl Emitter<'_> {
    /// Emits an ALU instruction.
    pub(super) fn alu(&mut self, inst: Inst, op: AluOp, flags: AluFlags) -> Result<(), SpirvError> {
        let _ = flags;
        let Some(def) = self.body.inst_def(inst) else {
            return Err(SpirvError::NotLowered { inst, what: "an ALU instruction without result" });
        };
        if op.is_vec_or_mov() || op == AluOp::Bcsel {
            return self.move_or_select(inst, op, def);
        }
        Err(SpirvError::UnsupportedAlu { inst, op, bits: self.body.alu_bit_size(inst) })
    }
}

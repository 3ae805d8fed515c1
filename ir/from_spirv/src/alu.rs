//! Arithmetic.

use spirv::Op;
use tgsi_ir::alu::AluOp;
use tgsi_ir::entities::Def;
use tgsi_ir::types::ScalarType;

use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::error::SpirvError;
use crate::words::Inst;

/// Whether a type is a signed integer.
pub(crate) fn is_signed(scalar: ScalarType) -> bool {
    matches!(scalar, ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int | ScalarType::Int64)
}

impl Emitter<'_, '_, '_> {
    /// An integer with 32 bits.
    pub(crate) fn to_32_bits(&mut self, def: Def, is_signed: bool) -> Def {
        if self.b.body.bit_size(def) == 32 {
            return def;
        }
        self.b.alu(if is_signed { AluOp::I2i32 } else { AluOp::U2u32 }, &[def])
    }

    pub(crate) fn alu_group(&mut self, _op: Op, _inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        Ok(Outcome::Other)
    }
}

//! Derivatives.

use spirv::{ExecutionMode, Op};
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::shader::ShaderStage;

use super::{types, unsupported};
use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::words::Inst;

impl Emitter<'_, '_, '_> {
    pub(super) fn derivative(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        use IntrinsicOp as I;
        // The second derivative is that of `Fwidth`.
        let (first, second) = match op {
            Op::DPdx => (I::Ddx, None),
            Op::DPdy => (I::Ddy, None),
            Op::Fwidth => (I::Ddx, Some(I::Ddy)),
            Op::DPdxFine => (I::DdxFine, None),
            Op::DPdyFine => (I::DdyFine, None),
            Op::FwidthFine => (I::DdxFine, Some(I::DdyFine)),
            Op::DPdxCoarse => (I::DdxCoarse, None),
            Op::DPdyCoarse => (I::DdyCoarse, None),
            Op::FwidthCoarse => (I::DdxCoarse, Some(I::DdyCoarse)),
            _ => return Ok(Outcome::Other),
        };
        if !self.has_derivatives() {
            return Err(unsupported(inst, "only fragment shaders, and compute shaders with quads, have derivatives"));
        }
        let value = self.like_result(inst, 2)?;
        let shape = self.shape(value);
        let value = match shape.bit_size {
            16 => self.b.alu(AluOp::F2f32, &[value]),
            32 => value,
            _ => return Err(types(inst, "the operand is not a float of 16 or 32 bits")),
        };
        let mut result = self.derivative_of(first, value);
        if let Some(second) = second {
            let other = self.derivative_of(second, value);
            let [a, b] = [result, other].map(|def| self.b.alu(AluOp::Fabs, &[def]));
            result = self.b.alu(AluOp::Fadd, &[a, b]);
        }
        if shape.bit_size == 16 {
            result = self.b.alu(AluOp::F2f16, &[result]);
        }
        Ok(Outcome::Value(Value::Vector(result)))
    }

    fn derivative_of(&mut self, op: IntrinsicOp, value: Def) -> Def {
        let shape = Shape::new(self.b.body.num_components(value), 32);
        self.b.intrinsic_def(op, &[value], &[], shape)
    }

    /// Whether lanes form quads.
    pub(crate) fn has_derivatives(&self) -> bool {
        match self.context.stage {
            ShaderStage::Fragment => true,
            ShaderStage::Compute => {
                let module = &self.context.module;
                let entry = module.entry_points.get(self.context.entry).map(|entry| entry.function);
                module.modes.iter().any(|mode| {
                    let kind = ExecutionMode::from_u32(mode.mode);
                    let is_group = matches!(
                        kind,
                        Some(ExecutionMode::DerivativeGroupQuadsKHR | ExecutionMode::DerivativeGroupLinearKHR)
                    );
                    is_group && Some(mode.entry) == entry
                })
            }
            _ => false,
        }
    }
}

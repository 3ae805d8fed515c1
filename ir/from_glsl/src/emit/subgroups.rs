//! Functions that see other invocations of the subgroup: votes, ballots, reads, derivatives; and the clock.

use arrayvec::ArrayVec;
use tgsi_arithmetic::Operand;
use tgsi_environment::SystemValue;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::Scope;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use super::places::Value;
use super::{EmitError, Emitter, bit_size};
use crate::builtins::functions::{BuiltinOp, Detail};
use crate::program::ExprId;
use crate::types::{Scalar, TypeId};

impl Emitter<'_, '_, '_> {
    /// `anyInvocation` and its siblings.
    pub(super) fn vote(&mut self, op: BuiltinOp, operands: &[ExprId]) -> Result<Value, EmitError> {
        let Some(&operand) = operands.first() else { return Ok(Value::None) };
        let value = self.vector_of(operand)?;
        let intrinsic = match op {
            BuiltinOp::AnyInvocation => IntrinsicOp::VoteAny,
            BuiltinOp::AllInvocations => IntrinsicOp::VoteAll,
            _ => IntrinsicOp::VoteIeq,
        };
        let vote = self.b.intrinsic_def(intrinsic, &[value], &[], Shape::new(1, 1));
        Ok(Value::Operand(Operand::Vector(vote)))
    }

    /// `ballotARB`, `readInvocationARB` and `readFirstInvocationARB`.
    pub(super) fn ballot(&mut self, op: BuiltinOp, operands: &[ExprId]) -> Result<Value, EmitError> {
        let mut sources: ArrayVec<Def, 2> = ArrayVec::new();
        for &operand in operands.iter().take(2) {
            let source = self.vector_of(operand)?;
            sources.push(source);
        }
        let Some(&value) = sources.first() else { return Ok(Value::None) };
        let of_value = Shape::new(self.b.body.num_components(value), self.b.body.bit_size(value));
        let (intrinsic, shape) = match op {
            BuiltinOp::Ballot => (IntrinsicOp::Ballot, Shape::new(1, 64)),
            BuiltinOp::ReadInvocation => (IntrinsicOp::ReadInvocation, of_value),
            _ => (IntrinsicOp::ReadFirstInvocation, of_value),
        };
        Ok(Value::Operand(Operand::Vector(self.b.intrinsic_def(intrinsic, &sources, &[], shape))))
    }

    /// A mask of invocations of the subgroup that the pipeline provides: drivers have its words.
    pub(super) fn mask_value(&mut self, value: SystemValue) -> Option<Def> {
        use SystemValue as S;
        let is_mask = matches!(
            value,
            S::SubgroupEqMask | S::SubgroupGeMask | S::SubgroupGtMask | S::SubgroupLeMask | S::SubgroupLtMask
        );
        let load = IntrinsicOp::loading(value).filter(|_| is_mask)?;
        let words = self.b.intrinsic_def(load, &[], &[], Shape::new(2, 32));
        Some(self.b.alu(AluOp::Pack642x32, &[words]))
    }

    /// `clock2x32ARB` and `clockARB`, by the type of the result.
    pub(super) fn clock(&mut self, ty: TypeId) -> Value {
        let scope = [(IndexKind::MemoryScope, Scope::Subgroup.to_i32())];
        let words = self.b.intrinsic_def(IntrinsicOp::ShaderClock, &[], &scope, Shape::new(2, 32));
        let is_wide = self.context.program.types.scalar(ty) == Some(Scalar::Uint64);
        let clock = if is_wide { self.b.alu(AluOp::Pack642x32, &[words]) } else { words };
        Value::Operand(Operand::Vector(clock))
    }

    /// A derivative of the value of an operand.
    pub(super) fn derivative(&mut self, along_x: bool, detail: Detail, value: Def) -> Def {
        let op = match (along_x, detail) {
            (true, Detail::Any) => IntrinsicOp::Ddx,
            (true, Detail::Fine) => IntrinsicOp::DdxFine,
            (true, Detail::Coarse) => IntrinsicOp::DdxCoarse,
            (false, Detail::Any) => IntrinsicOp::Ddy,
            (false, Detail::Fine) => IntrinsicOp::DdyFine,
            (false, Detail::Coarse) => IntrinsicOp::DdyCoarse,
        };
        let shape = Shape::new(self.b.body.num_components(value), bit_size(Scalar::Float));
        if !self.context.program.has_derivatives() {
            let zeros = [0; 4];
            let count = usize::from(shape.num_components);
            return self.b.constant(shape.bit_size, zeros.get(..count).unwrap_or(&zeros));
        }
        self.b.intrinsic_def(op, &[value], &[], shape)
    }
}

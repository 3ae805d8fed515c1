//! Termination of fragments, and derivatives.
//!
//! | IR | SPIR-V |
//! |---|---|
//! | `terminate_if` | a branch to `OpKill` (since SPIR-V 1.6 `OpTerminateInvocation`); `terminate` the same with a true condition, so that the block continues |
//! | `demote` | `OpDemoteToHelperInvocation`, if the target has it; otherwise as `terminate` |
//! | derivatives | `OpDPdx` etc.; outside of fragment shaders zero, since there are no neighbours |
//!
//! After `OpKill` the derivatives of neighbours are undefined. Therefore `terminate` becomes a demotion, too, if the
//! target has it, the shader uses derivatives, and there is no loop that could run forever.

use spirv::{BuiltIn, Capability, Decoration, MemoryAccess, Op, SelectionControl};
use tgsi_ir::body::TexOp;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Body, Inst, InstData, ShaderStage};

use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};
use crate::plan::has_derivatives;

const DEMOTE: &str = "SPV_EXT_demote_to_helper_invocation";

/// Returns whether an instruction needs the neighbours of the fragment.
pub fn derives(body: &Body, inst: Inst) -> bool {
    use IntrinsicOp::*;
    match *body.inst(inst) {
        InstData::Intrinsic { op, .. } => {
            matches!(op, Ddx | Ddy | DdxFine | DdyFine | DdxCoarse | DdyCoarse)
        }
        InstData::Tex(_) => body.tex(inst).is_some_and(|tex| matches!(tex.op, TexOp::Tex | TexOp::Txb | TexOp::Lod)),
        _ => false,
    }
}

impl Emitter<'_> {
    pub(in crate::emit) fn emit_kill(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        let body = self.body;
        if op == IntrinsicOp::IsHelperInvocation {
            let id = self.is_helper();
            if let Some(def) = body.inst_def(inst) {
                self.define(def, id, Class::Bool);
            }
            return Ok(());
        }
        if self.shader.stage != ShaderStage::Fragment {
            return Err(SpirvError::UnsupportedIntrinsic { inst, op });
        }
        let condition = match op {
            IntrinsicOp::TerminateIf | IntrinsicOp::DemoteIf => Some(self.value(body.src(inst, 0), Class::Bool)?),
            _ => None,
        };
        let is_demotion = matches!(op, IntrinsicOp::Demote | IntrinsicOp::DemoteIf);
        let is_safe = self.io.plan.derives && body.blocks().all(|block| body.node_after(block).is_none_or(is_no_loop));
        if self.demotes() && (is_demotion || is_safe) {
            self.module.need(Capability::DemoteToHelperInvocation);
            self.module.need_extension(DEMOTE, Some((1, 6)));
            let demote = |e: &mut Self| {
                e.push(Op::DemoteToHelperInvocation, &[]);
                Ok(())
            };
            return match condition {
                Some(condition) => self.if_then(condition, demote),
                None => demote(self),
            };
        }
        let condition = condition.unwrap_or_else(|| self.module.bool(true));
        let (end, merge) = (self.module.id(), self.module.id());
        self.push(Op::SelectionMerge, &[merge.0, SelectionControl::NONE.bits()]);
        self.end(Op::BranchConditional, &[condition.0, end.0, merge.0]);
        self.open(end);
        self.end_invocation();
        self.open(merge);
        Ok(())
    }

    fn demotes(&self) -> bool {
        self.options.demote && !self.options.portable && !self.options.opengl
    }

    /// Ends the open block and the invocation.
    pub(in crate::emit) fn end_invocation(&mut self) {
        let op = if self.module.at_least(1, 6) { Op::TerminateInvocation } else { Op::Kill };
        self.end(op, &[]);
    }

    /// Emits whether the invocation is currently a helper.
    fn is_helper(&mut self) -> Id {
        if self.shader.stage != ShaderStage::Fragment {
            return self.module.bool(false);
        }
        let ty = self.module.value_type(ValueType::BOOL);
        if !self.demotes() {
            // No invocation is demoted, so the built-in suffices.
            let variable = self.built_in(BuiltIn::HelperInvocation, ValueType::BOOL);
            return self.result(Op::Load, ty, &[variable.0]);
        }
        if self.module.at_least(1, 6) {
            let variable = self.built_in(BuiltIn::HelperInvocation, ValueType::BOOL);
            if self.options.vulkan_memory_model {
                return self.result(Op::Load, ty, &[variable.0, MemoryAccess::VOLATILE.bits()]);
            }
            if !std::mem::replace(&mut self.io.is_helper_volatile, true) {
                self.module.decorate(variable, Decoration::Volatile, &[]);
            }
            return self.result(Op::Load, ty, &[variable.0]);
        }
        self.module.need(Capability::DemoteToHelperInvocation);
        self.module.need_extension(DEMOTE, Some((1, 6)));
        self.result(Op::IsHelperInvocationEXT, ty, &[])
    }

    pub(in crate::emit) fn emit_derivative(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let ty = self.type_of(def, Class::Float);
        let ty_id = self.module.value_type(ty);
        if !has_derivatives(self.shader) {
            let zero = self.module.null(ty_id);
            self.define(def, zero, Class::Float);
            return Ok(());
        }
        if ty.bits != 32 {
            return Err(SpirvError::Unsupported { inst, what: "a derivative of other than 32 bits" });
        }
        let op = match op {
            IntrinsicOp::Ddx => Op::DPdx,
            IntrinsicOp::Ddy => Op::DPdy,
            IntrinsicOp::DdxFine => Op::DPdxFine,
            IntrinsicOp::DdyFine => Op::DPdyFine,
            IntrinsicOp::DdxCoarse => Op::DPdxCoarse,
            IntrinsicOp::DdyCoarse => Op::DPdyCoarse,
            op => return Err(SpirvError::UnsupportedIntrinsic { inst, op }),
        };
        if !matches!(op, Op::DPdx | Op::DPdy) {
            self.module.need(Capability::DerivativeControl);
        }
        let value = self.value(body.src(inst, 0), Class::Float)?;
        let id = self.result(op, ty_id, &[value.0]);
        self.define(def, id, Class::Float);
        Ok(())
    }
}

fn is_no_loop(node: tgsi_ir::body::CfNode) -> bool {
    !matches!(node, tgsi_ir::body::CfNode::Loop(_))
}

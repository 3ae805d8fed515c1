//! Instructions of single stages: vertices of geometry shaders, demotion and interlocks of fragment shaders; the clock.

use spirv::Op;
use tgsi_ir::InstData;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::shader::ShaderStage;

use super::{BOOL, types, unsupported};
use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::words::Inst;

/// Geometry shaders have this number of vertex streams.
const STREAMS: u32 = 4;

impl Emitter<'_, '_, '_> {
    pub(super) fn stage(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        let stage = match op {
            Op::EmitVertex | Op::EndPrimitive | Op::EmitStreamVertex | Op::EndStreamPrimitive => ShaderStage::Geometry,
            Op::DemoteToHelperInvocation
            | Op::IsHelperInvocationEXT
            | Op::BeginInvocationInterlockEXT
            | Op::EndInvocationInterlockEXT => ShaderStage::Fragment,
            _ => self.context.stage,
        };
        if stage != self.context.stage {
            return Err(unsupported(inst, "the stage does not have it"));
        }
        match op {
            Op::EmitVertex | Op::EmitStreamVertex => {
                let stream = self.stream(op == Op::EmitStreamVertex, inst)?;
                if let Some(store) = self.context.store_outputs {
                    self.b.build(InstData::Call { callee: store, indirect: false }, &[], None);
                }
                self.context.shader.info.gs.active_stream_mask |= 1 << stream;
                self.b.intrinsic(IntrinsicOp::EmitVertex, &[], &[(IndexKind::StreamId, stream as i32)], None);
            }
            Op::EndPrimitive | Op::EndStreamPrimitive => {
                let stream = self.stream(op == Op::EndStreamPrimitive, inst)?;
                self.context.shader.info.gs.uses_end_primitive = true;
                self.b.intrinsic(IntrinsicOp::EndPrimitive, &[], &[(IndexKind::StreamId, stream as i32)], None);
            }
            Op::DemoteToHelperInvocation => {
                self.context.shader.info.fs.uses_discard = true;
                self.b.intrinsic(IntrinsicOp::Demote, &[], &[], None);
            }
            Op::IsHelperInvocationEXT => {
                self.expect_result(inst, BOOL)?;
                let is_helper = self.b.intrinsic_def(IntrinsicOp::IsHelperInvocation, &[], &[], BOOL);
                return Ok(Outcome::Value(Value::Vector(is_helper)));
            }
            Op::BeginInvocationInterlockEXT => {
                self.b.intrinsic(IntrinsicOp::BeginInvocationInterlock, &[], &[], None);
            }
            Op::EndInvocationInterlockEXT => {
                self.b.intrinsic(IntrinsicOp::EndInvocationInterlock, &[], &[], None);
            }
            Op::ReadClockKHR => return self.clock(inst),
            _ => return Ok(Outcome::Other),
        }
        Ok(Outcome::Effect)
    }

    /// The stream that the first operand states; 0 without one.
    fn stream(&self, is_stated: bool, inst: &Inst<'_>) -> Result<u32, SpirvError> {
        let stream = if is_stated { self.integer(inst.word(0))? } else { 0 };
        if stream < STREAMS { Ok(stream) } else { Err(SpirvError::Value { what: "the stream", value: stream.into() }) }
    }

    fn clock(&mut self, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        let scope = self.scope(inst.word(2))?;
        let shape = self.result_shape(inst);
        let words = Shape::new(2, 32);
        let indices = [(IndexKind::MemoryScope, scope.to_i32())];
        let clock = self.b.intrinsic_def(IntrinsicOp::ShaderClock, &[], &indices, words);
        Ok(Outcome::Value(Value::Vector(match shape {
            Shape { num_components: 1, bit_size: 64 } => self.b.alu(AluOp::Pack642x32, &[clock]),
            shape if shape == words => clock,
            _ => return Err(types(inst, "the result is not a number of 64 bits")),
        })))
    }
}

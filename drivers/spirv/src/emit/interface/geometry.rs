//! Vertices and primitives of geometry shaders.

use spirv::{Capability, Op};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Inst, ShaderStage};

use crate::emit::Emitter;
use crate::error::SpirvError;

impl Emitter<'_> {
    pub(in crate::emit) fn emit_geometry(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        let is_vertex = match op {
            IntrinsicOp::EmitVertex => true,
            IntrinsicOp::EndPrimitive => false,
            // The lowered forms with counters do not occur.
            op => return Err(SpirvError::UnsupportedIntrinsic { inst, op }),
        };
        if self.shader.stage != ShaderStage::Geometry {
            return Err(SpirvError::UnsupportedIntrinsic { inst, op });
        }
        let stream = self.body.index(inst, IndexKind::StreamId) as u32;
        if is_vertex && stream == 0 {
            self.before_vertex();
        }
        if is_vertex {
            self.capture_outputs()?;
        }
        if stream == 0 {
            self.push(if is_vertex { Op::EmitVertex } else { Op::EndPrimitive }, &[]);
            return Ok(());
        }
        self.module.need(Capability::GeometryStreams);
        let stream = self.module.uint(stream);
        self.push(if is_vertex { Op::EmitStreamVertex } else { Op::EndStreamPrimitive }, &[stream.0]);
        Ok(())
    }
}

//! Splits operations that the machine computes for one component only.
//!
//! ```text
//!                                         32 %4 = frcp %1.y
//!                                         32 %5 = frcp %1.x
//! 32x3 %3 = frcp %1.yxy           =>      32x3 %3 = vec3 %4, %5, %4
//! ```
//!
//! Each component of an operand is computed once. Scalar units of r300, nv30, a2xx, D3D9.

use arrayvec::ArrayVec;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::MAX_COMPONENTS;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Builder, Cursor, Inst, Shader};

/// The components that an operation reads for one component of its result.
type Operands = ArrayVec<AluSrc, 4>;

/// Splits operations for which `is_scalar` holds, if they work component by component. Returns whether anything
/// changed.
pub(crate) fn split_scalar_ops(shader: &mut Shader, is_scalar: &dyn Fn(AluOp) -> bool) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| body.alu_op(inst).is_some_and(is_scalar) && split(body, inst));
    }
    progress
}

fn split(body: &mut Body, inst: Inst) -> bool {
    let (Some((op, flags)), Some(def)) = (body.alu(inst), body.inst_def(inst)) else { return false };
    let count = body.num_components(def);
    let info = op.info();
    let is_componentwise = info.output_size == 0 && info.input_sizes.iter().all(|&size| size == 0);
    if count < 2 || op.is_vec_or_mov() || !is_componentwise || info.input_sizes.len() > 4 {
        return false;
    }
    let operands = |channel: u8| -> Operands {
        let sources = body.sources(inst).map(|source| AluSrc::of(body, source));
        sources.map(|source| AluSrc::component(source.def, source.swizzle.get(channel.into()))).collect()
    };
    let channels: ArrayVec<Operands, MAX_COMPONENTS> = (0..count).map(operands).collect();
    let mut builder = Builder::new(body, Cursor::Before(inst));
    builder.flags = flags;
    let mut parts: ArrayVec<AluSrc, MAX_COMPONENTS> = ArrayVec::new();
    for (channel, operands) in channels.iter().enumerate() {
        let same = channels[..channel].iter().position(|earlier| earlier == operands);
        parts.push(match same {
            Some(earlier) => parts[earlier],
            None => AluSrc::component(builder.alu_sized(op, 1, operands), 0),
        });
    }
    let vector = builder.vec(&parts);
    body.replace_all_uses(def, vector);
    body.remove_inst(inst);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_component_is_computed_once() {
        let text = "shader: MESA_SHADER_VERTEX\n\
            decl_var shader_in INTERP_MODE_NONE none vec4 in_0 (VERT_ATTRIB_GENERIC0.xyzw, 0, 0)\n\
            decl_function main () (entrypoint)\n\nimpl main {\n    block b0:\n\
            32 %0 = deref_var &in_0 (shader_in vec4)\n\
            32x4 %1 = @load_deref (%0) (access=none)\n\
            32x3 %2 = frcp %1.yxy\n\
            32x3 %3 = fadd %2, %1.xyz\n\
            block b1:\n}\n";
        let mut shader = tgsi_ir::text::parse(text).expect("valid text");
        assert!(split_scalar_ops(&mut shader, &|op| op == AluOp::Frcp));
        let body = shader.main();
        let ops: Vec<_> = body.blocks().flat_map(|block| body.insts(block)).filter_map(|i| body.alu_op(i)).collect();
        assert_eq!(ops, [AluOp::Frcp, AluOp::Frcp, AluOp::Vec3, AluOp::Fadd]);
        assert!(!split_scalar_ops(&mut shader, &|op| op == AluOp::Frcp));
    }
}

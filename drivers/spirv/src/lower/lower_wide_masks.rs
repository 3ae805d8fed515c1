//! Lowers 64-bit invocation masks to two words.
//!
//! ```text
//! before: 64   %1 = @ballot %0
//! after:  32x2 %2 = @ballot %0
//!         64   %1 = pack_64_2x32 %2
//! ```
//!
//! For targets without 64-bit integers. The uses of the mask are narrowed by another pass.
//!
//! Cost: linear in the instructions.

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::InstData;
use tgsi_ir::builder::Builder;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Body, Cursor, Def, Inst, Shader, Shape};

/// See the [module](self).
pub fn lower_wide_masks(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(lower);
    }
    progress
}

fn lower(body: &mut Body, inst: Inst) -> bool {
    use IntrinsicOp::*;
    let InstData::Intrinsic { op, .. } = *body.inst(inst) else { return false };
    let is_mask = matches!(
        op,
        Ballot | LoadSubgroupEqMask | LoadSubgroupGeMask | LoadSubgroupGtMask | LoadSubgroupLeMask | LoadSubgroupLtMask
    );
    let Some(def) = body.inst_def(inst).filter(|_| is_mask) else { return false };
    if (body.bit_size(def), body.num_components(def)) != (64, 1) {
        return false;
    }
    let sources: Vec<Def> = if op == Ballot { vec![body.src(inst, 0)] } else { Vec::new() };
    let mut b = Builder::new(body, Cursor::Before(inst));
    let words = b.intrinsic_def(op, &sources, &[], Shape::new(2, 32));
    let mask = b.alu(AluOp::Pack642x32, &[words]);
    body.replace_all_uses(def, mask);
    body.remove_inst(inst);
    true
}

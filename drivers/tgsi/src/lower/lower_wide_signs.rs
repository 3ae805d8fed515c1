//! Replaces signs of 64-bit floats by comparisons, for targets without `DSSG`.
//!
//! ```text
//! 64 %2 = fsign %1     =>     1  %3 = flt 0.0, %1
//!                             1  %4 = flt %1, 0.0
//!                             64 %5 = bcsel %4, -1.0, 0.0
//!                             64 %2 = bcsel %3, 1.0, %5
//! ```

use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Builder, Cursor, Shader};

/// Replaces all 64-bit signs. Returns whether there were any.
pub(super) fn lower_wide_signs(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                let Some(def) = body.inst_def(inst) else { continue };
                if body.alu_op(inst) != Some(AluOp::Fsign) || body.bit_size(def) != 64 {
                    continue;
                }
                let value = AluSrc::of(body, body.source(inst, 0));
                let count = body.num_components(def);
                let mut b = Builder::new(body, Cursor::Before(inst));
                let [zero, one, minus_one] =
                    [0f64, 1.0, -1.0].map(|value| AluSrc::component(b.constant(64, &[value.to_bits()]), 0));
                let is_positive = b.alu_sized(AluOp::Flt, count, &[zero, value]);
                let is_negative = b.alu_sized(AluOp::Flt, count, &[value, zero]);
                let rest = b.alu_sized(AluOp::Bcsel, count, &[is_negative.into(), minus_one, zero]);
                let sign = b.alu_sized(AluOp::Bcsel, count, &[is_positive.into(), one, rest.into()]);
                body.replace_all_uses(def, sign);
                body.remove_inst(inst);
                progress = true;
            }
        }
    }
    progress
}

//! Chooses the value of undefined operands where that cannot affect other uses.
//!
//! ```text
//! before:                                          after:
//!     %1 = bcsel %c, %undef, %0                        %1 = mov %0
//!     %2 = vec2 %undef.x, %undef.x                     %2 = undef
//!     @store_output (%undef, ...)                      (nothing)
//! ```
//!
//! - A selection with one undefined value becomes the other value.
//! - A `mov` or vector of undefined values is undefined.
//! - Stores of undefined values to registers, variables and outputs are removed; undefined components of a stored
//!   vector are removed from the mask.
//!
//! Undefined operands of other instructions are kept: their value is arbitrary, but the same for every use.

use crate::alu::AluOp;
use crate::body::{Body, InstData, RareInst};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::intrinsics::IntrinsicOp;
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_undef(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut().filter(|body| body.may_have(RareInst::Undef)) {
        let mut any = false;
        progress |= body.visit_insts(|body, inst| match *body.inst(inst) {
            InstData::Alu { op, .. } => simplify_alu(body, inst, op),
            InstData::Intrinsic { op, .. } => simplify_store(body, inst, op),
            InstData::Undef => {
                any = true;
                false
            }
            _ => false,
        });
        if !any && !progress {
            body.set_has_none(RareInst::Undef);
        }
    }
    progress
}

fn is_undef(body: &Body, def: Def) -> bool {
    matches!(body.inst(body.def_inst(def)), InstData::Undef)
}

fn simplify_alu(body: &mut Body, inst: Inst, op: AluOp) -> bool {
    let Some(def) = body.inst_def(inst) else { return false };
    let shape = body.shape(def);
    let value = if op.is_vec_or_mov() {
        if !body.sources(inst).all(|s| is_undef(body, body.src_def(s))) {
            return false;
        }
        Builder::new(body, Cursor::Before(inst)).undef(shape.num_components, shape.bit_size)
    } else if matches!(op, AluOp::Bcsel | AluOp::B32csel | AluOp::B16csel | AluOp::B8csel) {
        let kept = match (is_undef(body, body.src(inst, 1)), is_undef(body, body.src(inst, 2))) {
            (false, true) => 1,
            (true, _) => 2,
            (false, false) => return false,
        };
        let source = body.source(inst, kept);
        let source = AluSrc::new(body.src_def(source), body.swizzle(source));
        Builder::new(body, Cursor::Before(inst)).mov(source, shape.num_components)
    } else {
        return false;
    };
    body.replace_all_uses(def, value);
    body.remove_inst(inst);
    true
}

fn simplify_store(body: &mut Body, inst: Inst, op: IntrinsicOp) -> bool {
    let number = match op {
        IntrinsicOp::StoreDeref => 1,
        IntrinsicOp::StoreReg | IntrinsicOp::StoreRegIndirect | IntrinsicOp::StoreOutput => 0,
        _ => return false,
    };
    let value = body.src(inst, number);
    let mask = body.write_mask(inst);
    let producer = body.def_inst(value);
    let undefined = if is_undef(body, value) {
        u32::MAX
    } else if body.alu_op(producer).is_some_and(|op| op.is_vec()) {
        body.sources(producer)
            .enumerate()
            .filter(|&(_, s)| is_undef(body, body.src_def(s)))
            .fold(0, |mask, (i, _)| mask | 1 << i)
    } else {
        0
    };
    let left = mask & !undefined;
    if left == mask {
        return false;
    }
    if left == 0 {
        body.remove_inst(inst);
    } else {
        body.set_write_mask(inst, left);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Shape;
    use crate::shader::ShaderStage;
    use crate::validate::validate;

    #[test]
    fn selections_vectors_and_stores() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let register = b.decl_reg(Shape::new(2, 32), 0);
        let (undef, x) = (b.undef(1, 32), b.u32_const(3));
        let c = b.undef(1, 1);
        let selected = b.alu(AluOp::Bcsel, &[c, undef, x]);
        let user = b.alu(AluOp::Ineg, &[selected]);
        let vector = b.vec_of(&[undef, user]);
        let partial = b.store_reg(vector, register, 0, 3);
        let nothing = b.vec_of(&[undef, undef]);
        let gone = b.store_reg(nothing, register, 0, 3);
        assert!(opt_undef(&mut shader));
        assert!(!opt_undef(&mut shader));
        validate(&shader).unwrap();
        let body = shader.main();
        assert_eq!(body.src(body.def_inst(user), 0), x);
        assert_eq!(body.write_mask(partial), 2);
        assert!(body.inst_block(gone).is_none());
    }
}

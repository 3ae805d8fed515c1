//! Turns registers that are no arrays into SSA values.
//!
//! ```text
//! before:                                          after:
//!     32x2 %0 = @decl_reg (num_components=2)
//!     loop {                                           loop {
//!                                                          %5 = phi b0: %zero, b1: %4
//!         %1 = @load_reg (%0)
//!         %2 = fadd %1, %x                                 %2 = fadd %5, %x
//!         @store_reg (%2, %0) (wrmask=x)                   %4 = vec2 %2.x, %5.y
//!         ...                                              ...
//! ```
//!
//! Corner cases:
//! - A register starts as zero: a read that no write reaches is a zero constant, and so is the source of a phi for such a way. (The
//!   reference puts undefined values there.)
//! - A partial write makes a vector of new and old components; a write of no component vanishes.
//! - `legacy_fabs`, `legacy_fneg` of a load and `legacy_fsat` of a store become instructions; reading and writing with modifiers is
//!   well defined only for floats, and so are these.
//! - The element number (`base`) of a register that is no array does not count.
//! - Array registers stay, unless nothing reads them: then they go with all their writes.
//!
//! Cost: linear in the accesses, plus the phis.

use crate::alu::AluOp;
use crate::body::{Body, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst, User};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::phi_builder::{Initial, PhiBuilder};
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_reg_intrinsics_to_ssa(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= lower_body(body);
    }
    progress
}

/// The pass on one body.
pub(crate) fn lower_body(body: &mut Body) -> bool {
    let start = body.start_block();
    let decls: Vec<Inst> = body.insts(start).filter(|&i| body.intrinsic(i) == Some(IntrinsicOp::DeclReg)).collect();
    if decls.is_empty() {
        return false;
    }
    let order = body.inst_order();
    let mut phis = PhiBuilder::new(body);
    let mut progress = false;
    let mut accesses: Vec<Inst> = Vec::new();
    for decl in decls {
        let Some(handle) = body.inst_def(decl) else { continue };
        accesses.clear();
        accesses.extend(body.uses_of(handle).filter_map(|u| body.user(u).inst()));
        let is_array = body.index(decl, IndexKind::NumArrayElems) > 0;
        if is_array {
            let only_written = accesses
                .iter()
                .all(|&i| matches!(body.intrinsic(i), Some(IntrinsicOp::StoreReg | IntrinsicOp::StoreRegIndirect)));
            if !only_written {
                continue;
            }
            body.remove_insts(&accesses);
        } else {
            // Something that is neither load nor store (a parallel copy, halfway out of SSA) keeps the register.
            let plain = body.uses_of(handle).all(|u| matches!(body.user(u), User::Inst(i) if is_access(body, i)));
            if !plain {
                continue;
            }
            accesses.sort_unstable_by_key(|&i| order.index(i));
            let shape = body.register_shape(handle);
            let writers: Vec<Block> =
                accesses.iter().filter(|&&i| is_store(body, i)).filter_map(|&i| body.inst_block(i)).collect();
            phis.start(shape, Initial::Zero, writers);
            for &access in &accesses {
                lower_access(body, &mut phis, shape, access);
            }
            phis.finish(body);
            body.remove_insts(&accesses);
        }
        body.remove_inst(decl);
        progress = true;
    }
    progress
}

fn is_store(body: &Body, inst: Inst) -> bool {
    matches!(body.intrinsic(inst), Some(IntrinsicOp::StoreReg | IntrinsicOp::StoreRegIndirect))
}

fn is_access(body: &Body, inst: Inst) -> bool {
    is_store(body, inst) || matches!(body.intrinsic(inst), Some(IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect))
}

fn lower_access(body: &mut Body, phis: &mut PhiBuilder, shape: Shape, access: Inst) {
    let Some(block) = body.inst_block(access) else { return };
    if let Some(def) = body.inst_def(access) {
        let mut value = phis.get(body, block);
        let (abs, neg) = (body.index(access, IndexKind::LegacyFabs), body.index(access, IndexKind::LegacyFneg));
        let mut b = Builder::new(body, Cursor::Before(access));
        if abs != 0 {
            value = b.alu(AluOp::Fabs, &[value]);
        }
        if neg != 0 {
            value = b.alu(AluOp::Fneg, &[value]);
        }
        body.replace_all_uses(def, value);
        return;
    }
    let full = (1u32 << shape.num_components) - 1;
    let mask = body.index(access, IndexKind::WriteMask) as u32 & full;
    if mask == 0 {
        return;
    }
    let mut value = body.src(access, 0);
    if body.index(access, IndexKind::LegacyFsat) != 0 {
        value = Builder::new(body, Cursor::Before(access)).alu(AluOp::Fsat, &[value]);
    }
    if mask != full {
        let old = phis.get(body, block);
        value = merge_components(&mut Builder::new(body, Cursor::Before(access)), value, old, mask, shape);
    }
    phis.set(block, value);
}

/// A vector with the components of `mask` from `new`, the others from `old`.
pub(crate) fn merge_components(b: &mut Builder<'_>, new: Def, old: Def, mask: u32, shape: Shape) -> Def {
    let sources: arrayvec::ArrayVec<AluSrc, 16> =
        (0..shape.num_components).map(|i| AluSrc::component(if mask >> i & 1 != 0 { new } else { old }, i)).collect();
    b.vec(&sources)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::JumpKind;
    use crate::shader::Stage;

    #[test]
    fn partial_writes_in_a_loop() {
        let mut shader = Shader::new(Stage::Compute);
        let body = shader.main_mut();
        let mut b = Builder::at_end(body);
        let shape = Shape::new(2, 32);
        let reg = b.decl_reg(shape, 0);
        let x = b.constant(32, &[1, 2]);
        let c = b.bool_const(true);
        let id = b.push_loop();
        let head = b.block();
        let old = b.load_reg(reg, 0);
        let sum = b.alu(AluOp::Iadd, &[old, x]);
        b.store_reg(sum, reg, 0, 1);
        let exit = b.push_if(c);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        b.end_loop(id);
        let last = b.load_reg(reg, 0);
        let kept = b.alu(AluOp::Ineg, &[last]);
        assert!(lower_reg_intrinsics_to_ssa(&mut shader));
        assert!(!lower_reg_intrinsics_to_ssa(&mut shader));
        let body = shader.main();
        let phi = body.src(body.def_inst(sum), 0);
        assert!(body.is_phi(body.def_inst(phi)) && body.inst_block(body.def_inst(phi)) == Some(head));
        let merged = body.src(body.def_inst(kept), 0);
        let merge = body.def_inst(merged);
        assert_eq!(body.alu_op(merge), Some(AluOp::Vec2));
        assert_eq!((body.src(merge, 0), body.src(merge, 1)), (sum, phi));
        assert!(body.blocks().flat_map(|b| body.insts(b)).all(|i| body.intrinsic(i).is_none()));
    }

    #[test]
    fn values_pass_from_register_to_register() {
        let mut shader = Shader::new(Stage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let shape = Shape::new(1, 32);
        let (p, q) = (b.decl_reg(shape, 0), b.decl_reg(shape, 0));
        let x = b.u32_const(3);
        b.store_reg(x, p, 0, 1);
        let y = b.load_reg(p, 0);
        b.store_reg(y, q, 0, 1);
        let z = b.load_reg(q, 0);
        b.store_reg(z, p, 0, 1);
        let w = b.load_reg(p, 0);
        let kept = b.alu(AluOp::Ineg, &[w]);
        lower_reg_intrinsics_to_ssa(&mut shader);
        let body = shader.main();
        assert_eq!(body.src(body.def_inst(kept), 0), x);
    }

    #[test]
    fn arrays_that_are_read_stay() {
        let mut shader = Shader::new(Stage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let shape = Shape::new(1, 32);
        let (read, written) = (b.decl_reg(shape, 4), b.decl_reg(shape, 4));
        let x = b.u32_const(3);
        b.store_reg(x, read, 0, 1);
        b.store_reg(x, written, 0, 1);
        b.load_reg(read, 1);
        assert!(lower_reg_intrinsics_to_ssa(&mut shader));
        let body = shader.main();
        let count = body.insts(body.start_block()).filter(|&i| body.intrinsic(i) == Some(IntrinsicOp::DeclReg)).count();
        assert_eq!(count, 1);
        assert!(body.is_def_live(read) && !body.is_def_live(written));
    }
}

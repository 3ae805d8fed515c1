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
//! Cost: linear in the accesses, plus the phis. Code of one block takes one walk.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::alu::AluOp;
use crate::body::{Body, Shape};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, User};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::opt_dce::is_register_store;
use crate::passes::phi_builder::{Initial, PhiBuilder, Zeros};
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
    if !body.may_have_registers() {
        return false;
    }
    let start = body.start_block();
    let decls: Vec<Inst> = body.insts(start).filter(|&i| is_declaration(body, i)).collect();
    let mut progress = false;
    let mut stays = false;
    let mut values: Vec<(Inst, Def)> = Vec::with_capacity(decls.len());
    for decl in decls {
        let Some(handle) = body.inst_def(decl) else { continue };
        if body.index(decl, IndexKind::NumArrayElems) == 0 {
            // Something that is neither load nor store (a parallel copy, halfway out of SSA) keeps the register.
            let is_only_accessed = !body.has_parallel_copies()
                || body.uses_of(handle).all(|u| matches!(body.user(u), User::Inst(i) if is_access(body, i)));
            if is_only_accessed {
                values.push((decl, handle));
            } else {
                stays = true;
            }
        } else if body.uses_of(handle).all(|u| matches!(body.user(u), User::Inst(i) if is_register_store(body, i))) {
            let accesses: Vec<Inst> = body.uses_of(handle).filter_map(|u| body.user(u).inst()).collect();
            body.remove_insts(&accesses);
            body.remove_inst(decl);
            progress = true;
        } else {
            stays = true;
        }
    }
    if !stays {
        body.set_no_registers();
    }
    if values.is_empty() {
        return progress;
    }
    if body.is_one_block() {
        lower_one_block(body, &values);
    } else {
        lower_blocks(body, &values);
    }
    for (decl, _) in values {
        body.remove_inst(decl);
    }
    true
}

/// One walk, in which every register has one value at a time.
fn lower_one_block(body: &mut Body, registers: &[(Inst, Def)]) {
    let mut zeros = Zeros::default();
    let mut current: SecondaryMap<Def, Option<PackedOption<Def>>> = SecondaryMap::new();
    current.resize(body.num_defs());
    for &(_, handle) in registers {
        current[handle] = Some(PackedOption::default());
    }
    let mut next = body.first_inst(body.start_block());
    while let Some(inst) = next {
        next = body.next_inst(inst);
        if !is_access(body, inst) {
            continue;
        }
        let handle = body.src(inst, usize::from(is_register_store(body, inst)));
        let Some(value) = current[handle] else { continue };
        let shape = body.register_shape(handle);
        let old = |body: &mut Body| value.expand().unwrap_or_else(|| zeros.get(body, shape));
        if let Some(new) = lower_access(body, shape, inst, old) {
            current[handle] = Some(new.into());
        }
        body.remove_inst(inst);
    }
}

/// One register after the other.
fn lower_blocks(body: &mut Body, registers: &[(Inst, Def)]) {
    let order = body.inst_order();
    let mut phis = PhiBuilder::new(body);
    let mut accesses: Vec<Inst> = Vec::new();
    for &(_, handle) in registers {
        accesses.clear();
        accesses.extend(body.uses_of(handle).filter_map(|u| body.user(u).inst()));
        accesses.sort_unstable_by_key(|&i| order.index(i));
        let shape = body.register_shape(handle);
        let writers = accesses.iter().filter(|&&i| is_register_store(body, i)).filter_map(|&i| body.inst_block(i));
        phis.start(shape, Initial::Zero, writers);
        for &access in &accesses {
            let Some(block) = body.inst_block(access) else { continue };
            if let Some(new) = lower_access(body, shape, access, |body| phis.get(body, block)) {
                phis.set(block, new);
            }
        }
        phis.finish(body);
        body.remove_insts(&accesses);
    }
}

fn is_declaration(body: &Body, inst: Inst) -> bool {
    body.intrinsic(inst) == Some(IntrinsicOp::DeclReg)
}

fn is_access(body: &Body, inst: Inst) -> bool {
    is_register_store(body, inst)
        || matches!(body.intrinsic(inst), Some(IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect))
}

/// Gives those who use a load the value `old`, or returns what the register holds after a store, if that is something else.
fn lower_access(body: &mut Body, shape: Shape, access: Inst, old: impl FnOnce(&mut Body) -> Def) -> Option<Def> {
    if let Some(def) = body.inst_def(access) {
        let mut value = old(body);
        let (abs, neg) = (body.index(access, IndexKind::LegacyFabs), body.index(access, IndexKind::LegacyFneg));
        let mut b = Builder::new(body, Cursor::Before(access));
        if abs != 0 {
            value = b.alu(AluOp::Fabs, &[value]);
        }
        if neg != 0 {
            value = b.alu(AluOp::Fneg, &[value]);
        }
        body.replace_all_uses(def, value);
        return None;
    }
    let full = (1u32 << shape.num_components) - 1;
    let mask = body.index(access, IndexKind::WriteMask) as u32 & full;
    if mask == 0 {
        return None;
    }
    let mut value = body.src(access, 0);
    if body.index(access, IndexKind::LegacyFsat) != 0 {
        value = Builder::new(body, Cursor::Before(access)).alu(AluOp::Fsat, &[value]);
    }
    if mask != full {
        let old = old(body);
        value = merge_components(&mut Builder::new(body, Cursor::Before(access)), value, old, mask, shape);
    }
    Some(value)
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

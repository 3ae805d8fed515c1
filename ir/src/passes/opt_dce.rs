//! Removes instructions whose values nobody needs.
//!
//! ```text
//! before:                           after:
//!     %1 = fmul %0, %0                  @store_output (%0, ...)
//!     %2 = fadd %1, %0
//!     @store_output (%0, ...)
//! ```
//!
//! Needed are calls, jumps, intrinsics that may not be eliminated, conditions of `if`s, and what these read, and so on. Marking from
//! there with a work list finds dead cycles of phis as well, in one pass over the instructions and without regard to nesting.
//! A write to a register is needed if a needed instruction reads that register anywhere, so that registers that only feed themselves go as well,
//! before phis are made of them.
//! Control flow stays as it is (see [`opt_dead_cf`](mod@crate::passes::opt_dead_cf)).

use bitvec::vec::BitVec;

use crate::body::{Body, InstData};
use crate::entities::Inst;
use crate::intrinsics::IntrinsicOp;
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_dce(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= remove_dead_insts(body);
    }
    progress
}

/// Whether an instruction must stay even if nothing reads its value.
pub(crate) fn has_effect(body: &Body, inst: Inst) -> bool {
    match *body.inst(inst) {
        InstData::Call { .. } | InstData::Jump(_) | InstData::ParallelCopy(_) => true,
        InstData::Intrinsic { op, .. } => !op.info().can_eliminate,
        InstData::Alu { .. }
        | InstData::Deref { .. }
        | InstData::Tex(_)
        | InstData::LoadConst { .. }
        | InstData::Undef
        | InstData::Phi => false,
    }
}

/// The pass on one body.
pub(crate) fn remove_dead_insts(body: &mut Body) -> bool {
    let mut live: BitVec = BitVec::repeat(false, body.num_insts());
    let mut work: Vec<Inst> = Vec::new();
    for block in body.blocks() {
        if let Some(id) = body.following_if(block) {
            work.push(body.src_inst(body.if_condition(id)));
        }
        work.extend(body.insts(block).filter(|&inst| has_effect(body, inst) && !is_register_store(body, inst)));
    }
    while let Some(inst) = work.pop() {
        if live.replace(inst.as_u32() as usize, true) {
            continue;
        }
        work.extend(body.sources(inst).map(|source| body.src_inst(source)));
        if let (Some(IntrinsicOp::DeclReg), Some(handle)) = (body.intrinsic(inst), body.inst_def(inst)) {
            let users = body.uses_of(handle).filter_map(|source| body.user(source).inst());
            work.extend(users.filter(|&user| is_register_store(body, user)));
        }
    }
    let dead: Vec<Inst> =
        body.blocks().flat_map(|block| body.insts(block)).filter(|inst| !live[inst.as_u32() as usize]).collect();
    if !dead.is_empty() {
        body.remove_insts(&dead);
    }
    !dead.is_empty()
}

/// Whether an instruction writes a register, the handle of which is its source 1.
pub(crate) fn is_register_store(body: &Body, inst: Inst) -> bool {
    matches!(body.intrinsic(inst), Some(IntrinsicOp::StoreReg | IntrinsicOp::StoreRegIndirect))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::alu::AluOp;
    use crate::body::{JumpKind, Shape};
    use crate::shader::Stage;

    #[test]
    fn dead_cycles_go_and_conditions_stay() {
        let mut shader = Shader::new(Stage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (zero, one) = (b.u32_const(0), b.u32_const(1));
        let before = b.block();
        let id = b.push_loop();
        let dead = b.phi(Shape::new(1, 32), &[(before, zero)]);
        let live = b.phi(Shape::new(1, 32), &[(before, zero)]);
        let more_dead = b.alu(AluOp::Imul, &[dead, one]);
        let more = b.alu(AluOp::Iadd, &[live, one]);
        let done = b.alu(AluOp::Uge, &[more, one]);
        let exit = b.push_if(done);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        let latch = b.block();
        b.end_loop(id);
        let body = b.body;
        body.add_phi_source(body.def_inst(dead), latch, more_dead);
        body.add_phi_source(body.def_inst(live), latch, more);
        assert!(opt_dce(&mut shader));
        assert!(!opt_dce(&mut shader));
        let body = shader.main();
        assert!(!body.is_def_live(dead) && !body.is_def_live(more_dead));
        assert!(body.is_def_live(live) && body.is_def_live(done));
        assert_eq!(body.uses_of(zero).count(), 1);
    }
}

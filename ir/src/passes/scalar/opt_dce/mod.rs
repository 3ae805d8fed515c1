//! Removes instructions with results that are not needed.
//!
//! ```text
//! before:                           after:
//!     %1 = fmul %0, %0                  @store_output (%0, ...)
//!     %2 = fadd %1, %0
//!     @store_output (%0, ...)
//! ```
//!
//! Calls, jumps, intrinsics with side effects, conditions of `if`s and, transitively, their operands are needed.
//! Without loops and registers, an instruction without effects is dead only if its value has no uses (`unused.rs`).
//! Otherwise the needed instructions are marked (`marks.rs`), so that dead cycles of phis and registers are found as
//! well. Control flow is kept (see [`opt_dead_cf`](mod@crate::passes::control_flow::opt_dead_cf)).

mod marks;
mod unused;

use crate::body::{Body, InstData, RareInst};
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

/// Returns whether an instruction must be kept even if its value is unused.
#[inline]
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

/// Runs the pass on one body.
pub(crate) fn remove_dead_insts(body: &mut Body) -> bool {
    if body.structured && body.num_loops() == 0 && !body.may_have(RareInst::Register) {
        unused::remove_unused(body)
    } else {
        marks::remove_unmarked(body)
    }
}

/// Returns whether an instruction writes a register; the register's handle is its source 1.
#[inline]
pub(crate) fn is_register_store(body: &Body, inst: Inst) -> bool {
    matches!(body.intrinsic(inst), Some(IntrinsicOp::StoreReg | IntrinsicOp::StoreRegIndirect))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::alu::AluOp;
    use crate::body::{JumpKind, Shape};
    use crate::shader::ShaderStage;

    #[test]
    fn dead_cycles_go_and_conditions_stay() {
        let mut shader = Shader::new(ShaderStage::Compute);
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

//! The last pass before instruction selection: float modifiers go into register accesses, then every access is made
//! trivial.
//!
//! ```text
//! 32 %2 = @load_reg (%r)                         32 %5 = @load_reg (%r) (legacy_fneg=1)
//! 32 %3 = fneg %2                         =>     32 %4 = fadd %5, %1
//! 32 %4 = fadd %3, %1
//!
//! 32 %6 = fmul %4, %4                            32 %6 = fmul %4, %4
//! 32 %7 = fsat %6                         =>             @store_reg (%6, %r) (legacy_fsat=1)
//!         @store_reg (%7, %r)
//! ```
//!
//! A modifier of a load goes onto a clone of the load, because the load itself may have other readers. Modifiers of
//! other values stay: the chase functions look through them. The sweep is forward, so that `fneg(fabs(load))` meets
//! `fabs` first and ends as one load with both.

use tgsi_ir::alu::AluOp;
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::passes::scalar::opt_dce::opt_dce;
use tgsi_ir::{Body, Inst, Shader};

use crate::chase::{Operand, chase_alu_dest, load_reg_for_def, store_reg_for_def};
use crate::modifiers::ModifierPolicy;
use crate::trivialize_registers::trivialize_registers;

/// Folds the modifiers that the policy allows and makes every register access trivial. Must be the last pass: what it
/// establishes does not survive other changes. Returns whether anything changed.
pub fn legacy_trivialize(shader: &mut Shader, policy: ModifierPolicy) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| fold_into_access(body, inst, policy));
    }
    if progress {
        opt_dce(shader);
    }
    progress |= trivialize_registers(shader);
    progress
}

fn fold_into_access(body: &mut Body, inst: Inst, policy: ModifierPolicy) -> bool {
    let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return false };
    if policy.folds_source(body, inst) {
        let source = body.source(inst, 0);
        let Some(load) = load_reg_for_def(body, body.src_def(source)) else { return false };
        let swizzle = body.swizzle(source);
        let clone = body.clone_inst_before(load);
        if op == AluOp::Fabs {
            body.set_index(clone, IndexKind::LegacyFabs, 1);
            body.set_index(clone, IndexKind::LegacyFneg, 0);
        } else {
            let negate = body.index(clone, IndexKind::LegacyFneg);
            body.set_index(clone, IndexKind::LegacyFneg, i32::from(negate == 0));
        }
        let Some(value) = body.inst_def(clone) else { return false };
        for reader in body.uses_vec(def) {
            body.set_swizzle(reader, body.swizzle(reader).compose(swizzle));
            body.set_src(reader, value);
        }
        body.remove_inst(inst);
        return true;
    }
    // Most are not saturated.
    let user = body.single_use(def).and_then(|source| body.user(source).inst());
    if user.is_none_or(|user| body.alu_op(user) != Some(AluOp::Fsat)) {
        return false;
    }
    let destination = chase_alu_dest(body, def, policy);
    if destination.saturate
        && let Operand::Ssa(saturated) = destination.operand
        && let Some(store) = store_reg_for_def(body, saturated)
    {
        body.set_index(store, IndexKind::LegacyFsat, 1);
        body.set_src(body.source(store, 0), def);
        return true;
    }
    false
}

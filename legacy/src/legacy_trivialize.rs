//! The last pass before instruction selection: folds float modifiers into register accesses, then makes every access
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
//! A modifier of a load is folded into a clone of the load, because the load itself may have other uses. Modifiers of
//! other values stay: the chase functions look through them. The sweep is forward, so that `fneg(fabs(load))` folds
//! `fabs` first and ends as one load with both.
//!
//! Folding depends on all uses, including dead ones. The pass therefore removes only folded instructions: a modifier
//! kept because of a dead use would otherwise be looked through later, to a load that it was not folded into.

use tgsi_ir::alu::AluOp;
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::{Body, Inst, Shader};

use crate::chase::{load_reg_for_def, store_reg_for_def};
use crate::modifiers::ModifierPolicy;
use crate::trivialize_registers::{IsOperand, trivialize_registers};

/// Folds the modifiers that the policy allows and makes every register access trivial. Must be the last pass: other
/// changes invalidate its result. A store of a value that is read in place gets a mov. Returns whether anything
/// changed.
pub fn legacy_trivialize(shader: &mut Shader, policy: ModifierPolicy<'_>, is_operand: IsOperand<'_>) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| match body.alu_op(inst) {
            Some(op @ (AluOp::Fneg | AluOp::Fabs)) => fold_into_load(body, inst, op, policy),
            Some(AluOp::Fsat) => fold_into_store(body, inst, policy),
            _ => false,
        });
    }
    progress | trivialize_registers(shader, is_operand)
}

fn fold_into_load(body: &mut Body, modifier: Inst, op: AluOp, policy: ModifierPolicy<'_>) -> bool {
    let source = body.source(modifier, 0);
    let (loaded, swizzle) = (body.src_def(source), body.swizzle(source));
    let (Some(load), Some(def)) = (load_reg_for_def(body, loaded), body.inst_def(modifier)) else { return false };
    if body.is_unused(def) || !policy.folds_source(body, modifier) {
        return false;
    }
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
    body.remove_inst(modifier);
    if body.is_unused(loaded) {
        body.remove_inst(load);
    }
    true
}

fn fold_into_store(body: &mut Body, saturation: Inst, policy: ModifierPolicy<'_>) -> bool {
    let Some(store) = body.inst_def(saturation).and_then(|def| store_reg_for_def(body, def)) else { return false };
    if !policy.folds_saturation(body, saturation) {
        return false;
    }
    body.set_index(store, IndexKind::LegacyFsat, 1);
    body.set_src(body.source(store, 0), body.src(saturation, 0));
    body.remove_inst(saturation);
    true
}

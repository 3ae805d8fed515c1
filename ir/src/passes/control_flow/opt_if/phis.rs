//! Simplifies phis after an `if` that depend on its condition.
//!
//! ```text
//! before:                           after:
//!     if %c { ... } else { ... }        if %c { ... } else { ... }
//!     %1 = phi: true, false             %2 = phi: %a, undef
//!     %2 = phi: %a, %b                  if %c {
//!     if %c {                               ... %c ... %2 ...
//!         ... %1 ... %2 ...             }
//!     }
//! ```
//!
//! 1. A phi of `true` and `false` is the condition; one of `false` and `true` is its complement.
//! 2. If a second `if` with the same condition follows, a phi with all uses in one of its sides does not need the value
//!    from the other side of the first `if`.

use crate::alu::AluOp;
use crate::analysis::Dominance;
use crate::body::{Body, CfNode, InstData};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Block, If, Inst};

/// Runs both parts. Returns whether anything changed.
pub(super) fn simplify_phis(body: &mut Body) -> bool {
    let dominance = body.dominance();
    let mut progress = false;
    for block in body.blocks_vec() {
        let Some(CfNode::If(id)) = body.node_before(block) else { continue };
        for phi in body.phis(block).collect::<Vec<_>>() {
            progress |= phi_is_condition(body, id, block, phi);
        }
        if let Some(second) = body.following_if(block)
            && body.src_def(body.if_condition(second)) == body.src_def(body.if_condition(id))
        {
            for phi in body.phis(block).collect::<Vec<_>>() {
                progress |= forget_unused(body, &dominance, id, second, phi);
            }
        }
    }
    progress
}

fn phi_is_condition(body: &mut Body, id: If, block: Block, phi: Inst) -> bool {
    let Some(def) = body.inst_def(phi) else { return false };
    let condition = body.src_def(body.if_condition(id));
    if !body.is_boolean(condition) || body.shape(def) != body.shape(condition) {
        return false;
    }
    let ends = [body.then_list(id).last, body.else_list(id).last];
    let values = ends.map(|end| {
        let source = body.phi_source_for(phi, end)?;
        body.constant_component(body.src_def(source), 0)
    });
    let [Some(yes), Some(no)] = values else { return false };
    if yes == no {
        return false;
    }
    let value = if yes != 0 {
        condition
    } else {
        let cursor = Cursor::after_phis(body, block);
        Builder::new(body, cursor).alu(AluOp::Inot, &[condition])
    };
    body.replace_all_uses(def, value);
    body.remove_inst(phi);
    true
}

/// Replaces the source of a phi that reaches no use with an undefined value.
fn forget_unused(body: &mut Body, dominance: &Dominance, first: If, second: If, phi: Inst) -> bool {
    let Some(def) = body.inst_def(phi) else { return false };
    if body.is_unused(def) {
        return false;
    }
    let sides = [body.then_list(second).first, body.else_list(second).first];
    let only_in =
        |side: Block| body.uses_of(def).all(|u| body.use_block(u).is_some_and(|b| dominance.dominates(side, b)));
    let end = if only_in(sides[0]) {
        body.else_list(first).last
    } else if only_in(sides[1]) {
        body.then_list(first).last
    } else {
        return false;
    };
    let Some(source) = body.phi_source_for(phi, end) else { return false };
    if matches!(body.inst(body.src_inst(source)), InstData::Undef) {
        return false;
    }
    let shape = body.shape(def);
    let undef = Builder::new(body, Cursor::before_jump(body, end)).undef(shape.num_components, shape.bit_size);
    body.set_src(source, undef);
    true
}

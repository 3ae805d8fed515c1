//! Turns an `if` that contains only a `terminate` or `demote` into a conditional one.
//!
//! ```text
//! before:                     after:
//!     if %c {                     @terminate_if (%c)
//!         @terminate
//!     }
//!     if %c {                     %1 = iand %c, %d
//!         @demote_if (%d)         @demote_if (%1)
//!     }
//! ```
//!
//! The instruction may be in either side. An `if` with phis is kept (see
//! [`opt_peephole_select`](mod@crate::passes::control_flow::opt_peephole_select), which selects): a terminated
//! invocation continues, with its own values, because derivatives need it.
//!
//! One walk in program order.

use crate::alu::AluOp;
use crate::body::{Body, CfNode};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Inst};
use crate::intrinsics::IntrinsicOp;
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_conditional_discard(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        if !body.structured || body.is_one_block() {
            continue;
        }
        let mut next = Some(body.start_block());
        while let Some(block) = next {
            let joined = match body.node_before(block) {
                Some(CfNode::If(id)) => make_conditional(body, id),
                _ => None,
            };
            progress |= joined.is_some();
            next = body.next_block(joined.unwrap_or(block));
        }
    }
    progress
}

/// Returns the conditional form of an instruction that ends invocations; `None` if it has a condition that cannot be
/// combined with another.
pub(crate) fn conditional_discard(body: &Body, inst: Inst) -> Option<IntrinsicOp> {
    if !body.sources(inst).all(|source| body.is_boolean(body.src_def(source))) {
        return None;
    }
    match body.intrinsic(inst)? {
        IntrinsicOp::Terminate | IntrinsicOp::TerminateIf => Some(IntrinsicOp::TerminateIf),
        IntrinsicOp::Demote | IntrinsicOp::DemoteIf => Some(IntrinsicOp::DemoteIf),
        _ => None,
    }
}

/// Makes an instruction that ends invocations conditional, so that it can leave its side of the `if`: it takes effect
/// where `condition` is `wanted`.
pub(crate) fn discard_under(body: &mut Body, inst: Inst, condition: Def, wanted: bool) {
    let Some(op) = conditional_discard(body, inst) else { return };
    let mut b = Builder::new(body, Cursor::Before(inst));
    let mut both = if wanted { condition } else { b.alu(AluOp::Inot, &[condition]) };
    if b.body.num_sources(inst) > 0 {
        let inner = b.body.src(inst, 0);
        both = b.alu(AluOp::Iand, &[both, inner]);
    }
    b.intrinsic(op, &[both], &[], None);
    body.remove_inst(inst);
}

/// Replaces an `if` that matches. Returns the block that contains everything afterwards.
fn make_conditional(body: &mut Body, id: If) -> Option<Block> {
    let (before, after) = (body.block_before_if(id), body.block_after_if(id));
    let (yes, no) = (body.then_list(id).single_block()?, body.else_list(id).single_block()?);
    let (side, other, wanted) = if body.first_inst(no).is_none() { (yes, no, true) } else { (no, yes, false) };
    let inst = body.first_inst(side)?;
    let is_alone = body.next_inst(inst).is_none() && body.first_inst(other).is_none();
    if !is_alone || conditional_discard(body, inst).is_none() || body.block_jump(before).is_some() {
        return None;
    }
    let condition = body.src_def(body.if_condition(id));
    if body.phis(after).next().is_some() || !body.is_boolean(condition) {
        return None;
    }
    body.move_inst(Cursor::BlockEnd(before), inst);
    discard_under(body, inst, condition, wanted);
    body.remove_node(CfNode::If(id));
    Some(before)
}

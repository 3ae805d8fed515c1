//! Merges nested `if`s.
//!
//! ```text
//! before:                        after:
//!     if %a {                        %b = flt %x, %y
//!         %b = flt %x, %y            %1 = iand %a, %b
//!         if %b {                    if %1 {
//!             ...                        ...
//!         }                          }
//!     }
//! ```
//!
//! Neither `if` has an `else` side. The code between them may be speculated and is within the limit. After the inner
//! `if`, and after the outer one, no value depends on whether only the outer condition held or both did.

use crate::alu::AluOp;
use crate::analysis::Speculation;
use crate::body::{Body, CfNode, CfParent, IfControl};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Use};

use super::side_cost;

/// Collapses directly nested `if`s, from `outer` inwards. Returns whether there were any.
pub(super) fn collapse_nested(body: &mut Body, speculation: &Speculation<'_>, outer: If, limit: u32) -> bool {
    let mut progress = false;
    while collapse_once(body, speculation, outer, limit).is_some() {
        progress = true;
    }
    progress
}

fn is_empty(body: &Body, block: Block) -> bool {
    body.first_inst(block).is_none()
}

fn collapse_once(body: &mut Body, speculation: &Speculation<'_>, outer: If, limit: u32) -> Option<()> {
    let first = body.then_list(outer).first;
    let inner = body.following_if(first)?;
    let last = body.block_after_if(inner);
    let (outer_else, inner_else) = (body.else_list(outer).single_block()?, body.else_list(inner).single_block()?);
    let conditions = [outer, inner].map(|id| body.src_def(body.if_condition(id)));
    let marked = [outer, inner].iter().any(|&id| body.if_control(id) == IfControl::DontFlatten);
    if marked
        || !conditions.iter().all(|&def| body.is_boolean(def))
        || body.then_list(outer).last != last
        || !is_empty(body, outer_else)
        || !is_empty(body, inner_else)
    {
        return None;
    }
    let before = body.block_before_if(outer);
    if body.block_jump(before).is_some() || body.insts(last).any(|inst| !body.is_phi(inst)) {
        return None;
    }
    let side = side_cost(body, speculation, first, limit)?;
    if side.conditions > 0 || side.computed > limit {
        return None;
    }
    let rewrites = phi_sources(body, outer, last, outer_else, inner_else)?;

    for inst in body.insts_vec(first) {
        body.move_inst(Cursor::BlockEnd(before), inst);
    }
    for (source, value) in rewrites {
        body.set_src(source, value);
    }
    let both = Builder::new(body, Cursor::BlockEnd(before)).alu(AluOp::Iand, &conditions);
    body.set_src(body.if_condition(outer), both);
    // The phis after the inner `if` are now unused.
    for phi in body.phis(last).collect::<Vec<_>>() {
        body.remove_inst(phi);
    }
    let content = body.detach_list(CfParent::Then(inner));
    body.remove_node(CfNode::If(inner));
    body.insert_list(Cursor::BlockEnd(first), content);
    Some(())
}

/// Returns the new sources of the phis after the outer `if` from its first side; `None` if a value distinguishes the
/// two conditions.
fn phi_sources(body: &Body, outer: If, last: Block, outer_else: Block, inner_else: Block) -> Option<Vec<(Use, Def)>> {
    let Some(CfNode::If(inner)) = body.node_before(last) else { return None };
    let inner_then = body.then_list(inner).last;
    let after = body.block_after_if(outer);
    let mut rewrites = Vec::new();
    for phi in body.phis(after) {
        let source = body.phi_source_for(phi, last)?;
        let (value, other) = (body.src_def(source), body.src_def(body.phi_source_for(phi, outer_else)?));
        if value == other {
            continue;
        }
        let producer = body.def_inst(value);
        if !body.is_phi(producer) || body.inst_block(producer) != Some(last) {
            return None;
        }
        if body.src_def(body.phi_source_for(producer, inner_else)?) != other {
            return None;
        }
        // The inner side may end in a jump; the phi then has one source, which is `other`.
        let value = body.phi_source_for(producer, inner_then).map_or(other, |s| body.src_def(s));
        rewrites.push((source, value));
    }
    // Each rewritten source was a use of a phi of `last`; there must be no others.
    let uses: usize = body.phis(last).filter_map(|phi| body.inst_def(phi)).map(|def| body.uses_of(def).count()).sum();
    (uses == rewrites.len()).then_some(rewrites)
}

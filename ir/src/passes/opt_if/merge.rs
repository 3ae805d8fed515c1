//! Two `if`s in a row with the same condition become one.
//!
//! ```text
//! before:                              after:
//!     if %c { A } else { B }               if %c { A; C } else { B; D }
//!     %1 = phi: %a, %b                     %1 = phi: %a, %b
//!     if %c { C } else { D }               %2 = phi: %x, %y
//!     %2 = phi: %x, %y
//! ```
//!
//! Between the two stand phis, constants and derefs only; the latter move in front. In `C` and `D` the phis are what comes from `A` and `B`. No
//! side of the first `if` ends in a jump; a side of the second may, then what follows both is reached from the other alone.

use cranelift_entity::SecondaryMap;

use crate::body::{Body, CfNode, CfParent, InstData};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Inst};
use crate::passes::repair_ssa::use_block;

/// Which side of a merged `if` a block is in. One map for all: what it says of earlier ones does not count.
struct Sides {
    /// Twice the number of the merged `if`, and 1 more in the second side.
    of_block: SecondaryMap<Block, u32>,
    merged: u32,
}

/// Merges `if`s. Returns whether there were any.
pub(super) fn merge_equal(body: &mut Body) -> bool {
    let mut progress = false;
    let mut next = Some(body.start_block());
    let mut sides = Sides { of_block: SecondaryMap::new(), merged: 0 };
    while let Some(block) = next {
        if let Some(first) = body.following_if(block) {
            // What stands between was looked at up to here: it stays the same block, however many follow.
            let mut seen = None;
            let mut merged = false;
            while merge_next(body, block, &mut seen) {
                merged = true;
            }
            if merged {
                sides.replace_phis_inside(body, first);
                progress = true;
            }
        }
        next = body.next_block(block);
    }
    progress
}

/// Merges the `if` after `before` with the one after that. `seen` is the last phi between the two, if it is known. Uses of these phis in what was merged are
/// left to [`Sides::replace_phis_inside`].
fn merge_next(body: &mut Body, before: Block, seen: &mut Option<Inst>) -> bool {
    let Some(first) = body.following_if(before) else { return false };
    let between = body.block_after_if(first);
    let Some(second) = body.following_if(between) else { return false };
    if body.src_def(body.if_condition(first)) != body.src_def(body.if_condition(second))
        || body.if_control(first) != body.if_control(second)
    {
        return false;
    }
    let after = body.block_after_if(second);
    let ends = [body.then_list(first).last, body.else_list(first).last];
    let second_ends = [body.then_list(second).last, body.else_list(second).last];
    let ends_in_jump = |block: Block| body.block_jump(block).is_some();
    if ends.into_iter().chain(second_ends).chain([before]).any(ends_in_jump) {
        return false;
    }
    let movable = |inst: Inst| {
        matches!(body.inst(inst), InstData::LoadConst { .. } | InstData::Undef)
            || matches!(body.inst(inst), InstData::Deref { .. }) && body.num_sources(inst) == 0
    };
    let mut last_phi = *seen;
    let mut moved = Vec::new();
    let mut next = seen.map_or_else(|| body.first_inst(between), |inst| body.next_inst(inst));
    while let Some(inst) = next {
        if body.is_phi(inst) {
            last_phi = Some(inst);
        } else if movable(inst) {
            moved.push(inst);
        } else {
            return false;
        }
        next = body.next_inst(inst);
    }
    for inst in moved {
        body.move_inst(Cursor::BlockEnd(before), inst);
    }
    // Phis of what follows move up: their values come from the ends that the merged sides will have.
    let moved: Vec<(Inst, [Def; 2])> = body
        .phis(after)
        .filter_map(|phi| {
            let value = |end: Block| body.phi_source_for(phi, end).map(|s| body.src_def(s));
            Some((phi, [value(second_ends[0])?, value(second_ends[1])?]))
        })
        .collect();
    for (phi, values) in moved {
        let Some(def) = body.inst_def(phi) else { continue };
        let shape = body.shape(def);
        let resolved: Vec<(Block, Def)> = (0..2)
            .map(|side| {
                let maker = body.def_inst(values[side]);
                let inner = (body.is_phi(maker) && body.inst_block(maker) == Some(between))
                    .then(|| body.phi_source_for(maker, ends[side]))
                    .flatten();
                (ends[side], inner.map_or(values[side], |s| body.src_def(s)))
            })
            .collect();
        let cursor = last_phi.map_or(Cursor::BlockStart(between), Cursor::After);
        let new = Builder::new(body, cursor).phi(shape, &resolved);
        last_phi = Some(body.def_inst(new));
        body.replace_all_uses(def, new);
        body.remove_inst(phi);
    }
    *seen = last_phi;
    for (parent, end) in [CfParent::Then(second), CfParent::Else(second)].into_iter().zip(ends) {
        let list = body.detach_list(parent);
        body.insert_list(Cursor::BlockEnd(end), list);
    }
    body.remove_node(CfNode::If(second));
    true
}

impl Sides {
    /// In the sides of an `if` that others were merged into, the phis behind it are what comes from the same side. (In what was in it before nothing reads them.)
    fn replace_phis_inside(&mut self, body: &mut Body, merged: If) {
        let behind = body.block_after_if(merged);
        if body.phis(behind).next().is_none() {
            return;
        }
        self.merged += 1;
        let first_side = 2 * self.merged;
        let lists = [body.then_list(merged), body.else_list(merged)];
        for (side, list) in lists.into_iter().enumerate() {
            for block in body.blocks_in(list) {
                self.of_block[block] = first_side + side as u32;
            }
        }
        for phi in body.phis(behind).collect::<Vec<_>>() {
            let Some(def) = body.inst_def(phi) else { continue };
            for source in body.uses_vec(def) {
                let Some(side) = use_block(body, source).and_then(|b| self.of_block[b].checked_sub(first_side)) else {
                    continue;
                };
                if let Some(value) = body.phi_source_for(phi, lists[side as usize].last).map(|s| body.src_def(s)) {
                    body.set_src(source, value);
                }
            }
        }
    }
}

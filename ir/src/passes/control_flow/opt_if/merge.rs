//! Merges two consecutive `if`s with the same condition.
//!
//! ```text
//! before:                              after:
//!     if %c { A } else { B }               if %c { A; C } else { B; D }
//!     %1 = phi: %a, %b                     %1 = phi: %a, %b
//!     if %c { C } else { D }               %2 = phi: %x, %y
//!     %2 = phi: %x, %y
//! ```
//!
//! Only phis, constants and derefs are between the two; constants and derefs move in front. In `C` and `D`, a phi is
//! replaced by its value from `A` or `B`. No side of either `if` ends in a jump. A nested jump may leave the second;
//! the phis between the two must then be unused in code that is reached only through such a jump, as they no longer
//! dominate it.

use std::sync::Arc;

use cranelift_entity::SecondaryMap;

use crate::analysis::Dominance;
use crate::body::{Body, CfNode, CfParent, InstData};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Inst, Use};

/// Maps a block to its side of a merged `if`. One map serves all: entries of earlier ones are ignored.
struct MergedSides {
    /// Twice the number of the merged `if`, plus 1 in the second side.
    of_block: SecondaryMap<Block, u32>,
    merged: u32,
}

/// Dominance before the first merge that needed it. Merging only removes paths, so what dominated a block still does.
type CachedDominance = Option<Arc<Dominance>>;

/// The phis after `if`s that are being merged. They are kept out of the body until no more `if`s are merged, so that
/// the ends of the sides may move.
#[derive(Default)]
struct PendingPhis {
    phis: Vec<(Inst, [Def; 2])>,
    /// Index in the list, from 1; 0: not in it.
    numbers: SecondaryMap<Inst, u32>,
}

/// Merges `if`s. Returns whether there were any.
pub(super) fn merge_equal(body: &mut Body) -> bool {
    let mut progress = false;
    let mut next = Some(body.start_block());
    let mut sides = MergedSides { of_block: SecondaryMap::new(), merged: 0 };
    let mut pending = PendingPhis::default();
    let mut dominance = CachedDominance::None;
    while let Some(block) = next {
        if let Some(first) = body.following_if(block) {
            let mut merged = false;
            while merge_next(body, block, &mut pending, &mut dominance) {
                merged = true;
            }
            if merged {
                pending.insert_phis(body, first);
                sides.replace_phis_inside(body, first);
                progress = true;
            }
        }
        next = body.next_block(block);
    }
    progress
}

/// Merges the `if` after `before` with the next one. Uses of the intermediate phis in merged code are left to
/// [`MergedSides::replace_phis_inside`].
fn merge_next(body: &mut Body, before: Block, pending: &mut PendingPhis, dominance: &mut CachedDominance) -> bool {
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
        body.is_phi(inst)
            || matches!(body.inst(inst), InstData::LoadConst { .. } | InstData::Undef)
            || matches!(body.inst(inst), InstData::Deref { .. }) && body.num_sources(inst) == 0
    };
    if !body.insts(between).all(movable) {
        return false;
    }
    if has_jump(body, second) && !pending.may_jump_over(body, between, second, dominance) {
        return false;
    }
    pending.remove_phis(body, between, ends);
    for inst in body.insts_vec(between) {
        body.move_inst(Cursor::BlockEnd(before), inst);
    }
    pending.remove_phis(body, after, second_ends);
    for (parent, end) in [CfParent::Then(second), CfParent::Else(second)].into_iter().zip(ends) {
        let list = body.detach_list(parent);
        body.insert_list(Cursor::BlockEnd(end), list);
    }
    body.remove_node(CfNode::If(second));
    true
}

fn has_jump(body: &Body, id: If) -> bool {
    let lists = [body.then_list(id), body.else_list(id)];
    lists.into_iter().flat_map(|list| body.blocks_in(list)).any(|block| body.block_jump(block).is_some())
}

impl PendingPhis {
    /// Returns whether the phis between two `if`s, and the pending ones, are used only in and after the second `if`,
    /// and not where only a jump of it leads. Pending phis are not checked again for each `if` of a sequence; the next
    /// run of the pass handles those.
    fn may_jump_over(&self, body: &Body, between: Block, second: If, dominance: &mut CachedDominance) -> bool {
        let mut phis = body.phis(between).peekable();
        if phis.peek().is_none() {
            return self.phis.is_empty();
        }
        let dominance = dominance.get_or_insert_with(|| body.dominance());
        let blocks = [body.then_list(second).first, body.else_list(second).first, body.block_after_if(second)];
        let is_inside = |source: Use| {
            body.use_block(source).is_some_and(|block| blocks.iter().any(|&other| dominance.dominates(other, block)))
        };
        self.phis.is_empty() && phis.filter_map(|phi| body.inst_def(phi)).all(|def| body.uses_of(def).all(is_inside))
    }

    /// Removes the phis of a block and records their values from the ends of two sides. A pending phi among these
    /// values is replaced by its own value from the same side.
    fn remove_phis(&mut self, body: &mut Body, block: Block, ends: [Block; 2]) {
        for phi in body.phis(block).collect::<Vec<_>>() {
            let values = ends.map(|end| body.phi_source_for(phi, end).map(|s| body.src_def(s)));
            let ([Some(yes), Some(no)], Some(def)) = (values, body.inst_def(phi)) else { continue };
            let values = [self.value(body, yes, 0), self.value(body, no, 1)];
            let new = body.create_inst(InstData::Phi, &[], Some(body.shape(def)));
            if let Some(new) = body.inst_def(new) {
                body.replace_all_uses(def, new);
            }
            body.remove_inst(phi);
            self.phis.push((new, values));
            self.numbers[new] = self.phis.len() as u32;
        }
    }

    fn value(&self, body: &Body, def: Def, side: usize) -> Def {
        match self.numbers[body.def_inst(def)].checked_sub(1) {
            Some(index) => self.phis[index as usize].1[side],
            None => def,
        }
    }

    /// Inserts all of them after the merged `if`.
    fn insert_phis(&mut self, body: &mut Body, merged: If) {
        let mut cursor = Cursor::BlockStart(body.block_after_if(merged));
        let ends = [body.then_list(merged).last, body.else_list(merged).last];
        for (phi, values) in self.phis.drain(..) {
            self.numbers[phi] = 0;
            body.insert_inst(cursor, phi);
            for (end, value) in ends.into_iter().zip(values) {
                body.add_phi_source(phi, end, value);
            }
            cursor = Cursor::After(phi);
        }
    }
}

impl MergedSides {
    /// Replaces uses of the phis after an `if` in its merged sides by the value from the same side. Its original
    /// contents do not use these phis.
    fn replace_phis_inside(&mut self, body: &mut Body, merged: If) {
        let after = body.block_after_if(merged);
        if body.phis(after).next().is_none() {
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
        for phi in body.phis(after).collect::<Vec<_>>() {
            let Some(def) = body.inst_def(phi) else { continue };
            for source in body.uses_vec(def) {
                let Some(side) = body.use_block(source).and_then(|b| self.of_block[b].checked_sub(first_side)) else {
                    continue;
                };
                if let Some(value) = body.phi_source_for(phi, lists[side as usize].last).map(|s| body.src_def(s)) {
                    body.set_src(source, value);
                }
            }
        }
    }
}

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

/// Which side of the second `if` a block is in. One map for all merges: what it says of earlier ones does not count.
struct Sides {
    /// Twice the number of the merge, and 1 more in the second side.
    of_block: SecondaryMap<Block, u32>,
    merges: u32,
}

/// Merges `if`s. Returns whether there were any.
pub(super) fn merge_equal(body: &mut Body) -> bool {
    let mut progress = false;
    let mut next = Some(body.start_block());
    let mut sides = Sides { of_block: SecondaryMap::new(), merges: 0 };
    while let Some(block) = next {
        while merge_next(body, block, &mut sides) {
            progress = true;
        }
        next = body.next_block(block);
    }
    progress
}

/// Merges the `if` after `before` with the one after that.
fn merge_next(body: &mut Body, before: Block, sides: &mut Sides) -> bool {
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
    let movable = |&inst: &Inst| {
        body.is_phi(inst)
            || matches!(body.inst(inst), InstData::LoadConst { .. } | InstData::Undef)
            || matches!(body.inst(inst), InstData::Deref { .. }) && body.num_sources(inst) == 0
    };
    if !body.insts(between).all(|inst| movable(&inst)) {
        return false;
    }
    for inst in body.insts_vec(between) {
        if !body.is_phi(inst) {
            body.move_inst(Cursor::BlockEnd(before), inst);
        }
    }
    sides.replace_phis_inside(body, between, second, ends);
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
        let new = Builder::new(body, Cursor::after_phis(body, between)).phi(shape, &resolved);
        body.replace_all_uses(def, new);
        body.remove_inst(phi);
    }
    for (parent, end) in [CfParent::Then(second), CfParent::Else(second)].into_iter().zip(ends) {
        let list = body.detach_list(parent);
        body.insert_list(Cursor::BlockEnd(end), list);
    }
    body.remove_node(CfNode::If(second));
    true
}

impl Sides {
    /// In the sides of the second `if` the phis in front of it are what comes from the same side of the first.
    fn replace_phis_inside(&mut self, body: &mut Body, between: Block, second: If, ends: [Block; 2]) {
        if body.phis(between).next().is_none() {
            return;
        }
        self.merges += 1;
        let first_side = 2 * self.merges;
        for (side, list) in [body.then_list(second), body.else_list(second)].into_iter().enumerate() {
            for block in body.blocks_in(list) {
                self.of_block[block] = first_side + side as u32;
            }
        }
        for phi in body.phis(between).collect::<Vec<_>>() {
            let Some(def) = body.inst_def(phi) else { continue };
            for source in body.uses_vec(def) {
                let Some(side) = use_block(body, source).and_then(|b| self.of_block[b].checked_sub(first_side)) else {
                    continue;
                };
                if let Some(value) = body.phi_source_for(phi, ends[side as usize]).map(|s| body.src_def(s)) {
                    body.set_src(source, value);
                }
            }
        }
    }
}

//! Moves code between a list and the sides of an `if` in it, where one side ends in a jump. The paths of execution stay
//! the same.

use super::{BlockNode, Body, CfList, CfNode, CfParent, InstData};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Inst};

impl Body {
    fn side_parent(id: If, then_side: bool) -> CfParent {
        if then_side { CfParent::Then(id) } else { CfParent::Else(id) }
    }

    /// Moves everything after an `if`, up to the end of its list, to the end of one of its sides. The other side must
    /// end in a jump; this one must not. The block after the `if` must not have phis. Returns the new, empty block
    /// after the `if`. If it is unreachable, phis after it get undefined values for it.
    pub fn move_tail_into_side(&mut self, id: If, then_side: bool) -> Option<Block> {
        let parent = self.if_parent(id)?;
        let after = self.block_after_if(id);
        debug_assert!(self.phis(after).next().is_none());
        let last = self.list(parent).last;
        let side = Self::side_parent(id, then_side);
        let before_tail = self.list(side).last;
        debug_assert!(self.block_jump(before_tail).is_none());
        let empty = self.blocks.push(BlockNode { parent: Some(parent), ..BlockNode::default() });
        self.ifs[id].next = empty.into();
        self.blocks[empty].prev = Some(CfNode::If(id));
        let mut list = self.list(parent);
        list.last = empty;
        self.set_list(parent, list);
        let mut list = self.list(side);
        list.last = last;
        self.set_list(side, list);
        self.adopt(CfList { first: after, last }, side);
        self.clear_successors(before_tail);
        self.merge_blocks(before_tail, after);
        let last = if last == after { before_tail } else { last };
        if self.block_jump(last).is_none() {
            self.move_successors(last, empty);
        }
        for block in [last, empty] {
            self.update_successors(block);
        }
        // A side that ends in a jump keeps its target; the new block may be an additional predecessor.
        self.complete_phis_behind(empty);
        self.changed_cfg();
        Some(empty)
    }

    /// Moves the content of a side of an `if` after the `if`. The other side must end in a jump. If this side ends in a
    /// jump, too, the block after the `if` must be empty and the last of its list. The first block of the side and the
    /// block after the `if` must not have phis. Afterwards, the definitions of the side dominate all code that follows.
    pub fn move_side_behind_if(&mut self, id: If, then_side: bool) {
        let Some(parent) = self.if_parent(id) else { return };
        let (before, after) = (self.block_before_if(id), self.block_after_if(id));
        let side = Self::side_parent(id, then_side);
        let list = self.list(side);
        debug_assert!(self.phis(list.first).next().is_none() && self.phis(after).next().is_none());
        let empty = self.blocks.push(BlockNode { parent: Some(side), ..BlockNode::default() });
        self.set_list(side, CfList { first: empty, last: empty });
        self.adopt(list, parent);
        self.ifs[id].next = list.first.into();
        self.blocks[list.first].prev = Some(CfNode::If(id));
        self.blocks[after].prev = None;
        if self.block_jump(list.last).is_none() {
            self.clear_successors(list.last);
        }
        self.update_successors(before);
        self.update_successors(empty);
        self.merge_blocks(list.last, after);
        self.changed_cfg();
    }

    /// Adds an undefined value to phis in the successors of a block that have no source for it.
    pub fn complete_phis_behind(&mut self, block: Block) {
        for successor in self.successors(block) {
            let predecessors = self.predecessors(successor).len();
            for phi in self.phis(successor).collect::<Vec<Inst>>() {
                // Most phis are complete, as their number of sources shows.
                if self.num_sources(phi) < predecessors
                    && self.phi_source_for(phi, block).is_none()
                    && let Some(def) = self.inst_def(phi)
                {
                    let undef = self.undef_like(def);
                    self.add_phi_source(phi, block, undef);
                }
            }
        }
    }

    /// Creates an undefined value of the same shape at the top of the body.
    pub fn undef_like(&mut self, def: Def) -> Def {
        let undef = self.create_inst(InstData::Undef, &[], Some(self.shape(def)));
        self.insert_inst(Cursor::BlockStart(self.start_block()), undef);
        self.inst_def(undef).unwrap_or(def)
    }
}

//! Edits the control tree: removes nodes, detaches, inserts and moves lists.
//!
//! Every function maintains edges, phi predecessors and lists of uses. Where it cannot (the value of a phi for a new
//! edge), its documentation leaves that to the caller, and the validator reports omissions.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use super::{Body, CfList, CfNode, CfParent, IfNode, InstData, SourceSpec};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Inst, User};

impl Body {
    /// Removes an `if` or loop with all its content and merges the blocks around it. Values defined inside that are
    /// still used outside become undefined. Phis of the block after it lose the sources of removed edges; phis left
    /// without sources become undefined.
    pub fn remove_node(&mut self, node: CfNode) {
        let (before, after) = match node {
            CfNode::If(id) => (self.block_before_if(id), self.block_after_if(id)),
            CfNode::Loop(id) => (self.block_before_loop(id), self.block_after_loop(id)),
            CfNode::Block(_) => return,
        };
        self.clear_node(node);
        self.blocks[before].next = None;
        self.blocks[after].prev = None;
        self.clear_successors(before);
        let phis: Vec<Inst> = self.phis(after).collect();
        for phi in phis {
            if self.num_sources(phi) == 0 {
                self.remove_inst_with_undef(phi);
            } else if self.num_sources(phi) == 1
                && let Some(def) = self.inst_def(phi)
            {
                let value = self.src(phi, 0);
                self.replace_all_uses(def, value);
                self.remove_inst(phi);
            }
        }
        self.merge_blocks(before, after);
        self.changed_cfg();
    }

    /// Empties an `if` or loop: all its blocks lose their instructions and edges. The node itself stays linked.
    fn clear_node(&mut self, node: CfNode) {
        let lists: Vec<CfList> = match node {
            CfNode::If(id) => vec![self.ifs[id].then_list, self.ifs[id].else_list],
            CfNode::Loop(id) => std::iter::once(self.loops[id].body).chain(self.loops[id].continue_list).collect(),
            CfNode::Block(_) => return,
        };
        let blocks: Vec<Block> = lists.iter().flat_map(|&list| self.blocks_in(list).collect::<Vec<_>>()).collect();
        if let CfNode::If(id) = node {
            self.unlink_use(self.ifs[id].condition);
        }
        // Unlink sources first, so that values with uses only inside are unused when their instruction is removed.
        // Instructions (including phis) are removed before edges, so that no search for a phi source meets an unlinked
        // one.
        for &block in &blocks {
            let mut next = self.first_inst(block);
            while let Some(inst) = next {
                next = self.next_inst(inst);
                for source in self.sources(inst) {
                    self.unlink_use(source);
                }
                self.insts[inst].num_sources = 0;
            }
            if let Some(CfNode::If(id)) = self.blocks[block].next {
                self.unlink_use(self.ifs[id].condition);
            }
        }
        for &block in &blocks {
            let mut next = self.first_inst(block);
            while let Some(inst) = next {
                next = self.next_inst(inst);
                let is_used = self.inst_def(inst).is_some_and(|def| !self.is_unused(def));
                if is_used || matches!(self.insts[inst].data, InstData::ParallelCopy(_)) {
                    self.remove_inst_with_undef(inst);
                } else {
                    // The list of instructions is dropped as a whole. No edges are derived from jumps in a tree that is
                    // being removed: they are cut below.
                    let node = &mut self.insts[inst];
                    node.block = PackedOption::default();
                    node.prev = PackedOption::default();
                    node.next = PackedOption::default();
                }
            }
            self.blocks[block].first_inst = PackedOption::default();
            self.blocks[block].last_inst = PackedOption::default();
        }
        for &block in &blocks {
            self.clear_successors(block);
            self.blocks[block].parent = None;
        }
    }

    /// Removes the outgoing edges of a block.
    pub(super) fn clear_successors(&mut self, block: Block) {
        let successors = std::mem::take(&mut self.blocks[block].successors);
        for successor in successors.into_iter().filter_map(PackedOption::expand) {
            let mut list = self.blocks[successor].predecessors;
            if let Some(index) = list.as_slice(&self.block_lists).iter().position(|&p| p == block) {
                list.swap_remove(index, &mut self.block_lists);
            }
            self.blocks[successor].predecessors = list;
            let phis: Vec<Inst> = self.phis(successor).collect();
            for phi in phis {
                if let Some(source) = self.phi_source_for(phi, block) {
                    self.remove_source(phi, self.source_number(source));
                }
            }
        }
        self.changed_cfg();
    }

    /// Joins two blocks after the node between them was removed. The instructions and outgoing edges of `after` move to
    /// `before`, and `after` is removed. If `before` ends in a jump, `after` and the rest of its list are unreachable
    /// and removed.
    pub(super) fn merge_blocks(&mut self, before: Block, after: Block) {
        if self.block_jump(before).is_some() {
            while let Some(node) = self.blocks[after].next {
                self.remove_node(node);
            }
            self.clear_successors(after);
            for inst in self.insts_vec(after) {
                if self.jump(inst).is_some() {
                    for source in self.sources(inst) {
                        self.unlink_use(source);
                    }
                    self.unlink_inst(inst);
                } else {
                    self.remove_inst_with_undef(inst);
                }
            }
            if let Some(parent) = self.blocks[before].parent {
                self.set_last_of(parent, after, before);
            }
            self.blocks[before].next = None;
            self.blocks[after].parent = None;
            self.update_successors(before);
            return;
        }
        for inst in self.insts_vec(after) {
            self.unlink_inst(inst);
            self.link_inst(Cursor::BlockEnd(before), inst);
        }
        self.move_successors(after, before);
        let next = self.blocks[after].next;
        self.blocks[before].next = next;
        match next {
            Some(CfNode::If(id)) => self.ifs[id].prev = before.into(),
            Some(CfNode::Loop(id)) => self.loops[id].prev = before.into(),
            _ => {
                if let Some(parent) = self.blocks[before].parent {
                    self.set_last_of(parent, after, before);
                }
            }
        }
        self.blocks[after].parent = None;
        self.blocks[after].next = None;
        self.changed_cfg();
    }

    fn set_last_of(&mut self, parent: CfParent, old: Block, new: Block) {
        let mut list = self.list(parent);
        if list.last == old {
            list.last = new;
            self.set_list(parent, list);
        }
    }

    pub(super) fn set_list(&mut self, parent: CfParent, list: CfList) {
        match parent {
            CfParent::Function => self.list = list,
            CfParent::Then(id) => self.ifs[id].then_list = list,
            CfParent::Else(id) => self.ifs[id].else_list = list,
            CfParent::Body(id) => self.loops[id].body = list,
            CfParent::Continue(id) => self.loops[id].continue_list = Some(list),
        }
    }

    /// Removes the rest of a list after a block that ends in a jump, because it is unreachable. Its values that are
    /// used elsewhere become undefined. Returns whether there was anything to remove.
    pub fn remove_after_jump(&mut self, block: Block) -> bool {
        if self.block_jump(block).is_none() || self.blocks[block].next.is_none() {
            return false;
        }
        while let Some(node) = self.blocks[block].next {
            self.remove_node(node);
        }
        true
    }

    /// Detaches the whole list of a parent (a side of an `if`, the body of a loop), leaving an empty block. The list
    /// must be inserted again ([`Body::insert_list`]) or removed ([`Body::drop_list`]).
    pub fn detach_list(&mut self, parent: CfParent) -> CfList {
        let list = self.list(parent);
        let empty = self.blocks.push(super::BlockNode { parent: Some(parent), ..super::BlockNode::default() });
        self.set_list(parent, CfList { first: empty, last: empty });
        let preds: Vec<Block> = self.predecessors(list.first).to_vec();
        for pred in preds {
            self.update_successors(pred);
        }
        // Edges of the detached list stay until it is inserted, so that the caller can inspect the sources of phis
        // after it.
        self.update_successors(empty);
        self.changed_cfg();
        list
    }

    /// Removes a detached list. Values of it that are still used become undefined.
    pub fn drop_list(&mut self, list: CfList) {
        let holder = self.ifs.next_key();
        // A dummy `if` serves as the parent, to reuse the code that removes nodes.
        let condition = self.uses.push(super::UseNode {
            payload: 0,
            def: PackedOption::default(),
            prev: PackedOption::default(),
            next: PackedOption::default(),
            user: holder.as_u32() | super::USER_IF,
        });
        let empty = self.blocks.push(super::BlockNode::default());
        self.ifs.push(IfNode {
            parent: None,
            prev: PackedOption::default(),
            next: PackedOption::default(),
            condition,
            then_list: list,
            else_list: CfList { first: empty, last: empty },
            control: Default::default(),
        });
        self.adopt(list, CfParent::Then(holder));
        self.clear_node(CfNode::If(holder));
    }

    /// Makes `parent` the parent of the top-level nodes of a list.
    pub(super) fn adopt(&mut self, list: CfList, parent: CfParent) {
        let mut block = list.first;
        loop {
            self.blocks[block].parent = Some(parent);
            block = match self.blocks[block].next {
                Some(CfNode::If(id)) => {
                    self.ifs[id].parent = Some(parent);
                    self.block_after_if(id)
                }
                Some(CfNode::Loop(id)) => {
                    self.loops[id].parent = Some(parent);
                    self.block_after_loop(id)
                }
                _ => break,
            };
        }
    }

    /// Inserts a detached list at a cursor; its first and last blocks merge with their neighbours. The first block must
    /// not have phis. The targets of jumps inside are updated. If the list ends in a jump, the rest of the surrounding
    /// list is removed as unreachable.
    ///
    /// Returns the block that now contains the code after the list, or `None` if that code was removed.
    pub fn insert_list(&mut self, cursor: Cursor, list: CfList) -> Option<Block> {
        let (before, after) = self.split_block(cursor);
        let parent = self.blocks[before].parent?;
        self.adopt(list, parent);
        let inner: Vec<Block> = self.blocks_in_detached(list);
        // Merges the first block of the list into `before`.
        self.merge_blocks(before, list.first);
        let last = if list.first == list.last { before } else { list.last };
        let ends_in_jump = self.block_jump(last).is_some();
        if !ends_in_jump {
            self.clear_successors(last);
        }
        // Until now `after` was the last block of the list; the merge determines the new one.
        self.merge_blocks(last, after);
        for block in inner {
            if block != list.first && self.blocks[block].parent.is_some() {
                self.update_successors(block);
            }
        }
        self.update_successors(before);
        self.changed_cfg();
        (!ends_in_jump).then_some(last)
    }

    /// Like [`Body::blocks_in`], for a list that its parent does not hold: never visits anything outside of the list.
    fn blocks_in_detached(&self, list: CfList) -> Vec<Block> {
        self.blocks_in(list).collect()
    }

    /// Replaces an `if` by one of its sides. Phis after it become the value of that side. If the side ends in a jump,
    /// the code after the `if` is removed.
    ///
    /// The cost is proportional to the blocks at both ends, the top-level nodes of the side, and the removed code. The
    /// content of nested nodes is not visited, so that dissolving nests from the outside in takes linear time.
    pub fn inline_side(&mut self, id: If, then_side: bool) {
        let after = self.block_after_if(id);
        let before = self.block_before_if(id);
        let Some(parent) = self.blocks[before].parent else { return };
        let (side, other) = if then_side {
            (self.ifs[id].then_list, self.ifs[id].else_list)
        } else {
            (self.ifs[id].else_list, self.ifs[id].then_list)
        };
        let ends_in_jump = self.block_jump(side.last).is_some();
        if !ends_in_jump {
            for phi in self.phis(after).collect::<Vec<_>>() {
                if let (Some(source), Some(def)) = (self.phi_source_for(phi, side.last), self.inst_def(phi)) {
                    let value = self.src_def(source);
                    self.replace_all_uses(def, value);
                    self.remove_inst(phi);
                }
            }
        }
        // The kept side is moved out of the `if`, which is then removed with the other one.
        let empty = self.new_block_in(if then_side { CfParent::Then(id) } else { CfParent::Else(id) });
        let kept = CfList { first: empty, last: empty };
        (self.ifs[id].then_list, self.ifs[id].else_list) = if then_side { (kept, other) } else { (other, kept) };
        self.adopt(side, parent);
        self.clear_node(CfNode::If(id));
        self.blocks[before].next = None;
        self.blocks[after].prev = None;
        self.clear_successors(before);
        if !ends_in_jump {
            self.clear_successors(side.last);
        }
        // Phis after an `if` are unreachable if its kept side ends in a jump.
        for phi in self.phis(after).collect::<Vec<_>>() {
            self.remove_inst_with_undef(phi);
        }
        self.merge_blocks(before, side.first);
        let last = if side.first == side.last { before } else { side.last };
        self.merge_blocks(last, after);
        self.changed_cfg();
    }

    /// Exchanges the sides of an `if` without changing the condition. The cost is proportional to the top-level nodes
    /// of both sides.
    pub fn swap_sides(&mut self, id: If) {
        let (then_list, else_list) = (self.ifs[id].then_list, self.ifs[id].else_list);
        self.ifs[id].then_list = else_list;
        self.ifs[id].else_list = then_list;
        self.adopt(else_list, CfParent::Then(id));
        self.adopt(then_list, CfParent::Else(id));
        self.update_successors(self.block_before_if(id));
    }

    fn new_block_in(&mut self, parent: CfParent) -> Block {
        self.blocks.push(super::BlockNode { parent: Some(parent), ..super::BlockNode::default() })
    }

    /// Moves everything after a cursor, up to the end of its list, into a side of a new `if`. Returns the `if`; the
    /// code that followed the list now follows the (empty) block after the `if`.
    ///
    /// Values defined in the moved part no longer dominate the code after it; see
    /// [`repair_ssa`](mod@crate::passes::into_ssa::repair_ssa). If a block after the list gets a new predecessor
    /// (because the part ended in a jump), its phis lack a source for it; see [`Body::complete_phis`].
    pub fn move_tail_into_if(&mut self, cursor: Cursor, condition: Def, then_side: bool) -> Option<If> {
        let parent = self.blocks[cursor.block(self)].parent?;
        let (before, first) = self.split_block(cursor);
        let last = self.list(parent).last;
        let id = self.ifs.next_key();
        let empty = self.new_block_in(if then_side { CfParent::Else(id) } else { CfParent::Then(id) });
        let after = self.new_block_in(parent);
        let condition = self.push_use(User::If(id), condition, 0);
        let (tail, other) = (CfList { first, last }, CfList { first: empty, last: empty });
        let (then_list, else_list) = if then_side { (tail, other) } else { (other, tail) };
        self.ifs.push(IfNode {
            parent: Some(parent),
            prev: before.into(),
            next: after.into(),
            condition,
            then_list,
            else_list,
            control: Default::default(),
        });
        self.blocks[before].next = Some(CfNode::If(id));
        self.blocks[after].prev = Some(CfNode::If(id));
        let mut list = self.list(parent);
        list.last = after;
        self.set_list(parent, list);
        self.adopt(tail, if then_side { CfParent::Then(id) } else { CfParent::Else(id) });
        if self.block_jump(last).is_none() {
            self.move_successors(last, after);
        }
        for block in [before, empty, last, after] {
            self.update_successors(block);
        }
        self.changed_cfg();
        Some(id)
    }

    /// Adds an undefined value to every phi for each predecessor without a source. Returns whether there was any.
    pub fn complete_phis(&mut self) -> bool {
        let mut changed = false;
        let mut seen: SecondaryMap<Block, PackedOption<Inst>> = SecondaryMap::new();
        for block in self.blocks_vec() {
            for phi in self.phis(block).collect::<Vec<_>>() {
                for source in self.sources(phi) {
                    seen[self.phi_predecessor(source)] = phi.into();
                }
                let missing: Vec<Block> =
                    self.predecessors(block).iter().copied().filter(|&p| seen[p].expand() != Some(phi)).collect();
                let Some(shape) = self.inst_def(phi).map(|d| self.shape(d)).filter(|_| !missing.is_empty()) else {
                    continue;
                };
                let undef = self.create_inst(InstData::Undef, &[], Some(shape));
                self.insert_inst(Cursor::BlockStart(self.start_block()), undef);
                if let Some(undef) = self.inst_def(undef) {
                    for pred in missing {
                        self.add_phi_source(phi, pred, undef);
                    }
                }
                changed = true;
            }
        }
        changed
    }

    /// Removes instructions (not jumps) that are used at most by each other, such as dead phis of a loop.
    pub fn remove_insts(&mut self, insts: &[Inst]) {
        if insts.is_empty() {
            return;
        }
        for &inst in insts {
            debug_assert!(self.jump(inst).is_none());
            for source in self.sources(inst) {
                self.unlink_use(source);
            }
            self.insts[inst].num_sources = 0;
        }
        for &inst in insts {
            debug_assert!(
                self.insts[inst].def.expand().is_none_or(|d| self.is_unused(d)),
                "a removed value is still used"
            );
            self.unlink_inst(inst);
        }
        self.changed_insts();
    }

    /// Clones an instruction (not a jump or phi) right before itself.
    pub fn clone_inst_before(&mut self, inst: Inst) -> Inst {
        let sources: Vec<SourceSpec> =
            self.sources(inst).map(|s| SourceSpec { def: self.src_def(s), payload: self.payload(s) }).collect();
        let shape = self.inst_def(inst).map(|d| self.shape(d));
        let data = match *self.inst(inst) {
            InstData::Tex(id) => InstData::Tex(self.push_tex(self.texs[id])),
            data => data,
        };
        let clone = self.create_inst(data, &sources, shape);
        self.insert_inst(Cursor::Before(inst), clone);
        clone
    }
}

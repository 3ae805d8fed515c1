//! The control tree and the edges derived from it.

use cranelift_entity::packed_option::PackedOption;

use super::{Body, IfControl, IfNode, InstData, JumpKind, LoopControl, LoopNode, SourceSpec};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Inst, Loop, User};

/// A node of the control tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CfNode {
    /// A block.
    Block(Block),
    /// An `if`.
    If(If),
    /// A loop.
    Loop(Loop),
}

/// The list that contains a node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CfParent {
    /// The body of the function.
    Function,
    /// The then side of an `if`.
    Then(If),
    /// The else side of an `if`.
    Else(If),
    /// The body of a loop.
    Body(Loop),
    /// The continue construct of a loop.
    Continue(Loop),
}

/// A list of nodes, given by its first and last block (the same for a single block).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CfList {
    /// First block.
    pub first: Block,
    /// Last block.
    pub last: Block,
}

impl CfList {
    /// Its only block, if it has no other.
    pub fn single_block(self) -> Option<Block> {
        (self.first == self.last).then_some(self.first)
    }
}

impl Body {
    /// The list that contains a block; `None` if it is not in the tree (like the end block).
    pub fn block_parent(&self, block: Block) -> Option<CfParent> {
        self.blocks[block].parent
    }

    /// The `if` or loop after a block, in the same list.
    pub fn node_after(&self, block: Block) -> Option<CfNode> {
        self.blocks[block].next
    }

    /// The `if` or loop before a block, in the same list.
    pub fn node_before(&self, block: Block) -> Option<CfNode> {
        self.blocks[block].prev
    }

    /// The `if` right after a block.
    #[inline]
    pub fn following_if(&self, block: Block) -> Option<If> {
        match self.blocks[block].next {
            Some(CfNode::If(id)) => Some(id),
            _ => None,
        }
    }

    /// The loop right after a block.
    pub fn following_loop(&self, block: Block) -> Option<Loop> {
        match self.blocks[block].next {
            Some(CfNode::Loop(id)) => Some(id),
            _ => None,
        }
    }

    /// The list that contains an `if`.
    pub fn if_parent(&self, id: If) -> Option<CfParent> {
        self.ifs[id].parent
    }

    /// The list that contains a loop.
    pub fn loop_parent(&self, id: Loop) -> Option<CfParent> {
        self.loops[id].parent
    }

    /// The block right before an `if`.
    pub fn block_before_if(&self, id: If) -> Block {
        self.ifs[id].prev.expect("an if in the tree is between blocks")
    }

    /// The block right after an `if`.
    pub fn block_after_if(&self, id: If) -> Block {
        self.ifs[id].next.expect("an if in the tree is between blocks")
    }

    /// The block right before a loop.
    pub fn block_before_loop(&self, id: Loop) -> Block {
        self.loops[id].prev.expect("a loop in the tree is between blocks")
    }

    /// The block right after a loop.
    pub fn block_after_loop(&self, id: Loop) -> Block {
        self.loops[id].next.expect("a loop in the tree is between blocks")
    }

    /// The then side of an `if`.
    pub fn then_list(&self, id: If) -> CfList {
        self.ifs[id].then_list
    }

    /// The else side of an `if`.
    pub fn else_list(&self, id: If) -> CfList {
        self.ifs[id].else_list
    }

    /// The body of a loop.
    pub fn loop_body(&self, id: Loop) -> CfList {
        self.loops[id].body
    }

    /// The continue construct of a loop.
    pub fn loop_continue_list(&self, id: Loop) -> Option<CfList> {
        self.loops[id].continue_list
    }

    /// The list of the whole body.
    pub fn body_list(&self) -> CfList {
        self.list
    }

    /// The list of a parent.
    pub fn list(&self, parent: CfParent) -> CfList {
        match parent {
            CfParent::Function => self.list,
            CfParent::Then(id) => self.ifs[id].then_list,
            CfParent::Else(id) => self.ifs[id].else_list,
            CfParent::Body(id) => self.loops[id].body,
            CfParent::Continue(id) => self.loops[id].continue_list.unwrap_or(self.loops[id].body),
        }
    }

    /// The target of `continue`: the continue construct, or the loop header.
    pub fn continue_target(&self, id: Loop) -> Block {
        self.loops[id].continue_list.unwrap_or(self.loops[id].body).first
    }

    /// Hint of an `if`.
    pub fn if_control(&self, id: If) -> IfControl {
        self.ifs[id].control
    }

    /// Sets the hint of an `if`.
    pub fn set_if_control(&mut self, id: If, control: IfControl) {
        self.ifs[id].control = control;
    }

    /// Hint of a loop.
    pub fn loop_control(&self, id: Loop) -> LoopControl {
        self.loops[id].control
    }

    /// Sets the hint of a loop.
    pub fn set_loop_control(&mut self, id: Loop, control: LoopControl) {
        self.loops[id].control = control;
    }

    /// Whether invocations may continue or leave a loop at different times: (continue, break).
    pub fn loop_divergence(&self, id: Loop) -> (bool, bool) {
        (self.loops[id].divergent_continue, self.loops[id].divergent_break)
    }

    /// Records whether invocations may continue or leave a loop at different times.
    pub fn set_loop_divergence(&mut self, id: Loop, divergent_continue: bool, divergent_break: bool) {
        self.loops[id].divergent_continue = divergent_continue;
        self.loops[id].divergent_break = divergent_break;
    }

    /// The list that contains the node that owns `parent`.
    pub fn outer(&self, parent: CfParent) -> Option<CfParent> {
        match parent {
            CfParent::Function => None,
            CfParent::Then(id) | CfParent::Else(id) => self.ifs[id].parent,
            CfParent::Body(id) | CfParent::Continue(id) => self.loops[id].parent,
        }
    }

    /// The innermost loop around a list. The cost is the nesting depth within it.
    pub fn innermost_loop(&self, mut parent: CfParent) -> Option<Loop> {
        loop {
            match parent {
                CfParent::Body(id) | CfParent::Continue(id) => return Some(id),
                CfParent::Function => return None,
                CfParent::Then(id) | CfParent::Else(id) => parent = self.ifs[id].parent?,
            }
        }
    }

    /// Successors of a block in edge order.
    #[inline]
    pub fn successors(&self, block: Block) -> impl DoubleEndedIterator<Item = Block> + use<> {
        self.blocks[block].successors.into_iter().filter_map(PackedOption::expand)
    }

    /// Predecessors of a block, in no particular order.
    #[inline]
    pub fn predecessors(&self, block: Block) -> &[Block] {
        self.blocks[block].predecessors.as_slice(&self.block_lists)
    }

    /// The next block in program order (pre-order of the tree), or `None` after the last.
    #[inline]
    pub fn next_block(&self, block: Block) -> Option<Block> {
        #[cfg(test)]
        crate::work::step();
        match self.blocks[block].next {
            Some(CfNode::If(id)) => return Some(self.ifs[id].then_list.first),
            Some(CfNode::Loop(id)) => return Some(self.loops[id].body.first),
            Some(CfNode::Block(_)) | None => {}
        }
        match self.blocks[block].parent? {
            CfParent::Function => None,
            CfParent::Then(id) => Some(self.ifs[id].else_list.first),
            CfParent::Else(id) => self.ifs[id].next.expand(),
            CfParent::Body(id) => match self.loops[id].continue_list {
                Some(list) => Some(list.first),
                None => self.loops[id].next.expand(),
            },
            CfParent::Continue(id) => self.loops[id].next.expand(),
        }
    }

    /// The previous block in program order, or `None` before the first.
    #[inline]
    pub fn prev_block(&self, block: Block) -> Option<Block> {
        match self.blocks[block].prev {
            Some(CfNode::If(id)) => return Some(self.ifs[id].else_list.last),
            Some(CfNode::Loop(id)) => {
                return Some(self.loops[id].continue_list.unwrap_or(self.loops[id].body).last);
            }
            Some(CfNode::Block(_)) | None => {}
        }
        match self.blocks[block].parent? {
            CfParent::Function => None,
            CfParent::Then(id) => self.ifs[id].prev.expand(),
            CfParent::Else(id) => Some(self.ifs[id].then_list.last),
            CfParent::Body(id) => self.loops[id].prev.expand(),
            CfParent::Continue(id) => Some(self.loops[id].body.last),
        }
    }

    /// All blocks except the end block, in program order. The tree must not change during the walk; see
    /// [`Body::blocks_vec`].
    pub fn blocks(&self) -> impl Iterator<Item = Block> + '_ {
        std::iter::successors(Some(self.list.first), |&b| self.next_block(b))
    }

    /// A snapshot of all blocks except the end block, in program order.
    pub fn blocks_vec(&self) -> Vec<Block> {
        let mut blocks = Vec::with_capacity(self.num_blocks());
        blocks.extend(self.blocks());
        blocks
    }

    /// The blocks of a list, including nested ones, in program order.
    pub fn blocks_in(&self, list: CfList) -> impl Iterator<Item = Block> + '_ {
        // The last block of a list is also its last block in program order, because nothing is nested after it.
        let mut done = false;
        std::iter::successors(Some(list.first), |&b| self.next_block(b)).take_while(move |&b| {
            let take = !done;
            done |= b == list.last;
            take
        })
    }

    /// The successors of a block according to the tree and its jump.
    pub fn derived_successors(&self, block: Block) -> [Option<Block>; 2] {
        let node = &self.blocks[block];
        // A detached list has no parent: the targets of edges that leave it are unknown until it is inserted.
        let innermost = || node.parent.and_then(|p| self.innermost_loop(p));
        if let Some((_, jump)) = self.block_jump(block) {
            return match jump {
                JumpKind::Return | JumpKind::Halt => [Some(self.end_block), None],
                JumpKind::Break => [innermost().and_then(|l| self.loops[l].next.expand()), None],
                JumpKind::Continue => [innermost().map(|l| self.continue_target(l)), None],
                JumpKind::Goto(target) => [Some(target), None],
                JumpKind::GotoIf { then_block, else_block } => [Some(else_block), Some(then_block)],
            };
        }
        match (node.next, node.parent) {
            (Some(CfNode::If(id)), _) => [Some(self.ifs[id].then_list.first), Some(self.ifs[id].else_list.first)],
            (Some(CfNode::Loop(id)), _) => [Some(self.loops[id].body.first), None],
            (Some(CfNode::Block(next)), _) => [Some(next), None],
            (None, None) => [None, None],
            (None, Some(CfParent::Function)) => [Some(self.end_block), None],
            (None, Some(CfParent::Then(id) | CfParent::Else(id))) => [self.ifs[id].next.expand(), None],
            (None, Some(CfParent::Body(id))) => [Some(self.continue_target(id)), None],
            (None, Some(CfParent::Continue(id))) => [Some(self.loops[id].body.first), None],
        }
    }

    /// Updates the successors of a block to match the tree. The phi sources of removed edges are removed; new edges
    /// have none yet.
    pub(crate) fn update_successors(&mut self, block: Block) {
        let wanted = self.derived_successors(block);
        let current = self.blocks[block].successors.map(PackedOption::expand);
        if wanted == current {
            return;
        }
        for old in current.into_iter().flatten() {
            if !wanted.contains(&Some(old)) {
                self.remove_predecessor(old, block);
            }
        }
        for new in wanted.into_iter().flatten() {
            if !current.contains(&Some(new)) {
                let mut list = self.blocks[new].predecessors;
                list.push(block, &mut self.block_lists);
                self.blocks[new].predecessors = list;
            }
        }
        self.blocks[block].successors = wanted.map(PackedOption::from);
        self.changed_cfg();
    }

    /// Removes `pred` from the predecessors of `block`, with the phi sources of the edge.
    fn remove_predecessor(&mut self, block: Block, pred: Block) {
        let mut list = self.blocks[block].predecessors;
        if let Some(index) = list.as_slice(&self.block_lists).iter().position(|&p| p == pred) {
            list.swap_remove(index, &mut self.block_lists);
        }
        self.blocks[block].predecessors = list;
        let phis: Vec<Inst> = self.phis(block).collect();
        for phi in phis {
            if let Some(source) = self.phi_source_for(phi, pred) {
                self.remove_source(phi, self.source_number(source));
            }
        }
    }

    /// Moves the outgoing edges of `from`, with their phi sources, to `to`.
    pub(super) fn move_successors(&mut self, from: Block, to: Block) {
        let successors = std::mem::take(&mut self.blocks[from].successors);
        for successor in successors.iter().filter_map(|s| s.expand()) {
            let mut list = self.blocks[successor].predecessors;
            for pred in list.as_mut_slice(&mut self.block_lists) {
                if *pred == from {
                    *pred = to;
                }
            }
            self.blocks[successor].predecessors = list;
            let phis: Vec<Inst> = self.phis(successor).collect();
            for phi in phis {
                if let Some(source) = self.phi_source_for(phi, from) {
                    self.set_phi_predecessor(source, to);
                }
            }
        }
        self.blocks[to].successors = successors;
        self.changed_cfg();
    }

    fn new_block(&mut self, parent: Option<CfParent>) -> Block {
        self.blocks.push(super::BlockNode { parent, ..super::BlockNode::default() })
    }

    /// Splits the block of `cursor` there: a new block gets the code after it and the outgoing edges. Until the caller
    /// links a node between the two blocks, they are adjacent. Returns (before, after).
    pub(super) fn split_block(&mut self, cursor: Cursor) -> (Block, Block) {
        let before = cursor.block(self);
        let first_moved = match cursor {
            Cursor::BlockStart(_) => self.first_inst(before),
            Cursor::BlockEnd(_) => None,
            Cursor::Before(inst) => Some(inst),
            Cursor::After(inst) => self.next_inst(inst),
        };
        let after = self.new_block(self.blocks[before].parent);
        self.move_successors(before, after);
        if let Some(first) = first_moved {
            let prev = self.insts[first].prev.expand();
            self.blocks[after].first_inst = first.into();
            self.blocks[after].last_inst = self.blocks[before].last_inst;
            self.blocks[before].last_inst = prev.into();
            match prev {
                Some(prev) => self.insts[prev].next = PackedOption::default(),
                None => self.blocks[before].first_inst = PackedOption::default(),
            }
            self.insts[first].prev = PackedOption::default();
            let mut inst = Some(first);
            while let Some(i) = inst {
                self.insts[i].block = after.into();
                inst = self.insts[i].next.expand();
            }
        }
        // The node after `before` now follows `after`.
        let next = self.blocks[before].next;
        self.blocks[after].next = next;
        self.blocks[before].next = None;
        match next {
            Some(CfNode::If(id)) => self.ifs[id].prev = after.into(),
            Some(CfNode::Loop(id)) => self.loops[id].prev = after.into(),
            _ => {
                if let Some(parent) = self.blocks[before].parent {
                    self.set_list_last(parent, before, after);
                }
            }
        }
        (before, after)
    }

    /// Replaces `old` by `new` if it is the last block of the list.
    fn set_list_last(&mut self, parent: CfParent, old: Block, new: Block) {
        let list = match parent {
            CfParent::Function => &mut self.list,
            CfParent::Then(id) => &mut self.ifs[id].then_list,
            CfParent::Else(id) => &mut self.ifs[id].else_list,
            CfParent::Body(id) => &mut self.loops[id].body,
            CfParent::Continue(id) => match &mut self.loops[id].continue_list {
                Some(list) => list,
                None => return,
            },
        };
        if list.last == old {
            list.last = new;
        }
    }

    /// Links a node between two neighbouring blocks and updates their edges.
    fn link_between(&mut self, before: Block, node: CfNode, after: Block) {
        self.blocks[before].next = Some(node);
        self.blocks[after].prev = Some(node);
        let parent = self.blocks[before].parent;
        match node {
            CfNode::If(id) => {
                let data = &mut self.ifs[id];
                data.parent = parent;
                data.prev = before.into();
                data.next = after.into();
            }
            CfNode::Loop(id) => {
                let data = &mut self.loops[id];
                data.parent = parent;
                data.prev = before.into();
                data.next = after.into();
            }
            CfNode::Block(_) => {}
        }
    }

    /// Inserts an `if` with empty sides. Returns it; the code after `cursor` is in the block after it.
    pub fn insert_if(&mut self, cursor: Cursor, condition: Def) -> If {
        let (before, after) = self.split_block(cursor);
        let then_block = self.new_block(None);
        let else_block = self.new_block(None);
        let id = If::from_u32(self.ifs.len() as u32);
        let condition = self.push_use(User::If(id), condition, 0);
        self.ifs.push(IfNode {
            parent: None,
            prev: PackedOption::default(),
            next: PackedOption::default(),
            condition,
            then_list: CfList { first: then_block, last: then_block },
            else_list: CfList { first: else_block, last: else_block },
            control: IfControl::None,
        });
        self.blocks[then_block].parent = Some(CfParent::Then(id));
        self.blocks[else_block].parent = Some(CfParent::Else(id));
        self.link_between(before, CfNode::If(id), after);
        for block in [before, then_block, else_block] {
            self.update_successors(block);
        }
        self.changed_cfg();
        id
    }

    /// Inserts a loop with an empty body (endless until it gets a break). Returns it; the code after `cursor` is in the
    /// block after it.
    pub fn insert_loop(&mut self, cursor: Cursor) -> Loop {
        let (before, after) = self.split_block(cursor);
        let head = self.new_block(None);
        let id = self.loops.push(LoopNode {
            parent: None,
            prev: PackedOption::default(),
            next: PackedOption::default(),
            body: CfList { first: head, last: head },
            continue_list: None,
            control: LoopControl::None,
            divergent_continue: false,
            divergent_break: false,
        });
        self.blocks[head].parent = Some(CfParent::Body(id));
        self.link_between(before, CfNode::Loop(id), after);
        for block in [before, head] {
            self.update_successors(block);
        }
        self.changed_cfg();
        id
    }

    /// Gives a loop an empty continue construct. Every `continue` and the end of the body branch to it, and it branches
    /// to the loop header.
    ///
    /// The header must not have phis yet: its edges from the body are replaced by one from the construct.
    pub fn add_continue_construct(&mut self, id: Loop) -> Block {
        if let Some(list) = self.loops[id].continue_list {
            return list.first;
        }
        let block = self.new_block(Some(CfParent::Continue(id)));
        let head = self.loops[id].body.first;
        let back_edges: Vec<Block> = self.predecessors(head).to_vec();
        self.loops[id].continue_list = Some(CfList { first: block, last: block });
        for pred in back_edges {
            self.update_successors(pred);
        }
        self.update_successors(block);
        block
    }

    /// Ends a block with a jump. The block must not end in one already, and must be the last of its list: the caller
    /// must remove unreachable nodes after it ([`Body::remove_after_jump`]).
    pub fn insert_jump(&mut self, block: Block, kind: JumpKind, condition: Option<Def>) -> Inst {
        debug_assert!(self.block_jump(block).is_none());
        let sources: Vec<SourceSpec> = condition.into_iter().map(SourceSpec::plain).collect();
        let inst = self.create_inst(InstData::Jump(kind), &sources, None);
        self.link_inst(Cursor::BlockEnd(block), inst);
        if matches!(kind, JumpKind::Goto(_) | JumpKind::GotoIf { .. }) {
            self.structured = false;
        }
        self.update_successors(block);
        self.changed_cfg();
        inst
    }
}

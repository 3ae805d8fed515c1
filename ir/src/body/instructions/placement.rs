//! Instructions in blocks: insertion, removal, iteration.

use cranelift_entity::packed_option::PackedOption;

use crate::body::{Body, InstData, InstNode, JumpKind};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst};

impl Body {
    /// Places a detached instruction at a cursor. Jumps must be placed with [`Body::insert_jump`].
    #[inline]
    pub fn insert_inst(&mut self, cursor: Cursor, inst: Inst) {
        debug_assert!(self.insts[inst].block.is_none() && self.jump(inst).is_none());
        let origin = match cursor {
            _ if self.origin != 0 => self.origin,
            Cursor::Before(other) | Cursor::After(other) => self.insts[other].origin,
            Cursor::BlockStart(_) | Cursor::BlockEnd(_) => 0,
        };
        self.link_inst(cursor, inst);
        let node = &mut self.insts[inst];
        if node.origin == 0 {
            node.origin = origin;
        }
        self.changed_insts();
    }

    #[inline(always)]
    pub(in crate::body) fn link_inst(&mut self, cursor: Cursor, inst: Inst) {
        let (block, prev, next) = match cursor {
            Cursor::BlockStart(block) => (block, None, self.blocks[block].first_inst.expand()),
            Cursor::BlockEnd(block) => (block, self.blocks[block].last_inst.expand(), None),
            Cursor::Before(other) => (self.placed_block(other), self.insts[other].prev.expand(), Some(other)),
            Cursor::After(other) => (self.placed_block(other), Some(other), self.insts[other].next.expand()),
        };
        match prev {
            Some(prev) => self.insts[prev].next = inst.into(),
            None => self.blocks[block].first_inst = inst.into(),
        }
        match next {
            Some(next) => self.insts[next].prev = inst.into(),
            None => self.blocks[block].last_inst = inst.into(),
        }
        let node = &mut self.insts[inst];
        node.block = block.into();
        node.prev = prev.into();
        node.next = next.into();
    }

    fn placed_block(&self, inst: Inst) -> Block {
        self.insts[inst].block.expect("the instruction of a cursor is in a block")
    }

    #[inline]
    pub(in crate::body) fn unlink_inst(&mut self, inst: Inst) {
        let InstNode { block, prev, next, .. } = self.insts[inst];
        let Some(block) = block.expand() else { return };
        match prev.expand() {
            Some(prev) => self.insts[prev].next = next,
            None => self.blocks[block].first_inst = next,
        }
        match next.expand() {
            Some(next) => self.insts[next].prev = prev,
            None => self.blocks[block].last_inst = prev,
        }
        let node = &mut self.insts[inst];
        node.block = PackedOption::default();
        node.prev = PackedOption::default();
        node.next = PackedOption::default();
    }

    /// Moves a placed instruction (not a jump).
    pub fn move_inst(&mut self, cursor: Cursor, inst: Inst) {
        debug_assert!(self.jump(inst).is_none());
        debug_assert!(!matches!(cursor, Cursor::Before(other) | Cursor::After(other) if other == inst));
        self.unlink_inst(inst);
        self.link_inst(cursor, inst);
        self.changed_insts();
    }

    /// Removes an instruction from its block, and its sources from their lists of uses. Its value must be unused.
    /// Removing a jump updates the edges.
    #[inline]
    pub fn remove_inst(&mut self, inst: Inst) {
        debug_assert!(self.insts[inst].def.expand().is_none_or(|d| self.is_unused(d)), "a removed value is still used");
        for source in self.sources(inst) {
            self.unlink_use(source);
        }
        let block = self.insts[inst].block.expand();
        let was_jump = self.jump(inst).is_some();
        self.unlink_inst(inst);
        self.changed_insts();
        if was_jump && let Some(block) = block {
            self.update_successors(block);
            self.changed_cfg();
        }
    }

    /// Removes an instruction, even if its value is used: the uses then read an undefined value at the top of the body.
    pub fn remove_inst_with_undef(&mut self, inst: Inst) {
        let mut values: Vec<Def> = self.inst_def(inst).into_iter().collect();
        values.extend(self.copies(inst).into_iter().flatten().filter_map(|e| e.dest.expand()));
        for def in values {
            if !self.is_unused(def) {
                let undef = self.create_inst(InstData::Undef, &[], Some(self.shape(def)));
                self.insert_inst(Cursor::BlockStart(self.start_block()), undef);
                if let Some(undef) = self.inst_def(undef) {
                    self.replace_all_uses(def, undef);
                }
            }
        }
        self.remove_inst(inst);
    }

    /// First instruction of a block.
    #[inline]
    pub fn first_inst(&self, block: Block) -> Option<Inst> {
        self.blocks[block].first_inst.expand()
    }

    /// Last instruction of a block.
    #[inline]
    pub fn last_inst(&self, block: Block) -> Option<Inst> {
        self.blocks[block].last_inst.expand()
    }

    /// The instructions of a block in order. The list must not change during the walk; see [`Body::insts_vec`].
    pub fn insts(&self, block: Block) -> impl Iterator<Item = Inst> + '_ {
        std::iter::successors(self.first_inst(block), |&i| self.next_inst(i))
    }

    /// Calls `visit` for every instruction in program order, and returns whether it returned true for any. `visit` may
    /// remove the current instruction and insert others before it; the next instruction must stay.
    pub fn visit_insts(&mut self, mut visit: impl FnMut(&mut Body, Inst) -> bool) -> bool {
        let mut progress = false;
        let mut next_block = Some(self.start_block());
        while let Some(block) = next_block {
            next_block = self.next_block(block);
            let mut next = self.first_inst(block);
            while let Some(inst) = next {
                next = self.next_inst(inst);
                progress |= visit(self, inst);
            }
        }
        progress
    }

    /// A snapshot of the instructions of a block.
    pub fn insts_vec(&self, block: Block) -> Vec<Inst> {
        let mut insts = Vec::with_capacity(32);
        insts.extend(self.insts(block));
        insts
    }

    /// The phis of a block.
    pub fn phis(&self, block: Block) -> impl Iterator<Item = Inst> + '_ {
        self.insts(block).take_while(|&i| self.is_phi(i))
    }

    /// The jump at the end of a block.
    pub fn block_jump(&self, block: Block) -> Option<(Inst, JumpKind)> {
        let last = self.last_inst(block)?;
        self.jump(last).map(|kind| (last, kind))
    }
}

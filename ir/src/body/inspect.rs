//! A view of a body for the validator, which does not rely on any invariant.
//!
//! Functions return `None` where the ordinary accessors would panic, and show the raw links of lists.

use cranelift_entity::EntityRef;

use super::{Body, CfNode, CfParent, CopyEntry, InstData, TexData};
use crate::entities::{Block, Def, If, Inst, Loop, Use, User};

/// A source as stored in the arena.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RawUse {
    /// The value it reads according to its node.
    pub def: Option<Def>,
    /// Previous node in the list of uses.
    pub prev: Option<Use>,
    /// Next node in the list of uses.
    pub next: Option<Use>,
    /// Owner.
    pub user: User,
}

impl Body {
    /// The source with this number; `None` if it is not in the arena.
    pub(crate) fn raw_use(&self, source: Use) -> Option<RawUse> {
        let node = self.uses.get(source)?;
        Some(RawUse { def: node.def.expand(), prev: node.prev.expand(), next: node.next.expand(), user: node.user() })
    }

    /// The value that a source reads, if it is in this body.
    pub(crate) fn checked_src_def(&self, source: Use) -> Option<Def> {
        self.uses.get(source)?.def.expand().filter(|d| d.index() < self.defs.len())
    }

    /// The head of the list of uses of a value: the newest use.
    pub(crate) fn first_use(&self, def: Def) -> Option<Use> {
        self.defs.get(def)?.first_use.expand()
    }

    /// The defining instruction recorded in a value, if it is in this body.
    pub(crate) fn checked_def_inst(&self, def: Def) -> Option<Inst> {
        self.defs.get(def)?.inst.expand().filter(|i| i.index() < self.insts.len())
    }

    /// Payload of a texture instruction, if it is in this body.
    pub(crate) fn checked_tex(&self, inst: Inst) -> Option<&TexData> {
        match self.insts.get(inst)?.data {
            InstData::Tex(id) => self.texs.get(id),
            _ => None,
        }
    }

    /// Entries of a parallel copy, if they are in this body.
    pub(crate) fn checked_copies(&self, inst: Inst) -> Option<&[CopyEntry]> {
        match self.insts.get(inst)?.data {
            InstData::ParallelCopy(id) => self.copies.get(id).map(Vec::as_slice),
            _ => None,
        }
    }

    /// Whether the sources of an instruction are within the arena.
    pub(crate) fn has_sources_in_arena(&self, inst: Inst) -> bool {
        let node = &self.insts[inst];
        (node.first_source as usize + node.num_sources as usize) <= self.uses.len()
    }

    /// The list recorded in an `if` or loop, and its neighbours.
    pub(crate) fn node_links(&self, node: CfNode) -> (Option<CfParent>, Option<Block>, Option<Block>) {
        match node {
            CfNode::Block(_) => (None, None, None),
            CfNode::If(id) => {
                self.ifs.get(id).map_or((None, None, None), |n| (n.parent, n.prev.expand(), n.next.expand()))
            }
            CfNode::Loop(id) => {
                self.loops.get(id).map_or((None, None, None), |n| (n.parent, n.prev.expand(), n.next.expand()))
            }
        }
    }

    /// Whether the body has this `if`.
    pub(crate) fn has_if(&self, id: If) -> bool {
        id.index() < self.ifs.len()
    }

    /// Whether the body has this loop.
    pub(crate) fn has_loop(&self, id: Loop) -> bool {
        id.index() < self.loops.len()
    }

    /// Whether the body has this block.
    pub(crate) fn has_block(&self, id: Block) -> bool {
        id.index() < self.blocks.len()
    }
}

/// Functions that break invariants, to test that the validator notices. None of them advances an epoch.
#[cfg(test)]
pub(crate) mod corrupt {
    use super::*;

    impl Body {
        pub(crate) fn corrupt_def_inst(&mut self, def: Def, inst: Option<Inst>) {
            self.defs[def].inst = inst.into();
        }

        pub(crate) fn corrupt_inst_def(&mut self, inst: Inst, def: Option<Def>) {
            self.insts[inst].def = def.into();
        }

        pub(crate) fn corrupt_use(&mut self, source: Use, change: impl FnOnce(&mut RawUse)) {
            let mut raw = self.raw_use(source).expect("a source");
            change(&mut raw);
            let node = &mut self.uses[source];
            node.def = raw.def.into();
            node.prev = raw.prev.into();
            node.next = raw.next.into();
            node.user = match raw.user {
                User::Inst(inst) => inst.as_u32(),
                User::If(id) => id.as_u32() | super::super::USER_IF,
            };
        }

        pub(crate) fn corrupt_num_sources(&mut self, inst: Inst, count: u32) {
            self.insts[inst].num_sources = count;
        }

        pub(crate) fn corrupt_payload(&mut self, source: Use, payload: u64) {
            self.uses[source].payload = payload;
        }

        pub(crate) fn corrupt_inst_block(&mut self, inst: Inst, block: Option<Block>) {
            self.insts[inst].block = block.into();
        }

        pub(crate) fn corrupt_next_inst(&mut self, inst: Inst, next: Option<Inst>) {
            self.insts[inst].next = next.into();
        }

        pub(crate) fn corrupt_move_inst(&mut self, cursor: crate::cursor::Cursor, inst: Inst) {
            self.unlink_inst(inst);
            self.link_inst(cursor, inst);
        }

        pub(crate) fn corrupt_successors(&mut self, block: Block, successors: [Option<Block>; 2]) {
            self.blocks[block].successors = successors.map(Into::into);
        }

        pub(crate) fn corrupt_predecessors(&mut self, block: Block, predecessors: &[Block]) {
            let mut list = cranelift_entity::EntityList::new();
            list.extend(predecessors.iter().copied(), &mut self.block_lists);
            self.blocks[block].predecessors = list;
        }

        pub(crate) fn corrupt_block_parent(&mut self, block: Block, parent: Option<CfParent>) {
            self.blocks[block].parent = parent;
        }

        pub(crate) fn corrupt_node_after(&mut self, block: Block, node: Option<CfNode>) {
            self.blocks[block].next = node;
        }

        pub(crate) fn corrupt_if_condition(&mut self, id: If, condition: Use) {
            self.ifs[id].condition = condition;
        }

        pub(crate) fn corrupt_loop_prev(&mut self, id: Loop, block: Option<Block>) {
            self.loops[id].prev = block.into();
        }

        pub(crate) fn corrupt_if_next(&mut self, id: If, block: Option<Block>) {
            self.ifs[id].next = block.into();
        }
    }
}

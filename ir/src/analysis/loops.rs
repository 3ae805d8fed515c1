//! The loops of a body: nesting, depth of every block, exits. (Trip counts and induction variables are the business of loop optimisation.)

use bitvec::vec::BitVec;
use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::body::{Body, CfNode, JumpKind};
use crate::entities::{Block, Loop};

/// What is known of one loop.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LoopInfo {
    /// The loop around it.
    pub parent: PackedOption<Loop>,
    /// Number of loops around it.
    pub depth: u32,
    /// Blocks inside, inner loops included, by block number.
    pub blocks: BitVec,
    /// Blocks that leave the loop by `break`.
    pub exits: Vec<Block>,
    /// Blocks with an edge back to the head (or into the continue construct).
    pub latches: Vec<Block>,
}

/// The loops of a body.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopTree {
    /// The loops, outer before inner.
    pub loops: Vec<Loop>,
    infos: SecondaryMap<Loop, LoopInfo>,
    innermost: SecondaryMap<Block, PackedOption<Loop>>,
}

impl LoopTree {
    pub(super) fn compute(body: &Body) -> LoopTree {
        let mut tree = LoopTree { loops: Vec::new(), infos: SecondaryMap::new(), innermost: SecondaryMap::new() };
        for block in body.blocks() {
            let inner = body.block_parent(block).and_then(|p| body.innermost_loop(p));
            tree.innermost[block] = inner.into();
            if let Some(CfNode::Loop(id)) = body.node_after(block) {
                tree.loops.push(id);
                let depth = inner.map_or(0, |outer| tree.infos[outer].depth + 1);
                tree.infos[id] = LoopInfo {
                    parent: inner.into(),
                    depth,
                    blocks: BitVec::repeat(false, body.num_blocks()),
                    exits: Vec::new(),
                    latches: body
                        .predecessors(body.continue_target(id))
                        .iter()
                        .copied()
                        .filter(|&p| p != body.block_before_loop(id))
                        .collect(),
                };
            }
            if let (Some(id), Some((_, JumpKind::Break))) = (inner, body.block_jump(block)) {
                tree.infos[id].exits.push(block);
            }
            let mut around = inner;
            while let Some(id) = around {
                tree.infos[id].blocks.set(block.as_u32() as usize, true);
                around = tree.infos[id].parent.expand();
            }
        }
        tree
    }

    /// What is known of a loop.
    pub fn info(&self, id: Loop) -> &LoopInfo {
        &self.infos[id]
    }

    /// The innermost loop around a block.
    pub fn innermost(&self, block: Block) -> Option<Loop> {
        self.innermost[block].expand()
    }

    /// Number of loops around a block.
    pub fn depth(&self, block: Block) -> u32 {
        self.innermost(block).map_or(0, |id| self.infos[id].depth + 1)
    }

    /// Whether a block is inside a loop.
    pub fn contains(&self, id: Loop, block: Block) -> bool {
        self.infos[id].blocks.get(block.as_u32() as usize).is_some_and(|b| *b)
    }
}

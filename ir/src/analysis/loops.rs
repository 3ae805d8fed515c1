//! The loops of a body: nesting, depth of every block, exits. ([`loop_info`](super::loop_info) finds trip counts.)

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::body::{Body, CfNode, CfParent, JumpKind};
use crate::entities::{Block, Loop};

/// Properties of a loop.
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct LoopInfo {
    /// The loop that directly contains it.
    pub parent: PackedOption<Loop>,
    /// Number of loops that contain it.
    pub depth: u32,
    /// Position of the first block inside in program order.
    first: u32,
    /// Position of the block after the loop. Blocks with positions between `first` and `end` are in the loop or in
    /// loops nested in it.
    end: u32,
    /// Blocks that leave the loop by `break`.
    pub exits: Vec<Block>,
    /// Blocks with a back edge to the loop header (or an edge to the continue construct).
    pub latches: Vec<Block>,
}

/// The loops of a body.
#[derive(Clone, PartialEq, Debug)]
pub struct LoopTree {
    /// The loops, outer before inner.
    pub loops: Vec<Loop>,
    infos: SecondaryMap<Loop, LoopInfo>,
    innermost: SecondaryMap<Block, PackedOption<Loop>>,
    /// Position in program order, starting at 1; 0 if not in the tree.
    positions: SecondaryMap<Block, u32>,
}

impl LoopTree {
    pub(super) fn compute(body: &Body) -> LoopTree {
        let mut tree = LoopTree {
            loops: Vec::new(),
            infos: SecondaryMap::new(),
            innermost: SecondaryMap::new(),
            positions: SecondaryMap::new(),
        };
        for (block, position) in body.blocks().zip(1..) {
            // The block before an `if` was visited already.
            let inner = match body.block_parent(block) {
                Some(CfParent::Then(id) | CfParent::Else(id)) => tree.innermost(body.block_before_if(id)),
                Some(CfParent::Body(id) | CfParent::Continue(id)) => Some(id),
                Some(CfParent::Function) | None => None,
            };
            tree.innermost[block] = inner.into();
            tree.positions[block] = position;
            if let Some(CfNode::Loop(id)) = body.node_before(block) {
                tree.infos[id].end = position;
            }
            if let Some(CfNode::Loop(id)) = body.node_after(block) {
                tree.loops.push(id);
                let depth = inner.map_or(0, |outer| tree.infos[outer].depth + 1);
                tree.infos[id] = LoopInfo {
                    parent: inner.into(),
                    depth,
                    first: position + 1,
                    end: u32::MAX,
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
        }
        tree
    }

    /// Properties of a loop.
    pub fn info(&self, id: Loop) -> &LoopInfo {
        &self.infos[id]
    }

    /// The innermost loop that contains a block.
    pub fn innermost(&self, block: Block) -> Option<Loop> {
        self.innermost[block].expand()
    }

    /// Number of loops that contain a block.
    pub fn depth(&self, block: Block) -> u32 {
        self.innermost(block).map_or(0, |id| self.infos[id].depth + 1)
    }

    /// Whether a block is inside a loop.
    pub fn contains(&self, id: Loop, block: Block) -> bool {
        let (position, info) = (self.positions[block], &self.infos[id]);
        info.first <= position && position < info.end
    }
}

//! Dominance: immediate dominators by the iterative algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance Algorithm"),
//! dominance frontiers after Cytron et al., pre- and post-order numbers of the dominator tree for O(1) queries.
//!
//! An unreachable block has no immediate dominator, and every block counts as dominating it.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::body::Body;
use crate::entities::{Block, Def, Inst};

#[derive(Clone, Default, PartialEq, Debug)]
struct Node {
    idom: PackedOption<Block>,
    children: Vec<Block>,
    frontier: Vec<Block>,
    /// Both 0 for an unreachable block.
    pre: u32,
    post: u32,
    /// Distance from the root of the tree.
    depth: u32,
}

/// Dominator tree and dominance frontiers of a body.
#[derive(Clone, PartialEq, Debug)]
pub struct Dominance {
    nodes: SecondaryMap<Block, Node>,
    preorder: Vec<Block>,
}

impl Dominance {
    pub(super) fn compute(body: &Body) -> Dominance {
        let order = body.block_order();
        let start = body.start_block();
        let mut idom: SecondaryMap<Block, PackedOption<Block>> = SecondaryMap::new();
        idom[start] = start.into();
        let mut preds: Vec<Block> = Vec::new();
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &order.blocks {
                if block == start {
                    continue;
                }
                let mut new: Option<Block> = None;
                // The last of the text first: each step then goes up a little from where the one before has ended. In the other direction every
                // `break` of a loop would walk all the way up.
                preds.clear();
                preds.extend_from_slice(body.predecessors(block));
                if preds.len() > 2 {
                    preds.sort_unstable_by_key(|&p| std::cmp::Reverse(order.index(p)));
                }
                for &pred in &preds {
                    if idom[pred].is_none() {
                        continue;
                    }
                    new = Some(match new {
                        None => pred,
                        Some(other) => {
                            let (mut a, mut b) = (pred, other);
                            while a != b {
                                // The block that comes later in the text cannot dominate the earlier one: walk it up.
                                let later = if order.index(a) > order.index(b) { &mut a } else { &mut b };
                                match idom[*later].expand() {
                                    Some(up) if up != *later => *later = up,
                                    _ => break,
                                }
                            }
                            a
                        }
                    });
                }
                if let Some(new) = new
                    && idom[block].expand() != Some(new)
                {
                    idom[block] = new.into();
                    changed = true;
                }
            }
        }

        let mut nodes: SecondaryMap<Block, Node> = SecondaryMap::new();
        for &block in &order.blocks {
            if block != start
                && let Some(up) = idom[block].expand()
            {
                nodes[block].idom = up.into();
                nodes[up].children.push(block);
            }
        }
        // Pre- and post-order numbers from 1, with an explicit stack of (block, next child).
        let mut preorder = Vec::with_capacity(order.blocks.len());
        let mut counter = 1;
        nodes[start].pre = counter;
        preorder.push(start);
        let mut stack = vec![(start, 0usize)];
        while let Some((block, next)) = stack.last_mut() {
            counter += 1;
            match nodes[*block].children.get(*next).copied() {
                Some(child) => {
                    *next += 1;
                    nodes[child].pre = counter;
                    nodes[child].depth = nodes[*block].depth + 1;
                    preorder.push(child);
                    stack.push((child, 0));
                }
                None => {
                    nodes[*block].post = counter;
                    stack.pop();
                }
            }
        }
        for &block in &order.blocks {
            let preds = body.predecessors(block);
            if preds.len() < 2 {
                continue;
            }
            let stop = nodes[block].idom;
            for &pred in preds {
                let mut runner = pred;
                while nodes[runner].post != 0 && Some(runner) != stop.expand() {
                    // Another predecessor has been this way: what is above has the block too. Many `break`s of a loop share most of the way.
                    if nodes[runner].frontier.last() == Some(&block) {
                        break;
                    }
                    nodes[runner].frontier.push(block);
                    match nodes[runner].idom.expand() {
                        Some(up) => runner = up,
                        None => break,
                    }
                }
            }
        }
        Dominance { nodes, preorder }
    }

    /// The immediate dominator; none for the start block and for unreachable blocks.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.nodes[block].idom.expand()
    }

    /// Blocks immediately dominated by `block`, in the order of the text.
    pub fn children(&self, block: Block) -> &[Block] {
        &self.nodes[block].children
    }

    /// The dominance frontier of `block`.
    pub fn frontier(&self, block: Block) -> &[Block] {
        &self.nodes[block].frontier
    }

    /// Reachable blocks, parents of the tree before their children.
    pub fn preorder(&self) -> &[Block] {
        &self.preorder
    }

    /// Place of a block in the pre-order of the tree, from 1; 0 if unreachable.
    pub fn pre_index(&self, block: Block) -> u32 {
        self.nodes[block].pre
    }

    /// Distance of a block from the start in the dominator tree.
    pub fn depth(&self, block: Block) -> u32 {
        self.nodes[block].depth
    }

    /// Whether the block can be reached from the start.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.nodes[block].post != 0
    }

    /// Whether every way to `block` goes through `dominator`. A block dominates itself; every block dominates an unreachable one.
    pub fn dominates(&self, dominator: Block, block: Block) -> bool {
        let (a, b) = (&self.nodes[dominator], &self.nodes[block]);
        b.post == 0 || (a.post != 0 && b.pre >= a.pre && b.post <= a.post)
    }

    /// The nearest block that dominates both; an unreachable block is ignored.
    pub fn common_dominator(&self, mut a: Block, mut b: Block) -> Block {
        if !self.is_reachable(a) {
            return b;
        }
        if !self.is_reachable(b) {
            return a;
        }
        while a != b {
            let deeper = if self.depth(a) >= self.depth(b) { &mut a } else { &mut b };
            match self.idom(*deeper) {
                Some(up) => *deeper = up,
                None => break,
            }
        }
        a
    }

    /// The iterated dominance frontier of a set of blocks: where values that are set in these blocks meet.
    pub fn iterated_frontier(&self, blocks: impl IntoIterator<Item = Block>) -> Vec<Block> {
        let mut result = Vec::new();
        let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
        let mut work: Vec<Block> = blocks.into_iter().collect();
        while let Some(block) = work.pop() {
            for &meet in self.frontier(block) {
                if !std::mem::replace(&mut seen[meet], true) {
                    result.push(meet);
                    work.push(meet);
                }
            }
        }
        result
    }
}

impl Body {
    /// Whether the value is available right before `inst` (not a phi): made earlier in its block, or in a block that dominates it.
    pub fn def_dominates_inst(&self, dominance: &Dominance, def: Def, inst: Inst) -> bool {
        let maker = self.def_inst(def);
        let (Some(from), Some(to)) = (self.inst_block(maker), self.inst_block(inst)) else { return false };
        if from == to {
            let order = self.inst_order();
            order.index(maker) < order.index(inst)
        } else {
            dominance.dominates(from, to)
        }
    }
}

//! Dominance: immediate dominators by the iterative algorithm of Cooper, Harvey and Kennedy ("A Simple, Fast Dominance
//! Algorithm"), pre- and post-order numbers of the dominator tree for O(1) queries, and dominance frontiers after
//! Cytron et al.
//!
//! Blocks are visited in reverse post-order of the graph instead of program order, because with `goto` a block may
//! precede its dominator.
//!
//! An unreachable block has no immediate dominator, and every block dominates it.

use cranelift_entity::SecondaryMap;
use cranelift_entity::packed_option::PackedOption;

use crate::body::Body;
use crate::entities::Block;

#[derive(Clone, Default, PartialEq, Debug)]
struct Node {
    idom: PackedOption<Block>,
    first_child: PackedOption<Block>,
    /// The next child of the same block.
    sibling: PackedOption<Block>,
    /// Both 0 for an unreachable block.
    pre: u32,
    post: u32,
    /// Distance from the root of the tree.
    depth: u32,
}

/// Dominator tree of a body.
#[derive(Clone, PartialEq, Debug)]
pub struct Dominance {
    nodes: SecondaryMap<Block, Node>,
    preorder: Vec<Block>,
}

impl Dominance {
    pub(super) fn compute(body: &Body) -> Dominance {
        let order = body.block_order();
        let start = body.start_block();
        let (reverse_postorder, rank) = reverse_postorder(body);
        let mut idom: SecondaryMap<Block, PackedOption<Block>> = SecondaryMap::new();
        idom[start] = start.into();
        let mut preds: Vec<Block> = Vec::new();
        let mut changed = true;
        while changed {
            changed = false;
            for &block in &reverse_postorder {
                if block == start {
                    continue;
                }
                let mut new: Option<Block> = None;
                // Visit predecessors in descending order: each step then only walks up a little from the result of the
                // previous one. In ascending order, every `break` of a loop would walk all the way up.
                preds.clear();
                preds.extend_from_slice(body.predecessors(block));
                if preds.len() > 2 {
                    preds.sort_unstable_by_key(|&p| std::cmp::Reverse(rank[p]));
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
                                // The block that is later in the order cannot dominate the earlier one, so walk up from
                                // it.
                                let later = if rank[a] > rank[b] { &mut a } else { &mut b };
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

        let mut nodes: SecondaryMap<Block, Node> = SecondaryMap::with_capacity(body.num_blocks());
        // Prepending in reverse order keeps siblings in program order.
        for &block in order.blocks.iter().rev() {
            if block != start
                && let Some(up) = idom[block].expand()
            {
                nodes[block].idom = up.into();
                nodes[block].sibling = nodes[up].first_child;
                nodes[up].first_child = block.into();
            }
        }
        // Pre- and post-order numbers from 1.
        let mut preorder = Vec::with_capacity(order.blocks.len());
        let mut counter = 1;
        let mut next = Some(start);
        while let Some(mut block) = next {
            nodes[block].pre = counter;
            preorder.push(block);
            counter += 1;
            next = nodes[block].first_child.expand();
            if let Some(child) = next {
                nodes[child].depth = nodes[block].depth + 1;
            }
            while next.is_none() {
                nodes[block].post = counter;
                counter += 1;
                let Some(up) = nodes[block].idom.expand() else { break };
                next = nodes[block].sibling.expand();
                if let Some(sibling) = next {
                    nodes[sibling].depth = nodes[block].depth;
                }
                block = up;
            }
        }
        Dominance { nodes, preorder }
    }

    /// The immediate dominator; `None` for the start block and for unreachable blocks.
    pub fn idom(&self, block: Block) -> Option<Block> {
        self.nodes[block].idom.expand()
    }

    /// Blocks immediately dominated by `block`, in program order.
    pub fn children(&self, block: Block) -> impl Iterator<Item = Block> + '_ {
        std::iter::successors(self.nodes[block].first_child.expand(), |&child| self.nodes[child].sibling.expand())
    }

    /// Reachable blocks, parents of the tree before their children.
    pub fn preorder(&self) -> &[Block] {
        &self.preorder
    }

    /// Position of a block in the pre-order of the tree, from 1; 0 if unreachable.
    pub fn pre_index(&self, block: Block) -> u32 {
        self.nodes[block].pre
    }

    /// The end (exclusive) of the range of [`pre_index`](Self::pre_index) of the blocks that a block dominates; the
    /// range starts at the index of the block itself. 0 if unreachable.
    pub fn subtree_end(&self, block: Block) -> u32 {
        self.nodes[block].post
    }

    /// Depth of a block in the dominator tree.
    pub fn depth(&self, block: Block) -> u32 {
        self.nodes[block].depth
    }

    /// Whether the block is reachable from the start.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.nodes[block].post != 0
    }

    /// Whether every path to `block` contains `dominator`. A block dominates itself; every block dominates an
    /// unreachable one.
    pub fn dominates(&self, dominator: Block, block: Block) -> bool {
        let (a, b) = (&self.nodes[dominator], &self.nodes[block]);
        b.post == 0 || (a.post != 0 && b.pre >= a.pre && b.post <= a.post)
    }
}

/// Dominance frontiers of a body: the blocks in which values defined in a block meet others.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Frontiers {
    /// Range of each block in `blocks`.
    ranges: SecondaryMap<Block, (u32, u32)>,
    blocks: Vec<Block>,
}

impl Frontiers {
    pub(super) fn compute(body: &Body) -> Frontiers {
        let dominance = body.dominance();
        let start = body.start_block();
        let mut ranges: SecondaryMap<Block, (u32, u32)> = SecondaryMap::with_capacity(body.num_blocks());
        // The last block added to the frontier of each block.
        let mut last: SecondaryMap<Block, PackedOption<Block>> = SecondaryMap::with_capacity(body.num_blocks());
        let mut found: Vec<(Block, Block)> = Vec::new();
        for block in body.blocks() {
            let preds = body.predecessors(block);
            // Entering the function counts as a predecessor of the start block.
            if preds.len() < 2 && block != start {
                continue;
            }
            let stop = dominance.idom(block);
            for &pred in preds {
                let mut runner = pred;
                while dominance.is_reachable(runner) && Some(runner) != stop {
                    // Another predecessor has walked here already, so the rest of the path has the block, too. Many
                    // `break`s of a loop share most of their path.
                    if std::mem::replace(&mut last[runner], block.into()) == block.into() {
                        break;
                    }
                    found.push((runner, block));
                    ranges[runner].1 += 1;
                    match dominance.idom(runner) {
                        Some(up) => runner = up,
                        None => break,
                    }
                }
            }
        }
        let mut next = 0;
        for range in ranges.values_mut() {
            let count = range.1;
            *range = (next, next);
            next += count;
        }
        let mut blocks = vec![start; found.len()];
        for (runner, block) in found {
            blocks[ranges[runner].1 as usize] = block;
            ranges[runner].1 += 1;
        }
        Frontiers { ranges, blocks }
    }

    /// The dominance frontier of a block.
    pub fn of(&self, block: Block) -> &[Block] {
        let (start, end) = self.ranges[block];
        &self.blocks[start as usize..end as usize]
    }
}

/// The reachable blocks in reverse post-order, and the position of each. Visits the last successor first, so that
/// structured code is in program order.
fn reverse_postorder(body: &Body) -> (Vec<Block>, SecondaryMap<Block, u32>) {
    let start = body.start_block();
    let mut seen: SecondaryMap<Block, bool> = SecondaryMap::new();
    seen[start] = true;
    let mut blocks = Vec::new();
    let mut stack = vec![(start, body.successors(start))];
    while let Some((block, successors)) = stack.last_mut() {
        match successors.next_back() {
            Some(next) => {
                if !std::mem::replace(&mut seen[next], true) {
                    stack.push((next, body.successors(next)));
                }
            }
            None => {
                blocks.push(*block);
                stack.pop();
            }
        }
    }
    blocks.reverse();
    let mut rank = SecondaryMap::with_default(u32::MAX);
    for (position, &block) in blocks.iter().enumerate() {
        rank[block] = position as u32;
    }
    (blocks, rank)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::body::JumpKind;
    use crate::shader::{Shader, ShaderStage};

    /// Blocks reachable from the start on paths without `removed`.
    fn reachable_without(body: &Body, removed: Option<Block>) -> Vec<Block> {
        let start = body.start_block();
        let mut seen = Vec::new();
        let mut work = vec![start];
        while let Some(block) = work.pop() {
            if Some(block) != removed && !seen.contains(&block) {
                seen.push(block);
                work.extend(body.successors(block));
            }
        }
        seen
    }

    /// Compares dominance with reachability after removal of each block.
    fn check(body: &Body) {
        let (dominance, frontiers) = (body.dominance(), body.frontiers());
        let blocks: Vec<Block> = body.block_order().blocks.clone();
        let reachable = reachable_without(body, None);
        for &dominator in &blocks {
            let without = reachable_without(body, Some(dominator));
            assert_eq!(dominance.is_reachable(dominator), reachable.contains(&dominator));
            for &block in &blocks {
                let dominated =
                    !reachable.contains(&block) || (!without.contains(&block) && reachable.contains(&dominator));
                assert_eq!(dominance.dominates(dominator, block), dominated, "{dominator} {block}");
            }
            let mut frontier: Vec<Block> = blocks
                .iter()
                .copied()
                .filter(|&meet| {
                    let strictly = meet != dominator && dominance.dominates(dominator, meet);
                    let reaches = |&&pred: &&Block| {
                        dominance.is_reachable(pred)
                            && dominance.is_reachable(dominator)
                            && dominance.dominates(dominator, pred)
                    };
                    !strictly && body.predecessors(meet).iter().find(reaches).is_some()
                })
                .collect();
            let mut found = frontiers.of(dominator).to_vec();
            frontier.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, frontier, "frontier of {dominator}");
        }
    }

    #[test]
    fn a_block_dominates_one_before_it_in_the_text() {
        // start -> last in the text -> then -> else -> after.
        let mut shader = Shader::new(ShaderStage::Kernel);
        let body = shader.main_mut();
        let mut b = Builder::at_end(body);
        let yes = b.bool_const(false);
        let id = b.push_if(yes);
        let (first, second) = (b.block(), b.body.else_list(id).first);
        b.end_if(id);
        let last = b.block();
        let start = b.body.start_block();
        body.insert_jump(start, JumpKind::Goto(last), None);
        body.insert_jump(last, JumpKind::Goto(second), None);
        body.insert_jump(second, JumpKind::Goto(first), None);
        let dominance = body.dominance();
        assert_eq!(dominance.idom(last), Some(start));
        assert_eq!(dominance.idom(second), Some(last));
        assert_eq!(dominance.idom(first), Some(second));
        check(body);
    }

    #[test]
    fn random_graphs() {
        let mut state = 1u64;
        let mut random = |n: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        };
        for _ in 0..400 {
            let mut shader = Shader::new(ShaderStage::Kernel);
            let body = shader.main_mut();
            let mut b = Builder::at_end(body);
            let yes = b.bool_const(false);
            for _ in 0..1 + random(5) {
                let id = b.push_if(yes);
                if random(2) == 0 {
                    let inner = b.push_if(yes);
                    b.end_if(inner);
                }
                b.push_else(id);
                b.end_if(id);
            }
            let blocks: Vec<Block> = body.blocks().collect();
            for &block in &blocks {
                let [one, two] = [0; 2].map(|_| blocks[random(blocks.len())]);
                match random(3) {
                    0 => body.insert_jump(block, JumpKind::Goto(one), None),
                    1 => body.insert_jump(block, JumpKind::GotoIf { then_block: one, else_block: two }, Some(yes)),
                    _ => continue,
                };
            }
            check(body);
        }
    }
}

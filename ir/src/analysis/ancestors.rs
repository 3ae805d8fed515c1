//! Ancestor queries in a growing tree: the lowest common ancestor of two nodes, and the ancestor at a depth, in O(log
//! n) each.
//!
//! Besides its parent, every node stores one more distant ancestor (Myers, "An Applicative Random-Access Stack", 1983).
//! The distances follow the skew binary numbers, so that adding a node takes O(1) and any walk upwards O(log n) steps.
//! Nodes are numbered in the order in which they are added; a parent precedes its children. Node 0 is the root.

use cranelift_entity::SecondaryMap;

use super::LoopTree;
use crate::entities::{Block, Loop};

#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    jump: u32,
    depth: u32,
}

/// A tree, see the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct Ancestors {
    nodes: Vec<Node>,
}

impl Ancestors {
    /// A tree with only the root.
    pub(crate) fn new() -> Ancestors {
        Ancestors { nodes: vec![Node { parent: 0, jump: 0, depth: 0 }] }
    }

    /// Adds a node and returns its number.
    pub(crate) fn add(&mut self, parent: u32) -> u32 {
        let above = self.nodes[parent as usize];
        let jump = self.nodes[above.jump as usize];
        let next = self.nodes[jump.jump as usize];
        let jump = if above.depth - jump.depth == jump.depth - next.depth { jump.jump } else { parent };
        self.nodes.push(Node { parent, jump, depth: above.depth + 1 });
        (self.nodes.len() - 1) as u32
    }

    /// Distance from the root.
    pub(crate) fn depth(&self, node: u32) -> u32 {
        self.nodes[node as usize].depth
    }

    /// The ancestor at this depth, which must not exceed the depth of the node.
    pub(crate) fn at_depth(&self, mut node: u32, depth: u32) -> u32 {
        while self.depth(node) > depth {
            let Node { parent, jump, .. } = self.nodes[node as usize];
            node = if self.depth(jump) >= depth { jump } else { parent };
        }
        node
    }

    /// The lowest common ancestor; it may be one of the nodes.
    pub(crate) fn common(&self, a: u32, b: u32) -> u32 {
        let depth = self.depth(a).min(self.depth(b));
        let (mut a, mut b) = (self.at_depth(a, depth), self.at_depth(b, depth));
        // The jumps of nodes at equal depth have equal lengths.
        while a != b {
            let (x, y) = (self.nodes[a as usize], self.nodes[b as usize]);
            (a, b) = if x.jump == y.jump { (x.parent, y.parent) } else { (x.jump, y.jump) };
        }
        a
    }
}

/// Finds the loops that contain one block but not another, in O(log n).
pub(crate) struct LoopAncestors<'a> {
    loops: &'a LoopTree,
    tree: Ancestors,
    /// Tree nodes of the loops; 0 means no loop.
    node: SecondaryMap<Loop, u32>,
}

impl<'a> LoopAncestors<'a> {
    /// Builds the tree of these loops.
    pub(crate) fn new(loops: &'a LoopTree) -> LoopAncestors<'a> {
        let (mut tree, mut node) = (Ancestors::new(), SecondaryMap::new());
        for &id in &loops.loops {
            node[id] = tree.add(loops.info(id).parent.expand().map_or(0, |up| node[up]));
        }
        LoopAncestors { loops, tree, node }
    }

    /// The outermost loop around a block.
    pub(crate) fn outermost(&self, block: Block) -> Option<Loop> {
        let inner = self.node[self.loops.innermost(block)?];
        Some(self.loops.loops[self.tree.at_depth(inner, 1) as usize - 1])
    }

    /// The outermost loop around `block` that is not around `other`.
    pub(crate) fn outermost_without(&self, block: Block, other: Block) -> Option<Loop> {
        let inner = self.loops.innermost(block)?;
        if self.loops.contains(inner, other) {
            return None;
        }
        let a = self.node[inner];
        let common = self.tree.common(a, self.loops.innermost(other).map_or(0, |id| self.node[id]));
        let outermost = self.tree.at_depth(a, self.tree.depth(common) + 1);
        Some(self.loops.loops[outermost as usize - 1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_walking_up() {
        let mut tree = Ancestors::new();
        let mut parents = vec![0u32];
        let mut state = 1u32;
        for number in 1..600u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            // Long paths with some branches.
            let parent = if number % 5 == 0 { (state >> 16) % number } else { number - 1 };
            parents.push(parent);
            assert_eq!(tree.add(parent), number);
        }
        let way = |mut node: u32| {
            let mut way = vec![node];
            while node != 0 {
                node = parents[node as usize];
                way.push(node);
            }
            way.reverse();
            way
        };
        for a in (0..600).step_by(7) {
            let up = way(a);
            assert_eq!(tree.depth(a) as usize, up.len() - 1);
            for (depth, &node) in up.iter().enumerate() {
                assert_eq!(tree.at_depth(a, depth as u32), node);
            }
            for b in (0..600).step_by(11) {
                let common = up.iter().zip(way(b)).take_while(|(x, y)| **x == *y).last().map(|(x, _)| *x);
                assert_eq!(Some(tree.common(a, b)), common, "{a} {b}");
            }
        }
    }
}

//! The block graph in the form that `petgraph` expects: its algorithms and its DOT writer run on the body without a
//! copy.

use std::collections::HashSet;

use cranelift_entity::SecondaryMap;
use petgraph::dot::{Config, Dot};
use petgraph::visit::{
    Data, EdgeRef, GraphBase, GraphProp, GraphRef, IntoEdgeReferences, IntoEdges, IntoNeighbors, IntoNeighborsDirected,
    IntoNodeIdentifiers, IntoNodeReferences, NodeCount, NodeIndexable, NodeRef, Visitable,
};
use petgraph::{Directed, Direction};

use super::Body;
use crate::entities::Block;

/// The block graph of a body: nodes are the blocks of the tree and the end block, edges lead to successors.
#[derive(Clone, Copy)]
pub struct BlockGraph<'a>(pub &'a Body);

/// An edge of the block graph: its source and its index among the successors.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BlockEdge {
    from: Block,
    to: Block,
    index: u8,
}

impl EdgeRef for BlockEdge {
    type NodeId = Block;
    type EdgeId = (Block, u8);
    type Weight = ();

    fn source(&self) -> Block {
        self.from
    }

    fn target(&self) -> Block {
        self.to
    }

    fn weight(&self) -> &() {
        &()
    }

    fn id(&self) -> (Block, u8) {
        (self.from, self.index)
    }
}

/// A node of the block graph; its weight is its id.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockNodeRef(Block);

impl NodeRef for BlockNodeRef {
    type NodeId = Block;
    type Weight = Block;

    fn id(&self) -> Block {
        self.0
    }

    fn weight(&self) -> &Block {
        &self.0
    }
}

impl GraphBase for BlockGraph<'_> {
    type NodeId = Block;
    type EdgeId = (Block, u8);
}

impl GraphRef for BlockGraph<'_> {}

impl Data for BlockGraph<'_> {
    type NodeWeight = Block;
    type EdgeWeight = ();
}

impl GraphProp for BlockGraph<'_> {
    type EdgeType = Directed;
}

impl NodeIndexable for BlockGraph<'_> {
    fn node_bound(&self) -> usize {
        self.0.num_blocks()
    }

    fn to_index(&self, block: Block) -> usize {
        block.as_u32() as usize
    }

    fn from_index(&self, index: usize) -> Block {
        Block::from_u32(index as u32)
    }
}

impl NodeCount for BlockGraph<'_> {
    fn node_count(&self) -> usize {
        self.node_identifiers().count()
    }
}

impl<'a> IntoNodeIdentifiers for BlockGraph<'a> {
    type NodeIdentifiers = Box<dyn Iterator<Item = Block> + 'a>;

    fn node_identifiers(self) -> Self::NodeIdentifiers {
        Box::new(self.0.blocks().chain([self.0.end_block()]))
    }
}

impl<'a> IntoNodeReferences for BlockGraph<'a> {
    type NodeRef = BlockNodeRef;
    type NodeReferences = Box<dyn Iterator<Item = BlockNodeRef> + 'a>;

    fn node_references(self) -> Self::NodeReferences {
        Box::new(self.node_identifiers().map(BlockNodeRef))
    }
}

impl IntoNeighbors for BlockGraph<'_> {
    type Neighbors = std::vec::IntoIter<Block>;

    fn neighbors(self, block: Block) -> Self::Neighbors {
        self.neighbors_directed(block, Direction::Outgoing)
    }
}

impl IntoNeighborsDirected for BlockGraph<'_> {
    type NeighborsDirected = std::vec::IntoIter<Block>;

    fn neighbors_directed(self, block: Block, direction: Direction) -> Self::NeighborsDirected {
        let blocks: Vec<Block> = match direction {
            Direction::Outgoing => self.0.successors(block).collect(),
            Direction::Incoming => self.0.predecessors(block).to_vec(),
        };
        blocks.into_iter()
    }
}

impl<'a> IntoEdgeReferences for BlockGraph<'a> {
    type EdgeRef = BlockEdge;
    type EdgeReferences = Box<dyn Iterator<Item = BlockEdge> + 'a>;

    fn edge_references(self) -> Self::EdgeReferences {
        Box::new(self.node_identifiers().flat_map(move |b| self.edges(b)))
    }
}

impl IntoEdges for BlockGraph<'_> {
    type Edges = std::vec::IntoIter<BlockEdge>;

    fn edges(self, from: Block) -> Self::Edges {
        let edges: Vec<BlockEdge> =
            self.0.successors(from).enumerate().map(|(i, to)| BlockEdge { from, to, index: i as u8 }).collect();
        edges.into_iter()
    }
}

impl Visitable for BlockGraph<'_> {
    type Map = HashSet<Block>;

    fn visit_map(&self) -> HashSet<Block> {
        HashSet::new()
    }

    fn reset_map(&self, map: &mut HashSet<Block>) {
        map.clear();
    }
}

impl Body {
    /// The block graph for `petgraph`.
    pub fn graph(&self) -> BlockGraph<'_> {
        BlockGraph(self)
    }

    /// The numbers of blocks in the text form: in program order, the end block last.
    pub(crate) fn block_numbers(&self) -> SecondaryMap<Block, u32> {
        let mut numbers = SecondaryMap::with_default(u32::MAX);
        for (number, block) in (0..).zip(self.graph().node_identifiers()) {
            numbers[block] = number;
        }
        numbers
    }

    /// Writes the block graph in DOT under this name. Blocks are numbered as in the text form; the edges of a branch
    /// are labelled with their side.
    pub fn to_dot(&self, name: &str) -> String {
        let numbers = self.block_numbers();
        let node = |_, node: BlockNodeRef| format!("label = \"b{}\"", numbers[node.id()]);
        let edge = |_, edge: BlockEdge| {
            let side = if edge.index == 0 { "then" } else { "else" };
            if self.successors(edge.from).count() < 2 { String::new() } else { format!("label = \"{side}\"") }
        };
        let config = [Config::GraphContentOnly, Config::NodeNoLabel, Config::EdgeNoLabel];
        format!("digraph {name:?} {{\n{:?}}}\n", Dot::with_attr_getters(self.graph(), &config, &edge, &node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::CfParent;
    use crate::builder::Builder;

    #[test]
    fn petgraph_algorithms_run_on_the_body() {
        let mut body = Body::new();
        let mut b = Builder::at_end(&mut body);
        let condition = b.bool_const(true);
        let id = b.push_if(condition);
        b.end_if(id);
        let start = body.start_block();
        let dominators = petgraph::algo::dominators::simple_fast(body.graph(), start);
        let after = body.block_after_if(id);
        assert_eq!(dominators.immediate_dominator(after), Some(start));
        assert_eq!(body.list(CfParent::Then(id)).first, body.then_list(id).first);
        let dot = body.to_dot("a \"name\"");
        assert!(dot.starts_with("digraph \"a \\\"name\\\"\" {"), "{dot}");
        let edges: Vec<&str> = dot.lines().filter(|line| line.contains("->")).map(str::trim).collect();
        let [then, other] = [body.then_list(id).first, body.else_list(id).first].map(|block| block.as_u32());
        assert!(edges.contains(&format!("0 -> {then} [ label = \"then\"]").as_str()), "{dot}");
        assert!(edges.contains(&format!("0 -> {other} [ label = \"else\"]").as_str()), "{dot}");
        assert!(dot.contains(&format!("{} [ label = \"b4\"]", body.end_block().as_u32())), "{dot}");
        assert_eq!(body.graph().node_count(), 5);
    }
}

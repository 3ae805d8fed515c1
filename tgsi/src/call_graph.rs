//! Which subroutine of a shader calls which, as a graph of `petgraph`.
//!
//! Nodes are the subroutines in text order and, last, the main program; edges are the `CAL`s in text order. The algorithms are those of
//! `petgraph` that do not recurse: the depth of a graph is input.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::shader::Shader;
use crate::structure::Structure;
use crate::tables::Opcode;

/// The call graph of a shader whose calls all have targets.
pub(crate) struct CallGraph {
    /// Edges weigh the numbers of their `CAL`s.
    graph: DiGraph<(), u32>,
}

impl CallGraph {
    /// The graph, or none if there is no call.
    pub(crate) fn new(shader: &Shader, structure: &Structure) -> Option<CallGraph> {
        let subroutines = &structure.subroutines;
        if subroutines.is_empty() {
            return None;
        }
        let main = subroutines.len();
        let around = |number: u32| {
            let after = subroutines.partition_point(|&(begin, _)| begin <= number);
            after.checked_sub(1).filter(|&place| number < subroutines[place].1)
        };
        let calls = (0u32..).zip(&shader.instructions).filter(|(_, i)| i.opcode == Opcode::Cal);
        let edges = calls.filter_map(|(call, _)| {
            let callee = around(*structure.partner.get(call as usize)?)?;
            Some((node(around(call).unwrap_or(main)), node(callee), call))
        });
        let mut edges = edges.peekable();
        edges.peek()?;
        let mut graph = DiGraph::new();
        for _ in 0..=main {
            graph.add_node(());
        }
        graph.extend_with_edges(edges);
        Some(CallGraph { graph })
    }

    /// Number of the first `CAL`.
    pub(crate) fn first_call(&self) -> Option<u32> {
        self.graph.edge_weights().next().copied()
    }

    /// The calls by which a subroutine reaches itself, in text order: number of the `CAL`, place of the subroutine that it calls.
    pub(crate) fn recursive_calls(&self) -> Vec<(u32, usize)> {
        let mut component = vec![0; self.graph.node_count()];
        for (number, nodes) in kosaraju_scc(&self.graph).into_iter().enumerate() {
            for node in nodes {
                component[node.index()] = number;
            }
        }
        // Who calls into its own component is on a circle.
        let edges = self.graph.edge_references();
        let circular = edges.filter(|edge| component[edge.source().index()] == component[edge.target().index()]);
        circular.map(|edge| (*edge.weight(), edge.target().index())).collect()
    }

    /// Instructions of the main program once each call is replaced by its subroutine; `sizes` are those before, of the subroutines and, last,
    /// of the main program. Without recursion.
    pub(crate) fn inlined_size(&self, mut sizes: Vec<u64>) -> u64 {
        // Callees come first.
        for caller in kosaraju_scc(&self.graph).into_iter().flatten() {
            let called = self.graph.neighbors(caller).map(|callee| sizes[callee.index()]);
            sizes[caller.index()] = called.fold(sizes[caller.index()], u64::saturating_add);
        }
        sizes.last().copied().unwrap_or(0)
    }

    /// How deep the main program is once each call is replaced; `depths` are those of the parts alone, in the order of `inlined_size`, and `of_call` says how deep
    /// in its part the `CAL` of a number stands. Without recursion.
    pub(crate) fn inlined_depth(&self, mut depths: Vec<u64>, of_call: impl Fn(u32) -> u64) -> u64 {
        for caller in kosaraju_scc(&self.graph).into_iter().flatten() {
            for call in self.graph.edges(caller) {
                let depth = of_call(*call.weight()).saturating_add(depths[call.target().index()]);
                depths[caller.index()] = depths[caller.index()].max(depth);
            }
        }
        depths.last().copied().unwrap_or(0)
    }
}

fn node(place: usize) -> NodeIndex {
    NodeIndex::new(place)
}

//! The call graph of a shader, as a graph of `petgraph`.
//!
//! Nodes are the subroutines in text order, followed by the main program; edges are the `CAL`s in text order. Uses only
//! the non-recursive algorithms of `petgraph`, because the input determines the depth of the graph.

use petgraph::Direction;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, EdgeRef};

use crate::shader::Shader;
use crate::structure::Structure;
use crate::tables::Opcode;

/// Maximum call depth of the subroutines that are kept. Executors of TGSI support 32.
const MAX_CALL_DEPTH: u32 = 31;

/// Decides which subroutines a target that has subroutines keeps. Calls of the others are inlined, as are calls of
/// subroutines with a single call site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InliningThresholds {
    /// Subroutines with fewer instructions (after inlining into them) are inlined.
    pub size: u64,
    /// Maximum number of instructions copied to inline a subroutine at all its call sites but one; the last one takes
    /// the original code. A subroutine that would need more is kept.
    pub growth: u64,
    /// Maximum number of instructions copied in the whole shader. If it would be exceeded, every subroutine with
    /// several call sites is kept.
    pub total: u64,
}

/// The subroutines to keep; all others are inlined.
pub struct Inlining {
    /// For each part, whether it is kept. The main program always is.
    pub stays: Vec<bool>,
    /// Number of instructions added by copying.
    pub copied: u64,
}

/// The call graph of a shader in which every call has a target.
pub struct CallGraph {
    /// Edge weights are the numbers of the `CAL`s.
    graph: DiGraph<(), u32>,
}

impl CallGraph {
    /// Returns the graph, or none if there is no call.
    pub fn new(shader: &Shader, structure: &Structure) -> Option<CallGraph> {
        let subroutines = &structure.subroutines;
        if subroutines.is_empty() {
            return None;
        }
        let main = subroutines.len();
        let around = |number: u32| {
            let after = subroutines.partition_point(|&(begin, _)| begin <= number);
            after.checked_sub(1).filter(|&position| number < subroutines[position].1)
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

    /// Returns the number of the first `CAL`.
    pub fn first_call(&self) -> Option<u32> {
        self.graph.edge_weights().next().copied()
    }

    /// Returns the recursive calls in text order, as pairs of the number of the `CAL` and the index of the callee.
    pub fn recursive_calls(&self) -> Vec<(u32, usize)> {
        let mut component = vec![0; self.graph.node_count()];
        for (number, nodes) in kosaraju_scc(&self.graph).into_iter().enumerate() {
            for node in nodes {
                component[node.index()] = number;
            }
        }
        // A call within a strongly connected component is on a cycle.
        let edges = self.graph.edge_references();
        let circular = edges.filter(|edge| component[edge.source().index()] == component[edge.target().index()]);
        circular.map(|edge| (*edge.weight(), edge.target().index())).collect()
    }

    /// Marks the parts reachable from the main program, including itself.
    fn reachable(&self) -> Vec<bool> {
        let mut reachable = vec![false; self.graph.node_count()];
        let mut search = Dfs::new(&self.graph, node(reachable.len() - 1));
        while let Some(part) = search.next(&self.graph) {
            reachable[part.index()] = true;
        }
        reachable
    }

    /// Selects the subroutines to keep and counts the instructions that inlining the others copies. `sizes` holds those
    /// of the subroutines, followed by that of the main program. The graph must be acyclic.
    pub fn inlining(&self, sizes: &[u64], keep: Option<InliningThresholds>) -> Inlining {
        let inlining = self.inlining_by(sizes, keep);
        match keep {
            Some(rule) if inlining.copied > rule.total => {
                self.inlining_by(sizes, Some(InliningThresholds { size: 0, growth: 0, ..rule }))
            }
            _ => inlining,
        }
    }

    fn inlining_by(&self, sizes: &[u64], keep: Option<InliningThresholds>) -> Inlining {
        let main = sizes.len() - 1;
        let reachable = self.reachable();
        let mut inlining = Inlining { stays: vec![false; sizes.len()], copied: 0 };
        inlining.stays[main] = true;
        // Nesting depth of calls of kept subroutines, for each part.
        let mut depths = vec![0; sizes.len()];
        let mut inlined = sizes.to_vec();
        // Callees come first.
        for part in kosaraju_scc(&self.graph).into_iter().flatten() {
            let number = part.index();
            for callee in self.graph.neighbors(part).map(NodeIndex::index) {
                let stays = inlining.stays[callee];
                depths[number] = depths[number].max(depths[callee] + u32::from(stays));
                if !stays {
                    inlined[number] = inlined[number].saturating_add(inlined[callee]);
                }
            }
            let Some(rule) = keep.filter(|_| number != main && reachable[number]) else { continue };
            let callers = self.graph.neighbors_directed(part, Direction::Incoming);
            let calls = callers.filter(|caller| reachable[caller.index()]).count() as u64;
            let size = inlined[number];
            inlining.stays[number] = calls > 1
                && size >= rule.size
                && size.saturating_mul(calls - 1) > rule.growth
                && depths[number] < MAX_CALL_DEPTH;
        }
        let parts = || (0..sizes.len()).filter(|&part| reachable[part]);
        let written = parts().fold(0, |sum: u64, part| sum.saturating_add(sizes[part]));
        let size =
            parts().filter(|&part| inlining.stays[part]).fold(0, |sum: u64, part| sum.saturating_add(inlined[part]));
        inlining.copied = size.saturating_sub(written);
        inlining
    }

    /// Sums a size over the main program and the kept subroutines after all other calls are inlined. `sizes` holds the
    /// sizes before inlining: the subroutines, followed by the main program. The graph must be acyclic.
    pub fn inlined_size(&self, mut sizes: Vec<u64>, stays: &[bool]) -> u64 {
        // Callees come first.
        for caller in kosaraju_scc(&self.graph).into_iter().flatten() {
            let called = self.graph.neighbors(caller).map(NodeIndex::index).filter(|&callee| !stays[callee]);
            sizes[caller.index()] = called.map(|callee| sizes[callee]).fold(sizes[caller.index()], u64::saturating_add);
        }
        let sizes = sizes.iter().zip(stays).filter(|(_, stays)| **stays);
        sizes.fold(0, |sum: u64, (size, _)| sum.saturating_add(*size))
    }

    /// Returns the depth of the deepest part after calls of subroutines that are not kept are inlined. `depths` holds
    /// the depth of each part alone, in the order of `inlined_size`; `of_call` returns the depth of a `CAL`, given by
    /// number, within its part. The graph must be acyclic.
    pub fn inlined_depth(&self, mut depths: Vec<u64>, stays: &[bool], of_call: impl Fn(u32) -> u64) -> u64 {
        for caller in kosaraju_scc(&self.graph).into_iter().flatten() {
            for call in self.graph.edges(caller).filter(|call| !stays[call.target().index()]) {
                let depth = of_call(*call.weight()).saturating_add(depths[call.target().index()]);
                depths[caller.index()] = depths[caller.index()].max(depth);
            }
        }
        depths.iter().zip(stays).filter(|(_, stays)| **stays).map(|(depth, _)| *depth).max().unwrap_or(0)
    }
}

fn node(position: usize) -> NodeIndex {
    NodeIndex::new(position)
}

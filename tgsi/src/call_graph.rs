//! The calls between the subroutines of a shader, as a graph of `petgraph`.
//!
//! Nodes are the subroutines in text order and, last, the main program; edges are the `CAL`s in text order. The
//! algorithms are those of `petgraph` that do not recurse: the depth of a graph is input.

use petgraph::Direction;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, EdgeRef};

use crate::shader::Shader;
use crate::structure::Structure;
use crate::tables::Opcode;

/// Most calls within one another of subroutines that stay. Executors of TGSI have room for 32.
const MAX_CALL_DEPTH: u32 = 31;

/// The choice of the subroutines that stay subroutines, for targets that have them. Calls of the others are replaced by
/// their code, and so are all that are called once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeepSubroutines {
    /// Smaller ones do not stay. Counted are the instructions, with those that replace calls.
    pub size: u64,
    /// Instructions that may be copied to replace all calls of a subroutine but one, whose code is no copy. If it
    /// were more, the subroutine stays.
    pub growth: u64,
    /// Instructions that may be copied so in the whole shader. If it were more, all subroutines stay that are called
    /// more than once.
    pub total: u64,
}

/// The subroutines that stay, and those whose calls are inlined.
pub struct Inlining {
    /// By part: whether it is in the result by itself, as the main program is.
    pub stays: Vec<bool>,
    /// Instructions that are in the result more often than in the source.
    pub copied: u64,
}

/// The call graph of a shader whose calls all have targets.
pub struct CallGraph {
    /// Edges weigh the numbers of their `CAL`s.
    graph: DiGraph<(), u32>,
}

impl CallGraph {
    /// The graph, or none if there is no call.
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

    /// Number of the first `CAL`.
    pub fn first_call(&self) -> Option<u32> {
        self.graph.edge_weights().next().copied()
    }

    /// The calls by which a subroutine reaches itself, in text order: number of the `CAL`, index of the subroutine that
    /// it calls.
    pub fn recursive_calls(&self) -> Vec<(u32, usize)> {
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

    /// The parts that the main program calls, directly or not, and itself.
    fn reachable(&self) -> Vec<bool> {
        let mut reachable = vec![false; self.graph.node_count()];
        let mut search = Dfs::new(&self.graph, node(reachable.len() - 1));
        while let Some(part) = search.next(&self.graph) {
            reachable[part.index()] = true;
        }
        reachable
    }

    /// Finds the subroutines that stay, and how many instructions are copied as calls of the others are replaced.
    /// `sizes` are those of the subroutines and, last, of the main program. Without recursion.
    pub fn inlining(&self, sizes: &[u64], keep: Option<KeepSubroutines>) -> Inlining {
        let inlining = self.inlining_by(sizes, keep);
        match keep {
            Some(rule) if inlining.copied > rule.total => {
                self.inlining_by(sizes, Some(KeepSubroutines { size: 0, growth: 0, ..rule }))
            }
            _ => inlining,
        }
    }

    fn inlining_by(&self, sizes: &[u64], keep: Option<KeepSubroutines>) -> Inlining {
        let main = sizes.len() - 1;
        let reachable = self.reachable();
        let mut inlining = Inlining { stays: vec![false; sizes.len()], copied: 0 };
        inlining.stays[main] = true;
        // How deep calls of subroutines that stay are nested in each part.
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

    /// Sums a size over the main program and the subroutines that stay once all other calls are
    /// replaced; `sizes` are those before, of the subroutines and, last, of the main program. Without recursion.
    pub fn inlined_size(&self, mut sizes: Vec<u64>, stays: &[bool]) -> u64 {
        // Callees come first.
        for caller in kosaraju_scc(&self.graph).into_iter().flatten() {
            let called = self.graph.neighbors(caller).map(NodeIndex::index).filter(|&callee| !stays[callee]);
            sizes[caller.index()] = called.map(|callee| sizes[callee]).fold(sizes[caller.index()], u64::saturating_add);
        }
        let sizes = sizes.iter().zip(stays).filter(|(_, stays)| **stays);
        sizes.fold(0, |sum: u64, (size, _)| sum.saturating_add(*size))
    }

    /// The depth of the deepest part once calls of subroutines that do not stay are replaced; `depths` are those of
    /// the parts alone, in the order of `inlined_size`, and `of_call` says how deep in its part the `CAL` of a number
    /// stands. Without recursion.
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

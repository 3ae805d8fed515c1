//! The call graph of a shader, as a `petgraph` graph.
//!
//! The graph covers a whole shader, so unlike the analyses of a body it has no epoch: it is computed on request, and
//! describes the shader at that time. Only non-recursive algorithms of `petgraph` are used, because the depth of a
//! graph is controlled by the input.

use cranelift_entity::{EntityRef, EntitySet, PrimaryMap};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, EdgeRef};

use crate::body::{Body, InstData};
use crate::entities::{Function, Inst};
use crate::shader::FunctionData;

/// The call graph: nodes are functions, edges are calls.
#[derive(Clone, Debug)]
pub struct CallGraph {
    /// Node numbers equal function numbers.
    graph: DiGraph<Function, Inst>,
}

impl CallGraph {
    /// The graph of the calls in these functions. Calls of functions that the shader does not have are ignored.
    pub fn new(functions: &PrimaryMap<Function, FunctionData>) -> CallGraph {
        let mut graph = DiGraph::with_capacity(functions.len(), 0);
        for function in functions.keys() {
            graph.add_node(function);
        }
        for (caller, data) in functions {
            for (inst, callee) in data.body.iter().flat_map(calls) {
                if functions.is_valid(callee) {
                    graph.add_edge(node(caller), node(callee), inst);
                }
            }
        }
        CallGraph { graph }
    }

    /// The functions in an order in which each follows its callees; functions in a cycle may be in any order.
    pub fn bottom_up(&self) -> Vec<Function> {
        kosaraju_scc(&self.graph).into_iter().flatten().map(|at| self.graph[at]).collect()
    }

    /// The functions that call themselves, directly or indirectly.
    pub fn recursive(&self) -> EntitySet<Function> {
        let mut component = vec![0; self.graph.node_count()];
        for (number, nodes) in kosaraju_scc(&self.graph).into_iter().enumerate() {
            for node in nodes {
                component[node.index()] = number;
            }
        }
        // A function that calls into its own strongly connected component is in a cycle.
        let edges = self.graph.edge_references();
        let circular = edges.filter(|edge| component[edge.source().index()] == component[edge.target().index()]);
        let mut found = EntitySet::new();
        for edge in circular {
            found.insert(self.graph[edge.source()]);
        }
        found
    }

    /// These functions and all their direct and indirect callees.
    pub fn reachable(&self, roots: impl IntoIterator<Item = Function>) -> EntitySet<Function> {
        let mut found = EntitySet::new();
        let mut search = Dfs::empty(&self.graph);
        for root in roots {
            search.move_to(node(root));
            while let Some(at) = search.next(&self.graph) {
                found.insert(self.graph[at]);
            }
        }
        found
    }
}

fn node(function: Function) -> NodeIndex {
    NodeIndex::new(function.index())
}

/// The calls of a body in program order, each with its callee.
pub fn calls(body: &Body) -> impl DoubleEndedIterator<Item = (Inst, Function)> + use<> {
    let found: Vec<(Inst, Function)> = body
        .blocks()
        .flat_map(|block| body.insts(block))
        .filter_map(|inst| match *body.inst(inst) {
            InstData::Call { callee, .. } => Some((inst, callee)),
            _ => None,
        })
        .collect();
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;

    /// Functions that call these callees.
    fn functions(callees: &[&[usize]]) -> PrimaryMap<Function, FunctionData> {
        let mut functions = PrimaryMap::new();
        for list in callees {
            let mut body = Body::new();
            let mut b = Builder::at_end(&mut body);
            for &callee in *list {
                b.build(InstData::Call { callee: Function::new(callee), indirect: false }, &[], None);
            }
            functions.push(FunctionData {
                name: "f".into(),
                parameters: Vec::new(),
                is_entry_point: false,
                is_exported: false,
                attributes: Vec::new(),
                body: Some(body),
            });
        }
        functions
    }

    #[test]
    fn callees_come_first() {
        // Function 4 calls a missing function; 1 and 3 call each other.
        let graph = CallGraph::new(&functions(&[&[1, 2], &[3, 2], &[], &[1], &[9]]));
        let order = graph.bottom_up();
        let position = |n: usize| order.iter().position(|f| f.index() == n).unwrap();
        assert_eq!(order.len(), 5);
        assert!(position(2) < position(1) && position(1) < position(0) && position(3) < position(0));
        let recursive = graph.recursive();
        assert_eq!((0..5).filter(|&n| recursive.contains(Function::new(n))).collect::<Vec<_>>(), [1, 3]);
        let reachable = graph.reachable([Function::new(3)]);
        assert_eq!((0..5).filter(|&n| reachable.contains(Function::new(n))).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn long_chains_need_no_stack() {
        let chain: Vec<Vec<usize>> = (0..50_000).map(|n| vec![n + 1]).collect();
        let chain: Vec<&[usize]> = chain.iter().map(Vec::as_slice).collect();
        let order = CallGraph::new(&functions(&chain)).bottom_up();
        assert!(order.iter().rev().map(|f| f.index()).eq(0..50_000));
    }
}

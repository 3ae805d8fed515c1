//! The graph of a function's blocks: edges, dominators, constructs.

use rustc_hash::FxHashMap;
use spirv::Op;

use crate::module::{Function, Inst};

/// No block.
const NONE: usize = usize::MAX;

/// Dominators of a graph.
#[derive(Clone, Debug, Default)]
struct Dominators {
    /// Immediate dominators; of the entry itself, `NONE` for unreachable blocks.
    parents: Vec<usize>,
    /// Intervals of a walk over the tree.
    intervals: Vec<(usize, usize)>,
}

/// The graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// Numbers of blocks by label.
    pub numbers: FxHashMap<u32, usize>,
    /// Successors, without duplicates.
    pub successors: Vec<Vec<usize>>,
    /// Predecessors.
    pub predecessors: Vec<Vec<usize>>,
    /// Merge block and continue target by header.
    pub merges: Vec<Option<(usize, Option<usize>)>>,
    plain: Dominators,
    /// Headers also have edges to their merge blocks and continue targets.
    structural: Dominators,
}

impl Graph {
    /// Builds the graph; `None` if a target is missing or a label occurs twice.
    pub fn new(function: &Function) -> Option<Graph> {
        let numbers: FxHashMap<u32, usize> =
            function.blocks.iter().enumerate().map(|(number, block)| (block.label, number)).collect();
        let count = function.blocks.len();
        if numbers.len() != count || count == 0 {
            return None;
        }
        let mut successors = Vec::with_capacity(count);
        let mut merges = Vec::with_capacity(count);
        let mut structural = Vec::with_capacity(count);
        for block in &function.blocks {
            let mut targets = Vec::new();
            for label in block.targets() {
                let &target = numbers.get(&label)?;
                if !targets.contains(&target) {
                    targets.push(target);
                }
            }
            let mut all = targets.clone();
            merges.push(match block.merge() {
                Some(merge) => {
                    let &to = numbers.get(merge.words.first()?)?;
                    all.push(to);
                    let next = match merge.op {
                        Op::LoopMerge => Some(*numbers.get(merge.words.get(1)?)?),
                        _ => None,
                    };
                    all.extend(next);
                    Some((to, next))
                }
                None => None,
            });
            successors.push(targets);
            structural.push(all);
        }
        let mut predecessors = vec![Vec::new(); count];
        for (from, targets) in successors.iter().enumerate() {
            targets.iter().for_each(|&to| predecessors[to].push(from));
        }
        let plain = Dominators::new(&successors);
        let structural = Dominators::new(&structural);
        Some(Graph { numbers, successors, predecessors, merges, plain, structural })
    }

    /// Whether control reaches a block.
    pub fn is_reachable(&self, block: usize) -> bool {
        self.plain.parents[block] != NONE
    }

    /// Whether `a` dominates `b`.
    pub fn dominates(&self, a: usize, b: usize) -> bool {
        self.plain.dominates(a, b)
    }

    /// Whether `a` dominates `b` if headers have edges to their merge blocks and continue targets.
    pub fn encloses(&self, a: usize, b: usize) -> bool {
        self.structural.dominates(a, b)
    }

    /// The immediate structural dominator.
    pub fn parent(&self, block: usize) -> Option<usize> {
        Some(self.structural.parents[block]).filter(|&parent| parent != NONE && block != 0)
    }

    /// The immediate dominator.
    pub fn dominator(&self, block: usize) -> Option<usize> {
        Some(self.plain.parents[block]).filter(|&parent| parent != NONE && block != 0)
    }

    /// The constructs that contain a block, innermost first: headers.
    pub fn constructs(&self, block: usize) -> Vec<usize> {
        let mut headers = Vec::new();
        let mut at = Some(block);
        while let Some(header) = at {
            if let Some((merge, _)) = self.merges[header]
                && !self.encloses(merge, block)
            {
                headers.push(header);
            }
            at = self.parent(header);
        }
        headers
    }

    /// Whether a block belongs to the continue construct of a loop that contains it.
    pub fn is_in_continue(&self, block: usize) -> bool {
        self.constructs(block).into_iter().any(|header| match self.merges[header] {
            Some((_, Some(next))) => self.encloses(next, block),
            _ => false,
        })
    }

    /// The header of the innermost loop that contains a block.
    pub fn innermost_loop(&self, block: usize) -> Option<usize> {
        self.constructs(block).into_iter().find(|&header| matches!(self.merges[header], Some((_, Some(_)))))
    }

    /// The header of the innermost loop or switch that contains a block.
    pub fn innermost_break(&self, function: &Function, block: usize) -> Option<usize> {
        let is_switch = |header: usize| function.blocks[header].terminator().is_some_and(|inst| inst.op == Op::Switch);
        let mut headers = self.constructs(block).into_iter();
        headers.find(|&header| matches!(self.merges[header], Some((_, Some(_)))) || is_switch(header))
    }
}

impl Dominators {
    fn new(successors: &[Vec<usize>]) -> Dominators {
        let count = successors.len();
        // Post-order by an explicit stack.
        let mut order = Vec::new();
        let mut number = vec![NONE; count];
        let mut is_seen = vec![false; count];
        let mut stack = vec![(0, 0)];
        is_seen[0] = true;
        while let Some((block, next)) = stack.pop() {
            if let Some(&to) = successors[block].get(next) {
                stack.push((block, next + 1));
                if !std::mem::replace(&mut is_seen[to], true) {
                    stack.push((to, 0));
                }
            } else {
                number[block] = order.len();
                order.push(block);
            }
        }
        let mut predecessors = vec![Vec::new(); count];
        for (from, targets) in successors.iter().enumerate().filter(|&(from, _)| number[from] != NONE) {
            targets.iter().for_each(|&to| predecessors[to].push(from));
        }
        let mut parents = vec![NONE; count];
        parents[0] = 0;
        let mut has_changed = true;
        while has_changed {
            has_changed = false;
            for &block in order.iter().rev().filter(|&&block| block != 0) {
                let mut found = NONE;
                for &from in predecessors[block].iter().filter(|&&from| parents[from] != NONE) {
                    found = if found == NONE { from } else { common(&parents, &number, found, from) };
                }
                has_changed |= std::mem::replace(&mut parents[block], found) != found;
            }
        }
        let mut children = vec![Vec::new(); count];
        for &block in order.iter().rev().filter(|&&block| block != 0) {
            children[parents[block]].push(block);
        }
        let mut intervals = vec![(NONE, 0); count];
        let mut time = 0;
        let mut stack = vec![(0, 0)];
        while let Some((block, next)) = stack.pop() {
            if next == 0 {
                intervals[block].0 = time;
                time += 1;
            }
            if let Some(&child) = children[block].get(next) {
                stack.push((block, next + 1));
                stack.push((child, 0));
            } else {
                intervals[block].1 = time;
            }
        }
        Dominators { parents, intervals }
    }

    fn dominates(&self, a: usize, b: usize) -> bool {
        let ((start, end), (at, _)) = (self.intervals[a], self.intervals[b]);
        at != NONE && start <= at && at < end
    }
}

/// The nearest common dominator of two blocks.
fn common(parents: &[usize], number: &[usize], mut a: usize, mut b: usize) -> usize {
    while a != b {
        while number[a] < number[b] {
            a = parents[a];
        }
        while number[b] < number[a] {
            b = parents[b];
        }
    }
    a
}

/// Returns the places of definitions in a function: block and position; parameters are at position 0 of the entry.
pub fn definitions(function: &Function) -> FxHashMap<u32, (usize, usize)> {
    let mut places: FxHashMap<u32, (usize, usize)> =
        function.parameters.iter().filter_map(Inst::result).map(|id| (id, (0, 0))).collect();
    for (number, block) in function.blocks.iter().enumerate() {
        for (at, inst) in block.body.iter().enumerate() {
            places.extend(inst.result().map(|id| (id, (number, at + 1))));
        }
    }
    places
}

/// Whether every use in reachable code is dominated by its definition, and phis have one operand for each predecessor.
pub fn is_valid(function: &Function) -> bool {
    let Some(graph) = Graph::new(function) else { return function.blocks.is_empty() };
    let places = definitions(function);
    let is_before = |id: u32, block: usize, at: usize| match places.get(&id) {
        Some(&(other, _)) if other != block => graph.dominates(other, block),
        Some(&(_, place)) => place <= at,
        None => true,
    };
    for (number, block) in function.blocks.iter().enumerate().filter(|&(number, _)| graph.is_reachable(number)) {
        for (at, inst) in block.body.iter().enumerate() {
            if inst.op != Op::Phi {
                if !inst.uses().into_iter().all(|id| is_before(id, number, at)) {
                    return false;
                }
                continue;
            }
            let pairs: Vec<(u32, u32)> = inst.operands().chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
            if pairs.len() != graph.predecessors[number].len() {
                return false;
            }
            for (value, label) in pairs {
                let Some(&from) = graph.numbers.get(&label) else { return false };
                let is_available = !graph.is_reachable(from) || is_before(value, from, usize::MAX - 1);
                if !graph.predecessors[number].contains(&from) || !is_available {
                    return false;
                }
            }
        }
    }
    true
}

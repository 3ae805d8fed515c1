//! Analysis of a loop: its exits, counters, trip count and array accesses.
//!
//! The analysis does not match patterns of counting loops. Values that depend only on constants and on the iteration
//! are *computed*, iteration by iteration, with the constant evaluator. A condition of any form (compound, inverted,
//! with an integer or float counter, with several counters, with counters that are components of vectors) is either
//! known in an iteration or not. Partially known operands count where they determine the result (`iand` with a false
//! operand, a comparison with the minimum of an unknown value and a constant). Trip counts are therefore exact,
//! including the rounding of float counters.
//!
//! A loop is treated as a sequence: the nodes of its body with *terminators* between them, which are ifs at the top
//! level of the body with one side that ends in `break`. A loop with any other `break`, with a `continue` before its
//! end, or with a continue construct is *complex*, and only its cost is known.
//!
//! A [`LoopAnalyzer`] is used for all loops of a body and reuses its buffers. The cost of analysing a loop is linear in
//! its instructions, plus the number of values that its conditions and indices depend on times the number of simulated
//! iterations, which is bounded.

mod arrays;
mod costs;
mod values;

use std::sync::Arc;

use cranelift_entity::SecondaryMap;

use super::LoopTree;
use crate::alu::ExecutionMode;
use crate::body::{Body, CfNode, JumpKind};
use crate::entities::{Block, Def, If, Inst, Loop, Variable};
use crate::types::TypeTable;
use crate::variable::VariableModes;
use arrays::{count_indexed, indexed_access};
use costs::CostStep;
use values::{Node, Value};

/// Maximum number of evaluations of single instructions for one loop.
const MAX_EVALUATIONS: usize = 1 << 18;

/// A loop exit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terminator {
    /// The `if`; `None` for a `break` at the end of the body.
    pub node: Option<If>,
    /// Whether the then side of the `if` ends in `break`; otherwise the else side does.
    pub break_in_then: bool,
    /// The block that ends in `break`.
    pub break_block: Block,
}

/// Outcome of a terminator in an iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TerminatorOutcome {
    /// The loop continues.
    Stays,
    /// The loop is left.
    Leaves,
    /// Not known.
    Unknown,
}

/// An access to an array, sampler or texture with an index that is known in the first iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexedArray {
    /// The deref, register access or texture instruction.
    pub inst: Inst,
    /// Number of elements; 0 if unknown.
    pub length: u32,
    /// Modes of the indexed variable; `function_temp` for a register, `uniform` for samplers and textures.
    pub modes: VariableModes,
    /// Whether it is a sampler or texture.
    pub is_sampler: bool,
    /// First iteration in which the index is out of bounds.
    pub out_of_bounds: Option<u32>,
}

/// Properties of a loop.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct LoopAnalysis {
    /// The loop is left or continued at other points than the terminators.
    pub is_complex: bool,
    /// The loop contains another loop.
    pub has_inner_loop: bool,
    /// The exits in program order; empty if the loop is complex.
    pub terminators: Vec<Terminator>,
    /// Outcomes of the terminators, iteration by iteration, up to the first one that is known to leave.
    pub outcomes: Vec<TerminatorOutcome>,
    /// The latest exit: iteration (0 is the first) and terminator.
    pub exit: Option<(u32, usize)>,
    /// Accesses with an index that depends on the iteration.
    pub indexed_arrays: Vec<IndexedArray>,
    /// Number of instructions of the body that have a cost; only for loops without an inner loop.
    pub cost: u32,
    /// Number of remaining instructions after complete unrolling. Excludes instructions that become constant or are not
    /// executed, repeated copies of invariant ones, and accesses to arrays that no longer have a dynamic index.
    pub unrolled_cost: u32,
}

impl LoopAnalysis {
    /// Maximum number of times that the back edge is taken.
    pub fn max_trip_count(&self) -> Option<u32> {
        self.exit.map(|(iteration, _)| iteration)
    }

    /// The number of terminators with an unknown outcome before the exit.
    pub fn num_unknown_terminators(&self) -> usize {
        let count = self.terminators.len().max(1);
        (0..count)
            .filter(|&t| self.outcomes.iter().skip(t).step_by(count).any(|&o| o == TerminatorOutcome::Unknown))
            .count()
    }

    /// Outcome of a terminator in an iteration.
    pub fn outcome(&self, iteration: u32, terminator: usize) -> TerminatorOutcome {
        let at = (iteration as usize).saturating_mul(self.terminators.len()).saturating_add(terminator);
        self.outcomes.get(at).copied().unwrap_or(TerminatorOutcome::Unknown)
    }

    /// For a loop without a known exit: the first iteration in which an index is out of bounds, which does not happen
    /// in a correct program.
    pub fn guessed_trip_count(&self) -> Option<u32> {
        match self.exit {
            Some(_) => None,
            None => self.indexed_arrays.iter().filter_map(|a| a.out_of_bounds).min(),
        }
    }

    /// Whether the loop indexes a variable of the shader that has as many elements as the loop has iterations.
    pub fn walks_array(&self) -> bool {
        let own = VariableModes::SHADER_IN
            .union(VariableModes::SHADER_OUT)
            .union(VariableModes::SHADER_TEMP)
            .union(VariableModes::FUNCTION_TEMP);
        let trips = self.max_trip_count();
        self.arrays().any(|array| array.length != 0 && Some(array.length) == trips && own.contains(array.modes))
    }

    /// Whether the loop indexes a variable with one of these modes by its iteration.
    pub fn indexes(&self, modes: VariableModes) -> bool {
        self.arrays().any(|array| modes.intersects(array.modes))
    }

    fn arrays(&self) -> impl Iterator<Item = &IndexedArray> {
        self.indexed_arrays.iter().filter(|array| !array.is_sampler)
    }
}

/// No entry.
const NONE: u32 = u32::MAX;

/// Analyses loops of one body. See the [module](self).
pub(crate) struct LoopAnalyzer<'a> {
    tree: Arc<LoopTree>,
    types: &'a TypeTable,
    mode: ExecutionMode,
    max_iterations: u32,
    /// Index in `nodes` for values of the current loop.
    numbers: SecondaryMap<Def, u32>,
    nodes: Vec<(Def, Node)>,
    values: Vec<Value>,
    /// Number of dynamically indexed derefs of each variable of the function.
    indexed: SecondaryMap<Variable, u32>,
    /// The loop in which a value is invariant, as the loop's number plus 1.
    invariant: SecondaryMap<Def, u32>,
}

impl<'a> LoopAnalyzer<'a> {
    /// An analyser for the loops of `body`. The content of a loop must not change before it is analysed. Finds trip
    /// counts up to `max_iterations`.
    pub fn new(body: &Body, types: &'a TypeTable, mode: ExecutionMode, max_iterations: u32) -> LoopAnalyzer<'a> {
        LoopAnalyzer {
            tree: body.loop_tree(),
            types,
            mode,
            max_iterations,
            numbers: SecondaryMap::with_default(NONE),
            nodes: Vec::new(),
            values: Vec::new(),
            indexed: count_indexed(body),
            invariant: SecondaryMap::new(),
        }
    }

    /// The loops of the body.
    pub fn tree(&self) -> &LoopTree {
        &self.tree
    }

    /// Analyses a loop.
    pub fn analyze(&mut self, body: &Body, id: Loop) -> LoopAnalysis {
        let mut analysis = LoopAnalysis::default();
        self.find_terminators(body, id, &mut analysis);
        if !analysis.is_complex {
            // Simulate the terminators first; costs of unrolling matter only if the loop may be unrolled.
            self.simulate(body, id, &mut analysis, false);
            if analysis.exit.is_some() || !analysis.indexed_arrays.is_empty() {
                self.forget_values();
                analysis.outcomes.clear();
                analysis.exit = None;
                self.simulate(body, id, &mut analysis, true);
            } else {
                analysis.unrolled_cost = u32::MAX;
            }
        }
        self.forget_values();
        analysis
    }

    fn forget_values(&mut self) {
        for (def, _) in self.nodes.drain(..) {
            self.numbers[def] = NONE;
        }
        self.values.clear();
    }

    fn find_terminators(&self, body: &Body, id: Loop, analysis: &mut LoopAnalysis) {
        let info = self.tree.info(id);
        let list = body.loop_body(id);
        let mut block = list.first;
        loop {
            match body.node_after(block) {
                Some(CfNode::If(node)) => {
                    let breaks = |last| matches!(body.block_jump(last), Some((_, JumpKind::Break)));
                    let (then_last, else_last) = (body.then_list(node).last, body.else_list(node).last);
                    match (breaks(then_last), breaks(else_last)) {
                        (true, true) => analysis.is_complex = true,
                        (false, false) => {}
                        (break_in_then, _) => {
                            let (break_block, stay_block) =
                                if break_in_then { (then_last, else_last) } else { (else_last, then_last) };
                            analysis.is_complex |= body.block_jump(stay_block).is_some();
                            analysis.terminators.push(Terminator { node: Some(node), break_in_then, break_block });
                        }
                    }
                    block = body.block_after_if(node);
                }
                Some(CfNode::Loop(inner)) => block = body.block_after_loop(inner),
                Some(CfNode::Block(_)) | None => break,
            }
        }
        let ends_in_break = match body.block_jump(list.last) {
            Some((_, JumpKind::Break)) => {
                analysis.terminators.push(Terminator { node: None, break_in_then: true, break_block: list.last });
                true
            }
            None | Some((_, JumpKind::Continue)) => false,
            Some(_) => {
                analysis.is_complex = true;
                false
            }
        };
        let latch: &[Block] = if ends_in_break { &[] } else { &[list.last] };
        analysis.is_complex |= body.loop_continue_list(id).is_some()
            || info.latches != latch
            || info.exits.len() != analysis.terminators.len();
        if analysis.is_complex {
            analysis.terminators.clear();
        }
        analysis.has_inner_loop = body.blocks_in(list).any(|b| body.following_loop(b).is_some());
    }

    fn is_inside(&self, body: &Body, id: Loop, def: Def) -> bool {
        body.inst_block(body.def_inst(def)).is_some_and(|block| self.tree.contains(id, block))
    }

    fn simulate(&mut self, body: &Body, id: Loop, analysis: &mut LoopAnalysis, with_costs: bool) {
        for terminator in &analysis.terminators {
            if let Some(node) = terminator.node {
                self.add_root(body, id, body.src_def(body.if_condition(node)));
            }
        }
        let mut accesses: Vec<(Def, IndexedArray)> = Vec::new();
        let mut steps: Vec<CostStep> = Vec::new();
        if !analysis.has_inner_loop {
            for block in body.blocks_in(body.loop_body(id)) {
                accesses.extend(body.insts(block).filter_map(|inst| indexed_access(body, self.types, inst)));
            }
            accesses.retain(|&(index, _)| self.is_inside(body, id, index));
            for &(index, _) in &accesses {
                self.add_root(body, id, index);
            }
            if with_costs {
                steps = self.list_steps(body, id, analysis);
            }
        }
        let mut resolved: Vec<Variable> = Vec::new();
        let affordable = MAX_EVALUATIONS / self.nodes.len().max(1);
        let iterations = self.max_iterations.saturating_add(1).min(affordable as u32).max(1);
        for iteration in 0..iterations {
            self.evaluate(body);
            if iteration == 0 {
                accesses.retain(|&(index, _)| self.known(body, index, 0).is_some());
                if with_costs {
                    resolved = self.resolved_arrays(body, &accesses);
                }
            }
            for (index, array) in &mut accesses {
                if array.out_of_bounds.is_none()
                    && array.length != 0
                    && self.known(body, *index, 0).is_some_and(|i| i >= u64::from(array.length))
                {
                    array.out_of_bounds = Some(iteration);
                }
            }
            for number in 0..analysis.terminators.len() {
                let outcome = self.outcome(body, &analysis.terminators[number]);
                analysis.outcomes.push(outcome);
                if outcome == TerminatorOutcome::Leaves {
                    analysis.exit = Some((iteration, number));
                    break;
                }
            }
            if with_costs {
                let cost = self.cost_of_iteration(body, &steps, analysis, &resolved, iteration);
                analysis.unrolled_cost = analysis.unrolled_cost.saturating_add(cost);
            }
            if analysis.exit.is_some() || !self.advance() {
                break;
            }
        }
        analysis.indexed_arrays = accesses.into_iter().map(|(_, array)| array).collect();
    }

    fn outcome(&self, body: &Body, terminator: &Terminator) -> TerminatorOutcome {
        let Some(node) = terminator.node else { return TerminatorOutcome::Leaves };
        match self.known(body, body.src_def(body.if_condition(node)), 0) {
            None => TerminatorOutcome::Unknown,
            Some(bits) if (bits != 0) == terminator.break_in_then => TerminatorOutcome::Leaves,
            Some(_) => TerminatorOutcome::Stays,
        }
    }
}

#[cfg(test)]
mod tests;

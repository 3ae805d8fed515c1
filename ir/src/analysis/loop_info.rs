//! What a loop does: its exits, its counters, how often it runs, what it indexes.
//!
//! Nothing is matched against forms of counting loops. The values that depend on constants and on the iteration alone are *computed*, iteration by iteration,
//! with the evaluator that executors use: whatever a condition is made of (compound, inverted, with a float or an integer counter, with several counters,
//! with counters that are components of vectors), it is known in an iteration or it is not. A value that is known in part (`iand` with a false operand, a comparison
//! with the minimum of something and a constant) counts as far as it goes. So a trip count is exact to the bit, rounding of float counters included.
//!
//! The analysis looks at a loop as a sequence: the nodes of its body with *terminators* between them, ifs of the body's top level one side of which ends in `break`. A loop
//! with any other `break`, with a `continue` before its end, or with a continue construct is *complex*, and only its cost is known.
//!
//! A [`LoopAnalyzer`] is used for all loops of a body and keeps its scratch. The cost for a loop is that of its instructions, plus that of the values that its conditions and
//! indices depend on times the iterations that are looked at, which is bounded.

use std::sync::Arc;

use cranelift_entity::SecondaryMap;

use super::LoopTree;
use crate::alu::{self, AluOp, ExecutionMode};
use crate::body::{Body, CfNode, CfParent, DerefKind, InstData, JumpKind, MAX_COMPONENTS};
use crate::entities::{Block, Def, If, Inst, Loop, Variable};
use crate::intrinsics::{IndexKind, IntrinsicOp};
use crate::passes::opt_cse::can_reorder;
use crate::types::{TypeData, TypeTable};
use crate::variable::VariableModes;

/// Most evaluations of single instructions for one loop.
const MAX_EVALUATIONS: usize = 1 << 18;

/// A place where a loop is left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Terminator {
    /// The `if`; none for a `break` at the end of the body.
    pub node: Option<If>,
    /// The first side of the `if` is the one that ends in `break`.
    pub break_in_then: bool,
    /// The block that ends in `break`.
    pub break_block: Block,
}

/// What a terminator does in an iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The loop goes on.
    Stays,
    /// The loop is left.
    Leaves,
    /// One or the other.
    Unknown,
}

/// An access to an array, sampler or texture whose index is known in the first iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexedArray {
    /// The deref, register access or texture instruction.
    pub inst: Inst,
    /// Number of elements, 0 if it is not known.
    pub length: u32,
    /// What is indexed: modes of a variable; `function_temp` for a register, `uniform` for samplers and textures.
    pub modes: VariableModes,
    /// It is a sampler or texture.
    pub is_sampler: bool,
    /// First iteration in which the index is beyond the array.
    pub out_of_bounds: Option<u32>,
}

/// What is known of a loop.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct LoopAnalysis {
    /// It is left or continued elsewhere than at the terminators.
    pub is_complex: bool,
    /// There is a loop inside.
    pub has_inner_loop: bool,
    /// The exits in the order of the text; none if the loop is complex.
    pub terminators: Vec<Terminator>,
    /// What the terminators do, iteration by iteration, up to the first that leaves for sure.
    pub outcomes: Vec<Outcome>,
    /// When the loop is left at the latest: iteration (0 is the first) and terminator.
    pub exit: Option<(u32, usize)>,
    /// What is indexed with something that counts.
    pub indexed_arrays: Vec<IndexedArray>,
    /// Instructions of the body that cost something; only for loops without an inner loop.
    pub cost: u32,
    /// The same for all iterations, without what becomes constant, what is not executed, all but the first of what is the same in each, and accesses to
    /// arrays that nothing indexes at run time any more.
    pub unrolled_cost: u32,
}

impl LoopAnalysis {
    /// Number of times that the loop starts over, at most.
    pub fn max_trip_count(&self) -> Option<u32> {
        self.exit.map(|(iteration, _)| iteration)
    }

    /// The number of terminators that may leave the loop before the limiting one.
    pub fn num_unknown_terminators(&self) -> usize {
        let count = self.terminators.len().max(1);
        (0..count).filter(|&t| self.outcomes.iter().skip(t).step_by(count).any(|&o| o == Outcome::Unknown)).count()
    }

    /// What a terminator does in an iteration.
    pub fn outcome(&self, iteration: u32, terminator: usize) -> Outcome {
        let at = (iteration as usize).saturating_mul(self.terminators.len()).saturating_add(terminator);
        self.outcomes.get(at).copied().unwrap_or(Outcome::Unknown)
    }

    /// For a loop that nothing known ends: the iteration in which an index leaves its array, as a program without errors will not.
    pub fn guessed_trip_count(&self) -> Option<u32> {
        match self.exit {
            Some(_) => None,
            None => self.indexed_arrays.iter().filter_map(|a| a.out_of_bounds).min(),
        }
    }

    /// Whether a loop counts through an array of the shader's own of as many elements as it has iterations.
    pub fn walks_array(&self) -> bool {
        let own = VariableModes::SHADER_IN
            .union(VariableModes::SHADER_OUT)
            .union(VariableModes::SHADER_TEMP)
            .union(VariableModes::FUNCTION_TEMP);
        let trips = self.max_trip_count();
        self.arrays().any(|array| array.length != 0 && Some(array.length) == trips && own.contains(array.modes))
    }

    /// Whether something counts through a variable of these modes.
    pub fn indexes(&self, modes: VariableModes) -> bool {
        self.arrays().any(|array| modes.intersects(array.modes))
    }

    fn arrays(&self) -> impl Iterator<Item = &IndexedArray> {
        self.indexed_arrays.iter().filter(|array| !array.is_sampler)
    }
}

/// The components of a value, as far as they are known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Value {
    known: u16,
    bits: [u64; MAX_COMPONENTS],
}

impl Value {
    const UNKNOWN: Value = Value { known: 0, bits: [0; MAX_COMPONENTS] };

    fn of_constant(values: &[u64]) -> Value {
        let mut value = Value::UNKNOWN;
        for (component, &bits) in values.iter().enumerate().take(MAX_COMPONENTS) {
            value.set(component, bits);
        }
        value
    }

    fn set(&mut self, component: usize, bits: u64) {
        self.known |= 1 << component;
        self.bits[component] = bits;
    }

    fn get(&self, component: usize) -> Option<u64> {
        (self.known >> component & 1 != 0).then(|| self.bits[component])
    }

    /// What two values have in common.
    fn meet(&self, other: &Value) -> Value {
        let mut value = Value::UNKNOWN;
        for component in 0..MAX_COMPONENTS {
            if let (Some(a), Some(b)) = (self.get(component), other.get(component))
                && a == b
            {
                value.set(component, a);
            }
        }
        value
    }
}

/// How a value comes about.
#[derive(Clone, Copy, Debug)]
enum Node {
    /// It is the same in every iteration.
    Fixed,
    /// A phi of the head: what this value was in the iteration before.
    Head(Option<Def>),
    /// An ALU instruction.
    Alu(Inst),
    /// A phi elsewhere, and the `if` before it.
    Phi(Inst, Option<If>),
}

/// What an iteration costs, as a program: of all copies of the body only what is left of it when known values are constants.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// An instruction; one whose value is computed here costs only as long as it is not known.
    Cost(Option<Def>),
    /// The same for one that computes the same in every iteration: of its copies one is left.
    Once(Option<Def>),
    /// An access to an array of the function: nothing is left of it if all indices of the array become constants.
    Access(Variable),
    /// A branch: if the condition is known to be false, go on at the second side.
    If { condition: Def, else_step: usize },
    /// The end of the first side: if the condition is known to be true, go on behind the second.
    Else { condition: Def, end: usize },
    /// Behind a terminator: the end, if it is known to leave.
    Exit(usize),
}

/// No number.
const NONE: u32 = u32::MAX;

/// Analyses loops of one body. See the [module](self).
pub struct LoopAnalyzer<'a> {
    tree: Arc<LoopTree>,
    types: &'a TypeTable,
    mode: ExecutionMode,
    max_iterations: u32,
    /// Place in `nodes`, for the values of the loop at hand.
    numbers: SecondaryMap<Def, u32>,
    nodes: Vec<(Def, Node)>,
    values: Vec<Value>,
    /// Derefs by run-time indices of each variable of the function.
    indexed: SecondaryMap<Variable, u32>,
    /// The loop in which a value is the same in each iteration, by its number + 1.
    invariant: SecondaryMap<Def, u32>,
}

impl<'a> LoopAnalyzer<'a> {
    /// An analyser for the loops of `body` as they are now: what is inside a loop must not have changed when it is asked about. Trip counts up to `max_iterations`
    /// are found.
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

    /// What is known of a loop.
    pub fn analyze(&mut self, body: &Body, id: Loop) -> LoopAnalysis {
        let mut analysis = LoopAnalysis::default();
        self.find_terminators(body, id, &mut analysis);
        if !analysis.is_complex {
            // First what decides about the loop; what the copies of the rest would cost only if there may be some.
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

    // ---- which values ---------------------------------------------------------------------------------------------------

    /// Gives the value and everything that it depends on a place in the list of nodes, what it depends on first.
    fn add_root(&mut self, body: &Body, id: Loop, root: Def) {
        let head = body.loop_body(id).first;
        let mut roots = vec![root];
        while let Some(root) = roots.pop() {
            let mut work = vec![(root, false)];
            while let Some((def, is_expanded)) = work.pop() {
                if self.numbers[def] != NONE {
                    continue;
                }
                let inst = body.def_inst(def);
                let block = body.inst_block(inst).filter(|&block| self.tree.contains(id, block));
                let node = match (*body.inst(inst), block) {
                    (InstData::Phi, Some(block)) if block == head => {
                        let latch = body.phi_sources(inst).find(|&(pred, _)| self.tree.contains(id, pred));
                        let next = latch.map(|(_, source)| body.src_def(source));
                        roots.extend(next);
                        Node::Head(next)
                    }
                    (InstData::Phi, Some(block)) if !is_loop_head(body, block) => {
                        let node = match body.node_before(block) {
                            Some(CfNode::If(node)) => Some(node),
                            _ => None,
                        };
                        if !is_expanded {
                            work.push((def, true));
                            work.extend(node.map(|node| (body.src_def(body.if_condition(node)), false)));
                            work.extend(body.sources(inst).map(|s| (body.src_def(s), false)));
                            continue;
                        }
                        Node::Phi(inst, node)
                    }
                    (InstData::Alu { .. }, Some(_)) => {
                        if !is_expanded {
                            work.push((def, true));
                            work.extend(body.sources(inst).map(|s| (body.src_def(s), false)));
                            continue;
                        }
                        Node::Alu(inst)
                    }
                    _ => Node::Fixed,
                };
                let value = match node {
                    Node::Fixed => body.def_constant(def).map_or(Value::UNKNOWN, Value::of_constant),
                    Node::Head(_) => {
                        let entry = body.phi_sources(inst).find(|&(pred, _)| !self.tree.contains(id, pred));
                        let entry = entry.and_then(|(_, source)| body.def_constant(body.src_def(source)));
                        entry.map_or(Value::UNKNOWN, Value::of_constant)
                    }
                    Node::Alu(_) | Node::Phi(..) => Value::UNKNOWN,
                };
                self.numbers[def] = self.nodes.len() as u32;
                self.nodes.push((def, node));
                self.values.push(value);
            }
        }
    }

    /// A component of a value: as computed, or a constant.
    fn known(&self, body: &Body, def: Def, component: usize) -> Option<u64> {
        match self.values.get(self.numbers[def] as usize) {
            Some(value) => value.get(component),
            None => body.constant_component(def, component),
        }
    }

    // ---- the run --------------------------------------------------------------------------------------------------------

    fn simulate(&mut self, body: &Body, id: Loop, analysis: &mut LoopAnalysis, with_costs: bool) {
        for terminator in &analysis.terminators {
            if let Some(node) = terminator.node {
                self.add_root(body, id, body.src_def(body.if_condition(node)));
            }
        }
        let mut accesses: Vec<(Def, IndexedArray)> = Vec::new();
        let mut steps: Vec<Step> = Vec::new();
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
                if outcome == Outcome::Leaves {
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

    /// What the body costs, step by step. Everything that may become constant is given a place in the list of nodes.
    fn list_steps(&mut self, body: &Body, id: Loop, analysis: &mut LoopAnalysis) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        // Ifs that are not complete: the number of their step, of that between the sides, and the terminator that they are.
        let mut open: Vec<(If, usize, Option<usize>)> = Vec::new();
        for block in body.blocks_in(body.loop_body(id)) {
            if let Some(&(node, step, terminator)) = open.last() {
                if body.else_list(node).first == block {
                    let condition = body.src_def(body.if_condition(node));
                    let here = steps.len();
                    if let Some(Step::If { else_step, .. }) = steps.get_mut(step) {
                        *else_step = here + 1;
                    }
                    steps.push(Step::Else { condition, end: 0 });
                    if let Some(last) = open.last_mut() {
                        last.1 = here;
                    }
                } else if body.block_after_if(node) == block {
                    let here = steps.len();
                    if let Some(Step::Else { end, .. }) = steps.get_mut(step) {
                        *end = here;
                    }
                    steps.extend(terminator.map(Step::Exit));
                    open.pop();
                }
            }
            for inst in body.insts(block) {
                let def = body.inst_def(inst);
                // What is executed in every iteration, and the same in all.
                let is_invariant = open.is_empty() && self.is_invariant(body, id, inst);
                if let Some(def) = def.filter(|_| is_invariant) {
                    self.invariant[def] = id.as_u32() + 1;
                }
                match *body.inst(inst) {
                    InstData::Alu { .. } => {
                        if let Some(def) = def {
                            self.add_root(body, id, def);
                        }
                        steps.push(if is_invariant { Step::Once(def) } else { Step::Cost(def) });
                        analysis.cost += 1;
                    }
                    InstData::Intrinsic { op: IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref, .. } => {
                        let variable = local_of(body, body.def_inst(body.src(inst, 0)));
                        steps.push(variable.map_or(Step::Cost(None), Step::Access));
                        analysis.cost += 1;
                    }
                    InstData::Tex(_) | InstData::Intrinsic { .. } => {
                        steps.push(if is_invariant { Step::Once(None) } else { Step::Cost(None) });
                        analysis.cost += 1;
                    }
                    _ => {}
                }
            }
            if let Some(node) = body.following_if(block) {
                let condition = body.src_def(body.if_condition(node));
                self.add_root(body, id, condition);
                let terminator = analysis.terminators.iter().position(|t| t.node == Some(node));
                open.push((node, steps.len(), terminator));
                steps.push(Step::If { condition, else_step: 0 });
            }
        }
        steps
    }

    /// Whether an instruction depends on nothing that the loop changes.
    fn is_invariant(&self, body: &Body, id: Loop, inst: Inst) -> bool {
        let can_be = match *body.inst(inst) {
            InstData::Alu { .. } | InstData::LoadConst { .. } | InstData::Undef => true,
            InstData::Intrinsic { op, .. } => op.info().can_eliminate && can_reorder(body, inst, op),
            _ => false,
        };
        can_be
            && body.sources(inst).all(|source| {
                let def = body.src_def(source);
                self.invariant[def] == id.as_u32() + 1 || !self.is_inside(body, id, def)
            })
    }

    /// The arrays of the function all of whose run-time indices are known in the iterations of the loop.
    fn resolved_arrays(&self, body: &Body, accesses: &[(Def, IndexedArray)]) -> Vec<Variable> {
        let mut found: Vec<(Variable, u32)> = Vec::new();
        for variable in accesses.iter().filter_map(|(_, array)| local_of(body, array.inst)) {
            match found.iter().position(|f| f.0 == variable) {
                Some(at) => found[at].1 += 1,
                // A loop that indexes that many arrays is not one to be unrolled.
                None if found.len() < 16 => found.push((variable, 1)),
                None => {}
            }
        }
        found.retain(|&(variable, count)| count == self.indexed[variable]);
        found.into_iter().map(|f| f.0).collect()
    }

    /// What is left of an iteration.
    fn cost_of_iteration(
        &self,
        body: &Body,
        steps: &[Step],
        analysis: &LoopAnalysis,
        resolved: &[Variable],
        iteration: u32,
    ) -> u32 {
        let mut cost = 0;
        let mut at = 0;
        while let Some(&step) = steps.get(at) {
            at += 1;
            match step {
                Step::Once(_) if iteration > 0 => {}
                Step::Access(variable) => cost += u32::from(!resolved.contains(&variable)),
                Step::Cost(def) | Step::Once(def) => {
                    let is_constant = def.is_some_and(|def| {
                        (0..usize::from(body.num_components(def))).all(|c| self.known(body, def, c).is_some())
                    });
                    cost += u32::from(!is_constant);
                }
                Step::If { condition, else_step } => match self.known(body, condition, 0) {
                    Some(0) => at = else_step.max(at),
                    Some(_) => {}
                    None => cost += 2,
                },
                Step::Else { condition, end } => {
                    if self.known(body, condition, 0).is_some_and(|c| c != 0) {
                        at = end.max(at);
                    }
                }
                Step::Exit(terminator) => {
                    let is_left =
                        analysis.terminators.get(terminator).is_some_and(|t| self.outcome(body, t) == Outcome::Leaves);
                    if is_left {
                        return cost;
                    }
                }
            }
        }
        cost
    }

    fn outcome(&self, body: &Body, terminator: &Terminator) -> Outcome {
        let Some(node) = terminator.node else { return Outcome::Leaves };
        match self.known(body, body.src_def(body.if_condition(node)), 0) {
            None => Outcome::Unknown,
            Some(bits) if (bits != 0) == terminator.break_in_then => Outcome::Leaves,
            Some(_) => Outcome::Stays,
        }
    }

    /// Computes all values of an iteration from those of the phis.
    fn evaluate(&mut self, body: &Body) {
        for number in 0..self.nodes.len() {
            let value = match self.nodes[number].1 {
                Node::Fixed | Node::Head(_) => continue,
                Node::Alu(inst) => self.evaluate_alu(body, inst),
                Node::Phi(inst, node) => self.evaluate_phi(body, inst, node),
            };
            self.values[number] = value;
        }
    }

    /// Goes on to the next iteration; false if nothing changes any more.
    fn advance(&mut self) -> bool {
        let read = |def: Option<Def>| {
            let number = def.map_or(NONE, |def| self.numbers[def]);
            self.values.get(number as usize).copied().unwrap_or(Value::UNKNOWN)
        };
        let next: Vec<(usize, Value)> = self
            .nodes
            .iter()
            .enumerate()
            .filter_map(|(number, &(_, node))| match node {
                Node::Head(next) => Some((number, read(next))),
                _ => None,
            })
            .collect();
        let mut changed = false;
        for (number, value) in next {
            let current = &mut self.values[number];
            changed |= *current != value;
            *current = value;
        }
        changed
    }

    fn evaluate_phi(&self, body: &Body, inst: Inst, node: Option<If>) -> Value {
        let read = |def: Def| self.values.get(self.numbers[def] as usize).copied().unwrap_or(Value::UNKNOWN);
        if let Some(node) = node
            && let Some(condition) = self.known(body, body.src_def(body.if_condition(node)), 0)
        {
            let taken = if condition != 0 { body.then_list(node) } else { body.else_list(node) };
            if let Some(source) = body.phi_source_for(inst, taken.last) {
                return read(body.src_def(source));
            }
        }
        let mut sources = body.sources(inst).map(|source| read(body.src_def(source)));
        let first = sources.next().unwrap_or(Value::UNKNOWN);
        sources.fold(first, |a, b| a.meet(&b))
    }

    fn evaluate_alu(&self, body: &Body, inst: Inst) -> Value {
        let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return Value::UNKNOWN };
        let count = usize::from(body.num_components(def)).min(MAX_COMPONENTS);
        let mut result = Value::UNKNOWN;
        let read = |number: usize, component: usize| {
            let source = body.source(inst, number);
            self.known(body, body.src_def(source), usize::from(body.swizzle(source).get(component)))
        };
        if op.is_vec() {
            for component in 0..count {
                if let Some(bits) = read(component, 0) {
                    result.set(component, bits);
                }
            }
            return result;
        }
        let info = op.info();
        let bits = body.alu_bit_size(inst);
        let num_sources = body.num_sources(inst).min(MAX_COMPONENTS);
        if info.output_size == 0 && info.input_sizes.iter().all(|&size| size == 0) {
            for component in 0..count {
                let mut storage = [[0u64; 1]; MAX_COMPONENTS];
                let is_known = (0..num_sources).all(|number| match read(number, component) {
                    Some(bits) => {
                        storage[number] = [bits];
                        true
                    }
                    None => false,
                });
                if is_known {
                    let mut out = [0];
                    let sources: arrayvec::ArrayVec<&[u64], MAX_COMPONENTS> =
                        storage[..num_sources].iter().map(|s| s.as_slice()).collect();
                    alu::evaluate(op, bits, 1, &sources, self.mode, &mut out);
                    result.set(component, out[0]);
                } else if let Some(bits) = self.evaluate_partly(body, inst, op, bits, component) {
                    result.set(component, bits);
                }
            }
            return result;
        }
        let mut storage = [[0u64; MAX_COMPONENTS]; 4];
        if num_sources > storage.len() {
            return result;
        }
        let mut sources: arrayvec::ArrayVec<&[u64], 4> = arrayvec::ArrayVec::new();
        for (number, values) in storage.iter_mut().enumerate().take(num_sources) {
            let width = body.alu_src_components(inst, number).min(MAX_COMPONENTS);
            for (component, value) in values.iter_mut().enumerate().take(width) {
                match read(number, component) {
                    Some(bits) => *value = bits,
                    None => return result,
                }
            }
        }
        for (number, values) in storage.iter().enumerate().take(num_sources) {
            sources.push(&values[..body.alu_src_components(inst, number).min(MAX_COMPONENTS)]);
        }
        let mut out = [0; MAX_COMPONENTS];
        alu::evaluate(op, bits, count as u8, &sources, self.mode, &mut out);
        Value::of_constant(&out[..count])
    }

    /// A component that is known although not all operands are.
    fn evaluate_partly(&self, body: &Body, inst: Inst, op: AluOp, bits: u8, component: usize) -> Option<u64> {
        let operand = |number: usize| {
            let source = body.source(inst, number);
            (body.src_def(source), usize::from(body.swizzle(source).get(component)))
        };
        let read = |number: usize| {
            let (def, component) = operand(number);
            self.known(body, def, component)
        };
        let ones = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        match op {
            AluOp::Iand => [read(0), read(1)].contains(&Some(0)).then_some(0),
            AluOp::Ior => [read(0), read(1)].contains(&Some(ones)).then_some(ones),
            _ if op.is_selection() => match read(0) {
                // Opcodes ask different things of their conditions.
                Some(condition) => {
                    let mut out = [0];
                    alu::evaluate(op, bits, 1, &[&[condition], &[ones], &[0]], self.mode, &mut out);
                    read(if out[0] != 0 { 1 } else { 2 })
                }
                None => read(1).filter(|&a| read(2) == Some(a)),
            },
            AluOp::Ilt | AluOp::Ige | AluOp::Ult | AluOp::Uge | AluOp::Flt | AluOp::Fge => {
                let (a_low, a_high) = self.bounds(body, op, bits, operand(0));
                let (b_low, b_high) = self.bounds(body, op, bits, operand(1));
                let less = match op {
                    AluOp::Ilt | AluOp::Ige => AluOp::Ilt,
                    AluOp::Ult | AluOp::Uge => AluOp::Ult,
                    _ => AluOp::Flt,
                };
                let is_less = a_high.zip(b_low).is_some_and(|(a, b)| self.compare(less, bits, a, b));
                let not_less = match less {
                    AluOp::Ilt => AluOp::Ige,
                    AluOp::Ult => AluOp::Uge,
                    _ => AluOp::Fge,
                };
                let is_not_less = a_low.zip(b_high).is_some_and(|(a, b)| self.compare(not_less, bits, a, b));
                match (is_less, is_not_less) {
                    (true, _) => Some(u64::from(op == less)),
                    (_, true) => Some(u64::from(op != less)),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn compare(&self, op: AluOp, bits: u8, a: u64, b: u64) -> bool {
        let mut out = [0];
        alu::evaluate(op, bits, 1, &[&[a], &[b]], self.mode, &mut out);
        out[0] != 0
    }

    /// Least and greatest value of an operand of a comparison: the value itself, or the constant operand of a minimum or maximum.
    fn bounds(&self, body: &Body, comparison: AluOp, bits: u8, operand: (Def, usize)) -> (Option<u64>, Option<u64>) {
        let (def, component) = operand;
        if let Some(bits) = self.known(body, def, component) {
            return (Some(bits), Some(bits));
        }
        let (minimum, maximum) = match comparison {
            AluOp::Ilt | AluOp::Ige => (AluOp::Imin, AluOp::Imax),
            AluOp::Ult | AluOp::Uge => (AluOp::Umin, AluOp::Umax),
            _ => (AluOp::Fmin, AluOp::Fmax),
        };
        let maker = body.def_inst(def);
        let Some(op) = body.alu_op(maker).filter(|&op| op == minimum || op == maximum) else { return (None, None) };
        let limit = (0..2).find_map(|number| {
            let source = body.source(maker, number);
            self.known(body, body.src_def(source), usize::from(body.swizzle(source).get(component)))
        });
        // The minimum with NaN is the other operand.
        let is_float = op == AluOp::Fmin || op == AluOp::Fmax;
        let limit = limit.filter(|&limit| !is_float || self.compare(AluOp::Feq, bits, limit, limit));
        if op == minimum { (None, limit) } else { (limit, None) }
    }
}

/// Whether a block is the head of a loop.
fn is_loop_head(body: &Body, block: Block) -> bool {
    match body.block_parent(block) {
        Some(parent @ (CfParent::Body(_) | CfParent::Continue(_))) => body.list(parent).first == block,
        _ => false,
    }
}

/// The index of an access to an array, sampler or texture.
/// The variable of the function that a deref leads to.
fn local_of(body: &Body, mut inst: Inst) -> Option<Variable> {
    loop {
        match *body.inst(inst) {
            InstData::Deref { kind: DerefKind::Var(variable), modes, .. } => {
                return (modes == VariableModes::FUNCTION_TEMP).then_some(variable);
            }
            InstData::Deref { kind: DerefKind::Array | DerefKind::Struct(_), .. } => {
                inst = body.def_inst(body.src(inst, 0));
            }
            _ => return None,
        }
    }
}

/// Derefs by run-time indices of each variable of the function.
fn count_indexed(body: &Body) -> SecondaryMap<Variable, u32> {
    let mut indexed = SecondaryMap::new();
    if body.locals.is_empty() {
        return indexed;
    }
    for inst in body.blocks().flat_map(|block| body.insts(block)) {
        if matches!(body.inst(inst), InstData::Deref { kind: DerefKind::Array, .. })
            && body.constant_component(body.src(inst, 1), 0).is_none()
            && let Some(variable) = local_of(body, inst)
        {
            indexed[variable] += 1;
        }
    }
    indexed
}

fn indexed_access(body: &Body, types: &TypeTable, inst: Inst) -> Option<(Def, IndexedArray)> {
    let array = |length, modes| IndexedArray { inst, length, modes, is_sampler: false, out_of_bounds: None };
    match *body.inst(inst) {
        InstData::Deref { kind: DerefKind::Array, modes, .. } => {
            let length = match body.deref_type(body.src(inst, 0)).map(|ty| types.get(ty)) {
                Some(&TypeData::Array { length, .. }) => length,
                Some(&TypeData::Matrix { columns, .. }) => columns.into(),
                _ => 0,
            };
            let is_sampler = body.inst_def(inst).is_some_and(|def| {
                body.uses_of(def).any(|u| body.user(u).inst().is_some_and(|i| body.tex(i).is_some()))
            });
            Some((body.src(inst, 1), IndexedArray { is_sampler, ..array(length, modes) }))
        }
        InstData::Intrinsic { op, .. } => {
            let (handle, index) = match op {
                IntrinsicOp::LoadRegIndirect => (body.src(inst, 0), body.src(inst, 1)),
                IntrinsicOp::StoreRegIndirect => (body.src(inst, 1), body.src(inst, 2)),
                _ => return None,
            };
            let length = body.index(body.def_inst(handle), IndexKind::NumArrayElems) as u32;
            let base = body.index(inst, IndexKind::Base) as u32;
            Some((index, array(length.saturating_sub(base), VariableModes::FUNCTION_TEMP)))
        }
        _ => None,
    }
}

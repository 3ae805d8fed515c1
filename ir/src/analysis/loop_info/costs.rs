//! The cost of a completely unrolled loop, in which known values are constants.
//!
//! The body becomes a list of steps in program order, which each iteration executes with its own values: branches with
//! a known condition are skipped accordingly, and code after an exit that is known to be taken has no cost.

use crate::body::{Body, InstData};
use crate::entities::{Def, If, Inst, Loop, Variable};
use crate::intrinsics::IntrinsicOp;

use super::arrays::local_of;
use super::{LoopAnalysis, LoopAnalyzer, TerminatorOutcome};

/// A step of the computation of costs.
#[derive(Clone, Copy, Debug)]
pub(super) enum CostStep {
    /// An instruction; free if its value is known.
    Cost(Option<Def>),
    /// Like `Cost`, for an instruction with the same result in every iteration: only its first copy has a cost.
    Once(Option<Def>),
    /// An access to an array of the function: free if all indices of the array become constants.
    Access(Variable),
    /// A branch: if the condition is known to be false, continue at the else side.
    If { condition: Def, else_step: usize },
    /// The end of the then side: if the condition is known to be true, continue after the else side.
    Else { condition: Def, end: usize },
    /// After a terminator: the end, if it is known to leave the loop.
    Exit(usize),
}

impl LoopAnalyzer<'_> {
    /// Lists the steps of the body. Adds all values that may become constant to the list of nodes.
    pub(super) fn list_steps(&mut self, body: &Body, id: Loop, analysis: &mut LoopAnalysis) -> Vec<CostStep> {
        let mut steps: Vec<CostStep> = Vec::new();
        // Open ifs: the `if`, the index of its last step (`If` or `Else`), and its number as a terminator.
        let mut open: Vec<(If, usize, Option<usize>)> = Vec::new();
        for block in body.blocks_in(body.loop_body(id)) {
            if let Some(&(node, step, terminator)) = open.last() {
                if body.else_list(node).first == block {
                    let condition = body.src_def(body.if_condition(node));
                    let here = steps.len();
                    if let Some(CostStep::If { else_step, .. }) = steps.get_mut(step) {
                        *else_step = here + 1;
                    }
                    steps.push(CostStep::Else { condition, end: 0 });
                    if let Some(last) = open.last_mut() {
                        last.1 = here;
                    }
                } else if body.block_after_if(node) == block {
                    let here = steps.len();
                    if let Some(CostStep::Else { end, .. }) = steps.get_mut(step) {
                        *end = here;
                    }
                    steps.extend(terminator.map(CostStep::Exit));
                    open.pop();
                }
            }
            for inst in body.insts(block) {
                let def = body.inst_def(inst);
                // Executed in every iteration with the same result.
                let is_invariant = open.is_empty() && self.is_invariant(body, id, inst);
                if let Some(def) = def.filter(|_| is_invariant) {
                    self.invariant[def] = id.as_u32() + 1;
                }
                match *body.inst(inst) {
                    InstData::Alu { .. } => {
                        if let Some(def) = def {
                            self.add_root(body, id, def);
                        }
                        steps.push(if is_invariant { CostStep::Once(def) } else { CostStep::Cost(def) });
                        analysis.cost += 1;
                    }
                    InstData::Intrinsic { op: IntrinsicOp::LoadDeref | IntrinsicOp::StoreDeref, .. } => {
                        let variable = local_of(body, body.def_inst(body.src(inst, 0)));
                        steps.push(variable.map_or(CostStep::Cost(None), CostStep::Access));
                        analysis.cost += 1;
                    }
                    InstData::Tex(_) | InstData::Intrinsic { .. } => {
                        steps.push(if is_invariant { CostStep::Once(None) } else { CostStep::Cost(None) });
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
                steps.push(CostStep::If { condition, else_step: 0 });
            }
        }
        steps
    }

    /// Whether an instruction is loop-invariant.
    fn is_invariant(&self, body: &Body, id: Loop, inst: Inst) -> bool {
        let can_be = match *body.inst(inst) {
            InstData::Alu { .. } | InstData::LoadConst { .. } | InstData::Undef => true,
            InstData::Intrinsic { op, .. } => op.info().can_eliminate && body.can_reorder(inst, op),
            _ => false,
        };
        can_be
            && body.sources(inst).all(|source| {
                let def = body.src_def(source);
                self.invariant[def] == id.as_u32() + 1 || !self.is_inside(body, id, def)
            })
    }

    /// The remaining cost of an iteration.
    pub(super) fn cost_of_iteration(
        &self,
        body: &Body,
        steps: &[CostStep],
        analysis: &LoopAnalysis,
        resolved: &[Variable],
        iteration: u32,
    ) -> u32 {
        let mut cost = 0;
        let mut at = 0;
        while let Some(&step) = steps.get(at) {
            at += 1;
            match step {
                CostStep::Once(_) if iteration > 0 => {}
                CostStep::Access(variable) => cost += u32::from(!resolved.contains(&variable)),
                CostStep::Cost(def) | CostStep::Once(def) => {
                    let is_constant = def.is_some_and(|def| {
                        (0..usize::from(body.num_components(def))).all(|c| self.known(body, def, c).is_some())
                    });
                    cost += u32::from(!is_constant);
                }
                CostStep::If { condition, else_step } => match self.known(body, condition, 0) {
                    Some(0) => at = else_step.max(at),
                    Some(_) => {}
                    None => cost += 2,
                },
                CostStep::Else { condition, end } => {
                    if self.known(body, condition, 0).is_some_and(|c| c != 0) {
                        at = end.max(at);
                    }
                }
                CostStep::Exit(terminator) => {
                    let is_left = analysis
                        .terminators
                        .get(terminator)
                        .is_some_and(|t| self.outcome(body, t) == TerminatorOutcome::Leaves);
                    if is_left {
                        return cost;
                    }
                }
            }
        }
        cost
    }
}

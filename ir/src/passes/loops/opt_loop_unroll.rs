//! Replaces loops with a known, small trip count by copies of their body.
//!
//! ```text
//! before:                                         after:
//!     loop {                                          (i = 0)  x0 = a + x
//!         i = phi 0, i + 1                            (i = 1)  x1 = a + x0
//!         if (i >= 2) { break }
//!         x = a + phi x, ...
//!     }
//! ```
//!
//! `LoopAnalysis` determines, if known, the outcome of each exit in each iteration. The copies follow it:
//! - an exit that is not taken leaves only its other side;
//! - an exit that is certainly taken leaves only its side, and ends the copies;
//! - an exit that may be taken becomes an `if` with all later code in one side.
//!
//! So one procedure handles loops with an exact count, with a bound (`i < min(n, 4)`), with exits besides the counting
//! one, and loops that run only once. No registers are needed: phis of the head become the values of the previous
//! iteration, phis after the loop become phis after the ifs.
//!
//! # Which loops
//!
//! - A loop that runs at most once is always removed: nothing is copied.
//! - The trip count of other loops must be at most
//!   [`max_unroll_iterations`](crate::options::CompilerOptions::max_unroll_iterations), and they must be cheap: all
//!   copies, after folding, may cost at most 26 times that option. The copies may exceed the loop by at most
//!   [`max_unroll_growth`](crate::options::CompilerOptions::max_unroll_growth). A loop that counts through an array
//!   with as many elements as iterations need not be cheap; one that indexes something the target cannot index
//!   dynamically is exempt from both limits, up to 65,536 instructions.
//! - For loops that index an array and have no ifs except their exits, the limit is
//!   [`max_unroll_iterations_aggressive`](crate::options::CompilerOptions::max_unroll_iterations_aggressive) if it is
//!   larger.
//! - At most one other exit, because each copy of it is a nesting level.
//! - No loop inside that would be copied: if that one can be unrolled, it already is. Each call unrolls one nesting
//!   level.
//! - No complex loops (`analysis::loop_info`): [`opt_loop`](mod@crate::passes::loops::opt_loop) turns many of
//!   them into simple ones.
//! - The hints of a loop take precedence ([`LoopControl`]).
//! - For targets without loops ([`lower_control_flow`](crate::options::CompilerOptions::lower_control_flow)) every loop
//!   with a bound of at most 1024 iterations is unrolled, up to 65,536 instructions, whatever its other exits.
//!
//! A loop without known end that indexes an array with its counter leaves the loop before it leaves the array, unless
//! the program has an error. It is unrolled for the length of the array; the remaining loop becomes the innermost
//! `else`, marked so that it is not unrolled again.
//!
//! The work of one call is bounded by a multiple of the size of the body; the next call continues.

use crate::analysis::loop_info::TerminatorOutcome;
use crate::analysis::{LoopAnalysis, LoopAnalyzer};
use crate::body::{Body, CfList, CfNode, InstData, ListTemplate, LoopControl, Remap, SourceSpec};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Inst, Loop};
use crate::options::CompilerOptions;
use crate::passes::into_ssa::convert_to_lcssa::close_loop;
use crate::passes::into_ssa::rematerialize_derefs_in_use_blocks::rematerialize_body;
use crate::passes::pass_manager::LOG_TARGET;
use crate::passes::scalar::opt_remove_phis::remove_single_src_phis;
use crate::shader::Shader;

/// Maximum cost of an unrolled loop, per iteration that the option allows.
const COST_PER_ITERATION: u32 = 26;
/// Overhead of a loop: its begin, end, exit and the increment of its counter.
const LOOP_COST: u32 = 6;
/// Maximum number of exits with unknown outcome, for a loop that runs once.
const MAX_UNKNOWN_EXITS: usize = 8;
/// Maximum cost of the copies in all cases.
const MAX_COST: u32 = 1 << 16;
/// Maximum number of iterations for a target without loops. Exits that may be taken nest the copies, and flattening
/// moves an instruction once per nesting level.
const MAX_ITERATIONS_WITHOUT_LOOPS: u32 = 1024;

/// See the [module](self).
pub fn opt_loop_unroll(shader: &mut Shader, options: &CompilerOptions) -> bool {
    if options.max_unroll_iterations == 0 {
        return false;
    }
    let Shader { functions, types, info, .. } = shader;
    let most = if options.lower_control_flow {
        MAX_ITERATIONS_WITHOUT_LOOPS
    } else {
        options.max_unroll_iterations.max(options.max_unroll_iterations_aggressive)
    };
    let mut progress = false;
    for body in
        functions.values_mut().filter_map(|f| f.body.as_mut()).filter(|body| body.structured && body.num_loops() != 0)
    {
        let mut analyzer = LoopAnalyzer::new(body, types, info.float_controls_execution_mode, most);
        let mut unroller = Unroller {
            options,
            remap: Remap::default(),
            budget: 4 * body.num_insts() + 100_000,
            derefs_are_local: false,
        };
        progress |= unroller.unroll_body(body, &mut analyzer);
    }
    progress
}

/// How to unroll a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Plan {
    /// Copies until the last exit is taken.
    Whole,
    /// This number of copies, then the loop.
    Partial(u32),
}

/// A part of the body of a loop.
enum BodyPart {
    /// Code that is always executed.
    Code(ListTemplate),
    /// A terminator.
    Exit(Exit),
}

struct Exit {
    /// Condition of the `if`; `None` for a `break` at the end of the body.
    condition: Option<Def>,
    break_in_then: bool,
    /// The side that leaves, without its `break`.
    leave: Option<ListTemplate>,
    /// The side that stays.
    stay: Option<ListTemplate>,
    /// The sources of the phis after the loop for this exit.
    values: Vec<Def>,
}

/// An `if` created for an exit that may be taken.
struct OpenIf {
    node: If,
    stays_in_then: bool,
    /// The end of the side that leaves, and its values for the phis after the loop.
    left: Block,
    values: Vec<Def>,
}

struct Unroller<'a> {
    options: &'a CompilerOptions,
    remap: Remap,
    /// Number of instructions that this call may still create.
    budget: usize,
    derefs_are_local: bool,
}

impl Unroller<'_> {
    fn unroll_body(&mut self, body: &mut Body, analyzer: &mut LoopAnalyzer<'_>) -> bool {
        let loops = analyzer.tree().loops.clone();
        let mut progress = false;
        // The analysis does not hold for loops around an unrolled one.
        let mut changed: Vec<bool> = vec![false; loops.iter().map(|l| l.as_u32() as usize + 1).max().unwrap_or(0)];
        // Inner loops before outer ones.
        for &id in loops.iter().rev() {
            if changed[id.as_u32() as usize] || body.loop_control(id) == LoopControl::DontUnroll {
                continue;
            }
            let mut analysis = analyzer.analyze(body, id);
            let Some(mut plan) = self.plan(body, id, &analysis) else { continue };
            if !self.derefs_are_local {
                self.derefs_are_local = true;
                if rematerialize_body(body) {
                    analysis = analyzer.analyze(body, id);
                    match self.plan(body, id, &analysis) {
                        Some(again) => plan = again,
                        None => continue,
                    }
                }
            }
            log::trace!(target: LOG_TARGET, "unrolling {id}: {plan:?}, exit {:?}, cost {}", analysis.exit, analysis.cost);
            close_loop(body, analyzer.tree(), id);
            self.unroll(body, id, &analysis, plan);
            progress = true;
            let mut around = analyzer.tree().info(id).parent.expand();
            while let Some(outer) = around {
                if std::mem::replace(&mut changed[outer.as_u32() as usize], true) {
                    break;
                }
                around = analyzer.tree().info(outer).parent.expand();
            }
        }
        progress
    }

    /// Decides whether and how to unroll.
    fn plan(&self, body: &Body, id: Loop, analysis: &LoopAnalysis) -> Option<Plan> {
        if analysis.is_complex {
            return None;
        }
        let affordable = |copies: u32| {
            let size = body.blocks_in(body.loop_body(id)).map(|b| body.insts(b).count() + 1).sum::<usize>();
            size.saturating_mul(copies as usize) <= self.budget
        };
        let Some((trips, terminator)) = analysis.exit else {
            return self
                .plan_partial(body, id, analysis)
                .filter(|&(_, trips)| affordable(trips + 1))
                .map(|(plan, _)| plan);
        };
        let unknown = analysis.num_unknown_terminators();
        if !affordable(trips + 1) {
            return None;
        }
        if trips == 0 {
            return (unknown <= MAX_UNKNOWN_EXITS).then_some(Plan::Whole);
        }
        if unknown > 1 && !self.options.lower_control_flow {
            return None;
        }
        if analysis.has_inner_loop {
            let before_exit = copied_part(body, id, analysis, terminator);
            return (trips == 1 && !before_exit.iter().any(|&b| body.following_loop(b).is_some()) && unknown == 0)
                .then_some(Plan::Whole);
        }
        let hinted = body.loop_control(id) == LoopControl::Unroll;
        (hinted || self.is_worthwhile(body, id, analysis, trips)).then_some(Plan::Whole)
    }

    fn is_worthwhile(&self, body: &Body, id: Loop, analysis: &LoopAnalysis, trips: u32) -> bool {
        let most = self.most_iterations(body, id, analysis);
        let cost = analysis.unrolled_cost;
        let growth = cost.saturating_sub(analysis.cost.saturating_add(LOOP_COST));
        let cheap = cost <= most.saturating_mul(COST_PER_ITERATION) || analysis.walks_array() && cost <= MAX_COST;
        let needed =
            (self.options.lower_control_flow || analysis.indexes(self.options.no_indirect)) && cost <= MAX_COST;
        trips <= most && (needed || cheap && growth <= self.options.max_unroll_growth)
    }

    /// Plans a loop that indexes arrays and has no known end.
    fn plan_partial(&self, body: &Body, id: Loop, analysis: &LoopAnalysis) -> Option<(Plan, u32)> {
        let trips = analysis.guessed_trip_count()?;
        let fits = !analysis.has_inner_loop
            && analysis.terminators.len() == 1
            && trips > 0
            && trips <= self.most_iterations(body, id, analysis)
            && analysis.cost.saturating_mul(trips) <= self.options.max_unroll_growth.min(MAX_COST);
        fits.then_some((Plan::Partial(trips), trips))
    }

    fn most_iterations(&self, body: &Body, id: Loop, analysis: &LoopAnalysis) -> u32 {
        if self.options.lower_control_flow {
            return MAX_ITERATIONS_WITHOUT_LOOPS;
        }
        let list = body.loop_body(id);
        let is_exit = |node: If| analysis.terminators.iter().any(|t| t.node == Some(node));
        let is_straight = !analysis.indexed_arrays.is_empty()
            && body.blocks_in(list).all(|block| body.following_if(block).is_none_or(is_exit));
        if is_straight {
            self.options.max_unroll_iterations.max(self.options.max_unroll_iterations_aggressive)
        } else {
            self.options.max_unroll_iterations
        }
    }

    fn unroll(&mut self, body: &mut Body, id: Loop, analysis: &LoopAnalysis, plan: Plan) {
        let list = body.loop_body(id);
        let after = body.block_after_loop(id);
        let exit_phis: Vec<Inst> = body.phis(after).collect();
        let pieces = take_apart(body, id, analysis, &exit_phis);
        let before = body.block_before_loop(id);
        let back = (body.predecessors(list.first).len() > 1).then_some(list.last);
        // Phis of the head, and their values in the next iteration.
        let mut counters: Vec<(Def, Option<Def>)> = Vec::new();
        for phi in body.phis(list.first).collect::<Vec<_>>() {
            let Some(def) = body.inst_def(phi) else { continue };
            let read = |pred| body.phi_source_for(phi, pred).map(|s| body.src_def(s));
            self.remap.defs[def] = read(before).into();
            counters.push((def, back.and_then(read)));
        }
        let mut copies = Copies { body, current: before, open: Vec::new() };
        let mut values: Vec<Def> = Vec::new();
        let trips = match plan {
            Plan::Whole => u32::MAX,
            Plan::Partial(trips) => trips,
        };
        'iterations: for iteration in 0..trips {
            let mut terminator = 0;
            for piece in &pieces {
                match piece {
                    BodyPart::Code(code) => copies.paste(code, self),
                    BodyPart::Exit(exit) => {
                        let outcome = analysis.outcome(iteration, terminator);
                        terminator += 1;
                        if copies.paste_exit(exit, outcome, self) {
                            values = exit.values.iter().map(|&v| self.remap.def(v)).collect();
                            break 'iterations;
                        }
                    }
                }
            }
            let next: Vec<Option<Def>> = counters.iter().map(|&(_, next)| next.map(|n| self.remap.def(n))).collect();
            for (&(phi, _), next) in counters.iter().zip(next) {
                self.remap.defs[phi] = next.into();
            }
        }
        if plan != Plan::Whole {
            values = self.keep_rest(&mut copies, id, &exit_phis, &counters);
        }
        let values = copies.close(values);
        let body = copies.body;
        for (&phi, &value) in exit_phis.iter().zip(&values) {
            if let Some(def) = body.inst_def(phi) {
                body.replace_all_uses(def, value);
            }
        }
        body.remove_insts(&exit_phis);
        body.remove_node(CfNode::Loop(id));
        for piece in &pieces {
            match piece {
                BodyPart::Code(code) => code.forget(&mut self.remap),
                BodyPart::Exit(exit) => {
                    for side in exit.leave.iter().chain(&exit.stay) {
                        side.forget(&mut self.remap);
                    }
                }
            }
        }
        for (phi, _) in counters {
            self.remap.defs[phi] = None.into();
        }
    }

    /// Appends a copy of the loop, which continues with the current values of its counters, to the copies of its body.
    /// Returns the values of the phis after it.
    fn keep_rest(
        &mut self,
        copies: &mut Copies<'_>,
        id: Loop,
        exit_phis: &[Inst],
        counters: &[(Def, Option<Def>)],
    ) -> Vec<Def> {
        let body = &mut *copies.body;
        let list = body.loop_body(id);
        let whole = body.template_without(list, |inst| body.is_phi(inst) && body.inst_block(inst) == Some(list.first));
        self.budget = self.budget.saturating_sub(whole.num_insts());
        let before = copies.current;
        let rest = body.insert_loop(Cursor::BlockEnd(before));
        body.set_loop_control(rest, LoopControl::DontUnroll);
        let head = body.loop_body(rest).first;
        let mut phis: Vec<(Inst, Def)> = Vec::new();
        for &(counter, _) in counters {
            let initial = self.remap.def(counter);
            let phi = body.create_inst(InstData::Phi, &[SourceSpec::phi(before, initial)], Some(body.shape(counter)));
            self.remap.defs[counter] = body.inst_def(phi).into();
            phis.push((phi, counter));
        }
        let clone = body.paste(&whole, &mut self.remap);
        body.insert_list(Cursor::BlockEnd(head), clone);
        let last = body.loop_body(rest).last;
        for (&(phi, _), &(_, next)) in phis.iter().zip(counters) {
            if let Some(next) = next {
                body.push_source(phi, SourceSpec::phi(last, self.remap.def(next)));
            }
            body.insert_inst(Cursor::BlockStart(head), phi);
        }
        let after = body.block_after_loop(rest);
        let mut values = Vec::new();
        for &phi in exit_phis {
            let sources: Vec<SourceSpec> = body
                .phi_sources(phi)
                .map(|(pred, source)| {
                    let block = if pred == list.first { head } else { self.remap.block(pred) };
                    SourceSpec::phi(block, self.remap.def(body.src_def(source)))
                })
                .collect();
            let shape = body.inst_def(phi).map(|d| body.shape(d));
            let clone = body.create_inst(InstData::Phi, &sources, shape);
            body.insert_inst(Cursor::BlockStart(after), clone);
            values.extend(body.inst_def(clone));
        }
        whole.forget(&mut self.remap);
        copies.current = after;
        values
    }
}

/// Returns the blocks that are executed once more than there are trips: those up to the `if` that leaves.
fn copied_part(body: &Body, id: Loop, analysis: &LoopAnalysis, terminator: usize) -> Vec<Block> {
    let node = analysis.terminators.get(terminator).and_then(|t| t.node);
    let end = node.map(|node| body.block_before_if(node));
    let mut done = false;
    let until_end = |&block: &Block| {
        let take = !done;
        done |= Some(block) == end;
        take
    };
    body.blocks_in(body.loop_body(id)).take_while(until_end).collect()
}

/// Splits a loop into pieces. Phis with one source are removed.
fn take_apart(body: &mut Body, id: Loop, analysis: &LoopAnalysis, exit_phis: &[Inst]) -> Vec<BodyPart> {
    let list = body.loop_body(id);
    for terminator in &analysis.terminators {
        if let Some(node) = terminator.node {
            for block in [body.then_list(node).first, body.else_list(node).first, body.block_after_if(node)] {
                remove_single_src_phis(body, block);
            }
        }
    }
    let body = &*body;
    let mut pieces = Vec::new();
    let mut first = list.first;
    let code = |first: Block, last: Block| {
        let is_head_phi = |inst: Inst| body.is_phi(inst) && body.inst_block(inst) == Some(list.first);
        BodyPart::Code(body.template_without(CfList { first, last }, |inst| {
            is_head_phi(inst) || body.inst_block(inst) == Some(list.last) && body.jump(inst).is_some()
        }))
    };
    for terminator in &analysis.terminators {
        let values = exit_phis
            .iter()
            .filter_map(|&phi| body.phi_source_for(phi, terminator.break_block))
            .map(|source| body.src_def(source))
            .collect();
        let break_in_then = terminator.break_in_then;
        let Some(node) = terminator.node else {
            pieces.push(code(first, list.last));
            pieces.push(BodyPart::Exit(Exit { condition: None, break_in_then, leave: None, stay: None, values }));
            return pieces;
        };
        pieces.push(code(first, body.block_before_if(node)));
        first = body.block_after_if(node);
        let (then_list, else_list) = (body.then_list(node), body.else_list(node));
        let (leave, stay) = if break_in_then { (then_list, else_list) } else { (else_list, then_list) };
        let jump = body.block_jump(leave.last).map(|(jump, _)| jump);
        pieces.push(BodyPart::Exit(Exit {
            condition: Some(body.src_def(body.if_condition(node))),
            break_in_then,
            leave: Some(body.template_without(leave, |inst| Some(inst) == jump)),
            stay: Some(body.template(stay)),
            values,
        }));
    }
    pieces.push(code(first, list.last));
    pieces
}

/// The code emitted before the loop.
struct Copies<'a> {
    body: &'a mut Body,
    /// The block to continue in.
    current: Block,
    open: Vec<OpenIf>,
}

impl Copies<'_> {
    fn paste(&mut self, template: &ListTemplate, unroller: &mut Unroller<'_>) {
        self.current = self.paste_at(self.current, template, unroller);
    }

    fn paste_at(&mut self, block: Block, template: &ListTemplate, unroller: &mut Unroller<'_>) -> Block {
        unroller.budget = unroller.budget.saturating_sub(template.num_insts() + template.num_blocks());
        let list = self.body.paste(template, &mut unroller.remap);
        let first = list.first;
        let after = self.body.insert_list(Cursor::BlockEnd(block), list);
        // The first block was merged into the block of insertion: references to it must be redirected.
        if unroller.remap.block(template.first_block()) == first {
            unroller.remap.blocks[template.first_block()] = block.into();
        }
        after.unwrap_or(block)
    }

    /// Emits the code for an exit. Returns whether it ends the copies.
    fn paste_exit(&mut self, exit: &Exit, outcome: TerminatorOutcome, unroller: &mut Unroller<'_>) -> bool {
        match (outcome, exit.condition) {
            (TerminatorOutcome::Leaves, _) | (_, None) => {
                if let Some(leave) = &exit.leave {
                    self.paste(leave, unroller);
                }
                true
            }
            (TerminatorOutcome::Stays, Some(_)) => {
                if let Some(stay) = &exit.stay {
                    self.paste(stay, unroller);
                }
                false
            }
            (TerminatorOutcome::Unknown, Some(condition)) => {
                let condition = unroller.remap.def(condition);
                let node = self.body.insert_if(Cursor::BlockEnd(self.current), condition);
                let (then_block, else_block) = (self.body.then_list(node).first, self.body.else_list(node).first);
                let (mut left, stays) =
                    if exit.break_in_then { (then_block, else_block) } else { (else_block, then_block) };
                if let Some(leave) = &exit.leave {
                    left = self.paste_at(left, leave, unroller);
                }
                let values = exit.values.iter().map(|&v| unroller.remap.def(v)).collect();
                self.open.push(OpenIf { node, stays_in_then: !exit.break_in_then, left, values });
                self.current = stays;
                if let Some(stay) = &exit.stay {
                    self.paste(stay, unroller);
                }
                false
            }
        }
    }

    /// Closes the ifs, with phis after each that choose between the values of its sides. Returns the final values.
    fn close(&mut self, mut values: Vec<Def>) -> Vec<Def> {
        while let Some(open) = self.open.pop() {
            let body = &mut *self.body;
            let after = body.block_after_if(open.node);
            let side = if open.stays_in_then { body.then_list(open.node) } else { body.else_list(open.node) };
            for (value, &left) in values.iter_mut().zip(&open.values) {
                if *value == left {
                    continue;
                }
                let sources = [SourceSpec::phi(open.left, left), SourceSpec::phi(side.last, *value)];
                let phi = body.create_inst(InstData::Phi, &sources, Some(body.shape(left)));
                body.insert_inst(Cursor::BlockStart(after), phi);
                if let Some(def) = body.inst_def(phi) {
                    *value = def;
                }
            }
            self.current = after;
        }
        values
    }
}

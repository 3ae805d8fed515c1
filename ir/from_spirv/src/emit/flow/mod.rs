//! Control flow: the graph of a function becomes the control tree of the IR.
//!
//! A selection becomes an `if` with the code of its merge block behind it, a loop a loop with its continue construct at
//! the end of the body. A *join* is a block to which several places of a construct branch: the merge block of a
//! selection, the continue target of a loop, a case of a switch that another case falls into. Where a branch to a join
//! is the last thing that a list does, no code is needed. A branch to a join further out sets the join's flag, a
//! register, and the code between is guarded by the flag; flags exist only where such branches do. Branches to the
//! merge block of the innermost loop are breaks.
//!
//! ```text
//! loop: for (...) { if (a) { if (b) continue; x; } y; }       loop {
//!                                                                 flag = false
//!                                                                 if a { if b { flag = true } else { x } }
//!                                                                 if !flag { y }
//!                                                                 ...continue construct...
//!                                                             }
//! ```
//!
//! A block is emitted once. Recursion is as deep as constructs nest, which the limits bound.
//!
//! A phi is a register for each leaf: each branch to its block stores the operands, the block first loads all registers
//! of its phis.

mod branches;
mod graph;
mod phis;
mod switch;

use std::rc::Rc;

use smallvec::SmallVec;
use spirv::Op;
use tgsi_diagnostics::Span;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{JumpKind, Shape};
use tgsi_ir::builder::Builder;
use tgsi_ir::cursor::Cursor;
use tgsi_ir::entities::{Block as IrBlock, Def, If};
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::shader::ShaderStage;

use super::Emitter;
use crate::error::{Finding, SpirvError};
use crate::module::{Block, Id, Merge};
use crate::words::Inst;
use graph::Graph;
use phis::Phi;

/// Joins whose flags may be set where control is, by their numbers.
type Pending = SmallVec<[usize; 2]>;

/// The continuation of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    /// Nothing: control is at the end of the list, or left it.
    End,
    /// A block.
    Block(u32),
}

/// A block at which control of several places meets.
#[derive(Debug)]
struct Join {
    block: u32,
    /// The block of the IR in which it opened, whose start clears the flag.
    opened: IrBlock,
    flag: Option<Def>,
}

/// An open loop.
#[derive(Debug)]
struct Loop {
    header: u32,
    merge: Option<u32>,
    target: Option<u32>,
    /// Whether the continue construct is a branch and nothing else.
    is_target_empty: bool,
    /// Whether a break was emitted.
    has_break: bool,
    /// The number of joins outside of it, which cannot be reached from inside.
    joins: usize,
}

/// The state of the control flow of a function.
#[derive(Debug, Default)]
pub(super) struct State {
    graph: Rc<Graph>,
    blocks: Rc<[Block]>,
    joins: Vec<Join>,
    loops: Vec<Loop>,
    /// By block: how many open constructs it ends, so that branches to it leave the innermost one.
    is_open: Vec<u32>,
    is_emitted: Vec<bool>,
    phis: Vec<Option<Rc<[Phi]>>>,
    depth: u32,
    /// Marks of searches, by block: the number of the search, and the sides that reach it.
    marks: Vec<(u32, u8)>,
    search: u32,
    /// Lists of the IR that are open. Zero at the top of the function.
    lists: u32,
}

impl Emitter<'_, '_, '_> {
    /// Emits the blocks of the function.
    pub(super) fn emit_blocks(&mut self) {
        self.find_shared_locals();
        let module = &*self.context.module;
        let Some(function) = module.functions.get(self.function) else { return };
        let graph = Graph::new(module, self.function, function);
        let count = graph.len();
        self.flow = State {
            blocks: function.blocks.as_slice().into(),
            is_open: vec![0; count],
            is_emitted: vec![false; count],
            phis: vec![None; count],
            marks: vec![(0, 0); count],
            graph: Rc::new(graph),
            ..State::default()
        };
        if let Err(finding) = self.sequence(0, None, false) {
            self.context.findings.push(finding);
        }
    }

    /// The number of the block with a label.
    fn block_of(&self, label: u32) -> Option<u32> {
        match self.context.module.id(label) {
            Id::Label { function, block } if function as usize == self.function => Some(block),
            _ => None,
        }
    }

    /// The place of the instruction that ends a block.
    fn span_of(&self, block: u32) -> Span {
        let block = self.flow.blocks.get(block as usize);
        let inst = block.and_then(|block| self.context.module.terminator(block));
        inst.map_or(Span::new(0, 1), |inst| inst.span())
    }

    fn unstructured(&self, from: u32, target: u32) -> Finding {
        let target = self.flow.blocks.get(target as usize).map_or(0, |block| block.label);
        Finding { error: SpirvError::Unstructured { target }, span: self.span_of(from) }
    }

    /// Emits blocks from `start` on, until control is at `stop`. Returns the joins that are pending at the end. With
    /// `in_loop`, `start` is the header of the loop that was just opened.
    fn sequence(&mut self, start: u32, stop: Option<u32>, in_loop: bool) -> Result<Pending, Finding> {
        let limit = self.context.options.limits.nesting;
        self.flow.depth += 1;
        if self.flow.depth > limit {
            let (count, limit) = (self.flow.depth.into(), limit.into());
            let error = SpirvError::TooLarge { what: "nested constructs", count, limit };
            return Err(Finding { error, span: self.span_of(start) });
        }
        let mut guards: SmallVec<[If; 2]> = SmallVec::new();
        let mut pending = Pending::new();
        let mut current = start;
        let mut is_header = in_loop;
        loop {
            if self.context.findings.is_full() || self.context.is_exhausted {
                break;
            }
            let (next, new) = self.block(current, stop, is_header)?;
            is_header = false;
            for &join in &new {
                add(&mut pending, join);
            }
            let Next::Block(block) = next else { break };
            if !new.is_empty() {
                guards.push(self.guard(&new));
            }
            current = block;
        }
        for guard in guards.into_iter().rev() {
            self.b.end_if(guard);
            self.flow.lists -= 1;
            self.is_unreachable = false;
        }
        self.flow.depth -= 1;
        Ok(pending)
    }

    /// Opens an `if` for the code that joins do not skip.
    fn guard(&mut self, joins: &[usize]) -> If {
        let mut set = None;
        for &number in joins {
            let flag = self.flag(number);
            let value = self.b.load_reg(flag, 0);
            set = Some(match set {
                Some(before) => self.b.alu(AluOp::Ior, &[before, value]),
                None => value,
            });
        }
        let set = set.unwrap_or_else(|| self.constant(1, &[0]));
        let clear = self.b.alu(AluOp::Inot, &[set]);
        self.flow.lists += 1;
        self.b.push_if(clear)
    }

    /// Emits a block and the targets of its terminator inside of this list.
    fn block(&mut self, number: u32, stop: Option<u32>, is_header: bool) -> Result<(Next, Pending), Finding> {
        let Some(block) = self.flow.blocks.get(number as usize).copied() else {
            return Ok((Next::End, Pending::new()));
        };
        if let (Merge::Loop { merge, target }, false) = (block.merge, is_header) {
            return self.loop_construct(number, self.block_of(merge), self.block_of(target));
        }
        if std::mem::replace(&mut self.flow.is_emitted[number as usize], true) {
            return Err(self.unstructured(number, number));
        }
        self.is_unreachable = false;
        self.load_phis(number);
        let words = self.context.module.words.clone();
        let (mut at, mut instruction) = block.first;
        while at <= block.last.0 && at != 0 {
            let Some(inst) = words.at(at, instruction) else { break };
            self.b.body.set_origin(Some(inst.number));
            if at == block.last.0 {
                return self.terminator(number, &block, &inst, stop);
            }
            if self.context.is_exhausted {
                break;
            }
            if !matches!(Op::from_u32(inst.op.into()), Some(Op::Phi | Op::SelectionMerge | Op::LoopMerge)) {
                self.instruction(&inst);
            }
            at += inst.words.len() as u32 + 1;
            instruction += 1;
        }
        Ok((Next::End, Pending::new()))
    }

    fn terminator(
        &mut self,
        number: u32,
        block: &Block,
        inst: &Inst<'_>,
        stop: Option<u32>,
    ) -> Result<(Next, Pending), Finding> {
        let merge = match block.merge {
            Merge::Selection { merge } => self.block_of(merge),
            _ => None,
        };
        let bad_target = |id: u32| Finding {
            error: SpirvError::WrongKind { id, found: "not a block", expected: "a block of the function" },
            span: inst.span(),
        };
        match Op::from_u32(inst.op.into()) {
            Some(Op::Branch) => {
                let target = self.block_of(inst.word(0)).ok_or(bad_target(inst.word(0)))?;
                self.go(number, target, stop)
            }
            Some(Op::BranchConditional) => {
                let condition = self.vector(inst.word(0)).and_then(|condition| {
                    let is_bool = (self.b.body.num_components(condition), self.b.body.bit_size(condition)) == (1, 1);
                    let op = "OpBranchConditional".to_owned();
                    if is_bool { Ok(condition) } else { Err(SpirvError::Types { op, why: "it is not a boolean" }) }
                });
                let condition = condition.map_err(|error| Finding { error, span: inst.span() })?;
                let yes = self.block_of(inst.word(1)).ok_or(bad_target(inst.word(1)))?;
                let no = self.block_of(inst.word(2)).ok_or(bad_target(inst.word(2)))?;
                self.conditional(number, condition, [yes, no], merge, stop)
            }
            Some(Op::Switch) => self.switch(number, inst, merge, stop),
            Some(Op::ReturnValue) => {
                if let Err(error) = self.store_result(inst.word(0)) {
                    self.report(error, inst);
                }
                self.end();
                Ok((Next::End, Pending::new()))
            }
            Some(Op::Return) => {
                self.end();
                Ok((Next::End, Pending::new()))
            }
            Some(Op::Kill | Op::TerminateInvocation) => {
                self.kill(inst);
                Ok((Next::End, Pending::new()))
            }
            // It is never executed.
            Some(Op::Unreachable) => {
                self.is_unreachable = true;
                Ok((Next::End, Pending::new()))
            }
            _ => {
                let name = crate::grammar::name(inst.op);
                Err(Finding { error: SpirvError::Instruction { name, why: "no stage has it" }, span: inst.span() })
            }
        }
    }

    /// Returns from the function.
    fn end(&mut self) {
        if self.flow.lists > 0 {
            self.b.jump(JumpKind::Return);
        }
        self.is_unreachable = true;
    }

    /// Ends the invocation.
    fn kill(&mut self, inst: &Inst<'_>) {
        if self.context.stage != ShaderStage::Fragment {
            self.note_end();
            self.end();
            return;
        }
        self.context.shader.info.fs.uses_discard = true;
        let is_discard = self.is_discard(inst);
        let op = if is_discard { IntrinsicOp::Demote } else { IntrinsicOp::Terminate };
        self.b.intrinsic(op, &[], &[], None);
        if !self.can_continue() {
            self.note_end();
            self.end();
        }
    }

    /// Whether a terminator is the `discard` of HLSL, which keeps derivatives alive: the invocation continues as a
    /// helper.
    fn is_discard(&self, inst: &Inst<'_>) -> bool {
        self.context.module.is_hlsl && inst.op == Op::Kill as u16
    }

    /// Whether an invocation can continue as a helper after a kill, which needs no code: in a loop the kill might be
    /// the only way out.
    fn can_continue(&self) -> bool {
        let is_in_loops = self.context.is_in_loops.get(self.function).copied().unwrap_or(true);
        // A helper would still take part in operations of its subgroup.
        self.flow.loops.is_empty() && (self.is_entry || !is_in_loops) && !self.context.module.has_subgroups()
    }

    /// Whether control continues behind a selection one of whose sides is this block.
    fn continues_after(&self, block: u32) -> bool {
        let block = self.flow.blocks.get(block as usize);
        let inst = block.and_then(|block| self.context.module.terminator(block));
        let is_kill = |inst: Inst<'_>| matches!(Op::from_u32(inst.op.into()), Some(Op::Kill | Op::TerminateInvocation));
        self.context.stage == ShaderStage::Fragment && inst.is_some_and(is_kill) && self.can_continue()
    }

    /// Branches to a block.
    fn go(&mut self, from: u32, target: u32, stop: Option<u32>) -> Result<(Next, Pending), Finding> {
        self.store_phis(from, target);
        if stop == Some(target) {
            return Ok((Next::End, Pending::new()));
        }
        let mut first_join = 0;
        if let Some(innermost) = self.flow.loops.last_mut() {
            first_join = innermost.joins;
            if innermost.merge == Some(target) {
                innermost.has_break = true;
                self.b.jump(JumpKind::Break);
                self.is_unreachable = true;
                return Ok((Next::End, Pending::new()));
            }
            if innermost.target == Some(target) && innermost.is_target_empty {
                let header = innermost.header;
                self.store_phis(target, header);
                self.b.jump(JumpKind::Continue);
                self.is_unreachable = true;
                return Ok((Next::End, Pending::new()));
            }
        }
        let join = self.flow.joins.iter().rposition(|join| join.block == target);
        match join {
            Some(number) if number >= first_join => {
                let flag = self.flag(number);
                let yes = self.constant(1, &[1]);
                self.b.store_reg(yes, flag, 0, 1);
                let mut pending = Pending::new();
                pending.push(number);
                Ok((Next::End, pending))
            }
            Some(_) => Err(self.unstructured(from, target)),
            None if self.flow.is_open.get(target as usize).is_some_and(|&open| open > 0) => {
                Err(self.unstructured(from, target))
            }
            None => Ok((Next::Block(target), Pending::new())),
        }
    }

    /// Branches to a block, and emits it and its successors up to `stop`.
    fn side(&mut self, from: u32, target: u32, stop: Option<u32>) -> Result<Pending, Finding> {
        self.is_unreachable = false;
        let (next, mut pending) = self.go(from, target, stop)?;
        if let Next::Block(block) = next {
            for join in self.sequence(block, stop, false)? {
                add(&mut pending, join);
            }
        }
        Ok(pending)
    }

    /// Opens a join. Its construct begins at the cursor.
    fn open_join(&mut self, block: u32) -> usize {
        self.flow.joins.push(Join { block, opened: self.b.block(), flag: None });
        self.open(block);
        self.flow.joins.len() - 1
    }

    /// Closes the innermost join, which is no longer pending then.
    fn close_join(&mut self, pending: &mut Pending) {
        if let Some(join) = self.flow.joins.pop() {
            self.close(join.block);
        }
        let number = self.flow.joins.len();
        pending.retain(|join| *join != number);
    }

    fn open(&mut self, block: u32) {
        if let Some(open) = self.flow.is_open.get_mut(block as usize) {
            *open += 1;
        }
    }

    fn close(&mut self, block: u32) {
        if let Some(open) = self.flow.is_open.get_mut(block as usize) {
            *open = open.saturating_sub(1);
        }
    }

    /// The flag of a join: a boolean register that is cleared where the join opens.
    fn flag(&mut self, number: usize) -> Def {
        let Some(join) = self.flow.joins.get(number) else { return self.constant(1, &[0]) };
        if let Some(flag) = join.flag {
            return flag;
        }
        let opened = join.opened;
        let flag = self.b.decl_reg(Shape::new(1, 1), 0);
        let declaration = self.b.body.def_inst(flag);
        let is_start = opened == self.b.body.start_block();
        let cursor = if is_start { Cursor::After(declaration) } else { Cursor::BlockStart(opened) };
        let is_here = self.b.cursor == cursor;
        let mut b = Builder::new(self.b.body, cursor);
        let no = b.bool_const(false);
        b.store_reg(no, flag, 0, 1);
        let behind = b.cursor;
        if is_here {
            self.b.cursor = behind;
        }
        if let Some(join) = self.flow.joins.get_mut(number) {
            join.flag = Some(flag);
        }
        flag
    }
}

/// Adds a join to a set.
fn add(pending: &mut Pending, join: usize) {
    if !pending.contains(&join) {
        pending.push(join);
    }
}

//! Parses the code of a function in three steps: the tree of blocks, ifs and loops with its jumps, then the
//! instructions, then data that depends on the whole body (constant array indices, omitted properties of texture
//! instructions, edges).

mod completion;
mod edges;
mod values;

use hashbrown::HashMap;

use bitvec::vec::BitVec;

use super::AnnotationTarget;
use super::error::{EdgeSide, TextErrorKind};
use super::lexer::{Failure, ParseResult, Scanner};
use super::parse::Parser;
use crate::body::{Body, IfControl, JumpKind, LoopControl, Shape};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Function, If, Inst, Loop};
use crate::variable::VariableModes;

/// Maximum nesting of ifs and loops. The cost of finding the loop around a jump is proportional to the nesting.
const MAX_DEPTH: usize = 20_000;
/// Value numbers may exceed the length of the text by this much (removed values leave gaps in the numbering).
const MAX_SPARE_VALUES: u64 = 1 << 20;

/// A line with an instruction.
#[derive(Clone, Copy)]
pub(super) struct InstLine<'a> {
    pub line: usize,
    pub block: Block,
    pub dest: Option<Dest>,
    /// The text after `=`, or the whole line.
    pub rest: Scanner<'a>,
}

/// The destination of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Dest {
    pub def: Def,
    pub shape: Shape,
    /// The divergence mark in the text, if any.
    pub divergent: Option<bool>,
}

/// The edges stated in the comment of a block.
struct StatedEdges {
    block: Block,
    line: usize,
    side: EdgeSide,
    numbers: Vec<u32>,
}

/// An open list of the control tree.
#[derive(Clone, Copy)]
enum OpenList {
    Then(If),
    Else(If),
    Body(Loop),
    Continue(Loop),
}

/// Parses one body.
pub(super) struct BodyParser<'p, 'a> {
    pub(super) parser: &'p mut Parser<'a>,
    /// The function, if it is declared.
    function: Option<Function>,
    pub(super) body: Body,
    blocks: HashMap<u32, Block>,
    labels: HashMap<Block, u32>,
    insts: Vec<InstLine<'a>>,
    edges: Vec<StatedEdges>,
    /// Conditions and other operands parsed before all destinations are known.
    conditions: Vec<(usize, usize, u32)>,
    gotos: Vec<(Block, usize)>,
    /// Values defined in the text.
    made: BitVec,
    /// Number of digits of value numbers, inferred from the padding of destinations, while all of them agree.
    digits: Option<Option<usize>>,
    /// Derefs with a constant index: the value masked to the bit size of the deref.
    pub(super) wanted: Vec<(Inst, (u8, u64))>,
    /// Texture instructions with their lines.
    pub(super) texs: Vec<(Inst, usize)>,
    /// The block at which the current list continues.
    pending: Option<Block>,
    current: Option<Block>,
    open: Vec<OpenList>,
    end_seen: bool,
}

impl<'a> Parser<'a> {
    /// Parses the code of a function, up to its closing brace.
    pub(super) fn implementation(&mut self, at: usize, name: &'a str) {
        let function = self.functions.get(name).copied();
        match function {
            None => self.fail_line(at, TextErrorKind::UnknownFunction(name.to_string())),
            Some(function) if self.shader.functions[function].body.is_some() => {
                self.fail_line(at, TextErrorKind::DuplicateFunction(name.to_string()));
            }
            Some(_) => {}
        }
        let errors = self.errors.len();
        let body = Body::new();
        let start = body.start_block();
        let mut parser = BodyParser {
            parser: self,
            function,
            body,
            blocks: HashMap::new(),
            labels: HashMap::new(),
            insts: Vec::new(),
            edges: Vec::new(),
            conditions: Vec::new(),
            gotos: Vec::new(),
            made: BitVec::new(),
            digits: None,
            wanted: Vec::new(),
            texs: Vec::new(),
            pending: Some(start),
            current: None,
            open: Vec::new(),
            end_seen: false,
        };
        parser.tree();
        parser.code();
        // The next steps depend on the whole code; if it is incomplete, they would only report consequential errors.
        if parser.parser.errors.len() == errors {
            parser.reserve_width();
            parser.complete_textures();
            parser.complete_indices();
            parser.check_edges();
        }
        let body = parser.body;
        if let Some(function) = function {
            self.shader.functions[function].body.get_or_insert(body);
        }
    }
}

impl<'a> BodyParser<'_, 'a> {
    fn tree(&mut self) {
        loop {
            let at = self.parser.at;
            let Some(&line) = self.parser.lines.get(at) else {
                let last = self.parser.lines.len().saturating_sub(1);
                self.parser.fail_line(last, TextErrorKind::Unclosed);
                return;
            };
            let code = line.code;
            // The closing brace of this function is missing before the next function.
            if code.starts_with("impl ") || code.starts_with("decl_function ") {
                self.parser.fail_line(at, TextErrorKind::Unclosed);
                return;
            }
            self.parser.at += 1;
            if code == "}" && self.open.is_empty() {
                if self.pending.is_some() {
                    self.parser.fail_line(at, TextErrorKind::MissingBlock);
                }
                return;
            }
            let result = if code.is_empty() { self.stated_successors(at) } else { self.tree_line(at, code) };
            if let Err(failure) = result {
                self.parser.fail(at, failure);
            }
        }
    }

    fn tree_line(&mut self, at: usize, code: &'a str) -> ParseResult<()> {
        let line = self.parser.lines[at];
        let mut s = line.scanner();
        match code {
            "}" | "} else {" | "} continue {" => return self.close(s, code),
            _ => {}
        }
        if code.starts_with("decl_var ") {
            if let Some(local) = self.parser.variable(at, VariableModes::FUNCTION_TEMP) {
                self.body.locals.push(local);
            }
            return Ok(());
        }
        if code.starts_with("preamble ") {
            return Ok(());
        }
        let divergent = s.eat_word("div") || s.eat_word("con");
        if s.eat_word("block") {
            return self.block(at, s);
        }
        if s.eat_word("if") {
            return self.open_if(at, s);
        }
        if s.eat_word("loop") && s.rest().trim() == "{" {
            return self.open_loop(at, s);
        }
        let s = if divergent { line.scanner() } else { s };
        self.instruction(at, s)
    }

    /// Records the position of a part of the body.
    fn record_line<T>(&mut self, part: T, target: impl FnOnce(Function, T) -> AnnotationTarget, line: usize) {
        if let Some(function) = self.function {
            self.parser.record_line(target(function, part), line);
        }
    }

    /// The block to which new code is appended.
    fn block_to_fill(&self, s: &Scanner<'a>) -> ParseResult<Block> {
        match self.current {
            Some(block) if self.body.block_jump(block).is_some() => s.fail(TextErrorKind::AfterJump),
            Some(block) if self.gotos.last().is_some_and(|&(at, _)| at == block) => s.fail(TextErrorKind::AfterJump),
            Some(block) => Ok(block),
            None => s.fail(TextErrorKind::MissingBlock),
        }
    }

    fn block(&mut self, at: usize, mut s: Scanner<'a>) -> ParseResult<()> {
        let start = s;
        let number = s.block_number()?;
        s.expect(":", "`:`")?;
        s.finish()?;
        if self.blocks.contains_key(&number) {
            return start.fail(TextErrorKind::DuplicateBlock(number));
        }
        let block = match self.pending.take() {
            Some(block) => block,
            None if self.open.is_empty() && self.current.is_some() && !self.end_seen => {
                self.end_seen = true;
                self.current = None;
                self.blocks.insert(number, self.body.end_block());
                self.labels.insert(self.body.end_block(), number);
                return Ok(());
            }
            None => return start.fail(TextErrorKind::BlockAfterBlock),
        };
        self.current = Some(block);
        self.record_line(block, AnnotationTarget::Block, at);
        self.blocks.insert(number, block);
        self.labels.insert(block, number);
        self.edges_of_remark(at, block)
    }

    fn open_if(&mut self, at: usize, mut s: Scanner<'a>) -> ParseResult<()> {
        let line = self.parser.lines[at];
        let before = self.block_to_fill(&s)?;
        let start = s;
        let number = s.value_number()?;
        let condition = self.reserve(&start, number)?;
        s.skip_constant();
        // The brace follows the comment with the hint.
        let control = match line.comment.map(|r| r.trim().strip_suffix('{').unwrap_or("").trim()) {
            None => {
                s.expect("{", "`{`")?;
                IfControl::None
            }
            Some("flatten") => IfControl::Flatten,
            Some("don't flatten") => IfControl::DontFlatten,
            Some("divergent always taken") => IfControl::DivergentAlwaysTaken,
            Some(_) => {
                s.expect("{", "`{`")?;
                IfControl::None
            }
        };
        s.finish()?;
        self.check_depth(&start)?;
        self.conditions.push((at, start.offset(), condition.as_u32()));
        let id = self.body.insert_if(Cursor::BlockEnd(before), condition);
        self.body.set_if_control(id, control);
        self.record_line(id, AnnotationTarget::If, at);
        self.open.push(OpenList::Then(id));
        self.current = None;
        self.pending = Some(self.body.then_list(id).first);
        Ok(())
    }

    fn open_loop(&mut self, at: usize, s: Scanner<'a>) -> ParseResult<()> {
        let before = self.block_to_fill(&s)?;
        self.check_depth(&s)?;
        let id = self.body.insert_loop(Cursor::BlockEnd(before));
        self.record_line(id, AnnotationTarget::Loop, at);
        let (mut divergent_continue, mut divergent_break) = (false, false);
        for word in self.parser.lines[at].comment_words() {
            match word {
                "unroll" => self.body.set_loop_control(id, LoopControl::Unroll),
                "dont_unroll" => self.body.set_loop_control(id, LoopControl::DontUnroll),
                "divergent_continue" => divergent_continue = true,
                "divergent_break" => divergent_break = true,
                _ => {}
            }
        }
        self.body.set_loop_divergence(id, divergent_continue, divergent_break);
        self.open.push(OpenList::Body(id));
        self.current = None;
        self.pending = Some(self.body.loop_body(id).first);
        Ok(())
    }

    fn check_depth(&self, s: &Scanner<'a>) -> ParseResult<()> {
        if self.open.len() >= MAX_DEPTH { s.fail(TextErrorKind::NestingTooDeep(MAX_DEPTH)) } else { Ok(()) }
    }

    fn close(&mut self, s: Scanner<'a>, code: &str) -> ParseResult<()> {
        let Some(&top) = self.open.last() else { return s.fail(TextErrorKind::UnexpectedClose) };
        let missing = self.pending.is_some();
        let pending = match (top, code) {
            (OpenList::Then(id), "} else {") => {
                self.replace_top(OpenList::Else(id));
                self.body.else_list(id).first
            }
            (OpenList::Else(id), "}") => {
                self.open.pop();
                self.body.block_after_if(id)
            }
            (OpenList::Body(id), "} continue {") => {
                let block = self.body.add_continue_construct(id);
                self.replace_top(OpenList::Continue(id));
                block
            }
            (OpenList::Body(id) | OpenList::Continue(id), "}") => {
                self.open.pop();
                self.body.block_after_loop(id)
            }
            (OpenList::Then(id), "}") => {
                // Continue after the `if`, as intended.
                self.open.pop();
                self.pending = Some(self.body.block_after_if(id));
                self.current = None;
                return s.fail(TextErrorKind::Expected("`} else {`"));
            }
            _ => return s.fail(TextErrorKind::UnexpectedClose),
        };
        self.pending = Some(pending);
        self.current = None;
        if missing { s.fail(TextErrorKind::MissingBlock) } else { Ok(()) }
    }

    fn replace_top(&mut self, open: OpenList) {
        self.open.pop();
        self.open.push(open);
    }

    fn instruction(&mut self, at: usize, s: Scanner<'a>) -> ParseResult<()> {
        let code = self.parser.lines[at].code;
        let block = self.block_to_fill(&s)?;
        let jump = match code {
            "break" => Some(JumpKind::Break),
            "continue" => Some(JumpKind::Continue),
            "return" => Some(JumpKind::Return),
            "halt" => Some(JumpKind::Halt),
            _ => None,
        };
        if let Some(kind) = jump {
            let in_loop = self.open.iter().any(|o| matches!(o, OpenList::Body(_) | OpenList::Continue(_)));
            if matches!(kind, JumpKind::Break | JumpKind::Continue) && !in_loop {
                return s.fail(TextErrorKind::OutsideLoop);
            }
            let inst = self.body.insert_jump(block, kind, None);
            self.record_line(inst, AnnotationTarget::Inst, at);
            return Ok(());
        }
        if code.starts_with("goto ") {
            self.gotos.push((block, at));
            return Ok(());
        }
        let mut rest = self.parser.lines[at].scanner();
        let dest = self.destination(&mut rest)?;
        // A parallel copy defines further values.
        if rest.rest().trim_start().starts_with(['%', '*']) {
            let mut ahead = rest;
            while ahead.until("; ", "`;`").is_ok() {
                let mut entry = ahead;
                self.destination(&mut entry)?;
            }
        }
        self.insts.push(InstLine { line: at, block, dest, rest });
        Ok(())
    }

    fn code(&mut self) {
        for (at, offset, number) in std::mem::take(&mut self.conditions) {
            if !self.is_made(number) {
                self.parser.fail(at, Failure { offset, kind: TextErrorKind::UndefinedValue(number), hint: None });
            }
        }
        for (block, at) in std::mem::take(&mut self.gotos) {
            if let Err(failure) = self.goto(block, at) {
                self.parser.fail(at, failure);
            }
        }
        for line in std::mem::take(&mut self.insts) {
            match self.inst(&line) {
                Ok(inst) => {
                    self.record_line(inst, AnnotationTarget::Inst, line.line);
                    if let Some(Dest { def, divergent: Some(divergent), .. }) = line.dest {
                        self.body.set_divergent(def, divergent);
                    }
                    let cursor = Cursor::before_jump(&self.body, line.block);
                    self.body.insert_inst(cursor, inst);
                }
                Err(failure) => self.parser.fail(line.line, failure),
            }
        }
    }

    fn goto(&mut self, block: Block, at: usize) -> ParseResult<()> {
        let mut s = self.parser.lines[at].scanner();
        s.expect("goto ", "`goto`")?;
        let target = self.block_at(&mut s)?;
        let inst = if s.eat_word("if") {
            let condition = self.value(&mut s)?;
            s.expect("else ", "`else`")?;
            let else_block = self.block_at(&mut s)?;
            s.finish()?;
            self.body.insert_jump(block, JumpKind::GotoIf { then_block: target, else_block }, Some(condition))
        } else {
            s.finish()?;
            self.body.insert_jump(block, JumpKind::Goto(target), None)
        };
        self.record_line(inst, AnnotationTarget::Inst, at);
        Ok(())
    }
}

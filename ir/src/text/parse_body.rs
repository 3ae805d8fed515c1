//! Parses the code of a function in three steps: the tree of blocks, ifs and loops with its jumps, then the
//! instructions, then data that depends on the whole body (constant array indices, omitted properties of texture
//! instructions, edges).

use hashbrown::HashMap;

use bitvec::vec::BitVec;

use super::AnnotationTarget;
use super::error::{EdgeSide, TextErrorKind};
use super::lexer::{Failure, Outcome, Scanner, parse_number, set};
use super::parse::Parser;
use super::reconstruct::constant_indices;
use crate::body::{Body, CfParent, IfControl, InstData, JumpKind, LoopControl, Shape, SourceSpec, TexData};
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
enum Open {
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
    open: Vec<Open>,
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

    fn tree_line(&mut self, at: usize, code: &'a str) -> Outcome<()> {
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
    fn block_to_fill(&self, s: &Scanner<'a>) -> Outcome<Block> {
        match self.current {
            Some(block) if self.body.block_jump(block).is_some() => s.fail(TextErrorKind::AfterJump),
            Some(block) if self.gotos.last().is_some_and(|&(at, _)| at == block) => s.fail(TextErrorKind::AfterJump),
            Some(block) => Ok(block),
            None => s.fail(TextErrorKind::MissingBlock),
        }
    }

    fn block(&mut self, at: usize, mut s: Scanner<'a>) -> Outcome<()> {
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

    /// Parses `preds: b1 b2`, `preds: b1, succs: b2`, `succs: b2`; other comments are ignored.
    fn edges_of_remark(&mut self, at: usize, block: Block) -> Outcome<()> {
        let line = self.parser.lines[at];
        let Some(comment) = line.comment else { return Ok(()) };
        let mut s = Scanner::new(comment, line.offset + (line.full.len() - comment.len()));
        loop {
            let side = if s.eat("preds:") {
                EdgeSide::Predecessors
            } else if s.eat("succs:") {
                EdgeSide::Successors
            } else {
                return Ok(());
            };
            let mut numbers = Vec::new();
            while s.rest().trim_start().starts_with('b') {
                numbers.push(s.block_number()?);
            }
            self.edges.push(StatedEdges { block, line: at, side, numbers });
            if !s.eat(",") {
                return Ok(());
            }
        }
    }

    fn open_if(&mut self, at: usize, mut s: Scanner<'a>) -> Outcome<()> {
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
        self.open.push(Open::Then(id));
        self.current = None;
        self.pending = Some(self.body.then_list(id).first);
        Ok(())
    }

    fn open_loop(&mut self, at: usize, s: Scanner<'a>) -> Outcome<()> {
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
        self.open.push(Open::Body(id));
        self.current = None;
        self.pending = Some(self.body.loop_body(id).first);
        Ok(())
    }

    fn check_depth(&self, s: &Scanner<'a>) -> Outcome<()> {
        if self.open.len() >= MAX_DEPTH { s.fail(TextErrorKind::NestingTooDeep(MAX_DEPTH)) } else { Ok(()) }
    }

    fn close(&mut self, s: Scanner<'a>, code: &str) -> Outcome<()> {
        let Some(&top) = self.open.last() else { return s.fail(TextErrorKind::UnexpectedClose) };
        let missing = self.pending.is_some();
        let pending = match (top, code) {
            (Open::Then(id), "} else {") => {
                self.replace_top(Open::Else(id));
                self.body.else_list(id).first
            }
            (Open::Else(id), "}") => {
                self.open.pop();
                self.body.block_after_if(id)
            }
            (Open::Body(id), "} continue {") => {
                let block = self.body.add_continue_construct(id);
                self.replace_top(Open::Continue(id));
                block
            }
            (Open::Body(id) | Open::Continue(id), "}") => {
                self.open.pop();
                self.body.block_after_loop(id)
            }
            (Open::Then(id), "}") => {
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

    fn replace_top(&mut self, open: Open) {
        self.open.pop();
        self.open.push(open);
    }

    fn instruction(&mut self, at: usize, s: Scanner<'a>) -> Outcome<()> {
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
            let in_loop = self.open.iter().any(|o| matches!(o, Open::Body(_) | Open::Continue(_)));
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

    /// Parses `[div|con] 32x4 %7 =` if the line begins with it. The value is reserved with its shape.
    fn destination(&mut self, s: &mut Scanner<'a>) -> Outcome<Option<Dest>> {
        let start = *s;
        let divergent = s.eat_word("div");
        let marked = divergent || s.eat_word("con");
        if !s.rest().trim_start().starts_with(|c: char| c.is_ascii_digit()) {
            return if marked { s.fail(TextErrorKind::Expected("the bit size of a value")) } else { Ok(None) };
        }
        let bits: u32 = s.number("a bit size")?;
        let gap_start = s.offset();
        let components: u32 = if s.rest().starts_with('x') {
            s.eat("x");
            s.number("a number of components")?
        } else {
            1
        };
        s.skip_blanks();
        let gap = s.offset() - gap_start;
        let number_start = *s;
        let number = s.value_number()?;
        s.expect("=", "`=`")?;
        if !matches!(bits, 1 | 8 | 16 | 32 | 64) || !matches!(components, 1..=5 | 8 | 16) {
            return start.fail(TextErrorKind::BadShape { bits, components });
        }
        let shape = Shape::new(components as u8, bits as u8);
        let def = self.reserve(&number_start, number)?;
        let index = def.as_u32() as usize;
        if self.made.len() <= index {
            self.made.resize(index + 1, false);
        }
        if self.made.replace(index, true) {
            return number_start.fail(TextErrorKind::DuplicateValue(def.as_u32()));
        }
        self.body.set_reserved_shape(def, shape);
        let digits = (gap + super::print::digits(index)).checked_sub(4 + usize::from(bits <= 8));
        self.digits = match self.digits {
            None => Some(digits),
            Some(known) if known == digits => Some(known),
            Some(_) => Some(None),
        };
        Ok(Some(Dest { def, shape, divergent: marked.then_some(divergent) }))
    }

    /// Reserves the value with this number.
    fn reserve(&mut self, s: &Scanner<'a>, number: u64) -> Outcome<Def> {
        if number >= MAX_SPARE_VALUES + self.parser.text.len() as u64 || number >= u64::from(u32::MAX) {
            return s.fail(TextErrorKind::ValueNumberTooLarge(number));
        }
        self.body.reserve_defs(number as usize + 1);
        Ok(Def::from_u32(number as u32))
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

    fn goto(&mut self, block: Block, at: usize) -> Outcome<()> {
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

    fn is_made(&self, number: u32) -> bool {
        self.made.get(number as usize).is_some_and(|b| *b)
    }

    /// Parses a block name.
    pub(super) fn block_at(&mut self, s: &mut Scanner<'a>) -> Outcome<Block> {
        let start = *s;
        let number = s.block_number()?;
        match self.blocks.get(&number) {
            Some(&block) => Ok(block),
            None => start.fail(TextErrorKind::UnknownBlock(number)),
        }
    }

    /// Parses an operand, skipping its constant value.
    pub(super) fn value(&mut self, s: &mut Scanner<'a>) -> Outcome<Def> {
        let start = *s;
        let number = s.value_number()?;
        s.skip_constant();
        match u32::try_from(number).ok().filter(|&n| self.is_made(n)) {
            Some(number) => Ok(Def::from_u32(number)),
            None => start.fail(TextErrorKind::UndefinedValue(u32::try_from(number).unwrap_or(u32::MAX))),
        }
    }

    /// Reserves removed numbers that affect the width of all other numbers.
    fn reserve_width(&mut self) {
        if let Some(Some(digits)) = self.digits
            && digits > super::print::digits(self.body.num_defs())
            && let Some(count) = 10usize.checked_pow(digits as u32 - 1)
            && count as u64 <= MAX_SPARE_VALUES
        {
            self.body.reserve_defs(count);
        }
    }

    fn complete_textures(&mut self) {
        for (inst, at) in std::mem::take(&mut self.texs) {
            let Some(tex) = self.body.tex(inst) else { continue };
            // Properties that the line states take precedence, even those that the printer would put into the comment.
            let mut tex = TexData {
                component: tex.component,
                texture_index: tex.texture_index,
                sampler_index: tex.sampler_index,
                ..super::reconstruct::guess_tex(&self.parser.shader.types, &self.body, inst, tex)
            };
            if let Err(failure) = self.tex_remark(at, &mut tex) {
                self.parser.fail(at, failure);
            }
            if let Some(data) = self.body.tex_mut(inst) {
                *data = tex;
            }
        }
    }

    fn tex_remark(&mut self, at: usize, tex: &mut TexData) -> Outcome<()> {
        use tgsi_environment::SamplerDim;
        let line = self.parser.lines[at];
        let s = Scanner::new("", line.offset + line.code.len());
        for word in line.comment_words() {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let number = parse_number(value);
            let byte = number.and_then(|number| u8::try_from(number).ok());
            let good = match key {
                "dim" => {
                    tex.is_array = false;
                    tex.is_shadow = false;
                    tex.is_new_style_shadow = false;
                    tex.coord_components = 0;
                    set(&mut tex.dim, SamplerDim::from_name(value))
                }
                "array" => set(&mut tex.is_array, Some(true)),
                "shadow" => set(&mut tex.is_shadow, Some(true)),
                "new_style" => set(&mut tex.is_new_style_shadow, Some(true)),
                "lowered_cube" => set(&mut tex.array_is_lowered_cube, Some(true)),
                "coords" => set(&mut tex.coord_components, byte),
                "component" => set(&mut tex.component, byte),
                "backend_flags" => set(&mut tex.backend_flags, number),
                "texture" => set(&mut tex.texture_index, number),
                "sampler" => set(&mut tex.sampler_index, number),
                // An unrelated comment.
                _ => true,
            };
            if !good {
                return s.fail(TextErrorKind::BadIndexValue(key.to_string()));
            }
        }
        Ok(())
    }

    /// Creates or finds the constants for array derefs with a constant index.
    fn complete_indices(&mut self) {
        let wanted = std::mem::take(&mut self.wanted);
        let found = constant_indices(&self.body, &wanted.iter().copied().collect());
        let mut gap = 0;
        for (inst, (bits, value)) in wanted {
            let def = match found.get(&inst) {
                Some(&def) => def,
                None => {
                    while self.is_made(gap) {
                        gap += 1;
                    }
                    let def = Def::from_u32(gap);
                    gap += 1;
                    self.body.reserve_defs(gap as usize);
                    let start = self.body.push_constants(&[value]);
                    let data = InstData::LoadConst { start };
                    let constant = self.body.create_inst_with_def(data, &[], Some(Shape::new(1, bits)), Some(def));
                    self.body.insert_inst(Cursor::Before(inst), constant);
                    def
                }
            };
            if self.body.num_sources(inst) > 1 {
                let source = self.body.source(inst, 1);
                self.body.set_src(source, def);
            }
        }
    }

    fn check_edges(&mut self) {
        for stated in std::mem::take(&mut self.edges) {
            let label = |block: Block| self.labels.get(&block).copied();
            let actual: Option<Vec<u32>> = match stated.side {
                EdgeSide::Predecessors => self.body.predecessors(stated.block).iter().map(|&b| label(b)).collect(),
                EdgeSide::Successors => self.body.successors(stated.block).map(label).collect(),
            };
            // A block without a number: the end block, if the text omits it.
            let Some(mut actual) = actual else { continue };
            let mut numbers = stated.numbers;
            // An endless loop may have an edge that is never taken, from its end to the code after it.
            let artificial = match stated.side {
                EdgeSide::Predecessors => self.body.node_before(stated.block).and_then(|node| match node {
                    crate::body::CfNode::Loop(id) => {
                        label(self.body.loop_continue_list(id).unwrap_or(self.body.loop_body(id)).last)
                    }
                    _ => None,
                }),
                EdgeSide::Successors => match self.body.block_parent(stated.block) {
                    Some(CfParent::Body(id) | CfParent::Continue(id))
                        if self.body.node_after(stated.block).is_none() =>
                    {
                        label(self.body.block_after_loop(id))
                    }
                    _ => None,
                },
            };
            if stated.side == EdgeSide::Predecessors {
                actual.sort_unstable();
                numbers.sort_unstable();
            }
            if numbers == actual {
                continue;
            }
            if let Some(artificial) = artificial
                && !actual.contains(&artificial)
                && numbers.len() == actual.len() + 1
                && numbers.contains(&artificial)
                && numbers.iter().filter(|&&n| n != artificial).eq(actual.iter())
            {
                continue;
            }
            let list = |numbers: &[u32]| numbers.iter().map(|n| format!("b{n}")).collect::<Vec<_>>().join(" ");
            let kind = TextErrorKind::EdgeMismatch {
                block: label(stated.block).unwrap_or(u32::MAX),
                side: stated.side,
                stated: list(&numbers),
                actual: list(&actual),
            };
            self.parser.fail_line(stated.line, kind);
        }
    }

    /// Records the content of a `// succs:` line.
    fn stated_successors(&mut self, at: usize) -> Outcome<()> {
        match self.current {
            Some(block) => self.edges_of_remark(at, block),
            None => Ok(()),
        }
    }

    /// Parses a source that reads a value.
    pub(super) fn plain(&mut self, s: &mut Scanner<'a>) -> Outcome<SourceSpec> {
        Ok(SourceSpec::plain(self.value(s)?))
    }
}

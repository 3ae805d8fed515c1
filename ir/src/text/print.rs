//! Prints a shader: functions and control flow. [`super::print_variables`] prints variables, [`super::print_inst`]
//! instructions.

use hashbrown::HashMap;
use std::fmt::Write;

use cranelift_entity::SecondaryMap;

use super::header::print_header;
use super::infer::ValueTypes;
use super::print_names::{IoVariables, Names, ordered_globals};
use super::reconstruct::constant_indices;
use super::{Annotation, AnnotationTarget, PrintOptions};
use crate::alu::half;
use crate::body::{Body, CfNode, CfParent, DerefKind, IfControl, InstData, LoopControl};
use crate::entities::{Block, Def, Function, If, Inst, Loop, Variable};
use crate::shader::{FunctionData, Shader};

/// Spaces per indentation level.
const INDENT: usize = 4;
/// Maximum indentation level. Deeper nesting is printed at this level, because the size of the text would otherwise be
/// quadratic in the nesting depth.
const MAX_LEVEL: usize = 128;

/// Appends spaces.
pub(super) fn push_spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

/// Columns of an indentation level.
pub(super) fn indent(level: usize) -> usize {
    level.min(MAX_LEVEL) * INDENT
}

/// Appends a float in the format of C's `%f`.
pub(super) fn push_float(out: &mut String, bits: u64, bit_size: u8) {
    let (value, negative) = match bit_size {
        16 => (f64::from(half::to_f32(bits as u16)), bits >> 15 & 1 != 0),
        64 => (f64::from_bits(bits), bits >> 63 != 0),
        _ => (f64::from(f32::from_bits(bits as u32)), bits >> 31 & 1 != 0),
    };
    let _ =
        if value.is_nan() { out.write_str(if negative { "-nan" } else { "nan" }) } else { write!(out, "{value:.6}") };
}

/// Appends a name, with characters that would end or split it replaced by `_`.
pub(super) fn push_word(out: &mut String, text: &str) {
    let splits = text.contains("//") || text.contains(['(', ')', '=', ' ']);
    out.extend(text.chars().map(|c| match c {
        '/' | '(' | ')' | '=' | ' ' if splits => '_',
        c if c.is_control() || c.is_whitespace() => '_',
        c => c,
    }));
}

/// Number of decimal digits.
pub(super) fn digits(number: usize) -> usize {
    number.checked_ilog10().map_or(1, |log| log as usize + 1)
}

/// Prints one shader.
pub(super) struct Printer<'a> {
    pub(super) shader: &'a Shader,
    pub(super) options: PrintOptions,
    pub(super) out: String,
    pub(super) names: Names,
    pub(super) io: IoVariables,
    globals: Vec<Variable>,
    annotations: HashMap<AnnotationTarget, Vec<&'a str>>,
}

/// The state of printing the code of one body.
pub(super) struct BodyState<'a> {
    pub(super) body: &'a Body,
    function: Option<Function>,
    /// Number of digits of value numbers.
    pub(super) digits: usize,
    pub(super) numbers: SecondaryMap<Block, u32>,
    pub(super) types: ValueTypes,
    /// Constant array indices that the parser infers.
    pub(super) constant_indices: HashMap<Inst, Def>,
    /// Whether divergence is printed.
    pub(super) divergence: bool,
    /// For each enclosing `if` and loop, whether its blocks execute divergently.
    around: Vec<bool>,
    /// Columns before the text of an instruction without a result.
    pub(super) width: usize,
}

impl<'a> BodyState<'a> {
    fn new(body: &'a Body, function: Option<Function>, divergence: bool) -> BodyState<'a> {
        BodyState {
            body,
            function,
            digits: digits(body.num_defs()),
            numbers: SecondaryMap::with_default(u32::MAX),
            types: ValueTypes::default(),
            constant_indices: HashMap::new(),
            divergence,
            around: Vec::new(),
            width: 0,
        }
    }
}

impl<'a> Printer<'a> {
    pub(super) fn new(shader: &'a Shader, options: PrintOptions, annotations: &'a [Annotation]) -> Printer<'a> {
        let globals = ordered_globals(shader);
        let mut by_target: HashMap<AnnotationTarget, Vec<&str>> = HashMap::new();
        for annotation in annotations {
            by_target.entry(annotation.target).or_default().push(&annotation.text);
        }
        Printer {
            shader,
            options,
            out: String::new(),
            names: Names::new(shader, &globals),
            io: IoVariables::new(shader, &globals),
            globals,
            annotations: by_target,
        }
    }

    pub(super) fn print_shader(mut self) -> String {
        print_header(&mut self.out, self.shader, self.options.mesa);
        if !self.options.mesa {
            self.struct_definitions();
        }
        self.annotate(AnnotationTarget::Shader, 0);
        for variable in std::mem::take(&mut self.globals) {
            self.variable(variable, 0);
        }
        for (function, data) in &self.shader.functions {
            self.function(function, data);
        }
        self.leftover_annotations();
        self.out
    }

    pub(super) fn print_one_inst(mut self, body: &Body, inst: Inst) -> String {
        let mut state = BodyState::new(body, None, self.shader.info.divergence_analysis_run);
        if body.is_phi(inst) || body.jump(inst).is_some() {
            state.numbers = body.block_numbers();
        }
        self.inst(&state, inst);
        self.out
    }

    pub(super) fn annotate(&mut self, target: AnnotationTarget, columns: usize) {
        if self.annotations.is_empty() {
            return;
        }
        for text in self.annotations.remove(&target).unwrap_or_default() {
            for line in text.lines() {
                push_spaces(&mut self.out, columns);
                let _ = writeln!(self.out, "// {line}");
            }
        }
    }

    /// Prints the messages of subjects that were not printed.
    fn leftover_annotations(&mut self) {
        let mut left: Vec<(String, Vec<&str>)> =
            self.annotations.drain().map(|(target, texts)| (format!("{target:?}"), texts)).collect();
        left.sort_unstable();
        for (target, texts) in left {
            for line in texts.iter().flat_map(|t| t.lines()) {
                let _ = writeln!(self.out, "// {target}: {line}");
            }
        }
    }

    fn function(&mut self, function: Function, data: &'a FunctionData) {
        self.out.push_str("decl_function ");
        push_word(&mut self.out, &data.name);
        self.out.push_str(" (");
        for (i, parameter) in data.parameters.iter().enumerate() {
            self.out.push_str(if i > 0 { ", " } else { "" });
            let _ = write!(self.out, "{}", parameter.bit_size);
            if parameter.num_components != 1 {
                let _ = write!(self.out, "x{}", parameter.num_components);
            }
            if !parameter.name.is_empty() {
                self.out.push(' ');
                push_word(&mut self.out, &parameter.name);
            }
            if parameter.is_return && (parameter.name.is_empty() || !self.options.mesa) {
                self.out.push_str(" return");
            }
        }
        self.out.push(')');
        let is_inline = |r: &&String| matches!(r.as_str(), "inline" | "noinline");
        for attribute in data.attributes.iter().filter(is_inline) {
            let _ = write!(self.out, " ({attribute})");
        }
        if data.is_exported {
            self.out.push_str(" (exported)");
        }
        if data.is_entry_point {
            self.out.push_str(" (entrypoint)");
        }
        for attribute in data.attributes.iter().filter(|r| !is_inline(r)) {
            self.out.push_str(" (");
            push_word(&mut self.out, attribute);
            self.out.push(')');
        }
        self.out.push('\n');
        self.annotate(AnnotationTarget::Function(function), 0);
        let Some(body) = &data.body else { return };
        self.out.push_str("\nimpl ");
        push_word(&mut self.out, &data.name);
        self.out.push_str(" {\n");
        for &local in &body.locals {
            self.variable(local, 1);
        }
        self.body(function, body);
        self.out.push_str("}\n\n");
    }

    fn body(&mut self, function: Function, body: &'a Body) {
        let mut state = BodyState::new(body, Some(function), self.shader.info.divergence_analysis_run);
        state.numbers = body.block_numbers();
        state.types = ValueTypes::infer(self.shader, body);
        if !self.options.mesa {
            state.constant_indices = constant_indices(body, &constant_index_values(body));
        }
        // Walks the tree, printing the end of each list.
        let mut block = body.start_block();
        let mut level = 1;
        loop {
            self.block(&mut state, block, level);
            match body.node_after(block) {
                Some(CfNode::If(id)) => {
                    self.if_head(&state, id, level);
                    Self::enter(&mut state, CfNode::If(id));
                    level += 1;
                    block = body.then_list(id).first;
                    continue;
                }
                Some(CfNode::Loop(id)) => {
                    self.loop_head(&state, id, level);
                    Self::enter(&mut state, CfNode::Loop(id));
                    level += 1;
                    block = body.loop_body(id).first;
                    continue;
                }
                Some(CfNode::Block(_)) | None => {}
            }
            let next = match body.block_parent(block) {
                None | Some(CfParent::Function) => None,
                Some(CfParent::Then(id)) => {
                    push_spaces(&mut self.out, indent(level - 1));
                    self.out.push_str("} else {\n");
                    Some(body.else_list(id).first)
                }
                Some(CfParent::Else(id)) => {
                    level -= 1;
                    state.around.pop();
                    self.close(level);
                    self.annotate(AnnotationTarget::If(function, id), indent(level));
                    Some(body.block_after_if(id))
                }
                Some(CfParent::Body(id)) => match body.loop_continue_list(id) {
                    Some(list) => {
                        push_spaces(&mut self.out, indent(level - 1));
                        self.out.push_str("} continue {\n");
                        Some(list.first)
                    }
                    None => {
                        level -= 1;
                        state.around.pop();
                        self.close(level);
                        Some(body.block_after_loop(id))
                    }
                },
                Some(CfParent::Continue(id)) => {
                    level -= 1;
                    state.around.pop();
                    self.close(level);
                    Some(body.block_after_loop(id))
                }
            };
            match next {
                Some(next) => block = next,
                None => break,
            }
        }
        push_spaces(&mut self.out, INDENT);
        let _ = writeln!(self.out, "block b{}:", state.numbers[body.end_block()]);
        self.annotate(AnnotationTarget::Block(function, body.end_block()), INDENT);
    }

    fn close(&mut self, level: usize) {
        push_spaces(&mut self.out, indent(level));
        self.out.push_str("}\n");
    }

    fn if_head(&mut self, state: &BodyState<'_>, id: If, level: usize) {
        push_spaces(&mut self.out, indent(level));
        self.out.push_str("if ");
        self.source(state, state.body.src_def(state.body.if_condition(id)), crate::alu::BaseType::Invalid);
        self.out.push_str(match state.body.if_control(id) {
            IfControl::None => "",
            IfControl::Flatten => "  // flatten",
            IfControl::DontFlatten => "  // don't flatten",
            IfControl::DivergentAlwaysTaken => "  // divergent always taken",
        });
        self.out.push_str(" {\n");
    }

    fn loop_head(&mut self, state: &BodyState<'_>, id: Loop, level: usize) {
        push_spaces(&mut self.out, indent(level));
        let (divergent_continue, divergent_break) = state.body.loop_divergence(id);
        if state.divergence {
            self.out.push_str(if divergent_continue || divergent_break { "div " } else { "con " });
        }
        self.out.push_str("loop {");
        if !self.options.mesa {
            let start = self.out.len();
            self.out.push_str(match state.body.loop_control(id) {
                LoopControl::None => "",
                LoopControl::Unroll => " unroll",
                LoopControl::DontUnroll => " dont_unroll",
            });
            if divergent_continue {
                self.out.push_str(" divergent_continue");
            }
            if divergent_break {
                self.out.push_str(" divergent_break");
            }
            if self.out.len() > start {
                self.out.insert_str(start, "  //");
            }
        }
        self.out.push('\n');
        if let Some(function) = state.function {
            self.annotate(AnnotationTarget::Loop(function, id), indent(level));
        }
    }

    /// Enters an `if` or a loop, recording whether its blocks execute divergently: if a condition is divergent or a
    /// loop has a divergent exit, here or in an enclosing node.
    fn enter(state: &mut BodyState<'_>, node: CfNode) {
        let body = state.body;
        let divergent = match node {
            CfNode::If(id) => {
                let condition = body.src_def(body.if_condition(id));
                body.has_def(condition) && body.is_divergent(condition)
            }
            CfNode::Loop(id) => body.loop_divergence(id).1,
            CfNode::Block(_) => false,
        };
        state.around.push(divergent || state.around.last() == Some(&true));
    }

    fn block(&mut self, state: &mut BodyState<'a>, block: Block, level: usize) {
        let body = state.body;
        let has_value = body.insts(block).any(|i| body.inst_def(i).is_some());
        let width = if has_value { 10 + state.digits + if state.divergence { 4 } else { 0 } } else { 0 };
        state.width = width;
        push_spaces(&mut self.out, indent(level));
        if state.divergence {
            self.out.push_str(if state.around.last() == Some(&true) { "div " } else { "con " });
        }
        let number = state.numbers[block];
        let _ = write!(self.out, "block b{number}:");
        let mut predecessors: Vec<u32> = body.predecessors(block).iter().map(|&p| state.numbers[p]).collect();
        predecessors.sort_unstable();
        let empty = body.first_inst(block).is_none();
        push_spaces(&mut self.out, if empty { 2 } else { width.saturating_sub(8 + digits(number as usize)) });
        self.out.push_str("// preds:");
        for number in predecessors {
            let _ = write!(self.out, " b{number}");
        }
        if empty {
            self.out.push(',');
        } else {
            self.out.push('\n');
            if let Some(function) = state.function {
                self.annotate(AnnotationTarget::Block(function, block), indent(level));
            }
            for inst in body.insts(block) {
                push_spaces(&mut self.out, indent(level));
                self.inst(state, inst);
                self.out.push('\n');
                if let Some(function) = state.function {
                    self.annotate(AnnotationTarget::Inst(function, inst), indent(level) + width);
                }
            }
            push_spaces(&mut self.out, indent(level) + width);
            self.out.push_str("//");
        }
        self.out.push_str(" succs:");
        for successor in body.successors(block) {
            let _ = write!(self.out, " b{}", state.numbers[successor]);
        }
        self.out.push('\n');
        if empty && let Some(function) = state.function {
            self.annotate(AnnotationTarget::Block(function, block), indent(level));
        }
    }
}

/// The array derefs of a body with a constant index, with bit size and value as printed.
fn constant_index_values(body: &Body) -> HashMap<Inst, (u8, u64)> {
    let mut wanted = HashMap::new();
    for block in body.blocks() {
        for inst in body.insts(block) {
            if let Some(value) = constant_index(body, inst)
                && let Some(def) = body.inst_def(inst)
            {
                wanted.insert(inst, (body.bit_size(def), mask_to(body.bit_size(def), value as u64)));
            }
        }
    }
    wanted
}

/// The low `bit_size` bits of a number.
pub(super) fn mask_to(bit_size: u8, value: u64) -> u64 {
    if bit_size >= 64 { value } else { value & ((1 << bit_size) - 1) }
}

/// Sign-extends a number.
pub(super) fn sign_extend(bit_size: u8, value: u64) -> i64 {
    let shift = 64 - u32::from(bit_size.clamp(1, 64));
    (value << shift) as i64 >> shift
}

/// The index of an array deref if it is a constant scalar.
pub(super) fn constant_index(body: &Body, inst: Inst) -> Option<i64> {
    let InstData::Deref { kind: DerefKind::Array | DerefKind::PtrAsArray, .. } = *body.inst(inst) else { return None };
    if body.num_sources(inst) < 2 {
        return None;
    }
    let index = body.src(inst, 1);
    match body.def_constant(index)? {
        &[value] => Some(sign_extend(body.bit_size(index), value)),
        _ => None,
    }
}

/// Parses a float in the format of [`push_float`].
pub(super) fn parse_float(text: &str, bit_size: u8) -> Option<u64> {
    let (magnitude, negative) = match text.strip_prefix('-') {
        Some(rest) => (rest, true),
        None => (text.strip_prefix('+').unwrap_or(text), false),
    };
    let value = match magnitude {
        "nan" => f64::NAN,
        "inf" => f64::INFINITY,
        _ if magnitude.starts_with(|c: char| c.is_ascii_digit() || c == '.') => magnitude.parse::<f64>().ok()?,
        _ => return None,
    };
    let value = value.copysign(if negative { -1.0 } else { 1.0 });
    Some(match bit_size {
        16 => u64::from(half::from_f64(value, false)),
        64 => value.to_bits(),
        // Rounds once, directly from the text.
        _ if value.is_finite() => {
            let single = magnitude.parse::<f32>().ok()?;
            u64::from(if negative { -single } else { single }.to_bits())
        }
        _ => u64::from((value as f32).to_bits()),
    })
}

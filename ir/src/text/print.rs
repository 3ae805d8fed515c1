//! Printing a shader: variables, functions, control flow. Instructions are in [`super::print_inst`].

use std::collections::{HashMap, HashSet};
use std::fmt::Write;

use cranelift_entity::SecondaryMap;

use super::header::print_header;
use super::index_text::{component_letters, push_format};
use super::infer::ValueTypes;
use super::reconstruct::constant_indices;
use super::slot_names::slot_name;
use super::type_names::{element_data, has_stride, push_type, type_data};
use super::{Annotation, AnnotationTarget, PrintOptions};
use crate::alu::half;
use crate::body::{Body, CfNode, CfParent, DerefKind, IfControl, InstData, LoopControl};
use crate::entities::{Block, Def, Function, If, Inst, Loop, Variable};
use crate::pixel_format::PixelFormat;
use crate::shader::{FunctionData, Shader};
use crate::types::{ScalarType, TypeData};
use crate::variable::{Initializer, VariableData, VariableModes};

/// Modes whose declarations show a place.
const PLACED: VariableModes = VariableModes(
    VariableModes::SHADER_IN.0
        | VariableModes::SHADER_OUT.0
        | VariableModes::UNIFORM.0
        | VariableModes::SYSTEM_VALUE.0
        | VariableModes::MEM_UBO.0
        | VariableModes::MEM_SSBO.0
        | VariableModes::IMAGE.0,
);

const INPUTS_AND_OUTPUTS: VariableModes = VariableModes(VariableModes::SHADER_IN.0 | VariableModes::SHADER_OUT.0);

/// Spaces of an indentation level.
const INDENT: usize = 4;
/// Levels by which a line is indented at most. Deeper nesting prints at this depth; otherwise the size of a print would grow with the square of the
/// nesting.
const MAX_LEVEL: usize = 128;

/// Appends spaces.
pub(super) fn push_spaces(out: &mut String, count: usize) {
    out.extend(std::iter::repeat_n(' ', count));
}

/// Columns of an indentation level.
fn indent(level: usize) -> usize {
    level.min(MAX_LEVEL) * INDENT
}

/// Appends a float as C's `%f` does.
pub(super) fn push_float(out: &mut String, bits: u64, bit_size: u8) {
    let (value, negative) = match bit_size {
        16 => (f64::from(half::to_f32(bits as u16)), bits >> 15 & 1 != 0),
        64 => (f64::from_bits(bits), bits >> 63 != 0),
        _ => (f64::from(f32::from_bits(bits as u32)), bits >> 31 & 1 != 0),
    };
    let _ =
        if value.is_nan() { out.write_str(if negative { "-nan" } else { "nan" }) } else { write!(out, "{value:.6}") };
}

/// Appends a name so that the line around it stays readable: what would end or split it becomes `_`.
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

/// The variables of the shader in the order of a print.
pub(super) fn ordered_globals(shader: &Shader) -> Vec<Variable> {
    let mut globals: Vec<Variable> =
        shader.globals.iter().copied().filter(|&v| shader.variables[v].mode.0 != 0).collect();
    globals.sort_by_key(|&v| {
        let data = &shader.variables[v];
        let place =
            if data.mode.intersects(INPUTS_AND_OUTPUTS) { (data.location as u32, data.location_frac) } else { (0, 0) };
        (data.mode.0.trailing_zeros(), place)
    });
    globals
}

/// Names of variables as printed: each once.
pub(super) struct Names {
    names: SecondaryMap<Variable, String>,
}

impl Names {
    fn new(shader: &Shader, globals: &[Variable]) -> Names {
        let mut names: SecondaryMap<Variable, String> = SecondaryMap::with_default(String::new());
        let mut done: HashSet<Variable> = HashSet::new();
        // No made-up name may be the name of something else.
        let taken: HashSet<&str> = shader.variables.values().map(|v| v.name.as_str()).collect();
        let mut used: HashSet<String> = HashSet::new();
        let mut counter = 0usize;
        let locals = shader.functions.values().filter_map(|f| f.body.as_ref()).flat_map(|b| b.locals.iter().copied());
        // Variables in no list come last: derefs may still name them.
        let order = globals.iter().copied().chain(locals).chain(shader.variables.keys());
        for variable in order {
            let Some(data) = shader.variables.get(variable) else { continue };
            if !done.insert(variable) {
                continue;
            }
            let mut name = String::new();
            push_word(&mut name, &data.name);
            if name.is_empty() || used.contains(&name) {
                let stem = name.len();
                loop {
                    let _ = write!(name, "#{counter}");
                    counter += 1;
                    if !used.contains(&name) && !taken.contains(name.as_str()) {
                        break;
                    }
                    name.truncate(stem);
                }
            }
            used.insert(name.clone());
            names[variable] = name;
        }
        Names { names }
    }

    pub(super) fn get(&self, variable: Variable) -> &str {
        &self.names[variable]
    }
}

/// The variable that an I/O intrinsic accesses, by driver location and component.
#[derive(Default)]
pub(super) struct IoVariables {
    exact: HashMap<(u32, u32, u8), Variable>,
    /// First variable with the component, whatever its place: inputs, outputs.
    fallback: [[Option<Variable>; 16]; 2],
}

impl IoVariables {
    /// Most slots of one variable that are looked up by number.
    const MAX_SLOTS: u32 = 128;

    fn new(shader: &Shader, globals: &[Variable]) -> IoVariables {
        let mut io = IoVariables::default();
        for &variable in globals {
            let data = &shader.variables[variable];
            if data.name.is_empty() {
                continue;
            }
            if data.mode == VariableModes::UNIFORM {
                // Counters are no uniforms that loads could name.
                if matches!(shader.types.get(shader.types.without_arrays(data.ty)), TypeData::AtomicCounter) {
                    continue;
                }
                io.exact.entry((data.mode.0, data.driver_location, 0)).or_insert(variable);
                continue;
            }
            if !data.mode.intersects(INPUTS_AND_OUTPUTS) {
                continue;
            }
            let Some(element) = element_data(&shader.types, data.ty) else { continue };
            let components = match *element {
                TypeData::Vector { components, .. } => components,
                TypeData::Matrix { rows, .. } => rows,
                _ => 4,
            };
            let range = data.location_frac..data.location_frac.saturating_add(components).min(16);
            let slots = shader.types.slots(data.ty).clamp(1, Self::MAX_SLOTS);
            for slot in 0..slots {
                let number = data.driver_location.saturating_add(slot);
                for component in range.clone() {
                    io.exact.entry((data.mode.0, number, component)).or_insert(variable);
                }
            }
            if std::ptr::eq(element, shader.types.get(data.ty)) {
                let side = usize::from(data.mode == VariableModes::SHADER_OUT);
                for component in range {
                    if let Some(place) = io.fallback[side].get_mut(usize::from(component)) {
                        place.get_or_insert(variable);
                    }
                }
            }
        }
        io
    }

    pub(super) fn find(&self, mode: VariableModes, base: i32, component: i32, mesa: bool) -> Option<Variable> {
        let component = u8::try_from(component).ok()?;
        let found = self.exact.get(&(mode.0, base as u32, component)).copied();
        if !mesa || mode == VariableModes::UNIFORM {
            return found;
        }
        // Mesa takes the first variable that has the component when nothing else is known.
        let side = usize::from(mode == VariableModes::SHADER_OUT);
        found.or_else(|| self.fallback[side].get(usize::from(component)).copied().flatten())
    }
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

/// What printing the code of one body needs to know.
pub(super) struct BodyState<'a> {
    pub(super) body: &'a Body,
    function: Option<Function>,
    /// Digits of value numbers.
    pub(super) digits: usize,
    pub(super) numbers: SecondaryMap<Block, u32>,
    pub(super) types: ValueTypes,
    /// Constant array indices that the parser would find by itself.
    pub(super) constant_indices: HashMap<Inst, Def>,
    /// Divergence is shown.
    pub(super) divergence: bool,
    /// Columns before the text of an instruction without a value.
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
            width: 0,
        }
    }

    fn number_blocks(&mut self) {
        let mut count = 0;
        for block in self.body.blocks() {
            self.numbers[block] = count;
            count += 1;
        }
        self.numbers[self.body.end_block()] = count;
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

    pub(super) fn print_one_function(mut self, function: Function) -> String {
        if let Some(data) = self.shader.functions.get(function) {
            self.function(function, data);
        }
        self.out
    }

    pub(super) fn print_one_inst(mut self, body: &Body, inst: Inst) -> String {
        let mut state = BodyState::new(body, None, self.shader.info.divergence_analysis_run);
        if body.is_phi(inst) || body.jump(inst).is_some() {
            state.number_blocks();
        }
        self.inst(&state, inst);
        self.out
    }

    // ---- annotations --------------------------------------------------------------------------------------------------

    fn annotate(&mut self, target: AnnotationTarget, columns: usize) {
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

    /// Messages about what the print does not show.
    fn leftover_annotations(&mut self) {
        let mut left: Vec<(String, Vec<&str>)> =
            self.annotations.drain().map(|(target, texts)| (format!("{target:?}"), texts)).collect();
        left.sort();
        for (target, texts) in left {
            for line in texts.iter().flat_map(|t| t.lines()) {
                let _ = writeln!(self.out, "// {target}: {line}");
            }
        }
    }

    // ---- types and variables ------------------------------------------------------------------------------------------

    fn struct_definitions(&mut self) {
        for data in self.shader.types.iter() {
            let TypeData::Struct { name, fields, interface } = data else { continue };
            let word = if *interface { "interface" } else { "struct" };
            let _ = write!(self.out, "type {name}: {word} {{");
            for (i, field) in fields.iter().enumerate() {
                self.out.push_str(if i > 0 { ", " } else { "" });
                push_type(&mut self.out, &self.shader.types, field.ty, true);
                self.out.push(' ');
                push_word(&mut self.out, &field.name);
                if field.offset != -1 {
                    let _ = write!(self.out, " @{}", field.offset);
                }
            }
            self.out.push_str("}\n");
        }
    }

    fn variable(&mut self, variable: Variable, level: usize) {
        let Some(data) = self.shader.variables.get(variable) else { return };
        let types = &self.shader.types;
        push_spaces(&mut self.out, indent(level));
        self.out.push_str("decl_var ");
        let flags = [
            (data.bindless, "bindless "),
            (data.centroid, "centroid "),
            (data.sample, "sample "),
            (data.patch, "patch "),
            (data.invariant, "invariant "),
            (data.per_view, "per_view "),
            (data.per_primitive, "per_primitive "),
            (data.ray_query, "ray_query "),
            (data.fb_fetch_output, "fb_fetch_output "),
        ];
        for (_, word) in flags.iter().filter(|(set, _)| *set) {
            self.out.push_str(word);
        }
        let mode = VariableModes::ALL.iter().find(|(m, ..)| *m == data.mode).map_or("", |&(_, _, name)| name);
        let _ = write!(self.out, "{mode} INTERP_MODE_{} ", data.interpolation.name());
        push_access_words(&mut self.out, data);
        self.out.push(' ');
        let is_image = matches!(element_data(types, data.ty), Some(TypeData::Image { .. }));
        if is_image {
            push_format(&mut self.out, data.image_format);
            self.out.push(' ');
        }
        push_type(&mut self.out, types, data.ty, false);
        self.out.push(' ');
        self.out.push_str(self.names.get(variable));
        let frac_shown = self.place(data);
        self.initializer(data);
        if !self.options.mesa {
            self.variable_remark(variable, data, is_image, frac_shown);
        }
        self.out.push('\n');
        self.annotate(AnnotationTarget::Variable(variable), indent(level));
    }

    /// The place in parentheses. Returns whether it tells the first component.
    fn place(&mut self, data: &VariableData) -> bool {
        if !data.mode.intersects(PLACED) {
            return data.location_frac == 0;
        }
        self.out.push_str(" (");
        match slot_name(self.shader.stage, data.mode, data.location) {
            Some(name) => self.out.push_str(name),
            None if data.location == -1 => self.out.push_str("~0"),
            None => {
                let text = (data.location as u32).to_string();
                let end = if self.options.mesa { text.len().min(3) } else { text.len() };
                self.out.push_str(&text[..end]);
            }
        }
        let mut frac_shown = data.location_frac == 0;
        if data.mode.intersects(INPUTS_AND_OUTPUTS) {
            let components = match element_data(&self.shader.types, data.ty) {
                Some(&TypeData::Vector { components, .. }) => usize::from(components),
                Some(&TypeData::Matrix { columns, rows, .. }) => usize::from(columns) * usize::from(rows),
                _ => 0,
            };
            if (1..16).contains(&components) {
                self.out.push('.');
                let alphabet: &[u8] = if components > 4 { component_letters(16) } else { b"xyzw" };
                let shown = alphabet.iter().skip(usize::from(data.location_frac)).take(components);
                frac_shown |= shown.len() > 0;
                self.out.extend(shown.map(|&c| char::from(c)));
            }
        }
        if data.mode != VariableModes::SYSTEM_VALUE {
            let _ = write!(self.out, ", {}, {}", data.driver_location, data.binding);
        }
        self.out.push(')');
        if data.compact && data.mode != VariableModes::SYSTEM_VALUE {
            self.out.push_str(" compact");
        }
        frac_shown
    }

    fn variable_remark(&mut self, variable: Variable, data: &VariableData, is_image: bool, frac_shown: bool) {
        let out = &mut self.out;
        let start = out.len();
        let placed = data.mode.intersects(PLACED);
        let full_place = placed && data.mode != VariableModes::SYSTEM_VALUE;
        if data.name != self.names.get(variable) {
            let _ = write!(out, " name={:?}", data.name);
        }
        if has_stride(&self.shader.types, data.ty) {
            out.push_str(" type=");
            push_type(out, &self.shader.types, data.ty, true);
        }
        let mut number = |word: &str, value: u32, shown: bool| {
            if !shown && value != 0 {
                let _ = write!(out, " {word}={value}");
            }
        };
        number("location", data.location as u32, placed);
        number("location_frac", u32::from(data.location_frac), frac_shown);
        number("driver_location", data.driver_location, full_place);
        number("binding", data.binding, full_place);
        number("set", data.descriptor_set, false);
        number("index", data.index, false);
        if data.streams != 0 {
            let _ = write!(out, " streams=0x{:02x}", data.streams);
        }
        if !is_image && data.image_format != PixelFormat::NONE {
            out.push_str(" format=");
            push_format(out, data.image_format);
        }
        if data.compact && !full_place {
            out.push_str(" compact");
        }
        if data.per_vertex {
            out.push_str(" per_vertex");
        }
        if out.len() > start {
            out.insert_str(start, "  //");
        }
    }

    fn initializer(&mut self, data: &VariableData) {
        match &data.initializer {
            None => {}
            Some(Initializer::Null) => self.out.push_str(" = null"),
            Some(Initializer::Pointer(target)) => {
                self.out.push_str(" = &");
                self.out.push_str(self.names.get(*target));
            }
            Some(value) => {
                self.out.push_str(" = { ");
                self.initializer_values(data, value);
                self.out.push_str(" }");
            }
        }
    }

    /// The values of an initialiser, with an explicit stack: nesting is as deep as the types are.
    fn initializer_values(&mut self, data: &VariableData, value: &Initializer) {
        enum Step<'i> {
            Value(&'i Initializer, Option<crate::entities::Type>),
            Text(&'static str),
        }
        let mut steps = vec![Step::Value(value, Some(data.ty))];
        while let Some(step) = steps.pop() {
            let (value, ty) = match step {
                Step::Text(text) => {
                    self.out.push_str(text);
                    continue;
                }
                Step::Value(value, ty) => (value, ty),
            };
            let type_data = ty.and_then(|ty| type_data(&self.shader.types, ty));
            match value {
                Initializer::Null => self.out.push_str("null"),
                Initializer::Pointer(target) => {
                    self.out.push('&');
                    self.out.push_str(self.names.get(*target));
                }
                Initializer::Vector(values) => {
                    let scalar = match type_data {
                        Some(TypeData::Vector { scalar, .. } | TypeData::Matrix { scalar, .. }) => Some(*scalar),
                        _ => None,
                    };
                    for (i, &bits) in values.iter().enumerate() {
                        self.out.push_str(if i > 0 { ", " } else { "" });
                        push_initializer_value(&mut self.out, scalar, bits, self.options.mesa);
                    }
                }
                Initializer::Elements(elements) => {
                    let columns = matches!(type_data, Some(TypeData::Matrix { .. }));
                    for (i, element) in elements.iter().enumerate().rev() {
                        let element_type = match type_data {
                            Some(TypeData::Array { element, .. }) => Some(*element),
                            Some(TypeData::Struct { fields, .. }) => fields.get(i).map(|f| f.ty),
                            // A column is a vector of the matrix' scalars: the matrix tells as much.
                            Some(TypeData::Matrix { .. }) => ty,
                            _ => None,
                        };
                        let braces = !columns;
                        if braces {
                            steps.push(Step::Text(" }"));
                        }
                        steps.push(Step::Value(element, element_type));
                        if braces {
                            steps.push(Step::Text("{ "));
                        }
                        if i > 0 {
                            steps.push(Step::Text(", "));
                        }
                    }
                }
            }
        }
    }

    // ---- functions ----------------------------------------------------------------------------------------------------

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
        for remark in data.remarks.iter().filter(is_inline) {
            let _ = write!(self.out, " ({remark})");
        }
        if data.is_exported {
            self.out.push_str(" (exported)");
        }
        if data.is_entry_point {
            self.out.push_str(" (entrypoint)");
        }
        for remark in data.remarks.iter().filter(|r| !is_inline(r)) {
            self.out.push_str(" (");
            push_word(&mut self.out, remark);
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
        state.number_blocks();
        state.types = ValueTypes::infer(self.shader, body);
        if !self.options.mesa {
            state.constant_indices = constant_indices(body, &constant_index_values(body));
        }
        // The way through the tree, with what closes each list.
        let mut block = body.start_block();
        let mut level = 1;
        loop {
            self.block(&mut state, block, level);
            match body.node_after(block) {
                Some(CfNode::If(id)) => {
                    self.if_head(&state, id, level);
                    level += 1;
                    block = body.then_list(id).first;
                    continue;
                }
                Some(CfNode::Loop(id)) => {
                    self.loop_head(&state, id, level);
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
                        self.close(level);
                        Some(body.block_after_loop(id))
                    }
                },
                Some(CfParent::Continue(id)) => {
                    level -= 1;
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

    /// Whether a block runs divergently, as far as the nodes around it tell: an `if` with a divergent condition or a loop that is left divergently.
    fn is_block_divergent(body: &Body, block: Block) -> bool {
        let mut parent = body.block_parent(block);
        while let Some(list) = parent {
            let divergent = match list {
                CfParent::Function => false,
                CfParent::Then(id) | CfParent::Else(id) => {
                    let condition = body.src_def(body.if_condition(id));
                    body.has_def(condition) && body.is_divergent(condition)
                }
                CfParent::Body(id) | CfParent::Continue(id) => body.loop_divergence(id).1,
            };
            if divergent {
                return true;
            }
            parent = body.outer(list);
        }
        false
    }

    fn block(&mut self, state: &mut BodyState<'a>, block: Block, level: usize) {
        let body = state.body;
        let has_value = body.insts(block).any(|i| body.inst_def(i).is_some());
        let width = if has_value { 10 + state.digits + if state.divergence { 4 } else { 0 } } else { 0 };
        state.width = width;
        push_spaces(&mut self.out, indent(level));
        if state.divergence {
            self.out.push_str(if Self::is_block_divergent(body, block) { "div " } else { "con " });
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

/// The array derefs of a body that have a constant index, with bit size and value as the text tells them.
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

/// The low bits of a number.
pub(super) fn mask_to(bit_size: u8, value: u64) -> u64 {
    if bit_size >= 64 { value } else { value & ((1 << bit_size) - 1) }
}

/// A number read as signed.
pub(super) fn sign_extend(bit_size: u8, value: u64) -> i64 {
    let shift = 64 - u32::from(bit_size.clamp(1, 64));
    (value << shift) as i64 >> shift
}

/// The index of an array deref, if it is a constant scalar.
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

fn push_access_words(out: &mut String, data: &VariableData) {
    let start = out.len();
    for (flag, name) in crate::intrinsics::indices::Access::FLAGS {
        if data.access.contains(*flag) {
            if out.len() > start {
                out.push(' ');
            }
            out.push_str(name);
        }
    }
    if out.len() == start {
        out.push_str("none");
    }
}

/// One value of an initialiser. Where Mesa's form of a float loses bits, ours shows them in hexadecimal.
fn push_initializer_value(out: &mut String, scalar: Option<ScalarType>, bits: u64, mesa: bool) {
    let _ = match scalar {
        Some(ScalarType::Bool) => out.write_str(if bits & 0xff != 0 { "true" } else { "false" }),
        Some(scalar) if scalar.is_float() => {
            let start = out.len();
            push_float(out, bits, scalar.bit_size());
            if !mesa && parse_float(&out[start..], scalar.bit_size()) != Some(bits) {
                out.truncate(start);
                let digits = usize::from(scalar.bit_size()) / 4;
                write!(out, "0x{bits:0digits$x}")
            } else {
                Ok(())
            }
        }
        Some(scalar) if scalar.bit_size() <= 16 => {
            let digits = usize::from(scalar.bit_size()) / 4;
            write!(out, "0x{bits:0digits$x}")
        }
        Some(_) => write!(out, "0x{bits:08x}"),
        None => write!(out, "0x{bits:08x}"),
    };
}

/// The bits of a float in the form of [`push_float`].
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
        // Rounded once, from the text.
        _ if value.is_finite() => {
            let single = magnitude.parse::<f32>().ok()?;
            u64::from(if negative { -single } else { single }.to_bits())
        }
        _ => u64::from((value as f32).to_bits()),
    })
}

//! Reading a text: header, types, variables, declarations. Code is read in [`super::parse_body`].

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::AnnotationTarget;
use super::error::{TextError, TextErrorKind};
use super::header::{HeaderLine, parse_header_line, parse_stage};
use super::index_text::letter_component;
use super::lexer::{Failure, Line, Outcome, Scanner, lines};
use super::print::{mask_to, parse_float};
use super::slot_names::slot_from_name;
use super::type_names::{MAX_NESTING, element_name, is_builtin, parse_type};
use crate::entities::{Function, Type, Variable};
use crate::intrinsics::indices::{Access, InterpMode};
use crate::pixel_format::PixelFormat;
use crate::shader::{FunctionData, Parameter, Shader, Stage};
use crate::types::{Field, ScalarType, TypeData};
use crate::variable::{Initializer, VariableData, VariableModes};

/// Most errors that are listed.
const MAX_ERRORS: usize = 200;

/// Reads a text. All errors are reported, as far as the text after one can be understood.
///
/// Any text is safe to read: time and memory are linear in its length (value numbers may exceed the length of the text by a million).
///
/// # Errors
/// What is wrong with the text, in the order of the text, at least one.
pub fn parse(text: &str) -> Result<Shader, Vec<TextError>> {
    read(text, None).map(|(shader, _)| shader)
}

/// As [`parse`], and tells where everything stands, so that what is wrong with the shader can be shown in the text.
///
/// # Errors
/// As [`parse`].
pub fn parse_with_places(text: &str) -> Result<(Shader, Places), Vec<TextError>> {
    read(text, Some(Places::default()))
}

fn read(text: &str, places: Option<Places>) -> Result<(Shader, Places), Vec<TextError>> {
    let lines = lines(text);
    let mut parser = Parser::new(text, &lines);
    parser.places = places;
    parser.shader();
    if parser.errors.is_empty() {
        return Ok((parser.shader, parser.places.unwrap_or_default()));
    }
    parser.errors.sort_by_key(|e| e.offset);
    Err(parser.errors)
}

/// Where the parts of a shader stand in the text that it was read from: the bytes of their lines, without surrounding blanks and remarks.
#[derive(Clone, Debug, Default)]
pub struct Places {
    lines: HashMap<AnnotationTarget, Range<usize>>,
    first: Range<usize>,
}

impl Places {
    /// The line of a part. Of what has no line of its own (a value that the reader made, say) the line of its function, of the shader the first line.
    pub fn line_of(&self, target: AnnotationTarget) -> Range<usize> {
        let function = match target {
            AnnotationTarget::Inst(function, _)
            | AnnotationTarget::Block(function, _)
            | AnnotationTarget::If(function, _)
            | AnnotationTarget::Loop(function, _) => Some(function),
            AnnotationTarget::Variable(_) | AnnotationTarget::Function(_) | AnnotationTarget::Shader => None,
        };
        let of_function = || self.lines.get(&AnnotationTarget::Function(function?));
        self.lines.get(&target).or_else(of_function).unwrap_or(&self.first).clone()
    }
}

/// A struct as far as the text tells.
#[derive(Default)]
struct StructText<'a> {
    /// Type, name and offset of the fields.
    fields: Vec<(&'a str, &'a str, i32)>,
    known: HashSet<&'a str>,
    interface: bool,
    /// From a `type` line: complete.
    defined: bool,
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) lines: &'a [Line<'a>],
    pub(super) at: usize,
    pub(super) shader: Shader,
    pub(super) errors: Vec<TextError>,
    types: HashMap<&'a str, Type>,
    structs: HashMap<&'a str, Type>,
    /// Number of a field by struct and name.
    fields: HashMap<(Type, &'a str), u32>,
    pub(super) variables: HashMap<&'a str, Variable>,
    pub(super) functions: HashMap<&'a str, Function>,
    /// Pointer initialisers whose target may be declared later.
    pointers: Vec<(Variable, &'a str, usize, usize)>,
    /// Where everything stands, if somebody wants to know.
    places: Option<Places>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, lines: &'a [Line<'a>]) -> Parser<'a> {
        Parser {
            text,
            lines,
            at: 0,
            shader: Shader::without_functions(Stage::Vertex),
            errors: Vec::new(),
            types: HashMap::new(),
            structs: HashMap::new(),
            fields: HashMap::new(),
            variables: HashMap::new(),
            functions: HashMap::new(),
            pointers: Vec::new(),
            places: None,
        }
    }

    /// Records where something stands.
    pub(super) fn place(&mut self, target: AnnotationTarget, line: usize) {
        if let (Some(places), Some(line)) = (&mut self.places, self.lines.get(line)) {
            places.lines.insert(target, line.offset..line.offset + line.code.len());
        }
    }

    // ---- errors -------------------------------------------------------------------------------------------------------

    /// Records an error of a line.
    pub(super) fn fail(&mut self, line: usize, failure: Failure) {
        if self.errors.len() > MAX_ERRORS {
            return;
        }
        let (number, start) = self.lines.get(line).map_or((1, 0), |l| (l.number, l.start));
        let offset = failure.offset.min(self.text.len());
        let column = self.text.get(start..offset).map_or(0, |t| t.chars().count());
        let kind = if self.errors.len() == MAX_ERRORS { TextErrorKind::TooMany } else { failure.kind };
        self.errors.push(TextError { line: number, column: column as u32 + 1, offset, kind, hint: failure.hint });
    }

    /// Records an error at the begin of a line.
    pub(super) fn fail_line(&mut self, line: usize, kind: TextErrorKind) {
        let offset = self.lines.get(line).map_or(self.text.len(), |l| l.offset);
        self.fail(line, Failure { offset, kind, hint: None });
    }

    // ---- the whole ----------------------------------------------------------------------------------------------------

    fn shader(&mut self) {
        while self.lines.get(self.at).is_some_and(|l| l.code.is_empty()) {
            self.at += 1;
        }
        let stage =
            self.lines.get(self.at).and_then(|l| l.full.strip_prefix("shader:")).map(str::trim).map(parse_stage);
        match stage {
            Some(Some(stage)) => {
                if let (Some(places), Some(line)) = (&mut self.places, self.lines.get(self.at)) {
                    places.first = line.offset..line.offset + line.code.len();
                }
                self.shader.stage = stage;
                self.at += 1;
            }
            Some(None) => {
                self.fail_line(self.at, TextErrorKind::NoStage);
                self.at += 1;
            }
            None => self.fail_line(self.at, TextErrorKind::NoStage),
        }
        self.collect_structs();
        self.collect_functions();
        while let Some(&line) = self.lines.get(self.at) {
            let at = self.at;
            self.at += 1;
            if line.code.is_empty() {
                continue;
            }
            if line.code.starts_with("decl_var ") {
                if let Some(variable) = self.variable(at, VariableModes::SHADER_TEMP) {
                    self.shader.globals.push(variable);
                }
            } else if line.code.starts_with("decl_function ") || is_type_line(line.code) {
                // Read already.
            } else if let Some(name) = line.code.strip_prefix("impl ").and_then(|r| r.strip_suffix('{')) {
                self.implementation(at, name.trim());
            } else if let Some((key, value)) = line.full.split_once(':') {
                if parse_header_line(&mut self.shader, key, value.trim()) == HeaderLine::BadValue {
                    let offset = line.offset + key.len() + 1;
                    let kind = TextErrorKind::BadHeaderValue(key.to_string());
                    self.fail(at, Failure { offset, kind, hint: None });
                }
            } else if !line.code.starts_with("Unhandled stage") {
                self.fail_line(at, TextErrorKind::Expected("a header line, a declaration or a function"));
            }
        }
        for (variable, name, line, offset) in std::mem::take(&mut self.pointers) {
            match self.variables.get(name) {
                Some(&target) => self.shader.variables[variable].initializer = Some(Initializer::Pointer(target)),
                None => {
                    self.fail(
                        line,
                        Failure { offset, kind: TextErrorKind::UnknownVariable(name.to_string()), hint: None },
                    );
                }
            }
        }
    }

    // ---- types --------------------------------------------------------------------------------------------------------

    /// Finds the structs of the text: those that `type` lines define, and of others the fields that derefs name.
    fn collect_structs(&mut self) {
        let mut found: HashMap<&'a str, StructText<'a>> = HashMap::new();
        let mut order: Vec<&'a str> = Vec::new();
        let mut type_of_value: HashMap<&'a str, &'a str> = HashMap::new();
        let derefs = self.text.contains("deref_struct");
        for (at, line) in self.lines.iter().enumerate() {
            if is_type_line(line.code) {
                match struct_definition(line) {
                    Ok((name, data)) => {
                        order.push(name);
                        found.insert(name, data);
                    }
                    Err(failure) => self.fail(at, failure),
                }
            } else if derefs && line.code.starts_with("impl ") {
                type_of_value.clear();
            } else if derefs && let Some((value, ty, field)) = deref_types(line.code) {
                type_of_value.insert(value, ty);
                if let Some((parent, name)) = field
                    && let Some(&parent_type) = type_of_value.get(parent)
                    && element_name(parent_type) == parent_type
                    && !is_builtin(parent_type)
                {
                    let data = found.entry(parent_type).or_insert_with(|| {
                        order.push(parent_type);
                        StructText::default()
                    });
                    if !data.defined && data.known.insert(name) {
                        data.fields.push((ty, name, -1));
                    }
                }
            }
        }
        self.intern_structs(&found, &order);
    }

    /// Makes the types of the structs, inner ones first. A struct within itself is known by name only there.
    fn intern_structs(&mut self, found: &HashMap<&'a str, StructText<'a>>, order: &[&'a str]) {
        let mut open: HashSet<&str> = HashSet::new();
        for &root in order {
            let mut stack: Vec<(&'a str, usize)> = Vec::new();
            if !self.structs.contains_key(root) {
                stack.push((root, 0));
                open.insert(root);
            }
            while let Some((name, next)) = stack.last_mut() {
                let name = *name;
                let Some(data) = found.get(name) else { break };
                if let Some(&(ty, ..)) = data.fields.get(*next) {
                    *next += 1;
                    let inner = element_name(ty);
                    if !self.structs.contains_key(inner)
                        && let Some((&inner, _)) = found.get_key_value(inner)
                        && open.insert(inner)
                    {
                        stack.push((inner, 0));
                    }
                    continue;
                }
                let fields: Vec<Field> = data
                    .fields
                    .iter()
                    .map(|&(ty, name, offset)| {
                        let ty =
                            self.ty(ty).unwrap_or_else(|| self.shader.types.intern(TypeData::Opaque(ty.to_string())));
                        Field { name: name.to_string(), ty, offset }
                    })
                    .collect();
                let ty = self.shader.types.intern(TypeData::Struct {
                    name: name.to_string(),
                    fields,
                    interface: data.interface,
                });
                for (i, &(_, field, _)) in data.fields.iter().enumerate() {
                    self.fields.entry((ty, field)).or_insert(i as u32);
                }
                self.structs.insert(name, ty);
                // What was read while the struct was open knew it by name only.
                self.types.clear();
                stack.pop();
                open.remove(name);
            }
        }
    }

    /// The type of this name.
    pub(super) fn ty(&mut self, name: &'a str) -> Option<Type> {
        if let Some(&ty) = self.types.get(name) {
            return Some(ty);
        }
        let structs = &self.structs;
        let ty = parse_type(&mut self.shader.types, name, &|n| structs.get(n).copied())?;
        self.types.insert(name, ty);
        Some(ty)
    }

    /// Reads the name of a type.
    pub(super) fn type_at(&mut self, scanner: &Scanner<'a>, name: &'a str) -> Outcome<Type> {
        match self.ty(name) {
            Some(ty) => Ok(ty),
            None => scanner.fail(TextErrorKind::BadType(name.to_string())),
        }
    }

    /// The number of a field of a struct.
    pub(super) fn field(&self, ty: Type, name: &'a str) -> Option<u32> {
        let known = self.fields.get(&(ty, name)).copied();
        // The printer's word for a field whose name nobody knows.
        known.or_else(|| name.strip_prefix("field").and_then(|n| n.parse().ok()))
    }

    // ---- variables ----------------------------------------------------------------------------------------------------

    /// Reads a declaration; one without mode has mode `temporary`.
    pub(super) fn variable(&mut self, at: usize, temporary: VariableModes) -> Option<Variable> {
        let line = self.lines[at];
        match self.variable_line(at, &line, temporary) {
            Ok(variable) => {
                self.place(AnnotationTarget::Variable(variable), at);
                Some(variable)
            }
            Err(failure) => {
                self.fail(at, failure);
                None
            }
        }
    }

    fn variable_line(&mut self, at: usize, line: &Line<'a>, temporary: VariableModes) -> Outcome<Variable> {
        let mut s = line.scanner();
        s.expect("decl_var", "`decl_var`")?;
        let mut data = VariableData::new("", Type::from_u32(0), temporary);
        while variable_flag(&mut s, &mut data) {}
        if !s.rest().trim_start().starts_with(InterpMode::PRINT_PREFIX) {
            let start = s;
            let word = s.word().unwrap_or("");
            data.mode = match VariableModes::ALL.iter().find(|(_, _, name)| !name.is_empty() && *name == word) {
                Some(&(mode, ..)) => mode,
                None => return start.fail(TextErrorKind::UnknownMode(word.to_string())),
            };
        }
        let start = s;
        let interpolation = s.word().and_then(|w| w.strip_prefix(InterpMode::PRINT_PREFIX));
        data.interpolation = match interpolation.and_then(InterpMode::from_name) {
            Some(mode) => mode,
            None => return start.fail(TextErrorKind::Expected("an interpolation mode")),
        };
        if !s.eat_word("none") {
            let before = s;
            while let Some((flag, after)) = access_word(s) {
                data.access = data.access.union(flag);
                s = after;
            }
            if before.offset() == s.offset() {
                return s.fail(TextErrorKind::Expected("access words or `none`"));
            }
        }
        self.type_and_format(&mut s, &mut data)?;
        self.name_and_place(at, &mut s, &mut data, line)
    }

    /// `[format] [precision] type`: only an image type may follow a format.
    fn type_and_format(&mut self, s: &mut Scanner<'a>, data: &mut VariableData) -> Outcome<()> {
        let precision = |s: &mut Scanner<'a>| {
            let _ = s.eat_word("highp") || s.eat_word("mediump") || s.eat_word("lowp");
        };
        let mut ahead = *s;
        if let Some(format) = ahead.word().and_then(PixelFormat::from_short_name) {
            precision(&mut ahead);
            let mut behind = ahead;
            let name = behind.word().unwrap_or("");
            if is_builtin(element_name(name))
                && let Some(ty) = self.ty(name)
                && matches!(self.shader.types.get(self.shader.types.without_arrays(ty)), TypeData::Image { .. })
            {
                data.image_format = format;
                data.ty = ty;
                *s = behind;
                return Ok(());
            }
        }
        precision(s);
        let start = *s;
        let name = s.word().unwrap_or("");
        data.ty = self.type_at(&start, name)?;
        Ok(())
    }

    fn name_and_place(
        &mut self,
        at: usize,
        s: &mut Scanner<'a>,
        data: &mut VariableData,
        line: &Line<'a>,
    ) -> Outcome<Variable> {
        s.skip_blanks();
        let start = *s;
        let rest = s.rest();
        let placed = VariableModes::SHADER_IN
            .union(VariableModes::SHADER_OUT)
            .union(VariableModes::UNIFORM)
            .union(VariableModes::SYSTEM_VALUE)
            .union(VariableModes::MEM_UBO)
            .union(VariableModes::MEM_SSBO)
            .union(VariableModes::IMAGE);
        let place = if data.mode.intersects(placed) { rest.find(" (") } else { None };
        let name_end = place.or_else(|| rest.find(" = ")).unwrap_or(rest.len());
        let name = &rest[..name_end];
        if name.is_empty() {
            return s.fail(TextErrorKind::Expected("the name of a variable"));
        }
        *s = Scanner::new(&rest[name_end..], start.offset() + name_end);
        data.name = name.to_string();
        if place.is_some() {
            let inner = s.group()?;
            location(inner, data)?;
            data.compact = s.eat_word("compact");
        }
        let mut pointer = None;
        if s.eat("=") {
            if s.eat_word("null") {
                data.initializer = Some(Initializer::Null);
            } else if s.eat("&") {
                pointer = Some((s.rest().trim(), s.offset()));
                *s = Scanner::new("", s.offset() + s.rest().len());
            } else {
                data.initializer = Some(self.initializer(s, data.ty)?);
            }
        }
        s.finish()?;
        if let Some(remark) = line.remark {
            let offset = line.offset + (line.full.len() - remark.len());
            self.variable_remark(Scanner::new(remark, offset), data)?;
        }
        if self.variables.contains_key(name) {
            return start.fail(TextErrorKind::DuplicateVariable(name.to_string()));
        }
        let variable = self.shader.variables.push(data.clone());
        self.variables.insert(name, variable);
        if let Some((target, offset)) = pointer {
            self.pointers.push((variable, target, at, offset));
        }
        Ok(variable)
    }

    /// What our own prints add to a declaration. Other remarks are nothing to us.
    fn variable_remark(&mut self, mut s: Scanner<'a>, data: &mut VariableData) -> Outcome<()> {
        while !s.is_done() {
            if s.eat("name=") {
                let (name, length) = match unescape(s.rest()) {
                    Some(found) => found,
                    None => return s.fail(TextErrorKind::Expected("a name in quotes")),
                };
                data.name = name;
                s = Scanner::new(&s.rest()[length..], s.offset() + length);
                continue;
            }
            let start = s;
            let Some(word) = s.word() else { break };
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let bad = || start.fail(TextErrorKind::BadIndexValue(key.to_string()));
            let number = || match value.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16).ok(),
                None => value.parse::<u32>().ok(),
            };
            let target = match key {
                "type" => {
                    data.ty = self.type_at(&start, value)?;
                    continue;
                }
                "format" => match PixelFormat::from_short_name(value) {
                    Some(format) => {
                        data.image_format = format;
                        continue;
                    }
                    None => return bad(),
                },
                "compact" => {
                    data.compact = true;
                    continue;
                }
                "per_vertex" => {
                    data.per_vertex = true;
                    continue;
                }
                "location" => match number() {
                    Some(value) => {
                        data.location = value as i32;
                        continue;
                    }
                    None => return bad(),
                },
                "location_frac" | "streams" => match number().and_then(|v| u8::try_from(v).ok()) {
                    Some(value) => {
                        *(if key == "streams" { &mut data.streams } else { &mut data.location_frac }) = value;
                        continue;
                    }
                    None => return bad(),
                },
                "driver_location" => &mut data.driver_location,
                "binding" => &mut data.binding,
                "set" => &mut data.descriptor_set,
                "index" => &mut data.index,
                // A remark of somebody else.
                _ => continue,
            };
            match number() {
                Some(value) => *target = value,
                None => return bad(),
            }
        }
        Ok(())
    }

    // ---- initialisers -------------------------------------------------------------------------------------------------

    fn initializer(&mut self, s: &mut Scanner<'a>, ty: Type) -> Outcome<Initializer> {
        struct Frame {
            ty: Option<Type>,
            values: Vec<u64>,
            elements: Vec<Initializer>,
        }
        let frame = |ty| Frame { ty, values: Vec::new(), elements: Vec::new() };
        s.expect("{", "`{`")?;
        let mut frames = vec![frame(Some(ty))];
        let mut finished = None;
        while let Some(top) = frames.last_mut() {
            if s.eat("}") {
                let Some(Frame { ty, values, elements }) = frames.pop() else { break };
                let value = match self.finish_initializer(ty, values, elements) {
                    Some(value) => value,
                    None => return s.fail(TextErrorKind::BadInitializer),
                };
                match frames.last_mut() {
                    Some(outer) => outer.elements.push(value),
                    None => finished = Some(value),
                }
                s.eat(",");
            } else if s.eat("{") {
                let inner = top.ty.and_then(|ty| match self.shader.types.get(ty) {
                    TypeData::Array { element, .. } => Some(*element),
                    TypeData::Struct { fields, .. } => fields.get(top.elements.len()).map(|f| f.ty),
                    _ => None,
                });
                if frames.len() >= MAX_NESTING {
                    return s.fail(TextErrorKind::BadInitializer);
                }
                frames.push(frame(inner));
            } else if s.eat_word("null") {
                top.elements.push(Initializer::Null);
                s.eat(",");
            } else {
                let start = *s;
                let text = s.rest().trim_start();
                let end = text.find([',', ' ', '}', '\t']).unwrap_or(text.len());
                let (word, rest) = text.split_at(end);
                *s = Scanner::new(rest, s.offset() + (s.rest().len() - rest.len()));
                if let Some(name) = word.strip_prefix('&') {
                    match self.variables.get(name) {
                        Some(&target) => top.elements.push(Initializer::Pointer(target)),
                        None => return start.fail(TextErrorKind::UnknownVariable(name.to_string())),
                    }
                } else {
                    let scalar = top.ty.and_then(|ty| match self.shader.types.get(ty) {
                        TypeData::Vector { scalar, .. } | TypeData::Matrix { scalar, .. } => Some(*scalar),
                        _ => None,
                    });
                    match initializer_value(word, scalar) {
                        Some(value) => top.values.push(value),
                        None => return start.fail(TextErrorKind::BadInitializer),
                    }
                }
                s.eat(",");
            }
        }
        match finished {
            Some(value) => Ok(value),
            None => s.fail(TextErrorKind::BadInitializer),
        }
    }

    fn finish_initializer(
        &self,
        ty: Option<Type>,
        values: Vec<u64>,
        mut elements: Vec<Initializer>,
    ) -> Option<Initializer> {
        if !values.is_empty() && !elements.is_empty() {
            return None;
        }
        match ty.map(|ty| self.shader.types.get(ty)) {
            Some(&TypeData::Vector { components, .. }) if elements.is_empty() => {
                (values.len() == usize::from(components)).then_some(Initializer::Vector(values))
            }
            Some(&TypeData::Matrix { columns, rows, .. }) if elements.is_empty() => {
                if values.len() != usize::from(columns) * usize::from(rows) {
                    return None;
                }
                let columns = values.chunks(usize::from(rows.max(1)));
                Some(Initializer::Elements(columns.map(|c| Initializer::Vector(c.to_vec())).collect()))
            }
            Some(TypeData::Array { .. } | TypeData::Struct { .. }) if values.is_empty() => {
                Some(Initializer::Elements(elements))
            }
            // `{ null }` around a lone element is that element, whatever its type.
            _ if elements.len() == 1 && !matches!(elements[0], Initializer::Elements(_) | Initializer::Vector(_)) => {
                elements.pop()
            }
            _ if values.is_empty() => Some(Initializer::Elements(elements)),
            _ => Some(Initializer::Vector(values)),
        }
    }

    // ---- functions ----------------------------------------------------------------------------------------------------

    /// Makes all functions, so that calls find those that come later.
    fn collect_functions(&mut self) {
        for (at, line) in self.lines.iter().enumerate() {
            if !line.code.starts_with("decl_function ") {
                continue;
            }
            match function_declaration(line) {
                Ok((name, data)) => {
                    if self.functions.contains_key(name) {
                        self.fail_line(at, TextErrorKind::DuplicateFunction(name.to_string()));
                    } else {
                        let function = self.shader.functions.push(data);
                        self.place(AnnotationTarget::Function(function), at);
                        self.functions.insert(name, function);
                    }
                }
                Err(failure) => self.fail(at, failure),
            }
        }
    }
}

fn is_type_line(code: &str) -> bool {
    code.starts_with("type ") && (code.contains(": struct {") || code.contains(": interface {"))
}

/// `type S: struct {vec3 p @0, float[2:16] q @16}`
fn struct_definition<'a>(line: &Line<'a>) -> Outcome<(&'a str, StructText<'a>)> {
    let mut s = line.scanner();
    s.expect("type ", "`type`")?;
    let name = s.until(": ", "`:`")?.rest();
    let interface = s.eat_word("interface");
    if !interface && !s.eat_word("struct") {
        return s.fail(TextErrorKind::Expected("`struct` or `interface`"));
    }
    s.expect("{", "`{`")?;
    let mut inside = s.until("}", "`}`")?;
    s.finish()?;
    let mut data = StructText { interface, defined: true, ..StructText::default() };
    while let Some(mut piece) = inside.piece() {
        let (Some(ty), Some(name)) = (piece.word(), piece.word()) else {
            return piece.fail(TextErrorKind::Expected("type and name of a field"));
        };
        let offset = if piece.eat("@") { piece.number("an offset")? } else { -1 };
        piece.finish()?;
        data.fields.push((ty, name, offset));
    }
    Ok((name, data))
}

/// Of a line with a deref: the value, the name of its type, and for a field its parent and its name.
#[expect(clippy::type_complexity, reason = "three parts of one line, named at the only use")]
fn deref_types(code: &str) -> Option<(&str, &str, Option<(&str, &str)>)> {
    let (dest, rest) = code.split_once(" = deref_")?;
    let value = &dest[dest.rfind('%')?..];
    let rest = rest.split("  (ptr_stride").next()?;
    let (head, modes_and_type) = rest.rsplit_once(" (")?;
    let ty = modes_and_type.strip_suffix(')')?.split_once(' ')?.1;
    let field = head.strip_prefix("struct &").and_then(|h| h.rsplit_once("->"));
    let field = field.map(|(parent, name)| (parent.split(' ').next().unwrap_or(parent), name));
    Some((value, ty, field))
}

fn function_declaration<'a>(line: &Line<'a>) -> Outcome<(&'a str, FunctionData)> {
    let mut s = line.scanner();
    s.expect("decl_function ", "`decl_function`")?;
    let end = s.rest().find(" (").unwrap_or(s.rest().len());
    let (name, rest) = s.rest().split_at(end);
    let mut s = Scanner::new(rest, s.offset() + end);
    let mut inside = s.group()?;
    let mut data = FunctionData {
        name: name.to_string(),
        parameters: Vec::new(),
        is_entry_point: false,
        is_exported: false,
        remarks: Vec::new(),
        body: None,
    };
    while let Some(mut piece) = inside.piece() {
        let start = piece;
        let bits: u32 = piece.number("the bit size of a parameter")?;
        let components: u32 = if piece.rest().starts_with('x') {
            piece.eat("x");
            piece.number("the number of components of a parameter")?
        } else {
            1
        };
        let (Ok(bit_size), Ok(num_components)) = (u8::try_from(bits), u8::try_from(components)) else {
            return start.fail(TextErrorKind::BadShape { bits, components });
        };
        let text = piece.rest().trim();
        let (name, is_return) = match text.strip_suffix("return") {
            Some("") => ("", true),
            Some(name) if name.ends_with(' ') => (name.trim_end(), true),
            _ => (text, false),
        };
        data.parameters.push(Parameter { num_components, bit_size, name: name.to_string(), is_return });
    }
    while !s.is_done() {
        match s.group()?.rest() {
            "entrypoint" => data.is_entry_point = true,
            "exported" => data.is_exported = true,
            remark => data.remarks.push(remark.to_string()),
        }
    }
    Ok((name, data))
}

fn variable_flag(s: &mut Scanner<'_>, data: &mut VariableData) -> bool {
    let flags: [(&str, &mut bool); 9] = [
        ("bindless", &mut data.bindless),
        ("centroid", &mut data.centroid),
        ("sample", &mut data.sample),
        ("patch", &mut data.patch),
        ("invariant", &mut data.invariant),
        ("per_view", &mut data.per_view),
        ("per_primitive", &mut data.per_primitive),
        ("ray_query", &mut data.ray_query),
        ("fb_fetch_output", &mut data.fb_fetch_output),
    ];
    for (word, flag) in flags {
        if s.eat_word(word) {
            *flag = true;
            return true;
        }
    }
    false
}

fn access_word(mut s: Scanner<'_>) -> Option<(Access, Scanner<'_>)> {
    let flag = Access::from_name(s.word()?)?;
    Some((flag, s))
}

/// `VARYING_SLOT_VAR0.xyzw, 0, 0`
fn location(mut s: Scanner<'_>, data: &mut VariableData) -> Outcome<()> {
    let Some(mut first) = s.piece() else { return s.fail(TextErrorKind::Expected("a location")) };
    let start = first;
    let text = first.word().unwrap_or("");
    first.finish()?;
    let (slot, letters) = text.split_once('.').unwrap_or((text, ""));
    data.location = if slot == "~0" {
        -1
    } else if let Some(number) = slot_from_name(slot) {
        number
    } else if let Some(number) = slot.parse::<u32>().ok().map(|v| v as i32).or_else(|| slot.parse().ok()) {
        number
    } else {
        return start.fail(TextErrorKind::UnknownSlot(slot.to_string()));
    };
    if let Some(&letter) = letters.as_bytes().first() {
        data.location_frac = match letter_component(letter) {
            Some(component) => component,
            None => return start.fail(TextErrorKind::BadSwizzle(letters.to_string())),
        };
    }
    for target in [&mut data.driver_location, &mut data.binding] {
        if let Some(mut piece) = s.piece() {
            *target = if piece.eat("~0") { u32::MAX } else { piece.number("a number")? };
            piece.finish()?;
        }
    }
    s.finish()
}

fn initializer_value(word: &str, scalar: Option<ScalarType>) -> Option<u64> {
    let bits = scalar.map_or(64, |s| s.bit_size().max(1));
    let fits = |value: u64| (mask_to(bits, value) == value).then_some(value);
    match word {
        "true" => return Some(1),
        "false" => return Some(0),
        _ => {}
    }
    if let Some(digits) = word.strip_prefix("0x") {
        return u64::from_str_radix(digits, 16).ok().and_then(fits);
    }
    match scalar {
        Some(scalar) if !scalar.is_float() => {
            let value = word.parse::<u64>().ok().or_else(|| word.parse::<i64>().ok().map(|v| mask_to(bits, v as u64)));
            value.and_then(fits)
        }
        Some(scalar) => parse_float(word, scalar.bit_size()),
        None => parse_float(word, 32),
    }
}

/// Reads a text in quotes with Rust's escapes. Returns it and its length in the source.
fn unescape(text: &str) -> Option<(String, usize)> {
    let mut result = String::new();
    let mut chars = text.char_indices();
    if chars.next()?.1 != '"' {
        return None;
    }
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Some((result, at + 1)),
            '\\' => match chars.next()?.1 {
                'n' => result.push('\n'),
                'r' => result.push('\r'),
                't' => result.push('\t'),
                '0' => result.push('\0'),
                'u' => {
                    if chars.next()?.1 != '{' {
                        return None;
                    }
                    let mut code = 0u32;
                    loop {
                        match chars.next()?.1 {
                            '}' => break,
                            digit => code = code.checked_mul(16)?.checked_add(digit.to_digit(16)?)?,
                        }
                    }
                    result.push(char::from_u32(code)?);
                }
                other => result.push(other),
            },
            c => result.push(c),
        }
    }
    None
}

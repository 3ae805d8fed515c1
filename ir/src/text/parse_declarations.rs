//! Parses the declarations of variables, with their initialisers, and of functions.

use super::AnnotationTarget;
use super::error::TextErrorKind;
use super::index_text::letter_component;
use super::lexer::{ParseResult, Scanner, SourceLine, parse_number, set};
use super::parse::Parser;
use super::print::{mask_to, parse_float};
use super::print_variables::LOCATED;
use super::slot_names::slot_from_name;
use super::type_names::{MAX_NESTING, element_name, is_builtin};
use crate::entities::{Type, Variable};
use crate::intrinsics::indices::{AccessFlags, InterpMode};
use crate::shader::{FunctionData, Parameter};
use crate::types::{ScalarType, TypeData};
use crate::variable::{Initializer, VariableData, VariableModes};
use tgsi_environment::PixelFormat;

impl<'a> Parser<'a> {
    /// Parses a declaration; without a mode, the variable has mode `temporary`.
    pub(super) fn variable(&mut self, at: usize, temporary: VariableModes) -> Option<Variable> {
        let line = self.lines[at];
        match self.variable_line(at, &line, temporary) {
            Ok(variable) => {
                self.record_line(AnnotationTarget::Variable(variable), at);
                Some(variable)
            }
            Err(failure) => {
                self.fail(at, failure);
                None
            }
        }
    }

    fn variable_line(&mut self, at: usize, line: &SourceLine<'a>, temporary: VariableModes) -> ParseResult<Variable> {
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
        self.name_and_location(at, &mut s, &mut data, line)
    }

    /// Parses `[format] [precision] type`: a format is only allowed before an image type.
    fn type_and_format(&mut self, s: &mut Scanner<'a>, data: &mut VariableData) -> ParseResult<()> {
        let precision = |s: &mut Scanner<'a>| {
            let _ = s.eat_word("highp") || s.eat_word("mediump") || s.eat_word("lowp");
        };
        let mut ahead = *s;
        if let Some(format) = ahead.word().and_then(PixelFormat::from_short_name) {
            precision(&mut ahead);
            let mut after = ahead;
            let name = after.word().unwrap_or("");
            if is_builtin(element_name(name))
                && let Some(ty) = self.ty(name)
                && matches!(self.shader.types.get(self.shader.types.without_arrays(ty)), TypeData::Image { .. })
            {
                data.image_format = format;
                data.ty = ty;
                *s = after;
                return Ok(());
            }
        }
        precision(s);
        let start = *s;
        let name = s.word().unwrap_or("");
        data.ty = self.type_at(&start, name)?;
        Ok(())
    }

    fn name_and_location(
        &mut self,
        at: usize,
        s: &mut Scanner<'a>,
        data: &mut VariableData,
        line: &SourceLine<'a>,
    ) -> ParseResult<Variable> {
        s.skip_blanks();
        let start = *s;
        let rest = s.rest();
        let location_start = if data.mode.intersects(LOCATED) { rest.find(" (") } else { None };
        let name_end = location_start.or_else(|| rest.find(" = ")).unwrap_or(rest.len());
        let name = &rest[..name_end];
        if name.is_empty() {
            return s.fail(TextErrorKind::Expected("the name of a variable"));
        }
        *s = Scanner::new(&rest[name_end..], start.offset() + name_end);
        data.name = name.to_string();
        if location_start.is_some() {
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
        if let Some(comment) = line.comment {
            let offset = line.offset + (line.full.len() - comment.len());
            self.variable_comment(Scanner::new(comment, offset), data)?;
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

    /// Parses the comment that the printer adds to a declaration. Other comments are ignored.
    fn variable_comment(&mut self, mut s: Scanner<'a>, data: &mut VariableData) -> ParseResult<()> {
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
            let number = parse_number(value);
            let byte = number.and_then(|number| u8::try_from(number).ok());
            let good = match key {
                "type" => set(&mut data.ty, Some(self.type_at(&start, value)?)),
                "format" => set(&mut data.image_format, PixelFormat::from_short_name(value)),
                "compact" => set(&mut data.compact, Some(true)),
                "per_vertex" => set(&mut data.per_vertex, Some(true)),
                "location" => set(&mut data.location, number.map(|number| number as i32)),
                "location_frac" => set(&mut data.location_frac, byte),
                "streams" => set(&mut data.streams, byte),
                "driver_location" => set(&mut data.driver_location, number),
                "binding" => set(&mut data.binding, number),
                "set" => set(&mut data.descriptor_set, number),
                "index" => set(&mut data.index, number),
                // An unrelated comment.
                _ => true,
            };
            if !good {
                return start.fail(TextErrorKind::BadIndexValue(key.to_string()));
            }
        }
        Ok(())
    }

    fn initializer(&mut self, s: &mut Scanner<'a>, ty: Type) -> ParseResult<Initializer> {
        struct Frame {
            ty: Option<Type>,
            /// Whether it is only a column of the matrix type `ty`.
            is_column: bool,
            values: Vec<u64>,
            elements: Vec<Initializer>,
            /// Whether an element is the word `null` without braces.
            has_null: bool,
        }
        let frame = |ty, is_column| Frame { ty, is_column, values: Vec::new(), elements: Vec::new(), has_null: false };
        s.expect("{", "`{`")?;
        let mut frames = vec![frame(Some(ty), false)];
        let mut finished = None;
        while let Some(top) = frames.last_mut() {
            if s.eat("}") {
                let Some(Frame { ty, is_column, values, elements, has_null }) = frames.pop() else { break };
                // `{ null }` is a whole value of zeros, `{ { null } }` one with a first element of zeros.
                let value = match elements.as_slice() {
                    [Initializer::Null] if has_null && values.is_empty() => Some(Initializer::Null),
                    _ => self.finish_initializer(ty, is_column, values, elements),
                };
                let Some(value) = value else { return s.fail(TextErrorKind::BadInitializer) };
                match frames.last_mut() {
                    Some(outer) => outer.elements.push(value),
                    None => finished = Some(value),
                }
                s.eat(",");
            } else if s.eat("{") {
                let (inner, is_column) = match top.ty.map(|ty| (ty, self.shader.types.get(ty))) {
                    Some((_, TypeData::Array { element, .. })) => (Some(*element), false),
                    Some((_, TypeData::Struct { fields, .. })) => (fields.get(top.elements.len()).map(|f| f.ty), false),
                    Some((ty, TypeData::Matrix { .. })) if !top.is_column => (Some(ty), true),
                    _ => (None, false),
                };
                if frames.len() >= MAX_NESTING {
                    return s.fail(TextErrorKind::BadInitializer);
                }
                frames.push(frame(inner, is_column));
            } else if s.eat_word("null") {
                top.elements.push(Initializer::Null);
                top.has_null = true;
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
        is_column: bool,
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
            Some(&TypeData::Matrix { rows, .. }) if is_column && elements.is_empty() => {
                (values.len() == usize::from(rows)).then_some(Initializer::Vector(values))
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
            // Braces around a pointer have no meaning.
            _ if matches!(elements[..], [Initializer::Pointer(_) | Initializer::Null]) => elements.pop(),
            _ if values.is_empty() => Some(Initializer::Elements(elements)),
            _ => Some(Initializer::Vector(values)),
        }
    }

    /// Creates all functions, so that calls can refer to later ones.
    pub(super) fn collect_functions(&mut self) {
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
                        self.record_line(AnnotationTarget::Function(function), at);
                        self.functions.insert(name, function);
                    }
                }
                Err(failure) => self.fail(at, failure),
            }
        }
    }
}

fn function_declaration<'a>(line: &SourceLine<'a>) -> ParseResult<(&'a str, FunctionData)> {
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
        attributes: Vec::new(),
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
            attribute => data.attributes.push(attribute.to_string()),
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

fn access_word(mut s: Scanner<'_>) -> Option<(AccessFlags, Scanner<'_>)> {
    let flag = AccessFlags::from_name(s.word()?)?;
    Some((flag, s))
}

/// Parses `VARYING_SLOT_VAR0.xyzw, 0, 0`.
fn location(mut s: Scanner<'_>, data: &mut VariableData) -> ParseResult<()> {
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

/// Parses a quoted text with Rust's escapes. Returns it and its length in the source.
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

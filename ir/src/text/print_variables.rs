//! Prints structs, variables and initialisers.

use std::fmt::Write;

use super::AnnotationTarget;
use super::index_text::{component_letters, push_format};
use super::print::{Printer, indent, parse_float, push_float, push_spaces, push_word};
use super::print_names::INPUTS_AND_OUTPUTS;
use super::slot_names::slot_name;
use super::type_names::{element_data, has_stride, push_type, type_data};
use crate::entities::Variable;
use crate::types::{ScalarType, TypeData};
use crate::variable::{Initializer, VariableData, VariableModes};
use tgsi_environment::PixelFormat;

/// Modes with a location in their declarations.
pub(super) const LOCATED: VariableModes = VariableModes(
    VariableModes::SHADER_IN.0
        | VariableModes::SHADER_OUT.0
        | VariableModes::UNIFORM.0
        | VariableModes::SYSTEM_VALUE.0
        | VariableModes::MEM_UBO.0
        | VariableModes::MEM_SSBO.0
        | VariableModes::IMAGE.0,
);

impl Printer<'_> {
    /// Prints the structs of the shader, one per line, so that the parser also knows fields that no deref uses.
    pub(super) fn struct_definitions(&mut self) {
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

    /// Prints the declaration of a variable.
    pub(super) fn variable(&mut self, variable: Variable, level: usize) {
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
        let frac_shown = self.location(data);
        self.initializer(data);
        if !self.options.mesa {
            self.variable_comment(variable, data, is_image, frac_shown);
        }
        self.out.push('\n');
        self.annotate(AnnotationTarget::Variable(variable), indent(level));
    }

    /// Prints the location in parentheses. Returns whether it implies the first component.
    fn location(&mut self, data: &VariableData) -> bool {
        if !data.mode.intersects(LOCATED) {
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

    fn variable_comment(&mut self, variable: Variable, data: &VariableData, is_image: bool, frac_shown: bool) {
        let out = &mut self.out;
        let start = out.len();
        let located = data.mode.intersects(LOCATED);
        let full_location = located && data.mode != VariableModes::SYSTEM_VALUE;
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
        number("location", data.location as u32, located);
        number("location_frac", u32::from(data.location_frac), frac_shown);
        number("driver_location", data.driver_location, full_location);
        number("binding", data.binding, full_location);
        number("set", data.descriptor_set, false);
        number("index", data.index, false);
        if data.streams != 0 {
            let _ = write!(out, " streams=0x{:02x}", data.streams);
        }
        if !is_image && data.image_format != PixelFormat::NONE {
            out.push_str(" format=");
            push_format(out, data.image_format);
        }
        if data.compact && !full_location {
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

    /// Prints the values of an initialiser. Uses an explicit stack, because types may be deeply nested.
    fn initializer_values(&mut self, data: &VariableData, value: &Initializer) {
        enum PrintItem<'i> {
            Value(&'i Initializer, Option<crate::entities::Type>),
            Text(&'static str),
        }
        let mut steps = vec![PrintItem::Value(value, Some(data.ty))];
        while let Some(step) = steps.pop() {
            let (value, ty) = match step {
                PrintItem::Text(text) => {
                    self.out.push_str(text);
                    continue;
                }
                PrintItem::Value(value, ty) => (value, ty),
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
                    // The numbers of a matrix are in one row, unless a column does not consist of numbers.
                    let braces = !matches!(type_data, Some(TypeData::Matrix { .. }))
                        || elements.iter().any(|element| !matches!(element, Initializer::Vector(_)));
                    for (i, element) in elements.iter().enumerate().rev() {
                        let element_type = match type_data {
                            Some(TypeData::Array { element, .. }) => Some(*element),
                            Some(TypeData::Struct { fields, .. }) => fields.get(i).map(|f| f.ty),
                            // A column is a vector of the matrix's scalars, so the matrix type suffices.
                            Some(TypeData::Matrix { .. }) => ty,
                            _ => None,
                        };
                        if braces {
                            steps.push(PrintItem::Text(" }"));
                        }
                        steps.push(PrintItem::Value(element, element_type));
                        if braces {
                            steps.push(PrintItem::Text("{ "));
                        }
                        if i > 0 {
                            steps.push(PrintItem::Text(", "));
                        }
                    }
                }
            }
        }
    }
}

fn push_access_words(out: &mut String, data: &VariableData) {
    let start = out.len();
    for (flag, name) in crate::intrinsics::indices::AccessFlags::FLAGS {
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

/// Prints one value of an initialiser. Floats that Mesa's form would truncate are printed in hexadecimal unless `mesa`.
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

//! Parses types: defined structs, structs that only derefs mention, and type names.

use hashbrown::{HashMap, HashSet};

use super::error::TextErrorKind;
use super::lexer::{ParseResult, Scanner, SourceLine};
use super::parse::Parser;
use super::type_names::{element_name, is_builtin, parse_type};
use crate::entities::Type;
use crate::types::{Field, TypeData};

/// A struct as described by the text.
#[derive(Default)]
struct StructText<'a> {
    /// Type, name and offset of the fields.
    fields: Vec<(&'a str, &'a str, i32)>,
    known: HashSet<&'a str>,
    interface: bool,
    /// Whether it comes from a `type` line and is complete.
    defined: bool,
}

impl<'a> Parser<'a> {
    /// Finds the structs of the text: those defined by `type` lines, and the fields that derefs use of others.
    pub(super) fn collect_structs(&mut self) {
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

    /// Creates the types of the structs, inner ones first. A struct nested in itself is known by its name only there.
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
                // Types parsed while the struct was open know it by its name only.
                self.types.clear();
                stack.pop();
                open.remove(name);
            }
        }
    }

    /// Returns the type with this name.
    pub(super) fn ty(&mut self, name: &'a str) -> Option<Type> {
        if let Some(&ty) = self.types.get(name) {
            return Some(ty);
        }
        let structs = &self.structs;
        let ty = parse_type(&mut self.shader.types, name, &|n| structs.get(n).copied())?;
        self.types.insert(name, ty);
        Some(ty)
    }

    /// Parses the name of a type.
    pub(super) fn type_at(&mut self, scanner: &Scanner<'a>, name: &'a str) -> ParseResult<Type> {
        match self.ty(name) {
            Some(ty) => Ok(ty),
            None => scanner.fail(TextErrorKind::BadType(name.to_string())),
        }
    }

    /// The number of a field of a struct.
    pub(super) fn field(&self, ty: Type, name: &'a str) -> Option<u32> {
        let known = self.fields.get(&(ty, name)).copied();
        // The printer's name for a field with an unknown name.
        known.or_else(|| name.strip_prefix("field").and_then(|n| n.parse().ok()))
    }
}

pub(super) fn is_type_line(code: &str) -> bool {
    code.starts_with("type ") && (code.contains(": struct {") || code.contains(": interface {"))
}

/// `type S: struct {vec3 p @0, float[2:16] q @16}`
fn struct_definition<'a>(line: &SourceLine<'a>) -> ParseResult<(&'a str, StructText<'a>)> {
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

/// The parts of a line with a deref: the value, the name of its type, and for a field its parent and its name.
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

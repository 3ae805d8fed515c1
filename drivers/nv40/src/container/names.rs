//! The names of inputs, outputs and samplers.

use std::collections::HashMap;

use tgsi_compiler::front_end::{Interface, InterfaceVariable};
use tgsi_ir::slots::VaryingSlot;

use super::ContainerError;
use crate::isa::Mask;
use crate::program::{SYSTEM_VALUE, Texture, TextureKind, Varying};

/// The longest name in bytes: GLSL's limit of 1024 characters for tokens, and that of readers; it bounds their work.
pub(super) const LONGEST_NAME: usize = 1024;

/// The type of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Type {
    /// A scalar or vector.
    Vector {
        /// Whether the source declares booleans.
        is_bool: bool,
        /// Components.
        size: u8,
    },
    /// A matrix.
    Matrix {
        /// Its registers: columns in GLSL, rows in Cg.
        rows: u8,
        /// Components of each.
        size: u8,
    },
    /// A texture unit.
    Sampler(TextureKind),
}

impl Type {
    /// A vector of floats.
    pub(super) fn vector(size: u8) -> Type {
        Type::Vector { is_bool: false, size: size.clamp(1, 4) }
    }
}

/// A parameter with one number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Named<T> {
    pub(super) name: String,
    pub(super) ty: Type,
    pub(super) item: T,
}

/// Names the inputs or outputs of a program. Those without a name in the interface have `prefix` and the register.
/// Parts of one register have the components after the name.
pub(super) fn varyings(list: &[Varying], interface: &[InterfaceVariable], prefix: &str) -> Vec<Named<Varying>> {
    let mut variables: Vec<_> = interface.iter().collect();
    variables.sort_by_key(|variable| variable.register);
    let mut parts: HashMap<u32, usize> = HashMap::new();
    for item in list.iter().filter(|item| item.register != SYSTEM_VALUE) {
        *parts.entry(item.register).or_default() += 1;
    }
    let named = |&item: &Varying| {
        if item.register == SYSTEM_VALUE {
            return Named { name: system_value(item.location), ty: Type::vector(4), item };
        }
        let next = variables.partition_point(|variable| variable.register <= item.register);
        let described = next.checked_sub(1).and_then(|at| {
            let variable = variables[at];
            described(variable, item.register - variable.register)
        });
        let (mut name, ty) = described.unwrap_or_else(|| (format!("{prefix}{}", item.register), Type::vector(4)));
        if parts.get(&item.register).is_some_and(|&parts| parts > 1) {
            name += &Mask(item.mask).to_string();
        }
        Named { name, ty, item }
    };
    list.iter().map(named).collect()
}

/// The name of a system value of a fragment shader in GLSL.
fn system_value(location: i32) -> String {
    match u8::try_from(location) {
        Ok(VaryingSlot::POS) => "gl_FragCoord".to_owned(),
        Ok(VaryingSlot::PNTC) => "gl_PointCoord".to_owned(),
        Ok(VaryingSlot::FACE) => "gl_FrontFacing".to_owned(),
        _ => format!("system{location}"),
    }
}

/// The name and type of a register of a variable, if the variable has this register.
fn described(variable: &InterfaceVariable, register: u32) -> Option<(String, Type)> {
    let (base, dimensions) = variable.ty.split_once('[').unwrap_or((&variable.ty, ""));
    let (size, columns) = components(base).unwrap_or((4, 1));
    let ty = Type::vector(size);
    let name = &variable.name;
    if dimensions.is_empty() {
        let name = if columns == 1 { name.clone() } else { format!("{name}[{register}]") };
        return (register < columns).then_some((name, ty));
    }
    let lengths = dimensions.trim_end_matches(']').split("][").map(|length| length.parse().unwrap_or(u32::MAX));
    let elements = lengths.fold(1, u32::saturating_mul);
    let element = format!("{name}[{}]", register / columns);
    let name = if columns == 1 { element } else { format!("{element}[{}]", register % columns) };
    (register / columns < elements).then_some((name, ty))
}

/// Components of a column and columns of a type of GLSL.
fn components(ty: &str) -> Option<(u8, u32)> {
    let digit = |text: &str| match text.as_bytes() {
        [digit @ b'2'..=b'4'] => Some(digit - b'0'),
        _ => None,
    };
    if matches!(ty, "float" | "int" | "uint" | "bool") {
        return Some((1, 1));
    }
    if let Some(size) = ty.strip_prefix("mat") {
        let (columns, rows) = size.split_once('x').unwrap_or((size, size));
        return Some((digit(rows)?, digit(columns)?.into()));
    }
    let size = ty.trim_start_matches(['i', 'u', 'b']).strip_prefix("vec")?;
    Some((digit(size)?, 1))
}

/// Names the samplers of a program.
pub(super) fn samplers(list: &[Texture], interface: &Interface) -> Vec<Named<Texture>> {
    let named = |&item: &Texture| {
        let unit = u32::from(item.unit);
        let is_in = |first: u32, count: u32| unit.checked_sub(first).filter(|&index| index < count);
        let found = interface.samplers.iter().find_map(|sampler| {
            let index = is_in(sampler.unit, sampler.num_units)?;
            let is_array = sampler.num_units > 1 || sampler.ty.contains('[');
            Some(if is_array { format!("{}[{index}]", sampler.name) } else { sampler.name.clone() })
        });
        Named { name: found.unwrap_or_else(|| format!("tex{unit}")), ty: Type::Sampler(item.kind), item }
    };
    list.iter().map(named).collect()
}

/// How lookups compare names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Case {
    /// Upper and lower case are equal.
    Ignored,
    /// They differ.
    Matters,
}

/// Checks the names of a table.
pub(super) fn check<'a>(names: impl Iterator<Item = &'a str>, case: Case) -> Result<(), ContainerError> {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for name in names {
        let error = |reason| Err(ContainerError::Name(name.to_owned(), reason));
        if name.is_empty() {
            return error("is empty");
        }
        if name.contains('\0') {
            return error("contains a zero byte");
        }
        if name.len() > LONGEST_NAME {
            return error("is longer than 1024 bytes");
        }
        let key = if case == Case::Ignored { name.to_ascii_lowercase() } else { name.to_owned() };
        if let Some(other) = seen.insert(key, name) {
            return Err(ContainerError::Ambiguous(other.to_owned(), name.to_owned()));
        }
    }
    Ok(())
}

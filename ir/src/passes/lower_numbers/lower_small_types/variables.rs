//! Types of variables.
//!
//! In variables that are not in memory addressed in bytes, 16-bit floats become 32-bit floats and small integers become
//! 32-bit integers.

use cranelift_entity::{EntityRef, SecondaryMap};

use crate::alu::{half, sign_extend};
use crate::body::InstData;
use crate::entities::Type;
use crate::shader::Shader;
use crate::types::{Field, ScalarType, TypeData, TypeTable};
use crate::variable::{Initializer, VariableModes};

/// Modes of variables whose components are words.
const WORDS: VariableModes = VariableModes(
    VariableModes::FUNCTION_TEMP.0
        | VariableModes::SHADER_TEMP.0
        | VariableModes::SHADER_IN.0
        | VariableModes::SHADER_OUT.0
        | VariableModes::UNIFORM.0
        | VariableModes::MEM_SHARED.0,
);

/// Returns whether memory of these modes consists of words, not bytes.
pub(super) fn in_words(modes: VariableModes) -> bool {
    modes.0 & !WORDS.0 == 0
}

const fn wide(scalar: ScalarType) -> ScalarType {
    match scalar {
        ScalarType::Float16 => ScalarType::Float,
        ScalarType::Int8 | ScalarType::Int16 => ScalarType::Int,
        ScalarType::Uint8 | ScalarType::Uint16 => ScalarType::Uint,
        other => other,
    }
}

/// Replaces the small types of variables and derefs. Returns whether there were any.
pub(super) fn widen_variables(shader: &mut Shader) -> bool {
    let is_small = |data: &TypeData| match data {
        TypeData::Vector { scalar, .. } | TypeData::Matrix { scalar, .. } => wide(*scalar) != *scalar,
        _ => false,
    };
    if !shader.types.iter().any(is_small) {
        return false;
    }
    let new = new_types(&mut shader.types);
    let changed = |ty: Type| new[ty].filter(|&new| new != ty);
    let mut progress = false;
    for variable in shader.variables.values_mut() {
        if let Some(ty) = changed(variable.ty).filter(|_| in_words(variable.mode)) {
            if let Some(initializer) = &mut variable.initializer {
                widen_initializer(&shader.types, variable.ty, initializer);
            }
            variable.ty = ty;
            progress = true;
        }
    }
    for body in shader.functions.values_mut().filter_map(|function| function.body.as_mut()) {
        progress |= body.visit_insts(|body, inst| {
            let InstData::Deref { kind, modes, ty } = *body.inst(inst) else { return false };
            let Some(ty) = changed(ty).filter(|_| in_words(modes)) else { return false };
            body.set_inst(inst, InstData::Deref { kind, modes, ty });
            true
        });
    }
    progress
}

/// Returns the new type for each type.
fn new_types(types: &mut TypeTable) -> SecondaryMap<Type, Option<Type>> {
    let mut new: SecondaryMap<Type, Option<Type>> = SecondaryMap::new();
    let count = types.iter().count();
    for old in (0..count).map(Type::new) {
        let data = types.get(old).clone();
        let of = |ty: Type| new[ty].unwrap_or(ty);
        // Explicit layouts no longer fit.
        let data = match data {
            TypeData::Vector { scalar, components } => TypeData::Vector { scalar: wide(scalar), components },
            TypeData::Matrix { scalar, columns, rows, .. } if wide(scalar) != scalar => {
                TypeData::Matrix { scalar: wide(scalar), columns, rows, stride: 0, row_major: false }
            }
            TypeData::Array { element, length, stride } => {
                let stride = if of(element) == element { stride } else { 0 };
                TypeData::Array { element: of(element), length, stride }
            }
            TypeData::Struct { name, fields, interface } if fields.iter().any(|field| of(field.ty) != field.ty) => {
                let fields = fields.into_iter().map(|field| Field { ty: of(field.ty), offset: -1, ..field }).collect();
                TypeData::Struct { name, fields, interface }
            }
            other => other,
        };
        new[old] = Some(types.intern(data));
    }
    new
}

/// Converts the constants of an initialiser of a type.
fn widen_initializer(types: &TypeTable, ty: Type, initializer: &mut Initializer) {
    let mut pending = vec![(ty, initializer)];
    while let Some((ty, initializer)) = pending.pop() {
        match (types.get(ty), initializer) {
            (TypeData::Vector { scalar, .. } | TypeData::Matrix { scalar, .. }, Initializer::Vector(words)) => {
                words.iter_mut().for_each(|word| *word = wide_constant(*word, *scalar));
            }
            (TypeData::Matrix { scalar, .. }, Initializer::Elements(columns)) => {
                for column in columns {
                    if let Initializer::Vector(words) = column {
                        words.iter_mut().for_each(|word| *word = wide_constant(*word, *scalar));
                    }
                }
            }
            (TypeData::Array { element, .. }, Initializer::Elements(elements)) => {
                pending.extend(elements.iter_mut().map(|part| (*element, part)));
            }
            (TypeData::Struct { fields, .. }, Initializer::Elements(elements)) => {
                pending.extend(fields.iter().map(|field| field.ty).zip(elements));
            }
            _ => {}
        }
    }
}

fn wide_constant(word: u64, scalar: ScalarType) -> u64 {
    match scalar {
        ScalarType::Float16 => half::to_f32(word as u16).to_bits().into(),
        ScalarType::Int8 | ScalarType::Int16 => sign_extend(word, scalar.bit_size().into()) as u64 & 0xffff_ffff,
        _ => word,
    }
}

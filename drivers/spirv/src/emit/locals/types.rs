//! Types and initializers of variables.

use smallvec::SmallVec;
use spirv::Op;
use tgsi_ir::types::{ScalarType, TypeData};
use tgsi_ir::variable::Initializer;
use tgsi_ir::{Inst, Type};

use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

/// Returns class and size of a scalar type.
pub(super) fn scalar_of(scalar: ScalarType, components: u8, class: Option<Class>) -> Option<ValueType> {
    use ScalarType as S;
    let own = match scalar {
        S::Bool => Class::Bool,
        S::Int8 | S::Int16 | S::Int | S::Int64 => Class::Int,
        S::Uint8 | S::Uint16 | S::Uint | S::Uint64 => Class::Uint,
        S::Float16 | S::Float | S::Double => Class::Float,
        S::Void => return None,
    };
    let class = class.filter(|_| scalar.bit_size() == 32).unwrap_or(own);
    (1..=4).contains(&components).then(|| ValueType::new(class, scalar.bit_size(), components))
}

impl Emitter<'_> {
    /// Returns the type of a variable. Uses a worklist instead of recursion: component types are created first.
    pub(super) fn local_type(&mut self, inst: Inst, ty: Type, class: Option<Class>) -> Result<Id, SpirvError> {
        let types = &self.shader.types;
        let mut pending = vec![ty];
        while let Some(&at) = pending.last() {
            if self.locals.types.contains_key(&(at, class)) {
                pending.pop();
                continue;
            }
            let data = types.get(at);
            let parts: SmallVec<[Type; 4]> = match data {
                TypeData::Array { element, .. } => smallvec::smallvec![*element],
                TypeData::Struct { fields, .. } => fields.iter().map(|field| field.ty).collect(),
                _ => SmallVec::new(),
            };
            let before = pending.len();
            pending.extend(parts.iter().filter(|&&part| !self.locals.types.contains_key(&(part, class))));
            if pending.len() > before {
                continue;
            }
            let parts: SmallVec<[u32; 4]> =
                parts.iter().filter_map(|&part| self.locals.types.get(&(part, class))).map(|id| id.0).collect();
            let made = match *data {
                TypeData::Vector { scalar, components } => {
                    scalar_of(scalar, components, class).map(|ty| self.module.value_type(ty))
                }
                TypeData::Matrix { scalar, columns, rows, .. } => scalar_of(scalar, rows, class).map(|ty| {
                    let column = self.module.value_type(ty);
                    self.module.array_type(column, columns.into(), None)
                }),
                TypeData::Array { length, .. } if length > 0 => {
                    parts.first().map(|&element| self.module.array_type(Id(element), length, None))
                }
                TypeData::Struct { .. } => Some(self.module.plain_type(Op::TypeStruct, &parts)),
                _ => None,
            };
            let Some(made) = made else {
                return Err(SpirvError::Unsupported { inst, what: "a variable of this type" });
            };
            self.locals.types.insert((at, class), made);
            pending.pop();
        }
        let found = self.locals.types.get(&(ty, class)).copied();
        found.ok_or(SpirvError::Unsupported { inst, what: "a variable of this type" })
    }

    /// Creates the constant of an initializer.
    pub(super) fn initializer(
        &mut self,
        inst: Inst,
        initializer: &Initializer,
        ty: Type,
        class: Option<Class>,
    ) -> Result<Id, SpirvError> {
        struct OpenInitializer<'a> {
            ty: Type,
            elements: &'a [Initializer],
            made: Vec<u32>,
        }
        let unsupported = SpirvError::Unsupported { inst, what: "an initializer of this kind" };
        let types = &self.shader.types;
        let mut open: Vec<OpenInitializer<'_>> = Vec::new();
        let (mut at, mut at_ty) = (initializer, ty);
        loop {
            // Creates a leaf, or opens a list.
            let mut made = match at {
                Initializer::Null => {
                    let ty = self.local_type(inst, at_ty, class)?;
                    Some(self.module.null(ty))
                }
                Initializer::Vector(bits) => {
                    let Some((scalar, components)) = types.as_vector(at_ty) else { return Err(unsupported) };
                    let Some(ty) = scalar_of(scalar, components, class) else { return Err(unsupported) };
                    let mut bits: SmallVec<[u64; 4]> = bits.iter().copied().collect();
                    bits.resize(usize::from(components), 0);
                    Some(self.module.constant(ty, &bits))
                }
                Initializer::Elements(elements) => {
                    open.push(OpenInitializer { ty: at_ty, elements, made: Vec::new() });
                    None
                }
                Initializer::Pointer(_) => return Err(unsupported),
            };
            // Closes the lists that are complete.
            loop {
                let Some(list) = open.last_mut() else {
                    return made.ok_or(unsupported);
                };
                list.made.extend(made.take().map(|id| id.0));
                let part = |number: usize| match types.get(list.ty) {
                    TypeData::Array { element, length, .. } => ((number as u32) < *length).then_some(*element),
                    TypeData::Struct { fields, .. } => fields.get(number).map(|field| field.ty),
                    _ => None,
                };
                match (part(list.made.len()), list.elements.get(list.made.len())) {
                    (Some(ty), Some(next)) => {
                        (at, at_ty) = (next, ty);
                        break;
                    }
                    (Some(ty), None) => {
                        let ty = self.local_type(inst, ty, class)?;
                        made = Some(self.module.null(ty));
                    }
                    (None, _) => {
                        let Some(list) = open.pop() else { return Err(unsupported) };
                        if list.made.is_empty() {
                            return Err(unsupported);
                        }
                        let ty = self.local_type(inst, list.ty, class)?;
                        made = Some(self.module.constant_of(Op::ConstantComposite, ty, &list.made));
                    }
                }
            }
        }
    }
}

//! Types, each declared once.

use spirv::{Capability, Decoration, Op, StorageClass};

use super::{Id, Key, Module, push};

/// The interpretation of a value's bits that an operation needs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// Booleans: exactly the 1-bit values.
    Bool,
    /// Floats.
    Float,
    /// Signed integers.
    Int,
    /// Unsigned integers.
    Uint,
}

/// The type of a scalar or vector.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ValueType {
    /// The interpretation of the bits.
    pub class: Class,
    /// Bits of a component: 1, 8, 16, 32, 64.
    pub bits: u8,
    /// The number of components, 1 to 4.
    pub components: u8,
}

impl ValueType {
    /// A 32-bit unsigned integer.
    pub const UINT: ValueType = ValueType::new(Class::Uint, 32, 1);
    /// A 32-bit signed integer.
    pub const INT: ValueType = ValueType::new(Class::Int, 32, 1);
    /// A 32-bit float.
    pub const FLOAT: ValueType = ValueType::new(Class::Float, 32, 1);
    /// A boolean.
    pub const BOOL: ValueType = ValueType::new(Class::Bool, 1, 1);

    /// Creates a type; 1-bit types are booleans whatever the class.
    pub const fn new(class: Class, bits: u8, components: u8) -> ValueType {
        let class = if bits == 1 { Class::Bool } else { class };
        ValueType { class, bits, components }
    }

    /// Returns the type with another number of components.
    #[must_use]
    pub const fn with_components(self, components: u8) -> ValueType {
        ValueType { components, ..self }
    }

    /// Returns the type of a component.
    #[must_use]
    pub const fn scalar(self) -> ValueType {
        self.with_components(1)
    }
}

/// A decoration of a type, or of one of its members.
pub type TypeDecoration<'a> = (Option<u32>, Decoration, &'a [u32]);

impl Module {
    /// Returns the type with these words, declaring it if needed.
    pub fn plain_type(&mut self, op: Op, operands: &[u32]) -> Id {
        self.decorated_type(op, operands, &[])
    }

    /// Returns whether there is a type of 32-bit floats.
    pub fn has_floats(&self) -> bool {
        self.types.contains_key([Op::TypeFloat as u32, 32].as_slice())
    }

    /// Returns the type with these words and decorations, declaring it if needed.
    pub fn decorated_type(&mut self, op: Op, operands: &[u32], decorations: &[TypeDecoration<'_>]) -> Id {
        let mut key: Key = [op as u32].into_iter().chain(operands.iter().copied()).collect();
        for &(member, decoration, literals) in decorations {
            key.extend([u32::MAX, member.map_or(u32::MAX, |member| member), decoration as u32]);
            key.extend_from_slice(literals);
        }
        if let Some(&id) = self.types.get(&key) {
            return id;
        }
        let id = self.id();
        self.types.insert(key, id);
        let words: Key = [id.0].into_iter().chain(operands.iter().copied()).collect();
        push(&mut self.globals, op, &words);
        for &(member, decoration, literals) in decorations {
            match member {
                Some(member) => self.decorate_member(id, member, decoration, literals),
                None => self.decorate(id, decoration, literals),
            }
        }
        id
    }

    /// Returns `void`.
    pub fn void_type(&mut self) -> Id {
        self.plain_type(Op::TypeVoid, &[])
    }

    /// Returns the type of a scalar or vector, and requires the capability of its size.
    pub fn value_type(&mut self, ty: ValueType) -> Id {
        let scalar = match (ty.class, u32::from(ty.bits)) {
            (Class::Bool, _) => self.plain_type(Op::TypeBool, &[]),
            (Class::Float, bits) => {
                match bits {
                    64 => self.need(Capability::Float64),
                    16 => self.need(Capability::Float16),
                    _ => {}
                }
                self.plain_type(Op::TypeFloat, &[bits])
            }
            (Class::Int | Class::Uint, bits) => {
                match bits {
                    64 => self.need(Capability::Int64),
                    16 => self.need(Capability::Int16),
                    8 => self.need(Capability::Int8),
                    _ => {}
                }
                self.plain_type(Op::TypeInt, &[bits, u32::from(ty.class == Class::Int)])
            }
        };
        match ty.components {
            0 | 1 => scalar,
            components => self.plain_type(Op::TypeVector, &[scalar.0, u32::from(components)]),
        }
    }

    /// Returns a pointer type.
    pub fn pointer_type(&mut self, class: StorageClass, ty: Id) -> Id {
        self.plain_type(Op::TypePointer, &[class as u32, ty.0])
    }

    /// Returns an array type of a constant length, with a stride in bytes if it is used in a buffer.
    pub fn array_type(&mut self, element: Id, length: u32, stride: Option<u32>) -> Id {
        let length = self.uint(length);
        match stride {
            None => self.plain_type(Op::TypeArray, &[element.0, length.0]),
            Some(stride) => self.decorated_type(
                Op::TypeArray,
                &[element.0, length.0],
                &[(None, Decoration::ArrayStride, &[stride])],
            ),
        }
    }

    /// Returns an array type with the length of the bound buffer.
    pub fn runtime_array_type(&mut self, element: Id, stride: u32) -> Id {
        self.decorated_type(Op::TypeRuntimeArray, &[element.0], &[(None, Decoration::ArrayStride, &[stride])])
    }
}

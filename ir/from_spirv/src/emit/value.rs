//! Values of ids.

use std::rc::Rc;

use smallvec::SmallVec;
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;

use super::Emitter;
use super::pointer::Pointer;
use crate::constants::Known;
use crate::error::SpirvError;
use crate::images::TexelPointer;
use crate::module::Id;
use crate::types::{TypeData, TypeId};
use crate::words::Inst;

/// The value of an id.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// Nothing: of instructions without result.
    None,
    /// A constant, which becomes code where it is needed.
    Known(Known),
    /// A scalar or vector.
    Vector(Def),
    /// The leaves of a matrix (its columns), array or struct, in order.
    Composite(Rc<[Def]>),
    /// The rows of a matrix, as it is stored in memory. Products use them as they are.
    Transposed(Rc<[Def]>),
    /// A pointer.
    Pointer(Rc<Pointer>),
    /// An image, sampler or sampled image: where it was loaded from.
    Opaque(Rc<Pointer>),
    /// An image and a sampler that `OpSampledImage` joins.
    Pair(Rc<(Pointer, Pointer)>),
    /// A pointer to a texel of a storage image.
    Texel(Rc<TexelPointer>),
}

impl Emitter<'_, '_, '_> {
    /// The type of an id's value.
    pub(crate) fn type_of(&self, id: u32) -> TypeId {
        self.context.module.type_of(id)
    }

    /// The value of an id.
    ///
    /// # Errors
    /// The id is not one of a value, or no path to here defines it.
    pub(crate) fn value(&mut self, id: u32) -> Result<Value, SpirvError> {
        match self.context.module.id(id) {
            Id::Constant(known) => Ok(Value::Known(known)),
            Id::Variable(number) => Ok(Value::Pointer(Rc::new(self.global_pointer(number)))),
            Id::Value(_) => match self.values.get(id as usize) {
                Some(Value::None) | None => Err(SpirvError::Undefined { id }),
                Some(value) => Ok(value.clone()),
            },
            other => Err(SpirvError::WrongKind { id, found: other.kind(), expected: "a value" }),
        }
    }

    /// The scalar or vector of an id.
    ///
    /// # Errors
    /// As [`value`](Self::value), and values of other types.
    pub(crate) fn vector(&mut self, id: u32) -> Result<Def, SpirvError> {
        let value = self.value(id)?;
        self.as_vector(&value).ok_or_else(|| self.wrong(id, "a scalar or vector"))
    }

    /// The pointer of an id.
    ///
    /// # Errors
    /// As [`value`](Self::value), and values of other types.
    pub(crate) fn pointer(&mut self, id: u32) -> Result<Rc<Pointer>, SpirvError> {
        let value = self.value(id)?;
        self.as_pointer(&value).ok_or_else(|| self.wrong(id, "a pointer"))
    }

    /// The leaves of the value of an id, in order.
    ///
    /// # Errors
    /// As [`value`](Self::value), and pointers and opaque values.
    pub(crate) fn leaves(&mut self, id: u32) -> Result<Rc<[Def]>, SpirvError> {
        let value = self.value(id)?;
        self.leaves_of(&value).ok_or_else(|| self.wrong(id, "a value of numbers"))
    }

    fn wrong(&self, id: u32, expected: &'static str) -> SpirvError {
        SpirvError::WrongKind { id, found: self.context.module.types.kind(self.type_of(id)), expected }
    }

    /// The scalar or vector that a value is.
    pub(crate) fn as_vector(&mut self, value: &Value) -> Option<Def> {
        match *value {
            Value::Vector(def) => Some(def),
            Value::Known(known) => {
                let module = &self.context.module;
                let shape = module.types.as_vector(module.constants.type_of(known));
                let (scalar, count) = shape?;
                if let Known::Undef(_) = known {
                    return Some(self.undefined(Shape::new(count, scalar.bit_size())));
                }
                let bits = module.constants.bits(&module.types, known)?;
                Some(self.constant(scalar.bit_size(), &bits))
            }
            _ => None,
        }
    }

    /// The leaves of a value of numbers, in order.
    pub(crate) fn leaves_of(&mut self, value: &Value) -> Option<Rc<[Def]>> {
        match value {
            Value::Vector(def) => Some(Rc::from([*def].as_slice())),
            Value::Composite(leaves) => Some(leaves.clone()),
            Value::Transposed(rows) => Some(self.transposed(rows).into()),
            Value::Known(known) => {
                let module = &self.context.module;
                let ty = module.constants.type_of(*known);
                if module.types.leaves(ty) > self.context.options.limits.leaves {
                    return None;
                }
                let shapes = module.types.leaf_shapes(ty);
                let bits = module.constants.leaves(&module.types, *known);
                let leaves = shapes.iter().zip(bits).map(|(shape, bits)| match bits {
                    Some(bits) => self.constant(shape.bit_size, &bits),
                    None => self.undefined(*shape),
                });
                Some(leaves.collect())
            }
            Value::Pointer(pointer) => Some(Rc::from([self.pointer_vector(pointer)?].as_slice())),
            Value::None | Value::Opaque(_) | Value::Pair(_) | Value::Texel(_) => None,
        }
    }

    /// The columns of a matrix from its rows, or the rows from its columns.
    pub(crate) fn transposed(&mut self, vectors: &[Def]) -> Vec<Def> {
        let count = vectors.first().map_or(0, |&first| self.b.body.num_components(first));
        (0..count)
            .map(|number| {
                let parts: SmallVec<[AluSrc; 4]> =
                    vectors.iter().map(|&vector| AluSrc::component(vector, number)).collect();
                self.b.vec(&parts)
            })
            .collect()
    }

    /// A value of a type from its leaves.
    pub(crate) fn leaves_to_value(&mut self, ty: TypeId, leaves: &[Def]) -> Value {
        match (self.context.module.types.get(ty), leaves) {
            (TypeData::Vector { .. }, &[def]) => Value::Vector(def),
            (&TypeData::Pointer { class, pointee, .. }, &[def]) => self.vector_pointer(def, class, pointee),
            _ => Value::Composite(leaves.into()),
        }
    }

    /// A value of a type, all of whose bits are undefined.
    pub(crate) fn undefined_value(&self, ty: TypeId) -> Value {
        match self.context.module.types.get(ty) {
            TypeData::Void => Value::None,
            _ => Value::Known(Known::Undef(ty)),
        }
    }

    /// The bits of a scalar or vector that is constant in the module.
    pub(crate) fn known_bits(&self, id: u32) -> Option<crate::constants::Bits> {
        let module = &self.context.module;
        module.constants.bits(&module.types, module.constant(id)?)
    }

    /// An integer that must be constant, such as a scope.
    ///
    /// # Errors
    /// It is not constant.
    pub(crate) fn integer(&self, id: u32) -> Result<u32, SpirvError> {
        self.context.module.integer(id).map(|value| value as u32).ok_or_else(|| SpirvError::WrongKind {
            id,
            found: self.context.module.id(id).kind(),
            expected: "a constant",
        })
    }

    /// The shape of the result of an instruction that gives a scalar or vector.
    pub(crate) fn result_shape(&self, inst: &Inst<'_>) -> Shape {
        let module = &self.context.module;
        module.types.shape(module.result_type(inst))
    }

    /// A constant, made once in each function.
    pub(crate) fn constant(&mut self, bit_size: u8, bits: &[u64]) -> Def {
        let key = (bit_size, crate::constants::Bits::from_slice(bits));
        if let Some(&known) = self.constants.get(&key) {
            return known;
        }
        let def = self.at_start(|b| b.constant(bit_size, bits));
        self.constants.insert(key, def);
        def
    }

    /// An undefined vector.
    pub(crate) fn undefined(&mut self, shape: Shape) -> Def {
        self.at_start(|b| b.undef(shape.num_components, shape.bit_size))
    }
}

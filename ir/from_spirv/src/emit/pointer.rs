//! Pointers: a variable and the steps from it.
//!
//! A pointer becomes derefs at each access, so that derefs are in the block of their uses.

use std::rc::Rc;

use smallvec::SmallVec;
use tgsi_ir::alu::AluOp;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::AccessFlags;

use super::Emitter;
use super::storage::Memory;
use super::value::Value;
use crate::alu::{is_integer, is_signed};
use crate::error::SpirvError;
use crate::types::{TypeData, TypeId};

/// The variable from which a pointer leads.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Base {
    /// A variable of the module, by its number.
    Global(u32),
    /// A variable of a function.
    Local(Memory),
    /// Variables among which the shader chooses, by the number of the choice in the function.
    Choice(u32),
    /// No variable.
    Null,
}

/// A step from a composite to a part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Step {
    /// A member, or an element, column or component with this number.
    Part(u32),
    /// An element, column or component at a run-time index of 32 bits.
    Index(Def),
}

/// A pointer.
#[derive(Clone, Debug)]
pub(crate) struct Pointer {
    pub(crate) base: Base,
    pub(crate) steps: SmallVec<[Step; 4]>,
    /// The type of the memory at the end.
    pub(crate) ty: TypeId,
    /// The storage class.
    pub(crate) class: u32,
    pub(crate) access: AccessFlags,
}

impl Pointer {
    /// A pointer to a part.
    pub(crate) fn part(&self, number: u32, ty: TypeId) -> Pointer {
        let mut part = self.clone();
        part.steps.push(Step::Part(number));
        part.ty = ty;
        part
    }
}

impl Emitter<'_, '_, '_> {
    /// The pointer that a variable of the module is.
    pub(crate) fn global_pointer(&self, number: u32) -> Pointer {
        let global = self.context.module.globals.get(number as usize);
        let (class, ty, id) = global.map_or((0, TypeId::ERROR, 0), |global| (global.class, global.ty, global.id));
        let access = self.context.access_of(id, None);
        Pointer { base: Base::Global(number), steps: SmallVec::new(), ty, class, access }
    }

    /// An index with 32 bits, constant or not.
    ///
    /// # Errors
    /// It is not an integer.
    pub(crate) fn index_of(&mut self, id: u32) -> Result<Step, SpirvError> {
        let ty = self.context.module.types.as_vector(self.type_of(id));
        let Some((scalar, 1)) = ty.filter(|&(scalar, _)| is_integer(scalar)) else {
            let found = self.context.module.types.kind(self.type_of(id));
            return Err(SpirvError::WrongKind { id, found, expected: "an integer" });
        };
        if let Some(bits) = self.known_bits(id) {
            let bits = bits.first().copied().unwrap_or(0);
            return Ok(Step::Part(u32::try_from(bits).unwrap_or(u32::MAX)));
        }
        let index = self.term(id)?;
        Ok(Step::Index(self.to_32_bits(index.value, is_signed(scalar))))
    }

    /// Adds the steps of an access chain.
    ///
    /// # Errors
    /// An index that is not one of the type.
    pub(crate) fn walk(&mut self, pointer: &Pointer, indices: &[u32]) -> Result<Pointer, SpirvError> {
        let mut pointer = pointer.clone();
        for &id in indices {
            let mut step = self.index_of(id)?;
            let module = &self.context.module;
            // An element beyond the end is undefined, but must not be a part of something else.
            let length = match *module.types.get(pointer.ty) {
                TypeData::Array { length, .. } => length,
                TypeData::Matrix { columns, .. } => columns.into(),
                TypeData::Vector { count, .. } => count.into(),
                _ => 0,
            };
            if let (Step::Part(number), 1..) = (&mut step, length) {
                *number = (*number).min(length - 1);
            }
            let error = |why| SpirvError::Types { op: "OpAccessChain".to_owned(), why };
            let next = match (module.types.get(pointer.ty).clone(), step) {
                (TypeData::Array { element, .. }, _) => element,
                (TypeData::Matrix { scalar, rows, .. }, _) => self.context.vector_type(scalar, rows),
                (TypeData::Vector { scalar, count }, _) if count > 1 => self.context.vector_type(scalar, 1),
                (TypeData::Struct { id, members }, Step::Part(number)) => {
                    let member = members.get(number as usize).ok_or(error("the struct has no such member"))?;
                    pointer.access = AccessFlags(pointer.access.0 | self.context.access_of(id, Some(number)).0);
                    member.ty
                }
                _ => return Err(error("an index is not one of the type")),
            };
            pointer.steps.push(step);
            pointer.ty = next;
        }
        Ok(pointer)
    }

    /// A step from the last element of a pointer to another one of its array: `OpPtrAccessChain`.
    ///
    /// # Errors
    /// The pointer does not lead to an element of an array.
    pub(crate) fn advance(&mut self, pointer: &Rc<Pointer>, distance: u32, id: u32) -> Result<Pointer, SpirvError> {
        let distance = self.index_of(distance)?;
        if distance == Step::Part(0) {
            return Ok(Pointer::clone(pointer));
        }
        self.map_targets(pointer, |emitter, target| {
            let mut target = target.clone();
            // A variable has no neighbours: the distance must be 0.
            let most = emitter.last_element(&target);
            let Some(last) = target.steps.pop() else { return Ok(target) };
            let most = most.ok_or(SpirvError::Pointer { id })?;
            target.steps.push(match (last, distance) {
                (Step::Part(a), Step::Part(b)) => Step::Part(a.wrapping_add(b).min(most)),
                (a, b) => {
                    let (a, b) = (emitter.step_index(a), emitter.step_index(b));
                    Step::Index(emitter.b.alu(AluOp::Iadd, &[a, b]))
                }
            });
            Ok(target)
        })
    }

    /// The pointer to an image or a sampler that a value was loaded from; of a pair that of the image.
    pub(crate) fn opaque(&mut self, id: u32) -> Result<Value, SpirvError> {
        match self.value(id)? {
            value @ (Value::Opaque(_) | Value::Pair(_)) => Ok(value),
            _ => {
                let found = self.context.module.types.kind(self.type_of(id));
                Err(SpirvError::WrongKind { id, found, expected: "an image or a sampler" })
            }
        }
    }
}

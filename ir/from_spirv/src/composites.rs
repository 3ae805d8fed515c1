//! Composites.
//!
//! A composite is the list of its leaves. Parts of constants stay constants.

use std::rc::Rc;

use spirv::Op;
use tgsi_arithmetic::Sink;
use tgsi_ir::body::Shape;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::types::ScalarType;

use crate::alu::{Class, Term, checked};
use crate::constants::Known;
use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::emit::pointer::Step;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::grammar;
use crate::module::Module;
use crate::types::{TypeData, TypeId};
use crate::words::Inst;

/// A component of `OpVectorShuffle` with any value.
pub(crate) const UNDEFINED: u32 = u32::MAX;

/// A part of a composite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    /// The number of its first leaf, or of the leaf of which it is a component.
    pub(crate) leaf: u32,
    /// The type; that of a scalar for a component.
    pub(crate) ty: TypeId,
    pub(crate) component: Option<u8>,
}

/// The part of a type that literal indices lead to; `None` if it does not exist.
pub(crate) fn locate(module: &mut Module, ty: TypeId, indices: &[u32]) -> Option<Part> {
    let mut part = Part { leaf: 0, ty, component: None };
    for &number in indices {
        let types = &module.types;
        let next = match *types.get(part.ty) {
            TypeData::Array { element, length, .. } if number < length => element,
            TypeData::Struct { .. } => types.part(part.ty, number)?,
            TypeData::Matrix { scalar, columns, rows } if number < columns.into() => {
                part.leaf = part.leaf.checked_add(number)?;
                part.ty = module.vector_type(scalar, rows);
                continue;
            }
            TypeData::Vector { scalar, count: count @ 2.. } if number < count.into() => {
                part.component = Some(number as u8);
                part.ty = module.vector_type(scalar, 1);
                continue;
            }
            _ => return None,
        };
        part.leaf = part.leaf.checked_add(types.leaves_before(part.ty, number))?;
        part.ty = next;
    }
    Some(part)
}

/// The part of a constant that literal indices lead to; `None` if it does not exist.
pub(crate) fn known_part(module: &mut Module, known: Known, indices: &[u32]) -> Option<Known> {
    let mut known = known;
    for &number in indices {
        let whole = module.constants.type_of(known);
        let ty = locate(module, whole, &[number])?.ty;
        known = module.constants.part(&module.types, known, number, ty)?;
    }
    Some(known)
}

fn misfit(why: &'static str, inst: &Inst<'_>) -> SpirvError {
    SpirvError::Types { op: grammar::name(inst.op), why }
}

impl Emitter<'_, '_, '_> {
    pub(crate) fn composite_group(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        let value = match op {
            Op::CompositeConstruct => self.construct(inst.rest(2), inst)?,
            Op::CompositeConstructReplicateEXT => {
                let module = &self.context.module;
                let count = module.types.parts(module.result_type(inst));
                self.check_size(count as usize)?;
                self.construct(&vec![inst.word(2); count as usize], inst)?
            }
            Op::CompositeExtract => self.extract(inst)?,
            Op::CompositeInsert => self.insert(inst)?,
            Op::VectorShuffle => self.shuffle(inst)?,
            Op::VectorExtractDynamic => {
                let (vector, step) = (self.term(inst.word(2))?, self.component_step(inst.word(3), inst)?);
                let value = self.component_at(vector.value, step);
                let (scalar, count) = self.result_vector(inst)?;
                Value::Vector(self.component(value, scalar, count, inst)?)
            }
            Op::VectorInsertDynamic => {
                let (vector, component) = (self.term(inst.word(2))?, self.term(inst.word(3))?);
                let step = self.component_step(inst.word(4), inst)?;
                let (scalar, count) = self.result_vector(inst)?;
                self.component(vector.value, scalar, count, inst)?;
                let component = self.component(component.value, scalar, 1, inst)?;
                Value::Vector(self.with_component(vector.value, step, component))
            }
            _ => return Ok(Outcome::Other),
        };
        Ok(Outcome::Value(value))
    }

    /// Checks the shape of a scalar or vector.
    fn component(&self, value: Def, scalar: ScalarType, count: u8, inst: &Inst<'_>) -> Result<Def, SpirvError> {
        checked(&self.b, Term { value, scalar }, Class::Any, count, scalar.bit_size())
            .map_err(|_| misfit("a value has another type", inst))
    }

    /// The run-time index of a component.
    fn component_step(&mut self, id: u32, inst: &Inst<'_>) -> Result<Step, SpirvError> {
        let ty = self.context.module.types.as_vector(self.type_of(id));
        if !ty.is_some_and(|(scalar, count)| count == 1 && !scalar.is_float() && scalar != ScalarType::Bool) {
            return Err(misfit("the index is not an integer", inst));
        }
        self.term(id)?;
        self.index_of(id)
    }

    /// Checks that a value may have more leaves, which are instructions or copies of them.
    ///
    /// # Errors
    /// There would be too many.
    pub(crate) fn check_size(&mut self, leaves: usize) -> Result<(), SpirvError> {
        let limit = u64::from(self.context.options.limits.leaves);
        if leaves as u64 > limit {
            return Err(SpirvError::TooLarge { what: "parts of a value", count: leaves as u64, limit });
        }
        // The values of all ids are kept until their function ends.
        let limit = self.context.options.limits.instructions.saturating_mul(16);
        self.context.copied_leaves = self.context.copied_leaves.saturating_add(leaves as u64);
        let count = self.context.copied_leaves;
        if count > limit {
            return Err(SpirvError::TooLarge { what: "parts of values", count, limit });
        }
        Ok(())
    }

    /// The leaves of a value that has a type.
    ///
    /// # Errors
    /// It has another type.
    fn leaves_as(&mut self, id: u32, ty: TypeId, inst: &Inst<'_>) -> Result<Rc<[Def]>, SpirvError> {
        let error = || misfit("a part has another type", inst);
        if !self.context.module.types.are_equal(self.type_of(id), ty) {
            return Err(error());
        }
        let leaves = self.leaves(id)?;
        if self.context.module.types.leaves(ty) as usize != leaves.len() {
            return Err(error());
        }
        let shapes = self.context.module.types.leaf_shapes(ty);
        let has_shape = |(&leaf, shape): (&Def, &Shape)| {
            (self.b.components(leaf), Sink::bit_size(&self.b, leaf)) == (shape.num_components, shape.bit_size)
        };
        if shapes.len() != leaves.len() || !leaves.iter().zip(&shapes).all(has_shape) {
            return Err(error());
        }
        Ok(leaves)
    }

    /// A composite from its parts.
    fn construct(&mut self, ids: &[u32], inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let ty = self.context.module.result_type(inst);
        let types: Vec<TypeId> = match self.context.module.types.get(ty).clone() {
            TypeData::Vector { scalar, count } => return self.construct_vector(ty, scalar, count, ids, inst),
            TypeData::Matrix { scalar, columns, rows } => {
                vec![self.context.module.vector_type(scalar, rows); columns.into()]
            }
            TypeData::Array { element, length, .. } if ids.len() == length as usize => vec![element; ids.len()],
            TypeData::Struct { members, .. } => members.iter().map(|member| member.ty).collect(),
            _ => return Err(misfit("the parts are not those of the type", inst)),
        };
        if types.len() != ids.len() {
            return Err(misfit("the parts are not those of the type", inst));
        }
        self.check_size(self.context.module.types.leaves(ty) as usize)?;
        let module = &mut *self.context.module;
        let known: Option<Vec<Known>> = ids.iter().map(|&id| module.constant(id)).collect();
        let has_type = |(&part, &ty): (&Known, &TypeId)| module.types.are_equal(module.constants.type_of(part), ty);
        if let Some(parts) = known.filter(|parts| parts.iter().zip(&types).all(has_type)) {
            return Ok(Value::Known(module.constants.composite(&module.types, ty, parts)));
        }
        let mut leaves = Vec::with_capacity(module.types.leaves(ty) as usize);
        for (&id, &ty) in ids.iter().zip(&types) {
            leaves.extend_from_slice(&self.leaves_as(id, ty, inst)?);
        }
        Ok(Value::Composite(leaves.into()))
    }

    /// A vector from scalars and vectors.
    fn construct_vector(
        &mut self,
        ty: TypeId,
        scalar: ScalarType,
        count: u8,
        ids: &[u32],
        inst: &Inst<'_>,
    ) -> Result<Value, SpirvError> {
        let mut known = Some(Vec::new());
        let mut components: Vec<(Def, u8)> = Vec::new();
        for &id in ids {
            let part = self.term(id)?;
            if part.scalar.bit_size() != scalar.bit_size() || components.len() >= usize::from(count) {
                return Err(misfit("the parts are not those of the type", inst));
            }
            let constant = self.context.module.constant(id).filter(|known| !matches!(known, Known::Undef(_)));
            known = known.zip(constant).map(|(mut known, constant)| {
                known.push(constant);
                known
            });
            let lanes = self.b.components(part.value);
            components.extend((0..lanes).map(|lane| (part.value, lane)));
        }
        if components.len() != usize::from(count) {
            return Err(misfit("the parts are not those of the type", inst));
        }
        if let Some(parts) = known {
            let module = &mut *self.context.module;
            return Ok(Value::Known(module.constants.composite(&module.types, ty, parts)));
        }
        Ok(Value::Vector(self.b.gather(&components)))
    }

    /// `OpCompositeExtract`.
    fn extract(&mut self, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let (id, indices) = (inst.word(2), inst.rest(3));
        let ty = self.type_of(id);
        let error = || misfit("an index is not one of the type", inst);
        let value = self.value(id)?;
        let module = &mut *self.context.module;
        let Some(part) = locate(module, ty, indices) else { return Err(error()) };
        if !module.types.are_equal(part.ty, module.result_type(inst)) {
            return Err(misfit("the result has another type", inst));
        }
        match (value, part.component) {
            (Value::Known(known), _) => {
                let part = known_part(module, known, indices);
                part.map(Value::Known).ok_or_else(error)
            }
            (Value::Opaque(pointer), _) => {
                // A struct of samplers was not loaded as a whole.
                let pointer = self.part_pointer(&pointer, indices).ok_or_else(error)?;
                self.load(&Rc::new(pointer))
            }
            (value, None) if indices.is_empty() => Ok(value),
            (Value::Vector(vector), Some(component)) if component < self.b.components(vector) => {
                Ok(Value::Vector(self.b.channel(vector, component)))
            }
            (Value::Composite(leaves), Some(component)) => {
                let leaf = leaves.get(part.leaf as usize).copied();
                match leaf.filter(|&leaf| component < self.b.components(leaf)) {
                    Some(leaf) => Ok(Value::Vector(self.b.channel(leaf, component))),
                    None => Err(error()),
                }
            }
            (Value::Composite(leaves), None) => {
                let first = part.leaf as usize;
                let count = self.context.module.types.leaves(part.ty) as usize;
                let leaves = leaves.get(first..first.saturating_add(count)).ok_or_else(error)?;
                self.check_size(leaves.len())?;
                Ok(self.leaves_to_value(part.ty, leaves))
            }
            (Value::Transposed(rows), component) => {
                let column = part.leaf as u8;
                if rows.iter().any(|&row| column >= self.b.components(row)) {
                    return Err(error());
                }
                let rows: Vec<Def> = match component {
                    Some(row) => rows.get(usize::from(row)).copied().into_iter().collect(),
                    None => rows.to_vec(),
                };
                let components: Vec<(Def, u8)> = rows.iter().map(|&row| (row, column)).collect();
                if !matches!(components.len(), 1..=4) {
                    return Err(error());
                }
                Ok(Value::Vector(self.b.gather(&components)))
            }
            _ => Err(error()),
        }
    }

    /// A pointer to a part.
    fn part_pointer(
        &mut self,
        pointer: &crate::emit::pointer::Pointer,
        indices: &[u32],
    ) -> Option<crate::emit::pointer::Pointer> {
        let mut pointer = pointer.clone();
        for &number in indices {
            let part = locate(self.context.module, pointer.ty, &[number])?;
            pointer = pointer.part(number, part.ty);
        }
        Some(pointer)
    }

    /// `OpCompositeInsert`.
    fn insert(&mut self, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let (object, id, indices) = (inst.word(2), inst.word(3), inst.rest(4));
        let ty = self.type_of(id);
        let error = || misfit("an index is not one of the type", inst);
        let module = &mut *self.context.module;
        let result = module.result_type(inst);
        let Some(part) = locate(module, ty, indices).filter(|_| module.types.are_equal(ty, result)) else {
            return Err(error());
        };
        self.check_size(self.context.module.types.leaves(ty) as usize)?;
        let new = self.leaves_as(object, part.ty, inst)?;
        let mut leaves = self.leaves_as(id, ty, inst)?.to_vec();
        let first = part.leaf as usize;
        match (part.component, new.first()) {
            (Some(component), Some(&new)) => {
                let leaf = leaves.get_mut(first).ok_or_else(error)?;
                *leaf = self.with_component(*leaf, Step::Part(component.into()), new);
            }
            _ => {
                let old = leaves.get_mut(first..first.saturating_add(new.len())).ok_or_else(error)?;
                old.copy_from_slice(&new);
            }
        }
        Ok(self.leaves_to_value(ty, &leaves))
    }

    /// `OpVectorShuffle`.
    fn shuffle(&mut self, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let lanes = inst.rest(4);
        let ty = self.context.module.result_type(inst);
        let (scalar, count) = self.result_vector(inst)?;
        let vectors = [self.term(inst.word(2))?, self.term(inst.word(3))?];
        if lanes.len() != usize::from(count) || vectors.iter().any(|term| term.scalar.bit_size() != scalar.bit_size()) {
            return Err(misfit("the vectors differ", inst));
        }
        if lanes.iter().all(|&lane| lane == UNDEFINED) {
            return Ok(Value::Known(Known::Undef(ty)));
        }
        let first = u32::from(self.b.components(vectors[0].value));
        let second = u32::from(self.b.components(vectors[1].value));
        let mut components: Vec<(Def, u8)> = Vec::with_capacity(lanes.len());
        for &lane in lanes {
            components.push(match lane {
                UNDEFINED => (self.undefined(Shape::new(1, scalar.bit_size())), 0),
                lane if lane < first => (vectors[0].value, lane as u8),
                lane if lane - first < second => (vectors[1].value, (lane - first) as u8),
                _ => return Err(misfit("the vectors have no such component", inst)),
            });
        }
        let constants = [inst.word(2), inst.word(3)].map(|id| self.known_bits(id));
        if let [Some(a), Some(b)] = constants
            && !lanes.contains(&UNDEFINED)
        {
            let all = [a.as_slice(), b.as_slice()].concat();
            let bits: Option<Vec<u64>> = lanes.iter().map(|&lane| all.get(lane as usize).copied()).collect();
            if let Some(bits) = bits {
                return Ok(Value::Known(self.context.module.constants.vector(ty, &bits)));
            }
        }
        if components.iter().all(|&(vector, _)| vector == components[0].0) {
            return Ok(Value::Vector(self.b.gather(&components)));
        }
        let sources: Vec<AluSrc> = components.iter().map(|&(vector, lane)| AluSrc::component(vector, lane)).collect();
        Ok(Value::Vector(self.b.vec(&sources)))
    }
}

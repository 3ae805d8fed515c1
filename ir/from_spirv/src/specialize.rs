//! Constants that depend on specialisation constants.

use spirv::Op;
use tgsi_arithmetic::fold::{Folder, Known as Folded};
use tgsi_ir::types::ScalarType;

use crate::alu::{self, Term, Terms};
use crate::composites::{UNDEFINED, known_part};
use crate::constants::Known;
use crate::error::SpirvError;
use crate::grammar;
use crate::module::Module;
use crate::types::{TypeData, TypeId};
use crate::words::Inst;

/// The value of `OpSpecConstantOp`.
///
/// # Errors
/// The operation is not one of constants, or its operands do not fit.
pub(crate) fn evaluate(module: &mut Module, inst: &Inst<'_>, ty: TypeId) -> Result<Known, SpirvError> {
    let number = inst.word(2) as u16;
    let name = || grammar::name(number);
    let misfit = |why| SpirvError::Types { op: name(), why };
    let refused = || SpirvError::Instruction { name: name(), why: "it is not one of constants" };
    let op = Op::from_u32(inst.word(2)).ok_or_else(refused)?;
    let operands = inst.rest(3);
    let value = match op {
        Op::CompositeExtract => {
            let (&id, indices) = operands.split_first().ok_or_else(|| misfit("the number of operands"))?;
            known_part(module, constant(module, id)?, indices)
        }
        Op::CompositeInsert => {
            let &[object, id, ref indices @ ..] = operands else { return Err(misfit("the number of operands")) };
            let (object, known) = (constant(module, object)?, constant(module, id)?);
            insert(module, object, known, indices)?
        }
        Op::VectorShuffle => {
            let &[a, b, ref lanes @ ..] = operands else { return Err(misfit("the number of operands")) };
            let vectors = [constant(module, a)?, constant(module, b)?];
            shuffle(module, ty, vectors, lanes)
        }
        Op::Select => select(module, operands)?,
        Op::CopyLogical | Op::CopyObject => {
            let &[id] = operands else { return Err(misfit("the number of operands")) };
            Some(constant(module, id)?)
        }
        _ => None,
    };
    let has_type = |module: &Module, known| module.types.are_equal(module.constants.type_of(known), ty);
    if let Some(known) = value {
        return if has_type(module, known) { Ok(known) } else { Err(misfit("the result has another type")) };
    }
    let Some(count) = alu::num_operands(op) else {
        return Err(match op {
            Op::CompositeExtract | Op::CompositeInsert | Op::VectorShuffle => misfit("the operands do not fit"),
            _ => refused(),
        });
    };
    let (operands, rest) = operands.split_at_checked(count).ok_or_else(|| misfit("the number of operands"))?;
    let (scalar, components) = module.types.as_vector(ty).ok_or_else(|| misfit("the result has another type"))?;
    let mut form = alu::form(&module.decorations, op, scalar, components, inst);
    form.packing = rest.first().copied();
    let terms: Result<Terms<Folded>, SpirvError> = operands.iter().map(|&id| term(module, id)).collect();
    let value = alu::compute(&mut Folder, &form, &terms?).map_err(|fault| fault.about(name()))?;
    Ok(module.constants.vector(ty, value.bits()))
}

/// The constant with an id.
fn constant(module: &Module, id: u32) -> Result<Known, SpirvError> {
    let found = module.id(id).kind();
    module.constant(id).ok_or(SpirvError::WrongKind { id, found, expected: "a constant" })
}

/// A scalar or vector for the folder.
fn term(module: &Module, id: u32) -> Result<Term<Folded>, SpirvError> {
    let known = constant(module, id)?;
    let vector = module.types.as_vector(module.constants.type_of(known));
    let bits = module.constants.bits(&module.types, known);
    match (vector, bits) {
        (Some((scalar, _)), Some(bits)) => Ok(Term { value: Folded::new(scalar.bit_size(), &bits), scalar }),
        _ => Err(SpirvError::WrongKind { id, found: "a composite", expected: "a scalar or vector" }),
    }
}

/// Selects by a scalar. Conditions of vectors select components, which is arithmetic.
fn select(module: &Module, operands: &[u32]) -> Result<Option<Known>, SpirvError> {
    let &[condition, yes, no] = operands else { return Ok(None) };
    let known = constant(module, condition)?;
    let is_scalar = module.types.as_vector(module.constants.type_of(known)) == Some((ScalarType::Bool, 1));
    match module.constants.bits(&module.types, known).as_deref() {
        Some(&[bit]) if is_scalar => constant(module, if bit != 0 { yes } else { no }).map(Some),
        _ => Ok(None),
    }
}

fn shuffle(module: &mut Module, ty: TypeId, vectors: [Known; 2], lanes: &[u32]) -> Option<Known> {
    let [a, b] = vectors.map(|known| {
        let (scalar, _) = module.types.as_vector(module.constants.type_of(known))?;
        Some((scalar.bit_size(), module.constants.bits(&module.types, known)?))
    });
    let ((size, mut bits), (other, more), (scalar, count)) = (a?, b?, module.types.as_vector(ty)?);
    if size != other || size != scalar.bit_size() || lanes.len() != usize::from(count) {
        return None;
    }
    bits.extend_from_slice(&more);
    let lane = |&lane: &u32| if lane == UNDEFINED { Some(0) } else { bits.get(lane as usize).copied() };
    let bits: Vec<u64> = lanes.iter().map(lane).collect::<Option<_>>()?;
    Some(module.constants.vector(ty, &bits))
}

/// A constant with a part replaced. The composites on the path to it are copied.
fn insert(module: &mut Module, object: Known, known: Known, indices: &[u32]) -> Result<Option<Known>, SpirvError> {
    let mut copies: Vec<(TypeId, Vec<Known>, usize)> = Vec::with_capacity(indices.len());
    let mut part = known;
    for &number in indices {
        let whole = module.constants.type_of(part);
        let count = num_parts(module, whole);
        if number >= count {
            return Ok(None);
        }
        module.constants.charge(count)?;
        let mut parts = Vec::with_capacity(count as usize);
        for number in 0..count {
            let Some(ty) = part_type(module, whole, number) else { return Ok(None) };
            let Some(part) = module.constants.part(&module.types, part, number, ty) else { return Ok(None) };
            parts.push(part);
        }
        let Some(&next) = parts.get(number as usize) else { return Ok(None) };
        part = next;
        copies.push((whole, parts, number as usize));
    }
    if !module.types.are_equal(module.constants.type_of(part), module.constants.type_of(object)) {
        return Ok(None);
    }
    let mut value = object;
    for (ty, mut parts, number) in copies.into_iter().rev() {
        if let Some(place) = parts.get_mut(number) {
            *place = value;
        }
        value = module.constants.composite(&module.types, ty, parts);
    }
    Ok(Some(value))
}

/// The number of parts of a composite or vector.
fn num_parts(module: &Module, ty: TypeId) -> u32 {
    match module.types.get(ty) {
        TypeData::Array { length, .. } => *length,
        TypeData::Struct { members, .. } => members.len() as u32,
        TypeData::Matrix { columns, .. } => (*columns).into(),
        TypeData::Vector { count: count @ 2.., .. } => (*count).into(),
        _ => 0,
    }
}

/// The type of a part of a composite or vector.
fn part_type(module: &mut Module, ty: TypeId, number: u32) -> Option<TypeId> {
    match *module.types.get(ty) {
        TypeData::Matrix { scalar, rows, .. } => Some(module.vector_type(scalar, rows)),
        TypeData::Vector { scalar, .. } => Some(module.vector_type(scalar, 1)),
        _ => module.types.part(ty, number),
    }
}

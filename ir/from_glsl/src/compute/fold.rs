//! Operations on constants.

use tgsi_arithmetic::fold::{Folder, Known};
use tgsi_arithmetic::{MAX, Operand, operators as arithmetic};

use super::constructors::{self, Shape};
use super::{component, functions, operators};
use crate::ast::{BinaryOp, UnaryOp};
use crate::builtins::functions::BuiltinOp;
use crate::program::Constant;
use crate::types::{Scalar, TypeData, TypeId, Types};

/// The value of a binary operator.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Folded {
    /// The value.
    pub(crate) constant: Constant,
    /// Whether an integer is divided by zero, which is undefined; the value is that of the IR.
    pub(crate) divides_by_zero: bool,
}

/// The operand of a constant scalar, vector or matrix, and the type of its components.
fn operand(types: &Types, constant: &Constant) -> Option<(Scalar, Operand<Known>)> {
    match types.get(constant.ty) {
        TypeData::Vector { scalar, components } if constant.bits.len() == usize::from(components) => {
            Some((scalar, Operand::Vector(Known::new(component(scalar).bits, &constant.bits))))
        }
        TypeData::Matrix { scalar, rows, .. } => {
            let columns =
                constant.bits.chunks(rows.into()).take(MAX).map(|bits| Known::new(component(scalar).bits, bits));
            Some((scalar, Operand::Matrix(columns.collect())))
        }
        _ => None,
    }
}

/// The constant of an operand.
fn constant(types: &Types, ty: TypeId, operand: &Operand<Known>) -> Option<Constant> {
    let bits: Vec<u64> = operand.vectors().iter().flat_map(Known::bits).copied().collect();
    (bits.len() == types.summary(ty).components as usize).then_some(Constant { ty, bits })
}

/// The value of a unary operator.
pub(crate) fn unary(types: &Types, op: UnaryOp, value: &Constant) -> Option<Constant> {
    let (scalar, value_of) = operand(types, value)?;
    constant(types, value.ty, &operators::unary(&mut Folder, op, scalar, &value_of)?)
}

/// The value of a binary operator with a result of type `ty`. Arrays and structs have `==` and `!=`.
pub(crate) fn binary(types: &Types, op: BinaryOp, ty: TypeId, left: &Constant, right: &Constant) -> Option<Folded> {
    if let BinaryOp::Equal | BinaryOp::NotEqual = op
        && let TypeData::Array { .. } | TypeData::Struct(_) = types.get(left.ty)
    {
        let is_equal = are_equal(types, left, right)?;
        let bits = vec![u64::from(is_equal == (op == BinaryOp::Equal))];
        return Some(Folded { constant: Constant { ty, bits }, divides_by_zero: false });
    }
    let ((scalar, a), (_, b)) = (operand(types, left)?, operand(types, right)?);
    let value = operators::binary(&mut Folder, op, scalar, &a, &b)?;
    let divides = matches!(op, BinaryOp::Div | BinaryOp::Mod) && scalar.is_integer();
    let divides_by_zero = divides && right.bits.contains(&0);
    Some(Folded { constant: constant(types, ty, &value)?, divides_by_zero })
}

/// Whether two values of one type are equal in all components.
fn are_equal(types: &Types, left: &Constant, right: &Constant) -> Option<bool> {
    if left.ty != right.ty || left.bits.len() != right.bits.len() {
        return None;
    }
    let mut all = true;
    let mut at = 0;
    visit_vectors(types, left.ty, &mut |scalar, count| {
        let range = at..at + count;
        at += count;
        let (Some(a), Some(b)) = (left.bits.get(range.clone()), right.bits.get(range)) else { return };
        for (a, b) in a.chunks(MAX).zip(b.chunks(MAX)) {
            let [a, b] = [a, b].map(|bits| Operand::Vector(Known::new(component(scalar).bits, bits)));
            let equal = arithmetic::all_equal(&mut Folder, component(scalar).kind, &a, &b);
            all &= equal.is_some_and(|equal| equal.bits() == [1]);
        }
    });
    Some(all)
}

/// Visits the scalars, vectors and matrices of a type in order: their scalar type and number of components.
fn visit_vectors(types: &Types, ty: TypeId, visit: &mut impl FnMut(Scalar, usize)) {
    match types.get(ty) {
        TypeData::Vector { scalar, components } => visit(scalar, components.into()),
        TypeData::Matrix { scalar, columns, rows } => visit(scalar, usize::from(columns) * usize::from(rows)),
        TypeData::Struct(_) => types.fields(ty).iter().for_each(|field| visit_vectors(types, field.ty, visit)),
        // Elements without components would be visited for nothing.
        TypeData::Array { element, length } if types.summary(element).components > 0 => {
            (0..length.unwrap_or(0)).for_each(|_| visit_vectors(types, element, visit));
        }
        TypeData::Array { .. }
        | TypeData::Sampler(_)
        | TypeData::Image(_)
        | TypeData::AtomicUint
        | TypeData::Subroutine(_)
        | TypeData::Error
        | TypeData::Void => {}
    }
}

/// A scalar, vector or matrix with components converted to the scalar of `ty`, which has the same size.
pub(crate) fn convert(types: &Types, ty: TypeId, value: &Constant) -> Option<Constant> {
    let (from, value) = operand(types, value)?;
    constant(types, ty, &operators::convert(&mut Folder, from, types.scalar(ty)?, &value))
}

/// The value of a constructor. Operands are as those of [`crate::program::ExprKind::Construct`].
pub(crate) fn construct(types: &Types, ty: TypeId, operands: &[&Constant]) -> Option<Constant> {
    let (scalar, shape) = match types.get(ty) {
        TypeData::Vector { scalar, components } => (scalar, Shape::Vector(components)),
        TypeData::Matrix { scalar, columns, rows } => (scalar, Shape::Matrix(columns, rows)),
        TypeData::Array { .. } | TypeData::Struct(_) => {
            let bits: Vec<u64> = operands.iter().flat_map(|operand| &operand.bits).copied().collect();
            return (bits.len() == types.summary(ty).components as usize).then_some(Constant { ty, bits });
        }
        TypeData::Sampler(_)
        | TypeData::Image(_)
        | TypeData::AtomicUint
        | TypeData::Subroutine(_)
        | TypeData::Error
        | TypeData::Void => return None,
    };
    let of_operand = |value: &&Constant| operand(types, value).map(|(_, value)| value);
    let operands = operands.iter().map(of_operand).collect::<Option<Vec<_>>>()?;
    constant(types, ty, &constructors::construct(&mut Folder, scalar, shape, &operands)?)
}

/// The value of a function with a result of type `ty`; `None` if it depends on more than its arguments or has `out`
/// parameters.
pub(crate) fn builtin(types: &Types, op: BuiltinOp, ty: TypeId, arguments: &[&Constant]) -> Option<Constant> {
    // Noise is zero in all shaders, but no constant expression of the language.
    if op == BuiltinOp::Noise {
        return None;
    }
    // Constants do not change between pixels.
    if let (BuiltinOp::DFdx(_) | BuiltinOp::DFdy(_) | BuiltinOp::Fwidth(_), [argument]) = (op, arguments) {
        return Some(Constant { ty, bits: vec![0; argument.bits.len()] });
    }
    let of_argument = |value: &&Constant| {
        let (scalar, operand) = operand(types, value)?;
        Some(functions::Argument { scalar, operand })
    };
    let arguments = arguments.iter().map(of_argument).collect::<Option<Vec<_>>>()?;
    let result = functions::builtin(&mut Folder, op, &arguments)?;
    if !result.outputs.is_empty() {
        return None;
    }
    constant(types, ty, &result.value?)
}

/// Components of a vector, as many as `ty` has.
pub(crate) fn swizzle(types: &Types, ty: TypeId, value: &Constant, components: [u8; 4]) -> Option<Constant> {
    let (_, count) = types.as_vector(ty)?;
    let selected = components.iter().take(count.into()).map(|&component| value.bits.get(usize::from(component)));
    Some(Constant { ty, bits: selected.map(|bits| bits.copied()).collect::<Option<Vec<_>>>()? })
}

/// An element of an array, a column of a matrix, a component of a vector; `None` if the index is out of range.
pub(crate) fn index(types: &mut Types, value: &Constant, index: u64) -> Option<Constant> {
    let (ty, length) = types.element(value.ty)?;
    let size = types.summary(ty).components as usize;
    if index >= u64::from(length?) {
        return None;
    }
    let start = usize::try_from(index).ok()?.checked_mul(size)?;
    Some(Constant { ty, bits: value.bits.get(start..start.checked_add(size)?)?.to_vec() })
}

/// A field of a struct.
pub(crate) fn field(types: &Types, value: &Constant, number: u32) -> Option<Constant> {
    let fields = types.fields(value.ty);
    let size = |ty| types.summary(ty).components as usize;
    let ty = fields.get(number as usize)?.ty;
    let start: usize = fields.iter().take(number as usize).map(|field| size(field.ty)).sum();
    Some(Constant { ty, bits: value.bits.get(start..start + size(ty))?.to_vec() })
}

#[cfg(test)]
mod tests;

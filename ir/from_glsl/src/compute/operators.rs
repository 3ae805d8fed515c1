//! Operators, and conversions between scalar types.

use tgsi_arithmetic::{Operand, Sink, convert as conversion, operators};

use super::component;
use crate::ast::{BinaryOp, UnaryOp};
use crate::types::Scalar;

/// A unary operator. `scalar` is the type of the components. Returns `None` for operands that it does not have.
pub(crate) fn unary<S: Sink>(
    sink: &mut S,
    op: UnaryOp,
    scalar: Scalar,
    operand: &Operand<S::Value>,
) -> Option<Operand<S::Value>> {
    match op {
        UnaryOp::Plus => Some(operand.clone()),
        UnaryOp::Minus if scalar.is_numeric() => {
            Some(operand.map(|value| operators::negate(sink, component(scalar).kind, value)))
        }
        UnaryOp::Not if scalar == Scalar::Bool => Some(operand.map(|value| operators::not(sink, value))),
        UnaryOp::Complement if scalar.is_integer() => Some(operand.map(|value| operators::not(sink, value))),
        _ => None,
    }
}

/// A binary operator on operands with components of one type; the right operand of a shift may be the other integer
/// type. Returns `None` for operands that it does not have.
pub(crate) fn binary<S: Sink>(
    sink: &mut S,
    op: BinaryOp,
    scalar: Scalar,
    left: &Operand<S::Value>,
    right: &Operand<S::Value>,
) -> Option<Operand<S::Value>> {
    use BinaryOp as B;
    let kind = component(scalar).kind;
    let has_operator = match op {
        B::Equal | B::NotEqual => true,
        B::Mul | B::Div | B::Add | B::Sub | B::Less | B::Greater | B::LessEqual | B::GreaterEqual => {
            scalar.is_numeric()
        }
        B::Mod | B::Shl | B::Shr | B::BitAnd | B::BitXor | B::BitOr => scalar.is_integer(),
        B::And | B::Or | B::Xor => scalar == Scalar::Bool,
    };
    if !has_operator {
        return None;
    }
    let compute = match op {
        B::Equal => return operators::all_equal(sink, kind, left, right).map(Operand::Vector),
        B::NotEqual => return operators::any_not_equal(sink, kind, left, right).map(Operand::Vector),
        B::Mul if scalar.is_float() => return operators::product(sink, left, right),
        B::Mul => operators::multiply,
        B::Div => operators::divide,
        B::Add => operators::add,
        B::Sub => operators::subtract,
        B::Mod => operators::remainder,
        B::Shl => |sink: &mut S, _, value, count| operators::shift_left(sink, value, count),
        B::Shr => operators::shift_right,
        B::Less => operators::less,
        B::Greater => operators::greater,
        B::LessEqual => operators::less_equal,
        B::GreaterEqual => operators::greater_equal,
        B::BitAnd | B::And => |sink: &mut S, _, a, b| operators::and(sink, a, b),
        B::BitXor | B::Xor => |sink: &mut S, _, a, b| operators::xor(sink, a, b),
        B::BitOr | B::Or => |sink: &mut S, _, a, b| operators::or(sink, a, b),
    };
    operators::each(sink, left, right, |sink, a, b| compute(sink, kind, a, b))
}

/// Converts components to another scalar type.
pub(crate) fn convert<S: Sink>(
    sink: &mut S,
    from: Scalar,
    to: Scalar,
    operand: &Operand<S::Value>,
) -> Operand<S::Value> {
    operand.map(|value| conversion::convert(sink, component(from), component(to), value))
}

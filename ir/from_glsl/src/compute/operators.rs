//! Operators, and conversions between scalar types.

use arrayvec::ArrayVec;
use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;

use super::{Operand, Sink, bits_of};
use crate::ast::{BinaryOp, UnaryOp};
use crate::types::Scalar;

/// A unary operator. `scalar` is the type of the components. Returns `None` for operands that it does not have.
pub(crate) fn unary<S: Sink>(
    sink: &mut S,
    op: UnaryOp,
    scalar: Scalar,
    operand: &Operand<S::Value>,
) -> Option<Operand<S::Value>> {
    let op = match (op, scalar) {
        (UnaryOp::Plus, _) => return Some(operand.clone()),
        (UnaryOp::Minus, Scalar::Float | Scalar::Double) => AluOp::Fneg,
        (UnaryOp::Minus, Scalar::Int | Scalar::Uint) => AluOp::Ineg,
        (UnaryOp::Not, Scalar::Bool) | (UnaryOp::Complement, Scalar::Int | Scalar::Uint) => AluOp::Inot,
        _ => return None,
    };
    Some(operand.map(|value| sink.one(op, value)))
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
    match op {
        BinaryOp::Mul if scalar.is_float() => return multiply(sink, left, right),
        BinaryOp::Equal | BinaryOp::NotEqual => {
            return equal(sink, scalar, left, right, op == BinaryOp::NotEqual).map(Operand::Vector);
        }
        _ => {}
    }
    if let (BinaryOp::Add | BinaryOp::Sub, Scalar::Float) = (op, scalar) {
        return each(sink, left, right, |sink, a, b| sum(sink, a, b, op == BinaryOp::Sub));
    }
    let (op, swap) = opcode(op, scalar)?;
    each(sink, left, right, |sink, a, b| if swap { sink.two(op, b, a) } else { sink.two(op, a, b) })
}

/// The opcode of an operator on components, and whether it takes the operands in reverse order.
fn opcode(op: BinaryOp, scalar: Scalar) -> Option<(AluOp, bool)> {
    use BinaryOp as B;
    use Scalar as S;
    let by_kind = |float: AluOp, signed: AluOp, unsigned: AluOp| match scalar {
        S::Float | S::Double => Some(float),
        S::Int => Some(signed),
        S::Uint => Some(unsigned),
        S::Bool => None,
    };
    let integer = |signed: AluOp, unsigned: AluOp| match scalar {
        S::Int => Some(signed),
        S::Uint => Some(unsigned),
        _ => None,
    };
    let boolean = |op: AluOp| (scalar == S::Bool).then_some(op);
    Some(match op {
        B::Mul => (by_kind(AluOp::Fmul, AluOp::Imul, AluOp::Imul)?, false),
        B::Div => (by_kind(AluOp::Fdiv, AluOp::Idiv, AluOp::Udiv)?, false),
        B::Add => (by_kind(AluOp::Fadd, AluOp::Iadd, AluOp::Iadd)?, false),
        B::Sub => (by_kind(AluOp::Fsub, AluOp::Isub, AluOp::Isub)?, false),
        B::Mod => (integer(AluOp::Irem, AluOp::Umod)?, false),
        B::Shl => (integer(AluOp::Ishl, AluOp::Ishl)?, false),
        B::Shr => (integer(AluOp::Ishr, AluOp::Ushr)?, false),
        B::BitAnd => (integer(AluOp::Iand, AluOp::Iand)?, false),
        B::BitXor => (integer(AluOp::Ixor, AluOp::Ixor)?, false),
        B::BitOr => (integer(AluOp::Ior, AluOp::Ior)?, false),
        B::Less => (by_kind(AluOp::Flt, AluOp::Ilt, AluOp::Ult)?, false),
        B::Greater => (by_kind(AluOp::Flt, AluOp::Ilt, AluOp::Ult)?, true),
        B::LessEqual => (by_kind(AluOp::Fge, AluOp::Ige, AluOp::Uge)?, true),
        B::GreaterEqual => (by_kind(AluOp::Fge, AluOp::Ige, AluOp::Uge)?, false),
        B::And => (boolean(AluOp::Iand)?, false),
        B::Or => (boolean(AluOp::Ior)?, false),
        B::Xor => (boolean(AluOp::Ixor)?, false),
        B::Equal | B::NotEqual => return None,
    })
}

/// Computes vectors, or columns and scalars or columns.
fn each<S: Sink>(
    sink: &mut S,
    left: &Operand<S::Value>,
    right: &Operand<S::Value>,
    mut compute: impl FnMut(&mut S, S::Value, S::Value) -> S::Value,
) -> Option<Operand<S::Value>> {
    let vectors = [left.vectors(), right.vectors()];
    let sizes = vectors.map(|vectors| vectors.first()).map(|value| value.map_or(0, |&value| sink.components(value)));
    let is_scalar = |operand: &Operand<S::Value>, size: u8| matches!(operand, Operand::Vector(_)) && size == 1;
    let has_scalar = is_scalar(left, sizes[0]) || is_scalar(right, sizes[1]);
    if !has_scalar && (sizes[0] != sizes[1] || vectors[0].len() != vectors[1].len()) {
        return None;
    }
    Some(match (left, right) {
        (Operand::Vector(left), Operand::Vector(right)) => Operand::Vector(compute(sink, *left, *right)),
        (Operand::Vector(left), Operand::Matrix(right)) => {
            Operand::Matrix(right.iter().map(|&right| compute(sink, *left, right)).collect())
        }
        (Operand::Matrix(left), Operand::Vector(right)) => {
            Operand::Matrix(left.iter().map(|&left| compute(sink, left, *right)).collect())
        }
        (Operand::Matrix(left), Operand::Matrix(right)) => {
            Operand::Matrix(left.iter().zip(right).map(|(&left, &right)| compute(sink, left, right)).collect())
        }
    })
}

/// The product of floats, vectors and matrices.
fn multiply<S: Sink>(sink: &mut S, left: &Operand<S::Value>, right: &Operand<S::Value>) -> Option<Operand<S::Value>> {
    Some(match (left, right) {
        (Operand::Matrix(columns), &Operand::Vector(vector)) if sink.components(vector) > 1 => {
            Operand::Vector(transform(sink, columns, vector)?)
        }
        (&Operand::Vector(vector), Operand::Matrix(columns)) if sink.components(vector) > 1 => {
            if columns.iter().any(|&column| sink.components(column) != sink.components(vector)) {
                return None;
            }
            let dots: ArrayVec<(S::Value, u8), 4> =
                columns.iter().map(|&column| (dot(sink, vector, column), 0)).collect();
            Operand::Vector(sink.gather(&dots))
        }
        (Operand::Matrix(left), Operand::Matrix(right)) => {
            let columns = right.iter().map(|&column| transform(sink, left, column));
            Operand::Matrix(columns.collect::<Option<_>>()?)
        }
        _ => return each(sink, left, right, |sink, a, b| sink.two(AluOp::Fmul, a, b)),
    })
}

/// A matrix times a vector: the sum of its columns, each times a component.
fn transform<S: Sink>(sink: &mut S, columns: &[S::Value], vector: S::Value) -> Option<S::Value> {
    if usize::from(sink.components(vector)) != columns.len() {
        return None;
    }
    let mut sum = None;
    for (component, &column) in columns.iter().enumerate() {
        let (column, factor) = ((column, Swizzle::IDENTITY), (vector, Swizzle::replicate(component as u8)));
        let rows = sink.components(column.0);
        sum = Some(match sum {
            None => sink.alu(AluOp::Fmul, rows, &[column, factor]),
            Some(sum) => multiply_add(sink, rows, column, factor, (sum, Swizzle::IDENTITY)),
        });
    }
    sum
}

/// The sum of floats.
pub(super) fn add<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> S::Value {
    sum(sink, a, b, false)
}

/// The difference of floats.
pub(super) fn subtract<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> S::Value {
    sum(sink, a, b, true)
}

/// The sum or difference of floats. A product is multiplied and added by one instruction.
fn sum<S: Sink>(sink: &mut S, a: S::Value, b: S::Value, negate_second: bool) -> S::Value {
    let components = sink.components(a).max(sink.components(b));
    let used = |sink: &S, value| if sink.components(value) == 1 { Swizzle::replicate(0) } else { Swizzle::IDENTITY };
    let (first, second) = ((a, used(sink, a)), (b, used(sink, b)));
    let factors = |sink: &S, (value, swizzle): (S::Value, Swizzle)| {
        Some(sink.factors(value)?.map(|(factor, inner)| (factor, swizzle.compose(inner))))
    };
    if let Some([factor, other]) = factors(sink, second) {
        let factor = if negate_second { (sink.one(AluOp::Fneg, factor.0), factor.1) } else { factor };
        return multiply_add(sink, components, factor, other, first);
    }
    if let Some([factor, other]) = factors(sink, first) {
        let second = if negate_second { (sink.one(AluOp::Fneg, b), second.1) } else { second };
        return multiply_add(sink, components, factor, other, second);
    }
    sink.alu(if negate_second { AluOp::Fsub } else { AluOp::Fadd }, components, &[first, second])
}

/// `a * b + c`, each rounded. Targets that have an instruction for it keep it as one.
pub(crate) fn multiply_add<S: Sink>(
    sink: &mut S,
    components: u8,
    a: (S::Value, Swizzle),
    b: (S::Value, Swizzle),
    c: (S::Value, Swizzle),
) -> S::Value {
    if sink.bit_size(a.0) == 32 {
        return sink.alu(AluOp::Fmad, components, &[a, b, c]);
    }
    let product = sink.alu(AluOp::Fmul, components, &[a, b]);
    sink.alu(AluOp::Fadd, components, &[(product, Swizzle::IDENTITY), c])
}

/// The dot product of two vectors of one size; of scalars the product.
pub(crate) fn dot<S: Sink>(sink: &mut S, a: S::Value, b: S::Value) -> S::Value {
    let op = match sink.components(a) {
        2 => AluOp::Fdot2,
        3 => AluOp::Fdot3,
        4 => AluOp::Fdot4,
        _ => AluOp::Fmul,
    };
    sink.alu(op, 1, &[(a, Swizzle::IDENTITY), (b, Swizzle::IDENTITY)])
}

/// Whether all components are equal, or any differ.
pub(crate) fn equal<S: Sink>(
    sink: &mut S,
    scalar: Scalar,
    left: &Operand<S::Value>,
    right: &Operand<S::Value>,
    negate: bool,
) -> Option<S::Value> {
    let (left, right) = (left.vectors(), right.vectors());
    if left.len() != right.len() {
        return None;
    }
    let mut result = None;
    for (&a, &b) in left.iter().zip(right) {
        if sink.components(a) != sink.components(b) {
            return None;
        }
        let op = equality(scalar, sink.components(a), negate);
        let of_vector = sink.alu(op, 1, &[(a, Swizzle::IDENTITY), (b, Swizzle::IDENTITY)]);
        result = Some(match result {
            None => of_vector,
            Some(sum) => sink.two(if negate { AluOp::Ior } else { AluOp::Iand }, sum, of_vector),
        });
    }
    result
}

/// The opcode that compares vectors of a size.
fn equality(scalar: Scalar, components: u8, negate: bool) -> AluOp {
    match (scalar.is_float(), components, negate) {
        (true, 2, false) => AluOp::BallFequal2,
        (true, 3, false) => AluOp::BallFequal3,
        (true, 4, false) => AluOp::BallFequal4,
        (true, _, false) => AluOp::Feq,
        (true, 2, true) => AluOp::BanyFnequal2,
        (true, 3, true) => AluOp::BanyFnequal3,
        (true, 4, true) => AluOp::BanyFnequal4,
        (true, _, true) => AluOp::Fneu,
        (false, 2, false) => AluOp::BallIequal2,
        (false, 3, false) => AluOp::BallIequal3,
        (false, 4, false) => AluOp::BallIequal4,
        (false, _, false) => AluOp::Ieq,
        (false, 2, true) => AluOp::BanyInequal2,
        (false, 3, true) => AluOp::BanyInequal3,
        (false, 4, true) => AluOp::BanyInequal4,
        (false, _, true) => AluOp::Ine,
    }
}

/// Converts components to another scalar type.
pub(crate) fn convert<S: Sink>(
    sink: &mut S,
    from: Scalar,
    to: Scalar,
    operand: &Operand<S::Value>,
) -> Operand<S::Value> {
    use Scalar as T;
    let op = match (from, to) {
        (T::Bool, T::Bool) | (T::Int | T::Uint, T::Int | T::Uint) | (T::Float, T::Float) | (T::Double, T::Double) => {
            return operand.clone();
        }
        (T::Bool, T::Float) => AluOp::B2f32,
        (T::Bool, T::Double) => AluOp::B2f64,
        (T::Bool, T::Int | T::Uint) => AluOp::B2i32,
        (T::Int, T::Float) => AluOp::I2f32,
        (T::Int, T::Double) => AluOp::I2f64,
        (T::Uint, T::Float) => AluOp::U2f32,
        (T::Uint, T::Double) => AluOp::U2f64,
        (T::Float, T::Double) => AluOp::F2f64,
        (T::Double, T::Float) => AluOp::F2f32,
        (T::Float | T::Double, T::Int) => AluOp::F2i32,
        (T::Float | T::Double, T::Uint) => AluOp::F2u32,
        (_, T::Bool) => {
            let op = if from.is_float() { AluOp::Fneu } else { AluOp::Ine };
            return operand.map(|value| {
                let zero = sink.constant(bits_of(from), &[0]);
                sink.two(op, value, zero)
            });
        }
    };
    operand.map(|value| sink.one(op, value))
}

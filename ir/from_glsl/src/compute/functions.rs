//! Functions of the language, except textures, derivatives and those that depend on the stage or on state.

use arrayvec::ArrayVec;
use tgsi_arithmetic::{Kind, MAX, Operand, Sink, angle, common, exponential, geometry, matrix, operators};
use tgsi_ir::alu::AluOp;

use super::component;
use crate::builtins::functions::BuiltinOp;
use crate::types::Scalar;

/// The value of an `in` parameter.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Argument<V> {
    /// Type of the components.
    pub(crate) scalar: Scalar,
    /// The value.
    pub(crate) operand: Operand<V>,
}

/// The results of a call.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Results<V> {
    /// The result; `None` for `void`.
    pub(crate) value: Option<Operand<V>>,
    /// The values of the `out` parameters in order.
    pub(crate) outputs: ArrayVec<Operand<V>, 2>,
}

/// Computes a function. `arguments` are the values of the `in` parameters in order. Returns `None` for functions that
/// depend on the stage, on state or on resources, and for wrong arguments.
pub(crate) fn builtin<S: Sink>(
    sink: &mut S,
    op: BuiltinOp,
    arguments: &[Argument<S::Value>],
) -> Option<Results<S::Value>> {
    let scalar = arguments.first()?.scalar;
    let one = |value| Some(Results { value: Some(value), outputs: ArrayVec::new() });
    if let Some(value) = of_matrices(sink, op, arguments) {
        return one(value);
    }
    let vectors = arguments.iter().map(|argument| argument.operand.vector());
    let vectors: ArrayVec<S::Value, MAX> = vectors.take(MAX).collect::<Option<_>>()?;
    match (op, vectors.as_slice()) {
        (BuiltinOp::Modf, &[x]) => {
            let (fraction, whole) = common::modf(sink, x);
            Some(results(Some(fraction), &[whole]))
        }
        (BuiltinOp::Frexp, &[x]) => {
            let (significand, exponent) = common::frexp(sink, x);
            Some(results(Some(significand), &[exponent]))
        }
        (BuiltinOp::UaddCarry, &[a, b]) => {
            let (sum, carry) = common::add_carry(sink, a, b);
            Some(results(Some(sum), &[carry]))
        }
        (BuiltinOp::UsubBorrow, &[a, b]) => {
            let (difference, borrow) = common::subtract_borrow(sink, a, b);
            Some(results(Some(difference), &[borrow]))
        }
        (BuiltinOp::MulExtended, &[a, b]) => {
            let (high, low) = common::multiply_extended(sink, component(scalar).kind, a, b);
            Some(results(None, &[high, low]))
        }
        (_, vectors) => one(Operand::Vector(value(sink, op, scalar, vectors)?)),
    }
}

fn results<V: Copy>(value: Option<V>, outputs: &[V]) -> Results<V> {
    let outputs = outputs.iter().take(2).map(|&output| Operand::Vector(output)).collect();
    Results { value: value.map(Operand::Vector), outputs }
}

/// Functions of matrices, and `outerProduct`.
fn of_matrices<S: Sink>(sink: &mut S, op: BuiltinOp, arguments: &[Argument<S::Value>]) -> Option<Operand<S::Value>> {
    match (op, arguments) {
        (BuiltinOp::MatrixCompMult, [a, b]) => {
            operators::each(sink, &a.operand, &b.operand, |sink, a, b| operators::multiply(sink, Kind::Float, a, b))
        }
        (BuiltinOp::OuterProduct, [column, row]) => {
            let (column, row) = (column.operand.vector()?, row.operand.vector()?);
            Some(Operand::Matrix(matrix::outer_product(sink, column, row)))
        }
        (BuiltinOp::Transpose, [Argument { operand: Operand::Matrix(columns), .. }]) => {
            Some(Operand::Matrix(matrix::transpose(sink, columns)))
        }
        (BuiltinOp::Determinant, [Argument { operand: Operand::Matrix(columns), .. }]) => {
            Some(Operand::Vector(matrix::determinant(sink, columns)?))
        }
        (BuiltinOp::Inverse, [Argument { operand: Operand::Matrix(columns), .. }]) => {
            Some(Operand::Matrix(matrix::inverse(sink, columns)?))
        }
        _ => None,
    }
}

/// Functions of vectors with one result.
fn value<S: Sink>(sink: &mut S, op: BuiltinOp, scalar: Scalar, arguments: &[S::Value]) -> Option<S::Value> {
    use BuiltinOp as B;
    if let Some(opcode) = opcode(op, scalar) {
        return (opcode.info().input_sizes.len() == arguments.len()).then(|| sink.each(opcode, arguments));
    }
    let kind = component(scalar).kind;
    Some(match (op, arguments) {
        (B::LessThan, &[a, b]) => operators::less(sink, kind, a, b),
        (B::LessThanEqual, &[a, b]) => operators::less_equal(sink, kind, a, b),
        (B::GreaterThan, &[a, b]) => operators::greater(sink, kind, a, b),
        (B::GreaterThanEqual, &[a, b]) => operators::greater_equal(sink, kind, a, b),
        // Of components, unlike the operators.
        (B::Equal, &[a, b]) => operators::equal(sink, kind, a, b),
        (B::NotEqual, &[a, b]) => operators::not_equal(sink, kind, a, b),
        (B::Any, &[x]) => operators::any(sink, x),
        (B::All, &[x]) => operators::all(sink, x),
        (B::Not, &[x]) => operators::not(sink, x),
        (B::Radians, &[x]) => angle::radians(sink, x),
        (B::Degrees, &[x]) => angle::degrees(sink, x),
        (B::Tan, &[x]) => angle::tan(sink, x),
        (B::Asin, &[x]) => angle::asin(sink, x),
        (B::Acos, &[x]) => angle::acos(sink, x),
        (B::Atan, &[x]) => angle::atan(sink, x),
        (B::Atan, &[y, x]) => angle::atan2(sink, y, x),
        (B::Sinh, &[x]) => angle::sinh(sink, x),
        (B::Cosh, &[x]) => angle::cosh(sink, x),
        (B::Tanh, &[x]) => angle::tanh(sink, x),
        (B::Asinh, &[x]) => angle::asinh(sink, x),
        (B::Acosh, &[x]) => angle::acosh(sink, x),
        (B::Atanh, &[x]) => angle::atanh(sink, x),
        (B::Exp, &[x]) => exponential::exp(sink, x),
        (B::Log, &[x]) => exponential::log(sink, x),
        (B::Abs, &[x]) => common::absolute(sink, kind, x),
        (B::Sign, &[x]) => common::sign(sink, kind, x),
        (B::Mod, &[x, y]) => operators::modulo(sink, kind, x, y),
        (B::Min, &[a, b]) => common::min(sink, kind, a, b),
        (B::Max, &[a, b]) => common::max(sink, kind, a, b),
        (B::Min3, &[a, b, c]) => common::min3(sink, kind, a, b, c),
        (B::Max3, &[a, b, c]) => common::max3(sink, kind, a, b, c),
        (B::Mid3, &[a, b, c]) => common::mid3(sink, kind, a, b, c),
        (B::Clamp, &[x, low, high]) => common::clamp(sink, kind, x, low, high),
        (B::Mix, &[x, y, a]) if sink.bit_size(a) == 1 => common::select(sink, a, y, x),
        (B::Mix, &[x, y, a]) => common::mix(sink, x, y, a),
        (B::Step, &[edge, x]) => common::step(sink, edge, x),
        (B::Smoothstep, &[low, high, x]) => common::smoothstep(sink, low, high, x),
        (B::IsNan, &[x]) => common::is_nan(sink, x),
        (B::IsInf, &[x]) => common::is_inf(sink, x),
        (B::Bitcast, &[x]) => x,
        (B::Fma, &[a, b, c]) => common::fma(sink, a, b, c),
        (B::CountTrailingZeros, &[x]) => common::count_trailing_zeros(sink, x),
        (B::Ldexp, &[x, exponent]) => common::ldexp(sink, x, exponent),
        (B::Length, &[x]) => geometry::length(sink, x),
        (B::Distance, &[a, b]) => geometry::distance(sink, a, b),
        (B::Dot, &[a, b]) => operators::dot(sink, a, b),
        (B::Cross, &[a, b]) => geometry::cross(sink, a, b),
        (B::Normalize, &[x]) => geometry::normalize(sink, x),
        (B::FaceForward, &[normal, incident, reference]) => geometry::face_forward(sink, normal, incident, reference),
        (B::Reflect, &[incident, normal]) => geometry::reflect(sink, incident, normal),
        (B::Refract, &[incident, normal, eta]) => geometry::refract(sink, incident, normal, eta),
        _ => return None,
    })
}

/// The opcode of functions that are one instruction per component.
fn opcode(op: BuiltinOp, scalar: Scalar) -> Option<AluOp> {
    use BuiltinOp as B;
    use Scalar as T;
    Some(match (op, scalar) {
        (B::Sin, _) => AluOp::Fsin,
        (B::Cos, _) => AluOp::Fcos,
        (B::Pow, _) => AluOp::Fpow,
        (B::Exp2, _) => AluOp::Fexp2,
        (B::Log2, _) => AluOp::Flog2,
        (B::Sqrt, _) => AluOp::Fsqrt,
        (B::InverseSqrt, _) => AluOp::Frsq,
        (B::Floor, _) => AluOp::Ffloor,
        (B::Trunc, _) => AluOp::Ftrunc,
        (B::Round | B::RoundEven, _) => AluOp::FroundEven,
        (B::Ceil, _) => AluOp::Fceil,
        (B::Fract, _) => AluOp::Ffract,
        (B::PackUnorm2x16, _) => AluOp::PackUnorm2x16,
        (B::PackSnorm2x16, _) => AluOp::PackSnorm2x16,
        (B::PackUnorm4x8, _) => AluOp::PackUnorm4x8,
        (B::PackSnorm4x8, _) => AluOp::PackSnorm4x8,
        (B::PackHalf2x16, _) => AluOp::PackHalf2x16,
        (B::PackDouble2x32, _) => AluOp::Pack642x32,
        (B::UnpackUnorm2x16, _) => AluOp::UnpackUnorm2x16,
        (B::UnpackSnorm2x16, _) => AluOp::UnpackSnorm2x16,
        (B::UnpackUnorm4x8, _) => AluOp::UnpackUnorm4x8,
        (B::UnpackSnorm4x8, _) => AluOp::UnpackSnorm4x8,
        (B::UnpackHalf2x16, _) => AluOp::UnpackHalf2x16,
        (B::UnpackDouble2x32, _) => AluOp::Unpack642x32,
        (B::BitfieldExtract, T::Int) => AluOp::IbitfieldExtract,
        (B::BitfieldExtract, _) => AluOp::UbitfieldExtract,
        (B::BitfieldInsert, _) => AluOp::BitfieldInsert,
        (B::BitfieldReverse, _) => AluOp::BitfieldReverse,
        (B::BitCount, _) => AluOp::BitCount,
        (B::FindLsb, _) => AluOp::FindLsb,
        (B::FindMsb, T::Int) => AluOp::IfindMsb,
        (B::FindMsb, _) => AluOp::UfindMsb,
        (B::AbsoluteDifference, T::Int | T::Int64) => AluOp::UabsIsub,
        (B::AbsoluteDifference, _) => AluOp::UabsUsub,
        (B::AddSaturate, T::Int | T::Int64) => AluOp::IaddSat,
        (B::AddSaturate, _) => AluOp::UaddSat,
        (B::SubtractSaturate, T::Int | T::Int64) => AluOp::IsubSat,
        (B::SubtractSaturate, _) => AluOp::UsubSat,
        (B::Average, T::Int | T::Int64) => AluOp::Ihadd,
        (B::Average, _) => AluOp::Uhadd,
        (B::AverageRounded, T::Int | T::Int64) => AluOp::Irhadd,
        (B::AverageRounded, _) => AluOp::Urhadd,
        (B::Multiply32x16, T::Int) => AluOp::Imul32x16,
        (B::Multiply32x16, _) => AluOp::Umul32x16,
        (B::CountLeadingZeros, _) => AluOp::Uclz,
        _ => return None,
    })
}

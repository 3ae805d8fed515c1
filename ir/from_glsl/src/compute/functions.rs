//! Functions of the language, except textures, derivatives and those that depend on the stage or on state.

use arrayvec::ArrayVec;
use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;

use super::operators::{add, binary, dot, subtract};
use super::{MAX, Operand, Sink, inverse, trigonometry};
use crate::ast::{BinaryOp, UnaryOp};
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
    if let Some(value) = matrix(sink, op, arguments) {
        return one(value);
    }
    let vectors = arguments.iter().map(|argument| argument.operand.vector());
    let vectors: ArrayVec<S::Value, MAX> = vectors.take(MAX).collect::<Option<_>>()?;
    match (op, vectors.as_slice()) {
        (BuiltinOp::Modf, &[x]) => {
            let whole = sink.one(AluOp::Ftrunc, x);
            let rest = subtract(sink, x, whole);
            Some(results(Some(rest), &[whole]))
        }
        (BuiltinOp::Frexp, &[x]) => {
            let (significand, exponent) = (sink.one(AluOp::FrexpSig, x), sink.one(AluOp::FrexpExp, x));
            Some(results(Some(significand), &[exponent]))
        }
        (BuiltinOp::UaddCarry, &[a, b]) => {
            let (sum, carry) = (sink.two(AluOp::Iadd, a, b), sink.two(AluOp::UaddCarry, a, b));
            Some(results(Some(sum), &[carry]))
        }
        (BuiltinOp::UsubBorrow, &[a, b]) => {
            let (difference, borrow) = (sink.two(AluOp::Isub, a, b), sink.two(AluOp::UsubBorrow, a, b));
            Some(results(Some(difference), &[borrow]))
        }
        (BuiltinOp::MulExtended, &[a, b]) => {
            let high = if scalar == Scalar::Int { AluOp::ImulHigh } else { AluOp::UmulHigh };
            let (high, low) = (sink.two(high, a, b), sink.two(AluOp::Imul, a, b));
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
fn matrix<S: Sink>(sink: &mut S, op: BuiltinOp, arguments: &[Argument<S::Value>]) -> Option<Operand<S::Value>> {
    match (op, arguments) {
        (BuiltinOp::MatrixCompMult, [a, b]) => {
            let (a, b) = (a.operand.vectors(), b.operand.vectors());
            Some(Operand::Matrix(a.iter().zip(b).map(|(&a, &b)| sink.two(AluOp::Fmul, a, b)).collect()))
        }
        (BuiltinOp::OuterProduct, [column, row]) => {
            let (column, row) = (column.operand.vector()?, row.operand.vector()?);
            let (rows, columns) = (sink.components(column), sink.components(row));
            let columns = (0..columns.min(MAX as u8)).map(|number| {
                let factor = (row, Swizzle::replicate(number));
                sink.alu(AluOp::Fmul, rows, &[(column, Swizzle::IDENTITY), factor])
            });
            Some(Operand::Matrix(columns.collect()))
        }
        (BuiltinOp::Transpose, [Argument { operand: Operand::Matrix(columns), .. }]) => {
            Some(Operand::Matrix(inverse::transpose(sink, columns)))
        }
        (BuiltinOp::Determinant, [Argument { operand: Operand::Matrix(columns), .. }]) => {
            Some(Operand::Vector(inverse::determinant(sink, columns)?))
        }
        (BuiltinOp::Inverse, [Argument { operand: Operand::Matrix(columns), .. }]) => {
            Some(Operand::Matrix(inverse::inverse(sink, columns)?))
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
    if let (Some(opcode), &[a, b]) = (equality(op, scalar), arguments) {
        return Some(sink.two(opcode, a, b));
    }
    if let (Some(operator), &[a, b]) = (comparison(op), arguments) {
        return binary(sink, operator, scalar, &Operand::Vector(a), &Operand::Vector(b))?.vector();
    }
    Some(match (op, arguments) {
        (B::Radians, &[x]) => times(sink, x, std::f64::consts::PI / 180.0),
        (B::Degrees, &[x]) => times(sink, x, 180.0 / std::f64::consts::PI),
        (B::Exp, &[x]) => exp(sink, x),
        (B::Log, &[x]) => log(sink, x),
        (B::Tan | B::Asin | B::Acos | B::Atan | B::Sinh | B::Cosh | B::Tanh | B::Asinh | B::Acosh | B::Atanh, _) => {
            return trigonometry::value(sink, op, arguments);
        }
        (B::Mod, &[x, y]) => {
            // Not `fmod`, whose replacement for targets without quotients corrects the quotient.
            let quotient = sink.two(AluOp::Fdiv, x, y);
            let floor = sink.one(AluOp::Ffloor, quotient);
            let product = sink.two(AluOp::Fmul, y, floor);
            subtract(sink, x, product)
        }
        (B::Min3 | B::Max3, &[a, b, c]) => {
            let opcode = opcode(if op == B::Min3 { B::Min } else { B::Max }, scalar)?;
            let first = sink.two(opcode, a, b);
            sink.two(opcode, first, c)
        }
        (B::Mid3, &[a, b, c]) => {
            let (min, max) = (opcode(B::Min, scalar)?, opcode(B::Max, scalar)?);
            let (least, greatest) = (sink.two(min, a, b), sink.two(max, a, b));
            let bounded = sink.two(min, greatest, c);
            sink.two(max, least, bounded)
        }
        (B::Clamp, &[x, low, high]) => {
            let bounded = sink.two(opcode(B::Max, scalar)?, x, low);
            sink.two(opcode(B::Min, scalar)?, bounded, high)
        }
        (B::Mix, &[x, y, a]) => {
            if sink.bit_size(a) == 1 {
                sink.each(AluOp::Bcsel, &[a, y, x])
            } else if scalar == Scalar::Float && !sink.is_exact() {
                // Targets have this form, and it needs fewer instructions where they do not.
                sink.each(AluOp::FlrpMad, &[a, y, x])
            } else {
                sink.each(AluOp::Flrp, &[x, y, a])
            }
        }
        (B::Step, &[edge, x]) => {
            let reached = sink.two(AluOp::Fge, x, edge);
            sink.one(if scalar == Scalar::Double { AluOp::B2f64 } else { AluOp::B2f32 }, reached)
        }
        (B::Smoothstep, &[low, high, x]) => smoothstep(sink, low, high, x),
        (B::IsNan, &[x]) => exactly(sink, |sink| sink.two(AluOp::Fneu, x, x)),
        (B::IsInf, &[x]) => exactly(sink, |sink| {
            let (size, infinity) = (sink.one(AluOp::Fabs, x), sink.float(x, f64::INFINITY));
            sink.two(AluOp::Feq, size, infinity)
        }),
        (B::Bitcast, &[x]) => x,
        (B::Fma, &[a, b, c]) => exactly(sink, |sink| sink.each(AluOp::Ffma, &[a, b, c])),
        (B::Length, &[x]) => length(sink, x),
        (B::Distance, &[a, b]) => {
            let difference = subtract(sink, a, b);
            length(sink, difference)
        }
        (B::Dot, &[a, b]) => dot(sink, a, b),
        (B::Cross, &[a, b]) => inverse::cross(sink, a, b),
        (B::Normalize, &[x]) if sink.components(x) == 1 => sink.one(AluOp::Fsign, x),
        (B::Normalize, &[x]) => {
            let square = dot(sink, x, x);
            let factor = sink.one(AluOp::Frsq, square);
            sink.two(AluOp::Fmul, x, factor)
        }
        (B::FaceForward, &[normal, incident, reference]) => {
            let (cosine, zero) = (dot(sink, reference, incident), sink.float(normal, 0.0));
            let (keep, opposite) = (sink.two(AluOp::Flt, cosine, zero), sink.one(AluOp::Fneg, normal));
            sink.each(AluOp::Bcsel, &[keep, normal, opposite])
        }
        (B::Reflect, &[incident, normal]) => {
            let (cosine, two) = (dot(sink, normal, incident), sink.float(normal, 2.0));
            let factor = sink.two(AluOp::Fmul, cosine, two);
            let change = sink.two(AluOp::Fmul, normal, factor);
            subtract(sink, incident, change)
        }
        (B::Refract, &[incident, normal, eta]) => refract(sink, incident, normal, eta),
        (B::Any | B::All, &[x]) => {
            let wanted = Operand::Vector(repeated(sink, x, u64::from(op == B::All)));
            super::operators::equal(sink, Scalar::Bool, &Operand::Vector(x), &wanted, op == B::Any)?
        }
        (B::Not, &[x]) => super::operators::unary(sink, UnaryOp::Not, scalar, &Operand::Vector(x))?.vector()?,
        _ => return None,
    })
}

/// A vector of the size of another with one value in all components.
fn repeated<S: Sink>(sink: &mut S, like: S::Value, bits: u64) -> S::Value {
    let all = [bits; MAX];
    let (bit_size, components) = (sink.bit_size(like), usize::from(sink.components(like)));
    sink.constant(bit_size, all.get(..components).unwrap_or(&all))
}

/// Runs with exact results.
fn exactly<S: Sink>(sink: &mut S, compute: impl FnOnce(&mut S) -> S::Value) -> S::Value {
    let former = sink.set_exact(true);
    let value = compute(sink);
    sink.set_exact(former);
    value
}

/// The product with a constant.
pub(super) fn times<S: Sink>(sink: &mut S, x: S::Value, factor: f64) -> S::Value {
    let factor = sink.float(x, factor);
    sink.two(AluOp::Fmul, x, factor)
}

/// `e` to the power of a value.
pub(super) fn exp<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    let scaled = times(sink, x, std::f64::consts::LOG2_E);
    sink.one(AluOp::Fexp2, scaled)
}

/// The natural logarithm.
pub(super) fn log<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    let binary = sink.one(AluOp::Flog2, x);
    times(sink, binary, std::f64::consts::LN_2)
}

fn length<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    if sink.components(x) == 1 {
        return sink.one(AluOp::Fabs, x);
    }
    let square = dot(sink, x, x);
    sink.one(AluOp::Fsqrt, square)
}

fn smoothstep<S: Sink>(sink: &mut S, low: S::Value, high: S::Value, x: S::Value) -> S::Value {
    let (offset, range) = (subtract(sink, x, low), subtract(sink, high, low));
    let quotient = sink.two(AluOp::Fdiv, offset, range);
    let t = sink.one(AluOp::Fsat, quotient);
    let (square, twice, three) = (sink.two(AluOp::Fmul, t, t), times(sink, t, 2.0), sink.float(t, 3.0));
    let rest = subtract(sink, three, twice);
    sink.two(AluOp::Fmul, square, rest)
}

fn refract<S: Sink>(sink: &mut S, incident: S::Value, normal: S::Value, eta: S::Value) -> S::Value {
    let (cosine, one, zero) = (dot(sink, normal, incident), sink.float(normal, 1.0), sink.float(normal, 0.0));
    // k = 1 - eta * eta * (1 - cosine * cosine)
    let square = sink.two(AluOp::Fmul, cosine, cosine);
    let sine = subtract(sink, one, square);
    let scaled = sink.two(AluOp::Fmul, eta, sine);
    let scaled = sink.two(AluOp::Fmul, eta, scaled);
    let k = subtract(sink, one, scaled);
    // eta * incident - (eta * cosine + sqrt(k)) * normal
    let (root, along) = (sink.one(AluOp::Fsqrt, k), sink.two(AluOp::Fmul, eta, cosine));
    let factor = add(sink, along, root);
    let (first, second) = (sink.two(AluOp::Fmul, incident, eta), sink.two(AluOp::Fmul, normal, factor));
    let refracted = subtract(sink, first, second);
    let is_total = sink.two(AluOp::Flt, k, zero);
    sink.each(AluOp::Bcsel, &[is_total, zero, refracted])
}

/// The operator that compares components.
fn comparison(op: BuiltinOp) -> Option<BinaryOp> {
    Some(match op {
        BuiltinOp::LessThan => BinaryOp::Less,
        BuiltinOp::LessThanEqual => BinaryOp::LessEqual,
        BuiltinOp::GreaterThan => BinaryOp::Greater,
        BuiltinOp::GreaterThanEqual => BinaryOp::GreaterEqual,
        _ => return None,
    })
}

/// The opcode of `equal` and `notEqual`, which compare components, unlike the operators.
fn equality(op: BuiltinOp, scalar: Scalar) -> Option<AluOp> {
    match (op, scalar.is_float()) {
        (BuiltinOp::Equal, true) => Some(AluOp::Feq),
        (BuiltinOp::Equal, false) => Some(AluOp::Ieq),
        (BuiltinOp::NotEqual, true) => Some(AluOp::Fneu),
        (BuiltinOp::NotEqual, false) => Some(AluOp::Ine),
        _ => None,
    }
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
        (B::Abs, T::Int) => AluOp::Iabs,
        (B::Abs, _) => AluOp::Fabs,
        (B::Sign, T::Int) => AluOp::Isign,
        (B::Sign, _) => AluOp::Fsign,
        (B::Floor, _) => AluOp::Ffloor,
        (B::Trunc, _) => AluOp::Ftrunc,
        (B::Round | B::RoundEven, _) => AluOp::FroundEven,
        (B::Ceil, _) => AluOp::Fceil,
        (B::Fract, _) => AluOp::Ffract,
        (B::Min, T::Int) => AluOp::Imin,
        (B::Min, T::Uint) => AluOp::Umin,
        (B::Min, _) => AluOp::Fmin,
        (B::Max, T::Int) => AluOp::Imax,
        (B::Max, T::Uint) => AluOp::Umax,
        (B::Max, _) => AluOp::Fmax,
        (B::Ldexp, _) => AluOp::Ldexp,
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
        _ => return None,
    })
}

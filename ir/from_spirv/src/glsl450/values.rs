//! Instructions on scalars and vectors, once for both sinks.

use spirv::{GlslStd450Op as G, Op};
use tgsi_arithmetic::convert::convert;
use tgsi_arithmetic::{Kind, Scalar, Sink, angle, common, exactly, exponential, geometry};
use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;
use tgsi_ir::types::ScalarType;

use crate::alu::{Class, Fault, Form, Term, alike, checked, is_integer, like_first, like_result, sized};

/// The value of an instruction of `GLSL.std.450` that has only scalars and vectors as operands and as result.
///
/// # Errors
/// Its operands do not fit, or it has other operands.
pub(crate) fn compute<S: Sink>(
    sink: &mut S,
    op: G,
    scalar: ScalarType,
    count: u8,
    terms: &[Term<S::Value>],
) -> Result<S::Value, Fault> {
    // The opcode is that of no instruction.
    let form = Form::new(Op::ExtInst, scalar, count);
    let value = if let Some((class, compute)) = unary::<S>(op) {
        let [x] = like_result(sink, &form, terms, class)?;
        compute(sink, x)
    } else if let Some((class, compute)) = binary::<S>(op) {
        let [a, b] = like_result(sink, &form, terms, class)?;
        compute(sink, a, b)
    } else if let Some((class, compute)) = ternary::<S>(op) {
        let [a, b, c] = like_result(sink, &form, terms, class)?;
        compute(sink, a, b, c)
    } else if let Some((opcode, class, bits, components)) = packing(op) {
        let [x] = alike(sink, terms, class, components, bits)?;
        sink.alu(opcode, count, &[(x, Swizzle::IDENTITY)])
    } else {
        other(sink, op, &form, terms)?
    };
    checked(sink, Term { value, scalar }, Class::Any, count, scalar.bit_size())
        .map_err(|_| Fault::Types("the result has another type"))
}

type Unary<S> = fn(&mut S, <S as Sink>::Value) -> <S as Sink>::Value;
type Binary<S> = fn(&mut S, <S as Sink>::Value, <S as Sink>::Value) -> <S as Sink>::Value;
type Ternary<S> = fn(&mut S, <S as Sink>::Value, <S as Sink>::Value, <S as Sink>::Value) -> <S as Sink>::Value;

fn unary<S: Sink>(op: G) -> Option<(Class, Unary<S>)> {
    let compute: Unary<S> = match op {
        G::SAbs => return Some((Class::Integer, |s, x| common::absolute(s, Kind::Int, x))),
        G::SSign => return Some((Class::Integer, |s, x| common::sign(s, Kind::Int, x))),
        G::Round | G::RoundEven => |s, x| s.one(AluOp::FroundEven, x),
        G::Trunc => |s, x| s.one(AluOp::Ftrunc, x),
        G::FAbs => |s, x| common::absolute(s, Kind::Float, x),
        G::FSign => |s, x| common::sign(s, Kind::Float, x),
        G::Floor => |s, x| s.one(AluOp::Ffloor, x),
        G::Ceil => |s, x| s.one(AluOp::Fceil, x),
        G::Fract => |s, x| s.one(AluOp::Ffract, x),
        G::Radians => angle::radians,
        G::Degrees => angle::degrees,
        G::Sin => |s, x| s.one(AluOp::Fsin, x),
        G::Cos => |s, x| s.one(AluOp::Fcos, x),
        G::Tan => angle::tan,
        G::Asin => angle::accurate_asin,
        G::Acos => angle::accurate_acos,
        G::Atan => angle::atan,
        G::Sinh => angle::sinh,
        G::Cosh => angle::cosh,
        G::Tanh => angle::tanh,
        G::Asinh => angle::asinh,
        G::Acosh => angle::acosh,
        G::Atanh => angle::atanh,
        G::Exp => exponential::exp,
        G::Log => exponential::log,
        G::Exp2 => |s, x| s.one(AluOp::Fexp2, x),
        G::Log2 => |s, x| s.one(AluOp::Flog2, x),
        G::Sqrt => |s, x| s.one(AluOp::Fsqrt, x),
        G::InverseSqrt => |s, x| s.one(AluOp::Frsq, x),
        G::Normalize => geometry::normalize,
        _ => return None,
    };
    Some((Class::Float, compute))
}

fn binary<S: Sink>(op: G) -> Option<(Class, Binary<S>)> {
    let integers = |compute: Binary<S>| Some((Class::Integer, compute));
    let compute: Binary<S> = match op {
        G::UMin => return integers(|s, a, b| common::min(s, Kind::Uint, a, b)),
        G::SMin => return integers(|s, a, b| common::min(s, Kind::Int, a, b)),
        G::UMax => return integers(|s, a, b| common::max(s, Kind::Uint, a, b)),
        G::SMax => return integers(|s, a, b| common::max(s, Kind::Int, a, b)),
        G::FMin => |s, a, b| common::min(s, Kind::Float, a, b),
        G::FMax => |s, a, b| common::max(s, Kind::Float, a, b),
        // Of a NaN and a number they give the number.
        G::NMin => |s, a, b| exactly(s, |s| common::min(s, Kind::Float, a, b)),
        G::NMax => |s, a, b| exactly(s, |s| common::max(s, Kind::Float, a, b)),
        G::Atan2 => angle::atan2,
        G::Pow => |s, a, b| s.two(AluOp::Fpow, a, b),
        G::Step => common::step,
        G::Reflect => geometry::reflect,
        _ => return None,
    };
    Some((Class::Float, compute))
}

fn ternary<S: Sink>(op: G) -> Option<(Class, Ternary<S>)> {
    let compute: Ternary<S> = match op {
        G::UClamp => return Some((Class::Integer, |s, x, low, high| common::clamp(s, Kind::Uint, x, low, high))),
        G::SClamp => return Some((Class::Integer, |s, x, low, high| common::clamp(s, Kind::Int, x, low, high))),
        G::FClamp => |s, x, low, high| common::clamp(s, Kind::Float, x, low, high),
        G::NClamp => |s, x, low, high| exactly(s, |s| common::clamp(s, Kind::Float, x, low, high)),
        G::FMix => common::mix,
        G::SmoothStep => common::smoothstep,
        G::Fma => common::fma,
        G::FaceForward => geometry::face_forward,
        _ => return None,
    };
    Some((Class::Float, compute))
}

/// The opcode of an instruction that packs or unpacks, and the kind, bits and number of components of its operand.
fn packing(op: G) -> Option<(AluOp, Class, u8, u8)> {
    use Class::{Any, Float, Integer};
    Some(match op {
        G::PackSnorm4x8 => (AluOp::PackSnorm4x8, Float, 32, 4),
        G::PackUnorm4x8 => (AluOp::PackUnorm4x8, Float, 32, 4),
        G::PackSnorm2x16 => (AluOp::PackSnorm2x16, Float, 32, 2),
        G::PackUnorm2x16 => (AluOp::PackUnorm2x16, Float, 32, 2),
        G::PackHalf2x16 => (AluOp::PackHalf2x16, Float, 32, 2),
        G::PackDouble2x32 => (AluOp::Pack642x32, Any, 32, 2),
        G::UnpackSnorm2x16 => (AluOp::UnpackSnorm2x16, Integer, 32, 1),
        G::UnpackUnorm2x16 => (AluOp::UnpackUnorm2x16, Integer, 32, 1),
        G::UnpackHalf2x16 => (AluOp::UnpackHalf2x16, Integer, 32, 1),
        G::UnpackSnorm4x8 => (AluOp::UnpackSnorm4x8, Integer, 32, 1),
        G::UnpackUnorm4x8 => (AluOp::UnpackUnorm4x8, Integer, 32, 1),
        G::UnpackDouble2x32 => (AluOp::Unpack642x32, Any, 64, 1),
        _ => return None,
    })
}

/// Instructions whose operands differ from the result or from each other.
fn other<S: Sink>(sink: &mut S, op: G, form: &Form, terms: &[Term<S::Value>]) -> Result<S::Value, Fault> {
    let lengths = terms.first().map_or(0, |term| sink.components(term.value));
    let bits = form.scalar.bit_size();
    Ok(match op {
        G::Length => {
            let [x] = alike(sink, terms, Class::Float, lengths, bits)?;
            geometry::length(sink, x)
        }
        G::Distance => {
            let [a, b] = alike(sink, terms, Class::Float, lengths, bits)?;
            geometry::distance(sink, a, b)
        }
        G::Cross => {
            let [a, b] = alike(sink, terms, Class::Float, 3, bits)?;
            geometry::cross(sink, a, b)
        }
        G::Refract => {
            let &[incident, normal, eta] = terms else { return Err(Fault::Types("the number of operands")) };
            let [incident, normal] = like_result(sink, form, &[incident, normal], Class::Float)?;
            let (from, to) = (sized(Kind::Float, eta.scalar), sized(Kind::Float, form.scalar));
            let eta = checked(sink, eta, Class::Float, 1, from.bits)?;
            let eta = convert(sink, from, to, eta);
            geometry::refract(sink, incident, normal, eta)
        }
        G::Ldexp => {
            let &[x, exponent] = terms else { return Err(Fault::Types("the number of operands")) };
            let [x] = like_result(sink, form, &[x], Class::Float)?;
            let from = exponent.scalar;
            let exponent = checked(sink, exponent, Class::Integer, form.count, from.bit_size())?;
            let exponent = to_exponent(sink, from, exponent);
            scale(sink, x, exponent)
        }
        G::FindILsb | G::FindSMsb | G::FindUMsb => {
            if !is_integer(form.scalar) {
                return Err(Fault::Types("the result is of another kind"));
            }
            let [x] = like_first(sink, form, terms, Class::Integer)?;
            let number = match op {
                G::FindILsb => sink.one(AluOp::FindLsb, x),
                G::FindUMsb => sink.one(AluOp::UfindMsb, x),
                _ => find_signed_msb(sink, x),
            };
            convert(sink, Scalar::INT, sized(Kind::Int, form.scalar), number)
        }
        _ => return Err(Fault::Lacks("")),
    })
}

/// The number of the highest bit that differs from the sign, or -1.
fn find_signed_msb<S: Sink>(sink: &mut S, x: S::Value) -> S::Value {
    let bits = sink.bit_size(x);
    if bits != 64 {
        let x = convert(sink, Scalar::new(Kind::Int, bits), Scalar::INT, x);
        return sink.one(AluOp::IfindMsb, x);
    }
    let count = sink.constant(32, &[63]);
    let sign = sink.two(AluOp::Ishr, x, count);
    let differing = sink.two(AluOp::Ixor, x, sign);
    sink.one(AluOp::UfindMsb, differing)
}

/// An exponent in 32 bits. Of 64 bits, those beyond any float are replaced by such ones of 32 bits.
fn to_exponent<S: Sink>(sink: &mut S, from: ScalarType, exponent: S::Value) -> S::Value {
    let ty = sized(if crate::alu::is_signed(from) { Kind::Int } else { Kind::Uint }, from);
    let bounded = match (ty.bits, ty.kind) {
        (64, Kind::Int) => {
            let [low, high] = [-0x1_0000i64, 0x1_0000].map(|bound| sink.constant(64, &[bound as u64]));
            common::clamp(sink, Kind::Int, exponent, low, high)
        }
        (32 | 64, Kind::Uint) => {
            let high = sink.constant(ty.bits, &[0x1_0000]);
            common::min(sink, Kind::Uint, exponent, high)
        }
        _ => exponent,
    };
    convert(sink, ty, Scalar::INT, bounded)
}

/// `x * 2^exponent`. `ldexp` of the IR flushes infinite and denormal results to 0, so this multiplies by powers of two
/// instead. The last one has the largest possible magnitude, so that a result that the others round becomes 0 or
/// infinite anyway; three of them reach from the smallest number to the largest.
fn scale<S: Sink>(sink: &mut S, x: S::Value, exponent: S::Value) -> S::Value {
    let bits = sink.bit_size(x);
    if bits == 16 {
        let wide = sink.one(AluOp::F2f32, x);
        let scaled = scale(sink, wide, exponent);
        return sink.one(AluOp::F2f16, scaled);
    }
    // Of a double this is the high word, so that targets without integers of 64 bits can execute it.
    let (least, most, fraction_bits) = if bits == 64 { (-1022i32, 1023, 20) } else { (-126, 127, 23) };
    let [least, most, shift, zero] =
        [least as u32, most, fraction_bits, 0].map(|value: u32| sink.constant(32, &[value.into()]));
    let clamped = |sink: &mut S, exponent| common::clamp(sink, Kind::Int, exponent, least, most);
    let last = clamped(sink, exponent);
    let excess = sink.two(AluOp::Isub, exponent, last);
    let first = clamped(sink, excess);
    let rest = sink.two(AluOp::Isub, excess, first);
    let second = clamped(sink, rest);
    exactly(sink, |sink| {
        [first, second, last].into_iter().fold(x, |product, exponent| {
            let biased = sink.two(AluOp::Iadd, exponent, most);
            let high = sink.two(AluOp::Ishl, biased, shift);
            let power = if bits == 64 { sink.two(AluOp::Pack642x32Split, zero, high) } else { high };
            sink.two(AluOp::Fmul, product, power)
        })
    })
}

/// The two results of `Modf` or `Frexp`: the fraction and the whole part, or the significand and the exponent.
///
/// # Errors
/// The operand is not of floats.
pub(crate) fn parts<S: Sink>(sink: &mut S, op: G, term: Term<S::Value>) -> Result<[S::Value; 2], Fault> {
    let count = sink.components(term.value);
    let x = checked(sink, term, Class::Float, count, term.scalar.bit_size())?;
    if matches!(op, G::Frexp | G::FrexpStruct) {
        let (significand, exponent) = common::frexp(sink, x);
        return Ok([significand, exponent]);
    }
    let (fraction, whole) = common::modf(sink, x);
    // The difference of infinities is NaN. Their reciprocals are zeros with the sign.
    let is_infinite = common::is_inf(sink, x);
    let zero = sink.one(AluOp::Frcp, x);
    Ok([common::select(sink, is_infinite, zero, fraction), whole])
}

/// The value of an instruction of `SPV_AMD_shader_trinary_minmax`.
///
/// # Errors
/// Its operands do not fit, or there is no such instruction.
pub(crate) fn trinary<S: Sink>(
    sink: &mut S,
    number: u32,
    scalar: ScalarType,
    count: u8,
    terms: &[Term<S::Value>],
) -> Result<S::Value, Fault> {
    let number = number.checked_sub(1).filter(|&number| number < 9).ok_or(Fault::Lacks(""))?;
    let (class, kind) = match number % 3 {
        0 => (Class::Float, Kind::Float),
        1 => (Class::Integer, Kind::Uint),
        _ => (Class::Integer, Kind::Int),
    };
    let [a, b, c] = like_result(sink, &Form::new(Op::ExtInst, scalar, count), terms, class)?;
    Ok(match number / 3 {
        0 => common::min3(sink, kind, a, b, c),
        1 => common::max3(sink, kind, a, b, c),
        _ => common::mid3(sink, kind, a, b, c),
    })
}

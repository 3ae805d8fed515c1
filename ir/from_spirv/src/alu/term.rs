//! Operands of instructions on scalars and vectors, and the checks of their types.
//!
//! The IR is untyped, and its validator must never find anything: an instruction is built only after the numbers of
//! components and bits of its operands were checked.

use spirv::{FPRoundingMode, Op};
use tgsi_arithmetic::{Kind, Scalar, Sink};
use tgsi_ir::types::ScalarType;

use crate::error::SpirvError;

/// A scalar or vector, and the type of its components.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Term<V> {
    pub(crate) value: V,
    pub(crate) scalar: ScalarType,
}

/// An instruction that gives a scalar or vector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Form {
    pub(crate) op: Op,
    /// The type of the components of the result.
    pub(crate) scalar: ScalarType,
    /// Components of the result.
    pub(crate) count: u8,
    /// How a conversion of floats rounds.
    pub(crate) rounding: Option<FPRoundingMode>,
    /// Whether a conversion to integers gives the nearest one where the value is out of range.
    pub(crate) saturates: bool,
    /// How integers are packed that a dot product multiplies.
    pub(crate) packing: Option<u32>,
}

impl Form {
    /// An instruction without decorations.
    pub(crate) fn new(op: Op, scalar: ScalarType, count: u8) -> Form {
        Form { op, scalar, count, rounding: None, saturates: false, packing: None }
    }
}

/// Why an instruction has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fault {
    /// The types of its operands do not fit.
    Types(&'static str),
    /// It cannot be expressed.
    Lacks(&'static str),
}

impl Fault {
    /// The error about the instruction with a name.
    pub(crate) fn about(self, name: String) -> SpirvError {
        match self {
            Fault::Types(why) => SpirvError::Types { op: name, why },
            Fault::Lacks(why) => SpirvError::Instruction { name, why },
        }
    }
}

/// The types that an operand may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Class {
    Boolean,
    Integer,
    Float,
    Any,
}

impl Class {
    fn has(self, scalar: ScalarType) -> bool {
        match self {
            Class::Boolean => scalar == ScalarType::Bool,
            Class::Integer => is_integer(scalar),
            Class::Float => scalar.is_float(),
            Class::Any => scalar != ScalarType::Void,
        }
    }
}

/// Whether a type is a signed integer.
pub(crate) fn is_signed(scalar: ScalarType) -> bool {
    matches!(scalar, ScalarType::Int8 | ScalarType::Int16 | ScalarType::Int | ScalarType::Int64)
}

/// Whether a type is an integer.
pub(crate) fn is_integer(scalar: ScalarType) -> bool {
    is_signed(scalar)
        || matches!(scalar, ScalarType::Uint8 | ScalarType::Uint16 | ScalarType::Uint | ScalarType::Uint64)
}

/// The type of components with a kind that the instruction determines.
pub(crate) fn sized(kind: Kind, scalar: ScalarType) -> Scalar {
    Scalar::new(kind, scalar.bit_size())
}

/// Checks that an operand has a class, a number of components and a number of bits.
pub(crate) fn checked<S: Sink>(
    sink: &S,
    term: Term<S::Value>,
    class: Class,
    count: u8,
    bits: u8,
) -> Result<S::Value, Fault> {
    if !class.has(term.scalar) {
        return Err(Fault::Types("an operand is of another kind"));
    }
    if sink.components(term.value) != count {
        return Err(Fault::Types("an operand has another number of components"));
    }
    if term.scalar.bit_size() != bits || sink.bit_size(term.value) != bits {
        return Err(Fault::Types("an operand has another number of bits"));
    }
    Ok(term.value)
}

/// The operands, if all of them have a class, a number of components and a number of bits.
pub(crate) fn alike<S: Sink, const N: usize>(
    sink: &S,
    terms: &[Term<S::Value>],
    class: Class,
    count: u8,
    bits: u8,
) -> Result<[S::Value; N], Fault> {
    let terms: &[Term<S::Value>; N] = terms.try_into().map_err(|_| Fault::Types("the number of operands"))?;
    for &term in terms {
        checked(sink, term, class, count, bits)?;
    }
    Ok(terms.map(|term| term.value))
}

/// The operands, if all of them are as the result, which has a class.
pub(crate) fn like_result<S: Sink, const N: usize>(
    sink: &S,
    form: &Form,
    terms: &[Term<S::Value>],
    class: Class,
) -> Result<[S::Value; N], Fault> {
    if !class.has(form.scalar) {
        return Err(Fault::Types("the result is of another kind"));
    }
    alike(sink, terms, class, form.count, form.scalar.bit_size())
}

/// The operands, if all of them are as the first one, which has a class and as many components as the result.
pub(crate) fn like_first<S: Sink, const N: usize>(
    sink: &S,
    form: &Form,
    terms: &[Term<S::Value>],
    class: Class,
) -> Result<[S::Value; N], Fault> {
    let bits = terms.first().map_or(0, |term| term.scalar.bit_size());
    alike(sink, terms, class, form.count, bits)
}

/// An integer scalar or vector of any size in 32 bits, without sign; `count` is the number of its components.
pub(crate) fn word<S: Sink>(sink: &mut S, term: Term<S::Value>, count: u8) -> Result<S::Value, Fault> {
    let value = checked(sink, term, Class::Integer, count, term.scalar.bit_size())?;
    Ok(tgsi_arithmetic::convert::convert(sink, sized(Kind::Uint, term.scalar), Scalar::UINT, value))
}

//! Elements as numbers, and conversions between types.

use crate::isa::{Condition, ImmediateType, Type};

/// An element in the type in which an instruction computes. Integers have 64 bits, more than any type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Value {
    /// An integer.
    Integer(i64),
    /// A float of 32 bits.
    Float(f32),
}

impl Value {
    /// Returns the number that the bits of an element of a type are. Floats of 64 bits have no value.
    pub(super) fn from_bits(bits: u32, ty: Type) -> Value {
        match ty {
            Type::Ud | Type::Df => Value::Integer(bits.into()),
            Type::D => Value::Integer((bits as i32).into()),
            Type::Uw => Value::Integer((bits as u16).into()),
            Type::W => Value::Integer((bits as i16).into()),
            Type::Ub => Value::Integer((bits as u8).into()),
            Type::B => Value::Integer((bits as i8).into()),
            Type::F => Value::Float(f32::from_bits(bits)),
        }
    }

    /// The bits of an element whose type is that of the value.
    pub(super) fn bits(self) -> u32 {
        match self {
            Value::Integer(value) => value as u32,
            Value::Float(value) => value.to_bits(),
        }
    }

    pub(super) fn float(self) -> f32 {
        match self {
            Value::Integer(value) => value as f32,
            Value::Float(value) => value,
        }
    }

    /// The integer; floats are rounded to zero.
    pub(super) fn integer(self) -> i64 {
        match self {
            Value::Integer(value) => value,
            Value::Float(value) => value as i64,
        }
    }

    /// Applies source modifiers.
    pub(super) fn modified(self, absolute: bool, negate: bool) -> Value {
        let value = match self {
            Value::Integer(value) if absolute => Value::Integer(value.wrapping_abs()),
            Value::Float(value) if absolute => Value::Float(value.abs()),
            value => value,
        };
        match value {
            Value::Integer(value) if negate => Value::Integer(value.wrapping_neg()),
            Value::Float(value) if negate => Value::Float(-value),
            value => value,
        }
    }

    /// Replaces a denormal float by a zero.
    pub(super) fn flushed(self) -> Value {
        match self {
            Value::Float(value) if value.is_subnormal() => Value::Float(0f32.copysign(value)),
            value => value,
        }
    }

    /// Converts to a type. Floats become integers by rounding to zero, limited to the type, and NaN becomes zero; other
    /// integers lose their upper bits.
    pub(super) fn converted(self, ty: Type, saturate: bool) -> Value {
        let (lowest, highest) = range(ty);
        match self {
            Value::Integer(value) if ty == Type::F => Value::Float(saturated(value as f32, saturate)),
            Value::Float(value) if ty == Type::F => Value::Float(saturated(value, saturate)),
            Value::Integer(value) if saturate => Value::Integer(value.clamp(lowest, highest)),
            Value::Integer(value) => Value::from_bits(value as u32, ty),
            Value::Float(value) => Value::Integer((value as i64).clamp(lowest, highest)),
        }
    }
}

/// Limits a float to 0 and 1; NaN becomes 0.
fn saturated(value: f32, saturate: bool) -> f32 {
    if !saturate {
        value
    } else if value > 0.0 {
        value.min(1.0)
    } else {
        0.0
    }
}

/// The lowest and highest integer of a type.
pub(super) fn range(ty: Type) -> (i64, i64) {
    let bits = 8 * ty.size().min(4);
    if ty.is_signed() { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) }
}

/// The element of a constant that a channel reads, of which vectors have several.
pub(super) fn immediate(ty: ImmediateType, word: u32, channel: u32) -> Value {
    let small = word >> (4 * (channel & 7)) & 15;
    match ty {
        ImmediateType::Ud => Value::Integer(word.into()),
        ImmediateType::D => Value::Integer((word as i32).into()),
        ImmediateType::Uw => Value::Integer((word as u16).into()),
        ImmediateType::W => Value::Integer((word as i16).into()),
        ImmediateType::Uv => Value::Integer(small.into()),
        ImmediateType::V => Value::Integer(((small << 28) as i32 >> 28).into()),
        ImmediateType::Vf => Value::Float(crate::isa::expand_restricted_float((word >> (8 * (channel & 3))) as u8)),
        ImmediateType::F => Value::Float(f32::from_bits(word)),
    }
}

/// Whether a condition holds between two numbers, floats if one of them is.
pub(super) fn compare(condition: Condition, a: Value, b: Value) -> bool {
    let order = match (a, b) {
        (Value::Integer(a), Value::Integer(b)) => Some(a.cmp(&b)),
        _ => a.float().partial_cmp(&b.float()),
    };
    match condition {
        Condition::Z => order.is_some_and(|order| order.is_eq()),
        Condition::Nz => order.is_none_or(|order| order.is_ne()),
        Condition::G => order.is_some_and(|order| order.is_gt()),
        Condition::Ge => order.is_some_and(|order| order.is_ge()),
        Condition::L => order.is_some_and(|order| order.is_lt()),
        Condition::Le => order.is_some_and(|order| order.is_le()),
        Condition::U => order.is_none(),
        Condition::R | Condition::O => false,
    }
}

//! The mathematics unit.

use super::value::Value;
use crate::isa::MathFunction;

/// Computes a function of floats with 64 bits, and rounds once.
fn float(value: Value, function: fn(f64) -> f64) -> Value {
    Value::Float(function(value.float().into()) as f32)
}

/// Returns the result, or `None` for a function without a known definition. Quotients are rounded to zero.
pub(super) fn function(function: MathFunction, a: Value, b: Value, is_unsigned: bool) -> Option<Value> {
    Some(match function {
        MathFunction::Inv => float(a, f64::recip),
        MathFunction::Log => float(a, f64::log2),
        MathFunction::Exp => float(a, f64::exp2),
        MathFunction::Sqrt => float(a, f64::sqrt),
        // Rounded as by interpreters.
        MathFunction::Rsq => Value::Float(1.0 / a.float().sqrt()),
        MathFunction::Sin => Value::Float(a.float().sin()),
        MathFunction::Cos => Value::Float(a.float().cos()),
        MathFunction::Fdiv => Value::Float(a.float() / b.float()),
        MathFunction::Pow => Value::Float(f64::from(a.float()).powf(b.float().into()) as f32),
        MathFunction::IntDiv | MathFunction::IntDivMod => {
            Value::Integer(quotient(a.integer(), b.integer(), is_unsigned))
        }
        MathFunction::IntMod => Value::Integer(remainder(a.integer(), b.integer(), is_unsigned)),
        MathFunction::Sincos => return None,
    })
}

/// The quotient of integers, rounded to zero. Division by zero gives the largest number with the sign of the dividend.
fn quotient(a: i64, b: i64, is_unsigned: bool) -> i64 {
    match b {
        0 if is_unsigned => u32::MAX.into(),
        0 if a < 0 => i32::MIN.into(),
        0 => i32::MAX.into(),
        _ => a.wrapping_div(b),
    }
}

/// The remainder of the quotient, with the sign of the dividend. Division by zero gives the same as for the quotient.
pub(super) fn remainder(a: i64, b: i64, is_unsigned: bool) -> i64 {
    if b == 0 { quotient(a, b, is_unsigned) } else { a.wrapping_rem(b) }
}

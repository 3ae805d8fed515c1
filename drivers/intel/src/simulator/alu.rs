//! Operations on the elements of one channel.

use super::value::Value;
use crate::isa::{Instruction, Opcode, Source, Type};

use half::f16;

/// Whether a source is an integer of 32 bits.
fn is_dword(source: &Source) -> bool {
    use crate::isa::ImmediateType;
    match source {
        Source::Register(operand) => matches!(operand.ty, Type::D | Type::Ud),
        Source::Immediate(constant) => matches!(constant.ty(), ImmediateType::D | ImmediateType::Ud),
    }
}

/// Whether the operation computes signed integers.
fn is_signed(source: &Source) -> bool {
    use crate::isa::ImmediateType;
    match source {
        Source::Register(operand) => operand.ty.is_signed(),
        Source::Immediate(constant) => {
            matches!(constant.ty(), ImmediateType::D | ImmediateType::W | ImmediateType::V)
        }
    }
}

/// The bits of an integer, as many as its type has.
fn unsigned(value: Value, source: &Source) -> i64 {
    let bits = match source {
        Source::Register(operand) => operand.ty.size() * 8,
        Source::Immediate(constant) => match constant.ty() {
            crate::isa::ImmediateType::Uw | crate::isa::ImmediateType::W => 16,
            _ => 32,
        },
    };
    value.integer() & ((1 << bits.min(32)) - 1)
}

/// The bits of an integer as a number of 32 bits.
fn word(value: Value) -> u32 {
    value.integer() as u32
}

/// A mask of `width` bits.
fn low_bits(width: u32) -> u32 {
    (1u32 << (width & 31)) - 1
}

/// Returns the result, or `None` for an operation without a known definition.
pub(super) fn compute(instruction: &Instruction, values: &[Value]) -> Option<Value> {
    let sources = instruction.sources.as_slice();
    match (values, sources) {
        ([a], [source]) => unary(instruction.opcode, *a, source),
        ([a, b], [first, second]) => binary(instruction.opcode, [*a, *b], [first, second]),
        ([a, b, c], [first, ..]) => ternary(instruction.opcode, [*a, *b, *c], first),
        _ => None,
    }
}

fn rounded(value: Value, round: fn(f32) -> f32) -> Value {
    match value {
        Value::Float(value) => Value::Float(round(value)),
        value => value,
    }
}

fn unary(opcode: Opcode, a: Value, source: &Source) -> Option<Value> {
    Some(match opcode {
        Opcode::Mov => a,
        Opcode::Not => Value::Integer(!bits(a)),
        Opcode::F32to16 => Value::Integer(f16::from_f32(a.float()).to_bits().into()),
        Opcode::F16to32 => Value::Float(f16::from_bits(a.bits() as u16).to_f32()),
        Opcode::Bfrev => Value::Integer(word(a).reverse_bits().into()),
        Opcode::Frc => rounded(a, |value| value - value.floor()),
        Opcode::Rndu => rounded(a, f32::ceil),
        Opcode::Rndd => rounded(a, f32::floor),
        Opcode::Rnde => rounded(a, f32::round_ties_even),
        Opcode::Rndz => rounded(a, f32::trunc),
        Opcode::Lzd => Value::Integer(word(a).leading_zeros().into()),
        Opcode::Fbh => {
            let bits = word(a);
            let is_negative = is_signed(source) && bits >> 31 != 0;
            let zeros = if is_negative { !bits } else { bits }.leading_zeros();
            Value::Integer(if zeros == 32 { u32::MAX.into() } else { zeros.into() })
        }
        Opcode::Fbl => {
            let bits = word(a);
            Value::Integer(if bits == 0 { u32::MAX.into() } else { bits.trailing_zeros().into() })
        }
        Opcode::Cbit => Value::Integer(unsigned(a, source).count_ones().into()),
        _ => return None,
    })
}

fn binary(opcode: Opcode, [a, b]: [Value; 2], [first, second]: [&Source; 2]) -> Option<Value> {
    let is_float = matches!(a, Value::Float(_)) || matches!(b, Value::Float(_));
    let (x, y) = (a.integer(), b.integer());
    let count = y & 31;
    Some(match opcode {
        Opcode::Add if is_float => Value::Float(a.float() + b.float()),
        Opcode::Mul if is_float => Value::Float(a.float() * b.float()),
        Opcode::Add => Value::Integer(x.wrapping_add(y)),
        Opcode::Mul if is_dword(second) => Value::Integer(x.wrapping_mul(y & 0xffff)),
        Opcode::Mul => Value::Integer(x.wrapping_mul(y)),
        Opcode::Avg if !is_float => Value::Integer(x.wrapping_add(y).wrapping_add(1) >> 1),
        Opcode::And => Value::Integer(bits(a) & bits(b)),
        Opcode::Or => Value::Integer(bits(a) | bits(b)),
        Opcode::Xor => Value::Integer(bits(a) ^ bits(b)),
        Opcode::Shl => Value::Integer(x << count),
        Opcode::Shr => Value::Integer(unsigned(a, first) >> count),
        Opcode::Asr => Value::Integer(x >> count),
        Opcode::Bfi1 => Value::Integer((low_bits(x as u32) << count).into()),
        _ => return None,
    })
}

/// The bits that logic operations work on.
fn bits(value: Value) -> i64 {
    match value {
        Value::Integer(value) => value,
        Value::Float(value) => value.to_bits().into(),
    }
}

fn ternary(opcode: Opcode, [a, b, c]: [Value; 3], source: &Source) -> Option<Value> {
    let is_float = matches!(a, Value::Float(_));
    Some(match opcode {
        Opcode::Mad if is_float => Value::Float(b.float().mul_add(c.float(), a.float())),
        Opcode::Mad => Value::Integer(b.integer().wrapping_mul(c.integer()).wrapping_add(a.integer())),
        Opcode::Lrp if is_float => {
            let weight = a.float();
            Value::Float(weight * b.float() + (1.0 - weight) * c.float())
        }
        Opcode::Bfe => {
            let (width, offset, value) = (word(a) & 31, word(b) & 31, word(c));
            let is_signed = is_signed(source);
            let shifted = if is_signed { ((value as i32) >> offset) as u32 } else { value >> offset };
            let field = if width == 0 {
                0
            } else if offset + width > 31 {
                shifted
            } else if is_signed {
                ((shifted << (32 - width)) as i32 >> (32 - width)) as u32
            } else {
                shifted & low_bits(width)
            };
            Value::Integer(field.into())
        }
        Opcode::Bfi2 => {
            let mask = word(a);
            let offset = mask.trailing_zeros() & 31;
            Value::Integer((word(b) << offset & mask | word(c) & !mask).into())
        }
        _ => return None,
    })
}

//! Conversions between types of components.

use tgsi_ir::alu::AluOp;

use crate::{Kind, Scalar, Sink};

/// Converts components to another type. Numbers are rounded to nearest even as floats, and toward zero as integers.
/// Integers lose high bits, or are extended by the sign if `from` is signed. True is 1; numbers other than zero are
/// true. A value of integers of one size stays as it is.
pub fn convert<S: Sink>(sink: &mut S, from: Scalar, to: Scalar, x: S::Value) -> S::Value {
    use Kind as K;
    if from == to || from.bits == to.bits && from.kind.is_integer() && to.kind.is_integer() {
        return x;
    }
    let op = match (from.kind, to.kind) {
        (K::Bool, K::Bool) => boolean(to.bits),
        (K::Bool, K::Float) => float(to.bits, AluOp::B2f16, AluOp::B2f32, AluOp::B2f64),
        (K::Bool, K::Int | K::Uint) => integer(to.bits, AluOp::B2i8, AluOp::B2i16, AluOp::B2i32, AluOp::B2i64),
        (K::Int, K::Float) => float(to.bits, AluOp::I2f16, AluOp::I2f32, AluOp::I2f64),
        (K::Uint, K::Float) => float(to.bits, AluOp::U2f16, AluOp::U2f32, AluOp::U2f64),
        (K::Float, K::Float) => float(to.bits, AluOp::F2f16, AluOp::F2f32, AluOp::F2f64),
        (K::Int, K::Int | K::Uint) => integer(to.bits, AluOp::I2i8, AluOp::I2i16, AluOp::I2i32, AluOp::I2i64),
        (K::Uint, K::Int | K::Uint) => integer(to.bits, AluOp::U2u8, AluOp::U2u16, AluOp::U2u32, AluOp::U2u64),
        (K::Float, K::Int) => integer(to.bits, AluOp::F2i8, AluOp::F2i16, AluOp::F2i32, AluOp::F2i64),
        (K::Float, K::Uint) => integer(to.bits, AluOp::F2u8, AluOp::F2u16, AluOp::F2u32, AluOp::F2u64),
        (K::Int | K::Uint | K::Float, K::Bool) => {
            let zero = sink.constant(from.bits, &[0]);
            let is_set = sink.two(if from.kind == K::Float { AluOp::Fneu } else { AluOp::Ine }, x, zero);
            return if to.bits == 1 { is_set } else { sink.one(boolean(to.bits), is_set) };
        }
    };
    sink.one(op, x)
}

/// The opcode for a size of booleans.
fn boolean(bits: u8) -> AluOp {
    match bits {
        8 => AluOp::B2b8,
        16 => AluOp::B2b16,
        32 => AluOp::B2b32,
        _ => AluOp::B2b1,
    }
}

/// The opcode for a size of integers.
fn integer(bits: u8, of_8: AluOp, of_16: AluOp, of_32: AluOp, of_64: AluOp) -> AluOp {
    match bits {
        8 => of_8,
        16 => of_16,
        64 => of_64,
        _ => of_32,
    }
}

/// The opcode for a size of floats.
fn float(bits: u8, of_16: AluOp, of_32: AluOp, of_64: AluOp) -> AluOp {
    match bits {
        16 => of_16,
        64 => of_64,
        _ => of_32,
    }
}

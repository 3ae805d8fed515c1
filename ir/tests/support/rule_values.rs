//! Values for tests of the algebraic rules: floats and integers as bits, special and random ones.

use tgsi_environment::special;
use tgsi_ir::alu::{AluOp, ExecutionMode, evaluate};

use crate::rule_shapes::Random;

/// A mask of `bits` ones.
pub fn mask(bits: u8) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

/// Evaluates a unary opcode.
pub fn unary(op: AluOp, bits: u8, value: u64) -> u64 {
    let mut dest = [0];
    evaluate(op, bits, 1, &[&[value]], ExecutionMode::DEFAULT, &mut dest);
    dest[0]
}

/// Converts a float of 16, 32 or 64 bits to a number.
pub fn to_f64(bits: u64, size: u8) -> f64 {
    match size {
        32 => f64::from(f32::from_bits(bits as u32)),
        64 => f64::from_bits(bits),
        _ => f64::from_bits(unary(AluOp::F2f64, size, bits)),
    }
}

/// Converts a number to the nearest float.
pub fn from_f64(value: f64, size: u8) -> u64 {
    match size {
        32 => u64::from((value as f32).to_bits()),
        64 => value.to_bits(),
        _ => unary(AluOp::F2f16Rtne, 64, value.to_bits()),
    }
}

/// Sign-extends an integer.
pub fn signed(bits: u64, size: u8) -> i64 {
    ((bits << (64 - size)) as i64) >> (64 - size)
}

/// Special floats, given as bits where a number is not sufficient.
pub fn special_float(random: &mut Random, size: u8) -> u64 {
    let (mantissa, exponent) = match size {
        16 => (10, 5),
        32 => (23, 8),
        _ => (52, 11),
    };
    let sign = if random.next() & 1 == 0 { 0 } else { 1u64 << (size - 1) };
    let infinity = mask(exponent) << mantissa;
    sign | match random.below(16) {
        0 => infinity,
        1 => infinity | 1 << (mantissa - 1),
        2 => infinity | 1,
        3 => 1,
        4 => mask(mantissa),
        5 => 1 << mantissa,
        6 => infinity - 1,
        7 => from_f64(1.0, size) - 1,
        8 => from_f64(1.0, size) + 1,
        // A power of two.
        9 => (random.next() & mask(exponent)) << mantissa,
        10 => from_f64(0.5, size) - 1,
        11 if size == 64 => random.pick(special::DOUBLES).to_bits(),
        11..=13 => from_f64(random.pick(special::FLOATS).into(), size),
        _ => from_f64(random.pick(&[0.0, 0.0, 1.0, 2.0, 3.0, 0.25, 256.0]), size),
    }
}

/// Limits, powers of two, masks, small numbers.
pub fn special_integer(random: &mut Random, size: u8) -> u64 {
    let top = 1u64 << (size - 1);
    let bit = |random: &mut Random| 1u64 << random.below(usize::from(size));
    let value = match random.below(15) {
        0 => random.below(5) as u64,
        1 => random.below(5) as u64 ^ u64::MAX,
        2 => top.wrapping_add(random.below(3) as u64).wrapping_sub(1),
        3 => bit(random),
        4 => bit(random).wrapping_neg(),
        5 => bit(random) - 1,
        6 => bit(random) | bit(random),
        7 => u64::from(size) + random.below(3) as u64 - 1,
        8 => random.below(70) as u64,
        9 => {
            random.pick(&[0xff, 0xffff, 0xff00, 0xffff_ffff, 0x7f, 0x80, 0x7fff, 0x8000, 0xffff_0000, 15, 120, 31, 32])
        }
        10 => random.next() << random.below(64),
        11 => random.next() >> random.below(64),
        12 => random.pick(special::INTEGERS).into(),
        13 => mask(1 + random.below(usize::from(size)) as u8) << random.below(usize::from(size)),
        _ => random.next(),
    };
    value & mask(size)
}

/// A float of everyday magnitude.
pub fn everyday_float(random: &mut Random, size: u8) -> u64 {
    let range = if size == 16 { 3.0 } else { 6.0 };
    let value = match random.below(8) {
        0 => random.pick(&[0.5, 1.0, 2.0, 3.0, 4.0, 0.25]),
        1 | 2 => random.unit(),
        _ => ((random.unit() * 2.0 - 1.0) * range).exp2(),
    };
    from_f64(if random.next() & 1 == 0 { value } else { -value }, size)
}

/// Numbers as they occur in shaders: everyday floats, integers, integers read as floats
/// (denormals), zeros, and results of divisions by zero.
pub fn typical_float(random: &mut Random) -> u64 {
    let value = match random.below(16) {
        0 => 0.0,
        1 => -0.0,
        2 => f32::INFINITY,
        3 => f32::NAN,
        4 => f32::NEG_INFINITY,
        5..=7 => random.below(33) as f32 - 16.0,
        // Sums and products with the other numbers overflow or underflow.
        8 => Some(random.pick(special::FLOATS)).filter(|value| (1e-10..1e8).contains(&value.abs())).unwrap_or(0.5),
        9..=11 => f32::from_bits(random.below(17) as u32 | (random.next() as u32 & 1 << 31)),
        _ => random.unit() as f32 * 4.0 - 2.0,
    };
    u64::from(value.to_bits())
}

//! Bits of integers.

use spirv::Op;
use tgsi_arithmetic::convert::convert;
use tgsi_arithmetic::{Kind, Scalar, Sink, common, operators};
use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;

use super::term::{Class, Fault, Form, Term, checked, is_integer, like_first, like_result, sized, word};

/// The value of an instruction of [`Subject::Bits`](super::Subject::Bits).
pub(super) fn compute<S: Sink>(sink: &mut S, form: &Form, terms: &[Term<S::Value>]) -> Result<S::Value, Fault> {
    let result = sized(Kind::Uint, form.scalar);
    Ok(match form.op {
        Op::ShiftLeftLogical | Op::ShiftRightLogical | Op::ShiftRightArithmetic => {
            let &[base, count] = terms else { return Err(Fault::Types("the number of operands")) };
            let [base] = like_result(sink, form, &[base], Class::Integer)?;
            let count = word(sink, count, form.count)?;
            match form.op {
                Op::ShiftLeftLogical => operators::shift_left(sink, base, count),
                Op::ShiftRightLogical => operators::shift_right(sink, Kind::Uint, base, count),
                _ => operators::shift_right(sink, Kind::Int, base, count),
            }
        }
        Op::Not => {
            let [x] = like_result(sink, form, terms, Class::Integer)?;
            operators::not(sink, x)
        }
        Op::BitReverse => {
            let [x] = like_result(sink, form, terms, Class::Integer)?;
            reverse(sink, result, x)
        }
        Op::BitCount => {
            if !is_integer(form.scalar) {
                return Err(Fault::Types("the result is of another kind"));
            }
            let [x] = like_first(sink, form, terms, Class::Integer)?;
            let count = sink.one(AluOp::BitCount, x);
            convert(sink, Scalar::UINT, result, count)
        }
        Op::BitFieldInsert => {
            let &[base, insert, offset, count] = terms else { return Err(Fault::Types("the number of operands")) };
            let values = like_result(sink, form, &[base, insert], Class::Integer)?;
            let range = [word(sink, offset, 1)?, word(sink, count, 1)?];
            insert_bits(sink, result, values, range)
        }
        Op::BitFieldSExtract | Op::BitFieldUExtract => {
            let &[base, offset, count] = terms else { return Err(Fault::Types("the number of operands")) };
            let [base] = like_result(sink, form, &[base], Class::Integer)?;
            let range = [word(sink, offset, 1)?, word(sink, count, 1)?];
            extract_bits(sink, result, form.op == Op::BitFieldSExtract, base, range)
        }
        _ => {
            let [a, b] = like_result(sink, form, terms, Class::Integer)?;
            match form.op {
                Op::BitwiseOr => operators::or(sink, a, b),
                Op::BitwiseXor => operators::xor(sink, a, b),
                Op::BitwiseAnd => operators::and(sink, a, b),
                _ => return Err(Fault::Lacks("")),
            }
        }
    })
}

/// Reverses the bits. The opcode has 32.
fn reverse<S: Sink>(sink: &mut S, ty: Scalar, x: S::Value) -> S::Value {
    if ty.bits == 64 {
        let [low, high] = [AluOp::Unpack642x32SplitX, AluOp::Unpack642x32SplitY].map(|half| {
            let half = sink.one(half, x);
            sink.one(AluOp::BitfieldReverse, half)
        });
        return sink.two(AluOp::Pack642x32Split, high, low);
    }
    let wide = convert(sink, ty, Scalar::UINT, x);
    let reversed = sink.one(AluOp::BitfieldReverse, wide);
    if ty.bits == 32 {
        return reversed;
    }
    let count = sink.constant(32, &[32 - u64::from(ty.bits)]);
    let moved = operators::shift_right(sink, Kind::Uint, reversed, count);
    convert(sink, Scalar::UINT, ty, moved)
}

/// Replaces bits of the first of two values by the low bits of the second.
fn insert_bits<S: Sink>(
    sink: &mut S,
    ty: Scalar,
    [base, insert]: [S::Value; 2],
    [offset, count]: [S::Value; 2],
) -> S::Value {
    if ty.bits < 64 {
        let [base, insert] = [base, insert].map(|value| convert(sink, ty, Scalar::UINT, value));
        let value = sink.each(AluOp::BitfieldInsert, &[base, insert, offset, count]);
        return convert(sink, Scalar::UINT, ty, value);
    }
    let ones = sink.constant(64, &[u64::MAX]);
    let mask = low_bits(sink, false, ones, count);
    let mask = operators::shift_left(sink, mask, offset);
    let insert = operators::shift_left(sink, insert, offset);
    let kept = operators::not(sink, mask);
    let (insert, base) = (operators::and(sink, insert, mask), operators::and(sink, base, kept));
    operators::or(sink, insert, base)
}

/// Bits of a value, extended by zeros or by the sign.
fn extract_bits<S: Sink>(
    sink: &mut S,
    ty: Scalar,
    is_signed: bool,
    base: S::Value,
    [offset, count]: [S::Value; 2],
) -> S::Value {
    if ty.bits < 64 {
        let base = convert(sink, ty, Scalar::UINT, base);
        let op = if is_signed { AluOp::IbitfieldExtract } else { AluOp::UbitfieldExtract };
        let value = sink.each(op, &[base, offset, count]);
        return convert(sink, Scalar::UINT, ty, value);
    }
    let moved = operators::shift_right(sink, Kind::Uint, base, offset);
    low_bits(sink, is_signed, moved, count)
}

/// The low bits of a value of 64 bits, extended by zeros or by the sign. Shifts take counts modulo 64.
fn low_bits<S: Sink>(sink: &mut S, is_signed: bool, x: S::Value, count: S::Value) -> S::Value {
    let (size, zero, none) = (sink.constant(32, &[64]), sink.constant(32, &[0]), sink.constant(64, &[0]));
    let distance = sink.two(AluOp::Isub, size, count);
    let high = operators::shift_left(sink, x, distance);
    let low = operators::shift_right(sink, if is_signed { Kind::Int } else { Kind::Uint }, high, distance);
    let is_empty = sink.two(AluOp::Ieq, count, zero);
    common::select(sink, is_empty, none, low)
}

/// Integers or floats as others of as many bits in all, the low components first.
pub(super) fn bitcast<S: Sink>(sink: &mut S, form: &Form, terms: &[Term<S::Value>]) -> Result<S::Value, Fault> {
    let &[term] = terms else { return Err(Fault::Types("the number of operands")) };
    let (from, to) = (term.scalar.bit_size(), form.scalar.bit_size());
    let count = sink.components(term.value);
    let value = checked(sink, term, Class::Any, count, from)?;
    if from < 8 || to < 8 || u32::from(from) * u32::from(count) != u32::from(to) * u32::from(form.count) {
        return Err(Fault::Types("the numbers of bits differ"));
    }
    if from == to {
        return Ok(value);
    }
    let mut components = arrayvec::ArrayVec::<(S::Value, u8), 4>::new();
    if from < to {
        let ratio = to / from;
        for first in (0..count).step_by(usize::from(ratio)) {
            let lanes: arrayvec::ArrayVec<u8, 4> = (first..first + ratio).take(4).collect();
            components.push((join(sink, from, to, value, &lanes)?, 0));
        }
    } else {
        let ratio = from / to;
        for lane in 0..count {
            let parts = split(sink, from, to, (value, lane))?;
            components.extend((0..ratio).map(|part| (parts, part)));
        }
    }
    Ok(sink.gather(&components))
}

/// A scalar from components of a vector.
fn join<S: Sink>(sink: &mut S, from: u8, to: u8, value: S::Value, lanes: &[u8]) -> Result<S::Value, Fault> {
    let op = match (from, to) {
        (32, 64) => AluOp::Pack642x32,
        (16, 64) => AluOp::Pack644x16,
        (16, 32) => AluOp::Pack322x16,
        (8, 32) => AluOp::Pack324x8,
        (8, 16) => {
            let parts = sink.select(value, lanes);
            let wide = sink.one(AluOp::U2u16, parts);
            let eight = sink.constant(32, &[8]);
            let (low, high) = (sink.select(wide, &[0]), sink.select(wide, &[1]));
            let high = operators::shift_left(sink, high, eight);
            return Ok(operators::or(sink, low, high));
        }
        _ => return Err(Fault::Lacks("")),
    };
    Ok(sink.alu(op, 1, &[(value, Swizzle::new(lanes))]))
}

/// The parts of a component, the low one first.
fn split<S: Sink>(sink: &mut S, from: u8, to: u8, (value, lane): (S::Value, u8)) -> Result<S::Value, Fault> {
    let (op, count) = match (from, to) {
        (64, 32) => (AluOp::Unpack642x32, 2),
        (64, 16) => (AluOp::Unpack644x16, 4),
        (32, 16) => (AluOp::Unpack322x16, 2),
        (32, 8) => (AluOp::Unpack324x8, 4),
        (16, 8) => {
            let low = sink.select(value, &[lane]);
            let eight = sink.constant(32, &[8]);
            let high = operators::shift_right(sink, Kind::Uint, low, eight);
            let parts = sink.gather(&[(low, 0), (high, 0)]);
            return Ok(sink.one(AluOp::U2u8, parts));
        }
        _ => return Err(Fault::Lacks("")),
    };
    Ok(sink.alu(op, count, &[(value, Swizzle::replicate(lane))]))
}

//! Dot products of integers.

use spirv::{Op, PackedVectorFormat};
use tgsi_arithmetic::convert::convert;
use tgsi_arithmetic::{Kind, Scalar, Sink};
use tgsi_ir::Swizzle;
use tgsi_ir::alu::AluOp;

use super::arithmetic::add_saturated;
use super::term::{Class, Fault, Form, Term, alike, checked, is_integer, sized};

/// The value of an instruction of [`Subject::Dot`](super::Subject::Dot): a scalar.
pub(super) fn compute<S: Sink>(sink: &mut S, form: &Form, terms: &[Term<S::Value>]) -> Result<S::Value, Fault> {
    let (signs, is_accumulated) = match form.op {
        Op::SDot => ([true, true], false),
        Op::UDot => ([false, false], false),
        Op::SUDot => ([true, false], false),
        Op::SDotAccSat => ([true, true], true),
        Op::UDotAccSat => ([false, false], true),
        Op::SUDotAccSat => ([true, false], true),
        _ => return Err(Fault::Lacks("")),
    };
    let kinds = signs.map(|is_signed| if is_signed { Kind::Int } else { Kind::Uint });
    if form.count != 1 || !is_integer(form.scalar) {
        return Err(Fault::Types("the result is not an integer"));
    }
    let (factors, rest) = terms.split_at_checked(2).ok_or(Fault::Types("the number of operands"))?;
    let (count, bits) = factors.first().map_or((0, 0), |term| (sink.components(term.value), term.scalar.bit_size()));
    let [a, b] = alike(sink, factors, Class::Integer, count, bits)?;
    let accumulator = match (rest, is_accumulated) {
        ([], false) => None,
        (&[term], true) => Some(checked(sink, term, Class::Integer, 1, form.scalar.bit_size())?),
        _ => return Err(Fault::Types("the number of operands")),
    };
    let result = sized(kinds[0], form.scalar);
    let packed = match (count, bits) {
        (1, 32) if form.packing == Some(PackedVectorFormat::PackedVectorFormat4x8Bit as u32) => Some([a, b]),
        (1, _) => return Err(Fault::Types("the operands are not packed integers")),
        (4, 8) => Some([a, b].map(|value| sink.alu(AluOp::Pack324x8, 1, &[(value, Swizzle::IDENTITY)]))),
        _ => None,
    };
    if let Some([a, b]) = packed {
        return Ok(of_bytes(sink, signs, result, [a, b], accumulator));
    }
    if bits == 16 && count == 2 && result.bits == 32 && signs[0] == signs[1] {
        let [a, b] = [a, b].map(|value| sink.alu(AluOp::Pack322x16, 1, &[(value, Swizzle::IDENTITY)]));
        let op = match (signs[0], accumulator.is_some()) {
            (true, false) => AluOp::Sdot2x16Iadd,
            (true, true) => AluOp::Sdot2x16IaddSat,
            (false, false) => AluOp::Udot2x16Uadd,
            (false, true) => AluOp::Udot2x16UaddSat,
        };
        let accumulator = accumulator.unwrap_or_else(|| sink.constant(32, &[0]));
        return Ok(sink.each(op, &[a, b, accumulator]));
    }
    if bits > result.bits {
        return Err(Fault::Types("the result has fewer bits than the operands"));
    }
    let [wide_a, wide_b] =
        [(a, kinds[0]), (b, kinds[1])].map(|(value, kind)| convert(sink, Scalar::new(kind, bits), result, value));
    let products = sink.two(AluOp::Imul, wide_a, wide_b);
    let mut sum = sink.select(products, &[0]);
    for component in 1..count {
        let product = (products, Swizzle::replicate(component));
        sum = sink.alu(AluOp::Iadd, 1, &[(sum, Swizzle::IDENTITY), product]);
    }
    Ok(match accumulator {
        Some(accumulator) => add_saturated(sink, signs[0], sum, accumulator),
        None => sum,
    })
}

/// The dot product of four bytes each, in words.
fn of_bytes<S: Sink>(
    sink: &mut S,
    signs: [bool; 2],
    result: Scalar,
    [a, b]: [S::Value; 2],
    accumulator: Option<S::Value>,
) -> S::Value {
    let (plain, saturated) = match signs {
        [true, true] => (AluOp::Sdot4x8Iadd, AluOp::Sdot4x8IaddSat),
        [false, _] => (AluOp::Udot4x8Uadd, AluOp::Udot4x8UaddSat),
        [true, false] => (AluOp::Sudot4x8Iadd, AluOp::Sudot4x8IaddSat),
    };
    if let Some(accumulator) = accumulator.filter(|_| result.bits == 32) {
        return sink.each(saturated, &[a, b, accumulator]);
    }
    let zero = sink.constant(32, &[0]);
    let sum = sink.each(plain, &[a, b, zero]);
    let sum = convert(sink, Scalar::new(result.kind, 32), result, sum);
    match accumulator {
        Some(accumulator) => add_saturated(sink, signs[0], sum, accumulator),
        None => sum,
    }
}

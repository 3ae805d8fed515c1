//! Sums, products, quotients and remainders.

use spirv::Op;
use tgsi_arithmetic::{Kind, Sink, common, operators};
use tgsi_ir::alu::AluOp;

use super::term::{Class, Fault, Form, Term, alike, checked, like_result};

/// The value of an instruction of [`Subject::Arithmetic`](super::Subject::Arithmetic).
pub(super) fn compute<S: Sink>(sink: &mut S, form: &Form, terms: &[Term<S::Value>]) -> Result<S::Value, Fault> {
    let (class, kind) = match form.op {
        Op::SNegate | Op::IAdd | Op::ISub | Op::IMul | Op::SDiv | Op::SRem | Op::SMod => (Class::Integer, Kind::Int),
        Op::UDiv | Op::UMod => (Class::Integer, Kind::Uint),
        _ => (Class::Float, Kind::Float),
    };
    Ok(match form.op {
        Op::SNegate | Op::FNegate => {
            let [x] = like_result(sink, form, terms, class)?;
            operators::negate(sink, kind, x)
        }
        Op::FmaKHR => {
            let [a, b, c] = like_result(sink, form, terms, class)?;
            common::fma(sink, a, b, c)
        }
        Op::VectorTimesScalar => {
            let &[vector, scalar] = terms else { return Err(Fault::Types("the number of operands")) };
            let [vector] = like_result(sink, form, &[vector], class)?;
            let scalar = checked(sink, scalar, class, 1, form.scalar.bit_size())?;
            operators::multiply(sink, kind, vector, scalar)
        }
        Op::Dot => {
            let count = terms.first().map_or(0, |term| sink.components(term.value));
            let [a, b] = alike(sink, terms, class, count, form.scalar.bit_size())?;
            operators::dot(sink, a, b)
        }
        _ => {
            let [a, b] = like_result(sink, form, terms, class)?;
            match form.op {
                Op::IAdd | Op::FAdd => operators::add(sink, kind, a, b),
                Op::ISub | Op::FSub => operators::subtract(sink, kind, a, b),
                Op::IMul | Op::FMul => operators::multiply(sink, kind, a, b),
                Op::UDiv | Op::SDiv | Op::FDiv => operators::divide(sink, kind, a, b),
                Op::SRem | Op::FRem => operators::remainder(sink, kind, a, b),
                Op::UMod | Op::SMod | Op::FMod => operators::modulo(sink, kind, a, b),
                _ => return Err(Fault::Lacks("")),
            }
        }
    })
}

/// The members of the result of an instruction that gives a struct of two: the sum or difference and the carry or
/// borrow, or the low and the high half of a product.
pub(crate) fn two_results<S: Sink>(sink: &mut S, op: Op, terms: &[Term<S::Value>]) -> Result<[S::Value; 2], Fault> {
    let &[first, _] = terms else { return Err(Fault::Types("the number of operands")) };
    let count = sink.components(first.value);
    let [a, b] = alike(sink, terms, Class::Integer, count, first.scalar.bit_size())?;
    let (low, high) = match op {
        Op::IAddCarry => common::add_carry(sink, a, b),
        Op::ISubBorrow => common::subtract_borrow(sink, a, b),
        Op::UMulExtended | Op::SMulExtended => {
            let kind = if op == Op::SMulExtended { Kind::Int } else { Kind::Uint };
            let (high, low) = common::multiply_extended(sink, kind, a, b);
            (low, high)
        }
        _ => return Err(Fault::Lacks("")),
    };
    Ok([low, high])
}

/// The sum of integers, or the nearest one of the type.
pub(super) fn add_saturated<S: Sink>(sink: &mut S, is_signed: bool, a: S::Value, b: S::Value) -> S::Value {
    sink.two(if is_signed { AluOp::IaddSat } else { AluOp::UaddSat }, a, b)
}

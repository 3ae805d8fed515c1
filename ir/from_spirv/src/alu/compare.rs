//! Comparisons, logic, and properties of floats.

use spirv::Op;
use tgsi_arithmetic::{Kind, Sink, common, exactly, operators};
use tgsi_ir::alu::AluOp;
use tgsi_ir::types::ScalarType;

use super::term::{Class, Fault, Form, Term, alike, checked, like_first, like_result};

/// The value of an instruction of [`Subject::Comparison`](super::Subject::Comparison).
pub(super) fn compare<S: Sink>(sink: &mut S, form: &Form, terms: &[Term<S::Value>]) -> Result<S::Value, Fault> {
    if form.scalar != ScalarType::Bool {
        return Err(Fault::Types("the result is not of booleans"));
    }
    if let Some((opcode, is_exchanged)) = float_comparison(form.op) {
        let [a, b] = like_first(sink, form, terms, Class::Float)?;
        let (a, b) = if is_exchanged { (b, a) } else { (a, b) };
        return Ok(match opcode {
            AluOp::Flt | AluOp::Fge | AluOp::Feq | AluOp::Fneu => sink.two(opcode, a, b),
            // Their purpose is NaN.
            _ => exactly(sink, |sink| sink.two(opcode, a, b)),
        });
    }
    if let Some((kind, compute)) = integer_comparison::<S>(form.op) {
        let [a, b] = like_first(sink, form, terms, Class::Integer)?;
        return Ok(compute(sink, kind, a, b));
    }
    let [x] = like_first(sink, form, terms, Class::Float)?;
    Ok(match form.op {
        Op::IsNan => common::is_nan(sink, x),
        Op::IsInf => common::is_inf(sink, x),
        Op::IsFinite => exactly(sink, |sink| sink.one(AluOp::Fisfinite, x)),
        Op::IsNormal => exactly(sink, |sink| sink.one(AluOp::Fisnormal, x)),
        Op::SignBitSet => {
            let zero = sink.float(x, 0.0);
            sink.two(AluOp::Ilt, x, zero)
        }
        _ => return Err(Fault::Lacks("")),
    })
}

/// The opcode of a comparison of floats, and whether the operands are exchanged.
fn float_comparison(op: Op) -> Option<(AluOp, bool)> {
    Some(match op {
        Op::FOrdEqual => (AluOp::Feq, false),
        Op::FUnordEqual => (AluOp::Fequ, false),
        Op::FOrdNotEqual | Op::LessOrGreater => (AluOp::Fneo, false),
        Op::FUnordNotEqual => (AluOp::Fneu, false),
        Op::FOrdLessThan => (AluOp::Flt, false),
        Op::FUnordLessThan => (AluOp::Fltu, false),
        Op::FOrdGreaterThan => (AluOp::Flt, true),
        Op::FUnordGreaterThan => (AluOp::Fltu, true),
        Op::FOrdLessThanEqual => (AluOp::Fge, true),
        Op::FUnordLessThanEqual => (AluOp::Fgeu, true),
        Op::FOrdGreaterThanEqual => (AluOp::Fge, false),
        Op::FUnordGreaterThanEqual => (AluOp::Fgeu, false),
        Op::Ordered => (AluOp::Ford, false),
        Op::Unordered => (AluOp::Funord, false),
        _ => return None,
    })
}

type Comparison<S> = fn(&mut S, Kind, <S as Sink>::Value, <S as Sink>::Value) -> <S as Sink>::Value;

fn integer_comparison<S: Sink>(op: Op) -> Option<(Kind, Comparison<S>)> {
    Some(match op {
        Op::IEqual => (Kind::Int, operators::equal),
        Op::INotEqual => (Kind::Int, operators::not_equal),
        Op::UGreaterThan => (Kind::Uint, operators::greater),
        Op::SGreaterThan => (Kind::Int, operators::greater),
        Op::UGreaterThanEqual => (Kind::Uint, operators::greater_equal),
        Op::SGreaterThanEqual => (Kind::Int, operators::greater_equal),
        Op::ULessThan => (Kind::Uint, operators::less),
        Op::SLessThan => (Kind::Int, operators::less),
        Op::ULessThanEqual => (Kind::Uint, operators::less_equal),
        Op::SLessThanEqual => (Kind::Int, operators::less_equal),
        _ => return None,
    })
}

/// The value of an instruction of [`Subject::Logic`](super::Subject::Logic).
pub(super) fn logic<S: Sink>(sink: &mut S, form: &Form, terms: &[Term<S::Value>]) -> Result<S::Value, Fault> {
    Ok(match form.op {
        Op::Any | Op::All => {
            let count = terms.first().map_or(0, |term| sink.components(term.value));
            let [x] = alike(sink, terms, Class::Boolean, count, 1)?;
            if form.op == Op::Any { operators::any(sink, x) } else { operators::all(sink, x) }
        }
        Op::LogicalNot => {
            let [x] = like_result(sink, form, terms, Class::Boolean)?;
            operators::not(sink, x)
        }
        Op::Select => {
            let &[condition, a, b] = terms else { return Err(Fault::Types("the number of operands")) };
            let [a, b] = like_result(sink, form, &[a, b], Class::Any)?;
            // A scalar selects whole vectors.
            let count = if sink.components(condition.value) == 1 { 1 } else { form.count };
            let condition = checked(sink, condition, Class::Boolean, count, 1)?;
            common::select(sink, condition, a, b)
        }
        _ => {
            let [a, b] = like_result(sink, form, terms, Class::Boolean)?;
            match form.op {
                Op::LogicalEqual => operators::equal(sink, Kind::Bool, a, b),
                Op::LogicalNotEqual => operators::xor(sink, a, b),
                Op::LogicalAnd => operators::and(sink, a, b),
                Op::LogicalOr => operators::or(sink, a, b),
                _ => return Err(Fault::Lacks("")),
            }
        }
    })
}

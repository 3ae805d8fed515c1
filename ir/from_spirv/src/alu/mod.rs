//! Arithmetic.
//!
//! The value of an instruction on scalars and vectors is computed once for two sinks: the builder emits it into a
//! function, the folder evaluates it for `OpSpecConstantOp`. Matrices are computed column by column, or row by row
//! where they were loaded by rows.

mod arithmetic;
mod bits;
mod compare;
mod conversion;
mod dot;
mod matrix;
mod own;
mod select;
mod term;
#[cfg(test)]
pub(crate) mod tests;

use smallvec::SmallVec;
use spirv::{Decoration, FPRoundingMode, Op};
use tgsi_arithmetic::Sink;
use tgsi_ir::AluFlags;
use tgsi_ir::alu::AluOp;
use tgsi_ir::entities::Def;
use tgsi_ir::types::ScalarType;

use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::grammar;
use crate::types::TypeData;
use crate::words::Inst;

pub(crate) use matrix::Matrix;
pub(crate) use term::{
    Class, Fault, Form, Term, alike, checked, is_integer, is_signed, like_first, like_result, sized,
};

/// Operands of an instruction.
pub(crate) type Terms<V> = SmallVec<[Term<V>; 4]>;

/// The subjects of instructions whose operands and result are scalars and vectors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Subject {
    Arithmetic,
    Bits,
    Comparison,
    Logic,
    Conversion,
    /// Of integers.
    Dot,
}

/// The subject of an instruction, and the number of its operands.
fn subject(op: Op) -> Option<(Subject, usize)> {
    Some(match op {
        Op::SNegate | Op::FNegate => (Subject::Arithmetic, 1),
        Op::IAdd
        | Op::FAdd
        | Op::ISub
        | Op::FSub
        | Op::IMul
        | Op::FMul
        | Op::UDiv
        | Op::SDiv
        | Op::FDiv
        | Op::UMod
        | Op::SRem
        | Op::SMod
        | Op::FRem
        | Op::FMod
        | Op::VectorTimesScalar
        | Op::Dot => (Subject::Arithmetic, 2),
        Op::FmaKHR => (Subject::Arithmetic, 3),
        Op::Not | Op::BitReverse | Op::BitCount => (Subject::Bits, 1),
        Op::ShiftRightLogical
        | Op::ShiftRightArithmetic
        | Op::ShiftLeftLogical
        | Op::BitwiseOr
        | Op::BitwiseXor
        | Op::BitwiseAnd => (Subject::Bits, 2),
        Op::BitFieldSExtract | Op::BitFieldUExtract => (Subject::Bits, 3),
        Op::BitFieldInsert => (Subject::Bits, 4),
        Op::IsNan | Op::IsInf | Op::IsFinite | Op::IsNormal | Op::SignBitSet => (Subject::Comparison, 1),
        Op::LessOrGreater
        | Op::Ordered
        | Op::Unordered
        | Op::IEqual
        | Op::INotEqual
        | Op::UGreaterThan
        | Op::SGreaterThan
        | Op::UGreaterThanEqual
        | Op::SGreaterThanEqual
        | Op::ULessThan
        | Op::SLessThan
        | Op::ULessThanEqual
        | Op::SLessThanEqual
        | Op::FOrdEqual
        | Op::FUnordEqual
        | Op::FOrdNotEqual
        | Op::FUnordNotEqual
        | Op::FOrdLessThan
        | Op::FUnordLessThan
        | Op::FOrdGreaterThan
        | Op::FUnordGreaterThan
        | Op::FOrdLessThanEqual
        | Op::FUnordLessThanEqual
        | Op::FOrdGreaterThanEqual
        | Op::FUnordGreaterThanEqual => (Subject::Comparison, 2),
        Op::Any | Op::All | Op::LogicalNot => (Subject::Logic, 1),
        Op::LogicalEqual | Op::LogicalNotEqual | Op::LogicalOr | Op::LogicalAnd => (Subject::Logic, 2),
        Op::Select => (Subject::Logic, 3),
        Op::ConvertFToU
        | Op::ConvertFToS
        | Op::ConvertSToF
        | Op::ConvertUToF
        | Op::UConvert
        | Op::SConvert
        | Op::FConvert
        | Op::QuantizeToF16
        | Op::SatConvertSToU
        | Op::SatConvertUToS
        | Op::Bitcast => (Subject::Conversion, 1),
        Op::SDot | Op::UDot | Op::SUDot => (Subject::Dot, 2),
        Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat => (Subject::Dot, 3),
        _ => return None,
    })
}

/// The number of operands of an instruction that [`compute`] has.
pub(crate) fn num_operands(op: Op) -> Option<usize> {
    subject(op).map(|(_, count)| count)
}

/// The value of an instruction on scalars and vectors.
///
/// # Errors
/// Its operands do not fit, or it has other operands.
pub(crate) fn compute<S: Sink>(sink: &mut S, form: &Form, terms: &[Term<S::Value>]) -> Result<S::Value, Fault> {
    let (subject, count) = subject(form.op).ok_or(Fault::Lacks(""))?;
    if terms.len() != count {
        return Err(Fault::Types("the number of operands"));
    }
    let value = match subject {
        Subject::Arithmetic => arithmetic::compute(sink, form, terms)?,
        Subject::Bits => bits::compute(sink, form, terms)?,
        Subject::Comparison => compare::compare(sink, form, terms)?,
        Subject::Logic => compare::logic(sink, form, terms)?,
        Subject::Conversion => conversion::compute(sink, form, terms)?,
        Subject::Dot => dot::compute(sink, form, terms)?,
    };
    checked(sink, Term { value, scalar: form.scalar }, Class::Any, form.count, form.scalar.bit_size())
        .map_err(|_| Fault::Types("the result has another type"))
}

impl Emitter<'_, '_, '_> {
    /// An integer with 32 bits.
    #[expect(clippy::wrong_self_convention, reason = "the instruction that converts is emitted")]
    pub(crate) fn to_32_bits(&mut self, def: Def, is_signed: bool) -> Def {
        if self.b.body.bit_size(def) == 32 {
            return def;
        }
        self.b.alu(if is_signed { AluOp::I2i32 } else { AluOp::U2u32 }, &[def])
    }

    /// A scalar or vector with the type of its components.
    ///
    /// # Errors
    /// The value is something else.
    pub(crate) fn term(&mut self, id: u32) -> Result<Term<Def>, SpirvError> {
        let value = self.vector(id)?;
        let found = (self.b.body.num_components(value), self.b.body.bit_size(value));
        match self.context.module.types.as_vector(self.type_of(id)) {
            Some((scalar, count)) if (count, scalar.bit_size()) == found => Ok(Term { value, scalar }),
            _ => Err(SpirvError::Types { op: format!("%{id}"), why: "the value has another type" }),
        }
    }

    /// Scalars and vectors with the types of their components.
    ///
    /// # Errors
    /// As [`term`](Self::term).
    pub(crate) fn terms(&mut self, ids: &[u32]) -> Result<Terms<Def>, SpirvError> {
        ids.iter().map(|&id| self.term(id)).collect()
    }

    /// The type of the components of a result, and their number, if it is a scalar or vector.
    ///
    /// # Errors
    /// It is something else.
    pub(crate) fn result_vector(&self, inst: &Inst<'_>) -> Result<(ScalarType, u8), SpirvError> {
        let types = &self.context.module.types;
        let ty = self.context.module.result_type(inst);
        types.as_vector(ty).ok_or_else(|| SpirvError::WrongKind {
            id: inst.word(1),
            found: types.kind(ty),
            expected: "a scalar or vector",
        })
    }

    pub(crate) fn alu_group(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        let value = match op {
            Op::Select => self.select(inst)?,
            Op::IAddCarry | Op::ISubBorrow | Op::UMulExtended | Op::SMulExtended => self.two_results(op, inst)?,
            Op::MatrixTimesVector
            | Op::VectorTimesMatrix
            | Op::MatrixTimesMatrix
            | Op::MatrixTimesScalar
            | Op::OuterProduct
            | Op::Transpose => self.matrix_operation(op, inst)?,
            _ => match num_operands(op) {
                Some(count) => self.componentwise(op, count, inst)?,
                None => return Ok(Outcome::Other),
            },
        };
        Ok(Outcome::Value(value))
    }

    /// An instruction on scalars and vectors, or on the columns of matrices.
    fn componentwise(&mut self, op: Op, count: usize, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let ids = inst.rest(2);
        let error = |why| SpirvError::Types { op: grammar::name(inst.op), why };
        let (ids, rest) = ids.split_at_checked(count).ok_or_else(|| error("the number of operands"))?;
        let module = &self.context.module;
        let ty = module.result_type(inst);
        if let TypeData::Matrix { .. } = module.types.get(ty) {
            return self.columnwise(op, ids, inst);
        }
        let (scalar, components) = self.result_vector(inst)?;
        let mut form = self.form(op, scalar, components, inst);
        form.packing = rest.first().copied();
        let terms = self.terms(ids)?;
        self.b.flags = self.b.flags.union(self.wrapping(op, inst));
        if let Some(value) = self.own_operation(op, &terms) {
            return Ok(Value::Vector(value));
        }
        let value = compute(&mut self.b, &form, &terms);
        value.map(Value::Vector).map_err(|fault| fault.about(grammar::name(inst.op)))
    }

    /// An instruction with its decorations.
    fn form(&self, op: Op, scalar: ScalarType, count: u8, inst: &Inst<'_>) -> Form {
        form(&self.context.module.decorations, op, scalar, count, inst)
    }

    /// The flags of sums, differences and products that do not exceed the range of their type.
    fn wrapping(&self, op: Op, inst: &Inst<'_>) -> AluFlags {
        let mut flags = AluFlags::NONE;
        if matches!(op, Op::IAdd | Op::ISub | Op::IMul | Op::SNegate) {
            let decorations = &self.context.module.decorations;
            for (decoration, flag) in [
                (Decoration::NoSignedWrap, AluFlags::NO_SIGNED_WRAP),
                (Decoration::NoUnsignedWrap, AluFlags::NO_UNSIGNED_WRAP),
            ] {
                if decorations.has(inst.word(1), decoration) {
                    flags = flags.union(flag);
                }
            }
        }
        flags
    }

    /// An instruction whose result is a struct of two equal members.
    fn two_results(&mut self, op: Op, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let ids = inst.words.get(2..4).unwrap_or_default();
        let terms = self.terms(ids)?;
        let name = || grammar::name(inst.op);
        let values = arithmetic::two_results(&mut self.b, op, &terms).map_err(|fault| fault.about(name()))?;
        self.structure(&values, Class::Integer, inst)
    }

    /// A struct of scalars and vectors, if the result type is such a struct; its members have a class.
    ///
    /// # Errors
    /// The result has another type.
    pub(crate) fn structure(&self, values: &[Def], class: Class, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let error = || SpirvError::Types { op: grammar::name(inst.op), why: "the result has another type" };
        let types = &self.context.module.types;
        let TypeData::Struct { members, .. } = types.get(self.context.module.result_type(inst)) else {
            return Err(error());
        };
        if members.len() != values.len() {
            return Err(error());
        }
        for (&value, member) in values.iter().zip(members) {
            let (scalar, count) = types.as_vector(member.ty).ok_or_else(error)?;
            checked(&self.b, Term { value, scalar }, class, count, scalar.bit_size()).map_err(|_| error())?;
        }
        Ok(Value::Composite(values.into()))
    }
}

/// An instruction with its decorations.
pub(crate) fn form(
    decorations: &crate::decorations::Decorations,
    op: Op,
    scalar: ScalarType,
    count: u8,
    inst: &Inst<'_>,
) -> Form {
    let id = inst.word(1);
    Form {
        rounding: decorations.value(id, Decoration::FPRoundingMode).and_then(FPRoundingMode::from_u32),
        saturates: decorations.has(id, Decoration::SaturatedConversion),
        ..Form::new(op, scalar, count)
    }
}

//! Extended instructions: `GLSL.std.450`, `SPV_AMD_shader_trinary_minmax`, and sets without effect.

mod interpolate;
#[cfg(test)]
mod tests;
mod values;

use spirv::{GlslStd450Op as G, Op};
use tgsi_arithmetic::convert::convert;
use tgsi_arithmetic::{Columns, Kind, Scalar, matrix};
use tgsi_ir::alu::AluOp;
use tgsi_ir::entities::Def;
use tgsi_ir::types::ScalarType;

use crate::alu::{Class, Fault, Matrix, Term, checked, is_integer, sized};
use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::module::{Id, Set};
use crate::types::TypeData;
use crate::words::Inst;

/// The first operand of an instruction.
const FIRST: usize = 4;

/// The number of vectors that an instruction takes, if it takes only vectors and gives one.
fn num_operands(op: G) -> Option<usize> {
    Some(match op {
        G::Round
        | G::RoundEven
        | G::Trunc
        | G::FAbs
        | G::SAbs
        | G::FSign
        | G::SSign
        | G::Floor
        | G::Ceil
        | G::Fract
        | G::Radians
        | G::Degrees
        | G::Sin
        | G::Cos
        | G::Tan
        | G::Asin
        | G::Acos
        | G::Atan
        | G::Sinh
        | G::Cosh
        | G::Tanh
        | G::Asinh
        | G::Acosh
        | G::Atanh
        | G::Exp
        | G::Log
        | G::Exp2
        | G::Log2
        | G::Sqrt
        | G::InverseSqrt
        | G::PackSnorm4x8
        | G::PackUnorm4x8
        | G::PackSnorm2x16
        | G::PackUnorm2x16
        | G::PackHalf2x16
        | G::PackDouble2x32
        | G::UnpackSnorm2x16
        | G::UnpackUnorm2x16
        | G::UnpackHalf2x16
        | G::UnpackSnorm4x8
        | G::UnpackUnorm4x8
        | G::UnpackDouble2x32
        | G::Length
        | G::Normalize
        | G::FindILsb
        | G::FindSMsb
        | G::FindUMsb => 1,
        G::Atan2
        | G::Pow
        | G::FMin
        | G::UMin
        | G::SMin
        | G::FMax
        | G::UMax
        | G::SMax
        | G::NMin
        | G::NMax
        | G::Step
        | G::Ldexp
        | G::Distance
        | G::Cross
        | G::Reflect => 2,
        G::FClamp
        | G::UClamp
        | G::SClamp
        | G::NClamp
        | G::FMix
        | G::SmoothStep
        | G::Fma
        | G::FaceForward
        | G::Refract => 3,
        G::Determinant
        | G::MatrixInverse
        | G::Modf
        | G::ModfStruct
        | G::IMix
        | G::Frexp
        | G::FrexpStruct
        | G::InterpolateAtCentroid
        | G::InterpolateAtSample
        | G::InterpolateAtOffset => return None,
    })
}

impl Emitter<'_, '_, '_> {
    pub(crate) fn extended_group(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        if op != Op::ExtInst {
            return Ok(Outcome::Other);
        }
        let (id, number) = (inst.word(2), inst.word(3));
        let value = match self.context.module.id(id) {
            Id::Set(Set::DebugInfo | Set::NonSemantic) => return Ok(Outcome::Effect),
            Id::Set(Set::Glsl) => match G::from_u32(number) {
                Some(op) => self.glsl(op, inst)?,
                None => return Err(SpirvError::ExtendedInstruction { name: format!("{number} of GLSL.std.450") }),
            },
            Id::Set(Set::AmdTrinaryMinMax) => {
                let (scalar, count) = self.result_vector(inst)?;
                let terms = self.terms(inst.words.get(FIRST..FIRST + 3).unwrap_or_default())?;
                let name = || format!("{number} of SPV_AMD_shader_trinary_minmax");
                let value = values::trinary(&mut self.b, number, scalar, count, &terms);
                Value::Vector(value.map_err(|fault| about(fault, name()))?)
            }
            Id::Set(Set::Other) => {
                return Err(SpirvError::ExtendedInstruction { name: format!("{number} of %{id}") });
            }
            other => return Err(SpirvError::WrongKind { id, found: other.kind(), expected: "a set of instructions" }),
        };
        Ok(Outcome::Value(value))
    }

    /// An instruction of `GLSL.std.450`.
    fn glsl(&mut self, op: G, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let misfit = |why| SpirvError::Types { op: format!("{op:?}"), why };
        let operands = inst.rest(FIRST);
        if let Some(count) = num_operands(op) {
            let operands = operands.get(..count).ok_or_else(|| misfit("the number of operands"))?;
            let (scalar, components) = self.result_vector(inst)?;
            let terms = self.terms(operands)?;
            if let Some(value) = Some(op).filter(|&op| op == G::FMix).and_then(|_| self.own_mix(&terms)) {
                return Ok(Value::Vector(value));
            }
            let value = values::compute(&mut self.b, op, scalar, components, &terms);
            return value.map(Value::Vector).map_err(|fault| about(fault, format!("{op:?}")));
        }
        let &[first, ref rest @ ..] = operands else { return Err(misfit("the number of operands")) };
        match op {
            G::Determinant => {
                let (matrix, _) = self.matrix(first)?;
                let (scalar, count) = self.result_vector(inst)?;
                let is_square = |matrix: &Matrix<Def>| {
                    matrix.vectors.iter().all(|&v| usize::from(self.b.body.num_components(v)) == matrix.vectors.len())
                };
                if !is_square(&matrix) {
                    return Err(misfit("the matrix is not square"));
                }
                // The transpose has the same one.
                let value = {
                    let vectors = self.widened(&matrix.vectors);
                    matrix::determinant(&mut self.b, &vectors)
                };
                let value = value.ok_or_else(|| misfit("the matrix is not square"))?;
                let value = if scalar == ScalarType::Float16 { self.b.alu(AluOp::F2f16, &[value]) } else { value };
                let term = Term { value, scalar };
                let value = checked(&self.b, term, Class::Float, count, scalar.bit_size());
                value.map(Value::Vector).map_err(|fault| about(fault, format!("{op:?}")))
            }
            G::MatrixInverse => {
                let (matrix, _) = self.matrix(first)?;
                let size = matrix.vectors.len();
                if matrix.vectors.iter().any(|&v| usize::from(self.b.body.num_components(v)) != size) {
                    return Err(misfit("the matrix is not square"));
                }
                // The inverse of the transpose is the transpose of the inverse.
                let is_half = matrix.vectors.iter().all(|&vector| self.b.body.bit_size(vector) == 16);
                let vectors = {
                    let vectors = self.widened(&matrix.vectors);
                    matrix::inverse(&mut self.b, &vectors)
                };
                let mut vectors = vectors.ok_or_else(|| misfit("the matrix is not square"))?;
                if is_half {
                    vectors.iter_mut().for_each(|vector| *vector = self.b.alu(AluOp::F2f16, &[*vector]));
                }
                self.matrix_value(&Matrix { vectors, by_rows: matrix.by_rows }, inst)
            }
            G::Modf | G::Frexp | G::ModfStruct | G::FrexpStruct => self.parts(op, first, rest, inst),
            G::InterpolateAtCentroid | G::InterpolateAtSample | G::InterpolateAtOffset => {
                self.interpolate(op, first, rest, inst)
            }
            _ => Err(SpirvError::ExtendedInstruction { name: format!("{op:?}") }),
        }
    }

    /// The vectors of a matrix, in 32 bits if they have 16: sums of products lose too much there.
    fn widened(&mut self, vectors: &[Def]) -> Columns<Def> {
        let widen = |&vector: &Def| match self.b.body.bit_size(vector) {
            16 => self.b.alu(AluOp::F2f32, &[vector]),
            _ => vector,
        };
        vectors.iter().map(widen).collect()
    }

    /// `Modf` and `Frexp`, and the forms of both that give a struct.
    fn parts(&mut self, op: G, operand: u32, rest: &[u32], inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let fault = |fault| about(fault, format!("{op:?}"));
        let misfit = |why| SpirvError::Types { op: format!("{op:?}"), why };
        let term = self.term(operand)?;
        let [first, second] = values::parts(&mut self.b, op, term).map_err(fault)?;
        if matches!(op, G::ModfStruct | G::FrexpStruct) {
            let ty = self.context.module.result_type(inst);
            let types = &self.context.module.types;
            let member = match types.get(ty) {
                TypeData::Struct { members, .. } => members.get(1).and_then(|member| types.as_vector(member.ty)),
                _ => None,
            };
            let (scalar, _) = member.ok_or_else(|| misfit("the result has another type"))?;
            let second = self.second_part(op, second, scalar).map_err(fault)?;
            return self.structure(&[first, second], Class::Any, inst);
        }
        let (scalar, count) = self.result_vector(inst)?;
        let value = Term { value: first, scalar };
        let value = checked(&self.b, value, Class::Float, count, scalar.bit_size()).map_err(fault)?;
        let &[pointer, ..] = rest else { return Err(misfit("the number of operands")) };
        let pointer = self.pointer(pointer)?;
        let target = self.context.module.types.as_vector(pointer.ty);
        let (scalar, _) = target.ok_or_else(|| misfit("the pointer leads to another type"))?;
        let second = self.second_part(op, second, scalar).map_err(fault)?;
        self.store(&pointer, &Value::Vector(second))?;
        Ok(Value::Vector(value))
    }

    /// The second result as components of a type: an exponent is an integer of any size.
    fn second_part(&mut self, op: G, value: Def, scalar: ScalarType) -> Result<Def, Fault> {
        if matches!(op, G::Modf | G::ModfStruct) {
            return match scalar.is_float() {
                true => Ok(value),
                false => Err(Fault::Types("the whole part is a float")),
            };
        }
        if !is_integer(scalar) {
            return Err(Fault::Types("the exponent is an integer"));
        }
        Ok(convert(&mut self.b, Scalar::INT, sized(Kind::Int, scalar), value))
    }
}

/// The error about an extended instruction.
fn about(fault: Fault, name: String) -> SpirvError {
    match fault {
        Fault::Types(why) => SpirvError::Types { op: name, why },
        Fault::Lacks(_) => SpirvError::ExtendedInstruction { name },
    }
}

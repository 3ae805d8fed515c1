//! Conversions between number types and sizes.

use spirv::{GlslStd450Op, Op};
use tgsi_ir::alu::AluOp;
use tgsi_ir::analysis::float_range::FloatRange;

use super::{Alu, Emitter, TypedId};
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    /// Emits conversions.
    pub(super) fn conversion(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        use AluOp::*;
        match alu.op {
            F2f32 | F2f64 => {
                let a = self.source(alu, 0, Class::Float)?;
                let ty = self.source_type(alu, 0, Class::Float);
                Ok((self.converted(a, ty, self.body.bit_size(alu.def)), Class::Float))
            }
            I2f32 | I2f64 => self.integer_to_float(alu, Op::ConvertSToF, Class::Int),
            U2f32 | U2f64 => self.integer_to_float(alu, Op::ConvertUToF, Class::Uint),
            B2f32 | B2f64 => {
                let condition = self.condition(alu)?;
                Ok((self.one_or_zero(self.type_of(alu.def, Class::Float), condition), Class::Float))
            }
            B2i32 | B2i64 => {
                let condition = self.condition(alu)?;
                let class = self.neutral(alu);
                let ty = self.type_of(alu.def, class);
                let (one, zero) = (self.splat(ty, 1), self.splat(ty, 0));
                Ok((self.pure_of(Op::Select, ty, &[condition, one, zero]), class))
            }
            B2i1 | B2b1 => Ok((self.condition(alu)?, Class::Bool)),
            B2b32 => {
                let condition = self.condition(alu)?;
                Ok(self.truth(alu, condition))
            }
            I2i1 | U2u1 => {
                let (a, ty) = (self.source(alu, 0, Class::Uint)?, self.source_type(alu, 0, Class::Uint));
                Ok((self.low_bit(a, ty), Class::Bool))
            }
            F2i1 | F2u1 => {
                let class = if alu.op == F2i1 { Class::Int } else { Class::Uint };
                let (id, ty) = self.float_to_integer(alu, class, 32)?;
                Ok((self.low_bit(id, ty), Class::Bool))
            }
            I2i32 | I2i64 => self.resized(alu, Class::Int),
            U2u32 | U2u64 => self.resized(alu, Class::Uint),
            F2i32 | F2i64 => Ok((self.float_to_integer(alu, Class::Int, self.body.bit_size(alu.def))?.0, Class::Int)),
            F2u32 | F2u64 => Ok((self.float_to_integer(alu, Class::Uint, self.body.bit_size(alu.def))?.0, Class::Uint)),
            _ => Err(self.no_form(alu)),
        }
    }

    /// Returns source 0 as booleans.
    fn condition(&mut self, alu: &Alu) -> Result<Id, SpirvError> {
        let a = self.source(alu, 0, Class::Uint)?;
        let ty = self.source_type(alu, 0, Class::Uint);
        if ty.bits == 1 {
            return Ok(a);
        }
        let zero = self.splat(ty, 0);
        Ok(self.pure_of(Op::INotEqual, Self::truths(ty), &[a, zero]))
    }

    /// Returns the lowest bits of integers as booleans.
    fn low_bit(&mut self, id: Id, ty: ValueType) -> Id {
        if ty.bits == 1 {
            return id;
        }
        let (one, zero) = (self.splat(ty, 1), self.splat(ty, 0));
        let bit = self.pure_of(Op::BitwiseAnd, ty, &[id, one]);
        self.pure_of(Op::INotEqual, Self::truths(ty), &[bit, zero])
    }

    /// Converts an integer to a float. A set bit of a 1-bit integer is 1 if unsigned, -1 if signed.
    fn integer_to_float(&mut self, alu: &Alu, op: Op, class: Class) -> Result<TypedId, SpirvError> {
        let a = self.source(alu, 0, class)?;
        let ty = self.type_of(alu.def, Class::Float);
        if self.source_bits(alu, 0) == 1 {
            let (one, zero) = (self.real(ty, if class == Class::Int { -1.0 } else { 1.0 }), self.real(ty, 0.0));
            return Ok((self.pure_of(Op::Select, ty, &[a, one, zero]), Class::Float));
        }
        Ok((self.pure_of(op, ty, &[a]), Class::Float))
    }

    /// Converts an integer to another size.
    fn resized(&mut self, alu: &Alu, class: Class) -> Result<TypedId, SpirvError> {
        let (from, to) = (self.source_bits(alu, 0), self.body.bit_size(alu.def));
        if from > to {
            // Truncation does not depend on the sign.
            let class = self.neutral(alu);
            let a = self.source(alu, 0, class)?;
            let op = if class == Class::Int { Op::SConvert } else { Op::UConvert };
            return Ok((self.pure_of(op, self.type_of(alu.def, class), &[a]), class));
        }
        let a = self.source(alu, 0, class)?;
        let ty = self.type_of(alu.def, class);
        let id = if from == 1 {
            let (one, zero) = (self.splat(ty, if class == Class::Int { u64::MAX } else { 1 }), self.splat(ty, 0));
            self.pure_of(Op::Select, ty, &[a, one, zero])
        } else if from == to {
            a
        } else {
            self.pure_of(if class == Class::Int { Op::SConvert } else { Op::UConvert }, ty, &[a])
        };
        Ok((id, class))
    }

    /// Converts source 0, a float, to an integer: truncates, and saturates out-of-range values. NaN becomes 0. SPIR-V
    /// leaves out-of-range values and NaN undefined, and devices differ.
    fn float_to_integer(&mut self, alu: &Alu, class: Class, bits: u8) -> Result<(Id, ValueType), SpirvError> {
        let a = self.source(alu, 0, Class::Float)?;
        let from = self.source_type(alu, 0, Class::Float);
        let ty = ValueType { class, bits, ..from };
        let signed = class == Class::Int;
        let op = if signed { Op::ConvertFToS } else { Op::ConvertFToU };
        let (is_number, fits) = self.float_fits(alu, ty);
        if is_number && fits || self.options.unguarded {
            return Ok((self.pure_of(op, ty, &[a]), ty));
        }
        let truths = Self::truths(ty);
        let magnitude_bits = u32::from(bits) - u32::from(signed);
        let limit = 2f64.powi(magnitude_bits as i32);
        // The greatest float below the limit. In 64-bit floats the greatest 32-bit integer is exact.
        let mantissa = if from.bits == 64 { 53 } else { 24 };
        let is_reached = magnitude_bits <= mantissa;
        let greatest =
            if is_reached { limit - 1.0 } else { limit - 2f64.powi(magnitude_bits as i32 - mantissa as i32) };
        // `NClamp` maps NaN to the lower bound.
        let (least, greatest) = (self.real(from, if signed { -limit } else { 0.0 }), self.real(from, greatest));
        let clamped = self.glsl(GlslStd450Op::NClamp, from, &[a, least, greatest]);
        let mut id = self.pure_of(op, ty, &[clamped]);
        if !is_reached {
            let limit = self.real(from, limit);
            let is_above = self.pure_of(Op::FOrdGreaterThanEqual, truths, &[a, limit]);
            let most = self.splat(ty, u64::MAX >> (64 - magnitude_bits));
            id = self.pure_of(Op::Select, ty, &[is_above, most, id]);
        }
        if signed && !is_number {
            let test = self.pure_of(Op::FOrdEqual, truths, &[a, a]);
            let zero = self.splat(ty, 0);
            id = self.pure_of(Op::Select, ty, &[test, id, zero]);
        }
        Ok((id, ty))
    }

    /// Returns whether a float is proven not to be NaN, and whether it is proven to be in the range of an integer type.
    fn float_fits(&mut self, alu: &Alu, ty: ValueType) -> (bool, bool) {
        let range = self.range_of(alu, 0);
        let body = self.body;
        let mut producer = body.src_inst(body.source(alu.inst, 0));
        // Rounding keeps a number within integer bounds.
        while let Some(AluOp::Ffloor | AluOp::Fceil | AluOp::Ftrunc | AluOp::FroundEven) = body.alu_op(producer) {
            producer = body.src_inst(body.source(producer, 0));
        }
        let may_be_negative = range.may_be(FloatRange::NEGATIVE);
        let fits = match body.alu_op(producer) {
            // Magnitude at most 1.
            Some(AluOp::Fsat | AluOp::FsatSigned | AluOp::Fsign | AluOp::Ffract) => true,
            Some(AluOp::B2f32 | AluOp::B2f64 | AluOp::Slt | AluOp::Sge | AluOp::Seq | AluOp::Sne) => true,
            // 32-bit integers; conversion to a 32-bit float may round them up to 2^31 or 2^32.
            Some(AluOp::I2f64 | AluOp::U2f64 | AluOp::I2f32 | AluOp::U2f32) => {
                let exact = matches!(body.alu_op(producer), Some(AluOp::I2f64 | AluOp::U2f64));
                let narrow = body.bit_size(body.src(producer, 0)) <= 32;
                narrow && ty.bits == 64
                    || narrow
                        && exact
                        && matches!(body.alu_op(producer), Some(AluOp::I2f64)) == (ty.class == Class::Int)
            }
            _ => false,
        };
        (!range.may_be(FloatRange::NAN), fits && (ty.class == Class::Int || !may_be_negative))
    }
}

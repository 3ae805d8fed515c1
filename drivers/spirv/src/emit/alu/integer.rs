//! Integer arithmetic.
//!
//! Signed operations use signed types and unsigned ones unsigned types, since some translators of SPIR-V derive the
//! operation from the types. Operations that do not depend on the sign use the class of their operands and users.

use spirv::{GlslStd450Op, Op};
use tgsi_ir::alu::AluOp;
use tgsi_ir::analysis::integer_range::{IntegerRange, integer_range};

use super::{Alu, Emitter, TypedId};
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    /// Emits component-wise integer operations.
    pub(super) fn integer(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        use AluOp::*;
        if self.body.bit_size(alu.def) == 1 {
            return self.logic(alu);
        }
        let class = self.neutral(alu);
        let (int, uint) = (self.type_of(alu.def, Class::Int), self.type_of(alu.def, Class::Uint));
        match alu.op {
            Ineg => self.negated(alu, class),
            Inot => {
                let a = self.source(alu, 0, class)?;
                Ok((self.pure_of(Op::Not, self.type_of(alu.def, class), &[a]), class))
            }
            Isign => self.signed_unary(alu, GlslStd450Op::SSign),
            Iabs => self.signed_unary(alu, GlslStd450Op::SAbs),
            UdivAligned4 => {
                let (a, two) = (self.source(alu, 0, Class::Uint)?, self.module.uint(2));
                let two = self.repeat(two, ValueType::UINT, uint.components);
                Ok((self.pure_of(Op::ShiftRightLogical, uint, &[a, two]), Class::Uint))
            }
            Iadd => self.binary(alu, Op::IAdd, class),
            Isub => self.binary(alu, Op::ISub, class),
            Imul | Amul | Imul24Relaxed | Umul24Relaxed => self.binary(alu, Op::IMul, class),
            Iand => self.binary(alu, Op::BitwiseAnd, class),
            Ior => self.binary(alu, Op::BitwiseOr, class),
            Ixor => self.binary(alu, Op::BitwiseXor, class),
            Ishl => self.shift(alu, Op::ShiftLeftLogical, class),
            Ishr => self.shift(alu, Op::ShiftRightArithmetic, Class::Int),
            Ushr => self.shift(alu, Op::ShiftRightLogical, Class::Uint),
            Urol | Uror => self.rotation(alu, uint),
            Imin => Ok((self.glsl_binary(alu, GlslStd450Op::SMin, Class::Int)?, Class::Int)),
            Imax => Ok((self.glsl_binary(alu, GlslStd450Op::SMax, Class::Int)?, Class::Int)),
            Umin => Ok((self.glsl_binary(alu, GlslStd450Op::UMin, Class::Uint)?, Class::Uint)),
            Umax => Ok((self.glsl_binary(alu, GlslStd450Op::UMax, Class::Uint)?, Class::Uint)),
            Idiv => self.signed_division(alu, int, DivisionResult::Quotient),
            Irem => self.signed_division(alu, int, DivisionResult::Remainder),
            Imod => self.signed_division(alu, int, DivisionResult::Modulus),
            Udiv | Umod => self.unsigned_division(alu, uint),
            ImulHigh => self.high_product(alu, Op::SMulExtended, int),
            UmulHigh => self.high_product(alu, Op::UMulExtended, uint),
            Imul2x3264 | Umul2x3264 => self.wide_product(alu),
            UmulLow | Umul32x16 | Imul32x16 | Umul24 | Imul24 | Umad24 => self.narrow_product(alu, class),
            UaddCarry | UsubBorrow | UaddSat | UsubSat | UabsUsub | UabsIsub => self.compared_sum(alu, uint),
            IaddSat | IsubSat => self.saturated_sum(alu, int),
            Ihadd => self.average(alu, Class::Int, false),
            Uhadd => self.average(alu, Class::Uint, false),
            Irhadd => self.average(alu, Class::Int, true),
            Urhadd => self.average(alu, Class::Uint, true),
            ExtractU8 => self.extracted(alu, Class::Uint, 8),
            ExtractU16 => self.extracted(alu, Class::Uint, 16),
            ExtractI8 => self.extracted(alu, Class::Int, 8),
            ExtractI16 => self.extracted(alu, Class::Int, 16),
            InsertU8 => self.inserted(alu, uint, 8),
            InsertU16 => self.inserted(alu, uint, 16),
            Iadd3 | Imad | Umad24Relaxed => {
                let (first, class) = self.binary(alu, if alu.op == Iadd3 { Op::IAdd } else { Op::IMul }, class)?;
                let c = self.source(alu, 2, class)?;
                Ok((self.pure_of(Op::IAdd, self.type_of(alu.def, class), &[first, c]), class))
            }
            _ => Err(self.no_form(alu)),
        }
    }

    /// Emits an operation on two sources of the result's class.
    fn binary(&mut self, alu: &Alu, op: Op, class: Class) -> Result<TypedId, SpirvError> {
        let (a, b) = (self.source(alu, 0, class)?, self.source(alu, 1, class)?);
        Ok((self.pure_of(op, self.type_of(alu.def, class), &[a, b]), class))
    }

    fn signed_unary(&mut self, alu: &Alu, op: GlslStd450Op) -> Result<TypedId, SpirvError> {
        let a = self.source(alu, 0, Class::Int)?;
        Ok((self.glsl(op, self.type_of(alu.def, Class::Int), &[a]), Class::Int))
    }

    /// Emits a negation. That of a boolean converted to an integer is a selection of all ones or zero.
    fn negated(&mut self, alu: &Alu, class: Class) -> Result<TypedId, SpirvError> {
        let body = self.body;
        let ty = self.type_of(alu.def, class);
        let source = body.source(alu.inst, 0);
        let producer = body.src_inst(source);
        if matches!(body.alu_op(producer), Some(AluOp::B2i32 | AluOp::B2i64)) && self.source_bits_of(producer) == 1 {
            let condition = body.source(producer, 0);
            let swizzle = body.swizzle(source).compose(body.swizzle(condition));
            let condition = self.swizzled(body.src_def(condition), swizzle, ty.components, Class::Bool)?;
            let (ones, zero) = (self.splat(ty, u64::MAX), self.splat(ty, 0));
            return Ok((self.pure_of(Op::Select, ty, &[condition, ones, zero]), class));
        }
        let a = self.source(alu, 0, class)?;
        Ok((self.pure_of(Op::SNegate, ty, &[a]), class))
    }

    fn source_bits_of(&self, inst: tgsi_ir::Inst) -> u8 {
        self.body.bit_size(self.body.src(inst, 0))
    }

    /// Returns source `number` as a shift count modulo `bits`. SPIR-V leaves counts of `bits` or more undefined.
    pub(super) fn shift_count(&mut self, alu: &Alu, number: usize, bits: u8) -> Result<Id, SpirvError> {
        let ty = ValueType { class: Class::Uint, ..self.source_type(alu, number, Class::Uint) };
        let most = u64::from(bits) - 1;
        if let Some(counts) = self.source_constant(alu, number) {
            let counts: smallvec::SmallVec<[u64; 4]> = counts.iter().map(|count| count & most).collect();
            return Ok(self.constant(ty, &counts));
        }
        let count = self.source(alu, number, Class::Uint)?;
        let range = self.integers(alu, number);
        if range.low >= 0 && range.high <= most as i64 {
            return Ok(count);
        }
        let mask = self.splat(ty, most);
        Ok(self.pure_of(Op::BitwiseAnd, ty, &[count, mask]))
    }

    /// Returns the known range of all components of source `number`.
    fn integers(&self, alu: &Alu, number: usize) -> IntegerRange {
        let (body, source) = (self.body, self.body.source(alu.inst, number));
        let count = body.alu_src_components(alu.inst, number);
        body.swizzle(source)
            .iter(count)
            .map(|component| integer_range(body, body.src_def(source), usize::from(component)))
            .reduce(|a, b| IntegerRange { low: a.low.min(b.low), high: a.high.max(b.high) })
            .unwrap_or(IntegerRange::ANY)
    }

    fn shift(&mut self, alu: &Alu, op: Op, class: Class) -> Result<TypedId, SpirvError> {
        let ty = self.type_of(alu.def, class);
        let (a, count) = (self.source(alu, 0, class)?, self.shift_count(alu, 1, ty.bits)?);
        Ok((self.pure_of(op, ty, &[a, count]), class))
    }

    fn rotation(&mut self, alu: &Alu, ty: ValueType) -> Result<TypedId, SpirvError> {
        let (a, count) = (self.source(alu, 0, Class::Uint)?, self.shift_count(alu, 1, ty.bits)?);
        let counts = ValueType { bits: 32, ..ty };
        let (negated, mask) = (self.pure_of(Op::SNegate, counts, &[count]), self.splat(counts, u64::from(ty.bits) - 1));
        let rest = self.pure_of(Op::BitwiseAnd, counts, &[negated, mask]);
        let (left, right) = if alu.op == AluOp::Urol { (count, rest) } else { (rest, count) };
        let high = self.pure_of(Op::ShiftLeftLogical, ty, &[a, left]);
        let low = self.pure_of(Op::ShiftRightLogical, ty, &[a, right]);
        Ok((self.pure_of(Op::BitwiseOr, ty, &[high, low]), Class::Uint))
    }

    /// Emits signed quotients and remainders. Vulkan leaves `OpSRem` and `OpSMod` undefined for negative operands, so
    /// the remainder is computed from the quotient. The least number divided by -1 is itself, with remainder 0.
    fn signed_division(&mut self, alu: &Alu, ty: ValueType, part: DivisionResult) -> Result<TypedId, SpirvError> {
        let (a, b) = (self.source(alu, 0, Class::Int)?, self.source(alu, 1, Class::Int)?);
        if self.options.unguarded {
            let op = match part {
                DivisionResult::Quotient => Op::SDiv,
                DivisionResult::Remainder => Op::SRem,
                DivisionResult::Modulus => Op::SMod,
            };
            return Ok((self.pure_of(op, ty, &[a, b]), Class::Int));
        }
        let truths = Self::truths(ty);
        let mask = if ty.bits == 64 { u64::MAX } else { u64::MAX >> 32 };
        let least = 1 << (ty.bits - 1);
        let divisors = self.source_constant(alu, 1);
        let (may_be_zero, may_be_minus_one) = match &divisors {
            Some(bits) => (bits.contains(&0), bits.contains(&mask)),
            None => {
                let range = self.integers(alu, 1);
                (ty.bits != 32 || range.low <= 0 && range.high >= 0, ty.bits != 32 || range.low < 0)
            }
        };
        let may_overflow = may_be_minus_one
            && match self.source_constant(alu, 0) {
                Some(bits) => bits.contains(&least),
                None => ty.bits != 32 || self.integers(alu, 0).low == i64::from(i32::MIN),
            };
        let (zero, one) = (self.splat(ty, 0), self.splat(ty, 1));
        let is_zero = may_be_zero.then(|| self.pure_of(Op::IEqual, truths, &[b, zero]));
        let overflows = may_overflow.then(|| {
            let (least, minus_one) = (self.splat(ty, least), self.splat(ty, mask));
            let is_least = self.pure_of(Op::IEqual, truths, &[a, least]);
            let is_minus_one = self.pure_of(Op::IEqual, truths, &[b, minus_one]);
            self.pure_of(Op::LogicalAnd, truths, &[is_least, is_minus_one])
        });
        // Replaces the divisor by 1, which leaves remainder 0 and the least number unchanged.
        let replaced = match (is_zero, overflows) {
            (Some(a), Some(b)) => Some(self.pure_of(Op::LogicalOr, truths, &[a, b])),
            (a, b) => a.or(b),
        };
        let divisor = replaced.map_or(b, |replaced| self.pure_of(Op::Select, ty, &[replaced, one, b]));
        let quotient = self.pure_of(Op::SDiv, ty, &[a, divisor]);
        if part == DivisionResult::Quotient {
            let id = is_zero.map_or(quotient, |is_zero| self.pure_of(Op::Select, ty, &[is_zero, zero, quotient]));
            return Ok((id, Class::Int));
        }
        let product = self.pure_of(Op::IMul, ty, &[quotient, divisor]);
        let remainder = self.pure_of(Op::ISub, ty, &[a, product]);
        if part == DivisionResult::Remainder {
            return Ok((remainder, Class::Int));
        }
        let signs = self.pure_of(Op::BitwiseXor, ty, &[remainder, divisor]);
        let differs = self.pure_of(Op::SLessThan, truths, &[signs, zero]);
        let is_left = self.pure_of(Op::INotEqual, truths, &[remainder, zero]);
        let test = self.pure_of(Op::LogicalAnd, truths, &[differs, is_left]);
        let sum = self.pure_of(Op::IAdd, ty, &[remainder, divisor]);
        Ok((self.pure_of(Op::Select, ty, &[test, sum, remainder]), Class::Int))
    }

    fn unsigned_division(&mut self, alu: &Alu, ty: ValueType) -> Result<TypedId, SpirvError> {
        let (a, b) = (self.source(alu, 0, Class::Uint)?, self.source(alu, 1, Class::Uint)?);
        let is_quotient = alu.op == AluOp::Udiv;
        let op = if is_quotient { Op::UDiv } else { Op::UMod };
        let range = self.integers(alu, 1);
        let is_safe = match self.source_constant(alu, 1) {
            Some(bits) => !bits.contains(&0),
            None => ty.bits == 32 && (range.low > 0 || range.high < 0),
        };
        if is_safe || self.options.unguarded {
            return Ok((self.pure_of(op, ty, &[a, b]), Class::Uint));
        }
        let (zero, one) = (self.splat(ty, 0), self.splat(ty, 1));
        let is_zero = self.pure_of(Op::IEqual, Self::truths(ty), &[b, zero]);
        let divisor = self.pure_of(Op::Select, ty, &[is_zero, one, b]);
        let result = self.pure_of(op, ty, &[a, divisor]);
        // The remainder of a division by 1 is already 0.
        let result = if is_quotient { self.pure_of(Op::Select, ty, &[is_zero, zero, result]) } else { result };
        Ok((result, Class::Uint))
    }

    /// Emits the upper half of a product. Translators to other languages do not support `OpSMulExtended` and
    /// `OpUMulExtended`.
    fn high_product(&mut self, alu: &Alu, op: Op, ty: ValueType) -> Result<TypedId, SpirvError> {
        if self.options.portable {
            return Err(self.no_form(alu));
        }
        let (a, b) = (self.source(alu, 0, ty.class)?, self.source(alu, 1, ty.class)?);
        let half = self.module.value_type(ty);
        let both = self.module.plain_type(Op::TypeStruct, &[half.0, half.0]);
        let product = self.pure(op, both, &[a.0, b.0]);
        Ok((self.pure(Op::CompositeExtract, half, &[product.0, 1]), ty.class))
    }

    fn wide_product(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        let (op, class) = match alu.op {
            AluOp::Imul2x3264 => (Op::SConvert, Class::Int),
            _ => (Op::UConvert, Class::Uint),
        };
        let ty = self.type_of(alu.def, class);
        let (a, b) = (self.source(alu, 0, class)?, self.source(alu, 1, class)?);
        let (a, b) = (self.pure_of(op, ty, &[a]), self.pure_of(op, ty, &[b]));
        Ok((self.pure_of(Op::IMul, ty, &[a, b]), class))
    }

    /// Emits products of the low bits of the operands.
    fn narrow_product(&mut self, alu: &Alu, class: Class) -> Result<TypedId, SpirvError> {
        use AluOp::*;
        let ty = self.type_of(alu.def, class);
        let (bits, of_both, signed) = match alu.op {
            UmulLow => (16, true, false),
            Umul32x16 => (16, false, false),
            Imul32x16 => (16, false, true),
            Imul24 => (24, true, true),
            _ => (24, true, false),
        };
        let mut operands = [self.source(alu, 0, class)?, self.source(alu, 1, class)?];
        for operand in &mut operands[usize::from(!of_both)..] {
            *operand = self.low_bits(*operand, ty, bits, signed);
        }
        let mut id = self.pure_of(Op::IMul, ty, &operands);
        if alu.op == Umad24 {
            let c = self.source(alu, 2, class)?;
            id = self.pure_of(Op::IAdd, ty, &[id, c]);
        }
        Ok((id, class))
    }

    /// Returns the low bits of a number, extended to the full size.
    fn low_bits(&mut self, id: Id, ty: ValueType, bits: u8, signed: bool) -> Id {
        if !signed {
            let mask = self.splat(ty, (1 << bits) - 1);
            return self.pure_of(Op::BitwiseAnd, ty, &[id, mask]);
        }
        let counts = ValueType::UINT.with_components(ty.components);
        let count = self.splat(counts, u64::from(ty.bits - bits));
        let signed = ValueType { class: Class::Int, ..ty };
        let id = self.recast(id, ty, Class::Int);
        let id = self.pure_of(Op::ShiftLeftLogical, signed, &[id, count]);
        let id = self.pure_of(Op::ShiftRightArithmetic, signed, &[id, count]);
        self.recast(id, signed, ty.class)
    }

    /// Bitcasts an id to another class.
    pub(super) fn recast(&mut self, id: Id, ty: ValueType, class: Class) -> Id {
        if ty.class == class { id } else { self.pure_of(Op::Bitcast, ValueType { class, ..ty }, &[id]) }
    }

    /// Emits sums and differences with overflow detection by a comparison.
    fn compared_sum(&mut self, alu: &Alu, ty: ValueType) -> Result<TypedId, SpirvError> {
        use AluOp::*;
        let truths = Self::truths(ty);
        let (zero, one) = (self.splat(ty, 0), self.splat(ty, 1));
        let (a, b) = (self.source(alu, 0, Class::Uint)?, self.source(alu, 1, Class::Uint)?);
        if matches!(alu.op, UaddCarry | UaddSat) {
            let sum = self.pure_of(Op::IAdd, ty, &[a, b]);
            let carries = self.pure_of(Op::ULessThan, truths, &[sum, a]);
            let (then, otherwise) = if alu.op == UaddCarry { (one, zero) } else { (self.splat(ty, u64::MAX), sum) };
            return Ok((self.pure_of(Op::Select, ty, &[carries, then, otherwise]), Class::Uint));
        }
        let is_less = if alu.op == UabsIsub {
            let (a, b) = (self.source(alu, 0, Class::Int)?, self.source(alu, 1, Class::Int)?);
            self.pure_of(Op::SLessThan, truths, &[a, b])
        } else {
            self.pure_of(Op::ULessThan, truths, &[a, b])
        };
        if alu.op == UsubBorrow {
            return Ok((self.pure_of(Op::Select, ty, &[is_less, one, zero]), Class::Uint));
        }
        let difference = self.pure_of(Op::ISub, ty, &[a, b]);
        let then = if alu.op == UsubSat { zero } else { self.pure_of(Op::ISub, ty, &[b, a]) };
        Ok((self.pure_of(Op::Select, ty, &[is_less, then, difference]), Class::Uint))
    }

    fn saturated_sum(&mut self, alu: &Alu, ty: ValueType) -> Result<TypedId, SpirvError> {
        let (a, b) = (self.source(alu, 0, Class::Int)?, self.source(alu, 1, Class::Int)?);
        let is_sum = alu.op == AluOp::IaddSat;
        let sum = self.pure_of(if is_sum { Op::IAdd } else { Op::ISub }, ty, &[a, b]);
        // The sum overflows if its sign differs from a's although b has the same sign; a difference, if b has the
        // opposite one.
        let from_a = self.pure_of(Op::BitwiseXor, ty, &[sum, a]);
        let other = self.pure_of(Op::BitwiseXor, ty, &[if is_sum { sum } else { a }, b]);
        let both = self.pure_of(Op::BitwiseAnd, ty, &[from_a, other]);
        let zero = self.splat(ty, 0);
        let overflows = self.pure_of(Op::SLessThan, Self::truths(ty), &[both, zero]);
        let count = self.splat(ValueType::UINT.with_components(ty.components), u64::from(ty.bits) - 1);
        let sign = self.pure_of(Op::ShiftRightArithmetic, ty, &[a, count]);
        let greatest = self.splat(ty, u64::MAX >> (65 - ty.bits));
        let limit = self.pure_of(Op::BitwiseXor, ty, &[sign, greatest]);
        Ok((self.pure_of(Op::Select, ty, &[overflows, limit, sum]), Class::Int))
    }

    /// Emits half the sum without overflow: `(a & b) + ((a ^ b) >> 1)`, or rounded up, `(a | b) - ((a ^ b) >> 1)`.
    fn average(&mut self, alu: &Alu, class: Class, up: bool) -> Result<TypedId, SpirvError> {
        let ty = self.type_of(alu.def, class);
        let (a, b) = (self.source(alu, 0, class)?, self.source(alu, 1, class)?);
        let shared = self.pure_of(if up { Op::BitwiseOr } else { Op::BitwiseAnd }, ty, &[a, b]);
        let rest = self.pure_of(Op::BitwiseXor, ty, &[a, b]);
        let one = self.splat(ValueType::UINT.with_components(ty.components), 1);
        let shift = if class == Class::Int { Op::ShiftRightArithmetic } else { Op::ShiftRightLogical };
        let half = self.pure_of(shift, ty, &[rest, one]);
        Ok((self.pure_of(if up { Op::ISub } else { Op::IAdd }, ty, &[shared, half]), class))
    }

    /// Returns the shift count of the bit group that source 1 selects, and whether that group exists.
    fn group(&mut self, alu: &Alu, ty: ValueType, bits: u8) -> Result<(Id, Id), SpirvError> {
        let uint = ValueType { class: Class::Uint, ..ty };
        let number = self.source(alu, 1, Class::Uint)?;
        let groups = self.splat(uint, u64::from(ty.bits / bits));
        let exists = self.pure_of(Op::ULessThan, Self::truths(ty), &[number, groups]);
        let (most, size) = (self.splat(uint, u64::from(ty.bits / bits) - 1), self.splat(uint, bits.into()));
        let number = self.pure_of(Op::BitwiseAnd, uint, &[number, most]);
        Ok((self.pure_of(Op::IMul, uint, &[number, size]), exists))
    }

    /// Emits the extraction of a bit group. Groups beyond the number give 0, or its sign.
    fn extracted(&mut self, alu: &Alu, class: Class, bits: u8) -> Result<TypedId, SpirvError> {
        let ty = self.type_of(alu.def, class);
        let a = self.source(alu, 0, class)?;
        let (count, exists) = self.group(alu, ty, bits)?;
        let signed = class == Class::Int;
        let shifted =
            self.pure_of(if signed { Op::ShiftRightArithmetic } else { Op::ShiftRightLogical }, ty, &[a, count]);
        let group = self.low_bits(shifted, ty, bits, signed);
        let beyond = if signed {
            let count = self.splat(ValueType { class: Class::Uint, ..ty }, u64::from(ty.bits) - 1);
            self.pure_of(Op::ShiftRightArithmetic, ty, &[a, count])
        } else {
            self.splat(ty, 0)
        };
        Ok((self.pure_of(Op::Select, ty, &[exists, group, beyond]), class))
    }

    fn inserted(&mut self, alu: &Alu, ty: ValueType, bits: u8) -> Result<TypedId, SpirvError> {
        let a = self.source(alu, 0, Class::Uint)?;
        let (count, exists) = self.group(alu, ty, bits)?;
        let low = self.low_bits(a, ty, bits, false);
        let moved = self.pure_of(Op::ShiftLeftLogical, ty, &[low, count]);
        let zero = self.splat(ty, 0);
        Ok((self.pure_of(Op::Select, ty, &[exists, moved, zero]), Class::Uint))
    }
}

/// The requested part of a division.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DivisionResult {
    Quotient,
    /// With the sign of the dividend.
    Remainder,
    /// With the sign of the divisor.
    Modulus,
}

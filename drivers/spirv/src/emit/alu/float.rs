//! Float arithmetic.

use spirv::{GlslStd450Op, Op};
use tgsi_ir::alu::AluOp;
use tgsi_ir::analysis::float_range::FloatRange;
use tgsi_ir::builder::AluSrc;

use super::{Alu, Emitter, TypedId};
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    /// Emits component-wise float operations.
    pub(super) fn float(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        use AluOp::*;
        let ty = self.type_of(alu.def, Class::Float);
        let id = match alu.op {
            Fneg => self.unary(alu, Op::FNegate)?,
            Fabs => self.glsl_unary(alu, GlslStd450Op::FAbs)?,
            Fsat => self.clamped(alu, ty, 0.0)?,
            FsatSigned => self.clamped(alu, ty, -1.0)?,
            FclampPos => {
                let (a, zero) = (self.source(alu, 0, Class::Float)?, self.real(ty, 0.0));
                self.glsl(GlslStd450Op::NMax, ty, &[a, zero])
            }
            Fsign if self.options.unguarded => self.glsl_unary(alu, GlslStd450Op::FSign)?,
            Fsign => self.float_sign(alu, ty)?,
            Frcp => {
                let (one, a) = (self.real(ty, 1.0), self.source(alu, 0, Class::Float)?);
                self.rounded(alu.exact, Op::FDiv, ty, &[one, a])
            }
            // The precision of `InverseSqrt` is specified for 32 bits only.
            Frsq if ty.bits == 64 => {
                let (one, root) = (self.real(ty, 1.0), self.glsl_unary(alu, GlslStd450Op::Sqrt)?);
                self.rounded(alu.exact, Op::FDiv, ty, &[one, root])
            }
            Frsq => self.glsl_unary(alu, GlslStd450Op::InverseSqrt)?,
            Fsqrt => self.glsl_unary(alu, GlslStd450Op::Sqrt)?,
            Fexp2 => self.in_single(alu, ty, GlslStd450Op::Exp2)?,
            Flog2 => self.in_single(alu, ty, GlslStd450Op::Log2)?,
            Fsin if ty.bits == 32 => self.glsl_unary(alu, GlslStd450Op::Sin)?,
            Fcos if ty.bits == 32 => self.glsl_unary(alu, GlslStd450Op::Cos)?,
            Ftrunc => self.glsl_unary(alu, GlslStd450Op::Trunc)?,
            Fceil => self.glsl_unary(alu, GlslStd450Op::Ceil)?,
            Ffloor => self.glsl_unary(alu, GlslStd450Op::Floor)?,
            // Some devices keep the result of `Fract` below 1, but `x - floor(x)` of a tiny negative number is 1.
            Ffract if alu.exact => {
                let (a, floor) = (self.source(alu, 0, Class::Float)?, self.glsl_unary(alu, GlslStd450Op::Floor)?);
                self.rounded(true, Op::FSub, ty, &[a, floor])
            }
            Ffract => self.glsl_unary(alu, GlslStd450Op::Fract)?,
            FroundEven => self.glsl_unary(alu, GlslStd450Op::RoundEven)?,
            Fquantize2f16 if ty.bits == 32 => self.unary(alu, Op::QuantizeToF16)?,
            FrexpExp | FrexpSig => return self.frexp(alu),
            Fadd => self.float_binary(alu, Op::FAdd)?,
            Fsub => self.float_binary(alu, Op::FSub)?,
            Fmul => self.float_binary(alu, Op::FMul)?,
            Fdiv => self.quotient(alu, ty)?,
            Fmulz => self.product_or_zero(alu, ty)?,
            Fmod => self.float_remainder(alu, ty, GlslStd450Op::Floor)?,
            Frem => self.float_remainder(alu, ty, GlslStd450Op::Trunc)?,
            Fpow if self.options.unguarded => self.glsl_binary(alu, GlslStd450Op::Pow, Class::Float)?,
            Fpow if ty.bits == 32 => self.power(alu, ty)?,
            Fmin => self.glsl_binary(alu, GlslStd450Op::NMin, Class::Float)?,
            Fmax => self.glsl_binary(alu, GlslStd450Op::NMax, Class::Float)?,
            Ffma => {
                let [a, b, c] = self.three(alu)?;
                self.fused(ty, a, b, c)
            }
            Ffmaz => {
                let [a, b, c] = self.three(alu)?;
                let (fused, zero) = (self.fused(ty, a, b, c), self.real(ty, 0.0));
                let summand = self.rounded(true, Op::FAdd, ty, &[zero, c]);
                self.unless_zero(alu, ty, (a, b), fused, summand)
            }
            Fmad => {
                let [a, b, c] = self.three(alu)?;
                let product = self.rounded(alu.exact, Op::FMul, ty, &[a, b]);
                self.rounded(alu.exact, Op::FAdd, ty, &[product, c])
            }
            Fmadz => {
                let c = self.source(alu, 2, Class::Float)?;
                let product = self.product_or_zero(alu, ty)?;
                self.rounded(alu.exact, Op::FAdd, ty, &[product, c])
            }
            FlrpMad | FlrpMadz => {
                let [a, b, c] = self.three(alu)?;
                if alu.op == FlrpMad && self.options.unguarded {
                    return Ok((self.rounded_glsl(alu.exact, GlslStd450Op::FMix, ty, &[c, b, a]), Class::Float));
                }
                let difference = self.rounded(alu.exact, Op::FSub, ty, &[b, c]);
                let mut product = self.rounded(alu.exact, Op::FMul, ty, &[a, difference]);
                if alu.op == FlrpMadz {
                    let zero = self.real(ty, 0.0);
                    let test = self.any_zero(ty, &[a, difference]);
                    product = self.pure_of(Op::Select, ty, &[test, zero, product]);
                }
                self.rounded(alu.exact, Op::FAdd, ty, &[product, c])
            }
            Flrp => {
                let [a, b, c] = self.three(alu)?;
                let one = self.real(ty, 1.0);
                let rest = self.rounded(alu.exact, Op::FSub, ty, &[one, c]);
                let first = self.rounded(alu.exact, Op::FMul, ty, &[a, rest]);
                let second = self.rounded(alu.exact, Op::FMul, ty, &[b, c]);
                self.rounded(alu.exact, Op::FAdd, ty, &[first, second])
            }
            Fdot2Mad | Fdot3Mad | Fdot4Mad | Fdot2Madz | Fdot3Madz | Fdot4Madz | Fdot2MadReplicated
            | Fdot3MadReplicated | Fdot4MadReplicated | Fdot2MadzReplicated | Fdot3MadzReplicated
            | Fdot4MadzReplicated => return self.horizontal(alu),
            _ => return Err(self.no_form(alu)),
        };
        Ok((id, Class::Float))
    }

    /// Emits an operation on source 0 with a result of the same type.
    fn unary(&mut self, alu: &Alu, op: Op) -> Result<Id, SpirvError> {
        let a = self.source(alu, 0, Class::Float)?;
        Ok(self.rounded(alu.exact && op == Op::FNegate, op, self.type_of(alu.def, Class::Float), &[a]))
    }

    /// Emits a unary `GLSL.std.450` operation on source 0.
    fn glsl_unary(&mut self, alu: &Alu, op: GlslStd450Op) -> Result<Id, SpirvError> {
        let a = self.source(alu, 0, Class::Float)?;
        Ok(self.glsl(op, self.type_of(alu.def, Class::Float), &[a]))
    }

    fn float_binary(&mut self, alu: &Alu, op: Op) -> Result<Id, SpirvError> {
        let (a, b) = (self.source(alu, 0, Class::Float)?, self.source(alu, 1, Class::Float)?);
        Ok(self.rounded(alu.exact, op, self.type_of(alu.def, Class::Float), &[a, b]))
    }

    /// Emits a `GLSL.std.450` operation on two sources of the result's class.
    pub(super) fn glsl_binary(&mut self, alu: &Alu, op: GlslStd450Op, class: Class) -> Result<Id, SpirvError> {
        let (a, b) = (self.source(alu, 0, class)?, self.source(alu, 1, class)?);
        Ok(self.glsl(op, self.type_of(alu.def, class), &[a, b]))
    }

    /// Emits `FDiv`. Division by a constant zero becomes multiplication by infinity, which is equivalent: lavapipe
    /// turns the division into something undefined.
    fn quotient(&mut self, alu: &Alu, ty: ValueType) -> Result<Id, SpirvError> {
        let is_zero = |bits: u64| bits << (64 - u32::from(ty.bits)) << 1 == 0;
        let divisors = self.source_constant(alu, 1).filter(|bits| bits.iter().any(|&bits| is_zero(bits)));
        let Some(divisors) = divisors else { return self.float_binary(alu, Op::FDiv) };
        let a = self.source(alu, 0, Class::Float)?;
        let wide = ty.bits == 64;
        let infinity = if wide { f64::INFINITY.to_bits() } else { f32::INFINITY.to_bits().into() };
        let one = if wide { 1f64.to_bits() } else { 1f32.to_bits().into() };
        let factors: Vec<u64> = divisors.iter().map(|&d| if is_zero(d) { infinity | d } else { one }).collect();
        let factors = self.constant(ty, &factors);
        let product = self.rounded(alu.exact, Op::FMul, ty, &[a, factors]);
        if divisors.iter().all(|&d| is_zero(d)) {
            return Ok(product);
        }
        let others: Vec<u64> = divisors.iter().map(|&d| if is_zero(d) { one } else { d }).collect();
        let others = self.constant(ty, &others);
        let quotient = self.rounded(alu.exact, Op::FDiv, ty, &[a, others]);
        let zeros: Vec<u64> = divisors.iter().map(|&d| u64::from(is_zero(d))).collect();
        let zeros = self.constant(Self::truths(ty), &zeros);
        Ok(self.pure_of(Op::Select, ty, &[zeros, product, quotient]))
    }

    fn three(&mut self, alu: &Alu) -> Result<[Id; 3], SpirvError> {
        Ok([self.source(alu, 0, Class::Float)?, self.source(alu, 1, Class::Float)?, self.source(alu, 2, Class::Float)?])
    }

    /// Clamps to `least`..=1; NaN becomes `least`.
    fn clamped(&mut self, alu: &Alu, ty: ValueType, least: f64) -> Result<Id, SpirvError> {
        let a = self.source(alu, 0, Class::Float)?;
        let (least, one) = (self.real(ty, least), self.real(ty, 1.0));
        Ok(self.glsl(GlslStd450Op::NClamp, ty, &[a, least, one]))
    }

    /// Returns the known range of the values of source `number`.
    pub(super) fn range_of(&mut self, alu: &Alu, number: usize) -> FloatRange {
        let source = AluSrc::of(self.body, self.body.source(alu.inst, number));
        let count = self.body.alu_src_components(alu.inst, number);
        self.arithmetic.ranges.of(self.body, source, count)
    }

    /// Emits `FSign`, except that zeros keep their sign and NaN gives 0.
    fn float_sign(&mut self, alu: &Alu, ty: ValueType) -> Result<Id, SpirvError> {
        let (a, zero) = (self.source(alu, 0, Class::Float)?, self.real(ty, 0.0));
        let range = self.range_of(alu, 0);
        let truths = Self::truths(ty);
        let mut sign = self.glsl(GlslStd450Op::FSign, ty, &[a]);
        if range.may_be(FloatRange::NAN) {
            let is_number = self.pure_of(Op::FOrdEqual, truths, &[a, a]);
            sign = self.pure_of(Op::Select, ty, &[is_number, sign, zero]);
        }
        if range.may_be(FloatRange::ZERO) {
            let is_zero = self.pure_of(Op::FOrdEqual, truths, &[a, zero]);
            sign = self.pure_of(Op::Select, ty, &[is_zero, a, sign]);
        }
        Ok(sign)
    }

    /// Emits an operation that exists in 32 bits only; the IR computes it in 32 bits, too.
    fn in_single(&mut self, alu: &Alu, ty: ValueType, op: GlslStd450Op) -> Result<Id, SpirvError> {
        let a = self.source(alu, 0, Class::Float)?;
        let single = ValueType { bits: 32, ..ty };
        let a = self.converted(a, ty, 32);
        let id = self.glsl(op, single, &[a]);
        Ok(self.converted(id, single, ty.bits))
    }

    /// Converts a float to another size.
    pub(super) fn converted(&mut self, id: Id, ty: ValueType, bits: u8) -> Id {
        if ty.bits == bits { id } else { self.pure_of(Op::FConvert, ValueType { bits, ..ty }, &[id]) }
    }

    /// Emits whether any of the operands is zero.
    fn any_zero(&mut self, ty: ValueType, operands: &[Id]) -> Id {
        let (truths, zero) = (Self::truths(ty), self.real(ty, 0.0));
        let mut any = None;
        for &operand in operands {
            let test = self.pure_of(Op::FOrdEqual, truths, &[operand, zero]);
            any = Some(match any {
                None => test,
                Some(other) if other == test => test,
                Some(other) => self.pure_of(Op::LogicalOr, truths, &[other, test]),
            });
        }
        any.unwrap_or_else(|| self.splat(truths, 0))
    }

    /// Emits `value`, or `otherwise` where source 0 or 1 is zero.
    fn unless_zero(&mut self, alu: &Alu, ty: ValueType, (a, b): (Id, Id), value: Id, otherwise: Id) -> Id {
        let may_be_zero: smallvec::SmallVec<[Id; 2]> = [(0, a), (1, b)]
            .into_iter()
            .filter(|&(number, _)| self.range_of(alu, number).may_be(FloatRange::ZERO))
            .map(|(_, id)| id)
            .collect();
        if may_be_zero.is_empty() {
            return value;
        }
        let test = self.any_zero(ty, &may_be_zero);
        self.pure_of(Op::Select, ty, &[test, otherwise, value])
    }

    /// Emits the product of sources 0 and 1, where zero times anything is zero.
    pub(super) fn product_or_zero(&mut self, alu: &Alu, ty: ValueType) -> Result<Id, SpirvError> {
        let (a, b) = (self.source(alu, 0, Class::Float)?, self.source(alu, 1, Class::Float)?);
        let product = self.rounded(alu.exact, Op::FMul, ty, &[a, b]);
        let zero = self.real(ty, 0.0);
        Ok(self.unless_zero(alu, ty, (a, b), product, zero))
    }

    /// Emits `a - b * whole(a / b)`, where `whole` is computed in 32 bits.
    fn float_remainder(&mut self, alu: &Alu, ty: ValueType, whole: GlslStd450Op) -> Result<Id, SpirvError> {
        let (a, b) = (self.source(alu, 0, Class::Float)?, self.source(alu, 1, Class::Float)?);
        let single = ValueType { bits: 32, ..ty };
        let quotient = self.rounded(alu.exact, Op::FDiv, ty, &[a, b]);
        let quotient = self.converted(quotient, ty, 32);
        let quotient = self.glsl(whole, single, &[quotient]);
        let quotient = self.converted(quotient, single, ty.bits);
        let product = self.rounded(alu.exact, Op::FMul, ty, &[b, quotient]);
        Ok(self.rounded(alu.exact, Op::FSub, ty, &[a, product]))
    }

    /// Emits `fpow`. SPIR-V leaves `Pow` undefined for exponents of 0, negative powers of 0, infinite powers of 1, and
    /// negative bases, which have powers with integer exponents. Code for negative bases is emitted only where the
    /// instruction is exact.
    fn power(&mut self, alu: &Alu, ty: ValueType) -> Result<Id, SpirvError> {
        let (a, b) = (self.source(alu, 0, Class::Float)?, self.source(alu, 1, Class::Float)?);
        let (truths, zero, one) = (Self::truths(ty), self.real(ty, 0.0), self.real(ty, 1.0));
        let exponent = self.range_of(alu, 1);
        let is_fraction = self.all_constants(alu, 1, |bits| f32::from_bits(bits as u32).fract() != 0.0);
        let may_be_negative = self.range_of(alu, 0).may_be(FloatRange::NEGATIVE);
        let mut power = if alu.exact && may_be_negative && !is_fraction {
            let magnitude = self.glsl(GlslStd450Op::FAbs, ty, &[a]);
            let power = self.glsl(GlslStd450Op::Pow, ty, &[magnitude, b]);
            let is_one = self.pure_of(Op::FOrdEqual, truths, &[magnitude, one]);
            let power = self.pure_of(Op::Select, ty, &[is_one, one, power]);
            // An exponent is odd if half of it is not an integer. A negative base with a fractional exponent gives NaN.
            let half = self.real(ty, 0.5);
            let half = self.pure_of(Op::FMul, ty, &[b, half]);
            let whole = self.glsl(GlslStd450Op::Floor, ty, &[half]);
            let is_even = self.pure_of(Op::FOrdEqual, truths, &[half, whole]);
            let negated = self.pure_of(Op::FNegate, ty, &[power]);
            let signed = self.pure_of(Op::Select, ty, &[is_even, power, negated]);
            let whole = self.glsl(GlslStd450Op::Floor, ty, &[b]);
            let is_whole = self.pure_of(Op::FOrdEqual, truths, &[b, whole]);
            let nan = self.splat(ty, f32::NAN.to_bits().into());
            let signed = self.pure_of(Op::Select, ty, &[is_whole, signed, nan]);
            let is_negative = self.pure_of(Op::FOrdLessThan, truths, &[a, zero]);
            self.pure_of(Op::Select, ty, &[is_negative, signed, power])
        } else {
            let power = self.glsl(GlslStd450Op::Pow, ty, &[a, b]);
            // `Pow` multiplies the exponent by the logarithm, here 0, which gives NaN for an infinite or NaN exponent.
            let may_be_nan = exponent.may_be(FloatRange::INFINITE.or(FloatRange::NAN));
            if may_be_nan && self.range_of(alu, 0).may_be(FloatRange::POSITIVE) {
                let is_one = self.pure_of(Op::FOrdEqual, truths, &[a, one]);
                self.pure_of(Op::Select, ty, &[is_one, one, power])
            } else {
                power
            }
        };
        if exponent.may_be(FloatRange::NEGATIVE) && self.range_of(alu, 0).may_be(FloatRange::ZERO) {
            let mut of_zero = self.real(ty, f64::INFINITY);
            if exponent.may_be(FloatRange::ZERO.or(FloatRange::POSITIVE).or(FloatRange::NAN)) {
                let is_negative = self.pure_of(Op::FOrdLessThan, truths, &[b, zero]);
                of_zero = self.pure_of(Op::Select, ty, &[is_negative, of_zero, zero]);
            }
            let is_zero = self.pure_of(Op::FOrdEqual, truths, &[a, zero]);
            power = self.pure_of(Op::Select, ty, &[is_zero, of_zero, power]);
        }
        if exponent.may_be(FloatRange::ZERO) {
            let is_zero = self.pure_of(Op::FOrdEqual, truths, &[b, zero]);
            power = self.pure_of(Op::Select, ty, &[is_zero, one, power]);
        }
        Ok(power)
    }

    /// Emits `frexp_sig`, `frexp_exp`. Infinities and NaN, for which `FrexpStruct` is undefined, are their own
    /// significand, with exponent 0.
    fn frexp(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        let a = self.source(alu, 0, Class::Float)?;
        let ty = self.source_type(alu, 0, Class::Float);
        let exponents = ValueType { class: Class::Int, bits: 32, ..ty };
        let (fraction_id, exponent_id) = (self.module.value_type(ty), self.module.value_type(exponents));
        let both = self.module.plain_type(Op::TypeStruct, &[fraction_id.0, exponent_id.0]);
        let set = self.module.glsl();
        let parts = self.pure(Op::ExtInst, both, &[set.0, GlslStd450Op::FrexpStruct as u32, a.0]);
        let is_finite = self.is_finite(a, ty);
        if alu.op == AluOp::FrexpSig {
            let fraction = self.pure(Op::CompositeExtract, fraction_id, &[parts.0, 0]);
            return Ok((self.pure_of(Op::Select, ty, &[is_finite, fraction, a]), Class::Float));
        }
        let exponent = self.pure(Op::CompositeExtract, exponent_id, &[parts.0, 1]);
        let zero = self.splat(exponents, 0);
        Ok((self.pure_of(Op::Select, exponents, &[is_finite, exponent, zero]), Class::Int))
    }

    /// Emits whether a float is neither infinite nor NaN.
    pub(super) fn is_finite(&mut self, a: Id, ty: ValueType) -> Id {
        let magnitude = self.glsl(GlslStd450Op::FAbs, ty, &[a]);
        let greatest = self.real(ty, if ty.bits == 64 { f64::MAX } else { f32::MAX.into() });
        self.pure_of(Op::FOrdLessThanEqual, Self::truths(ty), &[magnitude, greatest])
    }

    /// Emits `fisfinite`, `fisnormal`.
    pub(super) fn float_test(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        let a = self.source(alu, 0, Class::Float)?;
        let ty = self.source_type(alu, 0, Class::Float);
        let mut test = self.is_finite(a, ty);
        match alu.op {
            AluOp::Fisfinite | AluOp::Fisfinite32 => {}
            AluOp::Fisnormal => {
                let magnitude = self.glsl(GlslStd450Op::FAbs, ty, &[a]);
                let least = if ty.bits == 64 { f64::MIN_POSITIVE } else { f32::MIN_POSITIVE.into() };
                let least = self.real(ty, least);
                let is_above = self.pure_of(Op::FOrdGreaterThanEqual, Self::truths(ty), &[magnitude, least]);
                test = self.pure_of(Op::LogicalAnd, Self::truths(ty), &[test, is_above]);
            }
            _ => return Err(self.no_form(alu)),
        }
        Ok(self.truth(alu, test))
    }
}

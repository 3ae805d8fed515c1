//! Comparisons, and selections that compare.
//!
//! Some translators confuse ordered with unordered comparisons. For them, `portable` emits only ordered comparisons,
//! equality and negations, which all support.

use spirv::Op;
use tgsi_ir::alu::AluOp;

use super::{Alu, Emitter, TypedId};
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    /// Returns a condition as the result of an instruction: a boolean, or all ones and zero.
    pub(super) fn truth(&mut self, alu: &Alu, condition: Id) -> (Id, Class) {
        if self.body.bit_size(alu.def) == 1 {
            return (condition, Class::Bool);
        }
        let ty = self.type_of(alu.def, Class::Uint);
        let (ones, zero) = (self.splat(ty, u64::MAX), self.splat(ty, 0));
        (self.pure_of(Op::Select, ty, &[condition, ones, zero]), Class::Uint)
    }

    /// Emits component-wise comparisons.
    pub(super) fn comparison(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        use AluOp::*;
        let test = match alu.op {
            Bitnz | Bitnz32 | Bitz | Bitz32 => self.bit_test(alu)?,
            Ilt | Ilt32 | Ige | Ige32 | Ieq | Ieq32 | Ine | Ine32 | Ult | Ult32 | Uge | Uge32 => {
                self.integer_comparison(alu)?
            }
            _ => {
                let (a, b) = (self.source(alu, 0, Class::Float)?, self.source(alu, 1, Class::Float)?);
                self.float_comparison(alu, a, b)?
            }
        };
        Ok(self.truth(alu, test))
    }

    fn float_comparison(&mut self, alu: &Alu, a: Id, b: Id) -> Result<Id, SpirvError> {
        use AluOp::*;
        let truths = Self::truths(self.source_type(alu, 0, Class::Float));
        let portable = self.options.portable;
        let mut compare = |op: Op| self.pure_of(op, truths, &[a, b]);
        Ok(match alu.op {
            Flt | Flt32 => compare(Op::FOrdLessThan),
            Fge | Fge32 => compare(Op::FOrdGreaterThanEqual),
            Feq | Feq32 => compare(Op::FOrdEqual),
            Fneu | Fneu32 => compare(Op::FUnordNotEqual),
            Fltu | Fltu32 | Fgeu | Fgeu32 if portable => {
                let is_less = matches!(alu.op, Fltu | Fltu32);
                let other = compare(if is_less { Op::FOrdGreaterThanEqual } else { Op::FOrdLessThan });
                self.pure_of(Op::LogicalNot, truths, &[other])
            }
            Fltu | Fltu32 => compare(Op::FUnordLessThan),
            Fgeu | Fgeu32 => compare(Op::FUnordGreaterThanEqual),
            Fequ | Fequ32 | Fneo | Fneo32 if portable => {
                let (less, greater) = (compare(Op::FOrdLessThan), compare(Op::FOrdGreaterThan));
                let differs = self.pure_of(Op::LogicalOr, truths, &[less, greater]);
                match alu.op {
                    Fneo | Fneo32 => differs,
                    _ => self.pure_of(Op::LogicalNot, truths, &[differs]),
                }
            }
            Fequ | Fequ32 => compare(Op::FUnordEqual),
            Fneo | Fneo32 => compare(Op::FOrdNotEqual),
            Funord | Funord32 => self.both_with_themselves(truths, a, b, Op::FUnordNotEqual, Op::LogicalOr),
            Ford | Ford32 => self.both_with_themselves(truths, a, b, Op::FOrdEqual, Op::LogicalAnd),
            _ => return Err(self.no_form(alu)),
        })
    }

    /// Compares each operand with itself: a NaN does not equal itself. (`OpOrdered` is not available to shaders.)
    fn both_with_themselves(&mut self, truths: ValueType, a: Id, b: Id, compare: Op, join: Op) -> Id {
        let first = self.pure_of(compare, truths, &[a, a]);
        if a == b {
            return first;
        }
        let second = self.pure_of(compare, truths, &[b, b]);
        self.pure_of(join, truths, &[first, second])
    }

    fn integer_comparison(&mut self, alu: &Alu) -> Result<Id, SpirvError> {
        use AluOp::*;
        let truths = Self::truths(self.source_type(alu, 0, Class::Uint));
        if truths.bits == self.source_bits(alu, 0) {
            return self.boolean_comparison(alu);
        }
        let (op, class) = match alu.op {
            Ilt | Ilt32 => (Op::SLessThan, Class::Int),
            Ige | Ige32 => (Op::SGreaterThanEqual, Class::Int),
            Ult | Ult32 => (Op::ULessThan, Class::Uint),
            Uge | Uge32 => (Op::UGreaterThanEqual, Class::Uint),
            Ieq | Ieq32 => (Op::IEqual, self.available_class(alu, 0)),
            Ine | Ine32 => (Op::INotEqual, self.available_class(alu, 0)),
            _ => return Err(self.no_form(alu)),
        };
        let (a, b) = (self.source(alu, 0, class)?, self.source(alu, 1, class)?);
        Ok(self.pure_of(op, truths, &[a, b]))
    }

    /// Emits `a & 1 << b`, compared with 0.
    fn bit_test(&mut self, alu: &Alu) -> Result<Id, SpirvError> {
        let is_set = matches!(alu.op, AluOp::Bitnz | AluOp::Bitnz32);
        let ty = self.source_type(alu, 0, Class::Uint);
        let truths = Self::truths(ty);
        let a = self.source(alu, 0, Class::Uint)?;
        if ty.bits == 1 {
            return Ok(if is_set { a } else { self.pure_of(Op::LogicalNot, truths, &[a]) });
        }
        let count = self.shift_count(alu, 1, ty.bits)?;
        let (one, zero) = (self.splat(ty, 1), self.splat(ty, 0));
        let bit = self.pure_of(Op::ShiftLeftLogical, ty, &[one, count]);
        let masked = self.pure_of(Op::BitwiseAnd, ty, &[a, bit]);
        Ok(self.pure_of(if is_set { Op::INotEqual } else { Op::IEqual }, truths, &[masked, zero]))
    }

    /// Emits `slt`, `sge`, `seq`, `sne`.
    pub(super) fn comparison_to_float(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        let (a, b) = (self.source(alu, 0, Class::Float)?, self.source(alu, 1, Class::Float)?);
        let op = match alu.op {
            AluOp::Slt => Op::FOrdLessThan,
            AluOp::Sge => Op::FOrdGreaterThanEqual,
            AluOp::Seq => Op::FOrdEqual,
            AluOp::Sne => Op::FUnordNotEqual,
            _ => return Err(self.no_form(alu)),
        };
        let ty = self.type_of(alu.def, Class::Float);
        let test = self.pure_of(op, Self::truths(ty), &[a, b]);
        Ok((self.one_or_zero(ty, test), Class::Float))
    }

    /// Selects 1.0 or 0.0.
    pub(super) fn one_or_zero(&mut self, ty: ValueType, condition: Id) -> Id {
        let (one, zero) = (self.real(ty, 1.0), self.real(ty, 0.0));
        self.pure_of(Op::Select, ty, &[condition, one, zero])
    }

    /// Emits comparisons over all components of vectors.
    pub(super) fn comparison_of_vectors(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        use AluOp::*;
        let (float, all) = match alu.op {
            BallFequal2 | BallFequal3 | BallFequal4 | B32allFequal2 | B32allFequal3 | B32allFequal4 | FallEqual2
            | FallEqual3 | FallEqual4 => (true, true),
            BanyFnequal2 | BanyFnequal3 | BanyFnequal4 | B32anyFnequal2 | B32anyFnequal3 | B32anyFnequal4
            | FanyNequal2 | FanyNequal3 | FanyNequal4 => (true, false),
            BallIequal2 | BallIequal3 | BallIequal4 | B32allIequal2 | B32allIequal3 | B32allIequal4 => (false, true),
            BanyInequal2 | BanyInequal3 | BanyInequal4 | B32anyInequal2 | B32anyInequal3 | B32anyInequal4 => {
                (false, false)
            }
            _ => return Err(self.no_form(alu)),
        };
        let class = if float { Class::Float } else { self.available_class(alu, 0) };
        let ty = self.source_type(alu, 0, class);
        let op = match (ty.class, all) {
            (Class::Float, true) => Op::FOrdEqual,
            (Class::Float, false) => Op::FUnordNotEqual,
            (Class::Bool, true) => Op::LogicalEqual,
            (Class::Bool, false) => Op::LogicalNotEqual,
            (_, true) => Op::IEqual,
            (_, false) => Op::INotEqual,
        };
        let (a, b) = (self.source(alu, 0, class)?, self.source(alu, 1, class)?);
        let tests = self.pure_of(op, Self::truths(ty), &[a, b]);
        let test = self.pure_of(if all { Op::All } else { Op::Any }, ValueType::BOOL, &[tests]);
        if alu.op.info().output_type.base == tgsi_ir::alu::BaseType::Float {
            let ty = self.type_of(alu.def, Class::Float);
            return Ok((self.one_or_zero(ty, test), Class::Float));
        }
        Ok(self.truth(alu, test))
    }

    /// Emits selections by a numeric condition.
    pub(super) fn selection(&mut self, alu: &Alu) -> Result<TypedId, SpirvError> {
        use AluOp::*;
        let (op, tested) = match alu.op {
            B32csel | B32fcselMdg => (Op::INotEqual, Class::Uint),
            Fcsel => (Op::FUnordNotEqual, Class::Float),
            FcselGt => (Op::FOrdGreaterThan, Class::Float),
            FcselGe => (Op::FOrdGreaterThanEqual, Class::Float),
            IcselEqz => (Op::IEqual, self.available_class(alu, 0)),
            I32cselGt => (Op::SGreaterThan, Class::Int),
            I32cselGe => (Op::SGreaterThanEqual, Class::Int),
            _ => return Err(self.no_form(alu)),
        };
        let condition_type = self.source_type(alu, 0, tested);
        let condition = self.source(alu, 0, tested)?;
        let test = if condition_type.class == Class::Bool {
            self.pure_of(Op::LogicalNot, condition_type, &[condition])
        } else {
            let zero = self.splat(condition_type, 0);
            self.pure_of(op, Self::truths(condition_type), &[condition, zero])
        };
        let class = self.classes.get(alu.def);
        let (b, c) = (self.source(alu, 1, class)?, self.source(alu, 2, class)?);
        Ok((self.pure_of(Op::Select, self.type_of(alu.def, class), &[test, b, c]), class))
    }
}

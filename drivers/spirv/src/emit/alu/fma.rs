//! Fused multiply-add, which rounds once.
//!
//! No version of SPIR-V guarantees that `Fma` does (some devices multiply, then add), so it is emitted only for targets
//! that declare it fused. Elsewhere the single rounding is emulated with operations that are exact or rounded to odd
//! (Boldo and Melquiond, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd"):
//!
//! - in 32 bits, the product is exact in 64, and the sum is correct once it is rounded to odd;
//! - in 64 bits, product and sums are pairs of numbers. The result is rounded twice if an intermediate overflows, or if
//!   the product is so small that its lower part is lost.
//!
//! Without 64-bit floats, 32-bit operations use `Fma`: such targets serve translators to other languages, which do not
//! keep the order of sums either.

use spirv::{GlslStd450Op, Op};

use super::Emitter;
use crate::module::{Class, Id, ValueType};

const DOUBLE: ValueType = ValueType::new(Class::Float, 64, 1);
const WORDS: ValueType = ValueType::new(Class::Uint, 32, 2);
/// `2^27 + 1`: the factor that splits a 64-bit float into two of 26 bits.
const SPLITTER: f64 = 134_217_729.0;
/// `2^-960`: the lower part of a larger product is a normal number.
const LEAST_PRODUCT: u64 = (1023 - 960) << 52;

impl Emitter<'_> {
    /// Emits `a * b + c`, rounded once.
    pub(super) fn fused(&mut self, ty: ValueType, a: Id, b: Id, c: Id) -> Id {
        if self.options.fused_fma || !self.options.float64 {
            return self.rounded_glsl(true, GlslStd450Op::Fma, ty, &[a, b, c]);
        }
        let parts: smallvec::SmallVec<[Id; 4]> = (0..ty.components)
            .map(|number| {
                let [a, b, c] = [a, b, c].map(|id| self.part(id, ty, number));
                if ty.bits == 64 { self.fused_double(a, b, c) } else { self.fused_single(ty.scalar(), a, b, c) }
            })
            .collect();
        self.construct(ty.scalar(), &parts)
    }

    fn fused_single(&mut self, ty: ValueType, a: Id, b: Id, c: Id) -> Id {
        let [a, b, c] = [a, b, c].map(|id| self.converted(id, ty, 64));
        let product = self.exactly(Op::FMul, a, b);
        let sum = self.odd_sum(product, c);
        self.converted(sum, DOUBLE, 32)
    }

    fn fused_double(&mut self, a: Id, b: Id, c: Id) -> Id {
        let (product, rest) = self.whole_product(a, b);
        let (middle, low) = self.whole_sum(c, rest);
        let (high, middle) = self.whole_sum(product, middle);
        let tail = self.odd_sum(low, middle);
        let fused = self.exactly(Op::FAdd, high, tail);
        let plain = self.exactly(Op::FAdd, product, c);

        let size = self.glsl(GlslStd450Op::FAbs, DOUBLE, &[product]);
        let least = self.splat(DOUBLE, LEAST_PRODUCT);
        let is_large = self.pure_of(Op::FOrdGreaterThanEqual, ValueType::BOOL, &[size, least]);
        let is_finite = self.is_finite(fused, DOUBLE);
        let holds = self.pure_of(Op::LogicalAnd, ValueType::BOOL, &[is_large, is_finite]);
        self.pure_of(Op::Select, DOUBLE, &[holds, fused, plain])
    }

    fn exactly(&mut self, op: Op, a: Id, b: Id) -> Id {
        self.rounded(true, op, DOUBLE, &[a, b])
    }

    /// Emits a sum and its rounding error (Knuth).
    fn whole_sum(&mut self, a: Id, b: Id) -> (Id, Id) {
        let sum = self.exactly(Op::FAdd, a, b);
        let of_b = self.exactly(Op::FSub, sum, a);
        let of_a = self.exactly(Op::FSub, sum, of_b);
        let (rest_a, rest_b) = (self.exactly(Op::FSub, a, of_a), self.exactly(Op::FSub, b, of_b));
        (sum, self.exactly(Op::FAdd, rest_a, rest_b))
    }

    /// Emits a product and its rounding error (Dekker).
    fn whole_product(&mut self, a: Id, b: Id) -> (Id, Id) {
        let product = self.exactly(Op::FMul, a, b);
        let ((a_high, a_low), (b_high, b_low)) = (self.halves(a), self.halves(b));
        let mut rest = self.exactly(Op::FMul, a_high, b_high);
        rest = self.exactly(Op::FSub, product, rest);
        for (a, b) in [(a_low, b_high), (a_high, b_low)] {
            let part = self.exactly(Op::FMul, a, b);
            rest = self.exactly(Op::FSub, rest, part);
        }
        let part = self.exactly(Op::FMul, a_low, b_low);
        (product, self.exactly(Op::FSub, part, rest))
    }

    fn halves(&mut self, a: Id) -> (Id, Id) {
        let splitter = self.real(DOUBLE, SPLITTER);
        let scaled = self.exactly(Op::FMul, splitter, a);
        let rest = self.exactly(Op::FSub, scaled, a);
        let high = self.exactly(Op::FSub, scaled, rest);
        (high, self.exactly(Op::FSub, a, high))
    }

    /// Emits the sum of 64-bit floats, rounded to odd: an inexact sum is truncated and its last bit set. A later
    /// rounding to fewer bits then gives the same result as a single rounding of the exact sum.
    fn odd_sum(&mut self, a: Id, b: Id) -> Id {
        let (sum, rest) = self.whole_sum(a, b);
        let zero = self.real(DOUBLE, 0.0);
        // The error of an infinite sum is NaN, which leaves the sum unchanged.
        let is_cut = self.pure_of(Op::FOrdNotEqual, ValueType::BOOL, &[rest, zero]);
        // The sum was rounded away from zero if the error has the opposite sign.
        let (below, above) = (
            self.pure_of(Op::FOrdLessThan, ValueType::BOOL, &[rest, zero]),
            self.pure_of(Op::FOrdGreaterThan, ValueType::BOOL, &[sum, zero]),
        );
        let is_same = self.pure_of(Op::LogicalEqual, ValueType::BOOL, &[below, above]);
        let is_away = self.pure_of(Op::LogicalAnd, ValueType::BOOL, &[is_cut, is_same]);
        let (one, none) = (self.module.uint(1), self.module.uint(0));
        let [is_cut, less] =
            [is_cut, is_away].map(|condition| self.pure_of(Op::Select, ValueType::UINT, &[condition, one, none]));

        let words = self.pure_of(Op::Bitcast, WORDS, &[sum]);
        let (low, high) = (self.part(words, WORDS, 0), self.part(words, WORDS, 1));
        let is_zero = self.pure_of(Op::IEqual, ValueType::BOOL, &[low, none]);
        let borrow = self.pure_of(Op::Select, ValueType::UINT, &[is_zero, less, none]);
        let high = self.pure_of(Op::ISub, ValueType::UINT, &[high, borrow]);
        let low = self.pure_of(Op::ISub, ValueType::UINT, &[low, less]);
        let low = self.pure_of(Op::BitwiseOr, ValueType::UINT, &[low, is_cut]);
        let words = self.construct(ValueType::UINT, &[low, high]);
        self.pure_of(Op::Bitcast, DOUBLE, &[words])
    }
}

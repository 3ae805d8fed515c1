//! Ranges of floats: signs, zero, NaN, infinities, fractions.
//!
//! Ranges are computed on demand from a few of the instructions that define a value, and cached; a value without a
//! known range may be anything. Every range holds for all executions, so rewriting code without changing its values
//! preserves it. A pass that replaces a value by an approximately equal one must call [`FloatRanges::forget`].

use cranelift_entity::SecondaryMap;

use crate::alu::{AluOp, BaseType, half};
use crate::body::{Body, InstData, Swizzle};
use crate::builder::AluSrc;
use crate::entities::Def;

/// Maximum depth of visited instructions.
const MAX_DEPTH: u8 = 10;

/// A set of properties that a float may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FloatRange(u8);

impl FloatRange {
    /// Below zero.
    pub const NEGATIVE: FloatRange = FloatRange(1);
    /// +0 or -0.
    pub const ZERO: FloatRange = FloatRange(2);
    /// Above zero.
    pub const POSITIVE: FloatRange = FloatRange(4);
    /// NaN.
    pub const NAN: FloatRange = FloatRange(8);
    /// Infinite, with one of the possible signs.
    pub const INFINITE: FloatRange = FloatRange(16);
    /// Not an integer.
    pub const FRACTION: FloatRange = FloatRange(32);
    /// Any float.
    pub const ANY: FloatRange = FloatRange(63);

    const SIGNS: FloatRange = FloatRange(7);
    /// 0.0 or 1.0.
    const BOOLEAN: FloatRange = FloatRange(6);

    /// The union of both sets.
    #[must_use]
    pub const fn or(self, other: FloatRange) -> FloatRange {
        FloatRange(self.0 | other.0)
    }

    const fn and(self, other: FloatRange) -> FloatRange {
        FloatRange(self.0 & other.0)
    }

    const fn without(self, other: FloatRange) -> FloatRange {
        FloatRange(self.0 & !other.0)
    }

    /// Whether the sets have a property in common.
    pub const fn may_be(self, other: FloatRange) -> bool {
        self.0 & other.0 != 0
    }

    /// Never NaN.
    pub const fn is_number(self) -> bool {
        !self.may_be(FloatRange::NAN)
    }

    /// Neither NaN nor infinite.
    pub const fn is_finite(self) -> bool {
        !self.may_be(FloatRange(24))
    }

    /// Never below zero (it may be NaN).
    pub const fn is_nonnegative(self) -> bool {
        !self.may_be(FloatRange::NEGATIVE)
    }

    /// An integer, infinite or NaN.
    pub const fn is_integral(self) -> bool {
        !self.may_be(FloatRange::FRACTION)
    }

    /// The properties of a number.
    pub fn of_value(value: f64) -> FloatRange {
        if value.is_nan() {
            return FloatRange::NAN;
        }
        let sign = if value == 0.0 {
            FloatRange::ZERO
        } else if value < 0.0 {
            FloatRange::NEGATIVE
        } else {
            FloatRange::POSITIVE
        };
        if value.is_infinite() {
            sign.or(FloatRange::INFINITE)
        } else if value.fract() != 0.0 {
            sign.or(FloatRange::FRACTION)
        } else {
            sign
        }
    }

    /// The properties of a number given as bits of size 16, 32 or 64; [`ANY`](Self::ANY) for other sizes.
    pub fn of_bits(bits: u64, bit_size: u8) -> FloatRange {
        match bit_size {
            16 => FloatRange::of_value(half::to_f32(bits as u16).into()),
            32 => FloatRange::of_value(f32::from_bits(bits as u32).into()),
            64 => FloatRange::of_value(f64::from_bits(bits)),
            _ => FloatRange::ANY,
        }
    }

    fn negated(self) -> FloatRange {
        let rest = self.without(FloatRange::NEGATIVE).without(FloatRange::POSITIVE);
        let negative = if self.may_be(FloatRange::POSITIVE) { FloatRange::NEGATIVE } else { FloatRange(0) };
        let positive = if self.may_be(FloatRange::NEGATIVE) { FloatRange::POSITIVE } else { FloatRange(0) };
        rest.or(negative).or(positive)
    }

    fn absolute(self) -> FloatRange {
        let positive = if self.may_be(FloatRange::NEGATIVE) { FloatRange::POSITIVE } else { FloatRange(0) };
        self.without(FloatRange::NEGATIVE).or(positive)
    }

    /// The range of a product that can underflow and overflow. `same` means that it is a square.
    fn times(self, other: FloatRange, same: bool) -> FloatRange {
        use FloatRange as R;
        let mut result = R::ZERO.or(R::INFINITE);
        let (a, b) = (self, other);
        let positive = a.may_be(R::POSITIVE) && b.may_be(R::POSITIVE) || a.may_be(R::NEGATIVE) && b.may_be(R::NEGATIVE);
        let negative = a.may_be(R::POSITIVE) && b.may_be(R::NEGATIVE) || a.may_be(R::NEGATIVE) && b.may_be(R::POSITIVE);
        if positive {
            result = result.or(R::POSITIVE);
        }
        if negative && !same {
            result = result.or(R::NEGATIVE);
        }
        let zero_times_infinity =
            a.may_be(R::ZERO) && b.may_be(R::INFINITE) || a.may_be(R::INFINITE) && b.may_be(R::ZERO);
        if a.or(b).may_be(R::NAN) || zero_times_infinity && !same {
            result = result.or(R::NAN);
        }
        if a.or(b).may_be(R::FRACTION) {
            result = result.or(R::FRACTION);
        }
        result
    }

    /// The range of a sum that can overflow.
    fn plus(self, other: FloatRange) -> FloatRange {
        use FloatRange as R;
        let (a, b) = (self, other);
        let either = a.or(b);
        let mut result = either.and(R::SIGNS).or(R::INFINITE).or(either.and(R::NAN)).or(either.and(R::FRACTION));
        let opposite = a.may_be(R::POSITIVE) && b.may_be(R::NEGATIVE) || a.may_be(R::NEGATIVE) && b.may_be(R::POSITIVE);
        if opposite {
            result = result.or(R::ZERO);
            if a.may_be(R::INFINITE) && b.may_be(R::INFINITE) {
                result = result.or(R::NAN);
            }
        } else if !(a.may_be(R::ZERO) && b.may_be(R::ZERO)) {
            // At least one operand is not 0, and nothing cancels it.
            result = result.without(R::ZERO);
        }
        result
    }

    /// The range of a maximum that returns the other operand of a NaN.
    fn max(self, other: FloatRange) -> FloatRange {
        use FloatRange as R;
        let mut result = self.or(other);
        for bound in [self, other] {
            if bound.is_number() && !bound.may_be(R::NEGATIVE) {
                result = result.without(R::NEGATIVE);
                if !bound.may_be(R::ZERO) {
                    result = result.without(R::ZERO);
                }
            }
        }
        if self.is_number() || other.is_number() { result.without(R::NAN) } else { result }
    }

    fn min(self, other: FloatRange) -> FloatRange {
        self.negated().max(other.negated()).negated()
    }
}

/// Known ranges of the values of a body.
pub struct FloatRanges {
    known: SecondaryMap<Def, RangeFact>,
    /// Entries of earlier generations are invalid.
    generation: u32,
    /// The depth limit made the last result less precise.
    is_cut: bool,
}

#[derive(Clone, Copy, Default)]
struct RangeFact {
    generation: u32,
    /// The depth of instructions that were visited for it; [`ALL`] if no limit applied.
    levels: u8,
    range: FloatRange,
}

/// The depth was not limited.
const ALL: u8 = u8::MAX;

impl Default for FloatRanges {
    fn default() -> FloatRanges {
        FloatRanges { known: SecondaryMap::new(), generation: 1, is_cut: false }
    }
}

impl FloatRanges {
    /// An empty cache.
    pub fn new() -> FloatRanges {
        FloatRanges::default()
    }

    /// Clears the cache.
    pub fn forget(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        if self.generation == 0 {
            self.known.clear();
            self.generation = 1;
        }
    }

    /// Range of the first `count` components of an operand, read as floats.
    pub fn of(&mut self, body: &Body, source: AluSrc, count: usize) -> FloatRange {
        self.look(body, source, count, 0)
    }

    fn look(&mut self, body: &Body, source: AluSrc, count: usize, depth: u8) -> FloatRange {
        let bit_size = body.bit_size(source.def);
        if let Some(values) = body.def_constant(source.def) {
            return source.swizzle.iter(count).fold(FloatRange(0), |range, component| {
                let bits = values.get(usize::from(component)).copied().unwrap_or(0);
                range.or(FloatRange::of_bits(bits, bit_size))
            });
        }
        let Some(inst) = body.try_def_inst(source.def) else { return FloatRange::ANY };
        let Some(op) = body.alu_op(inst) else { return FloatRange::ANY };
        if depth >= MAX_DEPTH {
            self.is_cut = true;
            return FloatRange::ANY;
        }
        if op.is_vec() {
            return source.swizzle.iter(count).fold(FloatRange(0), |range, component| {
                if usize::from(component) >= body.num_sources(inst) {
                    return FloatRange::ANY;
                }
                let input = body.source(inst, usize::from(component));
                range.or(self.look(body, AluSrc::new(body.src_def(input), body.swizzle(input)), 1, depth + 1))
            });
        }
        let levels = MAX_DEPTH - depth;
        let known = self.known[source.def];
        if known.generation == self.generation && known.levels >= levels {
            self.is_cut |= known.levels != ALL;
            return known.range;
        }
        let was_cut = std::mem::replace(&mut self.is_cut, false);
        let range = self.compute(body, source.def, op, depth);
        let levels = if self.is_cut { levels } else { ALL };
        self.known[source.def] = RangeFact { generation: self.generation, levels, range };
        self.is_cut |= was_cut;
        range
    }

    fn compute(&mut self, body: &Body, def: Def, op: AluOp, depth: u8) -> FloatRange {
        use AluOp as A;
        use FloatRange as R;
        let inst = body.def_inst(def);
        let InstData::Alu { .. } = body.inst(inst) else { return R::ANY };
        let mut operand = |number: usize| {
            let source = body.source(inst, number);
            let count = body.alu_src_components(inst, number);
            self.look(body, AluSrc::new(body.src_def(source), body.swizzle(source)), count, depth + 1)
        };
        let info = op.info();
        if info.output_type.base == BaseType::Float && info.group == "convert" {
            let source_type = info.input_types.first().map(|t| t.base);
            match source_type {
                Some(BaseType::Bool) => return R::BOOLEAN,
                // 65504 is the largest 16-bit float.
                Some(BaseType::Int) if body.bit_size(def) > 16 => return R::SIGNS,
                Some(BaseType::Uint) if body.bit_size(def) > 16 => return R::BOOLEAN,
                Some(BaseType::Int) => return R::SIGNS.or(R::INFINITE),
                Some(BaseType::Uint) => return R::BOOLEAN.or(R::INFINITE),
                Some(BaseType::Float) => return operand(0).or(R::ZERO).or(R::INFINITE),
                _ => return R::ANY,
            }
        }
        match op {
            A::Mov => operand(0),
            A::Fneg => operand(0).negated(),
            A::Fabs => operand(0).absolute(),
            A::Fsat => R::BOOLEAN.or(operand(0).and(R::FRACTION)),
            A::Slt | A::Sge | A::Seq | A::Sne => R::BOOLEAN,
            A::Fsign => {
                let a = operand(0);
                let zero = if a.may_be(R::NAN) { R::ZERO } else { R(0) };
                a.and(R::SIGNS).or(zero)
            }
            A::Fexp2 => R::BOOLEAN.or(R::INFINITE).or(R::FRACTION).or(operand(0).and(R::NAN)),
            A::Fsqrt => {
                let a = operand(0);
                let nan = if a.may_be(R::NEGATIVE.or(R::NAN)) { R::NAN } else { R(0) };
                R::BOOLEAN.or(a.and(R::INFINITE)).or(R::FRACTION).or(nan)
            }
            A::Frsq => {
                let a = operand(0);
                let nan = if a.may_be(R::NEGATIVE.or(R::NAN)) { R::NAN } else { R(0) };
                // The reciprocal square root of -0 is -infinity.
                let negative = if a.may_be(R::ZERO) { R::NEGATIVE } else { R(0) };
                R::BOOLEAN.or(R::INFINITE).or(R::FRACTION).or(nan).or(negative)
            }
            A::Frcp => {
                let a = operand(0);
                let signs = if a.may_be(R::ZERO) { R::SIGNS } else { a.and(R::SIGNS).or(R::ZERO) };
                signs.or(R::INFINITE).or(R::FRACTION).or(a.and(R::NAN))
            }
            A::Fmul => {
                let same = same_operands(body, def, usize::from(body.num_components(def)));
                let (a, b) = (operand(0), operand(1));
                a.times(b, same)
            }
            A::Fdot2 | A::Fdot3 | A::Fdot4 | A::Fdot2Replicated | A::Fdot3Replicated | A::Fdot4Replicated => {
                let same = same_operands(body, def, body.alu_src_components(inst, 0));
                let (a, b) = (operand(0), operand(1));
                let product = a.times(b, same);
                product.plus(product).or(product)
            }
            A::Fdot2Mad
            | A::Fdot3Mad
            | A::Fdot4Mad
            | A::Fdot2Madz
            | A::Fdot3Madz
            | A::Fdot4Madz
            | A::Fdot2MadReplicated
            | A::Fdot3MadReplicated
            | A::Fdot4MadReplicated
            | A::Fdot2MadzReplicated
            | A::Fdot3MadzReplicated
            | A::Fdot4MadzReplicated => {
                let same = same_operands(body, def, body.alu_src_components(inst, 0));
                let (a, b) = (operand(0), operand(1));
                let product = a.times(b, same).or(R::ZERO);
                product.plus(product).or(product)
            }
            A::Fadd => {
                let (a, b) = (operand(0), operand(1));
                if takes_fraction_off(body, def) { a.plus(b).without(R::FRACTION) } else { a.plus(b) }
            }
            A::Fsub => {
                let (a, b) = (operand(0), operand(1));
                a.plus(b.negated())
            }
            A::Ffma => {
                let (a, b, c) = (operand(0), operand(1), operand(2));
                // The product is not rounded, but may be too small to affect the sum.
                a.times(b, false).plus(c).or(R::ZERO)
            }
            A::Fmad | A::Fmadz => {
                let (a, b, c) = (operand(0), operand(1), operand(2));
                let same = same_operands(body, def, usize::from(body.num_components(def)));
                a.times(b, same).or(R::ZERO).plus(c)
            }
            A::FlrpMad | A::FlrpMadz => {
                let (a, b, c) = (operand(0), operand(1), operand(2));
                a.times(b.plus(c.negated()), false).or(R::ZERO).plus(c)
            }
            A::Fmin => {
                let (a, b) = (operand(0), operand(1));
                a.min(b)
            }
            A::Fmax => {
                let (a, b) = (operand(0), operand(1));
                a.max(b)
            }
            A::Ffloor => {
                let a = operand(0).without(R::FRACTION);
                if a.may_be(R::POSITIVE) { a.or(R::ZERO) } else { a }
            }
            A::Fceil => {
                let a = operand(0).without(R::FRACTION);
                if a.may_be(R::NEGATIVE) { a.or(R::ZERO) } else { a }
            }
            A::Ftrunc | A::FroundEven => operand(0).without(R::FRACTION).or(R::ZERO),
            A::Ffract => {
                let a = operand(0);
                // The fraction of a small negative number rounds to 1.
                let nan = if a.may_be(R::NAN.or(R::INFINITE)) { R::NAN } else { R(0) };
                R::BOOLEAN.or(R::FRACTION).or(nan)
            }
            A::Fsin | A::Fcos => {
                let nan = if operand(0).may_be(R::NAN.or(R::INFINITE)) { R::NAN } else { R(0) };
                R::SIGNS.or(R::FRACTION).or(nan)
            }
            A::Fpow => {
                let (a, b) = (operand(0), operand(1));
                if a.may_be(R::NEGATIVE.or(R::ZERO)) {
                    return R::ANY;
                }
                R::BOOLEAN.or(R::INFINITE).or(R::FRACTION).or(a.or(b).and(R::NAN))
            }
            A::Bcsel | A::B8csel | A::B16csel | A::B32csel | A::Fcsel => {
                let (a, b) = (operand(1), operand(2));
                a.or(b)
            }
            _ => R::ANY,
        }
    }
}

/// Whether a sum is that of a number and its negated fraction, clamped or not: the floor of the number, or NaN.
fn takes_fraction_off(body: &Body, sum: Def) -> bool {
    let count = usize::from(body.num_components(sum));
    let operand = |def: Def, number: usize, outer: Swizzle| {
        let source = body.source(body.def_inst(def), number);
        AluSrc::new(body.src_def(source), outer.compose(body.swizzle(source)))
    };
    let op = |source: AluSrc| body.alu_op(body.def_inst(source.def));
    let is_fraction = |number: AluSrc, other: AluSrc| {
        if op(other) != Some(AluOp::Fneg) {
            return false;
        }
        let mut fraction = operand(other.def, 0, other.swizzle);
        let is_clamped = match op(fraction) {
            Some(AluOp::Fsat) => true,
            Some(AluOp::Fmax) => {
                let least = operand(fraction.def, 1, fraction.swizzle);
                least
                    .swizzle
                    .iter(count)
                    .all(|component| body.constant_component(least.def, component.into()) == Some(0))
            }
            _ => false,
        };
        if is_clamped {
            fraction = operand(fraction.def, 0, fraction.swizzle);
        }
        op(fraction) == Some(AluOp::Ffract) && operand(fraction.def, 0, fraction.swizzle).equals(body, number, count)
    };
    let [a, b] = [0, 1].map(|number| operand(sum, number, Swizzle::IDENTITY));
    is_fraction(a, b) || is_fraction(b, a)
}

/// Whether the first `count` components of both operands are the same components of the same value.
fn same_operands(body: &Body, def: Def, count: usize) -> bool {
    let inst = body.def_inst(def);
    let (a, b) = (body.source(inst, 0), body.source(inst, 1));
    body.src_def(a) == body.src_def(b) && body.swizzle(a).iter(count).eq(body.swizzle(b).iter(count))
}

//! Emits quotients and remainders of integers represented as floats, correct for all integers from -2^24 to 2^24.
//!
//! With a division, the rounded quotient never reaches the next integer above: that is at least `1 / y` away, and half
//! a unit in the last place is less. Without one, the quotient is estimated, and corrected by the remainder:
//!
//! ```text
//! estimate = floor(x * rcp(y) - 0.5)            the quotient, or one less
//! quotient = estimate + (x - estimate * y >= y)
//! ```
//!
//! The error of `x * rcp(y)` is less than 0.5 for all `x` and `y` up to 2^24 if the reciprocal is correctly rounded; so
//! the estimate is never too large, and its multiple of `y` is exact. Magnitudes are divided, and the sign is applied
//! afterwards. The result for a divisor of 0 is selected; the other operand of the selection is finite, as some targets
//! implement selections by multiplication.

use crate::alu::AluOp;
use crate::body::{Body, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::entities::{Def, User};
use crate::options::CompilerOptions;

/// The divisor of a quotient or remainder.
pub(super) struct Divisor {
    pub source: AluSrc,
    /// Its value, if it is constant.
    pub constants: Option<Vec<f32>>,
    /// Whether the result for a divisor of 0 is unused.
    pub zero_is_unused: bool,
}

/// Emits the quotient or remainder of `x` and a divisor, for the integer opcode `op`.
pub(super) fn divide(
    b: &mut Builder<'_>,
    op: AluOp,
    count: u8,
    x: AluSrc,
    divisor: &Divisor,
    options: &CompilerOptions,
) -> AluSrc {
    let (y, constants) = (divisor.source, divisor.constants.as_deref());
    let mut m = Division { b, count, options };
    let is_signed = !matches!(op, AluOp::Udiv | AluOp::Umod);
    let is_quotient = matches!(op, AluOp::Udiv | AluOp::Idiv);
    let never_zero = constants.is_some_and(|values| values.iter().all(|&value| value != 0.0));
    let (zero, one) = (m.constant(0.0), m.constant(1.0));
    let result = if !options.lower_fdiv {
        let divisor = if never_zero {
            y
        } else {
            let is_zero = m.op(AluOp::Feq, &[y, zero]);
            let step = m.op(AluOp::B2f32, &[is_zero]);
            m.op(AluOp::Fadd, &[y, step])
        };
        let quotient = m.op(AluOp::Fdiv, &[x, divisor]);
        let quotient = m.op(AluOp::Ftrunc, &[quotient]);
        if is_quotient { quotient } else { m.rest(x, quotient, divisor) }
    } else {
        let (magnitude, mut divisor) = match is_signed {
            true => (m.op(AluOp::Fabs, &[x]), m.op(AluOp::Fabs, &[y])),
            false => (x, y),
        };
        if !never_zero {
            divisor = m.op(AluOp::Fmax, &[divisor, one]);
        }
        let quotient = m.quotient(magnitude, divisor, constants);
        let result = if is_quotient { quotient } else { m.rest(magnitude, quotient, divisor) };
        match op {
            AluOp::Udiv | AluOp::Umod => result,
            AluOp::Idiv => {
                let signs = m.op(AluOp::Fmul, &[x, y]);
                m.negated_if_negative(signs, result)
            }
            _ => m.negated_if_negative(x, result),
        }
    };
    let result = if op == AluOp::Imod { m.floored(result, y) } else { result };
    if never_zero || divisor.zero_is_unused {
        return result;
    }
    // The IR's quotient and remainder by zero are 0.
    let possible = m.op(AluOp::Fneu, &[y, zero]);
    m.op(AluOp::Bcsel, &[possible, result, zero])
}

/// Returns whether each use of a quotient or remainder selects another value where the divisor is 0.
pub(super) fn zero_is_unused(body: &Body, result: Def, divisor: AluSrc) -> bool {
    let mut uses = body.uses_of(result).peekable();
    uses.peek().is_some()
        && uses.all(|source| {
            let User::Inst(select) = body.user(source) else { return false };
            let Some(selected) = body.inst_def(select) else { return false };
            if body.alu_op(select) != Some(AluOp::Bcsel) || body.source_number(source) != 2 {
                return false;
            }
            let condition = body.source(select, 0);
            let test = body.def_inst(body.src_def(condition));
            if !matches!(body.alu_op(test), Some(AluOp::Ieq | AluOp::Feq)) {
                return false;
            }
            (0..usize::from(body.num_components(selected))).all(|component| {
                let tested = usize::from(body.swizzle(condition).get(component));
                let wanted = divisor.swizzle.get(usize::from(body.swizzle(source).get(component)));
                let operand = |number: usize| {
                    let operand = body.source(test, number);
                    (body.src_def(operand), body.swizzle(operand).get(tested))
                };
                let is_zero = |(def, c): (Def, u8)| body.constant_component(def, c.into()) == Some(0);
                let (a, b) = (operand(0), operand(1));
                let divisor = (divisor.def, wanted);
                a == divisor && is_zero(b) || b == divisor && is_zero(a)
            })
        })
}

struct Division<'a, 'b> {
    b: &'a mut Builder<'b>,
    count: u8,
    options: &'a CompilerOptions,
}

impl Division<'_, '_> {
    fn op(&mut self, op: AluOp, sources: &[AluSrc]) -> AluSrc {
        self.b.alu_sized(op, self.count, sources).into()
    }

    fn constant(&mut self, value: f32) -> AluSrc {
        AluSrc::component(self.b.f32_const(value), 0)
    }

    /// Emits `x * y + z`, rounded twice.
    fn multiply_add(&mut self, x: AluSrc, y: AluSrc, z: AluSrc) -> AluSrc {
        if self.options.fuse_mad {
            return self.op(AluOp::Fmad, &[x, y, z]);
        }
        let product = self.op(AluOp::Fmul, &[x, y]);
        self.op(AluOp::Fadd, &[product, z])
    }

    /// Emits `x - quotient * y`.
    fn rest(&mut self, x: AluSrc, quotient: AluSrc, y: AluSrc) -> AluSrc {
        let negative = self.op(AluOp::Fneg, &[quotient]);
        self.multiply_add(negative, y, x)
    }

    /// Emits the quotient of nonnegative numbers without a division.
    fn quotient(&mut self, x: AluSrc, y: AluSrc, constants: Option<&[f32]>) -> AluSrc {
        let inverses: Option<Vec<f32>> = constants.map(|values| values.iter().map(|value| 1.0 / value.abs()).collect());
        let inverse = match &inverses {
            Some(inverses) => {
                let words: Vec<u64> = inverses.iter().map(|value| u64::from(value.to_bits())).collect();
                AluSrc::new(self.b.constant(32, &words), Swizzle::IDENTITY)
            }
            None => self.op(AluOp::Frcp, &[y]),
        };
        // The inverse of a power of two is exact.
        let is_power = |value: &f32| value.is_finite() && value.to_bits() & 0x7f_ffff == 0;
        if inverses.is_some_and(|inverses| inverses.iter().all(is_power)) {
            let quotient = self.op(AluOp::Fmul, &[x, inverse]);
            return self.op(AluOp::Ffloor, &[quotient]);
        }
        let below = self.constant(-0.5);
        let estimate = self.multiply_add(x, inverse, below);
        let estimate = self.op(AluOp::Ffloor, &[estimate]);
        let rest = self.rest(x, estimate, y);
        let is_small = self.op(AluOp::Fge, &[rest, y]);
        let step = self.op(AluOp::B2f32, &[is_small]);
        self.op(AluOp::Fadd, &[estimate, step])
    }

    fn negated_if_negative(&mut self, sign: AluSrc, value: AluSrc) -> AluSrc {
        let zero = self.constant(0.0);
        let is_negative = self.op(AluOp::Flt, &[sign, zero]);
        let negative = self.op(AluOp::Fneg, &[value]);
        self.op(AluOp::Bcsel, &[is_negative, negative, value])
    }

    /// Converts a remainder with the sign of the dividend to one with the sign of the divisor.
    fn floored(&mut self, remainder: AluSrc, y: AluSrc) -> AluSrc {
        let zero = self.constant(0.0);
        let signs = self.op(AluOp::Fmul, &[remainder, y]);
        let differ = self.op(AluOp::Flt, &[signs, zero]);
        let sum = self.op(AluOp::Fadd, &[remainder, y]);
        self.op(AluOp::Bcsel, &[differ, sum, remainder])
    }
}

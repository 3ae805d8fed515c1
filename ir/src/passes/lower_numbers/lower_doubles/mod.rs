//! Lowers 64-bit float operations that a target lacks to sums, products and operations on the two words of a number
//! ([`CompilerOptions::lower_doubles`]).
//!
//! ```text
//! 64 %2 = frcp %1     =>     the mantissa of %1, in [1, 2), and its exponent
//!                            32 %3 = frcp (f2f32 of the mantissa)
//!                            64 %4 = f2f64 %3                       two steps of Newton's method with ffma
//!                            64 %2 = the result times 2^-exponent; zeros, infinities and NaN are special-cased
//! ```
//!
//! | option | opcode | result |
//! |---|---|---|
//! | `RCP`, `SQRT`, `RSQ`, `DIV` | `frcp`, `fsqrt`, `frsq`, `fdiv` | at most one unit in the last place off, over the whole range, denormals included |
//! | `TRUNC`, `FLOOR`, `CEIL`, `FRACT`, `ROUND_EVEN` | rounding | exact, whatever the rounding of the shader |
//! | `MOD` | `fmod`, `frem` | `a - b * floor(a / b)`, `a - b * trunc(a / b)`, literally |
//! | `SUB`, `MIN_MAX`, `SAT` | `fsub`, `fmin`, `fmax`, `fsat` | exact; NaN and zeros as in the opcode table |
//!
//! The remaining operations are `fadd`, `fmul`, `ffma`, `fneg`, `fabs`, comparisons, selections, conversions to and
//! from 32 bits and packing of words. The lowered form of an operation uses another one only if the target supports
//! that; otherwise it uses the lowered form of the other one. 64-bit integers are not used. `ffma` must round once.
//!
//! With [`software_doubles`](CompilerOptions::software_doubles) the remaining operations are computed with 32-bit
//! integers: `fadd`, `fmul`, `ffma` (rounded once, in the shader's rounding mode), `fneg`, `fabs`, `fsign`, comparisons
//! and conversions, all exact. Only selections and moves then have 64 bits. (`f2f16` from 64 bits is left to
//! [`lower_fp16_casts`](mod@crate::passes::lower_numbers::lower_fp16_casts).)
//!
//! - `round.rs`: rounding, minima; `root.rs`: reciprocals, roots, quotients; `software.rs`: emulation with integers.
//!
//! Cost: linear; each operation becomes at most 140 instructions. With emulation a sum takes that many, `ffma` twice as
//! many, and roots and quotients some 2,000.

mod root;
mod round;
mod software;

use crate::alu::{AluOp, ExecutionMode};
use crate::entities::Def;
use crate::options::{CompilerOptions, DoubleOps};
use crate::passes::lower_numbers::arithmetic::{Arithmetic, replace_alu};
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_doubles(shader: &mut Shader, options: &CompilerOptions) -> bool {
    let lacking = options.lower_doubles;
    let mode = shader.info.float_controls_execution_mode;
    let by_parts = lacking != DoubleOps::NONE && lower_families(shader, lacking, mode);
    // A second sweep, because the first one emits operations that this one replaces.
    let by_integers = options.software_doubles && replace_alu(shader, |op, m| software::lower(m, op, mode));
    by_parts | by_integers
}

fn lower_families(shader: &mut Shader, lacking: DoubleOps, mode: ExecutionMode) -> bool {
    replace_alu(shader, |op, m| {
        let family = family(op)?;
        if m.result_bits() != 64 || !lacking.contains(family) {
            return None;
        }
        m.exact();
        Some(Doubles { lacking, mode }.lower(m, op))
    })
}

const fn family(op: AluOp) -> Option<DoubleOps> {
    Some(match op {
        AluOp::Frcp => DoubleOps::RCP,
        AluOp::Fsqrt => DoubleOps::SQRT,
        AluOp::Frsq => DoubleOps::RSQ,
        AluOp::Ftrunc => DoubleOps::TRUNC,
        AluOp::Ffloor => DoubleOps::FLOOR,
        AluOp::Fceil => DoubleOps::CEIL,
        AluOp::Ffract => DoubleOps::FRACT,
        AluOp::FroundEven => DoubleOps::ROUND_EVEN,
        AluOp::Fmod | AluOp::Frem => DoubleOps::MOD,
        AluOp::Fsub => DoubleOps::SUB,
        AluOp::Fdiv => DoubleOps::DIV,
        AluOp::Fmin | AluOp::Fmax => DoubleOps::MIN_MAX,
        AluOp::Fsat => DoubleOps::SAT,
        _ => return None,
    })
}

/// The operations that the target lacks, and the shader's rounding mode.
#[derive(Clone, Copy)]
struct Doubles {
    lacking: DoubleOps,
    mode: ExecutionMode,
}

impl Doubles {
    fn lower(self, m: &mut Arithmetic<'_>, op: AluOp) -> Def {
        let a = m.source(0);
        match op {
            AluOp::Frcp => root::reciprocal(m, a),
            AluOp::Fsqrt => root::square_root(m, a),
            AluOp::Frsq => root::reciprocal_square_root(m, a),
            AluOp::Ffract => {
                let floor = self.floor(m, a);
                subtract(m, a, floor)
            }
            AluOp::Fmod | AluOp::Frem => {
                let b = m.source(1);
                let quotient = self.divide(m, a, b);
                let whole = if op == AluOp::Fmod { self.floor(m, quotient) } else { self.truncate(m, quotient) };
                let product = m.fmul(b, whole);
                subtract(m, a, product)
            }
            AluOp::Fsub => {
                let b = m.source(1);
                subtract(m, a, b)
            }
            AluOp::Fdiv => {
                let b = m.source(1);
                root::quotient(m, a, b)
            }
            AluOp::Fmin | AluOp::Fmax => {
                let b = m.source(1);
                round::least_or_greatest(m, op, a, b)
            }
            AluOp::Fsat => {
                let (zero, one) = (double(m, 0.0), double(m, 1.0));
                let above = self.least_or_greatest(m, AluOp::Fmax, a, zero);
                self.least_or_greatest(m, AluOp::Fmin, above, one)
            }
            AluOp::Ftrunc => round::truncate(m, a),
            AluOp::Ffloor => self.floor_of_parts(m, a),
            AluOp::Fceil => self.ceiling(m, a),
            _ => self.round_even(m, a),
        }
    }

    fn truncate(self, m: &mut Arithmetic<'_>, a: Def) -> Def {
        if self.lacking.contains(DoubleOps::TRUNC) { round::truncate(m, a) } else { m.op(AluOp::Ftrunc, &[a]) }
    }

    fn floor(self, m: &mut Arithmetic<'_>, a: Def) -> Def {
        if self.lacking.contains(DoubleOps::FLOOR) { self.floor_of_parts(m, a) } else { m.op(AluOp::Ffloor, &[a]) }
    }

    fn divide(self, m: &mut Arithmetic<'_>, a: Def, b: Def) -> Def {
        if self.lacking.contains(DoubleOps::DIV) { root::quotient(m, a, b) } else { m.op(AluOp::Fdiv, &[a, b]) }
    }

    fn least_or_greatest(self, m: &mut Arithmetic<'_>, op: AluOp, a: Def, b: Def) -> Def {
        if self.lacking.contains(DoubleOps::MIN_MAX) {
            round::least_or_greatest(m, op, a, b)
        } else {
            m.op(op, &[a, b])
        }
    }
}

/// Returns a constant.
fn double(m: &mut Arithmetic<'_>, value: f64) -> Def {
    m.constant(64, value.to_bits())
}

fn subtract(m: &mut Arithmetic<'_>, a: Def, b: Def) -> Def {
    let negated = m.fneg(b);
    m.fadd(a, negated)
}

/// Returns the words of a number, the lower first.
fn words(m: &mut Arithmetic<'_>, a: Def) -> (Def, Def) {
    (m.op(AluOp::Unpack642x32SplitX, &[a]), m.op(AluOp::Unpack642x32SplitY, &[a]))
}

/// Returns the number with the given words.
fn joined(m: &mut Arithmetic<'_>, low: Def, high: Def) -> Def {
    m.op(AluOp::Pack642x32Split, &[low, high])
}

//! Turns integer divisions and remainders into multiplications, for targets without integer division
//! ([`lower_idiv`](CompilerOptions::lower_idiv)).
//!
//! ```text
//! 32 %3 = udiv %1, %2     =>     32 %4 = u2f32 %2
//!                                32 %5 = frcp %4
//!                                32 %6 = fmul %5, 4294966784.0     (a little below 2^32)
//!                                32 %7 = f2u32 %6                  ... one step of Newton's method, two corrections by 1
//! ```
//!
//! - 32 bits: uses the reciprocal of the divisor as a 32-bit integer, rounded so that it is never too large; the
//!   quotient is then at most 2 too small.
//! - 8 and 16 bits: all values are exact 32-bit floats, and their quotient is correct if the reciprocal is rounded up.
//!   8-bit quotients may be computed in 16-bit floats ([`idiv_by_fp16`](CompilerOptions::idiv_by_fp16)), if their
//!   reciprocal is correctly rounded.
//! - 64 bits are left to [`lower_int64`](mod@crate::passes::lower_numbers::lower_int64).
//!
//! The target's 32-bit `frcp` may return either neighbour of the exact value. All results are exact; a division by 0
//! gives 0, as in the IR.
//!
//! Cost: linear.

use crate::alu::AluOp;
use crate::entities::Def;
use crate::options::CompilerOptions;
use crate::passes::lower_numbers::arithmetic::{Arithmetic, replace_alu};
use crate::shader::Shader;

/// The largest float such that its product with a reciprocal that is rounded up is below 2^32.
const BELOW_2_32: f32 = 4_294_966_784.0;

/// See the [module](self).
pub fn lower_idiv(shader: &mut Shader, options: &CompilerOptions) -> bool {
    if !options.lower_idiv {
        return false;
    }
    replace_alu(shader, |op, m| {
        if !is_division(op) {
            return None;
        }
        match m.source_bits(0) {
            32 => Some(divide_words(m, op)),
            8 if options.idiv_by_fp16 => Some(divide_small(m, op, 16)),
            8 | 16 => Some(divide_small(m, op, 32)),
            _ => None,
        }
    })
}

/// Returns whether the opcode is a quotient or remainder of integers.
pub(crate) const fn is_division(op: AluOp) -> bool {
    matches!(op, AluOp::Udiv | AluOp::Umod | AluOp::Idiv | AluOp::Irem | AluOp::Imod)
}

/// Returns `value`, or 0 where the divisor is 0.
fn unless_zero(m: &mut Arithmetic<'_>, divisor: Def, value: Def) -> Def {
    let is_zero = m.is_zero(divisor);
    m.zero_if(is_zero, value)
}

/// Converts a remainder with the sign of the dividend to one with the sign of the divisor.
fn floored(m: &mut Arithmetic<'_>, dividend: Def, divisor: Def, remainder: Def) -> Def {
    let signs = m.ixor(dividend, divisor);
    let differ = m.is_negative(signs);
    let zero = m.constant(m.bits(remainder), 0);
    let is_left = m.ine(remainder, zero);
    let adjust = m.iand(differ, is_left);
    let adjusted = m.iadd(remainder, divisor);
    m.bcsel(adjust, adjusted, remainder)
}

fn divide_words(m: &mut Arithmetic<'_>, op: AluOp) -> Def {
    let (n, d) = (m.source(0), m.source(1));
    let result = match op {
        AluOp::Udiv => divide_unsigned(m, n, d).0,
        AluOp::Umod => divide_unsigned(m, n, d).1,
        _ => {
            let (positive_n, positive_d) = (m.iabs(n), m.iabs(d));
            let (quotient, remainder) = divide_unsigned(m, positive_n, positive_d);
            if op == AluOp::Idiv {
                let signs = m.ixor(n, d);
                negated_if_negative(m, signs, quotient)
            } else {
                let remainder = negated_if_negative(m, n, remainder);
                if op == AluOp::Imod { floored(m, n, d, remainder) } else { remainder }
            }
        }
    };
    unless_zero(m, d, result)
}

fn negated_if_negative(m: &mut Arithmetic<'_>, sign: Def, value: Def) -> Def {
    let is_negative = m.is_negative(sign);
    let negated = m.ineg(value);
    m.bcsel(is_negative, negated, value)
}

/// Returns quotient and remainder of 32-bit integers.
fn divide_unsigned(m: &mut Arithmetic<'_>, n: Def, d: Def) -> (Def, Def) {
    m.exact();
    let float = m.op(AluOp::U2f32, &[d]);
    let reciprocal = m.frcp(float);
    let scale = m.int(BELOW_2_32.to_bits());
    let scaled = m.fmul(reciprocal, scale);
    let estimate = m.op(AluOp::F2u32, &[scaled]);
    // Newton: r += r * (2^32 - r * d) / 2^32.
    let negative = m.ineg(d);
    let error = m.imul(estimate, negative);
    let correction = m.umul_high(estimate, error);
    let inverse = m.iadd(estimate, correction);
    let mut quotient = m.umul_high(n, inverse);
    let product = m.imul(quotient, d);
    let mut remainder = m.isub(n, product);
    for _ in 0..2 {
        let is_small = m.uge(remainder, d);
        let next = m.iadd_imm(quotient, 1);
        let rest = m.isub(remainder, d);
        quotient = m.bcsel(is_small, next, quotient);
        remainder = m.bcsel(is_small, rest, remainder);
    }
    (quotient, remainder)
}

/// Divides 8-bit or 16-bit integers with floats of `float_bits` bits.
fn divide_small(m: &mut Arithmetic<'_>, op: AluOp, float_bits: u8) -> Def {
    let (n, d) = (m.source(0), m.source(1));
    let bits = m.bits(n);
    let is_signed = !matches!(op, AluOp::Udiv | AluOp::Umod);
    m.exact();
    let (to_float, to_int) = match (is_signed, float_bits) {
        (true, 16) => (AluOp::I2f16, AluOp::F2i16),
        (false, 16) => (AluOp::U2f16, AluOp::F2u16),
        (true, _) => (AluOp::I2f32, AluOp::F2i32),
        (false, _) => (AluOp::U2f32, AluOp::F2u32),
    };
    let dividend = m.op(to_float, &[n]);
    let divisor = m.op(to_float, &[d]);
    let reciprocal = m.frcp(divisor);
    // The next float away from 0, so that an integral quotient is not rounded below its value.
    let above = m.iadd_imm(reciprocal, 1);
    let product = m.fmul(dividend, above);
    let whole = m.op(AluOp::Ftrunc, &[product]);
    // Through the wider integer, as -128 / -1 is not a signed byte.
    let wide = m.op(to_int, &[whole]);
    let quotient = m.op(if bits == 8 { AluOp::U2u8 } else { AluOp::U2u16 }, &[wide]);
    let result = if matches!(op, AluOp::Udiv | AluOp::Idiv) {
        quotient
    } else {
        let multiple = m.imul(quotient, d);
        let remainder = m.isub(n, multiple);
        if op == AluOp::Imod { floored(m, n, d, remainder) } else { remainder }
    };
    unless_zero(m, d, result)
}

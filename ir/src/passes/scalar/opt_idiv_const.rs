//! Turns integer divisions and remainders by constants into shifts and multiplications.
//!
//! ```text
//! 32 %3 = udiv %1, 8     =>     32 %3 = ushr %1, 3
//! 32 %3 = udiv %1, 5     =>     32 %4 = umul_high %1, 0xcccccccd
//!                               32 %3 = ushr %4, 2
//! ```
//!
//! Components are handled separately, as the constants may differ. The results are exact: a division by 0 gives 0, and
//! the smallest number divided by -1 gives itself. High-half multiplications have the size of the operands; for targets
//! that have them in 32 bits only, [`lower_alu`](mod@crate::passes::lower_numbers::lower_alu) and
//! [`lower_int64`](mod@crate::passes::lower_numbers::lower_int64) run after this pass.
//!
//! Cost: linear.

use arrayvec::ArrayVec;

use crate::alu::AluOp;
use crate::body::MAX_COMPONENTS;
use crate::entities::Def;
use crate::passes::lower_numbers::arithmetic::{Arithmetic, replace_alu};
use crate::passes::lower_numbers::lower_idiv::is_division;
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_idiv_const(shader: &mut Shader) -> bool {
    replace_alu(shader, |op, m| {
        let bits = m.source_bits(0);
        if !is_division(op) || bits < 8 {
            return None;
        }
        let divisors = m.constant_source(1)?;
        let dividends = m.source(0);
        let count = m.components;
        m.components = 1;
        let mut results: ArrayVec<Def, MAX_COMPONENTS> = ArrayVec::new();
        for (component, &divisor) in divisors.iter().enumerate() {
            let dividend = m.builder.channel(dividends, component as u8);
            results.push(divide(m, op, dividend, divisor, bits.into())?);
        }
        m.components = count;
        Some(m.builder.vec_of(&results))
    })
}

/// Emits `n op d` for operands of `bits` bits; `d` is zero-extended.
fn divide(m: &mut Arithmetic<'_>, op: AluOp, n: Def, d: u64, bits: u32) -> Option<Def> {
    let signed = (d << (64 - bits)) as i64 >> (64 - bits);
    if d == 0 {
        return Some(m.constant(bits as u8, 0));
    }
    Some(match op {
        AluOp::Udiv => udiv(m, n, d, bits),
        AluOp::Umod if d.is_power_of_two() => m.iand_imm(n, d - 1),
        AluOp::Umod => {
            let quotient = udiv(m, n, d, bits);
            rest(m, n, quotient, d)
        }
        AluOp::Idiv => idiv(m, n, signed, bits),
        AluOp::Irem => irem(m, n, signed, bits),
        AluOp::Imod => imod(m, n, signed, bits),
        _ => return None,
    })
}

/// Emits `n - quotient * d`.
fn rest(m: &mut Arithmetic<'_>, n: Def, quotient: Def, d: u64) -> Def {
    let divisor = m.constant(m.bits(n), d);
    let product = m.imul(quotient, divisor);
    m.isub(n, product)
}

fn udiv(m: &mut Arithmetic<'_>, n: Def, d: u64, bits: u32) -> Def {
    if d.is_power_of_two() {
        return m.ushr_imm(n, d.trailing_zeros());
    }
    let magic = unsigned_magic(d, bits, bits);
    let mut n = m.ushr_imm(n, magic.pre_shift);
    if magic.increment {
        let one = m.constant(bits as u8, 1);
        n = m.op(AluOp::UaddSat, &[n, one]);
    }
    let multiplier = m.constant(bits as u8, magic.multiplier);
    let high = m.umul_high(n, multiplier);
    m.ushr_imm(high, magic.post_shift)
}

fn idiv(m: &mut Arithmetic<'_>, n: Def, d: i64, bits: u32) -> Def {
    let magnitude = d.unsigned_abs();
    if magnitude == 1 << (bits - 1) {
        let smallest = m.constant(bits as u8, magnitude);
        let is_smallest = m.ieq(n, smallest);
        let one = m.constant(bits as u8, 1);
        let zero = m.constant(bits as u8, 0);
        return m.bcsel(is_smallest, one, zero);
    }
    match d {
        1 => return n,
        -1 => return m.ineg(n),
        _ => {}
    }
    if magnitude.is_power_of_two() {
        let positive = m.iabs(n);
        let quotient = m.ushr_imm(positive, magnitude.trailing_zeros());
        let negated = m.ineg(quotient);
        let is_negative = m.is_negative(n);
        return if d < 0 { m.bcsel(is_negative, quotient, negated) } else { m.bcsel(is_negative, negated, quotient) };
    }
    let (multiplier, shift) = signed_magic(d, bits);
    let constant = m.constant(bits as u8, multiplier as u64);
    let mut quotient = m.imul_high(n, constant);
    if d > 0 && multiplier < 0 {
        quotient = m.iadd(quotient, n);
    } else if d < 0 && multiplier > 0 {
        quotient = m.isub(quotient, n);
    }
    quotient = m.ishr_imm(quotient, shift);
    // Round toward zero.
    let sign = m.ushr_imm(quotient, bits - 1);
    m.iadd(quotient, sign)
}

fn irem(m: &mut Arithmetic<'_>, n: Def, d: i64, bits: u32) -> Def {
    let magnitude = d.unsigned_abs();
    if magnitude == 1 << (bits - 1) {
        let smallest = m.constant(bits as u8, magnitude);
        let is_smallest = m.ieq(n, smallest);
        return m.zero_if(is_smallest, n);
    }
    if magnitude.is_power_of_two() {
        let is_negative = m.is_negative(n);
        let above = m.iadd_imm(n, magnitude - 1);
        let toward_zero = m.bcsel(is_negative, above, n);
        let multiple = m.iand_imm(toward_zero, magnitude.wrapping_neg());
        return m.isub(n, multiple);
    }
    let quotient = idiv(m, n, magnitude as i64, bits);
    rest(m, n, quotient, magnitude)
}

fn imod(m: &mut Arithmetic<'_>, n: Def, d: i64, bits: u32) -> Def {
    let magnitude = d.unsigned_abs();
    let smallest = 1 << (bits - 1);
    if magnitude == smallest {
        let divisor = m.constant(bits as u8, smallest);
        let is_negative = m.ult(divisor, n);
        let is_zero = m.is_zero(n);
        let stays = m.ior(is_negative, is_zero);
        let sum = m.iadd(n, divisor);
        return m.bcsel(stays, n, sum);
    }
    if magnitude.is_power_of_two() {
        if d > 0 {
            return m.iand_imm(n, magnitude - 1);
        }
        let divisor = m.constant(bits as u8, d as u64);
        let remainder = m.ior(n, divisor);
        let is_multiple = m.ieq(remainder, divisor);
        return m.zero_if(is_multiple, remainder);
    }
    let remainder = irem(m, n, d, bits);
    let zero = m.constant(bits as u8, 0);
    let is_zero = m.ieq(remainder, zero);
    let same_sign = if d < 0 { m.ilt(n, zero) } else { m.ige(n, zero) };
    let stays = m.ior(is_zero, same_sign);
    let sum = m.iadd_imm(remainder, d as u64);
    m.bcsel(stays, remainder, sum)
}

/// Division by a constant that is not a power of two: shift right, add 1 without overflow if `increment`, take the high
/// half of the product, shift right.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct UnsignedMagic {
    multiplier: u64,
    pre_shift: u32,
    post_shift: u32,
    increment: bool,
}

/// Returns the division by `d` for numbers of `bits` bits, of which only the low `significant` bits may be set.
fn unsigned_magic(d: u64, bits: u32, significant: u32) -> UnsignedMagic {
    let divisor = u128::from(d);
    let spare = bits - significant;
    // Rounded up, as d is not a power of two.
    let log2 = d.ilog2() + 1;
    // Quotient and remainder of 2^(bits + exponent) by d.
    let (mut quotient, mut remainder) = ((1 << bits) / divisor, (1 << bits) % divisor);
    let mut rounded_down = None;
    let mut exponent = 0;
    loop {
        let limit = 1u128 << (exponent + spare);
        if exponent + spare >= log2 || divisor - remainder <= limit {
            break;
        }
        if rounded_down.is_none() && remainder <= limit {
            rounded_down = Some((quotient as u64, exponent));
        }
        (quotient, remainder) = (2 * quotient, 2 * remainder);
        if remainder >= divisor {
            (quotient, remainder) = (quotient + 1, remainder - divisor);
        }
        exponent += 1;
    }
    let plain = |multiplier: u64, post_shift| UnsignedMagic { multiplier, pre_shift: 0, post_shift, increment: false };
    match rounded_down {
        _ if exponent < log2 => plain((quotient + 1) as u64, exponent),
        Some((multiplier, post_shift)) if d % 2 == 1 => {
            UnsignedMagic { increment: true, ..plain(multiplier, post_shift) }
        }
        _ => {
            // Odd divisors always have one of the two forms above; with fewer significant bits, the first.
            let pre_shift = d.trailing_zeros().max(1);
            UnsignedMagic { pre_shift, ..unsigned_magic(d >> pre_shift, bits, bits - pre_shift) }
        }
    }
}

/// Returns the multiplier, as a signed number of `bits` bits, and the shift for a division by `d`. The magnitude of `d`
/// is not a power of two.
fn signed_magic(d: i64, bits: u32) -> (i64, u32) {
    let magnitude = u128::from(d.unsigned_abs());
    let t = (1u128 << (bits - 1)) + u128::from(d < 0);
    let c = t - 1 - t % magnitude;
    let mut power = bits;
    while power < 127 && 1 << power <= c * (magnitude - (1 << power) % magnitude) {
        power += 1;
    }
    let multiplier = ((1u128 << power) + magnitude - (1 << power) % magnitude) / magnitude;
    let multiplier = if d < 0 { multiplier.wrapping_neg() } else { multiplier };
    (((multiplier as u64) << (64 - bits)) as i64 >> (64 - bits), power - bits)
}

//! Lowers operations that many targets lack to several common ones, each under an option.
//!
//! ```text
//! 32 %2 = bitfield_reverse %1     =>     32 %3 = ushr %1, 1         32 %5 = iand %1, 0x55555555
//!                                        32 %4 = iand %3, ...       32 %6 = ishl %5, 1
//!                                        32 %7 = ior %4, %6         ... pairs, nibbles, bytes, halves
//! ```
//!
//! | option | operation | form |
//! |---|---|---|
//! | [`lower_bitfield_reverse`](CompilerOptions::lower_bitfield_reverse) | `bitfield_reverse` | five swaps of neighbouring groups of bits |
//! | [`lower_bit_count`](CompilerOptions::lower_bit_count) | `bit_count` of any size | sums of pairs, nibbles and bytes, the last by a product |
//! | [`lower_mul_high`](CompilerOptions::lower_mul_high) | `imul_high`, `umul_high` of up to 32 bits | products of halves; 64 bits are [`lower_int64`](mod@crate::passes::lower_numbers::lower_int64)'s |
//! | [`lower_fminmax_signed_zero`](CompilerOptions::lower_fminmax_signed_zero) | `fmin`, `fmax` where the sign of zero must be kept | where the operands are equal, the minimum or maximum of their bits |
//!
//! All forms are exact. Many other operations are lowered by rules (`lower_*` options) and not by this pass.
//!
//! Cost: linear.

use crate::alu::{AluOp, ExecutionMode};
use crate::body::{AluFlags, Body};
use crate::entities::{Def, Inst, User};
use crate::options::CompilerOptions;
use crate::passes::lower_numbers::arithmetic::{Arithmetic, replace_alu};
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_alu(shader: &mut Shader, options: &CompilerOptions) -> bool {
    let mode = shader.info.float_controls_execution_mode;
    replace_alu(shader, |op, m| match op {
        AluOp::BitfieldReverse if options.lower_bitfield_reverse => {
            let a = m.source(0);
            Some(reverse(m, a))
        }
        AluOp::BitCount if options.lower_bit_count => {
            let a = m.source(0);
            Some(bit_count(m, a))
        }
        AluOp::ImulHigh | AluOp::UmulHigh if options.lower_mul_high => mul_high(m, op),
        AluOp::Fmin | AluOp::Fmax if options.lower_fminmax_signed_zero => ordered_zeros(m, op, mode),
        _ => None,
    })
}

/// Reverses the bits of a word.
fn reverse(m: &mut Arithmetic<'_>, mut a: Def) -> Def {
    for (distance, mask) in [(1, 0x5555_5555), (2, 0x3333_3333), (4, 0x0f0f_0f0f), (8, 0x00ff_00ff)] {
        let upper = m.ushr_imm(a, distance);
        let upper = m.iand_imm(upper, mask);
        let lower = m.iand_imm(a, mask);
        let lower = m.ishl_imm(lower, distance);
        a = m.ior(upper, lower);
    }
    let upper = m.ushr_imm(a, 16);
    let lower = m.ishl_imm(a, 16);
    m.ior(upper, lower)
}

/// Counts the bits that are set; returns a word.
fn bit_count(m: &mut Arithmetic<'_>, a: Def) -> Def {
    let a = match m.bits(a) {
        64 => {
            let halves = [AluOp::Unpack642x32SplitX, AluOp::Unpack642x32SplitY].map(|op| m.op(op, &[a]));
            let [lo, hi] = halves.map(|half| bit_count(m, half));
            return m.iadd(lo, hi);
        }
        32 => a,
        _ => m.op(AluOp::U2u32, &[a]),
    };
    // Each two bits hold their number of set bits, then each four, then each eight.
    let upper = m.ushr_imm(a, 1);
    let upper = m.iand_imm(upper, 0x5555_5555);
    let pairs = m.isub(a, upper);
    let upper = m.ushr_imm(pairs, 2);
    let upper = m.iand_imm(upper, 0x3333_3333);
    let lower = m.iand_imm(pairs, 0x3333_3333);
    let nibbles = m.iadd(upper, lower);
    let upper = m.ushr_imm(nibbles, 4);
    let sums = m.iadd(nibbles, upper);
    let bytes = m.iand_imm(sums, 0x0f0f_0f0f);
    let ones = m.int(0x0101_0101);
    let sum = m.imul(bytes, ones);
    m.ushr_imm(sum, 24)
}

/// Emits the high half of a product.
fn mul_high(m: &mut Arithmetic<'_>, op: AluOp) -> Option<Def> {
    let bits = m.result_bits();
    let is_signed = op == AluOp::ImulHigh;
    let (widen, narrow) = match (bits, is_signed) {
        (32, _) => {
            let (a, b) = (m.source(0), m.source(1));
            return Some(word_mul_high(m, a, b, is_signed));
        }
        (8, true) => (AluOp::I2i32, AluOp::U2u8),
        (8, false) => (AluOp::U2u32, AluOp::U2u8),
        (16, true) => (AluOp::I2i32, AluOp::U2u16),
        (16, false) => (AluOp::U2u32, AluOp::U2u16),
        _ => return None,
    };
    let [a, b] = [0, 1].map(|number| {
        let source = m.source(number);
        m.op(widen, &[source])
    });
    let product = m.imul(a, b);
    let high = m.ushr_imm(product, bits.into());
    Some(m.op(narrow, &[high]))
}

fn word_mul_high(m: &mut Arithmetic<'_>, a: Def, b: Def, is_signed: bool) -> Def {
    let (a_low, a_high) = (m.iand_imm(a, 0xffff), m.ushr_imm(a, 16));
    let (b_low, b_high) = (m.iand_imm(b, 0xffff), m.ushr_imm(b, 16));
    let low = m.imul(a_low, b_low);
    let first = m.imul(a_low, b_high);
    let second = m.imul(a_high, b_low);
    let high = m.imul(a_high, b_high);
    // The sums do not overflow: (2^16 - 1)^2 + 2^16 - 1 is below 2^32.
    let carried = m.ushr_imm(low, 16);
    let first = m.iadd(first, carried);
    let carried = m.iand_imm(first, 0xffff);
    let second = m.iadd(second, carried);
    let first = m.ushr_imm(first, 16);
    let second = m.ushr_imm(second, 16);
    let high = m.iadd(high, first);
    let high = m.iadd(high, second);
    if !is_signed {
        return high;
    }
    // A negative factor contributed 2^32 too much.
    let mut signed = high;
    for (factor, other) in [(a, b), (b, a)] {
        let mask = m.ishr_imm(factor, 31);
        let surplus = m.iand(mask, other);
        signed = m.isub(signed, surplus);
    }
    signed
}

/// Emits a minimum or maximum that orders -0 below 0.
fn ordered_zeros(m: &mut Arithmetic<'_>, op: AluOp, mode: ExecutionMode) -> Option<Def> {
    let flags = m.flags();
    let bits = m.result_bits();
    let kept = sign_of_zero(bits);
    let matters = flags.is_exact() || flags.contains(kept) || mode.preserves_signed_zero(bits);
    if !matters || is_chosen(m.builder.body, m.inst()) {
        return None;
    }
    let (a, b) = (m.source(0), m.source(1));
    m.exact();
    let same = m.feq(a, b);
    let by_bits = m.op(if op == AluOp::Fmin { AluOp::Imin } else { AluOp::Imax }, &[a, b]);
    m.builder.flags = AluFlags(flags.0 & !AluFlags::EXACT.0 & !kept.0);
    let by_value = m.op(op, &[a, b]);
    Some(m.bcsel(same, by_bits, by_value))
}

/// Returns the flag that preserves the sign of zero in floats of a size.
const fn sign_of_zero(bits: u8) -> AluFlags {
    let bit = match bits {
        16 => 0,
        32 => 1,
        _ => 2,
    };
    AluFlags(1 << (AluFlags::FAST_MATH_SHIFT + bit))
}

/// Returns whether the result of a minimum or maximum is used only where its operands differ: the output of
/// [`ordered_zeros`].
fn is_chosen(body: &Body, inst: Inst) -> bool {
    let Some(def) = body.inst_def(inst) else { return false };
    let Some(source) = body.single_use(def) else { return false };
    let User::Inst(select) = body.user(source) else { return false };
    if body.alu_op(select) != Some(AluOp::Bcsel) || body.source_number(source) != 2 {
        return false;
    }
    let test = body.def_inst(body.src(select, 0));
    let operands = |inst: Inst| {
        [0, 1].map(|number| {
            let source = body.source(inst, number);
            (body.src_def(source), body.swizzle(source))
        })
    };
    body.alu_op(test) == Some(AluOp::Feq) && operands(test) == operands(inst)
}

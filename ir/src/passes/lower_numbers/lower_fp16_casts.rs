//! Lowers conversions to 16-bit floats to integer operations, for targets that lack such a conversion or one with the
//! required rounding ([`CompilerOptions::lower_fp16_casts`]).
//!
//! ```text
//! 16 %2 = f2f16_rtz %1     =>     32 %3 = iand %1, 0x7fffffff
//!                                 32 %4 = isub %3, 0x38000000       (the other bias)
//!                                 32 %5 = ushr %4, 13               ... denormals, overflow, NaN, the sign
//! ```
//!
//! To round to the nearest, half of the last place, plus one if the place is odd, is added before the shift. Denormals
//! are integer multiples of 2^-24. Magnitudes from 65520 on become infinite, or, when rounding toward zero, the largest
//! number. `f2f16` uses the shader's rounding mode. 64-bit floats are first converted to 32-bit floats, with the last
//! bit set if any bits were lost ("round to odd"), so that nothing is rounded twice; no operation on 64-bit floats is
//! needed. Where the shader flushes 16-bit denormals, so does the emitted code.
//!
//! Cost: linear.

use crate::alu::{AluOp, ExecutionMode};
use crate::entities::Def;
use crate::options::{CompilerOptions, Fp16Casts};
use crate::passes::lower_numbers::arithmetic::{Arithmetic, replace_alu};
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_fp16_casts(shader: &mut Shader, options: &CompilerOptions) -> bool {
    let wanted = options.lower_fp16_casts;
    if wanted == Fp16Casts::NONE {
        return false;
    }
    let mode = shader.info.float_controls_execution_mode;
    replace_alu(shader, |op, m| {
        let (family, toward_zero) = match op {
            AluOp::F2f16 | AluOp::F2fmp => (Fp16Casts::PLAIN, mode.rounds_toward_zero(16)),
            AluOp::F2f16Rtne => (Fp16Casts::RTNE, false),
            AluOp::F2f16Rtz => (Fp16Casts::RTZ, true),
            _ => return None,
        };
        let bits = m.source_bits(0);
        let is_wanted = wanted.contains(family) && bits >= 32;
        let is_split = wanted.contains(Fp16Casts::FROM_64) && bits == 64;
        if !is_wanted && !is_split {
            return None;
        }
        let value = m.source(0);
        m.exact();
        let value = if bits == 64 { to_odd(m, value) } else { value };
        Some(if is_wanted { narrow(m, value, toward_zero, mode) } else { m.op(op, &[value]) })
    })
}

/// Converts to a 32-bit float toward zero, with the last bit set if that is inexact. Correct for conversion to a 16-bit
/// float: values below all normal numbers become 0.
pub(super) fn to_odd(m: &mut Arithmetic<'_>, value: Def) -> Def {
    let low = m.op(AluOp::Unpack642x32SplitX, &[value]);
    let high = m.op(AluOp::Unpack642x32SplitY, &[value]);
    let sign = m.iand_imm(high, 0x8000_0000);
    let magnitude = m.iand_imm(high, 0x7fff_ffff);
    let mantissa = m.ishl_imm(magnitude, 3);
    let more = m.ushr_imm(low, 29);
    let kept = m.ior(mantissa, more);
    // Shifting exponent and mantissa by 3 loses the upper bits of the exponent; the change of bias compensates for it.
    let rebiased = m.iadd_imm(kept, u64::from(((127 - 1023) << 23) as u32));
    let rest = m.iand_imm(low, 0x1fff_ffff);
    let zero = m.int(0);
    let is_inexact = m.ine(rest, zero);
    let odd = m.b2i32(is_inexact);
    let normal = m.ior(rebiased, odd);
    let least = m.int((1023 - 126) << 20);
    let is_tiny = m.ult(magnitude, least);
    let normal = m.bcsel(is_tiny, zero, normal);
    // Finite numbers stay finite: rounded toward zero, they are not infinite in 16 bits.
    let above = m.int((1023 + 128) << 20);
    let is_huge = m.uge(magnitude, above);
    let largest = m.int(f32::MAX.to_bits());
    let result = m.bcsel(is_huge, largest, normal);
    let infinite = m.int(0x7ff0_0000);
    let is_special = m.uge(magnitude, infinite);
    let fraction = m.iand_imm(magnitude, 0x000f_ffff);
    let fraction = m.ior(fraction, low);
    let is_nan = m.ine(fraction, zero);
    let (infinity, nan) = (m.int(f32::INFINITY.to_bits()), m.int(f32::NAN.to_bits()));
    let special = m.bcsel(is_nan, nan, infinity);
    let result = m.bcsel(is_special, special, result);
    m.ior(result, sign)
}

/// Converts a 32-bit float to a 16-bit float.
fn narrow(m: &mut Arithmetic<'_>, value: Def, toward_zero: bool, mode: ExecutionMode) -> Def {
    let word = narrow_to_word(m, value, toward_zero, mode);
    m.op(AluOp::U2u16, &[word])
}

/// Converts a 32-bit float to the bits of a 16-bit float in a word.
pub(super) fn narrow_to_word(m: &mut Arithmetic<'_>, value: Def, toward_zero: bool, mode: ExecutionMode) -> Def {
    let magnitude = m.iand_imm(value, 0x7fff_ffff);
    // Normal numbers: the bias changes by 112.
    let rebiased = m.iadd_imm(magnitude, u64::from((-112i32 << 23) as u32));
    let rounded = if toward_zero {
        rebiased
    } else {
        let last = m.ushr_imm(magnitude, 13);
        let odd = m.iand_imm(last, 1);
        let up = m.iadd_imm(odd, 0xfff);
        m.iadd(rebiased, up)
    };
    let normal = m.ushr_imm(rounded, 13);
    // Denormals are integer multiples of 2^-24, and 1024 of these give the bits of the smallest normal number.
    let scale = m.int(16_777_216f32.to_bits());
    let scaled = m.fmul(magnitude, scale);
    let whole = if toward_zero { scaled } else { m.op(AluOp::FroundEven, &[scaled]) };
    let denormal = m.op(AluOp::F2u32, &[whole]);
    let least = m.int(0x3880_0000);
    let is_denormal = m.ult(magnitude, least);
    let mut result = m.bcsel(is_denormal, denormal, normal);
    if mode.flushes_denormals(16) {
        let least = m.int(0x400);
        let is_denormal = m.ult(result, least);
        result = m.zero_if(is_denormal, result);
    }
    // 65536 and above; from 65520 on, rounding has that effect.
    let above = m.int(0x4780_0000);
    let is_large = m.uge(magnitude, above);
    let limit = m.int(if toward_zero { 0x7bff } else { 0x7c00 });
    let result = m.bcsel(is_large, limit, result);
    let infinity = m.int(f32::INFINITY.to_bits());
    let is_special = m.uge(magnitude, infinity);
    let is_nan = m.ult(infinity, magnitude);
    let (nan, infinite) = (m.int(0x7e00), m.int(0x7c00));
    let special = m.bcsel(is_nan, nan, infinite);
    let result = m.bcsel(is_special, special, result);
    let sign = m.ushr_imm(value, 16);
    let sign = m.iand_imm(sign, 0x8000);
    m.ior(result, sign)
}

//! Float arithmetic, float comparisons and selections.
//!
//! No operation is fused except `FMA`. Sums of products round at every step, in the order x, y, z, w. `MIN` and `MAX`
//! return the other operand if one is NaN (the second if both are), and the first if both compare equal, which includes
//! two zeros, as in the recorded results. TGSI does not define this and the IR orders zeros, so a translation need not
//! keep the sign of a zero that they return (nor of `LIT`, which uses them).

use super::kernel::{Kernel, boolean, f, float_boolean, single};
use tgsi::tables::Opcode;

/// The factor of `LG2`: log2(e), rounded as in the recorded results.
const LOG2_E: f32 = f32::from_bits(0x3fb8_aa3b);

/// 2 to the power of x.
fn exp2(x: f32) -> f32 {
    2f32.powf(x)
}

/// The logarithm to base 2, computed from the natural one.
fn log2(x: f32) -> f32 {
    x.ln() * LOG2_E
}

/// `a * 2^b`, correctly rounded.
fn ldexp(a: f32, b: i32) -> f32 {
    // Every product is exact in an f64. Larger exponents overflow to infinity or underflow to 0 anyway.
    let scale = f64::from_bits(((b.clamp(-400, 400) + 1023) as u64) << 52);
    (f64::from(a) * scale) as f32
}

pub(super) fn execute(kernel: Kernel<'_>, opcode: Opcode, legacy: bool) -> u8 {
    // With legacy rules, zero times any number is zero.
    let mul = move |a: f32, b: f32| if legacy && (a == 0.0 || b == 0.0) { 0.0 } else { single::mul(a, b) };
    let dot = move |count: usize| {
        move |k: &Kernel<'_>, lane: usize| {
            let mut sum = mul(k.float(1, 0, lane), k.float(0, 0, lane));
            for channel in 1..count {
                sum = single::add(mul(k.float(1, channel, lane), k.float(0, channel, lane)), sum);
            }
            sum.to_bits()
        }
    };
    // A factor that is first in the opcode's definition but second here determines the NaN, as in the recorded results.
    match opcode {
        Opcode::Mov => kernel.map1(|a| a),
        Opcode::Add => kernel.f2(single::add),
        Opcode::Mul => kernel.f2(mul),
        Opcode::Div => kernel.f2(single::div),
        Opcode::Mad => kernel.f3(|a, b, c| single::add(mul(b, a), c)),
        Opcode::Fma => {
            kernel.f3(|a, b, c| if legacy && (a == 0.0 || b == 0.0) { single::add(0.0, c) } else { a.mul_add(b, c) })
        }
        Opcode::Lrp => kernel.f3(|a, b, c| single::add(mul(single::sub(b, c), a), c)),
        Opcode::Min => kernel.f2(single::min),
        Opcode::Max => kernel.f2(single::max),
        Opcode::Frc => kernel.f1(|a| single::sub(a, a.floor())),
        Opcode::Flr => kernel.f1(f32::floor),
        Opcode::Ceil => kernel.f1(f32::ceil),
        Opcode::Trunc => kernel.f1(f32::trunc),
        Opcode::Round => kernel.f1(f32::round_ties_even),
        Opcode::Ssg => kernel.f1(|a| {
            if a > 0.0 {
                1.0
            } else if a < 0.0 {
                -1.0
            } else {
                0.0
            }
        }),
        Opcode::Dp2 => kernel.replicate(dot(2)),
        Opcode::Dp3 => kernel.replicate(dot(3)),
        Opcode::Dp4 => kernel.replicate(dot(4)),
        Opcode::Dst => kernel.vector(|k, lane| {
            let y = mul(k.float(1, 1, lane), k.float(0, 1, lane));
            [1f32.to_bits(), y.to_bits(), k.word(0, 2, lane), k.word(1, 3, lane)]
        }),
        Opcode::Rcp => kernel.scalar(|a| single::div(1.0, a)),
        Opcode::Rsq => kernel.scalar(|a| single::div(1.0, single::sqrt(a))),
        Opcode::Sqrt => kernel.scalar(single::sqrt),
        Opcode::Ex2 => kernel.scalar(exp2),
        Opcode::Lg2 => kernel.scalar(log2),
        Opcode::Sin => kernel.scalar(f32::sin),
        Opcode::Cos => kernel.scalar(f32::cos),
        Opcode::Pow => kernel.replicate(|k, lane| k.float(0, 0, lane).powf(k.float(1, 0, lane)).to_bits()),
        Opcode::Ldexp => kernel.map2(|a, b| ldexp(f(a), b as i32).to_bits()),
        Opcode::Exp => kernel.vector(|k, lane| {
            let a = k.float(0, 0, lane);
            let floor = a.floor();
            [exp2(floor), a - floor, exp2(a), 1.0].map(f32::to_bits)
        }),
        Opcode::Log => kernel.vector(|k, lane| {
            let magnitude = k.float(0, 0, lane).abs();
            let log = log2(magnitude);
            let floor = log.floor();
            [floor, magnitude / exp2(floor), log, 1.0].map(f32::to_bits)
        }),
        Opcode::Lit => kernel.vector(|k, lane| {
            let (x, y, w) = (k.float(0, 0, lane), k.float(0, 1, lane), k.float(0, 3, lane));
            let specular =
                if x > 0.0 { single::max(y, 0.0).powf(single::max(single::min(w, 128.0), -128.0)) } else { 0.0 };
            [1.0, single::max(x, 0.0), specular, 1.0].map(f32::to_bits)
        }),
        Opcode::Slt => kernel.map2(|a, b| float_boolean(f(a) < f(b))),
        Opcode::Sge => kernel.map2(|a, b| float_boolean(f(a) >= f(b))),
        Opcode::Seq => kernel.map2(|a, b| float_boolean(f(a) == f(b))),
        Opcode::Sne => kernel.map2(|a, b| float_boolean(f(a) != f(b))),
        Opcode::Sgt => kernel.map2(|a, b| float_boolean(f(a) > f(b))),
        Opcode::Sle => kernel.map2(|a, b| float_boolean(f(a) <= f(b))),
        Opcode::Fslt => kernel.map2(|a, b| boolean(f(a) < f(b))),
        Opcode::Fsge => kernel.map2(|a, b| boolean(f(a) >= f(b))),
        Opcode::Fseq => kernel.map2(|a, b| boolean(f(a) == f(b))),
        Opcode::Fsne => kernel.map2(|a, b| boolean(f(a) != f(b))),
        Opcode::Cmp => kernel.map3(|a, b, c| if f(a) < 0.0 { b } else { c }),
        // All other opcodes have another class.
        other => {
            other.lacks_code();
            0
        }
    }
}

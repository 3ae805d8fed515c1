//! The opcodes of the ALU on components.

use super::float::{self, Rounding};
use super::integer::{range, saturate, signed};
use super::registers::ones;
use crate::isa::Width;
use crate::isa::alu::{AluOp, Input};

use std::f64::consts::PI;

/// The direction of rounding that an opcode states.
pub(super) fn rounding(op: AluOp) -> Rounding {
    use AluOp::*;
    match op {
        FaddRtz | FmulRtz | FmovRtz | Ftrunc | FfmaRtz | F2iRtz | F2uRtz | I2fRtz | U2fRtz => Rounding::Zero,
        FaddRtn | FmulRtn | FmovRtn | Ffloor | FfmaRtn | F2iRtn | F2uRtn | I2fRtn | U2fRtn => Rounding::Down,
        FaddRtp | FmulRtp | FmovRtp | Fceil | FfmaRtp | F2iRtp | F2uRtp | I2fRtp | U2fRtp => Rounding::Up,
        _ => Rounding::Even,
    }
}

/// Whether an integer result is signed, for saturation.
pub(super) fn has_signed_result(op: AluOp) -> bool {
    use AluOp::*;
    op.row().input == Input::Signed || matches!(op, F2i | F2iRtz | F2iRtn | F2iRtp)
}

/// Applies an operation to the floats of a component. `None` if the opcode has no float result, or no definition.
pub(super) fn float(op: AluOp, a: f64, b: f64, width: Width) -> Option<f64> {
    use AluOp::*;
    let rounding = rounding(op);
    let is_nan = a.is_nan() || b.is_nan();
    Some(match op {
        Fadd | FaddRtz | FaddRtn | FaddRtp => float::add(a, b, width, rounding),
        Fmul | FmulRtz | FmulRtn | FmulRtp => float::multiply(a, b, width, rounding),
        FminNan | FmaxNan | FabsminNan | FabsmaxNan if is_nan => f64::NAN,
        Fmin | FminNan => float::minimum(a, b),
        Fmax | FmaxNan => float::maximum(a, b),
        Fabsmin | FabsminNan => float::minimum(a.abs(), b.abs()),
        Fabsmax | FabsmaxNan => float::maximum(a.abs(), b.abs()),
        Fmov | FmovRtz | FmovRtn | FmovRtp => b,
        Froundeven | Ftrunc | Ffloor | Fceil => float::integral(a, rounding),
        Froundaway => a.round(),
        Frcp | Frsqrt | Fsqrt | Fexp2 | Flog2 | Fsinpi | Fcospi => {
            let value = table(op, a, width)?;
            if value.is_nan() { f64::NAN } else { value }
        }
        _ => return None,
    })
}

/// The functions of the table unit, which are those of the host.
fn table(op: AluOp, a: f64, width: Width) -> Option<f64> {
    if width == Width::W64 {
        return Some(match op {
            AluOp::Frcp => 1.0 / a,
            AluOp::Frsqrt => 1.0 / a.sqrt(),
            AluOp::Fsqrt => a.sqrt(),
            AluOp::Fexp2 => a.exp2(),
            AluOp::Flog2 => a.log2(),
            AluOp::Fsinpi => (PI * a).sin(),
            AluOp::Fcospi => (PI * a).cos(),
            _ => return None,
        });
    }
    let single = a as f32;
    let angle = (PI * a) as f32;
    let value = match op {
        AluOp::Frcp => 1.0 / single,
        AluOp::Frsqrt => 1.0 / single.sqrt(),
        AluOp::Fsqrt => single.sqrt(),
        AluOp::Fexp2 => single.exp2(),
        AluOp::Flog2 => single.log2(),
        AluOp::Fsinpi => angle.sin(),
        AluOp::Fcospi => angle.cos(),
        _ => return None,
    };
    Some(float::from_bits(float::to_bits(value.into(), width, Rounding::Even), width))
}

/// Returns the comparison of an opcode on floats.
pub(super) fn float_comparison(op: AluOp) -> Option<fn(f64, f64) -> bool> {
    use AluOp::*;
    Some(match op {
        Feq | FallEq | FanyEq => |a, b| a == b,
        Fne | FallNe | FanyNe => |a, b| a != b,
        Flt | FallLt | FanyLt => |a, b| a < b,
        Fle | FallLe | FanyLe => |a, b| a <= b,
        _ => return None,
    })
}

/// A comparison of integers.
type IntegerComparison = fn(i128, i128) -> bool;

/// Returns the comparison of an opcode on integers, and whether they are signed.
pub(super) fn integer_comparison(op: AluOp) -> Option<(bool, IntegerComparison)> {
    use AluOp::*;
    Some(match op {
        Ieq | IallEq | IanyEq => (false, |a, b| a == b),
        Ine | IallNe | IanyNe => (false, |a, b| a != b),
        Ult | UallLt | UanyLt => (false, |a, b| a < b),
        Ule | UallLe | UanyLe => (false, |a, b| a <= b),
        Ilt | IallLt | IanyLt => (true, |a, b| a < b),
        Ile | IallLe | IanyLe => (true, |a, b| a <= b),
        _ => return None,
    })
}

/// Whether a reduction needs all components to pass. Others need any.
pub(super) fn needs_all(op: AluOp) -> bool {
    use AluOp::*;
    matches!(op, FallEq | FallNe | FallLt | FallLe | IallEq | IallNe | IallLt | IallLe | UallLt | UallLe)
}

/// Converts a float to an integer.
pub(super) fn float_to_integer(op: AluOp, a: f64, width: Width) -> Option<u64> {
    use AluOp::*;
    let is_signed = match op {
        F2i | F2iRtz | F2iRtn | F2iRtp => true,
        F2u | F2uRtz | F2uRtn | F2uRtp => false,
        _ => return None,
    };
    let (lowest, highest) = range(width, is_signed);
    Some(float::to_integer(a, rounding(op), lowest, highest) as u64 & ones(width))
}

/// Converts an integer to a float.
pub(super) fn integer_to_float(op: AluOp, a: u64, width: Width) -> Option<f64> {
    use AluOp::*;
    let value = match op {
        I2f | I2fRtz | I2fRtn | I2fRtp => signed(a, width),
        U2f | U2fRtz | U2fRtn | U2fRtp => a.into(),
        _ => return None,
    };
    Some(float::from_integer(value, width, rounding(op)))
}

/// Applies an operation to the integers of a component. `None` if the opcode has no integers, or no definition.
pub(super) fn integer(op: AluOp, a: u64, b: u64, width: Width) -> Option<u64> {
    use AluOp::*;
    let (sa, sb) = (signed(a, width), signed(b, width));
    let (ua, ub) = (i128::from(a), i128::from(b));
    let shift = b as u32 & (width.bits() - 1);
    let value = match op {
        Iadd => ua + ub,
        Ishladd => ua * 2 + ub,
        Isub => ua - ub,
        Ishlsub => ua * 2 - ub,
        Iaddsat => saturate(sa + sb, width, true).into(),
        Uaddsat => saturate(ua + ub, width, false).into(),
        Isubsat => saturate(sa - sb, width, true).into(),
        Usubsat => saturate(ua - ub, width, false).into(),
        Imul => a.wrapping_mul(b).into(),
        Imin => sa.min(sb),
        Umin => ua.min(ub),
        Imax => sa.max(sb),
        Umax => ua.max(ub),
        Iavg => (sa + sb) >> 1,
        Uavg => (ua + ub) >> 1,
        Iravg => (sa + sb + 1) >> 1,
        Uravg => (ua + ub + 1) >> 1,
        Iasr => sa >> shift,
        Ilsr => ua >> shift,
        Ishlsat => saturate(sa << shift, width, true).into(),
        Ushlsat => saturate(ua << shift, width, false).into(),
        Ishl => ua << shift,
        Iand => ua & ub,
        Ior => ua | ub,
        Inand => !(ua & ub),
        Inor => !(ua | ub),
        Iandnot => ua & !ub,
        Iornot => ua | !ub,
        Ixor => ua ^ ub,
        Inxor => !(ua ^ ub),
        Iclz => i128::from(a.leading_zeros() - (64 - width.bits())),
        Ipopcnt => a.count_ones().into(),
        Imov => ub,
        Iabsdiff => (sa - sb).abs(),
        Uabsdiff => (ua - ub).abs(),
        _ => return None,
    };
    Some(value as u64 & ones(width))
}

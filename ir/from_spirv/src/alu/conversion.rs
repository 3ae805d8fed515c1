//! Conversions between numbers.

use spirv::{FPRoundingMode, Op};
use tgsi_arithmetic::convert::convert;
use tgsi_arithmetic::{Kind, Sink, exactly};
use tgsi_ir::alu::AluOp;

use super::bits::bitcast;
use super::term::{Class, Fault, Form, Term, is_integer, like_first, like_result, sized};

/// The value of an instruction of [`Subject::Conversion`](super::Subject::Conversion).
pub(super) fn compute<S: Sink>(sink: &mut S, form: &Form, terms: &[Term<S::Value>]) -> Result<S::Value, Fault> {
    let (from, to) = match form.op {
        Op::Bitcast => return bitcast(sink, form, terms),
        Op::QuantizeToF16 => {
            let [x] = like_result(sink, form, terms, Class::Float)?;
            return match form.scalar.bit_size() {
                32 => Ok(sink.one(AluOp::Fquantize2f16, x)),
                _ => Err(Fault::Types("the result is not of 32 bits")),
            };
        }
        Op::ConvertFToU => (Kind::Float, Kind::Uint),
        Op::ConvertFToS => (Kind::Float, Kind::Int),
        Op::ConvertSToF => (Kind::Int, Kind::Float),
        Op::ConvertUToF => (Kind::Uint, Kind::Float),
        Op::UConvert => (Kind::Uint, Kind::Uint),
        Op::SConvert => (Kind::Int, Kind::Int),
        Op::SatConvertSToU => (Kind::Int, Kind::Uint),
        Op::SatConvertUToS => (Kind::Uint, Kind::Int),
        Op::FConvert => (Kind::Float, Kind::Float),
        _ => return Err(Fault::Lacks("")),
    };
    if (to == Kind::Float) != form.scalar.is_float() || to != Kind::Float && !is_integer(form.scalar) {
        return Err(Fault::Types("the result is of another kind"));
    }
    let class = if from == Kind::Float { Class::Float } else { Class::Integer };
    let [x] = like_first(sink, form, terms, class)?;
    let source = terms.first().map_or(0, |term| term.scalar.bit_size());
    let source = tgsi_arithmetic::Scalar::new(from, source);
    let target = sized(to, form.scalar);
    if to == Kind::Float {
        return rounded(sink, form, source, target, x);
    }
    let saturates = form.saturates || matches!(form.op, Op::SatConvertSToU | Op::SatConvertUToS);
    Ok(match (saturates, from) {
        (false, _) => convert(sink, source, target, x),
        (true, Kind::Float) => float_to_integer(sink, source, target, x),
        (true, _) => {
            let x = bounded(sink, source, target, x);
            convert(sink, source, target, x)
        }
    })
}

/// A conversion to floats with a direction of rounding. The nearest float is the usual result.
fn rounded<S: Sink>(
    sink: &mut S,
    form: &Form,
    source: tgsi_arithmetic::Scalar,
    target: tgsi_arithmetic::Scalar,
    x: S::Value,
) -> Result<S::Value, Fault> {
    let is_narrowed = source.kind == Kind::Float && source.bits > 16 && target.bits == 16;
    Ok(match form.rounding {
        Some(FPRoundingMode::RTE) if is_narrowed => sink.one(AluOp::F2f16Rtne, x),
        Some(FPRoundingMode::RTZ) if is_narrowed => sink.one(AluOp::F2f16Rtz, x),
        None | Some(FPRoundingMode::RTE) => convert(sink, source, target, x),
        // A wider float needs no rounding.
        Some(_) if source.kind == Kind::Float && source.bits <= target.bits => convert(sink, source, target, x),
        Some(_) => return Err(Fault::Lacks("no target rounds in this direction")),
    })
}

/// The least and the greatest integer of a type, as bits of 64.
fn bounds(ty: tgsi_arithmetic::Scalar) -> [u64; 2] {
    let all = u64::MAX >> (64 - u32::from(ty.bits.clamp(1, 64)));
    if ty.kind == Kind::Int { [!(all >> 1), all >> 1] } else { [0, all] }
}

/// The integer within the range of the target that is nearest to an integer of the source.
fn bounded<S: Sink>(
    sink: &mut S,
    source: tgsi_arithmetic::Scalar,
    target: tgsi_arithmetic::Scalar,
    mut x: S::Value,
) -> S::Value {
    let [least, greatest] = bounds(target);
    if source.kind == Kind::Int && (target.kind == Kind::Uint || target.bits < source.bits) {
        let least = sink.constant(source.bits, &[least & bounds_mask(source.bits)]);
        x = sink.two(AluOp::Imax, x, least);
    }
    // Bits that hold the value: without the sign.
    let value_bits = |ty: tgsi_arithmetic::Scalar| ty.bits - u8::from(ty.kind == Kind::Int);
    if value_bits(source) > value_bits(target) {
        let greatest = sink.constant(source.bits, &[greatest]);
        x = sink.two(if source.kind == Kind::Int { AluOp::Imin } else { AluOp::Umin }, x, greatest);
    }
    x
}

fn bounds_mask(bits: u8) -> u64 {
    u64::MAX >> (64 - u32::from(bits.clamp(1, 64)))
}

/// The integer nearest to a float that was rounded toward zero; 0 for NaN.
fn float_to_integer<S: Sink>(
    sink: &mut S,
    source: tgsi_arithmetic::Scalar,
    target: tgsi_arithmetic::Scalar,
    x: S::Value,
) -> S::Value {
    exactly(sink, |sink| {
        let [least, greatest] = bounds(target);
        let (limit, floor) = match target.kind {
            Kind::Int => (2f64.powi(i32::from(target.bits) - 1), -(2f64.powi(i32::from(target.bits) - 1))),
            _ => (2f64.powi(i32::from(target.bits)), 0.0),
        };
        let converted = convert(sink, source, target, x);
        let (limit, floor) = (sink.float(x, limit), sink.float(x, floor));
        let mask = bounds_mask(target.bits);
        let (least, greatest) =
            (sink.constant(target.bits, &[least & mask]), sink.constant(target.bits, &[greatest & mask]));
        let zero = sink.constant(target.bits, &[0]);
        let (is_above, is_below) = (sink.two(AluOp::Fge, x, limit), sink.two(AluOp::Flt, x, floor));
        let is_nan = sink.two(AluOp::Fneu, x, x);
        let value = sink.each(AluOp::Bcsel, &[is_above, greatest, converted]);
        let value = sink.each(AluOp::Bcsel, &[is_below, least, value]);
        sink.each(AluOp::Bcsel, &[is_nan, zero, value])
    })
}

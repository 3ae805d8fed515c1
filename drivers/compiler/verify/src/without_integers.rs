//! Open words of results for targets that lack instructions, above all integers: see [`crate::open`].

use tgsi_compiler::Target;
use tgsi_ir::ShaderStage;
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::body::{Body, InstData};
use tgsi_ir::builder::{AluSrc, Builder};
use tgsi_ir::cursor::Cursor;
use tgsi_ir::entities::{Def, Inst};
use tgsi_ir::intrinsics::IntrinsicOp;

use crate::approximations;
use crate::open::UndefinedOperation;

/// Returns the kinds of operations that a target leaves open in shaders of a stage.
pub fn kinds(target: &dyn Target, stage: ShaderStage) -> Vec<&'static UndefinedOperation> {
    let mut kinds: Vec<&UndefinedOperation> = KINDS_EVERYWHERE.iter().collect();
    let fidelity = target.fidelity(stage);
    let lacks_integers = fidelity.lacks_integers;
    for (is_open, open) in [
        (lacks_integers, KINDS_WITHOUT_INTEGERS),
        (lacks_integers && fidelity.lacks_selections, KINDS_WITHOUT_SELECTIONS),
        (lacks_integers && fidelity.lacks_comparisons, KINDS_WITHOUT_COMPARISONS),
    ] {
        kinds.extend(open.iter().filter(|_| is_open));
    }
    kinds.extend(approximations::kinds(&fidelity, target.compiler_options(stage).software_doubles));
    kinds
}

/// Operations that a target without integers leaves open, because its numbers are floats.
const KINDS_WITHOUT_INTEGERS: &[UndefinedOperation] = &[
    // Both parities and all remainders by 3, because the result may depend only on these. Replacements for infinities
    // may differ from the others.
    UndefinedOperation::of("integer that floats do not hold", |body, inst| change_large(body, inst, [MARK; 2], false)),
    UndefinedOperation::of("integer that floats do not hold", |body, inst| change_large(body, inst, [MARK; 2], true)),
    UndefinedOperation::of("integer that floats do not hold", |body, inst| {
        change_large(body, inst, [MARK + 1; 2], false)
    }),
    UndefinedOperation::of("integer that floats do not hold", |body, inst| {
        change_large(body, inst, [MARK + 1; 2], true)
    }),
    UndefinedOperation::of("integer that floats do not hold", |body, inst| {
        change_large(body, inst, [MARK + 2; 2], false)
    }),
    UndefinedOperation::of("integer that floats do not hold", |body, inst| {
        change_large(body, inst, [MARK + 2; 2], true)
    }),
    UndefinedOperation::of("integer that floats do not hold", |body, inst| change_large(body, inst, [0; 2], false)),
    UndefinedOperation::of("integer that floats do not hold", |body, inst| change_large(body, inst, [0; 2], true)),
    UndefinedOperation::of("integer that floats do not hold", |body, inst| change_large(body, inst, [0, MARK], false)),
    UndefinedOperation::of("integer that floats do not hold", |body, inst| change_large(body, inst, [0, MARK], true)),
    UndefinedOperation::of("negative operand of an unsigned operation", make_signed),
    UndefinedOperation::of("negative operand of an unsigned operation", make_floored),
    UndefinedOperation::of("integer that a run-time index leads to", change_indexed),
];

/// Operations that a target leaves open if it multiplies by 0 and 1 instead of selecting.
const KINDS_WITHOUT_SELECTIONS: &[UndefinedOperation] = &[
    UndefinedOperation::of("infinity or NaN that is not selected", change_not_selected),
    UndefinedOperation::of("division of integers by zero", change_division),
];

/// Operations that all targets leave open.
const KINDS_EVERYWHERE: &[UndefinedOperation] = &[
    UndefinedOperation::of("clock", |body, inst| change_clock(body, inst, 3)),
    // A clock that runs backwards.
    UndefinedOperation::of("clock", |body, inst| change_clock(body, inst, u32::MAX)),
];

/// Operations that a target leaves open if it subtracts instead of comparing.
const KINDS_WITHOUT_COMPARISONS: &[UndefinedOperation] =
    &[UndefinedOperation::of("comparison of an infinity or NaN", change_comparison)];

/// Replaces the uses of an instruction's result by the value that `change` computes from it after the instruction.
pub fn change_result(body: &mut Body, inst: Inst, def: Def, change: impl FnOnce(&mut Builder<'_>, AluSrc, u8) -> Def) {
    let readers = body.uses_vec(def);
    let count = body.num_components(def);
    let mut b = Builder::new(body, Cursor::After(inst));
    let result = change(&mut b, def.into(), count);
    readers.into_iter().for_each(|reader| body.set_src(reader, result));
}

/// Tests whether the magnitude of a float is below a bound.
fn is_below(b: &mut Builder<'_>, number: AluSrc, count: u8, bound: f32) -> AluSrc {
    let magnitude = b.alu_sized(AluOp::Fabs, count, &[number]);
    let bound = b.f32_const(bound);
    b.alu_sized(AluOp::Flt, count, &[magnitude.into(), AluSrc::component(bound, 0)]).into()
}

/// The first integer with a neighbour that is not a 32-bit float.
const LARGE: u32 = 1 << 24;

/// A large integer that is NaN as a float.
const MARK: u32 = 0x7fc0_0155;

/// Changes integers of at least [`LARGE`]. A conversion of such a float gives the first of `converted`, one of an
/// infinity or NaN gives the second; an operation that computes such an integer gives another one; its conversion to a
/// float gives NaN. With `compares_otherwise`, comparisons of such integers have the opposite result.
fn change_large(body: &mut Body, inst: Inst, converted: [u32; 2], compares_otherwise: bool) -> bool {
    let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return false };
    let is_small = |b: &mut Builder<'_>, number: AluSrc, count: u8| -> AluSrc {
        let (bound, size) = (b.u32_const(LARGE), b.u32_const(2 * LARGE));
        let distance = b.alu_sized(AluOp::Iadd, count, &[number, AluSrc::component(bound, 0)]);
        b.alu_sized(AluOp::Ult, count, &[distance.into(), AluSrc::component(size, 0)]).into()
    };
    let is_integer = matches!(op.info().output_type.base, BaseType::Int | BaseType::Uint);
    let operands: Vec<AluSrc> = body.sources(inst).map(|source| AluSrc::of(body, source)).collect();
    let operand = operands.first().copied();
    let is_word = |value: Def| body.bit_size(value) == 32;
    match (op, operand) {
        (AluOp::F2i32 | AluOp::F2u32, Some(number)) if is_word(number.def) => {
            change_result(body, inst, def, |b, result, count| {
                let is_small = is_below(b, number, count, LARGE as f32);
                let is_finite = is_below(b, number, count, f32::INFINITY);
                let [finite, infinite] = converted.map(|word| AluSrc::component(b.u32_const(word), 0));
                let converted = b.alu_sized(AluOp::Bcsel, count, &[is_finite, finite, infinite]);
                b.alu_sized(AluOp::Bcsel, count, &[is_small, result, converted.into()])
            });
        }
        (AluOp::I2f32 | AluOp::U2f32, Some(number)) if is_word(number.def) => {
            change_result(body, inst, def, |b, result, count| {
                let is_small = is_small(b, number, count);
                let nan = b.f32_const(f32::NAN);
                b.alu_sized(AluOp::Bcsel, count, &[is_small, result, AluSrc::component(nan, 0)])
            });
        }
        // The operands of these are untyped.
        (AluOp::Iand | AluOp::Ior | AluOp::Ixor | AluOp::Inot | AluOp::Bcsel, _) => return false,
        // An integer that is NaN to the target may compare in any way.
        (AluOp::Ieq | AluOp::Ine | AluOp::Ilt | AluOp::Ige | AluOp::Ult | AluOp::Uge, Some(number))
            if compares_otherwise
                && is_word(number.def)
                && operands.iter().all(|operand| body.def_constant(operand.def).is_none()) =>
        {
            change_result(body, inst, def, |b, result, count| {
                let small: Vec<AluSrc> = operands.iter().map(|&operand| is_small(b, operand, count)).collect();
                let both = b.alu_sized(AluOp::Iand, count, &small);
                let other = b.alu_sized(AluOp::Inot, count, &[result]);
                b.alu_sized(AluOp::Bcsel, count, &[both.into(), result, other.into()])
            });
        }
        (AluOp::Idiv | AluOp::Udiv | AluOp::Imod | AluOp::Irem | AluOp::Umod, Some(number)) if is_word(def) => {
            change_result(body, inst, def, |b, result, count| {
                let is_small = is_small(b, number, count);
                let other = b.u32_const(converted[0]);
                b.alu_sized(AluOp::Bcsel, count, &[is_small, result, AluSrc::component(other, 0)])
            });
        }
        _ if is_integer && is_word(def) && !op.is_vec_or_mov() => {
            change_result(body, inst, def, |b, result, count| {
                let mut is_small = is_small(b, result, count);
                // Products may wrap around to a small number.
                if let (AluOp::Imul, &[first, second]) = (op, &operands[..]) {
                    let factors = [first, second].map(|operand| b.alu_sized(AluOp::I2f32, count, &[operand]).into());
                    let product = b.alu_sized(AluOp::Fmul, count, &factors);
                    let is_in_range = is_below(b, product.into(), count, LARGE as f32);
                    is_small = b.alu_sized(AluOp::Iand, count, &[is_small, is_in_range]).into();
                }
                let difference = b.u32_const(0x155);
                let other = b.alu_sized(AluOp::Iadd, count, &[result, AluSrc::component(difference, 0)]);
                b.alu_sized(AluOp::Bcsel, count, &[is_small, result, other.into()])
            });
        }
        _ => return false,
    }
    true
}

/// Turns an unsigned operation into the signed one, because floats have a sign.
fn make_signed(body: &mut Body, inst: Inst) -> bool {
    use AluOp::*;
    let Some((op, flags)) = body.alu(inst) else { return false };
    let signed = match op {
        Ult => Ilt,
        Uge => Ige,
        Udiv => Idiv,
        Umod => Irem,
        Umin => Imin,
        Umax => Imax,
        Ushr => Ishr,
        U2f32 => I2f32,
        _ => return false,
    };
    body.set_inst(inst, InstData::Alu { op: signed, flags });
    true
}

/// Turns an unsigned division into one that rounds down, because a target computes quotients of floats with a sign by
/// the floor.
fn make_floored(body: &mut Body, inst: Inst) -> bool {
    let (Some((op, flags)), Some(def)) = (body.alu(inst), body.inst_def(inst)) else { return false };
    if op == AluOp::Udiv && body.bit_size(def) == 32 {
        let [number, divisor] = [0, 1].map(|source| AluSrc::of(body, body.source(inst, source)));
        change_result(body, inst, def, |b, _, count| {
            let remainder = b.alu_sized(AluOp::Imod, count, &[number, divisor]);
            let multiple = b.alu_sized(AluOp::Isub, count, &[number, remainder.into()]);
            b.alu_sized(AluOp::Idiv, count, &[multiple.into(), divisor])
        });
        return true;
    }
    if op != AluOp::Umod {
        return make_signed(body, inst);
    }
    body.set_inst(inst, InstData::Alu { op: AluOp::Imod, flags });
    true
}

/// Changes constants loaded with a run-time index if they are integers, which are denormals as floats: the target does
/// not know that they are integers.
fn change_indexed(body: &mut Body, inst: Inst) -> bool {
    use IntrinsicOp::{LoadUbo, LoadUboVec4, LoadUniform};
    let is_load = matches!(body.intrinsic(inst), Some(LoadUniform | LoadUbo | LoadUboVec4));
    let Some(def) = body.inst_def(inst).filter(|_| is_load) else { return false };
    let is_known = body.sources(inst).all(|source| body.def_constant(body.src_def(source)).is_some());
    if is_known || body.bit_size(def) != 32 {
        return false;
    }
    change_result(body, inst, def, |b, result, count| {
        let is_tiny = is_below(b, result, count, f32::MIN_POSITIVE);
        let (zero, nan) = (b.u32_const(0), b.f32_const(f32::NAN));
        let is_zero = b.alu_sized(AluOp::Ieq, count, &[result, AluSrc::component(zero, 0)]);
        let tiny = b.alu_sized(AluOp::Bcsel, count, &[is_zero.into(), result, AluSrc::component(nan, 0)]);
        b.alu_sized(AluOp::Bcsel, count, &[is_tiny, tiny.into(), result])
    });
    true
}

/// Changes the result of a selection of 32-bit values to NaN if the other value is infinite or NaN.
fn change_not_selected(body: &mut Body, inst: Inst) -> bool {
    let is_selection = matches!(body.alu_op(inst), Some(AluOp::Bcsel | AluOp::Fcsel));
    let Some(def) = body.inst_def(inst).filter(|_| is_selection) else { return false };
    let [condition, first, second] = [0, 1, 2].map(|number| AluSrc::of(body, body.source(inst, number)));
    // Masks are integers.
    let is_constant = |source: AluSrc| body.def_constant(source.def).is_some();
    if body.bit_size(def) != 32 || is_constant(first) && is_constant(second) {
        return false;
    }
    let op = body.alu_op(inst).unwrap_or(AluOp::Bcsel);
    change_result(body, inst, def, |b, result, count| {
        let other = b.alu_sized(op, count, &[condition, second, first]);
        let is_finite = is_below(b, other.into(), count, f32::INFINITY);
        let nan = b.f32_const(f32::NAN);
        b.alu_sized(AluOp::Bcsel, count, &[is_finite, result, AluSrc::component(nan, 0)])
    });
    true
}

/// Changes the result of an integer division by zero to a large integer, which becomes NaN as a float.
fn change_division(body: &mut Body, inst: Inst) -> bool {
    use AluOp::*;
    let is_division = matches!(body.alu_op(inst), Some(Idiv | Udiv | Imod | Irem | Umod));
    let Some(def) = body.inst_def(inst).filter(|_| is_division) else { return false };
    let divisor = AluSrc::of(body, body.source(inst, 1));
    if body.bit_size(def) != 32 {
        return false;
    }
    change_result(body, inst, def, |b, result, count| {
        let (zero, large) = (b.u32_const(0), b.u32_const(MARK));
        let is_zero = b.alu_sized(Ieq, count, &[divisor, AluSrc::component(zero, 0)]);
        b.alu_sized(Bcsel, count, &[is_zero.into(), AluSrc::component(large, 0), result])
    });
    true
}

/// Changes the value and the rate of a clock.
fn change_clock(body: &mut Body, inst: Inst, pace: u32) -> bool {
    let is_clock = body.intrinsic(inst) == Some(IntrinsicOp::ShaderClock);
    let Some(def) = body.inst_def(inst).filter(|_| is_clock) else { return false };
    change_result(body, inst, def, |b, result, count| {
        let (pace, start) = (b.u32_const(pace), b.u32_const(pace.wrapping_mul(7)));
        let time = b.alu_sized(AluOp::Imul, count, &[result, AluSrc::component(pace, 0)]);
        b.alu_sized(AluOp::Iadd, count, &[time.into(), AluSrc::component(start, 0)])
    });
    true
}

/// Inverts comparisons with an infinite or NaN operand.
fn change_comparison(body: &mut Body, inst: Inst) -> bool {
    use AluOp::*;
    let is_number = matches!(body.alu_op(inst), Some(Slt | Sge | Seq | Sne));
    let is_comparison = is_number || matches!(body.alu_op(inst), Some(Flt | Fge | Feq | Fneu));
    let Some(def) = body.inst_def(inst).filter(|_| is_comparison) else { return false };
    let operands = [0, 1].map(|number| AluSrc::of(body, body.source(inst, number)));
    if operands.iter().any(|operand| body.bit_size(operand.def) != 32) {
        return false;
    }
    change_result(body, inst, def, |b, result, count| {
        let [first, second] = operands.map(|operand| is_below(b, operand, count, f32::INFINITY));
        let both = b.alu_sized(Iand, count, &[first, second]);
        let other = if is_number {
            let one = b.f32_const(1.0);
            let negated = b.alu_sized(Fneg, count, &[result]);
            b.alu_sized(Fadd, count, &[AluSrc::component(one, 0), negated.into()])
        } else {
            b.alu_sized(Inot, count, &[result])
        };
        b.alu_sized(Bcsel, count, &[both.into(), result, other.into()])
    });
    true
}

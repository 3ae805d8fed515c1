//! Open words of results for targets that lack instructions, above all integers: see [`crate::open`].

use tgsi_compiler::Target;
use tgsi_ir::ShaderStage;
use tgsi_ir::Shape;
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::body::{Body, InstData};
use tgsi_ir::builder::{AluSrc, Builder};
use tgsi_ir::cursor::Cursor;
use tgsi_ir::entities::{Def, Inst};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use crate::open::{
    UndefinedOperation, change_address, change_uniform_address, flush_projection, flush_reciprocal,
    multiply_by_reciprocal,
};

/// Returns the kinds of operations that a target leaves open in shaders of a stage.
pub fn kinds(target: &dyn Target, stage: ShaderStage) -> Vec<&'static UndefinedOperation> {
    let mut kinds: Vec<&UndefinedOperation> = KINDS_EVERYWHERE.iter().collect();
    let fidelity = target.fidelity(stage);
    let lacks_integers = fidelity.lacks_integers;
    for (is_open, open) in [
        (lacks_integers, KINDS_WITHOUT_INTEGERS),
        (lacks_integers && fidelity.lacks_selections, KINDS_WITHOUT_SELECTIONS),
        (lacks_integers && fidelity.lacks_comparisons, KINDS_WITHOUT_COMPARISONS),
        (fidelity.approximations.contains(&AluOp::Fsin), KINDS_WITHOUT_PERIODIC),
        (fidelity.approximations.contains(&AluOp::Fpow), KINDS_WITHOUT_POWERS),
        (fidelity.approximations.contains(&AluOp::Fdiv), KINDS_WITHOUT_DIVISION),
        (fidelity.approximations.contains(&AluOp::Frsq), KINDS_WITHOUT_ROOTS),
        (fidelity.approximations.contains(&AluOp::FlrpMad), KINDS_WITHOUT_INTERPOLATION),
        (fidelity.approximations.contains(&AluOp::Fadd), KINDS_WITHOUT_PRODUCTS),
        (target.compiler_options(stage).software_doubles, KINDS_OF_DOUBLES),
        (fidelity.loads_words, KINDS_BY_WORDS),
        (fidelity.aligns_addresses, KINDS_WITHOUT_ALIGNMENT),
    ] {
        kinds.extend(open.iter().filter(|_| is_open));
    }
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

/// Operations that a target leaves open if it approximates sines and cosines: the absolute error grows with the angle.
const KINDS_WITHOUT_PERIODIC: &[UndefinedOperation] = &[
    UndefinedOperation::of_error("error of a sine or cosine", |body, inst| change_periodic(body, inst, 1.0)),
    UndefinedOperation::of_error("error of a sine or cosine", |body, inst| change_periodic(body, inst, -1.0)),
];

/// Operations that a target leaves open if it computes powers by logarithms: the relative error grows with the
/// exponent.
const KINDS_WITHOUT_POWERS: &[UndefinedOperation] = &[
    UndefinedOperation::of_error("error of a power", |body, inst| change_power(body, inst, 1.0)),
    UndefinedOperation::of_error("error of a power", |body, inst| change_power(body, inst, -1.0)),
];

/// Operations that a target leaves open if it multiplies by the reciprocal instead of dividing.
const KINDS_WITHOUT_DIVISION: &[UndefinedOperation] = &[
    UndefinedOperation::of("quotient that is a product", change_quotient),
    UndefinedOperation::of("projection by a product", multiply_by_reciprocal),
    UndefinedOperation::of("denormal projector of a lookup", flush_projection),
    UndefinedOperation::of("projector with a denormal reciprocal", flush_reciprocal),
    UndefinedOperation::of("unpacked number", |body, inst| change_unpacked(body, inst, 1.0)),
    UndefinedOperation::of("unpacked number", |body, inst| change_unpacked(body, inst, -1.0)),
];

/// Operations that a target leaves open if its reciprocal square root ignores the sign, or if it divides by a root.
const KINDS_WITHOUT_ROOTS: &[UndefinedOperation] =
    &[UndefinedOperation::of("root of zero or a negative number", change_root)];

/// Operations that a target leaves open if it weights both ends of an interpolation.
const KINDS_WITHOUT_INTERPOLATION: &[UndefinedOperation] =
    &[UndefinedOperation::of_error("interpolation of ends of different magnitude", change_interpolation)];

/// Operations that a target leaves open if it computes doubles by integers: the last place of quotients and roots.
const KINDS_OF_DOUBLES: &[UndefinedOperation] = &[
    UndefinedOperation::of("quotient or root of doubles", |body, inst| change_double(body, inst, 1)),
    UndefinedOperation::of("quotient or root of doubles", |body, inst| change_double(body, inst, u64::MAX)),
];

/// Operations that a target leaves open if it loads those words of a buffer that exist.
const KINDS_BY_WORDS: &[UndefinedOperation] =
    &[UndefinedOperation::of("load that is partly beyond a buffer", split_load)];

/// Operations that a target leaves open if it rounds addresses down.
const KINDS_WITHOUT_ALIGNMENT: &[UndefinedOperation] = &[
    UndefinedOperation::of("uniform at an address that is not a multiple of four", change_uniform_address),
    UndefinedOperation::of("buffer at an address that is not a multiple of four", change_address),
];

/// Operations that a target leaves open if it does not round products that are added.
const KINDS_WITHOUT_PRODUCTS: &[UndefinedOperation] = &[
    UndefinedOperation::of("product that is added", |body, inst| change_sum(body, inst, 1)),
    UndefinedOperation::of("product that is added", |body, inst| change_sum(body, inst, 0)),
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

/// Adds units in the last place to a quotient or root of doubles.
fn change_double(body: &mut Body, inst: Inst, units: u64) -> bool {
    let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return false };
    let is_inexact = matches!(op, AluOp::Frcp | AluOp::Fdiv | AluOp::Fsqrt | AluOp::Frsq);
    if !is_inexact || body.bit_size(def) != 64 {
        return false;
    }
    change_result(body, inst, def, |b, result, count| {
        let units = b.constant(64, &[units]);
        b.alu_sized(AluOp::Iadd, count, &[result, AluSrc::component(units, 0)])
    });
    true
}

/// Replaces a load of several words from a storage buffer by loads of one word.
fn split_load(body: &mut Body, inst: Inst) -> bool {
    let Some(def) = body.inst_def(inst).filter(|_| body.intrinsic(inst) == Some(IntrinsicOp::LoadSsbo)) else {
        return false;
    };
    if body.bit_size(def) != 32 || body.num_components(def) == 1 {
        return false;
    }
    let [buffer, address] = [0, 1].map(|number| body.src(inst, number));
    change_result(body, inst, def, |b, _, count| {
        let words: Vec<AluSrc> = (0..u32::from(count))
            .map(|word| {
                let offset = b.u32_const(word * 4);
                let address = b.alu(AluOp::Iadd, &[address, offset]);
                let alignment = [(IndexKind::AlignMul, 4)];
                b.intrinsic_def(IntrinsicOp::LoadSsbo, &[buffer, address], &alignment, Shape::new(1, 32)).into()
            })
            .collect();
        b.vec(&words)
    });
    true
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

/// Adds the error bound to a sine or cosine, or subtracts it: 2e-6 plus a part proportional to the angle.
fn change_periodic(body: &mut Body, inst: Inst, sign: f32) -> bool {
    let is_periodic = matches!(body.alu_op(inst), Some(AluOp::Fsin | AluOp::Fcos));
    let Some(def) = body.inst_def(inst).filter(|&def| is_periodic && body.bit_size(def) == 32) else { return false };
    let angle = AluSrc::of(body, body.source(inst, 0));
    change_result(body, inst, def, |b, result, count| {
        let magnitude = b.alu_sized(AluOp::Fabs, count, &[angle]);
        let [relative, least] =
            [sign / (1 << 21) as f32, sign * 2e-6].map(|word| AluSrc::component(b.f32_const(word), 0));
        let error = b.alu_sized(AluOp::Fmul, count, &[magnitude.into(), relative]);
        let error = b.alu_sized(AluOp::Fadd, count, &[error.into(), least]);
        b.alu_sized(AluOp::Fadd, count, &[result, error.into()])
    });
    true
}

/// Multiplies a power by 1 plus its relative error bound, or 1 minus it: the error of the logarithm times the exponent.
fn change_power(body: &mut Body, inst: Inst, sign: f32) -> bool {
    let is_power = body.alu_op(inst) == Some(AluOp::Fpow);
    let Some(def) = body.inst_def(inst).filter(|&def| is_power && body.bit_size(def) == 32) else { return false };
    let [base, exponent] = [0, 1].map(|number| AluSrc::of(body, body.source(inst, number)));
    change_result(body, inst, def, |b, result, count| {
        let logarithm = b.alu_sized(AluOp::Flog2, count, &[base]);
        let product = b.alu_sized(AluOp::Fmul, count, &[logarithm.into(), exponent]);
        let magnitude = b.alu_sized(AluOp::Fabs, count, &[product.into()]);
        let [relative, one] = [sign / (1 << 21) as f32, 1.0].map(|word| AluSrc::component(b.f32_const(word), 0));
        let error = b.alu_sized(AluOp::Fmul, count, &[magnitude.into(), relative]);
        let factor = b.alu_sized(AluOp::Fadd, count, &[error.into(), one]);
        b.alu_sized(AluOp::Fmul, count, &[result, factor.into()])
    });
    true
}

/// Replaces a quotient by the product with the reciprocal.
fn change_quotient(body: &mut Body, inst: Inst) -> bool {
    let is_quotient = body.alu_op(inst) == Some(AluOp::Fdiv);
    let Some(def) = body.inst_def(inst).filter(|&def| is_quotient && body.bit_size(def) == 32) else { return false };
    let [dividend, divisor] = [0, 1].map(|number| AluSrc::of(body, body.source(inst, number)));
    change_result(body, inst, def, |b, _, count| {
        let reciprocal = b.alu_sized(AluOp::Frcp, count, &[divisor]);
        b.alu_sized(AluOp::Fmul, count, &[dividend, reciprocal.into()])
    });
    true
}

/// Adds products without rounding them: the operand of a sum, if it is a product, preferably that with a number; all but
/// the last product of a dot product.
fn change_sum(body: &mut Body, inst: Inst, preferred: usize) -> bool {
    let (Some((op, flags)), Some(def)) = (body.alu(inst), body.inst_def(inst)) else { return false };
    if flags.is_exact() || body.bit_size(def) != 32 {
        return false;
    }
    match op {
        AluOp::Fadd => {
            let operands = [0, 1].map(|number| AluSrc::of(body, body.source(inst, number)));
            let Some((number, factors)) = [preferred, 1 - preferred]
                .into_iter()
                .find_map(|number| Some((number, factors(body, operands[number])?)))
            else {
                return false;
            };
            change_result(body, inst, def, |b, _, count| {
                b.alu_sized(AluOp::Ffma, count, &[factors[0], factors[1], operands[1 - number]])
            });
        }
        AluOp::Fdot2 | AluOp::Fdot3 | AluOp::Fdot4 => {
            let operands = [0, 1].map(|number| AluSrc::of(body, body.source(inst, number)));
            let width = op.info().input_sizes[0];
            change_result(body, inst, def, |b, _, _| {
                let factors =
                    |c: u8| operands.map(|operand| AluSrc::component(operand.def, operand.swizzle.get(usize::from(c))));
                let last = factors(width - 1);
                let sum = b.alu_sized(AluOp::Fmul, 1, &last);
                (0..width - 1).rev().fold(sum, |sum, c| {
                    let [x, y] = factors(c);
                    b.alu_sized(AluOp::Ffma, 1, &[x, y, sum.into()])
                })
            });
        }
        _ => return false,
    }
    true
}

/// The factors of an operand that is a product or its negation.
fn factors(body: &mut Body, operand: AluSrc) -> Option<[AluSrc; 2]> {
    let mut producer = body.def_inst(operand.def);
    let mut swizzle = operand.swizzle;
    let is_negated = body.alu_op(producer) == Some(AluOp::Fneg);
    if is_negated {
        let inner = AluSrc::of(body, body.source(producer, 0));
        swizzle = swizzle.compose(inner.swizzle);
        producer = body.def_inst(inner.def);
    }
    let (op, flags) = body.alu(producer)?;
    if op != AluOp::Fmul || flags.is_exact() {
        return None;
    }
    let mut factors = [0, 1].map(|number| {
        let factor = AluSrc::of(body, body.source(producer, number));
        AluSrc::new(factor.def, swizzle.compose(factor.swizzle))
    });
    if is_negated {
        let count = body.num_components(factors[0].def);
        let mut b = Builder::new(body, Cursor::After(producer));
        factors[0].def = b.alu_sized(AluOp::Fneg, count, &[factors[0].def.into()]);
    }
    Some(factors)
}

/// Changes the last bits of a normalized number.
fn change_unpacked(body: &mut Body, inst: Inst, sign: f32) -> bool {
    use AluOp::{UnpackSnorm2x16, UnpackSnorm4x8, UnpackUnorm2x16, UnpackUnorm4x8};
    let op = body.alu_op(inst);
    let is_unpacked = matches!(op, Some(UnpackSnorm2x16 | UnpackSnorm4x8 | UnpackUnorm2x16 | UnpackUnorm4x8));
    let Some(def) = body.inst_def(inst).filter(|_| is_unpacked) else { return false };
    change_result(body, inst, def, |b, result, count| {
        let factor = AluSrc::component(b.f32_const(1.0 + sign / (1 << 22) as f32), 0);
        b.alu_sized(AluOp::Fmul, count, &[result, factor])
    });
    true
}

/// Replaces the reciprocal square root of a negative number by that of the magnitude, and that of 0 by 0.
fn change_root(body: &mut Body, inst: Inst) -> bool {
    let is_root = body.alu_op(inst) == Some(AluOp::Frsq);
    let Some(def) = body.inst_def(inst).filter(|&def| is_root && body.bit_size(def) == 32) else { return false };
    let operand = AluSrc::of(body, body.source(inst, 0));
    change_result(body, inst, def, |b, result, count| {
        let zero = AluSrc::component(b.f32_const(0.0), 0);
        let magnitude = b.alu_sized(AluOp::Fabs, count, &[operand]);
        let root = b.alu_sized(AluOp::Frsq, count, &[magnitude.into()]);
        let is_zero = b.alu_sized(AluOp::Feq, count, &[operand, zero]);
        let other = b.alu_sized(AluOp::Bcsel, count, &[is_zero.into(), zero, root.into()]);
        let is_positive = b.alu_sized(AluOp::Flt, count, &[zero, operand]);
        b.alu_sized(AluOp::Bcsel, count, &[is_positive.into(), result, other.into()])
    });
    true
}

/// Replaces an interpolation by the sum of both ends with their weights.
fn change_interpolation(body: &mut Body, inst: Inst) -> bool {
    let is_interpolation = body.alu_op(inst) == Some(AluOp::FlrpMad);
    let Some(def) = body.inst_def(inst).filter(|_| is_interpolation) else { return false };
    let [weight, first, second] = [0, 1, 2].map(|number| AluSrc::of(body, body.source(inst, number)));
    change_result(body, inst, def, |b, _, count| {
        let one = AluSrc::component(b.f32_const(1.0), 0);
        let negated = b.alu_sized(AluOp::Fneg, count, &[weight]);
        let rest = b.alu_sized(AluOp::Fadd, count, &[one, negated.into()]);
        let product = b.alu_sized(AluOp::Fmul, count, &[rest.into(), second]);
        b.alu_sized(AluOp::Fmad, count, &[weight, first, product.into()])
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

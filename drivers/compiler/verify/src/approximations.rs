//! Open words of results for targets that approximate operations on floats, or access memory by words: see
//! [`crate::open`].

use tgsi_compiler::Fidelity;
use tgsi_ir::Shape;
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::body::Body;
use tgsi_ir::builder::{AluSrc, Builder};
use tgsi_ir::cursor::Cursor;
use tgsi_ir::entities::Inst;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use crate::open::{
    UndefinedOperation, change_address, change_uniform_address, flush_projection, flush_reciprocal,
    multiply_by_reciprocal,
};
use crate::without_integers::change_result;

/// Returns the kinds of operations that a target leaves open by its fidelity, or because it computes doubles by
/// integers.
pub fn kinds(fidelity: &Fidelity, has_software_doubles: bool) -> impl Iterator<Item = &'static UndefinedOperation> {
    let approximates = |op| fidelity.approximations.contains(&op);
    [
        (approximates(AluOp::Fsin), KINDS_WITHOUT_PERIODIC),
        (approximates(AluOp::Fpow), KINDS_WITHOUT_POWERS),
        (approximates(AluOp::Fdiv), KINDS_WITHOUT_DIVISION),
        (approximates(AluOp::Frsq), KINDS_WITHOUT_ROOTS),
        (approximates(AluOp::FlrpMad), KINDS_WITHOUT_INTERPOLATION),
        (approximates(AluOp::Fadd), KINDS_WITHOUT_PRODUCTS),
        (has_software_doubles, KINDS_OF_DOUBLES),
        (fidelity.loads_words, KINDS_BY_WORDS),
        (fidelity.aligns_addresses, KINDS_WITHOUT_ALIGNMENT),
    ]
    .into_iter()
    .filter(|(is_open, _)| *is_open)
    .flat_map(|(_, kinds)| kinds)
}

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

/// Operations that a target leaves open if it computes doubles by integers: the last place of quotients and roots, and
/// the bits of NaN.
const KINDS_OF_DOUBLES: &[UndefinedOperation] = &[
    UndefinedOperation::of("NaN of doubles", change_double_nan),
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

/// Changes the bits of a NaN that an operation on doubles returns.
fn change_double_nan(body: &mut Body, inst: Inst) -> bool {
    let (Some(op), Some(def)) = (body.alu_op(inst), body.inst_def(inst)) else { return false };
    if op.is_vec_or_mov() || op.info().output_type.base != BaseType::Float || body.bit_size(def) != 64 {
        return false;
    }
    change_result(body, inst, def, |b, result, count| {
        let is_nan = b.alu_sized(AluOp::Fneu, count, &[result, result]);
        let other = b.constant(64, &[0x7ff8_0000_0000_0155]);
        b.alu_sized(AluOp::Bcsel, count, &[is_nan.into(), AluSrc::component(other, 0), result])
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

/// Adds products without rounding them: the operand of a sum, if it is a product, preferably that with a number; of a
/// dot product all products except the last one.
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

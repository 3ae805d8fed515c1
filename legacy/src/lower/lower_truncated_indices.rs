//! Simplifies the truncation of indices, for targets without `TRUNC`, `FLR` and `CMP`.
//!
//! ```text
//! 32 %2 = fabs %1                        32 %2 = fabs %1
//! 32 %3 = ffract %2                      32 %3 = ffract %2
//! 32 %4 = fneg %3                        32 %4 = slt %1, 0.0
//! 32 %5 = fadd %2, %4                    32 %5 = fmad %3, %4, %1
//! 32 %6 = sge %1, 0.0                    32 %6 = ffloor %5
//! 32 %7 = fneg %5                  =>
//! 32 %8 = fmad %5, %6, %7
//! 32 %9 = fmad %5, %6, %8
//! 32 %a = ffloor %9
//! ```
//!
//! Loading an address register takes the floor. A number used only through its floor therefore need not be whole: a
//! positive number is kept, and a negative one is rounded up to the next whole number. That has the same floor as the
//! truncated number, including NaN and infinities.

use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, Shader, User};

use super::lower_float_comparisons::{is_zero, operand, through};

/// Lowers all functions. Returns whether anything changed.
pub(crate) fn lower_truncated_indices(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                let Some(def) = body.inst_def(inst).filter(|&def| only_floor_is_read(body, def)) else { continue };
                let count = body.num_components(def);
                let Some((number, fraction)) = truncated(body, inst, usize::from(count)) else { continue };
                let mut b = Builder::new(body, Cursor::Before(inst));
                let zero = b.f32_const(0.0);
                let is_negative = b.alu_sized(AluOp::Slt, count, &[number, AluSrc::component(zero, 0)]);
                let sum = b.alu_sized(AluOp::Fmad, count, &[fraction, is_negative.into(), number]);
                body.replace_all_uses(def, sum);
                progress = true;
            }
        }
    }
    progress
}

/// Whether a value has uses, all of which take its floor. A conversion to an integer truncates, which gives the same:
/// negative results are whole.
fn only_floor_is_read(body: &Body, def: Def) -> bool {
    let takes_floor = |source| match body.user(source) {
        User::Inst(user) => matches!(body.alu_op(user), Some(AluOp::Ffloor | AluOp::F2i32)),
        User::If(_) => false,
    };
    let mut uses = body.uses_of(def).peekable();
    uses.peek().is_some() && uses.all(takes_floor)
}

fn op(body: &Body, source: AluSrc) -> Option<AluOp> {
    body.alu_op(body.def_inst(source.def))
}

/// The number truncated by an instruction and the fraction of its magnitude, if it truncates.
fn truncated(body: &Body, inst: Inst, count: usize) -> Option<(AluSrc, AluSrc)> {
    if body.alu_op(inst) != Some(AluOp::Fmad) {
        return None;
    }
    let [a, b, addend] = [0, 1, 2].map(|number| operand(body, inst, number));
    with_sign(body, a, b, addend, count).or_else(|| with_sign(body, b, a, addend, count))
}

/// The number with the truncated magnitude `whole`, if `whole * sign + addend` restores its sign, and the fraction
/// removed.
fn with_sign(body: &Body, whole: AluSrc, sign: AluSrc, addend: AluSrc, count: usize) -> Option<(AluSrc, AluSrc)> {
    if op(body, sign) != Some(AluOp::Sge) || op(body, addend) != Some(AluOp::Fmad) {
        return None;
    }
    let number = through(body, sign, 0);
    let [a, b, negative] = [0, 1, 2].map(|source| through(body, addend, source));
    let is = |one: AluSrc, other: AluSrc| one.equals(body, other, count);
    let is_negative = |source: AluSrc| op(body, source) == Some(AluOp::Fneg) && is(through(body, source, 0), whole);
    let same_factors = (is(a, whole) && is(b, sign)) || (is(a, sign) && is(b, whole));
    let is_sign = is_zero(body, through(body, sign, 1), count);
    if !is_sign || !same_factors || !is_negative(negative) {
        return None;
    }
    Some((number, fraction_of_magnitude(body, whole, number, count)?))
}

/// The fraction of the magnitude of a number, if `whole` is the magnitude without it.
fn fraction_of_magnitude(body: &Body, whole: AluSrc, number: AluSrc, count: usize) -> Option<AluSrc> {
    if op(body, whole) != Some(AluOp::Fadd) {
        return None;
    }
    let difference = |magnitude: AluSrc, negative: AluSrc| {
        let is_magnitude = op(body, magnitude) == Some(AluOp::Fabs)
            && through(body, magnitude, 0).equals(body, number, count)
            && op(body, negative) == Some(AluOp::Fneg);
        let fraction = is_magnitude.then(|| through(body, negative, 0))?;
        let is_fraction =
            op(body, fraction) == Some(AluOp::Ffract) && through(body, fraction, 0).equals(body, magnitude, count);
        is_fraction.then_some(fraction)
    };
    let (a, b) = (through(body, whole, 0), through(body, whole, 1));
    difference(a, b).or_else(|| difference(b, a))
}

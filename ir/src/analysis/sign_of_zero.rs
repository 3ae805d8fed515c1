//! Finds uses of a float for which the sign of zero matters: those through which -0 and 0 lead to different infinities
//! or different bits.
//!
//! The sign of zero propagates through moves, phis, selections, products, minima and roundings. It is lost in a
//! comparison, an absolute value, a sum with a constant, an exponential, a conversion to an integer, a texture
//! coordinate, and in an output, because the use of an output by the next stage or the framebuffer is not part of the
//! shader.

use arrayvec::ArrayVec;

use crate::alu::{AluOp, BaseType};
use crate::body::{Body, InstData, TexSrcKind};
use crate::entities::{Def, Inst, Use, User};
use crate::intrinsics::{IntrinsicKind, IntrinsicOp};
use crate::variable::VariableModes;

/// Maximum number of visited values; beyond it, the sign counts as relevant.
const MAX_VALUES: usize = 32;
/// Maximum number of visited uses.
const MAX_USES: usize = 256;

/// Components of a value.
type Components = u16;

/// The effect of the sign of zero on a use.
enum Effect {
    /// None.
    Ends,
    /// It decides the sign of an infinity, or the effect is unknown.
    Matters,
    /// It propagates to these components of the result.
    Passes(Components),
}

/// Whether the sign of a zero in a value may matter. Visits a bounded number of uses.
pub fn sign_of_zero_matters(body: &Body, def: Def) -> bool {
    let mut values: ArrayVec<(Def, Components), MAX_VALUES> = ArrayVec::new();
    values.push((def, Components::MAX));
    let (mut next, mut uses) = (0, 0);
    while let Some(&(value, components)) = values.get(next) {
        next += 1;
        for source in body.uses_of(value) {
            uses += 1;
            let User::Inst(user) = body.user(source) else { continue };
            let result = match effect(body, user, source, components) {
                Effect::Ends => continue,
                Effect::Matters => return true,
                Effect::Passes(result) => result,
            };
            let Some(def) = body.inst_def(user) else { return true };
            let known = values.iter().any(|&(known, all)| known == def && all & result == result);
            if !known && values.try_push((def, result)).is_err() || uses > MAX_USES {
                return true;
            }
        }
    }
    false
}

fn effect(body: &Body, user: Inst, source: Use, components: Components) -> Effect {
    match *body.inst(user) {
        InstData::Alu { op, .. } => alu_effect(body, user, op, source, components),
        InstData::Phi => Effect::Passes(components),
        InstData::Tex(_) if body.tex_src_kind(source) != TexSrcKind::Projector => Effect::Ends,
        InstData::Intrinsic { op: IntrinsicOp::StoreOutput | IntrinsicOp::StorePerVertexOutput, .. } => Effect::Ends,
        InstData::Intrinsic { op: IntrinsicOp::StoreDeref, .. } if is_output(body, user, source) => Effect::Ends,
        InstData::Intrinsic { op, .. } if op.info().kind == IntrinsicKind::Derivative => Effect::Passes(components),
        _ => Effect::Matters,
    }
}

/// Whether a source is the value stored to an output variable.
fn is_output(body: &Body, store: Inst, source: Use) -> bool {
    let place = body.def_inst(body.src(store, 0));
    let is_output = matches!(body.inst(place), InstData::Deref { modes, .. } if *modes == VariableModes::SHADER_OUT);
    is_output && body.source_number(source) == 1
}

fn alu_effect(body: &Body, user: Inst, op: AluOp, source: Use, components: Components) -> Effect {
    let number = body.source_number(source);
    let swizzle = body.swizzle(source);
    let is_read = |channel: usize| components >> swizzle.get(channel) & 1 != 0;
    let info = op.info();
    let sized = info.input_sizes.get(number).copied().unwrap_or(0);
    // Result components that depend on the value.
    let results = if op.is_vec() {
        Components::from(is_read(0)) << number
    } else if sized != 0 {
        if (0..usize::from(sized)).any(is_read) { Components::MAX } else { 0 }
    } else {
        let count = body.inst_def(user).map_or(0, |def| body.num_components(def));
        (0..usize::from(count)).filter(|&c| is_read(c)).fold(0, |mask, c| mask | 1 << c)
    };
    if results == 0 {
        return Effect::Ends;
    }
    // Comparisons and tests of floats, and conversions of floats to integers.
    let is_float_source = info.input_types.get(number).is_some_and(|ty| ty.base == BaseType::Float);
    let is_converted = info.numeric_conversion && info.output_type.base != BaseType::Float;
    if is_float_source && (is_converted || matches!(info.group, "compare-float" | "compare-to-float" | "float-test")) {
        return Effect::Ends;
    }
    if is_float_source && info.group == "compare-horizontal" {
        return Effect::Ends;
    }
    let same = |a: usize, b: usize| same_operands(body, user, a, b);
    let ends = match op {
        AluOp::Fabs | AluOp::Fexp2 | AluOp::Flog2 | AluOp::Fcos | AluOp::Ffract | AluOp::Fsat | AluOp::FclampPos => {
            true
        }
        AluOp::Fcsel | AluOp::FcselGt | AluOp::FcselGe => number == 0,
        AluOp::Fpow => number == 1,
        // With these multiplications, the product of zero and anything is +0.
        AluOp::Fmulz
        | AluOp::Fdot2Madz
        | AluOp::Fdot3Madz
        | AluOp::Fdot4Madz
        | AluOp::Fdot2MadzReplicated
        | AluOp::Fdot3MadzReplicated
        | AluOp::Fdot4MadzReplicated => true,
        AluOp::Ffmaz | AluOp::Fmadz if number < 2 => true,
        // A square.
        AluOp::Fmul => same(0, 1),
        AluOp::Fdot2
        | AluOp::Fdot3
        | AluOp::Fdot4
        | AluOp::Fdot2Mad
        | AluOp::Fdot3Mad
        | AluOp::Fdot4Mad
        | AluOp::Fdot2MadReplicated
        | AluOp::Fdot3MadReplicated
        | AluOp::Fdot4MadReplicated => same(0, 1),
        AluOp::Fadd => absorbs(body, user, 1 - number.min(1), ZeroAbsorption::Sum),
        AluOp::Fsub if number == 1 => absorbs(body, user, 0, ZeroAbsorption::Sum),
        AluOp::Fsub => absorbs(body, user, 1, ZeroAbsorption::Difference),
        AluOp::Ffma | AluOp::Fmad if number < 2 => absorbs(body, user, 2, ZeroAbsorption::Sum),
        AluOp::Fmax => absorbs(body, user, 1 - number.min(1), ZeroAbsorption::Maximum),
        _ => false,
    };
    if ends {
        return Effect::Ends;
    }
    match op {
        AluOp::Frcp | AluOp::Frsq | AluOp::Fpow => Effect::Matters,
        AluOp::Fdiv if number == 1 => Effect::Matters,
        AluOp::Bcsel | AluOp::B32csel | AluOp::B16csel | AluOp::B8csel if number > 0 => Effect::Passes(results),
        _ if op.is_vec_or_mov() => Effect::Passes(results),
        _ if is_float_source && info.output_type.base == BaseType::Float => Effect::Passes(results),
        _ => Effect::Matters,
    }
}

/// How an instruction combines zero with a constant operand.
#[derive(Clone, Copy)]
enum ZeroAbsorption {
    /// A sum: any constant except -0 absorbs the sign.
    Sum,
    /// A difference with the constant as subtrahend: any constant except zero absorbs the sign.
    Difference,
    /// A maximum: any constant without a sign bit absorbs the sign.
    Maximum,
}

/// Whether operand `number` is a constant that absorbs the sign of zero in the other operand.
fn absorbs(body: &Body, inst: Inst, number: usize, kind: ZeroAbsorption) -> bool {
    let source = body.source(inst, number);
    let Some(values) = body.def_constant(body.src_def(source)) else { return false };
    let bits = body.bit_size(body.src_def(source));
    let count = body.alu_src_components(inst, number);
    body.swizzle(source).iter(count).all(|component| {
        let value = values.get(usize::from(component)).copied().unwrap_or(0);
        let sign = 1 << (bits.max(1) - 1);
        match kind {
            ZeroAbsorption::Sum => value != sign,
            ZeroAbsorption::Difference => value != 0 && value != sign,
            ZeroAbsorption::Maximum => value & sign == 0,
        }
    })
}

/// Whether two sources of an instruction are the same components of the same value.
fn same_operands(body: &Body, inst: Inst, a: usize, b: usize) -> bool {
    let count = body.alu_src_components(inst, a);
    let [a, b] = [a, b].map(|number| body.source(inst, number));
    body.src_def(a) == body.src_def(b) && body.swizzle(a).iter(count).eq(body.swizzle(b).iter(count))
}

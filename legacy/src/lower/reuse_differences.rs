//! Replaces comparisons of two values by comparisons of their difference with 0, if the difference is computed anyway.
//!
//! ```text
//! 32 %3 = fadd %0, -%1                  32 %3 = fadd %0, -%1
//! 1 %4 = flt %1, %0               =>    1 %4 = flt 0.0, %3
//! 32 %5 = bcsel %4, %2, %3              32 %5 = bcsel %4, %2, %3
//! ```
//!
//! A selection by a comparison with 0 is one instruction, `CMP`, and `KILL_IF` compares with 0, too; without comparison
//! opcodes each comparison is `CMP` of a difference. A difference that comes later in the block is computed at the
//! comparison; `opt_cse` removes the later one. A difference is 0 only if both are equal, except where denormals are
//! flushed; it is NaN for two infinities of the same sign, which are not less than each other.

use cranelift_entity::SecondaryMap;
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, Shader, Swizzle, User};

use super::lower_float_comparisons::{is_zero, operand};

/// The maximum number of uses considered for a value.
const WINDOW: usize = 16;

/// Replaces comparisons. Must run while booleans have one bit. Returns whether anything changed.
pub(crate) fn reuse_differences(shader: &mut Shader, has_comparisons: bool) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        // The positions of instructions, from 1; 0 for new ones.
        let mut places: SecondaryMap<Inst, u32> = SecondaryMap::with_capacity(body.num_insts());
        let mut comparisons: Vec<Inst> = Vec::new();
        let mut place = 0;
        for block in body.blocks_vec() {
            for inst in body.insts(block) {
                place += 1;
                places[inst] = place;
                if let Some(AluOp::Flt | AluOp::Fge | AluOp::Feq | AluOp::Fneu) = body.alu_op(inst) {
                    comparisons.push(inst);
                }
            }
        }
        for inst in comparisons {
            progress |= reuse(body, inst, has_comparisons, &places);
        }
    }
    progress
}

/// A component of a value, or of its negation.
#[derive(Clone, Copy, PartialEq)]
enum DifferenceOperand {
    Value(Def, u8, bool),
    Word(u64),
}

const SIGN: u64 = 0x8000_0000;

impl DifferenceOperand {
    fn of(body: &Body, source: AluSrc, component: usize) -> DifferenceOperand {
        let (mut def, mut c, mut negative) = (source.def, source.swizzle.get(component), false);
        let producer = body.def_inst(def);
        if body.alu_op(producer) == Some(AluOp::Fneg) {
            let inner = operand(body, producer, 0);
            (def, c, negative) = (inner.def, inner.swizzle.get(usize::from(c)), true);
        }
        match body.constant_component(def, usize::from(c)) {
            Some(word) => DifferenceOperand::Word(if negative { word ^ SIGN } else { word }),
            None => DifferenceOperand::Value(def, c, negative),
        }
    }

    fn negated(self) -> DifferenceOperand {
        match self {
            DifferenceOperand::Value(def, c, negative) => DifferenceOperand::Value(def, c, !negative),
            DifferenceOperand::Word(word) => DifferenceOperand::Word(word ^ SIGN),
        }
    }
}

fn reuse(body: &mut Body, inst: Inst, has_comparisons: bool, places: &SecondaryMap<Inst, u32>) -> bool {
    let (Some((op, flags)), Some(def)) = (body.alu(inst), body.inst_def(inst)) else { return false };
    let count = usize::from(body.num_components(def));
    let [a, b] = [0, 1].map(|number| operand(body, inst, number));
    // Other uses of a comparison need its result.
    let are_free = || {
        body.uses_of(def).all(|reader| match body.user(reader) {
            User::Inst(user) => {
                let selects = body.alu_op(user) == Some(AluOp::Bcsel) && body.source_number(reader) == 0;
                selects || body.intrinsic(user) == Some(IntrinsicOp::TerminateIf)
            }
            User::If(_) => false,
        })
    };
    if flags.is_exact()
        || body.bit_size(a.def) != 32
        || count > 4
        || is_zero(body, a, count)
        || is_zero(body, b, count)
        || has_comparisons && !(op == AluOp::Flt && are_free())
    {
        return false;
    }
    let Some(Difference { sum, swizzle, is_opposite }) = difference(body, inst, count, places) else { return false };
    let Some(difference) = available(body, inst, sum, places) else { return false };
    let mut builder = Builder::new(body, Cursor::Before(inst));
    builder.flags = flags;
    let zero = AluSrc::component(builder.f32_const(0.0), 0);
    let difference = AluSrc::new(difference, swizzle);
    let sources = if is_opposite { [zero, difference] } else { [difference, zero] };
    let new = builder.alu_sized(op, count as u8, &sources);
    body.replace_all_uses(def, new);
    body.remove_inst(inst);
    true
}

/// The difference of the operands of a comparison.
struct Difference {
    /// The instruction that computes it.
    sum: Inst,
    /// The components of its result.
    swizzle: Swizzle,
    /// The first operand is subtracted from the second.
    is_opposite: bool,
}

/// Finds a difference of the operands of a comparison in the same block.
fn difference(body: &Body, comparison: Inst, count: usize, places: &SecondaryMap<Inst, u32>) -> Option<Difference> {
    let [a, b] = [0, 1].map(|number| operand(body, comparison, number));
    let terms = |source: AluSrc| (0..count).map(move |c| DifferenceOperand::of(body, source, c));
    let DifferenceOperand::Value(value, ..) =
        terms(a).chain(terms(b)).find(|term| matches!(term, DifferenceOperand::Value(..)))?
    else {
        return None;
    };
    // A difference uses the value or its negation.
    let readers = body.uses_of(value).take(WINDOW).filter_map(|reader| body.user(reader).inst());
    let sums = readers.flat_map(|reader| {
        let negation = body.inst_def(reader).filter(|_| body.alu_op(reader) == Some(AluOp::Fneg));
        let of_negation = negation.into_iter().flat_map(|def| body.uses_of(def).take(WINDOW));
        std::iter::once(reader).chain(of_negation.filter_map(|reader| body.user(reader).inst()))
    });
    let block = body.inst_block(comparison);
    let is_there = |&sum: &Inst| {
        body.alu_op(sum) == Some(AluOp::Fadd)
            && body.inst_block(sum) == block
            && places.get(sum).is_some_and(|&p| p > 0)
    };
    for sum in sums.filter(is_there) {
        let Some(def) = body.inst_def(sum).filter(|&def| body.bit_size(def) == 32) else { continue };
        let [s, t] = [0, 1].map(|number| operand(body, sum, number));
        let lanes = usize::from(body.num_components(def)).min(4);
        for is_opposite in [false, true] {
            let [from, taken] = if is_opposite { [b, a] } else { [a, b] };
            let lane = |c: usize| {
                let (x, y) = (DifferenceOperand::of(body, from, c), DifferenceOperand::of(body, taken, c).negated());
                (0..lanes).find(|&lane| {
                    let (s, t) = (DifferenceOperand::of(body, s, lane), DifferenceOperand::of(body, t, lane));
                    (s, t) == (x, y) || (s, t) == (y, x)
                })
            };
            let mut components = [0u8; 4];
            let all = (0..count).all(|c| lane(c).map(|lane| components[c] = lane as u8).is_some());
            if all {
                return Some(Difference { sum, swizzle: Swizzle::new(&components), is_opposite });
            }
        }
    }
    None
}

/// The result of a sum before a comparison: a later sum is recomputed there if its operands are those of the
/// comparison.
fn available(body: &mut Body, comparison: Inst, sum: Inst, places: &SecondaryMap<Inst, u32>) -> Option<Def> {
    let (def, (_, flags)) = (body.inst_def(sum)?, body.alu(sum)?);
    if places[sum] < places[comparison] {
        return Some(def);
    }
    let stripped = |source: AluSrc| {
        let producer = body.def_inst(source.def);
        if body.alu_op(producer) == Some(AluOp::Fneg) { (operand(body, producer, 0), true) } else { (source, false) }
    };
    let compared = [0, 1].map(|number| stripped(operand(body, comparison, number)).0.def);
    let sources = [0, 1].map(|number| {
        let source = operand(body, sum, number);
        let (inner, is_negative) = stripped(source);
        (source, inner, is_negative)
    });
    let is_there = |def: Def| {
        compared.contains(&def) || body.def_constant(def).is_some_and(|_| is_early(body, def, comparison, places))
    };
    if !sources.iter().all(|&(_, inner, _)| is_there(inner.def)) {
        return None;
    }
    let count = body.num_components(def);
    let mut builder = Builder::new(body, Cursor::Before(comparison));
    builder.flags = flags;
    let sources = sources.map(|(source, inner, is_negative)| {
        if !is_negative {
            return source;
        }
        let negation = builder.body.def_inst(source.def);
        let size = builder.body.num_components(source.def);
        let flags = std::mem::replace(&mut builder.flags, builder.body.alu(negation).map_or(flags, |(_, flags)| flags));
        let negative = builder.alu_sized(AluOp::Fneg, size, &[inner]);
        builder.flags = flags;
        AluSrc::new(negative, source.swizzle)
    });
    Some(builder.alu_sized(AluOp::Fadd, count, &sources))
}

/// Whether a constant is defined before a comparison: earlier in its block, or in another block, which must then
/// precede it.
fn is_early(body: &Body, constant: Def, comparison: Inst, places: &SecondaryMap<Inst, u32>) -> bool {
    let inst = body.def_inst(constant);
    body.inst_block(inst) != body.inst_block(comparison) || places[inst] < places[comparison]
}

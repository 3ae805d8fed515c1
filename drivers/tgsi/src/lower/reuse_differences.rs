//! Comparisons of two values of which there is a difference compare that with 0.
//!
//! ```text
//! 32 %3 = fadd %0, -%1                  32 %3 = fadd %0, -%1
//! 1 %4 = flt %1, %0               =>    1 %4 = flt 0.0, %3
//! 32 %5 = bcsel %4, %2, %3              32 %5 = bcsel %4, %2, %3
//! ```
//!
//! A selection by a comparison with 0 is one instruction, `CMP`; without opcodes for comparisons each of them is `CMP`
//! of a difference. A difference is 0 only where both are equal, but where denormals are flushed; it is NaN for two
//! infinities of one sign, which are not less than each other.

use cranelift_entity::SecondaryMap;
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Builder, Cursor, Inst, Shader, Swizzle, User};

use super::lower_float_comparisons::{is_zero, operand};

/// Readers of a value that are looked at.
const WINDOW: usize = 16;

/// Replaces. To be run while booleans have one bit. Returns whether anything changed.
pub(crate) fn reuse_differences(shader: &mut Shader, has_comparisons: bool) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        // Sums of the block at hand that stand before.
        let mut is_known: SecondaryMap<Inst, bool> = SecondaryMap::new();
        for block in body.blocks_vec() {
            let insts = body.insts_vec(block);
            for &inst in &insts {
                match body.alu_op(inst) {
                    Some(AluOp::Fadd) => is_known[inst] = true,
                    Some(AluOp::Flt | AluOp::Fge | AluOp::Feq | AluOp::Fneu) => {
                        progress |= reuse(body, inst, has_comparisons, &is_known);
                    }
                    _ => {}
                }
            }
            for inst in insts {
                if is_known.get(inst) == Some(&true) {
                    is_known[inst] = false;
                }
            }
        }
    }
    progress
}

/// A component of a value, or of its negation.
#[derive(Clone, Copy, PartialEq)]
enum Term {
    Value(tgsi_ir::Def, u8, bool),
    Word(u64),
}

const SIGN: u64 = 0x8000_0000;

impl Term {
    fn of(body: &Body, source: AluSrc, component: usize) -> Term {
        let (mut def, mut c, mut negative) = (source.def, source.swizzle.get(component), false);
        let producer = body.def_inst(def);
        if body.alu_op(producer) == Some(AluOp::Fneg) {
            let inner = operand(body, producer, 0);
            (def, c, negative) = (inner.def, inner.swizzle.get(usize::from(c)), true);
        }
        match body.constant_component(def, usize::from(c)) {
            Some(word) => Term::Word(if negative { word ^ SIGN } else { word }),
            None => Term::Value(def, c, negative),
        }
    }

    fn negated(self) -> Term {
        match self {
            Term::Value(def, c, negative) => Term::Value(def, c, !negative),
            Term::Word(word) => Term::Word(word ^ SIGN),
        }
    }
}

fn reuse(body: &mut Body, inst: Inst, has_comparisons: bool, is_known: &SecondaryMap<Inst, bool>) -> bool {
    let (Some((op, flags)), Some(def)) = (body.alu(inst), body.inst_def(inst)) else { return false };
    let count = usize::from(body.num_components(def));
    let [a, b] = [0, 1].map(|number| operand(body, inst, number));
    let only_selects = || {
        body.uses_of(def).all(|reader| match body.user(reader) {
            User::Inst(user) => body.alu_op(user) == Some(AluOp::Bcsel) && body.source_number(reader) == 0,
            User::If(_) => false,
        })
    };
    if flags.is_exact()
        || body.bit_size(a.def) != 32
        || count > 4
        || is_zero(body, a, count)
        || is_zero(body, b, count)
        || has_comparisons && !(op == AluOp::Flt && only_selects())
    {
        return false;
    }
    let Some((difference, swizzle, is_opposite)) = difference(body, [a, b], count, is_known) else { return false };
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

/// The difference of two operands, its components, and whether the second is the one that is diminished.
fn difference(
    body: &Body,
    [a, b]: [AluSrc; 2],
    count: usize,
    is_known: &SecondaryMap<Inst, bool>,
) -> Option<(tgsi_ir::Def, Swizzle, bool)> {
    let terms = |source: AluSrc| (0..count).map(move |c| Term::of(body, source, c));
    let Term::Value(value, ..) = [a, b].into_iter().flat_map(terms).find(|term| matches!(term, Term::Value(..)))?
    else {
        return None;
    };
    // A difference reads the value or its negation.
    let readers = body.uses_of(value).take(WINDOW).filter_map(|reader| body.user(reader).inst());
    let sums = readers.flat_map(|reader| {
        let negation = body.inst_def(reader).filter(|_| body.alu_op(reader) == Some(AluOp::Fneg));
        let of_negation = negation.into_iter().flat_map(|def| body.uses_of(def).take(WINDOW));
        std::iter::once(reader).chain(of_negation.filter_map(|reader| body.user(reader).inst()))
    });
    for sum in sums.filter(|&sum| is_known.get(sum) == Some(&true)) {
        let Some(def) = body.inst_def(sum).filter(|&def| body.bit_size(def) == 32) else { continue };
        let [s, t] = [0, 1].map(|number| operand(body, sum, number));
        let lanes = usize::from(body.num_components(def)).min(4);
        for is_opposite in [false, true] {
            let [from, taken] = if is_opposite { [b, a] } else { [a, b] };
            let lane = |c: usize| {
                let (x, y) = (Term::of(body, from, c), Term::of(body, taken, c).negated());
                (0..lanes).find(|&lane| {
                    let (s, t) = (Term::of(body, s, lane), Term::of(body, t, lane));
                    (s, t) == (x, y) || (s, t) == (y, x)
                })
            };
            let mut components = [0u8; 4];
            let all = (0..count).all(|c| lane(c).map(|lane| components[c] = lane as u8).is_some());
            if all {
                return Some((def, Swizzle::new(&components), is_opposite));
            }
        }
    }
    None
}

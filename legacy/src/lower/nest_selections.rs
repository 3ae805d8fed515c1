//! Splits selections by two combined conditions into two selections, where `CMP` itself compares with 0.
//!
//! ```text
//! 1 %4 = flt %0, 0.0
//! 1 %5 = flt %1, 0.0                    1 %4 = flt %0, 0.0
//! 1 %6 = iand %4, %5                    1 %5 = flt %1, 0.0
//! 32 %7 = bcsel %6, %2, %3        =>    32 %8 = bcsel %5, %2, %3
//!                                       32 %7 = bcsel %4, %8, %3
//! ```
//!
//! The optimiser combines two selections into one, which lets it simplify the conditions. That takes fewer instructions
//! only where the comparisons have other uses, too, or compare two values.

use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, Shader};

use super::lower_float_comparisons::{is_zero, operand, through};

/// The comparisons that a selection absorbs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selections {
    /// Whether there are comparison opcodes. Otherwise a comparison is `CMP` of a difference.
    pub(crate) has_comparisons: bool,
    /// The number of instructions for `CMP`.
    pub(crate) cost: usize,
}

/// Replaces selections. Must run while booleans have one bit. Returns whether anything changed.
pub(crate) fn nest_selections(shader: &mut Shader, selections: Selections) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            let mut work = body.insts_vec(block);
            work.reverse();
            while let Some(inst) = work.pop() {
                if let Some(both) = nest(body, inst, selections) {
                    work.extend(both);
                    progress = true;
                }
            }
        }
    }
    progress
}

/// Splits a selection into two.
fn nest(body: &mut Body, inst: Inst, selections: Selections) -> Option<[Inst; 2]> {
    if body.alu_op(inst) != Some(AluOp::Bcsel) {
        return None;
    }
    let def = body.inst_def(inst).filter(|&def| body.bit_size(def) == 32)?;
    let count = body.num_components(def);
    let [condition, a, b] = [0, 1, 2].map(|number| operand(body, inst, number));
    let join = body.def_inst(condition.def);
    let is_and = match body.alu_op(join)? {
        AluOp::Iand => true,
        AluOp::Ior => false,
        _ => return None,
    };
    if body.uses_of(condition.def).count() != 1 {
        return None;
    }
    let [p, q] = [0, 1].map(|number| through(body, condition, number));
    let saved: usize = [p, q].map(|part| selections.saved(body, part, usize::from(count))).iter().sum();
    // One instruction less to combine conditions, and one selection more.
    if saved == 0 || saved + 1 < selections.cost {
        return None;
    }
    let flags = body.alu(inst).map(|(_, flags)| flags).unwrap_or_default();
    let mut builder = Builder::new(body, Cursor::Before(inst));
    builder.flags = flags;
    let inner = builder.alu_sized(AluOp::Bcsel, count, &[q, a, b]);
    let sides = if is_and { [inner.into(), b] } else { [a, inner.into()] };
    let outer = builder.alu_sized(AluOp::Bcsel, count, &[p, sides[0], sides[1]]);
    body.replace_all_uses(def, outer);
    body.remove_inst(inst);
    body.remove_inst(join);
    Some([inner, outer].map(|def| body.def_inst(def)))
}

impl Selections {
    /// The number of instructions for a condition that a selection saves by absorbing it.
    fn saved(self, body: &Body, condition: AluSrc, count: usize) -> usize {
        if !is_read_once(body, condition.def) {
            return 0;
        }
        let (inverted, compared) = match body.alu_op(body.def_inst(condition.def)) {
            Some(AluOp::Inot) => (1, through(body, condition, 0)),
            _ => (0, condition),
        };
        let inst = body.def_inst(compared.def);
        let Some(op) = body.alu_op(inst).filter(|_| is_read_once(body, compared.def)) else { return 0 };
        let sources = || body.sources(inst).all(|source| body.bit_size(body.src_def(source)) == 32);
        let compares_with_zero = || [0, 1].iter().any(|&number| is_zero(body, through(body, compared, number), count));
        let is_taken_in = match op {
            AluOp::Flt => sources() && (!self.has_comparisons || compares_with_zero()),
            AluOp::Fge | AluOp::Feq | AluOp::Fneu => sources() && !self.has_comparisons,
            _ => false,
        };
        if is_taken_in { 1 + inverted } else { 0 }
    }
}

/// Whether a value has exactly one use.
fn is_read_once(body: &Body, def: Def) -> bool {
    body.uses_of(def).count() == 1
}

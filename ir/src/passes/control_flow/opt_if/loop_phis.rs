//! Simplifies operations on phis in the head of a loop with one entry and one back edge.
//!
//! ```text
//! before:                            after:
//!     loop {                             loop {
//!         %1 = phi: 0, %n                    %2 = phi: %4, %5
//!         %2 = iadd %1, 3                    ...
//!         ...                                %5 = iadd %n, 3
//!     }                                  }
//!                                        (%4 = iadd 0, 3 before the loop)
//!
//!         %1 = phi: true, false
//!         %2 = phi: %a, %b
//!         %3 = phi: %c, %d
//!         %4 = bcsel %1, %2, %3              %4 = phi: %a, %d
//! ```
//!
//! 1. An operation is split if its phis are constant or undefined at the entry, so that it can be folded there, and
//!    have no other uses, so that no phi is added. Copies, comparisons and conversions are kept: they cost nothing, or
//!    belong to their uses.
//! 2. A selection by a phi that is one boolean constant at the entry and the other from then on becomes a phi.

use arrayvec::ArrayVec;

use crate::alu::AluOp;
use crate::analysis::Dominance;
use crate::body::{Body, InstData, SourceSpec};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst};

/// A loop with one entry edge and one back edge.
#[derive(Clone, Copy)]
struct Head {
    head: Block,
    entry: Block,
    latch: Block,
}

fn heads(body: &Body) -> Vec<Head> {
    body.blocks()
        .filter_map(|entry| {
            let head = body.loop_body(body.following_loop(entry)?).first;
            let latch = match *body.predecessors(head) {
                [a, b] if a == entry => b,
                [a, b] if b == entry => a,
                _ => return None,
            };
            (head != latch && body.phis(head).next().is_some()).then_some(Head { head, entry, latch })
        })
        .collect()
}

impl Head {
    /// Returns the values of a phi of the head: at the entry and from the back edge.
    fn values(&self, body: &Body, def: Def) -> Option<[Def; 2]> {
        let phi = body.def_inst(def);
        if !body.is_phi(phi) || body.inst_block(phi) != Some(self.head) {
            return None;
        }
        let value = |block| body.phi_source_for(phi, block).map(|s| body.src_def(s));
        Some([value(self.entry)?, value(self.latch)?])
    }

    fn new_phi(&self, body: &mut Body, like: Def, values: [Def; 2]) -> Def {
        let shape = body.shape(like);
        let cursor = Cursor::BlockStart(self.head);
        Builder::new(body, cursor).phi(shape, &[(self.entry, values[0]), (self.latch, values[1])])
    }
}

/// Splits operations on phis (part 1). Returns whether anything changed.
pub(super) fn split_alu_of_phis(body: &mut Body) -> bool {
    let heads = heads(body);
    if heads.is_empty() {
        return false;
    }
    let dominance = body.dominance();
    let mut progress = false;
    for head in heads {
        for inst in body.insts_vec(head.head) {
            progress |= split(body, &dominance, head, inst);
        }
    }
    progress
}

fn split(body: &mut Body, dominance: &Dominance, head: Head, inst: Inst) -> bool {
    let (InstData::Alu { op, .. }, Some(result)) = (*body.inst(inst), body.inst_def(inst)) else { return false };
    if op.is_vec_or_mov() || op.is_comparison() || op.is_conversion() {
        return false;
    }
    let (mut phis, mut constants, mut undefs) = (0, 0, 0);
    let mut values: ArrayVec<[Def; 2], 16> = ArrayVec::new();
    for source in body.sources(inst) {
        let def = body.src_def(source);
        if let Some(of_phi) = head.values(body, def) {
            let is_private = body.uses_of(def).all(|u| body.user(u).inst() == Some(inst));
            if !is_private {
                return false;
            }
            phis += 1;
            match body.inst(body.def_inst(of_phi[0])) {
                InstData::LoadConst { .. } => constants += 1,
                InstData::Undef => undefs += 1,
                _ => {}
            }
            values.push(of_phi);
        } else {
            let available = body.inst_block(body.def_inst(def)).is_some_and(|b| dominance.dominates(b, head.entry));
            if !available {
                return false;
            }
            values.push([def; 2]);
        }
    }
    if phis == 0 || constants != phis && undefs != phis {
        return false;
    }
    let (data, shape) = (*body.inst(inst), body.shape(result));
    let mut copies = [result; 2];
    for (side, block) in [head.entry, head.latch].into_iter().enumerate() {
        let sources: ArrayVec<SourceSpec, 16> = body
            .sources(inst)
            .zip(&values)
            .map(|(source, values)| SourceSpec::alu(values[side], body.swizzle(source)))
            .collect();
        let cursor = Cursor::before_jump(body, block);
        let copy = Builder::new(body, cursor).build(data, &sources, Some(shape));
        if let Some(def) = body.inst_def(copy) {
            copies[side] = def;
        }
    }
    let phi = head.new_phi(body, result, copies);
    body.replace_all_uses(result, phi);
    body.remove_inst(inst);
    true
}

/// Turns selections into phis (part 2). Returns whether anything changed.
pub(super) fn select_phis(body: &mut Body) -> bool {
    let mut progress = false;
    for head in heads(body) {
        for inst in body.insts_vec(head.head) {
            progress |= select(body, head, inst);
        }
    }
    progress
}

fn select(body: &mut Body, head: Head, inst: Inst) -> bool {
    let (Some(AluOp::Bcsel), Some(result)) = (body.alu_op(inst), body.inst_def(inst)) else { return false };
    let count = usize::from(body.num_components(result));
    let condition = body.source(inst, 0);
    let component = body.swizzle(condition).get(0);
    let operands = [1, 2].map(|number| body.source(inst, number));
    let unswizzled =
        |&s: &_| body.swizzle(s).is_identity(count) && usize::from(body.num_components(body.src_def(s))) == count;
    if !operands.iter().all(unswizzled) || !body.swizzle(condition).iter(count).all(|c| c == component) {
        return false;
    }
    let Some(conditions) = head.values(body, body.src_def(condition)) else { return false };
    let bits = conditions.map(|def| body.constant_component(def, usize::from(component)));
    let ([Some(first), Some(later)], [Some(yes), Some(no)]) =
        (bits, operands.map(|s| head.values(body, body.src_def(s))))
    else {
        return false;
    };
    if (first != 0) == (later != 0) {
        return false;
    }
    let values = if first != 0 { [yes[0], no[1]] } else { [no[0], yes[1]] };
    let phi = head.new_phi(body, result, values);
    body.replace_all_uses(result, phi);
    body.remove_inst(inst);
    true
}

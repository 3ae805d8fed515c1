//! Removes phis of equal values.
//!
//! ```text
//! before:                                         after:
//!     %3 = phi b1: %1, b2: %1                         %5 = fadd %1, %x
//!     %4 = phi b1: %undef, b2: %1
//!     %5 = fadd %3, %4
//! ```
//!
//! Sources that are undefined or the phi itself are ignored.
//! - If the others are one value that is available before the block (it may not be: `phi b1: %undef, b2: %x` with `%x`
//!   defined in `b2`), it replaces the phi.
//! - If they are equal constants, or equal ALU instructions with operands that are constant or available at the end of
//!   the immediate dominator, a clone of one at the end of the immediate dominator replaces the phi.
//! - If there are no others, the phi is undefined.
//!
//! Phis that use a removed phi are revisited. Linear in the sources of phis.

use std::collections::VecDeque;

use crate::analysis::Dominance;
use crate::body::{AluFlags, Body, InstData, SourceSpec};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst};
use crate::passes::scalar::opt_cse::insts_equal;
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_remove_phis(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= remove_phis(body);
    }
    progress
}

/// Runs the pass on one body.
pub(crate) fn remove_phis(body: &mut Body) -> bool {
    if body.is_one_block() {
        return false;
    }
    if body.blocks().all(|block| body.phis(block).next().is_none()) {
        return false;
    }
    let dominance = body.dominance();
    // Phis that used a removed one.
    let mut again: VecDeque<Inst> = VecDeque::new();
    let mut progress = false;
    for block in body.blocks_vec() {
        let mut next = body.first_inst(block).filter(|&inst| body.is_phi(inst));
        while let Some(phi) = next {
            next = body.next_inst(phi).filter(|&inst| body.is_phi(inst));
            progress |= remove_phi(body, &dominance, phi, &mut again);
        }
    }
    while let Some(phi) = again.pop_front() {
        progress |= remove_phi(body, &dominance, phi, &mut again);
    }
    progress
}

/// Removes a phi that always has one value. Pushes the phis that use it onto `again`.
fn remove_phi(body: &mut Body, dominance: &Dominance, phi: Inst, again: &mut VecDeque<Inst>) -> bool {
    let (Some(block), Some(def)) = (body.inst_block(phi), body.inst_def(phi)) else { return false };
    if !dominance.is_reachable(block) {
        return false;
    }
    let Some(value) = single_value(body, dominance, phi, block, def) else { return false };
    again
        .extend(body.uses_of(def).filter_map(|u| body.user(u).inst()).filter(|&user| user != phi && body.is_phi(user)));
    body.replace_all_uses(def, value);
    body.remove_inst(phi);
    true
}

/// Returns the value that a phi always has, emitting it if necessary.
fn single_value(body: &mut Body, dominance: &Dominance, phi: Inst, block: Block, def: Def) -> Option<Def> {
    if has_values_of_two_kinds(body, phi, def) {
        return None;
    }
    let idom = dominance.idom(block)?;
    let mut common: Option<Def> = None;
    let mut same = true;
    let mut flags = AluFlags::NONE;
    for source in body.sources(phi) {
        let value = body.src_def(source);
        let producer = body.def_inst(value);
        if value == def || matches!(body.inst(producer), InstData::Undef) {
            continue;
        }
        flags = flags.union(body.alu(producer).map_or(AluFlags::NONE, |(_, flags)| flags));
        match common {
            None => common = Some(value),
            Some(other) if other == value => {}
            Some(other) => {
                same = false;
                let other = body.def_inst(other);
                if !is_clonable(body, other) || !insts_equal(body, producer, other) {
                    return None;
                }
            }
        }
    }
    let Some(value) = common else {
        let shape = body.shape(def);
        let undef = body.create_inst(InstData::Undef, &[], Some(shape));
        body.insert_inst(Cursor::BlockStart(body.start_block()), undef);
        return body.inst_def(undef);
    };
    let producer = body.def_inst(value);
    let is_available = |body: &Body, value: Def| {
        body.inst_block(body.def_inst(value)).is_some_and(|block| dominance.dominates(block, idom))
    };
    if same && is_available(body, value) {
        return Some(value);
    }
    let can_be_made = |def: Def| is_available(body, def) || body.def_constant(def).is_some();
    if !is_clonable(body, producer) || !body.sources(producer).all(|s| can_be_made(body.src_def(s))) {
        return None;
    }
    let mut sources: Vec<SourceSpec> =
        body.sources(producer).map(|s| SourceSpec { def: body.src_def(s), payload: body.payload(s) }).collect();
    for source in &mut sources {
        if !is_available(body, source.def) {
            let constant = *body.inst(body.def_inst(source.def));
            let clone = body.create_inst(constant, &[], Some(body.shape(source.def)));
            body.insert_inst(Cursor::before_jump(body, idom), clone);
            source.def = body.inst_def(clone)?;
        }
    }
    let data = match *body.inst(producer) {
        // Exact if one of them is.
        InstData::Alu { op, .. } => InstData::Alu { op, flags },
        data => data,
    };
    let clone = body.create_inst(data, &sources, Some(body.shape(value)));
    body.insert_inst(Cursor::before_jump(body, idom), clone);
    body.inst_def(clone)
}

/// Returns whether the first two values obviously differ in kind, as in most phis, and so cannot be equal.
fn has_values_of_two_kinds(body: &Body, phi: Inst, def: Def) -> bool {
    if body.num_sources(phi) < 2 {
        return false;
    }
    let (first, second) = (body.src(phi, 0), body.src(phi, 1));
    if first == def || second == def || first == second {
        return false;
    }
    let (first, second) = (body.def_inst(first), body.def_inst(second));
    match (body.inst(first), body.inst(second)) {
        (InstData::Undef, _) | (_, InstData::Undef) => false,
        (InstData::Alu { op: a, .. }, InstData::Alu { op: b, .. }) => a != b || !insts_equal(body, first, second),
        (InstData::LoadConst { .. }, InstData::LoadConst { .. }) => body.constant(first) != body.constant(second),
        _ => true,
    }
}

fn is_clonable(body: &Body, inst: Inst) -> bool {
    matches!(body.inst(inst), InstData::LoadConst { .. } | InstData::Alu { .. })
}

/// Replaces the phis of a block with at most one predecessor by their operands.
pub fn remove_single_src_phis(body: &mut Body, block: Block) -> bool {
    if body.predecessors(block).len() > 1 {
        return false;
    }
    let phis: Vec<Inst> = body.phis(block).collect();
    for &phi in &phis {
        let Some(def) = body.inst_def(phi) else { continue };
        if body.num_sources(phi) == 0 || body.src(phi, 0) == def {
            body.remove_inst_with_undef(phi);
        } else {
            let value = body.src(phi, 0);
            body.replace_all_uses(def, value);
            body.remove_inst(phi);
        }
    }
    !phis.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::alu::AluOp;
    use crate::body::Shape;
    use crate::entities::User;
    use crate::shader::ShaderStage;

    #[test]
    fn equal_sources() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let c = b.bool_const(true);
        let x = b.u32_const(1);
        let undef = b.undef(1, 32);
        let id = b.push_if(c);
        let then_block = b.block();
        let left = b.alu(AluOp::Ineg, &[x]);
        let five = b.u32_const(5);
        let only_left = b.alu(AluOp::Inot, &[left]);
        b.push_else(id);
        let else_block = b.block();
        let right = b.alu(AluOp::Ineg, &[x]);
        let five_too = b.u32_const(5);
        b.end_if(id);
        let shape = Shape::new(1, 32);
        let same = b.phi(shape, &[(then_block, x), (else_block, x)]);
        let equal = b.phi(shape, &[(then_block, left), (else_block, right)]);
        let constant = b.phi(shape, &[(then_block, five), (else_block, five_too)]);
        let partial = b.phi(shape, &[(then_block, only_left), (else_block, undef)]);
        let kept: Vec<Def> = [same, equal, constant, partial].map(|d| b.alu(AluOp::Iabs, &[d])).to_vec();
        assert!(opt_remove_phis(&mut shader));
        assert!(!opt_remove_phis(&mut shader));
        let body = shader.main();
        let producer = |i: usize| body.def_inst(body.src(body.def_inst(kept[i]), 0));
        assert_eq!(body.src(body.def_inst(kept[0]), 0), x);
        assert_eq!(body.alu_op(producer(1)), Some(AluOp::Ineg));
        assert_eq!(body.inst_block(producer(1)), Some(body.start_block()));
        assert_eq!(body.constant(producer(2)), Some(&[5u64][..]));
        // A value defined in one side only is not available after the `if`.
        assert!(body.is_phi(producer(3)));
        assert_eq!(body.single_use(only_left).map(|u| body.user(u)), Some(User::Inst(producer(3))));
    }

    #[test]
    fn cycles_around_loops() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let x = b.u32_const(1);
        let before = b.block();
        let shape = Shape::new(1, 32);
        let outer = b.push_loop();
        let outer_head = b.block();
        let first = b.phi(shape, &[(before, x)]);
        let inner = b.push_loop();
        let second = b.phi(shape, &[(outer_head, first)]);
        let c = b.bool_const(true);
        let exit = b.push_if(c);
        b.jump(crate::body::JumpKind::Break);
        b.end_if(exit);
        let inner_latch = b.block();
        b.body.add_phi_source(b.body.def_inst(second), inner_latch, second);
        b.end_loop(inner);
        let latch = b.block();
        b.body.add_phi_source(b.body.def_inst(first), latch, second);
        b.end_loop(outer);
        let kept = b.alu(AluOp::Iabs, &[second]);
        // The loop never ends: phis after it do not count, the phis inside do.
        assert!(opt_remove_phis(&mut shader));
        assert_eq!(shader.main().src(shader.main().def_inst(kept), 0), x);
    }
}

//! Removes jumps in loops and brings loops into a form that trip-count analysis recognises.
//!
//! ```text
//! before:                                  after:
//!     loop {                                   loop {
//!         if a { A  continue }                     if a { A }
//!         B                                        else {
//!         if b { break } else { C }                    B
//!         D                                            if b { break }
//!         continue                                     C
//!     }                                                D
//!                                                  }
//!                                              }
//! ```
//!
//! 1. A `continue` at the end of the body is removed.
//! 2. If both sides of an `if` end in the same jump, it moves after the `if`.
//! 3. If a side of an `if` ends in the same jump as the list around the `if`, or in `continue` where the end of that
//!    list is the end of the body, the code after the `if` moves to the other side, and the jump is removed.
//! 4. If one side of an `if` ends in `break`, the contents of the other side move after the `if`. Exits are then ifs
//!    that contain only their own code, at the top level of the body if possible.
//! 5. Two exits without code in them are merged by combining their conditions if all code between them [may be
//!    speculated](Speculation). (NIR moves the code between them into the first one, which guards code that is cheap
//!    anyway.)
//!
//! All except the last keep the paths through the code: they only add phis at the new join points. Linear, times the
//! nesting depth.

use cranelift_entity::SecondaryMap;

use crate::alu::AluOp;
use crate::analysis::Speculation;
use crate::body::{Body, CfParent, InstData, JumpKind, SourceSpec};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Inst, Loop};
use crate::intrinsics::IntrinsicOp;
use crate::options::CompilerOptions;
use crate::passes::into_ssa::repair_ssa::repair_body;
use crate::passes::scalar::opt_remove_phis::remove_single_src_phis;
use crate::shader::Shader;

/// Maximum number of ifs of a loop with a tail moved into them. Each is nested in the previous one, and the join points
/// need phis for every value that is used after the loop: their number is quadratic in the number of exits.
const MAX_MOVED_TAILS: u32 = 128;

/// See the [module](self).
pub fn opt_loop(shader: &mut Shader, options: &CompilerOptions) -> bool {
    let mut progress = false;
    let (bodies, speculation) = Speculation::with_bodies(shader, options);
    for body in bodies.filter(|body| body.structured && body.num_loops() != 0) {
        progress |= optimize_body(body, &speculation);
    }
    progress
}

fn optimize_body(body: &mut Body, speculation: &Speculation<'_>) -> bool {
    let tree = body.loop_tree();
    if tree.loops.is_empty() {
        return false;
    }
    let mut progress = false;
    for &id in &tree.loops {
        let last = body.loop_body(id).last;
        if let Some((jump, JumpKind::Continue)) = body.block_jump(last)
            && body.continue_target(id) == body.loop_body(id).first
        {
            body.remove_inst(jump);
            progress = true;
        }
    }
    // Backwards, so that the contents of an `if` and the code after it are simplified before it is visited. Moved code
    // is visited again only as part of the code around it.
    let mut next = Some(body.body_list().last);
    let mut moved: SecondaryMap<Loop, u32> = SecondaryMap::new();
    while let Some(block) = next {
        if let Some(around) = tree.innermost(block)
            && let Some(id) = body.following_if(block)
        {
            progress |= optimize_if(body, id, &mut moved[around]);
        }
        next = body.prev_block(block);
    }
    // Forwards, so that code between two exits is visited, and moved, once.
    let mut next = Some(body.body_list().first);
    while let Some(block) = next {
        while tree.innermost(block).is_some()
            && let Some(id) = body.following_if(block)
            && merge_exits(body, speculation, id)
        {
            progress = true;
        }
        next = body.next_block(block);
    }
    if progress {
        // Unused phis may have operands that are no longer defined on all paths to them.
        repair_body(body);
    }
    progress
}

fn leaving_jump(body: &Body, block: Block) -> Option<(Inst, JumpKind)> {
    body.block_jump(block).filter(|(_, kind)| matches!(kind, JumpKind::Break | JumpKind::Continue))
}

/// Returns whether a block contains only phis and jumps.
fn is_bare(body: &Body, block: Block) -> bool {
    body.node_after(block).is_none() && body.insts(block).all(|i| body.is_phi(i) || body.jump(i).is_some())
}

fn optimize_if(body: &mut Body, id: If, moved: &mut u32) -> bool {
    let jump_of = |body: &Body, then_side: bool| {
        let list = if then_side { body.then_list(id) } else { body.else_list(id) };
        body.block_jump(list.last)
    };
    let (then_jump, else_jump) = (jump_of(body, true), jump_of(body, false));
    match (then_jump.map(|j| j.1), else_jump.map(|j| j.1)) {
        (Some(a @ (JumpKind::Break | JumpKind::Continue)), Some(b)) if a == b => join_jumps(body, id),
        (Some(a @ (JumpKind::Break | JumpKind::Continue)), None) if share_end(body, id, true, a, moved) => true,
        (None, Some(b @ (JumpKind::Break | JumpKind::Continue))) if share_end(body, id, false, b, moved) => true,
        (Some(JumpKind::Break), other) if other != Some(JumpKind::Break) => simplify_exit(body, id, true),
        (other, Some(JumpKind::Break)) if other != Some(JumpKind::Break) => simplify_exit(body, id, false),
        _ => false,
    }
}

/// Both sides end in the same jump: moves it after the `if`.
fn join_jumps(body: &mut Body, id: If) -> bool {
    let after = body.block_after_if(id);
    if body.node_after(after).is_some() || body.first_inst(after).is_some() {
        return false;
    }
    let ends = [body.then_list(id).last, body.else_list(id).last];
    let (Some((_, kind)), Some(target)) = (body.block_jump(ends[0]), body.successors(ends[0]).next()) else {
        return false;
    };
    // The sources of the target's phis from both sides.
    let read = |body: &Body, phi: Inst, end: Block| body.phi_source_for(phi, end).map(|s| body.src_def(s));
    let values: Vec<(Inst, [Option<Def>; 2])> =
        body.phis(target).map(|phi| (phi, ends.map(|end| read(body, phi, end)))).collect();
    for end in ends {
        if let Some((jump, _)) = body.block_jump(end) {
            body.remove_inst(jump);
        }
    }
    let is_new_way = body.successors(after).next() != Some(target);
    if is_new_way {
        body.insert_jump(after, kind, None);
    }
    for (phi, values) in values {
        let [Some(a), Some(b)] = values else { continue };
        let value = if a == b { a } else { choose(body, after, &[(ends[0], a), (ends[1], b)]) };
        // A new path has no source yet; this avoids a search through the phis of many exits.
        let source = if is_new_way { None } else { body.phi_source_for(phi, after) };
        match source {
            Some(source) => body.set_src(source, value),
            None => body.add_phi_source(phi, after, value),
        }
    }
    true
}

/// Inserts a phi at the start of a block.
fn choose(body: &mut Body, block: Block, values: &[(Block, Def)]) -> Def {
    let sources: Vec<SourceSpec> = values.iter().map(|&(pred, value)| SourceSpec::phi(pred, value)).collect();
    let shape = body.shape(values[0].1);
    let phi = body.create_inst(InstData::Phi, &sources, Some(shape));
    body.insert_inst(Cursor::BlockStart(block), phi);
    body.inst_def(phi).unwrap_or(values[0].1)
}

/// Returns the jump to which the end of a list is equivalent.
fn end_of_list(body: &Body, mut parent: CfParent) -> Option<JumpKind> {
    loop {
        if let Some((_, kind)) = body.block_jump(body.list(parent).last) {
            return Some(kind);
        }
        match parent {
            CfParent::Body(id) => return body.loop_continue_list(id).is_none().then_some(JumpKind::Continue),
            CfParent::Function | CfParent::Continue(_) => return None,
            CfParent::Then(id) | CfParent::Else(id) => {
                let after = body.block_after_if(id);
                if !is_bare(body, after) {
                    return None;
                }
                if let Some((_, kind)) = body.block_jump(after) {
                    return Some(kind);
                }
                parent = body.if_parent(id)?;
            }
        }
    }
}

/// A side ends in the same jump as the list around the `if`: moves the code after the `if` to the other side, and
/// removes the jump.
fn share_end(body: &mut Body, id: If, then_side: bool, kind: JumpKind, moved: &mut u32) -> bool {
    let Some(parent) = body.if_parent(id) else { return false };
    if end_of_list(body, parent) != Some(kind) {
        return false;
    }
    let end = if then_side { body.then_list(id).last } else { body.else_list(id).last };
    let Some(target) = body.successors(end).next() else { return false };
    let after = body.block_after_if(id);
    remove_single_src_phis(body, after);
    if body.node_after(after).is_some() || body.first_inst(after).is_some() {
        if *moved >= MAX_MOVED_TAILS || body.move_tail_into_side(id, !then_side).is_none() {
            return false;
        }
        *moved += 1;
    }
    let other = if then_side { body.else_list(id).last } else { body.then_list(id).last };
    if body.block_jump(other).is_some() {
        return join_jumps(body, id);
    }
    drop_jump(body, end, body.block_after_if(id), target);
    true
}

/// Removes the jump at the end of a side of an `if`. Its target is also reached through the end of the `if` and blocks
/// without effects.
fn drop_jump(body: &mut Body, end: Block, after: Block, target: Block) {
    let Some((jump, _)) = body.block_jump(end) else { return };
    let mut chain = vec![after];
    while let Some(next) = chain.last().and_then(|&b| body.successors(b).next())
        && next != target
    {
        chain.push(next);
    }
    // For each phi of the target: its source from the jump, and its value at the end of each block of the chain.
    let mut wanted: Vec<(Inst, Def, Vec<Def>)> = Vec::new();
    for phi in body.phis(target) {
        let read = |phi: Inst, pred: Block| body.phi_source_for(phi, pred).map(|s| body.src_def(s));
        let (Some(from_jump), Some(mut value)) = (read(phi, end), chain.last().and_then(|&b| read(phi, b))) else {
            continue;
        };
        let mut along = vec![value];
        for pair in chain.windows(2).rev() {
            value = value_from(body, value, pair[1], pair[0]);
            along.push(value);
        }
        along.reverse();
        wanted.push((phi, from_jump, along));
    }
    body.remove_inst(jump);
    for (phi, from_jump, along) in wanted {
        let mut new = from_jump;
        let mut from = end;
        for (&block, &old) in chain.iter().zip(&along) {
            let sources: Vec<(Block, Def)> = body
                .predecessors(block)
                .iter()
                .map(|&pred| (pred, if pred == from { new } else { value_from(body, old, block, pred) }))
                .collect();
            new =
                if sources.iter().all(|s| s.1 == sources[0].1) { sources[0].1 } else { choose(body, block, &sources) };
            from = block;
        }
        if let Some(source) = body.phi_source_for(phi, from) {
            body.set_src(source, new);
        }
    }
    // On the new path, no use that matters reads the existing phis.
    body.complete_phis_behind(end);
}

/// Returns the value on the path from a predecessor, given one that is available at the end of a block.
fn value_from(body: &Body, value: Def, block: Block, pred: Block) -> Def {
    let producer = body.def_inst(value);
    if body.is_phi(producer) && body.inst_block(producer) == Some(block) {
        body.phi_source_for(producer, pred).map_or(value, |s| body.src_def(s))
    } else {
        value
    }
}

/// One side ends in `break`: moves the contents of the other side after the `if`.
fn simplify_exit(body: &mut Body, id: If, break_in_then: bool) -> bool {
    let stay = if break_in_then { body.else_list(id) } else { body.then_list(id) };
    let after = body.block_after_if(id);
    let is_empty = stay.first == stay.last && body.first_inst(stay.first).is_none();
    if !is_empty {
        // A jump may only move to the end of a list.
        if body.block_jump(stay.last).is_some()
            && (body.node_after(after).is_some() || body.first_inst(after).is_some())
        {
            return false;
        }
        remove_single_src_phis(body, stay.first);
        remove_single_src_phis(body, after);
        body.move_side_behind_if(id, !break_in_then);
        return true;
    }
    remove_single_src_phis(body, after)
}

/// Returns whether a list consists of a `break` only.
fn is_only_break(body: &Body, block: Block) -> bool {
    body.node_after(block).is_none()
        && body.node_before(block).is_none()
        && body.first_inst(block) == body.last_inst(block)
        && leaving_jump(body, block).is_some_and(|(_, kind)| kind == JumpKind::Break)
}

/// Merges an exit with the exit after it into one with both conditions.
fn merge_exits(body: &mut Body, speculation: &Speculation<'_>, id: If) -> bool {
    let break_in_then = is_only_break(body, body.then_list(id).last);
    let between = body.block_after_if(id);
    let Some(second) = body.following_if(between) else { return false };
    let sides = |id: If| {
        let (a, b) = (body.then_list(id).last, body.else_list(id).last);
        if break_in_then { (a, b) } else { (b, a) }
    };
    let ((first_break, _), (second_break, second_stay)) = (sides(id), sides(second));
    let stays_empty = body.node_before(second_stay).is_none() && body.first_inst(second_stay).is_none();
    if !is_only_break(body, first_break) || !is_only_break(body, second_break) || !stays_empty {
        return false;
    }
    if !body.insts(between).all(|inst| may_be_in_vain(body, inst) && speculation.allows(body, inst)) {
        return false;
    }
    let conditions = [id, second].map(|id| body.src_def(body.if_condition(id)));
    if !conditions.iter().all(|&def| body.is_boolean(def)) {
        return false;
    }
    let Some(target) = body.successors(first_break).next() else { return false };
    let read = |phi: Inst, pred: Block| body.phi_source_for(phi, pred).map(|s| body.src_def(s));
    if body.phis(target).any(|phi| read(phi, first_break) != read(phi, second_break)) {
        return false;
    }
    let op = if break_in_then { AluOp::Ior } else { AluOp::Iand };
    let both = Builder::new(body, Cursor::BlockEnd(between)).alu(op, &conditions);
    let source = body.if_condition(second);
    body.set_src(source, both);
    body.inline_side(id, !break_in_then);
    true
}

/// Returns whether an instruction may be executed although its result is not needed.
fn may_be_in_vain(body: &Body, inst: Inst) -> bool {
    match *body.inst(inst) {
        InstData::Alu { .. } | InstData::Deref { .. } | InstData::LoadConst { .. } | InstData::Undef => true,
        InstData::Intrinsic { op, .. } => {
            matches!(
                op,
                IntrinsicOp::LoadDeref | IntrinsicOp::LoadUniform | IntrinsicOp::LoadInput | IntrinsicOp::LoadReg
            ) || op.info().can_eliminate
                && body.can_reorder(inst, op)
                && op.info().kind != crate::intrinsics::IntrinsicKind::Derivative
        }
        _ => false,
    }
}

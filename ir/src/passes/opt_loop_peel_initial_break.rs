//! Turns loops that ask first whether to leave into loops that ask last, where the first answer is known.
//!
//! ```text
//! before:                                  after:
//!     loop {                                   %2 = flt 0, %n      (becomes constant)
//!         %1 = phi b0: 0, b3: %4               loop {
//!         %2 = fge %1, 4                           %5 = phi b0: 0, b3: %4
//!         if %2 { break }                          ... %5 ...
//!         ... %1 ...                               %4 = fadd %5, 1
//!         %4 = fadd %1, 1                          %2 = fge %4, 4
//!     }                                            if %2 { break }
//!                                              }
//! ```
//!
//! So everything in the loop is executed whenever the loop is reached, which lets what is slow move out of it ([`opt_licm`](mod@crate::passes::opt_licm)).
//!
//! A loop changes if its first block is followed by an exit that [`LoopAnalyzer`] knows not to be taken in the first iteration, with nothing in the side that stays; if it starts over
//! from one place, the end of its body; if there is something between the exit and the end, which is not an exit itself; and if the first block, of which a copy goes before the loop,
//! is no longer than [`CompilerOptions::max_unroll_growth`]. (NIR emits the exit before the loop as well, for others to see that it is not taken.)
//!
//! Values go through registers in between. The cost is that of the analysis, and of what leads to registers and back once for all loops.

use cranelift_entity::SecondaryMap;

use crate::analysis::LoopAnalyzer;
use crate::analysis::loop_info::Outcome;
use crate::body::{Body, CfNode, CfParent, InstData};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Loop};
use crate::options::CompilerOptions;
use crate::passes::convert_to_lcssa::close_loop;
use crate::passes::lower_phis_to_regs_block::{lower_phis_to_regs_block, lower_ssa_defs_to_regs_block};
use crate::passes::lower_reg_intrinsics_to_ssa::lower_body;
use crate::passes::opt_remove_phis::remove_single_src_phis;
use crate::passes::rematerialize_derefs_in_use_blocks::rematerialize_body;
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_loop_peel_initial_break(shader: &mut Shader, options: &CompilerOptions) -> bool {
    let Shader { functions, types, info, .. } = shader;
    let mut progress = false;
    for body in functions.values_mut().filter_map(|f| f.body.as_mut()) {
        if !body.structured || body.num_loops() == 0 {
            continue;
        }
        let tree = body.loop_tree();
        let mut analyzer = LoopAnalyzer::new(body, types, info.float_controls_execution_mode, 1);
        let mut found: Vec<(Loop, If, bool)> = Vec::new();
        for &id in &tree.loops {
            let Some((exit, break_in_then)) = initial_exit(body, id, options.max_unroll_growth) else { continue };
            let analysis = analyzer.analyze(body, id);
            let is_first = analysis.terminators.first().is_some_and(|t| t.node == Some(exit));
            if is_first && analysis.outcome(0, 0) == Outcome::Stays {
                found.push((id, exit, break_in_then));
            }
        }
        if found.is_empty() {
            continue;
        }
        // Inner loops first.
        found.reverse();
        for &(id, ..) in &found {
            close_loop(body, &tree, id);
        }
        rematerialize_body(body);
        for &(id, exit, _) in &found {
            remove_single_src_phis(body, body.block_after_if(exit));
            let (head, after) = (body.loop_body(id).first, body.block_after_loop(id));
            lower_phis_to_regs_block(body, head);
            lower_phis_to_regs_block(body, after);
            lower_ssa_defs_to_regs_block(body, head);
        }
        for (id, exit, break_in_then) in found {
            rotate(body, id, exit, break_in_then);
        }
        lower_body(body);
        progress = true;
    }
    progress
}

/// The exit that a loop begins with, and whether its first side leaves, if the form of the loop is right.
fn initial_exit(body: &Body, id: Loop, limit: u32) -> Option<(If, bool)> {
    let list = body.loop_body(id);
    let (head, last) = (list.first, list.last);
    let exit = body.following_if(head)?;
    let before = body.block_before_loop(id);
    if body.block_jump(last).is_some()
        || body.loop_continue_list(id).is_some()
        || body.predecessors(head).iter().any(|&pred| pred != before && pred != last)
        || body.block_jump(before).is_some()
    {
        return None;
    }
    let (then_list, else_list) = (body.then_list(exit), body.else_list(exit));
    let leaves = |block: Block| matches!(body.block_jump(block), Some((_, crate::body::JumpKind::Break)));
    let break_in_then = leaves(then_list.last);
    let stay = if break_in_then { else_list } else { then_list };
    if !break_in_then && !leaves(else_list.last) || stay.first != stay.last || body.first_inst(stay.first).is_some() {
        return None;
    }
    let rest = body.block_after_if(exit);
    if rest == last && body.first_inst(last).is_none() {
        return None;
    }
    // Exits at the end are where they belong; with one of these the loop would turn round and round.
    if body.first_inst(last).is_none()
        && let Some(CfNode::If(end)) = body.node_before(last)
        && (leaves(body.then_list(end).last) || leaves(body.else_list(end).last))
    {
        return None;
    }
    let cost =
        body.insts(head).filter(|&i| !matches!(body.inst(i), InstData::Phi | InstData::LoadConst { .. })).count();
    (cost <= limit as usize).then_some((exit, break_in_then))
}

/// Moves the first block of a loop to the end of another one, and leaves a copy at the end of the block before the loop. All values that cross blocks are in registers.
pub(crate) fn move_head(body: &mut Body, head: Block, before: Block, to: Block) {
    let mut copies: SecondaryMap<Def, Option<Def>> = SecondaryMap::new();
    for inst in body.insts_vec(head) {
        let copy = body.clone_inst_before(inst);
        for source in body.sources(copy) {
            if let Some(def) = copies[body.src_def(source)] {
                body.set_src(source, def);
            }
        }
        body.move_inst(Cursor::BlockEnd(before), copy);
        if let (Some(old), Some(new)) = (body.inst_def(inst), body.inst_def(copy)) {
            copies[old] = Some(new);
        }
        let end = Cursor::before_jump(body, to);
        body.move_inst(end, inst);
    }
}

/// A copy of the first block goes before the loop, the block and the exit to its end. All values that cross blocks are in registers.
fn rotate(body: &mut Body, id: Loop, exit: If, break_in_then: bool) {
    // Stores to registers may have climbed up to the side that stays.
    body.move_side_behind_if(exit, !break_in_then);
    let list = body.loop_body(id);
    let (head, last, before) = (list.first, list.last, body.block_before_loop(id));
    move_head(body, head, before, last);
    let condition = body.src_def(body.if_condition(exit));
    let moved = body.insert_if(Cursor::BlockEnd(last), condition);
    let control = body.if_control(exit);
    body.set_if_control(moved, control);
    let (from, to) = if break_in_then {
        (CfParent::Then(exit), body.then_list(moved).first)
    } else {
        (CfParent::Else(exit), body.else_list(moved).first)
    };
    let side = body.detach_list(from);
    body.insert_list(Cursor::BlockEnd(to), side);
    body.remove_node(CfNode::If(exit));
}

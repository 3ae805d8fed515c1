//! Replaces jumps of a loop that are nested in ifs by flags, so that loops are left only at the top level of their body
//! and continue only at its end.
//!
//! ```text
//! before:                                  after:
//!     loop {                                   loop {
//!                                                  @store_reg (false, %skip)   @store_reg (false, %left)
//!         if a {                                   if a {
//!             if b { break }                           if b { @store_reg (true, %skip)  @store_reg (true, %left) }
//!             A                                        if !%skip { A }
//!         }                                        }
//!         B                                        if %left { break }
//!     }                                            B
//!                                              }
//! ```
//!
//! - After an `if` with such a jump, the rest of its list runs only if no jump was taken. At the top level of the body,
//!   a taken `break` leaves the loop at once, so that the iteration counter need not be guarded; a taken `continue`
//!   skips the rest of the body.
//! - Phis of the head and after the loop become registers, because their predecessors change.
//!   [`lower_reg_intrinsics_to_ssa`](mod@crate::passes::into_ssa::lower_reg_intrinsics_to_ssa) turns flags and
//!   registers into phis.
//! - Exits in the form that `loop_info` recognises are kept, and so are loops with a
//!   continue construct.
//!
//! The pass is for targets without loops, where a loop with nested exits cannot be unrolled. A guard may move an exit
//! into an `if`, which another run lowers. Linear, times the nesting depth.

use cranelift_entity::SecondaryMap;

use crate::body::{Body, CfNode, CfParent, JumpKind, Shape};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Inst, Loop};
use crate::passes::into_ssa::repair_ssa::repair_body;
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_loop_jumps(shader: &mut Shader) -> bool {
    let bodies = shader.bodies_mut();
    bodies.fold(false, |progress, body| lower_body(body) | progress)
}

/// A jump to replace.
struct NestedJump {
    block: Block,
    inst: Inst,
    kind: JumpKind,
    id: Loop,
}

/// The flags of a loop.
#[derive(Clone, Copy)]
struct Flags {
    /// Set by each jump.
    skip: Def,
    /// Set by each `break`.
    left: Def,
}

/// The jumps inside of an `if`.
#[derive(Clone, Copy, Default)]
struct ContainedJumps {
    breaks: bool,
    continues: bool,
}

fn lower_body(body: &mut Body) -> bool {
    if !body.structured || body.num_loops() == 0 {
        return false;
    }
    let tree = body.loop_tree();
    let mut jumps = Vec::new();
    for block in body.blocks() {
        if let Some((inst, kind @ (JumpKind::Break | JumpKind::Continue))) = body.block_jump(block)
            && let Some(id) = tree.innermost(block)
            && body.loop_continue_list(id).is_none()
            && is_nested(body, id, block, kind)
        {
            jumps.push(NestedJump { block, inst, kind, id });
        }
    }
    if jumps.is_empty() {
        return false;
    }
    let mut flags: SecondaryMap<Loop, Option<Flags>> = SecondaryMap::new();
    let mut contained: SecondaryMap<If, ContainedJumps> = SecondaryMap::new();
    for jump in &jumps {
        if flags[jump.id].is_none() {
            flags[jump.id] = Some(prepare_loop(body, jump.id));
        }
        mark(body, jump, &mut contained);
    }
    for jump in &jumps {
        body.remove_inst(jump.inst);
        if let Some(Flags { skip, left }) = flags[jump.id] {
            let mut b = Builder::new(body, Cursor::BlockEnd(jump.block));
            let value = b.bool_const(true);
            b.store_reg(value, skip, 0, 1);
            if jump.kind == JumpKind::Break {
                b.store_reg(value, left, 0, 1);
            }
        }
    }
    // From the last to the first, so that moved code moves again only as part of its guard.
    for block in body.blocks_vec().into_iter().rev() {
        let Some(CfNode::If(node)) = body.node_before(block) else { continue };
        let ContainedJumps { breaks, continues } = contained[node];
        let Some(flags) = tree.innermost(block).and_then(|id| flags[id]).filter(|_| breaks || continues) else {
            continue;
        };
        let mut rest = block;
        let is_top = matches!(body.if_parent(node), Some(CfParent::Body(_)));
        if is_top && breaks {
            rest = leave(body, block, flags.left);
        }
        if !is_top || continues {
            guard(body, rest, flags.skip);
        }
    }
    body.complete_phis();
    repair_body(body);
    true
}

/// Returns whether a jump ends neither the body nor a side of an exit.
fn is_nested(body: &Body, id: Loop, block: Block, kind: JumpKind) -> bool {
    let (node, is_then) = match body.block_parent(block) {
        Some(CfParent::Then(node)) => (node, true),
        Some(CfParent::Else(node)) => (node, false),
        Some(CfParent::Body(_) | CfParent::Continue(_) | CfParent::Function) | None => return false,
    };
    let breaks = |last| matches!(body.block_jump(last), Some((_, JumpKind::Break)));
    let other_breaks = breaks(if is_then { body.else_list(node).last } else { body.then_list(node).last });
    let is_exit =
        kind == JumpKind::Break && body.if_parent(node) == Some(CfParent::Body(id)) && !(is_then && other_breaks);
    !is_exit
}

/// Declares the flags of a loop, clears them at the start of each iteration, and replaces the phis of the head and
/// after the loop.
fn prepare_loop(body: &mut Body, id: Loop) -> Flags {
    let (head, after) = (body.loop_body(id).first, body.block_after_loop(id));
    for block in [head, after] {
        for phi in body.phis(block).collect::<Vec<Inst>>() {
            replace_phi(body, block, phi);
        }
    }
    let mut b = Builder::at_start(body);
    let [skip, left] = [(); 2].map(|()| b.decl_reg(Shape::new(1, 1), 0));
    let cursor = Cursor::after_phis(body, head);
    let mut b = Builder::new(body, cursor);
    let value = b.bool_const(false);
    for flag in [skip, left] {
        b.store_reg(value, flag, 0, 1);
    }
    Flags { skip, left }
}

/// Replaces a phi by a register: its predecessors store, its block loads.
fn replace_phi(body: &mut Body, block: Block, phi: Inst) {
    let Some(def) = body.inst_def(phi) else { return };
    let shape = body.shape(def);
    let mask = body.full_mask(def);
    let register = Builder::at_start(body).decl_reg(shape, 0);
    let sources: Vec<(Block, Def)> = body.phi_sources(phi).map(|(pred, s)| (pred, body.src_def(s))).collect();
    for (pred, value) in sources {
        let cursor = body.block_jump(pred).map_or(Cursor::BlockEnd(pred), |(jump, _)| Cursor::Before(jump));
        Builder::new(body, cursor).store_reg(value, register, 0, mask);
    }
    let cursor = Cursor::after_phis(body, block);
    let value = Builder::new(body, cursor).load_reg(register, 0);
    body.replace_all_uses(def, value);
    body.remove_inst(phi);
}

/// Records the ifs around a jump, up to its loop.
fn mark(body: &Body, jump: &NestedJump, contained: &mut SecondaryMap<If, ContainedJumps>) {
    let is_break = jump.kind == JumpKind::Break;
    let mut parent = body.block_parent(jump.block);
    while let Some(CfParent::Then(node) | CfParent::Else(node)) = parent {
        let known = &mut contained[node];
        let is_known = if is_break { &mut known.breaks } else { &mut known.continues };
        if std::mem::replace(is_known, true) {
            return;
        }
        parent = body.if_parent(node);
    }
}

/// Reads the flag after the phis of a block.
fn read_flag(body: &mut Body, block: Block, flag: Def) -> (Def, Cursor) {
    let cursor = Cursor::after_phis(body, block);
    let value = Builder::new(body, cursor).load_reg(flag, 0);
    (value, Cursor::After(body.def_inst(value)))
}

/// Leaves the loop at the start of a block if a `break` was taken. Returns the block after that.
fn leave(body: &mut Body, block: Block, flag: Def) -> Block {
    let (left, cursor) = read_flag(body, block, flag);
    let id = body.insert_if(cursor, left);
    let then_block = body.then_list(id).first;
    body.insert_jump(then_block, JumpKind::Break, None);
    body.block_after_if(id)
}

/// Guards the rest of a list from a block on: it runs only if no jump was taken.
fn guard(body: &mut Body, block: Block, flag: Def) {
    let is_empty = body.node_after(block).is_none() && body.last_inst(block).is_none_or(|inst| body.is_phi(inst));
    if !is_empty {
        let (skipped, cursor) = read_flag(body, block, flag);
        body.move_tail_into_if(cursor, skipped, false);
    }
}

//! Takes loops apart that begin with an `if` of which the first iteration executes one side and all others the other.
//!
//! ```text
//! before:                                       after:
//!     loop {                                        A
//!         %1 = phi b0: 0, b4: %5                    loop {
//!         %2 = phi b0: false, b4: true                  %1 = phi b0: %a, b4: %b
//!         if %2 { B } else { A }                        ... %1 ...
//!         %3 = phi: %b, %a                              B
//!         ... %3 ...                                }
//!     }
//! ```
//!
//! So translators write `for` loops whose step must not be executed the first time. What is in front of the `if`, in the first block of the loop, goes along with both sides: a copy of
//! it before the loop, itself to where the loop starts over.
//!
//! A loop changes if
//! - it starts over from one place, which is not in the `if`, and has no continue construct;
//! - the condition is computed in the first block from constants and from phis that are constants at the entry and others when the loop starts over, and it is not the same in both
//!   cases (where it is, [`opt_dead_cf`](mod@crate::passes::opt_dead_cf) is asked);
//! - no jump leaves the side of the first iteration, but those of loops within it;
//! - the first block is no longer than [`CompilerOptions::max_unroll_growth`].
//!
//! Values go through registers in between. The cost is that of what leads to registers and back, once for all loops, and of the nodes at the top of what moves.

use arrayvec::ArrayVec;
use cranelift_entity::SecondaryMap;

use crate::alu::{self, ExecutionMode};
use crate::body::{Body, CfList, CfNode, CfParent, InstData, JumpKind};
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Loop};
use crate::options::CompilerOptions;
use crate::passes::lower_phis_to_regs_block::{lower_phis_to_regs_block, lower_ssa_defs_to_regs_block};
use crate::passes::lower_reg_intrinsics_to_ssa::lower_body;
use crate::passes::opt_loop_peel_initial_break::move_head;
use crate::passes::opt_remove_phis::remove_single_src_phis;
use crate::passes::rematerialize_derefs_in_use_blocks::rematerialize_body;
use crate::shader::Shader;

/// How deep conditions are looked into.
const MAX_DEPTH: usize = 4;

/// See the [module](self).
pub fn opt_loop_peel_initial_if(shader: &mut Shader, options: &CompilerOptions) -> bool {
    let mode = shader.info.float_controls_execution_mode;
    let mut progress = false;
    for body in shader.bodies_mut() {
        if !body.structured || body.num_loops() == 0 {
            continue;
        }
        // Inner loops first.
        let mut found = Finder::new(body, mode, options.max_unroll_growth).find();
        if found.is_empty() {
            continue;
        }
        found.reverse();
        rematerialize_body(body);
        for peeled in &found {
            let (head, after) = (body.loop_body(peeled.id).first, body.block_after_if(peeled.first_if));
            remove_single_src_phis(body, after);
            lower_phis_to_regs_block(body, head);
            lower_phis_to_regs_block(body, after);
            lower_ssa_defs_to_regs_block(body, head);
        }
        for peeled in found {
            peeled.take_apart(body);
        }
        lower_body(body);
        progress = true;
    }
    progress
}

/// A loop that is to change.
struct Peeled {
    id: Loop,
    first_if: If,
    /// The first iteration executes the first side.
    enters_then: bool,
}

struct Finder<'a> {
    body: &'a Body,
    mode: ExecutionMode,
    limit: u32,
    /// Places in the order of the text.
    places: SecondaryMap<Block, u32>,
    /// Those of blocks that leave the function, in ascending order.
    returns: Vec<u32>,
}

impl<'a> Finder<'a> {
    fn new(body: &'a Body, mode: ExecutionMode, limit: u32) -> Finder<'a> {
        let places = body.block_numbers();
        let leaves = |block: &Block| {
            body.block_jump(*block).is_some_and(|(_, kind)| !matches!(kind, JumpKind::Break | JumpKind::Continue))
        };
        let returns = body.blocks().filter(leaves).map(|block| places[block]).collect();
        Finder { body, mode, limit, places, returns }
    }

    fn find(&self) -> Vec<Peeled> {
        let tree = self.body.loop_tree();
        let peeled = |&id: &Loop| {
            let info = tree.info(id);
            let (first_if, enters_then) = self.first_if(id)?;
            let (then_list, else_list) = (self.body.then_list(first_if), self.body.else_list(first_if));
            let entered = if enters_then { then_list } else { else_list };
            let in_if = |block: Block| self.is_in(then_list, block) || self.is_in(else_list, block);
            let returns = self.returns.partition_point(|&place| place < self.places[entered.first]);
            let is_left = info.exits.iter().any(|&exit| self.is_in(entered, exit))
                || self.returns.get(returns).is_some_and(|&place| place <= self.places[entered.last]);
            (!is_left && !info.latches.iter().any(|&latch| in_if(latch))).then_some(Peeled {
                id,
                first_if,
                enters_then,
            })
        };
        tree.loops.iter().filter_map(peeled).collect()
    }

    fn is_in(&self, list: CfList, block: Block) -> bool {
        (self.places[list.first]..=self.places[list.last]).contains(&self.places[block])
    }

    /// The `if` that a loop begins with, and whether the first iteration executes its first side, if the others execute the other one.
    fn first_if(&self, id: Loop) -> Option<(If, bool)> {
        let body = self.body;
        let head = body.loop_body(id).first;
        let first_if = body.following_if(head)?;
        let [entry, latch] = edges(body, id)?;
        let condition = body.src_def(body.if_condition(first_if));
        let [first, later] =
            [entry, latch].map(|from| self.known(head, from, condition, 0, 0).map(|condition| condition != 0));
        let counts = |&inst: &_| !matches!(body.inst(inst), InstData::Phi | InstData::LoadConst { .. });
        let cost = body.insts(head).filter(counts).count();
        (first? != later? && cost <= self.limit as usize).then_some((first_if, first?))
    }

    /// A component of a value of the head when it was come to from a block, if only constants and such phis decide about it.
    fn known(&self, head: Block, from: Block, def: Def, component: usize, depth: usize) -> Option<u64> {
        let body = self.body;
        let inst = body.def_inst(def);
        if matches!(body.inst(inst), InstData::LoadConst { .. }) {
            return body.constant_component(def, component);
        }
        if body.inst_block(inst) != Some(head) || depth == MAX_DEPTH {
            return None;
        }
        if body.is_phi(inst) {
            return body.constant_component(body.src_def(body.phi_source_for(inst, from)?), component);
        }
        let op = body.alu_op(inst)?;
        let info = op.info();
        if info.output_size != 0 || info.input_sizes.iter().any(|&size| size != 0) {
            return None;
        }
        let mut operands: ArrayVec<[u64; 1], 4> = ArrayVec::new();
        for source in body.sources(inst) {
            let component = usize::from(body.swizzle(source).get(component));
            operands.try_push([self.known(head, from, body.src_def(source), component, depth + 1)?]).ok()?;
        }
        let operands: ArrayVec<&[u64], 4> = operands.iter().map(|bits| bits.as_slice()).collect();
        let mut result = [0];
        alu::evaluate(op, body.alu_bit_size(inst), 1, &operands, self.mode, &mut result);
        Some(result[0])
    }
}

/// Where a loop is entered and where it starts over, if it is one place each.
fn edges(body: &Body, id: Loop) -> Option<[Block; 2]> {
    let (head, before) = (body.loop_body(id).first, body.block_before_loop(id));
    let latch = match *body.predecessors(head) {
        [a, b] if a == before => b,
        [a, b] if b == before => a,
        _ => return None,
    };
    (body.loop_continue_list(id).is_none() && body.block_jump(before).is_none()).then_some([before, latch])
}

impl Peeled {
    /// All values that leave the first block or go through phis around it are in registers.
    fn take_apart(self, body: &mut Body) {
        let Peeled { id, first_if, enters_then } = self;
        let Some([before, latch]) = edges(body, id) else { return };
        let head = body.loop_body(id).first;
        move_head(body, head, before, latch);
        let (entered, repeated) = (CfParent::Then(first_if), CfParent::Else(first_if));
        let (entered, repeated) = if enters_then { (entered, repeated) } else { (repeated, entered) };
        let side = body.detach_list(entered);
        body.insert_list(Cursor::BlockEnd(before), side);
        let side = body.detach_list(repeated);
        let end = Cursor::before_jump(body, latch);
        body.insert_list(end, side);
        body.remove_node(CfNode::If(first_if));
    }
}

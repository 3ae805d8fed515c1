//! Removes control flow that has no effect or is unreachable.
//!
//! ```text
//! before:                        after:
//!     if %true { a } else { b }      a
//!     loop { ... }  (no effect)
//!     break                          break
//!     c
//! ```
//!
//! 1. Code in the same list after a jump, or after a node that is never left (both sides of an `if` jump away; a loop
//!    without `break`), is removed.
//! 2. An `if` with a constant condition is replaced by the taken side. An undefined condition counts as false.
//! 3. An `if` or a loop without effects is removed: one without a phi right after it, values used outside of it, calls,
//!    intrinsics with side effects, `return`, `halt`, and `break` or `continue` of an enclosing loop. A loop must also
//!    have an exit, and must not read memory that other invocations may write (it may be waiting for them). A write to
//!    a register is not an effect if all reads of the register are in the node itself or, for nodes outside of loops,
//!    in code before it.
//!
//! Cost: linear. The first two steps walk from the outside in, without revisiting the replacement of an `if`. The third
//! collects its facts about all nodes in one walk: the numbers of the blocks that use the values of a node must lie in
//! the range of the node itself.

use cranelift_entity::SecondaryMap;

use crate::analysis::BlockOrder;
use crate::body::{Body, CfNode, InstData, JumpKind};
use crate::entities::{Block, Def, Inst, User};
use crate::intrinsics::{IntrinsicKind, IntrinsicOp};
use crate::passes::scalar::opt_dce::{has_effect, is_register_store};
use crate::shader::Shader;
use crate::variable::VariableModes;

/// See the [module](self).
pub fn opt_dead_cf(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= remove_dead_cf(body);
    }
    progress
}

/// Runs the pass on one body.
pub(crate) fn remove_dead_cf(body: &mut Body) -> bool {
    if !body.structured || body.is_one_block() {
        return false;
    }
    let mut progress = false;
    let mut any_unreachable = false;
    let mut next = Some(body.start_block());
    while let Some(block) = next {
        while simplify_after(body, block) {
            progress = true;
        }
        any_unreachable |= is_unreachable(body, block);
        next = body.next_block(block);
    }
    // Backwards: a node is known to be never left only once its contents are simplified.
    let mut previous = Some(body.body_list().last).filter(|_| progress || any_unreachable);
    while let Some(block) = previous {
        progress |= remove_unreachable(body, block);
        previous = body.prev_block(block);
    }
    if progress {
        body.complete_phis();
    }
    let dead = dead_nodes(body);
    progress |= !dead.is_empty();
    for node in dead {
        body.remove_node(node);
    }
    progress
}

/// Applies steps 1 and 2 after a block.
fn simplify_after(body: &mut Body, block: Block) -> bool {
    if body.remove_after_jump(block) {
        return true;
    }
    let Some(id) = body.following_if(block) else { return false };
    let condition = body.src_def(body.if_condition(id));
    let taken = match *body.inst(body.def_inst(condition)) {
        InstData::Undef => false,
        InstData::LoadConst { .. } => body.constant_component(condition, 0).is_some_and(|v| v != 0),
        _ => return false,
    };
    body.inline_side(id, taken);
    true
}

/// Returns whether a block is known to follow a node that is never left.
fn is_unreachable(body: &Body, block: Block) -> bool {
    body.predecessors(block).is_empty() && body.node_before(block).is_some()
}

/// Empties a block after a node that is never left, and removes everything after it.
fn remove_unreachable(body: &mut Body, block: Block) -> bool {
    if !is_unreachable(body, block) {
        return false;
    }
    let mut progress = false;
    while let Some(node) = body.node_after(block) {
        body.remove_node(node);
        progress = true;
    }
    let insts: Vec<Inst> = body.insts_vec(block);
    for &inst in insts.iter().rev() {
        body.remove_inst_with_undef(inst);
        progress = true;
    }
    progress
}

/// Facts about a node, collected while its contents are walked.
struct Summary {
    /// Number of its first block.
    start: u32,
    /// Number of the block after it.
    after: u32,
    is_loop: bool,
    /// The node is kept in any case: a phi comes after it.
    has_phi: bool,
    effect: bool,
    /// It reads memory that other invocations may write.
    waits: bool,
    /// The range of the blocks that use its values and of the heads of the loops to which its jumps belong.
    lowest: u32,
    highest: u32,
    /// The first block that reads a register that it writes.
    lowest_reader: u32,
}

impl Summary {
    fn is_undecided(&self) -> bool {
        !self.has_phi && !self.effect
    }
}

/// Records an effect of the innermost open node and of all nodes around it.
fn note_effect(open: &mut [Summary], undecided: &mut usize) {
    for summary in open.iter_mut().rev() {
        if summary.effect {
            break;
        }
        *undecided -= usize::from(summary.is_undecided());
        summary.effect = true;
    }
}

/// Returns the outermost nodes without effects, in program order.
fn dead_nodes(body: &Body) -> Vec<CfNode> {
    let order = body.block_order();
    let mut dead: Vec<(CfNode, u32)> = Vec::new();
    let mut open: Vec<Summary> = Vec::new();
    let mut loop_heads: Vec<u32> = Vec::new();
    let mut readers = RegisterReaders { order: &order, ranges: SecondaryMap::new() };
    // Number of open nodes that may still be dead.
    let mut undecided = 0usize;
    for block in body.blocks() {
        let number = order.index(block);
        if let Some(node) = body.node_before(block)
            && let Some(done) = open.pop()
        {
            if done.is_loop {
                loop_heads.pop();
            }
            undecided -= usize::from(done.is_undecided());
            let has_exit = !done.is_loop || !body.predecessors(block).is_empty();
            let is_dead = done.is_undecided()
                && has_exit
                && !(done.is_loop && done.waits)
                && done.lowest >= done.start
                && (loop_heads.is_empty() || done.lowest_reader >= done.start)
                && done.highest < number;
            if is_dead {
                while dead.last().is_some_and(|&(_, start)| start >= done.start) {
                    dead.pop();
                }
                dead.push((node, done.start));
            } else if let Some(outer) = open.last_mut() {
                outer.waits |= done.waits;
                outer.lowest = outer.lowest.min(done.lowest);
                outer.highest = outer.highest.max(done.highest);
                outer.lowest_reader = outer.lowest_reader.min(done.lowest_reader);
                if done.effect || !has_exit {
                    note_effect(&mut open, &mut undecided);
                }
            }
        }
        for inst in body.insts(block) {
            // Skips nodes that are known to be kept.
            let beyond = open.first().map_or(u32::MAX, |outermost| outermost.after);
            let Some(summary) = open.last_mut().filter(|_| undecided > 0) else { break };
            if visit(body, inst, summary, beyond, &loop_heads, &mut readers) {
                note_effect(&mut open, &mut undecided);
            }
        }
        if let Some(node) = body.node_after(block) {
            let (is_loop, after) = match node {
                CfNode::Loop(id) => (true, body.block_after_loop(id)),
                CfNode::If(id) => (false, body.block_after_if(id)),
                CfNode::Block(_) => continue,
            };
            let has_phi = body.phis(after).next().is_some();
            undecided += usize::from(!has_phi);
            open.push(Summary {
                start: number + 1,
                after: order.index(after),
                is_loop,
                has_phi,
                effect: false,
                waits: false,
                lowest: u32::MAX,
                highest: 0,
                lowest_reader: u32::MAX,
            });
            if is_loop {
                loop_heads.push(number + 1);
            }
        }
    }
    dead.into_iter().map(|(node, _)| node).collect()
}

/// For each register queried so far, the numbers of the first and the last block that read it.
struct RegisterReaders<'a> {
    order: &'a BlockOrder,
    ranges: SecondaryMap<Def, Option<(u32, u32)>>,
}

impl RegisterReaders<'_> {
    /// Returns the range of the blocks that read a register; `None` if one has a number of at least `beyond`.
    fn of(&mut self, body: &Body, handle: Def, beyond: u32) -> Option<(u32, u32)> {
        if let Some(range) = self.ranges[handle] {
            return (range.1 < beyond).then_some(range);
        }
        let range = self.block_range(body, handle, beyond, |inst| !is_register_store(body, inst))?;
        self.ranges[handle] = Some(range);
        Some(range)
    }

    /// Returns the numbers of the first and the last block with a user that `counts`; an empty range without one.
    /// Returns `None` as soon as a number is at least `beyond`: use lists begin with the newest use, which is usually
    /// the last in program order.
    fn block_range(&self, body: &Body, def: Def, beyond: u32, counts: impl Fn(Inst) -> bool) -> Option<(u32, u32)> {
        let (mut lowest, mut highest) = (u32::MAX, 0);
        for source in body.uses_of(def) {
            let block = match body.user(source) {
                User::Inst(user) if !counts(user) => continue,
                User::Inst(user) => body.inst_block(user),
                User::If(id) => Some(body.block_before_if(id)),
            };
            let number = block.map_or(u32::MAX, |block| self.order.index(block));
            if number >= beyond {
                return None;
            }
            lowest = lowest.min(number);
            highest = highest.max(number);
        }
        Some((lowest, highest))
    }
}

/// Records an instruction in the summary of its innermost node. Returns whether it has an effect; this includes a use
/// of its value after all open nodes (in a block with a number of at least `beyond`), which keeps all of them.
fn visit(
    body: &Body,
    inst: Inst,
    summary: &mut Summary,
    beyond: u32,
    loop_heads: &[u32],
    readers: &mut RegisterReaders<'_>,
) -> bool {
    if let Some(JumpKind::Break | JumpKind::Continue) = body.jump(inst) {
        summary.lowest = summary.lowest.min(loop_heads.last().copied().unwrap_or(0));
        return false;
    }
    if is_register_store(body, inst) {
        let Some((lowest, highest)) = readers.of(body, body.src(inst, 1), beyond) else { return true };
        summary.lowest_reader = summary.lowest_reader.min(lowest);
        summary.highest = summary.highest.max(highest);
        return false;
    }
    if has_effect(body, inst) {
        return true;
    }
    if let Some(op) = body.intrinsic(inst) {
        summary.waits |= reads_changing_memory(body, inst, op);
    }
    let Some(def) = body.inst_def(inst) else { return false };
    let Some((lowest, highest)) = readers.block_range(body, def, beyond, |_| true) else { return true };
    summary.lowest = summary.lowest.min(lowest);
    summary.highest = summary.highest.max(highest);
    false
}

fn reads_changing_memory(body: &Body, inst: Inst, op: IntrinsicOp) -> bool {
    if op == IntrinsicOp::LoadDeref {
        let private = VariableModes::FUNCTION_TEMP
            .union(VariableModes::SHADER_TEMP)
            .union(VariableModes::SHADER_IN)
            .union(VariableModes::UNIFORM);
        return !private.contains(body.deref_modes(body.src(inst, 0))) && !body.can_reorder(inst, op);
    }
    let info = op.info();
    let shared = matches!(
        info.kind,
        IntrinsicKind::Memory | IntrinsicKind::Io | IntrinsicKind::Image | IntrinsicKind::AtomicCounter
    );
    shared && info.has_dest() && !body.can_reorder(inst, op)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::alu::AluOp;
    use crate::body::Shape;
    use crate::shader::ShaderStage;
    use crate::validate::validate;

    #[test]
    fn constant_conditions_and_jumps() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (yes, unknown) = (b.bool_const(true), b.undef(1, 32));
        let x = b.u32_const(1);
        let runtime = b.alu(AluOp::Ult, &[unknown, x]);
        let id = b.push_loop();
        let taken = b.push_if(yes);
        let inner = b.push_if(runtime);
        let one = b.alu(AluOp::Ineg, &[x]);
        let one_block = b.block();
        b.push_else(inner);
        let other_block = b.block();
        b.end_if(inner);
        let merged = b.phi(Shape::new(1, 32), &[(one_block, one), (other_block, x)]);
        b.intrinsic(IntrinsicOp::StorePreamble, &[merged], &[], None);
        b.jump(JumpKind::Break);
        b.push_else(taken);
        b.intrinsic(IntrinsicOp::StorePreamble, &[x], &[], None);
        b.end_if(taken);
        b.intrinsic(IntrinsicOp::StorePreamble, &[yes], &[], None);
        b.end_loop(id);
        validate(&shader).unwrap();
        assert!(opt_dead_cf(&mut shader));
        validate(&shader).unwrap();
        assert!(!opt_dead_cf(&mut shader));
        let body = shader.main();
        let stores: Vec<Inst> = body
            .blocks()
            .flat_map(|b| body.insts(b))
            .filter(|&i| body.intrinsic(i) == Some(IntrinsicOp::StorePreamble))
            .collect();
        assert_eq!(stores.len(), 1);
        assert_eq!(body.src(stores[0], 0), merged);
        // The loop with its body, split by the inner `if`.
        assert_eq!(body.blocks().count(), 6);
    }

    #[test]
    fn a_break_keeps_the_value_of_its_edge() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (yes, x) = (b.bool_const(true), b.u32_const(1));
        let id = b.push_loop();
        let outer = b.push_if(yes);
        let value = b.alu(AluOp::Ineg, &[x]);
        let from = b.block();
        b.jump(JumpKind::Break);
        b.end_if(outer);
        b.end_loop(id);
        let phi = b.phi(Shape::new(1, 32), &[(from, value)]);
        let user = b.intrinsic(IntrinsicOp::StorePreamble, &[phi], &[], None);
        validate(&shader).unwrap();
        assert!(opt_dead_cf(&mut shader));
        validate(&shader).unwrap();
        let body = shader.main();
        let phi = body.def_inst(body.src(user, 0));
        assert!(body.is_phi(phi) && body.src(phi, 0) == value);
    }

    #[test]
    fn dead_nodes_go_but_not_what_leaves_them() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (zero, ten) = (b.u32_const(0), b.u32_const(10));
        let start = b.block();
        let shape = Shape::new(1, 32);
        // A counting loop without effects, with an `if` inside.
        let counting = b.push_loop();
        let count = b.phi(shape, &[(start, zero)]);
        let done = b.alu(AluOp::Uge, &[count, ten]);
        let exit = b.push_if(done);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        let next = b.alu(AluOp::Iadd, &[count, ten]);
        let latch = b.block();
        b.body.add_phi_source(b.body.def_inst(count), latch, next);
        b.end_loop(counting);
        // An endless loop is kept.
        let unknown = b.undef(1, 1);
        let live = b.push_if(unknown);
        b.intrinsic(IntrinsicOp::StorePreamble, &[zero], &[], None);
        let dead_inside = b.push_if(unknown);
        b.alu(AluOp::Iadd, &[zero, ten]);
        b.end_if(dead_inside);
        b.push_else(live);
        let endless = b.push_loop();
        b.end_loop(endless);
        b.end_if(live);
        validate(&shader).unwrap();
        assert_eq!(dead_nodes(shader.main()), [CfNode::Loop(counting), CfNode::If(dead_inside)]);
        // `live` has an undefined condition, so only the dead nodes are removed here.
        for node in dead_nodes(shader.main()) {
            shader.main_mut().remove_node(node);
        }
        validate(&shader).unwrap();
        assert_eq!(dead_nodes(shader.main()), []);
    }

    #[test]
    fn deep_nests_of_constant_ifs() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let yes = b.bool_const(true);
        for _ in 0..20_000 {
            b.push_if(yes);
        }
        b.intrinsic(IntrinsicOp::StorePreamble, &[yes], &[], None);
        assert!(opt_dead_cf(&mut shader));
        validate(&shader).unwrap();
        assert_eq!(shader.main().blocks().count(), 1);
    }
}

//! Finds blocks that are guaranteed to execute if a dominating block does, so that hoisted code is not computed
//! needlessly.
//!
//! Blocks are divided into classes. If a block dominates another one of its class, an invocation that executes the
//! first also executes the second (at least once, assuming that loops end). A side of an `if` starts a new class, and
//! so does the code after an `if` that contains a jump out of the list of the `if`. The body of a loop continues the
//! class of the block before the loop, and so does the code after a loop or `if` that is not left by another path.
//! Killed invocations continue as helpers and count as executing.
//!
//! One walk over structured code.

use cranelift_entity::SecondaryMap;

use crate::body::{Body, CfNode, CfParent, JumpKind};
use crate::entities::{Block, If, Loop};

/// A `break` or `continue` leaves the `if`.
const LEFT_BY_BREAK: u8 = 1;
/// A `return` or `halt` leaves the `if`.
const LEFT_BY_RETURN: u8 = 2;

/// Classes of blocks. See the [module](self).
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct GuaranteedToExecute {
    class: SecondaryMap<Block, u32>,
}

impl GuaranteedToExecute {
    /// Computes the classes of the blocks of a structured body. `stays` returns whether a loop exit is known not to be
    /// taken in the first iteration.
    pub fn compute(body: &Body, stays: impl Fn(If) -> bool) -> GuaranteedToExecute {
        let mut result = GuaranteedToExecute { class: SecondaryMap::new() };
        let mut classes = 0;
        let mut left: SecondaryMap<If, u8> = SecondaryMap::new();
        let mut left_loops: SecondaryMap<Loop, bool> = SecondaryMap::new();
        for block in body.blocks() {
            let before = match (body.node_before(block), body.block_parent(block)) {
                (Some(CfNode::If(id)), _) => {
                    let stays = left[id] & LEFT_BY_RETURN == 0 && stays(id);
                    (left[id] == 0 || stays).then(|| body.block_before_if(id))
                }
                (Some(CfNode::Loop(id)), _) => (!left_loops[id]).then(|| body.block_before_loop(id)),
                (_, Some(CfParent::Body(id))) => Some(body.block_before_loop(id)),
                _ => None,
            };
            result.class[block] = match before {
                Some(before) => result.class[before],
                None => {
                    classes += 1;
                    classes
                }
            };
            match body.block_jump(block) {
                Some((_, JumpKind::Break | JumpKind::Continue)) => {
                    mark(body, block, LEFT_BY_BREAK, &mut left, &mut left_loops);
                }
                Some(_) => mark(body, block, LEFT_BY_RETURN, &mut left, &mut left_loops),
                None => {}
            }
        }
        result
    }

    /// Whether every invocation that executes `dominator`, which must dominate `block`, executes `block`, too.
    pub fn implies(&self, dominator: Block, block: Block) -> bool {
        self.class[dominator] == self.class[block]
    }
}

/// Marks the ifs and loops that a jump at the end of a block leaves, up to one already marked for this kind of jump.
fn mark(body: &Body, block: Block, kind: u8, left: &mut SecondaryMap<If, u8>, loops: &mut SecondaryMap<Loop, bool>) {
    let mut parent = body.block_parent(block);
    while let Some(list) = parent {
        match list {
            CfParent::Then(id) | CfParent::Else(id) => {
                if left[id] & kind != 0 {
                    return;
                }
                left[id] |= kind;
                parent = body.if_parent(id);
            }
            CfParent::Body(id) | CfParent::Continue(id) => {
                if kind != LEFT_BY_RETURN || std::mem::replace(&mut loops[id], true) {
                    return;
                }
                parent = body.loop_parent(id);
            }
            CfParent::Function => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::alu::AluOp;
    use crate::shader::{Shader, ShaderStage};

    #[test]
    fn ifs_loops_and_jumps() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (x, start) = (b.undef(1, 32), b.block());
        let c = b.alu(AluOp::Ine, &[x, x]);
        let outer = b.push_if(c);
        let then_block = b.block();
        b.push_else(outer);
        let else_block = b.block();
        b.end_if(outer);
        let after_if = b.block();
        let id = b.push_loop();
        let head = b.block();
        let exit = b.push_if(c);
        let exit_side = b.block();
        b.jump(JumpKind::Break);
        b.end_if(exit);
        let rest = b.block();
        b.end_loop(id);
        let after_loop = b.block();
        let leave = b.push_if(c);
        let inner = b.push_loop();
        let in_loop = b.block();
        b.jump(JumpKind::Return);
        b.end_loop(inner);
        b.end_if(leave);
        let last = b.block();
        let body = shader.main();
        let guaranteed = GuaranteedToExecute::compute(body, |_| false);
        for block in [after_if, head, after_loop] {
            assert!(guaranteed.implies(start, block), "{block}");
        }
        for block in [then_block, else_block, exit_side, rest, in_loop, last] {
            assert!(!guaranteed.implies(start, block), "{block}");
        }
        let guaranteed = GuaranteedToExecute::compute(body, |id| id == exit || id == leave);
        // `return` also leaves all surrounding lists.
        assert!(guaranteed.implies(start, rest) && !guaranteed.implies(start, last));
    }
}

//! Turns `return`s into control flow that reaches the end of the function.
//!
//! ```text
//! before:                        after:
//!     loop {                         @store_reg (%false, %flag)
//!         if %c {                    loop {
//!             return                     if %c {
//!         } else { }                         @store_reg (%true, %flag)
//!         a                                  break
//!     }                                  } else { }
//!     b                                  a
//!                                    }
//!                                    %1 = @load_reg (%flag)
//!                                    if %1 { } else { b }
//! ```
//!
//! - Outside of loops a `return` is removed, and the code after the ifs and loops around it is guarded by a flag. No
//!   guard is needed where no code follows.
//! - In a loop it becomes a `break`; a nested loop with a `return` is followed by `if flag { break }`.
//! - The flag is a 1-bit register, which
//!   [`lower_reg_intrinsics_to_ssa`](mod@crate::passes::into_ssa::lower_reg_intrinsics_to_ssa) turns into phis. It is
//!   cleared at the start, so that the function may be called again.
//! - Values with uses after a new guard are repaired ([`repair_ssa`](mod@crate::passes::into_ssa::repair_ssa)): the
//!   paths on which the function has returned contribute an undefined value, which is never used.
//! - `halt` ends the invocation and is kept.
//!
//! Cost: linear.

use cranelift_entity::SecondaryMap;

use crate::body::{Body, CfNode, CfParent, JumpKind, Shape};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Block, Def, If, Inst, Loop};
use crate::passes::into_ssa::repair_ssa::repair_body;
use crate::shader::Shader;

/// See the [module](self).
pub fn lower_returns(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= lower_body(body);
    }
    progress
}

/// Nodes that contain a `return`.
#[derive(Default)]
struct NodesWithReturn {
    ifs: SecondaryMap<If, bool>,
    loops: SecondaryMap<Loop, bool>,
    /// Innermost last.
    nodes: Vec<CfNode>,
}

impl NodesWithReturn {
    /// Marks the nodes around a list, up to the first one that is already marked.
    fn mark(&mut self, body: &Body, mut parent: Option<CfParent>) {
        while let Some(list) = parent {
            let node = match list {
                CfParent::Function => return,
                CfParent::Then(id) | CfParent::Else(id) => CfNode::If(id),
                CfParent::Body(id) | CfParent::Continue(id) => CfNode::Loop(id),
            };
            let seen = match node {
                CfNode::If(id) => std::mem::replace(&mut self.ifs[id], true),
                CfNode::Loop(id) => std::mem::replace(&mut self.loops[id], true),
                CfNode::Block(_) => true,
            };
            if seen {
                return;
            }
            self.nodes.push(node);
            parent = body.outer(list);
        }
    }

    fn contains(&self, node: CfNode) -> bool {
        match node {
            CfNode::If(id) => self.ifs[id],
            CfNode::Loop(id) => self.loops[id],
            CfNode::Block(_) => false,
        }
    }
}

/// Runs the pass on one body.
pub(crate) fn lower_body(body: &mut Body) -> bool {
    if !body.structured {
        return false;
    }
    let returns: Vec<(Block, Inst)> = body
        .blocks()
        .filter_map(|block| body.block_jump(block).map(|(inst, kind)| (block, inst, kind)))
        .filter(|&(_, _, kind)| kind == JumpKind::Return)
        .map(|(block, inst, _)| (block, inst))
        .collect();
    if returns.is_empty() {
        return false;
    }
    // Determines which blocks are in loops without searching the tree for each.
    let loops = body.loop_tree();
    let mut marked = NodesWithReturn::default();
    for &(block, _) in &returns {
        marked.mark(body, body.block_parent(block));
    }
    let flag = (!marked.nodes.is_empty()).then(|| declare_flag(body));
    for &(block, jump) in &returns {
        body.remove_inst(jump);
        if let Some(flag) = flag
            && body.block_parent(block) != Some(CfParent::Function)
        {
            let mut b = Builder::new(body, Cursor::BlockEnd(block));
            let value = b.bool_const(true);
            b.store_reg(value, flag, 0, 1);
        }
        if loops.innermost(block).is_some() {
            body.insert_jump(block, JumpKind::Break, None);
        }
    }
    if let Some(flag) = flag {
        // From the last to the first, so that moved code moves again only as part of its guard.
        for block in body.blocks_vec().into_iter().rev() {
            let Some(node) = body.node_before(block).filter(|&node| marked.contains(node)) else { continue };
            let in_loop = loops.innermost(block).is_some();
            match node {
                CfNode::Loop(_) if in_loop => leave_outer_loop(body, block, flag),
                _ if !in_loop => guard(body, block, flag),
                _ => {}
            }
        }
    }
    body.complete_phis();
    repair_body(body);
    true
}

fn declare_flag(body: &mut Body) -> Def {
    let mut b = Builder::at_start(body);
    let flag = b.decl_reg(Shape::new(1, 1), 0);
    let value = b.bool_const(false);
    b.store_reg(value, flag, 0, 1);
    flag
}

/// Reads the flag after the phis of a block.
fn read_flag(body: &mut Body, block: Block, flag: Def) -> (Def, Cursor) {
    let cursor = Cursor::after_phis(body, block);
    let returned = Builder::new(body, cursor).load_reg(flag, 0);
    (returned, Cursor::After(body.def_inst(returned)))
}

/// Leaves the outer loop after a nested loop that returned.
fn leave_outer_loop(body: &mut Body, block: Block, flag: Def) {
    let (returned, cursor) = read_flag(body, block, flag);
    let id = body.insert_if(cursor, returned);
    let then_block = body.then_list(id).first;
    body.insert_jump(then_block, JumpKind::Break, None);
}

/// Guards the code after a node outside of loops: it runs unless the function has returned.
fn guard(body: &mut Body, block: Block, flag: Def) {
    let is_empty = body.node_after(block).is_none() && body.last_inst(block).is_none_or(|inst| body.is_phi(inst));
    if is_empty {
        return;
    }
    let (returned, cursor) = read_flag(body, block, flag);
    body.move_tail_into_if(cursor, returned, false);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alu::AluOp;
    use crate::intrinsics::IntrinsicOp;
    use crate::passes::lower_reg_intrinsics_to_ssa;
    use crate::shader::ShaderStage;
    use crate::validate::validate;

    fn stores_of(body: &Body) -> Vec<Block> {
        let is_store = |i: &Inst| body.intrinsic(*i) == Some(IntrinsicOp::StorePreamble);
        body.blocks().flat_map(|b| body.insts(b)).filter(is_store).filter_map(|i| body.inst_block(i)).collect()
    }

    #[test]
    fn returns_in_nested_loops() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let unknown = b.undef(1, 32);
        let c = b.alu(AluOp::Ine, &[unknown, unknown]);
        let outer = b.push_loop();
        let inner = b.push_loop();
        let id = b.push_if(c);
        b.jump(JumpKind::Return);
        b.push_else(id);
        b.jump(JumpKind::Break);
        b.end_if(id);
        b.end_loop(inner);
        let value = b.alu(AluOp::Ineg, &[unknown]);
        b.jump(JumpKind::Break);
        b.end_loop(outer);
        b.intrinsic(IntrinsicOp::StorePreamble, &[value], &[], None);
        validate(&shader).unwrap();
        assert!(lower_returns(&mut shader));
        validate(&shader).unwrap();
        assert!(!lower_returns(&mut shader));
        let body = shader.main();
        let stores = stores_of(body);
        assert_eq!(stores.len(), 1);
        assert!(matches!(body.block_parent(stores[0]), Some(CfParent::Else(_))));
        lower_reg_intrinsics_to_ssa(&mut shader);
        validate(&shader).unwrap();
    }

    #[test]
    fn a_return_at_the_end_needs_nothing() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let c = b.undef(1, 1);
        let id = b.push_if(c);
        b.jump(JumpKind::Return);
        b.end_if(id);
        b.jump(JumpKind::Return);
        assert!(lower_returns(&mut shader));
        validate(&shader).unwrap();
        assert_eq!(shader.main().blocks().count(), 4);
    }

    #[test]
    fn many_returns_one_after_the_other() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let unknown = b.undef(1, 32);
        for _ in 0..2000 {
            let c = b.alu(AluOp::Ine, &[unknown, unknown]);
            let id = b.push_if(c);
            b.jump(JumpKind::Return);
            b.end_if(id);
            b.intrinsic(IntrinsicOp::StorePreamble, &[unknown], &[], None);
        }
        assert!(lower_returns(&mut shader));
        validate(&shader).unwrap();
        assert_eq!(stores_of(shader.main()).len(), 2000);
    }
}

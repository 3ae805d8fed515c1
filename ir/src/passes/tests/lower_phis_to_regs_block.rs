//! Helpers for passes that change control flow, not passes themselves: they turn the phis of one block, or all its
//! values with uses in other blocks, into registers. Afterwards blocks can be moved freely;
//! [`lower_reg_intrinsics_to_ssa`](mod@crate::passes::lower_reg_intrinsics_to_ssa) restores SSA.
//!
//! ```text
//! before:                             after (lower_phis_to_regs_block):
//!     if %c { b1: } else { b2: }          if %c { @store_reg (%1, %r) } else { @store_reg (%2, %r) }
//!     %3 = phi b1: %1, b2: %2             %4 = @load_reg (%r)
//! ```
//!
//! - A store is placed as early as possible: it moves from the predecessor to its predecessors as long as these have no
//!   other successor, up to the block that defines the value. Each phi has a separate register, so the order of stores
//!   does not matter.
//! - An undefined source gets no store.

use cranelift_entity::SecondaryMap;

use crate::body::{Body, InstData};
use crate::builder::Builder;
use crate::cursor::Cursor;
use crate::entities::{Block, Def, Inst, Use, User};
use crate::intrinsics::{IndexKind, IntrinsicOp};

/// Turns the phis of a block into registers. Returns whether there were any.
pub fn lower_phis_to_regs_block(body: &mut Body, block: Block) -> bool {
    let phis: Vec<Inst> = body.phis(block).collect();
    for &phi in &phis {
        let Some(def) = body.inst_def(phi) else { continue };
        let register = declare_like(body, def);
        let loaded = Builder::new(body, Cursor::after_phis(body, block)).load_reg(register, 0);
        body.replace_all_uses(def, loaded);
        // A phi that reads itself around a loop now reads the load: the register already holds that value.
        let sources: Vec<(Block, Def)> = body.phi_sources(phi).map(|(pred, s)| (pred, body.src_def(s))).collect();
        let mut visited: SecondaryMap<Block, bool> = SecondaryMap::new();
        visited[block] = true;
        for (pred, value) in sources {
            if value != loaded && !matches!(body.inst(body.def_inst(value)), InstData::Undef) {
                place_store(body, pred, value, register, &mut visited);
            }
        }
        body.remove_inst(phi);
    }
    !phis.is_empty()
}

/// Declares a register with the shape of a value.
fn declare_like(body: &mut Body, def: Def) -> Def {
    let (shape, divergent) = (body.shape(def), body.is_divergent(def));
    let register = Builder::at_start(body).decl_reg(shape, 0);
    let decl = body.def_inst(register);
    body.set_index(decl, IndexKind::Divergent, i32::from(divergent));
    register
}

fn store(body: &mut Body, cursor: Cursor, value: Def, register: Def) {
    let mask = body.full_mask(value);
    Builder::new(body, cursor).store_reg(value, register, 0, mask);
}

/// Stores a value as early as possible on the paths to the end of `pred`.
fn place_store(body: &mut Body, pred: Block, value: Def, register: Def, visited: &mut SecondaryMap<Block, bool>) {
    let producer = body.inst_block(body.def_inst(value));
    let mut work = vec![pred];
    while let Some(at) = work.pop() {
        visited[at] = true;
        let before = body.predecessors(at);
        let climbs = producer != Some(at)
            && !before.is_empty()
            && before.iter().all(|&p| !visited[p] && body.successors(p).count() == 1);
        if climbs {
            work.extend(before.iter().copied());
        } else {
            let cursor = Cursor::before_jump(body, at);
            store(body, cursor, value, register);
        }
    }
}

/// Turns the values of a block that have uses in other blocks, in phis or in `if`s into registers. Returns whether
/// there were any.
///
/// Each use reads the register right before its user (or at the end of the predecessor, for a phi); adjacent loads of
/// one register are shared. Handles of registers are left alone.
pub fn lower_ssa_defs_to_regs_block(body: &mut Body, block: Block) -> bool {
    let mut progress = false;
    // A snapshot, without the loads that are added.
    for inst in body.insts_vec(block) {
        let Some(def) = body.inst_def(inst) else { continue };
        if body.intrinsic(inst) == Some(IntrinsicOp::DeclReg) {
            continue;
        }
        let uses: Vec<Use> = body.uses_of(def).filter(|&source| leaves(body, source, block)).collect();
        if uses.is_empty() {
            continue;
        }
        let register = declare_like(body, def);
        for source in uses {
            let loaded = load_before(body, source, register);
            body.set_src(source, loaded);
        }
        // A register that is never stored reads as zero, a valid choice for an undefined value.
        if !matches!(body.inst(inst), InstData::Undef) {
            let cursor = Cursor::after_inst(body, inst);
            store(body, cursor, def, register);
        }
        progress = true;
    }
    progress
}

fn leaves(body: &Body, source: Use, block: Block) -> bool {
    match body.user(source) {
        User::Inst(user) => body.is_phi(user) || body.inst_block(user) != Some(block),
        User::If(_) => true,
    }
}

/// Returns a load of a register right before a use, reusing one that is already there.
fn load_before(body: &mut Body, source: Use, register: Def) -> Def {
    let cursor = Cursor::before_use(body, source);
    let previous = match cursor {
        Cursor::Before(inst) => body.prev_inst(inst),
        Cursor::BlockEnd(block) => body.last_inst(block),
        Cursor::BlockStart(_) | Cursor::After(_) => None,
    };
    if let Some(previous) = previous
        && body.intrinsic(previous) == Some(IntrinsicOp::LoadReg)
        && body.src(previous, 0) == register
        && let Some(def) = body.inst_def(previous)
    {
        return def;
    }
    Builder::new(body, cursor).load_reg(register, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alu::AluOp;
    use crate::body::{JumpKind, Shape};
    use crate::passes::lower_reg_intrinsics_to_ssa;
    use crate::shader::{Shader, ShaderStage};
    use crate::validate::validate;

    /// A loop that counts to ten and passes the count on.
    fn counting() -> Shader {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (zero, one, ten) = (b.u32_const(0), b.u32_const(1), b.u32_const(10));
        let before = b.block();
        let id = b.push_loop();
        let count = b.phi(Shape::new(1, 32), &[(before, zero)]);
        let done = b.alu(AluOp::Uge, &[count, ten]);
        let exit = b.push_if(done);
        b.jump(JumpKind::Break);
        b.end_if(exit);
        let next = b.alu(AluOp::Iadd, &[count, one]);
        let latch = b.block();
        b.body.add_phi_source(b.body.def_inst(count), latch, next);
        b.end_loop(id);
        b.intrinsic(IntrinsicOp::StorePreamble, &[count], &[], None);
        shader
    }

    #[test]
    fn phis_of_a_loop() {
        let mut shader = counting();
        let body = shader.main_mut();
        let head = body.blocks_vec()[1];
        assert!(lower_phis_to_regs_block(body, head));
        assert!(!lower_phis_to_regs_block(body, head));
        validate(&shader).unwrap();
        let body = shader.main();
        let stores = |block| body.insts(block).filter(|&i| body.intrinsic(i) == Some(IntrinsicOp::StoreReg)).count();
        assert_eq!(stores(body.start_block()), 1);
        assert!(lower_reg_intrinsics_to_ssa(&mut shader));
        validate(&shader).unwrap();
        assert_eq!(shader.main().phis(head).count(), 1);
    }

    #[test]
    fn stores_climb_out_of_an_if() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let (x, y) = (b.u32_const(1), b.u32_const(2));
        let c = b.undef(1, 1);
        let outer = b.push_if(c);
        let top = b.block();
        b.push_else(outer);
        let other = b.block();
        b.end_if(outer);
        b.phi(Shape::new(1, 32), &[(top, x), (other, y)]);
        let after = b.block();
        assert!(lower_phis_to_regs_block(b.body, after));
        validate(&shader).unwrap();
        // Each store stays in its side: the block before has two successors.
        let body = shader.main();
        for side in [top, other] {
            assert!(body.insts(side).any(|i| body.intrinsic(i) == Some(IntrinsicOp::StoreReg)));
        }
    }

    #[test]
    fn all_values_of_a_block() {
        let mut shader = counting();
        let body = shader.main_mut();
        for block in body.blocks_vec() {
            lower_phis_to_regs_block(body, block);
        }
        for block in body.blocks_vec() {
            lower_ssa_defs_to_regs_block(body, block);
        }
        validate(&shader).unwrap();
        let body = shader.main();
        for block in body.blocks() {
            for inst in body.insts(block) {
                let Some(def) = body.inst_def(inst) else { continue };
                let is_register = body.intrinsic(inst) == Some(IntrinsicOp::DeclReg);
                let crosses = body.uses_of(def).any(|u| {
                    body.user(u).inst().and_then(|i| body.inst_block(i)) != Some(block) && body.user(u).inst().is_some()
                });
                assert!(is_register || !crosses);
            }
        }
        lower_reg_intrinsics_to_ssa(&mut shader);
        validate(&shader).unwrap();
    }
}

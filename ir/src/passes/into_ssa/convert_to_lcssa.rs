//! Converts to loop-closed SSA: a value that a loop defines is used outside of it only through phis right after it.
//!
//! ```text
//! before:                                  after:
//!     loop { b1: %1 = ...  break }             loop { b1: %1 = ...  break }
//!     %2 = fneg %1                             b2: %3 = phi b1: %1
//!                                              %2 = fneg %3
//! ```
//!
//! When a loop is changed or duplicated, only the phis after it need an update. Inner loops come first: a value that
//! leaves several loops passes through a phi after each. Derefs may not go through phis and are left to
//! [`rematerialize_derefs_in_use_blocks`](mod@crate::passes::into_ssa::rematerialize_derefs_in_use_blocks). Linear in
//! the uses of values that loops define, times the nesting depth.

use crate::analysis::LoopTree;
use crate::body::{Body, InstData, SourceSpec};
use crate::cursor::Cursor;
use crate::entities::{Block, Inst, Loop, Use};
use crate::shader::Shader;

/// See the [module](self).
pub fn convert_to_lcssa(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut().filter(|body| body.structured) {
        let tree = body.loop_tree();
        for &id in tree.loops.iter().rev() {
            progress |= close_loop(body, &tree, id);
        }
    }
    progress
}

/// Runs the pass on one loop. `tree` determines which blocks are inside of the loop.
pub(crate) fn close_loop(body: &mut Body, tree: &LoopTree, id: Loop) -> bool {
    let after = body.block_after_loop(id);
    let preds: Vec<Block> = body.predecessors(after).to_vec();
    // A loop without an exit: the code after it is unreachable.
    if preds.is_empty() {
        return false;
    }
    let mut progress = false;
    // Values of a continue construct are not available at the exits, which are in the body.
    let blocks: Vec<Block> = body.blocks_in(body.loop_body(id)).collect();
    for block in blocks {
        for inst in body.insts_vec(block) {
            progress |= close_inst(body, tree, id, &preds, after, inst);
        }
    }
    progress
}

fn close_inst(body: &mut Body, tree: &LoopTree, id: Loop, preds: &[Block], after: Block, inst: Inst) -> bool {
    let Some(def) = body.inst_def(inst) else { return false };
    if matches!(body.inst(inst), InstData::Deref { .. }) {
        return false;
    }
    let outside: Vec<Use> =
        body.uses_of(def).filter(|&u| body.use_block(u).is_some_and(|block| !tree.contains(id, block))).collect();
    if outside.is_empty() {
        return false;
    }
    let sources: Vec<SourceSpec> = preds.iter().map(|&pred| SourceSpec::phi(pred, def)).collect();
    let phi = body.create_inst(InstData::Phi, &sources, Some(body.shape(def)));
    body.insert_inst(Cursor::BlockStart(after), phi);
    if let Some(closed) = body.inst_def(phi) {
        for source in outside {
            body.set_src(source, closed);
        }
    }
    true
}

//! Equal constants become one, in the first block of the body.
//!
//! ```text
//! before:                                      after:
//!     block b0:                                    block b0:
//!     32   %0 = load_const (0x00000005)            32   %0 = load_const (0x00000005)
//!     if %c {                                      32   %2 = load_const (0x00000007)
//!         block b1:                                if %c {
//!         32   %1 = load_const (0x00000005)            block b1:
//!         32   %2 = load_const (0x00000007)            32   %4 = iadd %0, %2
//!         32   %4 = iadd %1, %2
//! ```
//!
//! For targets that pay for each load of a constant and have registers to spare. [`opt_cse`](mod@crate::passes::opt_cse) merges constants only where one dominates the other, and
//! leaves them in their blocks; here they all go to the end of the first block (before its jump, in the order of the text), which dominates everything. Those that are in the first
//! block stay where they are. Constants are equal if they have the same components in the same bits, whatever they are read as.
//!
//! One walk in the order of the text with a hash table.

use crate::body::{Body, InstData};
use crate::cursor::Cursor;
use crate::entities::Inst;
use crate::passes::opt_cse::{Table, hash, insts_equal};
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_reuse_constants(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= merge_and_hoist(body);
    }
    progress
}

fn is_constant(body: &Body, inst: Inst) -> bool {
    matches!(body.inst(inst), InstData::LoadConst { .. })
}

fn merge_and_hoist(body: &mut Body) -> bool {
    let count = body.blocks().map(|block| body.insts(block).filter(|&inst| is_constant(body, inst)).count()).sum();
    if count == 0 {
        return false;
    }
    let start = body.start_block();
    let end = Cursor::before_jump(body, start);
    let mut table = Table::new(count);
    let mut removed: Vec<Inst> = Vec::new();
    let moved = body.visit_insts(|body, inst| {
        if !is_constant(body, inst) {
            return false;
        }
        let hash = hash(body, inst);
        if let Some(first) = table.insert(hash, inst)
            && insts_equal(body, first, inst)
            && let (Some(def), Some(kept)) = (body.inst_def(inst), body.inst_def(first))
        {
            body.replace_all_uses(def, kept);
            removed.push(inst);
            table.insert(hash, first);
            return false;
        }
        let moves = body.inst_block(inst) != Some(start);
        if moves {
            body.move_inst(end, inst);
        }
        moves
    });
    body.remove_insts(&removed);
    moved || !removed.is_empty()
}

//! Rematerialises comparisons at their uses, for targets with comparisons that set flags.
//!
//! ```text
//! before:                          after:
//!     %1 = flt %x, %y
//!     ...                              ...
//!     if %c {                          if %c {
//!                                          %5 = flt %x, %y
//!         %2 = bcsel %1, %a, %b            %2 = bcsel %5, %a, %b
//!     }                                }
//!                                      %6 = flt %x, %y
//!     if %1 {                          if %6 {
//! ```
//!
//! A branch or a selection right after the comparison reads the flags; one in another block needs the result in a
//! register and a comparison of that with zero. A comparison is rematerialised for a use if
//!
//! 1. it compares two values (all comparisons of floats and integers, with any kind of booleans);
//! 2. all its uses are conditions of `if`s or of selections: other uses need the value in a register anyway;
//! 3. the use is in another block. For an `if`, that is the block in front of it;
//! 4. none of its operands is loaded from a register: the load would become a copy, or read another value.
//!
//! A comparison without remaining uses is removed. A value does not depend on where it is computed, so the results have
//! the same bits. Run the pass last, before registers are trivialised: common subexpression elimination would merge the
//! copies again. Linear in the uses.

use crate::body::Body;
use crate::cursor::Cursor;
use crate::entities::{Inst, Use, User};
use crate::intrinsics::IntrinsicOp;
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_rematerialize_compares(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(rematerialize);
    }
    progress
}

fn rematerialize(body: &mut Body, inst: Inst) -> bool {
    let Some(def) = body.inst_def(inst).filter(|_| is_candidate(body, inst)) else { return false };
    let home = body.inst_block(inst);
    let mut progress = false;
    for source in body.uses_vec(def) {
        let cursor = Cursor::before_use(body, source);
        if Some(cursor.block(body)) == home {
            continue;
        }
        let clone = body.clone_inst_before(inst);
        body.move_inst(cursor, clone);
        if let Some(value) = body.inst_def(clone) {
            body.set_src(source, value);
        }
        progress = true;
    }
    if progress && body.is_unused(def) {
        body.remove_inst(inst);
    }
    progress
}

fn is_candidate(body: &Body, inst: Inst) -> bool {
    let Some(op) = body.alu_op(inst) else { return false };
    let is_load = |source: Use| {
        let load = body.intrinsic(body.src_inst(source));
        matches!(load, Some(IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect))
    };
    op.is_comparison()
        && body.num_sources(inst) == 2
        && !body.sources(inst).any(is_load)
        && body.inst_def(inst).is_some_and(|def| body.uses_of(def).all(|source| is_condition(body, source)))
}

/// Returns whether a source is the condition of an `if` or a selection.
fn is_condition(body: &Body, source: Use) -> bool {
    match body.user(source) {
        User::If(_) => true,
        User::Inst(user) => body.alu_op(user).is_some_and(|op| op.is_selection()) && body.source_number(source) == 0,
    }
}

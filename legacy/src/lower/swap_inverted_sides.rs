//! Swaps the sides of an `if` with an inverted condition instead of inverting, where both sides will have code.
//!
//! ```text
//!     %2 = inot %1                           if %1 {
//!     if %2 {                                } else {
//!         %3 = ...                               %3 = ...
//!     } else {                       =>      }
//!     }                                      %4 = phi: 0.0, %3
//!     %4 = phi: %3, 0.0
//! ```
//!
//! The inversion exists because the optimiser puts code on the first side and because a comparison has no opposite if
//! an operand may be NaN. It costs an instruction. A phi leaves a copy on the empty side, so that there is an `ELSE`
//! whichever side comes first. Without phis there would be no `ELSE`: such `if`s are not changed.

use tgsi_ir::alu::AluOp;
use tgsi_ir::{Body, If, Shader};

/// Swaps all such sides. Returns whether anything changed.
pub(crate) fn swap_inverted_sides(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            let Some(id) = body.following_if(block) else { continue };
            let source = body.if_condition(id);
            let condition = body.src_def(source);
            let inversion = body.def_inst(condition);
            let is_inverted = body.alu_op(inversion) == Some(AluOp::Inot)
                && body.is_boolean(condition)
                && body.uses_of(condition).count() == 1;
            if !is_inverted || !second_side_has_code(body, id) {
                continue;
            }
            // A component of a vector cannot be a condition.
            let inner = body.src(inversion, 0);
            if body.num_components(inner) != 1 {
                continue;
            }
            body.set_src(source, inner);
            body.swap_sides(id);
            progress = true;
        }
    }
    progress
}

/// Whether the second side has code or copies of phis.
fn second_side_has_code(body: &Body, id: If) -> bool {
    let side = body.else_list(id);
    side.first != side.last
        || body.first_inst(side.first).is_some()
        || body.phis(body.block_after_if(id)).next().is_some()
}

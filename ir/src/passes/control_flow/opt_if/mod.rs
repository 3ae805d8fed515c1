//! Simplifies `if`s and the phis around them.
//!
//! | part | before | after |
//! |---|---|---|
//! | `conditions` | `if %c { .. %c .. } else { .. %c .. }` | `true` and `false` there, and consequences |
//! | `conditions` | `%c = ieq %x, 3; if %c { .. %x .. }` | `3` there |
//! | `phis` | `%1 = phi: true, false` after `if %c` | `%c` |
//! | `phis` | `if %c {A} else {B}; %1 = phi: a, b; if %c { .. %1 .. }`, used there only | `%1 = phi: a, undef` |
//! | `merge` | `if %c {A} else {B}; if %c {C} else {D}` | `if %c {A; C} else {B; D}` |
//! | `invert` | `if %c {} else {A}` | `if !%c {A} else {}` |
//! | `loop_phis` | `%1 = phi: 0, %n; %2 = iadd %1, 1` in the head of a loop | `%2` is a phi of `iadd 0, 1` and `iadd %n, 1` |
//! | `loop_phis` | `%1 = phi: true, false; %2 = bcsel %1, %a, %b` in the head of a loop | `%2` is a phi |
//!
//! All exact. Each part is one walk; opportunities that one part creates for another are left to the next run.

mod conditions;
mod invert;
mod loop_phis;
mod merge;
mod phis;

use crate::shader::Shader;

/// See the [module](self).
pub fn opt_if(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        if !body.structured || body.is_one_block() {
            continue;
        }
        // Parts that keep the control flow come first, so that dominance is computed once for all of them.
        progress |= conditions::evaluate_uses(body);
        progress |= phis::simplify_phis(body);
        // Turning a selection into a phi is better than splitting it.
        progress |= loop_phis::select_phis(body);
        progress |= loop_phis::split_alu_of_phis(body);
        progress |= invert::invert_empty_sides(body);
        progress |= merge::merge_equal(body);
    }
    progress
}

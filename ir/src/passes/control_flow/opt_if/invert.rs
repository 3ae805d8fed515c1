//! Inverts an `if` with an empty first side.
//!
//! ```text
//! before:                     after:
//!     if %c {                     %1 = inot %c
//!     } else {                    if %1 {
//!         ...                         ...
//!     }                           }
//! ```

use crate::alu::AluOp;
use crate::body::{Body, CfList};
use crate::builder::Builder;
use crate::cursor::Cursor;

/// Inverts such `if`s. Returns whether there were any.
pub(super) fn invert_empty_sides(body: &mut Body) -> bool {
    let mut progress = false;
    let is_empty = |body: &Body, list: CfList| list.first == list.last && body.first_inst(list.first).is_none();
    for block in body.blocks_vec() {
        let Some(id) = body.following_if(block) else { continue };
        if !is_empty(body, body.then_list(id)) || is_empty(body, body.else_list(id)) || body.block_jump(block).is_some()
        {
            continue;
        }
        let source = body.if_condition(id);
        let condition = body.src_def(source);
        if !body.is_boolean(condition) {
            continue;
        }
        let inverted = Builder::new(body, Cursor::BlockEnd(block)).alu(AluOp::Inot, &[condition]);
        body.set_src(source, inverted);
        body.swap_sides(id);
        progress = true;
    }
    progress
}

//! Bounds on loops: a lane that exceeds the limit of iterations leaves all loops.

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{Body, JumpKind};
use tgsi_ir::cursor::Cursor;

use crate::code::{Code, Frame};
use crate::layout::{FLAG_ENDLESS, Header};

/// Bounds every loop. Values on the edges that leave a loop early are undefined.
pub(crate) fn bound(body: &mut Body, frame: &Frame) {
    let loops: Vec<_> = body.blocks().filter_map(|block| body.following_loop(block)).collect();
    for id in loops {
        let first = body.loop_body(id).first;
        let cursor = Cursor::after_phis(body, first);
        let mut code = Code::new(body, cursor, frame);
        let address = code.lane_address(Header::Count);
        let count = code.load(address);
        let next = code.add_word(count, 1);
        code.store(address, next);
        let limit = code.header(Header::Iterations);
        let over = code.op2(AluOp::Uge, count, limit);
        let exit = code.b.push_if(over);
        let flags = code.word(4 * Header::Flags as u32);
        let endless = code.word(FLAG_ENDLESS);
        code.store(flags, endless);
        code.b.jump(JumpKind::Break);
        code.b.end_if(exit);
    }
    body.complete_phis();
}

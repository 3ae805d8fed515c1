//! A comparison of floats that is needed as 1.0 or 0.0 as well is computed only so: conditions and selections test for other than 0, which 1.0 is.
//!
//! ```text
//! 32 %2 = flt32 %0, %1                  32 %2 = slt %0, %1
//! 32 %3 = b2f32 %2               =>     if %2 {             (also b32csel; %2 for %3)
//! if %2 {
//! ```
//!
//! To be run after `lower_bool_to_int32`. What takes the boolean apart bit by bit keeps it.

use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Builder, Cursor, Inst, Shader, User};

/// Shares. Returns whether anything changed.
pub(crate) fn share_float_booleans(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                progress |= share(body, inst);
            }
        }
    }
    progress
}

fn share(body: &mut Body, inst: Inst) -> bool {
    let (Some((op, flags)), Some(def)) = (body.alu(inst), body.inst_def(inst)) else { return false };
    let set = match op {
        AluOp::Flt32 => AluOp::Slt,
        AluOp::Fge32 => AluOp::Sge,
        AluOp::Feq32 => AluOp::Seq,
        AluOp::Fneu32 => AluOp::Sne,
        _ => return false,
    };
    let uses = body.uses_vec(def);
    let number_of = |body: &Body, user: User| match user {
        User::Inst(user) if body.alu_op(user) == Some(AluOp::B2f32) => Some(user),
        _ => None,
    };
    if body.bit_size(body.src(inst, 0)) != 32 || !uses.iter().any(|&u| number_of(body, body.user(u)).is_some()) {
        return false;
    }
    let sources = [0, 1].map(|n| {
        let source = body.source(inst, n);
        AluSrc::new(body.src_def(source), body.swizzle(source))
    });
    let mut b = Builder::new(body, Cursor::Before(inst));
    b.flags = flags;
    let count = b.body.num_components(def);
    let float = b.alu_sized(set, count, &sources);
    for source in uses {
        if let Some(user) = number_of(body, body.user(source)) {
            let Some(number) = body.inst_def(user) else { continue };
            let value = AluSrc::new(float, body.swizzle(source));
            let count = body.num_components(number);
            let copy = Builder::new(body, Cursor::Before(user)).mov(value, count);
            body.replace_all_uses(number, copy);
            continue;
        }
        let tests = match body.user(source) {
            User::If(_) => true,
            User::Inst(user) => body.alu_op(user) == Some(AluOp::B32csel) && body.source_number(source) == 0,
        };
        if tests {
            body.set_src(source, float);
        }
    }
    true
}

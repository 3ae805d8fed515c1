//! Narrows operations that do the same in every component to one component.
//!
//! ```text
//! 32x4 %3 = fadd %1.xxxx, %2.yyyy       32 %5 = fadd %1.x, %2.y
//! 32x4 %4 = fcsel_gt %3, %a, %b    =>   32x4 %3 = mov %5.xxxx
//!                                       32x4 %4 = fcsel_gt %3, %a, %b
//! ```
//!
//! Copy propagation must follow where operands support swizzles. For targets that pair instructions of three components
//! with those of one.

use arrayvec::ArrayVec;
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Builder, Cursor, Def, Inst, Shader, Swizzle, User};

/// Narrows all functions. Returns whether anything changed.
pub(crate) fn narrow_broadcasts(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        for block in body.blocks_vec() {
            for inst in body.insts_vec(block) {
                progress |= narrow(body, inst);
            }
        }
    }
    progress
}

/// The source of a component through copies, which earlier narrowing leaves.
fn copied(body: &Body, value: Def, component: u8) -> (Def, u8) {
    let producer = body.def_inst(value);
    if body.alu_op(producer) != Some(AluOp::Mov) {
        return (value, component);
    }
    let source = body.source(producer, 0);
    (body.src_def(source), body.swizzle(source).get(usize::from(component)))
}

fn narrow(body: &mut Body, inst: Inst) -> bool {
    let (Some((op, flags)), Some(def)) = (body.alu(inst), body.inst_def(inst)) else { return false };
    let count = body.num_components(def);
    if count < 2 || op.is_vec_or_mov() || !op.is_componentwise() || body.num_sources(inst) > 4 {
        return false;
    }
    // Instructions other than ALU operations read whole vectors.
    let swizzles = |user: User| {
        let User::Inst(user) = user else { return false };
        body.alu_op(user).is_some_and(|op| !op.is_vec())
    };
    if !body.uses_of(def).all(|reader| swizzles(body.user(reader))) {
        return false;
    }
    let mut sources: ArrayVec<AluSrc, 4> = ArrayVec::new();
    for source in body.sources(inst) {
        let (value, swizzle) = (body.src_def(source), body.swizzle(source));
        let first = copied(body, value, swizzle.get(0));
        if (1..usize::from(count)).any(|channel| copied(body, value, swizzle.get(channel)) != first) {
            return false;
        }
        sources.push(AluSrc::component(first.0, first.1));
    }
    let mut builder = Builder::new(body, Cursor::Before(inst));
    builder.flags = flags;
    let narrow = builder.alu_sized(op, 1, &sources);
    let whole = builder.mov(AluSrc::new(narrow, Swizzle::new(&[0; 4])), count);
    body.replace_all_uses(def, whole);
    body.remove_inst(inst);
    true
}

//! Narrows a selection between a vector and the same vector with some components replaced to these components.
//!
//! ```text
//! before:                                          after:
//!     %2 = vec4 %0.x, %1, %0.z, %0.w
//!     %3 = bcsel %c.xxxx, %2, %0                       %4 = bcsel %c.x, %1, %0.y
//!                                                      %3 = vec4 %0.x, %4, %0.z, %0.w
//! ```
//!
//! Writing a component of a vector with a run-time index becomes a chain of such selections; narrowed, they no longer
//! depend on each other, and one instruction may compute them all. This is done only if the assembled vector has no
//! other use, so that no additional vectors are assembled. Constant components are included in the selection: they cost
//! nothing as operands, but do as parts of a vector. A selection between equal vectors becomes that vector.
//!
//! Cost: linear; a component is followed through a bounded number of moves.

use arrayvec::ArrayVec;

use crate::alu::AluOp;
use crate::body::{Body, InstData, Swizzle};
use crate::builder::{AluSrc, Builder};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst};
use crate::shader::Shader;

/// Maximum number of moves to follow a component through.
const MAX_MOVES: usize = 8;

/// See the [module](self).
pub fn opt_narrow_selects(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(|body, inst| body.alu_op(inst) == Some(AluOp::Bcsel) && narrow(body, inst));
    }
    progress
}

/// Follows a component through moves to its origin.
pub(crate) fn chase_component(body: &Body, mut def: Def, mut component: u8) -> (Def, u8) {
    for _ in 0..MAX_MOVES {
        let inst = body.def_inst(def);
        let (source, number) = match body.alu_op(inst) {
            Some(AluOp::Mov) => (body.source(inst, 0), component),
            Some(op) if op.is_vec() => (body.source(inst, component.into()), 0),
            _ => break,
        };
        (def, component) = (body.src_def(source), body.swizzle(source).get(number.into()));
    }
    (def, component)
}

fn narrow(body: &mut Body, select: Inst) -> bool {
    let (Some(def), InstData::Alu { flags, .. }) = (body.inst_def(select), *body.inst(select)) else { return false };
    let count = usize::from(body.num_components(def));
    let source = |number: usize| {
        let source = body.source(select, number);
        (body.src_def(source), body.swizzle(source))
    };
    let (condition, chosen, other) = (source(0), source(1), source(2));
    let is_put_together =
        |def: Def| body.alu_op(body.def_inst(def)).is_some_and(AluOp::is_vec) && body.single_use(def).is_some();
    if count < 2 || !is_put_together(chosen.0) && !is_put_together(other.0) {
        return false;
    }
    let mut kept: ArrayVec<Option<(Def, u8)>, 16> = ArrayVec::new();
    for i in 0..count {
        let (a, b) = (chase_component(body, chosen.0, chosen.1.get(i)), chase_component(body, other.0, other.1.get(i)));
        kept.push((a == b && body.constant_component(a.0, a.1.into()).is_none()).then_some(a));
    }
    let differing: ArrayVec<u8, 16> = (0..count as u8).filter(|&i| kept[usize::from(i)].is_none()).collect();
    // Vectors of six or seven components do not exist.
    if differing.len() == count || !matches!(differing.len(), 0..=5 | 8) {
        return false;
    }
    let mut b = Builder::new(body, Cursor::Before(select));
    let mut selected = None;
    if !differing.is_empty() {
        let part = Swizzle::new(&differing);
        let operand = |(def, swizzle): (Def, Swizzle)| AluSrc::new(def, part.compose(swizzle));
        b.flags = flags;
        let sources = [operand(condition), operand(chosen), operand(other)];
        selected = Some(b.alu_sized(AluOp::Bcsel, differing.len() as u8, &sources));
        b.flags = Default::default();
    }
    let mut next = 0;
    let sources: ArrayVec<AluSrc, 16> = kept
        .iter()
        .filter_map(|kept| match *kept {
            Some((def, component)) => Some(AluSrc::component(def, component)),
            None => {
                next += 1;
                selected.map(|selected| AluSrc::component(selected, next - 1))
            }
        })
        .collect();
    let value = b.vec(&sources);
    body.replace_all_uses(def, value);
    body.remove_inst(select);
    true
}

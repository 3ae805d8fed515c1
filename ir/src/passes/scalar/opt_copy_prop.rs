//! Propagates copies: uses read through `mov`s and vectors.
//!
//! ```text
//! before:                           after:
//!     %1 = mov %0.wzyx
//!     %2 = vec2 %1.x, %3.y              (both are removed once unused)
//!     %4 = fadd %1.yy, %2.xy            %4 = fadd %0.zz, %2.xy
//!     %5 = fneg %2.yy                   %5 = fneg %3.yy
//! ```
//!
//! - An ALU source that reads a `mov` reads its operand instead, with the swizzles composed. A source that reads a
//!   vector reads a single value instead if all the components it selects belong to that value.
//! - A `mov` of a vector with components of several values becomes a vector.
//! - All other uses (intrinsics, textures, phis, derefs, `if`s) read whole values: they look only through copies that
//!   preserve the order and the number of components.
//! - Vectors of constants are kept.
//!
//! One sweep in program order, which follows a chain one step per copy. Linear in the uses.

use crate::alu::AluOp;
use crate::body::{AluFlags, Body, InstData, SourceSpec, Swizzle};
use crate::cursor::Cursor;
use crate::entities::{Def, Inst, Use, User};
use crate::shader::Shader;

/// See the [module](self).
pub fn opt_copy_prop(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= propagate(body);
    }
    progress
}

/// Runs the pass on one body.
pub(crate) fn propagate(body: &mut Body) -> bool {
    let mut progress = false;
    let mut next_block = Some(body.start_block());
    while let Some(block) = next_block {
        next_block = body.next_block(block);
        let mut next = body.first_inst(block);
        while let Some(inst) = next {
            // A mov may be followed by the vector that replaces it, which is visited next.
            next = body.next_inst(inst);
            if body.alu_op(inst).is_some_and(AluOp::is_vec_or_mov) {
                progress |= propagate_copy(body, inst);
            }
        }
    }
    progress
}

/// Returns the value that a mov or vector copies unchanged: same components, same order.
fn whole_copy(body: &Body, copy: Inst, def: Def) -> Option<Def> {
    let count = usize::from(body.num_components(def));
    let source = body.src(copy, 0);
    if usize::from(body.num_components(source)) != count {
        return None;
    }
    let identity = if body.alu_op(copy) == Some(AluOp::Mov) {
        body.swizzle(body.source(copy, 0)).is_identity(count)
    } else {
        body.sources(copy)
            .enumerate()
            .all(|(i, s)| body.src_def(s) == source && usize::from(body.swizzle(s).get(0)) == i)
    };
    identity.then_some(source)
}

fn propagate_copy(body: &mut Body, copy: Inst) -> bool {
    let Some(def) = body.inst_def(copy) else { return false };
    let whole = whole_copy(body, copy, def);
    let mut progress = false;
    if let Some(source) = whole {
        // A phi in a loop may use its own copy, but a copy never reads itself.
        progress = !body.is_unused(def);
        body.replace_all_uses(def, source);
    } else {
        let mut next = body.first_use(def);
        while let Some(source) = next {
            // A rewritten source moves to another list.
            next = body.next_use(source);
            if let User::Inst(user) = body.user(source)
                && body.alu_op(user).is_some()
            {
                progress |= rewrite_alu_source(body, copy, user, source);
            }
        }
    }
    if body.is_unused(def) {
        body.remove_inst(copy);
        progress = true;
    }
    progress
}

fn rewrite_alu_source(body: &mut Body, copy: Inst, user: Inst, source: Use) -> bool {
    let outer = body.swizzle(source);
    if body.alu_op(copy) == Some(AluOp::Mov) {
        let inner = body.source(copy, 0);
        let (value, swizzle) = (body.src_def(inner), outer.compose(body.swizzle(inner)));
        body.set_src(source, value);
        body.set_swizzle(source, swizzle);
        return true;
    }
    let components = body.alu_src_components(user, body.source_number(source));
    let mut value = None;
    let mut swizzle = Swizzle(0);
    for i in 0..components {
        let input = body.source(copy, usize::from(outer.get(i)));
        if *value.get_or_insert(body.src_def(input)) != body.src_def(input) {
            return body.alu_op(user) == Some(AluOp::Mov) && mov_to_vec(body, copy, user, outer, components);
        }
        swizzle = swizzle.with(i, body.swizzle(input).get(0));
    }
    let Some(value) = value else { return false };
    body.set_src(source, value);
    body.set_swizzle(source, swizzle);
    true
}

/// Replaces a mov of a vector by a vector of the components it selects.
fn mov_to_vec(body: &mut Body, copy: Inst, user: Inst, outer: Swizzle, components: usize) -> bool {
    let (Some(op), Some(def)) = (AluOp::vec(components as u8), body.inst_def(user)) else { return false };
    let sources: arrayvec::ArrayVec<SourceSpec, 16> = (0..components)
        .map(|i| {
            let input = body.source(copy, usize::from(outer.get(i)));
            SourceSpec::alu(body.src_def(input), Swizzle::replicate(body.swizzle(input).get(0)))
        })
        .collect();
    let vec = body.create_inst(InstData::Alu { op, flags: AluFlags::NONE }, &sources, Some(body.shape(def)));
    body.insert_inst(Cursor::After(user), vec);
    if let Some(new) = body.inst_def(vec) {
        body.replace_all_uses(def, new);
    }
    // The mov is unused; the sweep removes it later. It must not keep the vector alive.
    let first = body.src(copy, 0);
    body.set_src(body.source(user, 0), first);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Builder;
    use crate::builder::AluSrc;
    use crate::shader::ShaderStage;

    #[test]
    fn swizzles_compose_and_vectors_are_seen_through() {
        let mut shader = Shader::new(ShaderStage::Compute);
        let mut b = Builder::at_end(shader.main_mut());
        let x = b.constant(32, &[1, 2, 3, 4]);
        let y = b.constant(32, &[5, 6, 7, 8]);
        let turned = b.mov(AluSrc::new(x, Swizzle::new(&[3, 2, 1, 0])), 4);
        let again = b.mov(AluSrc::new(turned, Swizzle::new(&[1, 1])), 2);
        let pair = b.vec(&[AluSrc::component(turned, 0), AluSrc::component(y, 1)]);
        let taken = b.mov(AluSrc::new(pair, Swizzle::new(&[1, 0])), 2);
        let one = b.alu_sized(AluOp::Ineg, 2, &[again.into()]);
        let two = b.alu_sized(AluOp::Ineg, 2, &[taken.into()]);
        let three = b.alu_sized(AluOp::Ineg, 2, &[AluSrc::new(pair, Swizzle::replicate(1))]);
        assert!(opt_copy_prop(&mut shader));
        let body = shader.main();
        let source = |def| (body.src(body.def_inst(def), 0), body.swizzle(body.source(body.def_inst(def), 0)));
        assert_eq!(source(one).0, x);
        assert_eq!(source(one).1.iter(2).collect::<Vec<_>>(), [2, 2]);
        assert_eq!((source(three).0, source(three).1.get(0)), (y, 1));
        let vec = body.def_inst(source(two).0);
        assert_eq!(body.alu_op(vec), Some(AluOp::Vec2));
        assert_eq!((body.src(vec, 0), body.src(vec, 1)), (y, x));
        assert!(![turned, again, pair, taken].into_iter().any(|d| body.is_def_live(d)));
    }
}

//! Divides coordinates and comparator by the projector.
//!
//! ```text
//! before: %1 = tex %0 (coord), %p (projector), %c (comparator)
//! after:  %2 = fdiv %0, %p.xx
//!         %3 = fdiv %c, %p
//!         %1 = tex %2 (coord), %3 (comparator)
//! ```
//!
//! Layers are not divided. SPIR-V has projective lookups, but not for arrays and cubes, and not every translator
//! supports them.
//!
//! Cost: linear in the instructions.

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::TexSrcKind;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::{Body, Inst, Shader};

use super::texture_edit::TextureEdit;

/// See the [module](self).
pub fn lower_projectors(shader: &mut Shader) -> bool {
    let mut progress = false;
    for body in shader.bodies_mut() {
        progress |= body.visit_insts(lower);
    }
    progress
}

fn lower(body: &mut Body, inst: Inst) -> bool {
    let Some(mut edit) = TextureEdit::of(body, inst) else { return false };
    let Some(projector) = edit.take(TexSrcKind::Projector) else { return false };
    let divisor = AluSrc::component(projector, 0);
    let is_array = edit.data.is_array;
    if let Some(coordinate) = edit.get(TexSrcKind::Coord) {
        let count = edit.data.coord_components;
        let mut b = edit.before(body);
        let divided = b.alu_sized(AluOp::Fdiv, count, &[coordinate.into(), divisor]);
        let coordinate = if is_array {
            let parts: Vec<AluSrc> =
                (0..count).map(|c| AluSrc::component(if c + 1 == count { coordinate } else { divided }, c)).collect();
            b.vec(&parts)
        } else {
            divided
        };
        edit.set(TexSrcKind::Coord, coordinate);
    }
    if let Some(comparator) = edit.get(TexSrcKind::Comparator) {
        let comparator = edit.before(body).alu_sized(AluOp::Fdiv, 1, &[comparator.into(), divisor]);
        edit.set(TexSrcKind::Comparator, comparator);
    }
    edit.replace(body);
    true
}

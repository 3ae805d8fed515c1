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
use tgsi_ir::passes::lower_resources::texture_edit::{TextureEdit, edit_textures};
use tgsi_ir::{Body, Shader};

/// See the [module](self).
pub fn lower_projectors(shader: &mut Shader) -> bool {
    edit_textures(shader, lower)
}

fn lower(body: &mut Body, mut edit: TextureEdit) -> bool {
    let Some(projector) = edit.take(TexSrcKind::Projector) else { return false };
    let divisor = AluSrc::component(projector, 0);
    if let Some(coordinate) = edit.get(TexSrcKind::Coord) {
        let count = edit.data.coord_components;
        let divided = edit.before(body).alu_sized(AluOp::Fdiv, count, &[coordinate.into(), divisor]);
        edit.set_coordinates(body, divided);
    }
    if let Some(comparator) = edit.get(TexSrcKind::Comparator) {
        let comparator = edit.before(body).alu_sized(AluOp::Fdiv, 1, &[comparator.into(), divisor]);
        edit.set(TexSrcKind::Comparator, comparator);
    }
    edit.replace(body);
    true
}

//! Adds an explicit level to lookups of shaders without derivatives: level 0, or the bias.
//! A minimum level of a lookup with an explicit level becomes a maximum of the two.
//!
//! ```text
//! before: %1 = tex %0 (coord)
//! after:  %1 = txl %0 (coord), 0.0 (lod)
//! ```
//!
//! Cost: linear in the instructions.

use tgsi_ir::alu::AluOp;
use tgsi_ir::body::{TexOp, TexSrcKind};
use tgsi_ir::passes::lower_resources::texture_edit::{TextureEdit, edit_textures};
use tgsi_ir::{Body, Shader};

use crate::plan::has_derivatives;

/// See the [module](self).
pub fn lower_implicit_lod(shader: &mut Shader) -> bool {
    let has_derivatives = has_derivatives(shader);
    edit_textures(shader, |body, edit| lower(body, edit, has_derivatives))
}

fn lower(body: &mut Body, mut edit: TextureEdit, has_derivatives: bool) -> bool {
    let level = match edit.data.op {
        TexOp::Tex if !has_derivatives => Some(edit.before(body).f32_const(0.0)),
        TexOp::Txb if !has_derivatives => edit.take(TexSrcKind::Bias),
        TexOp::Txl if edit.get(TexSrcKind::MinLod).is_some() => edit.get(TexSrcKind::Lod),
        _ => None,
    };
    let Some(mut level) = level else { return false };
    if let Some(minimum) = edit.take(TexSrcKind::MinLod) {
        level = edit.before(body).alu(AluOp::Fmax, &[level, minimum]);
    }
    edit.set(TexSrcKind::Lod, level);
    edit.data.op = TexOp::Txl;
    edit.replace(body);
    true
}

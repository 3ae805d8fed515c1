//! Lowers 1D textures to 2D textures, sampled in the middle of their only row: WGSL and Metal have neither 1D arrays
//! nor 1D textures with levels.
//!
//! ```text
//! before: %1 = tex %0 (coord)                   ; 1D
//! after:  %2 = vec2 %0.x, 0.5
//!         %1 = tex %2 (coord)                   ; 2D
//! ```
//!
//! Fetches read row 0, gradients and offsets are 0 in the second dimension, and sizes lose their second component.
//! Variables keep their types: the lookup determines the dimensionality. The host binds a 2D texture of height 1.
//!
//! Cost: linear in the instructions.

use tgsi_environment::SamplerDim;
use tgsi_ir::body::{TexOp, TexSrcKind};
use tgsi_ir::builder::AluSrc;
use tgsi_ir::passes::lower_resources::texture_edit::{TextureEdit, edit_textures};
use tgsi_ir::{Body, Shader};

/// See the [module](self).
pub fn lower_1d_textures(shader: &mut Shader) -> bool {
    edit_textures(shader, lower)
}

fn lower(body: &mut Body, mut edit: TextureEdit) -> bool {
    if edit.data.dim != SamplerDim::Dim1D {
        return false;
    }
    edit.data.dim = SamplerDim::Dim2D;
    let fetches = matches!(edit.data.op, TexOp::Txf | TexOp::TxfMs);
    for kind in [TexSrcKind::Coord, TexSrcKind::Ddx, TexSrcKind::Ddy, TexSrcKind::Offset] {
        let Some(def) = edit.get(kind) else { continue };
        let has_layer = kind == TexSrcKind::Coord && edit.data.is_array;
        let mut b = edit.before(body);
        let row = if kind == TexSrcKind::Coord && !fetches { b.f32_const(0.5) } else { b.u32_const(0) };
        let mut parts = vec![AluSrc::component(def, 0), AluSrc::component(row, 0)];
        if has_layer {
            parts.push(AluSrc::component(def, 1));
        }
        let def = b.vec(&parts);
        edit.set(kind, def);
    }
    if edit.data.coord_components > 0 {
        edit.data.coord_components += 1;
    }
    let new = edit.build(body);
    let new = match edit.data.op {
        TexOp::Txs => {
            let mut b = edit.before(body);
            let width = b.channel(new, 0);
            if edit.data.is_array { b.vec(&[AluSrc::component(new, 0), AluSrc::component(new, 2)]) } else { width }
        }
        _ => new,
    };
    edit.replace_by(body, new);
    true
}

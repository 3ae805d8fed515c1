//! Scales the coordinates of lookups in rectangle textures, which count texels, to 0..1: Vulkan has only 2D textures.
//!
//! ```text
//! before: %1 = tex %0 (coord)              ; Rect
//! after:  %2 = txs %zero (lod)
//!         %3 = i2f32 %2
//!         %4 = fdiv %0, %3
//!         %1 = tex %4 (coord)              ; 2D
//! ```
//!
//! Gradients are scaled as well. Fetches and queries are unchanged.
//!
//! Cost: linear in the instructions.

use tgsi_environment::SamplerDim;
use tgsi_ir::alu::{AluOp, AluType};
use tgsi_ir::body::{TexData, TexOp, TexSrcKind};
use tgsi_ir::passes::lower_resources::texture_edit::{TextureEdit, edit_textures};
use tgsi_ir::{Body, Def, Shader};

/// See the [module](self).
pub fn lower_rect_coordinates(shader: &mut Shader) -> bool {
    edit_textures(shader, lower)
}

/// Emits the size of a texture at a level as floats, without the layers.
pub fn size_of(body: &mut Body, edit: &TextureEdit, level: Option<Def>) -> Def {
    let mut b = edit.before(body);
    let level = level.unwrap_or_else(|| b.u32_const(0));
    let mut data = TexData::new(TexOp::Txs, edit.data.dim, AluType::INT32);
    data.is_array = edit.data.is_array;
    data.texture_index = edit.data.texture_index;
    let mut sources: Vec<(TexSrcKind, Def)> = edit
        .names()
        .filter(|(kind, _)| {
            !matches!(kind, TexSrcKind::SamplerDeref | TexSrcKind::SamplerHandle | TexSrcKind::SamplerOffset)
        })
        .collect();
    sources.push((TexSrcKind::Lod, level));
    let size = b.texture(data, &sources);
    let count = edit.data.coord_components - u8::from(edit.data.is_array);
    b.alu_sized(AluOp::I2f32, count, &[size.into()])
}

fn lower(body: &mut Body, mut edit: TextureEdit) -> bool {
    let lookups = matches!(edit.data.op, TexOp::Tex | TexOp::Txb | TexOp::Txl | TexOp::Txd | TexOp::Tg4 | TexOp::Lod);
    if edit.data.dim != SamplerDim::Rect || !lookups {
        return false;
    }
    let size = size_of(body, &edit, None);
    for kind in [TexSrcKind::Coord, TexSrcKind::Ddx, TexSrcKind::Ddy] {
        if let Some(def) = edit.get(kind) {
            let scaled = edit.before(body).alu_sized(AluOp::Fdiv, 2, &[def.into(), size.into()]);
            edit.set(kind, scaled);
        }
    }
    edit.data.dim = SamplerDim::Dim2D;
    edit.replace(body);
    true
}

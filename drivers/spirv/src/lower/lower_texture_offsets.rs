//! Adds offsets to coordinates where SPIR-V has no form for them.
//!
//! ```text
//! before: %1 = txf %0 (coord), %l (lod), %o (offset)
//! after:  %2 = iadd %0, %o
//!         %1 = txf %2 (coord), %l (lod)
//!
//! before: %1 = txl %0 (coord), %l (lod), %o (offset)      ; %o is not constant, or beyond -8..7
//! after:  %2 = txs %level (lod)
//!         %3 = fdiv (i2f32 %o), (i2f32 %2)
//!         %4 = fadd %0, %3
//!         %1 = txl %4 (coord), %l (lod)
//! ```
//!
//! SPIR-V lookups accept a constant offset in -8..7; gathers accept any value, except in the portable profile. Analytic
//! textures accept any offset, which is not a distance in texels there. The size is that of the level nearest to the
//! level of detail, which is exact where levels are not mixed. Layers get no offset.
//!
//! Cost: linear in the instructions.

use tgsi_environment::SamplerDim;
use tgsi_ir::alu::{AluOp, AluType};
use tgsi_ir::body::{TexData, TexOp, TexSrcKind};
use tgsi_ir::passes::lower_resources::texture_edit::{TextureEdit, edit_textures};
use tgsi_ir::{Body, Def, Shader, ShaderStage};

use super::lower_rect_coordinates::size_of;
use crate::options::SpirvOptions;

/// See the [module](self). In the profile [`portable`](SpirvOptions::portable), gathers accept only constants, and the
/// level of a lookup cannot be queried.
pub fn lower_texture_offsets(shader: &mut Shader, options: &SpirvOptions) -> bool {
    let asks_for_level = shader.stage == ShaderStage::Fragment && !options.portable;
    edit_textures(shader, |body, edit| lower(body, edit, options, asks_for_level))
}

fn lower(body: &mut Body, mut edit: TextureEdit, options: &SpirvOptions, asks_for_level: bool) -> bool {
    let Some(offset) = edit.get(TexSrcKind::Offset) else { return false };
    let Some(coordinate) = edit.get(TexSrcKind::Coord) else { return false };
    let constant = body.def_constant(offset);
    let is_zero = constant.is_some_and(|bits| bits.iter().all(|&bits| bits == 0));
    let is_small = constant.is_some_and(|bits| bits.iter().all(|&bits| (-8..8).contains(&(bits as u32 as i32))));
    let fetches = matches!(edit.data.op, TexOp::Txf | TexOp::TxfMs);
    let has_form = match edit.data.op {
        _ if is_zero => false,
        // Fetches add the offset in the same way for all textures, except that analytic textures truncate large
        // offsets.
        _ if fetches => options.analytic_textures && !is_small,
        _ if options.analytic_textures => true,
        TexOp::Tg4 => !options.portable || is_small,
        _ => is_small,
    };
    if has_form {
        return false;
    }
    edit.take(TexSrcKind::Offset);
    if is_zero {
        edit.replace(body);
        return true;
    }
    let moved = edit.data.coord_components - u8::from(edit.data.is_array);
    let added = if fetches {
        edit.before(body).alu_sized(AluOp::Iadd, moved, &[coordinate.into(), offset.into()])
    } else {
        let level = level_of(body, &edit, asks_for_level);
        let size = size_of(body, &edit, level);
        let mut b = edit.before(body);
        let offset = b.alu_sized(AluOp::I2f32, moved, &[offset.into()]);
        let offset = b.alu_sized(AluOp::Fdiv, moved, &[offset.into(), size.into()]);
        b.alu_sized(AluOp::Fadd, moved, &[coordinate.into(), offset.into()])
    };
    edit.set_coordinates(body, added);
    edit.replace(body);
    true
}

/// Estimates the level of a lookup; `None` for the first.
fn level_of(body: &mut Body, edit: &TextureEdit, asks_for_level: bool) -> Option<Def> {
    if matches!(edit.data.dim, SamplerDim::Rect | SamplerDim::Ms | SamplerDim::Buf) {
        return None;
    }
    let level = match edit.data.op {
        TexOp::Txl => edit.get(TexSrcKind::Lod)?,
        TexOp::Tex | TexOp::Txb if asks_for_level => {
            let mut data = TexData::new(TexOp::Lod, edit.data.dim, AluType::FLOAT32);
            data.is_array = edit.data.is_array;
            data.coord_components = edit.data.coord_components;
            data.texture_index = edit.data.texture_index;
            data.sampler_index = edit.data.sampler_index;
            let mut sources: Vec<(TexSrcKind, Def)> = edit.names().collect();
            sources.push((TexSrcKind::Coord, edit.get(TexSrcKind::Coord)?));
            let bias = edit.get(TexSrcKind::Bias);
            let mut b = edit.before(body);
            let level = b.texture(data, &sources);
            let level = b.channel(level, 0);
            match bias {
                Some(bias) => b.alu(AluOp::Fadd, &[level, bias]),
                None => level,
            }
        }
        _ => return None,
    };
    // Clamps the level to the existing ones.
    let mut data = TexData::new(TexOp::QueryLevels, edit.data.dim, AluType::INT32);
    data.is_array = edit.data.is_array;
    data.texture_index = edit.data.texture_index;
    let sources: Vec<(TexSrcKind, Def)> = edit
        .names()
        .filter(|(kind, _)| {
            matches!(kind, TexSrcKind::TextureDeref | TexSrcKind::TextureHandle | TexSrcKind::TextureOffset)
        })
        .collect();
    let mut b = edit.before(body);
    let levels = b.texture(data, &sources);
    let one = b.u32_const(1);
    let last = b.alu(AluOp::Isub, &[levels, one]);
    let zero = b.f32_const(0.0);
    let level = b.alu(AluOp::Fmax, &[level, zero]);
    let level = b.alu(AluOp::FroundEven, &[level]);
    let level = b.alu(AluOp::F2u32, &[level]);
    Some(b.alu(AluOp::Umin, &[level, last]))
}

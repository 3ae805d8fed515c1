//! Turns lookups with explicit gradients into lookups at an explicit level, for targets without gradients.
//!
//! ```text
//! before: %1 = txd %0 (coord), %dx (ddx), %dy (ddy), 3 (texture)
//! after:  %2 = txs 0 (lod), 3 (texture)
//!         %3 = i2f32 %2
//!         %4 = fmul %dx, %3                                    (gradients in texels)
//!         %5 = fmul %dy, %3
//!         %6 = fmax (fdot2 %4, %4), (fdot2 %5, %5)
//!         %7 = fmul (flog2 %6), 0.5
//!         %1 = txl %0 (coord), %7 (lod), 3 (texture)
//! ```
//!
//! The level is that of the longer gradient; anisotropic filters do not see the other one. Gradients of rectangles are
//! in texels already. On the face of a cube whose axis m is the longest of the direction d, a coordinate is d.c / d.m,
//! and the gradient of a coordinate is (g.c - g.m * d.c / d.m) / d.m, for a face from -1 to 1. A minimum level becomes
//! a maximum of the two levels.
//!
//! Cost: linear in the instructions.

use crate::alu::{AluOp, AluType};
use crate::body::{Body, TexData, TexOp, TexSrcKind};
use crate::builder::{AluSrc, Builder};
use crate::entities::Def;
use crate::shader::Shader;
use tgsi_environment::SamplerDim;

use super::texture_edit::{TextureEdit, edit_textures};

/// See the [module](self).
pub fn lower_gradients(shader: &mut Shader) -> bool {
    edit_textures(shader, lower)
}

fn lower(body: &mut Body, mut edit: TextureEdit) -> bool {
    let (true, Some(coordinate)) = (edit.data.op == TexOp::Txd, edit.get(TexSrcKind::Coord)) else { return false };
    let (Some(ddx), Some(ddy)) = (edit.take(TexSrcKind::Ddx), edit.take(TexSrcKind::Ddy)) else { return false };
    let minimum = edit.take(TexSrcKind::MinLod);
    let names: Vec<(TexSrcKind, Def)> = edit.names().collect();
    let (data, dim) = (edit.data, edit.data.dim);
    let mut b = edit.before(body);
    let mut gradients = [ddx, ddy];
    if dim == SamplerDim::Cube {
        gradients = on_face(&mut b, coordinate, gradients);
    }
    // Coordinates of a face have two components.
    let count = if dim == SamplerDim::Cube { 2 } else { dim.num_coords() };
    if dim != SamplerDim::Rect {
        let size = size(&mut b, data, names);
        gradients = gradients.map(|gradient| b.alu_sized(AluOp::Fmul, count, &[gradient.into(), size.into()]));
    }
    let [x, y] = gradients.map(|gradient| square(&mut b, gradient, count));
    let square = b.alu(AluOp::Fmax, &[x, y]);
    let logarithm = b.alu(AluOp::Flog2, &[square]);
    let half = b.f32_const(0.5);
    let mut level = b.alu(AluOp::Fmul, &[logarithm, half]);
    if dim == SamplerDim::Cube {
        // A face is two units long.
        let one = b.f32_const(-1.0);
        level = b.alu(AluOp::Fadd, &[level, one]);
    }
    if let Some(minimum) = minimum {
        level = b.alu(AluOp::Fmax, &[level, minimum]);
    }
    edit.set(TexSrcKind::Lod, level);
    edit.data.op = TexOp::Txl;
    edit.replace(body);
    true
}

/// The size of level 0 in floats.
fn size(b: &mut Builder<'_>, data: TexData, mut names: Vec<(TexSrcKind, Def)>) -> Def {
    use TexSrcKind as K;
    names.retain(|&(kind, _)| matches!(kind, K::TextureDeref | K::TextureHandle | K::TextureOffset));
    let level = b.u32_const(0);
    names.push((K::Lod, level));
    let query = TexData {
        op: TexOp::Txs,
        dest_type: AluType::INT32,
        is_shadow: false,
        is_new_style_shadow: false,
        coord_components: 0,
        ..data
    };
    let size = b.texture(query, &names);
    b.alu(AluOp::I2f32, &[size])
}

/// The square of the length of a vector.
fn square(b: &mut Builder<'_>, vector: Def, count: u8) -> Def {
    let component = |c| AluSrc::component(vector, c);
    let squares: Vec<Def> = (0..count).map(|c| b.alu_sized(AluOp::Fmul, 1, &[component(c), component(c)])).collect();
    let sum = squares.into_iter().reduce(|sum, square| b.alu(AluOp::Fadd, &[sum, square]));
    sum.unwrap_or(vector)
}

/// The gradients of the coordinates on the face of a cube.
fn on_face(b: &mut Builder<'_>, direction: Def, gradients: [Def; 2]) -> [Def; 2] {
    let lengths = b.alu_sized(AluOp::Fabs, 3, &[direction.into()]);
    let [x, y, z] = [0, 1, 2].map(|c| AluSrc::component(lengths, c));
    let longest = |b: &mut Builder<'_>, axis: AluSrc, others: [AluSrc; 2]| {
        let other = b.alu_sized(AluOp::Fmax, 1, &others);
        b.alu_sized(AluOp::Fge, 1, &[axis, other.into()])
    };
    let is_z = longest(b, z, [x, y]);
    let is_y = longest(b, y, [x, z]);
    // The components on the face, then that of the axis.
    let rotated = |b: &mut Builder<'_>, vector: Def| {
        let [x, y, z] = [0, 1, 2].map(|c| AluSrc::component(vector, c));
        let along_x = b.vec(&[y, z, x]);
        let along_y = b.vec(&[x, z, y]);
        let along_z = b.vec(&[x, y, z]);
        let [is_y, is_z] = [is_y, is_z].map(|condition| AluSrc::component(condition, 0));
        let other = b.alu_sized(AluOp::Bcsel, 3, &[is_y, along_y.into(), along_x.into()]);
        b.alu_sized(AluOp::Bcsel, 3, &[is_z, along_z.into(), other.into()])
    };
    let direction = rotated(b, direction);
    let factor = b.alu_sized(AluOp::Frcp, 1, &[AluSrc::component(direction, 2)]);
    let factor = AluSrc::component(factor, 0);
    let place = b.alu_sized(AluOp::Fmul, 2, &[direction.into(), factor]);
    gradients.map(|gradient| {
        let gradient = rotated(b, gradient);
        let moved = b.alu_sized(AluOp::Fmul, 2, &[place.into(), AluSrc::component(gradient, 2)]);
        let difference = b.alu_sized(AluOp::Fsub, 2, &[gradient.into(), moved.into()]);
        b.alu_sized(AluOp::Fmul, 2, &[difference.into(), factor])
    })
}

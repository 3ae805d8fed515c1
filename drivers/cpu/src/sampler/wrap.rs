//! From coordinates to numbers of texels.
//!
//! A coordinate is first *folded* into the period of its wrap mode, which keeps it exact however large it is, then
//! scaled by the size of a level, and its texels are numbered; the wrap mode brings numbers out of bounds inside. Every
//! step is defined for all floats: NaN is the start of the texture. Compiled lookups use the same steps in the same
//! order, so that both give the same bits.

use super::state::WrapMode;

/// Positions in a level are clamped to this distance, which is more than any level's size with all offsets.
pub(crate) const FARTHEST: f32 = 1_048_576.0;

/// Floats below this magnitude may have a fraction.
const WHOLE: f32 = 8_388_608.0;

/// Returns the greatest integer that is not above a float.
#[inline]
pub(super) fn floor(value: f32) -> f32 {
    let towards_zero = value as i32 as f32;
    let below = if towards_zero > value { towards_zero - 1.0 } else { towards_zero };
    if value.abs() < WHOLE { below } else { value }
}

/// Folds a coordinate into its period: one texture, or two for mirrored ones.
#[inline]
pub(super) fn fold(coordinate: f32, wrap: WrapMode) -> f32 {
    let folded = match wrap {
        WrapMode::Repeat => coordinate - floor(coordinate),
        WrapMode::MirroredRepeat => coordinate - 2.0 * floor(coordinate * 0.5),
        _ => return coordinate,
    };
    // Also for NaN.
    if folded > 0.0 { folded } else { 0.0 }
}

/// Returns the texel that contains a position, and the distance from its start.
#[inline]
pub(super) fn split(position: f32) -> (i32, f32) {
    let position = if position > -FARTHEST { position } else { -FARTHEST };
    let position = if position < FARTHEST { position } else { FARTHEST };
    let towards_zero = position as i32;
    let texel = towards_zero - i32::from(towards_zero as f32 > position);
    (texel, position - texel as f32)
}

/// Returns the position of a folded coordinate in a level, in texels.
#[inline]
fn position(folded: f32, size: u32, wrap: WrapMode, unnormalized: bool) -> f32 {
    match (unnormalized, wrap) {
        (true, WrapMode::Repeat | WrapMode::MirroredRepeat) => fold(folded / size as f32, wrap) * size as f32,
        (true, _) => folded,
        _ => folded * size as f32,
    }
}

/// Returns the texels of a row or column to filter, before wrapping: the first, and the weight of the second.
#[inline]
pub(super) fn around(folded: f32, size: u32, wrap: WrapMode, unnormalized: bool) -> (i32, f32) {
    split(position(folded, size, wrap, unnormalized) - 0.5)
}

/// Returns the texel at a coordinate, before wrapping.
#[inline]
pub(super) fn nearest(folded: f32, size: u32, wrap: WrapMode, unnormalized: bool) -> i32 {
    split(position(folded, size, wrap, unnormalized)).0
}

/// Brings a texel's number inside; one that stays outside is the border.
#[inline]
pub(super) fn wrapped(texel: i32, size: u32, wrap: WrapMode) -> i32 {
    let size = size as i32;
    match wrap {
        WrapMode::Repeat => {
            if (0..size).contains(&texel) {
                texel
            } else {
                texel.rem_euclid(size)
            }
        }
        WrapMode::MirroredRepeat => {
            let texel = if (0..2 * size).contains(&texel) { texel } else { texel.rem_euclid(2 * size) };
            if texel >= size { 2 * size - 1 - texel } else { texel }
        }
        WrapMode::ClampToEdge => texel.clamp(0, size - 1),
        WrapMode::ClampToBorder => texel,
        WrapMode::MirrorClampToEdge => (if texel < 0 { -1 - texel } else { texel }).min(size - 1),
    }
}

//! Levels of detail: the change of coordinates from pixel to pixel, and the corresponding mip levels.

use tgsi_environment::SamplerDim;
use tgsi_environment::{TextureLookup, TextureRequest};

use super::cube;
use super::state::{MipFilter, Sampler};
use super::texture::Texture;

/// Coefficients of the logarithm's series: 2 / ((2 n + 1) ln 2).
pub(crate) const SERIES: [f32; 4] = [2.885_39, 0.961_796_7, 0.577_078, 0.412_198_58];

/// The bits of the square root of a half: mantissas are normalised to the range from there to its double.
pub(crate) const ROOT: i32 = 0x3f35_04f3;

/// Returns the logarithm of a positive float to base 2, exact for powers of 2; for 0 and NaN some other number.
///
/// The error is below a millionth. It consists of operations that machine code executes for four lanes at once.
#[inline]
pub(super) fn log2(value: f32) -> f32 {
    let bits = (value.to_bits() & 0x7fff_ffff) as i32;
    let exponent = (bits - ROOT) >> 23;
    let mantissa = f32::from_bits((bits - (exponent << 23)) as u32);
    let ratio = (mantissa - 1.0) / (mantissa + 1.0);
    let square = ratio * ratio;
    let series = SERIES[0] + square * (SERIES[1] + square * (SERIES[2] + square * SERIES[3]));
    exponent as f32 + ratio * series
}

fn words(row: &[u32; 4]) -> [f32; 4] {
    [f32::from_bits(row[0]), f32::from_bits(row[1]), f32::from_bits(row[2]), f32::from_bits(row[3])]
}

/// Returns the differences from left to right and from top to bottom for each lane of a quad.
#[inline]
fn differences(row: [f32; 4]) -> [[f32; 4]; 2] {
    let [a, b, c, d] = row;
    [[b - a, b - a, d - c, d - c], [c - a, d - b, c - a, d - b]]
}

/// Returns the derivatives of the coordinates by x and y: `[direction][component][lane]`.
fn derivatives(request: &TextureRequest, components: usize) -> [[[f32; 4]; 3]; 2] {
    if request.lookup == TextureLookup::Gradient {
        return [&request.ddx, &request.ddy].map(|rows| std::array::from_fn(|component| words(&rows[component])));
    }
    let mut result = [[[0.0; 4]; 3]; 2];
    for (component, row) in request.coordinate.iter().enumerate().take(components) {
        let [x, y] = differences(words(row));
        (result[0][component], result[1][component]) = (x, y);
    }
    result
}

/// Returns the levels of detail of the lanes without biases and limits: the logarithm of the distance between pixels in
/// texels of the largest level, in the direction in which it is larger.
pub(super) fn natural(request: &TextureRequest, texture: &Texture, unnormalized: bool) -> [f32; 4] {
    let base = texture.base();
    let one = |size: u32| if unnormalized { 1.0 } else { size as f32 };
    let size = [one(base.width), one(base.height), one(base.images)];
    let components = usize::from(request.dim.num_coords());
    let [x, y] = derivatives(request, components);
    let mut result = [0.0; 4];
    for (lane, lod) in result.iter_mut().enumerate() {
        let length = |rows: &[[f32; 4]; 3]| match request.dim {
            SamplerDim::Dim1D | SamplerDim::Buf => {
                let s = rows[0][lane] * size[0];
                s * s
            }
            SamplerDim::Dim3D => {
                let [s, t, r] = [0, 1, 2].map(|component| rows[component][lane] * size[component]);
                s * s + t * t + r * r
            }
            SamplerDim::Cube => {
                let direction = [0, 1, 2].map(|component| f32::from_bits(request.coordinate[component][lane]));
                let face = cube::face_of(direction);
                let change = [0, 1, 2].map(|component| rows[component][lane]);
                let [s, t] = cube::derivative(cube::on_face(direction, face), cube::on_face(change, face));
                let (s, t) = (s * size[0], t * size[1]);
                s * s + t * t
            }
            _ => {
                let (s, t) = (rows[0][lane] * size[0], rows[1][lane] * size[1]);
                s * s + t * t
            }
        };
        let (x, y) = (length(&x), length(&y));
        *lod = 0.5 * log2(if x > y { x } else { y });
    }
    result
}

/// Limits a level of detail; NaN becomes the lower limit.
#[inline]
pub(super) fn limited(lod: f32, low: f32, high: f32) -> f32 {
    let lod = if lod > low { lod } else { low };
    if lod < high { lod } else { high }
}

/// Returns the mip levels for a level of detail: the larger one, and the weight of the next.
#[inline]
pub(super) fn levels(lod: f32, mip: MipFilter, last: usize) -> (usize, f32) {
    let lod = limited(lod, 0.0, last as f32);
    match mip {
        MipFilter::None => (0, 0.0),
        MipFilter::Nearest => {
            // Halves are rounded to the larger level.
            let above = lod + 0.5;
            let whole = above as i32;
            ((whole - i32::from(whole as f32 == above)) as usize, 0.0)
        }
        MipFilter::Linear => {
            let whole = lod as i32;
            (whole as usize, lod - whole as f32)
        }
    }
}

/// Returns the levels of detail of a lookup's lanes, biased but not limited.
pub(super) fn unlimited(
    request: &TextureRequest,
    texture: &Texture,
    sampler: &Sampler,
    unnormalized: bool,
) -> [f32; 4] {
    let given = words(&request.lod);
    let mut lod = match request.lookup {
        TextureLookup::Explicit => given,
        _ => natural(request, texture, unnormalized),
    };
    for (lod, given) in lod.iter_mut().zip(given) {
        let given = if request.lookup == TextureLookup::Bias { given } else { 0.0 };
        *lod += sampler.lod_bias + given;
    }
    lod
}

//! Images with mip levels, and the lookups of shaders in them.
//!
//! An image is two-dimensional. As a 1D texture it is its first row, as a 3D texture or an array one slice, as a cube
//! each of the six faces. Filtering is linear between texels and between levels, or neither.

use std::collections::BTreeMap;

use tgsi_ir::intrinsics::indices::SamplerDim;
use tgsi_ir::run::environment::{ImageTexel, Resources, TextureLookup, TextureRequest, TextureSize, Vec4};

/// What lies beyond the edges of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wrap {
    /// The texture again.
    #[default]
    Repeat,
    /// Its outermost texels.
    Clamp,
}

/// An image of one level.
#[derive(Clone, PartialEq, Debug)]
struct Level {
    width: u32,
    height: u32,
    texels: Vec<[f32; 4]>,
}

impl Level {
    fn texel(&self, x: i64, y: i64, wrap: Wrap) -> [f32; 4] {
        let inside = |at: i64, size: u32| match wrap {
            Wrap::Repeat => at.rem_euclid(size.into()),
            Wrap::Clamp => at.clamp(0, i64::from(size) - 1),
        };
        let (x, y) = (inside(x, self.width), inside(y, self.height));
        self.texels.get((y * i64::from(self.width) + x) as usize).copied().unwrap_or_default()
    }

    /// Half the size, each texel the mean of the four below it.
    fn half(&self) -> Level {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let mean = |x: i64, y: i64| {
            let [dx, dy] = [self.width, self.height].map(|size| i64::from(size > 1));
            let taps = [(0, 0), (dx, 0), (0, dy), (dx, dy)]
                .map(|(i, j)| self.texel((x << dx) + i, (y << dy) + j, Wrap::Clamp));
            std::array::from_fn(|c| taps.iter().map(|tap| tap[c]).sum::<f32>() * 0.25)
        };
        let rows = 0..i64::from(height);
        let texels = rows.flat_map(|y| (0..i64::from(width)).map(move |x| mean(x, y))).collect();
        Level { width, height, texels }
    }
}

/// A texture and the state of its sampler.
#[derive(Clone, PartialEq, Debug)]
pub struct Texture {
    levels: Vec<Level>,
    /// What lies beyond the edges.
    pub wrap: Wrap,
    /// Whether the nearest texel of the nearest level is taken instead of a mean.
    pub nearest: bool,
}

impl Texture {
    /// From texels of four bytes, rows from the top; row 0 has the texture coordinate 1, as pictures of OBJ files want.
    /// `None` if there are too few bytes, or none.
    pub fn from_rgba8(width: u32, height: u32, bytes: &[u8]) -> Option<Texture> {
        let count = (width as usize).checked_mul(height as usize).filter(|&count| count > 0)?;
        let row = 4 * width as usize;
        let bytes = bytes.get(..count.checked_mul(4)?)?;
        let texels = bytes.chunks_exact(row).rev().flat_map(|row| row.chunks_exact(4));
        let texels = texels.map(|texel| std::array::from_fn(|c| f32::from(texel[c]) / 255.0)).collect();
        let mut levels = vec![Level { width, height, texels }];
        while let Some(last) = levels.last().filter(|level| level.width > 1 || level.height > 1) {
            let next = last.half();
            levels.push(next);
        }
        Some(Texture { levels, wrap: Wrap::Repeat, nearest: false })
    }

    /// Drops the levels from number `count` on; the largest stays.
    pub fn keep_levels(&mut self, count: usize) {
        self.levels.truncate(count.max(1));
    }

    /// Squares of light and dark grey: the texture where none was given.
    pub fn checkerboard() -> Texture {
        let value =
            |at: usize| if (at % 8 + at / 8).is_multiple_of(2) { [0.8, 0.8, 0.8, 1.0] } else { [0.3, 0.3, 0.3, 1.0] };
        let mut levels = vec![Level { width: 8, height: 8, texels: (0..64).map(value).collect() }];
        for _ in 0..3 {
            levels.extend(levels.last().map(Level::half));
        }
        Texture { levels, wrap: Wrap::Repeat, nearest: true }
    }

    fn level(&self, number: i64) -> &Level {
        let last = self.levels.len() - 1;
        &self.levels[number.clamp(0, last as i64) as usize]
    }

    /// The texels around a place of a level, as the corners (0, 0), (1, 0), (0, 1), (1, 1), and the weights of the
    /// second column and row.
    fn footprint(&self, level: &Level, [u, v]: [f32; 2], offset: [i32; 2]) -> ([[f32; 4]; 4], [f32; 2]) {
        let along = |coordinate: f32, size: u32, offset: i32| {
            let position = if coordinate.is_finite() { coordinate * size as f32 - 0.5 } else { 0.0 };
            let start = position.floor();
            (start as i64 + i64::from(offset), position - start)
        };
        let (x, s) = along(u, level.width, offset[0]);
        let (y, t) = along(v, level.height, offset[1]);
        let corners = [(0, 0), (1, 0), (0, 1), (1, 1)];
        (corners.map(|(i, j)| level.texel(x + i, y + j, self.wrap)), [s, t])
    }

    fn filtered(&self, level: &Level, at: [f32; 2], offset: [i32; 2], comparator: Option<f32>) -> [f32; 4] {
        let (corners, [s, t]) = self.footprint(level, at, offset);
        let corners = corners.map(|texel| compared(texel, comparator));
        if self.nearest {
            return corners[usize::from(s >= 0.5) + 2 * usize::from(t >= 0.5)];
        }
        let mix = |a: f32, b: f32, weight: f32| a + (b - a) * weight;
        std::array::from_fn(|c| mix(mix(corners[0][c], corners[1][c], s), mix(corners[2][c], corners[3][c], s), t))
    }

    /// A filtered lookup at a level of detail.
    fn sample(&self, at: [f32; 2], offset: [i32; 2], lod: f32, comparator: Option<f32>) -> [f32; 4] {
        let lod = if lod.is_nan() { 0.0 } else { lod.clamp(0.0, (self.levels.len() - 1) as f32) };
        if self.nearest {
            return self.filtered(self.level(lod.round() as i64), at, offset, comparator);
        }
        let (below, part) = (lod.floor(), lod.fract());
        let low = self.filtered(self.level(below as i64), at, offset, comparator);
        if part == 0.0 {
            return low;
        }
        let high = self.filtered(self.level(below as i64 + 1), at, offset, comparator);
        std::array::from_fn(|c| low[c] + (high[c] - low[c]) * part)
    }

    /// The level of detail for a pixel whose coordinates change by so much from pixel to pixel.
    fn lod(&self, ddx: [f32; 2], ddy: [f32; 2]) -> f32 {
        let size = [self.levels[0].width as f32, self.levels[0].height as f32];
        let length = |d: [f32; 2]| ((d[0] * size[0]).powi(2) + (d[1] * size[1]).powi(2)).sqrt();
        length(ddx).max(length(ddy)).log2()
    }
}

/// One where the reference is at most the first component, else zero.
fn compared(texel: [f32; 4], comparator: Option<f32>) -> [f32; 4] {
    comparator.map_or(texel, |reference| [f32::from(u8::from(reference <= texel[0])); 4])
}

/// The textures of a picture. Units without one have a checkerboard. Images read as zero, what is stored to them is
/// dropped.
#[derive(Clone, Debug)]
pub(crate) struct Textures<'a> {
    textures: &'a BTreeMap<u32, Texture>,
    fallback: &'a Texture,
}

impl<'a> Textures<'a> {
    pub(crate) fn new(textures: &'a BTreeMap<u32, Texture>, fallback: &'a Texture) -> Textures<'a> {
        Textures { textures, fallback }
    }

    fn get(&self, unit: u32) -> &'a Texture {
        self.textures.get(&unit).unwrap_or(self.fallback)
    }
}

/// Where on a face of a cube a direction points, with the face that the first lane's direction has.
fn on_face(direction: [f32; 3], face: usize) -> [f32; 2] {
    let [x, y, z] = direction;
    let (s, t, m) = match face {
        0 => (-z, -y, x),
        1 => (z, -y, -x),
        2 => (x, z, y),
        3 => (x, -z, -y),
        4 => (x, -y, z),
        _ => (-x, -y, -z),
    };
    [s, t].map(|coordinate| 0.5 * (coordinate / m + 1.0))
}

fn face_of([x, y, z]: [f32; 3]) -> usize {
    let (ax, ay, az) = (x.abs(), y.abs(), z.abs());
    if ax >= ay && ax >= az {
        usize::from(x < 0.0)
    } else if ay >= az {
        2 + usize::from(y < 0.0)
    } else {
        4 + usize::from(z < 0.0)
    }
}

/// The coordinates of a request in the image, and their derivatives for each lane.
struct Place {
    at: [[f32; 2]; 4],
    ddx: [[f32; 2]; 4],
    ddy: [[f32; 2]; 4],
}

fn place(request: &TextureRequest, texture: &Texture) -> Place {
    let word = |component: usize, lane: usize| f32::from_bits(request.coordinate[component][lane]);
    let given = |rows: &[[u32; 4]; 3], lane: usize| [0, 1, 2].map(|c| f32::from_bits(rows[c][lane]));
    let size = [texture.levels[0].width as f32, texture.levels[0].height as f32];
    let project = |direction: [f32; 3], face: usize| match request.dim {
        SamplerDim::Cube => on_face(direction, face),
        SamplerDim::Rect => [direction[0] / size[0], direction[1] / size[1]],
        SamplerDim::Dim1D => [direction[0], 0.5 / size[1]],
        _ => [direction[0], direction[1]],
    };
    let directions: [[f32; 3]; 4] = std::array::from_fn(|lane| [0, 1, 2].map(|c| word(c, lane)));
    let minus = |a: [f32; 2], b: [f32; 2]| [a[0] - b[0], a[1] - b[1]];
    let at = directions.map(|direction| project(direction, face_of(direction)));
    let mut result = Place { at, ddx: [[0.0; 2]; 4], ddy: [[0.0; 2]; 4] };
    for lane in 0..4 {
        // Neighbours are seen on the face of the lane itself.
        let face = face_of(directions[lane]);
        let seen = |other: usize| project(directions[other], face);
        if request.lookup == TextureLookup::Gradient {
            let moved = |by: [f32; 3]| {
                let direction = directions[lane];
                minus(project(std::array::from_fn(|c| direction[c] + by[c]), face), project(direction, face))
            };
            (result.ddx[lane], result.ddy[lane]) = (moved(given(&request.ddx, lane)), moved(given(&request.ddy, lane)));
        } else {
            (result.ddx[lane], result.ddy[lane]) =
                (minus(seen(lane | 1), seen(lane & !1)), minus(seen(lane | 2), seen(lane & !2)));
        }
        if request.dim == SamplerDim::Dim1D {
            (result.ddx[lane][1], result.ddy[lane][1]) = (0.0, 0.0);
        }
    }
    result
}

impl Resources for Textures<'_> {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        let texture = self.get(request.texture);
        let mut result = [[0; 4]; 4];
        let place = place(request, texture);
        for lane in 0..4 {
            let value = lookup(request, texture, &place, lane);
            for (row, value) in result.iter_mut().zip(value) {
                row[lane] = value.to_bits();
            }
        }
        result
    }

    fn texture_size(&mut self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        let texture = self.get(texture);
        let levels = texture.levels.len() as u32;
        let Some(at) = texture.levels.get(level as usize) else {
            return TextureSize { levels, ..TextureSize::default() };
        };
        let size = match (dim, is_array) {
            (SamplerDim::Dim1D, _) => [at.width, 1, 0],
            (SamplerDim::Dim3D, _) | (_, true) => [at.width, at.height, 1],
            _ => [at.width, at.height, 0],
        };
        TextureSize { size, levels, samples: 1 }
    }

    fn image_load(&mut self, _texel: ImageTexel) -> Vec4 {
        [0; 4]
    }

    fn image_store(&mut self, _texel: ImageTexel, _value: Vec4) {}

    fn image_size(&mut self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.texture_size(image, 0, dim, is_array)
    }

    fn stored_texels(&self) -> BTreeMap<ImageTexel, Vec4> {
        BTreeMap::new()
    }
}

fn lookup(request: &TextureRequest, texture: &Texture, place: &Place, lane: usize) -> [f32; 4] {
    let at = place.at[lane];
    let offset = [request.offset[0][lane], request.offset[1][lane]];
    let lod_word = request.lod[lane];
    let given = f32::from_bits(lod_word);
    let comparator = request.is_shadow.then(|| f32::from_bits(request.comparator[lane]));
    let natural = || if request.dim == SamplerDim::Rect { 0.0 } else { texture.lod(place.ddx[lane], place.ddy[lane]) };
    match request.lookup {
        TextureLookup::Implicit | TextureLookup::Gradient => texture.sample(at, offset, natural(), comparator),
        TextureLookup::Bias => texture.sample(at, offset, natural() + given, comparator),
        TextureLookup::Explicit => texture.sample(at, offset, given, comparator),
        TextureLookup::QueryLod => {
            let lod = natural();
            [lod.clamp(0.0, (texture.levels.len() - 1) as f32), lod, 0.0, 0.0]
        }
        TextureLookup::Fetch => {
            let [x, y] = [0, 1].map(|c| i64::from(request.coordinate[c][lane] as i32) + i64::from(offset[c]));
            let y = if request.dim == SamplerDim::Dim1D { 0 } else { y };
            let level = texture.levels.get(lod_word as usize);
            let inside =
                |level: &&Level| (0..i64::from(level.width)).contains(&x) && (0..i64::from(level.height)).contains(&y);
            level.filter(inside).map_or([0.0; 4], |level| level.texel(x, y, Wrap::Clamp))
        }
        TextureLookup::Gather { component } => {
            let component = usize::from(component & 3);
            let corners = |offset: [i32; 2]| {
                let (corners, _) = texture.footprint(&texture.levels[0], at, offset);
                corners.map(|texel| compared(texel, comparator)[component])
            };
            match request.gather_offsets {
                Some(offsets) => offsets.map(|[x, y]| corners([x[lane], y[lane]])[0]),
                None => {
                    let [a, b, c, d] = corners(offset);
                    [c, d, b, a]
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(lookup: TextureLookup, coordinate: [f32; 2]) -> TextureRequest {
        TextureRequest {
            texture: 0,
            sampler: 0,
            lookup,
            dim: SamplerDim::Dim2D,
            is_array: false,
            is_shadow: false,
            coordinate: [[coordinate[0].to_bits(); 4], [coordinate[1].to_bits(); 4], [0; 4], [0; 4]],
            comparator: [0; 4],
            lod: [0; 4],
            ddx: [[0; 4]; 3],
            ddy: [[0; 4]; 3],
            offset: [[0; 4]; 3],
            gather_offsets: None,
        }
    }

    fn first(request: &TextureRequest, texture: Texture) -> [f32; 4] {
        let (textures, fallback) = (BTreeMap::from([(0, texture)]), Texture::checkerboard());
        Textures::new(&textures, &fallback).texture(request).map(|row| f32::from_bits(row[0]))
    }

    /// Two columns, black and white, two rows, the lower one green.
    fn small() -> Texture {
        let bytes = [[0, 0, 0, 255], [255, 255, 255, 255], [0, 255, 0, 255], [0, 255, 0, 255]].concat();
        Texture::from_rgba8(2, 2, &bytes).expect("a texture")
    }

    #[test]
    fn row_zero_has_the_coordinate_one() {
        let explicit = |at| first(&request(TextureLookup::Explicit, at), small());
        assert_eq!(explicit([0.75, 0.75]), [1.0, 1.0, 1.0, 1.0]);
        assert_eq!(explicit([0.25, 0.25]), [0.0, 1.0, 0.0, 1.0]);
        assert_eq!(explicit([0.5, 0.75]), [0.5, 0.5, 0.5, 1.0]);
        assert_eq!(explicit([-1.25, 2.75]), [1.0, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn levels_are_means_and_found_by_derivatives() {
        let mut lookup = request(TextureLookup::Explicit, [0.1, 0.2]);
        lookup.lod = [1f32.to_bits(); 4];
        assert_eq!(first(&lookup, small()), [0.25, 0.75, 0.25, 1.0]);
        // A quad that spans the texture.
        let mut wide = request(TextureLookup::Implicit, [0.0, 0.0]);
        wide.coordinate[0] = [0.0f32, 1.0, 0.0, 1.0].map(f32::to_bits);
        wide.coordinate[1] = [0.0f32, 0.0, 1.0, 1.0].map(f32::to_bits);
        assert_eq!(first(&wide, small()), [0.25, 0.75, 0.25, 1.0]);
        wide.lookup = TextureLookup::QueryLod;
        assert_eq!(first(&wide, small()), [1.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn gathers_go_around_and_fetches_end_at_the_edge() {
        let gather = request(TextureLookup::Gather { component: 0 }, [0.5, 0.5]);
        assert_eq!(first(&gather, small()), [0.0, 1.0, 0.0, 0.0]);
        let mut fetch = request(TextureLookup::Fetch, [0.0, 0.0]);
        fetch.coordinate[0] = [1; 4];
        fetch.coordinate[1] = [1; 4];
        assert_eq!(first(&fetch, small()), [1.0; 4]);
        fetch.coordinate[0] = [2; 4];
        assert_eq!(first(&fetch, small()), [0.0; 4]);
        fetch.coordinate[0] = [u32::MAX; 4];
        fetch.offset[0] = [1; 4];
        assert_eq!(first(&fetch, small()), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn comparisons_are_filtered() {
        let mut lookup = request(TextureLookup::Explicit, [0.5, 0.75]);
        lookup.is_shadow = true;
        lookup.comparator = [0.5f32.to_bits(); 4];
        assert_eq!(first(&lookup, small()), [0.5; 4]);
    }

    #[test]
    fn faces_of_cubes_are_found() {
        assert_eq!(face_of([-2.0, 1.0, 1.0]), 1);
        assert_eq!(on_face([1.0, 0.0, 0.0], 0), [0.5, 0.5]);
        assert_eq!(on_face([0.0, 0.0, -1.0], face_of([0.0, 0.0, -1.0])), [0.5, 0.5]);
    }
}

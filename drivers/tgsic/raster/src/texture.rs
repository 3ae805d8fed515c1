//! Images with mip levels, as textures of the built-in sampler.
//!
//! An image is two-dimensional. A 1D texture is its first row, a 3D texture or an array has it as the only slice, a
//! cube has it on each of the six faces. Filtering is linear between texels and between levels, or neither.

use std::collections::BTreeMap;
use std::sync::Arc;

use tgsi_driver_cpu::HostResources;
use tgsi_driver_cpu::sampler::{self, Filter, Format, MipFilter, Sampled, Sampler, Shape, Size, Textures};
use tgsi_environment::{SamplerDim, TextureLookup, TextureRequest, TextureSize};

/// The continuation beyond the edges of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum WrapMode {
    /// Repeats the texture.
    #[default]
    Repeat,
    /// Repeats the outermost texels.
    Clamp,
}

/// An image with one level.
struct Level {
    width: usize,
    height: usize,
    texels: Vec<[f32; 4]>,
}

impl Level {
    /// Returns an image of half the size; each texel is the mean of four.
    fn half(&self) -> Level {
        let (width, height) = ((self.width / 2).max(1), (self.height / 2).max(1));
        let mean = |x: usize, y: usize| {
            let [dx, dy] = [self.width, self.height].map(|size| usize::from(size > 1));
            let texel = |i: usize, j: usize| self.texels[((y << dy) + j) * self.width + (x << dx) + i];
            let taps = [texel(0, 0), texel(dx, 0), texel(0, dy), texel(dx, dy)];
            std::array::from_fn(|c| taps.iter().map(|tap| tap[c]).sum::<f32>() * 0.25)
        };
        let texels = (0..height).flat_map(|y| (0..width).map(move |x| mean(x, y))).collect();
        Level { width, height, texels }
    }
}

/// A component of the result of a lookup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Channel {
    /// A component of the texel: 0 to 3.
    Component(u8),
    /// 0.0
    Zero,
    /// 1.0
    One,
}

/// A texture and the state of its sampler.
#[derive(Clone, PartialEq, Debug)]
pub struct Texture {
    levels: Arc<sampler::Texture>,
    /// The state of its sampler.
    pub sampler: Sampler,
    /// The components of results, if they are not those of the texels.
    pub swizzle: Option<[Channel; 4]>,
}

impl Texture {
    /// Creates a texture of any shape and format. Repeats, and is trilinear.
    pub fn new(texture: sampler::Texture) -> Texture {
        Texture { levels: Arc::new(texture), sampler: Sampler::default(), swizzle: None }
    }

    /// Its texels.
    pub fn texels(&self) -> &sampler::Texture {
        &self.levels
    }

    /// Its texels as mutable.
    pub fn texels_mut(&mut self) -> &mut sampler::Texture {
        Arc::make_mut(&mut self.levels)
    }

    /// Sets the continuation beyond the edges.
    pub fn set_wrap(&mut self, wrap: WrapMode) {
        let mode = match wrap {
            WrapMode::Repeat => sampler::WrapMode::Repeat,
            WrapMode::Clamp => sampler::WrapMode::ClampToEdge,
        };
        self.sampler.wrap = [mode; 3];
    }

    /// Uses the nearest texel of the nearest level instead of a mean.
    pub fn set_nearest(&mut self) {
        (self.sampler.min_filter, self.sampler.mag_filter) = (Filter::Nearest, Filter::Nearest);
        self.sampler.mip_filter = MipFilter::Nearest;
    }

    /// Creates a texture from texels of four bytes, rows from the top; row 0 has the texture coordinate 1, as OBJ files
    /// expect. `None` if there are too few bytes, or none, or a side is longer than
    /// [`MAX_SIDE`](tgsi_driver_cpu::sampler::MAX_SIDE).
    pub fn from_rgba8(width: u32, height: u32, bytes: &[u8]) -> Option<Texture> {
        let count = (width as usize).checked_mul(height as usize).filter(|&count| count > 0)?;
        let row = 4 * width as usize;
        let bytes = bytes.get(..count.checked_mul(4)?)?;
        let texels = bytes.chunks_exact(row).rev().flat_map(|row| row.chunks_exact(4));
        let texels = texels.map(|texel| std::array::from_fn(|c| f32::from(texel[c]) / 255.0)).collect();
        Texture::from_level(Level { width: width as usize, height: height as usize, texels })
    }

    /// Creates a texture with all levels, computed as floats. `None` if it is too large.
    fn from_level(mut level: Level) -> Option<Texture> {
        let size = Size::of_image(level.width as u32, level.height as u32);
        let mut texture = sampler::Texture::new(Shape::D2, Format::Rgba32Float, size, u32::MAX)?;
        for number in 0..texture.levels().len() {
            if number > 0 {
                level = level.half();
            }
            let texels = texture.level_texels_mut(number).chunks_exact_mut(4);
            for (bytes, value) in texels.zip(level.texels.as_flattened()) {
                bytes.copy_from_slice(&value.to_le_bytes());
            }
        }
        Some(Texture::new(texture))
    }

    /// Removes the first levels, of which the last one stays.
    pub fn remove_levels(&mut self, count: usize) {
        let first = count.min(self.levels.levels().len().saturating_sub(1));
        if let Some(rest) = self.levels.without_levels(first) {
            self.levels = Arc::new(rest);
        }
    }

    /// Removes the levels from number `count` on; keeps at least the largest.
    pub fn keep_levels(&mut self, count: usize) {
        Arc::make_mut(&mut self.levels).keep_levels(count);
    }

    /// Returns squares of light and dark grey: the default texture.
    pub fn checkerboard() -> Option<Texture> {
        let value =
            |at: usize| if (at % 8 + at / 8).is_multiple_of(2) { [0.8, 0.8, 0.8, 1.0] } else { [0.3, 0.3, 0.3, 1.0] };
        let texture = Texture::from_level(Level { width: 8, height: 8, texels: (0..64).map(value).collect() });
        texture.map(|mut texture| {
            texture.set_nearest();
            texture
        })
    }
}

/// The textures of a shader.
#[derive(Debug)]
pub struct Units {
    textures: Textures,
    swizzles: BTreeMap<u32, [Channel; 4]>,
}

/// Returns textures by unit, each with its sampler. Units without a texture have a checkerboard. Images read as zero,
/// stores to them are dropped.
pub fn units(textures: &BTreeMap<u32, Texture>) -> Units {
    let mut units = Units { textures: Textures::new(), swizzles: BTreeMap::new() };
    if let Some(texture) = Texture::checkerboard() {
        units.textures.set_default(texture.levels.clone(), texture.sampler);
    }
    for (&unit, texture) in textures {
        units.textures.set_texture(unit, texture.levels.clone());
        units.textures.set_sampler(unit, texture.sampler);
        units.swizzles.extend(texture.swizzle.map(|swizzle| (unit, swizzle)));
    }
    units
}

impl HostResources for Units {
    fn texture(&self, request: &TextureRequest) -> [[u32; 4]; 4] {
        let Some(swizzle) = self.swizzles.get(&request.texture) else { return self.textures.texture(request) };
        let of = |found: &[[u32; 4]; 4], channel| match channel {
            Channel::Component(component) => found.get(usize::from(component)).copied().unwrap_or_default(),
            Channel::Zero => [0; 4],
            Channel::One => [1f32.to_bits(); 4],
        };
        // A gather has one component of four texels.
        if let TextureLookup::Gather { component } = request.lookup
            && !request.is_shadow
        {
            return match swizzle.get(usize::from(component)) {
                Some(&Channel::Component(component)) => self
                    .textures
                    .texture(&TextureRequest { lookup: TextureLookup::Gather { component }, ..request.clone() }),
                other => [of(&[[0; 4]; 4], other.copied().unwrap_or(Channel::Zero)); 4],
            };
        }
        let found = self.textures.texture(request);
        swizzle.map(|channel| of(&found, channel))
    }

    fn texture_size(&self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.textures.texture_size(texture, level, dim, is_array)
    }

    fn known(&self, texture: u32, sampler: u32) -> Option<Sampled> {
        if self.swizzles.contains_key(&texture) { None } else { self.textures.known(texture, sampler) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(lookup: TextureLookup, coordinate: [f32; 2]) -> TextureRequest {
        let [s, t] = coordinate.map(|coordinate| [coordinate.to_bits(); 4]);
        TextureRequest { coordinate: [s, t, [0; 4], [0; 4]], ..TextureRequest::new(lookup, SamplerDim::Dim2D) }
    }

    fn first(request: &TextureRequest, texture: Texture) -> [f32; 4] {
        units(&BTreeMap::from([(0, texture)])).texture(request).map(|row| f32::from_bits(row[0]))
    }

    /// Two columns, black and white; two rows, the lower one green.
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
        let mut one_level = small();
        one_level.keep_levels(1);
        // The middle of the four texels around a corner.
        assert_eq!(first(&wide, one_level), [0.25, 0.75, 0.25, 1.0]);
    }

    #[test]
    fn units_without_a_texture_have_a_checkerboard() {
        let textures = units(&BTreeMap::new());
        let at =
            |s: f32| textures.texture(&request(TextureLookup::Explicit, [s, 0.01])).map(|row| f32::from_bits(row[3]));
        assert_eq!(at(0.01), [0.8, 0.8, 0.8, 1.0]);
        assert_eq!(at(0.13), [0.3, 0.3, 0.3, 1.0]);
    }
}

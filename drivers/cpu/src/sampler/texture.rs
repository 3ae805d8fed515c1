//! Textures: mip levels in memory, each texel in its format.
//!
//! A level is a number of two-dimensional images: the slices of a 3D texture, else the layers, with six faces each for
//! cubes. Rows, images and levels follow each other without gaps. All sizes are at least 1 and there is at least one
//! level; these properties never change, and compiled lookups rely on them.

use super::format::Format;

/// Most texels of a side. Coordinates of this size are still exact to a small fraction of a texel.
pub const MAX_SIDE: u32 = 1 << 15;
/// Most texels of a buffer.
const MAX_BUFFER: u32 = 1 << 27;
/// Most layers.
const MAX_LAYERS: u32 = 1 << 15;
/// Most bytes of a texture.
const MAX_BYTES: usize = 1 << 32;

/// The arrangement of texels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Shape {
    /// A row.
    D1,
    /// Rows; also rectangles and multisampled textures of one sample.
    D2,
    /// Slices of rows.
    D3,
    /// Six squares: +x, -x, +y, -y, +z, -z.
    Cube,
    /// A row of any length, for fetches by number.
    Buffer,
}

/// The size of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Size {
    /// Texels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Slices.
    pub depth: u32,
    /// Layers; for cubes, the number of cubes rather than faces.
    pub layers: u32,
}

impl Size {
    /// Returns the size of a single 2D image.
    pub fn of_image(width: u32, height: u32) -> Size {
        Size { width, height, depth: 1, layers: 1 }
    }
}

/// A mip level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level {
    /// The offset in bytes of its first texel.
    pub start: usize,
    /// Texels of a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Slices of a 3D texture, else layers or their faces.
    pub images: u32,
    /// Bytes of an image.
    pub image_bytes: usize,
}

/// A texture with its mip levels.
#[derive(Clone, PartialEq, Debug)]
pub struct Texture {
    shape: Shape,
    format: Format,
    layers: u32,
    levels: Vec<Level>,
    texels: Vec<u8>,
}

impl Texture {
    /// Creates a texture of zeros. Its first level has the given size; each other one half of the previous, at least 1.
    /// There are at most as many levels as it takes to reach a single texel, and at least one.
    ///
    /// Sizes that a shape lacks must be 1. Returns `None` if a size is 0 or too large, or the faces of a cube are not
    /// square.
    pub fn new(shape: Shape, format: Format, size: Size, levels: u32) -> Option<Texture> {
        let Size { width, height, depth, layers } = size;
        let side = 1..=MAX_SIDE;
        let fits = match shape {
            Shape::Buffer => (1..=MAX_BUFFER).contains(&width) && (height, depth, layers) == (1, 1, 1),
            Shape::D1 => side.contains(&width) && (height, depth) == (1, 1),
            Shape::D2 => side.contains(&width) && side.contains(&height) && depth == 1,
            Shape::D3 => [width, height, depth].iter().all(|size| side.contains(size)) && layers == 1,
            Shape::Cube => side.contains(&width) && width == height && depth == 1,
        };
        if !fits || !(1..=MAX_LAYERS).contains(&layers) {
            return None;
        }
        let longest = if shape == Shape::Buffer { 1 } else { width.max(height).max(depth) };
        let count = levels.clamp(1, longest.ilog2() + 1);
        let mut all = Vec::with_capacity(count as usize);
        let mut start = 0usize;
        for number in 0..count {
            let [width, height, depth] = [width, height, depth].map(|size| (size >> number).max(1));
            let images = if shape == Shape::Cube { 6 * layers } else { depth * layers };
            let image_bytes = (width as usize).checked_mul(height as usize)?.checked_mul(format.bytes())?;
            all.push(Level { start, width, height, images, image_bytes });
            start = image_bytes.checked_mul(images as usize).and_then(|bytes| start.checked_add(bytes))?;
            if start > MAX_BYTES {
                return None;
            }
        }
        Some(Texture { shape, format, layers, levels: all, texels: vec![0; start] })
    }

    /// Creates a texture with the texels of the levels, in order; also returns `None` if their number of bytes does not
    /// match.
    pub fn with_texels(shape: Shape, format: Format, size: Size, levels: u32, texels: Vec<u8>) -> Option<Texture> {
        let mut texture = Texture::new(shape, format, size, levels)?;
        if texels.len() != texture.texels.len() {
            return None;
        }
        texture.texels = texels;
        Some(texture)
    }

    /// Returns the texels of a level as mutable.
    pub fn level_texels_mut(&mut self, level: usize) -> &mut [u8] {
        let level = self.levels.get(level).copied();
        level.and_then(|level| self.texels.get_mut(range(&level))).unwrap_or(&mut [])
    }

    /// Returns the same texture without its first levels; `None` if all would be removed.
    pub fn without_levels(&self, count: usize) -> Option<Texture> {
        let levels = self.levels.get(count..).filter(|levels| !levels.is_empty())?;
        let start = levels.first()?.start;
        let levels = levels.iter().map(|level| Level { start: level.start - start, ..*level }).collect();
        Some(Texture { levels, texels: self.texels.get(start..)?.to_vec(), ..*self })
    }

    /// Removes the levels from number `count` on; keeps at least the largest.
    pub fn keep_levels(&mut self, count: usize) {
        self.levels.truncate(count.max(1));
        let end = self.levels.last().map_or(0, |level| range(level).end);
        self.texels.truncate(end);
    }

    /// Returns the format of its texels.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the number of layers; for cubes, the number of cubes rather than faces.
    pub(crate) fn layers(&self) -> u32 {
        self.layers
    }

    /// Returns its levels, the largest first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// Returns the texels of all levels.
    pub fn texels(&self) -> &[u8] {
        &self.texels
    }

    /// Returns the texels of all levels as mutable.
    pub fn texels_mut(&mut self) -> &mut [u8] {
        &mut self.texels
    }

    /// Returns the arrangement of its texels.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the largest level.
    pub(super) fn base(&self) -> &Level {
        self.level(0)
    }

    /// Returns a level, or the last if there is no level with that number.
    pub(super) fn level(&self, number: usize) -> &Level {
        &self.levels[number.min(self.levels.len() - 1)]
    }
}

/// Returns the byte range of a level.
fn range(level: &Level) -> std::ops::Range<usize> {
    level.start..level.start + level.image_bytes * level.images as usize
}

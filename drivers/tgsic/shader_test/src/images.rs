//! Images: the textures of image units as shaders load and store them.

use std::any::Any;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use tgsi_driver_cpu::sampler::{self, Shape};
use tgsi_environment::{ImageTexel, Resources, SamplerDim, TextureRequest, TextureSize, Vec4};
use tgsi_raster::Texture;
use tgsi_raster::format::PixelFormat;

use crate::memory::Memory;

/// The texture of an image unit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Image {
    /// The texture unit.
    pub texture: u32,
    /// The format of loads and stores.
    pub format: PixelFormat,
}

/// The place of a texel in the largest level.
pub(crate) fn place(texture: &sampler::Texture, [x, y, z]: [u32; 3]) -> Option<Range<usize>> {
    let level = texture.levels().first()?;
    let image = match texture.shape() {
        Shape::D1 | Shape::Buffer => y,
        Shape::D2 | Shape::D3 | Shape::Cube => z,
    };
    let row = if matches!(texture.shape(), Shape::D1 | Shape::Buffer) { 0 } else { y };
    if x >= level.width || row >= level.height || image >= level.images {
        return None;
    }
    let bytes = texture.format().bytes();
    let texel = row as usize * level.width as usize + x as usize;
    let start = level.start + image as usize * level.image_bytes + texel * bytes;
    Some(start..start + bytes)
}

/// The size of the largest level.
fn size(texture: &sampler::Texture, is_array: bool) -> TextureSize {
    let Some(level) = texture.levels().first() else { return TextureSize::default() };
    let size = match texture.shape() {
        Shape::D1 | Shape::Buffer => [level.width, level.images, 0],
        Shape::D2 | Shape::D3 => [level.width, level.height, level.images],
        Shape::Cube if is_array => [level.width, level.height, level.images / 6],
        Shape::Cube => [level.width, level.height, 0],
    };
    TextureSize { size, levels: 1, samples: 1 }
}

/// Textures of a run, and images of which stores change memory.
pub(crate) struct Images<'a> {
    textures: &'a mut dyn Resources,
    /// Image units by register.
    units: &'a BTreeMap<u32, u32>,
    memory: &'a mut Memory,
}

impl<'a> Images<'a> {
    pub(crate) fn new(
        textures: &'a mut dyn Resources,
        units: &'a BTreeMap<u32, u32>,
        memory: &'a mut Memory,
    ) -> Images<'a> {
        Images { textures, units, memory }
    }

    fn image(&mut self, register: u32) -> Option<(&PixelFormat, &mut Texture)> {
        let image = self.memory.images.get(self.units.get(&register)?)?;
        let (_, texture) = self.memory.textures.get_mut(&image.texture)?;
        Some((&image.format, texture))
    }
}

impl Resources for Images<'_> {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        self.textures.texture(request)
    }

    fn texture_size(&mut self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.textures.texture_size(texture, level, dim, is_array)
    }

    fn image_load(&mut self, (register, at, _): ImageTexel) -> Vec4 {
        let found = self.image(register).and_then(|(format, texture)| {
            let texels = texture.texels();
            Some(format.decode(texels.texels().get(place(texels, at)?)?))
        });
        found.unwrap_or_default()
    }

    fn image_store(&mut self, (register, at, _): ImageTexel, value: Vec4) {
        let Some((format, texture)) = self.image(register) else { return };
        let Some(place) = place(texture.texels(), at) else { return };
        if let Some(texel) = texture.texels_mut().texels_mut().get_mut(place) {
            format.encode(value, texel);
        }
    }

    fn image_size(&mut self, register: u32, _: SamplerDim, is_array: bool) -> TextureSize {
        self.image(register).map_or_else(TextureSize::default, |(_, texture)| size(texture.texels(), is_array))
    }

    fn stored_texels(&self) -> BTreeMap<ImageTexel, Vec4> {
        BTreeMap::new()
    }

    fn known(&mut self, texture: u32, sampler: u32) -> Option<Arc<dyn Any + Send + Sync>> {
        self.textures.known(texture, sampler)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::textures::TextureKind;
    use pretty_assertions::assert_eq;
    use tgsi_environment::AnalyticResources;

    #[test]
    fn stores_change_textures() {
        let mut memory = Memory::default();
        let format = PixelFormat::from_name("R32_SINT").expect("a format");
        let kind = TextureKind::Integers { size: [2, 2], factors: [2, 10], format: format.clone() };
        let texture = kind.create().expect("a texture");
        memory.textures.insert(3, (kind, texture));
        memory.images.insert(1, Image { texture: 3, format });
        let units = BTreeMap::from([(0, 1)]);
        let mut textures = AnalyticResources::default();
        let mut images = Images::new(&mut textures, &units, &mut memory);
        assert_eq!(images.image_load((0, [1, 1, 0], 0)), [13, 0, 0, 1]);
        images.image_store((0, [1, 1, 0], 0), [7, 8, 9, 10]);
        assert_eq!(images.image_load((0, [1, 1, 0], 0)), [7, 0, 0, 1]);
        // Outside of the image, and images that do not exist.
        images.image_store((0, [2, 0, 0], 0), [1; 4]);
        assert_eq!(images.image_load((0, [2, 0, 0], 0)), [0; 4]);
        assert_eq!(images.image_load((1, [0, 0, 0], 0)), [0; 4]);
        assert_eq!(images.image_size(0, SamplerDim::Dim2D, false).size, [2, 2, 1]);
        let (_, texture) = &memory.textures[&3];
        assert_eq!(texture.texels().texels()[12..], 7u32.to_le_bytes());
    }
}

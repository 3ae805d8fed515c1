//! Textures and images for the interpreter.

use std::collections::BTreeMap;
use std::sync::Arc;

use tgsi_driver_cpu::HostResources;
use tgsi_driver_cpu::sampler::{Compare, Filter, Format, MipFilter, Sampler, Shape, Size, Texture, Textures};
use tgsi_environment::{ImageTexel, Resources, SamplerDim, TextureRequest, TextureSize, Vec4};
use tgsi_spirv_vulkan::native::{Content, Picture, PictureShape, TexelFormat, TexelKind};

use crate::registers::Registers;
use crate::seed::Setup;

/// The textures and images of a run.
pub struct RunResources {
    textures: Textures,
    /// Images by register.
    pub images: BTreeMap<u32, Picture>,
}

impl RunResources {
    /// Creates resources from the contents of registers.
    ///
    /// # Errors
    /// The format of a texture or image has no texels that the interpreter reads.
    pub fn new(registers: &Registers, setup: &Setup) -> Result<RunResources, String> {
        let mut textures = Textures::new();
        for (&unit, (picture, state)) in &registers.units {
            textures.set_texture(unit, Arc::new(texture(picture)?));
            textures.set_sampler(
                unit,
                Sampler {
                    min_filter: Filter::Nearest,
                    mag_filter: Filter::Nearest,
                    mip_filter: MipFilter::Nearest,
                    compare: if state.compares { Compare::LessOrEqual } else { Compare::Never },
                    ..Sampler::default()
                },
            );
        }
        let mut images = BTreeMap::new();
        for (&register, &(binding, element)) in &registers.images {
            if let Content::Image(picture) = &setup.bindings[binding].contents[element] {
                images.insert(register, picture.clone());
            }
        }
        Ok(RunResources { textures, images })
    }
}

fn texture(picture: &Picture) -> Result<Texture, String> {
    let format = match (picture.format.kind, picture.format.channels) {
        (TexelKind::Float, 4) => Format::Rgba32Float,
        (TexelKind::Uint | TexelKind::Sint, 4) => Format::Rgba32Int,
        (TexelKind::Depth, _) => Format::D32Float,
        _ => return Err(format!("textures of format {:?}", picture.format)),
    };
    let shape = match picture.shape {
        PictureShape::D1 => Shape::D1,
        PictureShape::D2 => Shape::D2,
        PictureShape::D3 => Shape::D3,
        PictureShape::Cube => Shape::Cube,
        PictureShape::Buffer => Shape::Buffer,
    };
    let [width, height, depth] = picture.size;
    let size = Size { width, height, depth, layers: picture.layers };
    Texture::with_texels(shape, format, size, picture.levels, picture.bytes.clone())
        .ok_or_else(|| format!("a texture of size {size:?}"))
}

/// The offset of a texel in a picture of one level; `None` outside.
fn offset(picture: &Picture, [x, y, z]: [u32; 3]) -> Option<usize> {
    let [width, height, depth] = picture.size;
    let (row, image) = match picture.shape {
        PictureShape::D1 if picture.is_array => (0, y),
        PictureShape::D1 | PictureShape::Buffer => (0, 0),
        PictureShape::D2 if !picture.is_array => (y, 0),
        _ => (y, z),
    };
    let images = depth * picture.images();
    (x < width && row < height && image < images)
        .then(|| ((image * height + row) * width + x) as usize * picture.format.bytes())
}

/// Decodes a texel.
fn decode(format: TexelFormat, bytes: &[u8]) -> Vec4 {
    let one = if matches!(format.kind, TexelKind::Uint | TexelKind::Sint) { 1 } else { 1f32.to_bits() };
    let mut texel = [0, 0, 0, one];
    let parts = bytes.chunks_exact((format.bits / 8) as usize);
    for (word, part) in texel.iter_mut().zip(parts.take(format.channels as usize)) {
        *word = match (format.kind, part) {
            (_, &[a, b, c, d]) => u32::from_le_bytes([a, b, c, d]),
            (TexelKind::Unorm, &[byte]) => (f32::from(byte) / 255.0).to_bits(),
            (TexelKind::Snorm, &[byte]) => (f32::from(byte as i8) / 127.0).max(-1.0).to_bits(),
            (TexelKind::Sint, &[byte]) => i32::from(byte as i8) as u32,
            (_, &[byte]) => u32::from(byte),
            _ => 0,
        };
    }
    texel
}

/// Encodes a texel.
fn encode(format: TexelFormat, texel: Vec4, bytes: &mut [u8]) {
    let parts = bytes.chunks_exact_mut((format.bits / 8) as usize);
    for (word, part) in texel.into_iter().zip(parts.take(format.channels as usize)) {
        let float = f32::from_bits(word);
        match (format.kind, part) {
            (_, part) if part.len() == 4 => part.copy_from_slice(&word.to_le_bytes()),
            // Conversions of NaN give 0.
            (TexelKind::Unorm, [byte]) => *byte = (float.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8,
            (TexelKind::Snorm, [byte]) => *byte = (float.clamp(-1.0, 1.0) * 127.0).round_ties_even() as i8 as u8,
            (TexelKind::Sint, [byte]) => *byte = (word as i32).clamp(-128, 127) as u8,
            (_, [byte]) => *byte = word.min(255) as u8,
            _ => {}
        }
    }
}

impl Resources for RunResources {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        self.textures.texture(request)
    }

    fn texture_size(&mut self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.textures.texture_size(texture, level, dim, is_array)
    }

    fn image_load(&mut self, (image, place, _): ImageTexel) -> Vec4 {
        let Some(picture) = self.images.get(&image) else { return [0; 4] };
        offset(picture, place)
            .map_or([0; 4], |at| decode(picture.format, &picture.bytes[at..][..picture.format.bytes()]))
    }

    fn image_store(&mut self, (image, place, _): ImageTexel, value: Vec4) {
        let Some(picture) = self.images.get_mut(&image) else { return };
        if let Some(at) = offset(picture, place) {
            let (format, count) = (picture.format, picture.format.bytes());
            encode(format, value, &mut picture.bytes[at..][..count]);
        }
    }

    fn image_size(&mut self, image: u32, _: SamplerDim, _: bool) -> TextureSize {
        let Some(picture) = self.images.get(&image) else { return TextureSize::default() };
        let [width, height, depth] = picture.size;
        let layers = picture.layers;
        let size = match (picture.shape, picture.is_array) {
            (PictureShape::D1, true) => [width, layers, 0],
            (PictureShape::D1 | PictureShape::Buffer, _) => [width, 0, 0],
            (PictureShape::D3, _) => [width, height, depth],
            (_, true) => [width, height, layers],
            (_, false) => [width, height, 0],
        };
        TextureSize { size, levels: 1, samples: 1 }
    }

    fn stored_texels(&self) -> BTreeMap<ImageTexel, Vec4> {
        BTreeMap::new()
    }
}

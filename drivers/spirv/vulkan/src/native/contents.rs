//! What resources contain.

use ash::vk;

use super::blocks::LeafClass;

/// The numbers of a texel.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TexelKind {
    /// Floats of 32 or 16 bits.
    Float,
    /// Bytes from 0 to 1.
    Unorm,
    /// Bytes from -1 to 1.
    Snorm,
    /// Unsigned integers.
    Uint,
    /// Signed integers.
    Sint,
    /// Depth, a float.
    Depth,
}

/// The format of texels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TexelFormat {
    /// Kind.
    pub kind: TexelKind,
    /// Number of channels: 1, 2 or 4.
    pub channels: u32,
    /// Bits of a channel.
    pub bits: u32,
}

impl TexelFormat {
    /// Four channels of 32 bits.
    pub fn of_class(class: LeafClass) -> TexelFormat {
        let kind = match class {
            LeafClass::Float => TexelKind::Float,
            LeafClass::Int => TexelKind::Sint,
            LeafClass::Uint => TexelKind::Uint,
        };
        TexelFormat { kind, channels: 4, bits: 32 }
    }

    /// The format with this number in SPIR-V; `None` if runs do not support it.
    pub fn of_number(number: u32) -> Option<TexelFormat> {
        use TexelKind::{Float, Sint, Snorm, Uint, Unorm};
        let (kind, channels, bits) = match number {
            1 => (Float, 4, 32),
            2 => (Float, 4, 16),
            3 => (Float, 1, 32),
            4 => (Unorm, 4, 8),
            5 => (Snorm, 4, 8),
            6 => (Float, 2, 32),
            15 => (Unorm, 1, 8),
            21 => (Sint, 4, 32),
            23 => (Sint, 4, 8),
            24 => (Sint, 1, 32),
            25 => (Sint, 2, 32),
            30 => (Uint, 4, 32),
            32 => (Uint, 4, 8),
            33 => (Uint, 1, 32),
            35 => (Uint, 2, 32),
            _ => return None,
        };
        Some(TexelFormat { kind, channels, bits })
    }

    /// Bytes of a texel.
    pub fn bytes(self) -> usize {
        (self.channels * self.bits / 8) as usize
    }

    pub(super) fn in_vulkan(self) -> Result<vk::Format, String> {
        use TexelKind::{Depth, Float, Sint, Snorm, Uint, Unorm};
        Ok(match (self.kind, self.channels, self.bits) {
            (Float, 4, 32) => vk::Format::R32G32B32A32_SFLOAT,
            (Float, 2, 32) => vk::Format::R32G32_SFLOAT,
            (Float, 1, 32) => vk::Format::R32_SFLOAT,
            (Float, 4, 16) => vk::Format::R16G16B16A16_SFLOAT,
            (Unorm, 4, 8) => vk::Format::R8G8B8A8_UNORM,
            (Unorm, 1, 8) => vk::Format::R8_UNORM,
            (Snorm, 4, 8) => vk::Format::R8G8B8A8_SNORM,
            (Sint, 4, 32) => vk::Format::R32G32B32A32_SINT,
            (Sint, 2, 32) => vk::Format::R32G32_SINT,
            (Sint, 1, 32) => vk::Format::R32_SINT,
            (Sint, 4, 8) => vk::Format::R8G8B8A8_SINT,
            (Uint, 4, 32) => vk::Format::R32G32B32A32_UINT,
            (Uint, 2, 32) => vk::Format::R32G32_UINT,
            (Uint, 1, 32) => vk::Format::R32_UINT,
            (Uint, 4, 8) => vk::Format::R8G8B8A8_UINT,
            (Depth, 1, 32) => vk::Format::D32_SFLOAT,
            _ => return Err(format!("no format for {self:?}")),
        })
    }
}

/// The arrangement of images.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PictureShape {
    /// A row.
    D1,
    /// Rows.
    D2,
    /// Slices of rows.
    D3,
    /// Six faces for each layer.
    Cube,
    /// A buffer.
    Buffer,
}

/// Texels.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// Arrangement.
    pub shape: PictureShape,
    /// Whether it has layers.
    pub is_array: bool,
    /// Format.
    pub format: TexelFormat,
    /// Width, height, depth of the first level; sizes that the shape lacks are 1.
    pub size: [u32; 3],
    /// Layers; of cubes the number of cubes.
    pub layers: u32,
    /// Levels, each of half the size of the previous one.
    pub levels: u32,
    /// The texels of the levels in order: rows of slices of layers.
    pub bytes: Vec<u8>,
}

impl Picture {
    /// Layers, with faces.
    pub fn images(&self) -> u32 {
        if self.shape == PictureShape::Cube { 6 * self.layers } else { self.layers }
    }

    /// The size of a level.
    pub fn level(&self, level: u32) -> [u32; 3] {
        self.size.map(|size| (size >> level).max(1))
    }

    /// The bytes of all levels.
    pub fn byte_count(&self) -> usize {
        (0..self.levels).map(|level| self.level_bytes(level)).sum()
    }

    /// The bytes of a level.
    pub fn level_bytes(&self, level: u32) -> usize {
        self.level(level).iter().map(|&size| size as usize).product::<usize>()
            * self.images() as usize
            * self.format.bytes()
    }
}

/// The state of a sampler: it repeats, and uses the nearest texel.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct SamplerState {
    /// Whether it compares, by less or equal.
    pub compares: bool,
}

/// The content of a descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// A uniform block.
    Uniform(Vec<u8>),
    /// A storage block.
    Storage(Vec<u8>),
    /// A sampler.
    Sampler(SamplerState),
    /// A texture, or a uniform texel buffer.
    Texture(Picture),
    /// A texture with its sampler.
    Combined(Picture, SamplerState),
    /// A storage image, or a storage texel buffer.
    Image(Picture),
}

impl Content {
    pub(super) fn descriptor_type(&self) -> vk::DescriptorType {
        let is_buffer = |picture: &Picture| picture.shape == PictureShape::Buffer;
        match self {
            Content::Uniform(_) => vk::DescriptorType::UNIFORM_BUFFER,
            Content::Storage(_) => vk::DescriptorType::STORAGE_BUFFER,
            Content::Sampler(_) => vk::DescriptorType::SAMPLER,
            Content::Texture(picture) if is_buffer(picture) => vk::DescriptorType::UNIFORM_TEXEL_BUFFER,
            Content::Texture(_) => vk::DescriptorType::SAMPLED_IMAGE,
            Content::Combined(..) => vk::DescriptorType::COMBINED_IMAGE_SAMPLER,
            Content::Image(picture) if is_buffer(picture) => vk::DescriptorType::STORAGE_TEXEL_BUFFER,
            Content::Image(_) => vk::DescriptorType::STORAGE_IMAGE,
        }
    }
}

/// A binding with its contents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoundContents {
    /// Set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// A content for each descriptor.
    pub contents: Vec<Content>,
}

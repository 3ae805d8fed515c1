//! Textures and images as a host offers them to many threads.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use tgsi_environment::SamplerDim;
use tgsi_environment::{ImageTexel, Resources, TextureRequest, TextureSize, Vec4};

use crate::sampler::Sampled;

/// Textures and images that several threads use at once. What [`Resources`] is to a run in one thread.
pub trait HostResources: Sync {
    /// Four result words for each lane of a quad: `[component][lane]`.
    fn texture(&self, request: &TextureRequest) -> [[u32; 4]; 4];

    /// Sizes of a texture at a level.
    fn texture_size(&self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize;

    /// The texel of an image as four words. Without images, zero.
    fn image_load(&self, texel: ImageTexel) -> Vec4 {
        let _ = texel;
        [0; 4]
    }

    /// Stores a texel. Without images, nothing.
    fn image_store(&self, texel: ImageTexel, value: Vec4) {
        let _ = (texel, value);
    }

    /// Sizes of an image.
    fn image_size(&self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        let _ = (image, dim, is_array);
        TextureSize::default()
    }

    /// The texture and the sampler of two units, for lookups that are made in a program's code; see
    /// [`compile_with`](crate::compile_with). It must be what [`texture`](Self::texture) looks up in. Without one, all
    /// lookups come to that function.
    fn known(&self, texture: u32, sampler: u32) -> Option<Sampled> {
        let _ = (texture, sampler);
        None
    }

    /// The unit that the handle of a bindless texture or image stands for.
    fn unit_of_handle(&self, handle: u64) -> u32 {
        handle as u32
    }
}

/// No textures and no images: all reads give zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoResources;

impl HostResources for NoResources {
    fn texture(&self, _: &TextureRequest) -> [[u32; 4]; 4] {
        [[0; 4]; 4]
    }

    fn texture_size(&self, _: u32, _: u32, _: SamplerDim, _: bool) -> TextureSize {
        TextureSize::default()
    }
}

/// The resources of a host as a run in one thread takes them.
#[derive(Clone, Copy)]
pub struct Shared<'a>(pub &'a dyn HostResources);

impl Resources for Shared<'_> {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        self.0.texture(request)
    }

    fn texture_size(&mut self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.0.texture_size(texture, level, dim, is_array)
    }

    fn image_load(&mut self, texel: ImageTexel) -> Vec4 {
        self.0.image_load(texel)
    }

    fn image_store(&mut self, texel: ImageTexel, value: Vec4) {
        self.0.image_store(texel, value);
    }

    fn image_size(&mut self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.0.image_size(image, dim, is_array)
    }

    fn stored_texels(&self) -> BTreeMap<ImageTexel, Vec4> {
        BTreeMap::new()
    }

    fn unit_of_handle(&mut self, handle: u64) -> u32 {
        self.0.unit_of_handle(handle)
    }

    fn known(&mut self, texture: u32, sampler: u32) -> Option<Arc<dyn Any + Send + Sync>> {
        Some(Arc::new(self.0.known(texture, sampler)?))
    }
}

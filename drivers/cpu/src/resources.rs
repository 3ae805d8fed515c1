//! Textures and images that a host provides to many threads.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use tgsi_environment::SamplerDim;
use tgsi_environment::{ImageTexel, Resources, TextureRequest, TextureSize, Vec4};

use crate::sampler::known::Sampled;

/// Textures and images that several threads use at once. The counterpart of [`Resources`], which serves one thread.
pub trait HostResources: Sync {
    /// Returns four result words for each lane of a quad: `[component][lane]`.
    fn texture(&self, request: &TextureRequest) -> [[u32; 4]; 4];

    /// Returns the sizes of a texture at a level.
    fn texture_size(&self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize;

    /// Returns the texel of an image as four words. By default zero.
    fn image_load(&self, texel: ImageTexel) -> Vec4 {
        let _ = texel;
        [0; 4]
    }

    /// Stores a texel. By default does nothing.
    fn image_store(&self, texel: ImageTexel, value: Vec4) {
        let _ = (texel, value);
    }

    /// Returns the sizes of an image.
    fn image_size(&self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        let _ = (image, dim, is_array);
        TextureSize::default()
    }

    /// Returns the texture and the sampler of two units, for inline lookups; see [`compile_with`](crate::compile_with).
    /// They must be those that [`texture`](Self::texture) uses. If this returns `None`, all lookups call that function.
    fn known(&self, texture: u32, sampler: u32) -> Option<Sampled> {
        let _ = (texture, sampler);
        None
    }

    /// Returns the unit for the handle of a bindless texture or image.
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

/// The resources of a host for a run in one thread.
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

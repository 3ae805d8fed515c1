//! Textures and images that notice accesses to units without declaration, whose results are not defined.

use std::collections::{BTreeMap, BTreeSet};

use tgsi::Shader;
use tgsi::tables::File;
use tgsi_environment::{AnalyticResources, ImageTexel, Resources, SamplerDim, TextureRequest, TextureSize, Vec4};

/// The analytic resources, and whether an access was to a unit that the shader does not declare.
#[derive(Default)]
pub(super) struct DeclaredResources {
    pub(super) inner: AnalyticResources,
    textures: BTreeSet<u32>,
    images: BTreeSet<u32>,
    pub(super) is_outside: bool,
}

impl DeclaredResources {
    pub(super) fn of(shader: &Shader) -> DeclaredResources {
        let units = |files: &[File]| {
            let declarations = shader.declarations.iter().filter(|declaration| files.contains(&declaration.file));
            declarations.flat_map(|declaration| u32::from(declaration.first)..=u32::from(declaration.last)).collect()
        };
        DeclaredResources {
            textures: units(&[File::Sampler, File::SamplerView]),
            images: units(&[File::Image]),
            ..DeclaredResources::default()
        }
    }

    fn image(&mut self, unit: u32) {
        self.is_outside |= !self.images.contains(&unit);
    }
}

impl Resources for DeclaredResources {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        self.is_outside |= !self.textures.contains(&request.texture) || !self.textures.contains(&request.sampler);
        self.inner.texture(request)
    }

    fn texture_size(&mut self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.is_outside |= !self.textures.contains(&texture);
        self.inner.texture_size(texture, level, dim, is_array)
    }

    fn image_load(&mut self, texel: ImageTexel) -> Vec4 {
        self.image(texel.0);
        self.inner.image_load(texel)
    }

    fn image_store(&mut self, texel: ImageTexel, value: Vec4) {
        self.image(texel.0);
        self.inner.image_store(texel, value);
    }

    fn image_size(&mut self, image: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        self.image(image);
        self.inner.image_size(image, dim, is_array)
    }

    fn stored_texels(&self) -> BTreeMap<ImageTexel, Vec4> {
        self.inner.stored_texels()
    }
}

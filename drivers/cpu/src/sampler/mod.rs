//! The built-in sampler: textures and samplers by unit, and all lookups of shaders in them, in safe Rust.
//!
//! Implements the OpenGL and Vulkan specifications; where these leave a choice, the function documents it. Results are
//! floats of full precision: unlike in hardware, weights are not rounded to a number of bits.
//!
//! | file | holds |
//! |---|---|
//! | `texture` | textures and their levels in memory |
//! | `format` | decoding of texels |
//! | `state` | the state of samplers |
//! | `wrap` | from coordinates to numbers of texels |
//! | `cube` | faces, and the texels beyond their edges |
//! | `level_of_detail` | derivatives, and the corresponding levels |
//! | `lookup` | lookups by quads |
//! | `known` | units with a state that is known when a shader is compiled |
//!
//! - Lookups are total: any coordinate, level, offset and unit has a result. A unit without a texture reads as zero.
//! - Each lane has its own level of detail, computed from its row and column of the quad.
//! - A shadow lookup returns its result in all components.

#![forbid(unsafe_code)]

mod cube;
pub(crate) mod format;
pub(crate) mod known;
pub(crate) mod level_of_detail;
mod lookup;
mod state;
mod texture;
pub(crate) mod wrap;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use tgsi_environment::SamplerDim;
use tgsi_environment::{TextureRequest, TextureSize};

pub use format::Format;
pub use known::{KnownUnitState, Sampled};
pub use state::{Compare, Filter, MipFilter, Sampler, WrapMode};
pub use texture::{Level, MAX_SIDE, Shape, Size, Texture};

use crate::resources::HostResources;

/// Textures and samplers by unit. Textures are shared, so one may be in several units and sets.
#[derive(Clone, Debug, Default)]
pub struct Textures {
    textures: BTreeMap<u32, Arc<Texture>>,
    samplers: BTreeMap<u32, Sampler>,
    default: Option<(Arc<Texture>, Sampler)>,
}

impl Textures {
    /// Creates an empty set.
    pub fn new() -> Textures {
        Textures::default()
    }

    /// Sets the texture of a unit.
    pub fn set_texture(&mut self, unit: u32, texture: Arc<Texture>) {
        self.textures.insert(unit, texture);
    }

    /// Sets the sampler of a unit.
    pub fn set_sampler(&mut self, unit: u32, sampler: Sampler) {
        self.samplers.insert(unit, sampler);
    }

    /// Sets the texture and sampler of all units without one.
    pub fn set_default(&mut self, texture: Arc<Texture>, sampler: Sampler) {
        self.default = Some((texture, sampler));
    }

    /// Returns the texture of a unit.
    fn texture_of(&self, unit: u32) -> Option<&Arc<Texture>> {
        self.textures.get(&unit).or(self.default.as_ref().map(|(texture, _)| texture))
    }

    /// Returns the sampler of a unit.
    fn sampler_of(&self, unit: u32) -> Sampler {
        let default = || self.default.as_ref().map_or_else(Sampler::default, |&(_, sampler)| sampler);
        self.samplers.get(&unit).copied().unwrap_or_else(default)
    }
}

impl HostResources for Textures {
    fn texture(&self, request: &TextureRequest) -> [[u32; 4]; 4] {
        match self.texture_of(request.texture) {
            Some(texture) => lookup::look_up(texture, &self.sampler_of(request.sampler), request),
            None => [[0; 4]; 4],
        }
    }

    fn known(&self, texture: u32, sampler: u32) -> Option<Sampled> {
        Some(Sampled { texture: self.texture_of(texture)?.clone(), sampler: self.sampler_of(sampler) })
    }

    fn texture_size(&self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        let Some(texture) = self.texture_of(texture) else { return TextureSize::default() };
        let levels = texture.levels().len() as u32;
        let Some(&Level { width, height, images, .. }) = texture.levels().get(level as usize) else {
            return TextureSize { levels, ..TextureSize::default() };
        };
        let layers = if dim == SamplerDim::Cube { texture.layers() } else { images };
        let size = match (dim, is_array) {
            (SamplerDim::Dim1D | SamplerDim::Buf, false) => [width, 0, 0],
            (SamplerDim::Dim1D | SamplerDim::Buf, true) => [width, layers, 0],
            (SamplerDim::Dim3D, _) => [width, height, images],
            (_, true) => [width, height, layers],
            (_, false) => [width, height, 0],
        };
        TextureSize { size, levels, samples: 1 }
    }
}

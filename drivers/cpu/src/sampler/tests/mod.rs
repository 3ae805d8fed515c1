//! Compares the built-in sampler with values computed by hand, or from formulas of the OpenGL and Vulkan
//! specifications.

mod filters;
mod formats;
mod levels;
mod shapes;
mod total;

use std::sync::Arc;

use tgsi_environment::SamplerDim;
use tgsi_environment::{TextureLookup, TextureRequest};

use super::*;

/// Returns a lookup at a place that is the same in all lanes.
fn request(lookup: TextureLookup, dim: SamplerDim, coordinate: &[f32]) -> TextureRequest {
    let word = |component: usize| coordinate.get(component).copied().unwrap_or(0.0).to_bits();
    let coordinate = [0, 1, 2, 3].map(|component| [word(component); 4]);
    TextureRequest { coordinate, ..TextureRequest::new(lookup, dim) }
}

fn explicit(dim: SamplerDim, coordinate: &[f32]) -> TextureRequest {
    request(TextureLookup::Explicit, dim, coordinate)
}

fn with(texture: Texture, sampler: Sampler) -> Textures {
    let mut textures = Textures::new();
    textures.set_texture(0, Arc::new(texture));
    textures.set_sampler(0, sampler);
    textures
}

/// Returns the floats of a lane.
fn lane(textures: &Textures, request: &TextureRequest, lane: usize) -> [f32; 4] {
    HostResources::texture(textures, request).map(|row| f32::from_bits(row[lane]))
}

fn first(textures: &Textures, request: &TextureRequest) -> [f32; 4] {
    lane(textures, request, 0)
}

fn nearest() -> Sampler {
    Sampler { min_filter: Filter::Nearest, mag_filter: Filter::Nearest, ..Sampler::default() }
}

/// Returns a texture with one float per texel; `values` are those of all levels, in order.
fn floats(shape: Shape, size: Size, levels: u32, values: &[f32]) -> Texture {
    let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Texture::with_texels(shape, Format::R32Float, size, levels, bytes).expect("a texture")
}

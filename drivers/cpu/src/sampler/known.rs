//! Units of which the state is known when a shader is compiled, so that lookups in them can be made in its code.
//!
//! Code is made for the format and the state of the sampler; sizes, levels and layers may be any. What it is run with may
//! be something else; then its lookups are made by the host's resources.

use std::sync::Arc;

use super::{Format, Sampler, Texture};

/// A texture with the sampler it is looked up with, as a run has them.
#[derive(Clone, PartialEq, Debug)]
pub struct Sampled {
    /// The texture.
    pub texture: Arc<Texture>,
    /// The sampler.
    pub sampler: Sampler,
}

/// What is known of a texture and a sampler that lookups name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Known {
    /// The unit of the texture.
    pub texture: u32,
    /// The unit of the sampler.
    pub sampler: u32,
    /// The format of the texture.
    pub format: Format,
    /// The state of the sampler.
    pub state: Sampler,
}

impl Known {
    /// What is known of units that have this texture and sampler.
    pub fn of(texture: u32, sampler: u32, sampled: &Sampled) -> Known {
        Known { texture, sampler, format: sampled.texture.format(), state: sampled.sampler }
    }

    /// Whether it says what a texture and a sampler are.
    pub fn is_that_of(&self, sampled: &Sampled) -> bool {
        sampled.texture.format() == self.format && same(&sampled.sampler, &self.state)
    }
}

/// Whether code for one state does for another; floats by their bits.
fn same(a: &Sampler, b: &Sampler) -> bool {
    let floats = |state: &Sampler| [state.lod_bias, state.min_lod, state.max_lod].map(f32::to_bits);
    let without_floats = |state: &Sampler| Sampler { lod_bias: 0.0, min_lod: 0.0, max_lod: 0.0, ..*state };
    floats(a) == floats(b) && without_floats(a) == without_floats(b)
}

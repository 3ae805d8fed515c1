//! Units with a state that is known when a shader is compiled, so that lookups in them can be inlined.
//!
//! Code is generated for the format and the state of the sampler; sizes, levels and layers may vary. If a run has
//! another format or state, the host's resources perform the lookups.

use std::sync::Arc;

use super::{Format, Sampler, Texture};

/// A texture with its sampler, as a run has them.
#[derive(Clone, PartialEq, Debug)]
pub struct Sampled {
    /// The texture.
    pub texture: Arc<Texture>,
    /// The sampler.
    pub sampler: Sampler,
}

/// The known state of a texture and a sampler.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KnownUnitState {
    /// The unit of the texture.
    pub texture: u32,
    /// The unit of the sampler.
    pub sampler: u32,
    /// The format of the texture.
    pub format: Format,
    /// The state of the sampler.
    pub state: Sampler,
}

impl KnownUnitState {
    /// Returns the state of units with this texture and sampler.
    pub(crate) fn of(texture: u32, sampler: u32, sampled: &Sampled) -> KnownUnitState {
        KnownUnitState { texture, sampler, format: sampled.texture.format(), state: sampled.sampler }
    }

    /// Returns whether it describes a texture and a sampler.
    pub(crate) fn is_that_of(&self, sampled: &Sampled) -> bool {
        sampled.texture.format() == self.format && same(&sampled.sampler, &self.state)
    }
}

/// Returns whether code for one state is valid for another; floats are compared by their bits.
fn same(a: &Sampler, b: &Sampler) -> bool {
    let floats = |state: &Sampler| [state.lod_bias, state.min_lod, state.max_lod].map(f32::to_bits);
    let without_floats = |state: &Sampler| Sampler { lod_bias: 0.0, min_lod: 0.0, max_lod: 0.0, ..*state };
    floats(a) == floats(b) && without_floats(a) == without_floats(b)
}

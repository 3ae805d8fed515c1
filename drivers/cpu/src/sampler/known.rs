//! Units of which the state is known when a shader is compiled, so that lookups in them can be made in its code.
//!
//! Code is made for the usual case only: two dimensions, four normalised bytes or four floats, and wrap modes without a
//! border. What it is run with may be something else; then its lookups are made by the host's resources.

use std::sync::Arc;

use super::{Format, Sampler, Shape, Texture, Wrap};

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
    /// What is known of units that have this texture and sampler; none if no code is made for such.
    pub fn of(texture: u32, sampler: u32, sampled: &Sampled) -> Option<Known> {
        let known = Known { texture, sampler, format: sampled.texture.format(), state: sampled.sampler };
        (known.has_code() && known.is_that_of(sampled)).then_some(known)
    }

    /// Whether code is made for it.
    pub fn has_code(&self) -> bool {
        let wrap = |wrap: Wrap| matches!(wrap, Wrap::Repeat | Wrap::MirroredRepeat | Wrap::ClampToEdge);
        matches!(self.format, Format::Rgba8Unorm | Format::Rgba32Float)
            && wrap(self.state.wrap[0])
            && wrap(self.state.wrap[1])
            && !self.state.unnormalized
    }

    /// Whether it says what a texture and a sampler are.
    pub fn is_that_of(&self, sampled: &Sampled) -> bool {
        let texture = &sampled.texture;
        texture.shape() == Shape::D2
            && texture.layers() == 1
            && texture.format() == self.format
            && same(&sampled.sampler, &self.state)
    }
}

/// Whether code for one state does for another; floats by their bits.
fn same(a: &Sampler, b: &Sampler) -> bool {
    let floats = |state: &Sampler| [state.lod_bias, state.min_lod, state.max_lod].map(f32::to_bits);
    let choices =
        |state: &Sampler| (state.min_filter, state.mag_filter, state.mip_filter, state.wrap[0], state.wrap[1]);
    floats(a) == floats(b) && choices(a) == choices(b) && a.unnormalized == b.unnormalized
}

//! Optimises two stages of a pipeline together: unread outputs are removed, values move to the consumer, and the rest
//! is packed. These passes take two shaders, so they have no row in the [table](super::table).

pub mod link_varyings;
pub mod pack_varyings;
pub(crate) mod varyings;

pub use link_varyings::link_varyings;
pub use pack_varyings::pack_varyings;
pub use varyings::{front_color, linked_slots};

/// Facts about two linked stages, in addition to their code.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LinkOptions {
    /// Registers ([`driver_location`](crate::variable::VariableData::driver_location)) of outputs of the first shader
    /// that have other readers, such as stream output. They are kept.
    pub captured: Vec<u32>,
    /// Whether both stages use the same constant buffers.
    pub shares_constants: bool,
    /// The rasteriser may replace texture coordinates by those of point sprites: `TEX0` to `TEX7` are kept.
    pub replaces_coordinates: bool,
}

/// The changes made by linking.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize)]
#[non_exhaustive]
pub struct LinkReport {
    /// Components of outputs that are no longer written.
    pub removed: u32,
    /// Components of inputs that became zero, because they are never written.
    pub zeros: u32,
    /// Components of inputs that became constants in the consumer.
    pub constants: u32,
    /// Components of inputs that the consumer now loads from constant buffers.
    pub uniforms: u32,
    /// Components of inputs that are equal to others.
    pub duplicates: u32,
    /// Slots between the stages that were read before.
    pub slots_before: u32,
    /// Slots between the stages that are read now.
    pub slots_after: u32,
}

impl LinkReport {
    /// Returns whether the code changed other than by packing.
    pub fn is_changed(&self) -> bool {
        self.removed + self.zeros + self.constants + self.uniforms + self.duplicates > 0
    }
}

//! Two stages of a pipeline are fitted to each other: outputs that nobody reads go, values move into the reader, and
//! what is left is packed. These passes take two shaders, so that they have no row in the [table](super::table).

pub mod link_varyings;
pub mod pack_varyings;
pub(crate) mod varyings;

pub use link_varyings::link_varyings;
pub use pack_varyings::pack_varyings;
pub use varyings::{front_color, linked_slots};

/// What is known of two stages that are linked, beside their code.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct LinkOptions {
    /// Registers ([`driver_location`](crate::variable::VariableData::driver_location)) of outputs of the first shader
    /// that somebody else reads, such as stream output. They stay as they are.
    pub captured: Vec<u32>,
    /// Both stages see the same constant buffers.
    pub shares_constants: bool,
    /// The rasteriser may replace texture coordinates by those of point sprites: `TEX0` to `TEX7` stay as they are.
    pub replaces_coordinates: bool,
}

/// What linking changed.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LinkReport {
    /// Components of outputs that are no longer written.
    pub removed: u32,
    /// Components of inputs that became zero, because nobody writes them.
    pub zeros: u32,
    /// Components of inputs that became constants of the reader.
    pub constants: u32,
    /// Components of inputs that the reader loads from constant buffers itself.
    pub uniforms: u32,
    /// Components of inputs that are equal to others.
    pub duplicates: u32,
    /// Slots between the stages that were read before.
    pub slots_before: u32,
    /// Slots between the stages that are read now.
    pub slots_after: u32,
}

impl LinkReport {
    /// Whether the code changed other than by packing.
    pub fn is_changed(&self) -> bool {
        self.removed + self.zeros + self.constants + self.uniforms + self.duplicates > 0
    }
}

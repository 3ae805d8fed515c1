//! Fragment programs: payload, inputs and outputs.

use serde::{Deserialize, Serialize};

use super::{Kernel, Texture, Varying};

/// Barycentric coordinates of the payload: each kind is two registers, the weights of the second and of the third
/// vertex.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Barycentrics {
    /// Corrected for perspective, at the centre.
    PerspectivePixel,
    /// Corrected for perspective, at the centroid.
    PerspectiveCentroid,
    /// Corrected for perspective, at the sample.
    PerspectiveSample,
    /// Linear on the screen, at the centre.
    LinearPixel,
    /// Linear on the screen, at the centroid.
    LinearCentroid,
    /// Linear on the screen, at the sample.
    LinearSample,
}

impl Barycentrics {
    /// All kinds, in the order of the payload.
    pub const ALL: [Barycentrics; 6] = {
        use Barycentrics::*;
        [PerspectivePixel, PerspectiveCentroid, PerspectiveSample, LinearPixel, LinearCentroid, LinearSample]
    };

    /// The bit in [`FragmentPayload::barycentrics`].
    pub fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The optional parts of the payload of fragments, in their order.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct FragmentPayload {
    /// The kinds of barycentric coordinates, by [`Barycentrics::bit`].
    pub barycentrics: u8,
    /// The depth, one register.
    pub depth: bool,
    /// The reciprocal of the last component of the position, one register.
    pub w: bool,
    /// Positions of samples, one register: bytes in 1/16 of a pixel, x and y of each lane.
    pub sample_positions: bool,
    /// The mask of covered samples, one register.
    pub sample_mask: bool,
}

impl FragmentPayload {
    /// The place of the first register of a kind of coordinates.
    pub fn coordinates(&self, kind: Barycentrics) -> u8 {
        2 + 2 * (self.barycentrics & (kind.bit() - 1)).count_ones() as u8
    }

    fn after_coordinates(&self) -> u8 {
        2 + 2 * self.barycentrics.count_ones() as u8
    }

    /// The register of the depth.
    pub fn depth_register(&self) -> u8 {
        self.after_coordinates()
    }

    /// The register of the reciprocal of the last component of the position.
    pub fn w_register(&self) -> u8 {
        self.depth_register() + u8::from(self.depth)
    }

    /// The register with positions of samples.
    pub fn sample_positions_register(&self) -> u8 {
        self.w_register() + u8::from(self.w)
    }

    /// The register of the mask of covered samples.
    pub fn sample_mask_register(&self) -> u8 {
        self.sample_positions_register() + u8::from(self.sample_positions)
    }

    /// The first register of pushed constants.
    pub fn end(&self) -> u8 {
        self.sample_mask_register() + u8::from(self.sample_mask)
    }
}

/// The attributes that programs for runs read system values from. Hardware has no such attributes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct FragmentSystemValues {
    /// The attribute with the position.
    pub position: Option<u8>,
    /// The attribute with the face as a boolean, the number of the fragment in its group, the number of the sample, and
    /// the mask of covered samples.
    pub facts: Option<u8>,
    /// The attribute with the position of the sample in x and y, and whether the fragment is a helper as a boolean. All
    /// lanes of the payload are live then.
    pub sample: Option<u8>,
    /// The attribute with the coordinates in the point in x and y, and the number of the primitive.
    pub point: Option<u8>,
}

/// The number of the output with the depth.
pub const DEPTH_OUTPUT: u8 = 8;
/// The number of the output with the mask of samples.
pub const SAMPLE_MASK_OUTPUT: u8 = 9;
/// The number of the output with the second colour for blending.
pub const SECOND_COLOUR_OUTPUT: u8 = 10;

/// The interface of a fragment program.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct FragmentInterface {
    /// Optional parts of the payload.
    pub payload: FragmentPayload,
    /// The inputs, by attribute.
    pub inputs: Vec<Varying>,
    /// Attributes of which the program reads the value at the first vertex, bit 0 = the first one.
    pub flat: u32,
    /// Attributes with system values.
    pub system_values: FragmentSystemValues,
    /// Attributes in the payload, with those of system values.
    pub attributes: u8,
    /// The outputs. The slot is the number of the render target, [`DEPTH_OUTPUT`], [`SAMPLE_MASK_OUTPUT`] or
    /// [`SECOND_COLOUR_OUTPUT`].
    pub outputs: Vec<Varying>,
    /// Render targets that are written, bit 0 = the first one. Without any, a message without use ends the
    /// thread.
    pub targets: u8,
    /// Whether the first colour is that of all render targets.
    pub is_broadcast: bool,
    /// Whether lanes are killed.
    pub kills: bool,
    /// Whether the depth is written.
    pub writes_depth: bool,
    /// Whether the second colour for blending is written, with the first render target, which is the only one.
    #[serde(default)]
    pub writes_second_colour: bool,
    /// Whether the mask of samples is written.
    pub writes_sample_mask: bool,
    /// The register that has the mask of samples as numbers of 32 bits at the end of the thread.
    pub sample_mask: Option<u8>,
    /// Whether memory is written: tests of depth are early then only if the shader asks for that.
    pub has_stores: bool,
    /// The images, by unit.
    pub images: Vec<Texture>,
    /// Whether a thread has the fragments of one sample.
    pub is_per_sample: bool,
}

/// A fragment program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FragmentProgram {
    /// The code.
    pub kernel: Kernel,
    /// Inputs and outputs.
    pub interface: FragmentInterface,
}

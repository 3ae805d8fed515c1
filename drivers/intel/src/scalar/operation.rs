//! Operations of fragment programs beyond those on components.

use tgsi_vec4::simple::{File, Info, Source};

use crate::program::Barycentrics;
use crate::simulator::SampleOp;

/// Vectors with a fixed location: the parameters of lookups, in the order of the message.
pub const PAYLOAD_VECTORS: u32 = 3;

/// A value of the payload of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PayloadValue {
    /// The coordinate of the pixel in x, an integer.
    PixelX,
    /// The coordinate of the pixel in y, an integer.
    PixelY,
    /// The depth.
    Depth,
    /// The reciprocal of the last component of the position.
    W,
    /// All bits set if the primitive shows its front.
    FrontFace,
    /// The number of the sample.
    SampleId,
    /// The position of the sample in the pixel, in x or y.
    SamplePosition {
        /// Whether it is y.
        is_vertical: bool,
    },
    /// The mask of covered samples.
    SampleMask,
    /// The layer of the render target.
    Layer,
    /// All bits set if the lane is a helper now.
    IsHelper,
}

/// The place at which barycentric coordinates are evaluated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EvaluationPlace {
    /// The sample, by its number.
    Sample(u8),
    /// An offset from the centre in x and y of the source, in 1/16 of a pixel.
    Offset,
}

/// A message to the sampler. Its parameters are components of the vectors with a fixed location, or a component in x of
/// the only source. With a run-time index, that is x of the last source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Lookup {
    /// The operation.
    pub op: SampleOp,
    /// The surface, by its place in the binding table.
    pub surface: u8,
    /// The sampler.
    pub sampler: u8,
    /// Word 2 of the header, if there is one: offsets of texels, the gathered component.
    pub header: Option<u32>,
    /// The number of parameters.
    pub parameters: u8,
    /// Whether the surface has a run-time index.
    pub is_indexed: bool,
    /// Whether the sampler has the same run-time index.
    pub has_sampler: bool,
}

/// An access to a texel of an image. The sources are those of a [`Lookup`]: coordinates, then data.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TypedMessage {
    /// The access.
    pub access: TypedAccess,
    /// The surface, by its place in the binding table.
    pub surface: u8,
    /// The number of parameters: four coordinates, then data.
    pub parameters: u8,
    /// Whether the surface has a run-time index.
    pub is_indexed: bool,
}

/// An access to an image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TypedAccess {
    /// Loads a texel.
    Read,
    /// Stores a texel.
    Write,
    /// An atomic operation.
    Atomic {
        /// The number of the operation.
        op: u8,
        /// Whether the previous value is returned.
        returns: bool,
    },
}

/// An operation of fragment programs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FragmentOp {
    /// A component of an attribute at coordinates of the payload.
    Plane {
        /// The attribute.
        attribute: u8,
        /// Its component.
        component: u8,
        /// The coordinates.
        coordinates: Barycentrics,
    },
    /// A component of an attribute at the coordinates in x and y of the source.
    PlaneAt {
        /// The attribute.
        attribute: u8,
        /// Its component.
        component: u8,
    },
    /// Evaluates barycentric coordinates, the result in x and y.
    Interpolate {
        /// The place.
        place: EvaluationPlace,
        /// Whether the result is not corrected for perspective.
        is_linear: bool,
    },
    /// A value of the payload.
    Payload(PayloadValue),
    /// The difference of neighbours in quads.
    Derivative {
        /// Whether the neighbours are above each other.
        is_vertical: bool,
        /// Whether each row or column has its own difference.
        is_fine: bool,
    },
    /// Kills the lanes for which the source is not 0; all lanes without a source.
    Kill,
    /// A message to the sampler.
    Lookup(Lookup),
    /// An access to an image.
    Typed(TypedMessage),
    /// Loads a spilled component, by its number.
    Fill(u16),
    /// Stores the source in x as a spilled component.
    Spill(u16),
}

/// The first channels of a vector.
fn channels(count: u8) -> u8 {
    (1u8 << count.min(4)) - 1
}

/// The channels of the sources of a message with parameters.
fn parameter_channels(parameters: u8, is_indexed: bool) -> [u8; 4] {
    let mut reads = [0; 4];
    let vectors = usize::from(parameters.div_ceil(4).min(PAYLOAD_VECTORS as u8));
    for (number, read) in (0u8..).zip(reads.iter_mut().take(vectors)) {
        *read = channels(parameters - 4 * number);
    }
    if is_indexed {
        reads[vectors] = 1;
    }
    reads
}

impl FragmentOp {
    /// The facts that passes need.
    pub fn info(self) -> Info {
        match self {
            FragmentOp::Plane { .. } => Info::replicated([0; 4]),
            FragmentOp::PlaneAt { .. } => Info::replicated([0b0011, 0, 0, 0]),
            FragmentOp::Interpolate { place, .. } => {
                let read = if place == EvaluationPlace::Offset { 0b0011 } else { 0 };
                Info { stores_whole: true, ..Info::fixed([read, 0, 0, 0]) }
            }
            // Kills change it.
            FragmentOp::Payload(PayloadValue::IsHelper) => Info { has_effect: true, ..Info::replicated([0; 4]) },
            FragmentOp::Payload(_) => Info::replicated([0; 4]),
            FragmentOp::Derivative { .. } => Info::COMPONENTWISE,
            FragmentOp::Fill(_) => Info { has_effect: true, ..Info::replicated([0; 4]) },
            FragmentOp::Spill(_) => Info { has_effect: true, ..Info::fixed([1, 0, 0, 0]) },
            FragmentOp::Kill => Info { has_effect: true, ..Info::fixed([1, 0, 0, 0]) },
            FragmentOp::Lookup(lookup) => {
                let reads = parameter_channels(lookup.parameters, lookup.is_indexed);
                Info { stores_whole: true, ..Info::fixed(reads) }
            }
            FragmentOp::Typed(message) => {
                let reads = parameter_channels(message.parameters, message.is_indexed);
                Info { stores_whole: true, has_effect: true, ..Info::fixed(reads) }
            }
        }
    }

    /// Whether the operation takes operands.
    pub fn accepts(self, sources: &[Source]) -> bool {
        let is_temporary = |source: &Source| source.file == File::Temporary && source.is_plain();
        match self {
            FragmentOp::Kill => {
                sources.iter().all(|s| !matches!(s.file, File::Constant | File::Special) && s.is_plain())
            }
            _ => sources.iter().all(is_temporary),
        }
    }
}

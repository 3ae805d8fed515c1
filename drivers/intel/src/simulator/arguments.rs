//! The parameters of messages to the sampler by their meaning.

use super::{Lanes, Sample, SampleOp, Simd};

/// The parameters of a message to the sampler. Absent ones are zeros.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SampleArguments {
    /// The coordinates u, v and r, and the array index of cubes: floats, for `ld` and its variants integers. The array
    /// index of other surfaces is the coordinate after the last one of the surface.
    pub coordinates: [Lanes; 4],
    /// The reference of comparisons.
    pub reference: Lanes,
    /// The level of detail or its bias: a float, for `ld`, its variants and `resinfo` an integer.
    pub level: Lanes,
    /// The derivatives of u, v and r by x and y.
    pub gradients: [[Lanes; 2]; 3],
    /// The offsets of u and v in texels, integers.
    pub offset: [Lanes; 2],
    /// The number of the sample.
    pub sample: Lanes,
    /// The word of the multisample control surface.
    pub mcs: Lanes,
}

/// The meaning of a parameter.
#[derive(Clone, Copy)]
enum Parameter {
    Coordinate(usize),
    Reference,
    Level,
    Gradient(usize, usize),
    Offset(usize),
    Sample,
    Mcs,
    Unused,
}

use Parameter::{Coordinate, Gradient, Level, Mcs, Offset, Reference, Unused};

const U: Parameter = Coordinate(0);
const V: Parameter = Coordinate(1);
const R: Parameter = Coordinate(2);
const I: Parameter = Coordinate(3);
const SAMPLE: Parameter = Parameter::Sample;

/// The parameters of SIMD8 and SIMD16 in the order of the message.
fn scalar_layout(op: SampleOp) -> &'static [Parameter] {
    match op {
        SampleOp::Sample | SampleOp::Gather | SampleOp::Lod => &[U, V, R, I],
        SampleOp::Bias | SampleOp::Level => &[Level, U, V, R, I],
        SampleOp::Compare | SampleOp::GatherCompare => &[Reference, U, V, R, I],
        SampleOp::BiasCompare | SampleOp::LevelCompare => &[Reference, Level, U, V, R, I],
        SampleOp::Gradient => &[
            U,
            Gradient(0, 0),
            Gradient(0, 1),
            V,
            Gradient(1, 0),
            Gradient(1, 1),
            R,
            Gradient(2, 0),
            Gradient(2, 1),
            I,
        ],
        SampleOp::GradientCompare => &[
            Reference,
            U,
            Gradient(0, 0),
            Gradient(0, 1),
            V,
            Gradient(1, 0),
            Gradient(1, 1),
            R,
            Gradient(2, 0),
            Gradient(2, 1),
            I,
        ],
        SampleOp::Load => &[U, Level, V, R],
        SampleOp::ResourceInfo => &[Level],
        SampleOp::SampleInfo => &[],
        SampleOp::GatherOffset => &[U, V, Offset(0), Offset(1), R, I],
        SampleOp::GatherOffsetCompare => &[Reference, U, V, Offset(0), Offset(1), R, I],
        SampleOp::LoadMcs => &[U, V, R, Level],
        SampleOp::LoadMultisample => &[SAMPLE, Mcs, U, V, R, Level],
        SampleOp::LoadUncompressed => &[SAMPLE, U, V, R, Level],
    }
}

/// The parameters of SIMD4x2 in the order of components and registers.
fn vector_layout(op: SampleOp) -> &'static [Parameter] {
    match op {
        SampleOp::Sample | SampleOp::Gather | SampleOp::Lod => &[U, V, R, I],
        SampleOp::Bias | SampleOp::Level => &[U, V, R, I, Level],
        SampleOp::Compare | SampleOp::GatherCompare => &[U, V, R, I, Reference],
        SampleOp::BiasCompare | SampleOp::LevelCompare => &[U, V, R, I, Reference, Level],
        SampleOp::Gradient | SampleOp::GradientCompare => &[
            U,
            V,
            R,
            I,
            Gradient(0, 0),
            Gradient(0, 1),
            Gradient(1, 0),
            Gradient(1, 1),
            Gradient(2, 0),
            Gradient(2, 1),
            Reference,
        ],
        SampleOp::Load | SampleOp::LoadMcs => &[U, V, R, Level],
        SampleOp::ResourceInfo => &[Level],
        SampleOp::SampleInfo => &[],
        SampleOp::GatherOffset => &[U, V, R, Unused, Offset(0), Offset(1)],
        SampleOp::GatherOffsetCompare => &[U, V, R, Reference, Offset(0), Offset(1)],
        SampleOp::LoadMultisample => &[U, V, R, Level, SAMPLE, Mcs],
        SampleOp::LoadUncompressed => &[U, V, R, Level, SAMPLE],
    }
}

impl Sample {
    /// Returns the parameters by their meaning.
    pub fn arguments(&self) -> SampleArguments {
        let layout = if self.simd == Simd::X4x2 { vector_layout(self.op) } else { scalar_layout(self.op) };
        let mut arguments = SampleArguments::default();
        for (parameter, lanes) in layout.iter().zip(&self.parameters) {
            let place = match *parameter {
                Coordinate(index) => &mut arguments.coordinates[index],
                Reference => &mut arguments.reference,
                Level => &mut arguments.level,
                Gradient(coordinate, axis) => &mut arguments.gradients[coordinate][axis],
                Offset(index) => &mut arguments.offset[index],
                Parameter::Sample => &mut arguments.sample,
                Mcs => &mut arguments.mcs,
                Unused => continue,
            };
            *place = *lanes;
        }
        arguments
    }
}

//! Compiled programs: words, and the facts that a loader needs.
//!
//! Registers of the interface have the numbers of the compiler's input (TGSI's registers). Uniform buffer n is constant
//! buffer n of that input; rows are four words.

use serde::{Deserialize, Serialize};
use tgsi_environment::SamplerDim;

use crate::isa::Chip;

/// The stage of a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Vertices.
    Vertex,
    /// Fragments.
    Fragment,
    /// Compute.
    Compute,
}

/// A row of a uniform buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct UniformRow {
    /// The number of the buffer in load instructions.
    pub buffer: u32,
    /// The row.
    pub row: u32,
}

/// A value that the loader computes for each draw or dispatch. It is a row of the buffer of system values.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SystemRow {
    /// Of a storage buffer: the address in x (low word) and y, the size in bytes in z.
    StorageBuffer(u32),
    /// Of a level of a texture: width, height and depth as integers, with the layers after the last dimension; the
    /// number of levels in w. A level or texture that does not exist has sizes of 0.
    TextureSize {
        /// The number of the texture.
        texture: u32,
        /// The level, 0 to 15.
        level: u32,
    },
    /// Of a texture: the number of samples in x.
    TextureSamples(u32),
    /// Of an image: width, height and depth, with the layers after the last dimension; the number of samples in w.
    ImageSize(u32),
    /// Of a buffer of hardware atomic counters: the address in x (low word) and y.
    Counters(u32),
    /// The numbers of workgroups in x, y and z.
    Workgroups,
    /// The sizes of a workgroup in x, y and z, if the program has none.
    WorkgroupSize,
    /// The first vertex in x, the first instance in y, the number of the draw in z, and in w the first vertex if the
    /// draw has indices, otherwise 0.
    Draw,
    /// The position of a sample, 0 to 7, in the pixel, in x and y.
    SamplePosition(u32),
    /// Zeros, for resources that do not exist.
    Zero,
}

/// The source or target of a varying or attribute.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Slot {
    /// A register of the interface.
    Register(u32),
    /// Of fragments: the position, as the interface of the language defines it.
    FragCoord,
    /// Of fragments: 0 for the back, otherwise the front, in x.
    FrontFace,
    /// Of fragments: the coordinate in the point, in x and y.
    PointCoord,
    /// Of fragments: the number of the primitive, in x.
    PrimitiveId,
    /// Of vertices: the number of the vertex, with the first vertex, in x.
    VertexId,
    /// Of vertices: the number of the instance, without the first instance, in x.
    InstanceId,
}

/// An entry of the tables of attributes and varyings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Varying {
    /// The number in instructions.
    pub number: u32,
    /// The source or target.
    pub slot: Slot,
    /// The slot of the language ([`tgsi_ir::slots`]).
    pub location: i32,
    /// Components that are accessed, bit 0 = x.
    pub mask: u8,
}

/// A result of a fragment.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FragmentResult {
    /// The colour of a render target.
    Colour(u32),
    /// The depth.
    Depth,
    /// The stencil value.
    Stencil,
}

/// An output register of a fragment program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FragmentOutput {
    /// The register of the interface.
    pub register: u32,
    /// The result.
    pub result: FragmentResult,
    /// The component of the register that is the result's first.
    pub component: u8,
    /// Components of the interface's register that are written, bit 0 = x.
    pub mask: u8,
}

/// The dimensions of a texture or image.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimensions {
    /// One.
    D1,
    /// Two.
    D2,
    /// Three.
    D3,
    /// A cube.
    Cube,
    /// Two, with coordinates in texels.
    Rect,
    /// A buffer.
    Buffer,
    /// Two, with several samples.
    Multisampled,
}

impl From<SamplerDim> for Dimensions {
    fn from(dim: SamplerDim) -> Dimensions {
        match dim {
            SamplerDim::Dim1D => Dimensions::D1,
            SamplerDim::Dim2D | SamplerDim::External | SamplerDim::Subpass => Dimensions::D2,
            SamplerDim::Dim3D => Dimensions::D3,
            SamplerDim::Cube => Dimensions::Cube,
            SamplerDim::Rect => Dimensions::Rect,
            SamplerDim::Buf => Dimensions::Buffer,
            SamplerDim::Ms | SamplerDim::SubpassMs => Dimensions::Multisampled,
        }
    }
}

impl From<Dimensions> for SamplerDim {
    fn from(dimensions: Dimensions) -> SamplerDim {
        match dimensions {
            Dimensions::D1 => SamplerDim::Dim1D,
            Dimensions::D2 => SamplerDim::Dim2D,
            Dimensions::D3 => SamplerDim::Dim3D,
            Dimensions::Cube => SamplerDim::Cube,
            Dimensions::Rect => SamplerDim::Rect,
            Dimensions::Buffer => SamplerDim::Buf,
            Dimensions::Multisampled => SamplerDim::Ms,
        }
    }
}

/// A texture or an image that a program accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Texture {
    /// The number in instructions, which is the number of the unit.
    pub number: u32,
    /// The dimensions.
    pub dimensions: Dimensions,
    /// Whether there are layers.
    pub is_array: bool,
}

/// A program.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Program {
    /// The chip.
    pub chip: Chip,
    /// The stage.
    pub stage: Stage,
    /// The words. The tag of the first bundle, for the descriptor of the program, is in the lowest four bits.
    pub words: Vec<u32>,
    /// Work registers that are used, at most 16.
    pub work_registers: u8,
    /// Rows of uniform buffers in registers: the first is r23, the second r22.
    pub uniforms: Vec<UniformRow>,
    /// The number of the uniform buffer with the system values.
    pub system_buffer: u32,
    /// The rows of that buffer.
    pub system_rows: Vec<SystemRow>,
    /// Attributes of vertex programs, varyings of fragment programs.
    pub inputs: Vec<Varying>,
    /// Varyings of vertex programs.
    pub outputs: Vec<Varying>,
    /// Results of fragment programs.
    pub results: Vec<FragmentOutput>,
    /// Textures, by number.
    pub textures: Vec<Texture>,
    /// Images, by number: entries of the table of attributes.
    pub images: Vec<Texture>,
    /// The bytes of storage that each thread has.
    pub stack: u32,
    /// The bytes of storage that each workgroup has.
    pub shared: u32,
    /// The size of a workgroup, if the program states it.
    pub workgroup: Option<[u32; 3]>,
    /// Whether fragments are discarded.
    pub discards: bool,
}

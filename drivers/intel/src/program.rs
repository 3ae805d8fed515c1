//! Compiled programs: words, and the facts that a driver of the hardware needs. They are those of Mesa's `prog_data`.
//!
//! # Vertex programs
//!
//! A thread processes two vertices ("dual object"): a register holds four components of the first one, then four of the
//! second one. Registers at the start of a thread:
//!
//! | registers | contents |
//! |---|---|
//! | g0 | the header: handles of both vertex entries in dwords 0 and 1, the scratch space in dword 5 |
//! | from [`Kernel::dispatch_start`] on | [`Kernel::push`], two vectors in a register |
//! | next | attributes in the order of [`VertexInterface::inputs`], one in a register, then those of the system values |
//!
//! The program writes the vertex entries (VUE) by messages with interleaved vectors, the last of which ends the thread.
//!
//! # Fragment programs
//!
//! A thread processes two quads (SIMD8): a register holds a value for each of eight fragments. Lane 0 of a quad is top
//! left, lane 1 top right, lane 2 bottom left. Registers at the start of a thread:
//!
//! | registers | contents |
//! |---|---|
//! | g0 | the header: bit 15 of dword 0 is set for the back of primitives, bits 6 and 7 are the number of the first pair of samples; bits 16 to 26 of word 1 the layer; dword 5 the scratch space |
//! | g1 | the coordinates of the first pixel of each quad, x and y, in words 4 to 7; the mask of fragments that are not helpers in word 14 |
//! | next | the parts of [`FragmentPayload`] |
//! | from [`Kernel::dispatch_start`] on | [`Kernel::push`], two vectors in a register |
//! | next | the attributes in the order of [`FragmentInterface::inputs`], two registers for each |
//!
//! Component c of an attribute is the plane in four dwords from dword `4 * (c % 2)` of register `c / 2` on: the
//! differences of the second and of the third vertex to the first one, a dword without use, the value at the first one.
//!
//! The last message to a render target ends the thread.
//!
//! # All programs
//!
//! Registers of the interface have the numbers of the compiler's input (TGSI's registers). A uniform is a register of
//! constant buffer 0.

mod fragment;

use serde::{Deserialize, Serialize};
use tgsi_environment::SamplerDim;
use tgsi_ir::Shader;

use crate::isa::Chip;

pub use fragment::{
    Barycentrics, DEPTH_OUTPUT, FragmentInterface, FragmentPayload, FragmentProgram, FragmentSystemValues,
    SAMPLE_MASK_OUTPUT, SECOND_COLOUR_OUTPUT,
};

/// The surfaces of a program, by their places in the binding table: render targets, textures, constant buffers, storage
/// buffers, atomic counters, images. One surface without memory (null) follows each of the last four kinds, for
/// accesses to buffers and images that do not exist.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Bindings {
    /// The number of render targets, which come first; other programs than those of fragments have none.
    pub targets: u8,
    /// The place of the first texture; others follow. The sampler of a texture has the number of its unit.
    pub textures_start: u8,
    /// The number of textures.
    pub textures: u8,
    /// The place of constant buffer 0, whose vectors are elements of four floats; others follow.
    pub constants_start: u8,
    /// The number of constant buffers.
    pub constants: u8,
    /// The place of the first storage buffer, a raw buffer; others follow.
    pub buffers_start: u8,
    /// The number of storage buffers.
    pub buffers: u8,
    /// The place of the first buffer of atomic counters, a raw buffer; others follow.
    pub counters_start: u8,
    /// The number of buffers of atomic counters.
    pub counters: u8,
    /// The place of the first image; others follow.
    pub images_start: u8,
    /// The number of images.
    pub images: u8,
}

impl Bindings {
    /// Assigns places to the surfaces of a shader with a number of render targets. At least `units` places
    /// are for textures, and as many for images.
    pub(crate) fn of(shader: &Shader, targets: u8, units: u8) -> Bindings {
        const MOST: u32 = 48;
        let byte = |count: u32| count.min(MOST) as u8;
        let info = &shader.info;
        let textures = byte(info.num_textures);
        let constants = byte(info.num_ubos.saturating_add(info.first_ubo_buffer()).max(1));
        let constants_start = targets + textures.max(units) + u8::from(units != 0);
        let buffers_start = constants_start + constants + 1;
        let buffers = byte(info.num_ssbos);
        let counters_start = buffers_start + buffers + 1;
        Bindings {
            targets,
            textures_start: targets,
            textures,
            constants_start,
            constants,
            buffers_start,
            buffers,
            counters_start,
            counters: COUNTER_BUFFERS,
            images_start: counters_start + COUNTER_BUFFERS + 1,
            images: byte(info.num_images).max(units),
        }
    }

    /// The first surface of the kind of one, and their number. The next one has no memory.
    pub(crate) fn section(&self, surface: u8) -> (u8, u8) {
        let sections = [
            (self.images_start, self.images),
            (self.counters_start, self.counters),
            (self.buffers_start, self.buffers),
            (self.constants_start, self.constants),
        ];
        sections.into_iter().find(|(start, _)| *start <= surface).unwrap_or((surface, 0))
    }

    /// The place of a constant buffer.
    pub fn constants(&self, buffer: u32) -> u8 {
        self.constants_start.saturating_add(buffer.min(LAST_SURFACE.into()) as u8).min(LAST_SURFACE)
    }

    /// The place of a storage buffer.
    pub fn buffers(&self, buffer: u32) -> u8 {
        self.buffers_start.saturating_add(buffer.min(LAST_SURFACE.into()) as u8).min(LAST_SURFACE)
    }

    /// The place of a buffer of atomic counters.
    pub fn counters(&self, buffer: u32) -> u8 {
        self.counters_start.saturating_add(buffer.min(LAST_SURFACE.into()) as u8).min(LAST_SURFACE)
    }
}

/// The number of buffers of atomic counters.
const COUNTER_BUFFERS: u8 = 8;

/// The last place of the binding table that programs use; the following ones have a special meaning.
const LAST_SURFACE: u8 = 239;

/// The dimension of a texture.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TextureKind {
    /// One dimension.
    D1,
    /// Two dimensions.
    D2,
    /// Three dimensions.
    D3,
    /// A cube.
    Cube,
    /// A rectangle, with coordinates in texels.
    Rect,
    /// A buffer.
    Buffer,
    /// Two dimensions, with several samples.
    Multisample,
}

impl TextureKind {
    /// The kind of textures and images of a dimension.
    pub(crate) fn of(dim: SamplerDim) -> Option<TextureKind> {
        Some(match dim {
            SamplerDim::Dim1D => TextureKind::D1,
            SamplerDim::Dim2D | SamplerDim::External => TextureKind::D2,
            SamplerDim::Dim3D => TextureKind::D3,
            SamplerDim::Cube => TextureKind::Cube,
            SamplerDim::Rect => TextureKind::Rect,
            SamplerDim::Buf => TextureKind::Buffer,
            SamplerDim::Ms => TextureKind::Multisample,
            _ => return None,
        })
    }
}

/// A texture that a program accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Texture {
    /// The unit.
    pub unit: u8,
    /// The dimension.
    pub kind: TextureKind,
    /// Whether it is an array.
    pub is_array: bool,
}

/// An input or output of a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Varying {
    /// The register of the interface.
    pub register: u32,
    /// The slot ([`tgsi_ir::slots`]): of vertex inputs an attribute, otherwise a varying.
    pub location: i32,
    /// The place: of vertex inputs the number of the attribute in the payload, of others the slot in the vertex entry.
    pub slot: u8,
    /// The component of the slot that is x.
    pub component: u8,
    /// Components of the interface's register that are read or written, bit 0 = x.
    pub mask: u8,
}

/// The code of a program, and what all stages need.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// The generation.
    pub chip: Chip,
    /// The words.
    pub words: Vec<u32>,
    /// General registers that are used: one more than the greatest.
    pub registers: u8,
    /// The first register with pushed constants.
    pub dispatch_start: u8,
    /// The registers of constant buffer 0 that are pushed, in order.
    pub push: Vec<u16>,
    /// Scratch space of a thread in bytes: 0 or a power of two from 1024 on.
    pub scratch: u32,
    /// The surfaces.
    pub bindings: Bindings,
    /// The textures, by unit.
    pub textures: Vec<Texture>,
}

impl Kernel {
    /// Registers of pushed constants.
    pub fn push_registers(&self) -> u8 {
        self.push.len().div_ceil(2).min(255) as u8
    }
}

/// System values of vertices, in further attributes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct VertexSystemValues {
    /// The attribute with the first vertex, the first instance, the number of the vertex from the first one on, and the
    /// number of the instance.
    pub vertex: Option<u8>,
    /// The attribute with the number of the draw, and all bits set if it is indexed. Programs for runs have the number
    /// of the vertex in its group in z.
    pub draw: Option<u8>,
}

/// The interface of a vertex program.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct VertexInterface {
    /// The inputs, by attribute.
    pub inputs: Vec<Varying>,
    /// System values.
    pub system_values: VertexSystemValues,
    /// Attributes in the payload, with those of system values.
    pub attributes: u8,
    /// The outputs.
    pub outputs: Vec<Varying>,
    /// For each slot of the vertex entry its varying, or -1.
    pub vue: Vec<i32>,
}

impl VertexInterface {
    /// The length of the input that the hardware reads, in registers of two attributes.
    pub fn read_length(&self) -> u8 {
        self.attributes.max(1).div_ceil(2)
    }

    /// The size of a vertex entry in units of 64 bytes: inputs and outputs share it.
    pub fn entry_size(&self) -> u8 {
        self.attributes.max(self.vue.len().min(255) as u8).div_ceil(4)
    }
}

/// A vertex program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct VertexProgram {
    /// The code.
    pub kernel: Kernel,
    /// Inputs and outputs.
    pub interface: VertexInterface,
}

/// How threads of a geometry program work on primitives.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dispatch {
    /// One primitive, in the first half of registers. Inputs have half a register each.
    Single,
    /// Two invocations for one primitive. Inputs have half a register each.
    DualInstance,
    /// Two primitives. Inputs have a register each.
    DualObject,
}

impl Dispatch {
    /// Whether inputs have half a register each.
    pub fn has_half_inputs(self) -> bool {
        self != Dispatch::DualObject
    }
}

/// The control data of vertices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Control {
    /// A bit, which ends the primitive after the vertex.
    Cut,
    /// Two bits, with the stream of the vertex. Primitives are points.
    Stream,
}

/// The interface of a geometry program.
///
/// Registers at the start of a thread: g0, with the handles of entries and the numbers of invocations (bits 27 to 31)
/// in dwords 0 and 1; the numbers of primitives in dwords 0 and 4 of g1, if the program reads them; pushed constants;
/// for each vertex [`GeometryInterface::read_length`] pairs of slots.
///
/// An entry has control data of [`GeometryInterface::control_size`] units, one or two bits for each vertex, then
/// vertices of [`GeometryInterface::vertex_size`] units. The message that ends the thread states the numbers of
/// vertices in dword 2 of its header.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GeometryInterface {
    /// How threads work on primitives.
    pub dispatch: Dispatch,
    /// The number of vertices of a primitive.
    pub vertices_in: u8,
    /// The number of invocations for each primitive.
    pub invocations: u8,
    /// The inputs.
    pub inputs: Vec<Varying>,
    /// For each slot of the vertex entries that are inputs its varying, or -1.
    pub input_vue: Vec<i32>,
    /// Whether the payload has numbers of primitives.
    pub has_primitive_id: bool,
    /// The outputs.
    pub outputs: Vec<Varying>,
    /// For each slot of a vertex its varying, or -1.
    pub vue: Vec<i32>,
    /// The maximum number of vertices.
    pub limit: u32,
    /// The size of a vertex in units of 32 bytes.
    pub vertex_size: u32,
    /// The control data, if there are any.
    pub control: Option<Control>,
    /// The size of the control data in units of 32 bytes.
    pub control_size: u32,
}

impl GeometryInterface {
    /// The pairs of slots of each vertex in the payload.
    pub fn read_length(&self) -> u8 {
        self.input_vue.len().div_ceil(2).min(255) as u8
    }

    /// The registers of inputs.
    pub fn input_registers(&self) -> u32 {
        let slots = u32::from(self.vertices_in) * u32::from(self.read_length()) * 2;
        if self.dispatch.has_half_inputs() { slots.div_ceil(2) } else { slots }
    }
}

/// A geometry program.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GeometryProgram {
    /// The code.
    pub kernel: Kernel,
    /// Inputs and outputs.
    pub interface: GeometryInterface,
}

/// A program of a stage.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "stage", rename_all = "lowercase")]
pub enum Program {
    /// A vertex program.
    Vertex(VertexProgram),
    /// A fragment program.
    Fragment(FragmentProgram),
    /// A geometry program.
    Geometry(GeometryProgram),
}

impl Program {
    /// The code.
    pub fn kernel(&self) -> &Kernel {
        match self {
            Program::Vertex(program) => &program.kernel,
            Program::Fragment(program) => &program.kernel,
            Program::Geometry(program) => &program.kernel,
        }
    }
}

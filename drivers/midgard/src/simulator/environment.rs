//! The surroundings of a run: inputs, memory, textures, images, the tile buffer, and results.

use crate::isa::LoadStoreRegister;
use crate::isa::texture::{Dimension, SamplerType, TextureMode, TextureOp};

use super::Registers;

/// Four words: bits of floats, or integers.
pub type Vec4 = [u32; 4];

/// The type of loaded or stored components, by the opcode.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// 32-bit floats.
    F32,
    /// 16-bit floats in registers; the environment gives and receives 32-bit floats.
    F16,
    /// Unsigned integers.
    U32,
    /// Signed integers.
    S32,
    /// Bits without conversion.
    Raw,
}

/// A load of an attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttributeLoad {
    /// The number of the thread.
    pub lane: usize,
    /// The number of the attribute. In Mesa, 16 is the number of the vertex and 17 that of the instance.
    pub index: u32,
    /// The vertex, if the instruction states one; otherwise the one of the thread.
    pub vertex: Option<u32>,
    /// The type.
    pub format: Format,
    /// Whether the type is that of the attribute.
    pub is_inferred: bool,
    /// Whether the second table of attributes is read.
    pub is_secondary: bool,
}

/// A load of a varying.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VaryingLoad {
    /// The number of the thread.
    pub lane: usize,
    /// The number of the varying.
    pub index: u32,
    /// The type.
    pub format: Format,
    /// Whether the value is that of the provoking vertex; the other modes are not used then.
    pub is_flat: bool,
    /// Whether interpolation is corrected for perspective.
    pub has_perspective: bool,
    /// Whether the value is taken at the centroid.
    pub is_centroid: bool,
    /// Whether the value is taken at the sample, if the program runs once a sample.
    pub is_sample: bool,
    /// Bits of a position in the pixel, four each.
    pub position: [u8; 2],
}

/// A store of a varying.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VaryingStore {
    /// The number of the thread.
    pub lane: usize,
    /// The number of the varying.
    pub index: u32,
    /// The type.
    pub format: Format,
    /// The value; 16-bit floats are converted to 32 bits.
    pub value: Vec4,
}

/// An access to a texel of an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageAccess {
    /// The number of the thread.
    pub lane: usize,
    /// The number of the image, in the table of attributes.
    pub image: u32,
    /// The coordinates, from 16 bits each; two of them are 0 if the instruction states two.
    pub coordinates: [u32; 4],
    /// The type.
    pub format: Format,
}

/// A load of the tile buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TileLoad {
    /// The number of the thread.
    pub lane: usize,
    /// The render target; 30 is stencil, 31 depth.
    pub target: u32,
    /// The sample.
    pub sample: u32,
    /// The type: floats, or [`Format::Raw`] for the bits in the buffer.
    pub format: Format,
}

/// A load of a special value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpecialLoad {
    /// The number of the thread.
    pub lane: usize,
    /// The selector. In Mesa, 96 is the mask of samples and 97 the number of the sample.
    pub selector: u32,
    /// The type.
    pub format: Format,
}

/// The operands of one thread of a texture fetch.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct TextureLane {
    /// Whether the result is written. Other threads of the quad have operands all the same.
    pub is_active: bool,
    /// The coordinates: floats, for fetches integers. The third one is also the reference or the sample, the fourth one
    /// the layer. For cubes, the first two are those of the face, from 0 to 1.
    pub coordinates: Vec4,
    /// For cubes, the direction from which the coordinates have been computed.
    pub direction: [f32; 3],
    /// For cubes, the face: +x, -x, +y, -y, +z, -z.
    pub face: u8,
    /// The level of detail or its bias, see [`TextureFetch::op`]: a float, for fetches an integer.
    pub lod: u32,
    /// The offset in texels.
    pub offset: [i32; 3],
}

/// A texture fetch of a quad of threads: 1 is right of 0, 2 below 0. Threads have the same texture and sampler.
#[derive(Clone, PartialEq, Debug)]
pub struct TextureFetch {
    /// The number of the first thread of the quad.
    pub first_lane: usize,
    /// The operation: [`TextureOp::Sample`] (level of detail by differences in the quad, with a bias),
    /// [`TextureOp::SampleGradient`] (level of detail by number) or [`TextureOp::Fetch`].
    pub op: TextureOp,
    /// Whether the tag is that of vertex programs, which have no differences.
    pub is_vertex: bool,
    /// Filter, comparison or gathered component.
    pub mode: TextureMode,
    /// The dimensions.
    pub dimension: Dimension,
    /// The type of texels.
    pub sampler_type: SamplerType,
    /// The texture.
    pub texture: u32,
    /// The sampler.
    pub sampler: u32,
    /// The operands of each thread.
    pub lanes: [TextureLane; 4],
}

/// A colour, depth or stencil that a fragment writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WriteOut {
    /// The number of the thread.
    pub lane: usize,
    /// The render target.
    pub target: u32,
    /// The sample.
    pub sample: u32,
    /// The colour, if it is written: r0.
    pub colour: Option<Vec4>,
    /// The depth, if it is written: r1.x.
    pub depth: Option<u32>,
    /// The stencil value, if it is written: r1.y.
    pub stencil: Option<u32>,
}

/// The surroundings of a run. Threads are numbered from 0 as in [`Launch`](super::Launch).
pub trait Environment {
    /// Sets initial values of registers of a thread, after uniforms have been set.
    fn preload(&mut self, _lane: usize, _registers: &mut Registers) {}

    /// Loads an attribute.
    fn attribute(&mut self, _load: &AttributeLoad) -> Vec4 {
        [0; 4]
    }

    /// Loads and interpolates a varying.
    fn varying(&mut self, _load: &VaryingLoad) -> Vec4 {
        [0; 4]
    }

    /// Stores a varying.
    fn store_varying(&mut self, _store: &VaryingStore) {}

    /// Loads the word with a number from a uniform buffer; words out of bounds are 0.
    fn uniform(&mut self, _lane: usize, _buffer: u32, _word: u32) -> u32 {
        0
    }

    /// Loads bytes of memory. Returns false if the address is invalid, which ends the run.
    fn load(&mut self, _lane: usize, _address: u64, _bytes: &mut [u8]) -> bool {
        false
    }

    /// Stores bytes to memory. Returns false if the address is invalid, which ends the run.
    fn store(&mut self, _lane: usize, _address: u64, _bytes: &[u8]) -> bool {
        false
    }

    /// Whether accesses of a thread to memory and images have effects, as those of discarded threads and helpers do
    /// not. Without effects, stores are dropped, atomic operations give 0, and addresses may be invalid.
    fn has_effects(&mut self, _lane: usize) -> bool {
        true
    }

    /// Executes a texture fetch. Returns the components for each thread.
    fn texture(&mut self, _fetch: &TextureFetch) -> [Vec4; 4] {
        [[0; 4]; 4]
    }

    /// Whether an address is in the storage of the thread, which threads without effects write, too.
    fn is_private(&self, _address: u64) -> bool {
        false
    }

    /// Loads a texel of an image.
    fn image_load(&mut self, _access: &ImageAccess) -> Vec4 {
        [0; 4]
    }

    /// Stores a texel of an image.
    fn image_store(&mut self, _access: &ImageAccess, _value: Vec4) {}

    /// Returns the address of a texel of an image.
    fn image_address(&mut self, _access: &ImageAccess) -> u64 {
        0
    }

    /// Loads a value of the tile buffer.
    fn tile_buffer(&mut self, _load: &TileLoad) -> Vec4 {
        [0; 4]
    }

    /// Loads a special value. `None` ends the run with [`Trap::Undefined`](super::Trap::Undefined).
    fn special(&mut self, _load: &SpecialLoad) -> Option<Vec4> {
        None
    }

    /// Returns a special register of the load/store unit: the program counter of the first bundle and the stack
    /// pointer, pointers to local storage, or the numbers of thread and workgroup. 64-bit pointers have two words, the
    /// low one first.
    fn system_register(&mut self, _lane: usize, _register: LoadStoreRegister) -> Vec4 {
        [0; 4]
    }

    /// Writes results of a fragment. Returns false if the tile buffer does not accept them; the program then branches.
    /// Accepted results are also in [`LaneResult::writes`](super::LaneResult::writes).
    fn write_out(&mut self, _write: &WriteOut) -> bool {
        true
    }

    /// Whether the tile buffer can be read.
    fn is_tile_buffer_ready(&mut self, _lane: usize) -> bool {
        true
    }
}

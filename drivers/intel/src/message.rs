//! Messages of vec4 programs.
//!
//! A source of the instruction is a register of the payload: a vector for each of two vertices. If the surface has a
//! run-time index, that is the last source, in x.

use tgsi_vec4::simple::Info;

/// A message to the sampler, which also loads constants.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct SamplerMessage {
    /// The operation.
    pub op: SamplerOp,
    /// The surface, by its place in the binding table.
    pub surface: u8,
    /// The sampler.
    pub sampler: u8,
    /// Word 2 of the header, if there is one: offsets of texels, the gathered component.
    pub header: Option<u32>,
    /// The components of each register of the payload.
    pub payload: [u8; 3],
    /// Whether the operation has a sampler.
    pub has_sampler: bool,
    /// Whether the surface has a run-time index, and the sampler the same one.
    pub is_indexed: bool,
}

/// An operation of the sampler, with vectors as parameters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SamplerOp {
    /// Coordinates; level.
    Level = 2,
    /// Coordinates; gradients of u and v; gradients of r.
    Gradient = 4,
    /// Coordinates; reference, level.
    LevelCompare = 6,
    /// Coordinates and level, integers.
    Load = 7,
    /// Coordinates.
    Gather = 8,
    /// Level.
    ResourceInfo = 10,
    /// None.
    SampleInfo = 11,
    /// Coordinates; reference.
    GatherCompare = 16,
    /// Coordinates; offsets.
    GatherOffset = 17,
    /// Coordinates, with the reference in w; offsets.
    GatherOffsetCompare = 18,
    /// Coordinates; gradients of u and v; gradients of r, reference.
    GradientCompare = 20,
    /// Coordinates, integers.
    LoadMcs = 29,
    /// Coordinates, integers; sample, word of the multisample control surface.
    LoadMultisample = 30,
}

/// An access to a storage buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BufferAccess {
    /// Loads words from a place in bytes on.
    Read {
        /// The number of words.
        words: u8,
    },
    /// Stores words from a place in bytes on. Sources: the place, the words.
    Write {
        /// The number of words.
        words: u8,
    },
    /// An atomic operation on a word. Sources: the place, the operands in x and y.
    Atomic {
        /// The number of the operation.
        op: u8,
        /// The number of operands.
        operands: u8,
        /// Whether the previous value is returned.
        returns: bool,
    },
}

/// A message to a storage buffer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BufferMessage {
    /// The access.
    pub access: BufferAccess,
    /// The surface, by its place in the binding table.
    pub surface: u8,
    /// Whether the surface has a run-time index.
    pub is_indexed: bool,
}

/// A message to a shared function, without its payload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Message {
    /// A message to the sampler.
    Sampler(SamplerMessage),
    /// A vector of the scratch space. The source has its place in x, for each vertex.
    ScratchRead,
    /// Stores a vector. Sources: the place, the vector.
    ScratchWrite {
        /// The components stored.
        mask: u8,
    },
    /// A message to a storage buffer.
    Buffer(BufferMessage),
    /// Writes the outputs of a geometry program as a vertex. The source has its place in x.
    EmitVertex,
    /// Writes control data of a geometry program. Sources: the word in all components; its row in x, the bits of the
    /// header of the first object in y, those of the second one in z.
    ControlData,
    /// Ends a geometry program. The source has the number of vertices in x.
    EndGeometry,
}

/// The first channels of a vector.
const fn channels(count: u8) -> u8 {
    (1 << count) - 1
}

impl BufferAccess {
    /// The components of both registers of the payload.
    pub fn payload(self) -> [u8; 2] {
        match self {
            BufferAccess::Read { .. } => [1, 0],
            BufferAccess::Write { words } => [1, channels(words)],
            BufferAccess::Atomic { operands, .. } => [1, channels(operands)],
        }
    }
}

impl Message {
    /// The load of a vector of a constant buffer. The source has the number of the vector in x.
    pub fn constant(surface: u8, is_indexed: bool) -> Message {
        let op = SamplerOp::Load;
        let payload = [1, 0, 0];
        Message::Sampler(SamplerMessage {
            op,
            surface,
            sampler: 0,
            header: None,
            payload,
            has_sampler: false,
            is_indexed,
        })
    }

    /// The facts that passes need.
    pub fn info(self) -> Info {
        // A response has all components, as write masks do not concern messages.
        let response = |reads: [u8; 4]| Info { stores_whole: true, ..Info::fixed(reads) };
        match self {
            Message::Sampler(message) => {
                let mut reads = [0; 4];
                let count = message.payload_sources();
                reads[..count].copy_from_slice(&message.payload[..count]);
                if message.is_indexed {
                    reads[count] = 1;
                }
                response(reads)
            }
            // Reads must not move across stores.
            Message::ScratchRead => Info { has_effect: true, ..response([0b0001, 0, 0, 0]) },
            Message::ScratchWrite { mask } => Info { has_effect: true, ..Info::fixed([0b0001, mask, 0, 0]) },
            Message::Buffer(message) => {
                let [place, data] = message.access.payload();
                let index = u8::from(message.is_indexed);
                let reads = if data == 0 { [place, index, 0, 0] } else { [place, data, index, 0] };
                Info { has_effect: true, ..response(reads) }
            }
            Message::EmitVertex => Info { has_effect: true, shows_outputs: true, ..Info::fixed([0b0001, 0, 0, 0]) },
            Message::ControlData => Info { has_effect: true, ..Info::fixed([0b1111, 0b0111, 0, 0]) },
            Message::EndGeometry => Info { has_effect: true, ..Info::fixed([0b0001, 0, 0, 0]) },
        }
    }

    /// The maximum number of registers of the payload.
    pub fn payload_registers(self) -> u8 {
        match self {
            Message::Sampler(message) => u8::from(message.header.is_some()) + message.payload_sources() as u8,
            Message::ScratchRead => 2,
            Message::ScratchWrite { .. } => 3,
            // With a register for each word on Gen7.
            Message::Buffer(_) => 5,
            Message::ControlData => 2,
            // Outputs are in their payload.
            Message::EmitVertex | Message::EndGeometry => 0,
        }
    }
}

impl SamplerMessage {
    /// The number of sources that are registers of the payload.
    pub fn payload_sources(&self) -> usize {
        self.payload.iter().take_while(|&&channels| channels != 0).count()
    }
}

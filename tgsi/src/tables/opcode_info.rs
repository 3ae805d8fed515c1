//! The columns of the opcode table.

/// The type of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OperandType {
    /// No such operand.
    None,
    /// Bits; modifiers act as on floats.
    Untyped,
    /// 32-bit float.
    Float,
    /// 32-bit signed integer.
    Int,
    /// 32-bit unsigned integer.
    Uint,
    /// 64-bit float in a channel pair.
    Double,
    /// 64-bit signed integer in a channel pair.
    Int64,
    /// 64-bit unsigned integer in a channel pair.
    Uint64,
}

impl OperandType {
    /// Whether a value takes a pair of channels.
    pub const fn is_64bit(self) -> bool {
        matches!(self, OperandType::Double | OperandType::Int64 | OperandType::Uint64)
    }

    /// Whether absolute value and negation act on the float sign bit.
    pub const fn is_float(self) -> bool {
        matches!(self, OperandType::Float | OperandType::Untyped | OperandType::Double)
    }
}

/// The dependence of result channels on source channels.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OutputMode {
    /// Channel c of the result depends on channel c of the (swizzled) sources.
    Componentwise,
    /// One result, written to every enabled channel.
    Replicate,
    /// Every channel has its own formula.
    ChannelDependent,
    /// Texture results, memory loads and similar.
    Other,
    /// No destination.
    NoOutput,
}

/// The effect of an opcode on control-flow blocks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BlockPart {
    /// A block begins after it.
    Opens,
    /// The next part of the innermost block begins after it.
    Divides,
    /// The innermost block ends with it.
    Closes,
}

/// The kind of an opcode: determines the part of an executor or of the conversion that handles it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Blocks, jumps, calls.
    Control,
    /// 32-bit floats.
    Float,
    /// 32-bit integers, and conversions between them and floats.
    Integer,
    /// 64-bit values, and conversions to and from them.
    Wide,
    /// Several small numbers in one word.
    Packing,
    /// Other lanes, or the state of a lane.
    Lanes,
    /// Lookups and queries of textures.
    Texture,
    /// Buffers, images, shared memory, counters, barriers.
    Memory,
    /// Emission of vertices and primitives.
    Geometry,
}

/// A row of the opcode table.
#[derive(Debug)]
#[non_exhaustive]
pub struct OpcodeInfo {
    /// Mnemonic without suffixes.
    pub name: &'static str,
    /// Number of destination operands, 0 or 1.
    pub num_dst: u8,
    /// Number of source operands, 0 to 5.
    pub num_src: u8,
    /// Type of the destination; `None` without one.
    pub dst_type: OperandType,
    /// Types of the sources, `num_src` long.
    pub src_types: &'static [OperandType],
    /// The dependence of result channels on source channels.
    pub output_mode: OutputMode,
    /// Has a texture target in text, and a texture word.
    pub is_tex: bool,
    /// Writes memory: stores and atomics.
    pub is_store: bool,
    /// May have a label in text.
    pub is_branch: bool,
    /// Sampler-era opcode that has a texture word (target unknown) without a target in text.
    pub is_sample_family: bool,
    /// Has a memory word when parsed from text.
    pub has_memory: bool,
    /// The effect on control-flow blocks, or none for straight-line code.
    pub block: Option<BlockPart>,
    /// Printed one level less indented.
    pub dedents: bool,
    /// The instructions after it are printed one level deeper.
    pub indents: bool,
}

//! Instructions and their operands.

use arrayvec::ArrayVec;

use crate::operands::Operands;
use crate::tables::{File, MemoryQualifiers, Opcode, PixelFormat, ReturnType, TextureTarget};
use tgsi_diagnostics::Span;

/// Destinations of an instruction.
pub type Destinations = Operands<Dst, 1, 2>;

/// Sources of an instruction.
pub type Sources = Operands<Src, 3, 5>;

/// An instruction.
#[derive(Clone, PartialEq, Debug)]
pub struct Instruction {
    /// Opcode.
    pub opcode: Opcode,
    /// Clamp results to [0, 1].
    pub saturate: bool,
    /// Forbid optimisations that change the value.
    pub precise: bool,
    /// Label word: an instruction number.
    pub label: Option<u32>,
    /// Texture word.
    pub texture: Option<Box<InstructionTexture>>,
    /// Memory word.
    pub memory: Option<InstructionMemory>,
    /// Destinations.
    pub dst: Destinations,
    /// Sources.
    pub src: Sources,
    /// The position in the source, from the mnemonic on, without the number label.
    pub span: Span,
}

impl Instruction {
    /// An instruction without operands.
    pub fn new(opcode: Opcode) -> Instruction {
        Instruction {
            opcode,
            saturate: false,
            precise: false,
            label: None,
            texture: None,
            memory: None,
            dst: Destinations::new(),
            src: Sources::new(),
            span: Span::default(),
        }
    }

    /// An instruction with operands.
    ///
    /// # Panics
    /// If there are more than an instruction can have.
    pub fn with_operands(opcode: Opcode, dst: impl Into<Option<Dst>>, src: &[Src]) -> Instruction {
        let mut instruction = Instruction::new(opcode);
        instruction.dst.extend(dst.into());
        instruction.src.extend(src.iter().copied());
        instruction
    }

    /// The registers of the operands: destinations, then sources.
    pub fn registers(&self) -> impl Iterator<Item = &Register> {
        self.dst.iter().map(|dst| &dst.register).chain(self.src.iter().map(|src| &src.register))
    }

    /// The registers of the operands, to be changed.
    pub fn registers_mut(&mut self) -> impl Iterator<Item = &mut Register> {
        self.dst.iter_mut().map(|dst| &mut dst.register).chain(self.src.iter_mut().map(|src| &mut src.register))
    }
}

/// Texture word of an instruction with its offsets.
#[derive(Clone, PartialEq, Debug)]
pub struct InstructionTexture {
    /// Target; `UNKNOWN` for the sampler-era opcodes.
    pub target: TextureTarget,
    /// Return type; text does not show it and reads it as `UNKNOWN`.
    pub return_type: ReturnType,
    /// Texel offsets.
    pub offsets: ArrayVec<TextureOffset, 4>,
}

impl InstructionTexture {
    /// The word of a target, as text makes it.
    pub fn new(target: TextureTarget) -> InstructionTexture {
        InstructionTexture { target, return_type: ReturnType::Unknown, offsets: ArrayVec::new() }
    }
}

/// A texel offset operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TextureOffset {
    /// Register file, usually `IMM`.
    pub file: File,
    /// Register index, -32768 to 32767.
    pub index: i32,
    /// Components that supply the x, y and z offset.
    pub swizzle: [u8; 3],
    /// The position in the source.
    pub span: Span,
}

impl TextureOffset {
    /// Creates an offset from the first three channels of a source.
    pub fn from_source(source: Src) -> TextureOffset {
        let Src { register: Register { file, index, .. }, swizzle: [x, y, z, _], .. } = source;
        TextureOffset { file, index, swizzle: [x, y, z], span: Span::default() }
    }
}

/// Memory word of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InstructionMemory {
    /// Qualifier bits.
    pub qualifiers: MemoryQualifiers,
    /// Target, images only (`BUFFER` otherwise).
    pub target: TextureTarget,
    /// Format, images only.
    pub format: PixelFormat,
}

impl Default for InstructionMemory {
    fn default() -> Self {
        InstructionMemory {
            qualifiers: MemoryQualifiers::default(),
            target: TextureTarget::Buffer,
            format: PixelFormat::NONE,
        }
    }
}

/// A register reference: what destinations and sources have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Register {
    /// File.
    pub file: File,
    /// Index, or the constant part of an indirect one: -32768 to 32767.
    pub index: i32,
    /// Run-time part of the index.
    pub indirect: Option<Indirect>,
    /// Outer index.
    pub dimension: Option<Dimension>,
}

impl Register {
    /// A directly addressed register.
    pub const fn new(file: File, index: i32) -> Register {
        Register { file, index, indirect: None, dimension: None }
    }

    /// A directly addressed register of a two-dimensional file.
    pub const fn new_2d(file: File, outer: i32, index: i32) -> Register {
        Register { file, index, indirect: None, dimension: Some(Dimension { index: outer, indirect: None }) }
    }

    /// Whether an index has a part of run time.
    pub fn is_indirect(&self) -> bool {
        self.indirect.is_some() || self.dimension.is_some_and(|dimension| dimension.indirect.is_some())
    }
}

/// Outer index of a two-dimensional register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Dimension {
    /// Index, or the constant part of an indirect one: -32768 to 32767.
    pub index: i32,
    /// Run-time part.
    pub indirect: Option<Indirect>,
}

/// Run-time part of an index: a component of a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct Indirect {
    /// File of the register that holds the index, normally `ADDR`.
    pub file: File,
    /// Its index.
    pub index: i32,
    /// Its component, 0 to 3.
    pub component: u8,
    /// Declared array that is addressed; 0 = any register of the file.
    pub array_id: u16,
}

/// A destination operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Dst {
    /// Register.
    pub register: Register,
    /// Components written, bit 0 = x.
    pub write_mask: u8,
    /// The position in the source.
    pub span: Span,
}

impl Dst {
    /// All components of `register`.
    pub const fn new(register: Register) -> Dst {
        Dst { register, write_mask: 0xf, span: Span { start: 0, end: 0 } }
    }

    /// Replaces the write mask.
    pub const fn masked(mut self, write_mask: u8) -> Dst {
        self.write_mask = write_mask;
        self
    }
}

/// A source operand. Its value is `negate(absolute(register.swizzle))`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Src {
    /// Register.
    pub register: Register,
    /// Component read for x, y, z, w.
    pub swizzle: [u8; 4],
    /// Take the absolute value, before negation.
    pub absolute: bool,
    /// Negate.
    pub negate: bool,
    /// The position in the source.
    pub span: Span,
}

impl Src {
    /// `register` with the identity swizzle.
    pub const fn new(register: Register) -> Src {
        Src { register, swizzle: [0, 1, 2, 3], absolute: false, negate: false, span: Span { start: 0, end: 0 } }
    }

    /// Replaces the swizzle.
    pub const fn swizzled(mut self, swizzle: [u8; 4]) -> Src {
        self.swizzle = swizzle;
        self
    }
}

//! The typed shader: text and tokens are parsed into it and printed from it.
//!
//! The items of a shader (declarations, immediates, properties, instructions) are stored in one vector per kind, in
//! stream order; [`Shader::order`] records how the kinds interleave, because texts and tokens may mix them. Immediates
//! are numbered by their index in [`Shader::immediates`], instructions by their index in [`Shader::instructions`];
//! labels are instruction numbers.
//!
//! Invariants: `order` names every item exactly once, each kind in ascending order; every operand count matches the
//! opcode table unless the shader was decoded from tokens with other counts (the check reports that).

mod instruction;

use std::collections::BTreeSet;

use arrayvec::ArrayVec;

pub use crate::operands::{OperandCountError, Operands};
use crate::tables::{
    File, ImmediateType, Interpolation, InterpolationLocation, MemoryType, Opcode, PixelFormat, Processor,
    PropertyName, ReturnType, Semantic, TextureTarget,
};
pub use instruction::{
    Destinations, Dimension, Dst, Indirect, Instruction, InstructionMemory, InstructionTexture, Register, Sources, Src,
    TextureOffset,
};
use tgsi_diagnostics::Span;

/// A shader of one stage.
#[derive(Clone, PartialEq, Debug)]
pub struct Shader {
    /// The stage.
    pub processor: Processor,
    /// The position of the stage in the source.
    pub processor_span: Span,
    /// The kinds of the items in stream order.
    pub order: Vec<ItemKind>,
    /// Declarations in stream order.
    pub declarations: Vec<Declaration>,
    /// Immediates in stream order; the index is the register index in file `IMM`.
    pub immediates: Vec<Immediate>,
    /// Properties in stream order.
    pub properties: Vec<Property>,
    /// Instructions in stream order; the index is the instruction number that labels use.
    pub instructions: Vec<Instruction>,
    /// The differences between the words that this shader was decoded from and the words that it encodes to: other
    /// sizes, padding bits. A pair `(word, bits)` means that `bits` is xored into the word. Empty unless decoded from
    /// such a stream; edits must clear it ([`Shader::forget_encoding`]).
    pub encoding_quirks: Vec<(u32, u32)>,
    /// Mnemonics and numbers of the instructions in the text, where they differ from those of the shader.
    pub written: Written,
}

/// Mnemonics and numbers of instructions in the text that a shader was read from, for messages: an old instruction is
/// rewritten to one or several current ones. Not part of the meaning of the shader: all values compare equal.
#[derive(Clone, Default, Debug)]
pub struct Written {
    /// For each instruction of the text, the first instruction of the shader that it became. Empty if the numbers are
    /// the same.
    pub(crate) numbers: Vec<u32>,
    /// Old mnemonics, in ascending order of the number of the instruction in the shader.
    pub(crate) names: Vec<(u32, &'static str)>,
}

impl PartialEq for Written {
    fn eq(&self, _: &Written) -> bool {
        true
    }
}

impl Written {
    /// Returns the number that an instruction has in the text.
    pub(crate) fn number(&self, number: u32) -> u32 {
        match self.numbers.partition_point(|&first| first <= number) {
            0 => number,
            // Instructions that were removed have the number of the next one.
            after => self.numbers.partition_point(|&first| Some(&first) < self.numbers.get(after - 1)) as u32,
        }
    }

    /// Returns the mnemonic that an instruction with this opcode has in the text.
    pub(crate) fn mnemonic(&self, number: u32, opcode: Opcode) -> &'static str {
        let found = self.names.binary_search_by_key(&number, |&(number, _)| number).ok();
        found.and_then(|at| self.names.get(at)).map_or(opcode.name(), |&(_, name)| name)
    }
}

/// The kind of an item of the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum ItemKind {
    /// The next of [`Shader::declarations`].
    Declaration,
    /// The next of [`Shader::immediates`].
    Immediate,
    /// The next of [`Shader::properties`].
    Property,
    /// The next of [`Shader::instructions`].
    Instruction,
}

/// A borrowed item of the stream, with its index within its kind.
#[derive(Clone, Copy, Debug)]
pub enum ShaderItem<'a> {
    /// A declaration.
    Declaration(usize, &'a Declaration),
    /// An immediate.
    Immediate(usize, &'a Immediate),
    /// A property.
    Property(usize, &'a Property),
    /// An instruction.
    Instruction(usize, &'a Instruction),
}

impl Shader {
    /// Creates an empty shader.
    pub fn new(processor: Processor) -> Shader {
        Shader {
            processor,
            processor_span: Span::default(),
            order: Vec::new(),
            declarations: Vec::new(),
            immediates: Vec::new(),
            properties: Vec::new(),
            instructions: Vec::new(),
            encoding_quirks: Vec::new(),
            written: Written::default(),
        }
    }

    /// Returns the buffers with declared counters.
    pub fn counter_buffers(&self) -> BTreeSet<u16> {
        let counters = self.declarations.iter().filter(|declaration| declaration.file == File::HwAtomic);
        counters.map(|declaration| declaration.dimension.unwrap_or(0)).collect()
    }

    /// Appends a declaration.
    pub fn push_declaration(&mut self, declaration: Declaration) {
        self.order.push(ItemKind::Declaration);
        self.declarations.push(declaration);
    }

    /// Inserts declarations before the first instruction.
    pub fn insert_declarations(&mut self, declarations: impl ExactSizeIterator<Item = Declaration>) {
        let at = self.first_instruction();
        let before = self.order[..at].iter().filter(|&&kind| kind == ItemKind::Declaration).count();
        self.order.splice(at..at, std::iter::repeat_n(ItemKind::Declaration, declarations.len()));
        self.declarations.splice(before..before, declarations);
    }

    /// Returns the index of the first instruction among the items.
    pub fn first_instruction(&self) -> usize {
        self.order.iter().position(|&kind| kind == ItemKind::Instruction).unwrap_or(self.order.len())
    }

    /// Appends an immediate and returns its register index in file `IMM`.
    pub fn push_immediate(&mut self, immediate: Immediate) -> u32 {
        self.order.push(ItemKind::Immediate);
        self.immediates.push(immediate);
        self.immediates.len() as u32 - 1
    }

    /// Appends a property.
    pub fn push_property(&mut self, property: Property) {
        self.order.push(ItemKind::Property);
        self.properties.push(property);
    }

    /// Appends an instruction and returns its number.
    #[inline]
    pub fn push_instruction(&mut self, instruction: Instruction) -> u32 {
        self.order.push(ItemKind::Instruction);
        if self.instructions.len() == self.instructions.capacity() && self.instructions.len() >= 1 << 12 {
            self.make_room();
        }
        self.instructions.push(instruction);
        self.instructions.len() as u32 - 1
    }

    /// Triples the capacity. A copy that is left behind has been written and so stays resident, but unused capacity is
    /// never touched.
    #[cold]
    fn make_room(&mut self) {
        self.instructions.reserve_exact(3 * self.instructions.len());
    }

    /// Restores the canonical order of the stream: properties, declarations, immediates, instructions. Must be called
    /// after the lists themselves were edited.
    pub fn order_by_kind(&mut self) {
        let counts = [
            (ItemKind::Property, self.properties.len()),
            (ItemKind::Declaration, self.declarations.len()),
            (ItemKind::Immediate, self.immediates.len()),
            (ItemKind::Instruction, self.instructions.len()),
        ];
        self.order = counts.into_iter().flat_map(|(kind, count)| std::iter::repeat_n(kind, count)).collect();
    }

    /// Forgets how the decoded stream was encoded; must be called after an edit.
    pub fn forget_encoding(&mut self) {
        self.encoding_quirks.clear();
        self.written = Written::default();
    }

    /// All items in stream order.
    pub fn items(&self) -> impl Iterator<Item = ShaderItem<'_>> {
        let mut next = [0usize; 4];
        self.order.iter().filter_map(move |&kind| {
            let slot = &mut next[kind as usize];
            let index = *slot;
            *slot += 1;
            match kind {
                ItemKind::Declaration => self.declarations.get(index).map(|d| ShaderItem::Declaration(index, d)),
                ItemKind::Immediate => self.immediates.get(index).map(|d| ShaderItem::Immediate(index, d)),
                ItemKind::Property => self.properties.get(index).map(|d| ShaderItem::Property(index, d)),
                ItemKind::Instruction => self.instructions.get(index).map(|d| ShaderItem::Instruction(index, d)),
            }
        })
    }

    /// Returns the first data word of the last property with this name, or none if the shader has no such property.
    pub fn property(&self, name: PropertyName) -> Option<u32> {
        self.properties.iter().rev().find(|p| p.name == name).and_then(|p| p.data.first().copied())
    }
}

/// `DCL`: a range of registers.
#[derive(Clone, PartialEq, Debug)]
pub struct Declaration {
    /// Register file.
    pub file: File,
    /// First register.
    pub first: u16,
    /// Last register, included.
    pub last: u16,
    /// Components that may be used, bit 0 = x.
    pub usage_mask: u8,
    /// Outer index: constant buffer, atomic buffer.
    pub dimension: Option<u16>,
    /// The meaning of the registers.
    pub semantic: Option<DeclarationSemantic>,
    /// Interpolation of a fragment input.
    pub interpolation: Option<DeclarationInterpolation>,
    /// The value must be computed invariantly.
    pub invariant: bool,
    /// Hint: not live across subroutine calls.
    pub local: bool,
    /// `ARRAY(n)`; `Some(0)` is an array word that names no array.
    pub array_id: Option<u16>,
    /// `ATOMIC`, file `BUFFER` only.
    pub atomic: bool,
    /// File `MEMORY` only; `GLOBAL` otherwise.
    pub memory_type: MemoryType,
    /// Present exactly for file `IMAGE`.
    pub image: Option<DeclarationImage>,
    /// Present exactly for file `SVIEW`.
    pub sampler_view: Option<DeclarationSamplerView>,
    /// The position in the source.
    pub span: Span,
}

impl Declaration {
    /// Creates a declaration of registers `first..=last` without attributes.
    pub fn new(file: File, first: u16, last: u16) -> Declaration {
        Declaration {
            file,
            first,
            last,
            usage_mask: 0xf,
            dimension: None,
            semantic: None,
            interpolation: None,
            invariant: false,
            local: false,
            array_id: None,
            atomic: false,
            memory_type: MemoryType::Global,
            image: (file == File::Image).then(DeclarationImage::default),
            sampler_view: (file == File::SamplerView).then(DeclarationSamplerView::default),
            span: Span::default(),
        }
    }

    /// Returns the array number, or none if there is no array word or its number is 0.
    pub fn array(&self) -> Option<u16> {
        self.array_id.filter(|&id| id != 0)
    }
}

/// Semantic word of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeclarationSemantic {
    /// Name.
    pub name: Semantic,
    /// Index among registers of the same name.
    pub index: u16,
    /// Vertex stream of each component (geometry outputs), 0 to 3.
    pub streams: [u8; 4],
}

/// Interpolation word of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeclarationInterpolation {
    /// Mode.
    pub mode: Interpolation,
    /// Location.
    pub location: InterpolationLocation,
}

/// Image word of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeclarationImage {
    /// Target.
    pub target: TextureTarget,
    /// `RAW`: untyped access.
    pub raw: bool,
    /// `WR`: may be stored to.
    pub writable: bool,
    /// Format, `NONE` if not given.
    pub format: PixelFormat,
}

impl Default for DeclarationImage {
    fn default() -> Self {
        DeclarationImage { target: TextureTarget::Buffer, raw: false, writable: false, format: PixelFormat::NONE }
    }
}

/// Sampler view word of a declaration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeclarationSamplerView {
    /// Target.
    pub target: TextureTarget,
    /// Return type of x, y, z, w.
    pub return_types: [ReturnType; 4],
}

impl Default for DeclarationSamplerView {
    fn default() -> Self {
        DeclarationSamplerView { target: TextureTarget::Buffer, return_types: [ReturnType::Unorm; 4] }
    }
}

/// `IMM`: four words of constants (fewer in odd token streams).
#[derive(Clone, PartialEq, Debug)]
pub struct Immediate {
    /// Type, for printing.
    pub data_type: ImmediateType,
    /// Words of x, y, z, w. 64-bit values take two words, low word first.
    pub words: ArrayVec<u32, 4>,
    /// The position in the source.
    pub span: Span,
}

impl Immediate {
    /// An immediate of four words.
    pub fn new(data_type: ImmediateType, words: [u32; 4]) -> Immediate {
        Immediate { data_type, words: ArrayVec::from(words), span: Span::default() }
    }

    /// Returns the word of a component, 0 if the immediate has fewer.
    pub fn word(&self, component: usize) -> u32 {
        self.words.get(component).copied().unwrap_or(0)
    }
}

/// `PROPERTY`.
#[derive(Clone, PartialEq, Debug)]
pub struct Property {
    /// Name.
    pub name: PropertyName,
    /// Value; one word, except in odd token streams.
    pub data: ArrayVec<u32, 8>,
    /// The position in the source.
    pub span: Span,
}

impl Property {
    /// A property of one word.
    pub fn new(name: PropertyName, value: u32) -> Property {
        let mut data = ArrayVec::new();
        data.push(value);
        Property { name, data, span: Span::default() }
    }
}

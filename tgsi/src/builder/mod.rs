//! The shader builder: appends instructions and declares the registers that they use.
//!
//! Registers come from the builder (`temporary`, `input`, `constant`, ...), which records their declarations;
//! [`ShaderBuilder::emit`] and its variants append instructions; [`ShaderBuilder::finish`] puts the declarations first,
//! in the order that current drivers are used to. Labels of branches are computed. Nothing is quadratic: immediates are
//! found by hash, and ranges of constants are kept merged.
//!
//! A mistake (too many registers of a file, a block that is not closed, a wrong number of operands) does not interrupt
//! building; `finish` returns the first one.

mod declarations;
mod immediates;
mod instructions;

use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet};

use arrayvec::ArrayVec;
use thiserror::Error;

use crate::limits;
use crate::operands::OperandCountError;
use crate::shader::{
    Declaration, DeclarationImage, DeclarationInterpolation, DeclarationSamplerView, DeclarationSemantic, Dimension,
    Dst, Immediate, Indirect, Instruction, InstructionMemory, InstructionTexture, ItemKind, Property, Register, Shader,
    Src,
};
use crate::tables::{File, ImmediateType, MemoryType, Opcode, Processor, PropertyName, Semantic};

/// Maximum number of separately declared ranges of one constant buffer, because drivers support no more. If there are
/// more, one range covers all.
const MAX_CONSTANT_RANGES: usize = 32;

/// The highest index that an operand can address.
const MAX_OPERAND_INDEX: u32 = limits::MAX_OPERAND_INDEX as u32;

/// The highest array number.
const MAX_ARRAY_ID: u16 = limits::MAX_ARRAY_ID as u16;

/// An error in the calls to a builder.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BuildError {
    /// More registers than an operand can address.
    #[error("too many registers of file {0}")]
    TooManyRegisters(File),
    /// More arrays than a token can number.
    #[error("too many arrays of file {0}")]
    TooManyArrays(File),
    /// The operand count does not match the opcode.
    #[error(transparent)]
    OperandCount(#[from] OperandCountError),
    /// `else_`, `endif`, `endloop`, ... without the matching open block.
    #[error("instruction {instruction}: {opcode} does not fit the open block")]
    Misplaced {
        /// Number of the instruction.
        instruction: u32,
        /// Opcode.
        opcode: Opcode,
    },
    /// A block that is still open at the end.
    #[error("{opcode} at instruction {instruction} is not closed")]
    Unclosed {
        /// Number of the instruction that opened it.
        instruction: u32,
        /// Its opcode.
        opcode: Opcode,
    },
    /// An immediate of zero or more than four words.
    #[error("immediate of {0} words")]
    ImmediateSize(usize),
    /// A subroutine that is called but never defined.
    #[error("subroutine {0} is called but not defined")]
    UndefinedSubroutine(u32),
}

impl From<Register> for Src {
    fn from(register: Register) -> Src {
        Src::new(register)
    }
}

impl From<Register> for Dst {
    fn from(register: Register) -> Dst {
        Dst::new(register)
    }
}

impl Register {
    /// Adds a run-time part to the (inner) index: component `component` of `address`. `array_id` 0 allows any register
    /// of the file.
    pub const fn indexed_by(mut self, address: Register, component: u8, array_id: u16) -> Register {
        self.indirect = Some(Indirect { file: address.file, index: address.index, component, array_id });
        self
    }

    /// Adds an outer index: vertex of a primitive or patch, constant buffer.
    pub const fn in_dimension(mut self, outer: i32) -> Register {
        self.dimension = Some(Dimension { index: outer, indirect: None });
        self
    }

    /// Adds an outer index with a run-time part.
    pub const fn in_dimension_indexed_by(mut self, outer: i32, address: Register, component: u8) -> Register {
        let indirect = Indirect { file: address.file, index: address.index, component, array_id: 0 };
        self.dimension = Some(Dimension { index: outer, indirect: Some(indirect) });
        self
    }
}

impl Src {
    /// Negates the source.
    pub const fn negated(mut self) -> Src {
        self.negate = !self.negate;
        self
    }

    /// Takes the absolute value of the source.
    pub const fn absolute_value(mut self) -> Src {
        self.absolute = true;
        self.negate = false;
        self
    }

    /// Replicates the component that channel `channel` selects to all channels.
    pub const fn replicated(mut self, channel: usize) -> Src {
        self.swizzle = [self.swizzle[channel & 3]; 4];
        self
    }
}

/// A declared array of registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegisterArray {
    /// File.
    pub file: File,
    /// Outer index (atomic buffer), if the file has one.
    pub dimension: Option<u16>,
    /// First register.
    pub first: u16,
    /// Number of registers.
    pub size: u16,
    /// Array number; 0 if the array is declared register by register.
    pub array_id: u16,
}

impl RegisterArray {
    /// Element `index`.
    pub fn at(&self, index: u16) -> Register {
        let register = Register::new(self.file, i32::from(self.first) + i32::from(index));
        self.dimension.map_or(register, |outer| register.in_dimension(outer.into()))
    }

    /// Returns the element with the number `offset` plus component `component` of `address` at run time.
    pub fn indexed_by(&self, address: Register, component: u8, offset: u16) -> Register {
        self.at(offset).indexed_by(address, component, self.array_id)
    }
}

/// The semantic and interpolation of an input or output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Io {
    /// Semantic name; none for vertex attributes.
    pub semantic: Option<Semantic>,
    /// Semantic index.
    pub semantic_index: u16,
    /// Components in use.
    pub usage_mask: u8,
    /// Interpolation (fragment inputs).
    pub interpolation: Option<DeclarationInterpolation>,
    /// Vertex stream of each component (geometry outputs).
    pub streams: [u8; 4],
    /// Whether the value is computed invariantly.
    pub invariant: bool,
    /// The register to use, or none for the next free one.
    pub register: Option<u16>,
}

impl Io {
    /// All components of `semantic[index]`.
    pub const fn new(semantic: Semantic, index: u16) -> Io {
        Io {
            semantic: Some(semantic),
            semantic_index: index,
            usage_mask: 0xf,
            interpolation: None,
            streams: [0; 4],
            invariant: false,
            register: None,
        }
    }

    /// Vertex attribute `register`.
    pub const fn attribute(register: u16) -> Io {
        Io { semantic: None, register: Some(register), ..Io::new(Semantic::Position, 0) }
    }
}

/// Modifiers and extra words of an instruction.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Modifiers {
    /// Clamp results to [0, 1].
    pub saturate: bool,
    /// Forbid optimisations that change the value.
    pub precise: bool,
    /// Texture word with its offsets.
    pub texture: Option<InstructionTexture>,
    /// Memory word.
    pub memory: Option<InstructionMemory>,
}

/// A subroutine of a shader under construction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subroutine(u32);

/// A range of temporaries with one declaration.
struct TemporaryRun {
    first: u32,
    last: u32,
    local: bool,
    array_id: u16,
}

/// An immediate under construction.
struct PendingImmediate {
    data_type: ImmediateType,
    words: [u32; 4],
    /// Words in use.
    used: usize,
}

/// An open block.
struct OpenBlock {
    opcode: Opcode,
    instruction: u32,
    /// The `IF` or `ELSE` that gets the position of the next divider or closer as its label.
    labelled: u32,
}

/// Declarations of inputs or outputs under construction.
#[derive(Default)]
struct IoTable {
    declarations: Vec<Declaration>,
    /// Single registers by semantic.
    by_semantic: HashMap<(Semantic, u16), usize>,
    /// Registers declared without a semantic.
    attributes: HashMap<u16, usize>,
    next: u32,
    arrays: u16,
}

/// Builds a [`Shader`].
#[derive(Default)]
pub struct ShaderBuilder {
    processor: Processor,
    split_io_arrays: bool,
    properties: BTreeMap<PropertyName, u32>,
    inputs: IoTable,
    outputs: IoTable,
    system_values: Vec<(Semantic, u16)>,
    samplers: BTreeSet<u16>,
    sampler_views: BTreeMap<u16, DeclarationSamplerView>,
    images: BTreeMap<u16, DeclarationImage>,
    buffers: BTreeMap<u16, bool>,
    memories: BTreeSet<MemoryType>,
    /// Buffer -> first -> last; ranges neither overlap nor touch.
    constants: BTreeMap<u16, BTreeMap<u16, u16>>,
    constant_buffers: BTreeSet<u16>,
    /// (buffer, first) -> (last, array).
    hw_atomics: BTreeMap<(u16, u16), (u16, u16)>,
    hw_atomic_arrays: u16,
    temporaries: Vec<TemporaryRun>,
    next_temporary: u32,
    temporary_arrays: u16,
    addresses: u32,
    immediates: Vec<PendingImmediate>,
    /// Immediates that hold a value (32 or 64 bits), in ascending order.
    immediate_values: HashMap<(ImmediateType, u64), Vec<u32>>,
    /// Vectors that were requested before.
    immediate_vectors: HashMap<(ImmediateType, ArrayVec<u32, 4>), Src>,
    /// Immediates with unused words, by type.
    open_immediates: HashMap<ImmediateType, BTreeSet<u32>>,
    instructions: Vec<Instruction>,
    blocks: Vec<OpenBlock>,
    /// The position of each subroutine's `BGNSUB`.
    subroutines: Vec<Option<u32>>,
    /// (`CAL`, subroutine).
    calls: Vec<(u32, Subroutine)>,
    error: Option<BuildError>,
}

impl ShaderBuilder {
    /// Creates a builder for a shader of stage `processor`.
    pub fn new(processor: Processor) -> ShaderBuilder {
        ShaderBuilder { processor, ..Default::default() }
    }

    /// Declares input and output arrays register by register, without array numbers, for drivers that do not support
    /// ranges. Must be called before the arrays are declared.
    pub fn split_io_arrays(&mut self, split: bool) {
        self.split_io_arrays = split;
    }

    fn fail(&mut self, error: BuildError) {
        self.error.get_or_insert(error);
    }

    /// Returns the shader: properties, declarations in the customary order, immediates, instructions.
    pub fn finish(mut self) -> Result<Shader, BuildError> {
        if !self.instructions.iter().any(|i| i.opcode == Opcode::End) {
            self.end();
        }
        for (call, subroutine) in std::mem::take(&mut self.calls) {
            match self.subroutines.get(subroutine.0 as usize).copied().flatten() {
                Some(target) => self.set_label(call, target),
                None => self.fail(BuildError::UndefinedSubroutine(subroutine.0)),
            }
        }
        if let Some(open) = self.blocks.first() {
            let error = BuildError::Unclosed { instruction: open.instruction, opcode: open.opcode };
            self.fail(error);
        }
        if let Some(error) = self.error {
            return Err(error);
        }
        if matches!(self.processor, Processor::Vertex | Processor::TessEval) {
            self.properties.entry(PropertyName::NextShader).or_insert(Processor::Fragment.value().into());
        }

        let mut shader = Shader::new(self.processor);
        for (&name, &value) in &self.properties {
            shader.push_property(Property::new(name, value));
        }
        self.inputs.declarations.sort_by_key(|d| d.first);
        for mut declaration in self.inputs.declarations {
            if self.processor != Processor::Fragment {
                declaration.usage_mask = 0xf;
            }
            shader.push_declaration(declaration);
        }
        for (position, &(name, index)) in self.system_values.iter().enumerate() {
            let semantic = Some(DeclarationSemantic { name, index, streams: [0; 4] });
            let declaration = Declaration::new(File::SystemValue, position as u16, position as u16);
            shader.push_declaration(Declaration { semantic, ..declaration });
        }
        self.outputs.declarations.sort_by_key(|d| d.first);
        for declaration in self.outputs.declarations {
            shader.push_declaration(declaration);
        }
        for &r in &self.samplers {
            shader.push_declaration(Declaration::new(File::Sampler, r, r));
        }
        for (&r, &view) in &self.sampler_views {
            shader.push_declaration(Declaration {
                sampler_view: Some(view),
                ..Declaration::new(File::SamplerView, r, r)
            });
        }
        for (&r, &image) in &self.images {
            shader.push_declaration(Declaration { image: Some(image), ..Declaration::new(File::Image, r, r) });
        }
        for (&r, &atomic) in &self.buffers {
            shader.push_declaration(Declaration { atomic, ..Declaration::new(File::Buffer, r, r) });
        }
        for &memory_type in &self.memories {
            let r = memory_type.value().into();
            shader.push_declaration(Declaration { memory_type, ..Declaration::new(File::Memory, r, r) });
        }
        for (&buffer, ranges) in &self.constants {
            let all = || Some((*ranges.first_key_value()?.0, *ranges.last_key_value()?.1));
            let ranges: Vec<(u16, u16)> = if ranges.len() > MAX_CONSTANT_RANGES {
                all().into_iter().collect()
            } else {
                ranges.iter().map(|(&first, &last)| (first, last)).collect()
            };
            for (first, last) in ranges {
                let dimension = Some(buffer);
                shader.push_declaration(Declaration { dimension, ..Declaration::new(File::Constant, first, last) });
            }
        }
        for &r in &self.constant_buffers {
            shader.push_declaration(Declaration::new(File::ConstantBuffer, r, r));
        }
        for (&(buffer, first), &(last, array_id)) in &self.hw_atomics {
            shader.push_declaration(Declaration {
                dimension: Some(buffer),
                array_id: (array_id != 0).then_some(array_id),
                ..Declaration::new(File::HwAtomic, first, last)
            });
        }
        for run in &self.temporaries {
            shader.push_declaration(Declaration {
                local: run.local,
                array_id: (run.array_id != 0).then_some(run.array_id),
                ..Declaration::new(File::Temporary, run.first as u16, run.last as u16)
            });
        }
        if self.addresses > 0 {
            shader.push_declaration(Declaration::new(File::Address, 0, self.addresses as u16 - 1));
        }
        for immediate in &self.immediates {
            shader.push_immediate(Immediate::new(immediate.data_type, immediate.words));
        }
        shader.order.extend(std::iter::repeat_n(ItemKind::Instruction, self.instructions.len()));
        shader.instructions = self.instructions;
        Ok(shader)
    }
}

#[cfg(test)]
mod tests;

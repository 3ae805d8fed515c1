//! The program builder: makes shaders instruction by instruction and declares whatever they use.
//!
//! Registers come from the builder (`temporary`, `input`, `constant`, ...), which remembers what to declare; instructions are appended
//! with [`ShaderBuilder::emit`] and its relatives; [`ShaderBuilder::finish`] puts the declarations in front, in the order in which the
//! drivers of today get them. Labels of branches are computed. Nothing here is quadratic: immediates are found by hash, the ranges of
//! constants are kept merged.
//!
//! A mistake (a register file that overflows, a block that is not closed, a wrong number of operands) does not interrupt building; the
//! first one is what `finish` returns.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use arrayvec::ArrayVec;
use thiserror::Error;

use crate::limits;
use crate::shader::{
    Declaration, DeclarationImage, DeclarationInterpolation, DeclarationSamplerView, DeclarationSemantic, Dimension,
    Dst, Immediate, Indirect, Instruction, InstructionMemory, InstructionTexture, Property, Register, Shader, Src,
    TextureOffset,
};
use crate::span::Span;
use crate::tables::{
    File, ImmediateType, MemoryQualifiers, MemoryType, Opcode, PixelFormat, Processor, PropertyName, ReturnType,
    Semantic, TextureTarget,
};

/// Ranges of one constant buffer that are declared one by one; with more of them one range covers all. Drivers take no more.
const MAX_CONSTANT_RANGES: usize = 32;

/// Highest index that an operand can name.
const MAX_OPERAND_INDEX: u32 = limits::MAX_OPERAND_INDEX as u32;

/// Highest array number.
const MAX_ARRAY_ID: u16 = limits::MAX_ARRAY_ID as u16;

/// How many candidates for packing a vector into an existing immediate are looked at.
const PACKING_CANDIDATES: usize = 8;

/// What was wrong with the calls to a builder.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BuildError {
    /// More registers than an operand can name.
    #[error("too many registers of file {0}")]
    TooManyRegisters(File),
    /// More arrays than a token can name.
    #[error("too many arrays of file {0}")]
    TooManyArrays(File),
    /// Operand count does not fit the opcode.
    #[error("instruction {instruction}: {opcode} takes {num_dst} destinations and {num_src} sources")]
    OperandCount {
        /// Number of the instruction.
        instruction: u32,
        /// Opcode.
        opcode: Opcode,
        /// Destinations it takes.
        num_dst: u8,
        /// Sources it takes.
        num_src: u8,
    },
    /// `else_`, `endif`, `endloop`, ... without the block that it belongs to.
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
    /// An immediate of no words or more than four.
    #[error("immediate of {0} words")]
    ImmediateSize(usize),
    /// A subroutine that was called but never defined.
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
    /// The same with a run-time part of the (inner) index: component `component` of `address`. `array_id` 0 is any register of the file.
    pub const fn indexed_by(mut self, address: Register, component: u8, array_id: u16) -> Register {
        self.indirect = Some(Indirect { file: address.file, index: address.index, component, array_id });
        self
    }

    /// The same with an outer index: vertex of a primitive or patch, constant buffer.
    pub const fn in_dimension(mut self, outer: i32) -> Register {
        self.dimension = Some(Dimension { index: outer, indirect: None });
        self
    }

    /// The same with a run-time part of the outer index.
    pub const fn in_dimension_indexed_by(mut self, outer: i32, address: Register, component: u8) -> Register {
        let indirect = Indirect { file: address.file, index: address.index, component, array_id: 0 };
        self.dimension = Some(Dimension { index: outer, indirect: Some(indirect) });
        self
    }
}

impl Src {
    /// The same, negated.
    pub const fn negated(mut self) -> Src {
        self.negate = !self.negate;
        self
    }

    /// The absolute value of the same.
    pub const fn absolute_value(mut self) -> Src {
        self.absolute = true;
        self.negate = false;
        self
    }

    /// The component that channel `channel` selects, in all channels.
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

    /// The element whose number is `offset` plus component `component` of `address` at run time.
    pub fn indexed_by(&self, address: Register, component: u8, offset: u16) -> Register {
        self.at(offset).indexed_by(address, component, self.array_id)
    }
}

/// What an input or output is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Io {
    /// Semantic name; none for vertex attributes.
    pub semantic: Option<Semantic>,
    /// Semantic index.
    pub semantic_index: u16,
    /// Components in use.
    pub usage_mask: u8,
    /// Interpolation, fragment inputs.
    pub interpolation: Option<DeclarationInterpolation>,
    /// Vertex stream of each component, geometry outputs.
    pub streams: [u8; 4],
    /// Computed invariantly.
    pub invariant: bool,
    /// Register to take; the next free one if none.
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

/// Name of a subroutine of a shader under construction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Subroutine(u32);

/// A run of temporaries that one declaration covers.
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
    /// The `IF` or `ELSE` whose label the next divider or closer sets.
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
    /// (buffer, first) -> (last, array)
    hw_atomics: BTreeMap<(u16, u16), (u16, u16)>,
    hw_atomic_arrays: u16,
    temporaries: Vec<TemporaryRun>,
    next_temporary: u32,
    temporary_arrays: u16,
    /// Released temporaries, plain and local.
    free: [Vec<u16>; 2],
    addresses: u32,
    immediates: Vec<PendingImmediate>,
    /// Immediates that hold a value (32 or 64 bits), in ascending order.
    immediate_values: HashMap<(ImmediateType, u64), Vec<u32>>,
    /// Vectors that were asked for before.
    immediate_vectors: HashMap<(ImmediateType, ArrayVec<u32, 4>), Src>,
    /// Per type, immediates with words to spare.
    open_immediates: HashMap<ImmediateType, BTreeSet<u32>>,
    instructions: Vec<Instruction>,
    blocks: Vec<OpenBlock>,
    /// Place of each subroutine's `BGNSUB`.
    subroutines: Vec<Option<u32>>,
    /// (`CAL`, subroutine)
    calls: Vec<(u32, Subroutine)>,
    error: Option<BuildError>,
}

impl ShaderBuilder {
    /// A builder for a shader of stage `processor`.
    pub fn new(processor: Processor) -> ShaderBuilder {
        ShaderBuilder {
            processor,
            split_io_arrays: false,
            properties: BTreeMap::new(),
            inputs: IoTable::default(),
            outputs: IoTable::default(),
            system_values: Vec::new(),
            samplers: BTreeSet::new(),
            sampler_views: BTreeMap::new(),
            images: BTreeMap::new(),
            buffers: BTreeMap::new(),
            memories: BTreeSet::new(),
            constants: BTreeMap::new(),
            constant_buffers: BTreeSet::new(),
            hw_atomics: BTreeMap::new(),
            hw_atomic_arrays: 0,
            temporaries: Vec::new(),
            next_temporary: 0,
            temporary_arrays: 0,
            free: [Vec::new(), Vec::new()],
            addresses: 0,
            immediates: Vec::new(),
            immediate_values: HashMap::new(),
            immediate_vectors: HashMap::new(),
            open_immediates: HashMap::new(),
            instructions: Vec::new(),
            blocks: Vec::new(),
            subroutines: Vec::new(),
            calls: Vec::new(),
            error: None,
        }
    }

    /// Declares input and output arrays register by register, without array numbers, for drivers that take no ranges. To be called
    /// before the arrays are made.
    pub fn split_io_arrays(&mut self, split: bool) {
        self.split_io_arrays = split;
    }

    fn fail(&mut self, error: BuildError) {
        self.error.get_or_insert(error);
    }

    // ---- declarations ----

    /// Sets a property.
    pub fn property(&mut self, name: PropertyName, value: u32) {
        self.properties.insert(name, value);
    }

    /// Input register; the same semantic gives the same register, with the usage masks united.
    pub fn input(&mut self, io: Io) -> Register {
        let first = self.io(File::Input, io, None).first;
        Register::new(File::Input, first.into())
    }

    /// Array of `size` inputs with ascending semantic indices.
    pub fn input_array(&mut self, io: Io, size: u16) -> RegisterArray {
        self.io(File::Input, io, Some(size.max(1)))
    }

    /// Output register; the same semantic gives the same register, with the usage masks united.
    pub fn output(&mut self, io: Io) -> Register {
        let first = self.io(File::Output, io, None).first;
        Register::new(File::Output, first.into())
    }

    /// Array of `size` outputs with ascending semantic indices.
    pub fn output_array(&mut self, io: Io, size: u16) -> RegisterArray {
        self.io(File::Output, io, Some(size.max(1)))
    }

    fn io(&mut self, file: File, io: Io, array: Option<u16>) -> RegisterArray {
        let split = self.split_io_arrays;
        let table = if file == File::Input { &mut self.inputs } else { &mut self.outputs };
        let known = match (array, io.semantic) {
            (Some(_), _) => None,
            (None, Some(semantic)) => table.by_semantic.get(&(semantic, io.semantic_index)),
            (None, None) => io.register.and_then(|r| table.attributes.get(&r)),
        };
        if let Some(declaration) = known.and_then(|&place| table.declarations.get_mut(place))
            && io.register.is_none_or(|r| r == declaration.first)
        {
            declaration.usage_mask |= io.usage_mask;
            declaration.invariant |= io.invariant;
            return RegisterArray { file, dimension: None, first: declaration.first, size: 1, array_id: 0 };
        }
        let size = array.unwrap_or(1);
        let first = io.register.map_or(table.next, u32::from);
        let last = first + u32::from(size) - 1;
        if last > MAX_OPERAND_INDEX {
            self.fail(BuildError::TooManyRegisters(file));
            return RegisterArray { file, dimension: None, first: 0, size, array_id: 0 };
        }
        table.next = table.next.max(last + 1);
        let declare = |first: u32, last: u32, offset: u16| Declaration {
            usage_mask: io.usage_mask,
            semantic: io.semantic.map(|name| DeclarationSemantic {
                name,
                index: io.semantic_index.wrapping_add(offset),
                streams: io.streams,
            }),
            interpolation: io.interpolation,
            invariant: io.invariant,
            ..Declaration::new(file, first as u16, last as u16)
        };
        let mut array_id = 0;
        match array {
            Some(_) if split => {
                table.declarations.extend((0..size).map(|i| declare(first + u32::from(i), first + u32::from(i), i)))
            }
            Some(_) => {
                table.arrays += 1;
                array_id = table.arrays;
                table.declarations.push(Declaration { array_id: Some(array_id), ..declare(first, last, 0) });
            }
            None => {
                let place = table.declarations.len();
                match io.semantic {
                    Some(semantic) => table.by_semantic.insert((semantic, io.semantic_index), place),
                    None => table.attributes.insert(first as u16, place),
                };
                table.declarations.push(declare(first, last, 0));
            }
        }
        if array_id > MAX_ARRAY_ID {
            self.fail(BuildError::TooManyArrays(file));
        }
        RegisterArray { file, dimension: None, first: first as u16, size, array_id }
    }

    /// System value register.
    pub fn system_value(&mut self, semantic: Semantic, index: u16) -> Register {
        let known = self.system_values.iter().position(|&s| s == (semantic, index));
        let place = known.unwrap_or_else(|| {
            self.system_values.push((semantic, index));
            self.system_values.len() - 1
        });
        if place as u32 > MAX_OPERAND_INDEX {
            self.fail(BuildError::TooManyRegisters(File::SystemValue));
        }
        Register::new(File::SystemValue, place as i32)
    }

    /// `CONST[buffer][index]`; the declared ranges grow so that they hold it.
    pub fn constant(&mut self, buffer: u16, index: u16) -> Register {
        self.constant_range(buffer, index, index);
        Register::new_2d(File::Constant, buffer.into(), index.into())
    }

    /// Declares `CONST[buffer][first..=last]`, for indirect accesses.
    pub fn constant_range(&mut self, buffer: u16, first: u16, last: u16) {
        if u32::from(last) > MAX_OPERAND_INDEX {
            self.fail(BuildError::TooManyRegisters(File::Constant));
            return;
        }
        let ranges = self.constants.entry(buffer).or_default();
        let (mut first, mut last) = (first.min(last), last);
        // Swallow every range that overlaps or touches the new one; each is swallowed once.
        while let Some((&f, &l)) = ranges.range(..=last.saturating_add(1)).next_back()
            && u32::from(l) + 1 >= u32::from(first)
        {
            if f <= first && l >= last {
                return;
            }
            ranges.remove(&f);
            first = first.min(f);
            last = last.max(l);
        }
        ranges.insert(first, last);
    }

    /// Constant buffer `index` as a resource of `LOAD`.
    pub fn constant_buffer(&mut self, index: u16) -> Register {
        self.constant_buffers.insert(index);
        Register::new(File::ConstantBuffer, index.into())
    }

    /// Sampler unit.
    pub fn sampler(&mut self, index: u16) -> Register {
        self.samplers.insert(index);
        Register::new(File::Sampler, index.into())
    }

    /// Sampler view unit.
    pub fn sampler_view(&mut self, index: u16, target: TextureTarget, return_types: [ReturnType; 4]) -> Register {
        self.sampler_views.insert(index, DeclarationSamplerView { target, return_types });
        Register::new(File::SamplerView, index.into())
    }

    /// Image unit. Declared again, it is writable or raw if any of the declarations is.
    pub fn image(&mut self, index: u16, image: DeclarationImage) -> Register {
        let known = self.images.entry(index).or_insert(image);
        *known = DeclarationImage { writable: known.writable || image.writable, raw: known.raw || image.raw, ..image };
        Register::new(File::Image, index.into())
    }

    /// Storage buffer unit; `atomic` if it is used for atomic counters only.
    pub fn buffer(&mut self, index: u16, atomic: bool) -> Register {
        *self.buffers.entry(index).or_insert(atomic) &= atomic;
        Register::new(File::Buffer, index.into())
    }

    /// Memory area; its register index is the number of its type.
    pub fn memory(&mut self, memory_type: MemoryType) -> Register {
        self.memories.insert(memory_type);
        Register::new(File::Memory, memory_type.value().into())
    }

    /// One atomic counter.
    pub fn hw_atomic(&mut self, buffer: u16, index: u16) -> Register {
        self.hw_atomics.entry((buffer, index)).or_insert((index, 0));
        Register::new_2d(File::HwAtomic, buffer.into(), index.into())
    }

    /// Array of atomic counters.
    pub fn hw_atomic_array(&mut self, buffer: u16, first: u16, size: u16) -> RegisterArray {
        self.hw_atomic_arrays += 1;
        let array_id = self.hw_atomic_arrays;
        let last = first.saturating_add(size.max(1) - 1);
        if array_id > MAX_ARRAY_ID {
            self.fail(BuildError::TooManyArrays(File::HwAtomic));
        }
        self.hw_atomics.insert((buffer, first), (last, array_id));
        RegisterArray { file: File::HwAtomic, dimension: Some(buffer), first, size: last - first + 1, array_id }
    }

    /// A temporary: a released one if there is one, else a new one.
    pub fn temporary(&mut self) -> Register {
        self.new_temporary(false)
    }

    /// A temporary that does not live across subroutine calls.
    pub fn local_temporary(&mut self) -> Register {
        self.new_temporary(true)
    }

    fn new_temporary(&mut self, local: bool) -> Register {
        if let Some(index) = self.free[usize::from(local)].pop() {
            return Register::new(File::Temporary, index.into());
        }
        let index = self.next_temporary;
        match self.temporaries.last_mut() {
            Some(run) if run.array_id == 0 && run.local == local => run.last = index,
            _ => self.temporaries.push(TemporaryRun { first: index, last: index, local, array_id: 0 }),
        }
        self.take_temporaries(1);
        Register::new(File::Temporary, index as i32)
    }

    fn take_temporaries(&mut self, count: u32) {
        if self.next_temporary + count - 1 > MAX_OPERAND_INDEX {
            self.fail(BuildError::TooManyRegisters(File::Temporary));
            self.next_temporary = 0;
        } else {
            self.next_temporary += count;
        }
    }

    /// Array of `size` temporaries with an array number of its own.
    pub fn temporary_array(&mut self, size: u16, local: bool) -> RegisterArray {
        let (first, size) = (self.next_temporary, size.max(1));
        self.temporary_arrays = self.temporary_arrays.saturating_add(1);
        let array_id = self.temporary_arrays;
        if array_id > MAX_ARRAY_ID {
            self.fail(BuildError::TooManyArrays(File::Temporary));
        }
        self.temporaries.push(TemporaryRun { first, last: first + u32::from(size) - 1, local, array_id });
        self.take_temporaries(size.into());
        RegisterArray { file: File::Temporary, dimension: None, first: first as u16, size, array_id }
    }

    /// Gives a temporary back; a later [`ShaderBuilder::temporary`] (or `local_temporary`, if it was one) may return it again. Array
    /// elements and other registers are ignored. Releasing a register twice would hand it out twice.
    pub fn release_temporary(&mut self, register: Register) {
        let Ok(index) = u16::try_from(register.index) else { return };
        let run = self.temporaries.partition_point(|run| run.first <= index.into());
        let Some(run) = run.checked_sub(1).and_then(|run| self.temporaries.get(run)) else { return };
        if register.file == File::Temporary && run.array_id == 0 && u32::from(index) <= run.last {
            self.free[usize::from(run.local)].push(index);
        }
    }

    /// A new address register.
    pub fn address(&mut self) -> Register {
        let index = self.addresses;
        if index > MAX_OPERAND_INDEX {
            self.fail(BuildError::TooManyRegisters(File::Address));
            return Register::new(File::Address, 0);
        }
        self.addresses += 1;
        Register::new(File::Address, index as i32)
    }

    // ---- immediates ----

    /// One to four floats.
    pub fn immediate_f32(&mut self, values: &[f32]) -> Src {
        let words: ArrayVec<u32, 4> = values.iter().take(4).map(|v| v.to_bits()).collect();
        self.immediate_checked(ImmediateType::Float32, &words, values.len())
    }

    /// One to four unsigned integers.
    pub fn immediate_u32(&mut self, values: &[u32]) -> Src {
        self.immediate(ImmediateType::Uint32, values)
    }

    /// One to four signed integers.
    pub fn immediate_i32(&mut self, values: &[i32]) -> Src {
        let words: ArrayVec<u32, 4> = values.iter().take(4).map(|&v| v as u32).collect();
        self.immediate_checked(ImmediateType::Int32, &words, values.len())
    }

    /// One or two doubles.
    pub fn immediate_f64(&mut self, values: &[f64]) -> Src {
        let words = values.iter().map(|v| v.to_bits());
        self.immediate_64(ImmediateType::Float64, words, values.len())
    }

    /// One or two unsigned 64-bit integers.
    pub fn immediate_u64(&mut self, values: &[u64]) -> Src {
        self.immediate_64(ImmediateType::Uint64, values.iter().copied(), values.len())
    }

    /// One or two signed 64-bit integers.
    pub fn immediate_i64(&mut self, values: &[i64]) -> Src {
        self.immediate_64(ImmediateType::Int64, values.iter().map(|&v| v as u64), values.len())
    }

    fn immediate_64(&mut self, data_type: ImmediateType, values: impl Iterator<Item = u64>, count: usize) -> Src {
        let words: ArrayVec<u32, 4> = values.take(2).flat_map(|v| [v as u32, (v >> 32) as u32]).collect();
        self.immediate_checked(data_type, &words, 2 * count)
    }

    /// Words of an immediate of type `data_type`: one to four, 64-bit types two or four (low word first). The result selects them;
    /// channels beyond the given ones repeat the first value. Words are packed into existing immediates of the same type where they
    /// occur or still fit.
    pub fn immediate(&mut self, data_type: ImmediateType, words: &[u32]) -> Src {
        self.immediate_checked(data_type, words, words.len())
    }

    fn immediate_checked(&mut self, data_type: ImmediateType, words: &[u32], asked: usize) -> Src {
        let step = if data_type.is_64bit() { 2 } else { 1 };
        if words.is_empty() || asked > 4 || asked & (step - 1) != 0 {
            self.fail(BuildError::ImmediateSize(asked));
            return Src::new(Register::new(File::Immediate, 0));
        }
        let key = (data_type, words.iter().copied().collect::<ArrayVec<u32, 4>>());
        if let Some(&src) = self.immediate_vectors.get(&key) {
            return src;
        }
        let (place, swizzle) = self.pack(data_type, words, step);
        let src = Src::new(Register::new(File::Immediate, place as i32)).swizzled(swizzle);
        self.immediate_vectors.insert(key, src);
        src
    }

    /// Finds or makes room for `words`, `step` words a value; returns the immediate and the swizzle.
    fn pack(&mut self, data_type: ImmediateType, words: &[u32], step: usize) -> (u32, [u8; 4]) {
        let value = |words: &[u32]| words.iter().rev().fold(0u64, |v, &w| v << 32 | u64::from(w));
        // Good candidates hold one of the values already; else one with room will do. Only a few of either are tried, or common
        // values such as 0 would make this quadratic.
        let holders = self.immediate_values.get(&(data_type, value(&words[..step]))).into_iter().flatten();
        let open = self.open_immediates.get(&data_type).into_iter().flat_map(|open| open.iter().rev());
        let candidates = holders.take(PACKING_CANDIDATES).chain(open.take(PACKING_CANDIDATES));
        let found = candidates.copied().find_map(|place| {
            let pending = self.immediates.get(place as usize)?;
            fit(pending, words, step).map(|(after, used, swizzle)| (place, after, used, swizzle))
        });
        let (place, after, used, swizzle) = match found {
            Some(found) => found,
            None => {
                let empty = PendingImmediate { data_type, words: [0; 4], used: 0 };
                // An empty immediate has room for any four words.
                let (after, used, swizzle) = fit(&empty, words, step).unwrap_or(([0; 4], 4, [0; 4]));
                let place = self.immediates.len() as u32;
                if place > MAX_OPERAND_INDEX {
                    self.fail(BuildError::TooManyRegisters(File::Immediate));
                    return (0, [0; 4]);
                }
                self.immediates.push(empty);
                self.open_immediates.entry(data_type).or_default().insert(place);
                (place, after, used, swizzle)
            }
        };
        let Some(pending) = self.immediates.get_mut(place as usize) else { return (0, [0; 4]) };
        let before = std::mem::replace(&mut pending.used, used);
        pending.words = after;
        for new in after[before.min(used)..used].chunks(step) {
            let holders = self.immediate_values.entry((data_type, value(new))).or_default();
            if holders.last() != Some(&place) {
                holders.push(place);
            }
        }
        if used == 4
            && before < 4
            && let Some(open) = self.open_immediates.get_mut(&data_type)
        {
            open.remove(&place);
        }
        (place, swizzle)
    }

    // ---- instructions ----

    /// Appends an instruction and returns its number.
    pub fn emit(&mut self, opcode: Opcode, dst: impl Into<Option<Dst>>, src: &[Src]) -> u32 {
        self.emit_with(opcode, dst, src, Modifiers::default())
    }

    /// Appends an instruction with modifiers and returns its number.
    pub fn emit_with(&mut self, opcode: Opcode, dst: impl Into<Option<Dst>>, src: &[Src], modifiers: Modifiers) -> u32 {
        let mut instruction = Instruction::new(opcode);
        instruction.dst.extend(dst.into());
        instruction.src.extend(src.iter().copied().take(5));
        instruction.saturate = modifiers.saturate;
        instruction.precise = modifiers.precise;
        instruction.texture = modifiers.texture;
        instruction.memory = modifiers.memory;
        let info = opcode.info();
        if instruction.dst.len() != usize::from(info.num_dst) || src.len() != usize::from(info.num_src) {
            self.fail(BuildError::OperandCount {
                instruction: self.instructions.len() as u32,
                opcode,
                num_dst: info.num_dst,
                num_src: info.num_src,
            });
        }
        self.push(instruction)
    }

    /// Appends an instruction as it is and returns its number. Blocks are opened and closed by their own functions.
    pub fn push(&mut self, instruction: Instruction) -> u32 {
        self.instructions.push(instruction);
        self.instructions.len() as u32 - 1
    }

    /// Texture instruction; the sampler is the last source.
    pub fn tex(
        &mut self,
        opcode: Opcode,
        dst: Dst,
        target: TextureTarget,
        return_type: ReturnType,
        offsets: &[TextureOffset],
        src: &[Src],
    ) -> u32 {
        let offsets = offsets.iter().copied().take(4).collect();
        let texture = Some(InstructionTexture { target, return_type, offsets });
        self.emit_with(opcode, dst, src, Modifiers { texture, ..Modifiers::default() })
    }

    /// Memory instruction: `LOAD`, `STORE` (the resource is the destination), atomics, `RESQ`, `BARRIER`.
    pub fn mem(
        &mut self,
        opcode: Opcode,
        dst: impl Into<Option<Dst>>,
        src: &[Src],
        qualifiers: MemoryQualifiers,
        target: TextureTarget,
        format: PixelFormat,
    ) -> u32 {
        let memory = Some(InstructionMemory { qualifiers, target, format });
        self.emit_with(opcode, dst, src, Modifiers { memory, ..Modifiers::default() })
    }

    /// Number that the next instruction will have.
    pub fn next_instruction(&self) -> u32 {
        self.instructions.len() as u32
    }

    fn open(&mut self, opcode: Opcode, src: &[Src]) {
        let instruction = self.emit(opcode, None, src);
        self.blocks.push(OpenBlock { opcode, instruction, labelled: instruction });
    }

    fn close(&mut self, opcode: Opcode, opens: &[Opcode]) -> Option<OpenBlock> {
        let instruction = self.emit(opcode, None, &[]);
        let block = self.blocks.pop_if(|block| opens.contains(&block.opcode));
        if block.is_none() {
            self.fail(BuildError::Misplaced { instruction, opcode });
        }
        block
    }

    fn set_label(&mut self, instruction: u32, label: u32) {
        if let Some(instruction) = self.instructions.get_mut(instruction as usize) {
            instruction.label = Some(label);
        }
    }

    /// `IF`: taken where x of `condition` is not 0.0.
    pub fn if_(&mut self, condition: Src) {
        self.open(Opcode::If, &[condition]);
    }

    /// `UIF`: taken where x of `condition` is not 0 as an integer.
    pub fn uif(&mut self, condition: Src) {
        self.open(Opcode::Uif, &[condition]);
    }

    /// `ELSE`.
    pub fn else_(&mut self) {
        let number = self.emit(Opcode::Else, None, &[]);
        match self.blocks.last_mut() {
            Some(block) if matches!(block.opcode, Opcode::If | Opcode::Uif) && block.labelled == block.instruction => {
                let from = std::mem::replace(&mut block.labelled, number);
                self.set_label(from, number);
            }
            _ => self.fail(BuildError::Misplaced { instruction: number, opcode: Opcode::Else }),
        }
    }

    /// `ENDIF`.
    pub fn endif(&mut self) {
        let number = self.next_instruction();
        if let Some(block) = self.close(Opcode::Endif, &[Opcode::If, Opcode::Uif]) {
            self.set_label(block.labelled, number);
        }
    }

    /// `BGNLOOP`.
    pub fn bgnloop(&mut self) {
        self.open(Opcode::Bgnloop, &[]);
    }

    /// `ENDLOOP`.
    pub fn endloop(&mut self) {
        let number = self.next_instruction();
        if let Some(block) = self.close(Opcode::Endloop, &[Opcode::Bgnloop]) {
            self.set_label(block.instruction, number);
            self.set_label(number, block.instruction);
        }
    }

    /// `BRK`: leaves the innermost loop or switch.
    pub fn brk(&mut self) {
        let instruction = self.emit(Opcode::Brk, None, &[]);
        if !self.blocks.iter().rev().any(|b| matches!(b.opcode, Opcode::Bgnloop | Opcode::Switch)) {
            self.fail(BuildError::Misplaced { instruction, opcode: Opcode::Brk });
        }
    }

    /// `CONT`: goes on with the innermost loop.
    pub fn cont(&mut self) {
        let instruction = self.emit(Opcode::Cont, None, &[]);
        if !self.blocks.iter().rev().any(|b| b.opcode == Opcode::Bgnloop) {
            self.fail(BuildError::Misplaced { instruction, opcode: Opcode::Cont });
        }
    }

    /// `SWITCH` over x of `selector`.
    pub fn switch(&mut self, selector: Src) {
        self.open(Opcode::Switch, &[selector]);
    }

    /// `CASE`.
    pub fn case(&mut self, value: Src) {
        self.divide_switch(Opcode::Case, &[value]);
    }

    /// `DEFAULT`.
    pub fn default(&mut self) {
        self.divide_switch(Opcode::Default, &[]);
    }

    fn divide_switch(&mut self, opcode: Opcode, src: &[Src]) {
        let instruction = self.emit(opcode, None, src);
        if self.blocks.last().is_none_or(|block| block.opcode != Opcode::Switch) {
            self.fail(BuildError::Misplaced { instruction, opcode });
        }
    }

    /// `ENDSWITCH`.
    pub fn endswitch(&mut self) {
        self.close(Opcode::Endswitch, &[Opcode::Switch]);
    }

    /// Names a subroutine, to be defined with [`ShaderBuilder::bgnsub`] before or after it is called.
    pub fn subroutine(&mut self) -> Subroutine {
        self.subroutines.push(None);
        Subroutine(self.subroutines.len() as u32 - 1)
    }

    /// `BGNSUB`: what follows, up to [`ShaderBuilder::endsub`], is the body of `subroutine`.
    pub fn bgnsub(&mut self, subroutine: Subroutine) {
        let number = self.next_instruction();
        self.open(Opcode::Bgnsub, &[]);
        if let Some(slot) = self.subroutines.get_mut(subroutine.0 as usize) {
            *slot = Some(number);
        }
    }

    /// `ENDSUB`.
    pub fn endsub(&mut self) {
        self.close(Opcode::Endsub, &[Opcode::Bgnsub]);
    }

    /// `CAL`.
    pub fn cal(&mut self, subroutine: Subroutine) {
        let number = self.emit(Opcode::Cal, None, &[]);
        self.calls.push((number, subroutine));
    }

    /// `RET`.
    pub fn ret(&mut self) {
        self.emit(Opcode::Ret, None, &[]);
    }

    /// `END` of the main program. [`ShaderBuilder::finish`] adds it if it was left out; subroutines come after it.
    pub fn end(&mut self) {
        self.emit(Opcode::End, None, &[]);
    }

    // ---- the result ----

    /// The shader: properties, declarations in the customary order, immediates, instructions.
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
        for (place, &(name, index)) in self.system_values.iter().enumerate() {
            let semantic = Some(DeclarationSemantic { name, index, streams: [0; 4] });
            let declaration = Declaration::new(File::SystemValue, place as u16, place as u16);
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
        for instruction in self.instructions {
            shader.push_instruction(instruction);
        }
        Ok(shader)
    }
}

/// A texel offset operand made of the first three channels of `src`.
pub fn texture_offset(src: Src) -> TextureOffset {
    let [x, y, z, _] = src.swizzle;
    TextureOffset { file: src.register.file, index: src.register.index, swizzle: [x, y, z], span: Span::default() }
}

/// Fits `words` (values of `step` words) into `pending`: each value is found in it or appended. Returns the words after that, how many
/// are in use, and the swizzle that selects the values; channels beyond them repeat the first.
fn fit(pending: &PendingImmediate, words: &[u32], step: usize) -> Option<([u32; 4], usize, [u8; 4])> {
    let (mut after, mut used) = (pending.words, pending.used);
    let mut swizzle = [0u8; 4];
    for (number, value) in words.chunks(step).enumerate() {
        let at = match (0..used).step_by(step).find(|&at| after.get(at..at + step) == Some(value)) {
            Some(at) => at,
            None => {
                let room = after.get_mut(used..used + step)?;
                room.copy_from_slice(value);
                used += step;
                used - step
            }
        };
        for word in 0..step {
            swizzle[number * step + word] = (at + word) as u8;
        }
    }
    let given = swizzle;
    for channel in words.len()..4 {
        swizzle[channel] = given[channel % step];
    }
    Some((after, used, swizzle))
}

#[cfg(test)]
#[path = "builder_tests.rs"]
mod tests;

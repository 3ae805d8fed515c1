//! The emitter of a function: a loop over the quads of a block, in which every lane vector is a variable of the code
//! generator. Quads are independent.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I32X4, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlags, StackSlot, Value as Ir};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::{FunctionBuilder, Variable};
use rustc_hash::FxHashMap;
use tgsi_ir::run::Program;

use super::masks::Masks;
use super::rules::Lanes;
use crate::native::analysis::accesses::LaneVector;
use crate::native::analysis::uniforms::{BufferWords, Memory};
use crate::native::runtime::context::offsets;
use crate::sampler::KnownUnitState;

/// Bytes of a vector of four words.
pub(super) const VECTOR: i64 = 16;

/// What functions are generated from.
#[derive(Clone, Copy)]
pub(super) struct FunctionContext<'a> {
    pub program: &'a Program,
    pub keep_inactive: bool,
    /// Words of constant lane vectors.
    pub constants: &'a FxHashMap<LaneVector, u32>,
    /// Units that code may read itself.
    pub known: &'a [KnownUnitState],
    /// Indices of the out-of-line lookup functions, by the numbers of the texture instructions.
    pub outlined: &'a FxHashMap<u32, usize>,
    /// For each lane vector of registers, whether it stays in memory.
    pub in_memory: &'a [bool],
    pub call_conv: CallConv,
    /// Whether the processor has fused multiply-add.
    pub has_fma: bool,
    /// Whether the code is for x86-64.
    pub is_x86: bool,
}

/// The addresses and values that the code of a region uses repeatedly.
pub(super) struct RegionState {
    /// The argument of the function, and its fields.
    pub context: Ir,
    pub words: Ir,
    pub registers: Ir,
    /// Bytes of a lane vector.
    pub stride: Ir,
    /// The byte offset of the quad in a lane vector.
    pub quad: Ir,
    /// Whether code is being emitted before the loop over the quads.
    pub before_quads: bool,
    /// The stack memory for calls.
    pub area: Option<StackSlot>,
    variables: FxHashMap<LaneVector, Variable>,
    /// Start and length of memory.
    memories: FxHashMap<Memory, (Ir, Ir)>,
    uniforms: FxHashMap<(Memory, u32, u32), Ir>,
}

/// Emits the code of a function.
pub(super) struct Emitter<'a, 'f> {
    pub function: FunctionContext<'a>,
    pub region: RegionState,
    pub masks: Masks,
    pub builder: FunctionBuilder<'f>,
    /// Numbers of the ALU instructions evaluated by calls, in the order in which code counts them.
    pub evaluated: &'a mut Vec<u32>,
}

/// Returns the flags of all accesses: their addresses are valid, but not aligned to vectors.
pub(super) fn trusted_flags() -> MemFlags {
    MemFlags::new().with_notrap()
}

/// Returns the flags of loads from memory that is constant while the code runs: they may be hoisted.
pub(super) fn readonly_flags() -> MemFlags {
    trusted_flags().with_readonly().with_can_move()
}

impl<'a, 'f> Emitter<'a, 'f> {
    /// Creates an emitter for a function without blocks.
    pub fn new(
        function: FunctionContext<'a>,
        mut builder: FunctionBuilder<'f>,
        evaluated: &'a mut Vec<u32>,
    ) -> Emitter<'a, 'f> {
        let masks = Masks::new(&mut builder, function.program.has_kills());
        let none = Ir::from_u32(0);
        let region = RegionState {
            context: none,
            words: none,
            registers: none,
            stride: none,
            quad: none,
            before_quads: false,
            area: None,
            variables: FxHashMap::default(),
            memories: FxHashMap::default(),
            uniforms: FxHashMap::default(),
        };
        Emitter { function, region, masks, builder, evaluated }
    }

    pub fn lanes(&mut self) -> Lanes<'_, 'f> {
        Lanes { builder: &mut self.builder }
    }

    /// Loads a field of the context.
    pub fn field(&mut self, offset: usize) -> Ir {
        self.builder.ins().load(I64, readonly_flags(), self.region.context, offset as i32)
    }

    pub fn variable(&mut self, vector: LaneVector) -> Variable {
        if let Some(&variable) = self.region.variables.get(&vector) {
            return variable;
        }
        let variable = self.builder.declare_var(I32X4);
        self.region.variables.insert(vector, variable);
        variable
    }

    pub fn read(&mut self, vector: LaneVector) -> Ir {
        if let Some(&word) = self.function.constants.get(&vector) {
            return self.lanes().splat(word);
        }
        if self.is_in_memory(vector) {
            let address = self.address(vector);
            return self.builder.ins().load(I32X4, trusted_flags(), address, 0);
        }
        let variable = self.variable(vector);
        self.builder.use_var(variable)
    }

    fn is_in_memory(&self, vector: LaneVector) -> bool {
        let register = vector.checked_sub(self.function.program.num_value_vectors());
        register.and_then(|register| self.function.in_memory.get(register as usize)).copied().unwrap_or(false)
    }

    /// Writes a vector to a lane vector: only in the active lanes if the others must be kept, else in all.
    pub fn write(&mut self, vector: LaneVector, value: Ir, masked: bool) {
        if self.is_in_memory(vector) {
            let (active, old, address) =
                (self.builder.use_var(self.masks.active), self.read(vector), self.address(vector));
            let value = self.lanes().select(active, value, old);
            self.builder.ins().store(trusted_flags(), value, address, 0);
            return;
        }
        let variable = self.variable(vector);
        let values = self.function.program.num_value_vectors();
        let kept = masked
            || self.function.keep_inactive
            || vector >= values
            || self.function.program.kept().get(vector as usize).copied().unwrap_or(true);
        let kept = kept && !self.region.before_quads;
        let value = if kept {
            let (active, old) = (self.builder.use_var(self.masks.active), self.builder.use_var(variable));
            self.lanes().select(active, value, old)
        } else {
            value
        };
        self.builder.def_var(variable, value);
    }

    /// Returns the address of the quad in a lane vector.
    pub fn address(&mut self, vector: LaneVector) -> Ir {
        let values = self.function.program.num_value_vectors();
        let (file, vector) =
            if vector < values { (self.region.words, vector) } else { (self.region.registers, vector - values) };
        let distance = self.builder.ins().imul_imm(self.region.stride, i64::from(vector));
        let address = self.builder.ins().iadd(file, distance);
        self.builder.ins().iadd(address, self.region.quad)
    }

    /// Returns start and length in bytes of memory.
    pub fn memory(&mut self, memory: Memory) -> (Ir, Ir) {
        if let Some(&found) = self.region.memories.get(&memory) {
            return found;
        }
        let (table, at) = match memory {
            Memory::Constants(number) => (self.region.context, offsets::CONSTANTS + number as usize * offsets::BUFFER),
            Memory::Vertex(number) => (self.field(offsets::VERTICES), number as usize * offsets::BUFFER),
            Memory::Storage(number) => (self.field(offsets::STORAGE), number as usize * offsets::BUFFER),
            Memory::Shared => (self.region.context, offsets::SHARED),
        };
        let [start, length] = [at, at + offsets::BUFFER_LENGTH]
            .map(|at| self.builder.ins().load(I64, readonly_flags(), table, at as i32));
        self.region.memories.insert(memory, (start, length));
        (start, length)
    }

    /// Loads word `number` of a place in all lanes; 0 if it is out of bounds.
    pub fn uniform(&mut self, place: BufferWords, number: u32) -> Ir {
        let word = place.word + number;
        // The end of the words that must be in bounds.
        let end = place.word + (number / place.together + 1) * place.together;
        let key = (place.memory, word, end);
        if let Some(&value) = self.region.uniforms.get(&key) {
            return value;
        }
        let (start, length) = self.memory(place.memory);
        let inside = self.builder.ins().icmp_imm(IntCC::UnsignedGreaterThanOrEqual, length, i64::from(end) * 4);
        let address = self.builder.ins().iadd_imm(start, i64::from(word) * 4);
        let nothing = self.builder.ins().iadd_imm(self.region.context, offsets::ZERO as i64);
        let address = self.builder.ins().select(inside, address, nothing);
        let scalar = self.builder.ins().load(I32, trusted_flags(), address, 0);
        let value = self.lanes().splat_value(scalar);
        self.region.uniforms.insert(key, value);
        value
    }

    /// Returns the address of the quad in a component of inputs or outputs, and the stride of components.
    pub fn component_address(&mut self, file: usize, stride: usize, component: u32) -> (Ir, Ir) {
        let (file, stride) = (self.field(file), self.field(stride));
        let distance = self.builder.ins().imul_imm(stride, i64::from(component));
        let start = self.builder.ins().iadd(file, distance);
        (self.builder.ins().iadd(start, self.region.quad), stride)
    }

    /// Emits all ones in the existing lanes of the quad.
    pub fn exists(&mut self) -> Ir {
        let start = self.field(offsets::EXISTS);
        let address = self.builder.ins().iadd(start, self.region.quad);
        self.builder.ins().load(I32X4, trusted_flags(), address, 0)
    }
}

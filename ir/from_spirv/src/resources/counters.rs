//! Atomic counters: words of counter buffers. Those of OpenGL are at decorated offsets; in modules of the SPIR-V driver
//! they are storage blocks with bindings of their kind.

use spirv::{Decoration, StorageClass};
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::{Def, Type as IrType, Variable as IrVariable};
use tgsi_ir::intrinsics::indices::AtomicOp;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::TypeData as IrTypeData;
use tgsi_ir::variable::{VariableData, VariableModes};

use crate::emit::pointer::{Base, Pointer, Step};
use crate::emit::{Context, Emitter};
use crate::error::SpirvError;
use crate::options::Environment;
use crate::types::{TypeData, TypeId};

/// The set of buffers, and the first binding of counters, in modules of the SPIR-V driver. Each stage has eight.
const BUFFER_SET: u32 = 2;
const FIRST_BINDING: u32 = 512;
const STAGE_BINDINGS: u32 = 8;

/// The counters of a block without length that a run-time index selects from: as many as operands of TGSI can name.
const UNSIZED: u32 = 1 << 15;

/// No buffer has more counters. Drivers know that an index clamped to it is an index alone.
const MAX_COUNTERS: u32 = 1 << 24;

/// Counters that are used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    pub(super) global: u32,
    pub(super) buffer: u32,
    pub(super) first: u32,
    pub(super) length: u32,
    /// Whether the length is that of the known accesses.
    is_unsized: bool,
    variable: IrVariable,
}

/// A counter that an instruction accesses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CounterAccess {
    /// The byte offset in the array of counters.
    address: Def,
    /// The buffer, and the byte offset of the first counter of the array.
    indices: [(IndexKind, i32); 2],
}

/// The intrinsic of an atomic operation on a counter.
fn intrinsic(op: AtomicOp) -> Option<IntrinsicOp> {
    Some(match op {
        AtomicOp::Iadd => IntrinsicOp::AtomicCounterAdd,
        AtomicOp::Umin => IntrinsicOp::AtomicCounterMin,
        AtomicOp::Umax => IntrinsicOp::AtomicCounterMax,
        AtomicOp::Iand => IntrinsicOp::AtomicCounterAnd,
        AtomicOp::Ior => IntrinsicOp::AtomicCounterOr,
        AtomicOp::Ixor => IntrinsicOp::AtomicCounterXor,
        AtomicOp::Xchg => IntrinsicOp::AtomicCounterExchange,
        AtomicOp::Cmpxchg => IntrinsicOp::AtomicCounterCompSwap,
        _ => return None,
    })
}

impl Context<'_> {
    /// Whether a variable holds counters.
    fn has_counters(&self, number: u32, class: u32) -> bool {
        let slot = self.slot(number);
        class == StorageClass::AtomicCounter as u32
            || self.environment == Environment::Tgsic
                && [StorageClass::StorageBuffer as u32, StorageClass::Uniform as u32].contains(&class)
                && slot.set == BUFFER_SET
                && slot.binding >= FIRST_BINDING
    }

    /// The counters of a variable, created at the first use.
    fn counter(&mut self, number: u32) -> Result<usize, SpirvError> {
        if let Some(&known) = self.resources.counter_numbers.get(&number) {
            return Ok(known);
        }
        let Some(global) = self.module.globals.get(number as usize).copied() else {
            return Err(SpirvError::Pointer { id: 0 });
        };
        let value = |kind| self.module.decorations.value(global.id, kind).unwrap_or(0);
        let (mut buffer, offset) = (value(Decoration::Binding), value(Decoration::Offset));
        let mut ty = global.ty;
        if global.class != StorageClass::AtomicCounter as u32 {
            buffer = (buffer - FIRST_BINDING) % STAGE_BINDINGS;
            ty = self.words_of(ty)?;
        }
        // Buffers are numbered by few bits in addresses.
        if buffer >= 1 << 12 {
            return Err(SpirvError::Value { what: "Binding", value: buffer.into() });
        }
        let is_unsized = matches!(self.module.types.get(ty), TypeData::Array { length: 0, .. });
        let length = if is_unsized { 0 } else { self.num_descriptors(number, ty)? };
        let first = offset / 4;
        if offset % 4 != 0 || first.saturating_add(length) > MAX_COUNTERS {
            return Err(SpirvError::Value { what: "Offset", value: offset.into() });
        }
        let ty = self.counter_type(length);
        let mut data = VariableData::new(format!("counters_{buffer}_{first}"), ty, VariableModes::UNIFORM);
        data.location = -1;
        data.driver_location = first;
        data.binding = buffer;
        let variable = self.shader.add_variable(data);
        let counter = Counter { global: number, buffer, first, length, is_unsized, variable };
        self.resources.counter_numbers.insert(number, self.resources.counters.len());
        self.resources.counters.push(counter);
        Ok(self.resources.counters.len() - 1)
    }

    fn counter_type(&mut self, length: u32) -> IrType {
        let counter = self.shader.types.intern(IrTypeData::AtomicCounter);
        self.shader.types.array(counter, length.max(1))
    }

    /// The array of words that is the only member of a block.
    fn words_of(&self, ty: TypeId) -> Result<TypeId, SpirvError> {
        match self.module.types.get(ty) {
            TypeData::Struct { members, .. } if members.len() == 1 => Ok(members[0].ty),
            _ => Err(SpirvError::Types { op: "the atomic".to_owned(), why: "counters are an array of words" }),
        }
    }

    /// Extends counters without length to `length`.
    fn extend_counters(&mut self, number: usize, length: u32) {
        let Some(counter) = self.resources.counters.get_mut(number) else { return };
        if !counter.is_unsized || length <= counter.length {
            return;
        }
        counter.length = length.min(UNSIZED);
        let (variable, length) = (counter.variable, counter.length);
        let ty = self.counter_type(length);
        if let Some(data) = self.shader.variables.get_mut(variable) {
            data.ty = ty;
        }
    }
}

impl Emitter<'_, '_, '_> {
    /// The counter that a pointer leads to; `None` if it leads to other memory.
    ///
    /// # Errors
    /// The pointer is not to one word.
    pub(crate) fn counter_access(&mut self, pointer: &Pointer) -> Result<Option<CounterAccess>, SpirvError> {
        let Base::Global(number) = pointer.base else { return Ok(None) };
        if !self.context.has_counters(number, pointer.class) {
            return Ok(None);
        }
        let wrong = SpirvError::Types { op: "the atomic".to_owned(), why: "a counter is one word" };
        match self.context.module.types.as_vector(pointer.ty) {
            Some((scalar, 1)) if scalar.bit_size() == 32 => {}
            _ => return Err(wrong),
        }
        let counters = self.context.counter(number)?;
        let global = self.context.module.globals.get(number as usize).copied();
        let mut ty = global.map_or(pointer.ty, |global| global.ty);
        let mut steps = pointer.steps.as_slice();
        if pointer.class != StorageClass::AtomicCounter as u32 {
            ty = self.context.words_of(ty)?;
            steps = steps.get(1..).unwrap_or_default();
        }
        let (mut known, mut dynamic) = (0u32, None);
        for &step in steps {
            let TypeData::Array { element, .. } = *self.context.module.types.get(ty) else { return Err(wrong) };
            let size = self.context.module.types.elements(element);
            match step {
                Step::Part(part) => known = known.saturating_add(part.saturating_mul(size)),
                Step::Index(index) => {
                    let term = self.scaled(index, size);
                    dynamic = Some(self.sum(dynamic, term));
                }
            }
            ty = element;
        }
        let end = if dynamic.is_some() { UNSIZED } else { known.saturating_add(1) };
        self.context.extend_counters(counters, end);
        let Some(&counter) = self.context.resources.counters.get(counters) else {
            return Err(SpirvError::Pointer { id: 0 });
        };
        let known = known.min(counter.length.saturating_sub(1));
        let (address, first) = match dynamic {
            None => (self.constant(32, &[u64::from(known) * 4]), counter.first),
            Some(index) => {
                let least = self.constant(32, &[MAX_COUNTERS.wrapping_neg().into()]);
                let most = self.constant(32, &[MAX_COUNTERS.into()]);
                let index = self.b.alu(AluOp::Imax, &[index, least]);
                let index = self.b.alu(AluOp::Imin, &[index, most]);
                let two = self.constant(32, &[2]);
                (self.b.alu(AluOp::Ishl, &[index, two]), counter.first.saturating_add(known))
            }
        };
        let indices = [(IndexKind::Base, counter.buffer as i32), (IndexKind::RangeBase, (first * 4) as i32)];
        Ok(Some(CounterAccess { address, indices }))
    }

    /// Reads a counter.
    pub(crate) fn read_counter(&mut self, counter: &CounterAccess) -> Def {
        let op = IntrinsicOp::AtomicCounterRead;
        self.b.intrinsic_def(op, &[counter.address], &counter.indices, Shape::new(1, 32))
    }

    /// An atomic operation on a counter, which returns the old value. `data` is the operand; for a compare and swap the
    /// comparand and the new value.
    ///
    /// # Errors
    /// Counters lack the operation.
    pub(crate) fn counter_atomic(
        &mut self,
        counter: &CounterAccess,
        op: AtomicOp,
        data: &[Def],
    ) -> Result<Def, SpirvError> {
        let count = if op.is_swap() { 2 } else { 1 };
        let fits = data.len() == count
            && data.iter().all(|&def| self.b.body.num_components(def) == 1 && self.b.body.bit_size(def) == 32);
        let Some(op) = intrinsic(op).filter(|_| fits) else {
            return Err(SpirvError::Types { op: "the atomic".to_owned(), why: "counters are unsigned words" });
        };
        let sources: smallvec::SmallVec<[Def; 3]> = [counter.address].into_iter().chain(data.iter().copied()).collect();
        self.context.shader.info.writes_memory = true;
        Ok(self.b.intrinsic_def(op, &sources, &counter.indices, Shape::new(1, 32)))
    }
}

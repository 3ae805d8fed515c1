//! Atomic counters of OpenGL: words of counter buffers, at decorated offsets.

use spirv::{Decoration, StorageClass};
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::AtomicOp;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::TypeData as IrTypeData;
use tgsi_ir::variable::{VariableData, VariableModes};

use crate::emit::pointer::{Base, Pointer, Step};
use crate::emit::{Context, Emitter};
use crate::error::SpirvError;
use crate::types::TypeData;

/// No buffer has more counters. Drivers know that an index clamped to it is an index alone.
const MAX_COUNTERS: u32 = 1 << 24;

/// Counters that are used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counter {
    pub(super) global: u32,
    pub(super) buffer: u32,
    pub(super) first: u32,
    pub(super) length: u32,
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
    /// The counters of a variable, created at the first use.
    fn counter(&mut self, number: u32) -> Result<Counter, SpirvError> {
        let known = self.resources.counter_numbers.get(&number);
        if let Some(&known) = known.and_then(|&known| self.resources.counters.get(known)) {
            return Ok(known);
        }
        let Some(global) = self.module.globals.get(number as usize).copied() else {
            return Err(SpirvError::Pointer { id: 0 });
        };
        let value = |kind| self.module.decorations.value(global.id, kind).unwrap_or(0);
        let (buffer, offset) = (value(Decoration::Binding), value(Decoration::Offset));
        // Buffers are numbered by few bits in addresses.
        if buffer >= 1 << 12 {
            return Err(SpirvError::Value { what: "Binding", value: buffer.into() });
        }
        let length = self.num_descriptors(number, global.ty)?;
        let first = offset / 4;
        if offset % 4 != 0 || first.saturating_add(length) > MAX_COUNTERS {
            return Err(SpirvError::Value { what: "Offset", value: offset.into() });
        }
        let counter = self.shader.types.intern(IrTypeData::AtomicCounter);
        let ty = self.shader.types.array(counter, length);
        let mut data = VariableData::new(format!("counters_{buffer}_{first}"), ty, VariableModes::UNIFORM);
        data.location = -1;
        data.driver_location = first;
        data.binding = buffer;
        self.shader.add_variable(data);
        self.resources.counter_numbers.insert(number, self.resources.counters.len());
        let counter = Counter { global: number, buffer, first, length };
        self.resources.counters.push(counter);
        Ok(counter)
    }
}

impl Emitter<'_, '_, '_> {
    /// The counter that a pointer leads to; `None` if it leads to other memory.
    ///
    /// # Errors
    /// The pointer is not to one word.
    pub(crate) fn counter_access(&mut self, pointer: &Pointer) -> Result<Option<CounterAccess>, SpirvError> {
        let Base::Global(number) = pointer.base else { return Ok(None) };
        if pointer.class != StorageClass::AtomicCounter as u32 {
            return Ok(None);
        }
        let wrong = SpirvError::Types { op: "the atomic".to_owned(), why: "a counter is one word" };
        match self.context.module.types.as_vector(pointer.ty) {
            Some((scalar, 1)) if scalar.bit_size() == 32 => {}
            _ => return Err(wrong),
        }
        let counter = self.context.counter(number)?;
        let global = self.context.module.globals.get(number as usize).copied();
        let mut ty = global.map_or(pointer.ty, |global| global.ty);
        let (mut known, mut dynamic) = (0u32, None);
        for &step in &pointer.steps {
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

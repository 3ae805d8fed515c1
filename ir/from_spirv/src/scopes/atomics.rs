//! Atomic operations on memory, texels and counters.
//!
//! Storage buffers and the memory of a workgroup have atomics of 32 bits. Variables that no other invocation sees are
//! loaded, changed and stored. Operations whose semantics order other accesses have barriers around them.

use std::rc::Rc;

use smallvec::SmallVec;
use spirv::Op;
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::{AccessFlags, AtomicOp};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::ScalarType;
use tgsi_ir::variable::VariableModes;

use super::{BOOL, WORD, types, unsupported};
use crate::emit::Emitter;
use crate::emit::instructions::{Outcome, with_access};
use crate::emit::pointer::Pointer;
use crate::emit::storage::Storage;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::images::TexelAccess;
use crate::resources::CounterAccess;
use crate::words::Inst;

/// The operand of an operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operand {
    /// The value of the instruction.
    Value,
    /// Its negative.
    Negative,
    /// A constant.
    Constant(u64),
}

/// What an atomic accesses.
#[derive(Debug)]
enum Target {
    /// Memory with numbers of a type.
    Memory(Rc<Pointer>, ScalarType),
    Counter(CounterAccess),
    Texel(TexelAccess),
}

impl Target {
    fn scalar(&self) -> ScalarType {
        match self {
            Target::Memory(_, scalar) => *scalar,
            Target::Counter(_) => ScalarType::Uint,
            Target::Texel(texel) => texel.scalar,
        }
    }
}

/// A read-modify-write operation.
#[derive(Clone, Debug)]
pub(super) struct Change {
    pub(super) op: AtomicOp,
    /// The operand; of a compare and swap the comparand and the new value.
    pub(super) data: SmallVec<[Def; 2]>,
}

/// The operation of an instruction that changes memory.
fn operation(op: Op) -> Option<(AtomicOp, Operand)> {
    Some(match op {
        Op::AtomicExchange => (AtomicOp::Xchg, Operand::Value),
        Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak => (AtomicOp::Cmpxchg, Operand::Value),
        Op::AtomicIIncrement => (AtomicOp::Iadd, Operand::Constant(1)),
        Op::AtomicIDecrement => (AtomicOp::Iadd, Operand::Constant(u32::MAX as u64)),
        Op::AtomicIAdd => (AtomicOp::Iadd, Operand::Value),
        Op::AtomicISub => (AtomicOp::Iadd, Operand::Negative),
        Op::AtomicSMin => (AtomicOp::Imin, Operand::Value),
        Op::AtomicUMin => (AtomicOp::Umin, Operand::Value),
        Op::AtomicSMax => (AtomicOp::Imax, Operand::Value),
        Op::AtomicUMax => (AtomicOp::Umax, Operand::Value),
        Op::AtomicAnd => (AtomicOp::Iand, Operand::Value),
        Op::AtomicOr => (AtomicOp::Ior, Operand::Value),
        Op::AtomicXor => (AtomicOp::Ixor, Operand::Value),
        Op::AtomicFAddEXT => (AtomicOp::Fadd, Operand::Value),
        Op::AtomicFMinEXT => (AtomicOp::Fmin, Operand::Value),
        Op::AtomicFMaxEXT => (AtomicOp::Fmax, Operand::Value),
        Op::AtomicFlagTestAndSet => (AtomicOp::Xchg, Operand::Constant(1)),
        _ => return None,
    })
}

/// The error about memory of other than 32 bits.
fn wide(inst: &Inst<'_>) -> SpirvError {
    unsupported(inst, "atomics have 32 bits")
}

impl Emitter<'_, '_, '_> {
    pub(super) fn atomic(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        match op {
            Op::AtomicLoad => return self.atomic_load(inst),
            Op::AtomicStore | Op::AtomicFlagClear => return self.atomic_store(op, inst),
            _ => {}
        }
        let Some((atomic, operand)) = operation(op) else { return Ok(Outcome::Other) };
        // A compare and swap has semantics for both outcomes.
        let value = if atomic.is_swap() { 6 } else { 5 };
        let target = self.target(inst, inst.word(2))?;
        let fences = self.fences(inst.word(3), inst.words.get(4..value).unwrap_or_default())?;
        let needs_float = atomic.data_type().base == BaseType::Float;
        // Exchanges copy bits.
        if needs_float != target.scalar().is_float() && !matches!(atomic, AtomicOp::Xchg | AtomicOp::Cmpxchg) {
            return Err(types(inst, "the memory has another type"));
        }
        let is_flag = op == Op::AtomicFlagTestAndSet;
        self.expect_result(inst, if is_flag { BOOL } else { WORD })?;
        let mut data: SmallVec<[Def; 2]> = SmallVec::new();
        if atomic.is_swap() {
            data.push(self.operand(inst, value + 1, WORD)?);
        }
        data.push(match operand {
            Operand::Value => self.operand(inst, value, WORD)?,
            Operand::Negative => {
                let number = self.operand(inst, value, WORD)?;
                self.b.alu(AluOp::Ineg, &[number])
            }
            Operand::Constant(number) => self.constant(32, &[number]),
        });
        let change = Change { op: atomic, data };
        self.fence_before(&fences);
        let old = match &target {
            Target::Memory(pointer, _) => self.change(inst, &with_access(pointer, fences.access), &change)?,
            Target::Counter(counter) => self.counter_atomic(counter, change.op, &change.data)?,
            Target::Texel(texel) => self.change_texel(texel, &change, fences.access)?,
        };
        self.fence_after(&fences);
        Ok(Outcome::Value(Value::Vector(if is_flag {
            let zero = self.constant(32, &[0]);
            self.b.alu(AluOp::Ine, &[old, zero])
        } else {
            old
        })))
    }

    fn atomic_load(&mut self, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        let target = self.target(inst, inst.word(2))?;
        let fences = self.fences(inst.word(3), inst.words.get(4..5).unwrap_or_default())?;
        self.expect_result(inst, WORD)?;
        let access = fences.access.union(AccessFlags::COHERENT);
        self.fence_before(&fences);
        let value = match &target {
            Target::Memory(pointer, _) => self.load(&with_access(pointer, access))?,
            Target::Counter(counter) => Value::Vector(self.read_counter(counter)),
            Target::Texel(texel) => Value::Vector(self.load_texel(texel, access)),
        };
        self.fence_after(&fences);
        Ok(Outcome::Value(value))
    }

    fn atomic_store(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        let target = self.target(inst, inst.word(0))?;
        let fences = self.fences(inst.word(1), inst.words.get(2..3).unwrap_or_default())?;
        let value = match op {
            Op::AtomicStore => self.operand(inst, 3, WORD)?,
            _ => self.constant(32, &[0]),
        };
        let access = fences.access.union(AccessFlags::COHERENT);
        self.fence_before(&fences);
        match &target {
            Target::Memory(pointer, _) => {
                self.context.shader.info.writes_memory = true;
                self.store(&with_access(pointer, access), &Value::Vector(value))?;
            }
            Target::Counter(counter) => {
                self.counter_atomic(counter, AtomicOp::Xchg, &[value])?;
            }
            Target::Texel(texel) => self.store_texel(texel, value, access),
        }
        self.fence_after(&fences);
        Ok(Outcome::Effect)
    }

    /// The memory of an atomic: a number of 32 bits.
    fn target(&mut self, inst: &Inst<'_>, id: u32) -> Result<Target, SpirvError> {
        if let Value::Texel(texel) = self.value(id)? {
            let texel = self.texel_access(&texel)?;
            return if texel.scalar.bit_size() == 32 { Ok(Target::Texel(texel)) } else { Err(wide(inst)) };
        }
        let pointer = self.pointer(id)?;
        if let Some(counter) = self.counter_access(&pointer)? {
            return Ok(Target::Counter(counter));
        }
        match self.context.module.types.as_vector(pointer.ty) {
            Some((scalar, 1)) if scalar.bit_size() == 32 => Ok(Target::Memory(pointer, scalar)),
            Some((scalar, 1)) if scalar != ScalarType::Bool => Err(wide(inst)),
            _ => Err(types(inst, "the pointer is not one to a number")),
        }
    }

    fn change_texel(&mut self, texel: &TexelAccess, change: &Change, access: AccessFlags) -> Result<Def, SpirvError> {
        let op = if change.op.is_swap() { IntrinsicOp::ImageDerefAtomicSwap } else { IntrinsicOp::ImageDerefAtomic };
        let indices = texel.atomic_indices(change.op, access)?;
        let sources: SmallVec<[Def; 5]> = texel.sources().into_iter().chain(change.data.iter().copied()).collect();
        Ok(self.b.intrinsic_def(op, &sources, &indices, WORD))
    }

    /// Changes memory. Returns the old value.
    fn change(&mut self, inst: &Inst<'_>, pointer: &Rc<Pointer>, change: &Change) -> Result<Def, SpirvError> {
        if pointer.is_chosen() {
            let old =
                self.at_targets(pointer, &[WORD], |emitter, target| Ok(vec![emitter.change(inst, target, change)?]))?;
            return old.first().copied().ok_or(types(inst, "the pointer does not lead to memory"));
        }
        let memory = match self.resolve(pointer)? {
            (Storage::Memory(memory), _) => memory,
            (Storage::Bytes(block), steps) => {
                let address = self.byte_offset(block, &steps);
                let op = if change.op.is_swap() { IntrinsicOp::SharedAtomicSwap } else { IntrinsicOp::SharedAtomic };
                let sources: SmallVec<[Def; 3]> = std::iter::once(address).chain(change.data.iter().copied()).collect();
                return Ok(self.b.intrinsic_def(op, &sources, &[(IndexKind::AtomicOp, change.op.to_i32())], WORD));
            }
            (Storage::Error, _) => return Ok(self.undefined(WORD)),
            _ => return Err(types(inst, "the pointer does not lead to memory")),
        };
        if memory.mode.intersects(VariableModes::MEM_SSBO.union(VariableModes::MEM_SHARED)) {
            return self.change_shared(pointer, change);
        }
        let private = VariableModes::SHADER_TEMP.union(VariableModes::FUNCTION_TEMP).union(VariableModes::SHADER_OUT);
        if memory.mode.intersects(private) {
            return self.change_private(inst, pointer, change);
        }
        Err(types(inst, "the memory cannot be written"))
    }

    /// Changes memory that other invocations see.
    fn change_shared(&mut self, pointer: &Pointer, change: &Change) -> Result<Def, SpirvError> {
        let (deref, _) = self.deref(pointer)?;
        self.context.shader.info.writes_memory = true;
        let op = if change.op.is_swap() { IntrinsicOp::DerefAtomicSwap } else { IntrinsicOp::DerefAtomic };
        let sources: SmallVec<[Def; 3]> = std::iter::once(deref).chain(change.data.iter().copied()).collect();
        let indices = [(IndexKind::Access, pointer.access.to_i32()), (IndexKind::AtomicOp, change.op.to_i32())];
        Ok(self.b.intrinsic_def(op, &sources, &indices, WORD))
    }
}

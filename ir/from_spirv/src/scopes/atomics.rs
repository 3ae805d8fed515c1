//! Atomic operations on memory, texels and counters.
//!
//! Storage buffers and the memory of a workgroup have atomics of 32 bits. Variables that no other invocation sees are
//! loaded, changed and stored. Operations whose semantics order other accesses have barriers around them.

use std::rc::Rc;

use smallvec::SmallVec;
use spirv::{Op, StorageClass};
use tgsi_ir::alu::{AluOp, BaseType};
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::{AccessFlags, AtomicOp};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::ScalarType;
use tgsi_ir::variable::VariableModes;

use super::{BOOL, WORD, types, unsupported};
use crate::emit::Emitter;
use crate::emit::instructions::Outcome;
use crate::emit::pointer::Pointer;
use crate::emit::storage::Storage;
use crate::emit::value::Value;
use crate::error::SpirvError;
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
        Op::AtomicStore | Op::AtomicExchange => (AtomicOp::Xchg, Operand::Value),
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
        Op::AtomicFlagClear => (AtomicOp::Xchg, Operand::Constant(0)),
        _ => return None,
    })
}

impl Emitter<'_, '_, '_> {
    pub(super) fn atomic(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        if op == Op::AtomicLoad {
            return self.atomic_load(inst);
        }
        let Some((atomic, operand)) = operation(op) else { return Ok(Outcome::Other) };
        let has_result = !matches!(op, Op::AtomicStore | Op::AtomicFlagClear);
        // The words of pointer, scope and semantics come first. A compare and swap has semantics for both outcomes.
        let first = if has_result { 2 } else { 0 };
        let value = if atomic.is_swap() { first + 4 } else { first + 3 };
        let pointer = self.pointer(inst.word(first))?;
        let fences = self.fences(inst.word(first + 1), inst.words.get(first + 2..value).unwrap_or_default())?;
        let scalar = self.atomic_type(inst, &pointer)?;
        let needs_float = atomic.data_type().base == BaseType::Float;
        // Exchanges copy bits.
        if needs_float != scalar.is_float() && !matches!(atomic, AtomicOp::Xchg | AtomicOp::Cmpxchg) {
            return Err(types(inst, "the memory has another type"));
        }
        let result = if op == Op::AtomicFlagTestAndSet { BOOL } else { WORD };
        if has_result {
            self.expect_result(inst, result)?;
        }
        let mut data: SmallVec<[Def; 2]> = SmallVec::new();
        data.push(match operand {
            Operand::Value => self.operand(inst, value, WORD)?,
            Operand::Negative => {
                let number = self.operand(inst, value, WORD)?;
                self.b.alu(AluOp::Ineg, &[number])
            }
            Operand::Constant(number) => self.constant(32, &[number]),
        });
        if atomic.is_swap() {
            data.insert(0, self.operand(inst, value + 1, WORD)?);
        }
        let mut pointer = Pointer::clone(&pointer);
        if fences.is_volatile {
            pointer.access = pointer.access.union(AccessFlags::VOLATILE);
        }
        self.fence_before(&fences);
        let old = self.change(inst, &Rc::new(pointer), &Change { op: atomic, data })?;
        self.fence_after(&fences);
        if !has_result {
            return Ok(Outcome::Effect);
        }
        Ok(Outcome::Value(Value::Vector(match result {
            BOOL => {
                let zero = self.constant(32, &[0]);
                self.b.alu(AluOp::Ine, &[old, zero])
            }
            _ => old,
        })))
    }

    fn atomic_load(&mut self, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        let pointer = self.pointer(inst.word(2))?;
        let fences = self.fences(inst.word(3), inst.words.get(4..5).unwrap_or_default())?;
        self.atomic_type(inst, &pointer)?;
        self.expect_result(inst, WORD)?;
        self.fence_before(&fences);
        let mut pointer = Pointer::clone(&pointer);
        pointer.access = pointer.access.union(AccessFlags::COHERENT);
        if fences.is_volatile {
            pointer.access = pointer.access.union(AccessFlags::VOLATILE);
        }
        let value = self.load(&Rc::new(pointer))?;
        self.fence_after(&fences);
        Ok(Outcome::Value(value))
    }

    /// The type of memory that an atomic accesses: a number of 32 bits.
    fn atomic_type(&self, inst: &Inst<'_>, pointer: &Pointer) -> Result<ScalarType, SpirvError> {
        if pointer.class == StorageClass::Image as u32 {
            return Err(unsupported(inst, "texels have no atomics"));
        }
        match self.context.module.types.as_vector(pointer.ty) {
            Some((scalar, 1)) if scalar.bit_size() == 32 => Ok(scalar),
            Some((scalar, 1)) if scalar != ScalarType::Bool => Err(unsupported(inst, "atomics have 32 bits")),
            _ => Err(types(inst, "the pointer is not one to a number")),
        }
    }

    /// Changes memory. Returns the old value.
    fn change(&mut self, inst: &Inst<'_>, pointer: &Rc<Pointer>, change: &Change) -> Result<Def, SpirvError> {
        let (Storage::Memory(memory), _) = self.resolve(pointer)? else {
            return Err(types(inst, "the pointer does not lead to memory"));
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

//! Atomic operations on words.
//!
//! Operations that SPIR-V has are single, relaxed instructions: barriers order memory. The others, and in the portable
//! profile signed ones on words that other accesses use as unsigned, are compare-exchange loops:
//!
//! ```text
//!          first = OpAtomicLoad        (relaxed)
//! header:  old = OpPhi first, found
//!          OpLoopMerge merge continue
//! body:    new = f(old)
//!          found = OpAtomicCompareExchange new old
//!          break if found == old
//! continue: back to header
//! merge:   the result is old
//! ```

use spirv::{BuiltIn, GlslStd450Op, LoopControl, MemorySemantics, Op, Scope, StorageClass};
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::intrinsics::indices::AtomicOp;
use tgsi_ir::{Inst, ShaderStage};

use super::Memory;
use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, Id, ValueType};

impl Emitter<'_> {
    /// Emits the atomic of an intrinsic on a word. `first` is the number of its first operand.
    pub(in crate::emit) fn atomic(
        &mut self,
        inst: Inst,
        first: usize,
        memory: &Memory,
        pointer: Id,
    ) -> Result<Id, SpirvError> {
        let body = self.body;
        let op = AtomicOp::from_i32(body.index(inst, IndexKind::AtomicOp)).unwrap_or(AtomicOp::Iadd);
        if body.inst_def(inst).is_some_and(|def| body.bit_size(def) != 32) {
            return Err(SpirvError::Unsupported { inst, what: "an atomic on other than 32 bits" });
        }
        let operand = self.component(body.src(inst, first), 0, memory.class)?;
        match op {
            AtomicOp::Cmpxchg => {
                let data = self.component(body.src(inst, first + 1), 0, memory.class)?;
                Ok(self.compare_exchange(memory, pointer, data, operand))
            }
            AtomicOp::Fcmpxchg => {
                let data = self.component(body.src(inst, first + 1), 0, memory.class)?;
                let compare = self.bits_as(operand, memory.class, Class::Float);
                self.exchange_loop(memory, pointer, |e, old| {
                    let float = e.bits_as(old, memory.class, Class::Float);
                    let equal = e.pure_of(Op::FOrdEqual, ValueType::BOOL, &[float, compare]);
                    e.select(ValueType::new(memory.class, 32, 1), equal, data, old)
                })
            }
            op => self.read_modify_write(op, memory, pointer, operand),
        }
    }

    /// Bitcasts a 32-bit scalar to another class.
    fn bits_as(&mut self, id: Id, from: Class, to: Class) -> Id {
        if from == to { id } else { self.pure_of(Op::Bitcast, ValueType::new(to, 32, 1), &[id]) }
    }

    /// Returns scope and semantics of an atomic.
    fn atomic_scope(&mut self, memory: &Memory) -> (Id, Id) {
        let scope = if memory.storage == StorageClass::Workgroup { Scope::Workgroup } else { self.widest_scope() };
        (self.module.uint(scope as u32), self.module.uint(MemorySemantics::RELAXED.bits()))
    }

    /// Emits an atomic load of a word.
    pub(super) fn atomic_load(&mut self, memory: &Memory, pointer: Id) -> Id {
        let ty = self.module.value_type(ValueType::new(memory.class, 32, 1));
        let (scope, semantics) = self.atomic_scope(memory);
        self.result(Op::AtomicLoad, ty, &[pointer.0, scope.0, semantics.0])
    }

    /// Stores `data` if the word equals `compare`; returns the old word.
    pub(super) fn compare_exchange(&mut self, memory: &Memory, pointer: Id, data: Id, compare: Id) -> Id {
        let ty = self.module.value_type(ValueType::new(memory.class, 32, 1));
        let (scope, semantics) = self.atomic_scope(memory);
        let operands = [pointer.0, scope.0, semantics.0, semantics.0, data.0, compare.0];
        self.result(Op::AtomicCompareExchange, ty, &operands)
    }

    /// Emits an operation with one operand, in the class of the memory; returns the old word.
    pub(super) fn read_modify_write(
        &mut self,
        op: AtomicOp,
        memory: &Memory,
        pointer: Id,
        data: Id,
    ) -> Result<Id, SpirvError> {
        let class = memory.class;
        let ty = ValueType::new(class, 32, 1);
        let instruction = match op {
            AtomicOp::Iadd => Some(Op::AtomicIAdd),
            AtomicOp::Imin => Some(Op::AtomicSMin),
            AtomicOp::Umin => Some(Op::AtomicUMin),
            AtomicOp::Imax => Some(Op::AtomicSMax),
            AtomicOp::Umax => Some(Op::AtomicUMax),
            AtomicOp::Iand => Some(Op::AtomicAnd),
            AtomicOp::Ior => Some(Op::AtomicOr),
            AtomicOp::Ixor => Some(Op::AtomicXor),
            AtomicOp::Xchg => Some(Op::AtomicExchange),
            AtomicOp::Fadd
            | AtomicOp::Fmin
            | AtomicOp::Fmax
            | AtomicOp::Cmpxchg
            | AtomicOp::Fcmpxchg
            | AtomicOp::IncWrap
            | AtomicOp::DecWrap => None,
        };
        let wanted = match op {
            AtomicOp::Imin | AtomicOp::Imax => Class::Int,
            AtomicOp::Umin | AtomicOp::Umax => Class::Uint,
            AtomicOp::Fadd | AtomicOp::Fmin | AtomicOp::Fmax => Class::Float,
            AtomicOp::IncWrap | AtomicOp::DecWrap => Class::Uint,
            _ => class,
        };
        if let Some(instruction) = instruction.filter(|_| wanted == class || !self.options.portable) {
            let ty = self.module.value_type(ty);
            let (scope, semantics) = self.atomic_scope(memory);
            return Ok(self.result(instruction, ty, &[pointer.0, scope.0, semantics.0, data.0]));
        }
        let data = self.bits_as(data, class, wanted);
        self.exchange_loop(memory, pointer, |e, old| {
            let old = e.bits_as(old, class, wanted);
            let ty = ValueType::new(wanted, 32, 1);
            let (one, zero) = (e.module.uint(1), e.module.uint(0));
            let new = match op {
                AtomicOp::Imin => e.glsl(GlslStd450Op::SMin, ty, &[old, data]),
                AtomicOp::Imax => e.glsl(GlslStd450Op::SMax, ty, &[old, data]),
                AtomicOp::Umin => e.glsl(GlslStd450Op::UMin, ty, &[old, data]),
                AtomicOp::Umax => e.glsl(GlslStd450Op::UMax, ty, &[old, data]),
                AtomicOp::Fadd => e.pure_of(Op::FAdd, ty, &[old, data]),
                AtomicOp::Fmin => e.glsl(GlslStd450Op::NMin, ty, &[old, data]),
                AtomicOp::Fmax => e.glsl(GlslStd450Op::NMax, ty, &[old, data]),
                AtomicOp::IncWrap => {
                    let wraps = e.pure_of(Op::UGreaterThanEqual, ValueType::BOOL, &[old, data]);
                    let next = e.pure_of(Op::IAdd, ty, &[old, one]);
                    e.select(ty, wraps, zero, next)
                }
                AtomicOp::DecWrap => {
                    let none = e.pure_of(Op::IEqual, ValueType::BOOL, &[old, zero]);
                    let beyond = e.pure_of(Op::UGreaterThan, ValueType::BOOL, &[old, data]);
                    let wraps = e.pure_of(Op::LogicalOr, ValueType::BOOL, &[none, beyond]);
                    let previous = e.pure_of(Op::ISub, ty, &[old, one]);
                    e.select(ty, wraps, data, previous)
                }
                AtomicOp::Iadd
                | AtomicOp::Iand
                | AtomicOp::Ior
                | AtomicOp::Ixor
                | AtomicOp::Xchg
                | AtomicOp::Cmpxchg
                | AtomicOp::Fcmpxchg => data,
            };
            e.bits_as(new, wanted, class)
        })
    }

    /// Emits a loop that replaces a word by `change` of it until no other invocation interferes; returns the old word.
    /// Helper invocations skip the loop: their writes have no effect, so that they would never leave it.
    fn exchange_loop(
        &mut self,
        memory: &Memory,
        pointer: Id,
        change: impl FnOnce(&mut Self, Id) -> Id,
    ) -> Result<Id, SpirvError> {
        if self.shader.stage != ShaderStage::Fragment {
            return Ok(self.exchange_until_done(memory, pointer, change));
        }
        let variable = self.module.built_in_input(BuiltIn::HelperInvocation, ValueType::BOOL);
        let ty = self.module.value_type(ValueType::BOOL);
        let helper = self.result(Op::Load, ty, &[variable.0]);
        let real = self.pure_of(Op::LogicalNot, ValueType::BOOL, &[helper]);
        let ty = ValueType::new(memory.class, 32, 1);
        self.if_then_value(real, ty, |e| Ok(e.exchange_until_done(memory, pointer, change)))
    }

    fn exchange_until_done(&mut self, memory: &Memory, pointer: Id, change: impl FnOnce(&mut Self, Id) -> Id) -> Id {
        let ty = self.module.value_type(ValueType::new(memory.class, 32, 1));
        let first = self.atomic_load(memory, pointer);
        let Some(before) = self.label else { return first };
        let [header, inner, continues, merge, found] = std::array::from_fn(|_| self.module.id());
        self.end(Op::Branch, &[header.0]);
        self.open(header);
        let old = self.result(Op::Phi, ty, &[first.0, before.0, found.0, continues.0]);
        self.push(Op::LoopMerge, &[merge.0, continues.0, LoopControl::NONE.bits()]);
        self.end(Op::Branch, &[inner.0]);
        self.open(inner);
        self.value_numbers.enter();
        let new = change(self, old);
        let (scope, semantics) = self.atomic_scope(memory);
        let operands = [ty.0, found.0, pointer.0, scope.0, semantics.0, semantics.0, new.0, old.0];
        self.push(Op::AtomicCompareExchange, &operands);
        let done = self.pure_of(Op::IEqual, ValueType::BOOL, &[found, old]);
        self.value_numbers.leave();
        self.end(Op::BranchConditional, &[done.0, merge.0, continues.0]);
        self.open(continues);
        self.end(Op::Branch, &[header.0]);
        self.open(merge);
        old
    }
}

//! Atomic operations on memory, atomic counters, and barriers.

use arrayvec::ArrayVec;
use tgsi_arithmetic::Operand;
use tgsi_ir::alu::AluOp;
use tgsi_ir::body::Shape;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::{AccessFlags, AtomicOp, MemorySemantics, Scope};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::shader::ShaderStage;
use tgsi_ir::variable::{VariableData, VariableModes};

use super::calls::SamplerStep;
use super::places::{Lanes, Value};
use super::{EmitError, Emitter, index};
use crate::builtins::functions::{AtomicKind, BuiltinOp, CounterOp};
use crate::program::{ExprId, VariableId};
use crate::types::{Scalar, TypeId};

/// Bytes of a counter.
const COUNTER_SIZE: u32 = 4;

/// No buffer has more counters. Drivers rely on it: an index clamped to it is an index alone.
const MAX_COUNTERS: u32 = 1 << 24;

/// A value of one word.
const WORD: Shape = Shape::new(1, 32);

/// The operation on components of a type.
pub(super) fn atomic_op(kind: AtomicKind, scalar: Scalar) -> AtomicOp {
    match (kind, scalar) {
        (AtomicKind::Add, Scalar::Float) => AtomicOp::Fadd,
        (AtomicKind::Add, _) => AtomicOp::Iadd,
        (AtomicKind::Min, Scalar::Float) => AtomicOp::Fmin,
        (AtomicKind::Min, Scalar::Int) => AtomicOp::Imin,
        (AtomicKind::Min, _) => AtomicOp::Umin,
        (AtomicKind::Max, Scalar::Float) => AtomicOp::Fmax,
        (AtomicKind::Max, Scalar::Int) => AtomicOp::Imax,
        (AtomicKind::Max, _) => AtomicOp::Umax,
        (AtomicKind::And, _) => AtomicOp::Iand,
        (AtomicKind::Or, _) => AtomicOp::Ior,
        (AtomicKind::Xor, _) => AtomicOp::Ixor,
        (AtomicKind::Exchange, _) => AtomicOp::Xchg,
        (AtomicKind::CompSwap, Scalar::Float) => AtomicOp::Fcmpxchg,
        (AtomicKind::CompSwap, _) => AtomicOp::Cmpxchg,
        (AtomicKind::IncWrap, _) => AtomicOp::IncWrap,
        (AtomicKind::DecWrap, _) => AtomicOp::DecWrap,
    }
}

/// The intrinsic of an operation on a counter. Counters have no wrapping increments.
fn counter_intrinsic(kind: AtomicKind) -> IntrinsicOp {
    match kind {
        AtomicKind::Add | AtomicKind::IncWrap | AtomicKind::DecWrap => IntrinsicOp::AtomicCounterAdd,
        AtomicKind::Min => IntrinsicOp::AtomicCounterMin,
        AtomicKind::Max => IntrinsicOp::AtomicCounterMax,
        AtomicKind::And => IntrinsicOp::AtomicCounterAnd,
        AtomicKind::Or => IntrinsicOp::AtomicCounterOr,
        AtomicKind::Xor => IntrinsicOp::AtomicCounterXor,
        AtomicKind::Exchange => IntrinsicOp::AtomicCounterExchange,
        AtomicKind::CompSwap => IntrinsicOp::AtomicCounterCompSwap,
    }
}

impl Emitter<'_, '_, '_> {
    /// An atomic operation on memory of a buffer or workgroup. The value is the old one.
    pub(super) fn memory_atomic(&mut self, kind: AtomicKind, operands: &[ExprId]) -> Result<Value, EmitError> {
        let program = self.context.program;
        let Some((&target, rest)) = operands.split_first() else { return Ok(Value::None) };
        let (scalar, _) = program.types.as_vector(program.expr(target).ty).unwrap_or((Scalar::Uint, 1));
        let place = self.place(target)?;
        let component = match place.lanes {
            None => None,
            Some(Lanes::Fixed([component, ..], _)) => Some(index(&mut self.b, component.into())),
            Some(Lanes::Indexed(component)) => Some(component),
        };
        let deref = match component {
            Some(component) => self.element_deref(place.deref, component),
            None => place.deref,
        };
        let mut sources: ArrayVec<Def, 3> = [deref].into_iter().collect();
        for &operand in rest.iter().take(2) {
            sources.push(self.vector_of(operand)?);
        }
        self.context.shader.info.writes_memory = true;
        let atomic = atomic_op(kind, scalar);
        let op = if atomic.is_swap() { IntrinsicOp::DerefAtomicSwap } else { IntrinsicOp::DerefAtomic };
        let access = self.access_of(target);
        let indices = [(IndexKind::Access, access.to_i32()), (IndexKind::AtomicOp, atomic.to_i32())];
        Ok(Value::Operand(Operand::Vector(self.b.intrinsic_def(op, &sources, &indices, WORD))))
    }

    /// The memory qualifiers of the variable that an expression is part of.
    fn access_of(&self, expr: ExprId) -> AccessFlags {
        use crate::program::ExprKind as K;
        let program = self.context.program;
        let mut current = expr;
        loop {
            current = match program.expr(current).kind {
                K::Index(base, _) | K::Field(base, _) | K::Swizzle(base, _) => base,
                K::Variable(id) => return program.variable(id).traits.access,
                _ => return AccessFlags::NONE,
            };
        }
    }

    /// An access to an atomic counter.
    pub(super) fn counter(&mut self, op: CounterOp, operands: &[ExprId]) -> Result<Value, EmitError> {
        let Some((&counter, rest)) = operands.split_first() else { return Ok(Value::None) };
        let (address, indices) = self.counter_address(counter)?;
        let mut data: ArrayVec<Def, 2> = ArrayVec::new();
        for &operand in rest.iter().take(2) {
            data.push(self.vector_of(operand)?);
        }
        self.context.shader.info.writes_memory |= op != CounterOp::Read;
        let intrinsic = match op {
            CounterOp::Read => IntrinsicOp::AtomicCounterRead,
            CounterOp::Increment => {
                data.push(self.b.u32_const(1));
                IntrinsicOp::AtomicCounterAdd
            }
            CounterOp::Decrement => {
                data.push(self.b.u32_const(u32::MAX));
                IntrinsicOp::AtomicCounterAdd
            }
            CounterOp::Subtract => {
                data = data.iter().map(|&number| self.b.alu(AluOp::Ineg, &[number])).collect();
                IntrinsicOp::AtomicCounterAdd
            }
            CounterOp::Change(kind) => counter_intrinsic(kind),
        };
        let sources: ArrayVec<Def, 3> = [address].into_iter().chain(data.iter().copied()).collect();
        let mut value = self.b.intrinsic_def(intrinsic, &sources, &indices, WORD);
        if op == CounterOp::Decrement {
            // The function returns the new value.
            let minus_one = self.b.u32_const(u32::MAX);
            value = self.b.alu(AluOp::Iadd, &[value, minus_one]);
        }
        Ok(Value::Operand(Operand::Vector(value)))
    }

    /// The byte offset of a counter in its variable, and the indices of its buffer and of the offset of the variable.
    fn counter_address(&mut self, expr: ExprId) -> Result<(Def, [(IndexKind, i32); 2]), EmitError> {
        let program = self.context.program;
        let argument = self.sampler_argument(expr)?;
        let uniform = program.variable(argument.uniform);
        let (buffer, first) = (uniform.traits.binding.unwrap_or(0), uniform.traits.offset.unwrap_or(0));
        let length = program.types.summary(uniform.ty).counters.max(1);
        self.counter_variable(argument.uniform, buffer, first / COUNTER_SIZE, length);
        let (mut known, mut dynamic) = (0u32, None::<Def>);
        for &step in &argument.steps {
            match step {
                SamplerStep::Element(number, ty) => {
                    known = known.saturating_add(number.saturating_mul(program.types.summary(ty).counters));
                }
                SamplerStep::Index(variable, ty) => {
                    let number = self.deref_temporary(variable, TypeId::INT);
                    let number = self.load(number, TypeId::INT);
                    let number = self.scalar(Value::Operand(number));
                    let size = self.b.u32_const(program.types.summary(ty).counters);
                    let term = self.b.alu(AluOp::Imul, &[number, size]);
                    dynamic = Some(match dynamic {
                        Some(sum) => self.b.alu(AluOp::Iadd, &[sum, term]),
                        None => term,
                    });
                }
                // Structs have no counters.
                SamplerStep::Field(..) => {}
            }
        }
        let known = known.min(length - 1);
        let (address, base) = match dynamic {
            None => (self.b.u32_const(known * COUNTER_SIZE), first),
            Some(number) => {
                let least = self.b.u32_const(MAX_COUNTERS.wrapping_neg());
                let most = self.b.u32_const(MAX_COUNTERS);
                let number = self.b.alu(AluOp::Imax, &[number, least]);
                let number = self.b.alu(AluOp::Imin, &[number, most]);
                let two = self.b.u32_const(2);
                let offset = known.saturating_mul(COUNTER_SIZE);
                (self.b.alu(AluOp::Ishl, &[number, two]), first.saturating_add(offset))
            }
        };
        Ok((address, [(IndexKind::Base, buffer as i32), (IndexKind::RangeBase, base as i32)]))
    }

    /// Adds the variable of counters at their first use.
    fn counter_variable(&mut self, id: VariableId, buffer: u32, first: u32, length: u32) {
        if self.context.variables.contains_key(&id) {
            return;
        }
        let counter = self.context.shader.types.intern(tgsi_ir::types::TypeData::AtomicCounter);
        let ty = self.context.shader.types.array(counter, length);
        let name = self.context.interner.spelling(self.context.program.variable(id).name).to_owned();
        let mut data = VariableData::new(name, ty, VariableModes::UNIFORM);
        data.location = -1;
        data.driver_location = first;
        data.binding = buffer;
        let variable = self.context.shader.add_variable(data);
        self.context.variables.insert(id, variable);
        self.context.interface.push((id, variable));
    }

    /// A barrier of execution or memory.
    pub(super) fn barrier(&mut self, op: BuiltinOp) {
        let (buffers, shared, images) = (VariableModes::MEM_SSBO, VariableModes::MEM_SHARED, VariableModes::IMAGE);
        let all = buffers.union(shared).union(images);
        let is_control = self.context.program.stage == ShaderStage::TessCtrl;
        let (execution, memory, modes) = match op {
            BuiltinOp::Barrier if is_control => (Scope::Workgroup, Scope::Workgroup, VariableModes::SHADER_OUT),
            BuiltinOp::Barrier => (Scope::Workgroup, Scope::Workgroup, shared),
            BuiltinOp::MemoryBarrierBuffer | BuiltinOp::MemoryBarrierAtomicCounter => {
                (Scope::None, Scope::Device, buffers)
            }
            BuiltinOp::MemoryBarrierImage => (Scope::None, Scope::Device, images),
            BuiltinOp::MemoryBarrierShared => (Scope::None, Scope::Device, shared),
            BuiltinOp::GroupMemoryBarrier => (Scope::None, Scope::Workgroup, all),
            _ => (Scope::None, Scope::Device, all),
        };
        let indices = [
            (IndexKind::ExecutionScope, execution.to_i32()),
            (IndexKind::MemoryScope, memory.to_i32()),
            (IndexKind::MemorySemantics, MemorySemantics::ACQ_REL.to_i32()),
            (IndexKind::MemoryModes, modes.0 as i32),
        ];
        self.b.intrinsic(IntrinsicOp::Barrier, &[], &indices, None);
    }
}

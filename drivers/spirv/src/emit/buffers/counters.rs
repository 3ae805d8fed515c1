//! Atomic counters: words of a storage buffer.

use spirv::Op;
use tgsi_compiler::reflection::ResourceKind;
use tgsi_ir::Inst;
use tgsi_ir::intrinsics::indices::AtomicOp;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::types::TypeData;
use tgsi_ir::variable::VariableModes;

use super::{Length, Memory};
use crate::emit::Emitter;
use crate::error::SpirvError;
use crate::module::{Class, ValueType};

/// The greatest number of a counter buffer: each stage has eight bindings for them.
const LAST_COUNTER_BUFFER: u32 = 7;

impl Emitter<'_> {
    pub(in crate::emit) fn emit_atomic_counter(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), SpirvError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let buffer = body.base(inst);
        if buffer > LAST_COUNTER_BUFFER {
            let zero = self.module.uint(0);
            self.define(def, zero, Class::Uint);
            return Ok(());
        }
        let memory = self.counters_of(buffer);
        let place = self.place(body.index(inst, IndexKind::RangeBase) as u32, body.src(inst, 0), 2)?;
        let one = self.module.uint(1);
        let operand = |e: &mut Self| e.component(body.src(inst, 1), 0, Class::Uint);
        let id = self.on_word(&memory, place, |e, pointer| {
            let (op, data) = match op {
                IntrinsicOp::AtomicCounterRead => return Ok(e.atomic_load(&memory, pointer)),
                IntrinsicOp::AtomicCounterInc => (AtomicOp::Iadd, one),
                IntrinsicOp::AtomicCounterPreDec | IntrinsicOp::AtomicCounterPostDec => {
                    (AtomicOp::Iadd, e.module.uint(u32::MAX))
                }
                IntrinsicOp::AtomicCounterAdd => (AtomicOp::Iadd, operand(e)?),
                IntrinsicOp::AtomicCounterMin => (AtomicOp::Umin, operand(e)?),
                IntrinsicOp::AtomicCounterMax => (AtomicOp::Umax, operand(e)?),
                IntrinsicOp::AtomicCounterAnd => (AtomicOp::Iand, operand(e)?),
                IntrinsicOp::AtomicCounterOr => (AtomicOp::Ior, operand(e)?),
                IntrinsicOp::AtomicCounterXor => (AtomicOp::Ixor, operand(e)?),
                IntrinsicOp::AtomicCounterExchange => (AtomicOp::Xchg, operand(e)?),
                IntrinsicOp::AtomicCounterCompSwap => {
                    let (compare, data) = (operand(e)?, e.component(body.src(inst, 2), 0, Class::Uint)?);
                    return Ok(e.compare_exchange(&memory, pointer, data, compare));
                }
                op => return Err(SpirvError::UnsupportedIntrinsic { inst, op }),
            };
            let old = e.read_modify_write(op, &memory, pointer, data)?;
            Ok(old)
        })?;
        let id = match op {
            IntrinsicOp::AtomicCounterPreDec => self.pure_of(Op::ISub, ValueType::UINT, &[id, one]),
            _ => id,
        };
        self.define_words(def, &[id], Class::Uint)
    }

    /// Returns the variable of a counter buffer, sized as declared.
    fn counters_of(&mut self, buffer: u32) -> Memory {
        if let Some(&memory) = self.buffers.counters.get(&buffer) {
            return memory;
        }
        let found = self.buffers.plan.counters.get(&buffer).copied().unwrap_or_default();
        let mut declared = 0;
        for (_, data) in self.shader.globals_with(VariableModes::UNIFORM) {
            let inner = self.shader.types.without_arrays(data.ty);
            if data.binding == buffer && matches!(self.shader.types.get(inner), TypeData::AtomicCounter) {
                let end = data.driver_location.saturating_add(self.shader.types.array_elements(data.ty));
                declared = declared.max(end);
            }
        }
        let name = format!("counters{buffer}");
        let memory = self.words_variable(found, ResourceKind::CounterBuffer, buffer, None, &name);
        let memory = Memory { length: Length::Bound(declared), ..memory };
        self.buffers.counters.insert(buffer, memory);
        memory
    }
}

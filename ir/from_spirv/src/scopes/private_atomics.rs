//! Atomic operations on variables that no other invocation sees.

use std::rc::Rc;

use tgsi_ir::alu::AluOp;
use tgsi_ir::entities::Def;
use tgsi_ir::intrinsics::indices::AtomicOp;

use super::atomics::Change;
use super::types;
use crate::emit::Emitter;
use crate::emit::pointer::Pointer;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::words::Inst;

impl Emitter<'_, '_, '_> {
    /// Loads a variable, and stores the result of an operation on it. Returns the old value.
    pub(super) fn change_private(
        &mut self,
        inst: &Inst<'_>,
        pointer: &Rc<Pointer>,
        change: &Change,
    ) -> Result<Def, SpirvError> {
        let Value::Vector(old) = self.load(pointer)? else {
            return Err(types(inst, "the pointer is not one to a number"));
        };
        let new = match (change.op, change.data.as_slice()) {
            (AtomicOp::Xchg, &[data]) => data,
            (AtomicOp::Cmpxchg, &[compare, data]) => {
                let is_equal = self.b.alu(AluOp::Ieq, &[old, compare]);
                self.b.alu(AluOp::Bcsel, &[is_equal, data, old])
            }
            (op, &[data]) => {
                let Some(op) = alu_op(op) else { return Err(types(inst, "the memory is not shared")) };
                self.b.alu(op, &[old, data])
            }
            _ => return Err(types(inst, "an operand is missing")),
        };
        self.store(pointer, &Value::Vector(new))?;
        Ok(old)
    }
}

/// The arithmetic operation of an atomic one, if there is one.
fn alu_op(op: AtomicOp) -> Option<AluOp> {
    Some(match op {
        AtomicOp::Iadd => AluOp::Iadd,
        AtomicOp::Imin => AluOp::Imin,
        AtomicOp::Umin => AluOp::Umin,
        AtomicOp::Imax => AluOp::Imax,
        AtomicOp::Umax => AluOp::Umax,
        AtomicOp::Iand => AluOp::Iand,
        AtomicOp::Ior => AluOp::Ior,
        AtomicOp::Ixor => AluOp::Ixor,
        AtomicOp::Fadd => AluOp::Fadd,
        AtomicOp::Fmin => AluOp::Fmin,
        AtomicOp::Fmax => AluOp::Fmax,
        AtomicOp::Xchg | AtomicOp::Cmpxchg | AtomicOp::Fcmpxchg | AtomicOp::IncWrap | AtomicOp::DecWrap => return None,
    })
}

//! Selections.

use std::rc::Rc;

use tgsi_arithmetic::Sink;
use tgsi_ir::alu::AluOp;
use tgsi_ir::entities::Def;
use tgsi_ir::types::ScalarType;

use super::{Class, Term, checked, compute};
use crate::emit::Emitter;
use crate::emit::pointer::Pointer;
use crate::emit::value::Value;
use crate::error::SpirvError;
use crate::grammar;
use crate::types::TypeData;
use crate::words::Inst;

/// Whether pointers lead to the same memory, whatever the run-time indices are.
fn are_equal(a: &Pointer, b: &Pointer) -> bool {
    a.base == b.base && a.steps == b.steps
}

impl Emitter<'_, '_, '_> {
    /// `OpSelect`.
    pub(super) fn select(&mut self, inst: &Inst<'_>) -> Result<Value, SpirvError> {
        let &[_, _, condition, yes, no, ..] = inst.words else {
            return Err(SpirvError::Types { op: grammar::name(inst.op), why: "the number of operands" });
        };
        let error = |why| SpirvError::Types { op: grammar::name(inst.op), why };
        let module = &self.context.module;
        let ty = module.result_type(inst);
        let condition_type = module.types.as_vector(self.type_of(condition));
        let is_scalar = condition_type == Some((ScalarType::Bool, 1));
        // A constant selects anything, also pointers.
        if let Some(&[bit]) = self.known_bits(condition).as_deref().filter(|_| is_scalar) {
            let chosen = if bit != 0 { yes } else { no };
            if !self.context.module.types.are_equal(self.type_of(chosen), ty) {
                return Err(error("an operand has another type"));
            }
            return self.value(chosen);
        }
        if let TypeData::Vector { .. } = module.types.get(ty) {
            let (scalar, count) = self.result_vector(inst)?;
            let form = self.form(spirv::Op::Select, scalar, count, inst);
            let terms = self.terms(&[condition, yes, no])?;
            let value = compute(&mut self.b, &form, &terms).map_err(|fault| fault.about(grammar::name(inst.op)))?;
            return Ok(Value::Vector(value));
        }
        let types = &module.types;
        if ![yes, no].iter().all(|&id| types.are_equal(self.type_of(id), ty)) {
            return Err(error("an operand has another type"));
        }
        if !is_scalar {
            return Err(error("the condition is not a scalar"));
        }
        match (self.value(yes)?, self.value(no)?) {
            (Value::Known(a), Value::Known(b)) if a == b => Ok(Value::Known(a)),
            (Value::Pointer(a), Value::Pointer(b)) if are_equal(&a, &b) => Ok(Value::Pointer(a)),
            (Value::Opaque(a), Value::Opaque(b)) if are_equal(&a, &b) => Ok(Value::Opaque(a)),
            (a, b) if self.context.module.types.pointee(ty).is_some() => {
                let condition = self.vector(condition)?;
                self.select_pointer(condition, &a, &b)
            }
            (Value::Opaque(_) | Value::Pair(_), _) => Err(SpirvError::Pointer { id: inst.word(1) }),
            (Value::Transposed(a), Value::Transposed(b)) => {
                Ok(Value::Transposed(self.select_leaves(condition, &a, &b).map_err(error)?))
            }
            (a, b) => {
                let other = || error("an operand has another type");
                let (a, b) = (self.leaves_of(&a).ok_or_else(other)?, self.leaves_of(&b).ok_or_else(other)?);
                self.check_size(a.len())?;
                Ok(Value::Composite(self.select_leaves(condition, &a, &b).map_err(error)?))
            }
        }
    }

    /// Selects leaves by a scalar.
    fn select_leaves(&mut self, condition: u32, a: &[Def], b: &[Def]) -> Result<Rc<[Def]>, &'static str> {
        let condition = self.term(condition).map_err(|_| "the condition is not a boolean")?;
        let condition =
            checked(&self.b, condition, Class::Boolean, 1, 1).map_err(|_| "the condition is not a boolean")?;
        if a.len() != b.len() {
            return Err("the operands differ");
        }
        let mut leaves = Vec::with_capacity(a.len());
        for (&a, &b) in a.iter().zip(b) {
            let (count, bits) = (self.b.components(a), Sink::bit_size(&self.b, a));
            let b = Term { value: b, scalar: scalar_of(bits) };
            let b = checked(&self.b, b, Class::Any, count, bits).map_err(|_| "the operands differ")?;
            leaves.push(self.b.each(AluOp::Bcsel, &[condition, a, b]));
        }
        Ok(leaves.into())
    }
}

/// A type of components with a number of bits.
fn scalar_of(bits: u8) -> ScalarType {
    match bits {
        1 => ScalarType::Bool,
        8 => ScalarType::Uint8,
        16 => ScalarType::Uint16,
        64 => ScalarType::Uint64,
        _ => ScalarType::Uint,
    }
}

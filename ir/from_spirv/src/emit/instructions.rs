//! The instructions of a block.

use std::rc::Rc;

use spirv::{MemoryAccess, Op};
use tgsi_ir::AluFlags;
use tgsi_ir::body::Shape;
use tgsi_ir::intrinsics::IntrinsicOp;
use tgsi_ir::intrinsics::indices::AccessFlags;

use super::Emitter;
use super::pointer::Pointer;
use super::value::Value;
use crate::error::SpirvError;
use crate::grammar;
use crate::words::Inst;

/// What became of an instruction.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    /// Its result.
    Value(Value),
    /// It has no result.
    Effect,
    /// It belongs to another group.
    Other,
}

impl Emitter<'_, '_, '_> {
    /// Emits an instruction that is not a terminator, a merge instruction or a phi.
    pub(super) fn instruction(&mut self, inst: &Inst<'_>) {
        let Some(op) = Op::from_u32(inst.op.into()) else { return };
        let form = grammar::form(inst.op);
        let has_result = form.is_some_and(|form| form.has_type && form.has_result);
        match self.outcome(op, inst) {
            Ok(Outcome::Value(value)) => self.set(inst.word(1), value),
            Ok(Outcome::Effect) => {}
            Ok(Outcome::Other) => {
                let error = SpirvError::Instruction { name: grammar::name(inst.op), why: "" };
                self.report(error, inst);
                self.define_undefined(has_result, inst);
            }
            Err(error) => {
                self.report(error, inst);
                self.define_undefined(has_result, inst);
            }
        }
        self.b.flags = AluFlags::NONE;
        self.check_instructions(inst);
    }

    /// Stops the emission where the code of all functions exceeds the limit.
    fn check_instructions(&mut self, inst: &Inst<'_>) {
        let is_exhausted = self.context.is_exhausted;
        match self.check_body() {
            Err(error) if !is_exhausted => self.report(error, inst),
            _ => {}
        }
    }

    /// Checks the size of the code of all functions: one instruction of the module may be many.
    ///
    /// # Errors
    /// It exceeds the limit.
    pub(crate) fn check_body(&mut self) -> Result<(), SpirvError> {
        let count = self.context.instructions.saturating_add(self.b.body.num_insts() as u64);
        let limit = self.context.options.limits.instructions;
        if count <= limit {
            return Ok(());
        }
        self.context.is_exhausted = true;
        Err(SpirvError::TooLarge { what: "instructions", count, limit })
    }

    fn define_undefined(&mut self, has_result: bool, inst: &Inst<'_>) {
        if has_result {
            let ty = self.context.module.result_type(inst);
            let value = self.undefined_value(ty);
            self.set(inst.word(1), value);
        }
    }

    /// Adds a finding about an instruction.
    pub(crate) fn report(&mut self, error: SpirvError, inst: &Inst<'_>) {
        self.context.findings.add(error, inst.span());
    }

    fn outcome(&mut self, op: Op, inst: &Inst<'_>) -> Result<Outcome, SpirvError> {
        let value = match op {
            Op::Nop
            | Op::ExtInstWithForwardRefsKHR
            | Op::AssumeTrueKHR
            | Op::NoLine
            | Op::Line
            | Op::LifetimeStart
            | Op::LifetimeStop => return Ok(Outcome::Effect),
            Op::Undef => {
                let ty = self.context.module.result_type(inst);
                self.undefined_value(ty)
            }
            Op::Variable => self.local(inst)?,
            Op::Load => {
                let pointer = self.pointer(inst.word(2))?;
                let pointer = with_access(&pointer, memory_access(inst.rest(3)).0);
                self.load(&pointer)?
            }
            Op::Store => {
                let pointer = self.pointer(inst.word(0))?;
                let value = self.value(inst.word(1))?;
                let pointer = with_access(&pointer, memory_access(inst.rest(2)).0);
                self.store(&pointer, &value)?;
                return Ok(Outcome::Effect);
            }
            Op::CopyMemory => {
                let (to, from) = (self.pointer(inst.word(0))?, self.pointer(inst.word(1))?);
                let (first, length) = memory_access(inst.rest(2));
                // The second set of operands is that of the source.
                let second =
                    if inst.rest(2 + length).is_empty() { first } else { memory_access(inst.rest(2 + length)).0 };
                let value = self.load(&with_access(&from, second))?;
                self.store(&with_access(&to, first), &value)?;
                return Ok(Outcome::Effect);
            }
            Op::AccessChain | Op::InBoundsAccessChain => {
                let pointer = self.pointer(inst.word(2))?;
                Value::Pointer(Rc::new(self.walk(&pointer, inst.rest(3))?))
            }
            Op::PtrAccessChain | Op::InBoundsPtrAccessChain => {
                let pointer = self.pointer(inst.word(2))?;
                let pointer = self.advance(&pointer, inst.word(3), inst.word(2))?;
                Value::Pointer(Rc::new(self.walk(&pointer, inst.rest(4))?))
            }
            Op::ArrayLength => {
                let pointer = self.pointer(inst.word(2))?;
                let array = Rc::new(self.member_pointer(&pointer, inst.word(3))?);
                let word = Shape::new(1, 32);
                let length = |emitter: &mut Self, array: &Rc<Pointer>| {
                    let (deref, _) = emitter.deref(array)?;
                    Ok(vec![emitter.b.intrinsic_def(IntrinsicOp::DerefBufferArrayLength, &[deref], &[], word)])
                };
                let length = match array.is_chosen() {
                    true => self.at_targets(&array, &[word], length)?,
                    false => length(self, &array)?,
                };
                length.first().map_or(Value::None, |&length| Value::Vector(length))
            }
            Op::FunctionCall => self.call(inst)?,
            Op::CopyObject | Op::CopyLogical | Op::ExpectKHR => self.value(inst.word(2))?,
            Op::PtrEqual | Op::PtrNotEqual => self.same_pointers(inst, op == Op::PtrNotEqual)?,
            Op::PtrDiff => self.pointer_difference(inst)?,
            _ => {
                self.set_exactness(inst);
                let groups = [
                    Self::alu_group,
                    Self::composite_group,
                    Self::extended_group,
                    Self::image_group,
                    Self::scope_group,
                ];
                for group in groups {
                    match group(self, op, inst)? {
                        Outcome::Other => {}
                        outcome => return Ok(outcome),
                    }
                }
                return Ok(Outcome::Other);
            }
        };
        Ok(Outcome::Value(value))
    }

    fn member_pointer(&mut self, pointer: &Pointer, member: u32) -> Result<Pointer, SpirvError> {
        match self.context.module.types.part(pointer.ty, member) {
            Some(ty) => Ok(pointer.part(member, ty)),
            None => Err(SpirvError::Types { op: "OpArrayLength".to_owned(), why: "the struct has no such member" }),
        }
    }
}

/// A pointer with the flags of an access.
pub(crate) fn with_access(pointer: &Rc<Pointer>, access: AccessFlags) -> Rc<Pointer> {
    if access.0 & !pointer.access.0 == 0 {
        return pointer.clone();
    }
    let mut pointer = Pointer::clone(pointer);
    pointer.access.0 |= access.0;
    Rc::new(pointer)
}

/// The flags of memory operands, and the number of their words.
fn memory_access(words: &[u32]) -> (AccessFlags, usize) {
    let Some(&bits) = words.first() else { return (AccessFlags::NONE, 0) };
    let bits = MemoryAccess::from_bits_truncate(bits);
    let mut flags = AccessFlags::NONE;
    let mut length = 1;
    if bits.contains(MemoryAccess::VOLATILE) {
        flags.0 |= AccessFlags::VOLATILE.0;
    }
    if bits.contains(MemoryAccess::NONTEMPORAL) {
        flags.0 |= AccessFlags::NON_TEMPORAL.0;
    }
    for bit in [
        MemoryAccess::ALIGNED,
        MemoryAccess::MAKE_POINTER_AVAILABLE,
        MemoryAccess::MAKE_POINTER_VISIBLE,
        MemoryAccess::ALIAS_SCOPE_INTEL_MASK,
        MemoryAccess::NO_ALIAS_INTEL_MASK,
    ] {
        length += usize::from(bits.contains(bit));
    }
    if bits.intersects(MemoryAccess::MAKE_POINTER_AVAILABLE | MemoryAccess::MAKE_POINTER_VISIBLE) {
        flags.0 |= AccessFlags::COHERENT.0;
    }
    (flags, length)
}

//! Calls from code. Operands and results stand in an area of the stack, which is the same for all calls of a function:
//! nothing stays there.

use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, StackSlot, StackSlotData, StackSlotKind, Value as Ir};

use super::emit::{Emitter, VECTOR, fixed};

impl Emitter<'_, '_> {
    /// The area, of so many vectors at least.
    pub(super) fn area(&mut self, vectors: usize) -> StackSlot {
        let size = vectors as u32 * VECTOR as u32;
        let slot = match self.area {
            Some(slot) => slot,
            None => {
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4);
                *self.area.insert(self.builder.create_sized_stack_slot(data))
            }
        };
        let data = &mut self.builder.func.sized_stack_slots[slot];
        data.size = data.size.max(size);
        slot
    }

    /// Calls a function with some numbers or addresses and the address of the area, where it finds operands among
    /// `vectors` vectors. Returns the first of what it leaves there.
    pub(super) fn call_with_area(
        &mut self,
        callee: Ir,
        numbers: &[Ir],
        operands: &[Ir],
        vectors: usize,
        results: usize,
    ) -> Vec<Ir> {
        let slot = self.area(vectors);
        for (at, &operand) in (0i32..).zip(operands) {
            self.builder.ins().stack_store(operand, slot, at * VECTOR as i32);
        }
        let mut arguments = numbers.to_vec();
        arguments.push(self.builder.ins().stack_addr(I64, slot, 0));
        let mut signature = Signature::new(self.call_conv);
        signature.params.extend(arguments.iter().map(|_| AbiParam::new(I64)));
        let signature = self.builder.import_signature(signature);
        self.builder.ins().call_indirect(signature, callee, &arguments);
        (0..results as i32).map(|at| self.builder.ins().stack_load(I32X4, slot, at * VECTOR as i32)).collect()
    }

    /// A function whose address is at a place of the context.
    pub(super) fn function_at(&mut self, offset: usize) -> Ir {
        self.builder.ins().load(I64, fixed(), self.context, offset as i32)
    }
}

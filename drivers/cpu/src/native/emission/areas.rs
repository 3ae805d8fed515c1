//! Calls from code. Operands and results are passed in an area of the stack, shared by all calls of a function; nothing
//! is kept there between calls.

use cranelift_codegen::ir::types::{I32X4, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, StackSlot, StackSlotData, StackSlotKind, Value as Ir};

use super::emitter::{Emitter, VECTOR};

impl Emitter<'_, '_> {
    /// Returns the area, enlarged to `vectors` vectors if needed.
    pub(super) fn area(&mut self, vectors: usize) -> StackSlot {
        let size = vectors as u32 * VECTOR as u32;
        let slot = match self.region.area {
            Some(slot) => slot,
            None => {
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, size, 4);
                *self.region.area.insert(self.builder.create_sized_stack_slot(data))
            }
        };
        let data = &mut self.builder.func.sized_stack_slots[slot];
        data.size = data.size.max(size);
        slot
    }

    /// Calls a function with some numbers or addresses and the address of the area, which contains the operands in the
    /// first of `vectors` vectors. Returns the first of the vectors that it leaves there.
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
        let mut signature = Signature::new(self.function.call_conv);
        signature.params.extend(arguments.iter().map(|_| AbiParam::new(I64)));
        let signature = self.builder.import_signature(signature);
        self.builder.ins().call_indirect(signature, callee, &arguments);
        (0..results as i32).map(|at| self.builder.ins().stack_load(I32X4, slot, at * VECTOR as i32)).collect()
    }
}

//! Address registers.
//!
//! Each component of the (up to three) address registers holds one run-time index. What is loaded stays until the block ends, the value that it was
//! loaded from changes, or the component is needed for another index; least recently used components go first.

use tgsi::shader::{Dst, Register, Src};
use tgsi::tables::{File, Opcode};
use tgsi_ir::alu::AluOp;
use tgsi_ir::{Def, Use};
use tgsi_legacy::chase;

use super::Selector;

/// An address register and the component.
pub(super) type Slot = (Register, u8);

/// The bits of a float that is an integer as those of the integer.
pub(super) fn whole(word: u64) -> Option<u64> {
    let value = f32::from_bits(word as u32);
    (value.trunc() == value && value.abs() < 16_777_216.0).then_some(u64::from(value as i32 as u32))
}

impl Selector<'_> {
    /// Forgets what was loaded: another block begins.
    pub(super) fn forget_addresses(&mut self) {
        for address in &mut self.addresses {
            address.source = None;
        }
    }

    /// A register is about to be written: what was loaded from it is not its content any more.
    pub(super) fn forget_addresses_of(&mut self, register: &Register) {
        for address in &mut self.addresses {
            let stale = address.source.is_some_and(|(_, src)| {
                src.register.file == register.file
                    && (src.register.index == register.index
                        || register.indirect.is_some()
                        || src.register.indirect.is_some())
            });
            if stale {
                address.source = None;
            }
        }
    }

    /// Loads an index that an operand adds; returns where it is and a constant that belongs to it.
    pub(super) fn load_address(&mut self, index: Def) -> (Slot, i32) {
        self.note_index(index);
        self.load_number(index)
    }

    /// Like [`Selector::load_address`] for what is known to be a number, a float where there are no integers.
    pub(super) fn load_number(&mut self, index: Def) -> (Slot, i32) {
        let mut def = index;
        let mut component = 0u8;
        let mut offset = 0i32;
        let is_float = !self.options.native_integers;
        // Constants that are added become part of the operand. Only what is SSA may be looked through: a register may have changed since.
        for _ in 0..16 {
            let body = self.body;
            let inst = body.def_inst(def);
            match body.alu_op(inst) {
                Some(op @ (AluOp::Iadd | AluOp::Fadd)) if op == AluOp::Iadd || is_float => {
                    let constant = |number: usize| {
                        let source = body.source(inst, number);
                        body.constant_component(
                            body.src_def(source),
                            usize::from(body.swizzle(source).get(usize::from(component))),
                        )
                        .and_then(|word| if op == AluOp::Iadd { Some(word) } else { whole(word) })
                    };
                    let (value, constant) = match (constant(0), constant(1)) {
                        (_, Some(constant)) => (0, constant),
                        (Some(constant), None) => (1, constant),
                        _ => break,
                    };
                    let source = body.source(inst, value);
                    let next = body.src_def(source);
                    let Some(sum) = offset.checked_add(constant as u32 as i32).filter(|s| s.unsigned_abs() < 0x4000)
                    else {
                        break;
                    };
                    if chase::load_reg_for_def(body, next).is_some() {
                        break;
                    }
                    offset = sum;
                    component = body.swizzle(source).get(usize::from(component));
                    def = next;
                }
                Some(op @ (AluOp::Mov | AluOp::F2i32)) if op == AluOp::Mov || is_float => {
                    let source = body.source(inst, 0);
                    let next = body.src_def(source);
                    if chase::load_reg_for_def(body, next).is_some() {
                        break;
                    }
                    component = body.swizzle(source).get(usize::from(component));
                    def = next;
                }
                _ => break,
            }
        }
        if let Some(load) = chase::load_reg_for_def(self.body, def)
            && let Some(register) = chase::accessed_register(self.body, load)
            && register.indirect.is_none()
        {
            let value = self.register_value(register);
            return (self.load_value(value.lane(component)), offset);
        }
        let value = self.value(def);
        (self.load_value(value.lane(component)), offset)
    }

    /// The same for a source.
    pub(super) fn load_address_of_source(&mut self, source: Use) -> (Slot, i32) {
        self.load_address(self.body.src_def(source))
    }

    /// Loads a source into a component of an address register, unless it is in one.
    pub(super) fn load_value(&mut self, src: Src) -> Slot {
        self.clock += 1;
        // Without integers, indices are floats that hold integers.
        let opcode = if self.options.native_integers { Opcode::Uarl } else { Opcode::Arl };
        let wanted = Some((opcode, src));
        let found = self
            .addresses
            .iter()
            .position(|a| matches!((&a.source, &wanted), (Some(x), Some(y)) if x.0 == y.0 && x.1 == y.1));
        let slot = found.unwrap_or_else(|| {
            self.addresses.iter().enumerate().min_by_key(|(_, a)| a.used).map_or(0, |(place, _)| place)
        });
        let (register, component) = (Register::new(File::Address, (slot / 4) as i32), (slot % 4) as u8);
        if found.is_none() {
            self.emit(opcode, Dst::new(register).masked(1 << component), &[src]);
            if let Some(address) = self.addresses.get_mut(slot) {
                address.source = wanted;
            }
        }
        if let Some(address) = self.addresses.get_mut(slot) {
            address.used = self.clock;
        }
        (register, component)
    }
}

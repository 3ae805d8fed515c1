//! Address registers.
//!
//! Each component of the (up to three) address registers holds one run-time index. A loaded index stays valid until the
//! block ends, the value that it was loaded from changes, or the component is needed for another index; the least
//! recently used component is replaced first. In the dialect of virgl, where components are not distinguished and
//! constants are always indexed by `ADDR[0]`, each [`AddressUse`] has one register, so an indexed operand must be read
//! before the next one of its use is addressed.

use std::ops::Range;

use tgsi::limits::{MAX_OPERAND_INDEX, MIN_OPERAND_INDEX};
use tgsi::shader::{Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode, Semantic};
use tgsi_ir::alu::AluOp;
use tgsi_ir::{Def, Inst, Use};
use tgsi_registers::chase;

use super::declared::IoFile;
use super::{Selector, Unit, Value};
use crate::consumers::options::Dialect;

/// A component of an address register.
pub(super) type Slot = (Register, u8);

/// The use of an address. Where uses have separate address registers, this is the register number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum AddressUse {
    /// The index of a register.
    Index,
    /// The outer index: a vertex, a constant buffer. Operands cannot add a constant to it where each use has an address
    /// register.
    Dimension,
    /// A sampler, image, buffer or counter.
    Resource,
}

/// Converts the bits of a float with an integer value to those of the integer.
pub(super) fn whole(word: u64) -> Option<u64> {
    let value = f32::from_bits(word as u32);
    (value.trunc() == value && value.abs() < 16_777_216.0).then_some(u64::from(value as i32 as u32))
}

impl Selector<'_> {
    /// Discards loaded addresses and packed vectors at the start of a block.
    pub(super) fn forget_addresses(&mut self) {
        self.packed.clear();
        for address in &mut self.addresses {
            address.source = None;
        }
    }

    /// Discards addresses loaded from a register that is about to be written.
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

    /// Loads an index that an operand adds; returns its slot and a constant for the operand.
    pub(super) fn load_address(&mut self, index: Def, usage: AddressUse) -> (Slot, i32) {
        self.note_index(index);
        self.load_number(index, usage)
    }

    /// Loads an index that an operand adds to `base`; returns its slot and the constant of the operand.
    pub(super) fn load_address_beyond(&mut self, index: Def, base: i32) -> (Slot, i32) {
        self.note_index(index);
        self.load_number_beyond(index, base)
    }

    /// Like `load_address_beyond` for a known number, which is a float where there are no integers.
    pub(super) fn load_number_beyond(&mut self, index: Def, base: i32) -> (Slot, i32) {
        let constant = base.wrapping_add(self.split_index(index).2);
        if constant < 0 && !self.options.negative_offsets {
            return (self.load_difference(index, base.wrapping_neg()), 0);
        }
        let (slot, add) = self.load_number(index, AddressUse::Index);
        (slot, base.wrapping_add(add))
    }

    /// Like [`Selector::load_address`] for a known number, which is a float where there are no integers.
    pub(super) fn load_number(&mut self, index: Def, usage: AddressUse) -> (Slot, i32) {
        self.load_number_within(index, usage, i64::MIN..i64::MAX)
    }

    /// Like [`Selector::load_address`], for an operand that can add only constants in a range. Where the operand must
    /// refer to one of the registers that the address may reach, the constant split off the index is in the range.
    pub(super) fn load_address_within(&mut self, index: Def, usage: AddressUse, range: Range<i64>) -> (Slot, i32) {
        self.note_index(index);
        self.load_number_within(index, usage, range)
    }

    fn load_number_within(&mut self, index: Def, usage: AddressUse, range: Range<i64>) -> (Slot, i32) {
        let (mut def, mut component, mut offset) = self.split_index(index);
        let adds = match (self.options.dialect, usage) {
            (Dialect::Mesa, AddressUse::Dimension) => true,
            (Dialect::Mesa, AddressUse::Index) => !self.options.offsets_in_array || range.contains(&offset.into()),
            (Dialect::Mesa, AddressUse::Resource) | (Dialect::Virgl, AddressUse::Index) => {
                range.contains(&offset.into())
            }
            (Dialect::Virgl, AddressUse::Dimension | AddressUse::Resource) => false,
        };
        if !adds {
            (def, component, offset) = (index, 0, 0);
        }
        if let Some(load) = chase::load_reg_for_def(self.body, def)
            && let Some(register) = chase::accessed_register(self.body, load)
            && register.indirect.is_none()
        {
            let value = self.register_value(register);
            return (self.load_value(value.lane(component), usage), offset);
        }
        if let Some((number, component)) = self.rounded(def, component) {
            let value = self.value(number);
            return (self.load_value_by(Opcode::Arr, value.lane(component), usage), offset);
        }
        let value = self.value(def);
        (self.load_value(value.lane(component), usage), offset)
    }

    /// The number to which an index is rounded (its floor, plus a half), for `ARR`. (The machine passes form `ARL` of a
    /// floor.)
    fn rounded(&self, mut def: Def, mut component: u8) -> Option<(Def, u8)> {
        if !self.options.has_arr {
            return None;
        }
        let body = self.body;
        let source = |def: Def, component: u8, number: usize| {
            let source = body.source(body.def_inst(def), number);
            (body.src_def(source), body.swizzle(source).get(usize::from(component)))
        };
        let is_made_by = |def: Def, op: AluOp| body.alu_op(body.def_inst(def)) == Some(op);
        if self.options.native_integers {
            for op in [AluOp::F2i32, AluOp::Ffloor] {
                if !is_made_by(def, op) {
                    return None;
                }
                (def, component) = source(def, component, 0);
            }
        }
        if !is_made_by(def, AluOp::Fadd) {
            return None;
        }
        let operands = [0, 1].map(|number| source(def, component, number));
        let is_half = |(def, component): (Def, u8)| {
            body.constant_component(def, usize::from(component)) == Some(u64::from(0.5f32.to_bits()))
        };
        let number = match operands.map(is_half) {
            [false, true] => operands[0],
            [true, false] => operands[1],
            _ => return None,
        };
        self.may_be_loaded(number.0).then_some(number)
    }

    /// Virgl hosts have one array of all `GENERIC` registers and one of all `PATCH` registers, and index the array that
    /// contains the operand's register. If the operand would refer to neither, returns the offset from `base` of a
    /// register that is in one of them.
    pub(super) fn register_that_hosts_index(&self, file: IoFile, base: i32, index: Def) -> Option<i32> {
        if self.options.dialect != Dialect::Virgl {
            return None;
        }
        let semantics = self.declared.semantics(self.shader.stage, file);
        let is_indexed = |offset: i32| {
            let register = base.checked_add(offset).and_then(|r| u32::try_from(r).ok());
            let is_array = |semantic| matches!(semantic, Semantic::Generic | Semantic::Patch);
            semantics.iter().any(|&(r, semantic)| Some(r) == register && is_array(semantic))
        };
        if is_indexed(self.split_index(index).2) {
            return None;
        }
        // It is most likely the constant that the source added.
        let inst = self.body.def_inst(index);
        let added = self.body.sources(inst).filter_map(|source| {
            let component = usize::from(self.body.swizzle(source).get(0));
            Some(self.body.constant_component(self.body.src_def(source), component)? as u32 as i32)
        });
        let is_sum = self.body.alu_op(inst) == Some(AluOp::Iadd);
        let first = semantics.iter().map(|&(register, _)| register as i32 - base);
        added.filter(|_| is_sum).chain(first).find(|&offset| is_indexed(offset))
    }

    /// The index of a sampler or image without an added constant that refers to another unit of the same variable:
    /// virgl hosts index the array that contains the constant.
    pub(super) fn offset_of_unit(&mut self, index: Def, unit: &Unit, stride: u32) -> Option<(Value, i32)> {
        if self.options.dialect != Dialect::Virgl || stride != 1 || unit.dynamic.is_some() {
            return None;
        }
        let (def, component, offset) = self.split_index(index);
        let variable = &self.shader.variables[unit.variable];
        let count = self.shader.types.array_elements(variable.ty);
        let is_inside = unit.base.checked_add_signed(offset).is_some_and(|base| base < variable.binding + count);
        if offset <= 0 || !is_inside || chase::load_reg_for_def(self.body, def).is_some() {
            return None;
        }
        let value = self.value(def);
        Some((Value { lanes: [value.lanes[usize::from(component & 3)]; 4], ..value }, offset))
    }

    /// Loads `index - subtracted`.
    pub(super) fn load_difference(&mut self, index: Def, subtracted: i32) -> Slot {
        self.note_index(index);
        // The source may have added the same constant.
        let (def, component, left) = match self.split_index(index) {
            (def, component, offset) if offset == subtracted => (def, component, 0),
            _ => (index, 0, subtracted),
        };
        let load = chase::load_reg_for_def(self.body, def);
        let value = match load.and_then(|load| chase::accessed_register(self.body, load)) {
            Some(register) if register.indirect.is_none() => self.register_value(register),
            _ => self.value(def),
        };
        if left == 0 {
            return self.load_value(value.lane(component), AddressUse::Index);
        }
        let minus = left.wrapping_neg();
        let (opcode, minus) = match self.options.native_integers {
            true => (Opcode::Uadd, minus as u32),
            false => (Opcode::Add, (minus as f32).to_bits()),
        };
        let minus = self.immediate([minus; 4]);
        let difference = self.computed(opcode, 1, &[value.lane(component), minus.lane(0)]);
        self.load_value(difference.swizzled([0; 4]), AddressUse::Index)
    }

    /// Whether a value can still be read at the current instruction where its producer left it: it is not in a
    /// register, or in one that was loaded shortly before in this block and not written since.
    pub(super) fn still_holds(&self, def: Def) -> bool {
        /// The number of instructions searched.
        const WINDOW: usize = 32;
        let body = self.body;
        let Some(load) = chase::load_reg_for_def(body, def) else { return true };
        let Some(register) = chase::accessed_register(body, load).filter(|r| r.indirect.is_none()) else {
            return false;
        };
        let writes = |store: Inst| {
            chase::is_store_reg(body, store)
                && chase::accessed_register(body, store).is_none_or(|written| written.handle == register.handle)
        };
        // A stored value may be written to the register at its definition.
        let changes = |inst: Inst| {
            writes(inst) || body.inst_def(inst).and_then(|def| chase::store_reg_for_def(body, def)).is_some_and(writes)
        };
        let between = std::iter::successors(body.next_inst(load), |&inst| body.next_inst(inst)).take(WINDOW);
        for inst in between {
            if Some(inst) == self.at {
                return true;
            }
            if changes(inst) {
                return false;
            }
        }
        false
    }

    /// Whether an address can be loaded from a value at the current instruction: it still is where its producer left
    /// it, and it is not a folded modifier, which is never computed.
    fn may_be_loaded(&self, def: Def) -> bool {
        !chase::is_folded(self.body, self.body.def_inst(def), self.options.modifiers()) && self.still_holds(def)
    }

    /// Splits an index into a value, its component, and a constant that is added.
    pub(super) fn split_index(&self, index: Def) -> (Def, u8, i32) {
        let mut def = index;
        let mut component = 0u8;
        let mut offset = 0i32;
        let is_float = !self.options.native_integers;
        // Added constants become part of the operand. Registers may have changed since.
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
                    let Some(sum) = offset
                        .checked_add(constant as u32 as i32)
                        .filter(|s| s.unsigned_abs() < 0x4000 && (*s >= 0 || self.options.negative_offsets))
                    else {
                        break;
                    };
                    if !self.may_be_loaded(next) {
                        break;
                    }
                    offset = sum;
                    component = body.swizzle(source).get(usize::from(component));
                    def = next;
                }
                // `ARL` itself takes the floor.
                Some(op @ (AluOp::Mov | AluOp::F2i32 | AluOp::Ffloor)) if op == AluOp::Mov || is_float => {
                    let source = body.source(inst, 0);
                    let next = body.src_def(source);
                    if !self.may_be_loaded(next) {
                        break;
                    }
                    component = body.swizzle(source).get(usize::from(component));
                    def = next;
                }
                _ => break,
            }
        }
        (def, component, offset)
    }

    /// Replaces constant indices that operands cannot encode; unreachable code may have any. Resources are addressed
    /// indirectly, as the machine defines out-of-range accesses. Other registers, vertices and constant buffers with
    /// such indices do not exist: reads give zero, writes are dropped.
    pub(super) fn replace_what_cannot_be_named(&mut self, instruction: &mut Instruction) {
        let has_room = |index: i32| (MIN_OPERAND_INDEX..=MAX_OPERAND_INDEX).contains(&index.into());
        // The final numbers of these differ.
        let is_virtual = |file: File| matches!(file, File::Temporary | File::Immediate);
        let is_named = |register: &Register| {
            (register.indirect.is_some() || is_virtual(register.file) || has_room(register.index))
                && register.dimension.is_none_or(|d| d.indirect.is_some() || has_room(d.index))
        };
        for src in instruction.src.iter_mut().filter(|src| !is_named(&src.register)) {
            src.register = match src.register.file.is_resource() {
                true => self.addressed(src.register),
                false => self.immediate([0; 4]).register,
            };
        }
        for dst in instruction.dst.iter_mut().filter(|dst| !is_named(&dst.register)) {
            dst.register = if dst.register.file.is_resource() { self.addressed(dst.register) } else { self.temp() };
        }
    }

    /// A resource register with the number in an address register.
    fn addressed(&mut self, register: Register) -> Register {
        let number = self.number(register.index as u32);
        let (address, component) = self.load_value(number, AddressUse::Resource);
        Register { index: 0, ..register }.indexed_by(address, component, 0)
    }

    /// Like [`Selector::load_address_within`] for a source.
    pub(super) fn load_address_of_source(&mut self, source: Use, usage: AddressUse, range: Range<i64>) -> (Slot, i32) {
        self.load_address_within(self.body.src_def(source), usage, range)
    }

    /// Loads a source into a component of an address register, unless it is already loaded.
    pub(super) fn load_value(&mut self, src: Src, usage: AddressUse) -> Slot {
        // Without integers, indices are floats with integer values.
        let opcode = if self.options.native_integers { Opcode::Uarl } else { Opcode::Arl };
        self.load_value_by(opcode, src, usage)
    }

    fn load_value_by(&mut self, opcode: Opcode, src: Src, usage: AddressUse) -> Slot {
        self.clock += 1;
        let wanted = Some((opcode, src));
        let is_virgl = self.options.dialect == Dialect::Virgl;
        let components = if is_virgl { 4 } else { usize::from(self.options.address_components.clamp(1, 4)) };
        let is_usable = |slot: usize| !is_virgl || slot == 4 * usage as usize;
        let found = self.addresses.iter().enumerate().position(|(slot, a)| {
            is_usable(slot) && matches!((&a.source, &wanted), (Some(x), Some(y)) if x.0 == y.0 && x.1 == y.1)
        });
        let slot = found.unwrap_or_else(|| {
            let usable = self.addresses.iter().enumerate().filter(|(slot, _)| is_usable(*slot));
            usable.min_by_key(|(_, a)| a.used).map_or(0, |(slot, _)| slot)
        });
        let (register, component) =
            (Register::new(File::Address, (slot / components) as i32), (slot % components) as u8);
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

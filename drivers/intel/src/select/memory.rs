//! Constant buffers and scratch space.

use tgsi_ir::alu::AluOp;
use tgsi_ir::intrinsics::IndexKind;
use tgsi_ir::{Def, Inst};
use tgsi_registers::chase::{self, Register};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::operands::{Target, composed, lane};
use super::{Selector, alu};
use crate::error::IntelError;
use crate::isa::{Condition, Opcode, Type};
use crate::machine::{Alu, COPY, FLAG, Op};
use crate::message::Message;

/// A constant buffer.
#[derive(Clone, Copy)]
enum Buffer {
    /// By its number.
    Number(u32),
    /// By the run-time number of the uniform block.
    Block(Source),
}

/// The store of an instruction's result to an element of an array.
#[derive(Clone, Copy)]
pub(super) struct ArrayStore {
    pub(super) register: Register,
    pub(super) value: Source,
    pub(super) mask: u8,
}

impl Selector<'_> {
    /// A message with the result in a new temporary.
    pub(super) fn received<const N: usize>(&mut self, message: Message, sources: [Source; N]) -> Source {
        let temp = self.new_temp();
        self.emit(Op::Message(message), Destination::new(File::Temporary, temp.index, 15), sources);
        temp
    }

    /// Loads a vector of a constant buffer by its number, the sum of a run-time index and a constant.
    fn load_vector(&mut self, buffer: Buffer, index: Option<Source>, base: u32) -> Source {
        let base_word = self.word(base);
        let number = match index {
            None => self.computed(COPY, 1, [base_word]),
            Some(index) if base == 0 => self.in_x(index),
            Some(index) => self.computed(alu(Opcode::Add, Type::D), 1, [lane(index, 0), base_word]),
        };
        match buffer {
            Buffer::Number(buffer) => {
                let surface = self.bindings.constants(buffer);
                self.received(Message::constant(surface, false), [number])
            }
            Buffer::Block(block) => {
                let surface = self.bindings.constants(self.shader.info.first_ubo_buffer());
                let block = self.in_x(block);
                self.received(Message::constant(surface, true), [number, block])
            }
        }
    }

    pub(super) fn load_uniform(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        if self.operand_in_place(def).is_some() {
            return Ok(());
        }
        let base = body.index(inst, IndexKind::Base) as u32;
        let offset = body.src(inst, 0);
        let value = match body.constant_component(offset, 0) {
            Some(offset) => self.load_vector(Buffer::Number(0), None, base.wrapping_add(offset as u32)),
            None => {
                let index = self.loaded_value(offset);
                self.load_vector(Buffer::Number(0), Some(index), base)
            }
        };
        let target = self.target(def);
        self.emit_to(COPY, target, [value]);
        Ok(())
    }

    /// The constant buffer of a uniform block.
    fn block_buffer(&mut self, inst: Inst) -> Buffer {
        let block = self.body.src(inst, 0);
        match self.body.constant_component(block, 0) {
            Some(block) => Buffer::Number((block as u32).wrapping_add(self.shader.info.first_ubo_buffer())),
            None => Buffer::Block(lane(self.loaded_value(block), 0)),
        }
    }

    pub(super) fn load_ubo_vec4(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let buffer = self.block_buffer(inst);
        let base = body.index(inst, IndexKind::Base) as u32;
        let offset = body.src(inst, 1);
        let value = match body.constant_component(offset, 0) {
            Some(offset) => self.load_vector(buffer, None, base.wrapping_add(offset as u32)),
            None => {
                let index = self.loaded_value(offset);
                self.load_vector(buffer, Some(index), base)
            }
        };
        let first = body.component(inst);
        self.deliver_vector(def, value, first);
        Ok(())
    }

    /// Copies components of a vector, from a first one on, to a result.
    fn deliver_vector(&mut self, def: Def, value: Source, first: u8) {
        let target = self.target(def);
        self.emit_to(COPY, target, [composed(value, [0, 1, 2, 3].map(|c: u8| (c + first).min(3)))]);
    }

    pub(super) fn load_ubo(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let buffer = self.block_buffer(inst);
        let count = body.num_components(def);
        if body.bit_size(def) != 32 || count > 4 {
            return Err(self.lacks(inst, "load of constants of this size"));
        }
        let offset = body.src(inst, 1);
        if let Some(bytes) = body.constant_component(offset, 0) {
            let bytes = bytes as u32;
            let first = ((bytes / 4) & 3) as u8;
            let vector = self.load_vector(buffer, None, bytes / 16);
            if first + count <= 4 {
                self.deliver_vector(def, vector, first);
                return Ok(());
            }
            let next = self.load_vector(buffer, None, bytes / 16 + 1);
            let target = self.target(def);
            let lanes = [0, 1, 2, 3].map(|c: u8| {
                let place = c + first;
                lane(if place < 4 { vector } else { next }, place & 3)
            });
            self.move_lanes(target, &lanes);
            return Ok(());
        }
        if let Some((number, within)) = self.vector_number(offset)
            && within / 4 + u32::from(count) <= 4
        {
            let vector = self.load_vector(buffer, Some(number), 0);
            self.deliver_vector(def, vector, (within / 4) as u8);
            return Ok(());
        }
        let index = self.loaded_value(offset);
        let four = self.word(4);
        let alignment = body.index(inst, IndexKind::AlignMul).max(1) as u32;
        let within = body.index(inst, IndexKind::AlignOffset) as u32;
        if alignment.is_multiple_of(16) && (within & 15) / 4 + u32::from(count) <= 4 {
            let number = self.computed(alu(Opcode::Shr, Type::Ud), 1, [lane(index, 0), four]);
            let vector = self.load_vector(buffer, Some(number), 0);
            self.deliver_vector(def, vector, ((within & 15) / 4) as u8);
            return Ok(());
        }
        // Each component has its own vector.
        let target = self.target(def);
        let (to, after) = self.apart(target, &[index]);
        for c in (0..4u8).filter(|c| target.mask() >> c & 1 != 0) {
            let bytes = self.word(u32::from(c) * 4);
            let place = self.computed(alu(Opcode::Add, Type::D), 1, [lane(index, 0), bytes]);
            let number = self.computed(alu(Opcode::Shr, Type::Ud), 1, [lane(place, 0), four]);
            let vector = self.load_vector(buffer, Some(number), 0);
            let component = self.chosen_component(vector, place);
            self.emit_to(COPY, to.masked(1 << c), [lane(component, 0)]);
        }
        self.deliver(to, after);
        Ok(())
    }

    /// The number of a vector, and the place in it in bytes, if a place in bytes is 16 times a value in SSA form.
    fn vector_number(&mut self, place: Def) -> Option<(Source, u32)> {
        let body = self.body;
        let shift = body.def_inst(place);
        let known = |number: usize, component: u8| {
            let source = body.source(shift, number);
            body.constant_component(body.src_def(source), usize::from(body.swizzle(source).get(component.into())))
        };
        if body.alu_op(shift) != Some(AluOp::Ishl) || known(1, 0) != Some(4) {
            return None;
        }
        let source = chase::chase_alu_src(body, shift, 0, self.policy);
        let is_value = matches!(source.operand, chase::Operand::Ssa(_));
        // The upper bits are lost in the place.
        let limit = body.def_inst(body.src_def(body.source(shift, 0)));
        let is_small = body.alu_op(limit) == Some(AluOp::Umin);
        (is_value && is_small).then(|| (self.alu_source_at(shift, 0, [0; 4]), 0))
    }

    /// The component of a vector that bits 2 and 3 of a place select, in x.
    fn chosen_component(&mut self, vector: Source, place: Source) -> Source {
        let mut chosen = lane(vector, 0);
        for c in 1..4u32 {
            let bits = self.word(12);
            let wanted = self.word(c * 4);
            let bits = self.computed(alu(Opcode::And, Type::Ud), 1, [lane(place, 0), bits]);
            let is_this = Alu::with(Opcode::Cmp, Type::D, Condition::Z);
            self.compare(is_this, 1, [lane(bits, 0), wanted]);
            let temp = self.new_temp();
            self.select_by_flags(Destination::new(File::Temporary, temp.index, 1), lane(vector, c as u8), chosen);
            chosen = lane(temp, 0);
        }
        chosen
    }

    /// The place of an element in scratch space, in x: twice its number, as two vertices share the space. `None` if the
    /// element does not exist.
    fn element_place(&mut self, register: Register) -> Option<Source> {
        let (first, count) = self.arrays[register.handle]?;
        let Some(index) = self.element_index(register) else {
            let is_element = register.base < count;
            return is_element.then(|| self.word((first + register.base) * 2));
        };
        let index = self.sum(index, register.base);
        // Elements that do not exist share one after the last one.
        let [length, one] = [count, 1].map(|word| self.word(word));
        let least = Alu::with(Opcode::Sel, Type::Ud, Condition::L);
        let index = lane(self.computed(least, 1, [index, length]), 0);
        let number = self.sum(index, first);
        Some(self.computed(alu(Opcode::Shl, Type::Ud), 1, [number, one]))
    }

    /// The sum of a scalar and a constant.
    fn sum(&mut self, value: Source, constant: u32) -> Source {
        if constant == 0 {
            return value;
        }
        let constant = self.word(constant);
        lane(self.computed(alu(Opcode::Add, Type::D), 1, [value, constant]), 0)
    }

    /// Loads an element of an array. Elements that do not exist are zeros.
    pub(super) fn load_element(&mut self, register: Register) -> Source {
        let Some(place) = self.element_place(register) else { return self.word(0) };
        let value = self.received(Message::ScratchRead, [place]);
        let (Some((first, count)), Some(_)) = (self.arrays[register.handle], register.indirect) else { return value };
        let end = self.word((first + count) * 2);
        let exists = Alu::with(Opcode::Cmp, Type::Ud, Condition::L);
        self.compare(exists, 1, [lane(place, 0), end]);
        let zero = self.word(0);
        let temp = self.new_temp();
        let flag = Source::new(File::Special, FLAG.into()).swizzled([0; 4]);
        let to = Destination::new(File::Temporary, temp.index, 15);
        self.push(Instruction::new(Op::SelectByOne, Some(to), [flag, value, zero]));
        temp
    }

    /// Stores the results of an instruction that are elements of arrays.
    pub(super) fn store_to_arrays(&mut self) {
        for store in std::mem::take(&mut self.stores) {
            let Some(place) = self.element_place(store.register) else { continue };
            let message = Message::ScratchWrite { mask: store.mask };
            self.push(Instruction::new(Op::Message(message), None, [place, store.value]));
        }
    }

    /// Copies an operand to a target.
    pub(super) fn copy(&mut self, target: Target, source: Source) {
        self.emit_to(COPY, target, [source]);
    }
}

//! Storage buffers and atomic counters.

use tgsi_ir::intrinsics::indices::AtomicOp;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Def, Inst};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::operands::{composed, lane};
use super::{Selector, alu};
use crate::error::IntelError;
use crate::isa::{Opcode, Type};
use crate::machine::Op;
use crate::message::{BufferAccess, BufferMessage, Message, SamplerMessage, SamplerOp};

/// Numbers of atomic operations of the data port.
mod atomic {
    pub(super) const AND: u8 = 1;
    pub(super) const OR: u8 = 2;
    pub(super) const XOR: u8 = 3;
    pub(super) const MOV: u8 = 4;
    pub(super) const INC: u8 = 5;
    pub(super) const DEC: u8 = 6;
    pub(super) const ADD: u8 = 7;
    pub(super) const IMAX: u8 = 10;
    pub(super) const IMIN: u8 = 11;
    pub(super) const UMAX: u8 = 12;
    pub(super) const UMIN: u8 = 13;
    pub(super) const CMPWR: u8 = 14;
    pub(super) const PREDEC: u8 = 15;
}

/// A surface, and a run-time index that is added.
type Surface = (u8, Option<Source>);

/// The number of an atomic operation by its index.
pub(super) fn atomic_number(index: i32) -> Option<u8> {
    Some(match AtomicOp::from_i32(index)? {
        AtomicOp::Iadd => atomic::ADD,
        AtomicOp::Imin => atomic::IMIN,
        AtomicOp::Umin => atomic::UMIN,
        AtomicOp::Imax => atomic::IMAX,
        AtomicOp::Umax => atomic::UMAX,
        AtomicOp::Iand => atomic::AND,
        AtomicOp::Ior => atomic::OR,
        AtomicOp::Ixor => atomic::XOR,
        AtomicOp::Xchg => atomic::MOV,
        AtomicOp::Cmpxchg => atomic::CMPWR,
        _ => return None,
    })
}

impl Selector<'_> {
    /// The surface of a storage buffer.
    fn buffer_surface(&mut self, number: Def) -> Surface {
        match self.body.constant_component(number, 0) {
            Some(number) => (self.bindings.buffers(number as u32), None),
            None => {
                let index = lane(self.loaded_value(number), 0);
                (self.bindings.buffers(0), Some(index))
            }
        }
    }

    /// Appends a message to a buffer.
    fn access(&mut self, access: BufferAccess, surface: Surface, to: Option<Source>, sources: &[Source]) {
        let mut sources = sources.to_vec();
        sources.extend(surface.1.map(|index| self.in_x(index)));
        let message = BufferMessage { access, surface: surface.0, is_indexed: surface.1.is_some() };
        let to = to.map(|to| Destination::new(File::Temporary, to.index, 15));
        self.push(Instruction::new(Op::Message(Message::Buffer(message)), to, sources));
    }

    /// Whether all components of a value have 32 bits.
    fn has_words(&self, def: Def) -> bool {
        self.body.bit_size(def) == 32 && self.body.num_components(def) <= 4
    }

    pub(super) fn load_ssbo(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        if !self.has_words(def) {
            return Err(self.lacks(inst, "load from buffers of this size"));
        }
        let surface = self.buffer_surface(body.src(inst, 0));
        let place = self.source_of(body.source(inst, 1));
        let place = self.in_x(place);
        let value = self.new_temp();
        let words = body.num_components(def);
        self.access(BufferAccess::Read { words }, surface, Some(value), &[place]);
        let target = self.target(def);
        self.copy(target, value);
        Ok(())
    }

    pub(super) fn store_ssbo(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        if !self.has_words(body.src(inst, 0)) {
            return Err(self.lacks(inst, "store to buffers of this size"));
        }
        let surface = self.buffer_surface(body.src(inst, 1));
        let value = self.source_of(body.source(inst, 0));
        let place = self.source_of(body.source(inst, 2));
        // Messages store consecutive words.
        let mut left = body.write_mask(inst) & 15;
        while left != 0 {
            let first = left.trailing_zeros();
            let words = (left >> first).trailing_ones();
            left &= !(((1 << words) - 1) << first);
            let place = if first == 0 {
                self.in_x(place)
            } else {
                let bytes = self.word(first * 4);
                self.computed(alu(Opcode::Add, Type::D), 1, [lane(place, 0), bytes])
            };
            let lanes = [0, 1, 2, 3].map(|c: u8| (u32::from(c) < words).then(|| lane(value, c + first as u8)));
            let data = self.packed(lanes);
            self.access(BufferAccess::Write { words: words as u8 }, surface, None, &[place, data]);
        }
        Ok(())
    }

    /// The number of bytes of a buffer.
    pub(super) fn buffer_size(&mut self, inst: Inst) -> Result<(), IntelError> {
        let Some(def) = self.body.inst_def(inst) else { return Ok(()) };
        let (surface, index) = self.buffer_surface(self.body.src(inst, 0));
        let zero = self.word(0);
        let mut sources = vec![self.in_x(zero)];
        sources.extend(index.map(|index| self.in_x(index)));
        let op = SamplerOp::ResourceInfo;
        let is_indexed = index.is_some();
        let (payload, has_sampler) = ([1, 0, 0], false);
        let message = SamplerMessage { op, surface, sampler: 0, header: None, payload, has_sampler, is_indexed };
        let temp = self.new_temp();
        let to = Destination::new(File::Temporary, temp.index, 15);
        self.push(Instruction::new(Op::Message(Message::Sampler(message)), Some(to), sources));
        let target = self.target(def);
        self.copy(target, lane(temp, 0));
        Ok(())
    }

    /// An atomic operation with up to two operands.
    fn atomic(&mut self, inst: Inst, op: u8, surface: Surface, place: Source, operands: [Option<Source>; 2]) {
        let count = operands.iter().flatten().count() as u8;
        let place = self.in_x(place);
        let mut sources = vec![place];
        if count != 0 {
            sources.push(self.packed([operands[0], operands[1], None, None]));
        }
        let def = self.body.inst_def(inst).filter(|&def| !self.body.is_unused(def));
        let access = BufferAccess::Atomic { op, operands: count, returns: def.is_some() };
        let value = def.map(|_| self.new_temp());
        self.access(access, surface, value, &sources);
        if let (Some(def), Some(value)) = (def, value) {
            let target = self.target(def);
            self.copy(target, lane(value, 0));
        }
    }

    pub(super) fn select_atomic(&mut self, inst: Inst) -> Result<(), IntelError> {
        let body = self.body;
        let number = atomic_number(body.index(inst, IndexKind::AtomicOp));
        let number = number.ok_or_else(|| self.lacks(inst, "atomic operation of this kind"))?;
        if body.bit_size(body.src(inst, 2)) != 32 {
            return Err(self.lacks(inst, "atomic operation of this size"));
        }
        let surface = self.buffer_surface(body.src(inst, 0));
        let place = self.source_of(body.source(inst, 1));
        let mut operands = [None; 2];
        for (operand, number) in operands.iter_mut().zip(2..body.num_sources(inst)) {
            *operand = Some(lane(self.source_of(body.source(inst, number)), 0));
        }
        self.atomic(inst, number, surface, place, operands);
        Ok(())
    }

    /// Operations on atomic counters, which are words of a buffer.
    pub(super) fn select_counter(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), IntelError> {
        use IntrinsicOp as I;
        let body = self.body;
        let number = match op {
            I::AtomicCounterRead => None,
            I::AtomicCounterInc => Some(atomic::INC),
            I::AtomicCounterPreDec => Some(atomic::PREDEC),
            I::AtomicCounterPostDec => Some(atomic::DEC),
            I::AtomicCounterAdd => Some(atomic::ADD),
            I::AtomicCounterMin => Some(atomic::UMIN),
            I::AtomicCounterMax => Some(atomic::UMAX),
            I::AtomicCounterAnd => Some(atomic::AND),
            I::AtomicCounterOr => Some(atomic::OR),
            I::AtomicCounterXor => Some(atomic::XOR),
            I::AtomicCounterExchange => Some(atomic::MOV),
            I::AtomicCounterCompSwap => Some(atomic::CMPWR),
            _ => return Err(self.lacks(inst, &format!("form of `{}`", op.name()))),
        };
        let surface = (self.bindings.counters(body.index(inst, IndexKind::Base) as u32), None);
        let offset = self.source_of(body.source(inst, 0));
        let base = self.word(body.index(inst, IndexKind::RangeBase) as u32);
        let place = self.computed(alu(Opcode::Add, Type::D), 1, [lane(offset, 0), base]);
        let Some(number) = number else {
            let Some(def) = body.inst_def(inst) else { return Ok(()) };
            let value = self.new_temp();
            self.access(BufferAccess::Read { words: 1 }, surface, Some(value), &[place]);
            let target = self.target(def);
            self.copy(target, composed(value, [0; 4]));
            return Ok(());
        };
        let mut operands = [None; 2];
        for (operand, number) in operands.iter_mut().zip(1..body.num_sources(inst)) {
            *operand = Some(lane(self.source_of(body.source(inst, number)), 0));
        }
        self.atomic(inst, number, surface, place, operands);
        Ok(())
    }
}

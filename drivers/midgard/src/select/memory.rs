//! Arrays of registers, storage buffers, shared memory, counters and barriers.
//!
//! The operands of an access are in one register of the load/store unit: the address of a buffer in x and y, the offset
//! in z. Stored values are in the other one.

use tgsi_ir::Inst;
use tgsi_ir::intrinsics::indices::{AtomicOp, Scope};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicKind, IntrinsicOp};
use tgsi_registers::chase::{Register as ArrayRegister, accessed_register};
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::operands::{composed, lane};
use super::resources::Number;
use super::{Array, Selector};
use crate::MidgardError;
use crate::isa::alu::AluOp;
use crate::isa::load_store::{IndexFormat, LoadStore, LoadStoreOp, Operand};
use crate::isa::{LoadStoreRegister, Register, Swizzle};
use crate::machine::{OPERANDS, Op, Operation};
use crate::program::SystemRow;

/// Storage buffers with a row of system values that a run-time number can select.
const MAX_BLOCKS: u32 = 256;

/// The number of a register of the load/store unit.
pub(super) fn operand_register(index: u8) -> LoadStoreRegister {
    if index == 0 { LoadStoreRegister::L0 } else { LoadStoreRegister::L1 }
}

/// Memory, and the place of its address.
#[derive(Clone, Copy)]
enum Memory {
    /// Storage of the thread.
    Thread,
    /// Storage of the workgroup.
    Workgroup,
    /// Behind an address in a row of system values, given as an operand.
    Behind(Source),
}

/// An address: the fields of instructions, and the operands that hold it.
pub(super) struct Address {
    pub(super) access: LoadStore,
    pub(super) sources: Vec<Source>,
}

impl Selector<'_> {
    /// Places the address of an access: a base, a constant, and an index in bytes.
    fn address(&mut self, memory: Memory, number: u8, index: Option<Source>, offset: u32) -> Address {
        let mut access = LoadStore::new(LoadStoreOp::Ld128, Register::UNUSED);
        access.is_wide = true;
        access.index_format = IndexFormat::U32;
        let mut sources = Vec::new();
        let mut index = index;
        // The offset is signed, with 18 bits.
        if offset < 1 << 17 {
            access.offset = offset as i32;
        } else {
            let constant = self.word(offset);
            index = Some(match index {
                Some(index) => self.computed(AluOp::Iadd, 1, [lane(index, 0), constant]),
                None => constant,
            });
        }
        let storage = LoadStoreRegister::LocalStorage;
        access.argument = match memory {
            Memory::Thread => Operand { register: storage, component: 0 },
            Memory::Workgroup => Operand { register: storage, component: 2 },
            Memory::Behind(row) => {
                let register = self.set_operand(number, 0b0011, row);
                sources.push(register);
                Operand { register: operand_register(number), component: 0 }
            }
        };
        // A sum of 32 bits may wrap around.
        if index.is_some() && access.offset != 0 {
            access.index_format = IndexFormat::S32;
        }
        if let Some(index) = index {
            let register = self.set_operand(number, 0b0100, lane(index, 0));
            sources.push(composed(register, [2; 4]));
            access.index = Operand { register: operand_register(number), component: 2 };
        }
        Address { access, sources }
    }

    /// Appends a load of up to four words.
    fn load_words(&mut self, target: Destination, address: Address) {
        let op = match target.mask {
            0b0001 => LoadStoreOp::Ld32,
            0b0010 | 0b0011 => LoadStoreOp::Ld64,
            _ => LoadStoreOp::Ld128,
        };
        let operation = self.operation(Operation::LoadStore(LoadStore { op, ..address.access }));
        self.load(target, operation, &address.sources);
    }

    /// Appends a store of the words of a mask.
    fn store_words(&mut self, value: Source, mask: u8, number: u8, address: Address) {
        let value = self.set_operand(number, mask, value);
        let first = mask.trailing_zeros() as u8 & 3;
        let value = composed(value, [0, 1, 2, 3].map(|c: u8| if mask >> c & 1 != 0 { c } else { first }));
        let register = Register::new(number).unwrap_or(Register::UNUSED);
        let store = LoadStore { op: LoadStoreOp::St128, register, mask, ..address.access };
        let operation = self.operation(Operation::LoadStore(store));
        self.push(Instruction::new(Op::Store, None, [operation, value].into_iter().chain(address.sources)));
    }

    /// The offset of an element of an array, in bytes from the start of the array if it is not a constant. Stores
    /// beyond the end have an element.
    fn element(&mut self, array: Array, register: ArrayRegister) -> (Option<Source>, u32) {
        let Some(index) = register.indirect else {
            return (None, array.offset + register.base.min(array.elements) * 16);
        };
        let index = self.source_of_def(index);
        let index = self.plus(index, register.base);
        let (last, shift) = (self.word(array.elements), self.word(4));
        let clamped = lane(self.computed(AluOp::Umin, 1, [lane(index, 0), last]), 0);
        (Some(self.computed(AluOp::Ishl, 1, [clamped, shift])), array.offset)
    }

    /// Loads and stores elements of arrays; other registers are operands.
    pub(super) fn select_register(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), MidgardError> {
        let body = self.body;
        let Some(register) = accessed_register(body, inst) else { return Ok(()) };
        let Some(array) = self.arrays[register.handle] else { return Ok(()) };
        let number = self.next_operand();
        match op {
            IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect => {
                let Some(def) = body.inst_def(inst) else { return Ok(()) };
                let to = Destination::new(File::Temporary, self.temp_of(def).index, body.full_mask(def) as u8 & 15);
                if register.indirect.is_none() && register.base >= array.elements {
                    let zero = self.word(0);
                    self.copy(to, zero);
                    return Ok(());
                }
                let (index, offset) = self.element(array, register);
                let address = self.address(Memory::Thread, number, index, offset);
                let Some(place) = index.filter(|_| array.stores_beyond) else {
                    self.load_words(to, address);
                    return Ok(());
                };
                let loaded = self.new_temp();
                self.load_words(Destination::new(File::Temporary, loaded.index, to.mask), address);
                let end = self.word(array.elements * 16);
                let exists = self.computed(AluOp::Ult, 1, [lane(place, 0), end]);
                self.emit(AluOp::Iand, to, [loaded, lane(exists, 0)]);
            }
            _ => {
                let value = body.src(inst, 0);
                let mask = body.write_mask(inst) as u8 & 15;
                let does_not_exist = register.indirect.is_none() && register.base >= array.elements;
                if self.is_undef(value) || mask == 0 || does_not_exist {
                    return Ok(());
                }
                let (index, offset) = self.element(array, register);
                let value = self.value(value);
                let address = self.address(Memory::Thread, number, index, offset);
                self.store_words(value, mask, number ^ 1, address);
            }
        }
        Ok(())
    }

    /// The row of system values of a storage buffer. A number beyond the last buffer gives an empty one.
    fn buffer(&mut self, inst: Inst, source: usize) -> Source {
        let count = self.shader.info.num_ssbos;
        let number = match self.block_of(inst, source) {
            Number::Constant(number) => Number::Constant(number.min(count)),
            number => number,
        };
        self.numbered_row(number, count.saturating_add(1).min(MAX_BLOCKS), SystemRow::StorageBuffer)
    }

    /// Selects accesses to memory, images and barriers. Returns whether the intrinsic is one.
    pub(super) fn select_memory(&mut self, inst: Inst, op: IntrinsicOp) -> Result<bool, MidgardError> {
        use IntrinsicOp as I;
        let body = self.body;
        let base = if matches!(op, I::LoadShared | I::StoreShared | I::SharedAtomic | I::SharedAtomicSwap) {
            body.base(inst)
        } else {
            0
        };
        match op {
            I::LoadSsbo => {
                let memory = Memory::Behind(self.buffer(inst, 0));
                self.select_load(inst, memory, 1, base);
            }
            I::LoadShared => self.select_load(inst, Memory::Workgroup, 0, base),
            I::StoreSsbo => {
                let memory = Memory::Behind(self.buffer(inst, 1));
                self.select_store(inst, memory, 2, base);
            }
            I::StoreShared => self.select_store(inst, Memory::Workgroup, 1, base),
            I::SsboAtomic | I::SsboAtomicSwap => {
                let memory = Memory::Behind(self.buffer(inst, 0));
                self.select_atomic(inst, memory, 1, base)?;
            }
            I::SharedAtomic | I::SharedAtomicSwap => self.select_atomic(inst, Memory::Workgroup, 0, base)?,
            I::GetSsboSize => {
                let Some(def) = body.inst_def(inst) else { return Ok(true) };
                let row = self.buffer(inst, 0);
                let target = self.target(def);
                self.copy(target, lane(row, 2));
            }
            I::Barrier => {
                let scope = Scope::from_i32(body.index(inst, IndexKind::ExecutionScope)).unwrap_or(Scope::None);
                if scope == Scope::Workgroup {
                    self.push_bare(Op::Barrier);
                }
            }
            _ if op.info().kind == IntrinsicKind::AtomicCounter => self.select_counter(inst, op)?,
            _ => return self.select_image(inst, op),
        }
        Ok(true)
    }

    /// A constant offset, and the part that is known at run time only.
    fn split_offset(&mut self, inst: Inst, number: usize, base: u32) -> (Option<Source>, u32) {
        let source = self.body.source(inst, number);
        match self.constant_of(source) {
            Some(offset) => (None, base.wrapping_add(offset)),
            None => (Some(self.source_of(source)), base),
        }
    }

    fn select_load(&mut self, inst: Inst, memory: Memory, offset: usize, base: u32) {
        let Some(def) = self.body.inst_def(inst) else { return };
        let target = self.target(def);
        let (index, offset) = self.split_offset(inst, offset, base);
        let number = self.next_operand();
        let address = self.address(memory, number, index, offset);
        self.load_words(target, address);
    }

    fn select_store(&mut self, inst: Inst, memory: Memory, offset: usize, base: u32) {
        let value = self.source_of(self.body.source(inst, 0));
        let mask = self.body.write_mask(inst) as u8 & 15;
        let (index, offset) = self.split_offset(inst, offset, base);
        let number = self.next_operand();
        let address = self.address(memory, number, index, offset);
        self.store_words(value, mask, number ^ 1, address);
    }

    fn select_atomic(&mut self, inst: Inst, memory: Memory, offset: usize, base: u32) -> Result<(), MidgardError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let target = self.target(def);
        let op = self.atomic_op(inst, AtomicOp::from_i32(body.index(inst, IndexKind::AtomicOp)))?;
        let data = self.operands_from(inst, offset + 1);
        let (index, offset) = self.split_offset(inst, offset, base);
        let number = self.next_operand();
        let address = self.address(memory, number, index, offset);
        self.atomic(op, target, &data, number, address);
        Ok(())
    }

    /// The operands of an intrinsic from one on.
    pub(super) fn operands_from(&mut self, inst: Inst, first: usize) -> Vec<Source> {
        let body = self.body;
        (first..body.num_sources(inst)).map(|number| self.source_of(body.source(inst, number))).collect()
    }

    /// The opcode of an atomic operation.
    pub(super) fn atomic_op(&self, inst: Inst, op: Option<AtomicOp>) -> Result<LoadStoreOp, MidgardError> {
        Ok(match op {
            Some(AtomicOp::Iadd) => LoadStoreOp::AtomicAdd,
            Some(AtomicOp::Imin) => LoadStoreOp::AtomicImin,
            Some(AtomicOp::Umin) => LoadStoreOp::AtomicUmin,
            Some(AtomicOp::Imax) => LoadStoreOp::AtomicImax,
            Some(AtomicOp::Umax) => LoadStoreOp::AtomicUmax,
            Some(AtomicOp::Iand) => LoadStoreOp::AtomicAnd,
            Some(AtomicOp::Ior) => LoadStoreOp::AtomicOr,
            Some(AtomicOp::Ixor) => LoadStoreOp::AtomicXor,
            Some(AtomicOp::Xchg) => LoadStoreOp::AtomicXchg,
            Some(AtomicOp::Cmpxchg) => LoadStoreOp::AtomicCmpxchg,
            _ => return Err(self.lacks(inst, "atomic operations on floats")),
        })
    }

    /// Appends an atomic operation at an address in operand register `number`. The operand is in w of the register of
    /// the address; the value to compare is in z of the other one, beside the address that is computed first.
    pub(super) fn atomic(
        &mut self,
        op: LoadStoreOp,
        target: Destination,
        data: &[Source],
        mut number: u8,
        mut address: Address,
    ) {
        let mut operands = address.sources.clone();
        if let (LoadStoreOp::AtomicCmpxchg, Some(&compared)) = (op, data.first()) {
            // The fields of the index state the value to compare.
            let lea = LoadStore { op: LoadStoreOp::Lea, ..address.access };
            let operation = self.operation(Operation::LoadStore(lea));
            number ^= 1;
            let to = Destination::new(File::Special, i32::from(OPERANDS + number), 0b0011);
            self.load(to, operation, &address.sources);
            let register = self.set_operand(number, 0b0100, lane(compared, 0));
            operands = vec![register, composed(register, [2; 4])];
            address.access = LoadStore {
                argument: Operand { register: operand_register(number), component: 0 },
                index: Operand { register: operand_register(number), component: 2 },
                offset: 0,
                ..address.access
            };
        }
        let Some(&value) = data.last() else { return };
        let register = self.set_operand(number, 0b1000, lane(value, 0));
        let operand = 3 | (operand_register(number).code() as u8) << 2;
        let atomic = LoadStore { op, swizzle: Swizzle(operand), ..address.access };
        let operation = self.operation(Operation::LoadStore(atomic));
        let sources = [operation, composed(register, [3; 4])].into_iter().chain(operands);
        self.push(Instruction::new(Op::Atomic, Some(target), sources));
    }

    /// An operation on a counter, which is a word of a buffer.
    fn select_counter(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), MidgardError> {
        use IntrinsicOp as I;
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let (kind, operand) = match op {
            I::AtomicCounterRead => (None, None),
            I::AtomicCounterInc => (Some(AtomicOp::Iadd), Some(1)),
            I::AtomicCounterPreDec | I::AtomicCounterPostDec => (Some(AtomicOp::Iadd), Some(u32::MAX)),
            I::AtomicCounterAdd => (Some(AtomicOp::Iadd), None),
            I::AtomicCounterMin => (Some(AtomicOp::Umin), None),
            I::AtomicCounterMax => (Some(AtomicOp::Umax), None),
            I::AtomicCounterAnd => (Some(AtomicOp::Iand), None),
            I::AtomicCounterOr => (Some(AtomicOp::Ior), None),
            I::AtomicCounterXor => (Some(AtomicOp::Ixor), None),
            I::AtomicCounterExchange => (Some(AtomicOp::Xchg), None),
            I::AtomicCounterCompSwap => (Some(AtomicOp::Cmpxchg), None),
            _ => return Err(self.lacks(inst, &format!("form of `{}`", op.name()))),
        };
        let target = self.target(def);
        let data = match operand {
            Some(operand) => vec![self.word(operand)],
            None => self.operands_from(inst, 1),
        };
        let row = self.system_row(SystemRow::Counters(body.base(inst)));
        let (index, offset) = self.split_offset(inst, 0, body.index(inst, IndexKind::RangeBase) as u32);
        let number = self.next_operand();
        let address = self.address(Memory::Behind(row), number, index, offset);
        let Some(kind) = kind else {
            self.load_words(target, address);
            return Ok(());
        };
        let opcode = self.atomic_op(inst, Some(kind))?;
        if op != I::AtomicCounterPreDec {
            self.atomic(opcode, target, &data, number, address);
            return Ok(());
        }
        let old = self.new_temp();
        self.atomic(opcode, Destination::new(File::Temporary, old.index, 1), &data, number, address);
        let minus_one = self.word(u32::MAX);
        self.emit(AluOp::Iadd, target, [lane(old, 0), minus_one]);
        Ok(())
    }
}

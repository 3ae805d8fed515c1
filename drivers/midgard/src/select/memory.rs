//! Arrays of registers, storage buffers, shared memory, images, counters and barriers.
//!
//! The operands of an access are in one register of the load/store unit: the address of a buffer in x and y, the offset
//! in z. Stored values are in the other one.

use tgsi_environment::SamplerDim;
use tgsi_ir::intrinsics::indices::{AtomicOp, Scope};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::{Def, Inst, InstData};
use tgsi_registers::chase::accessed_register;
use tgsi_vec4::simple::{Destination, File, Instruction, Source};

use super::{Array, Selector};
use super::operands::{lane, swizzled};
use crate::MidgardError;
use crate::isa::alu::AluOp;
use crate::isa::load_store::{IndexFormat, LoadStore, LoadStoreOp, Operand};
use crate::isa::{LoadStoreRegister, Register, Swizzle};
use crate::machine::{Op, Operation};
use crate::program::{SystemRow, Texture};

/// The number of a register of the load/store unit.
fn operand_register(index: u8) -> LoadStoreRegister {
    if index == 0 { LoadStoreRegister::L0 } else { LoadStoreRegister::L1 }
}

/// Memory, and the place of its address.
#[derive(Clone, Copy)]
enum Memory {
    /// Storage of the thread.
    Thread,
    /// Storage of the workgroup.
    Workgroup,
    /// Behind an address in a row of system values.
    Row(SystemRow),
}

/// An address: the fields of instructions, and the operands that hold it.
struct Address {
    access: LoadStore,
    sources: Vec<Source>,
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
            Memory::Row(row) => {
                let base = self.system_row(row);
                let register = self.set_operand(number, 0b0011, base);
                sources.push(register);
                Operand { register: operand_register(number), component: 0 }
            }
        };
        if let Some(index) = index {
            let register = self.set_operand(number, 0b0100, lane(index, 0));
            sources.push(swizzled(register, [2; 4]));
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
        let value = swizzled(value, [0, 1, 2, 3].map(|c: u8| if mask >> c & 1 != 0 { c } else { first }));
        let register = Register::new(number).unwrap_or(Register::UNUSED);
        let store = LoadStore { op: LoadStoreOp::St128, register, mask, ..address.access };
        let operation = self.operation(Operation::LoadStore(store));
        self.push(Instruction::new(Op::Store, None, [operation, value].into_iter().chain(address.sources)));
    }

    /// The offset of an element of an array. Accesses beyond the end have an element.
    fn element(&mut self, array: Array, base: u32, indirect: Option<Def>) -> (Option<Source>, u32) {
        let Some(index) = indirect else { return (None, array.offset + base.min(array.elements) * 16) };
        let mut index = lane(self.source_of_def(index), 0);
        if base != 0 {
            let base = self.word(base);
            index = lane(self.computed(AluOp::Iadd, 1, [index, base]), 0);
        }
        let (last, shift) = (self.word(array.elements), self.word(4));
        let clamped = lane(self.computed(AluOp::Umin, 1, [index, last]), 0);
        (Some(self.computed(AluOp::Ishl, 1, [clamped, shift])), array.offset)
    }

    /// Loads and stores elements of arrays; other registers are operands.
    pub(super) fn select_register(&mut self, inst: Inst, op: IntrinsicOp) -> Result<(), MidgardError> {
        let body = self.body;
        let Some(register) = accessed_register(body, inst) else { return Ok(()) };
        let Some(array) = self.arrays[register.handle] else { return Ok(()) };
        let (index, offset) = self.element(array, register.base, register.indirect);
        let number = self.next_operand();
        match op {
            IntrinsicOp::LoadReg | IntrinsicOp::LoadRegIndirect => {
                let Some(def) = body.inst_def(inst) else { return Ok(()) };
                let temp = self.temp_of(def);
                let to = Destination::new(File::Temporary, temp.index, body.full_mask(def) as u8 & 15);
                let address = self.address(Memory::Thread, number, index, offset);
                self.load_words(to, address);
            }
            _ => {
                let value = body.src(inst, 0);
                let mask = body.write_mask(inst) as u8 & 15;
                if self.is_undef(value) || mask == 0 {
                    return Ok(());
                }
                let value = self.value(value);
                let address = self.address(Memory::Thread, number, index, offset);
                self.store_words(value, mask, number ^ 1, address);
            }
        }
        Ok(())
    }

    /// The storage buffer of a source.
    fn buffer(&self, inst: Inst, number: usize) -> Result<Memory, MidgardError> {
        let block = self.constant_of(self.body.source(inst, number));
        let block = block.ok_or_else(|| self.lacks(inst, "run-time numbers of storage buffers"))?;
        Ok(Memory::Row(SystemRow::StorageBuffer(block)))
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
                let memory = self.buffer(inst, 0)?;
                self.select_load(inst, memory, 1, base);
            }
            I::LoadShared => self.select_load(inst, Memory::Workgroup, 0, base),
            I::StoreSsbo => {
                let memory = self.buffer(inst, 1)?;
                self.select_store(inst, memory, 2, base);
            }
            I::StoreShared => self.select_store(inst, Memory::Workgroup, 1, base),
            I::SsboAtomic | I::SsboAtomicSwap => {
                let memory = self.buffer(inst, 0)?;
                self.select_atomic(inst, memory, 1, base)?;
            }
            I::SharedAtomic | I::SharedAtomicSwap => self.select_atomic(inst, Memory::Workgroup, 0, base)?,
            I::GetSsboSize => {
                let Some(def) = body.inst_def(inst) else { return Ok(true) };
                let Memory::Row(row) = self.buffer(inst, 0)? else { return Ok(false) };
                let row = self.system_row(row);
                let target = self.target(def);
                self.copy(target, lane(row, 2));
            }
            I::Barrier => {
                let scope = Scope::from_i32(body.index(inst, IndexKind::ExecutionScope)).unwrap_or(Scope::None);
                if scope == Scope::Workgroup {
                    self.push_bare(Op::Barrier);
                }
            }
            I::ImageDerefLoad | I::ImageLoad => self.select_image_load(inst)?,
            I::ImageDerefStore | I::ImageStore => self.select_image_store(inst)?,
            I::ImageDerefSize | I::ImageSize => {
                let Some(def) = body.inst_def(inst) else { return Ok(true) };
                let image = self.image(inst)?;
                let row = self.system_row(SystemRow::ImageSize(image));
                let target = self.target(def);
                self.copy(target, row);
            }
            I::ImageDerefSamples | I::ImageSamples => {
                let Some(def) = body.inst_def(inst) else { return Ok(true) };
                let image = self.image(inst)?;
                let row = self.system_row(SystemRow::ImageSize(image));
                let target = self.target(def);
                self.copy(target, lane(row, 3));
            }
            _ => return Ok(false),
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

    /// An atomic operation. The operand is in w of the register of the address; the value to compare is in z of the
    /// other one, beside the address that is computed first.
    fn select_atomic(&mut self, inst: Inst, memory: Memory, offset: usize, base: u32) -> Result<(), MidgardError> {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return Ok(()) };
        let target = self.target(def);
        let kind = AtomicOp::from_i32(body.index(inst, IndexKind::AtomicOp));
        let op = match kind {
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
        };
        let data: Vec<Source> =
            (offset + 1..body.num_sources(inst)).map(|number| self.source_of(body.source(inst, number))).collect();
        let (index, offset) = self.split_offset(inst, offset, base);
        let mut number = self.next_operand();
        let mut address = self.address(memory, number, index, offset);
        let mut operands = address.sources.clone();
        if let (LoadStoreOp::AtomicCmpxchg, Some(&compared)) = (op, data.first()) {
            // The fields of the index state the value to compare.
            let lea = LoadStore { op: LoadStoreOp::Lea, ..address.access };
            let operation = self.operation(Operation::LoadStore(lea));
            number ^= 1;
            let to = Destination::new(File::Special, i32::from(crate::machine::OPERANDS + number), 0b0011);
            self.load(to, operation, &address.sources);
            let register = self.set_operand(number, 0b0100, lane(compared, 0));
            operands = vec![register, swizzled(register, [2; 4])];
            address.access = LoadStore {
                argument: Operand { register: operand_register(number), component: 0 },
                index: Operand { register: operand_register(number), component: 2 },
                offset: 0,
                ..address.access
            };
        }
        let Some(&value) = data.last() else { return Ok(()) };
        let register = self.set_operand(number, 0b1000, lane(value, 0));
        let operand = 3 | (operand_register(number).code() as u8) << 2;
        let atomic = LoadStore { op, swizzle: Swizzle(operand), ..address.access };
        let operation = self.operation(Operation::LoadStore(atomic));
        let sources = [operation, swizzled(register, [3; 4])].into_iter().chain(operands);
        self.push(Instruction::new(Op::Atomic, Some(target), sources));
        Ok(())
    }

    /// The number of an image.
    fn image(&mut self, inst: Inst) -> Result<u32, MidgardError> {
        let body = self.body;
        let dim = SamplerDim::from_i32(body.index(inst, IndexKind::ImageDim)).unwrap_or(SamplerDim::Dim2D);
        let is_array = body.index(inst, IndexKind::ImageArray) != 0;
        let source = body.source(inst, 0);
        let deref = body.def_inst(body.src_def(source));
        let number = match *body.inst(deref) {
            InstData::Deref { kind: tgsi_ir::body::DerefKind::Var(variable), .. } => {
                Some(self.shader.variables[variable].binding)
            }
            InstData::Deref { .. } => None,
            _ => self.constant_of(source).map(|n| n.wrapping_add(body.index(inst, IndexKind::RangeBase) as u32)),
        };
        let number = number.ok_or_else(|| self.lacks(inst, "run-time numbers of images"))?;
        if !self.images.iter().any(|known| known.number == number) {
            self.images.push(Texture { number, dimensions: dim.into(), is_array });
        }
        Ok(number)
    }

    /// The fields of an access to an image. Coordinates have 16 bits each, in x and y of the register.
    fn image_access(&mut self, inst: Inst, number: u8) -> Result<(LoadStore, Source), MidgardError> {
        let body = self.body;
        let image = self.image(inst)?;
        let dim = SamplerDim::from_i32(body.index(inst, IndexKind::ImageDim)).unwrap_or(SamplerDim::Dim2D);
        let is_array = body.index(inst, IndexKind::ImageArray) != 0;
        if matches!(dim, SamplerDim::Ms | SamplerDim::SubpassMs) {
            return Err(self.lacks(inst, "images with several samples"));
        }
        let coordinate = self.source_of(body.source(inst, 1));
        let count = dim.num_coords() + u8::from(is_array && dim != SamplerDim::Cube);
        let (low, half) = (self.word(0xffff), self.word(16));
        for word in 0..2u8 {
            let first = word * 2;
            let value = if first < count {
                let lower = self.computed(AluOp::Iand, 1, [lane(coordinate, first), low]);
                if first + 1 < count {
                    let upper = self.computed(AluOp::Ishl, 1, [lane(coordinate, first + 1), half]);
                    self.computed(AluOp::Ior, 1, [lower, upper])
                } else {
                    lower
                }
            } else {
                self.word(0)
            };
            self.set_operand(number, 1 << word, lane(value, 0));
        }
        let access = LoadStore {
            is_wide: true,
            argument: Operand { register: operand_register(number), component: 0 },
            offset: (image as i32) << 9,
            ..LoadStore::new(LoadStoreOp::LdImageU32, Register::UNUSED)
        };
        Ok((access, Source::new(File::Special, i32::from(crate::machine::OPERANDS + number))))
    }

    fn select_image_load(&mut self, inst: Inst) -> Result<(), MidgardError> {
        let Some(def) = self.body.inst_def(inst) else { return Ok(()) };
        let target = self.target(def);
        let number = self.next_operand();
        let (access, address) = self.image_access(inst, number)?;
        let operation = self.operation(Operation::LoadStore(access));
        self.load(target, operation, &[address]);
        Ok(())
    }

    fn select_image_store(&mut self, inst: Inst) -> Result<(), MidgardError> {
        let value = self.source_of(self.body.source(inst, 3));
        let number = self.next_operand();
        let (access, address) = self.image_access(inst, number)?;
        let value = self.set_operand(number ^ 1, 15, value);
        let register = Register::new(number ^ 1).unwrap_or(Register::UNUSED);
        let store = LoadStore { op: LoadStoreOp::StImageU32, register, ..access };
        let operation = self.operation(Operation::LoadStore(store));
        self.push(Instruction::new(Op::Store, None, [operation, value, address]));
        Ok(())
    }
}

//! Intrinsics: buffers, images, counters, barriers, and the dispatch of all others.

mod images;
mod intrinsics;

use tgsi::limits::{MAX_OPERAND_INDEX, MIN_OPERAND_INDEX};
use tgsi::shader::{Dst, Instruction, InstructionMemory, Register, Src};
use tgsi::tables::{File, MemoryQualifiers, MemoryType, Opcode, PixelFormat, TextureTarget};
use tgsi_ir::alu::AluOp;
use tgsi_ir::intrinsics::indices::{AccessFlags, AtomicOp, DescType, Scope};
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::variable::VariableModes;
use tgsi_ir::{Def, Inst};

use super::address::AddressUse;
use super::declared::{ImageUse, OWN_ARRAY};
use super::{Selector, Value};
use crate::DriverError;

fn qualifiers(access: i32) -> MemoryQualifiers {
    let access = AccessFlags::from_i32(access);
    let bits = [
        (AccessFlags::COHERENT, MemoryQualifiers::COHERENT),
        (AccessFlags::RESTRICT, MemoryQualifiers::RESTRICT),
        (AccessFlags::VOLATILE, MemoryQualifiers::VOLATILE),
        (AccessFlags::NON_TEMPORAL, MemoryQualifiers::STREAM_CACHE_POLICY),
    ];
    MemoryQualifiers(bits.iter().filter(|b| access.contains(b.0)).fold(0, |m, b| m | b.1.0))
}

/// The memory word of an access to a buffer.
pub(super) fn buffer_memory(access: i32) -> InstructionMemory {
    InstructionMemory { qualifiers: qualifiers(access), ..InstructionMemory::default() }
}

const fn atomic_opcode(op: AtomicOp) -> Option<Opcode> {
    Some(match op {
        AtomicOp::Iadd => Opcode::Atomuadd,
        AtomicOp::Imin => Opcode::Atomimin,
        AtomicOp::Umin => Opcode::Atomumin,
        AtomicOp::Imax => Opcode::Atomimax,
        AtomicOp::Umax => Opcode::Atomumax,
        AtomicOp::Iand => Opcode::Atomand,
        AtomicOp::Ior => Opcode::Atomor,
        AtomicOp::Ixor => Opcode::Atomxor,
        AtomicOp::Xchg => Opcode::Atomxchg,
        AtomicOp::Fadd => Opcode::Atomfadd,
        AtomicOp::Cmpxchg => Opcode::Atomcas,
        AtomicOp::IncWrap => Opcode::AtomincWrap,
        AtomicOp::DecWrap => Opcode::AtomdecWrap,
        AtomicOp::Fmin | AtomicOp::Fmax | AtomicOp::Fcmpxchg => return None,
    })
}

impl Selector<'_> {
    fn buffer(&mut self, number: Def, atomic: bool) -> Register {
        // A number that no operand can encode refers to no buffer, and remains an index.
        match self.body.constant_component(number, 0).filter(|&index| index <= MAX_OPERAND_INDEX as u64) {
            Some(index) => {
                self.declared.buffer(index as u32, atomic);
                Register::new(File::Buffer, index as i32)
            }
            None => {
                let (slot, add) = self.load_address(number, AddressUse::Resource);
                self.declared.buffers(self.shader.info.num_ssbos, atomic);
                Register::new(File::Buffer, add).indexed_by(slot.0, slot.1, 0)
            }
        }
    }

    fn shared(&mut self) -> Register {
        self.declared.memory(MemoryType::Shared);
        Register::new(File::Memory, MemoryType::Shared.value().into())
    }

    /// The address of an access to shared memory: `base + offset`.
    fn shared_address(&mut self, inst: Inst, number: usize) -> Src {
        let base = self.body.index(inst, IndexKind::Base);
        let address = self.source(inst, number).lane(0);
        if base == 0 {
            return address;
        }
        let base = self.word(base as u32);
        self.computed(Opcode::Uadd, 1, &[address, base]).swizzled([0; 4])
    }

    /// Emits an instruction with a memory word.
    fn emit_memory(&mut self, opcode: Opcode, dst: Dst, src: &[Src], memory: InstructionMemory) {
        let mut instruction = Instruction::new(opcode);
        instruction.memory = Some(memory);
        instruction.dst.push(dst);
        instruction.src.extend(src.iter().copied().take(5));
        self.emit_instruction(instruction);
    }

    pub(super) fn load_memory(&mut self, def: Def, resource: Src, address: Src, memory: InstructionMemory) {
        let dst = Dst::new(self.destination(def)).masked(self.full_lanes(def));
        self.emit_memory(Opcode::Load, dst, &[resource, address], memory);
    }

    fn store_memory(&mut self, inst: Inst, resource: Register, address: Src, value: Value, memory: InstructionMemory) {
        let body = self.body;
        let bits = body.bit_size(body.src(inst, 0));
        let mask = super::lane_mask(body.write_mask(inst), bits);
        self.emit_memory(
            Opcode::Store,
            Dst::new(resource).masked(mask),
            &[address, value.source([0, 1, 2, 3])],
            memory,
        );
    }

    fn select_query(&mut self, def: Def, resource: Src, mask: u8, memory: InstructionMemory) {
        let dst = Dst::new(self.destination(def)).masked(mask);
        self.emit_memory(Opcode::Resq, dst, &[resource], memory);
    }

    /// Emits an atomic operation with its data at source `first`.
    fn select_atomic(
        &mut self,
        inst: Inst,
        resource: Src,
        address: Src,
        first: usize,
        memory: InstructionMemory,
    ) -> Result<(), DriverError> {
        let body = self.body;
        let opcode = AtomicOp::from_i32(body.index(inst, IndexKind::AtomicOp))
            .and_then(atomic_opcode)
            .ok_or(DriverError::UnsupportedAtomic { inst })?;
        let mut sources = arrayvec::ArrayVec::<Src, 5>::new();
        sources.extend([resource, address]);
        for number in first..body.num_sources(inst).min(first + 2) {
            let value = self.source(inst, number);
            sources.push(value.lane(0));
        }
        self.emit_atomic(inst, opcode, &sources, memory);
        Ok(())
    }

    fn emit_atomic(&mut self, inst: Inst, opcode: Opcode, sources: &[Src], memory: InstructionMemory) {
        let Some(def) = self.body.inst_def(inst) else { return };
        let dst = Dst::new(self.destination(def)).masked(1);
        self.emit_memory(opcode, dst, sources, memory);
    }

    /// The index that an operand with a counter at byte `base` adds, if `bytes` is four times the clamped index. The
    /// clamp can be ignored: there are no counters beyond its limits.
    fn counter_index(&self, bytes: Def, base: i32) -> Option<Def> {
        let body = self.body;
        let shift = body.def_inst(bytes);
        if body.alu_op(shift) != Some(AluOp::Ishl) || base & 3 != 0 || (base >> 2).unsigned_abs() >= 0x4000 {
            return None;
        }
        let (value, count) = (body.source(shift, 0), body.source(shift, 1));
        let count = body.constant_component(body.src_def(count), usize::from(body.swizzle(count).get(0)));
        let clamped = body.src_def(value);
        let index = self.without_clamp(clamped);
        (count == Some(2) && body.swizzle(value).get(0) == 0 && index != clamped).then_some(index)
    }

    fn select_atomic_counter(&mut self, inst: Inst, op: IntrinsicOp) {
        use IntrinsicOp::*;
        let body = self.body;
        let buffer = body.index(inst, IndexKind::Base);
        let base = body.index(inst, IndexKind::RangeBase);
        let offset = body.src(inst, 0);
        let resource = match (body.constant_component(offset, 0), self.counter_index(offset, base)) {
            (Some(bytes), _) => {
                let index = base.wrapping_add(bytes as i32) >> 2;
                if !(0..=MAX_OPERAND_INDEX).contains(&i64::from(index)) {
                    // No operand can encode it: no access, and the result is 0.
                    if let Some(def) = body.inst_def(inst) {
                        let zero = self.word(0);
                        self.bind_or_move(def, Value { lanes: zero.swizzle, ..Value::new(zero.register) });
                    }
                    return;
                }
                self.declared.counters(buffer, index, false);
                Register::new_2d(File::HwAtomic, buffer, index)
            }
            (None, Some(index)) => {
                // The register in the operand determines which array is indexed.
                let first = base >> 2;
                let range = self.declared.counter_array(buffer, first);
                let range = i64::from(range.0 - first)..i64::from(range.1 - first) + 1;
                let (slot, add) = self.load_address_within(index, AddressUse::Resource, range);
                let first = first + add;
                self.declared.counters(buffer, first, true);
                Register::new_2d(File::HwAtomic, buffer, first).indexed_by(slot.0, slot.1, OWN_ARRAY)
            }
            (None, None) => {
                let mut bytes = self.source(inst, 0).lane(0);
                let (index, two) = (self.temp(), self.word(2));
                // The part of the base that an operand cannot encode is added to the address.
                let fits = base & 3 == 0 && (MIN_OPERAND_INDEX..=MAX_OPERAND_INDEX).contains(&i64::from(base >> 2));
                let (first, rest) = if fits { (base >> 2, 0) } else { (0, base) };
                if rest != 0 {
                    let rest = self.word(rest as u32);
                    self.emit(Opcode::Uadd, Dst::new(index).masked(1), &[bytes, rest]);
                    bytes = Value::new(index).lane(0);
                }
                self.emit(Opcode::Ishr, Dst::new(index).masked(1), &[bytes, two]);
                let slot = self.load_value(Value::new(index).lane(0), AddressUse::Resource);
                self.declared.counters(buffer, first, true);
                Register::new_2d(File::HwAtomic, buffer, first).indexed_by(slot.0, slot.1, 0)
            }
        };
        let zero = self.word(0);
        let resource = Src::new(resource);
        let memory = InstructionMemory::default();
        let (opcode, constant) = match op {
            AtomicCounterRead => {
                if let Some(def) = body.inst_def(inst) {
                    self.load_memory(def, resource, zero, memory);
                }
                return;
            }
            AtomicCounterInc => (Opcode::Atomuadd, Some(1)),
            AtomicCounterPreDec | AtomicCounterPostDec => (Opcode::Atomuadd, Some(u32::MAX)),
            AtomicCounterAdd => (Opcode::Atomuadd, None),
            AtomicCounterMin => (Opcode::Atomumin, None),
            AtomicCounterMax => (Opcode::Atomumax, None),
            AtomicCounterAnd => (Opcode::Atomand, None),
            AtomicCounterOr => (Opcode::Atomor, None),
            AtomicCounterXor => (Opcode::Atomxor, None),
            AtomicCounterExchange => (Opcode::Atomxchg, None),
            _ => (Opcode::Atomcas, None),
        };
        let mut sources = arrayvec::ArrayVec::<Src, 5>::new();
        sources.extend([resource, zero]);
        match constant {
            Some(word) => sources.push(self.word(word)),
            None => {
                for number in 1..body.num_sources(inst).min(3) {
                    let value = self.source(inst, number);
                    sources.push(value.lane(0));
                }
            }
        }
        if op == AtomicCounterPreDec {
            // The result is the new value.
            let old = self.temp();
            self.emit_memory(opcode, Dst::new(old).masked(1), &sources, memory);
            if let Some(def) = body.inst_def(inst) {
                let register = self.destination(def);
                let one = self.word(u32::MAX);
                self.emit(Opcode::Uadd, Dst::new(register).masked(1), &[Value::new(old).lane(0), one]);
            }
            return;
        }
        self.emit_atomic(inst, opcode, &sources, memory);
    }

    fn select_barrier(&mut self, inst: Inst) {
        let body = self.body;
        let modes = VariableModes(body.index(inst, IndexKind::MemoryModes) as u32);
        let scope = Scope::from_i32(body.index(inst, IndexKind::MemoryScope)).unwrap_or(Scope::None);
        let mut bits = 0;
        for (mode, bit) in [
            (VariableModes::MEM_SSBO, 3),
            (VariableModes::MEM_GLOBAL, 1),
            (VariableModes::IMAGE, 4),
            (VariableModes::MEM_SHARED, 8),
        ] {
            if modes.intersects(mode) {
                bits |= bit;
            }
        }
        if scope != Scope::None && bits != 0 {
            if scope == Scope::Workgroup && self.shader.stage.has_workgroups() {
                bits |= 16;
            }
            let bits = self.word(bits);
            self.emit_bare(Opcode::Membar, &[bits]);
        }
        // The invocations of a subgroup run in step.
        let execution = Scope::from_i32(body.index(inst, IndexKind::ExecutionScope));
        if matches!(execution, Some(Scope::Workgroup | Scope::QueueFamily | Scope::Device)) {
            self.emit_bare(Opcode::Barrier, &[]);
        }
    }

    /// Emits a bindless handle of a unit.
    fn select_handle(&mut self, inst: Inst) {
        let body = self.body;
        let Some(def) = body.inst_def(inst) else { return };
        let index = body.def_inst(body.src(inst, 0));
        let binding = body.index(index, IndexKind::Binding);
        let is_image = body.index(inst, IndexKind::DescType) == DescType::Image.to_i32();
        let file = if is_image { File::Image } else { File::Sampler };
        let offset = (body.num_sources(index) > 0).then(|| body.src(index, 0));
        let constant = offset.and_then(|o| body.constant_component(o, 0));
        let unit = binding.wrapping_add(constant.unwrap_or(0) as i32);
        let mut register = Register::new(file, unit);
        if constant.is_none() && offset.is_some() {
            let value = self.value(body.src(inst, 0));
            let slot = self.load_value(value.lane(0), AddressUse::Resource);
            register = register.indexed_by(slot.0, slot.1, 0);
        }
        let usage = ImageUse { target: TextureTarget::Texture2D, format: PixelFormat::NONE, writable: true };
        if is_image {
            self.declared.image_if_absent(unit as u32, usage);
        } else {
            self.declared.sampler(unit as u32);
        }
        let opcode = if is_image { Opcode::Img2hnd } else { Opcode::Samp2hnd };
        let dst = self.destination(def);
        let mut instruction = Instruction::new(opcode);
        if is_image {
            instruction.memory = Some(InstructionMemory::default());
        } else {
            instruction.texture = Some(Box::new(tgsi::shader::InstructionTexture {
                target: TextureTarget::Texture2D,
                return_type: tgsi::tables::ReturnType::Unknown,
                offsets: arrayvec::ArrayVec::new(),
            }));
        }
        instruction.dst.push(Dst::new(dst).masked(3));
        instruction.src.push(Src::new(register));
        self.emit_instruction(instruction);
    }
}

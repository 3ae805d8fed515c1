//! Buffers, shared memory, scratch, atomics, atomic counters, registers.

use super::layout::{COUNTER_SHIFT, NULL, component_bytes, read_component};
use super::machine::{Machine, put};
use super::ops::{Intrinsic, Register, Value};
use crate::alu::{AluOp, AluType, ExecutionMode, evaluate};
use crate::intrinsics::indices::AtomicOp;
use crate::intrinsics::{IndexKind, IntrinsicOp};

/// Reads `size` (at most 8) bytes; `None` if they are not all in bounds.
pub(super) fn load(memory: &[u8], at: u32, size: u32) -> Option<u64> {
    let start = at as usize;
    let bytes = memory.get(start..start.checked_add(size as usize)?)?;
    Some(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

/// Writes the low `size` bytes if all of them are in bounds.
pub(super) fn store(memory: &mut [u8], at: u32, size: u32, value: u64) {
    let start = at as usize;
    let Some(end) = start.checked_add(size as usize) else { return };
    if let Some(bytes) = memory.get_mut(start..end) {
        for (byte, value) in bytes.iter_mut().zip(value.to_le_bytes()) {
            *byte = value;
        }
    }
}

/// The new value of an atomic. `data` is the operand (the new value of a swap), `compare` the comparand of a swap.
pub(super) fn atomic_result(op: AtomicOp, bits: u8, old: u64, data: u64, compare: u64) -> u64 {
    let alu = |op: AluOp| {
        let mut result = [0];
        evaluate(op, bits, 1, &[&[old], &[data]], ExecutionMode::DEFAULT, &mut result);
        result[0]
    };
    match op {
        AtomicOp::Iadd => alu(AluOp::Iadd),
        AtomicOp::Imin => alu(AluOp::Imin),
        AtomicOp::Umin => alu(AluOp::Umin),
        AtomicOp::Imax => alu(AluOp::Imax),
        AtomicOp::Umax => alu(AluOp::Umax),
        AtomicOp::Iand => old & data,
        AtomicOp::Ior => old | data,
        AtomicOp::Ixor => old ^ data,
        AtomicOp::Xchg => data,
        AtomicOp::Fadd => alu(AluOp::Fadd),
        AtomicOp::Fmin => alu(AluOp::Fmin),
        AtomicOp::Fmax => alu(AluOp::Fmax),
        AtomicOp::Cmpxchg => {
            if old == compare {
                data
            } else {
                old
            }
        }
        AtomicOp::Fcmpxchg => {
            let mut equal = [0];
            evaluate(AluOp::Feq, bits, 1, &[&[old], &[compare]], ExecutionMode::DEFAULT, &mut equal);
            if equal[0] != 0 { data } else { old }
        }
        AtomicOp::IncWrap => {
            if old >= data {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::DecWrap => {
            if old == 0 || old > data {
                data
            } else {
                old - 1
            }
        }
    }
}

/// The memory of a byte-addressed access.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    /// Storage buffer with this number.
    Storage(u32),
    /// Workgroup memory.
    Shared,
    /// Scratch memory of the lane.
    Scratch,
}

impl Machine<'_, '_> {
    fn memory(&self, memory: Memory, lane: usize) -> &[u8] {
        match memory {
            Memory::Storage(block) => self.outputs.buffers.get(block as usize).map_or(&[], |b| b),
            Memory::Shared => &self.outputs.shared,
            Memory::Scratch => {
                let size = self.program.properties.scratch_size as usize;
                self.scratch.get(lane * size..(lane + 1) * size).unwrap_or(&[])
            }
        }
    }

    fn memory_mut(&mut self, memory: Memory, lane: usize) -> &mut [u8] {
        match memory {
            Memory::Storage(block) => self.outputs.buffers.get_mut(block as usize).map_or(&mut [], |b| b),
            Memory::Shared => &mut self.outputs.shared,
            Memory::Scratch => {
                let size = self.program.properties.scratch_size as usize;
                self.scratch.get_mut(lane * size..(lane + 1) * size).unwrap_or(&mut [])
            }
        }
    }

    /// The block number of an access of a lane.
    fn block(&self, value: Value, lane: usize) -> u32 {
        self.get(value, 0, lane) as u32
    }

    /// Reads bytes of a constant buffer, which is a list of words.
    pub fn constant_bytes(&self, buffer: u32, at: u32, size: u32) -> Option<u64> {
        let words = self.inputs.constants.get(buffer as usize)?;
        let mut value = 0;
        for number in 0..size {
            let at = at.checked_add(number)?;
            let byte = words.get(at as usize / 4)?.to_le_bytes()[at as usize % 4];
            value |= u64::from(byte) << (8 * number);
        }
        Some(value)
    }

    fn register(&self, intrinsic: &Intrinsic) -> Register {
        self.program.registers.get(intrinsic.extra as usize).copied().unwrap_or_default()
    }

    /// `load_reg`, `load_reg_indirect`.
    pub fn load_register(&mut self, intrinsic: &Intrinsic) {
        let register = self.register(intrinsic);
        let width = self.width;
        let dest = intrinsic.dest;
        let base = intrinsic.base as u32;
        if intrinsic.op == IntrinsicOp::LoadReg {
            let element = register.element(base);
            for vector in 0..dest.vectors() {
                match element {
                    Some(element) if vector < element.vectors() => {
                        let start = (element.vector + vector) as usize * width;
                        let source = &self.registers[start..start + width];
                        put(&mut self.words, dest.vector + vector, source, &self.active, self.full);
                    }
                    _ => {
                        self.result.fill(0);
                        put(&mut self.words, dest.vector + vector, &self.result, &self.active, self.full);
                    }
                }
            }
        } else {
            let index = self.sources(intrinsic)[1];
            self.each_active(|machine, lane| {
                let element = register.element(base.wrapping_add(machine.get(index, 0, lane) as u32));
                for vector in 0..dest.vectors() {
                    let word = element
                        .filter(|element| vector < element.vectors())
                        .map_or(0, |element| machine.registers[(element.vector + vector) as usize * width + lane]);
                    machine.words[(dest.vector + vector) as usize * width + lane] = word;
                }
            });
        }
        let (fabs, fneg) = (intrinsic.index(IndexKind::LegacyFabs) != 0, intrinsic.index(IndexKind::LegacyFneg) != 0);
        if fabs || fneg {
            let sign = 1u64 << (dest.bits.max(1) - 1);
            for component in 0..usize::from(dest.components) {
                self.set_lanes(dest, component, |machine, lane| {
                    let bits = machine.get(dest, component, lane);
                    let bits = if fabs { bits & !sign } else { bits };
                    if fneg { bits ^ sign } else { bits }
                });
            }
        }
    }

    /// `store_reg`, `store_reg_indirect`.
    pub fn store_register(&mut self, intrinsic: &Intrinsic) {
        let register = self.register(intrinsic);
        let sources = self.sources(intrinsic);
        let value = sources[0];
        let width = self.width;
        let base = intrinsic.base as u32;
        let saturate = intrinsic.index(IndexKind::LegacyFsat) != 0;
        let components = value.components.min(register.components);
        if intrinsic.op == IntrinsicOp::StoreReg && !saturate && value.bits != 64 {
            let Some(element) = register.element(base) else { return };
            for component in (0..u32::from(components)).filter(|c| intrinsic.write_mask >> c & 1 != 0) {
                let start = (value.vector + component) as usize * width;
                let source = &self.words[start..start + width];
                put(&mut self.registers, element.vector + component, source, &self.active, self.full);
            }
            return;
        }
        self.each_active(|machine, lane| {
            let index = match intrinsic.op {
                IntrinsicOp::StoreReg => base,
                _ => base.wrapping_add(machine.get(sources[2], 0, lane) as u32),
            };
            let Some(element) = register.element(index) else { return };
            for component in (0..usize::from(components)).filter(|c| intrinsic.write_mask >> c & 1 != 0) {
                let mut bits = machine.get(value, component, lane);
                if saturate {
                    let mut result = [0];
                    evaluate(AluOp::Fsat, value.bits, 1, &[&[bits]], ExecutionMode::DEFAULT, &mut result);
                    bits = result[0];
                }
                let at = (element.vector as usize + component) * width + lane;
                machine.registers[at] = bits as u32;
                if element.bits == 64 {
                    machine.registers[at + usize::from(element.components) * width] = (bits >> 32) as u32;
                }
            }
        });
    }

    /// `load_uniform`: reads constant buffer 0 in units of vec4.
    pub fn load_uniform(&mut self, intrinsic: &Intrinsic) {
        let offset = self.sources(intrinsic)[0];
        self.load_constants(intrinsic, |machine, lane| {
            let register = (intrinsic.base as u32).wrapping_add(machine.get(offset, 0, lane) as u32);
            (0, u64::from(register) * 4)
        });
    }

    /// `load_ubo_vec4`: reads in units of vec4.
    pub fn load_ubo_vec4(&mut self, intrinsic: &Intrinsic) {
        let sources = self.sources(intrinsic);
        let component = u64::from(intrinsic.first_component());
        let first_buffer = self.program.properties.first_ubo_buffer;
        if let size @ 1..=2 = component_bytes(intrinsic.dest.bits) {
            return self.load_small_vec4(intrinsic, size);
        }
        self.load_constants(intrinsic, |machine, lane| {
            let block = machine.get(sources[0], 0, lane) as u32;
            let register = (intrinsic.base as u32).wrapping_add(machine.get(sources[1], 0, lane) as u32);
            (block.wrapping_add(first_buffer), u64::from(register) * 4 + component)
        });
    }

    /// `load_ubo_vec4` of components of `size` bytes.
    fn load_small_vec4(&mut self, intrinsic: &Intrinsic, size: u32) {
        let sources = self.sources(intrinsic);
        let first_buffer = self.program.properties.first_ubo_buffer;
        let dest = intrinsic.dest;
        // There are up to 16 components in a vec4.
        let first = intrinsic.index(IndexKind::Component) as u32 & 15;
        for component in 0..u32::from(dest.components) {
            self.set_lanes(dest, component as usize, |machine, lane| {
                let buffer = (machine.get(sources[0], 0, lane) as u32).wrapping_add(first_buffer);
                let register = (intrinsic.base as u32).wrapping_add(machine.get(sources[1], 0, lane) as u32);
                let start = register.checked_mul(16);
                start.and_then(|at| machine.constant_bytes(buffer, at + (first + component) * size, size)).unwrap_or(0)
            });
        }
    }

    /// Reads words of constant buffers: `locate` gives the buffer and the first word.
    fn load_constants(&mut self, intrinsic: &Intrinsic, locate: impl Fn(&Self, usize) -> (u32, u64)) {
        let dest = intrinsic.dest;
        let words_each = if dest.bits == 64 { 2 } else { 1 };
        let ty = AluType::from_i32(intrinsic.index(IndexKind::DestType));
        let inputs = self.inputs;
        let mut last = None;
        let mut words: &[u32] = &[];
        self.each_active(|machine, lane| {
            let (buffer, first) = locate(machine, lane);
            if last != Some((buffer, first)) {
                let buffer_words = inputs.constants.get(buffer as usize).map_or(&[][..], |w| w);
                words = usize::try_from(first).ok().and_then(|first| buffer_words.get(first..)).unwrap_or(&[]);
                last = Some((buffer, first));
            }
            for component in 0..usize::from(dest.components) {
                let word = |at: usize| u64::from(words.get(at).copied().unwrap_or(0));
                let at = component * words_each;
                let bits = if words_each == 2 { word(at) | word(at + 1) << 32 } else { word(at) };
                let bits = if words_each == 2 { bits } else { read_component(bits as u32, ty, dest.bits).into() };
                machine.set(dest, component, lane, bits);
            }
        });
    }

    /// `load_ubo`: reads at byte offsets. An access aligned to vec4s gives 0 for each word beyond the end; any other
    /// access, like one of a storage buffer, gives 0 for all words.
    pub fn load_ubo(&mut self, intrinsic: &Intrinsic) {
        let sources = self.sources(intrinsic);
        let dest = intrinsic.dest;
        let size = component_bytes(dest.bits);
        let by_vectors =
            intrinsic.index(IndexKind::AlignMul) as u32 >= 16 && intrinsic.index(IndexKind::AlignOffset) & 15 == 0;
        self.each_active(|machine, lane| {
            let first_buffer = machine.program.properties.first_ubo_buffer;
            let buffer = (machine.get(sources[0], 0, lane) as u32).wrapping_add(first_buffer);
            let at = machine.get(sources[1], 0, lane) as u32;
            let length = machine.inputs.constants.get(buffer as usize).map_or(0, |words| words.len() as u64 * 4);
            let inside = u64::from(at) + u64::from(size) * u64::from(dest.components) <= length;
            for component in 0..u32::from(dest.components) {
                let value = if inside || by_vectors {
                    at.checked_add(component * size)
                        .and_then(|at| machine.constant_bytes(buffer, at, size))
                        .unwrap_or(0)
                } else {
                    0
                };
                let value = if dest.bits == 1 { u64::from(value != 0) } else { value };
                machine.set(dest, component as usize, lane, value);
            }
        });
    }

    /// `load_constant`: reads the constant data of the shader.
    pub fn load_constant_data(&mut self, intrinsic: &Intrinsic) {
        let offset = self.sources(intrinsic)[0];
        let data = &self.program.properties.constant_data;
        let dest = intrinsic.dest;
        let size = component_bytes(dest.bits);
        for component in 0..u32::from(dest.components) {
            self.set_lanes(dest, component as usize, |machine, lane| {
                let at = (intrinsic.base as u32).wrapping_add(machine.get(offset, 0, lane) as u32);
                at.checked_add(component * size).and_then(|at| load(data, at, size)).unwrap_or(0)
            });
        }
    }

    /// Memory and address of an access of a lane.
    fn locate(&self, intrinsic: &Intrinsic, lane: usize) -> (Memory, u32) {
        use IntrinsicOp as I;
        let sources = self.sources(intrinsic);
        let offset = |number: usize| (intrinsic.base as u32).wrapping_add(self.get(sources[number], 0, lane) as u32);
        match intrinsic.op {
            I::LoadSsbo | I::SsboAtomic | I::SsboAtomicSwap => {
                (Memory::Storage(self.block(sources[0], lane)), offset(1))
            }
            I::StoreSsbo => (Memory::Storage(self.block(sources[1], lane)), offset(2)),
            I::LoadShared | I::SharedAtomic | I::SharedAtomicSwap => (Memory::Shared, offset(0)),
            I::StoreShared => (Memory::Shared, offset(1)),
            I::LoadScratch => (Memory::Scratch, offset(0)),
            _ => (Memory::Scratch, offset(1)),
        }
    }

    /// `load_ssbo`, `load_shared`, `load_scratch`: gives all components, or zeros if not all are in bounds.
    pub fn load_memory(&mut self, intrinsic: &Intrinsic) {
        let dest = intrinsic.dest;
        let size = component_bytes(dest.bits);
        self.each_active(|machine, lane| {
            let (memory, at) = machine.locate(intrinsic, lane);
            let length = machine.memory(memory, lane).len() as u64;
            let inside = u64::from(at) + u64::from(size) * u64::from(dest.components) <= length;
            for component in 0..u32::from(dest.components) {
                let value = if inside { load(machine.memory(memory, lane), at + component * size, size) } else { None };
                let value = value.unwrap_or(0);
                let value = if dest.bits == 1 { u64::from(value != 0) } else { value };
                machine.set(dest, component as usize, lane, value);
            }
        });
    }

    /// `store_ssbo`, `store_shared`, `store_scratch`: stores each component that is in bounds.
    pub fn store_memory(&mut self, intrinsic: &Intrinsic) {
        let value = self.sources(intrinsic)[0];
        let size = component_bytes(value.bits);
        for lane in 0..self.lanes {
            let (memory, at) = self.locate(intrinsic, lane);
            // Scratch memory is private to the lane, so helpers may write to it.
            if self.active[lane] == 0 || (memory != Memory::Scratch && !self.may_write(lane)) {
                continue;
            }
            for component in (0..u32::from(value.components)).filter(|c| intrinsic.write_mask >> c & 1 != 0) {
                let bits = self.get(value, component as usize, lane);
                let bits = if value.bits == 1 && bits != 0 { u64::MAX } else { bits };
                if let Some(at) = at.checked_add(component * size) {
                    store(self.memory_mut(memory, lane), at, size, bits);
                }
            }
        }
    }

    /// `get_ssbo_size`, `get_ubo_size`.
    pub fn buffer_size(&mut self, intrinsic: &Intrinsic) {
        let block = self.sources(intrinsic)[0];
        let storage = intrinsic.op == IntrinsicOp::GetSsboSize;
        self.set_lanes(intrinsic.dest, 0, |machine, lane| {
            let block = machine.block(block, lane);
            if storage {
                machine.outputs.buffers.get(block as usize).map_or(0, |b| b.len() as u64)
            } else {
                let buffer = block.wrapping_add(machine.program.properties.first_ubo_buffer);
                machine.inputs.constants.get(buffer as usize).map_or(0, |words| words.len() as u64 * 4)
            }
        });
    }

    /// Atomics on buffers and shared memory, lane by lane. A lane that must not write gets 0.
    pub fn atomic(&mut self, intrinsic: &Intrinsic) {
        let sources = self.sources(intrinsic);
        let op = atomic_op(intrinsic);
        let first = match intrinsic.op {
            IntrinsicOp::SsboAtomic | IntrinsicOp::SsboAtomicSwap => 2,
            _ => 1,
        };
        let dest = intrinsic.dest;
        let size = component_bytes(dest.bits);
        self.set_lanes(dest, 0, |machine, lane| {
            if !machine.may_write(lane) {
                return 0;
            }
            let (data, compare) = machine.atomic_operands(op, &sources[first..], lane);
            let (memory, at) = machine.locate(intrinsic, lane);
            let Some(old) = load(machine.memory(memory, lane), at, size) else { return 0 };
            store(machine.memory_mut(memory, lane), at, size, atomic_result(op, dest.bits, old, data, compare));
            old
        });
    }

    /// Operand (new value) and comparand of an atomic.
    pub fn atomic_operands(&self, op: AtomicOp, operands: &[Value], lane: usize) -> (u64, u64) {
        let operand = |number: usize| operands.get(number).map_or(0, |&value| self.get(value, 0, lane));
        if op.is_swap() { (operand(1), operand(0)) } else { (operand(0), 0) }
    }

    /// Atomics through a pointer.
    pub fn atomic_deref(&mut self, intrinsic: &Intrinsic) {
        let sources = self.sources(intrinsic);
        let op = atomic_op(intrinsic);
        let dest = intrinsic.dest;
        self.set_lanes(dest, 0, |machine, lane| {
            let address = machine.get(sources[0], 0, lane) as u32;
            if address == NULL || !machine.may_write(lane) {
                return 0;
            }
            let (data, compare) = machine.atomic_operands(op, &sources[1..], lane);
            machine.exchange_pointer(address, dest.bits, lane, |old| atomic_result(op, dest.bits, old, data, compare))
        });
    }

    /// `atomic_counter_*`: counters are words, addressed by byte offset.
    pub fn atomic_counter(&mut self, intrinsic: &Intrinsic) {
        use IntrinsicOp as I;
        let sources = self.sources(intrinsic);
        // The operation, the operand if it is not a source, and whether the new value is returned.
        let (op, operand, new) = match intrinsic.op {
            I::AtomicCounterInc | I::AtomicCounterIncDeref => (AtomicOp::Iadd, Some(1), false),
            I::AtomicCounterPreDec | I::AtomicCounterPreDecDeref => (AtomicOp::Iadd, Some(u64::MAX), true),
            I::AtomicCounterPostDec | I::AtomicCounterPostDecDeref => (AtomicOp::Iadd, Some(u64::MAX), false),
            I::AtomicCounterRead | I::AtomicCounterReadDeref => (AtomicOp::Iadd, Some(0), false),
            I::AtomicCounterAdd | I::AtomicCounterAddDeref => (AtomicOp::Iadd, None, false),
            I::AtomicCounterMin | I::AtomicCounterMinDeref => (AtomicOp::Umin, None, false),
            I::AtomicCounterMax | I::AtomicCounterMaxDeref => (AtomicOp::Umax, None, false),
            I::AtomicCounterAnd | I::AtomicCounterAndDeref => (AtomicOp::Iand, None, false),
            I::AtomicCounterOr | I::AtomicCounterOrDeref => (AtomicOp::Ior, None, false),
            I::AtomicCounterXor | I::AtomicCounterXorDeref => (AtomicOp::Ixor, None, false),
            I::AtomicCounterExchange | I::AtomicCounterExchangeDeref => (AtomicOp::Xchg, None, false),
            _ => (AtomicOp::Cmpxchg, None, false),
        };
        let is_read = matches!(intrinsic.op, I::AtomicCounterRead | I::AtomicCounterReadDeref);
        let lowered = intrinsic.op.info().index_slot(IndexKind::RangeBase).is_some();
        self.set_lanes(intrinsic.dest, 0, |machine, lane| {
            if !is_read && !machine.may_write(lane) {
                return 0;
            }
            let address = machine.get(sources[0], 0, lane) as u32;
            let (buffer, counter) = if lowered {
                let byte = address.wrapping_add(intrinsic.index(IndexKind::RangeBase) as u32);
                (intrinsic.base as u32, byte / 4)
            } else if address == NULL {
                return 0;
            } else {
                (address >> COUNTER_SHIFT, address & ((1 << COUNTER_SHIFT) - 1))
            };
            let (data, compare) = match operand {
                Some(operand) => (operand & 0xffff_ffff, 0),
                None => machine.atomic_operands(op, &sources[1..], lane),
            };
            let counter = machine.outputs.counters.get_mut(buffer as usize).and_then(|b| b.get_mut(counter as usize));
            let Some(counter) = counter else { return 0 };
            let old = u64::from(*counter);
            *counter = atomic_result(op, 32, old, data, compare) as u32;
            if new { u64::from(*counter) } else { old }
        });
    }
}

/// The operation of an atomic.
pub(super) fn atomic_op(intrinsic: &Intrinsic) -> AtomicOp {
    AtomicOp::from_i32(intrinsic.index(IndexKind::AtomicOp)).unwrap_or(AtomicOp::Iadd)
}

//! Registers, cells of variables, constants, buffers, shared memory, scratch, atomics and atomic counters.
//!
//! Every access is checked: what is read out of range is 0, what is written there is lost.

use tgsi_ir::alu::{AluOp, ExecutionMode, evaluate};
use tgsi_ir::intrinsics::indices::AtomicOp;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};

use super::Run;
use crate::program::{COUNTER_SHIFT, Intrinsic, NULL, Value};

/// Bytes of a component in a buffer.
pub(super) fn component_bytes(bits: u8) -> u32 {
    match bits {
        8 => 1,
        16 => 2,
        64 => 8,
        _ => 4,
    }
}

/// Reads `size` (at most 8) bytes; none if they are not all inside.
fn load(memory: &[u8], at: u32, size: u32) -> Option<u64> {
    let start = at as usize;
    let bytes = memory.get(start..start.checked_add(size as usize)?)?;
    Some(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
}

/// Writes the low `size` bytes; nothing if they are not all inside.
fn store(memory: &mut [u8], at: u32, size: u32, value: u64) {
    let start = at as usize;
    let Some(end) = start.checked_add(size as usize) else { return };
    if let Some(bytes) = memory.get_mut(start..end) {
        for (byte, value) in bytes.iter_mut().zip(value.to_le_bytes()) {
            *byte = value;
        }
    }
}

/// The value that an atomic leaves. `data` is the operand (the new value of a swap), `compare` the comparand of a swap.
pub(super) fn atomic_result(op: AtomicOp, bits: u8, old: u64, data: u64, compare: u64) -> u64 {
    let alu = |op: AluOp, a: u64, b: u64| {
        let mut result = [0];
        evaluate(op, bits, 1, &[&[a], &[b]], ExecutionMode::DEFAULT, &mut result);
        result[0]
    };
    match op {
        AtomicOp::Iadd => alu(AluOp::Iadd, old, data),
        AtomicOp::Imin => alu(AluOp::Imin, old, data),
        AtomicOp::Umin => alu(AluOp::Umin, old, data),
        AtomicOp::Imax => alu(AluOp::Imax, old, data),
        AtomicOp::Umax => alu(AluOp::Umax, old, data),
        AtomicOp::Iand => old & data,
        AtomicOp::Ior => old | data,
        AtomicOp::Ixor => old ^ data,
        AtomicOp::Xchg => data,
        AtomicOp::Fadd => alu(AluOp::Fadd, old, data),
        AtomicOp::Fmin => alu(AluOp::Fmin, old, data),
        AtomicOp::Fmax => alu(AluOp::Fmax, old, data),
        AtomicOp::Cmpxchg if old == compare => data,
        AtomicOp::Fcmpxchg if alu(AluOp::Feq, old, compare) != 0 => data,
        AtomicOp::Cmpxchg | AtomicOp::Fcmpxchg => old,
        AtomicOp::IncWrap if old >= data => 0,
        AtomicOp::IncWrap => old + 1,
        AtomicOp::DecWrap if old == 0 || old > data => data,
        AtomicOp::DecWrap => old - 1,
    }
}

/// The operation of an atomic.
pub(super) fn atomic_op(intrinsic: &Intrinsic) -> AtomicOp {
    AtomicOp::from_i32(intrinsic.index(IndexKind::AtomicOp)).unwrap_or(AtomicOp::Iadd)
}

/// The memory that a byte-addressed access goes to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    /// Storage buffer of this number.
    Storage(u32),
    /// Workgroup memory.
    Shared,
    /// Scratch memory of the lane.
    Scratch,
}

impl Run<'_> {
    fn memory_mut(&mut self, memory: Memory, lane: usize) -> &mut [u8] {
        match memory {
            Memory::Storage(block) => self.outputs.buffers.get_mut(block as usize).map_or(&mut [], |buffer| buffer),
            Memory::Shared => &mut self.outputs.shared,
            Memory::Scratch => {
                let size = self.program.scratch_size as usize;
                self.block.scratch.get_mut(lane * size..(lane + 1) * size).unwrap_or(&mut [])
            }
        }
    }

    // ---- registers

    /// `load_reg`, `load_reg_indirect`.
    pub(super) fn load_register(&mut self, intrinsic: &Intrinsic) {
        let register = self.program.registers[intrinsic.register as usize];
        let dest = intrinsic.dest;
        let base = intrinsic.base as u32;
        let width = self.block.width;
        if intrinsic.op == IntrinsicOp::LoadReg {
            let element = register.element(base);
            for plane in 0..dest.planes() {
                match element {
                    Some(element) if plane < element.planes() => {
                        self.block.copy_plane(dest.plane + plane, element.plane + plane);
                    }
                    _ => self.block.fill(dest.plane + plane, 0),
                }
            }
        } else {
            let index = intrinsic.sources[1];
            self.each_active(|run, lane| {
                let element = register.element(base.wrapping_add(run.block.get(index, 0, lane) as u32));
                for plane in 0..dest.planes() {
                    let word = element
                        .filter(|element| plane < element.planes())
                        .map_or(0, |element| run.block.words[(element.plane + plane) as usize * width + lane]);
                    run.block.words[(dest.plane + plane) as usize * width + lane] = word;
                }
            });
        }
        let (fabs, fneg) = (intrinsic.index(IndexKind::LegacyFabs) != 0, intrinsic.index(IndexKind::LegacyFneg) != 0);
        if fabs || fneg {
            let sign = 1u64 << (dest.bits.max(1) - 1);
            for component in 0..usize::from(dest.components) {
                self.set_lanes(dest, component, |run, lane| {
                    let bits = run.block.get(dest, component, lane);
                    let bits = if fabs { bits & !sign } else { bits };
                    if fneg { bits ^ sign } else { bits }
                });
            }
        }
    }

    /// `store_reg`, `store_reg_indirect`.
    pub(super) fn store_register(&mut self, intrinsic: &Intrinsic) {
        let register = self.program.registers[intrinsic.register as usize];
        let value = intrinsic.sources[0];
        let base = intrinsic.base as u32;
        let saturate = intrinsic.index(IndexKind::LegacyFsat) != 0;
        let components = value.components.min(register.components);
        if intrinsic.op == IntrinsicOp::StoreReg && !saturate && value.bits != 64 {
            let Some(element) = register.element(base) else { return };
            for component in (0..u32::from(components)).filter(|c| intrinsic.write_mask >> c & 1 != 0) {
                self.block.copy_plane(element.plane + component, value.plane + component);
            }
            return;
        }
        self.each_active(|run, lane| {
            let index = match intrinsic.op {
                IntrinsicOp::StoreReg => base,
                _ => base.wrapping_add(run.block.get(intrinsic.sources[2], 0, lane) as u32),
            };
            let Some(element) = register.element(index) else { return };
            for component in (0..usize::from(components)).filter(|c| intrinsic.write_mask >> c & 1 != 0) {
                let mut bits = run.block.get(value, component, lane);
                if saturate {
                    let mut result = [0];
                    evaluate(AluOp::Fsat, value.bits, 1, &[&[bits]], ExecutionMode::DEFAULT, &mut result);
                    bits = result[0];
                }
                run.block.set(element, component, lane, bits);
            }
        });
    }

    // ---- variables

    /// The address that all active lanes have, if it is the same in all.
    fn uniform_address(&self, pointer: Value) -> Option<u32> {
        let plane = self.block.plane(pointer.plane);
        let mut active = plane.iter().zip(&self.block.active).filter(|&(_, &mask)| mask != 0).map(|(&word, _)| word);
        let first = active.next()?;
        active.all(|address| address == first).then_some(first)
    }

    /// The planes of a vector in cells: from the planes of a value, in the order of the cells.
    fn cell_planes(value: Value) -> impl Iterator<Item = (u32, u32, u8)> {
        let halves = if value.bits == 64 { 2 } else { 1 };
        (0..u32::from(value.components)).flat_map(move |component| {
            (0..halves).map(move |half| {
                let plane = value.plane + component + half * u32::from(value.components);
                (component * halves + half, plane, component as u8)
            })
        })
    }

    /// `load_deref`.
    pub(super) fn load_cells(&mut self, intrinsic: &Intrinsic) {
        let (dest, pointer) = (intrinsic.dest, intrinsic.sources[0]);
        let (first, cells) = (self.program.first_cell, self.program.cells);
        let width = self.block.width;
        if let Some(address) = self.uniform_address(pointer) {
            for (cell, plane, _) in Self::cell_planes(dest) {
                match address.checked_add(cell).filter(|&cell| address != NULL && cell < cells) {
                    Some(cell) => self.block.copy_plane(plane, first + cell),
                    None => self.block.fill(plane, 0),
                }
            }
            return;
        }
        self.each_active(|run, lane| {
            let address = run.block.get(pointer, 0, lane) as u32;
            for (cell, plane, _) in Self::cell_planes(dest) {
                let cell = address.checked_add(cell).filter(|&cell| address != NULL && cell < cells);
                let word = cell.map_or(0, |cell| run.block.words[(first + cell) as usize * width + lane]);
                run.block.words[plane as usize * width + lane] = word;
            }
        });
    }

    /// `store_deref`.
    pub(super) fn store_cells(&mut self, intrinsic: &Intrinsic) {
        let (pointer, value) = (intrinsic.sources[0], intrinsic.sources[1]);
        let (first, cells) = (self.program.first_cell, self.program.cells);
        let width = self.block.width;
        let is_written = |component: u8| intrinsic.write_mask >> component & 1 != 0;
        if let Some(address) = self.uniform_address(pointer) {
            for (cell, plane, component) in Self::cell_planes(value) {
                if is_written(component)
                    && let Some(cell) = address.checked_add(cell).filter(|&cell| address != NULL && cell < cells)
                {
                    self.block.copy_plane(first + cell, plane);
                }
            }
            return;
        }
        self.each_active(|run, lane| {
            let address = run.block.get(pointer, 0, lane) as u32;
            for (cell, plane, component) in Self::cell_planes(value) {
                if is_written(component)
                    && let Some(cell) = address.checked_add(cell).filter(|&cell| address != NULL && cell < cells)
                {
                    run.block.words[(first + cell) as usize * width + lane] =
                        run.block.words[plane as usize * width + lane];
                }
            }
        });
    }

    // ---- constants

    /// `load_uniform` and `load_ubo_vec4`, in units of vec4.
    pub(super) fn load_vectors(&mut self, intrinsic: &Intrinsic) {
        let inputs = self.inputs;
        let dest = intrinsic.dest;
        let words_each = if dest.bits == 64 { 2 } else { 1 };
        let sources = intrinsic.sources();
        let (first_buffer, component) = match intrinsic.op {
            IntrinsicOp::LoadUboVec4 => {
                (self.program.first_ubo_buffer, intrinsic.index(IndexKind::Component) as u64 & 3)
            }
            _ => (0, 0),
        };
        let Some(&offset) = sources.last() else { return };
        let words_at = |block: u32, offset: u32| {
            let register = (intrinsic.base as u32).wrapping_add(offset);
            let first = u64::from(register) * 4 + component;
            let buffer = inputs.constants.get(block.wrapping_add(first_buffer) as usize).map_or(&[][..], |words| words);
            usize::try_from(first).ok().and_then(|first| buffer.get(first..)).unwrap_or(&[])
        };
        let bits_at = |words: &[u32], component: usize| {
            let word = |at: usize| u64::from(words.get(at).copied().unwrap_or(0));
            let at = component * words_each;
            match dest.bits {
                64 => word(at) | word(at + 1) << 32,
                1 => u64::from(word(at) != 0),
                _ => word(at),
            }
        };
        if let (Some(constant), IntrinsicOp::LoadUniform, 32) = (intrinsic.offset, intrinsic.op, dest.bits) {
            let words = words_at(0, constant);
            for component in 0..u32::from(dest.components) {
                self.block.fill(dest.plane + component, words.get(component as usize).copied().unwrap_or(0));
            }
            return;
        }
        let mut last = None;
        let mut words: &[u32] = &[];
        self.each_active(|run, lane| {
            let block = if sources.len() == 2 { run.block.get(sources[0], 0, lane) as u32 } else { 0 };
            let place = (block, run.block.get(offset, 0, lane) as u32);
            if last != Some(place) {
                words = words_at(place.0, place.1);
                last = Some(place);
            }
            for component in 0..usize::from(dest.components) {
                run.block.set(dest, component, lane, bits_at(words, component));
            }
        });
    }

    /// Bytes of a constant buffer; buffers are lists of words.
    fn constant_bytes(words: &[u32], at: u32, size: u32) -> Option<u64> {
        if at.is_multiple_of(4) && size == 4 {
            return words.get(at as usize / 4).map(|&word| word.into());
        }
        let mut value = 0;
        for number in 0..size {
            let at = at.checked_add(number)?;
            let byte = words.get(at as usize / 4)?.to_le_bytes()[at as usize % 4];
            value |= u64::from(byte) << (8 * number);
        }
        Some(value)
    }

    /// `load_ubo`: byte offsets. What is read by whole vec4s gives 0 for each word beyond the end; another access, as
    /// of a buffer, all or nothing.
    pub(super) fn load_ubo(&mut self, intrinsic: &Intrinsic) {
        let dest = intrinsic.dest;
        let size = component_bytes(dest.bits);
        let by_vectors =
            intrinsic.index(IndexKind::AlignMul) as u32 >= 16 && intrinsic.index(IndexKind::AlignOffset) & 15 == 0;
        let inputs = self.inputs;
        let first_buffer = self.program.first_ubo_buffer;
        let value_at = |words: &[u32], at: u32, component: u32| {
            let inside = u64::from(at) + u64::from(size) * u64::from(dest.components) <= words.len() as u64 * 4;
            if !inside && !by_vectors {
                return 0;
            }
            let place = at.checked_add(component * size);
            let value = place.and_then(|at| Self::constant_bytes(words, at, size)).unwrap_or(0);
            if dest.bits == 1 { u64::from(value != 0) } else { value }
        };
        let buffer_of =
            |block: u32| inputs.constants.get(block.wrapping_add(first_buffer) as usize).map_or(&[][..], |words| words);
        if dest.bits == 32
            && let (Some(block), Some(at)) =
                (self.uniform_address(intrinsic.sources[0]), self.uniform_address(intrinsic.sources[1]))
        {
            let words = buffer_of(block);
            for component in 0..u32::from(dest.components) {
                self.block.fill(dest.plane + component, value_at(words, at, component) as u32);
            }
            return;
        }
        self.each_active(|run, lane| {
            let words = buffer_of(run.block.get(intrinsic.sources[0], 0, lane) as u32);
            let at = run.block.get(intrinsic.sources[1], 0, lane) as u32;
            for component in 0..u32::from(dest.components) {
                run.block.set(dest, component as usize, lane, value_at(words, at, component));
            }
        });
    }

    /// `load_constant`: data that belongs to the shader.
    pub(super) fn load_constant_data(&mut self, intrinsic: &Intrinsic) {
        let program = self.program;
        let dest = intrinsic.dest;
        let size = component_bytes(dest.bits);
        for component in 0..u32::from(dest.components) {
            self.set_lanes(dest, component as usize, |run, lane| {
                let offset = run.block.get(intrinsic.sources[0], 0, lane) as u32;
                let at = (intrinsic.base as u32).wrapping_add(offset).checked_add(component * size);
                at.and_then(|at| load(&program.constant_data, at, size)).unwrap_or(0)
            });
        }
    }

    // ---- buffers, shared memory, scratch

    /// Memory and address of a lane's access.
    fn locate(&self, intrinsic: &Intrinsic, lane: usize) -> (Memory, u32) {
        use IntrinsicOp as I;
        let word = |number: usize| self.block.get(intrinsic.sources[number], 0, lane) as u32;
        let offset = |number: usize| (intrinsic.base as u32).wrapping_add(word(number));
        match intrinsic.op {
            I::LoadSsbo | I::SsboAtomic | I::SsboAtomicSwap => (Memory::Storage(word(0)), offset(1)),
            I::StoreSsbo => (Memory::Storage(word(1)), offset(2)),
            I::LoadShared | I::SharedAtomic | I::SharedAtomicSwap => (Memory::Shared, offset(0)),
            I::StoreShared => (Memory::Shared, offset(1)),
            I::LoadScratch => (Memory::Scratch, offset(0)),
            _ => (Memory::Scratch, offset(1)),
        }
    }

    /// `load_ssbo`, `load_shared`, `load_scratch`: all components, or zeros if not all are inside.
    pub(super) fn load_memory(&mut self, intrinsic: &Intrinsic) {
        let dest = intrinsic.dest;
        let size = component_bytes(dest.bits);
        self.each_active(|run, lane| {
            let (memory, at) = run.locate(intrinsic, lane);
            let mut values = [0u64; 16];
            let bytes = &*run.memory_mut(memory, lane);
            let count = usize::from(dest.components).min(16);
            if u64::from(at) + u64::from(size) * count as u64 <= bytes.len() as u64 {
                for (component, value) in (0u32..).zip(&mut values[..count]) {
                    *value = load(bytes, at + component * size, size).unwrap_or(0);
                }
            }
            for (component, value) in values[..count].iter().enumerate() {
                let value = if dest.bits == 1 { u64::from(*value != 0) } else { *value };
                run.block.set(dest, component, lane, value);
            }
        });
    }

    /// `store_ssbo`, `store_shared`, `store_scratch`: each component that is inside.
    pub(super) fn store_memory(&mut self, intrinsic: &Intrinsic) {
        let value = intrinsic.sources[0];
        let size = component_bytes(value.bits);
        self.each_active(|run, lane| {
            let (memory, at) = run.locate(intrinsic, lane);
            // Scratch memory is the lane's own: nobody else sees what a helper writes there.
            if memory != Memory::Scratch && !run.may_write(lane) {
                return;
            }
            for component in (0..u32::from(value.components)).filter(|c| intrinsic.write_mask >> c & 1 != 0) {
                let bits = run.block.get(value, component as usize, lane);
                let bits = if value.bits == 1 && bits != 0 { u64::MAX } else { bits };
                if let Some(at) = at.checked_add(component * size) {
                    store(run.memory_mut(memory, lane), at, size, bits);
                }
            }
        });
    }

    /// `get_ssbo_size`, `get_ubo_size`.
    pub(super) fn buffer_size(&mut self, intrinsic: &Intrinsic) {
        let storage = intrinsic.op == IntrinsicOp::GetSsboSize;
        self.set_lanes(intrinsic.dest, 0, |run, lane| {
            let block = run.block.get(intrinsic.sources[0], 0, lane) as u32;
            if storage {
                run.outputs.buffers.get(block as usize).map_or(0, |buffer| buffer.len() as u64)
            } else {
                let buffer = block.wrapping_add(run.program.first_ubo_buffer);
                run.inputs.constants.get(buffer as usize).map_or(0, |words| words.len() as u64 * 4)
            }
        });
    }

    // ---- atomics

    /// Operand (new value) and comparand of an atomic.
    pub(super) fn atomic_operands(&self, op: AtomicOp, operands: &[Value], lane: usize) -> (u64, u64) {
        let operand = |number: usize| operands.get(number).map_or(0, |&value| self.block.get(value, 0, lane));
        if op.is_swap() { (operand(1), operand(0)) } else { (operand(0), 0) }
    }

    /// Atomics on buffers and shared memory, lane after lane. A lane that must not write gets 0.
    pub(super) fn atomic(&mut self, intrinsic: &Intrinsic) {
        let op = atomic_op(intrinsic);
        let first = match intrinsic.op {
            IntrinsicOp::SsboAtomic | IntrinsicOp::SsboAtomicSwap => 2,
            _ => 1,
        };
        let dest = intrinsic.dest;
        let size = component_bytes(dest.bits);
        self.set_lanes(dest, 0, |run, lane| {
            if !run.may_write(lane) {
                return 0;
            }
            let (data, compare) = run.atomic_operands(op, &intrinsic.sources()[first..], lane);
            let (memory, at) = run.locate(intrinsic, lane);
            let bytes = run.memory_mut(memory, lane);
            let Some(old) = load(bytes, at, size) else { return 0 };
            store(bytes, at, size, atomic_result(op, dest.bits, old, data, compare));
            old
        });
    }

    /// `atomic_counter_*`: counters are words, numbered by byte offset.
    pub(super) fn atomic_counter(&mut self, intrinsic: &Intrinsic) {
        use IntrinsicOp as I;
        let sources = intrinsic.sources();
        // Operation, operand if it is not a source, whether the new value is returned.
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
        self.set_lanes(intrinsic.dest, 0, |run, lane| {
            if !is_read && !run.may_write(lane) {
                return 0;
            }
            let address = run.block.get(sources[0], 0, lane) as u32;
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
                None => run.atomic_operands(op, &sources[1..], lane),
            };
            let counter = run.outputs.counters.get_mut(buffer as usize).and_then(|b| b.get_mut(counter as usize));
            let Some(counter) = counter else { return 0 };
            let old = u64::from(*counter);
            *counter = atomic_result(op, 32, old, data, compare) as u32;
            if new { u64::from(*counter) } else { old }
        });
    }
}

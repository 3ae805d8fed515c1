//! Pointers to variables: steps of a deref chain, loads, stores and copies.

use super::layout::{BLOCK_SHIFT, COMMON, NULL, PUSH_CONSTANTS, STORAGE, UNIFORM, VectorLeaf, component_bytes};
use super::machine::Machine;
use super::ops::{Intrinsic, Value};
use crate::types::ScalarType;

impl Machine<'_, '_> {
    /// Executes a deref.
    pub fn run_deref(&mut self, number: u32) {
        let step = self.program.derefs[number as usize];
        self.each_active(|machine, lane| {
            let parent = if step.parent.components == 0 { 0 } else { machine.get(step.parent, 0, lane) as u32 };
            let index = if step.index.components == 0 { 0 } else { machine.get_signed(step.index, 0, lane) };
            let address = step.address(parent, index);
            machine.set(step.dest, 0, lane, address.into());
        });
    }

    /// The address in all active lanes, if it is the same in all.
    fn uniform_address(&self, pointer: Value) -> Option<u32> {
        let vector = self.vector(pointer.vector);
        let mut active = vector.iter().zip(&self.active).filter(|&(_, &mask)| mask != 0).map(|(&address, _)| address);
        let first = active.next()?;
        active.all(|address| address == first).then_some(first)
    }

    /// Reads a cell. (Buffers have no cells.)
    pub fn cell_word(&self, address: u32, lane: usize) -> u32 {
        if address < COMMON {
            self.private.get(address as usize * self.width + lane).copied().unwrap_or(0)
        } else {
            self.common.get((address - COMMON) as usize).copied().unwrap_or(0)
        }
    }

    fn set_cell_word(&mut self, address: u32, lane: usize, word: u32) {
        let cell = if address < COMMON {
            self.private.get_mut(address as usize * self.width + lane)
        } else {
            self.common.get_mut((address - COMMON) as usize)
        };
        if let Some(cell) = cell {
            *cell = word;
        }
    }

    /// Loads component `component` of the vector at an address; in a buffer, components are `step` bytes apart.
    fn load_component(&self, address: u32, component: u32, step: u32, bits: u8, lane: usize) -> u64 {
        if address == NULL {
            return 0;
        }
        if address >= STORAGE {
            let at = address.wrapping_add(component * step);
            let (block, byte) = buffer_place(at);
            let value = if address >= UNIFORM {
                let first = self.program.properties.first_ubo_buffer;
                let buffer = if block == PUSH_CONSTANTS { 0 } else { block.wrapping_add(first) };
                self.constant_bytes(buffer, byte, component_bytes(bits))
            } else {
                self.outputs
                    .buffers
                    .get(block as usize)
                    .and_then(|b| super::memory::load(b, byte, component_bytes(bits)))
            };
            let value = value.unwrap_or(0);
            return if bits == 1 { u64::from(value != 0) } else { value };
        }
        if bits == 64 {
            let at = address.wrapping_add(2 * component);
            u64::from(self.cell_word(at, lane)) | u64::from(self.cell_word(at.wrapping_add(1), lane)) << 32
        } else {
            self.cell_word(address.wrapping_add(component), lane).into()
        }
    }

    /// Stores component `component` of the vector at an address; in a buffer, components are `step` bytes apart. Helper
    /// lanes do not change buffers.
    fn store_component(&mut self, address: u32, component: u32, step: u32, bits: u8, lane: usize, value: u64) {
        if address == NULL || address >= UNIFORM {
            return;
        }
        if address >= STORAGE {
            if self.may_write(lane) {
                let (block, byte) = buffer_place(address.wrapping_add(component * step));
                let value = if bits == 1 && value != 0 { u64::MAX } else { value };
                if let Some(buffer) = self.outputs.buffers.get_mut(block as usize) {
                    super::memory::store(buffer, byte, component_bytes(bits), value);
                }
            }
        } else if bits == 64 {
            let at = address.wrapping_add(2 * component);
            self.set_cell_word(at, lane, value as u32);
            self.set_cell_word(at.wrapping_add(1), lane, (value >> 32) as u32);
        } else {
            self.set_cell_word(address.wrapping_add(component), lane, value as u32);
        }
    }

    /// Loads the values that pointers point to. `extra` is the number of cells by which the pointers are offset; in a
    /// buffer, it is the number of bytes from one component to the next, or 0 if they are adjacent.
    pub fn load_pointer(&mut self, dest: Value, pointer: Value, extra: u32) {
        let step = if extra == 0 { component_bytes(dest.bits) } else { extra };
        let vectors = dest.vectors();
        let width = self.width;
        // Usually all lanes read the same cells, so that whole lane vectors are copied.
        if let Some(address) = self.uniform_address(pointer).filter(|&address| address < COMMON)
            && let address = address.wrapping_add(extra)
            && address < COMMON
            && (address + vectors) as usize * width <= self.private.len()
        {
            let words = if dest.bits == 64 { 2 } else { 1 };
            for component in 0..u32::from(dest.components) {
                for half in 0..words {
                    let from = (address + component * words + half) as usize * width;
                    let vector = dest.vector + component + half * u32::from(dest.components);
                    super::machine::put(
                        &mut self.words,
                        vector,
                        &self.private[from..from + width],
                        &self.active,
                        self.full,
                    );
                }
            }
            return;
        }
        self.each_active(|machine, lane| {
            let address = match machine.get(pointer, 0, lane) as u32 {
                address if address >= STORAGE => address,
                address => address.wrapping_add(extra),
            };
            for component in 0..u32::from(dest.components) {
                let value = machine.load_component(address, component, step, dest.bits, lane);
                machine.set(dest, component as usize, lane, value);
            }
        });
    }

    /// Stores the components of `mask` through pointers. In a buffer, the components are `step` bytes apart; 0 means that
    /// they are adjacent.
    pub fn store_pointer(&mut self, pointer: Value, value: Value, mask: u32, step: u32) {
        let step = if step == 0 { component_bytes(value.bits) } else { step };
        let width = self.width;
        if let Some(address) = self.uniform_address(pointer)
            && address < COMMON
            && (address + value.vectors()) as usize * width <= self.private.len()
        {
            let words = if value.bits == 64 { 2 } else { 1 };
            for component in (0..u32::from(value.components)).filter(|c| mask >> c & 1 != 0) {
                for half in 0..words {
                    let from = (value.vector + component + half * u32::from(value.components)) as usize * width;
                    let cell = address + component * words + half;
                    super::machine::put(
                        &mut self.private,
                        cell,
                        &self.words[from..from + width],
                        &self.active,
                        self.full,
                    );
                }
            }
            return;
        }
        self.each_active(|machine, lane| {
            let address = machine.get(pointer, 0, lane) as u32;
            for component in (0..u32::from(value.components)).filter(|c| mask >> c & 1 != 0) {
                let bits = machine.get(value, component as usize, lane);
                machine.store_component(address, component, step, value.bits, lane, bits);
            }
        });
    }

    /// Copies a value of any type.
    pub fn copy_deref(&mut self, intrinsic: &Intrinsic) {
        let sources = self.sources(intrinsic);
        let program = self.program;
        let Some(plan) = program.copy_plans.get(intrinsic.extra as usize) else { return };
        self.each_active(|machine, lane| {
            let dest = machine.get(sources[0], 0, lane) as u32;
            let source = machine.get(sources[1], 0, lane) as u32;
            let at = |address: u32, offset: u32, leaf: &VectorLeaf| match address {
                NULL => NULL,
                address if address >= STORAGE => address.wrapping_add(offset).wrapping_add(leaf.byte),
                address => address.wrapping_add(offset).wrapping_add(leaf.cell),
            };
            // Read everything before writing, because source and destination may overlap.
            let mut values = Vec::new();
            for &(_, offset) in &plan.offsets {
                for leaf in &plan.source_leaves {
                    let bits = bits_of(leaf.scalar);
                    for component in 0..u32::from(leaf.components) {
                        let place = at(source, offset, leaf);
                        values.push(machine.load_component(place, component, leaf.step, bits, lane));
                    }
                }
            }
            let mut values = values.into_iter();
            for &(offset, _) in &plan.offsets {
                for leaf in &plan.leaves {
                    let bits = bits_of(leaf.scalar);
                    for component in 0..u32::from(leaf.components) {
                        let value = values.next().unwrap_or(0);
                        machine.store_component(at(dest, offset, leaf), component, leaf.step, bits, lane, value);
                    }
                }
            }
        });
    }

    /// Replaces one component through a pointer, for atomics. Returns the old value.
    pub fn exchange_pointer(&mut self, address: u32, bits: u8, lane: usize, change: impl FnOnce(u64) -> u64) -> u64 {
        let old = self.load_component(address, 0, 0, bits, lane);
        self.store_component(address, 0, 0, bits, lane, change(old));
        old
    }

    /// For `deref_buffer_array_length`: the number of bytes from an address to the end of its buffer.
    pub fn buffer_bytes_behind(&self, address: u32) -> u32 {
        if !(STORAGE..UNIFORM).contains(&address) {
            return 0;
        }
        let (block, byte) = buffer_place(address);
        self.outputs.buffers.get(block as usize).map_or(0, |b| (b.len() as u32).saturating_sub(byte))
    }
}

fn bits_of(scalar: ScalarType) -> u8 {
    scalar.bit_size()
}

/// Block number and byte offset of a buffer address.
fn buffer_place(address: u32) -> (u32, u32) {
    (address >> BLOCK_SHIFT & 63, address & ((1 << BLOCK_SHIFT) - 1))
}

//! Buffers, shared memory, images, atomic counters: loads, stores, atomics, sizes.
//!
//! Addresses are in bytes. A load of n words reads 0 for all of them unless all are in the buffer; a store drops only
//! the words out of range. A counter has one word, which a load returns in every channel. Atomics execute lane by lane,
//! in lane order.

use tgsi_environment::ImageTexel;

use super::kernel::f;
use super::machine::Machine;
use super::program::{Op, Operand, Source};
use tgsi::tables::{File, Opcode, TextureTarget};

/// The resource that an operand refers to in one lane.
#[derive(Clone, Copy, Debug)]
pub(super) enum Resource {
    Buffer(usize),
    Shared,
    Constants(usize),
    /// The buffer, and the counter number to which the address operand is added.
    Counter(u16, i32),
    Image(u32),
    /// A resource that does not exist.
    Nothing,
}

/// Returns the word at a byte address, or none if it is out of range.
fn load_word(bytes: &[u8], address: usize) -> Option<u32> {
    let word = bytes.get(address..address.checked_add(4)?)?;
    word.try_into().ok().map(u32::from_le_bytes)
}

fn store_word(bytes: &mut [u8], address: usize, word: u32) {
    if let Some(position) = address.checked_add(4).and_then(|end| bytes.get_mut(address..end)) {
        position.copy_from_slice(&word.to_le_bytes());
    }
}

/// The new value of an atomic, or none if the opcode is not an atomic.
fn atomic(opcode: Opcode, old: u32, value: u32, second: u32) -> Option<u32> {
    Some(match opcode {
        Opcode::Atomuadd => old.wrapping_add(value),
        Opcode::Atomxchg => value,
        Opcode::Atomcas => {
            if old == value {
                second
            } else {
                old
            }
        }
        Opcode::Atomand => old & value,
        Opcode::Atomor => old | value,
        Opcode::Atomxor => old ^ value,
        Opcode::Atomumin => old.min(value),
        Opcode::Atomumax => old.max(value),
        Opcode::Atomimin => (old as i32).min(value as i32) as u32,
        Opcode::Atomimax => (old as i32).max(value as i32) as u32,
        Opcode::Atomfadd => (f(old) + f(value)).to_bits(),
        Opcode::AtomincWrap => {
            if old >= value {
                0
            } else {
                old + 1
            }
        }
        Opcode::AtomdecWrap => {
            if old == 0 || old > value {
                value
            } else {
                old - 1
            }
        }
        _ => return None,
    })
}

impl Machine<'_> {
    /// Executes a memory opcode; returns the mask of the channels that it computed.
    pub(super) fn memory(&mut self, op: &Op) -> u8 {
        match op.opcode {
            // All lanes execute in lock-step, and memory is always coherent.
            Opcode::Membar | Opcode::Barrier => 0,
            Opcode::Load => self.load(op),
            Opcode::Store => {
                self.store(op);
                0
            }
            Opcode::Resq => self.size_query(op),
            Opcode::Img2hnd => {
                for lane in 0..self.lanes {
                    let handle = match self.resource(op, 0, lane) {
                        Resource::Image(unit) => self.resources.handle(unit),
                        _ => 0,
                    };
                    for (channel, word) in [handle as u32, (handle >> 32) as u32, 0, 0].into_iter().enumerate() {
                        self.set_result(channel, lane, word);
                    }
                }
                op.write_mask
            }
            _ => self.atomic(op),
        }
    }

    /// The resource that source `position` refers to in `lane`. A register of a value file holds the bindless handle of
    /// an image.
    fn resource(&mut self, op: &Op, position: usize, lane: usize) -> Resource {
        let Some(source) = op.sources.get(position) else { return Resource::Nothing };
        let bound =
            |number: i32, resource: fn(usize) -> Resource| usize::try_from(number).map_or(Resource::Nothing, resource);
        if source.file != File::Constant && !matches!(source.operand, Operand::Resource) {
            let handle = u64::from(self.source(position, 1, lane)) << 32 | u64::from(self.source(position, 0, lane));
            return Resource::Image(self.resources.unit_of_handle(handle));
        }
        let (index, outer) = self.resource_number(&source.address, lane);
        match source.file {
            File::Buffer => bound(index, Resource::Buffer),
            File::Memory => Resource::Shared,
            // LOAD reads a constant buffer as bytes; the buffer is the outer index, if there is one.
            File::Constant | File::ConstantBuffer if source.address.outer.is_some() => {
                bound(outer, Resource::Constants)
            }
            File::Constant | File::ConstantBuffer => bound(index, Resource::Constants),
            File::HwAtomic => match u16::try_from(outer) {
                Ok(buffer) if self.program.counter_buffers.contains(&buffer) => Resource::Counter(buffer, index),
                _ => Resource::Nothing,
            },
            File::Image => u32::try_from(index).map_or(Resource::Nothing, Resource::Image),
            _ => Resource::Nothing,
        }
    }

    fn image_target(&self, op: &Op, unit: u32) -> TextureTarget {
        op.target.or_else(|| self.program.image_targets.get(unit)).unwrap_or(TextureTarget::Buffer)
    }

    /// The texel at the coordinates in source `position`.
    fn texel(&self, op: &Op, position: usize, unit: u32, lane: usize) -> ImageTexel {
        let target = self.image_target(op, unit);
        let components = usize::from(target.coordinate_components()).min(3);
        let mut coordinates = [0; 3];
        for (component, coordinate) in coordinates.iter_mut().enumerate().take(components) {
            *coordinate = self.source(position, component, lane);
        }
        let sample = if target.is_msaa() { self.source(position, 3, lane) } else { 0 };
        (unit, coordinates, sample)
    }

    fn bytes_mut(&mut self, resource: Resource) -> Option<&mut Vec<u8>> {
        match resource {
            Resource::Buffer(index) => self.buffers.get_mut(index),
            Resource::Shared => Some(&mut self.shared),
            _ => None,
        }
    }

    fn load(&mut self, op: &Op) -> u8 {
        let count = 8 - op.write_mask.leading_zeros() as usize;
        let swizzle = op.sources.first().map_or([0, 1, 2, 3], |source: &Source| source.swizzle);
        for lane in 0..self.lanes {
            if self.exec[lane] == 0 {
                continue;
            }
            let address = self.source(1, 0, lane);
            let start = address as usize;
            let mut words = [0; 4];
            let resource = self.resource(op, 0, lane);
            self.observe_memory(lane, resource, address, count);
            match resource {
                Resource::Image(unit) => {
                    let texel = self.texel(op, 1, unit, lane);
                    self.observe_texel(lane, texel);
                    let texel = self.resources.image_load(texel);
                    words = swizzle.map(|component| texel[usize::from(component)]);
                }
                Resource::Constants(buffer) => {
                    if let Some(constants) = self.inputs.constants.get(buffer)
                        && start + 4 * count <= constants.len() * 4
                    {
                        let byte = |at: usize| constants.get(at / 4).map_or(0, |word| (word >> (8 * (at % 4))) as u8);
                        for (position, word) in words.iter_mut().enumerate().take(count) {
                            let at = start + 4 * position;
                            *word = u32::from_le_bytes(std::array::from_fn(|offset| byte(at + offset)));
                        }
                    }
                }
                Resource::Counter(buffer, counter) => {
                    words = [self.counter(buffer, counter, address).map_or(0, |counter| *counter); 4];
                }
                Resource::Nothing => {}
                resource => {
                    if let Some(bytes) = self.bytes_mut(resource)
                        && start + 4 * count <= bytes.len()
                    {
                        for (position, word) in words.iter_mut().enumerate().take(count) {
                            *word = load_word(bytes, start + 4 * position).unwrap_or(0);
                        }
                    }
                }
            }
            for (channel, word) in words.into_iter().enumerate() {
                self.set_result(channel, lane, word);
            }
        }
        op.write_mask
    }

    fn store(&mut self, op: &Op) {
        for lane in 0..self.lanes {
            if !self.writes_memory(lane) {
                continue;
            }
            let address = self.source(0, 0, lane);
            let start = address as usize;
            let value: [u32; 4] = std::array::from_fn(|channel| self.source(1, channel, lane));
            let resource = self.resource(op, 2, lane);
            for channel in super::kernel::channels(op.write_mask) {
                self.observe_memory(lane, resource, address.wrapping_add(4 * channel as u32), 1);
            }
            match resource {
                Resource::Image(unit) => {
                    let texel = self.texel(op, 0, unit, lane);
                    self.observe_texel(lane, texel);
                    self.resources.image_store(texel, value);
                }
                resource => {
                    if let Some(bytes) = self.bytes_mut(resource) {
                        for channel in super::kernel::channels(op.write_mask) {
                            store_word(bytes, start + 4 * channel, value[channel]);
                        }
                    }
                }
            }
        }
    }

    /// The hardware counter with the number of the register plus the address operand: only the sum must be the number
    /// of an existing counter.
    fn counter(&mut self, buffer: u16, counter: i32, address: u32) -> Option<&mut u32> {
        let number = usize::try_from(counter.wrapping_add_unsigned(address)).ok()?;
        self.counters.get_mut(usize::from(buffer))?.get_mut(number)
    }

    fn atomic(&mut self, op: &Op) -> u8 {
        for lane in 0..self.lanes {
            if !self.writes_memory(lane) {
                for channel in 0..4 {
                    self.set_result(channel, lane, 0);
                }
                continue;
            }
            let address = self.source(1, 0, lane);
            let start = address as usize;
            let value = self.source(2, 0, lane);
            let second = if op.sources.len() > 3 { self.source(3, 0, lane) } else { 0 };
            let change = |old: u32| atomic(op.opcode, old, value, second).unwrap_or(old);
            let resource = self.resource(op, 0, lane);
            self.observe_memory(lane, resource, address, 1);
            let old = match resource {
                Resource::Image(unit) => {
                    let position = self.texel(op, 1, unit, lane);
                    self.observe_texel(lane, position);
                    let texel = self.resources.image_load(position);
                    self.resources.image_store(position, [change(texel[0]), texel[1], texel[2], texel[3]]);
                    texel[0]
                }
                Resource::Counter(buffer, counter) => match self.counter(buffer, counter, address) {
                    Some(counter) => {
                        let old = *counter;
                        *counter = change(old);
                        old
                    }
                    None => 0,
                },
                resource => match self.bytes_mut(resource) {
                    Some(bytes) => match load_word(bytes, start) {
                        Some(old) => {
                            store_word(bytes, start, change(old));
                            old
                        }
                        None => 0,
                    },
                    None => 0,
                },
            };
            for channel in 0..4 {
                self.set_result(channel, lane, old);
            }
        }
        op.write_mask
    }

    /// `RESQ`: the bytes of a buffer in x (other channels are unchanged), or the size and samples of an image.
    fn size_query(&mut self, op: &Op) -> u8 {
        let mut mask = op.write_mask & 1;
        for lane in 0..self.lanes {
            if self.exec[lane] == 0 {
                continue;
            }
            let resource = self.resource(op, 0, lane);
            if let Resource::Buffer(unit) = resource {
                self.observe_query(lane, File::Buffer, unit as i64);
            }
            let words = match resource {
                Resource::Image(unit) => {
                    self.observe_query(lane, File::Image, i64::from(unit));
                    mask = op.write_mask;
                    let target = self.image_target(op, unit);
                    let size = self.resources.image_size(unit, target.sampler_dim(), target.is_array());
                    let extents = usize::from(target.size_components());
                    let extent = |component: usize| if component < extents { size.size[component] } else { 0 };
                    [extent(0), extent(1), extent(2), size.samples]
                }
                resource => [self.bytes_mut(resource).map_or(0, |bytes| bytes.len() as u32), 0, 0, 0],
            };
            for (channel, word) in words.into_iter().enumerate() {
                self.set_result(channel, lane, word);
            }
        }
        mask
    }
}

//! The surroundings of threads: constant buffers, storage buffers, textures, vertex entries.

use std::collections::BTreeMap;

use tgsi_environment::{Inputs, Resources};

use crate::program::{Bindings, Kernel, Texture};
use crate::simulator::{AtomicOp, BufferAccess, Environment, Lanes, Registers, Sample, UrbWrite};

use super::textures::lookup;

/// Sets the registers of pushed constants.
pub(super) fn push_constants(registers: &mut Registers, kernel: &Kernel, inputs: &Inputs) {
    let constants = inputs.constants.first().map_or(&[][..], Vec::as_slice);
    for (place, &number) in kernel.push.iter().enumerate() {
        let register = kernel.dispatch_start + (place / 2) as u8;
        for component in 0..4 {
            let word = constants.get(usize::from(number) * 4 + component).copied().unwrap_or(0);
            registers.set_word(register, place % 2 * 4 + component, word);
        }
    }
}

/// The resources that the threads of a run share.
pub(super) struct Surroundings<'a> {
    pub(super) bindings: Bindings,
    pub(super) textures: &'a [Texture],
    pub(super) inputs: &'a Inputs,
    pub(super) resources: &'a mut dyn Resources,
    /// Storage buffers, as bytes.
    pub(super) buffers: Vec<Vec<u8>>,
    /// Atomic counters, as bytes.
    pub(super) counters: Vec<Vec<u8>>,
    /// Rows of 128 bits of the buffer of vertices, by handle and number.
    pub(super) entries: BTreeMap<(u32, u32), [u32; 4]>,
}

impl Surroundings<'_> {
    /// The number of a surface in its section of the binding table.
    fn within(surface: u8, start: u8, count: u8) -> Option<usize> {
        let number = surface.checked_sub(start)?;
        (number < count).then(|| number.into())
    }

    /// A vector of a constant buffer.
    fn constant(&self, buffer: usize, number: u32) -> [u32; 4] {
        let words = self.inputs.constants.get(buffer).map_or(&[][..], Vec::as_slice);
        let first = number as usize * 4;
        [0, 1, 2, 3].map(|c| words.get(first + c).copied().unwrap_or(0))
    }

    /// The bytes of a storage buffer from a place on.
    fn bytes(&mut self, access: &BufferAccess) -> Option<&mut [u8]> {
        let Bindings { buffers_start, buffers, counters_start, counters, .. } = self.bindings;
        let place = access.address as usize;
        let place = place..place + usize::from(access.size);
        if let Some(number) = Self::within(access.surface, counters_start, counters) {
            return self.counters.get_mut(number)?.get_mut(place);
        }
        self.buffers.get_mut(Self::within(access.surface, buffers_start, buffers)?)?.get_mut(place)
    }

    /// The words of the atomic counters.
    pub(super) fn counter_words(&self) -> Vec<Vec<u32>> {
        let word = |bytes: &[u8; 4]| u32::from_le_bytes(*bytes);
        self.counters.iter().map(|bytes| bytes.as_chunks::<4>().0.iter().map(word).collect()).collect()
    }
}

impl Environment for Surroundings<'_> {
    fn sample(&mut self, sample: &Sample) -> [Lanes; 4] {
        let mut result = [[0; 16]; 4];
        let Bindings { constants_start, constants, buffers_start, buffers, .. } = self.bindings;
        let parameter = |number: usize, lane: usize| sample.parameters.get(number).map_or(0, |words| words[lane]);
        for lane in 0..sample.simd.lanes() {
            let words = if let Some(buffer) = Self::within(sample.surface, constants_start, constants) {
                self.constant(buffer, parameter(0, lane))
            } else if let Some(buffer) = Self::within(sample.surface, buffers_start, buffers) {
                // Only sizes are read by the sampler.
                let size = self.buffers.get(buffer).map_or(0, Vec::len);
                [size as u32, 0, 0, 0]
            } else {
                lookup(self.resources, self.textures, sample, &|number| parameter(number, lane))
            };
            result.iter_mut().zip(words).for_each(|(component, word)| component[lane] = word);
        }
        result
    }

    fn urb_write(&mut self, write: &UrbWrite) {
        for row in &write.rows {
            let entry = self.entries.entry((row.handle, row.row)).or_default();
            for (component, word) in row.data.into_iter().enumerate() {
                if row.mask >> component & 1 != 0 {
                    entry[component] = word;
                }
            }
        }
    }

    fn load(&mut self, access: &BufferAccess) -> u32 {
        let bytes = self.bytes(access);
        bytes.map_or(0, |bytes| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)))
    }

    fn store(&mut self, access: &BufferAccess, value: u32) {
        if let Some(bytes) = self.bytes(access) {
            bytes.iter_mut().zip(value.to_le_bytes()).for_each(|(byte, new)| *byte = new);
        }
    }

    fn atomic(&mut self, access: &BufferAccess, op: AtomicOp, operands: [u32; 2]) -> u32 {
        if self.bytes(access).is_none() {
            return 0;
        }
        let (new, result) = op.apply(self.load(access), operands);
        self.store(access, new);
        result
    }
}

//! The surroundings of threads: constant buffers, storage buffers, textures, vertex entries.

use std::collections::BTreeMap;

use tgsi_environment::{Inputs, Resources};

use crate::program::Bindings;
use crate::simulator::{AtomicOp, BufferAccess, Environment, Lanes, Sample, SampleOp, UrbWrite};

/// What a run shares between threads.
pub(super) struct Surroundings<'a> {
    pub(super) bindings: Bindings,
    pub(super) inputs: &'a Inputs,
    pub(super) resources: &'a mut dyn Resources,
    /// Storage buffers, as bytes.
    pub(super) buffers: Vec<Vec<u8>>,
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
        let number = Self::within(access.surface, self.bindings.buffers_start, self.bindings.buffers)?;
        let place = access.address as usize;
        self.buffers.get_mut(number)?.get_mut(place..place + usize::from(access.size))
    }
}

impl Environment for Surroundings<'_> {
    fn sample(&mut self, sample: &Sample) -> [Lanes; 4] {
        let mut result = [[0; 16]; 4];
        let Bindings { constants_start, constants, .. } = self.bindings;
        if let (SampleOp::Load, Some(buffer)) =
            (sample.op, Self::within(sample.surface, constants_start, constants))
        {
            for lane in 0..sample.simd.lanes() {
                let number = sample.parameters.first().map_or(0, |numbers| numbers[lane]);
                for (component, word) in self.constant(buffer, number).into_iter().enumerate() {
                    result[component][lane] = word;
                }
            }
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

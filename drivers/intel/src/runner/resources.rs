//! The surroundings of threads: constant buffers, storage buffers, textures, vertex entries.

use std::collections::BTreeMap;

use tgsi_environment::{ImageTexel, Inputs, Resources};

use crate::program::{Bindings, Kernel, Texture, TextureKind};
use crate::simulator::{
    AtomicOp, BufferAccess, Environment, Lanes, Registers, RenderTargetWrite, Sample, SampleOp, Simd, TypedAccess,
    UrbWrite,
};

use super::quads::lookup_quads;
use super::textures::{dimension, lookup};

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
    pub(super) images: &'a [Texture],
    pub(super) inputs: &'a Inputs,
    pub(super) resources: &'a mut dyn Resources,
    /// Storage buffers, as bytes.
    pub(super) buffers: Vec<Vec<u8>>,
    /// Atomic counters, as bytes.
    pub(super) counters: Vec<Vec<u8>>,
    /// Rows of 128 bits of the buffer of vertices, by handle and number.
    pub(super) entries: BTreeMap<(u32, u32), [u32; 4]>,
    /// The inputs and outputs of the current thread of fragments.
    pub(super) fragments: Fragments,
}

/// The inputs and outputs of a thread of fragments.
#[derive(Default)]
pub(super) struct Fragments {
    /// The number of the first fragment.
    pub(super) first: usize,
    /// The values of planes, by the register and the dword of their coefficients.
    pub(super) planes: BTreeMap<(u8, u8), [u32; 8]>,
    /// Writes to render targets, by surface.
    pub(super) writes: BTreeMap<u8, RenderTargetWrite>,
    /// Words of memory without surface, by place.
    pub(super) memory: BTreeMap<u32, u32>,
}

/// The surface of memory without surface.
const STATELESS: u8 = 255;

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

    /// The size of an image, or its number of samples.
    fn image_info(&mut self, image: usize, sample: &Sample) -> [Lanes; 4] {
        let kind = self.images.iter().find(|known| usize::from(known.unit) == image);
        let Some(kind) = kind else { return [[0; 16]; 4] };
        let size = self.resources.image_size(image as u32, dimension(kind.kind), kind.is_array);
        let faces = if kind.kind == TextureKind::Cube && kind.is_array { 6 } else { 1 };
        let words = match sample.op {
            SampleOp::SampleInfo => [size.samples, 0, 0, 0],
            _ => [size.size[0], size.size[1], size.size[2].wrapping_mul(faces), size.levels],
        };
        words.map(|word| [word; 16])
    }

    /// Whether a fragment of the current thread is a helper, which writes no memory.
    fn is_helper(&self, lane: u8) -> bool {
        self.inputs.helpers.get(self.fragments.first + usize::from(lane)).copied().unwrap_or(false)
    }

    /// The texel of an access to an image.
    fn texel(&self, access: &TypedAccess) -> Option<ImageTexel> {
        let Bindings { images_start, images, .. } = self.bindings;
        let image = Self::within(access.surface, images_start, images)?;
        let [u, v, r, sample] = access.coordinates;
        Some((image as u32, [u, v, r], sample))
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
        let is_buffer = Self::within(sample.surface, constants_start, constants).is_some()
            || Self::within(sample.surface, buffers_start, buffers).is_some();
        if sample.simd != Simd::X4x2 && !is_buffer {
            return match Self::within(sample.surface, self.bindings.images_start, self.bindings.images) {
                Some(image) => self.image_info(image, sample),
                None => lookup_quads(self.resources, self.textures, self.bindings, sample),
            };
        }
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

    fn plane(&mut self, register: u8, word: u8, coordinates: &[Lanes; 2]) -> Option<Lanes> {
        let words = self.fragments.planes.get(&(register, word))?;
        let value = |lane: usize| f32::from_bits(words[lane]);
        Some(std::array::from_fn(|lane| {
            let [x, y] = coordinates.map(|lanes| f32::from_bits(lanes[lane]));
            let quad = lane & !3;
            if lane >= 8 {
                0
            } else if x == 0.0 && y == 0.0 {
                words[lane]
            } else {
                // At an offset from the centre.
                let dx = value(quad + 3) - value(quad + 2);
                let dy = value(quad + 2) - value(quad);
                (value(lane) + x * dx + y * dy).to_bits()
            }
        }))
    }

    fn render_target_write(&mut self, write: &RenderTargetWrite) {
        self.fragments.writes.insert(write.surface, write.clone());
    }

    fn typed_load(&mut self, access: &TypedAccess) -> [u32; 4] {
        self.texel(access).map_or([0; 4], |texel| self.resources.image_load(texel))
    }

    fn typed_store(&mut self, access: &TypedAccess, value: [u32; 4], _: u8) {
        if let Some(texel) = self.texel(access).filter(|_| !self.is_helper(access.lane)) {
            self.resources.image_store(texel, value);
        }
    }

    fn typed_atomic(&mut self, access: &TypedAccess, op: AtomicOp, operands: [u32; 2]) -> u32 {
        let Some(texel) = self.texel(access).filter(|_| !self.is_helper(access.lane)) else { return 0 };
        let mut words = self.resources.image_load(texel);
        let (new, result) = op.apply(words[0], operands);
        words[0] = new;
        self.resources.image_store(texel, words);
        result
    }

    fn load(&mut self, access: &BufferAccess) -> u32 {
        if access.surface == STATELESS {
            return self.fragments.memory.get(&access.address).copied().unwrap_or(0);
        }
        let bytes = self.bytes(access);
        bytes.map_or(0, |bytes| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte)))
    }

    fn store(&mut self, access: &BufferAccess, value: u32) {
        if access.surface == STATELESS {
            self.fragments.memory.insert(access.address, value);
            return;
        }
        if self.is_helper(access.lane) {
            return;
        }
        if let Some(bytes) = self.bytes(access) {
            bytes.iter_mut().zip(value.to_le_bytes()).for_each(|(byte, new)| *byte = new);
        }
    }

    fn atomic(&mut self, access: &BufferAccess, op: AtomicOp, operands: [u32; 2]) -> u32 {
        if self.bytes(access).is_none() || self.is_helper(access.lane) {
            return 0;
        }
        let (new, result) = op.apply(self.load(access), operands);
        self.store(access, new);
        result
    }
}

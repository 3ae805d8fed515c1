//! The registers of a shader: constants, buffers, textures and images from the descriptors of a pipeline.

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use tgsi_compiler::front_end::{Resource, ResourceKind};
use tgsi_driver_cpu::HostResources;
use tgsi_driver_cpu::sampler::Textures;
use tgsi_environment::{ImageTexel, Inputs, Outputs, Resources, SamplerDim, TextureRequest, TextureSize, Vec4};

use crate::buffer::{Buffer, Dimension};
use crate::program::Program;
use crate::script::{BindingKind, BoundBuffer, Pipeline, Script};
use crate::textures::texture;

/// A part of a buffer in a register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Slot {
    buffer: usize,
    start: usize,
    end: usize,
}

/// A buffer as an image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct View {
    buffer: usize,
    level: u32,
    is_texel_buffer: bool,
}

/// The registers of a shader.
#[derive(Default)]
pub(crate) struct Registers {
    constants: Vec<Vec<u32>>,
    storage: Vec<Option<Slot>>,
    images: BTreeMap<u32, View>,
    /// The buffers of textures, by unit.
    texture_views: BTreeMap<u32, View>,
    textures: Textures,
}

/// Most registers of a kind.
const MAX_REGISTERS: u32 = 1024;

impl Registers {
    /// Reads the constants and textures of a shader from the buffers of its pipeline.
    pub(crate) fn new(program: &Program, script: &Script, pipeline: &Pipeline, buffers: &[Buffer]) -> Registers {
        let mut registers = Registers::default();
        for resource in &program.resources {
            for number in 0..resource.num_registers.min(MAX_REGISTERS) {
                registers.add(resource, number, script, pipeline, buffers);
            }
        }
        registers
    }

    fn add(&mut self, resource: &Resource, number: u32, script: &Script, pipeline: &Pipeline, buffers: &[Buffer]) {
        let register = resource.register.saturating_add(number);
        if register >= MAX_REGISTERS {
            return;
        }
        if resource.kind == ResourceKind::PushConstants {
            let buffer = pipeline.push_constants.and_then(|buffer| buffers.get(buffer));
            return self.set_constants(resource, register, buffer.map_or(&[], |buffer| &buffer.bytes));
        }
        let place = (resource.descriptor.set, resource.descriptor.binding);
        let binding = pipeline.bindings.iter().find(|binding| binding.place == place);
        let bound = binding.and_then(|binding| {
            Some((binding.kind, binding.buffers.get(resource.element.saturating_add(number) as usize)?))
        });
        let Some((kind, bound)) = bound else { return };
        let Some(buffer) = buffers.get(bound.buffer) else { return };
        let range = range(bound, buffer);
        match resource.kind {
            ResourceKind::UniformBlock => {
                self.set_constants(resource, register, buffer.bytes.get(range).unwrap_or_default());
            }
            ResourceKind::StorageBlock => {
                let at = register as usize;
                self.storage.resize(self.storage.len().max(at + 1), None);
                self.storage[at] = Some(Slot { buffer: bound.buffer, start: range.start, end: range.end });
            }
            ResourceKind::Image => {
                let view = view(kind, bound);
                self.images.insert(register, view);
            }
            ResourceKind::Texture => {
                let view = view(kind, bound);
                self.texture_views.insert(register, view);
                if let Some(texture) = texture(buffer, view.level, view.is_texel_buffer) {
                    self.textures.set_texture(register, Arc::new(texture));
                }
                let separate = resource.sampler.and_then(|(descriptor, element)| {
                    let place = (descriptor.set, descriptor.binding);
                    let list = pipeline.samplers.iter().find(|(known, _)| *known == place);
                    list.and_then(|(_, samplers)| samplers.get(element as usize).copied())
                });
                let sampler = separate.or(bound.sampler).and_then(|sampler| script.samplers.get(sampler));
                if let Some((_, sampler)) = sampler {
                    self.textures.set_sampler(register, *sampler);
                }
            }
            // Neither exists in scripts.
            ResourceKind::Sampler | ResourceKind::CounterBuffer | ResourceKind::PushConstants => {}
            _ => {}
        }
    }

    /// Sets words of a constant buffer from a place of the resource on.
    fn set_constants(&mut self, resource: &Resource, register: u32, bytes: &[u8]) {
        let (at, first) = (register as usize, resource.offset as usize / 4);
        self.constants.resize(self.constants.len().max(at + 1), Vec::new());
        let words = &mut self.constants[at];
        let count = bytes.len().div_ceil(4);
        let end = (first + count).next_multiple_of(4);
        words.resize(words.len().max(end), 0);
        for (word, bytes) in words.iter_mut().skip(first).zip(bytes.chunks(4)) {
            let mut all = [0; 4];
            all.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            *word = u32::from_le_bytes(all);
        }
    }

    /// Sets the constants and buffers of a run.
    pub(crate) fn set(&self, inputs: &mut Inputs, buffers: &[Buffer]) {
        inputs.constants.clone_from(&self.constants);
        self.set_storage(inputs, buffers);
    }

    /// Sets the buffers of a run.
    pub(crate) fn set_storage(&self, inputs: &mut Inputs, buffers: &[Buffer]) {
        inputs.buffers.resize(self.storage.len(), Vec::new());
        for (to, slot) in inputs.buffers.iter_mut().zip(&self.storage) {
            to.clear();
            if let Some(slot) = slot {
                to.extend_from_slice(bytes(buffers, slot));
            }
        }
    }

    /// Whether a run changes memory that later runs read.
    pub(crate) fn has_storage(&self) -> bool {
        self.storage.iter().any(Option::is_some)
    }

    /// Stores the buffers of a run.
    pub(crate) fn store(&self, outputs: &Outputs, buffers: &mut [Buffer]) {
        for (slot, found) in self.storage.iter().zip(&outputs.buffers) {
            let Some(slot) = slot else { continue };
            // The same buffer may be bound twice: only changes are stored.
            let before = bytes(buffers, slot);
            if before == found {
                continue;
            }
            let changed: Vec<usize> =
                before.iter().zip(found).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at).collect();
            if let Some(buffer) = buffers.get_mut(slot.buffer) {
                for at in changed {
                    if let (Some(to), Some(from)) = (buffer.bytes.get_mut(slot.start + at), found.get(at)) {
                        *to = *from;
                    }
                }
            }
        }
    }

    /// Textures and images of a run.
    pub(crate) fn images<'a>(&'a self, buffers: &'a mut [Buffer]) -> Images<'a> {
        Images { registers: self, buffers }
    }
}

fn bytes<'b>(buffers: &'b [Buffer], slot: &Slot) -> &'b [u8] {
    buffers.get(slot.buffer).and_then(|buffer| buffer.bytes.get(slot.start..slot.end)).unwrap_or_default()
}

/// The bytes of a buffer that a descriptor shows.
fn range(bound: &BoundBuffer, buffer: &Buffer) -> std::ops::Range<usize> {
    let start = bound.offset.min(buffer.bytes.len());
    let rest = buffer.bytes.len() - start;
    start..start + bound.range.map_or(rest, |range| range.min(rest))
}

fn view(kind: BindingKind, bound: &BoundBuffer) -> View {
    let is_texel_buffer = matches!(kind, BindingKind::UniformTexelBuffer | BindingKind::StorageTexelBuffer);
    View { buffer: bound.buffer, level: bound.level, is_texel_buffer }
}

/// Textures and images of a run. Stores change the buffers.
pub(crate) struct Images<'a> {
    registers: &'a Registers,
    buffers: &'a mut [Buffer],
}

/// The place of a texel.
fn place(buffer: &Buffer, view: &View, [x, y, z]: [u32; 3], sample: u32) -> Option<std::ops::Range<usize>> {
    let (stride, samples) = (buffer.layout.stride, buffer.samples as usize);
    let (level, [width, height, depth]) = if view.is_texel_buffer {
        (0..buffer.bytes.len(), [buffer.elements() as u32, 1, 1])
    } else {
        (buffer.level_range(view.level), buffer.level_size(view.level))
    };
    // Dimensions that the image lacks are zero or absent.
    let [y, z] = match buffer.dimension {
        Dimension::One => [0, 0],
        _ if view.is_texel_buffer => [0, 0],
        Dimension::Two => [y, 0],
        Dimension::Three => [y, z],
    };
    if x >= width || y >= height || z >= depth || sample >= buffer.samples {
        return None;
    }
    let texel = (z as usize * height as usize + y as usize) * width as usize + x as usize;
    let start = level.start + (texel * samples + sample as usize) * stride;
    (start + stride <= level.end).then_some(start..start + stride)
}

impl Images<'_> {
    fn texel(&self, view: &View, at: [u32; 3], sample: u32) -> Vec4 {
        let Some(buffer) = self.buffers.get(view.buffer) else { return [0; 4] };
        let texel = place(buffer, view, at, sample).and_then(|range| buffer.bytes.get(range));
        buffer.format.as_ref().zip(texel).map_or([0; 4], |(format, texel)| format.decode(texel))
    }

    fn size(&self, view: &View, level: u32) -> TextureSize {
        let Some(buffer) = self.buffers.get(view.buffer) else { return TextureSize::default() };
        let [width, height, depth] = buffer.level_size(view.level.saturating_add(level));
        let size = match buffer.dimension {
            _ if view.is_texel_buffer => [buffer.elements() as u32, 0, 0],
            Dimension::One => [width, 0, 0],
            Dimension::Two => [width, height, 0],
            Dimension::Three => [width, height, depth],
        };
        TextureSize { size, levels: buffer.levels.saturating_sub(view.level), samples: buffer.samples }
    }
}

impl Resources for Images<'_> {
    fn texture(&mut self, request: &TextureRequest) -> [[u32; 4]; 4] {
        let is_multisampled = matches!(request.dim, SamplerDim::Ms | SamplerDim::SubpassMs);
        match self.registers.texture_views.get(&request.texture) {
            Some(view) if is_multisampled => {
                let mut words = [[0; 4]; 4];
                for lane in 0..4 {
                    let at = [request.coordinate[0][lane], request.coordinate[1][lane], 0];
                    let texel = self.texel(view, at, request.lod[lane]);
                    words.iter_mut().zip(texel).for_each(|(row, word)| row[lane] = word);
                }
                words
            }
            _ => self.registers.textures.texture(request),
        }
    }

    fn texture_size(&mut self, texture: u32, level: u32, dim: SamplerDim, is_array: bool) -> TextureSize {
        match self.registers.texture_views.get(&texture) {
            Some(view) if matches!(dim, SamplerDim::Ms | SamplerDim::Buf) => self.size(view, level),
            _ => self.registers.textures.texture_size(texture, level, dim, is_array),
        }
    }

    fn image_load(&mut self, (image, at, sample): ImageTexel) -> Vec4 {
        self.registers.images.get(&image).map_or([0; 4], |view| self.texel(view, at, sample))
    }

    fn image_store(&mut self, (image, at, sample): ImageTexel, value: Vec4) {
        let Some(view) = self.registers.images.get(&image) else { return };
        let Some(buffer) = self.buffers.get_mut(view.buffer) else { return };
        let range = place(buffer, view, at, sample);
        if let (Some(format), Some(texel)) = (&buffer.format, range.and_then(|range| buffer.bytes.get_mut(range))) {
            format.encode(value, texel);
        }
    }

    fn image_size(&mut self, image: u32, _: SamplerDim, _: bool) -> TextureSize {
        self.registers.images.get(&image).map_or_else(TextureSize::default, |view| self.size(view, 0))
    }

    fn stored_texels(&self) -> BTreeMap<ImageTexel, Vec4> {
        BTreeMap::new()
    }

    fn known(&mut self, texture: u32, sampler: u32) -> Option<Arc<dyn Any + Send + Sync>> {
        let is_multisampled = |view: &View| self.buffers.get(view.buffer).is_some_and(|buffer| buffer.samples > 1);
        if self.registers.texture_views.get(&texture).is_some_and(is_multisampled) {
            return None;
        }
        Some(Arc::new(self.registers.textures.known(texture, sampler)?))
    }
}

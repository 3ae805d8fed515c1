//! The memory of buffers that commands fill, and runs of shaders that change it.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tgsi_compiler::front_end::{Interface, Resource, ResourceKind};
use tgsi_environment::{Inputs, Outputs, Resources};
use tgsi_raster::Texture;

use crate::images::{Image, Images};
use crate::play::TestShader;
use crate::textures::TextureKind;

/// The most registers of a kind.
const MAX_REGISTERS: u32 = 1024;

/// Buffers by binding, and textures by unit.
#[derive(Clone, Default, Debug)]
pub(crate) struct Memory {
    /// Storage buffers.
    pub storage: BTreeMap<u32, Vec<u8>>,
    /// Uniform buffers.
    pub uniform: BTreeMap<u32, Vec<u8>>,
    /// Uniform buffers that have no binding: by the name of the block, and the element of an array of blocks.
    pub blocks: BTreeMap<(String, u32), Vec<u8>>,
    /// Atomic counters.
    pub counters: BTreeMap<u32, Vec<u32>>,
    /// Textures.
    pub textures: BTreeMap<u32, (TextureKind, Texture)>,
    /// Image units.
    pub images: BTreeMap<u32, Image>,
    /// Units by the names of samplers and images.
    pub units: BTreeMap<String, u32>,
}

/// The registers of resources of a kind, with their bindings.
fn registers(names: &Interface, kind: ResourceKind) -> impl Iterator<Item = (usize, u32)> + '_ {
    let resources = names.resources.iter().filter(move |resource| resource.kind == kind);
    resources.flat_map(|resource: &Resource| {
        let first = resource.descriptor.binding.saturating_add(resource.element);
        let numbers = 0..resource.num_registers.clamp(1, MAX_REGISTERS);
        let each = numbers.map(move |number| (resource.register.saturating_add(number), first.saturating_add(number)));
        each.filter(|(register, _)| *register < MAX_REGISTERS).map(|(register, binding)| (register as usize, binding))
    })
}

/// Sets an element of a list, which grows to hold it.
fn set<T: Clone + Default>(list: &mut Vec<T>, at: usize, value: T) {
    list.resize(list.len().max(at + 1), T::default());
    list[at] = value;
}

impl Memory {
    /// The constant buffers of a shader, of which the first one is given.
    pub(crate) fn constants(&self, names: &Interface, first: Vec<u32>) -> Vec<Vec<u32>> {
        let mut constants = vec![first];
        let named =
            names.resources.iter().filter(|resource| resource.kind == ResourceKind::UniformBlock).flat_map(|block| {
                let elements = 0..block.num_registers.clamp(1, MAX_REGISTERS);
                elements.map(move |at| {
                    (block.register.saturating_add(at), (block.name.clone(), block.element.saturating_add(at)))
                })
            });
        let named = named.filter_map(|(register, key)| Some((register as usize, self.blocks.get(&key)?)));
        let bound = registers(names, ResourceKind::UniformBlock);
        let bound = bound.filter_map(|(register, binding)| Some((register, self.uniform.get(&binding)?)));
        for (register, bytes) in bound.chain(named).filter(|(register, _)| *register < MAX_REGISTERS as usize) {
            let words = bytes.chunks(4).map(|bytes| {
                let mut word = [0; 4];
                word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
                u32::from_le_bytes(word)
            });
            let mut words: Vec<u32> = words.collect();
            words.resize(words.len().next_multiple_of(4), 0);
            set(&mut constants, register, words);
        }
        constants
    }

    /// The unit of an element of a sampler or image, which is the initial one if none was set.
    pub(crate) fn unit(&self, name: &str, element: u32, initial: u32) -> u32 {
        let of_element = format!("{name}[{element}]");
        let of_array = || self.units.get(name).filter(|_| element == 0);
        self.units.get(&of_element).or_else(of_array).copied().unwrap_or(initial)
    }

    /// The units of images by register.
    fn image_units(&self, names: &Interface) -> BTreeMap<u32, u32> {
        let images = names.resources.iter().filter(|resource| resource.kind == ResourceKind::Image);
        let each = images.flat_map(|image| {
            let first = image.descriptor.binding.saturating_add(image.element);
            (0..image.num_registers.clamp(1, MAX_REGISTERS)).map(move |at| {
                let unit = self.unit(&image.name, at, first.saturating_add(at));
                (image.register.saturating_add(at), unit)
            })
        });
        each.collect()
    }

    /// Sets the buffers of a run.
    fn load(&self, names: &Interface, inputs: &mut Inputs) {
        for (register, binding) in registers(names, ResourceKind::StorageBlock) {
            set(&mut inputs.buffers, register, self.storage.get(&binding).cloned().unwrap_or_default());
        }
        for (register, binding) in registers(names, ResourceKind::CounterBuffer) {
            set(&mut inputs.counters, register, self.counters.get(&binding).cloned().unwrap_or_default());
        }
    }

    /// Stores the buffers of a run.
    fn store(&mut self, names: &Interface, outputs: &Outputs) {
        for (register, binding) in registers(names, ResourceKind::StorageBlock) {
            if let (Some(to), Some(from)) = (self.storage.get_mut(&binding), outputs.buffers.get(register)) {
                to.clone_from(from);
            }
        }
        for (register, binding) in registers(names, ResourceKind::CounterBuffer) {
            if let (Some(to), Some(from)) = (self.counters.get_mut(&binding), outputs.counters.get(register)) {
                to.clone_from(from);
            }
        }
    }
}

/// Whether a shader accesses memory that runs change.
pub(crate) fn has_memory(names: &Interface) -> bool {
    let is_memory =
        |kind| matches!(kind, ResourceKind::StorageBlock | ResourceKind::CounterBuffer | ResourceKind::Image);
    names.resources.iter().any(|resource| is_memory(resource.kind))
}

/// Whether a shader has an image of a name, or an array with such an element.
pub(crate) fn has_image(names: &Interface, name: &str) -> bool {
    let images = || names.resources.iter().filter(|resource| resource.kind == ResourceKind::Image);
    let indexed = name.strip_suffix(']').and_then(|rest| rest.rsplit_once('['));
    let indexed = indexed.and_then(|(array, index)| Some((array, index.parse::<u32>().ok()?)));
    images().any(|image| image.name == name)
        || indexed
            .is_some_and(|(array, index)| images().any(|image| image.name == array && index < image.num_registers))
}

/// Runs a shader. Runs with memory are in sequence.
///
/// # Errors
/// The run failed.
pub(crate) fn run(
    shader: &TestShader<'_>,
    memory: &Mutex<Memory>,
    inputs: &Inputs,
    resources: &mut dyn Resources,
) -> Result<Outputs, String> {
    if !has_memory(shader.names) {
        return (shader.run)(inputs, resources);
    }
    let mut memory = memory.lock().map_err(|error| error.to_string())?;
    let mut inputs = inputs.clone();
    memory.load(shader.names, &mut inputs);
    let units = memory.image_units(shader.names);
    let outputs = (shader.run)(&inputs, &mut Images::new(resources, &units, &mut memory))?;
    memory.store(shader.names, &outputs);
    Ok(outputs)
}

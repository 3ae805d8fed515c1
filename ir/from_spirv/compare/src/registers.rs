//! Which resource is in which register of a shader that the front end made.

use std::collections::BTreeMap;

use tgsi_compiler::front_end::{Descriptor, Interface, ResourceKind};
use tgsi_spirv_vulkan::native::{Content, Picture, SamplerState};

use crate::seed::Setup;

/// A descriptor: the number of the binding, the element.
pub type Place = (usize, usize);

/// The contents of registers.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    /// Constant buffers.
    pub constants: BTreeMap<u32, Vec<u8>>,
    /// Storage buffers.
    pub buffers: BTreeMap<u32, Place>,
    /// Textures by unit, each with the state of its sampler.
    pub units: BTreeMap<u32, (Picture, SamplerState)>,
    /// Images.
    pub images: BTreeMap<u32, Place>,
}

impl Registers {
    /// Assigns the contents of a setup.
    ///
    /// # Errors
    /// The interface names a resource that the module does not have.
    pub fn new(interface: &Interface, setup: &Setup) -> Result<Registers, String> {
        let mut registers = Registers::default();
        for resource in &interface.resources {
            for number in 0..resource.num_registers {
                let register = resource.register + number;
                if resource.kind == ResourceKind::PushConstants {
                    registers.set_constants(register, resource.offset, &setup.push);
                    continue;
                }
                let place = place(setup, resource.descriptor, resource.element + number)?;
                let content = &setup.bindings[place.0].contents[place.1];
                match (resource.kind, content) {
                    (ResourceKind::UniformBlock, Content::Uniform(bytes)) => {
                        registers.set_constants(register, resource.offset, bytes);
                    }
                    (ResourceKind::StorageBlock, Content::Storage(_)) => {
                        registers.buffers.insert(register, place);
                    }
                    (ResourceKind::Image, Content::Image(_)) => {
                        registers.images.insert(register, place);
                    }
                    (ResourceKind::Texture, Content::Combined(picture, state)) => {
                        let state = state_of(setup, resource.sampler)?.unwrap_or(*state);
                        registers.units.insert(register, (picture.clone(), state));
                    }
                    (ResourceKind::Texture, Content::Texture(picture)) => {
                        let state = state_of(setup, resource.sampler)?.unwrap_or_default();
                        registers.units.insert(register, (picture.clone(), state));
                    }
                    (ResourceKind::Sampler, _) => {}
                    (kind, _) => return Err(format!("the front end describes {:?} as {kind:?}", resource.descriptor)),
                }
            }
        }
        Ok(registers)
    }

    fn set_constants(&mut self, register: u32, offset: u32, bytes: &[u8]) {
        let buffer = self.constants.entry(register).or_default();
        let (start, end) = (offset as usize, offset as usize + bytes.len());
        if buffer.len() < end {
            buffer.resize(end, 0);
        }
        buffer[start..end].copy_from_slice(bytes);
    }
}

/// Returns the descriptor with these numbers.
fn place(setup: &Setup, Descriptor { set, binding }: Descriptor, element: u32) -> Result<Place, String> {
    let found = setup.bindings.iter().position(|bound| (bound.set, bound.binding) == (set, binding));
    let number = found.ok_or_else(|| format!("the front end uses set {set}, binding {binding}"))?;
    let count = setup.bindings[number].contents.len();
    if element as usize >= count {
        return Err(format!("the front end uses element {element} of set {set}, binding {binding}"));
    }
    Ok((number, element as usize))
}

fn state_of(setup: &Setup, sampler: Option<(Descriptor, u32)>) -> Result<Option<SamplerState>, String> {
    let Some((descriptor, element)) = sampler else { return Ok(None) };
    let (number, element) = place(setup, descriptor, element)?;
    Ok(match setup.bindings[number].contents[element] {
        Content::Sampler(state) | Content::Combined(_, state) => Some(state),
        _ => return Err(format!("the front end uses {descriptor:?} as a sampler")),
    })
}

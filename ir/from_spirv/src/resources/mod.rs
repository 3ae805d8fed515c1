//! Resources of descriptor sets, push constants, and uniforms outside of blocks.
//!
//! | resource | variable of the IR | number |
//! |---|---|---|
//! | uniform block | `ubo` | constant buffers from 1 |
//! | push constants, uniform blocks with the option `flat` | `push_const` | registers of constant buffer 0 |
//! | uniform outside of blocks (OpenGL) | `uniform` | registers of constant buffer 0, behind those |
//! | storage block | `ssbo` | buffers from 0 |
//! | storage image | `image` | images from 0 |
//! | texture with its sampler, or with each sampler that it meets | `uniform` sampler | units from 0 |
//! | atomic counter (OpenGL) | `uniform` counter | the decorated buffer and offset |
//!
//! Variables are created at their first use. At the end, those of a kind are numbered by set and binding; the elements
//! of arrays have consecutive numbers. Variables with equal set and binding share a number if shaders see one type.

mod blocks;
pub(crate) mod counters;
mod describe;
mod numbers;
mod parameters;
mod paths;
pub(crate) mod sizes;
#[cfg(test)]
mod tests;
mod uniforms;
mod units;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use spirv::{Decoration, StorageClass};
use tgsi_ir::entities::Variable as IrVariable;

pub(crate) use counters::CounterAccess;

use crate::emit::Context;
use crate::emit::pointer::Step;
use crate::emit::storage::Storage;
use crate::error::SpirvError;
use crate::options::{BindKind, Environment};
use crate::types::{ImageType, TypeData, TypeId};
use blocks::Block;
use counters::Counter;
use sizes::Sizes;
use uniforms::Uniform;
use units::Unit;
pub(crate) use units::{ImageAccess, UnitAccess, UnitUse};

/// Where the application binds a resource. Variables with equal slots are the same resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub(crate) struct Slot {
    set: u32,
    /// Whether there is no binding.
    is_unbound: bool,
    binding: u32,
    location: u32,
    /// A number that no other variable has, if the variable shares its resource with no other one; else 0.
    own: u32,
}

/// A storage image, or an array of them.
#[derive(Clone, Debug)]
struct Image {
    slot: Slot,
    /// The members of structs that lead to it.
    fields: SmallVec<[u32; 2]>,
    ty: ImageType,
    /// Number of images.
    length: u32,
    global: u32,
    variable: IrVariable,
    register: u32,
}

/// The resources that are used.
#[derive(Debug, Default)]
pub(crate) struct Resources {
    pub(crate) sizes: Sizes,
    blocks: Vec<Block>,
    uniforms: Vec<Uniform>,
    counters: Vec<Counter>,
    images: Vec<Image>,
    /// Textures with their samplers; with separate units textures alone.
    units: Vec<Unit>,
    /// Samplers with separate units.
    samplers: Vec<Unit>,
    image_numbers: FxHashMap<(u32, SmallVec<[u32; 2]>, ImageType), usize>,
    counter_numbers: FxHashMap<u32, usize>,
    unit_numbers: FxHashMap<units::UnitKey, usize>,
    sampler_numbers: FxHashMap<units::UnitKey, usize>,
    /// Results with a residency code that is read, once they are needed.
    pub(crate) read_codes: Option<FxHashSet<u32>>,
    /// By texture: its units.
    units_of: FxHashMap<units::Descriptors, SmallVec<[usize; 2]>>,
}

impl Context<'_> {
    /// The storage of a block, image or sampler. Creates variables at their first use.
    ///
    /// # Errors
    /// The variable has no place in shaders.
    pub(crate) fn resource_storage(
        &mut self,
        number: u32,
        steps: &[Step],
    ) -> Result<(Storage, SmallVec<[Step; 4]>), SpirvError> {
        if let Some(parameter) = self.parameter_storage(number, steps) {
            return Ok(parameter);
        }
        let steps = SmallVec::from_slice(steps);
        if let Some(known) = self.globals.get(number as usize).copied().flatten() {
            return Ok((known, steps));
        }
        let storage = self.new_resource(number);
        if let Some(place) = self.globals.get_mut(number as usize) {
            // The error is reported once.
            *place = Some(storage.as_ref().copied().unwrap_or(Storage::Error));
        }
        Ok((storage?, steps))
    }

    fn new_resource(&mut self, number: u32) -> Result<Storage, SpirvError> {
        let Some(global) = self.module.globals.get(number as usize).copied() else { return Ok(Storage::Error) };
        match StorageClass::from_u32(global.class) {
            Some(StorageClass::UniformConstant) => {
                let inner = self.module.types.without_arrays(global.ty);
                match self.module.types.get(inner) {
                    TypeData::Image(_) | TypeData::Sampler | TypeData::SampledImage(_) => Ok(Storage::Opaque),
                    _ => Ok(self.uniform(number, &global)),
                }
            }
            Some(StorageClass::AtomicCounter) => Ok(Storage::Opaque),
            _ => self.block(number, &global),
        }
    }

    /// The set and binding of a variable.
    fn slot(&self, number: u32) -> Slot {
        let Some(global) = self.module.globals.get(number as usize) else { return Slot::default() };
        let value = |kind| self.module.decorations.value(global.id, kind);
        let binding = value(Decoration::Binding);
        // In OpenGL a binding is but the initial value of a sampler.
        let is_uniform =
            self.environment == Environment::OpenGl && global.class == StorageClass::UniformConstant as u32;
        let is_own = binding.is_none() || is_uniform;
        Slot {
            set: value(Decoration::DescriptorSet).unwrap_or(0),
            is_unbound: binding.is_none(),
            binding: binding.unwrap_or(0),
            location: value(Decoration::Location).filter(|_| is_own).unwrap_or(0),
            own: if is_own { number + 1 } else { 0 },
        }
    }

    /// The number of descriptors of a variable that is an array without length.
    fn unsized_length(&self, number: u32) -> Result<u32, SpirvError> {
        let slot = self.slot(number);
        let counts = &self.options.counts;
        let found = counts.iter().find(|&&(set, binding, _)| !slot.is_unbound && (set, binding) == slot.place());
        match found {
            Some(&(_, _, length)) if length > 0 => Ok(length),
            _ => Err(SpirvError::UnsizedArray { name: self.resource_name(number) }),
        }
    }

    /// The name of a variable; of one without name that of the type, or its place.
    fn resource_name(&self, number: u32) -> String {
        let Some(global) = self.module.globals.get(number as usize) else { return String::new() };
        let name = self.module.name(global.id);
        if !name.is_empty() {
            return name.to_owned();
        }
        if let TypeData::Struct { id, .. } = *self.module.types.get(self.module.types.without_arrays(global.ty))
            && let name = self.module.name(id)
            && !name.is_empty()
        {
            return name.to_owned();
        }
        format!("variable_{}", global.id)
    }

    /// The register that options or the environment choose for a resource.
    fn chosen_register(&self, kind: BindKind, slot: Slot) -> Option<u32> {
        if slot.is_unbound {
            return None;
        }
        let bind = self.options.binds.iter().find(|bind| bind.kind == kind && (bind.set, bind.binding) == slot.place());
        let chosen = bind.map(|bind| bind.register);
        chosen
            .or_else(|| if self.environment == Environment::Tgsic { tgsic_register(kind, slot.binding) } else { None })
    }

    /// The elements of all dimensions of an array of descriptors.
    fn num_descriptors(&self, number: u32, ty: TypeId) -> Result<u32, SpirvError> {
        let mut count = 1u32;
        let mut ty = ty;
        while let TypeData::Array { element, length, .. } = *self.module.types.get(ty) {
            let length = if length == 0 { self.unsized_length(number)? } else { length };
            count = count.saturating_mul(length);
            ty = element;
        }
        Ok(count)
    }
}

impl Slot {
    fn place(self) -> (u32, u32) {
        (self.set, self.binding)
    }

    fn descriptor(self) -> tgsi_compiler::front_end::Descriptor {
        tgsi_compiler::front_end::Descriptor { set: self.set, binding: self.binding }
    }
}

/// The register of a binding of the SPIR-V driver: bindings are 32 for each stage. Bindings from 512 on are samplers,
/// and resources without a register; 255 are driver parameters.
fn tgsic_register(kind: BindKind, binding: u32) -> Option<u32> {
    let has_register = match kind {
        BindKind::Constant => binding != 255,
        BindKind::Buffer | BindKind::Image => binding < 512,
        BindKind::Unit => true,
    };
    has_register.then_some(binding & 31)
}

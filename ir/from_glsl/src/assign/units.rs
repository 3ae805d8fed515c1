//! Units of samplers and images, and buffers of atomic counters.

use tgsi_compiler::front_end::{Descriptor, Resource, ResourceKind};
use tgsi_environment::SamplerDim;
use tgsi_ir::entities::Variable as IrVariable;

use super::Assigner;
use crate::builtins::formats::is_multisampled;
use crate::members::{images, samplers};
use crate::program::VariableId;
use crate::types::{TypeData, TypeId};

/// Bytes of a counter.
const COUNTER_SIZE: u32 = 4;

/// Units that the properties of a shader tell apart.
const MASKED_IMAGES: u32 = 64;

impl Assigner<'_> {
    /// Gives a uniform units for its samplers and images.
    pub(super) fn opaque(&mut self, id: VariableId, variable: IrVariable, unit: &mut u32, image: &mut u32) {
        let data = self.program.variable(id);
        let summary = self.program.types.summary(data.ty);
        let has_samplers = !matches!(self.inner(data.ty), TypeData::Image(_));
        // A struct has one number for both kinds.
        let next = match (has_samplers, summary.has_image) {
            (true, true) => (*unit).max(*image),
            (false, true) => *image,
            _ => *unit,
        };
        let first = data.traits.binding.unwrap_or(next);
        if let Some(data) = self.shader.variables.get_mut(variable) {
            data.driver_location = first;
            data.binding = first;
            data.location = -1;
        }
        if has_samplers {
            self.samplers(id, first, unit);
        }
        if summary.has_image {
            self.images(id, first, image);
        }
    }

    fn inner(&self, ty: TypeId) -> TypeData {
        self.program.types.get(self.program.types.without_arrays(ty))
    }

    fn samplers(&mut self, id: VariableId, first: u32, unit: &mut u32) {
        let samplers = samplers(self.program, self.interner, id, first);
        let num_units = samplers.iter().fold(0u32, |sum, sampler| sum.saturating_add(sampler.num_units));
        self.interface.samplers.extend(samplers);
        let units = (first..first.saturating_add(num_units)).take_while(|&unit| unit < 128);
        for unit in units {
            self.shader.info.textures_used |= 1 << unit;
            self.shader.info.samplers_used |= if unit < 32 { 1 << unit } else { 0 };
        }
        if num_units > 0 {
            *unit = (*unit).max(first.saturating_add(num_units));
        }
    }

    fn images(&mut self, id: VariableId, first: u32, image: &mut u32) {
        let binding = self.program.variable(id).traits.binding;
        for (found, ty) in images(self.program, self.interner, id, first) {
            let end = found.unit.saturating_add(found.num_units);
            for number in found.unit..end.min(MASKED_IMAGES) {
                let (bit, info) = (1u64 << number, &mut self.shader.info);
                info.images_used |= bit;
                info.image_buffers |= if ty.dim == SamplerDim::Buf { bit } else { 0 };
                info.msaa_images |= if is_multisampled(&ty) { bit } else { 0 };
            }
            *image = (*image).max(end);
            let binding = binding.map_or(0, |binding| binding.saturating_add(found.unit - first));
            let descriptor = Descriptor { set: 0, binding };
            let mut resource = Resource::new(ResourceKind::Image, found.name, descriptor, found.unit);
            resource.num_registers = found.num_units;
            self.interface.resources.push(resource);
        }
    }

    /// Describes atomic counters.
    pub(super) fn counters(&mut self, id: VariableId) {
        let data = self.program.variable(id);
        let (buffer, length) = (data.traits.binding.unwrap_or(0), self.program.types.summary(data.ty).counters);
        let descriptor = Descriptor { set: 0, binding: buffer };
        let mut resource = Resource::new(ResourceKind::CounterBuffer, self.name(id), descriptor, buffer);
        resource.offset = data.traits.offset.unwrap_or(0);
        resource.size = length.saturating_mul(COUNTER_SIZE);
        // Arrays of arrays are a variable for each innermost array.
        let mut innermost = 1;
        let mut ty = data.ty;
        while let TypeData::Array { element, length } = self.program.types.get(ty) {
            (ty, innermost) = (element, length.unwrap_or(1).max(1));
        }
        resource.num_active = length.div_ceil(innermost);
        self.interface.resources.push(resource);
        let info = &mut self.shader.info;
        info.num_abos = info.num_abos.max(buffer + 1);
    }
}

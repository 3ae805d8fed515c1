//! The description of resources.

use spirv::StorageClass;
use tgsi_compiler::front_end::{Descriptor, Interface, Resource, ResourceKind, SamplerUniform, SpecializationConstant};
use tgsi_environment::SamplerDim;
use tgsi_ir::types::ScalarType;

use super::Unit;
use super::blocks::{BlockKind, whole_registers};
use super::sizes::Sizes;
use crate::emit::Context;
use crate::options::Environment;
use crate::types::{ImageType, TypeData, TypeId};

impl Context<'_> {
    /// Describes resources and specialisation constants.
    pub(crate) fn describe_resources(&self, interface: &mut Interface) {
        // Lengths are only limited without errors.
        if self.findings.has_errors() {
            return;
        }
        for constant in &self.module.specialization {
            let name = self.module.name(constant.id).to_owned();
            let ty = self.type_name(constant.ty);
            let mut description = SpecializationConstant::new(constant.number, name, ty, constant.default);
            description.value = constant.value;
            interface.specialization.push(description);
        }
        interface.specialization.sort_by_key(|constant| constant.id);
        interface.uniforms =
            self.resources.uniforms.iter().filter_map(|uniform| self.describe_uniform(uniform)).collect();
        self.describe_blocks(&mut interface.resources);
        for image in &self.resources.images {
            let name = self.resource_name(image.global);
            let mut resource = Resource::new(ResourceKind::Image, name, image.slot.descriptor(), image.register);
            resource.num_registers = image.length;
            interface.resources.push(resource);
        }
        for unit in &self.resources.units {
            self.describe_unit(unit, &mut interface.resources);
        }
        for unit in &self.resources.samplers {
            let name = self.resource_name(unit.global);
            let descriptor = unit.key.texture.slot.descriptor();
            let mut resource = Resource::new(ResourceKind::Sampler, name, descriptor, unit.register);
            resource.num_registers = unit.length;
            interface.resources.push(resource);
        }
        interface.resources.sort_by_key(|resource| (resource.kind, resource.register, resource.offset));
        interface.resources.dedup();
        if self.environment == Environment::OpenGl {
            self.describe_samplers(&mut interface.samplers);
        }
    }

    fn describe_blocks(&self, resources: &mut Vec<Resource>) {
        let mut sizes = Sizes::default();
        for block in &self.resources.blocks {
            let (kind, descriptor) = match block.kind {
                BlockKind::Push => (ResourceKind::PushConstants, Descriptor::default()),
                BlockKind::Uniform => (ResourceKind::UniformBlock, block.slot.descriptor()),
                BlockKind::Storage => (ResourceKind::StorageBlock, block.slot.descriptor()),
            };
            let name = self.resource_name(block.global);
            let mut resource = Resource::new(kind, name, descriptor, block.register);
            resource.size = block.size;
            if let Some(global) = self.module.globals.get(block.global as usize) {
                let (types, is_storage) = (&self.module.types, block.kind == BlockKind::Storage);
                let ty = types.without_arrays(global.ty);
                resource.num_active = sizes.block_variables(types, ty, is_storage);
            }
            if !block.is_flat {
                resource.num_registers = block.length;
                resources.push(resource);
                continue;
            }
            // Elements are behind each other in one buffer.
            for element in 0..block.length {
                let mut resource = resource.clone();
                resource.element = element;
                resource.offset = block.offset.saturating_add(element.saturating_mul(whole_registers(block.size)));
                resources.push(resource);
            }
        }
        for counter in &self.resources.counters {
            let descriptor = match self.slot(counter.global) {
                slot if slot.set == 0 => Descriptor { set: 0, binding: counter.buffer },
                slot => slot.descriptor(),
            };
            let name = self.resource_name(counter.global);
            let mut resource = Resource::new(ResourceKind::CounterBuffer, name, descriptor, counter.buffer);
            resource.offset = counter.first.saturating_mul(4);
            resource.size = counter.length.saturating_mul(4);
            if let Some(global) = self.module.globals.get(counter.global as usize) {
                resource.num_active = sizes.variables(&self.module.types, global.ty);
            }
            resources.push(resource);
        }
    }

    fn describe_unit(&self, unit: &Unit, resources: &mut Vec<Resource>) {
        let name = self.resource_name(unit.global);
        let texture = &unit.key.texture;
        let mut resource = Resource::new(ResourceKind::Texture, name, texture.slot.descriptor(), unit.register);
        resource.element = texture.first;
        resource.num_registers = unit.length;
        let Some(sampler) = &unit.key.sampler else {
            resources.push(resource);
            return;
        };
        let descriptor = sampler.slot.descriptor();
        let Some(count) = sampler.length else {
            resource.sampler = Some((descriptor, sampler.first));
            resources.push(resource);
            return;
        };
        // A unit for each pair.
        for number in 0..unit.length {
            let mut resource = resource.clone();
            resource.num_registers = 1;
            resource.register = unit.register.saturating_add(number);
            resource.element = texture.first.saturating_add(number / count.max(1));
            resource.sampler = Some((descriptor, number % count.max(1)));
            resources.push(resource);
        }
    }

    /// Samplers that OpenGL sets by location.
    fn describe_samplers(&self, samplers: &mut Vec<SamplerUniform>) {
        let mut sizes = Sizes::default();
        for unit in &self.resources.units {
            let Some(global) = self.module.globals.get(unit.global as usize) else { continue };
            if global.class != StorageClass::UniformConstant as u32 {
                continue;
            }
            let mut name = self.module.name(global.id).to_owned();
            if name.is_empty() {
                name = format!("location {}", unit.key.texture.slot.location);
            }
            let ty = if self.is_opaque_global(unit.global) { self.type_name(global.ty) } else { String::new() };
            let mut sampler = SamplerUniform::new(name, ty, unit.register, unit.length);
            sampler.initial_unit = unit.key.texture.slot.binding;
            (sampler.locations, sampler.num_active) = self.opaque_locations(&mut sizes, unit, global.ty);
            samplers.push(sampler);
        }
        samplers.sort_by_key(|sampler| sampler.unit);
    }

    /// The locations of the units of a sampler, and the number of active uniforms that it is.
    fn opaque_locations(&self, sizes: &mut Sizes, unit: &Unit, ty: TypeId) -> (Vec<u32>, u32) {
        let types = &self.module.types;
        let texture = &unit.key.texture;
        let mut locations = vec![texture.slot.location];
        let mut fields = texture.fields.iter();
        let (mut ty, mut innermost) = (ty, 1);
        loop {
            match types.get(ty) {
                TypeData::Array { element, length, .. } => {
                    let size = sizes.locations(types, *element);
                    let each = |first: u32| (0..*length).map(move |at| first.saturating_add(at.saturating_mul(size)));
                    // The elements are at most the units, whose number is limited.
                    let most = texture.first.saturating_add(unit.length) as usize;
                    locations = locations.into_iter().flat_map(each).take(most).collect();
                    (ty, innermost) = (*element, (*length).max(1));
                }
                TypeData::Struct { members, .. } => {
                    let Some(&field) = fields.next() else { break };
                    let Some(member) = members.get(field as usize) else { break };
                    let before = members.iter().take(field as usize);
                    let before = before.fold(0u32, |sum, member| sum.saturating_add(sizes.locations(types, member.ty)));
                    locations.iter_mut().for_each(|location| *location = location.saturating_add(before));
                    (ty, innermost) = (member.ty, 1);
                }
                _ => break,
            }
        }
        let num_active = (locations.len() as u32).div_ceil(innermost);
        (locations.into_iter().skip(texture.first as usize).collect(), num_active)
    }

    /// The name of a type in GLSL.
    pub(super) fn type_name(&self, ty: TypeId) -> String {
        let types = &self.module.types;
        let mut lengths = String::new();
        let mut inner = ty;
        while let TypeData::Array { element, length, .. } = *types.get(inner) {
            lengths.push_str(&if length == 0 { "[]".to_owned() } else { format!("[{length}]") });
            inner = element;
        }
        let name = match types.get(inner) {
            TypeData::Vector { scalar, count: 1 } => scalar_name(*scalar).to_owned(),
            TypeData::Vector { scalar, count } => format!("{}vec{count}", prefix(*scalar)),
            TypeData::Matrix { scalar, columns, rows } if columns == rows => format!("{}mat{columns}", prefix(*scalar)),
            TypeData::Matrix { scalar, columns, rows } => format!("{}mat{columns}x{rows}", prefix(*scalar)),
            TypeData::Struct { id, .. } => match self.module.name(*id) {
                "" => format!("struct_{id}"),
                name => name.to_owned(),
            },
            TypeData::Image(image) => image_name(image, if image.is_storage { "image" } else { "texture" }),
            TypeData::SampledImage(image) => image_name(image, "sampler"),
            TypeData::Sampler => "sampler".to_owned(),
            _ => String::new(),
        };
        name + &lengths
    }
}

fn scalar_name(scalar: ScalarType) -> &'static str {
    match scalar {
        ScalarType::Bool => "bool",
        ScalarType::Int8 => "int8_t",
        ScalarType::Uint8 => "uint8_t",
        ScalarType::Int16 => "int16_t",
        ScalarType::Uint16 => "uint16_t",
        ScalarType::Int => "int",
        ScalarType::Uint => "uint",
        ScalarType::Int64 => "int64_t",
        ScalarType::Uint64 => "uint64_t",
        ScalarType::Float16 => "float16_t",
        ScalarType::Float => "float",
        ScalarType::Double => "double",
        ScalarType::Void => "void",
    }
}

fn prefix(scalar: ScalarType) -> &'static str {
    match scalar {
        ScalarType::Bool => "b",
        ScalarType::Int8 => "i8",
        ScalarType::Uint8 => "u8",
        ScalarType::Int16 => "i16",
        ScalarType::Uint16 => "u16",
        ScalarType::Int => "i",
        ScalarType::Uint => "u",
        ScalarType::Int64 => "i64",
        ScalarType::Uint64 => "u64",
        ScalarType::Float16 => "f16",
        ScalarType::Double => "d",
        ScalarType::Float | ScalarType::Void => "",
    }
}

fn image_name(image: &ImageType, kind: &str) -> String {
    let dim = match image.dim {
        SamplerDim::Dim1D => "1D",
        SamplerDim::Dim3D => "3D",
        SamplerDim::Cube => "Cube",
        SamplerDim::Rect => "2DRect",
        SamplerDim::Buf => "Buffer",
        SamplerDim::Ms | SamplerDim::SubpassMs => "2DMS",
        SamplerDim::Dim2D | SamplerDim::External | SamplerDim::Subpass => "2D",
    };
    let array = if image.is_array { "Array" } else { "" };
    format!("{}{kind}{dim}{array}", prefix(image.sampled))
}

//! Uniforms outside of blocks, which OpenGL has: each vector, column and element has a register of constant buffer 0.

use spirv::Decoration;
use tgsi_compiler::front_end::{ComponentType, Uniform as Description, UniformMember};
use tgsi_ir::entities::Variable as IrVariable;
use tgsi_ir::types::ScalarType;
use tgsi_ir::variable::{VariableData, VariableModes};

use super::sizes::Sizes;
use crate::emit::Context;
use crate::emit::storage::{Memory, Storage};
use crate::module::Global;
use crate::types::{TypeData, TypeId, Types};

/// The most parts of a uniform that are described.
const MAX_MEMBERS: usize = 4096;

/// A uniform that is used.
#[derive(Clone, Debug)]
pub(super) struct Uniform {
    pub(super) global: u32,
    /// The location, or the largest number.
    pub(super) location: u32,
    pub(super) variable: IrVariable,
    /// Number of registers.
    pub(super) length: u32,
    pub(super) register: u32,
}

/// The place of a part of a uniform.
#[derive(Clone, Copy, Debug)]
struct Place {
    register: u32,
    location: Option<u32>,
}

impl Place {
    /// The place behind a part of this type.
    fn after(self, sizes: &mut Sizes, types: &Types, ty: TypeId) -> Place {
        let locations = sizes.locations(types, ty);
        Place {
            register: self.register.saturating_add(sizes.registers(types, ty)),
            location: self.location.map(|location| location.saturating_add(locations)),
        }
    }
}

impl Context<'_> {
    /// Creates the variable of a uniform.
    pub(super) fn uniform(&mut self, number: u32, global: &Global) -> Storage {
        let ir_type = self.ir_type(global.ty);
        let name = self.resource_name(number);
        let mode = VariableModes::UNIFORM;
        let location = self.module.decorations.value(global.id, Decoration::Location);
        let mut data = VariableData::new(name, ir_type, mode);
        data.location = location.and_then(|location| i32::try_from(location).ok()).unwrap_or(-1);
        let variable = self.shader.add_variable(data);
        let length = self.resources.sizes.registers(&self.module.types, global.ty);
        let location = location.unwrap_or(u32::MAX);
        self.resources.uniforms.push(Uniform { global: number, location, variable, length, register: 0 });
        Storage::Memory(Memory { variable, mode, ty: global.ty, row_major: false })
    }

    /// Numbers the registers of uniforms, by location. Returns the end of the registers.
    pub(super) fn number_uniforms(&mut self, first: u32) -> u32 {
        let mut register = first;
        self.resources.uniforms.sort_by_key(|uniform| (uniform.location, uniform.global));
        for uniform in &mut self.resources.uniforms {
            uniform.register = register;
            if let Some(data) = self.shader.variables.get_mut(uniform.variable) {
                data.driver_location = register;
            }
            register = register.saturating_add(uniform.length);
        }
        register
    }

    /// Describes a uniform.
    pub(super) fn describe_uniform(&self, uniform: &Uniform) -> Option<Description> {
        let global = self.module.globals.get(uniform.global as usize)?;
        let name = match self.module.name(global.id) {
            "" => format!("location {}", uniform.location),
            name => name.to_owned(),
        };
        let ty = self.type_name(global.ty);
        let location = Some(uniform.location).filter(|&location| location != u32::MAX);
        let members = self.members(global.ty, Place { register: uniform.register, location });
        let mut description = Description::new(name, ty, uniform.register, uniform.length, members);
        let is_small = self.module.types.leaves(global.ty) <= self.options.limits.leaves;
        description.initial = global.initializer.filter(|_| is_small).map(|initializer| {
            let leaves = self.module.constants.leaves(&self.module.types, initializer);
            leaves.into_iter().flatten().flatten().collect()
        });
        Some(description)
    }

    /// The parts of a uniform that are set separately.
    fn members(&self, ty: TypeId, place: Place) -> Vec<UniformMember> {
        let types = &self.module.types;
        let mut sizes = Sizes::default();
        let mut members = Vec::new();
        let mut pending = vec![(String::new(), ty, place)];
        while let Some((path, ty, place)) = pending.pop() {
            if members.len() + pending.len() > MAX_MEMBERS {
                break;
            }
            let inner = types.without_arrays(ty);
            let length = matches!(types.get(ty), TypeData::Array { .. }).then(|| types.elements(ty));
            let (scalar, rows, columns) = match *types.get(inner) {
                TypeData::Vector { scalar, count } => (scalar, count, 1),
                TypeData::Matrix { scalar, columns, rows } => (scalar, rows, columns),
                _ => {
                    self.push_parts(&mut pending, &mut sizes, path, ty, place);
                    continue;
                }
            };
            let component_type = match scalar {
                ScalarType::Double => ComponentType::Double,
                ScalarType::Int => ComponentType::Int,
                ScalarType::Uint => ComponentType::Uint,
                ScalarType::Bool => ComponentType::Bool,
                _ => ComponentType::Float,
            };
            let mut member = UniformMember::new(path, component_type, rows, columns, place.register);
            member.length = length;
            member.location = place.location;
            member.num_active = sizes.variables(types, ty);
            members.push(member);
        }
        members
    }

    /// Adds the elements of an array of structs, or the members of a struct, in reverse.
    fn push_parts(
        &self,
        pending: &mut Vec<(String, TypeId, Place)>,
        sizes: &mut Sizes,
        path: String,
        ty: TypeId,
        place: Place,
    ) {
        let types = &self.module.types;
        let first = pending.len();
        match types.get(ty) {
            TypeData::Array { element, length, .. } => {
                let mut place = place;
                for number in 0..(*length).min(MAX_MEMBERS as u32) {
                    pending.push((format!("{path}[{number}]"), *element, place));
                    place = place.after(sizes, types, *element);
                }
            }
            TypeData::Struct { id, members } => {
                let mut place = place;
                for (number, member) in members.iter().enumerate() {
                    let name = self.module.member_names.get(&(*id, number as u32));
                    let name = name.map_or_else(|| format!("member_{number}"), Clone::clone);
                    pending.push((format!("{path}.{name}"), member.ty, place));
                    place = place.after(sizes, types, member.ty);
                }
            }
            _ => {}
        }
        if let Some(added) = pending.get_mut(first..) {
            added.reverse();
        }
    }
}

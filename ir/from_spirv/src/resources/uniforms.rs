//! Uniforms outside of blocks, which OpenGL has: each vector, column and element has a register of constant buffer 0.

use spirv::Decoration;
use tgsi_compiler::front_end::{ComponentType, Uniform as Description, UniformMember};
use tgsi_ir::entities::Variable as IrVariable;
use tgsi_ir::types::ScalarType;
use tgsi_ir::variable::{VariableData, VariableModes};

use crate::emit::Context;
use crate::emit::storage::{Memory, Storage};
use crate::module::Global;
use crate::types::{TypeData, TypeId};

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
        let members = self.members(global.ty, uniform.register);
        let mut description = Description::new(name, ty, uniform.register, uniform.length, members);
        let is_small = self.module.types.leaves(global.ty) <= self.options.limits.leaves;
        description.initial = global.initializer.filter(|_| is_small).map(|initializer| {
            let leaves = self.module.constants.leaves(&self.module.types, initializer);
            leaves.into_iter().flatten().flatten().collect()
        });
        Some(description)
    }

    /// The parts of a uniform that are set separately.
    fn members(&self, ty: TypeId, register: u32) -> Vec<UniformMember> {
        let types = &self.module.types;
        let mut sizes = super::sizes::Sizes::default();
        let mut members = Vec::new();
        let mut pending = vec![(String::new(), ty, register)];
        while let Some((path, ty, register)) = pending.pop() {
            if members.len() + pending.len() > MAX_MEMBERS {
                break;
            }
            let inner = types.without_arrays(ty);
            let length = matches!(types.get(ty), TypeData::Array { .. }).then(|| types.elements(ty));
            let (scalar, rows, columns) = match *types.get(inner) {
                TypeData::Vector { scalar, count } => (scalar, count, 1),
                TypeData::Matrix { scalar, columns, rows } => (scalar, rows, columns),
                _ => {
                    self.push_parts(&mut pending, &mut sizes, path, ty, register);
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
            let mut member = UniformMember::new(path, component_type, rows, columns, register);
            member.length = length;
            members.push(member);
        }
        members
    }

    /// Adds the elements of an array of structs, or the members of a struct, in reverse.
    fn push_parts(
        &self,
        pending: &mut Vec<(String, TypeId, u32)>,
        sizes: &mut super::sizes::Sizes,
        path: String,
        ty: TypeId,
        register: u32,
    ) {
        let types = &self.module.types;
        let first = pending.len();
        match types.get(ty) {
            TypeData::Array { element, length, .. } => {
                let size = sizes.registers(types, *element);
                let count = (*length).min(MAX_MEMBERS as u32);
                pending.extend((0..count).map(|number| {
                    (format!("{path}[{number}]"), *element, register.saturating_add(number.saturating_mul(size)))
                }));
            }
            TypeData::Struct { id, members } => {
                let mut register = register;
                for (number, member) in members.iter().enumerate() {
                    let name = self.module.member_names.get(&(*id, number as u32));
                    let name = name.map_or_else(|| format!("member_{number}"), Clone::clone);
                    pending.push((format!("{path}.{name}"), member.ty, register));
                    register = register.saturating_add(sizes.registers(types, member.ty));
                }
            }
            _ => {}
        }
        if let Some(added) = pending.get_mut(first..) {
            added.reverse();
        }
    }
}

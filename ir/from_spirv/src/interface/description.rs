//! The description of inputs and outputs.

use tgsi_compiler::front_end::{Interface as Description, InterfaceVariable};
use tgsi_ir::types::ScalarType;

use crate::emit::Context;
use crate::emit::storage::Storage;
use crate::interface::PortVariable;
use crate::types::{TypeData, TypeId};

impl Context<'_> {
    /// Describes inputs and outputs, by register.
    pub(crate) fn describe_interface(&self, interface: &mut Description) {
        for port in &self.interface.ports {
            let list = if port.is_output { &mut interface.outputs } else { &mut interface.inputs };
            for &PortVariable { ty, variable, .. } in &port.variables {
                let Some(data) = self.shader.variables.get(variable) else { continue };
                let ty = self.glsl_type(ty);
                list.push(InterfaceVariable::new(data.name.clone(), ty, data.location, data.driver_location));
            }
            // Clip and cull distances begin in one of their vectors.
            let Storage::Packed(packed) = port.storage else { continue };
            let Some(distances) = &self.interface.distances[usize::from(port.is_output)] else { continue };
            let vector = distances.variables.get((packed.first / 4) as usize).copied().flatten();
            let data = vector.and_then(|variable| self.shader.variables.get(variable));
            if let Some(data) = data.filter(|_| port.variables.is_empty()) {
                let ty = self.glsl_type(port.ty);
                list.push(InterfaceVariable::new(port.name.clone(), ty, data.location, data.driver_location));
            }
        }
        for list in [&mut interface.inputs, &mut interface.outputs] {
            list.sort_by_key(|variable| variable.register);
        }
        interface.stream_output = self.stream_output();
        interface.num_captured = self.num_captured();
    }

    /// A type as GLSL spells it.
    pub(crate) fn glsl_type(&self, mut ty: TypeId) -> String {
        let mut lengths = String::new();
        while let TypeData::Array { element, length, .. } = *self.module.types.get(ty) {
            if length == 0 {
                lengths.push_str("[]");
            } else {
                lengths.push_str(&format!("[{length}]"));
            }
            ty = element;
        }
        let name = match self.module.types.get(ty) {
            TypeData::Vector { scalar, count: 1 } => scalar_names(*scalar).0.to_owned(),
            TypeData::Vector { scalar, count } => format!("{}vec{count}", scalar_names(*scalar).1),
            TypeData::Matrix { scalar, columns, rows } => {
                let prefix = scalar_names(*scalar).1;
                if columns == rows { format!("{prefix}mat{columns}") } else { format!("{prefix}mat{columns}x{rows}") }
            }
            TypeData::Struct { id, .. } => match self.module.name(*id) {
                "" => format!("struct_{id}"),
                name => name.to_owned(),
            },
            _ => self.module.types.kind(ty).to_owned(),
        };
        name + &lengths
    }
}

/// The name of a scalar type, and the prefix of its vectors.
fn scalar_names(scalar: ScalarType) -> (&'static str, &'static str) {
    match scalar {
        ScalarType::Float => ("float", ""),
        ScalarType::Float16 => ("float16_t", "f16"),
        ScalarType::Double => ("double", "d"),
        ScalarType::Int => ("int", "i"),
        ScalarType::Uint => ("uint", "u"),
        ScalarType::Int8 => ("int8_t", "i8"),
        ScalarType::Uint8 => ("uint8_t", "u8"),
        ScalarType::Int16 => ("int16_t", "i16"),
        ScalarType::Uint16 => ("uint16_t", "u16"),
        ScalarType::Int64 => ("int64_t", "i64"),
        ScalarType::Uint64 => ("uint64_t", "u64"),
        ScalarType::Bool => ("bool", "b"),
        ScalarType::Void => ("void", ""),
    }
}

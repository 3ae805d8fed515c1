//! Rules 32 to 34: variables, functions, transform feedback.

use super::error::Collector;
use super::{Location, ModeNames, ValidationErrorKind};
use crate::entities::{Function, Type, Variable};
use crate::memory_layout::vector_size;
use crate::shader::{Shader, ShaderStage};
use crate::types::{ScalarType, TypeData, TypeTable};
use crate::variable::{Initializer, VariableData, VariableModes};

/// Where each variable is declared.
pub(super) struct VariableOwners {
    /// By variable number: 0 if undeclared, 1 in the shader, `f + 2` in function `f`.
    owners: Vec<u32>,
}

const NOWHERE: u32 = 0;
const SHADER: u32 = 1;

fn function_owner(function: Function) -> u32 {
    function.as_u32().saturating_add(2)
}

impl VariableOwners {
    /// Whether code of a function may refer to a variable.
    pub fn is_declared_for(&self, variable: Variable, function: Function) -> bool {
        self.owners.get(variable.as_u32() as usize).is_some_and(|&o| o == SHADER || o == function_owner(function))
    }
}

/// Checks the variables of the shader and its functions, and the properties of the shader.
pub(super) fn check_variables(shader: &Shader, errors: &mut Collector) -> VariableOwners {
    let mut declared = VariableOwners { owners: vec![NOWHERE; shader.variables.len()] };
    for data in shader.types.iter() {
        if let TypeData::Matrix { scalar, columns, rows, stride, row_major } = *data
            && let bytes = vector_size(scalar, if row_major { columns } else { rows }).bytes
            && (1..bytes).contains(&stride)
        {
            errors.push(None, Location::Shader, ValidationErrorKind::TypeStride { stride, bytes });
        }
    }
    for &variable in &shader.globals {
        check_variable(shader, None, variable, &mut declared, errors);
    }
    for (function, data) in &shader.functions {
        for &variable in data.body.iter().flat_map(|b| &b.locals) {
            check_variable(shader, Some(function), variable, &mut declared, errors);
        }
        if data.is_entry_point && !data.parameters.is_empty() {
            errors.push(Some(function), Location::Function, ValidationErrorKind::EntryPointParameters);
        }
    }
    if !shader.functions.values().any(|f| f.is_entry_point && f.body.is_some()) {
        errors.push(None, Location::Shader, ValidationErrorKind::EntryPoint);
    }
    let captures = shader.info.has_transform_feedback_varyings || shader.info.xfb_stride != [0; 4];
    if captures && !matches!(shader.stage, ShaderStage::Vertex | ShaderStage::TessEval | ShaderStage::Geometry) {
        errors.push(None, Location::Shader, ValidationErrorKind::XfbStage);
    }
    declared
}

fn check_variable(
    shader: &Shader,
    function: Option<Function>,
    variable: Variable,
    declared: &mut VariableOwners,
    errors: &mut Collector,
) {
    let mut report = |kind| errors.push(function, Location::Variable(variable), kind);
    let Some(data) = shader.variables.get(variable) else {
        return report(ValidationErrorKind::VariableUnknown);
    };
    let owner = function.map_or(SHADER, function_owner);
    if std::mem::replace(&mut declared.owners[variable.as_u32() as usize], owner) != NOWHERE {
        report(ValidationErrorKind::VariableTwice);
    }
    let of_functions = VariableModes::FUNCTION_TEMP
        .union(VariableModes::FUNCTION_IN)
        .union(VariableModes::FUNCTION_OUT)
        .union(VariableModes::FUNCTION_INOUT);
    let fits_list = match function {
        None => !data.mode.intersects(of_functions),
        Some(_) => data.mode == VariableModes::FUNCTION_TEMP,
    };
    if !data.mode.is_single() || !fits_list {
        report(ValidationErrorKind::VariableMode { modes: ModeNames(data.mode) });
    }
    let types = &shader.types;
    if !types.contains(data.ty) {
        return report(ValidationErrorKind::VariableType);
    }
    if data.location_frac > 3 {
        report(ValidationErrorKind::VariableComponent { component: data.location_frac });
    }
    if data.per_vertex && !is_arrayed(shader, data) {
        report(ValidationErrorKind::VariablePerVertex);
    }
    if data.compact && !is_compact_type(types, data) {
        report(ValidationErrorKind::VariableCompact);
    }
    if data.per_view && !matches!(types.get(data.ty), TypeData::Array { .. }) {
        report(ValidationErrorKind::VariablePerView);
    }
    if data.mode == VariableModes::IMAGE
        && (data.bindless || !matches!(types.get(types.without_arrays(data.ty)), TypeData::Image { .. }))
    {
        report(ValidationErrorKind::VariableImage);
    }
    if let Some(initializer) = &data.initializer
        && !fits_type(shader, data.ty, initializer)
    {
        report(ValidationErrorKind::VariableInitializer);
    }
}

/// Whether a variable with the flag `per_vertex` can have a vertex index.
fn is_arrayed(shader: &Shader, data: &VariableData) -> bool {
    let is_array = matches!(shader.types.get(data.ty), TypeData::Array { .. });
    let has_vertices = match shader.stage {
        ShaderStage::TessCtrl => data.mode == VariableModes::SHADER_IN || data.mode == VariableModes::SHADER_OUT,
        ShaderStage::TessEval | ShaderStage::Geometry | ShaderStage::Fragment => data.mode == VariableModes::SHADER_IN,
        ShaderStage::Mesh => data.mode == VariableModes::SHADER_OUT,
        _ => false,
    };
    is_array && has_vertices && !data.patch
}

fn is_compact_type(types: &TypeTable, data: &VariableData) -> bool {
    let array = |ty: Type| match *types.get(ty) {
        TypeData::Array { element, .. } => Some(element),
        _ => None,
    };
    let inner = if data.per_vertex { array(data.ty) } else { Some(data.ty) };
    inner.and_then(array).is_some_and(|element| matches!(types.get(element), TypeData::Vector { components: 1, .. }))
}

/// Whether there is one number for each component, none of them with more bits than the scalar.
fn fits_vector(values: &[u64], scalar: ScalarType, components: u8) -> bool {
    let bits = u32::from(scalar.bit_size());
    values.len() == usize::from(components) && values.iter().all(|v| v.checked_shr(bits).unwrap_or(0) == 0)
}

/// Whether an initialiser has the structure of a type. Walks with an explicit stack.
fn fits_type(shader: &Shader, ty: Type, initializer: &Initializer) -> bool {
    let types = &shader.types;
    let mut pending = vec![(ty, initializer)];
    while let Some((ty, initializer)) = pending.pop() {
        match (initializer, types.get(ty)) {
            (Initializer::Null, _) => {}
            (Initializer::Pointer(target), _) if shader.variables.get(*target).is_some() => {}
            // A named type with unknown fields.
            (_, TypeData::Opaque(_)) => {}
            (Initializer::Vector(values), &TypeData::Vector { scalar, components }) => {
                if !fits_vector(values, scalar, components) {
                    return false;
                }
            }
            (Initializer::Elements(columns), &TypeData::Matrix { scalar, columns: count, rows, .. }) => {
                let fits = columns.len() == usize::from(count)
                    && columns.iter().all(|column| match column {
                        Initializer::Null => true,
                        Initializer::Vector(values) => fits_vector(values, scalar, rows),
                        _ => false,
                    });
                if !fits {
                    return false;
                }
            }
            (Initializer::Elements(elements), &TypeData::Array { element, length, .. }) => {
                if elements.len() != length as usize {
                    return false;
                }
                pending.extend(elements.iter().map(|e| (element, e)));
            }
            (Initializer::Elements(elements), TypeData::Struct { fields, .. }) => {
                if elements.len() != fields.len() {
                    return false;
                }
                pending.extend(fields.iter().zip(elements).map(|(f, e)| (f.ty, e)));
            }
            _ => return false,
        }
    }
    true
}

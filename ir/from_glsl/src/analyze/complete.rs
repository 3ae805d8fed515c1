//! Requirements of a complete shader, which units that are checked alone do not have: `main`, and explicit locations
//! that exist and do not overlap.

use tgsi_ir::shader::ShaderStage;

use super::SemanticError;
use crate::program::{Primitive, Program, Storage, VariableId};
use crate::symbol::Interner;
use crate::token::TokenRange;
use crate::types::{Scalar, TypeData};
use crate::version::NEVER;

/// Locations of vertex inputs.
const ATTRIBUTES: u32 = 16;
/// Locations of fragment outputs.
const COLORS: u32 = 8;
/// Locations between stages.
const VARYINGS: u32 = 32;

/// Returns the errors of a unit as a complete shader, such as a missing `main`.
pub(crate) fn find_errors(program: &Program, interner: &Interner) -> Vec<(SemanticError, TokenRange)> {
    let mut errors = Vec::new();
    if program.main.is_none() {
        errors.push((SemanticError::NoMain, TokenRange::default()));
    }
    check_stage_layouts(program, &mut errors);
    for storage in [Storage::Input, Storage::Output] {
        check_locations(program, interner, storage, &mut errors);
    }
    check_outputs(program, interner, &mut errors);
    check_members(program, &mut errors);
    errors
}

/// Reports members of storage blocks that get no length from an index.
fn check_members(program: &Program, errors: &mut Vec<(SemanticError, TokenRange)>) {
    for block in program.arenas.block.iter().filter(|block| block.storage == Storage::Buffer) {
        let fields = program.types.fields(program.types.without_arrays(program.variable(block.variable).ty));
        let before_last = fields.get(..fields.len().saturating_sub(1)).unwrap_or_default();
        let is_open = |ty| matches!(program.types.get(ty), TypeData::Array { length: None, .. });
        for field in before_last.iter().filter(|field| is_open(field.ty)) {
            errors.push((SemanticError::Unsized { what: "a member before the last one of a block" }, field.tokens));
        }
    }
}

/// Reports outputs without location, where the version needs one for each of several.
fn check_outputs(program: &Program, interner: &Interner, errors: &mut Vec<(SemanticError, TokenRange)>) {
    if program.stage != ShaderStage::Fragment || !program.version.is_at_least(NEVER, 300) {
        return;
    }
    let outputs = program.globals.iter().map(|&id| program.variable(id));
    let outputs = outputs.filter(|variable| variable.storage == Storage::Output);
    if outputs.clone().count() < 2 {
        return;
    }
    for output in outputs.filter(|output| output.traits.location.is_none()) {
        let name = interner.spelling(output.name).to_owned();
        errors.push((SemanticError::MissingLocation { name }, output.tokens));
    }
}

/// Whether outputs belong to other streams than the first.
fn has_streams(program: &Program) -> bool {
    program.globals.iter().map(|&id| program.variable(id)).any(|variable| variable.traits.stream.unwrap_or(0) > 0)
}

/// Checks the declarations that each stage requires.
fn check_stage_layouts(program: &Program, errors: &mut Vec<(SemanticError, TokenRange)>) {
    let stage = &program.layout.stage;
    let needed: &[(bool, &'static str)] = match program.stage {
        ShaderStage::Geometry => &[
            (stage.input.is_none(), "the input primitive, such as `layout(triangles) in;`"),
            (stage.output.is_none(), "the output primitive, such as `layout(triangle_strip) out;`"),
            (
                stage.output != Some(Primitive::Points) && has_streams(program),
                "points as output primitive, which shaders with several streams have",
            ),
            (stage.max_vertices.is_none(), "the number of vertices, such as `layout(max_vertices = 3) out;`"),
        ],
        ShaderStage::TessCtrl => {
            &[(stage.vertices.is_none(), "the number of vertices, such as `layout(vertices = 3) out;`")]
        }
        ShaderStage::TessEval => &[(stage.input.is_none(), "the primitive, such as `layout(triangles) in;`")],
        ShaderStage::Compute => &[(
            stage.local_size == [None; 3] && !stage.is_size_variable,
            "the size of workgroups, such as `layout(local_size_x = 1) in;`",
        )],
        _ => &[],
    };
    let missing = needed.iter().filter(|(is_missing, _)| *is_missing);
    errors.extend(missing.map(|&(_, what)| (SemanticError::MissingLayout { what }, TokenRange::default())));
}

/// Types of components that may share a location: integers of both signs may.
fn component_class(program: &Program, id: VariableId) -> Option<Scalar> {
    let scalar = program.types.scalar(program.types.without_arrays(program.type_of_vertex(id)))?;
    Some(if scalar == Scalar::Uint { Scalar::Int } else { scalar })
}

/// Checks the explicit locations of inputs or outputs.
fn check_locations(
    program: &Program,
    interner: &Interner,
    storage: Storage,
    errors: &mut Vec<(SemanticError, TokenRange)>,
) {
    let (what, limit) = match (program.stage, storage) {
        (ShaderStage::Vertex, Storage::Input) => ("locations of vertex inputs", ATTRIBUTES),
        (ShaderStage::Fragment, Storage::Output) => ("locations of fragment outputs", COLORS),
        _ => ("locations between stages", VARYINGS),
    };
    // Two attributes may have one location: a shader reads one of them at a time.
    let may_overlap = program.stage == ShaderStage::Vertex && storage == Storage::Input && !program.version.is_es();
    // By index, location and component.
    let mut taken = [[[None::<VariableId>; 4]; VARYINGS as usize]; 2];
    for &id in &program.globals {
        let variable = program.variable(id);
        let Some(first) = variable.traits.location.filter(|_| variable.storage == storage) else { continue };
        let is_attribute = program.stage == ShaderStage::Vertex && storage == Storage::Input;
        let locations = if is_attribute { program.types.attribute_locations(variable.ty) } else { program.slots(id) };
        let end = first.saturating_add(locations.max(1));
        if end > limit {
            errors.push((SemanticError::Limit { what, limit: limit.into() }, variable.tokens));
            continue;
        }
        let index = variable.traits.index.unwrap_or(0) as usize;
        let Some(taken) = taken.get_mut(index).and_then(|taken| taken.get_mut(first as usize..end as usize)) else {
            continue;
        };
        let parts = || {
            let slots = taken.iter().zip(0..);
            slots.flat_map(|(parts, slot)| parts.get(program.components(id, slot)).unwrap_or(parts))
        };
        let other = parts().flatten().next().copied();
        let sharing = || taken.iter().flatten().flatten().copied();
        let class = component_class(program, id);
        let other = other.or_else(|| sharing().find(|&other| component_class(program, other) != class));
        for (parts, slot) in taken.iter_mut().zip(0..) {
            if let Some(parts) = parts.get_mut(program.components(id, slot)) {
                parts.fill(Some(id));
            }
        }
        if let Some(other) = other.filter(|_| !may_overlap) {
            let [name, other] = [id, other].map(|id| interner.spelling(program.variable(id).name).to_owned());
            errors.push((SemanticError::LocationOverlap { name, other }, variable.tokens));
        }
    }
}

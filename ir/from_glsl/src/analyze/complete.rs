//! Requirements of a complete shader, which units that are checked alone do not have: `main`, and explicit locations
//! that exist and do not overlap.

use tgsi_ir::shader::ShaderStage;

use super::SemanticError;
use crate::program::{Program, Storage, VariableId};
use crate::symbol::Interner;
use crate::token::TokenRange;
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
    for storage in [Storage::Input, Storage::Output] {
        check_locations(program, interner, storage, &mut errors);
    }
    check_outputs(program, interner, &mut errors);
    errors
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
    // By index and location.
    let mut taken = [[None::<VariableId>; VARYINGS as usize]; 2];
    for &id in &program.globals {
        let variable = program.variable(id);
        let Some(first) = variable.traits.location.filter(|_| variable.storage == storage) else { continue };
        let end = first.saturating_add(program.types.summary(variable.ty).registers.max(1));
        if end > limit {
            errors.push((SemanticError::Limit { what, limit: limit.into() }, variable.tokens));
            continue;
        }
        let index = variable.traits.index.unwrap_or(0) as usize;
        let Some(taken) = taken.get_mut(index).and_then(|taken| taken.get_mut(first as usize..end as usize)) else {
            continue;
        };
        let other = taken.iter().flatten().next().copied();
        taken.fill(Some(id));
        if let Some(other) = other.filter(|_| !may_overlap) {
            let [name, other] = [id, other].map(|id| interner.spelling(program.variable(id).name).to_owned());
            errors.push((SemanticError::LocationOverlap { name, other }, variable.tokens));
        }
    }
}

//! Links the stages of a pipeline by the names of their variables.
//!
//! - Outputs of a stage and inputs of the next with one name are one variable: their types and qualifiers must agree, and
//!   they get the same slots. Uniforms of one name must agree between all stages.
//! - Slots are assigned in the order of the producer's declarations: first to variables that both stages use, then to
//!   the others, so that superfluous declarations take no slot from them. Explicit locations are kept.

mod assign;
mod blocks;
mod compare;
mod error;
mod packing;
mod rules;
mod separable;
#[cfg(test)]
mod tests;

pub(crate) use error::LinkError;

use rustc_hash::FxHashMap;
use tgsi_ir::shader::ShaderStage;

use crate::builtins::variables::Role;
use crate::keyword::Keyword;
use crate::program::{Constant, Interpolation, Program, Storage, Variable, VariableId};
use crate::stage::{StageUnit, stage_name};
use crate::token::TokenRange;
use assign::assign;
use compare::{Difference, difference};

/// Slots between stages.
const SLOTS: u32 = 32;

/// Slots of the variables between a stage and its neighbours, from `VAR0`.
pub(crate) type Slots = FxHashMap<VariableId, u32>;

/// The first version in which inputs of fragment shaders that are not written are not an error.
const ALLOWS_UNWRITTEN: u16 = 130;
/// The first version in which `gl_Position` need not be written.
const ALLOWS_NO_POSITION: u16 = 140;
/// The first versions in which qualifiers of both stages may differ.
const ALLOWS_CENTROID: u16 = 430;
const ALLOWS_INVARIANT: (u16, u16) = (420, 300);
const ALLOWS_INTERPOLATION: u16 = 440;

/// Matches all stages, which are in pipeline order, reports errors, and assigns slots.
pub(crate) fn link(stages: &mut [StageUnit]) -> Vec<Slots> {
    let mut slots = vec![Slots::default(); stages.len()];
    rules::check_stages(stages);
    rules::check_uniform_locations(stages);
    for second in 1..stages.len() {
        let (before, after) = stages.split_at_mut(second);
        let Some(consumer) = after.first_mut() else { break };
        for producer in before.iter_mut() {
            check_versions(producer, consumer);
            check_uniforms(producer, consumer);
            blocks::check_memory_blocks(producer, consumer);
            rules::check_bindings(producer, consumer);
            share_initial_values(producer, consumer);
            share_initial_values(consumer, producer);
        }
        let (Some(producer), Some([of_producer, of_consumer])) =
            (before.last_mut(), slots.get_mut(second - 1..=second))
        else {
            break;
        };
        blocks::check_blocks_between(producer, consumer);
        rules::check_per_vertex(producer, consumer);
        rules::check_colors(producer, consumer);
        check_varyings(producer, consumer);
        check_builtins(producer, consumer);
        separable::check_exact(producer, consumer);
        let is_by_order = separable::is_loose(producer, consumer) && separable::has_unmatched(producer, consumer);
        if !is_by_order {
            assign(producer, consumer, of_producer, of_consumer);
        }
    }
    slots
}

/// A global variable of a stage.
type Global<'a> = (VariableId, &'a Variable);

/// The variables of a storage in the order of declaration.
fn globals(program: &Program, storage: Storage) -> impl Iterator<Item = Global<'_>> {
    let variables = program.globals.iter().map(|&id| (id, program.variable(id)));
    // Blocks in memory are compared by the names of the blocks.
    let is_block = move |variable: &Variable| variable.block.is_some() && storage == Storage::Uniform;
    variables.filter(move |(_, variable)| variable.storage == storage && !is_block(variable))
}

/// The variables of a storage by name.
fn by_name(stage: &StageUnit, storage: Storage) -> FxHashMap<&str, Global<'_>> {
    globals(&stage.program, storage).map(|global| (stage.interner.spelling(global.1.name), global)).collect()
}

/// Whether the code that is left uses a variable.
fn is_used(stage: &StageUnit, id: VariableId) -> bool {
    stage.used.contains(&id)
}

/// Desktop and ES shaders cannot be in one pipeline, nor ES shaders of different versions.
fn check_versions(producer: &StageUnit, consumer: &mut StageUnit) {
    let [first, second] = [producer.program.version, consumer.program.version];
    if first.is_es() != second.is_es() || first.is_es() && first.number != second.number {
        let error = LinkError::Version {
            found: second.to_string(),
            other: stage_name(producer.program.stage),
            expected: first.to_string(),
        };
        consumer.report(&error, TokenRange::default());
    }
}

/// Uniforms of one name have one type, precision and initial value.
fn check_uniforms(producer: &StageUnit, consumer: &mut StageUnit) {
    let mut errors = Vec::new();
    {
        let others = by_name(producer, Storage::Uniform);
        let stage = stage_name(producer.program.stage);
        for (id, variable) in globals(&consumer.program, Storage::Uniform) {
            let name = consumer.interner.spelling(variable.name);
            let Some(&(other_id, other)) = others.get(name) else { continue };
            let both_used = is_used(producer, other_id) && is_used(consumer, id);
            let is_strict = both_used || consumer.program.version.number >= 300;
            if let Some(found) = difference([producer, consumer], [other, variable], is_strict) {
                errors.push((found.error(name, stage), variable.tokens));
                continue;
            }
            if let (Some(first), Some(second)) = (other.value, variable.value)
                && producer.program.constant(first).bits != consumer.program.constant(second).bits
            {
                errors.push((LinkError::Initializer { name: name.to_owned(), other: stage }, variable.tokens));
            }
        }
    }
    errors.iter().for_each(|(error, tokens)| consumer.report(error, *tokens));
}

/// Gives uniforms without initial value that of the same uniform in another stage.
fn share_initial_values(from: &StageUnit, to: &mut StageUnit) {
    let others = by_name(from, Storage::Uniform);
    let mut found = Vec::new();
    for (id, variable) in globals(&to.program, Storage::Uniform) {
        let other = others.get(to.interner.spelling(variable.name)).filter(|_| variable.value.is_none());
        if let Some(value) = other.and_then(|(_, other)| other.value) {
            found.push((id, Constant { ty: variable.ty, bits: from.program.constant(value).bits.clone() }));
        }
    }
    for (id, value) in found {
        to.program.set_initial_value(id, value);
    }
}

/// Inputs that a stage reads are outputs of the stage before, of the same type and with the same qualifiers.
fn check_varyings(producer: &StageUnit, consumer: &mut StageUnit) {
    let mut errors = Vec::new();
    {
        let outputs = by_name(producer, Storage::Output);
        let stage = stage_name(producer.program.stage);
        let version = consumer.program.version;
        let is_loose = separable::is_loose(producer, consumer);
        let located = outputs.values().filter_map(|&(id, output)| Some((output.traits.location?, id, output)));
        let located: Vec<(u32, VariableId, &Variable)> = located.collect();
        for (id, input) in globals(&consumer.program, Storage::Input) {
            let name = consumer.interner.spelling(input.name);
            if let Some(location) = input.traits.location {
                // Explicit locations match, whatever the names are.
                let same = |&&(first, _, output): &&(u32, VariableId, &Variable)| {
                    first == location && output.traits.component.unwrap_or(0) == input.traits.component.unwrap_or(0)
                };
                let end = location.saturating_add(consumer.program.slots(id));
                let overlaps = |&&(first, other, _): &&(u32, VariableId, &Variable)| {
                    let mut common = first.max(location)..end.min(first.saturating_add(producer.program.slots(other)));
                    common.any(|slot| {
                        let others = producer.program.components(other, slot - first);
                        let components = consumer.program.components(id, slot - location);
                        others.start < components.end && components.start < others.end
                    })
                };
                let exact = located.iter().find(same);
                let found = exact.or_else(|| located.iter().find(overlaps));
                let is_wrong = |&&(_, output_id, output): &&(u32, VariableId, &Variable)| {
                    let of_vertex = [
                        &Variable { ty: producer.program.type_of_vertex(output_id), ..output.clone() },
                        &Variable { ty: consumer.program.type_of_vertex(id), ..input.clone() },
                    ];
                    exact.is_none() || difference([producer, consumer], of_vertex, false).is_some()
                };
                if input.is_read
                    && let Some(&(_, _, output)) = found.filter(is_wrong)
                {
                    let name = name.to_owned();
                    let found = consumer.program.types.name(consumer.program.type_of_vertex(id), &consumer.interner);
                    let expected = producer.program.types.name(output.ty, &producer.interner);
                    errors.push((LinkError::Type { name, found, other: stage, expected }, input.tokens));
                }
                if found.is_some() {
                    continue;
                }
            }
            // Two locations that differ are two variables.
            let is_same =
                |(_, output): &&Global<'_>| input.traits.location.is_none() || output.traits.location.is_none();
            let Some(&(output_id, output)) = outputs.get(name).filter(is_same) else {
                if input.is_read && !is_loose {
                    let error = LinkError::Undeclared { name: name.to_owned(), producer: stage };
                    errors.push((error, input.tokens));
                }
                continue;
            };
            let of_vertex = [
                &Variable { ty: producer.program.type_of_vertex(output_id), ..output.clone() },
                &Variable { ty: consumer.program.type_of_vertex(id), ..input.clone() },
            ];
            if let Some(found) = difference([producer, consumer], of_vertex, false) {
                // A variable that a stage declares and does not use matches nothing.
                if input.is_read || output.is_written {
                    errors.push((found.error(name, stage), input.tokens));
                }
                continue;
            }
            if consumer.program.stage == ShaderStage::Fragment && output.traits.stream.unwrap_or(0) > 0 {
                let (found, expected) = ("an input".to_owned(), "of another stream".to_owned());
                errors.push((
                    LinkError::Qualifier { name: name.to_owned(), found, other: stage, expected },
                    input.tokens,
                ));
                continue;
            }
            let is_unwritten = !output.is_written && is_used(consumer, id) && !is_used(producer, output_id);
            if is_unwritten && !version.is_es() && version.number < ALLOWS_UNWRITTEN {
                let error = LinkError::Unwritten { name: name.to_owned(), producer: stage };
                errors.push((error, input.tokens));
                continue;
            }
            if let Some((found, expected)) = other_qualifier(&consumer.program, output, input) {
                let name = name.to_owned();
                errors.push((LinkError::Qualifier { name, found, other: stage, expected }, input.tokens));
            }
        }
    }
    errors.iter().for_each(|(error, tokens)| consumer.report(error, *tokens));
}

/// The first qualifier in which an output and an input differ, where the version does not allow that.
fn other_qualifier(program: &Program, output: &Variable, input: &Variable) -> Option<(String, String)> {
    let version = program.version;
    let named =
        |is: bool, keyword: Keyword| if is { keyword.name().to_owned() } else { format!("not {}", keyword.name()) };
    let pair = |keyword: Keyword, found: bool, expected: bool| Some((named(found, keyword), named(expected, keyword)));
    let [first, second] = [output.traits, input.traits];
    if first.centroid != second.centroid && !version.is_es() && version.number < ALLOWS_CENTROID {
        return pair(Keyword::Centroid, second.centroid, first.centroid);
    }
    if first.sample != second.sample && version.number < ALLOWS_CENTROID {
        return pair(Keyword::Sample, second.sample, first.sample);
    }
    let (desktop, es) = ALLOWS_INVARIANT;
    if first.invariant != second.invariant && !version.is_at_least(desktop, es) {
        return pair(Keyword::Invariant, second.invariant, first.invariant);
    }
    if first.patch != second.patch {
        return pair(Keyword::Patch, second.patch, first.patch);
    }
    if first.interpolation != second.interpolation && version.number < ALLOWS_INTERPOLATION {
        let name = |interpolation| match interpolation {
            Interpolation::Smooth => "smooth",
            Interpolation::Flat => "flat",
            Interpolation::Noperspective => "noperspective",
        };
        return Some((name(second.interpolation).to_owned(), name(first.interpolation).to_owned()));
    }
    None
}

/// Requirements on the variables of the language.
fn check_builtins(producer: &StageUnit, consumer: &mut StageUnit) {
    let builtin = |stage: &StageUnit, name: &str| {
        let mut globals = stage.program.globals.iter().map(|&id| stage.program.variable(id));
        globals.find(|variable| stage.interner.spelling(variable.name) == name).cloned()
    };
    let version = consumer.program.version;
    if producer.program.stage != ShaderStage::Vertex {
        return;
    }
    let of_producer = producer.program.version;
    if !of_producer.is_es() && of_producer.number < ALLOWS_NO_POSITION {
        let writes = |variable: &Variable| match variable.storage {
            Storage::Builtin(builtin) => {
                matches!(builtin.role(version), Role::Output(_))
                    && builtin.name() == "gl_Position"
                    && variable.is_written
            }
            _ => false,
        };
        let mut globals = producer.program.globals.iter().map(|&id| producer.program.variable(id));
        if !globals.any(writes) {
            consumer.report(&LinkError::NoPosition, TokenRange::default());
        }
    }
    // The specification of ES 1.00, section "Invariance and linkage".
    if version.is_es() && version.number == 100 {
        for (input, output) in [("gl_FragCoord", "gl_Position"), ("gl_PointCoord", "gl_PointSize")] {
            let Some(input) = builtin(consumer, input).filter(|variable| variable.traits.invariant) else { continue };
            if builtin(producer, output).is_none_or(|variable| !variable.traits.invariant) {
                let name = consumer.interner.spelling(input.name).to_owned();
                let error = LinkError::Qualifier {
                    name,
                    found: Keyword::Invariant.name().to_owned(),
                    other: stage_name(producer.program.stage),
                    expected: format!("`{output}` is not"),
                };
                consumer.report(&error, input.tokens);
            }
        }
    }
}

impl Difference {
    /// The error of a variable with this difference.
    fn error(self, name: &str, other: &'static str) -> LinkError {
        let name = name.to_owned();
        match self {
            Difference::Type { found, expected } => LinkError::Type { name, found, other, expected },
            Difference::Fields(difference) => LinkError::Struct { name, other, difference },
            Difference::Precision { found, expected } => LinkError::Qualifier { name, found, other, expected },
        }
    }
}

//! Rules on the stages of a pipeline as a whole, and on variables of the language and uniforms that stages share.

use rustc_hash::FxHashMap;
use tgsi_ir::shader::ShaderStage;

use super::{LinkError, globals};
use crate::program::{Interpolation, Storage, Variable};
use crate::stage::{StageUnit, stage_name};
use crate::token::TokenRange;

/// Colours that are redeclared together: those of outputs, and that of the input.
const COLORS: [([&str; 2], &str); 2] = [
    (["gl_FrontColor", "gl_BackColor"], "gl_Color"),
    (["gl_FrontSecondaryColor", "gl_BackSecondaryColor"], "gl_SecondaryColor"),
];

/// Checks that the stages can be one pipeline: geometry and tessellation shaders need a vertex shader, tessellation
/// control shaders an evaluation shader, and compute shaders are alone.
pub(super) fn check_stages(stages: &mut [StageUnit]) {
    let has = |stages: &[StageUnit], stage: ShaderStage| stages.iter().any(|unit| unit.program.stage == stage);
    if stages.len() < 2 {
        return;
    }
    let mut missing = None;
    if has(stages, ShaderStage::Compute) {
        missing = Some((ShaderStage::Compute, "no other stage"));
    } else if has(stages, ShaderStage::TessCtrl) && !has(stages, ShaderStage::TessEval) {
        missing = Some((ShaderStage::TessCtrl, "a tessellation evaluation shader"));
    } else if !has(stages, ShaderStage::Vertex) {
        let needing = [ShaderStage::Geometry, ShaderStage::TessCtrl, ShaderStage::TessEval];
        let first = needing.into_iter().find(|&stage| has(stages, stage));
        missing = first.map(|stage| (stage, "a vertex shader"));
    }
    let Some((stage, needed)) = missing else { return };
    if stages.iter().any(|unit| unit.is_separable || unit.is_separate) && needed == "a vertex shader" {
        return;
    }
    if let Some(unit) = stages.iter_mut().find(|unit| unit.program.stage == stage) {
        unit.report(&LinkError::Stages { stage: stage_name(stage), needed }, TokenRange::default());
    }
}

/// A variable of the language in a stage, by name.
fn builtin<'s>(stage: &'s StageUnit, name: &str) -> Option<&'s Variable> {
    let mut globals = stage.program.globals.iter().map(|&id| stage.program.variable(id));
    globals.find(|variable| {
        matches!(variable.storage, Storage::Builtin(_)) && stage.interner.spelling(variable.name) == name
    })
}

/// Colours that are used have the same interpolation in both stages.
pub(super) fn check_colors(producer: &StageUnit, consumer: &mut StageUnit) {
    if consumer.program.stage != ShaderStage::Fragment {
        return;
    }
    let qualifier = |variable: &Variable| match (variable.traits.has_interpolation, variable.traits.interpolation) {
        (false, _) => "without interpolation",
        (true, Interpolation::Smooth) => "smooth",
        (true, Interpolation::Flat) => "flat",
        (true, Interpolation::Noperspective) => "noperspective",
    };
    let mut errors = Vec::new();
    for (outputs, input) in COLORS {
        let written = outputs.iter().filter_map(|name| Some((*name, builtin(producer, name)?)));
        let mut used: Vec<(&str, &Variable)> = written.filter(|(_, variable)| variable.is_written).collect();
        let read = builtin(consumer, input).filter(|variable| variable.is_read);
        used.extend(read.map(|variable| (input, variable)));
        let Some(&(_, first)) = used.first() else { continue };
        if let Some(&(name, other)) = used.iter().find(|(_, variable)| qualifier(variable) != qualifier(first)) {
            let (found, expected) = (qualifier(other).to_owned(), qualifier(first).to_owned());
            let place = read.map_or(TokenRange::default(), |variable| variable.tokens);
            let stage = stage_name(producer.program.stage);
            errors.push((LinkError::Qualifier { name: name.to_owned(), found, other: stage, expected }, place));
        }
    }
    errors.iter().for_each(|(error, tokens)| consumer.report(error, *tokens));
}

/// Uniforms and blocks of one name have one binding and one location.
pub(super) fn check_bindings(producer: &StageUnit, consumer: &mut StageUnit) {
    let named = |stage: &StageUnit| -> FxHashMap<String, (Option<u32>, Option<u32>, TokenRange)> {
        let program = &stage.program;
        let uniforms = globals(program, Storage::Uniform)
            .map(|(_, variable)| (stage.interner.spelling(variable.name).to_owned(), variable));
        let blocks =
            program.arenas.block.iter().filter(|block| matches!(block.storage, Storage::Uniform | Storage::Buffer));
        let blocks = blocks.map(|block| {
            // Blocks and uniforms have separate names.
            (format!("block {}", stage.interner.spelling(block.name)), program.variable(block.variable))
        });
        let all = uniforms.chain(blocks);
        all.map(|(name, variable)| (name, (variable.traits.binding, variable.traits.location, variable.tokens)))
            .collect()
    };
    let (first, second) = (named(producer), named(consumer));
    let other = stage_name(producer.program.stage);
    let mut errors = Vec::new();
    for (name, (binding, location, tokens)) in second {
        let Some(&(of_binding, of_location, _)) = first.get(&name) else { continue };
        for (what, found, expected) in [("binding", binding, of_binding), ("location", location, of_location)] {
            if let (Some(found), Some(expected)) = (found, expected)
                && found != expected
            {
                let name = name.trim_start_matches("block ").to_owned();
                let (found, expected) = (format!("at {what} {found}"), format!("at {what} {expected}"));
                errors.push((LinkError::Qualifier { name, found, other, expected }, tokens));
            }
        }
    }
    errors.sort_by_key(|(_, tokens)| tokens.first);
    errors.iter().for_each(|(error, tokens)| consumer.report(error, *tokens));
}

/// Explicit locations of uniforms do not overlap, in all stages.
pub(super) fn check_uniform_locations(stages: &mut [StageUnit]) {
    let mut ranges: Vec<(u32, u32, String, usize, TokenRange)> = Vec::new();
    for (number, stage) in stages.iter().enumerate() {
        for (_, variable) in globals(&stage.program, Storage::Uniform) {
            let Some(first) = variable.traits.location else { continue };
            let count = stage.program.types.summary(variable.ty).locations.max(1);
            let name = stage.interner.spelling(variable.name).to_owned();
            ranges.push((first, first.saturating_add(count), name, number, variable.tokens));
        }
    }
    ranges.sort_by(|a, b| (a.0, a.1, &a.2).cmp(&(b.0, b.1, &b.2)));
    // The range that reaches farthest of those before, and its name.
    let mut reached: Option<(u32, String)> = None;
    let mut errors = Vec::new();
    for (first, end, name, stage, tokens) in ranges {
        match &reached {
            Some((last, other)) if first < *last && *other != name => {
                errors.push((stage, LinkError::LocationOverlap { name, other: other.clone() }, tokens));
            }
            Some((last, _)) if end <= *last => {}
            _ => reached = Some((end, name)),
        }
    }
    for (stage, error, tokens) in errors {
        if let Some(stage) = stages.get_mut(stage) {
            stage.report(&error, tokens);
        }
    }
}

/// Redeclarations of `gl_PerVertex` in two stages have the same members, and a stage that uses the members redeclares
/// them if the other one does, or if the program is separable.
pub(super) fn check_per_vertex(producer: &StageUnit, consumer: &mut StageUnit) {
    let stage = consumer.program.stage;
    if !matches!(stage, ShaderStage::Geometry | ShaderStage::TessCtrl | ShaderStage::TessEval) {
        return;
    }
    let names = |unit: &StageUnit, is_input: bool| {
        let redeclared = unit.program.per_vertex.get(usize::from(is_input)).and_then(Option::as_ref);
        redeclared.map(|names| {
            let mut names: Vec<String> = names.iter().map(|&name| unit.interner.spelling(name).to_owned()).collect();
            names.sort();
            names
        })
    };
    let uses = consumer.program.globals.iter().map(|&id| consumer.program.variable(id)).any(|variable| {
        let is_member = consumer.interner.spelling(variable.name).starts_with("gl_in.");
        is_member && variable.is_read
    });
    let difference = match (names(producer, false), names(consumer, true)) {
        (Some(first), Some(second)) if first != second => "its members differ",
        (Some(_), None) if uses => "it is not redeclared",
        (None, None) if uses && consumer.is_separable => "separable programs redeclare it",
        _ => return,
    };
    let other = stage_name(producer.program.stage);
    let (name, difference) = ("gl_PerVertex".to_owned(), difference.to_owned());
    consumer.report(&LinkError::Block { name, other, difference }, TokenRange::default());
}

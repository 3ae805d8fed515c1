//! Separable programs in a pipeline. Those of GLSL ES match exactly: each output has an input, and each input an output,
//! of the same location or name, with the same type, precision and interpolation.

use rustc_hash::FxHashMap;

use super::compare::difference;
use super::{Global, LinkError, globals};
use crate::program::{Storage, Variable};
use crate::stage::{StageUnit, stage_name};
use crate::token::TokenRange;

/// The identity of a variable between programs.
#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Location(u32, u32),
    Name(&'a str),
}

/// The variables of a storage that are not in blocks.
fn by_key(stage: &StageUnit, storage: Storage) -> Vec<(Key<'_>, Global<'_>)> {
    let variables = globals(&stage.program, storage).filter(|(_, variable)| variable.block.is_none());
    let keyed = variables.map(|global| {
        let (_, variable) = global;
        let key = match variable.traits.location {
            Some(location) => Key::Location(location, variable.traits.component.unwrap_or(0)),
            None => Key::Name(stage.interner.spelling(variable.name)),
        };
        (key, global)
    });
    keyed.collect()
}

/// Whether two stages are programs that must match exactly.
pub(super) fn is_exact(producer: &StageUnit, consumer: &StageUnit) -> bool {
    producer.is_separate && consumer.is_separate && consumer.program.version.is_es()
}

/// Whether a program may read inputs that the program before does not write.
pub(super) fn is_loose(producer: &StageUnit, consumer: &StageUnit) -> bool {
    producer.is_separate && consumer.is_separate && !consumer.program.version.is_es()
}

/// Whether a program reads an input that the program before lacks.
pub(super) fn has_unmatched(producer: &StageUnit, consumer: &StageUnit) -> bool {
    let outputs = by_key(producer, Storage::Output).into_iter().collect::<FxHashMap<_, _>>();
    let inputs = by_key(consumer, Storage::Input);
    inputs.iter().any(|(key, (_, input))| input.is_read && !outputs.contains_key(key))
}

/// Checks that the interface of two separable programs matches exactly, if the language requires that.
pub(super) fn check_exact(producer: &StageUnit, consumer: &mut StageUnit) {
    if !is_exact(producer, consumer) || consumer.has_errors() {
        return;
    }
    let mut errors: Vec<(LinkError, TokenRange)> = Vec::new();
    check_variables(producer, consumer, &mut errors);
    check_blocks(producer, consumer, &mut errors);
    errors.iter().for_each(|(error, tokens)| consumer.report(error, *tokens));
}

fn check_variables(producer: &StageUnit, consumer: &StageUnit, errors: &mut Vec<(LinkError, TokenRange)>) {
    let stage = stage_name(producer.program.stage);
    let mut outputs: FxHashMap<Key<'_>, Global<'_>> = by_key(producer, Storage::Output).into_iter().collect();
    for (key, (id, input)) in by_key(consumer, Storage::Input) {
        let name = consumer.interner.spelling(input.name);
        let Some((output_id, output)) = outputs.remove(&key) else {
            errors.push((LinkError::Undeclared { name: name.to_owned(), producer: stage }, input.tokens));
            continue;
        };
        let of_vertex = [
            &Variable { ty: producer.program.type_of_vertex(output_id), ..output.clone() },
            &Variable { ty: consumer.program.type_of_vertex(id), ..input.clone() },
        ];
        if let Some(found) = difference([producer, consumer], of_vertex, true) {
            errors.push((found.error(name, stage), input.tokens));
        }
    }
    // In the order of declaration.
    for (key, (_, output)) in by_key(producer, Storage::Output) {
        if outputs.contains_key(&key) {
            let name = producer.interner.spelling(output.name).to_owned();
            errors.push((LinkError::Unmatched { name, other: stage }, TokenRange::default()));
        }
    }
}

fn check_blocks(producer: &StageUnit, consumer: &StageUnit, errors: &mut Vec<(LinkError, TokenRange)>) {
    let stage = stage_name(producer.program.stage);
    let blocks = |stage: &'_ StageUnit, storage: Storage| -> Vec<(String, TokenRange)> {
        let of_storage = stage.program.arenas.block.iter().filter(move |block| block.storage == storage);
        let named = of_storage.map(|block| (stage.interner.spelling(block.name).to_owned(), block.tokens));
        named.filter(|(name, _)| name != "gl_PerVertex").collect()
    };
    let (outputs, inputs) = (blocks(producer, Storage::Output), blocks(consumer, Storage::Input));
    let names = |list: &[(String, TokenRange)]| -> FxHashMap<String, TokenRange> { list.iter().cloned().collect() };
    let (of_producer, of_consumer) = (names(&outputs), names(&inputs));
    for (name, tokens) in inputs.into_iter().filter(|(name, _)| !of_producer.contains_key(name)) {
        errors.push((LinkError::Undeclared { name, producer: stage }, tokens));
    }
    for (name, _) in outputs.into_iter().filter(|(name, _)| !of_consumer.contains_key(name)) {
        errors.push((LinkError::Unmatched { name, other: stage }, TokenRange::default()));
    }
}

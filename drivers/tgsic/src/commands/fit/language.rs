//! The language that the drivers of targets offer, as options of front ends: reads shaders in it, and shows it as a table.

use std::collections::BTreeSet;

use tgsi_compiler::front_end::{FrontEnd, TGSI_TEXT, TGSI_TOKENS};

use super::matrix::aligned;
use crate::front_ends;
use crate::input::{ShaderError, Source};
use crate::input_shader::InputShader;
use crate::plan::Plan;

/// The readings of an input. Targets with the same language share one.
pub(super) struct Readings<'s> {
    source: &'s Source,
    /// Options of front ends in addition to those of the command line.
    definitions: &'s [String],
    /// Whether the languages of targets do not count.
    is_any: bool,
    known: Vec<(Key, Result<InputShader, ShaderError>)>,
}

/// The dependencies of a reading: the target, if the language itself depends on it, and options of the front end.
type Key = (Option<usize>, Vec<String>);

/// The error of a reading.
pub(super) enum ReadingError {
    /// The language of the target is the reason.
    Language(ShaderError),
    /// The shader is wrong for all targets.
    Shader(ShaderError),
}

impl<'s> Readings<'s> {
    /// Prepares readings of an input. With `is_any`, the languages of targets do not count.
    pub(super) fn new(source: &'s Source, definitions: &'s [String], is_any: bool) -> Readings<'s> {
        Readings { source, definitions, is_any, known: Vec::new() }
    }

    /// Returns the shader as the driver of a target reads it. `number` is that of the plan.
    pub(super) fn read(&mut self, number: usize, plan: &Plan) -> Result<&InputShader, ReadingError> {
        let options = match self.is_any {
            true => Vec::new(),
            false => plan.compiler.target().language_options(self.source.front_end.name()),
        };
        let is_bounded = !options.is_empty();
        let at = self.reading(number, plan, options);
        if let Some((_, Err(problem))) = self.known.get(at) {
            let problem = problem.clone();
            let base = if is_bounded { self.reading(number, plan, Vec::new()) } else { at };
            let base = self.known.get(base).and_then(|(_, result)| result.as_ref().err());
            return Err(match is_new(&problem, base) {
                true => ReadingError::Language(problem),
                false => ReadingError::Shader(problem),
            });
        }
        match self.known.get(at) {
            Some((_, Ok(subject))) => Ok(subject),
            _ => Err(ReadingError::Shader(ShaderError::Other("the shader cannot be read".into()))),
        }
    }

    /// Returns the place in `known` of the reading with the options of a target. Options of the command line take
    /// precedence.
    fn reading(&mut self, number: usize, plan: &Plan, options: Vec<String>) -> usize {
        let depends_on_target = self.source.is_in(&TGSI_TEXT) || self.source.is_in(&TGSI_TOKENS);
        let key = (depends_on_target.then_some(number), options);
        if let Some(at) = self.known.iter().position(|(known, _)| *known == key) {
            return at;
        }
        let own = front_ends::settings().options.iter().chain(self.definitions);
        let options: Vec<String> = key.1.iter().chain(own).cloned().collect();
        let subject = InputShader::checked(&self.source.with_front_end_options(&options), plan);
        self.known.push((key, subject.map(|(subject, _)| subject)));
        self.known.len() - 1
    }
}

/// Whether a reading has an error that another one does not have.
fn is_new(problem: &ShaderError, base: Option<&ShaderError>) -> bool {
    match (problem, base) {
        (_, None) => true,
        (ShaderError::Findings(found), Some(ShaderError::Findings(others))) => {
            found.iter().any(|finding| !others.contains(finding))
        }
        (problem, Some(other)) => problem != other,
    }
}

/// The languages of targets for a front end: a column for each target, a row for each version, constant and extension.
pub(super) struct LanguageTable<'p> {
    pub(super) front_end: &'static str,
    pub(super) targets: Vec<&'p str>,
    /// The names, and the values by target.
    pub(super) rows: Vec<(String, Vec<String>)>,
    /// The targets that accept any language.
    pub(super) unknown: Vec<&'p str>,
}

/// Returns the tables of all front ends for which any target has a language.
pub(super) fn tables(plans: &[(String, Plan)]) -> Vec<LanguageTable<'_>> {
    let of_front_end = |front_end: &&'static dyn FrontEnd| {
        let (known, unknown): (Vec<_>, Vec<_>) = plans
            .iter()
            .map(|(name, plan)| (name.as_str(), plan.compiler.target().language_options(front_end.name())))
            .partition(|(_, options)| !options.is_empty());
        let columns: Vec<Vec<Row>> = known.iter().map(|(_, options)| rows_of(options)).collect();
        let mut seen = BTreeSet::new();
        let mut names: Vec<&Row> = columns.iter().flatten().filter(|row| seen.insert(&row.name)).collect();
        // Lists differ between targets.
        names.sort_by_key(|row| row.is_listed.then_some(&row.name));
        let values = |Row { name, .. }: &Row| {
            let value = |column: &Vec<Row>| {
                let found = column.iter().find(|row| row.name == *name);
                found.map_or_else(|| "-".to_owned(), |row| row.value.clone())
            };
            (name.clone(), columns.iter().map(value).collect())
        };
        let targets = known.iter().map(|(name, _)| *name).collect();
        let rows = names.into_iter().map(values).collect();
        let unknown = unknown.iter().map(|(name, _)| *name).collect();
        LanguageTable { front_end: front_end.name(), targets, rows, unknown }
    };
    tgsi_registry::front_ends().iter().map(of_front_end).filter(|table| !table.targets.is_empty()).collect()
}

/// Returns the languages of targets as text.
pub(super) fn render(plans: &[(String, Plan)]) -> String {
    let text_of = |LanguageTable { front_end, targets, rows, unknown }: LanguageTable<'_>| {
        let heading = std::iter::once(front_end).chain(targets).map(str::to_owned).collect();
        let rows = rows.into_iter().map(|(name, values)| std::iter::once(name).chain(values).collect());
        let text = aligned(&std::iter::once(heading).chain(rows).collect::<Vec<Vec<String>>>());
        match unknown.as_slice() {
            [] => text,
            names => format!("{text}any language: {}\n", names.join(", ")),
        }
    };
    tables(plans).into_iter().map(text_of).collect()
}

/// An option as a row of the table.
struct Row {
    name: String,
    value: String,
    /// Whether it is an item of a list, which has the value `yes`.
    is_listed: bool,
}

fn rows_of(options: &[String]) -> Vec<Row> {
    let mut rows = Vec::new();
    for option in options {
        let (name, value) = option.split_once('=').unwrap_or((option, "yes"));
        let row =
            |name: &str, value: &str, is_listed| Row { name: name.to_owned(), value: value.to_owned(), is_listed };
        match value.split_once('=') {
            Some((constant, value)) => rows.push(row(constant, value, false)),
            None if value.contains('+') => rows.extend(value.split('+').map(|item| row(item, "yes", true))),
            None => rows.push(row(name, value, false)),
        }
    }
    rows
}

//! The page of `fit --html`: the matrix, and for each shader the counts, the findings and the source with the instructions
//! of each line. It is a self-contained [page](crate::page) with its data embedded once, as JSON.

use std::collections::HashMap;

use serde_json::{Value, json};
use tgsi_compiler::LimitUse;
use tgsi_diagnostics::{Diagnostic, LineIndex};

use super::language::LanguageTable;
use super::matrix::{Cell, total};
use super::measure::{Judged, Outcome};
use super::{ShaderResult, language, lines};
use crate::input::{ShaderError, Source};
use crate::page;
use crate::plan::Plan;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// Formats the page. Files that could not be read have no row.
pub(super) fn format(plans: &[(String, Plan)], results: &[ShaderResult]) -> String {
    let data = data(plans, results).to_string();
    page::fill(PAGE, |name, page| match name {
        "style" => page.push_str(page::STYLE),
        "own-style" => page.push_str(STYLE),
        "common" => page.push_str(page::COMMON),
        "script" => page.push_str(SCRIPT),
        "data" => page.push_str(&page::in_script(&data)),
        _ => {}
    })
}

/// Returns the data of the page.
fn data(plans: &[(String, Plan)], results: &[ShaderResult]) -> Value {
    let mut texts = Texts::default();
    let mut columns: Vec<Vec<Cell>> = vec![Vec::new(); plans.len()];
    let mut shaders = Vec::new();
    for (source, outcomes) in results.iter().flatten() {
        let outcomes = outcomes.as_deref().unwrap_or_default();
        let cells: Vec<Cell> = outcomes.iter().map(Cell::new).collect();
        let values = cells.iter().zip(outcomes).map(|(cell, outcome)| cell_data(cell, outcome, &mut texts));
        let values: Vec<Value> = values.collect();
        let text = (!source.has_words()).then(|| texts.number(&source.bytes));
        shaders.push(json!({
            "name": source.name(), "text": text, "cells": values,
            "findings": findings(source, plans, outcomes),
        }));
        columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
    }
    let targets = plans.iter().zip(&columns).map(|((name, _), column)| json!({ "name": name, "total": total(column) }));
    let targets: Vec<Value> = targets.collect();
    let languages: Vec<Value> = language::tables(plans).iter().map(language_data).collect();
    let version = concat!("tgsic ", env!("CARGO_PKG_VERSION"));
    json!({ "targets": targets, "shaders": shaders, "texts": texts.texts, "languages": languages, "version": version })
}

/// Different texts of shaders.
#[derive(Default)]
struct Texts {
    texts: Vec<String>,
    numbers: HashMap<Vec<u8>, usize>,
}

impl Texts {
    fn number(&mut self, text: &[u8]) -> usize {
        if let Some(&known) = self.numbers.get(text) {
            return known;
        }
        self.texts.push(String::from_utf8_lossy(text).into_owned());
        self.numbers.insert(text.to_vec(), self.texts.len() - 1);
        self.texts.len() - 1
    }
}

fn cell_data(cell: &Cell, outcome: &Outcome, texts: &mut Texts) -> Value {
    let mut value = json!({ "kind": cell.kind(), "text": cell.to_text() });
    if let Outcome::Measured(judged) = outcome {
        let measurement = judged.measurement();
        let units: Vec<&str> = measurement.units().map(|limit| limit.name).collect();
        let lines = measurement.line_costs().into_iter().map(|costs| {
            let counts = units.iter().map(|name| json!(costs.count(name)));
            std::iter::once(json!(costs.line)).chain(counts).collect()
        });
        value["lines"] = Value::Array(lines.collect());
        value["units"] = units.iter().map(|name| lines::short(name)).collect();
        value["limits"] = judged.fit().limits.iter().map(limit_data).collect();
        value["text_number"] = json!(texts.number(measurement.listed_text()));
    }
    value
}

fn limit_data(limit: &LimitUse) -> Value {
    // Shaders of any size use one of them or all.
    let is_of_interface = ["constant-buffers", "colour-outputs", "address-registers"].contains(&limit.name);
    json!({
        "about": limit.about, "used": limit.used, "limit": limit.limit, "estimate": limit.is_estimate,
        "interface": is_of_interface,
    })
}

fn language_data(table: &LanguageTable) -> Value {
    let rows: Vec<Vec<&String>> =
        table.rows.iter().map(|(name, values)| std::iter::once(name).chain(values).collect()).collect();
    json!({ "title": table.front_end, "targets": table.targets, "rows": rows, "unknown": table.unknown })
}

/// Returns the findings of all targets, each once. Those that name no target get the names, if not all targets have them.
fn findings(source: &Source, plans: &[(String, Plan)], outcomes: &[Outcome]) -> Vec<Value> {
    let index = LineIndex::new(&source.bytes);
    let mut found: Vec<(Value, Vec<&str>)> = Vec::new();
    for ((target, _), outcome) in plans.iter().zip(outcomes) {
        let of_target: Vec<Value> = match outcome {
            Outcome::Measured(judged) => of_judged(judged, source, &index),
            Outcome::Language(problem) | Outcome::Error(problem) => of_problem(problem, source, &index),
            Outcome::NoLimits => Vec::new(),
        };
        for finding in of_target {
            match found.iter_mut().find(|(known, _)| *known == finding) {
                Some((_, targets)) => targets.push(target),
                None => found.push((finding, vec![target])),
            }
        }
    }
    let named = |(mut finding, targets): (Value, Vec<&str>)| {
        let message = finding["message"].as_str().unwrap_or_default();
        if targets.len() < plans.len() && !targets.iter().all(|target| message.contains(target)) {
            finding["message"] = json!(format!("{message} (for {})", targets.join(", ")));
        }
        finding
    };
    found.into_iter().map(named).collect()
}

fn of_judged(judged: &Judged, source: &Source, index: &LineIndex) -> Vec<Value> {
    let in_source = judged.in_source.iter().map(|finding| finding_data(finding, Some((source, index))));
    in_source.chain(judged.in_code.iter().map(|finding| finding_data(finding, None))).collect()
}

fn of_problem(problem: &ShaderError, source: &Source, index: &LineIndex) -> Vec<Value> {
    match problem {
        ShaderError::Findings(findings) => {
            findings.iter().map(|finding| finding_data(finding, Some((source, index)))).collect()
        }
        ShaderError::Coded(code, message) => vec![json!({ "severity": "error", "code": code.id, "message": message })],
        ShaderError::Other(message) => vec![json!({ "severity": "error", "message": message })],
    }
}

/// Returns a finding, with its place if it is in the source.
fn finding_data(finding: &Diagnostic, place: Option<(&Source, &LineIndex)>) -> Value {
    let mut value = json!({
        "severity": finding.severity.to_string(), "code": finding.code.id, "message": finding.message,
        "hint": finding.hint,
    });
    if let Some((source, index)) = place
        && !source.has_words()
    {
        let mut focused = [finding.clone()];
        source.front_end.focus(&source.bytes, &mut focused);
        let start = focused.first().map_or(finding.span.start, |finding| finding.span.start);
        let (line, column) = index.line_column(start);
        value["line"] = json!(line);
        value["column"] = json!(column);
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_refers_to_nothing() {
        [PAGE, STYLE, SCRIPT].into_iter().for_each(page::assert_self_contained);
    }
}

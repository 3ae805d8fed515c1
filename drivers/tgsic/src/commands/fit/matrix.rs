//! The matrix of `fit` for several targets: a row for each shader, a column for each target, and totals.

use tgsi_compiler::{Fit, LimitUse, Verdict};

use super::ShaderResult;
use super::lines::short;
use super::measure::Outcome;

/// A cell of a shader and a target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Cell {
    /// The target has no limits for the shader.
    NoLimits,
    /// The shader cannot be translated.
    Error,
    /// The shader is not in the language of the target's driver.
    Language,
    /// No limit is exceeded.
    Fits,
    /// Only estimates are exceeded.
    MayNotFit,
    /// The limit that is exceeded most.
    DoesNotFit(String),
}

/// Renders the matrix. Files that could not be read have no row.
pub(super) fn render(targets: &[&str], results: &[ShaderResult]) -> String {
    let mut rows = vec![row("shader".to_owned(), targets.iter().map(|&target| target.to_owned()))];
    let mut columns: Vec<Vec<Cell>> = vec![Vec::new(); targets.len()];
    for (source, outcomes) in results.iter().flatten() {
        let cells: Vec<Cell> = outcomes.iter().flatten().map(Cell::new).collect();
        rows.push(row(source.name(), cells.iter().map(Cell::to_text)));
        for (column, cell) in columns.iter_mut().zip(cells) {
            column.push(cell);
        }
    }
    rows.push(row("total".to_owned(), columns.iter().map(|column| total(column))));
    aligned(&rows)
}

fn row(name: String, cells: impl Iterator<Item = String>) -> Vec<String> {
    std::iter::once(name).chain(cells).collect()
}

impl Cell {
    pub(super) fn new(outcome: &Outcome) -> Cell {
        match outcome {
            Outcome::Language(_) => Cell::Language,
            Outcome::Error(_) => Cell::Error,
            Outcome::NoLimits => Cell::NoLimits,
            // `--deny` turns an estimate into an error.
            Outcome::Measured(judged) if judged.is_wrong() => Cell::DoesNotFit(limiting(judged.fit())),
            Outcome::Measured(judged) if judged.fit().verdict() == Verdict::Fits => Cell::Fits,
            Outcome::Measured(_) => Cell::MayNotFit,
        }
    }

    /// The name of the kind in the page.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Cell::NoLimits => "no-limits",
            Cell::Error => "error",
            Cell::Language => "language",
            Cell::Fits => "fits",
            Cell::MayNotFit => "may-not",
            Cell::DoesNotFit(_) => "does-not",
        }
    }

    pub(super) fn to_text(&self) -> String {
        match self {
            Cell::NoLimits => "-",
            Cell::Error => "error",
            Cell::Language => "language",
            Cell::Fits => "fits",
            Cell::MayNotFit => "may not",
            Cell::DoesNotFit(limit) => limit,
        }
        .to_owned()
    }
}

/// Returns the limit that is exceeded by the greatest factor, among those that determine the verdict: `alu 70/64`, or
/// the construct that the target does not take.
fn limiting(fit: &Fit) -> String {
    let verdict = fit.verdict();
    let exceeded = fit.limits.iter().filter(|limit| limit.is_exceeded() && limit.verdict() == verdict);
    let most = |limit: &LimitUse| u64::from(limit.limit.unwrap_or(u32::MAX));
    let by_factor = |a: &&LimitUse, b: &&LimitUse| {
        let product = |a: &LimitUse, b: &LimitUse| u64::from(a.used) * most(b);
        product(a, b).cmp(&product(b, a))
    };
    // Of equal ones, `max_by` returns the last.
    let Some(limit) = exceeded.rev().max_by(by_factor) else { return verdict.name().to_owned() };
    match limit.first.as_ref().and_then(|first| first.what.as_ref()) {
        Some(what) => format!("no {what}"),
        None => {
            format!("{} {}/{}", short(limit.name), limit.used, most(limit))
        }
    }
}

/// Returns the total of a target over the shaders that it has limits for.
pub(super) fn total(column: &[Cell]) -> String {
    let count = |wanted: &Cell| column.iter().filter(|cell| *cell == wanted).count();
    let shaders = column.len() - count(&Cell::NoLimits);
    match (shaders, count(&Cell::MayNotFit)) {
        (0, _) => "-".to_owned(),
        (_, 0) => format!("{} of {shaders} fit", count(&Cell::Fits)),
        (_, may_not) => format!("{} of {shaders} fit, {may_not} may not", count(&Cell::Fits)),
    }
}

/// Returns the rows as lines, with columns as wide as their longest cell.
pub(super) fn aligned(rows: &[Vec<String>]) -> String {
    let mut widths = Vec::new();
    for row in rows {
        widths.resize(row.len().max(widths.len()), 0);
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}")).collect();
        text += cells.join("  ").trim_end();
        text.push('\n');
    }
    text
}

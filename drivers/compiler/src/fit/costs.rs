//! The costs of parts of the code, by lines of the source.

use std::collections::BTreeMap;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use tgsi::shader::{Instruction, Shader};
use tgsi_diagnostics::{LineIndex, Span};

use super::{LimitUse, Measurement};

/// The cost of an instruction, in a unit in which the consumer counts instructions.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Cost {
    /// The [name](LimitUse::name) of the limit.
    pub limit: &'static str,
    /// The amount.
    pub used: u32,
    /// The position of the instruction in the code that was measured.
    pub span: Span,
    /// The position in the source of the code, if the code is a translation and the position is known.
    pub source: Option<Span>,
}

impl Cost {
    /// The cost of the part of the code at `span`.
    pub fn new(limit: &'static str, used: u32, span: Span) -> Cost {
        Cost { limit, used, span, source: None }
    }
}

/// The costs of a line of the source.
///
/// It is serialised as an object with the keys `line` (null: instructions that come from no line) and `counts`, an object
/// from names of limits to amounts above 0.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[non_exhaustive]
pub struct LineCosts {
    /// The line, from 1; `None` for instructions that come from no line.
    pub line: Option<u32>,
    /// The amounts above 0 by the [name](LimitUse::name) of their limit, in the order of the limits.
    #[serde(serialize_with = "as_map")]
    pub counts: Vec<(&'static str, u32)>,
}

fn as_map<S: Serializer>(counts: &[(&'static str, u32)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(counts.len()))?;
    for (name, used) in counts {
        map.serialize_entry(name, used)?;
    }
    map.end()
}

impl LineCosts {
    /// The amount for a limit.
    pub fn count(&self, limit: &str) -> u32 {
        self.counts.iter().find(|(name, _)| *name == limit).map_or(0, |&(_, used)| used)
    }
}

impl Measurement {
    /// The text for the lines of [`line_costs`](Self::line_costs): the source if the code is the translation of a text,
    /// otherwise the text that was measured.
    pub fn listed_text(&self) -> &[u8] {
        self.source.as_deref().unwrap_or(&self.text)
    }

    /// The limits that count instructions: the units of [`LineCosts`].
    pub fn units(&self) -> impl Iterator<Item = &LimitUse> {
        self.fit.limits.iter().filter(|limit| limit.counts_instructions)
    }

    /// Returns the costs of all lines that have any, in ascending order, and last those that come from no line. For each
    /// of the [units](Self::units), the sum is the [amount used](LimitUse::used).
    pub fn line_costs(&self) -> Vec<LineCosts> {
        let index = LineIndex::new(self.listed_text());
        let units: Vec<&'static str> = self.units().map(|limit| limit.name).collect();
        // Costs without a line are last.
        let mut by_line: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for cost in &self.fit.costs {
            let span = if self.source.is_some() { cost.source.unwrap_or_default() } else { cost.span };
            let line = if span.end > span.start { index.line_column(span.start).0 } else { u32::MAX };
            let counts = by_line.entry(line).or_insert_with(|| vec![0; units.len()]);
            let unit = units.iter().position(|name| *name == cost.limit);
            if let Some(count) = unit.and_then(|unit| counts.get_mut(unit)) {
                *count = count.saturating_add(cost.used);
            }
        }
        let of_line = |(line, counts): (u32, Vec<u32>)| LineCosts {
            line: (line != u32::MAX).then_some(line),
            counts: units.iter().copied().zip(counts).filter(|(_, used)| *used > 0).collect(),
        };
        by_line.into_iter().map(of_line).filter(|costs| !costs.counts.is_empty()).collect()
    }
}

/// Adds their places in the source to costs of a translation. `printed` is the shader that was read from the text of
/// `translated`, so both have the same instructions. Instructions that the compiler adds have no place.
pub(super) fn add_places(costs: &mut [Cost], printed: &Shader, translated: &Shader) {
    for cost in costs.iter_mut() {
        let span = cost.span;
        let next = printed.instructions.partition_point(|instruction| instruction.span.start <= span.start);
        let is_declaration = printed.instructions.first().is_none_or(|first| span.start < first.span.start);
        cost.source = if is_declaration {
            super::source_of(span, printed, translated)
        } else {
            let instruction: Option<&Instruction> = next.checked_sub(1).and_then(|at| translated.instructions.get(at));
            instruction.map(|instruction| instruction.span).filter(|span| span.end > span.start)
        };
    }
}

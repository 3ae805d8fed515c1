//! How much of each limit of its consumer code uses, and where it first exceeds one.
//!
//! A [`Target`](crate::Target) counts, because it models its consumer's compiler; this module holds the
//! target-independent part. [`Compiler::measure`] adds positions in the text of the code and in the source.

mod costs;

use std::fmt;

use serde::{Serialize, Serializer};
use tgsi::shader::{Instruction, Register, Shader};
use tgsi::tables::Processor;
use tgsi::text::PrintOptions;
use tgsi_diagnostics::Span;
use tgsi_diagnostics::{Diagnostic, LineIndex, Severity};

use crate::compiler::Compiler;
use crate::driver::Code;

pub use costs::{Cost, LineCosts};

/// A shader's use of the limits of a consumer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fit {
    /// The consumer: the name of a target profile.
    pub target: &'static str,
    /// The stage.
    pub processor: Processor,
    /// The limits, in display order.
    pub limits: Vec<LimitUse>,
    /// The costs of single instructions, for limits that [count them](LimitUse::counts_instructions). For each of these,
    /// the sum is the amount used.
    pub costs: Vec<Cost>,
}

/// A shader's use of one limit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LimitUse {
    /// A machine-readable name in kebab case: `alu-instructions`.
    pub name: &'static str,
    /// The display name: `ALU instructions`.
    pub about: &'static str,
    /// The amount that the shader uses.
    pub used: u32,
    /// The amount available; `None` if the consumer has no bound.
    pub limit: Option<u32>,
    /// The use or the limit is not known exactly, so exceeding it need not fail.
    pub is_estimate: bool,
    /// The source of the figure.
    pub source: &'static str,
    /// The consumer's reaction to a shader that uses more.
    pub beyond: &'static str,
    /// The first excess; `None` unless the limit is exceeded.
    pub first: Option<Excess>,
    /// Whether the amount is the sum of [costs](Fit::costs) of instructions.
    pub counts_instructions: bool,
}

/// The first excess of a limit. Unknown parts are `None`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Excess {
    /// The position of an instruction or declaration in the text of the code that was measured; `None` for code without
    /// text, such as machine code.
    pub span: Option<Span>,
    /// The number of an instruction, from 0, in code without text.
    pub instruction: Option<u32>,
    /// The position in the source of the code, if the code is a translation.
    pub source: Option<Span>,
    /// The construct, if the error is not about an amount: an opcode that the consumer does not support.
    pub what: Option<String>,
}

/// Whether a shader fits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Verdict {
    /// No limit is exceeded.
    Fits,
    /// Only limits that are [estimated](LimitUse::is_estimate) are exceeded.
    MayNotFit,
    /// A limit is exceeded.
    DoesNotFit,
}

impl Verdict {
    /// The verdict as part of a sentence: `fits`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Fits => "fits",
            Verdict::MayNotFit => "may not fit",
            Verdict::DoesNotFit => "does not fit",
        }
    }
}

impl LimitUse {
    /// Whether the shader uses more than is available.
    pub fn is_exceeded(&self) -> bool {
        self.limit.is_some_and(|limit| self.used > limit)
    }

    /// Returns the unused amount; `None` if there is no bound or nothing is left.
    pub fn left(&self) -> Option<u32> {
        self.limit.and_then(|limit| limit.checked_sub(self.used))
    }

    /// Returns the verdict for this limit alone.
    pub fn verdict(&self) -> Verdict {
        match (self.is_exceeded(), self.is_estimate) {
            (false, _) => Verdict::Fits,
            (true, true) => Verdict::MayNotFit,
            (true, false) => Verdict::DoesNotFit,
        }
    }
}

/// The findings about shaders that do not fit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FitFinding {
    /// A limit is exceeded.
    DoesNotFit,
    /// A limit that is not known exactly is exceeded.
    MayNotFit,
    /// The shader has something that the consumer does not support.
    NotTaken,
}

impl FitFinding {
    tgsi_diagnostics::error_codes! {
        DoesNotFit => "T0830" "does-not-fit",
        MayNotFit => "T0831" "may-not-fit",
        NotTaken => "T0832" "not-taken",
    }

    /// Returns whether it is an error or a warning.
    pub fn severity(self) -> Severity {
        match self {
            FitFinding::MayNotFit => Severity::Warning,
            FitFinding::DoesNotFit | FitFinding::NotTaken => Severity::Error,
        }
    }
}

impl Fit {
    /// Returns whether the shader fits.
    pub fn verdict(&self) -> Verdict {
        self.limits.iter().map(LimitUse::verdict).max().unwrap_or(Verdict::Fits)
    }

    /// Looks up a limit by name.
    pub fn limit(&self, name: &str) -> Option<&LimitUse> {
        self.limits.iter().find(|limit| limit.name == name)
    }

    /// Returns a finding for each exceeded limit, at the position in the code of its first excess.
    pub fn findings(&self) -> Vec<Diagnostic> {
        self.limits.iter().filter_map(|limit| self.finding(limit)).collect()
    }

    /// Returns a finding for each exceeded limit, at the position in the source of its first excess. Positions that are
    /// not known are empty.
    pub fn source_findings(&self) -> Vec<Diagnostic> {
        let at_source = |limit: &LimitUse| {
            let span = limit.first.as_ref().and_then(|first| first.source).unwrap_or_default();
            Some(Diagnostic { span, ..self.finding(limit)? })
        };
        self.limits.iter().filter_map(at_source).collect()
    }

    fn finding(&self, limit: &LimitUse) -> Option<Diagnostic> {
        let first = limit.first.clone().unwrap_or_default();
        let most = limit.limit.filter(|_| limit.is_exceeded())?;
        let (target, used, about) = (self.target, limit.used, limit.about);
        let (finding, message) = match (&first.what, limit.is_estimate) {
            (Some(what), _) => (FitFinding::NotTaken, format!("{target} does not take {what}")),
            (None, true) => (FitFinding::MayNotFit, format!("about {used} {about}, {target} has {most}")),
            (None, false) => (FitFinding::DoesNotFit, format!("{used} {about}, {target} has {most}")),
        };
        let diagnostic = Diagnostic::new(finding.severity(), finding.code(), first.span.unwrap_or_default(), message);
        let beyond = match (limit.beyond, finding) {
            ("", _) => None,
            (beyond, FitFinding::NotTaken) => Some(beyond.to_owned()),
            (beyond, FitFinding::DoesNotFit | FitFinding::MayNotFit) => Some(format!("beyond the limit, {beyond}")),
        };
        let place = first.instruction.filter(|_| first.span.is_none());
        let place = place.map(|number| format!("the first excess is instruction {number} of the code"));
        let hint: Vec<String> = beyond.into_iter().chain(place).collect();
        Some(if hint.is_empty() { diagnostic } else { diagnostic.with_hint(hint.join("; ")) })
    }
}

/// The verdict, and a line for each limit. Limits of 0 that are not used are not shown.
impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {} {}", self.processor.name(), self.verdict().name(), self.target)?;
        let shown = || self.limits.iter().filter(|limit| limit.used > 0 || limit.limit != Some(0));
        let width = shown().map(|limit| limit.about.len()).max().unwrap_or(0);
        for limit in shown() {
            let LimitUse { about, used, .. } = limit;
            write!(f, "  {about:width$}  {used:>6} ")?;
            match (limit.limit, limit.left()) {
                (None, _) => write!(f, "no limit")?,
                (Some(most), Some(left)) => write!(f, "of {most:>5}  {left:>5} left")?,
                (Some(most), None) => write!(f, "of {most:>5}  {:>5} too many", used.saturating_sub(most))?,
            }
            writeln!(f, "{}", if limit.is_estimate { "  (estimate)" } else { "" })?;
        }
        Ok(())
    }
}

/// Code that was measured, with its text.
///
/// It is serialised as an object with the keys `target`, `stage`, `fits`, `verdict` and `limits`: for each limit `name`,
/// `about`, `used`, `limit`, `left` (below 0: too many), `estimate`, `source`, `beyond` and `first`, which has `line`,
/// `column`, `code`, `what`, `source`, and for code without text `instruction`, or is null. `source` has the `line`,
/// `column` and `code` of the position in the source of a translation, or is null.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// The use of each limit.
    pub fit: Fit,
    /// The text that positions refer to.
    pub text: Vec<u8>,
    /// The source that the code was translated from, if it is text.
    source: Option<Vec<u8>>,
}

/// The serialised form of a [`Measurement`].
#[derive(Serialize)]
struct MeasurementRecord<'m> {
    target: &'m str,
    stage: &'m str,
    fits: bool,
    verdict: &'m str,
    limits: Vec<LimitRecord<'m>>,
}

/// The serialised form of a limit.
#[derive(Serialize)]
struct LimitRecord<'m> {
    name: &'m str,
    about: &'m str,
    used: u32,
    limit: Option<u32>,
    left: Option<i64>,
    estimate: bool,
    source: &'m str,
    beyond: &'m str,
    first: Option<FirstRecord<'m>>,
}

/// The serialised form of the first excess of a limit.
#[derive(Serialize)]
struct FirstRecord<'m> {
    #[serde(flatten)]
    position: PositionRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    instruction: Option<u32>,
    what: Option<&'m str>,
    source: Option<PositionRecord>,
}

/// The serialised form of a position in a text.
#[derive(Serialize)]
struct PositionRecord {
    line: u32,
    column: u32,
    code: String,
}

impl PositionRecord {
    /// The record of a position that may be unknown: an empty span.
    fn new(text: &[u8], lines: &LineIndex, span: Span) -> PositionRecord {
        let known = span.end > span.start;
        let (line, column) = if known { lines.line_column(span.start) } else { (0, 0) };
        let code = text.get(span.start as usize..span.end as usize).unwrap_or_default();
        PositionRecord { line, column, code: String::from_utf8_lossy(code).into_owned() }
    }
}

impl Measurement {
    /// Adds the source of a translation, a text, so that serialised positions in it have lines.
    pub fn with_source(self, text: &[u8]) -> Measurement {
        Measurement { source: Some(text.to_vec()), ..self }
    }

    fn record(&self) -> MeasurementRecord<'_> {
        let lines = LineIndex::new(&self.text);
        let source = self.source.as_deref().map(|text| (text, LineIndex::new(text)));
        let first = |first: &'_ Excess| -> (PositionRecord, Option<PositionRecord>) {
            let in_source = first.source.zip(source.as_ref());
            let in_source = in_source.map(|(span, (text, lines))| PositionRecord::new(text, lines, span));
            (PositionRecord::new(&self.text, &lines, first.span.unwrap_or_default()), in_source)
        };
        let limits = self.fit.limits.iter().map(|limit| LimitRecord {
            name: limit.name,
            about: limit.about,
            used: limit.used,
            limit: limit.limit,
            left: limit.limit.map(|most| i64::from(most) - i64::from(limit.used)),
            estimate: limit.is_estimate,
            source: limit.source,
            beyond: limit.beyond,
            first: limit.first.as_ref().map(|excess| {
                let (position, source) = first(excess);
                FirstRecord { position, instruction: excess.instruction, what: excess.what.as_deref(), source }
            }),
        });
        let limits = limits.collect();
        let verdict = self.fit.verdict();
        let (target, stage) = (self.fit.target, self.fit.processor.name());
        MeasurementRecord { target, stage, fits: verdict != Verdict::DoesNotFit, verdict: verdict.name(), limits }
    }
}

impl Serialize for Measurement {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.record().serialize(serializer)
    }
}

/// The report about a shader: its verdict, and the measurements of its translation and of the shader as it is.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FitReport<'m> {
    /// The consumer.
    pub target: &'m str,
    /// Whether the shader fits.
    pub fits: bool,
    /// The [name](Verdict::name) of the verdict.
    pub verdict: &'m str,
    /// The translation.
    pub translated: Option<&'m Measurement>,
    /// The shader as it is.
    pub as_is: Option<&'m Measurement>,
}

impl<'m> FitReport<'m> {
    /// Creates a report. `counted`, one of the two measurements, determines the verdict.
    pub fn new(
        counted: &'m Measurement,
        translated: Option<&'m Measurement>,
        as_is: Option<&'m Measurement>,
    ) -> FitReport<'m> {
        let verdict = counted.fit.verdict();
        let fits = verdict != Verdict::DoesNotFit;
        FitReport { target: counted.fit.target, fits, verdict: verdict.name(), translated, as_is }
    }
}

impl Compiler {
    /// Measures code against the limits of the target; `None` if the target has none. Positions are those in the text
    /// of the code, as in a file, and those of the source from which [`Compiler::compile`] made it.
    pub fn measure(&self, code: Code) -> Option<Measurement> {
        let Code::Tgsi(shader, options) = code else {
            let fit = self.target().fit(&code)?;
            return Some(Measurement { fit, text: code.into_bytes(), source: None });
        };
        let text = tgsi::text::print(&shader, options);
        // Parsing the text gives the parts of the shader their positions.
        let result = tgsi::text::read_within(text.as_bytes(), self.limits());
        if result.skipped.is_some() {
            let fit = self.target().fit(&Code::Tgsi(shader, options))?;
            return Some(Measurement { fit, text: text.into_bytes(), source: None });
        }
        let code = Code::Tgsi(Box::new(result.shader), options);
        let mut fit = self.target().fit(&code)?;
        if let Code::Tgsi(printed, _) = &code {
            for first in fit.limits.iter_mut().filter_map(|limit| limit.first.as_mut()) {
                first.source = first.span.and_then(|span| source_of(span, printed, &shader));
            }
            costs::add_places(&mut fit.costs, printed, &shader);
        }
        Some(Measurement { fit, text: text.into_bytes(), source: None })
    }

    /// Measures a TGSI shader as it is. `text` is its source; without it, positions are those in the printed text.
    pub fn measure_as_is(&self, shader: &Shader, text: Option<&[u8]>) -> Option<Measurement> {
        let code = Code::Tgsi(Box::new(shader.clone()), PrintOptions::default());
        match text {
            None => self.measure(code),
            Some(text) => Some(Measurement { fit: self.target().fit(&code)?, text: text.to_vec(), source: None }),
        }
    }
}

/// The place in the source of a part of a translation: that of its instruction, or of the first instruction that uses
/// its declaration. Instructions without a place have that of the nearest one before them.
///
/// `printed` is the shader that was read from the text of `translated`, so both have the same instructions.
fn source_of(span: Span, printed: &Shader, translated: &Shader) -> Option<Span> {
    if span.end <= span.start {
        return None;
    }
    let declaration = printed.declarations.iter().find(|declaration| declaration.span.start == span.start);
    let index = match declaration {
        None => printed.instructions.iter().rposition(|instruction| instruction.span.start <= span.start)?,
        Some(declaration) => {
            let range = i32::from(declaration.first)..=i32::from(declaration.last);
            let is_declared =
                |register: &Register| register.file == declaration.file && range.contains(&register.index);
            printed.instructions.iter().position(|instruction| {
                let sources = instruction.src.iter().map(|src| &src.register);
                instruction.dst.iter().map(|dst| &dst.register).chain(sources).any(is_declared)
            })?
        }
    };
    let known = |instruction: &&Instruction| instruction.span.end > instruction.span.start;
    translated.instructions.get(..=index)?.iter().rev().find(known).map(|instruction| instruction.span)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Machine code has numbers of instructions, and no text.
    #[test]
    fn an_excess_in_machine_code_has_an_instruction() {
        let first = Excess { instruction: Some(256), ..Excess::default() };
        let limit = LimitUse {
            name: "instructions",
            about: "instructions",
            used: 300,
            limit: Some(256),
            is_estimate: false,
            source: "",
            beyond: "vertices are processed in software",
            first: Some(first),
            counts_instructions: true,
        };
        let fit = Fit { target: "chip", processor: Processor::Vertex, limits: vec![limit], costs: Vec::new() };
        let finding = fit.findings().remove(0);
        assert_eq!(finding.span, Span::default());
        let hint =
            "beyond the limit, vertices are processed in software; the first excess is instruction 256 of the code";
        assert_eq!(finding.hint.as_deref(), Some(hint));
    }
}

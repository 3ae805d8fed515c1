//! The check: validates everything that drivers and executors rely on.
//!
//! [`check`] never fails and never panics; it returns all findings (at most `limits::MAX_FINDINGS`),
//! errors and warnings. A shader without errors has one meaning, the same in every executor. Anything that this meaning
//! covers (such as a read out of range, which gives 0) is at most a warning. Each rule is a row of the table in
//! `rule.rs`; the rules are implemented in
//!
//! | file | subject |
//! |---|---|
//! | `structure.rs` | nesting, END, labels, order of items, stages of opcodes |
//! | `declarations.rs` | declarations and immediates |
//! | `properties.rs` | properties |
//! | `declared.rs` | the declared registers (a lookup, no rules) |
//! | `registers.rs` | sets of registers (no rules) |
//! | `sizes.rs` | sizes beyond the limits |
//! | `operands.rs` | operands |
//! | `role.rs` | the roles of operands (no rules) |
//! | `resources.rs` | textures, images, buffers |
//! | `lints.rs` | lints, for [`lint`] only |
//!
//! Cost: O(n log n) in the number of items, independent of the declared ranges.

mod declarations;
mod declared;
mod expansion;
mod lints;
mod operands;
mod properties;
mod registers;
mod resources;
mod role;
mod rule;
mod sizes;
mod structure;

use crate::call_graph::InliningThresholds;
use crate::limits::{self, Limits};
use crate::shader::{Instruction, Shader};
use crate::structure::structure as structure_of;
use crate::tables::File;
use crate::text::SkippedParts;
use tgsi_diagnostics::Span;
use tgsi_diagnostics::{Diagnostic, Focus, Severity, sort_by_start};

#[doc(hidden)]
pub use resources::{Support, support};
pub use rule::Rule;

/// The findings of a check.
#[derive(Clone, PartialEq, Debug, Default)]
#[non_exhaustive]
pub struct Report {
    /// Findings sorted by position; those without a position come first.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Whether the shader has errors.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// Returns the errors among the findings.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|d| d.is_error())
    }
}

/// The location of a finding: an item or operand, and its relevant token.
struct Location {
    span: Span,
    focus: Focus,
}

impl From<Span> for Location {
    fn from(span: Span) -> Location {
        Location { span, focus: Focus::Whole }
    }
}

impl From<(Span, Focus)> for Location {
    fn from((span, focus): (Span, Focus)) -> Location {
        Location { span, focus }
    }
}

/// Collects findings.
#[derive(Default)]
struct Findings {
    diagnostics: Vec<Diagnostic>,
    warnings: usize,
    /// The parts of the text that were not understood.
    skipped: SkippedParts,
    /// The limits.
    limits: Limits,
    /// Which subroutines are kept; none if all are inlined.
    keep: Option<InliningThresholds>,
    /// Number of findings for which the other side was searched.
    noted: usize,
}

impl Findings {
    /// Adds a finding, which is returned so that notes can be added. Warnings stop at the limit; errors at twice the
    /// limit, so that warnings cannot displace them. Findings that could be caused by a skipped part are dropped.
    fn report(
        &mut self,
        rule: Rule,
        position: impl Into<Location>,
        message: impl FnOnce() -> String,
    ) -> Option<&mut Diagnostic> {
        let severity = self.admit(rule)?;
        Some(self.add(severity, rule, position.into(), message()))
    }

    /// Counts a finding and returns its severity, or none if it is dropped.
    fn admit(&mut self, rule: Rule) -> Option<Severity> {
        if self.follows_from_gaps(rule) {
            return None;
        }
        let severity = rule.severity();
        if severity == Severity::Warning {
            if self.warnings >= limits::MAX_FINDINGS {
                return None;
            }
            self.warnings += 1;
        } else if self.diagnostics.len() - self.warnings >= limits::MAX_FINDINGS {
            return None;
        }
        Some(severity)
    }

    fn add(&mut self, severity: Severity, rule: Rule, position: Location, message: String) -> &mut Diagnostic {
        let Location { span, focus } = position;
        let diagnostic = Diagnostic::new(severity, rule.code(), span, message);
        let number = self.diagnostics.len();
        self.diagnostics.push(diagnostic.with_focus(focus).with_hint(rule.hint()));
        &mut self.diagnostics[number]
    }

    /// Whether the shader may break a rule only because parts of it are unknown.
    fn follows_from_gaps(&self, rule: Rule) -> bool {
        use Rule::*;
        let skipped = &self.skipped;
        match rule {
            // Placeholder instructions have no operands.
            OperandCount => skipped.instructions,
            BadCall | MissingEnd | NoMainProgram | CodeAfterEnd | LabelOutOfRange | UnusedDeclaration
            | MixedSampling | CallsTooMany | TooManyStores | TooManyMerges | TooManyReached => {
                skipped.instructions || skipped.structure
            }
            BlockNotOpened | BlockNotClosed | BlocksCrossed | DividedTwice | Recursion | NestedSubroutine
            | EndInsideBlock => skipped.structure,
            NeverWritten | NeverRead | Unreachable | UncalledSubroutine => skipped.instructions || skipped.structure,
            MissingProperty | VertexOutOfRange => skipped.properties,
            _ => false,
        }
    }

    /// Whether the other side may be searched for one more finding.
    fn may_note(&mut self) -> bool {
        self.noted += 1;
        self.noted <= limits::MAX_NOTED_FINDINGS
    }

    /// Whether unknown registers of `file` may be declared.
    fn may_be_declared(&self, file: File) -> bool {
        self.skipped.may_declare(file)
    }
}

/// Returns the position of an operand, or that of its instruction if only that is known.
fn position(span: Span, instruction: &Instruction) -> Span {
    if span.end > span.start { span } else { instruction.span }
}

/// Adds a note to a finding, if it was reported.
fn note(finding: Option<&mut Diagnostic>, span: Span, focus: Focus, message: impl Into<String>) {
    if let Some(finding) = finding {
        finding.note(span, focus, message);
    }
}

/// Checks `shader`.
pub fn check(shader: &Shader) -> Report {
    check_within(shader, &Limits::default())
}

/// Checks `shader` with the given limits.
pub fn check_within(shader: &Shader, limits: &Limits) -> Report {
    check_with(shader, Findings { limits: *limits, ..Findings::default() })
}

/// Checks a partially understood text; findings that could be caused by a skipped part are not reported.
#[doc(hidden)]
pub fn check_partial(shader: &Shader, skipped: &SkippedParts, limits: &Limits) -> Report {
    check_for(shader, skipped, limits, None)
}

/// Checks `shader` for a target that keeps some subroutines. The other functions assume that every call is inlined.
#[doc(hidden)]
pub fn check_for(shader: &Shader, skipped: &SkippedParts, limits: &Limits, keep: Option<InliningThresholds>) -> Report {
    if skipped.unrecoverable {
        return Report::default();
    }
    check_with(shader, Findings { skipped: skipped.clone(), limits: *limits, keep, ..Findings::default() })
}

/// Returns the lints, sorted by position: values that are never read, registers that are never written, unreachable
/// code. [`check`] does not report these.
pub fn lint(shader: &Shader) -> Vec<Diagnostic> {
    let mut findings = Findings::default();
    lints::lint(shader, structure_of(shader).as_ref().ok(), &mut findings);
    let mut diagnostics = findings.diagnostics;
    sort_by_start(&mut diagnostics);
    diagnostics
}

fn check_with(shader: &Shader, mut findings: Findings) -> Report {
    if sizes::check(shader, &mut findings) {
        return Report { diagnostics: findings.diagnostics };
    }
    let declared = declared::DeclaredRegisters::new(shader);
    structure::check(shader, &mut findings);
    properties::check(shader, &mut findings);
    declarations::check(shader, &declared, &mut findings);
    let used = operands::check(shader, &declared, &mut findings);
    resources::check(shader, &declared, &mut findings);
    declarations::check_unused(shader, used, &mut findings);
    let mut diagnostics = findings.diagnostics;
    sort_by_start(&mut diagnostics);
    // One instruction of an old text may have become several.
    diagnostics.dedup_by(|a, b| {
        let position = |d: &Diagnostic| (d.span.start, d.span.end);
        position(a) == position(b) && a.span.end > a.span.start && a.code == b.code && a.message == b.message
    });
    Report { diagnostics }
}

#[cfg(test)]
mod tests;

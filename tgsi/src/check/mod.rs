//! The check: everything that drivers and executors rely on and that a shader may get wrong.
//!
//! [`check`] never fails and never panics; it returns all findings (at most [`MAX_FINDINGS`](limits::MAX_FINDINGS)),
//! errors and warnings. A shader without errors has one meaning, the same in every executor. What that meaning covers
//! (a read out of range gives 0) is at most a warning. Each rule is a row of the table in `rule.rs`; what looks for it
//! stands in
//!
//! | file | about |
//! |---|---|
//! | `structure.rs` | nesting, END, labels, order of items, stages of opcodes |
//! | `declarations.rs` | declarations and immediates |
//! | `properties.rs` | properties |
//! | `declared.rs` | which registers are declared (a lookup, no rules) |
//! | `registers.rs` | sets of registers (no rules) |
//! | `sizes.rs` | what there is too much of |
//! | `operands.rs` | operands |
//! | `resources.rs` | textures, images, buffers |
//! | `lints.rs` | lints, for [`lint`] only |
//!
//! Cost: O(n log n) in the number of items, whatever the declared ranges.

mod declarations;
mod declared;
mod expansion;
mod lints;
mod operands;
mod properties;
mod registers;
mod resources;
mod rule;
mod sizes;
mod structure;

use crate::call_graph::KeepSubroutines;
use crate::limits::{self, Limits};
use crate::shader::{Instruction, Shader};
use crate::structure::structure as structure_of;
use crate::tables::File;
use crate::text::Gaps;
use tgsi_diagnostics::Span;
use tgsi_diagnostics::{Diagnostic, Focus, Severity, sort_by_start};

pub use resources::{Support, support};
pub use rule::Rule;

/// The findings of a check.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// Findings by position; those without a position come first.
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Whether the shader is wrong.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(Diagnostic::is_error)
    }

    /// The errors among the findings.
    pub fn errors(&self) -> impl Iterator<Item = &Diagnostic> {
        self.diagnostics.iter().filter(|d| d.is_error())
    }
}

/// The location of a finding: an item or operand, and the token of it that is meant.
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
    gaps: Gaps,
    /// The limits.
    limits: Limits,
    /// The subroutines that stay; without it none.
    keep: Option<KeepSubroutines>,
    /// Findings whose other party was looked for.
    noted: usize,
}

impl Findings {
    /// Adds a finding; what is returned can be given notes. Warnings stop at the limit; errors at twice the limit, so
    /// that warnings cannot hide them. What may follow from a gap alone is left out.
    fn report(
        &mut self,
        rule: Rule,
        position: impl Into<Location>,
        message: impl FnOnce() -> String,
    ) -> Option<&mut Diagnostic> {
        let severity = self.admit(rule)?;
        Some(self.add(severity, rule, position.into(), message()))
    }

    /// Counts a finding and returns its severity; none if it is left out.
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

    /// Whether the shader may break a rule only because parts of it are not known.
    fn follows_from_gaps(&self, rule: Rule) -> bool {
        use Rule::*;
        let gaps = &self.gaps;
        match rule {
            // Instructions that stand for others have no operands.
            OperandCount => gaps.instructions,
            BadCall | MissingEnd | NoMainProgram | CodeAfterEnd | LabelOutOfRange | UnusedDeclaration
            | MixedSampling | CallsTooMany | TooManyStores | TooManyMerges | TooManyReached => {
                gaps.instructions || gaps.structure
            }
            BlockNotOpened | BlockNotClosed | BlocksCrossed | DividedTwice | Recursion | NestedSubroutine
            | EndInsideBlock => gaps.structure,
            NeverWritten | NeverRead | Unreachable | UncalledSubroutine => gaps.instructions || gaps.structure,
            MissingProperty | VertexOutOfRange => gaps.properties,
            _ => false,
        }
    }

    /// Whether there is time to look for the other party of one more finding.
    fn may_note(&mut self) -> bool {
        self.noted += 1;
        self.noted <= limits::MAX_NOTED_FINDINGS
    }

    /// Whether registers of `file` may be declared that are not known.
    fn may_be_declared(&self, file: File) -> bool {
        self.gaps.may_declare(file)
    }
}

/// The position of an operand: that of its instruction where only that is known.
fn position(span: Span, instruction: &Instruction) -> Span {
    if span.end > span.start { span } else { instruction.span }
}

/// Notes another position on a finding, if it was reported.
fn note(finding: Option<&mut Diagnostic>, span: Span, focus: Focus, message: impl Into<String>) {
    if let Some(finding) = finding {
        finding.note(span, focus, message);
    }
}

/// Checks `shader`.
pub fn check(shader: &Shader) -> Report {
    check_within(shader, &Limits::default())
}

/// Checks `shader` against other limits than the default ones.
pub fn check_within(shader: &Shader, limits: &Limits) -> Report {
    check_with(shader, Findings { limits: *limits, ..Findings::default() })
}

/// Checks what was understood of a text with errors; nothing is reported that may follow from what was not understood.
pub fn check_partial(shader: &Shader, gaps: &Gaps, limits: &Limits) -> Report {
    check_for(shader, gaps, limits, None)
}

/// Checks `shader` for a target on which some subroutines stay subroutines. The other functions here take every call
/// to be replaced by code.
pub fn check_for(shader: &Shader, gaps: &Gaps, limits: &Limits, keep: Option<KeepSubroutines>) -> Report {
    if gaps.unrecoverable {
        return Report::default();
    }
    check_with(shader, Findings { gaps: gaps.clone(), limits: *limits, keep, ..Findings::default() })
}

/// Lints, sorted by position: values that are never read, registers that are never written, code that is never reached.
/// [`check`] says nothing of them.
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
    let declared = declared::Declared::new(shader);
    structure::check(shader, &mut findings);
    properties::check(shader, &mut findings);
    declarations::check(shader, &declared, &mut findings);
    let used = operands::check(shader, &declared, &mut findings);
    resources::check(shader, &declared, &mut findings);
    declarations::check_unused(shader, used, &mut findings);
    let mut diagnostics = findings.diagnostics;
    sort_by_start(&mut diagnostics);
    // One line of an old text may have become several instructions.
    diagnostics.dedup_by(|a, b| {
        let position = |d: &Diagnostic| (d.span.start, d.span.end);
        position(a) == position(b) && a.span.end > a.span.start && a.code == b.code && a.message == b.message
    });
    Report { diagnostics }
}

#[cfg(test)]
mod tests;

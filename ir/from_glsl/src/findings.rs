//! Findings about a unit, collected in the order in which phases make them.

use tgsi_diagnostics::{Diagnostic, ErrorCode, Severity, Span};

use crate::symbol::Interner;
use crate::token::{TokenRange, Tokens};

/// Errors beyond this number, and warnings beyond it, are not collected: the rest follows from the first ones.
const MAX_FINDINGS: usize = 100;

/// The findings so far.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    all: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
}

/// An error or warning of a phase.
pub(crate) trait Finding: std::fmt::Display {
    /// Its code.
    fn code(&self) -> ErrorCode;

    /// Whether the unit still has a meaning.
    fn is_warning(&self) -> bool;

    /// The remedy, if there is one.
    fn hint(&self) -> Option<String> {
        None
    }
}

impl Findings {
    /// Adds a finding at a span of the text. Returns it for notes; `None` if there are too many.
    pub(crate) fn add(&mut self, finding: &dyn Finding, span: Span) -> Option<&mut Diagnostic> {
        let (severity, count) = match finding.is_warning() {
            true => (Severity::Warning, &mut self.warnings),
            false => (Severity::Error, &mut self.errors),
        };
        if *count >= MAX_FINDINGS {
            return None;
        }
        *count += 1;
        let mut diagnostic = Diagnostic::new(severity, finding.code(), span, finding.to_string());
        diagnostic.hint = finding.hint();
        self.all.push(diagnostic);
        self.all.last_mut()
    }

    /// Adds a finding at tokens. If a macro spells the first one, the definition gets a note.
    pub(crate) fn add_at(
        &mut self,
        finding: &dyn Finding,
        range: TokenRange,
        tokens: &Tokens,
        interner: &Interner,
    ) -> Option<&mut Diagnostic> {
        let diagnostic = self.add(finding, tokens.span(range))?;
        if let Some((name, span)) = tokens.definition(range.first) {
            diagnostic.notes.push(tgsi_diagnostics::Note {
                span,
                focus: tgsi_diagnostics::Focus::Whole,
                message: format!("in the expansion of `{}`", interner.spelling(name)),
            });
        }
        Some(diagnostic)
    }

    /// Whether a finding is an error.
    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether no more errors are collected, so that phases may stop.
    pub(crate) fn is_full(&self) -> bool {
        self.errors >= MAX_FINDINGS
    }

    /// The spans of the errors so far.
    pub(crate) fn error_spans(&self) -> Vec<Span> {
        self.all.iter().filter(|finding| finding.is_error()).map(|finding| finding.span).collect()
    }

    /// Returns all findings, by position.
    pub(crate) fn into_vec(mut self) -> Vec<Diagnostic> {
        self.all.sort_by_key(|finding| finding.span.start);
        self.all
    }
}

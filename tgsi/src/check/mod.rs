//! The check: everything that drivers and executors rely on and that a shader may get wrong.
//!
//! [`check`] never fails and never panics; it returns all findings (at most [`limits::MAX_FINDINGS`]), errors and warnings. A shader
//! without errors has one meaning, the same in every executor. What that meaning covers (a read out of range gives 0) is at most a
//! warning. Each rule is a row of the table in `rule.rs`; what looks for it stands in
//!
//! | file | about |
//! |---|---|
//! | `structure.rs` | nesting, END, labels, order of items, stages of opcodes |
//! | `declarations.rs` | declarations and immediates |
//! | `properties.rs` | properties |
//! | `declared.rs` | which registers are declared (a lookup, no rules) |
//! | `registers.rs` | sets of registers (no rules) |
//! | `operands.rs` | operands |
//! | `resources.rs` | textures, images, buffers |
//!
//! Cost: O(n log n) in the number of items, whatever the declared ranges.

mod declarations;
mod declared;
pub mod limits;
mod operands;
mod properties;
mod registers;
mod resources;
mod rule;
mod structure;

use crate::diagnostic::{Diagnostic, Severity};
use crate::shader::Shader;
use crate::span::Span;

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

/// Collects findings.
#[derive(Default)]
struct Findings {
    diagnostics: Vec<Diagnostic>,
    warnings: usize,
}

impl Findings {
    /// Adds a finding. Warnings stop at the limit; errors at twice the limit, so that warnings cannot hide them.
    fn report(&mut self, rule: Rule, span: Span, message: impl FnOnce() -> String) {
        let severity = rule.severity();
        if severity == Severity::Warning {
            if self.warnings >= limits::MAX_FINDINGS {
                return;
            }
            self.warnings += 1;
        } else if self.diagnostics.len() - self.warnings >= limits::MAX_FINDINGS {
            return;
        }
        let hint = Some(rule.hint().to_owned());
        self.diagnostics.push(Diagnostic { severity, span, message: message(), code: rule.code(), hint });
    }
}

/// Checks `shader`.
pub fn check(shader: &Shader) -> Report {
    let mut findings = Findings::default();
    let declared = declared::Declared::new(shader);
    structure::check(shader, &mut findings);
    properties::check(shader, &mut findings);
    declarations::check(shader, &declared, &mut findings);
    let used = operands::check(shader, &declared, &mut findings);
    resources::check(shader, &declared, &mut findings);
    declarations::check_unused(shader, used, &mut findings);
    let mut diagnostics = findings.diagnostics;
    diagnostics.sort_by_key(|d| d.span.start);
    Report { diagnostics }
}

#[cfg(test)]
mod tests;

//! `--deny` turns warnings into errors, `--allow` suppresses them.

use tgsi_diagnostics::{Diagnostic, Severity};

use crate::args::WarningArguments;
use crate::input_shader::InputShader;
use crate::selector::Selector;

/// The warnings to deny and to allow.
#[derive(Clone, Debug)]
pub struct WarningPolicy {
    deny: Vec<Selector>,
    allow: Vec<Selector>,
}

impl WarningPolicy {
    /// Creates the policy from the arguments.
    pub fn new(arguments: &WarningArguments) -> WarningPolicy {
        WarningPolicy { deny: arguments.deny.clone(), allow: arguments.allow.clone() }
    }

    /// Returns whether any warning is denied.
    pub fn denies(&self) -> bool {
        !self.deny.is_empty()
    }

    /// Adds the warnings about code without effect to the findings of a shader, and applies the policy.
    pub fn with_lints(&self, subject: &InputShader, mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        if let InputShader::Tgsi(shader) = subject {
            findings.extend(tgsi::check::lint(shader));
        }
        self.apply(findings)
    }

    /// Drops allowed warnings and turns denied ones into errors.
    pub fn apply(&self, mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let selected = |selectors: &[Selector], code| selectors.iter().any(|selector| selector.selects(code));
        findings.retain(|d| d.is_error() || !selected(&self.allow, d.code));
        for d in &mut findings {
            if selected(&self.deny, d.code) {
                d.severity = Severity::Error;
            }
        }
        findings
    }
}

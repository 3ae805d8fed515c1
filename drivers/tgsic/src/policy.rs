//! What becomes of warnings: shown, made errors (`--deny`), or left out (`--allow`).

use tgsi::diagnostic::{Code, Diagnostic, Severity};
use tgsi::explain;

use crate::args::WarningArguments;
use crate::subject::Subject;

/// Warnings that are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selector {
    /// All.
    Warnings,
    /// Those with this code.
    Code(&'static str),
}

impl Selector {
    fn means(self, code: Code) -> bool {
        self == Selector::Warnings || self == Selector::Code(code.id)
    }
}

/// The warnings that an argument names.
///
/// # Errors
/// There is no such warning.
pub fn selector(argument: &str) -> Result<Selector, String> {
    if argument == "warnings" {
        return Ok(Selector::Warnings);
    }
    let pages = explain::find(argument);
    match pages.iter().find(|page| page.severity == Severity::Warning) {
        Some(page) => Ok(Selector::Code(page.id)),
        None if pages.is_empty() => Err("no such code; `tgsic explain --list` lists them".to_owned()),
        None => Err("an error, not a warning".to_owned()),
    }
}

/// What becomes of warnings.
#[derive(Clone, Debug)]
pub struct Policy {
    deny: Vec<Selector>,
    allow: Vec<Selector>,
}

impl Policy {
    /// What the arguments say.
    pub fn new(arguments: &WarningArguments) -> Policy {
        Policy { deny: arguments.deny.clone(), allow: arguments.allow.clone() }
    }

    /// Whether any warning is an error.
    pub fn denies(&self) -> bool {
        !self.deny.is_empty()
    }

    /// The findings of a shader with the warnings about what it says in vain, each with what becomes of it.
    pub fn with_lints(&self, subject: &Subject, mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        if let Subject::Tgsi(shader) = subject {
            findings.extend(tgsi::check::lint(shader));
        }
        self.apply(findings)
    }

    /// The findings, each with what becomes of it.
    pub fn apply(&self, mut findings: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let meant = |selectors: &[Selector], code| selectors.iter().any(|selector| selector.means(code));
        findings.retain(|d| d.is_error() || !meant(&self.allow, d.code));
        for d in &mut findings {
            if meant(&self.deny, d.code) {
                d.severity = Severity::Error;
            }
        }
        findings
    }
}

//! The warnings selected by `--deny` and `--allow`.

use tgsi_diagnostics::{ErrorCode, Severity};

use crate::explanations;

/// One warning, or all of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Selector {
    /// All warnings.
    Warnings,
    /// The warning with this code.
    ErrorCode(&'static str),
}

impl Selector {
    /// Returns whether a warning with this code is selected.
    pub fn selects(self, code: ErrorCode) -> bool {
        self == Selector::Warnings || self == Selector::ErrorCode(code.id)
    }
}

/// Parses an argument of `--deny` or `--allow`.
///
/// # Errors
/// There is no such warning.
pub fn selector(argument: &str) -> Result<Selector, String> {
    if argument == "warnings" {
        return Ok(Selector::Warnings);
    }
    let pages = tgsi::explain::find(explanations::pages(), argument);
    match pages.iter().find(|page| page.severity == Severity::Warning) {
        Some(page) => Ok(Selector::ErrorCode(page.id)),
        None if pages.is_empty() => Err("no such code; `tgsic explain --list` lists them".to_owned()),
        None => Err("an error, not a warning".to_owned()),
    }
}

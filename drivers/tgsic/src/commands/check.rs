//! `check`: everything that a driver may rely on.

use std::path::PathBuf;

use super::Failure;
use crate::args::Color;
use crate::batch;
use crate::diagnostics::{Reporter, Style};
use crate::input::Source;

/// Checks shaders and shows what is found.
pub fn check(files: &[PathBuf], quiet: bool, color: Color) -> Result<bool, Failure> {
    let inputs = batch::inputs(files);
    let style = if inputs.len() > 1 { Style::Short } else { Style::Rich };
    let reporter = Reporter { style, color };
    let results = batch::for_each(&inputs, |path| {
        let source = Source::read(path)?;
        let result = source.shader().map(|(shader, mut findings)| {
            findings.extend(tgsi::check::check(&shader).diagnostics);
            findings
        });
        Ok((source, result))
    });
    let mut all_well = true;
    for result in results {
        let (source, result) = result?;
        match result {
            Ok(mut findings) => {
                all_well &= !findings.iter().any(|d| d.is_error());
                findings.retain(|d| !quiet || d.is_error());
                findings.sort_by_key(|d| d.span.start);
                reporter.diagnostics(&source, &findings);
            }
            Err(problem) => {
                all_well = false;
                reporter.problem(&source, &problem);
            }
        }
    }
    Ok(all_well)
}

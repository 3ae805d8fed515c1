//! Plays an Amber script.

use std::path::Path;

use tgsi_amber::{Executor, Modules, Script, play};
use tgsi_verify::ExecutorKind;

use super::write;
use crate::args::DrawArguments;
use crate::diagnostics;
use crate::limits::current;
use crate::plan::Plan;
use crate::status::{Failure, Status};

/// Plays the script, writes the picture that it draws last, and shows the expectations that are not met.
pub(super) fn draw(file: &Path, arguments: &DrawArguments, via: ExecutorKind, plan: &Plan) -> Result<Status, Failure> {
    let bytes = std::fs::read(file).map_err(|error| Failure::Read { path: file.to_owned(), error })?;
    let front_end = tgsi_registry::find_front_end("spirv");
    let front_end = front_end.ok_or_else(|| Failure::Usage("this build does not read SPIR-V".to_owned()))?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let files = |name: &str| std::fs::read(folder.join(name)).ok();
    let checker = plan.checker();
    let executor = Executor { front_end, checker: &checker, kind: via, limits: current().of_runs() };
    let played = Script::parse(&String::from_utf8_lossy(&bytes), &files)
        .and_then(|script| play(&script, &Modules::of(&script)?, executor));
    let outcome = match played {
        Ok(outcome) => outcome,
        Err(refusal) => {
            let place = format!("{}:{}", file.display(), refusal.line);
            diagnostics::print(&format!("{place}: {}: {} {}\n", refusal.kind, refusal.reason, refusal.detail));
            return Ok(Status::ShaderError);
        }
    };
    for failure in &outcome.failures {
        diagnostics::print(&format!("{}:{}: {}\n", file.display(), failure.line, failure.message));
    }
    let status = if outcome.failures.is_empty() { Status::Success } else { Status::ShaderError };
    match outcome.picture() {
        Some(picture) => write(vec![picture], arguments)?,
        None => diagnostics::print(&format!("{}: the script draws nothing\n", file.display())),
    }
    Ok(status)
}

//! `reduce`: shrinks a shader while it keeps a property.

use std::path::Path;
use std::process::{Command, Stdio};

use tgsi::Shader;
use tgsi_smith::reduce::{Limits, reduce as smaller};
use tgsi_verify::Checker;

use crate::args::{Color, ReduceArguments};
use crate::diagnostics::Reporter;
use crate::input::{STDIN, Source};
use crate::output;
use crate::plan::Plan;
use crate::status::{Failure, Status};

/// Sets of inputs for verifying candidates: one of each kind.
const INPUTS: u64 = 5;

/// Reduces a shader and writes the result.
pub fn reduce(arguments: &ReduceArguments, color: Color) -> Result<Status, Failure> {
    let path = arguments.file.as_deref().unwrap_or(Path::new(STDIN));
    let source = Source::read(path)?;
    let shader = match source.tgsi() {
        Ok((shader, _)) => shader,
        Err(problem) => {
            Reporter::for_inputs(1, color).problem(&source, &problem);
            return Ok(Status::ShaderError);
        }
    };
    let limits = Limits { candidates: arguments.max_candidates };
    let result = match &arguments.command {
        Some(command) => while_command(&shader, limits, command)?,
        None => {
            let plan = Plan::to_be_run(&arguments.passes, None)?;
            let checker = Checker { seeds: INPUTS, exact: arguments.exact, ..plan.checker() };
            let defect = checker.verify_generated(&shader).defect();
            defect.map(|defect| checker.reduce(&shader, &defect, limits))
        }
    };
    let Some(result) = result else {
        return Err(Failure::Usage("the shader itself does not have the property that `reduce` is to keep".into()));
    };
    let text = tgsi::text::print(&result, Default::default());
    match &arguments.output {
        Some(path) => output::write_file(path, text.as_bytes())?,
        None => output::write_stdout(text.as_bytes())?,
    }
    eprintln!("{} instructions of {} are left", result.instructions.len(), shader.instructions.len());
    Ok(Status::Success)
}

/// Reduces while a command succeeds; returns `None` if it does not succeed for the original.
fn while_command(shader: &Shader, limits: Limits, command: &str) -> Result<Option<Shader>, Failure> {
    let failure = |error| Failure::Write { path: std::env::temp_dir(), error };
    let folder = tempfile::Builder::new().prefix("tgsic-reduce-").tempdir().map_err(failure)?;
    let path = folder.path().join("candidate.tgsi");
    let mut problem = None;
    let mut succeeds = |shader: &Shader| {
        // After an error in running the command, no candidate is accepted.
        problem.is_none()
            && run(shader, &path, command).unwrap_or_else(|failure| {
                problem = Some(failure);
                false
            })
    };
    let result = if succeeds(shader) { Some(smaller(shader, limits, &mut succeeds)) } else { None };
    problem.map_or(Ok(result), Err)
}

/// Returns whether the command succeeds for a candidate.
fn run(shader: &Shader, path: &Path, command: &str) -> Result<bool, Failure> {
    output::write_file(path, tgsi::text::print(shader, Default::default()).as_bytes())?;
    let status = Command::new("sh")
        .arg("-c")
        .arg(format!("{command} \"$1\""))
        .arg("sh")
        .arg(path)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    status.map(|status| status.success()).map_err(|error| Failure::Usage(format!("cannot run {command:?}: {error}")))
}

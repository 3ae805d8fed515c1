//! Plays the test of a file with the shaders of a pipeline.

use std::path::Path;

use tgsi_ir::shader::ShaderStage;
use tgsi_shader_test::{Script, TestShader, play};
use tgsi_verify::ExecutorKind;

use super::{load, runner, write};
use crate::args::DrawArguments;
use crate::diagnostics::{self, Reporter};
use crate::input::InputPath;
use crate::limits::current;
use crate::plan::Plan;
use crate::status::{Failure, Status};

/// Plays the test, writes the picture at its end, and shows the commands that failed.
pub(super) fn draw(
    file: &Path,
    arguments: &DrawArguments,
    via: ExecutorKind,
    plan: &Plan,
    reporter: &Reporter,
) -> Result<Status, Failure> {
    let stages = [ShaderStage::Vertex, ShaderStage::Fragment];
    let inputs = stages.map(|stage| (InputPath { file: file.to_owned(), stage: Some(stage) }, stage));
    let Some(loaded) = load(&inputs, via, plan, reporter)? else { return Ok(Status::ShaderError) };
    let [vertex, fragment] = loaded.as_slice() else { return Ok(Status::UsageError) };
    let script = Script::new(&String::from_utf8_lossy(&fragment.source.bytes));
    let limits = current().of_runs();
    let (run_vertex, run_fragment) = (runner(vertex, limits), runner(fragment, limits));
    let outcome = play(
        &script,
        &TestShader { source: vertex.shader.interface(), run: &run_vertex, names: &vertex.names },
        &TestShader { source: fragment.shader.interface(), run: &run_fragment, names: &fragment.names },
    );
    for failure in &outcome.failures {
        diagnostics::print(&format!("{}:{}: {}\n", file.display(), failure.line, failure.message));
    }
    let status = if outcome.failures.is_empty() { Status::Success } else { Status::ShaderError };
    write(vec![outcome.picture], arguments)?;
    Ok(status)
}

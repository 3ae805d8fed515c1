//! Plays the test of a file with the shaders of a pipeline.

use std::path::Path;

use tgsi_compiler::front_end::TGSI_TEXT;
use tgsi_ir::shader::ShaderStage;
use tgsi_shader_test::{PASSTHROUGH, Script, ShaderText, Shaders, TestShader, play};
use tgsi_verify::ExecutorKind;

use super::{load_sources, runner, write};
use crate::args::DrawArguments;
use crate::assembly::assemble;
use crate::diagnostics::{self, Reporter};
use crate::input::{InputPath, Source};
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
    let content = Source::read_file(file)?;
    let script = Script::new(&String::from_utf8_lossy(&content.bytes));
    let (mut sources, mut stages) = (Vec::new(), Vec::new());
    for (stage, text) in script.shaders() {
        sources.push(source(file, stage, text)?);
        stages.push(stage);
    }
    let Some(loaded) = load_sources(sources, &stages, via, plan, reporter)? else { return Ok(Status::ShaderError) };
    let limits = current().of_runs();
    let runs: Vec<_> = loaded.iter().map(|loaded| runner(loaded, limits)).collect();
    let shader = |stage: ShaderStage| -> Option<TestShader<'_>> {
        let at = stages.iter().position(|&known| known == stage)?;
        let (loaded, run) = (loaded.get(at)?, runs.get(at)?);
        Some(TestShader { source: loaded.shader.interface(), run, names: &loaded.names })
    };
    let outcome = play(&script, &Shaders::from_fn(shader));
    for line in &outcome.unchecked {
        diagnostics::print(&format!("{}:{line}: note: not checked, as no reflection has it\n", file.display()));
    }
    for failure in &outcome.failures {
        diagnostics::print(&format!("{}:{}: {}\n", file.display(), failure.line, failure.message));
    }
    let status = if outcome.failures.is_empty() { Status::Success } else { Status::ShaderError };
    write(vec![outcome.picture], arguments)?;
    Ok(status)
}

/// The source of a shader of the file.
fn source(file: &Path, stage: ShaderStage, text: ShaderText) -> Result<Source, Failure> {
    let source = match text {
        ShaderText::Section => return Source::read(&InputPath { file: file.to_owned(), stage: Some(stage) }),
        ShaderText::Passthrough => {
            Source::with_options(file.to_owned(), PASSTHROUGH.as_bytes().to_vec(), Some(&TGSI_TEXT), &[])
        }
        ShaderText::Spirv(text, options) => {
            let front_end = tgsi_registry::find_front_end("spirv");
            let front_end = front_end.ok_or_else(|| Failure::Usage("this build does not read SPIR-V".to_owned()))?;
            let words = assemble(text.as_bytes()).map_err(|error| Failure::Read { path: file.to_owned(), error })?;
            Source::with_options(file.to_owned(), words, Some(front_end), &options)
        }
    };
    Ok(source.of_stage(stage))
}

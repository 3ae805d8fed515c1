//! `reduce`: shrinks a shader while it keeps a property.

use std::path::Path;
use std::process::{Command, Stdio};

use tgsi::Shader;
use tgsi_smith::reduce::{Limits, reduce as reduce_shader, reduce_text};
use tgsi_verify::Checker;

use crate::args::{Color, ReduceArguments};
use crate::diagnostics::Reporter;
use crate::input::{STDIN, Source};
use crate::input_shader::InputShader;
use crate::output;
use crate::plan::Plan;
use crate::status::{Failure, Status};

/// Sets of inputs for verifying candidates: one of each kind.
const INPUTS: u64 = 5;

/// Reduces a shader and writes the result.
pub fn reduce(arguments: &ReduceArguments, color: Color) -> Result<Status, Failure> {
    let path = arguments.file.as_deref().unwrap_or(Path::new(STDIN));
    let source = Source::read_file(path)?;
    let plan = match &arguments.command {
        Some(_) => Plan::from_arguments(&arguments.passes)?,
        None => Plan::to_be_run(&arguments.passes, None)?,
    };
    let is_ir = matches!(source.parse(None).source, Some(tgsi_compiler::Source::Ir(..)));
    let reduced = match is_ir && !source.has_words() {
        true => {
            InputShader::checked(&source, &plan).map(|(shader, _)| reduce_as_text(&source, &shader, &plan, arguments))
        }
        false => source.tgsi().map(|(shader, _)| reduce_tgsi(&shader, &plan, arguments)),
    };
    let (text, left) = match reduced {
        Ok(reduced) => reduced?.ok_or_else(|| {
            Failure::Usage("the shader itself does not have the property that `reduce` is to keep".into())
        })?,
        Err(problem) => {
            Reporter::for_inputs(1, color).problem(&source, &problem);
            return Ok(Status::ShaderError);
        }
    };
    match &arguments.output {
        Some(path) => output::write_file(path, &text)?,
        None => output::write_stdout(&text)?,
    }
    eprintln!("{left} are left");
    Ok(Status::Success)
}

/// The text of the reduced shader and the number of parts that are left; `None` if the shader lacks the property.
type Reduced = Result<Option<(Vec<u8>, String)>, Failure>;

/// Reduces a TGSI shader.
fn reduce_tgsi(shader: &Shader, plan: &Plan, arguments: &ReduceArguments) -> Reduced {
    let limits = Limits { candidates: arguments.max_candidates };
    let print = |shader: &Shader| tgsi::text::print(shader, Default::default()).into_bytes();
    let result = match &arguments.command {
        Some(command) => while_command(command, "tgsi", |succeeds| {
            let mut succeeds = |shader: &Shader| succeeds(&print(shader));
            succeeds(shader).then(|| reduce_shader(shader, limits, &mut succeeds))
        })?,
        None => {
            let checker = checker(plan, arguments);
            let defect = checker.verify_generated(shader).defect();
            defect.map(|defect| checker.reduce(shader, &defect, limits))
        }
    };
    Ok(result.map(|result| {
        let left = format!("{} instructions of {}", result.instructions.len(), shader.instructions.len());
        (print(&result), left)
    }))
}

/// Reduces a shader in another language, as text.
fn reduce_as_text(source: &Source, shader: &InputShader, plan: &Plan, arguments: &ReduceArguments) -> Reduced {
    let limits = Limits { candidates: arguments.max_candidates };
    let read = |text: &[u8]| Some(InputShader::checked(&source.with_bytes(text), plan).ok()?.0);
    let text = &source.bytes;
    let result = match &arguments.command {
        Some(command) => {
            let extension = source.front_end.file_extensions().first().copied().unwrap_or("txt");
            while_command(command, extension, |succeeds| {
                let mut is_kept = |text: &[u8]| read(text).is_some() && succeeds(text);
                is_kept(text).then(|| reduce_text(text, limits, &mut is_kept))
            })?
        }
        None => {
            let checker = checker(plan, arguments);
            let defect = |shader: &InputShader| checker.defect_of(&shader.source());
            defect(shader).map(|wanted| {
                let is_kept = |text: &[u8]| read(text).as_ref().and_then(defect).is_some_and(|d| d.resembles(&wanted));
                reduce_text(text, limits, &mut { is_kept })
            })
        }
    };
    let lines = |text: &[u8]| text.split_inclusive(|&byte| byte == b'\n').count();
    Ok(result.map(|result| {
        let left = format!("{} lines of {}", lines(&result), lines(text));
        (result, left)
    }))
}

fn checker(plan: &Plan, arguments: &ReduceArguments) -> Checker {
    Checker { seeds: INPUTS, exact: arguments.exact, ..plan.checker() }
}

/// A test of the text of a candidate.
type Test<'a> = dyn FnMut(&[u8]) -> bool + 'a;

/// Calls a function with the test whether a command succeeds for the text of a candidate.
fn while_command<T>(
    command: &str,
    extension: &str,
    work: impl FnOnce(&mut Test<'_>) -> Option<T>,
) -> Result<Option<T>, Failure> {
    let failure = |error| Failure::Write { path: std::env::temp_dir(), error };
    let folder = tempfile::Builder::new().prefix("tgsic-reduce-").tempdir().map_err(failure)?;
    let path = folder.path().join("candidate").with_extension(extension);
    let mut problem = None;
    let result = work(&mut |text| {
        // After an error in running the command, no candidate is accepted.
        problem.is_none()
            && run(text, &path, command).unwrap_or_else(|failure| {
                problem = Some(failure);
                false
            })
    });
    problem.map_or(Ok(result), Err)
}

/// Returns whether the command succeeds for a candidate.
fn run(text: &[u8], path: &Path, command: &str) -> Result<bool, Failure> {
    output::write_file(path, text)?;
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

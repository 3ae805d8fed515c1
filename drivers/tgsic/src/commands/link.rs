//! `link`: translates the shaders of a pipeline together.

use serde_json::{Value, json};
use tgsi_compiler::{Code, CompileError, LinkError, Linked, Program};
use tgsi_ir::passes::linking::LinkOptions;

use super::targets;
use super::translate::reflection_line;
use crate::args::{Color, LinkArguments};
use crate::diagnostics::Reporter;
use crate::input::{ShaderError, Source};
use crate::input_shader::InputShader;
use crate::plan::Plan;
use crate::status::{Failure, Status};
use crate::{batch, output};

/// Links shaders.
pub fn link(arguments: &LinkArguments, color: Color) -> Result<Status, Failure> {
    let as_text = arguments.assembly || arguments.out_dir.is_none();
    let plan = if as_text { Plan::to_be_printed } else { Plan::from_arguments }(&arguments.passes)?;
    let paths = batch::inputs(&arguments.files)?;
    let options = LinkOptions {
        captured: arguments.kept.clone(),
        shares_constants: arguments.shared_constants,
        replaces_coordinates: arguments.point_sprites,
    };
    let reporter = Reporter::for_inputs(1, color);
    let (mut shaders, mut names, mut status) = (Vec::new(), Vec::new(), Status::Success);
    let read = paths.iter().map(Source::read).collect::<Result<Vec<Source>, Failure>>()?;
    // Of each shader: the path and the source. Further units of a shader have none.
    let (mut shader_paths, mut sources) = (Vec::new(), Vec::new());
    for ((result, source), path) in InputShader::checked_pipeline(&read, &plan).into_iter().zip(read).zip(paths) {
        match result {
            Ok((Some(shader), _)) => {
                names.push(shader.names().cloned().unwrap_or_default());
                shaders.push(shader.into_source());
                shader_paths.push(path);
                sources.push(source);
            }
            Ok((None, _)) => {}
            Err(problem) => {
                reporter.problem(&source, &problem);
                status = Status::ShaderError;
            }
        }
    }
    let paths = shader_paths;
    if status != Status::Success {
        return Ok(status);
    }
    let program = match plan.compiler.link_with_names(shaders, &names, &options) {
        Ok(program) => program,
        Err(LinkError::Compile { shader, error }) => {
            if let Some(source) = sources.get(shader) {
                reporter.problem(source, &ShaderError::from(error));
            }
            return Ok(Status::ShaderError);
        }
        Err(error) => return Err(Failure::Usage(error.to_string())),
    };
    if arguments.json {
        let text = format!("{}\n", summary(&program, &sources));
        output::write_stdout(text.as_bytes())?;
    }
    let extension = plan.form(as_text).extension;
    let places = match &arguments.out_dir {
        Some(folder) => Some(targets(&paths, folder, extension)?),
        None => None,
    };
    for shader in program.shaders {
        let (Some(path), Some(source)) = (paths.get(shader.input), sources.get(shader.input)) else { continue };
        let result = if arguments.reflect { reflect(&shader, source, &plan).map(Some) } else { Ok(None) };
        let auxiliary_files = shader.code.auxiliary_files().to_vec();
        let result = result.and_then(|line| Ok((line, content(shader.code, as_text)?)));
        let (line, content) = match result {
            Ok(result) => result,
            Err(problem) => {
                reporter.problem(source, &problem);
                status = Status::ShaderError;
                continue;
            }
        };
        if let Some(line) = &line {
            output::write_stdout(format!("{line}\n").as_bytes())?;
        }
        match places.as_ref().and_then(|places| places.get(path)) {
            Some(place) => output::write_files_below(place, &content, &auxiliary_files)?,
            None if line.is_some() || arguments.json => {}
            None => {
                let stage = tgsi_to_ir::slots::processor_of(shader.stage).name();
                output::write_stdout(format!("; {stage} {}\n", source.path.display()).as_bytes())?;
                output::write_stdout(&content)?;
            }
        }
    }
    Ok(status)
}

/// Returns the bytes of code.
fn content(code: Code, as_text: bool) -> Result<Vec<u8>, ShaderError> {
    let text = if as_text { tgsi_registry::disassembly(&code) } else { None };
    match text {
        Some(text) => text.map(String::into_bytes).map_err(ShaderError::Other),
        None => Ok(code.into_bytes()),
    }
}

/// Returns the driver's assignments for the interface of a shader, as a line of JSON.
fn reflect(shader: &Linked, source: &Source, plan: &Plan) -> Result<String, ShaderError> {
    let reflection = shader.target.reflect(&shader.lowered).transpose();
    let reflection = reflection.map_err(|error| {
        let subject = error.subject();
        CompileError::Target { error, message: None, subject, span: None }
    })?;
    reflection_line(source, reflection, plan)
}

fn summary(program: &Program, sources: &[Source]) -> Value {
    let shaders: Vec<Value> = program
        .shaders
        .iter()
        .map(|shader| {
            json!({
                "f": sources.get(shader.input).map(|source| source.name()),
                "stage": tgsi_to_ir::slots::processor_of(shader.stage).name(),
                "instructions_before": shader.instructions[0],
                "instructions_after": shader.instructions[1],
            })
        })
        .collect();
    json!({ "shaders": shaders, "links": program.reports })
}

//! `run`: runs a shader and prints its results.

use std::path::Path;

use serde_json::{Map, Value, json};
use tgsi::Shader;
use tgsi::tables::File;
use tgsi_environment::{Inputs, Outputs, RunLimits, Vec4};
use tgsi_verify::{ExecutorKind, RunResult, make_inputs, shortest};

use super::{recorded, value_line};
use crate::args::{Color, RunArguments};
use crate::diagnostics::Reporter;
use crate::input::{STDIN, Source};
use crate::input_shader::InputShader;
use crate::limits::current;
use crate::output;
use crate::plan::Plan;
use crate::status::{Failure, Status};

/// Runs a shader.
pub fn run(arguments: &RunArguments, color: Color) -> Result<Status, Failure> {
    let reporter = Reporter::for_inputs(1, color);
    let path = arguments.file.as_deref().unwrap_or(Path::new(STDIN));
    let source = Source::read_file(path)?;
    let plan = Plan::to_be_run(&arguments.passes, arguments.via)?;
    let result = InputShader::checked(&source, &plan);
    Ok(reporter.outcome(Ok((source, result)), |source, (subject, warnings)| {
        reporter.diagnostics(source, &warnings);
        let via = arguments.via.unwrap_or(ExecutorKind::of_source(&subject.source()));
        if via == ExecutorKind::Tgsi && matches!(subject, InputShader::Ir { .. }) {
            return Err(Failure::Usage("the shader is IR, which cannot be run as TGSI; use --via ir".into()));
        }
        let inputs = match &arguments.vector {
            Some(path) => recorded_inputs(path, subject.interface())?,
            None => make_inputs(subject.interface(), arguments.seed),
        };
        if arguments.inputs {
            output::write_stdout(value_line::of_inputs(subject.interface(), &inputs).as_bytes())?;
            return Ok(Status::Success);
        }
        let limits = RunLimits { steps: arguments.max_steps.unwrap_or(current().steps), ..current().of_runs() };
        let result = match plan.checker().executor(&subject.source(), via).and_then(|e| e.run(&inputs, limits)) {
            Ok(result) => result,
            Err(problem) => {
                reporter.problem(source, &problem.into());
                return Ok(Status::ShaderError);
            }
        };
        let text = if arguments.json {
            as_json(source, via, subject.interface(), &result)
        } else {
            as_text(subject.interface(), &result)
        };
        output::write_stdout(text.as_bytes())?;
        Ok(Status::Success)
    }))
}

/// Returns the inputs of the first recorded run of a file.
fn recorded_inputs(path: &Path, shader: &Shader) -> Result<Inputs, Failure> {
    let vector = recorded::vectors(path)?.next().unwrap_or_else(|| Err(recorded::no_vector(path)))?;
    Ok(vector.inputs(shader))
}

/// Returns the output registers that the shader declares.
fn output_registers(shader: &Shader) -> impl Iterator<Item = u16> + '_ {
    shader.declarations.iter().filter(|d| d.file == File::Output).flat_map(|d| d.first..=d.last)
}

fn as_text(shader: &Shader, result: &RunResult) -> String {
    let outputs = &result.outputs;
    let mut text = String::new();
    let value = |word: u32| format!("{} ({word:#010x})", shortest(word));
    let vector = |words: &[u32]| words.iter().map(|&w| value(w)).collect::<Vec<_>>().join(", ");
    for register in output_registers(shader) {
        for (component, letter) in ["x", "y", "z", "w"].iter().enumerate() {
            let words = outputs.outputs.component(register.into(), component);
            if !words.is_empty() {
                text += &format!("OUT[{register}].{letter}: {}\n", vector(words));
            }
        }
    }
    let killed: Vec<String> =
        outputs.live.iter().enumerate().filter(|(_, live)| !**live).map(|(lane, _)| lane.to_string()).collect();
    if !killed.is_empty() {
        text += &format!("killed lanes: {}\n", killed.join(" "));
    }
    let registers = |list: &[Vec4], prefix: &str| -> String {
        list.iter().enumerate().map(|(r, words)| format!("{prefix}OUT[{r}]: {}\n", vector(words))).collect()
    };
    for (index, vertex) in outputs.vertices.iter().enumerate() {
        text += &format!("vertex {index}\n{}", registers(vertex, "  "));
    }
    for (stream, primitives) in outputs.emitted.iter().enumerate() {
        for (primitive, vertices) in primitives.iter().enumerate() {
            text += &format!("stream {stream} primitive {primitive}\n");
            for (index, vertex) in vertices.iter().enumerate() {
                text += &format!("  vertex {index}\n{}", registers(vertex, "    "));
            }
        }
    }
    for (buffer, bytes) in outputs.buffers.iter().enumerate() {
        text += &format!("BUFFER[{buffer}]: {}\n", hexadecimal(bytes));
    }
    if outputs.shared.iter().any(|&b| b != 0) {
        text += &format!("MEMORY: {}\n", hexadecimal(&outputs.shared));
    }
    for (buffer, counters) in outputs.counters.iter().enumerate() {
        text += &format!("HWATOMIC[{buffer}]: {counters:?}\n");
    }
    for ((image, at, sample), words) in result.texels() {
        text += &format!("IMAGE[{image}] {at:?} sample {sample}: {}\n", vector(&words));
    }
    text += &format!("{} instructions executed\n", outputs.steps);
    text
}

/// Formats the words of a buffer in hexadecimal, without the zeros at the end.
fn hexadecimal(bytes: &[u8]) -> String {
    let used = bytes.iter().rposition(|&b| b != 0).map_or(0, |p| p + 1);
    let words: Vec<String> = bytes[..used.next_multiple_of(4).min(bytes.len())]
        .chunks(4)
        .map(|c| c.iter().rev().map(|b| format!("{b:02x}")).collect::<String>())
        .collect();
    words.join(" ")
}

fn as_json(source: &Source, via: ExecutorKind, shader: &Shader, result: &RunResult) -> String {
    let Outputs { outputs, live, vertices, emitted, buffers, counters, shared, steps } = &result.outputs;
    let has_shared = shader.declarations.iter().any(|d| d.file == File::Memory);
    let mut registers = Map::new();
    for register in output_registers(shader) {
        let components: Vec<&[u32]> = (0..4).map(|c| outputs.component(register.into(), c)).collect();
        registers.insert(register.to_string(), json!(components));
    }
    let value: Value = json!({
        "f": source.name(),
        "via": via.to_string(),
        "out": registers,
        "live": live,
        "vertices": vertices,
        "emitted": emitted,
        "buffers": buffers,
        "counters": counters,
        "shared": if has_shared { shared.as_slice() } else { &[] },
        "texels": result.texels(),
        "steps": steps,
    });
    value.to_string() + "\n"
}

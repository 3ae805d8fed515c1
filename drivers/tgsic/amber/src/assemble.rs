//! Modules of shaders, by the programs `spirv-as` and `glslangValidator`.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use tgsi_ir::shader::ShaderStage;

use crate::error::{Refusal, RefusalKind};
use crate::script::{Attachment, Command as ScriptCommand, Language, Script, Shader};

/// Versions of SPIR-V for an assembly that names none, the first that works.
const VERSIONS: &[&str] = &["spv1.0", "spv1.3", "spv1.4", "spv1.5", "spv1.6"];

/// The modules of the shaders of a script that run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Modules {
    /// The bytes by number of the shader.
    modules: Vec<Option<Vec<u8>>>,
}

impl Modules {
    /// Translates the shaders of the pipelines that commands use.
    ///
    /// # Errors
    /// A program is missing, or reports errors.
    pub fn of(script: &Script) -> Result<Modules, Refusal> {
        let mut modules = vec![None; script.shaders.len()];
        let mut pipelines = Vec::new();
        used(&script.commands, &mut pipelines);
        for pipeline in pipelines {
            let Some(pipeline) = script.pipelines.get(pipeline) else { continue };
            for attachment in &pipeline.stages {
                if let (Some(module @ None), Some(shader)) =
                    (modules.get_mut(attachment.shader), script.shaders.get(attachment.shader))
                {
                    *module = Some(translate(shader, attachment)?);
                }
            }
        }
        Ok(Modules { modules })
    }

    /// The module of a shader.
    pub(crate) fn get(&self, shader: usize) -> Option<&[u8]> {
        self.modules.get(shader)?.as_deref()
    }
}

/// Adds the pipelines that commands run.
fn used(commands: &[(usize, ScriptCommand)], pipelines: &mut Vec<usize>) {
    for (_, command) in commands {
        match command {
            ScriptCommand::Compute(pipeline, _) | ScriptCommand::Draw(pipeline, _) => pipelines.push(*pipeline),
            ScriptCommand::Repeat(_, commands) => used(commands, pipelines),
            _ => {}
        }
    }
}

fn translate(shader: &Shader, attachment: &Attachment) -> Result<Vec<u8>, Refusal> {
    match shader.language {
        Language::SpirvAssembly => assemble(shader),
        Language::SpirvHex => {
            let words = shader.text.split_whitespace().map(|word| {
                let digits = word.trim_end_matches(',').trim_start_matches("0x");
                u32::from_str_radix(digits, 16).ok()
            });
            let words: Option<Vec<u32>> = words.collect();
            let words = words.ok_or_else(|| Refusal::syntax(shader.line, "expected words in hexadecimal digits"))?;
            Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
        }
        Language::Glsl => compile(shader, shader.stage.unwrap_or(attachment.stage)),
    }
}

/// The version of SPIR-V that a remark of a disassembler states.
fn stated_version(text: &str) -> Option<String> {
    let remark = text.lines().find_map(|line| line.trim().strip_prefix("; Version: 1."))?;
    Some(format!("spv1.{}", remark.trim()))
}

fn assemble(shader: &Shader) -> Result<Vec<u8>, Refusal> {
    let stated = shader.environment.clone().or_else(|| stated_version(&shader.text));
    let versions: Vec<&str> = stated.as_deref().map_or_else(|| VERSIONS.to_vec(), |version| vec![version]);
    let mut first = None;
    for version in versions {
        let mut command = Command::new("spirv-as");
        command.args(["--target-env", version, "-o", "-", "-"]);
        let output = run(&mut command, "spirv-as", shader)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        first.get_or_insert_with(|| message(&output));
    }
    Err(Refusal::new(shader.line, RefusalKind::Source, "spirv-as reports errors", first.unwrap_or_default()))
}

fn compile(shader: &Shader, stage: ShaderStage) -> Result<Vec<u8>, Refusal> {
    let stage = match stage {
        ShaderStage::Vertex => "vert",
        ShaderStage::TessCtrl => "tesc",
        ShaderStage::TessEval => "tese",
        ShaderStage::Geometry => "geom",
        ShaderStage::Fragment => "frag",
        _ => "comp",
    };
    let environment = shader.environment.as_deref().unwrap_or("vulkan1.0").replace("spv", "spirv");
    let failed = |error: std::io::Error| {
        Refusal::new(shader.line, RefusalKind::Source, "no temporary folder", error.to_string())
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join("module.spv");
    let mut command = Command::new("glslangValidator");
    command.args(["--stdin", "-V", "-S", stage, "--target-env", &environment, "-o"]).arg(&path);
    let output = run(&mut command, "glslangValidator", shader)?;
    match std::fs::read(&path) {
        Ok(module) if output.status.success() => Ok(module),
        _ => Err(Refusal::new(shader.line, RefusalKind::Source, "glslangValidator reports errors", message(&output))),
    }
}

/// Runs a program with the text of a shader as its input.
fn run(command: &mut Command, name: &str, shader: &Shader) -> Result<Output, Refusal> {
    let failed = |error: std::io::Error| {
        Refusal::new(shader.line, RefusalKind::Source, format!("{name} cannot be run"), error.to_string())
    };
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let input = child.stdin.take();
    std::thread::scope(|scope| {
        // The program may write before it has read everything.
        let writer = scope.spawn(move || input.map(|mut input| input.write_all(shader.text.as_bytes())));
        let output = child.wait_with_output();
        // A program that does not read everything reports why.
        let _ = writer.join();
        output
    })
    .map_err(failed)
}

/// The first lines of a report.
fn message(output: &Output) -> String {
    let bytes = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
    let text = String::from_utf8_lossy(bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "stdin").collect();
    lines.iter().take(2).copied().collect::<Vec<_>>().join(" / ")
}

/// Whether the programs are there.
///
/// # Errors
/// The name of one that is not.
pub fn programs() -> Result<(), String> {
    for name in ["spirv-as", "glslangValidator"] {
        let found = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if found.is_err() {
            return Err(format!("no program {name}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_stated_by_remarks() {
        assert_eq!(stated_version("; SPIR-V\n; Version: 1.3\n; x").as_deref(), Some("spv1.3"));
        assert_eq!(stated_version("OpCapability Shader"), None);
    }

    #[test]
    fn hexadecimal_words_are_a_module() {
        let text = "0x07230203 00010000,\n5".to_owned();
        let mut shader = Shader {
            name: String::new(),
            line: 3,
            stage: Some(ShaderStage::Compute),
            language: Language::SpirvHex,
            environment: None,
            text,
        };
        let attachment = Attachment {
            line: 1,
            shader: 0,
            stage: ShaderStage::Compute,
            entry: "main".to_owned(),
            constants: Vec::new(),
        };
        let module = translate(&shader, &attachment).expect("words");
        assert_eq!(module, [3, 2, 0x23, 7, 0, 0, 1, 0, 5, 0, 0, 0]);
        shader.text = "x".to_owned();
        let error = translate(&shader, &attachment).expect_err("no word");
        assert_eq!(error.line, 3);
    }
}

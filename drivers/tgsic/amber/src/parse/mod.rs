//! The parser of AmberScript.

mod bindings;
mod buffers;
mod commands;
mod pipelines;
#[cfg(test)]
mod tests;

pub(crate) use commands::{in_clip_space, rectangle_strip};
pub(crate) use pipelines::MAX_SIDE;

use std::collections::{BTreeMap, HashMap};

use tgsi_ir::shader::ShaderStage;

use crate::error::Refusal;
use crate::layout::DataType;
use crate::script::{Language, ReadFile, Script, Shader};
use crate::tokens::Tokens;

/// The state of the parser.
struct Parser<'s> {
    tokens: Tokens<'s>,
    files: &'s ReadFile<'s>,
    script: Script,
    names: Names,
    /// Types that the script declares.
    types: BTreeMap<String, DataType>,
    virtual_files: BTreeMap<String, String>,
}

/// Numbers by name.
#[derive(Default)]
struct Names {
    shaders: HashMap<String, usize>,
    buffers: HashMap<String, usize>,
    samplers: HashMap<String, usize>,
    pipelines: HashMap<String, usize>,
}

/// Reads a script.
pub(crate) fn parse<'s>(text: &'s str, files: &'s ReadFile<'s>) -> Result<Script, Refusal> {
    let mut parser = Parser {
        tokens: Tokens::new(text, 1),
        files,
        script: Script::default(),
        names: Names::default(),
        types: BTreeMap::new(),
        virtual_files: BTreeMap::new(),
    };
    while let Some(word) = parser.tokens.first_word() {
        parser.statement(word)?;
    }
    Ok(parser.script)
}

impl<'s> Parser<'s> {
    fn statement(&mut self, word: &'s str) -> Result<(), Refusal> {
        let line = self.tokens.line();
        match word {
            "BUFFER" => self.buffer(),
            "IMAGE" => self.image(),
            "SAMPLER" => self.sampler(),
            "STRUCT" => self.structure(),
            "SHADER" => self.shader(),
            "PIPELINE" => self.pipeline(),
            "DERIVE_PIPELINE" => self.derived_pipeline(),
            "VIRTUAL_FILE" => {
                let name = self.tokens.word("a path")?.to_owned();
                self.tokens.end_of_line("VIRTUAL_FILE")?;
                let (text, _) = self.tokens.text_until_end("VIRTUAL_FILE")?;
                self.virtual_files.insert(name, text.to_owned());
                Ok(())
            }
            // All features are there; this one changes results.
            "DEVICE_FEATURE" if self.tokens.eat("DepthClampZeroOneFeatures.depthClampZeroOne") => {
                self.script.limits_depths = true;
                Ok(())
            }
            "DEVICE_FEATURE" | "DEVICE_EXTENSION" | "INSTANCE_EXTENSION" | "DEVICE_PROPERTY" | "SET" => {
                while self.tokens.try_word().is_some() {}
                Ok(())
            }
            _ => match self.command(word, line)? {
                Some(command) => {
                    self.script.commands.push((line, command));
                    Ok(())
                }
                None => Err(Refusal::command(line, word)),
            },
        }
    }

    /// Reads the name of something new.
    fn new_name(&mut self, what: &str) -> Result<String, Refusal> {
        Ok(self.tokens.word(&format!("the name of a {what}"))?.to_owned())
    }

    /// Looks up a name.
    fn known(&mut self, what: &str, list: impl Fn(&Names) -> &HashMap<String, usize>) -> Result<usize, Refusal> {
        let line = self.tokens.line();
        let name = self.tokens.word(&format!("the name of a {what}"))?;
        let found = list(&self.names).get(name).copied();
        found.ok_or_else(|| Refusal::syntax(line, format!("there is no {what} {name}")))
    }

    fn known_buffer(&mut self) -> Result<usize, Refusal> {
        self.known("buffer", |names| &names.buffers)
    }

    fn known_pipeline(&mut self) -> Result<usize, Refusal> {
        self.known("pipeline", |names| &names.pipelines)
    }

    fn shader(&mut self) -> Result<(), Refusal> {
        let line = self.tokens.line();
        let kind = self.tokens.word("a stage")?;
        let stage = match kind {
            "multi" => None,
            _ => Some(stage_named(kind).ok_or_else(|| Refusal::command(line, format!("SHADER {kind}")))?),
        };
        let name = self.new_name("shader")?;
        let format = self.tokens.word("a language")?;
        if format == "PASSTHROUGH" {
            self.tokens.end_of_line("PASSTHROUGH")?;
            return self.add_shader(passthrough(name, line));
        }
        let language = language_named(format).ok_or_else(|| Refusal::command(line, format!("SHADER {format}")))?;
        let environment =
            if self.tokens.eat("TARGET_ENV") { Some(self.tokens.word("an environment")?.to_owned()) } else { None };
        let text = if self.tokens.eat("VIRTUAL_FILE") {
            let path = self.tokens.word("a path")?;
            let text = self.virtual_files.get(path).cloned();
            self.tokens.end_of_line("SHADER")?;
            text.ok_or_else(|| Refusal::syntax(line, format!("there is no virtual file {path}")))?
        } else if self.tokens.eat("FILE") {
            let path = self.tokens.word("a path")?;
            self.tokens.end_of_line("SHADER")?;
            let bytes = (self.files)(path);
            let bytes = bytes.ok_or_else(|| Refusal::syntax(line, format!("there is no file {path}")))?;
            String::from_utf8_lossy(&bytes).into_owned()
        } else {
            self.tokens.end_of_line("SHADER")?;
            self.tokens.text_until_end("SHADER")?.0.to_owned()
        };
        self.add_shader(Shader { name, line, stage, language, environment, text })
    }

    fn add_shader(&mut self, shader: Shader) -> Result<(), Refusal> {
        if self.names.shaders.insert(shader.name.clone(), self.script.shaders.len()).is_some() {
            return Err(Refusal::syntax(shader.line, format!("a second shader {}", shader.name)));
        }
        self.script.shaders.push(shader);
        Ok(())
    }
}

/// The stage with this name in scripts.
pub(crate) fn stage_named(name: &str) -> Option<ShaderStage> {
    Some(match name {
        "vertex" => ShaderStage::Vertex,
        "tessellation_control" => ShaderStage::TessCtrl,
        "tessellation_evaluation" => ShaderStage::TessEval,
        "geometry" => ShaderStage::Geometry,
        "fragment" => ShaderStage::Fragment,
        "compute" => ShaderStage::Compute,
        _ => return None,
    })
}

fn language_named(name: &str) -> Option<Language> {
    Some(match name {
        "SPIRV-ASM" => Language::SpirvAssembly,
        "SPIRV-HEX" => Language::SpirvHex,
        "GLSL" => Language::Glsl,
        _ => return None,
    })
}

/// The vertex shader whose position is the input at location 0.
pub(crate) fn passthrough(name: String, line: usize) -> Shader {
    const TEXT: &str = "\
               OpCapability Shader
               OpMemoryModel Logical GLSL450
               OpEntryPoint Vertex %main \"main\" %out %position
               OpMemberDecorate %block 0 BuiltIn Position
               OpDecorate %block Block
               OpDecorate %position Location 0
       %void = OpTypeVoid
     %action = OpTypeFunction %void
      %float = OpTypeFloat 32
       %vec4 = OpTypeVector %float 4
        %int = OpTypeInt 32 1
       %zero = OpConstant %int 0
      %block = OpTypeStruct %vec4
  %out_block = OpTypePointer Output %block
   %out_vec4 = OpTypePointer Output %vec4
    %in_vec4 = OpTypePointer Input %vec4
        %out = OpVariable %out_block Output
   %position = OpVariable %in_vec4 Input
       %main = OpFunction %void None %action
      %start = OpLabel
      %value = OpLoad %vec4 %position
      %place = OpAccessChain %out_vec4 %out %zero
               OpStore %place %value
               OpReturn
               OpFunctionEnd
";
    Shader {
        name,
        line,
        stage: Some(ShaderStage::Vertex),
        language: Language::SpirvAssembly,
        environment: Some("spv1.0".to_owned()),
        text: TEXT.to_owned(),
    }
}

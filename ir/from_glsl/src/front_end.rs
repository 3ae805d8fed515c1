//! The front end of GLSL for the compiler.

use std::borrow::Cow;
use std::path::Path;

use tgsi::limits::{LimitInfo, Limits};
use tgsi_compiler::front_end::{FrontEnd, InputError, Interface, ReadRequest, Reader, Reading, Recognition};
use tgsi_compiler::{DriverOption, Source, SourceMap, UnknownOption};
use tgsi_diagnostics::{Diagnostic, ErrorCode, Span};
use tgsi_ir::shader::ShaderStage;

use crate::compile::{Compiled, compile_units};
use crate::extension::{Extension, Extensions};
use crate::joined;
use crate::options::{GlslLimits, GlslOptions};
use crate::shader_test::{self, StageText, is_shader_test};
use crate::stage::{UnitText, stage_name};
use crate::stage_macros::{self, defined_stage, with_stage_macro};
use crate::version::{Profile, Version};

/// The front end of GLSL.
pub static GLSL: Glsl = Glsl;

/// The front end of GLSL: shaders of the OpenGL shading language, desktop and ES.
#[derive(Clone, Copy, Debug)]
pub struct Glsl;

const OPTIONS: &[DriverOption] = &[
    DriverOption {
        name: "stage",
        about: "The stage, such as `stage=vertex`; by default that of the file extension, or that of the variables used",
    },
    DriverOption {
        name: "version",
        about: "The version of shaders without `#version`, such as `version=120` or `version=100`; 110 by default",
    },
    DriverOption { name: "define", about: "Defines a macro: `define=NAME` or `define=NAME=TEXT`" },
    DriverOption {
        name: "extensions",
        about: "The extensions that exist: `extensions=all`, `extensions=none`, or names separated by `+`",
    },
    DriverOption {
        name: "max-version",
        about: "The highest version of desktop GLSL that exists, such as `max-version=120`",
    },
    DriverOption {
        name: "max-es-version",
        about: "The highest version of GLSL ES that exists, such as `max-es-version=100`",
    },
    DriverOption { name: "limit", about: "The value of a constant of the language: `limit=gl_MaxLights=8`" },
];

/// File extensions and the stages that they name.
const STAGES: &[(&str, ShaderStage)] = &[
    ("vert", ShaderStage::Vertex),
    ("vs", ShaderStage::Vertex),
    ("frag", ShaderStage::Fragment),
    ("fs", ShaderStage::Fragment),
    ("geom", ShaderStage::Geometry),
    ("tesc", ShaderStage::TessCtrl),
    ("tese", ShaderStage::TessEval),
    ("comp", ShaderStage::Compute),
];

/// Names and the stages of the texts that have them. The first one counts.
const NAMES: &[(&str, ShaderStage)] = &[
    ("local_size_x", ShaderStage::Compute),
    ("gl_GlobalInvocationID", ShaderStage::Compute),
    ("EmitVertex", ShaderStage::Geometry),
    ("gl_TessCoord", ShaderStage::TessEval),
    ("gl_TessLevelOuter", ShaderStage::TessCtrl),
    ("gl_Position", ShaderStage::Vertex),
    ("ftransform", ShaderStage::Vertex),
];

impl FrontEnd for Glsl {
    fn name(&self) -> &'static str {
        "glsl"
    }

    fn about(&self) -> &'static str {
        "GLSL 1.10 to 4.60 and ES 1.00 to 3.20, all stages, also several in a `.shader_test` file"
    }

    fn file_extensions(&self) -> &'static [&'static str] {
        &["vert", "vs", "frag", "fs", "geom", "tesc", "tese", "comp", "glsl", "shader_test"]
    }

    fn recognize(&self, bytes: &[u8]) -> Recognition {
        if is_shader_test(bytes) { Recognition::Certain } else { recognize(bytes) }
    }

    fn stages(&self, bytes: &[u8]) -> Vec<ShaderStage> {
        match is_shader_test(bytes) {
            true => shader_test::stages(bytes),
            false => stage_macros::stages(bytes),
        }
    }

    fn options(&self) -> &'static [DriverOption] {
        OPTIONS
    }

    fn limits(&self) -> &'static [LimitInfo] {
        Limits::TABLE
    }

    fn error_codes(&self) -> Vec<ErrorCode> {
        crate::error_codes().collect()
    }

    fn explanations(&self) -> &'static str {
        crate::EXPLANATIONS
    }

    fn reader(&self, options: &[&str]) -> Result<Box<dyn Reader>, UnknownOption> {
        let mut reader = GlslReader { stage: None, options: GlslOptions::default() };
        for option in options {
            reader.set(option)?;
        }
        Ok(Box::new(reader))
    }
}

/// Whether the first token of a text begins a GLSL shader. Words that may begin a line of other languages are
/// not certain.
fn recognize(bytes: &[u8]) -> Recognition {
    const CERTAIN: &[&str] = &["uniform", "attribute", "varying", "precision", "layout", "void", "struct", "const"];
    let mut rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    loop {
        rest = rest.trim_ascii_start();
        if let Some(after) = rest.strip_prefix(b"//") {
            let end = after.iter().position(|&byte| byte == b'\n').unwrap_or(after.len());
            rest = after.get(end..).unwrap_or_default();
        } else if let Some(after) = rest.strip_prefix(b"/*") {
            let end = after.windows(2).position(|pair| pair == b"*/").map_or(after.len(), |at| at + 2);
            rest = after.get(end..).unwrap_or_default();
        } else {
            break;
        }
    }
    let length = rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'_').unwrap_or(rest.len());
    let word = rest.get(..length).and_then(|word| std::str::from_utf8(word).ok()).unwrap_or_default();
    let directive = rest.strip_prefix(b"#");
    // Engines have further directives. A word after a blank may be a remark of another language.
    let is_directive = directive.is_some_and(|directive| {
        let name = directive.trim_ascii_start();
        let known = ["version", "extension", "define", "undef", "if", "pragma", "line"];
        directive.first().is_some_and(u8::is_ascii_alphabetic)
            || known.iter().any(|known| name.starts_with(known.as_bytes()))
    });
    if is_directive || CERTAIN.contains(&word) {
        Recognition::Certain
    } else if rest.is_empty() || word.is_empty() && !rest.starts_with(b";") {
        Recognition::No
    } else {
        Recognition::Possible
    }
}

/// The front end with its options set.
#[derive(Clone, Debug)]
struct GlslReader {
    stage: Option<ShaderStage>,
    options: GlslOptions,
}

impl GlslReader {
    fn set(&mut self, option: &str) -> Result<(), UnknownOption> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let problem = |problem: String| UnknownOption { problem: Some(problem), ..UnknownOption::new(name, OPTIONS) };
        let number = |versions: &[u16]| {
            let known = value.parse().ok().filter(|number| versions.contains(number));
            let list = || versions.iter().map(u16::to_string).collect::<Vec<_>>().join(", ");
            known.ok_or_else(|| problem(format!("`{value}` is not a version; there are {}", list())))
        };
        match name {
            "stage" => {
                let named = |stage: &&ShaderStage| stage.name().eq_ignore_ascii_case(value);
                let of_extension = STAGES.iter().find(|(extension, _)| *extension == value).map(|&(_, stage)| stage);
                self.stage = ShaderStage::ALL.iter().find(named).copied().or(of_extension);
                if self.stage.is_none() {
                    return Err(problem(format!("`{value}` is not a stage; there are vertex, fragment and so on")));
                }
            }
            "version" => {
                let number = value.trim_end_matches("es").parse().unwrap_or(0);
                let profile = if Version::ES.contains(&number) {
                    Profile::Es
                } else if !Version::DESKTOP.contains(&number) {
                    let known = Version::DESKTOP.iter().chain(Version::ES).map(u16::to_string).collect::<Vec<_>>();
                    return Err(problem(format!("`{value}` is not a version; there are {}", known.join(", "))));
                } else if number >= 150 {
                    Profile::Core
                } else {
                    Profile::Compatibility
                };
                self.options.default_version = Version { number, profile };
            }
            "define" => {
                let (name, text) = value.split_once('=').unwrap_or((value, "1"));
                // The last definition of a macro counts.
                let of_macro = |name: &str| name.split('(').next().map(str::to_owned);
                self.options.definitions.retain(|(known, _)| of_macro(known) != of_macro(name));
                self.options.definitions.push((name.to_owned(), text.to_owned()));
            }
            "extensions" => {
                self.options.extensions = match value {
                    "all" => Extensions::ALL,
                    "none" => Extensions::default(),
                    names => {
                        let mut set = Extensions::default();
                        for name in names.split('+') {
                            let full = if name.starts_with("GL_") { name.to_owned() } else { format!("GL_{name}") };
                            let extension = Extension::from_name(&full)
                                .ok_or_else(|| problem(format!("`{name}` is not a known extension")))?;
                            set.set(extension, true);
                        }
                        set
                    }
                };
            }
            "max-version" => self.options.max_version = Some(number(Version::DESKTOP)?),
            "max-es-version" => self.options.max_es_version = Some(number(Version::ES)?),
            "limit" => {
                let (constant, value) = value.split_once('=').unwrap_or((value, ""));
                let value = value.parse().map_err(|_| problem(format!("`{constant}` needs a number: `{option}`")))?;
                self.options.constants.set(constant, value).map_err(problem)?;
            }
            _ => return Err(UnknownOption::new(name, OPTIONS)),
        }
        Ok(())
    }

    /// The stage by option, file extension, or the variables of the language that the text names.
    fn stage_of(&self, bytes: &[u8], path: Option<&Path>) -> ShaderStage {
        let extension = path.and_then(Path::extension).and_then(|extension| extension.to_str());
        let of_extension =
            extension.and_then(|extension| STAGES.iter().find(|(name, _)| *name == extension)).map(|&(_, stage)| stage);
        let has = |name: &str| bytes.windows(name.len()).any(|window| window == name.as_bytes());
        self.stage.or(of_extension).unwrap_or_else(|| {
            let found = NAMES.iter().find(|(name, _)| has(name));
            found.map_or(ShaderStage::Fragment, |&(_, stage)| stage)
        })
    }
}

impl GlslReader {
    /// The options with the limits of a request.
    fn limited(&self, limits: &Limits) -> GlslOptions {
        let mut options = self.options.clone();
        options.limits = GlslLimits {
            text_bytes: limits.text_bytes.min(options.limits.text_bytes),
            tokens: limits.tokens.min(options.limits.tokens),
            nesting: u32::try_from(limits.nesting).unwrap_or(u32::MAX).min(options.limits.nesting),
            registers: u32::try_from(limits.registers).unwrap_or(u32::MAX).min(options.limits.registers),
        };
        options
    }

    /// The shader of a request, and its stage.
    ///
    /// # Errors
    /// The input has no shader of the stage, or several and none is chosen.
    fn shader<'a>(
        &self,
        bytes: &'a [u8],
        request: &ReadRequest<'_>,
    ) -> Result<(StageText<'a>, ShaderStage), Box<Diagnostic>> {
        let options = self.limited(request.limits);
        if !is_shader_test(bytes) {
            let units = vec![UnitText { text: bytes, start: 0 }];
            let has_macros = !stage_macros::stages(bytes).is_empty();
            let defined = defined_stage(&options).filter(|_| has_macros);
            let stage = request.stage.or(self.stage).or(defined);
            let stage = stage.unwrap_or_else(|| self.stage_of(bytes, request.path));
            let options = with_stage_macro(bytes, stage, &options).into_owned();
            return Ok((StageText { units, is_in_file: true, options }, stage));
        }
        let whole = Span::new(0, u32::from(!bytes.is_empty()));
        let stage = match (request.stage.or(self.stage), shader_test::stages(bytes).as_slice()) {
            (Some(stage), _) | (None, &[stage]) => stage,
            (None, []) => return Err(Box::new(InputError::NoShader.at(whole))),
            (None, stages) => {
                let places = stages.iter().map(|&stage| stage_name(stage)).collect::<Vec<_>>().join(", ");
                let finding = InputError::SeveralShaders { count: stages.len(), places }
                    .at(whole)
                    .with_hint("choose one by `--front-end-option stage=...`");
                return Err(Box::new(finding));
            }
        };
        match shader_test::shader(bytes, stage, &options) {
            Some(text) => Ok((text, stage)),
            None => Err(Box::new(InputError::NoShader.at(whole))),
        }
    }
}

/// The reading of a compiled shader.
pub(crate) fn reading(compiled: Compiled, bytes: &[u8], is_in_file: bool) -> Reading {
    let Compiled { module, mut findings } = compiled;
    let mut interface = Interface::default();
    let source = module.map(|module| {
        let start = Some(Span::new(0, u32::from(!bytes.is_empty())));
        let origins = if is_in_file { module.origins } else { Vec::new() };
        interface = module.interface;
        Source::Ir(Cow::Owned(module.shader), SourceMap::new(start, origins))
    });
    if !is_in_file {
        findings.iter_mut().for_each(|finding| finding.span = Span::default());
    }
    Reading { interface, ..Reading::new(source, findings) }
}

impl Reader for GlslReader {
    fn read(&self, bytes: &[u8], request: &ReadRequest<'_>) -> Reading {
        match self.shader(bytes, request) {
            Ok((text, stage)) => reading(compile_units(&text.units, stage, &text.options), bytes, text.is_in_file),
            Err(finding) => Reading::new(None, vec![*finding]),
        }
    }

    fn read_pipeline(&self, inputs: &[(&[u8], ReadRequest<'_>)]) -> Vec<Reading> {
        let shaders: Vec<_> = inputs.iter().map(|(bytes, request)| self.shader(bytes, request)).collect();
        if shaders.iter().any(Result::is_err) {
            return inputs.iter().map(|(bytes, request)| self.read(bytes, request)).collect();
        }
        let shaders: Vec<(StageText<'_>, ShaderStage)> = shaders.into_iter().flatten().collect();
        let texts: Vec<&[u8]> = inputs.iter().map(|&(bytes, _)| bytes).collect();
        joined::read(&texts, &shaders)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shaders_are_recognized() {
        for (text, expected) in [
            (&b"#version 120\nvoid main() {}"[..], Recognition::Certain),
            (b"// a remark\n/* and another */ uniform vec4 a;", Recognition::Certain),
            (b"vec4 f() { return vec4(0.0); }", Recognition::Possible),
            (b"", Recognition::No),
            (b"\x02\x02\x00\x00", Recognition::No),
        ] {
            assert_eq!(recognize(text), expected, "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn macros_make_the_shaders_of_two_stages() {
        let text = b"#if defined(VERTEX)\nvoid main() { gl_Position = vec4(1.0); }\n#elif defined(FRAGMENT)\n\
                     void main() { gl_FragColor = vec4(1.0); }\n#endif\n";
        assert_eq!(GLSL.stages(text), [ShaderStage::Vertex, ShaderStage::Fragment]);
        assert_eq!(GLSL.stages(b"#ifdef VERTEX_COLOR\n#elif defined(FRAGMENT)\n#endif"), []);
        let limits = Limits::default();
        for (option, stage) in [
            (None, Some(ShaderStage::Vertex)),
            (None, Some(ShaderStage::Fragment)),
            (Some("define=FRAGMENT"), None),
            (Some("stage=vertex"), None),
            (None, None),
        ] {
            let reader = GLSL.reader(option.as_slice()).expect("a reader");
            let reading = reader.read(text, &ReadRequest { limits: &limits, compiler: None, path: None, stage });
            assert!(reading.is_valid(), "{option:?} {stage:?} {:?}", reading.findings);
        }
    }

    #[test]
    fn the_last_definition_counts() {
        let mut reader = GlslReader { stage: None, options: GlslOptions::default() };
        for option in ["define=A=1", "define=B", "define=A=2", "define=A(x)=x"] {
            reader.set(option).unwrap();
        }
        let pair = |(name, text): (&str, &str)| (name.to_owned(), text.to_owned());
        assert_eq!(reader.options.definitions, [("B", "1"), ("A(x)", "x")].map(pair));
    }

    #[test]
    fn options_are_checked() {
        assert!(GLSL.reader(&["stage=vertex", "version=120", "define=A=2", "extensions=none"]).is_ok());
        assert!(GLSL.reader(&["max-version=120", "max-es-version=100", "limit=gl_MaxLights=8"]).is_ok());
        let wrong = ["stage=pixel", "version=115", "extensions=GL_NO_such", "colour", "max-version=100"];
        for wrong in wrong.into_iter().chain(["max-es-version=120", "limit=gl_MaxLights", "limit=gl_Max=3"]) {
            assert!(GLSL.reader(&[wrong]).is_err(), "{wrong}");
        }
    }
}

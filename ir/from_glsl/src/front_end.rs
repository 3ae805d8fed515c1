//! The front end of GLSL for the compiler.

use std::borrow::Cow;
use std::path::Path;

use tgsi::limits::{LimitInfo, Limits};
use tgsi_compiler::front_end::{FrontEnd, ReadRequest, Reader, Reading, Recognition};
use tgsi_compiler::{DriverOption, Source, SourceMap, UnknownOption};
use tgsi_diagnostics::{ErrorCode, Span};
use tgsi_ir::shader::ShaderStage;

use crate::extension::{Extension, Extensions};
use crate::options::{GlslLimits, GlslOptions};
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

impl FrontEnd for Glsl {
    fn name(&self) -> &'static str {
        "glsl"
    }

    fn about(&self) -> &'static str {
        "GLSL 1.10, 1.20 and ES 1.00: vertex and fragment shaders"
    }

    fn file_extensions(&self) -> &'static [&'static str] {
        &["vert", "vs", "frag", "fs", "geom", "tesc", "tese", "comp", "glsl"]
    }

    fn recognize(&self, bytes: &[u8]) -> Recognition {
        recognize(bytes)
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
    let directive = rest.strip_prefix(b"#").map(<[u8]>::trim_ascii_start);
    let is_directive = directive.is_some_and(|directive| {
        ["version", "extension", "define", "if", "ifdef", "ifndef", "pragma", "line", "undef"]
            .iter()
            .any(|name| directive.starts_with(name.as_bytes()))
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
            if has("gl_Position") || has("ftransform") { ShaderStage::Vertex } else { ShaderStage::Fragment }
        })
    }
}

impl Reader for GlslReader {
    fn read(&self, bytes: &[u8], request: &ReadRequest<'_>) -> Reading {
        let limits = request.limits;
        let mut options = self.options.clone();
        options.limits = GlslLimits {
            text_bytes: limits.text_bytes.min(options.limits.text_bytes),
            tokens: limits.tokens.min(options.limits.tokens),
            nesting: u32::try_from(limits.nesting).unwrap_or(u32::MAX).min(options.limits.nesting),
            registers: u32::try_from(limits.registers).unwrap_or(u32::MAX).min(options.limits.registers),
        };
        let stage = self.stage_of(bytes, request.path);
        let compiled = crate::compile(bytes, stage, &options);
        let source = compiled.module.map(|module| {
            let start = Some(Span::new(0, u32::from(!bytes.is_empty())));
            Source::Ir(Cow::Owned(module.shader), SourceMap::new(start, module.origins))
        });
        Reading { source, findings: compiled.findings }
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
    fn options_are_checked() {
        assert!(GLSL.reader(&["stage=vertex", "version=120", "define=A=2", "extensions=none"]).is_ok());
        for wrong in ["stage=pixel", "version=115", "extensions=GL_NO_such", "colour"] {
            assert!(GLSL.reader(&[wrong]).is_err(), "{wrong}");
        }
    }
}

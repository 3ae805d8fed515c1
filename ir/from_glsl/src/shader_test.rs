//! Files of several shaders (`.shader_test`), as piglit and shader-db have them.
//!
//! ```text
//! [require]
//! GLSL >= 1.20
//!
//! [vertex shader]
//! ...
//! [fragment shader]
//! ...
//! [test]
//! uniform vec4 color 1 0 0 1
//! draw rect -1 -1 2 2
//! ```
//!
//! A line that begins with `[` and ends with `]` begins a section. A stage without a section, or with the section
//! `[vertex shader passthrough]`, is that of the fixed-function pipeline. Shaders without `#version` have the version
//! that the file requires.

use tgsi_ir::shader::ShaderStage;

use crate::options::GlslOptions;
use crate::stage::UnitText;
use crate::version::{Profile, Version};

/// The heads of sections with shaders.
const SHADERS: &[(&str, ShaderStage)] = &[
    ("vertex shader", ShaderStage::Vertex),
    ("tessellation control shader", ShaderStage::TessCtrl),
    ("tessellation evaluation shader", ShaderStage::TessEval),
    ("geometry shader", ShaderStage::Geometry),
    ("fragment shader", ShaderStage::Fragment),
    ("compute shader", ShaderStage::Compute),
];

/// The section for the vertex shader that forwards the position.
const PASSTHROUGH: &str = "vertex shader passthrough";

/// The vertex shader of the section [`PASSTHROUGH`].
const PASSTHROUGH_TEXT: &str = "attribute vec4 piglit_vertex; void main() { gl_Position = piglit_vertex; }";
/// The same, in versions without `attribute`.
const PASSTHROUGH_IN: &str = "in vec4 piglit_vertex; void main() { gl_Position = piglit_vertex; }";

/// The vertex shader of a file without one: position, colours and texture coordinates of the fixed-function pipeline.
const FIXED_VERTEX: &str = "void main() {\n\
    gl_Position = ftransform(); gl_FrontColor = gl_Color; gl_FrontSecondaryColor = gl_SecondaryColor;\n\
    gl_TexCoord[0] = gl_TextureMatrix[0] * gl_MultiTexCoord0; gl_TexCoord[1] = gl_TextureMatrix[1] * gl_MultiTexCoord1;\n\
    gl_TexCoord[2] = gl_TextureMatrix[2] * gl_MultiTexCoord2; gl_TexCoord[3] = gl_TextureMatrix[3] * gl_MultiTexCoord3;\n\
    gl_FogFragCoord = gl_FogCoord;\n}\n";

/// The fragment shader of a file without one: the colour.
const FIXED_FRAGMENT: &str = "void main() { gl_FragColor = gl_Color; }\n";

/// A section: its head without brackets, and the bytes after the line of the head.
#[derive(Clone, Copy, Debug)]
struct Section<'a> {
    head: &'a str,
    start: usize,
    text: &'a [u8],
}

/// The sections of a file.
fn sections(bytes: &[u8]) -> Vec<Section<'_>> {
    let mut found: Vec<Section<'_>> = Vec::new();
    for at in memchr::memchr_iter(b'[', bytes) {
        let is_line_start = at.checked_sub(1).is_none_or(|before| bytes.get(before) == Some(&b'\n'));
        if !is_line_start {
            continue;
        }
        let rest = bytes.get(at..).unwrap_or_default();
        let length = memchr::memchr(b'\n', rest).map_or(rest.len(), |end| end + 1);
        let line = rest.get(..length).unwrap_or_default().trim_ascii_end();
        let head = line.strip_prefix(b"[").and_then(|line| line.strip_suffix(b"]"));
        let Some(head) = head.and_then(|head| std::str::from_utf8(head).ok()) else { continue };
        if let Some(section) = found.last_mut() {
            section.text = bytes.get(section.start..at).unwrap_or_default();
        }
        let start = at + length;
        found.push(Section { head: head.trim(), start, text: bytes.get(start..).unwrap_or_default() });
    }
    found
}

/// Whether a text is such a file: its first line that is neither empty nor a comment is the head of a section.
pub(crate) fn is_shader_test(bytes: &[u8]) -> bool {
    let lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    // Remarks in the language of shaders occur before the first section.
    let first = lines.take(400).find(|line| line.starts_with(b"[") && line.ends_with(b"]"));
    first.is_some_and(|line| {
        let inner = line.get(1..line.len() - 1).unwrap_or_default();
        let is_shader = |&(head, _): &(&str, ShaderStage)| inner == head.as_bytes();
        inner == b"require" || inner == PASSTHROUGH.as_bytes() || SHADERS.iter().any(is_shader)
    })
}

/// The stages that a file has shaders for, in pipeline order.
pub(crate) fn stages(bytes: &[u8]) -> Vec<ShaderStage> {
    let sections = sections(bytes);
    let has = |head: &str| sections.iter().any(|section| section.head == head);
    SHADERS.iter().filter(|(head, _)| has(head)).map(|&(_, stage)| stage).collect()
}

/// The shader of a stage.
pub(crate) struct StageText<'a> {
    /// Its units.
    pub(crate) units: Vec<UnitText<'a>>,
    /// Whether the file has it; otherwise it has no positions.
    pub(crate) is_in_file: bool,
    /// The options for its version.
    pub(crate) options: GlslOptions,
}

/// The shader of a stage of a file. Vertex and fragment shaders that are missing are those of the fixed-function
/// pipeline.
pub(crate) fn shader<'a>(bytes: &'a [u8], stage: ShaderStage, options: &GlslOptions) -> Option<StageText<'a>> {
    let sections = sections(bytes);
    let mut options = options.clone();
    if options.default_version == Version::DEFAULT
        && let Some(version) = required_version(&sections)
    {
        options.default_version = version;
    }
    let requires = |needed: &str| {
        let is_line = |line: &[u8]| line.trim_ascii() == needed.as_bytes();
        let mut required = sections.iter().filter(|section| section.head == "require");
        required.any(|section| section.text.split(|&byte| byte == b'\n').any(is_line))
    };
    options.is_separable |= requires("SEPARABLE PROGRAM ENABLED");
    options.has_separate_programs |= requires("SSO ENABLED");
    let version = options.default_version;
    let head = SHADERS.iter().find(|&&(_, other)| other == stage).map(|&(head, _)| head)?;
    let of_stage = sections.iter().filter(|section| section.head == head);
    let units: Vec<UnitText<'a>> = of_stage
        .map(|section| UnitText {
            text: bytes.get(..section.start + section.text.len()).unwrap_or_default(),
            start: section.start as u32,
        })
        .collect();
    if !units.is_empty() {
        return Some(StageText { units, is_in_file: true, options });
    }
    let is_passthrough = sections.iter().any(|section| section.head == PASSTHROUGH);
    let has_attributes = if version.is_es() { version.number < 300 } else { version.number < 130 };
    let text = match stage {
        ShaderStage::Vertex if is_passthrough && has_attributes => PASSTHROUGH_TEXT,
        ShaderStage::Vertex if is_passthrough => PASSTHROUGH_IN,
        // The fixed-function pipeline works with every version.
        ShaderStage::Vertex | ShaderStage::Fragment => {
            options.default_version = Version::DEFAULT;
            if stage == ShaderStage::Vertex { FIXED_VERTEX } else { FIXED_FRAGMENT }
        }
        _ => return None,
    };
    Some(StageText { units: vec![UnitText { text: text.as_bytes(), start: 0 }], is_in_file: false, options })
}

/// The version that a file requires: `GLSL >= 1.20`, `GLSL ES >= 1.00`.
fn required_version(sections: &[Section<'_>]) -> Option<Version> {
    let section = sections.iter().find(|section| section.head == "require")?;
    let text = std::str::from_utf8(section.text).ok()?;
    text.lines().find_map(|line| {
        let rest = line.trim().strip_prefix("GLSL")?.trim_start();
        let (is_es, rest) = rest.strip_prefix("ES").map_or((false, rest), |rest| (true, rest));
        let number = rest.trim_start_matches(['>', '=', ' ', '\t']).split_whitespace().next()?;
        let (major, minor) = number.split_once('.')?;
        let number = major.parse::<u16>().ok()?.checked_mul(100)?.checked_add(minor.parse().ok()?)?;
        let profile = match (is_es, number) {
            (true, _) => Profile::Es,
            (false, 150..) => Profile::Core,
            (false, _) => Profile::Compatibility,
        };
        let known = if is_es { Version::ES } else { Version::DESKTOP };
        known.contains(&number).then_some(Version { number, profile })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &[u8] =
        b"# a remark\n[require]\nGLSL >= 1.20\n[vertex shader passthrough]\n\n[fragment shader]\nuniform \
        vec4 c;\nvoid main() { gl_FragColor = c; }\n[test]\nprobe rgba 1 1 1 1 1 1\n";

    #[test]
    fn sections_are_found() {
        assert!(is_shader_test(FILE));
        assert!(!is_shader_test(b"uniform vec4 a[\n2\n];"));
        assert_eq!(stages(FILE), [ShaderStage::Fragment]);
        let fragment = shader(FILE, ShaderStage::Fragment, &GlslOptions::default()).expect("a shader");
        let unit = fragment.units[0];
        assert_eq!(&unit.text[unit.start as usize..], b"uniform vec4 c;\nvoid main() { gl_FragColor = c; }\n");
        assert_eq!(fragment.options.default_version.number, 120);
        let vertex = shader(FILE, ShaderStage::Vertex, &GlslOptions::default()).expect("a shader");
        assert_eq!(vertex.units[0].text, PASSTHROUGH_TEXT.as_bytes());
    }

    #[test]
    fn missing_stages_are_fixed_functions() {
        let file = b"[require]\nGLSL ES >= 1.00\n[fragment shader]\nvoid main() { }\n";
        let vertex = shader(file, ShaderStage::Vertex, &GlslOptions::default()).expect("a shader");
        let compiled = crate::compile(vertex.units[0].text, ShaderStage::Vertex, &vertex.options);
        assert!(compiled.module.is_some(), "{:?}", compiled.findings);
        assert!(shader(file, ShaderStage::Geometry, &GlslOptions::default()).is_none());
    }
}

//! The parts of a file that are not shaders.

use tgsi_ir::shader::ShaderStage;

use crate::command::Command;
use crate::vertex_data::VertexData;
use crate::words::Words;

/// The size of the window, unless the file requires another.
const SIZE: (u32, u32) = (250, 250);
/// The largest side of the window.
const MAX_SIDE: u32 = 4096;

/// The vertex shader of the section `[vertex shader passthrough]`, as TGSI: the position is attribute 0.
pub const PASSTHROUGH: &str = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nMOV OUT[0], IN[0]\nEND\n";

/// Sections of SPIR-V text, and those of specialisation constants.
const SPIRV: &[(&str, &str, ShaderStage)] = &[
    ("vertex shader spirv", "vertex shader specializations", ShaderStage::Vertex),
    ("fragment shader spirv", "fragment shader specializations", ShaderStage::Fragment),
    ("compute shader spirv", "compute shader specializations", ShaderStage::Compute),
];

/// Sections of shaders in the language of the front end that reads the file.
const SECTIONS: &[(&str, ShaderStage)] = &[
    ("vertex shader", ShaderStage::Vertex),
    ("vertex shader passthrough", ShaderStage::Vertex),
    ("tessellation control shader", ShaderStage::TessCtrl),
    ("tessellation evaluation shader", ShaderStage::TessEval),
    ("geometry shader", ShaderStage::Geometry),
    ("fragment shader", ShaderStage::Fragment),
    ("compute shader", ShaderStage::Compute),
];

/// A shader of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShaderText {
    /// SPIR-V text, and the options for the front end of SPIR-V.
    Spirv(String, Vec<String>),
    /// The vertex shader that forwards the position: [`PASSTHROUGH`].
    Passthrough,
    /// A section for the front end that reads the file.
    Section,
}

/// The test of a file.
#[derive(Clone, Default, Debug)]
pub struct Script {
    /// Width and height of the window in pixels.
    pub size: (u32, u32),
    /// Commands with their lines, from 1.
    pub(crate) commands: Vec<(usize, Command)>,
    pub(crate) vertices: VertexData,
    /// Whether comparisons of depths give one float: from GLSL 1.30 on.
    pub(crate) has_new_comparisons: bool,
    /// Whether the shaders are those in SPIR-V.
    requires_spirv: bool,
    has_passthrough: bool,
    /// The stages with sections for the front end that reads the file.
    stages: Vec<ShaderStage>,
    spirv: Vec<(ShaderStage, String)>,
    specialization: Vec<(ShaderStage, String)>,
}

impl Script {
    /// Reads the sections `[require]`, `[vertex data]` and `[test]`. Lines that are not commands are failures when they
    /// are played.
    pub fn new(file: &str) -> Script {
        let mut script = Script { size: SIZE, ..Script::default() };
        let mut section = "";
        for (number, line) in (1..).zip(file.lines()) {
            let trimmed = line.trim();
            if let Some(head) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                section = head.trim();
                script.has_passthrough |= section == "vertex shader passthrough";
                script.stages.extend(SECTIONS.iter().find(|(head, _)| *head == section).map(|&(_, stage)| stage));
                continue;
            }
            if let Some(&(_, _, stage)) = SPIRV.iter().find(|&&(head, ..)| head == section) {
                match script.spirv.iter_mut().find(|(known, _)| *known == stage) {
                    Some((_, text)) => *text += &format!("{line}\n"),
                    None => script.spirv.push((stage, format!("{line}\n"))),
                }
                continue;
            }
            let content = trimmed.split('#').next().unwrap_or_default().trim();
            if content.is_empty() {
                continue;
            }
            match section {
                "require" => script.require(content),
                "vertex data" => script.vertices.add(content),
                "test" => script.commands.push((number, Command::parse(content))),
                _ => {
                    if let Some(&(_, _, stage)) = SPIRV.iter().find(|&&(_, head, _)| head == section)
                        && let Some(option) = specialization(content)
                    {
                        script.specialization.push((stage, option));
                    }
                }
            }
        }
        script
    }

    /// Whether the shaders are those of the sections in SPIR-V: the file has some, and requires or prefers them.
    pub fn is_spirv(&self) -> bool {
        self.requires_spirv && !self.spirv.is_empty()
    }

    /// The shaders of the file, in pipeline order. Without SPIR-V the front end reads them from the file: a compute
    /// shader, or the vertex and the fragment shader, and those between them that the file has.
    pub fn shaders(&self) -> Vec<(ShaderStage, ShaderText)> {
        let stages = [ShaderStage::Vertex, ShaderStage::Fragment, ShaderStage::Compute];
        if !self.is_spirv() {
            let is_compute = self.stages.contains(&ShaderStage::Compute);
            let has = |stage: ShaderStage| match stage {
                ShaderStage::Vertex | ShaderStage::Fragment => !is_compute,
                _ => self.stages.contains(&stage),
            };
            let mut all: Vec<ShaderStage> =
                SECTIONS.iter().map(|&(_, stage)| stage).filter(|&stage| has(stage)).collect();
            all.dedup();
            return all.into_iter().map(|stage| (stage, ShaderText::Section)).collect();
        }
        let text = |stage: ShaderStage| {
            let Some((_, text)) = self.spirv.iter().find(|(known, _)| *known == stage) else {
                return (stage == ShaderStage::Vertex && self.has_passthrough).then_some(ShaderText::Passthrough);
            };
            let of_stage = self.specialization.iter().filter(|(known, _)| *known == stage);
            let mut options = vec!["environment=opengl".to_owned()];
            options.extend(of_stage.map(|(_, option)| option.clone()));
            Some(ShaderText::Spirv(text.clone(), options))
        };
        stages.into_iter().filter_map(|stage| Some((stage, text(stage)?))).collect()
    }

    fn require(&mut self, line: &str) {
        let mut words = line.split_whitespace();
        if line.split_whitespace().eq(["SPIRV", "YES"]) || line.split_whitespace().eq(["SPIRV", "ONLY"]) {
            self.requires_spirv = true;
        }
        if let Some(version) = line.strip_prefix("GLSL") {
            let number = version.trim_start_matches(|c: char| !c.is_ascii_digit());
            self.has_new_comparisons = number.parse().is_ok_and(|number: f32| number >= 1.3);
        }
        let side = |word: Option<&str>| word?.parse().ok().filter(|side| (1..=MAX_SIDE).contains(side));
        if words.next() == Some("SIZE")
            && let (Some(width), Some(height)) = (side(words.next()), side(words.next()))
        {
            self.size = (width, height);
        }
    }

    /// Whether the file expects that the shaders do not compile or link.
    pub fn expects_link_error(&self) -> bool {
        self.commands.iter().any(|(_, command)| *command == Command::LinkError)
    }

    /// The lines of commands that cannot be played.
    pub fn unknown(&self) -> impl Iterator<Item = (usize, &str)> {
        self.commands.iter().filter_map(|(line, command)| match command {
            Command::Unknown(text) => Some((*line, text.as_str())),
            _ => None,
        })
    }
}

/// The option of a specialisation constant: `float 5 0.25`.
fn specialization(line: &str) -> Option<String> {
    let mut words = Words::new(line);
    let (ty, id, value) = (words.next()?, words.uint()?, words.number()?);
    let bits = match ty.as_str() {
        "float" => (value as f32).to_bits().into(),
        "double" => value.to_bits(),
        "int" | "uint" | "bool" => u64::from(value as i64 as u32),
        _ => return None,
    };
    Some(format!("spec={id}:{bits:#x}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn spirv_precedes_other_languages() {
        let file = "[require]\nSPIRV YES\n[vertex shader passthrough]\n[fragment shader]\nvoid main() {}\n\
            [fragment shader spirv]\n; x\nOpCapability Shader\n[fragment shader specializations]\nuint 3 42\n\
            float 5 0.5\n[test]\nlink success\n";
        let options = ["environment=opengl", "spec=3:0x2a", "spec=5:0x3f000000"].map(str::to_owned).to_vec();
        let spirv = ShaderText::Spirv("; x\nOpCapability Shader\n".to_owned(), options);
        let expected = vec![(ShaderStage::Vertex, ShaderText::Passthrough), (ShaderStage::Fragment, spirv)];
        assert_eq!(Script::new(file).shaders(), expected);
        let script = Script::new(&file.replace("SPIRV YES", "SPIRV NO"));
        assert!(!script.is_spirv());
        assert_eq!(script.shaders()[1], (ShaderStage::Fragment, ShaderText::Section));
        let stages = |file: &str| -> Vec<ShaderStage> {
            Script::new(file).shaders().into_iter().map(|(stage, _)| stage).collect()
        };
        let geometry = [ShaderStage::Vertex, ShaderStage::Geometry, ShaderStage::Fragment];
        assert_eq!(stages("[vertex shader]\n[geometry shader]\n[geometry shader]\n"), geometry);
        assert_eq!(stages("[compute shader]\n"), [ShaderStage::Compute]);
    }
}

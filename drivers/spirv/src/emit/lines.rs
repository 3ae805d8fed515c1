//! Source lines: `OpLine` before the code of each TGSI instruction. The source is the printed text of the shader,
//! embedded as `OpSource`, so that positions are right whatever form the shader was read from.

use spirv::Op;
use tgsi::text::PrintOptions;
use tgsi_ir::Inst;

use super::Emitter;
use crate::module::{Id, Module};

/// The file name of the text.
const FILE: &str = "shader.tgsi";

/// The positions of the instructions in a source.
#[derive(Debug, Default)]
pub struct Lines {
    file: Option<Id>,
    /// The line of each instruction, from 1.
    lines: Vec<u32>,
    /// The current line.
    current: u32,
}

impl Lines {
    /// Embeds the text of a source in the module.
    pub fn of(source: &tgsi::Shader, module: &mut Module) -> Lines {
        let text = tgsi::text::print(source, PrintOptions::default());
        // Instructions begin with their number and a colon, in order.
        let is_instruction = |line: &str| {
            let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
            rest.starts_with(':') && !line.trim_start().starts_with(':')
        };
        let numbered = text.lines().zip(1..).filter(|(line, _)| is_instruction(line));
        let lines = numbered.map(|(_, number)| number).collect();
        let file = module.string(FILE);
        module.source(file, text);
        Lines { file: Some(file), lines, current: 0 }
    }
}

impl Emitter<'_> {
    /// Records the origin of an instruction, and emits its line if it differs from the current one.
    pub(super) fn emit_line(&mut self, inst: Inst) {
        if let Some(origin) = self.body.origin(inst) {
            self.origins.push((self.code.len() as u32, origin));
        }
        let Some(file) = self.lines.file else { return };
        let number = self.body.origin(inst).and_then(|number| self.lines.lines.get(number as usize).copied());
        if let Some(line) = number.filter(|&line| line != self.lines.current) {
            self.lines.current = line;
            self.push(Op::Line, &[file.0, line, 1]);
        }
    }

    /// Resets the line: `OpLine` applies up to the end of its block.
    pub(super) fn forget_line(&mut self) {
        self.lines.current = 0;
    }
}

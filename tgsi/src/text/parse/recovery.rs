//! The result of parsing a text with errors: the part of the shader that was understood, and the skipped parts.
//!
//! An instruction that was not understood is replaced by a placeholder, so that later ones keep their numbers and
//! blocks stay closed: the same opcode without operands if it is known to open, divide, close or leave a block,
//! otherwise `NOP`. Analyses of the shader must not report anything that could be caused by a skipped part.

use super::Parser;
use crate::shader::{Instruction, Shader};
use crate::tables::lookup::Word;
use crate::tables::{File, Opcode};
use crate::text::{legacy, lexer};
use tgsi_diagnostics::Diagnostic;
use tgsi_diagnostics::Span;
use tgsi_diagnostics::suggest;

/// The result of parsing a text that may have errors.
#[derive(Clone, PartialEq, Debug)]
pub struct ParseResult {
    /// The shader; spans are byte ranges of the text.
    pub shader: Shader,
    /// Errors and warnings, sorted by position.
    pub diagnostics: Vec<Diagnostic>,
    /// The parts that were not understood, or none if the text has no errors.
    pub skipped: Option<SkippedParts>,
}

/// The parts of a text that were not understood.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct SkippedParts {
    /// Files (one bit each) with possibly unknown registers.
    pub files: u32,
    /// Some property is unknown.
    pub properties: bool,
    /// Some instruction is unknown.
    pub instructions: bool,
    /// Some unknown instruction may have opened, divided or closed a block, or begun a subroutine.
    pub structure: bool,
    /// Almost nothing is known: the stage is missing, or there are too many errors.
    pub unrecoverable: bool,
}

impl SkippedParts {
    /// Whether unknown registers of a file may be declared.
    pub fn may_declare(&self, file: File) -> bool {
        self.files >> file as u32 & 1 != 0
    }
}

/// Numbers of items parsed so far: declarations, immediates, properties, instructions.
type ItemCounts = [usize; 4];

impl Parser<'_> {
    pub(super) fn counts(&self) -> ItemCounts {
        let shader = &self.shader;
        [shader.declarations.len(), shader.immediates.len(), shader.properties.len(), shader.instructions.len()]
    }

    /// Records that lines may be wrongly included or excluded.
    pub(super) fn skip_everything(&mut self) {
        self.skipped =
            SkippedParts { files: u32::MAX, properties: true, instructions: true, structure: true, ..self.skipped };
    }

    /// Records the kind of the statement that begins at `start`, unless it was added to the shader.
    #[cold]
    pub(super) fn record_skipped(&mut self, start: usize, before: ItemCounts) {
        let after = self.counts();
        let text = lexer::skip_blanks(self.text.get(start..).unwrap_or_default());
        let number = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let numbered = text.get(number..).filter(|rest| number > 0 && rest.first() == Some(&b':'));
        let mut statement = lexer::skip_blanks(numbered.map_or(text, |rest| rest.get(1..).unwrap_or_default()));
        if statement.first() == Some(&b'(') {
            let end = statement.iter().take(64).position(|&byte| byte == b')').map_or(statement.len(), |end| end + 1);
            statement = lexer::skip_blanks(statement.get(end..).unwrap_or_default());
        }
        let position = self.text.len() - statement.len();
        let position =
            Span::new(position as u32, (position + lexer::word(statement).map_or(0, |word| word.len())) as u32);
        let Some(word) = lexer::word(statement) else {
            if numbered.is_some() {
                self.skip_instruction(Opcode::Nop, position);
            }
            return;
        };
        if word.is("DCL") {
            if after[0] == before[0] {
                let register = lexer::skip_blanks(statement.get(word.len()..).unwrap_or_default());
                let file = lexer::word(register).and_then(File::from_word);
                self.skipped.files |= file.map_or(u32::MAX, |file| 1 << file as u32);
            }
        } else if word.is("IMM") {
            // The immediate exists, as zeros, possibly with another number.
            self.skipped.files |= 1 << File::Immediate as u32;
        } else if word.is("PROPERTY") {
            self.skipped.properties |= after[2] == before[2];
        } else if after[3] == before[3] {
            self.unknown_instruction(word, position);
        } else {
            self.skipped.instructions = true;
        }
    }

    fn unknown_instruction(&mut self, word: Word<'_>, position: Span) {
        use Opcode::*;
        let (name, _) = legacy::split_suffixes(word);
        let counts = |opcode: Opcode| opcode.block().is_some() || matches!(opcode, Brk | Cont | Ret | End);
        match Opcode::from_word(name) {
            Some(opcode) if counts(opcode) => self.skip_instruction(opcode, position),
            Some(_) => self.skip_instruction(Nop, position),
            None => {
                let names = Opcode::ALL.iter().map(|opcode| opcode.name());
                let meant = suggest(name.as_str(), names).and_then(Opcode::from_name);
                self.skipped.structure |= legacy::opcode(name).is_some() || meant.is_some_and(counts);
                self.skip_instruction(Nop, position);
            }
        }
    }

    fn skip_instruction(&mut self, opcode: Opcode, position: Span) {
        self.skipped.instructions = true;
        self.shader.push_instruction(Instruction { span: position, ..Instruction::new(opcode) });
    }
}

//! Lines that begin with `#`. Mesa's old compute tests used the C preprocessor; their texts have object-like macros and
//! conditionals, always of whole lines. All other lines that begin with `#` are comments.

use hashbrown::HashMap;

use super::{Parse, Parser};
use crate::limits::{MAX_DIAGNOSTICS, MAX_MACROS};
use crate::tables::lookup::Word;
use crate::text::error::ParseErrorKind;
use crate::text::lexer;
use tgsi_diagnostics::Span;

/// Macro definitions and open conditionals.
#[derive(Default)]
pub(super) struct Preprocessor<'a> {
    /// Maps a name to the range of its definition.
    definitions: HashMap<&'a [u8], Span>,
    /// For each open conditional: its position, whether its current part is active, whether any of its parts was
    /// active.
    conditionals: Vec<Conditional>,
}

struct Conditional {
    position: Span,
    active: bool,
    taken: bool,
}

impl<'a> Preprocessor<'a> {
    /// Returns the definition of a name.
    pub(super) fn definition(&self, name: Word<'_>) -> Option<Span> {
        if self.definitions.is_empty() { None } else { self.definitions.get(name.bytes()).copied() }
    }

    fn active(&self) -> bool {
        self.conditionals.last().is_none_or(|conditional| conditional.active)
    }
}

impl<'a> Parser<'a> {
    /// Skips blanks, comments and directives, and the inactive lines of conditionals.
    pub(super) fn preprocess(&mut self) {
        while self.errors < MAX_DIAGNOSTICS {
            // Blanks only: a `#` must not be skipped.
            if self.blanks.from == self.at {
                self.at = self.blanks.comment;
            } else {
                self.advance_to(lexer::skip_only_blanks(self.rest()));
            }
            if self.peek() == Some(b'#') {
                let start = self.at;
                self.at += 1;
                let line = self.rest().iter().position(|&byte| byte == b'\n').unwrap_or(self.rest().len());
                let line_end = self.at + line;
                let result = self.directive(start, line_end);
                self.at = line_end;
                if let Err(diagnostic) = result {
                    self.skip_everything();
                    self.report(*diagnostic);
                }
            } else if lexer::at_comment(self.rest()) || (!self.preprocessor.active() && self.at < self.end()) {
                self.at += self.rest().iter().position(|&byte| byte == b'\n').unwrap_or(self.rest().len());
            } else {
                return;
            }
        }
    }

    fn directive(&mut self, start: usize, line_end: usize) -> Parse<()> {
        // No blank is allowed after the `#`, so that `# else nothing happens` is a comment.
        let line = self.text.get(self.at..line_end).unwrap_or_default();
        let Some(name) = lexer::word(line) else { return Ok(()) };
        let line = line.get(name.len()..).unwrap_or_default();
        let position = Span::new(start as u32, (line_end - line.len()) as u32);
        let line = lexer::skip_blanks_of_line(line);
        let argument = lexer::word(line);
        let active = self.preprocessor.active();
        match name.as_str() {
            "ifdef" | "ifndef" => {
                let Some(symbol) = argument else { return Ok(()) };
                let defined = self.preprocessor.definitions.contains_key(symbol.bytes());
                let counts = active && defined == (name.bytes() == b"ifdef");
                // All parts nested in an inactive part are inactive.
                self.preprocessor.conditionals.push(Conditional { position, active: counts, taken: counts || !active });
            }
            "else" => match self.preprocessor.conditionals.last_mut() {
                Some(conditional) => {
                    conditional.active = !conditional.taken;
                    conditional.taken = true;
                }
                None => return self.fail(ParseErrorKind::UnbalancedConditional("else"), position),
            },
            "endif" => match self.preprocessor.conditionals.pop() {
                Some(_) => {}
                None => return self.fail(ParseErrorKind::UnbalancedConditional("endif"), position),
            },
            "define" if active => {
                if let Some(name) = argument {
                    let body = lexer::skip_blanks_of_line(line.get(name.len()..).unwrap_or_default());
                    let used = body.iter().rposition(|&byte| !lexer::is_blank(byte)).map_or(0, |last| last + 1);
                    let from = line_end - body.len();
                    let full = self.preprocessor.definitions.len() >= MAX_MACROS;
                    if full && !self.preprocessor.definitions.contains_key(name.bytes()) {
                        return self.fail(ParseErrorKind::MacroDepth(self.quote(position)), position);
                    }
                    self.preprocessor.definitions.insert(name.bytes(), Span::new(from as u32, (from + used) as u32));
                }
            }
            "undef" if active => {
                if let Some(name) = argument {
                    self.preprocessor.definitions.remove(name.bytes());
                }
            }
            // A comment.
            _ => {}
        }
        Ok(())
    }

    pub(super) fn finish_preprocessor(&mut self) {
        for conditional in std::mem::take(&mut self.preprocessor.conditionals) {
            self.skip_everything();
            self.report(ParseErrorKind::UnbalancedConditional("ifdef").at(conditional.position));
        }
    }
}

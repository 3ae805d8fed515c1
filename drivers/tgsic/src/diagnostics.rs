//! Showing what is wrong: the source line with a caret and a hint, or one line a finding.

use std::io::IsTerminal;
use std::path::Path;

use codespan_reporting::diagnostic::{Diagnostic as Report, Label};
use codespan_reporting::files::SimpleFile;
use codespan_reporting::term::termcolor::{BufferWriter, ColorChoice};
use codespan_reporting::term::{self, Config};
use tgsi::diagnostic::{Diagnostic, LineIndex, Severity};

use crate::args::Color;
use crate::input::{Problem, Source};

/// Findings that are shown of one shader; the rest is counted.
const MAX_SHOWN: usize = 20;
/// Lines longer than this are not shown with a caret: nobody could find it.
const MAX_LINE: usize = 400;

/// How findings are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    /// With the source line, a caret and a hint.
    Rich,
    /// `path:line:column: error: ...`.
    Short,
}

/// Shows findings on standard error.
#[derive(Clone, Copy)]
pub struct Reporter {
    /// How.
    pub style: Style,
    /// Colours.
    pub color: Color,
}

impl Reporter {
    /// Shows what is wrong with a source.
    pub fn problem(&self, source: &Source, problem: &Problem) {
        match problem {
            Problem::Text(diagnostics) => self.diagnostics(source, diagnostics),
            Problem::Tokens(error) => self.print(&format!("{}: error: {error}\n", source.path.display())),
            Problem::Other(message) => self.print(&format!("{}: error: {message}\n", source.path.display())),
        }
    }

    /// Shows findings with their places in the source.
    pub fn diagnostics(&self, source: &Source, diagnostics: &[Diagnostic]) {
        // Errors first: they must not drown in warnings.
        let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
        sorted.sort_by_key(|d| std::cmp::Reverse(d.severity));
        let shown = &sorted[..sorted.len().min(MAX_SHOWN)];
        if source.is_tokens() {
            for d in shown {
                let mut text =
                    format!("{}: word {}: {}: {}", source.path.display(), d.span.start, d.severity, d.message);
                if let Some(hint) = &d.hint {
                    text += &format!(" ({hint})");
                }
                self.print(&(text + &format!(" [{}]\n", d.code)));
            }
        } else if self.style == Style::Rich && self.show_rich(source, shown) {
        } else {
            let index = LineIndex::new(&source.bytes);
            for d in shown {
                self.print(&short(&source.path, &index, d));
            }
        }
        if sorted.len() > shown.len() {
            self.print(&format!("{}: {} more not shown\n", source.path.display(), sorted.len() - shown.len()));
        }
    }

    fn print(&self, text: &str) {
        eprint!("{text}");
    }

    /// With source lines. False if the source is not fit to be shown.
    fn show_rich(&self, source: &Source, diagnostics: &[&Diagnostic]) -> bool {
        if source.bytes.split(|&b| b == b'\n').any(|line| line.len() > MAX_LINE) {
            return false;
        }
        let text = readable(&source.bytes);
        let file = SimpleFile::new(source.path.display().to_string(), text.as_str());
        let choice = match self.color {
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
            Color::Auto if std::io::stderr().is_terminal() => ColorChoice::Auto,
            Color::Auto => ColorChoice::Never,
        };
        let writer = BufferWriter::stderr(choice);
        let mut buffer = writer.buffer();
        let config = Config::default();
        for d in diagnostics {
            let length = text.len();
            let start = floor_boundary(&text, (d.span.start as usize).min(length));
            let end = floor_boundary(&text, (d.span.end as usize).clamp(start, length)).max(start);
            let report = match d.severity {
                Severity::Error => Report::error(),
                Severity::Warning => Report::warning(),
            };
            let mut report =
                report.with_code(d.code).with_message(&d.message).with_labels(vec![Label::primary((), start..end)]);
            if let Some(hint) = &d.hint {
                report = report.with_notes(vec![format!("hint: {hint}")]);
            }
            if term::emit_to_write_style(&mut buffer, &config, &file, &report).is_err() {
                return false;
            }
        }
        writer.print(&buffer).is_ok()
    }
}

/// One line for a finding.
fn short(path: &Path, index: &LineIndex, d: &Diagnostic) -> String {
    let (line, column) = index.line_column(d.span.start);
    let hint = d.hint.as_ref().map(|h| format!(" ({h})")).unwrap_or_default();
    format!("{}:{line}:{column}: {}: {}{hint} [{}]\n", path.display(), d.severity, d.message, d.code)
}

/// The text with every byte that is no UTF-8 (or a NUL) replaced by one of the same length, so that offsets stay right.
fn readable(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.extend(chunk.valid().chars().map(|c| if c == '\0' { '?' } else { c }));
        text.extend(chunk.invalid().iter().map(|_| '?'));
    }
    text
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

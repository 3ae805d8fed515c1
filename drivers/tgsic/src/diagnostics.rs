//! Showing what is wrong: the source line with a caret and a hint, or one line a finding.

use std::io::{IsTerminal, Write};

use codespan_reporting::diagnostic::{Diagnostic as Report, Label};
use codespan_reporting::files::SimpleFile;
use codespan_reporting::term::termcolor::{BufferWriter, ColorChoice};
use codespan_reporting::term::{self, Config};
use tgsi::diagnostic::{Diagnostic, LineIndex, Severity};

use crate::args::Color;
use crate::commands::{Failure, Status};
use crate::input::{Language, Problem, Source};

/// Findings that are shown of one shader; the rest is counted.
const MAX_SHOWN: usize = 20;
/// Lines longer than this are not shown with a caret: nobody could find it.
const MAX_LINE: usize = 400;

/// Shows that something else than a shader is wrong. Standard error may have gone; then there is nobody to tell.
pub fn failure(failure: &Failure) {
    print(&format!("tgsic: {failure}\n"));
}

fn print(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

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
    style: Style,
    color: Color,
    max_shown: usize,
}

impl Reporter {
    /// One shader has its findings shown with the source; of many each finding takes a line.
    pub fn for_inputs(inputs: usize, color: Color) -> Reporter {
        let style = if inputs > 1 { Style::Short } else { Style::Rich };
        Reporter { style, color, max_shown: MAX_SHOWN }
    }

    /// However many findings a shader has, all are shown.
    pub fn show_all(&mut self) {
        self.max_shown = usize::MAX;
    }

    /// Shows what came of one input: what is wrong with it, or by `show` what was made of it.
    pub fn outcome<T>(
        &self,
        result: Result<(Source, Result<T, Problem>), Failure>,
        show: impl FnOnce(&Source, T) -> Result<Status, Failure>,
    ) -> Status {
        let status = result.and_then(|(source, result)| match result {
            Ok(done) => show(&source, done),
            Err(problem) => {
                self.problem(&source, &problem);
                Ok(Status::Wrong)
            }
        });
        status.unwrap_or_else(|error| {
            failure(&error);
            Status::Trouble
        })
    }

    /// Shows what is wrong with a source.
    pub fn problem(&self, source: &Source, problem: &Problem) {
        match problem {
            Problem::Findings(findings) => self.diagnostics(source, findings),
            Problem::Tokens(_) | Problem::Coded(..) | Problem::Other(_) => {
                print(&format!("{}: error: {}\n", source.path.display(), problem.brief()));
            }
        }
    }

    /// Shows findings with their places in the source, errors first: they must not drown in warnings.
    pub fn diagnostics(&self, source: &Source, diagnostics: &[Diagnostic]) {
        // Nearly all shaders have none: their lines need not be counted.
        if diagnostics.is_empty() {
            return;
        }
        let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
        sorted.sort_by_key(|d| (std::cmp::Reverse(d.severity), d.span.start));
        let shown = &sorted[..sorted.len().min(self.max_shown)];
        let path = source.path.display();
        if source.language == Language::Tokens {
            for d in shown {
                print(&format!("{path}: {}: word {}: {}\n", d.severity, d.span.start, what(d)));
            }
        } else if self.style == Style::Short || !self.show_rich(source, shown) {
            let index = LineIndex::new(&source.bytes);
            for d in shown {
                let (line, column) = index.line_column(d.span.start);
                print(&format!("{path}:{line}:{column}: {}: {}\n", d.severity, what(d)));
            }
        }
        if shown.len() < sorted.len() {
            print(&format!("{path}: {} more not shown\n", sorted.len() - shown.len()));
        }
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

/// What is wrong, how to put it right, and the name of the rule.
fn what(d: &Diagnostic) -> String {
    let hint = d.hint.as_ref().map(|h| format!(" ({h})")).unwrap_or_default();
    format!("{}{hint} [{}]", d.message, d.code)
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

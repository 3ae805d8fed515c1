//! Shows findings with the source line, a caret, notes and a hint; in one line each; or as JSON.

use std::io::{IsTerminal, Write};
use std::sync::OnceLock;

use codespan_reporting::diagnostic::{Diagnostic as Report, Label};
use codespan_reporting::files::SimpleFile;
use codespan_reporting::term::termcolor::{BufferWriter, ColorChoice};
use codespan_reporting::term::{self, Config};
use serde_json::{Map, Value, json};
use tgsi_diagnostics::Span;
use tgsi_diagnostics::{Diagnostic, LineIndex, Severity};

use crate::args::{Color, ErrorFormat};
use crate::input::{ShaderError, Source};
use crate::status::{Failure, Status};

/// Maximum number of findings shown for each shader in forms for people; the rest is counted.
const MAX_SHOWN: usize = 20;
/// Maximum length of lines shown with a caret: in longer ones it would not be found.
const MAX_LINE: usize = 400;

/// The requested format. A global, because errors that end the program have no other access to it.
static FORMAT: OnceLock<ErrorFormat> = OnceLock::new();

/// Sets the format of findings. Call this once, at the start.
pub fn set_format(format: Option<ErrorFormat>) {
    if let Some(format) = format {
        // Only a second call from this program could fail.
        let _ = FORMAT.set(format);
    }
}

/// Shows an error that is not about the content of a shader.
pub fn failure(failure: &Failure) {
    if FORMAT.get() == Some(&ErrorFormat::Json) {
        let code = failure.code();
        let file = failure.path().map(|path| path.display().to_string());
        let mut object = json!({
            "file": file, "severity": "error", "code": code.id, "name": code.name, "message": failure.to_string(),
        });
        if let Failure::Run { line, column, problem, hint, .. }
        | Failure::Variants { line, column, problem, hint, .. } = failure
        {
            object["message"] = json!(problem);
            object["hint"] = json!(hint);
            object["line"] = json!(line);
            object["column"] = json!(column);
        }
        print(&format!("{object}\n"));
    } else {
        print(&format!("tgsic: {failure}\n"));
    }
}

/// Writes to standard error and ignores failures.
pub fn print(text: &str) {
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// The form of findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// With the source line, a caret, notes and a hint.
    Rich,
    /// `path:line:column: error: ...`.
    Short,
    /// The same, with notes on separate lines.
    Gcc,
    /// One object per line.
    Json,
}

/// Shows findings on standard error.
#[derive(Clone, Copy)]
pub struct Reporter {
    style: Style,
    color: Color,
    max_shown: usize,
}

impl Reporter {
    /// Returns a reporter with the requested format. The default format shows the findings of a single shader with the
    /// source, and those of several shaders in one line each.
    pub fn for_inputs(inputs: usize, color: Color) -> Reporter {
        let style = match FORMAT.get() {
            None if inputs > 1 => Style::Short,
            None | Some(ErrorFormat::Human) => Style::Rich,
            Some(ErrorFormat::Gcc) => Style::Gcc,
            Some(ErrorFormat::Json) => Style::Json,
        };
        let max_shown = if matches!(style, Style::Rich | Style::Short) { MAX_SHOWN } else { usize::MAX };
        Reporter { style, color, max_shown }
    }

    /// Shows all findings of a shader, however many there are.
    pub fn show_all(&mut self) {
        self.max_shown = usize::MAX;
    }

    /// Shows the outcome of one input: its error, or its result by `show`.
    pub fn outcome<T>(
        &self,
        result: Result<(Source, Result<T, ShaderError>), Failure>,
        show: impl FnOnce(&Source, T) -> Result<Status, Failure>,
    ) -> Status {
        let status = result.and_then(|(source, result)| match result {
            Ok(done) => show(&source, done),
            Err(problem) => {
                self.problem(&source, &problem);
                Ok(Status::ShaderError)
            }
        });
        status.unwrap_or_else(|error| {
            failure(&error);
            Status::UsageError
        })
    }

    /// Shows the error of a source.
    pub fn problem(&self, source: &Source, problem: &ShaderError) {
        match problem {
            ShaderError::Findings(findings) => self.diagnostics(source, findings),
            ShaderError::Coded(..) | ShaderError::Other(_) if self.style == Style::Json => {
                let (code, message) = match problem {
                    ShaderError::Coded(code, message) => (Some(code), message.clone()),
                    other => (None, other.brief()),
                };
                let object = json!({
                    "file": source.path.display().to_string(), "severity": "error",
                    "code": code.map(|c| c.id), "name": code.map(|c| c.name), "message": message,
                });
                print(&format!("{object}\n"));
            }
            ShaderError::Coded(..) | ShaderError::Other(_) => {
                print(&format!("{}: error: {}\n", source.path.display(), problem.brief()));
            }
        }
    }

    /// Shows findings with their positions in the source. Errors come first, so that they are not lost among warnings.
    pub fn diagnostics(&self, source: &Source, diagnostics: &[Diagnostic]) {
        // Avoids counting the lines of shaders without findings, which nearly all are.
        if diagnostics.is_empty() {
            return;
        }
        let mut sorted: Vec<Diagnostic> = diagnostics.to_vec();
        source.front_end.focus(&source.bytes, &mut sorted);
        sorted.sort_by_key(|d| (std::cmp::Reverse(d.severity), d.span.start));
        let shown = &sorted[..sorted.len().min(self.max_shown)];
        let path = source.path.display();
        if self.style != Style::Rich || source.has_words() || !self.show_rich(source, shown) {
            let locations = Locations::new(source);
            for d in shown {
                match self.style {
                    Style::Json => print(&format!("{}\n", locations.json(d))),
                    _ => print(&locations.lines(d, self.style == Style::Gcc)),
                }
            }
        }
        if shown.len() < sorted.len() {
            print(&format!("{path}: {} more not shown\n", sorted.len() - shown.len()));
        }
    }

    /// Shows findings with source lines. Returns false if the source cannot be shown that way.
    fn show_rich(&self, source: &Source, diagnostics: &[Diagnostic]) -> bool {
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
        let range = |span: Span| {
            let start = floor_boundary(&text, (span.start as usize).min(text.len()));
            let end = floor_boundary(&text, (span.end as usize).clamp(start, text.len())).max(start);
            start..end
        };
        for d in diagnostics {
            let report = match d.severity {
                Severity::Error => Report::error(),
                Severity::Warning => Report::warning(),
            };
            let mut labels = vec![Label::primary((), range(d.span))];
            labels.extend(d.notes.iter().map(|n| Label::secondary((), range(n.span)).with_message(&n.message)));
            let mut report = report.with_code(d.code.id).with_message(&d.message).with_labels(labels);
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

/// Formats positions in a source, for all formats.
struct Locations<'a> {
    source: &'a Source,
    index: LineIndex,
}

impl Locations<'_> {
    fn new(source: &Source) -> Locations<'_> {
        let text = if source.has_words() { &[][..] } else { &source.bytes };
        Locations { source, index: LineIndex::new(text) }
    }

    /// Returns a line for the finding and, with `with_notes`, one for each note.
    fn lines(&self, d: &Diagnostic, with_notes: bool) -> String {
        let path = self.source.path.display();
        let line = |span: Span, severity: &str, what: &str| {
            if self.source.has_words() {
                // Messages about bytes contain their own position.
                let position = if what.starts_with("byte ") { String::new() } else { format!("word {}: ", span.start) };
                return format!("{path}: {severity}: {position}{what}\n");
            }
            let (line, column) = self.index.line_column(span.start);
            format!("{path}:{line}:{column}: {severity}: {what}\n")
        };
        let hint = d.hint.as_ref().map(|h| format!(" ({h})")).unwrap_or_default();
        let mut text = line(d.span, &d.severity.to_string(), &format!("{}{hint} [{}]", d.message, d.code));
        if with_notes {
            d.notes.iter().for_each(|note| text.push_str(&line(note.span, "note", &note.message)));
        }
        text
    }

    fn json(&self, d: &Diagnostic) -> Value {
        let mut object = Map::new();
        object.insert("file".into(), self.source.path.display().to_string().into());
        object.insert("severity".into(), d.severity.to_string().into());
        object.insert("code".into(), d.code.id.into());
        object.insert("name".into(), d.code.name.into());
        object.insert("message".into(), d.message.as_str().into());
        object.insert("hint".into(), d.hint.as_deref().into());
        self.position(d.span, &mut object);
        let notes = d.notes.iter().map(|note| {
            let mut object = Map::new();
            object.insert("message".into(), note.message.as_str().into());
            self.position(note.span, &mut object);
            Value::Object(object)
        });
        object.insert("notes".into(), notes.collect());
        Value::Object(object)
    }

    fn position(&self, span: Span, object: &mut Map<String, Value>) {
        if self.source.has_words() {
            object.insert("word".into(), span.start.into());
            return;
        }
        let (line, column) = self.index.line_column(span.start);
        let (end_line, end_column) = self.index.line_column(span.end.max(span.start));
        let numbers = [
            ("line", line),
            ("column", column),
            ("end_line", end_line),
            ("end_column", end_column),
            ("byte", span.start),
        ];
        object.extend(numbers.map(|(name, number)| (name.to_owned(), number.into())));
    }
}

/// Replaces each byte that is not UTF-8, and each NUL, by one byte, so that offsets stay valid.
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

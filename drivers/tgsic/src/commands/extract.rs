//! `extract`: finds the shaders in any text, such as a log, and writes them.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use serde_json::json;
use tgsi::tables::Processor;
use tgsi::text::{Extracted, ParseErrorKind};
use tgsi_compiler::front_end::{self, InputError, TGSI_TEXT};
use tgsi_diagnostics::Span;
use tgsi_diagnostics::{Diagnostic, LineIndex};

use crate::args::{Color, ExtractArguments};
use crate::diagnostics::Reporter;
use crate::input::{ShaderError, Source};
use crate::status::{Failure, Status};
use crate::{batch, output};

/// Finds shaders, and writes or lists them.
pub fn extract(arguments: &ExtractArguments, color: Color) -> Result<Status, Failure> {
    let ExtractArguments { files, output: target, out_dir, list, json } = arguments;
    let inputs = batch::inputs(files)?;
    let reporter = Reporter::for_inputs(inputs.len(), color);
    let results = batch::for_each(&inputs, |path| {
        let source = Source::read(path)?;
        let found = shaders(&source);
        Ok((source, found))
    });
    let is_one = matches!(&results[..], [Ok((_, Ok(found)))] if found.len() == 1);
    let mut written = HashSet::new();
    let mut status = Status::Success;
    for (result, input) in results.into_iter().zip(&inputs) {
        status = status.max(reporter.outcome(result, |source, found| {
            if !is_one && !list && !json && out_dir.is_none() {
                let finding = match &found[..] {
                    [_] => return Err(Failure::Usage("several texts: use --out-dir".into())),
                    several => front_end::several_shaders(&source.bytes, several),
                };
                reporter.problem(source, &ShaderError::Findings(vec![finding]));
                return Ok(Status::ShaderError);
            }
            let lines = LineIndex::new(&source.bytes);
            for (number, shader) in found.iter().enumerate() {
                let path = match out_dir {
                    Some(folder) => Some(file_of(folder, &input.file, number + 1, shader.processor)),
                    None => target.clone().filter(|_| !list && !json),
                };
                if let Some(path) = &path {
                    if !written.insert(path.clone()) {
                        return Err(Failure::Usage(format!("two shaders would be written to {}", path.display())));
                    }
                    output::write_files_below(path, &shader.text, &[])?;
                }
                let text = match (&path, *json, *list || out_dir.is_some()) {
                    (_, true, _) => as_json(source, shader, &lines, path.as_deref()),
                    (_, _, true) => as_line(source, shader, &lines, path.as_deref()),
                    (Some(_), ..) => continue,
                    (None, ..) => String::from_utf8_lossy(&shader.text).into_owned(),
                };
                output::write_stdout(text.as_bytes())?;
            }
            let findings: Vec<Diagnostic> = found.iter().flat_map(front_end::embedded_findings).collect();
            reporter.diagnostics(source, &findings);
            Ok(if findings.iter().any(Diagnostic::is_error) { Status::ShaderError } else { Status::Success })
        }));
    }
    Ok(status)
}

/// Returns the shaders of a text; a text without shaders is an error.
fn shaders(source: &Source) -> Result<Vec<Extracted>, ShaderError> {
    let (length, limit) = (source.bytes.len() as u64, source.limits.text_bytes);
    if length > limit {
        let finding = ParseErrorKind::TooLong { length, limit }.at(Span::new(0, 1));
        let hint = "`--limit text-bytes=N` reads longer texts".to_owned();
        return Err(ShaderError::Findings(vec![finding.with_hint(hint)]));
    }
    let found = if source.is_in(&TGSI_TEXT) { tgsi::text::extract(&source.bytes) } else { Vec::new() };
    if found.is_empty() { Err(ShaderError::Findings(vec![InputError::no_shader()])) } else { Ok(found) }
}

/// Returns the file for a shader: `DIR/a/b-1.vert.tgsi` for the first one of `a/b.log`.
fn file_of(folder: &Path, input: &Path, number: usize, processor: Processor) -> PathBuf {
    let extension = match processor {
        Processor::Vertex => "vert",
        Processor::Fragment => "frag",
        Processor::Geometry => "geom",
        Processor::TessControl => "tesc",
        Processor::TessEval => "tese",
        Processor::Compute => "comp",
        Processor::Task => "task",
        Processor::Mesh => "mesh",
    };
    let path = output::path_below(folder, input, "");
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}.{extension}.tgsi"));
    path.with_file_name(name)
}

/// Returns the first and the last line of a shader.
fn place(shader: &Extracted, lines: &LineIndex) -> (u32, u32) {
    (lines.line_column(shader.span.start).0, lines.line_column(shader.span.end).0)
}

fn as_line(source: &Source, shader: &Extracted, lines: &LineIndex, file: Option<&Path>) -> String {
    let (first, last) = place(shader, lines);
    let cut = if shader.is_complete { "" } else { ", cut off" };
    let file = file.map(|path| format!(" -> {}", path.display())).unwrap_or_default();
    format!("{}:{first}: {}, lines {first} to {last}{cut}{file}\n", source.path.display(), shader.processor)
}

fn as_json(source: &Source, shader: &Extracted, lines: &LineIndex, file: Option<&Path>) -> String {
    let (first, last) = place(shader, lines);
    let object = json!({
        "f": source.path.display().to_string(),
        "line": first,
        "end_line": last,
        "stage": shader.processor.to_string(),
        "complete": shader.is_complete,
        "skipped": shader.skipped.map_or(0, |(count, _)| count),
        "file": file.map(|path| path.display().to_string()),
        "text": String::from_utf8_lossy(&shader.text),
    });
    format!("{object}\n")
}

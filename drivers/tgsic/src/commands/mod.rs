//! The subcommands. Each returns whether all shaders were well.

mod check;
mod convert;
mod ir;
mod run;
mod scan;
mod translate;

use std::path::PathBuf;

use thiserror::Error;

use crate::args::{Arguments, Color, Command, Files};
use crate::diagnostics::{Reporter, Style};
use crate::input::{Problem, Source};
use crate::{batch, output, verify};

/// What ends a run of the program.
#[derive(Debug, Error)]
pub enum Failure {
    /// A file cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The arguments make no sense together.
    #[error("{0}")]
    Usage(String),
    /// A file of recorded results is not one.
    #[error("{}:{line}: {problem}", path.display())]
    Vectors {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

impl Failure {
    /// Exit status.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Vectors { .. } => 1,
            Failure::Read { .. } | Failure::Write { .. } | Failure::Usage(_) => 2,
        }
    }
}

/// Runs the subcommand. `Ok(false)`: some shader was wrong, which has been shown.
pub fn dispatch(arguments: &Arguments) -> Result<bool, Failure> {
    let color = arguments.global.color;
    match &arguments.command {
        Command::Print { files, mesa, hex_floats } => convert::print(files, *mesa, *hex_floats, color),
        Command::Encode { files } => convert::encode(files, color),
        Command::Check { files, quiet } => check::check(files, *quiet, color),
        Command::Scan { files, json } => scan::scan(files, *json, color),
        Command::Run(arguments) => run::run(arguments, color),
        Command::Ir { files, stage, dot } => ir::ir(files, *stage, *dot, color),
        Command::Translate { files, driver, json, mesa } => translate::translate(files, *driver, *json, *mesa, color),
        Command::Verify(arguments) => verify::verify(arguments, color),
    }
}

/// The result for one shader.
pub struct Done {
    /// What is written for it.
    pub content: Vec<u8>,
    /// Warnings to show.
    pub warnings: Vec<tgsi::diagnostic::Diagnostic>,
    /// A line for standard output when the content goes elsewhere.
    pub line: Option<String>,
}

impl Done {
    /// Content alone.
    pub fn new(content: Vec<u8>) -> Done {
        Done { content, warnings: Vec::new(), line: None }
    }
}

/// How results are written.
pub struct Form {
    /// Extension of files below `--out-dir`.
    pub extension: &'static str,
    /// Not for terminals.
    pub binary: bool,
}

/// The common shape of subcommands that make something of each shader: reads, works on all cores, writes, reports in order. A shader that fails is reported and
/// the others go on.
pub fn transform(
    files: &Files,
    form: Form,
    color: Color,
    work: impl Fn(&Source) -> Result<Done, Problem> + Sync + Send,
) -> Result<bool, Failure> {
    let inputs = batch::inputs(&files.files);
    if inputs.len() > 1 && files.output.is_some() {
        return Err(Failure::Usage("-o takes the result of one shader; use --out-dir for several".into()));
    }
    let style = if inputs.len() > 1 { Style::Short } else { Style::Rich };
    let reporter = Reporter { style, color };
    type Outcome = (Option<Source>, Result<Result<Done, Problem>, Failure>);
    let results: Vec<Outcome> = batch::for_each(&inputs, |path| {
        let source = match Source::read(path) {
            Ok(source) => source,
            Err(failure) => return (None, Err(failure)),
        };
        let mut result = work(&source);
        if let (Ok(done), Some(folder)) = (&mut result, &files.out_dir) {
            let target = output::path_below(folder, path, form.extension);
            let written = match target.parent() {
                Some(parent) => {
                    std::fs::create_dir_all(parent).map_err(|error| Failure::Write { path: parent.to_owned(), error })
                }
                None => Ok(()),
            }
            .and_then(|()| output::write_file(&target, &done.content));
            // The content is on disk; keeping it for all shaders would only take memory.
            done.content = Vec::new();
            if let Err(failure) = written {
                return (Some(source), Err(failure));
            }
        }
        (Some(source), Ok(result))
    });
    let mut all_well = true;
    for (source, result) in results {
        let (Some(source), result) = (source, result?) else { continue };
        match result {
            Ok(done) => {
                reporter.diagnostics(&source, &done.warnings);
                if files.out_dir.is_none() {
                    match &files.output {
                        Some(path) => output::write_file(path, &done.content)?,
                        None if done.line.is_some() => {}
                        None if form.binary => output::write_stdout_binary(&done.content)?,
                        None => output::write_stdout(&done.content)?,
                    }
                }
                if let Some(line) = done.line {
                    output::write_stdout(format!("{line}\n").as_bytes())?;
                }
            }
            Err(problem) => {
                all_well = false;
                reporter.problem(&source, &problem);
            }
        }
    }
    Ok(all_well)
}

//! Reads shaders from files or standard input.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tgsi::limits::Limits;
use tgsi_compiler::front_end::{FrontEnd, InputError, PositionUnit, ReadRequest, Reader, Reading};
use tgsi_compiler::{Compiler, Source as CompilerSource};
use tgsi_diagnostics::{Diagnostic, ErrorCode};
use tgsi_ir::shader::ShaderStage;

use crate::status::Failure;
use crate::{assembly, front_ends, limits};

/// The file name of standard input.
pub const STDIN: &str = "-";

/// An input of the command line: a file, or one of the shaders of a file that has several.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct InputPath {
    /// The file, or `-`.
    pub file: PathBuf,
    /// The stage of the shader, in a file with several.
    pub stage: Option<ShaderStage>,
}

impl From<&Path> for InputPath {
    fn from(file: &Path) -> InputPath {
        InputPath { file: file.to_owned(), stage: None }
    }
}

/// An input file.
pub struct Source {
    /// Path, or `<stdin>`.
    pub path: PathBuf,
    /// The stage of the shader, in a file with several.
    pub stage: Option<ShaderStage>,
    /// Content.
    pub bytes: Vec<u8>,
    /// The front end of its language.
    pub front_end: &'static dyn FrontEnd,
    /// The limits of the shader.
    pub limits: Limits,
    reader: Arc<dyn Reader>,
    /// The options of the reader.
    options: Vec<String>,
}

impl Source {
    /// Reads an input.
    pub fn read(input: &InputPath) -> Result<Source, Failure> {
        Ok(Source { stage: input.stage, ..Source::read_file(&input.file)? })
    }

    /// Reads a file, or standard input for `-`.
    pub fn read_file(path: &Path) -> Result<Source, Failure> {
        let failure = |error| Failure::Read { path: path.to_owned(), error };
        if path == Path::new(STDIN) {
            let bytes = read_bounded(&mut std::io::stdin().lock(), 0).and_then(|bytes| words(path, bytes));
            return Ok(Source::new(PathBuf::from("<stdin>"), bytes.map_err(failure)?));
        }
        let mut file = std::fs::File::open(path).map_err(failure)?;
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        let bytes = read_bounded(&mut file, length).and_then(|bytes| words(path, bytes));
        Ok(Source::new(path.to_owned(), bytes.map_err(failure)?))
    }

    /// An input with this content, in the language that the command line names or that its content and the extension
    /// of its path show.
    pub fn new(path: PathBuf, bytes: Vec<u8>) -> Source {
        let settings = front_ends::settings();
        Source::with_options(path, bytes, settings.forced, &settings.options)
    }

    /// The same in a given language, and with given options of front ends.
    pub fn with_options(
        path: PathBuf,
        bytes: Vec<u8>,
        language: Option<&'static dyn FrontEnd>,
        options: &[String],
    ) -> Source {
        let (front_end, reader) = front_ends::of_input(&path, &bytes, language, options);
        Source { path, stage: None, bytes, front_end, limits: limits::current(), reader, options: options.to_vec() }
    }

    /// The same input with another content.
    pub fn with_bytes(&self, bytes: &[u8]) -> Source {
        let (path, reader, options) = (self.path.clone(), self.reader.clone(), self.options.clone());
        Source { path, bytes: bytes.to_vec(), reader, options, ..*self }
    }

    /// The same input, for a stage.
    pub fn of_stage(self, stage: ShaderStage) -> Source {
        Source { stage: Some(stage), ..self }
    }

    /// The same input, shown with another name.
    pub fn renamed(self, name: String) -> Source {
        Source { path: name.into(), stage: None, ..self }
    }

    /// The same input, read with other options of its front end.
    pub fn with_front_end_options(&self, options: &[String]) -> Source {
        let source = Source::with_options(self.path.clone(), self.bytes.clone(), Some(self.front_end), options);
        Source { stage: self.stage, ..source }
    }

    /// Whether the input is in the language of this front end.
    pub fn is_in(&self, front_end: &dyn FrontEnd) -> bool {
        self.front_end.name() == front_end.name()
    }

    /// Whether positions are words and not bytes of a text.
    pub fn has_words(&self) -> bool {
        self.front_end.position_unit() == PositionUnit::Words
    }

    /// The name for lists of results: the path, and the stage in a file with several shaders.
    pub fn name(&self) -> String {
        match self.stage {
            Some(stage) => format!("{}:{}", self.path.display(), stage.name().to_lowercase()),
            None => self.path.display().to_string(),
        }
    }

    fn request<'a>(&'a self, compiler: Option<&'a Compiler>) -> ReadRequest<'a> {
        ReadRequest { limits: &self.limits, compiler, path: Some(&self.path), stage: self.stage }
    }

    /// Reads the content. If a compiler is given, also checks the properties that it relies on.
    pub fn parse(&self, compiler: Option<&Compiler>) -> Reading {
        self.reader.read(&self.bytes, &self.request(compiler))
    }

    /// Reads the shaders of a pipeline, together if all are in one language with the same options.
    pub fn parse_pipeline(sources: &[Source], compiler: Option<&Compiler>) -> Vec<Reading> {
        let is_like =
            |source: &Source, first: &Source| source.is_in(first.front_end) && source.options == first.options;
        match sources {
            [first, rest @ ..] if rest.iter().all(|source| is_like(source, first)) => {
                let inputs = sources.iter().map(|source| (source.bytes.as_slice(), source.request(compiler)));
                first.reader.read_pipeline(&inputs.collect::<Vec<_>>())
            }
            _ => sources.iter().map(|source| source.parse(compiler)).collect(),
        }
    }

    /// The TGSI shader, with warnings; or the errors, one of which is that the input is in another language.
    pub fn tgsi(&self) -> Result<(tgsi::Shader, Vec<Diagnostic>), ShaderError> {
        let Reading { source, findings, .. } = self.parse(None);
        match source {
            Some(CompilerSource::Ir(..)) => {
                let finding = InputError::not_tgsi(&self.bytes, self.front_end);
                Err(ShaderError::Findings(vec![finding.with_hint("`tgsic translate` converts IR to TGSI")]))
            }
            Some(CompilerSource::Tgsi(shader)) if !findings.iter().any(Diagnostic::is_error) => {
                Ok((shader.into_owned(), findings))
            }
            _ => Err(ShaderError::Findings(findings)),
        }
    }
}

/// Reads up to the size that every limit rejects, because an input may be endless.
fn read_bounded(input: &mut impl Read, expected: u64) -> std::io::Result<Vec<u8>> {
    let limits = limits::current();
    let most = limits.text_bytes.max(limits.tokens.saturating_mul(4)).saturating_add(4);
    let mut bytes = Vec::with_capacity(usize::try_from(expected.min(most)).unwrap_or(0));
    input.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The content of an input, of SPIR-V text the words.
fn words(path: &Path, bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
    if assembly::is_assembly(path, &bytes) { assembly::assemble(&bytes) } else { Ok(bytes) }
}

/// The error of a shader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ShaderError {
    /// Findings of the parser or a check, with their positions.
    Findings(Vec<Diagnostic>),
    /// An error that has a code but no position.
    Coded(ErrorCode, String),
    /// Any other error, without a position.
    Other(String),
}

impl ShaderError {
    /// Returns the error in one line, for lists of results.
    pub fn brief(&self) -> String {
        match self {
            ShaderError::Findings(findings) => findings.first().map(ToString::to_string).unwrap_or_default(),
            ShaderError::Coded(code, message) => format!("{message} [{code}]"),
            ShaderError::Other(message) => message.clone(),
        }
    }

    /// Adds the names of the targets that it occurs for.
    pub fn for_targets(mut self, names: &str) -> ShaderError {
        let named = |message: &mut String| *message += &format!(" (for {names})");
        match &mut self {
            ShaderError::Findings(findings) => findings.iter_mut().for_each(|finding| named(&mut finding.message)),
            ShaderError::Coded(_, message) | ShaderError::Other(message) => named(message),
        }
        self
    }
}

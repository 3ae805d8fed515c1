//! Parses a text as a whole: the header, the order of its parts, lines and errors. [`super::parse_types`] parses types,
//! [`super::parse_declarations`] variables and functions, [`super::parse_body`] code.

use hashbrown::HashMap;
use std::ops::Range;

use super::AnnotationTarget;
use super::error::{TextError, TextErrorKind};
use super::header::{HeaderLine, parse_header_line, parse_stage};
use super::lexer::{Failure, SourceLine, lines};
use super::parse_types::is_type_line;
use crate::entities::{Function, Type, Variable};
use crate::shader::{Shader, ShaderStage};
use crate::variable::{Initializer, VariableModes};

/// Maximum number of reported errors.
const MAX_ERRORS: usize = 200;

/// Parses a text. Reports as many errors as possible, continuing after each.
///
/// Any text is safe to parse: time and memory are linear in its length (value numbers may exceed the length of the text
/// by a million).
///
/// # Errors
/// The errors in line order, at least one.
pub fn parse(text: &str) -> Result<Shader, Vec<TextError>> {
    read(text, None).map(|(shader, _)| shader)
}

/// Like [`parse`], and returns the positions of all parts, so that errors of the validator can be shown in the text.
///
/// # Errors
/// Like [`parse`].
pub fn parse_with_source_map(text: &str) -> Result<(Shader, SourceMap), Vec<TextError>> {
    read(text, Some(SourceMap::default()))
}

fn read(text: &str, source_map: Option<SourceMap>) -> Result<(Shader, SourceMap), Vec<TextError>> {
    let lines = lines(text);
    let mut parser = Parser::new(text, &lines);
    parser.source_map = source_map;
    parser.shader();
    if parser.errors.is_empty() {
        return Ok((parser.shader, parser.source_map.unwrap_or_default()));
    }
    parser.errors.sort_by_key(|e| e.offset);
    Err(parser.errors)
}

/// The positions of the parts of a shader in the text that it was parsed from: the byte ranges of their lines, without
/// surrounding blanks and comments.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    lines: HashMap<AnnotationTarget, Range<usize>>,
    first: Range<usize>,
}

impl SourceMap {
    /// The line of a part. Parts without a line (a value created by the parser, for example) have the line of their
    /// function; the shader has the first line.
    pub fn line_of(&self, target: AnnotationTarget) -> Range<usize> {
        let function = match target {
            AnnotationTarget::Inst(function, _)
            | AnnotationTarget::Block(function, _)
            | AnnotationTarget::If(function, _)
            | AnnotationTarget::Loop(function, _) => Some(function),
            AnnotationTarget::Variable(_) | AnnotationTarget::Function(_) | AnnotationTarget::Shader => None,
        };
        let of_function = || self.lines.get(&AnnotationTarget::Function(function?));
        self.lines.get(&target).or_else(of_function).unwrap_or(&self.first).clone()
    }
}

pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) lines: &'a [SourceLine<'a>],
    pub(super) at: usize,
    pub(super) shader: Shader,
    pub(super) errors: Vec<TextError>,
    pub(super) types: HashMap<&'a str, Type>,
    pub(super) structs: HashMap<&'a str, Type>,
    /// Number of a field, by struct and name.
    pub(super) fields: HashMap<(Type, &'a str), u32>,
    pub(super) variables: HashMap<&'a str, Variable>,
    pub(super) functions: HashMap<&'a str, Function>,
    /// Pointer initialisers with a target that may be declared later.
    pub(super) pointers: Vec<(Variable, &'a str, usize, usize)>,
    /// Positions of all parts, if requested.
    source_map: Option<SourceMap>,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, lines: &'a [SourceLine<'a>]) -> Parser<'a> {
        Parser {
            text,
            lines,
            at: 0,
            shader: Shader::without_functions(ShaderStage::Vertex),
            errors: Vec::new(),
            types: HashMap::new(),
            structs: HashMap::new(),
            fields: HashMap::new(),
            variables: HashMap::new(),
            functions: HashMap::new(),
            pointers: Vec::new(),
            source_map: None,
        }
    }

    /// Records the position of a part.
    pub(super) fn record_line(&mut self, target: AnnotationTarget, line: usize) {
        if let (Some(source_map), Some(line)) = (&mut self.source_map, self.lines.get(line)) {
            source_map.lines.insert(target, line.offset..line.offset + line.code.len());
        }
    }

    /// Reports an error in a line.
    pub(super) fn fail(&mut self, line: usize, failure: Failure) {
        if self.errors.len() > MAX_ERRORS {
            return;
        }
        let (number, start) = self.lines.get(line).map_or((1, 0), |l| (l.number, l.start));
        let offset = failure.offset.min(self.text.len());
        let column = self.text.get(start..offset).map_or(0, |t| t.chars().count());
        let kind = if self.errors.len() == MAX_ERRORS { TextErrorKind::TooMany } else { failure.kind };
        self.errors.push(TextError { line: number, column: column as u32 + 1, offset, kind, hint: failure.hint });
    }

    /// Reports an error at the beginning of a line.
    pub(super) fn fail_line(&mut self, line: usize, kind: TextErrorKind) {
        let offset = self.lines.get(line).map_or(self.text.len(), |l| l.offset);
        self.fail(line, Failure { offset, kind, hint: None });
    }

    fn shader(&mut self) {
        while self.lines.get(self.at).is_some_and(|l| l.code.is_empty()) {
            self.at += 1;
        }
        let stage =
            self.lines.get(self.at).and_then(|l| l.full.strip_prefix("shader:")).map(str::trim).map(parse_stage);
        match stage {
            Some(Some(stage)) => {
                if let (Some(source_map), Some(line)) = (&mut self.source_map, self.lines.get(self.at)) {
                    source_map.first = line.offset..line.offset + line.code.len();
                }
                self.shader.stage = stage;
                self.at += 1;
            }
            Some(None) => {
                self.fail_line(self.at, TextErrorKind::NoStage);
                self.at += 1;
            }
            None => self.fail_line(self.at, TextErrorKind::NoStage),
        }
        self.collect_structs();
        self.collect_functions();
        while let Some(&line) = self.lines.get(self.at) {
            let at = self.at;
            self.at += 1;
            if line.code.is_empty() {
                continue;
            }
            if line.code.starts_with("decl_var ") {
                if let Some(variable) = self.variable(at, VariableModes::SHADER_TEMP) {
                    self.shader.globals.push(variable);
                }
            } else if line.code.starts_with("decl_function ") || is_type_line(line.code) {
                // Parsed already.
            } else if let Some(name) = line.code.strip_prefix("impl ").and_then(|r| r.strip_suffix('{')) {
                self.implementation(at, name.trim());
            } else if let Some((key, value)) = line.full.split_once(':') {
                if parse_header_line(&mut self.shader, key, value.trim()) == HeaderLine::BadValue {
                    let offset = line.offset + key.len() + 1;
                    let kind = TextErrorKind::BadHeaderValue(key.to_string());
                    self.fail(at, Failure { offset, kind, hint: None });
                }
            } else if !line.code.starts_with("Unhandled stage") {
                self.fail_line(at, TextErrorKind::Expected("a header line, a declaration or a function"));
            }
        }
        for (variable, name, line, offset) in std::mem::take(&mut self.pointers) {
            match self.variables.get(name) {
                Some(&target) => self.shader.variables[variable].initializer = Some(Initializer::Pointer(target)),
                None => {
                    self.fail(
                        line,
                        Failure { offset, kind: TextErrorKind::UnknownVariable(name.to_string()), hint: None },
                    );
                }
            }
        }
    }
}

//! Errors of compilation.

use std::error::Error;

use tgsi::diagnostic::{Diagnostic, Focus};
use tgsi::shader::Shader;
use tgsi::span::Span;
use tgsi::structure::MalformedShader;
use tgsi::tables::File;
use tgsi_ir::error_codes::Code;

/// An error of a target: what it cannot express.
pub trait TargetError: Error + Send + Sync + 'static {
    /// The code of the error.
    fn code(&self) -> Code;

    /// The part of a TGSI source that the error is about.
    fn subject(&self) -> Subject {
        Subject::Shader
    }

    /// What can be done about it, in words for a user of the command.
    fn hint(&self) -> Option<String> {
        None
    }
}

/// The part of a TGSI source that an error is about. Targets see IR, which knows of positions only what
/// [`origin`](tgsi_ir::Body::origin) says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Subject {
    /// All of it.
    Shader,
    /// The number of temporaries.
    Temporaries,
    /// An instruction, by its number from 0.
    Instruction(u32),
}

/// Errors of compilation.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The shader cannot be expressed in the IR.
    #[error(transparent)]
    ToIr(#[from] MalformedShader),
    /// The target cannot express it.
    #[error("{error}")]
    Target {
        /// The error of the target.
        error: Box<dyn TargetError>,
        /// The position in the TGSI source, if there is one.
        span: Option<Span>,
    },
}

impl CompileError {
    /// The code of the error.
    pub fn code(&self) -> Code {
        match self {
            CompileError::ToIr(error) => error.code(),
            CompileError::Target { error, .. } => error.code(),
        }
    }

    /// The position in the TGSI source, if it is known.
    pub fn span(&self) -> Option<Span> {
        match self {
            CompileError::ToIr(error) => error.span(),
            CompileError::Target { span, .. } => *span,
        }
    }

    /// The error as a finding about the source. Its span is empty if the position is not known.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut finding = Diagnostic::error(self.code(), self.span().unwrap_or_default(), self.to_string());
        if let CompileError::Target { error, .. } = self {
            finding.hint = error.hint();
        }
        match self {
            CompileError::Target { error, .. } if !matches!(error.subject(), Subject::Instruction(_)) => {
                finding.with_focus(Focus::Register)
            }
            CompileError::ToIr(_) | CompileError::Target { .. } => finding,
        }
    }

    /// The error of the target, if it is of this type.
    pub fn of_target<E: TargetError>(&self) -> Option<&E> {
        match self {
            CompileError::ToIr(_) => None,
            CompileError::Target { error, .. } => {
                let error: &(dyn Error + 'static) = &**error;
                error.downcast_ref()
            }
        }
    }
}

/// The positions of a TGSI source at which errors of a target are reported.
#[derive(Clone, Default)]
pub(crate) struct SourceSpans {
    processor: Option<Span>,
    /// The largest declaration of temporaries.
    temporaries: Option<Span>,
    instructions: Box<[Span]>,
}

impl SourceSpans {
    pub(crate) fn of(shader: &Shader) -> SourceSpans {
        let temporaries = shader.declarations.iter().filter(|d| d.file == File::Temporary);
        let largest = temporaries.max_by_key(|d| u32::from(d.last) + 1 - u32::from(d.first.min(d.last)));
        SourceSpans {
            processor: Some(shader.processor_span),
            temporaries: largest.map(|d| d.span),
            instructions: shader.instructions.iter().map(|instruction| instruction.span).collect(),
        }
    }

    pub(crate) fn locate(&self, error: Box<dyn TargetError>) -> CompileError {
        let span = match error.subject() {
            Subject::Shader => self.processor,
            Subject::Temporaries => self.temporaries.or(self.processor),
            Subject::Instruction(number) => self.instructions.get(number as usize).copied().or(self.processor),
        };
        CompileError::Target { error, span }
    }
}

//! Errors of compilation.

use std::error::Error;

use tgsi::MalformedShader;
use tgsi::tables::{File, Opcode, PropertyName, Semantic};
use tgsi_diagnostics::ErrorCode;
use tgsi_diagnostics::Span;
use tgsi_diagnostics::{Diagnostic, Focus};

/// An error of a target: something that it cannot express.
pub trait TargetError: Error + Send + Sync + 'static {
    /// The code of the error.
    fn code(&self) -> ErrorCode;

    /// The part of a TGSI source that the error is about.
    fn subject(&self) -> Subject {
        Subject::Shader
    }

    /// The IR instruction that the error is about. The compiler finds its place in the source for errors of
    /// [`Target::lower`](crate::Target::lower), in the shader that it leaves; errors of
    /// [`Target::emit`](crate::Target::emit) are [located](Self::located).
    fn inst(&self) -> Option<tgsi_ir::Inst> {
        None
    }

    /// The message for an error about an instruction of a source. If the source is TGSI, its opcode is given, for a
    /// message in TGSI's terms. `None` if the error's own message applies.
    fn message_at(&self, opcode: Option<Opcode>) -> Option<String> {
        let _ = opcode;
        None
    }

    /// A remedy, in words for a user of the command.
    fn hint(&self) -> Option<String> {
        None
    }

    /// Whether the machine lacks a feature of the shader, or has less of something than the shader needs. Checks with
    /// generated shaders pass over such shaders.
    fn is_limit(&self) -> bool {
        false
    }

    /// Adds the instruction of the source that [`inst`](Self::inst) comes from.
    fn located(self, shader: &tgsi_ir::Shader) -> Box<dyn TargetError>
    where
        Self: Sized,
    {
        Located { subject: Subject::of_inst(shader, self.inst()), error: self }.into()
    }
}

/// An error of a target for drivers without an error type: a code, a message and an instruction.
///
/// ```
/// use tgsi_compiler::{TargetError, Unsupported};
/// use tgsi_diagnostics::ErrorCode;
///
/// const NO_TEXTURES: ErrorCode = ErrorCode::new("T9000", "no-textures");
/// let error = Unsupported::new(NO_TEXTURES, None, "there are no textures");
/// assert_eq!((error.code().name, error.to_string().as_str()), ("no-textures", "there are no textures"));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{message}")]
#[non_exhaustive]
pub struct Unsupported {
    /// The code.
    pub code: ErrorCode,
    /// The IR instruction that the error is about.
    pub inst: Option<tgsi_ir::Inst>,
    /// The message.
    pub message: String,
}

impl Unsupported {
    /// Makes an error.
    pub fn new(code: ErrorCode, inst: impl Into<Option<tgsi_ir::Inst>>, message: impl ToString) -> Unsupported {
        Unsupported { code, inst: inst.into(), message: message.to_string() }
    }
}

impl TargetError for Unsupported {
    fn code(&self) -> ErrorCode {
        self.code
    }

    fn inst(&self) -> Option<tgsi_ir::Inst> {
        self.inst
    }
}

impl<E: TargetError> From<E> for Box<dyn TargetError> {
    fn from(error: E) -> Box<dyn TargetError> {
        Box::new(error)
    }
}

/// An error, and the part of the source that it is about.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{error}")]
pub struct Located<E> {
    /// The error.
    pub error: E,
    /// The part of the source.
    pub subject: Subject,
}

impl<E: TargetError> TargetError for Located<E> {
    fn code(&self) -> ErrorCode {
        self.error.code()
    }

    fn subject(&self) -> Subject {
        self.subject
    }

    fn inst(&self) -> Option<tgsi_ir::Inst> {
        self.error.inst()
    }

    fn message_at(&self, opcode: Option<Opcode>) -> Option<String> {
        self.error.message_at(opcode)
    }

    fn hint(&self) -> Option<String> {
        self.error.hint()
    }

    fn is_limit(&self) -> bool {
        self.error.is_limit()
    }
}

/// The part of a TGSI source that an error is about. Targets see IR, in which the only positions are those of
/// [`origin`](tgsi_ir::Body::origin).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Subject {
    /// The whole shader.
    Shader,
    /// The number of temporaries.
    Temporaries,
    /// An instruction, by its number from 0.
    Instruction(u32),
    /// The innermost loop around an instruction.
    Loop(u32),
    /// The first instruction with an opcode.
    Opcode(Opcode),
    /// The first operand of a file.
    Operand {
        /// The file.
        file: File,
        /// Count only operands with a run-time index.
        is_indirect: bool,
    },
    /// A property.
    Property(PropertyName),
    /// The first declaration with a semantic.
    Declaration {
        /// Whether the declaration is of an output; if not, of an input or a system value.
        is_output: bool,
        /// The semantic.
        semantic: Semantic,
    },
}

impl Subject {
    /// Returns the instruction of the source that an instruction of a shader's entry point comes from, if it is known;
    /// else the shader.
    pub fn of_inst(shader: &tgsi_ir::Shader, inst: Option<tgsi_ir::Inst>) -> Subject {
        let body = shader.entry_point().and_then(|entry| shader.functions[entry].body.as_ref());
        let origin = body.zip(inst).and_then(|(body, inst)| body.nearest_origin(inst));
        origin.map_or(Subject::Shader, Subject::Instruction)
    }
}

/// Errors of compilation.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompileError {
    /// The shader cannot be expressed in the IR.
    #[error(transparent)]
    ToIr(#[from] MalformedShader),
    /// The target cannot express it.
    #[error("{}", message.clone().unwrap_or_else(|| error.to_string()))]
    Target {
        /// The error of the target.
        error: Box<dyn TargetError>,
        /// The message in terms of the TGSI source, if the target has one.
        message: Option<String>,
        /// The part of the source that the error is about.
        subject: Subject,
        /// The position in the TGSI source, if there is one.
        span: Option<Span>,
    },
}

impl CompileError {
    /// Whether the target's machine [lacks something](TargetError::is_limit) that the shader needs.
    pub fn is_limit(&self) -> bool {
        matches!(self, CompileError::Target { error, .. } if error.is_limit())
    }

    /// The code of the error.
    pub fn code(&self) -> ErrorCode {
        match self {
            CompileError::ToIr(error) => error.code(),
            CompileError::Target { error, .. } => error.code(),
        }
    }

    /// Returns the position in the TGSI source, if known.
    pub fn span(&self) -> Option<Span> {
        match self {
            CompileError::ToIr(error) => error.span(),
            CompileError::Target { span, .. } => *span,
        }
    }

    /// Returns the error as a finding about the source. Its span is empty if the position is unknown.
    pub fn diagnostic(&self) -> Diagnostic {
        let mut finding = Diagnostic::error(self.code(), self.span().unwrap_or_default(), self.to_string());
        if let CompileError::Target { error, .. } = self {
            finding.hint = error.hint();
        }
        match self {
            CompileError::Target { subject, .. } => match subject {
                Subject::Shader | Subject::Temporaries | Subject::Operand { .. } | Subject::Declaration { .. } => {
                    finding.with_focus(Focus::Register)
                }
                Subject::Instruction(_) | Subject::Loop(_) | Subject::Opcode(_) | Subject::Property(_) => finding,
            },
            CompileError::ToIr(_) => finding,
        }
    }

    /// Returns the error of the target, if it has this type.
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

//! Errors of compilation.

use std::error::Error;

use tgsi::shader::Shader;
use tgsi::structure::MalformedShader;
use tgsi::tables::{File, Opcode, PropertyName, Semantic};
use tgsi_diagnostics::ErrorCode;
use tgsi_diagnostics::Span;
use tgsi_diagnostics::{Diagnostic, Focus};

/// An error of a target: what it cannot express.
pub trait TargetError: Error + Send + Sync + 'static {
    /// The code of the error.
    fn code(&self) -> ErrorCode;

    /// The part of a TGSI source that the error is about.
    fn subject(&self) -> Subject {
        Subject::Shader
    }

    /// The message for an error that is about an instruction of a TGSI source, in TGSI's words. `None` if the error's
    /// own message does.
    fn message_at(&self, opcode: Opcode) -> Option<String> {
        let _ = opcode;
        None
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
    /// The innermost loop around an instruction.
    Loop(u32),
    /// The first instruction with an opcode.
    Opcode(Opcode),
    /// The first operand of a file.
    Operand {
        /// The file.
        file: File,
        /// Only operands with a run-time index count.
        is_indirect: bool,
    },
    /// A property.
    Property(PropertyName),
    /// The first declaration with a semantic.
    Declaration {
        /// Of an output; otherwise of an input or a system value.
        is_output: bool,
        /// The semantic.
        semantic: Semantic,
    },
}

/// Errors of compilation.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// The shader cannot be expressed in the IR.
    #[error(transparent)]
    ToIr(#[from] MalformedShader),
    /// The target cannot express it.
    #[error("{}", message.clone().unwrap_or_else(|| error.to_string()))]
    Target {
        /// The error of the target.
        error: Box<dyn TargetError>,
        /// The message in the words of the TGSI source, if the target has one.
        message: Option<String>,
        /// The position in the TGSI source, if there is one.
        span: Option<Span>,
    },
}

impl CompileError {
    /// The code of the error.
    pub fn code(&self) -> ErrorCode {
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
            CompileError::Target { error, .. } => match error.subject() {
                Subject::Shader | Subject::Temporaries | Subject::Operand { .. } | Subject::Declaration { .. } => {
                    finding.with_focus(Focus::Register)
                }
                Subject::Instruction(_) | Subject::Loop(_) | Subject::Opcode(_) | Subject::Property(_) => finding,
            },
            CompileError::ToIr(_) => finding,
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
    instructions: Box<[(Opcode, Span)]>,
    /// By file, and whether it has a run-time index: the first operand.
    operands: Vec<((File, bool), Span)>,
    properties: Box<[(PropertyName, Span)]>,
    /// Whether each is an output, and its semantic.
    declarations: Box<[(bool, Semantic, Span)]>,
}

impl SourceSpans {
    pub(crate) fn of(shader: &Shader) -> SourceSpans {
        let temporaries = shader.declarations.iter().filter(|d| d.file == File::Temporary);
        let largest = temporaries.max_by_key(|d| u32::from(d.last) + 1 - u32::from(d.first.min(d.last)));
        let mut first: Vec<((File, bool), Span)> = Vec::new();
        for instruction in &shader.instructions {
            let sources = instruction.src.iter().map(|src| (&src.register, src.span));
            let operands = instruction.dst.iter().map(|dst| (&dst.register, dst.span)).chain(sources);
            for (register, span) in operands {
                let key = (register.file, register.is_indirect());
                if first.iter().all(|&(known, _)| known != key) {
                    first.push((key, if span.end > span.start { span } else { instruction.span }));
                }
            }
        }
        let declarations = shader.declarations.iter().filter_map(|d| {
            let semantic = d.semantic.as_ref()?;
            Some((d.file == File::Output, semantic.name, d.span))
        });
        SourceSpans {
            processor: Some(shader.processor_span),
            temporaries: largest.map(|d| d.span),
            instructions: shader.instructions.iter().map(|i| (i.opcode, i.span)).collect(),
            operands: first,
            declarations: declarations.collect(),
            properties: shader.properties.iter().map(|p| (p.name, p.span)).collect(),
        }
    }

    pub(crate) fn locate(&self, error: Box<dyn TargetError>) -> CompileError {
        let instruction = |number: u32| self.instructions.get(number as usize).copied();
        let found = match error.subject() {
            Subject::Shader | Subject::Temporaries | Subject::Operand { .. } => None,
            Subject::Property(_) | Subject::Declaration { .. } => None,
            Subject::Instruction(number) => instruction(number),
            Subject::Loop(number) => self.loop_around(number),
            Subject::Opcode(opcode) => self.instructions.iter().copied().find(|&(other, _)| other == opcode),
        };
        let other = match error.subject() {
            Subject::Temporaries => self.temporaries,
            Subject::Declaration { is_output, semantic } => {
                let mut found =
                    self.declarations.iter().filter(|&&(output, s, _)| output == is_output && s == semantic);
                found.next().map(|&(.., span)| span)
            }
            Subject::Property(name) => self.properties.iter().find(|&&(other, _)| other == name).map(|&(_, span)| span),
            Subject::Operand { file, is_indirect } => {
                let of_file = self.operands.iter().filter(|&&((other, _), _)| other == file);
                let mut found = of_file.filter(|&&((_, indirect), _)| indirect || !is_indirect);
                found.next().map(|&(_, span)| span)
            }
            _ => None,
        };
        let span = found.map(|(_, span)| span).or(other).or(self.processor);
        let message = found.and_then(|(opcode, _)| error.message_at(opcode));
        CompileError::Target { error, message, span }
    }

    /// The begin of the innermost loop around an instruction.
    fn loop_around(&self, number: u32) -> Option<(Opcode, Span)> {
        let mut ended = 0u32;
        for &(opcode, span) in self.instructions.get(..=number as usize)?.iter().rev() {
            match opcode {
                Opcode::Endloop => ended += 1,
                Opcode::Bgnloop if ended == 0 => return Some((opcode, span)),
                Opcode::Bgnloop => ended -= 1,
                _ => {}
            }
        }
        None
    }
}

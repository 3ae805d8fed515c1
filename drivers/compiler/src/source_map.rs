//! Places of a source.

use std::sync::Arc;

use tgsi::shader::Shader;
use tgsi::tables::{File, Opcode, PropertyName, Semantic};
use tgsi_diagnostics::Span;

use crate::error::{CompileError, Subject, TargetError};

/// Maps parts of a shader to places in its source, so that errors of targets and measurements point there.
///
/// The IR knows of places only the [origins](tgsi_ir::Body::origin) of its instructions, which are numbers. A front end
/// that makes IR gives the place of each number; the other parts are known for TGSI sources only, and are at the start
/// of the source otherwise. Cloning is cheap.
#[derive(Clone, Debug, Default)]
pub struct SourceMap(Arc<SourcePlaces>);

#[derive(Debug, Default)]
struct SourcePlaces {
    /// The start of the shader.
    start: Option<Span>,
    /// By origin.
    origins: Vec<Span>,
    /// Places that only TGSI sources have.
    tgsi: TgsiPlaces,
}

#[derive(Debug, Default)]
struct TgsiPlaces {
    /// The largest declaration of temporaries.
    temporaries: Option<Span>,
    /// The opcodes of instructions, by origin.
    opcodes: Vec<Opcode>,
    /// By file, and whether it has a run-time index: the first operand.
    operands: Vec<((File, bool), Span)>,
    properties: Box<[(PropertyName, Span)]>,
    /// Whether each is an output, and its semantic.
    declarations: Box<[(bool, Semantic, Span)]>,
}

impl SourceMap {
    /// The map of a source whose instructions have these places: the place of origin `n` is `origins[n]`. Errors that
    /// are about the whole shader are reported at `start`.
    pub fn new(start: Option<Span>, origins: Vec<Span>) -> SourceMap {
        SourceMap(Arc::new(SourcePlaces { start, origins, tgsi: TgsiPlaces::default() }))
    }

    /// The map of a TGSI shader, whose conversion numbers origins as it numbers instructions.
    pub(crate) fn of_tgsi(shader: &Shader) -> SourceMap {
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
        SourceMap(Arc::new(SourcePlaces {
            start: Some(shader.processor_span),
            origins: shader.instructions.iter().map(|i| i.span).collect(),
            tgsi: TgsiPlaces {
                temporaries: largest.map(|d| d.span),
                opcodes: shader.instructions.iter().map(|i| i.opcode).collect(),
                operands: first,
                declarations: declarations.collect(),
                properties: shader.properties.iter().map(|p| (p.name, p.span)).collect(),
            },
        }))
    }

    /// The place of an origin.
    pub fn place(&self, origin: u32) -> Option<Span> {
        self.0.origins.get(origin as usize).copied().filter(|span| span.end > span.start)
    }

    /// Replaces the origins in the spans of emitted instructions by places in the source.
    pub(crate) fn place_instructions(&self, shader: &mut Shader) {
        for instruction in &mut shader.instructions {
            let Span { start, end } = instruction.span;
            instruction.span = if end > start { self.place(start).unwrap_or_default() } else { Span::default() };
        }
    }

    /// Adds its place to an error of a target. If the error has an instruction only, it is one of this shader.
    pub(crate) fn locate(&self, error: Box<dyn TargetError>, shader: Option<&tgsi_ir::Shader>) -> CompileError {
        let SourcePlaces { start, origins, tgsi } = &*self.0;
        let subject = match (error.subject(), shader) {
            (Subject::Shader, Some(shader)) => Subject::of_inst(shader, error.inst()),
            (subject, _) => subject,
        };
        let origin = match subject {
            Subject::Instruction(number) => Some(number as usize),
            Subject::Loop(number) => Some(self.loop_around(number).unwrap_or(number as usize)),
            Subject::Opcode(opcode) => tgsi.opcodes.iter().position(|&other| other == opcode),
            Subject::Shader | Subject::Temporaries | Subject::Operand { .. } => None,
            Subject::Property(_) | Subject::Declaration { .. } => None,
        };
        let other = match subject {
            Subject::Temporaries => tgsi.temporaries,
            Subject::Declaration { is_output, semantic } => {
                let mut found =
                    tgsi.declarations.iter().filter(|&&(output, s, _)| output == is_output && s == semantic);
                found.next().map(|&(.., span)| span)
            }
            Subject::Property(name) => tgsi.properties.iter().find(|&&(other, _)| other == name).map(|&(_, span)| span),
            Subject::Operand { file, is_indirect } => {
                let of_file = tgsi.operands.iter().filter(|&&((other, _), _)| other == file);
                let mut found = of_file.filter(|&&((_, indirect), _)| indirect || !is_indirect);
                found.next().map(|&(_, span)| span)
            }
            Subject::Shader | Subject::Instruction(_) | Subject::Loop(_) | Subject::Opcode(_) => None,
        };
        let span = origin.and_then(|origin| origins.get(origin).copied()).or(other).or(*start);
        let message = origin.and_then(|origin| error.message_at(tgsi.opcodes.get(origin).copied()));
        CompileError::Target { error, message, subject, span }
    }

    /// The first instruction of the innermost loop around an instruction of a TGSI source.
    fn loop_around(&self, number: u32) -> Option<usize> {
        let mut ended = 0u32;
        for (at, &opcode) in self.0.tgsi.opcodes.get(..=number as usize)?.iter().enumerate().rev() {
            match opcode {
                Opcode::Endloop => ended += 1,
                Opcode::Bgnloop if ended == 0 => return Some(at),
                Opcode::Bgnloop => ended -= 1,
                _ => {}
            }
        }
        None
    }
}

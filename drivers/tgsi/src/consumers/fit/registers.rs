//! The declarations of a shader, and the counts that are the same for all consumers.

use tgsi::Shader;
use tgsi::shader::{Declaration, DeclarationSemantic, Instruction, Register};
use tgsi::tables::{File, Opcode, Processor, Semantic};
use tgsi_diagnostics::Span;

use super::usage::{Resource, Usage};

/// The declarations of one file.
#[derive(Clone, Copy, Default)]
pub(crate) struct DeclaredRegisters {
    /// One past the highest register.
    pub(crate) end: u32,
    /// The number of different registers.
    pub(crate) count: u32,
    /// The declaration with the highest register.
    pub(crate) span: Span,
}

impl DeclaredRegisters {
    /// Collects the registers of a file; for constants those of the first buffer.
    pub(crate) fn of(shader: &Shader, file: File) -> DeclaredRegisters {
        let declarations = shader.declarations.iter().filter(|d| d.file == file && d.first <= d.last);
        let first_buffer = declarations.filter(|d| d.dimension.unwrap_or(0) == 0 || file != File::Constant);
        let mut ranges: Vec<(u32, u32, Span)> =
            first_buffer.map(|d| (d.first.into(), u32::from(d.last) + 1, d.span)).collect();
        ranges.sort_by_key(|&(first, end, _)| (first, end));
        let mut declared = DeclaredRegisters::default();
        for (first, end, span) in ranges {
            if end > declared.end {
                declared.count += end - first.max(declared.end);
                (declared.end, declared.span) = (end, span);
            }
        }
        declared
    }
}

/// The semantics of the registers of a file.
pub(crate) struct Semantics(Vec<Option<DeclarationSemantic>>);

impl Semantics {
    /// Collects the semantics of inputs or outputs.
    pub(crate) fn of(shader: &Shader, file: File) -> Semantics {
        let end = DeclaredRegisters::of(shader, file).end as usize;
        let mut semantics = vec![None; end];
        for d in shader.declarations.iter().filter(|d| d.file == file && d.first <= d.last) {
            let range = usize::from(d.first)..=usize::from(d.last);
            for (slot, offset) in semantics.get_mut(range).into_iter().flatten().zip(0..) {
                *slot = d.semantic.map(|s| DeclarationSemantic { index: s.index.saturating_add(offset), ..s });
            }
        }
        Semantics(semantics)
    }

    /// The semantic of a register.
    pub(crate) fn get(&self, register: &Register) -> Option<DeclarationSemantic> {
        usize::try_from(register.index).ok().and_then(|index| self.0.get(index).copied().flatten())
    }

    /// The name of a register's semantic.
    pub(crate) fn name(&self, register: &Register) -> Option<Semantic> {
        self.get(register).map(|semantic| semantic.name)
    }
}

/// The number of a register, as an unsigned one.
pub(crate) fn number(register: &Register) -> u32 {
    u32::try_from(register.index).unwrap_or(0)
}

/// The constant buffer of a register of file `CONST`.
pub(crate) fn buffer(register: &Register) -> u32 {
    register.dimension.map_or(0, |dimension| u32::try_from(dimension.index).unwrap_or(0))
}

/// The register numbering of a consumer.
#[derive(Clone, Copy, Default)]
pub(crate) struct Numbering {
    /// The number of registers for temporary values before the first `TEMP`.
    pub(crate) temporaries_before: u32,
    /// The number of constants before the first immediate; `None` if immediates take no constants.
    pub(crate) immediates_after: Option<u32>,
    /// Whether the consumer renumbers temporaries and constants, so that their numbers do not count.
    pub(crate) is_renumbered: bool,
}

/// Counts the registers used by operands, and those that are only declared.
pub(crate) struct RegisterCount {
    numbering: Numbering,
    temporaries: DeclaredRegisters,
    constants: DeclaredRegisters,
}

impl RegisterCount {
    /// Prepares counting for a shader.
    pub(crate) fn new(shader: &Shader, numbering: Numbering) -> RegisterCount {
        let temporaries = DeclaredRegisters::of(shader, File::Temporary);
        RegisterCount { numbering, temporaries, constants: DeclaredRegisters::of(shader, File::Constant) }
    }

    /// Counts the registers of an instruction.
    pub(crate) fn instruction(&self, instruction: &Instruction, usage: &mut Usage) {
        let sources = instruction.src.iter().map(|src| (&src.register, src.span));
        let operands = instruction.dst.iter().map(|dst| (&dst.register, dst.span)).chain(sources);
        for (register, span) in operands {
            let span = if span.end > span.start { span } else { instruction.span };
            if register.indirect.is_none() {
                self.register(register, span, usage);
            }
            for indirect in register.indirect.iter().chain(register.dimension.iter().flat_map(|d| &d.indirect)) {
                self.register(&Register::new(indirect.file, indirect.index), span, usage);
            }
        }
    }

    fn register(&self, register: &Register, span: Span, usage: &mut Usage) {
        let end = number(register).saturating_add(1);
        match register.file {
            File::Temporary => {
                if self.numbering.is_renumbered {
                    return;
                }
                usage.at_least(Resource::Temporaries, end.saturating_add(self.numbering.temporaries_before), span);
            }
            File::Constant => {
                let buffer = buffer(register);
                usage.at_least(Resource::ConstantBuffers, buffer.saturating_add(1), span);
                if !self.numbering.is_renumbered {
                    usage.at_least(Resource::Constants, end, span);
                }
            }
            File::Immediate => {
                usage.at_least(Resource::Immediates, end, span);
                if let Some(before) = self.numbering.immediates_after {
                    usage.at_least(Resource::Constants, before.saturating_add(end), span);
                }
            }
            File::Address => usage.at_least(Resource::Addresses, end, span),
            File::Input => usage.at_least(Resource::Inputs, end, span),
            File::Output => usage.at_least(Resource::Outputs, end, span),
            File::Sampler => usage.at_least(Resource::Samplers, end, span),
            File::Null
            | File::SystemValue
            | File::Image
            | File::SamplerView
            | File::Buffer
            | File::Memory
            | File::ConstantBuffer
            | File::HwAtomic => {}
        }
    }

    /// Counts declared registers, whether or not an instruction uses them.
    pub(crate) fn declarations(&self, shader: &Shader, usage: &mut Usage) {
        let DeclaredRegisters { end, span, .. } = self.temporaries;
        if end > 0 && !self.numbering.is_renumbered {
            usage.at_least(Resource::Temporaries, end + self.numbering.temporaries_before, span);
        }
        if !self.numbering.is_renumbered {
            usage.at_least(Resource::Constants, self.constants.end, self.constants.span);
        }
        if let (Some(before), Some(last)) = (self.numbering.immediates_after, shader.immediates.last()) {
            usage.at_least(Resource::Constants, before.saturating_add(shader.immediates.len() as u32), last.span);
        }
        if let Some(last) = shader.immediates.last() {
            usage.at_least(Resource::Immediates, shader.immediates.len() as u32, last.span);
        }
        for d in &shader.declarations {
            let end = u32::from(d.last) + 1;
            match d.file {
                File::Constant => {
                    usage.at_least(Resource::ConstantBuffers, u32::from(d.dimension.unwrap_or(0)) + 1, d.span);
                }
                File::Address => usage.at_least(Resource::Addresses, end, d.span),
                File::Input if counts_inputs(shader) => usage.at_least(Resource::Inputs, end, d.span),
                File::Output => usage.at_least(Resource::Outputs, end, d.span),
                File::Sampler => usage.at_least(Resource::Samplers, end, d.span),
                _ => {}
            }
        }
    }
}

/// Whether the numbers of inputs are those of attributes rather than vertices.
fn counts_inputs(shader: &Shader) -> bool {
    shader.processor != Processor::Geometry
}

/// Counts declarations by semantic, for example the colour outputs of a fragment shader or the varyings of a vertex
/// shader, as uses of `resource`.
pub(crate) fn count_semantics(
    shader: &Shader,
    file: File,
    resource: Resource,
    is_counted: impl Fn(Semantic) -> bool,
    usage: &mut Usage,
) {
    let declarations = shader.declarations.iter().filter(|d| d.file == file && d.first <= d.last);
    for (d, _) in declarations.filter_map(|d| d.semantic.map(|s| (d, s))).filter(|(_, s)| is_counted(s.name)) {
        usage.add(resource, registers(d), d.span);
    }
}

fn registers(d: &Declaration) -> u32 {
    u32::from(d.last - d.first) + 1
}

/// Whether values of this semantic are interpolated in the registers of texture coordinates.
pub(crate) fn is_texture_coordinate(semantic: Semantic) -> bool {
    matches!(semantic, Semantic::Generic | Semantic::TexCoord | Semantic::PointCoord)
}

/// Counts nested blocks.
pub(crate) fn count_nesting(shader: &Shader, usage: &mut Usage) {
    let mut depth = 0u32;
    for instruction in &shader.instructions {
        match instruction.opcode {
            Opcode::If | Opcode::Uif | Opcode::Bgnloop | Opcode::Switch => {
                depth = depth.saturating_add(1);
                usage.at_least(Resource::Nesting, depth, instruction.span);
            }
            Opcode::Endif | Opcode::Endloop | Opcode::Endswitch => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
}

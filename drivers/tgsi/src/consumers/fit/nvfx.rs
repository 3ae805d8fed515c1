//! Programs of GeForce FX to 7, as Mesa's `nvfx_fragprog.c` and `nvfx_vertprog.c` translate them from TGSI.
//!
//! Counts the instructions that the compilers emit for each TGSI instruction:
//!
//! - An instruction reads one constant or immediate and one input: others are first copied to a temporary.
//! - In fragment programs a constant follows the instruction that reads it and takes a slot of the same size.
//! - Results of fragment programs are temporaries.

use tgsi::Shader;
use tgsi::shader::{Instruction, Src};
use tgsi::tables::{File, Opcode, Semantic};
use tgsi_diagnostics::Span;

use super::registers::{
    DeclaredRegisters, Numbering, RegisterCount, Semantics, buffer, count_semantics, is_texture_coordinate, number,
};
use super::usage::{Resource, Usage};

/// A hardware generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Chip {
    /// GeForce FX.
    Nv30,
    /// GeForce 6 and 7.
    Nv40,
}

/// An operand of a hardware instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operand {
    /// A temporary, input or nothing.
    Register,
    /// A constant or immediate.
    Constant,
}

use Operand::{Constant, Register};

/// Counts the instructions emitted for a TGSI instruction.
struct Emission<'u> {
    /// Whether constants take slots, and lookups are texture instructions.
    is_fragment: bool,
    /// The number of registers for temporary values used throughout.
    taken: u32,
    /// The number of scratch registers of the instruction.
    scratch: u32,
    span: Span,
    usage: &'u mut Usage,
}

impl Emission<'_> {
    fn begin(&mut self, span: Span) {
        (self.span, self.scratch) = (span, 0);
    }

    fn scratch(&mut self) {
        self.scratch = self.scratch.saturating_add(1);
        self.usage.at_least(Resource::Temporaries, self.taken.saturating_add(self.scratch), self.span);
    }

    /// Counts a hardware instruction.
    fn emit(&mut self, operands: &[Operand]) {
        self.emit_as(Resource::Alu, operands);
    }

    fn emit_as(&mut self, resource: Resource, operands: &[Operand]) {
        let constant = u32::from(self.is_fragment && operands.contains(&Constant));
        self.usage.add(resource, 1, self.span);
        self.usage.add(Resource::Instructions, 1, self.span);
        self.usage.add(Resource::Slots, 1 + constant, self.span);
    }

    fn emit_times(&mut self, count: u32) {
        (0..count).for_each(|_| self.emit(&[]));
    }

    fn not_taken(&mut self, what: impl Into<String>) {
        self.usage.not_taken(self.span, what);
    }

    /// Returns the operands, after counting the copies of operands that an instruction cannot read together.
    fn operands(&mut self, instruction: &Instruction, inputs: Option<&Semantics>) -> Vec<Operand> {
        let (mut input, mut constant) = (None, None);
        let mut operands = Vec::with_capacity(instruction.src.len());
        for src in &instruction.src {
            let key = (src.register.file, buffer(&src.register), number(&src.register));
            let operand = match src.register.file {
                File::Input if inputs.is_some_and(|inputs| is_fog_alpha(src, inputs)) => {
                    // The hardware has 0 instead of 1: the driver adds it.
                    self.scratch();
                    self.emit(&[Constant]);
                    Register
                }
                File::Input => {
                    if *input.get_or_insert(key) != key {
                        self.scratch();
                        self.emit(&[]);
                    }
                    Register
                }
                File::Constant | File::Immediate => {
                    if *constant.get_or_insert(key) == key {
                        Constant
                    } else {
                        self.scratch();
                        self.emit(&[Constant]);
                        Register
                    }
                }
                File::Temporary | File::Output | File::Sampler | File::SamplerView => Register,
                other => {
                    self.not_taken(format!("operands in {}", other.name()));
                    Register
                }
            };
            let can_index = !self.is_fragment
                && matches!(src.register.file, File::Constant | File::Input)
                && src.register.dimension.is_none_or(|dimension| dimension.indirect.is_none());
            if src.register.is_indirect() && !can_index {
                self.not_taken(format!("{} addressed indirectly", src.register.file.name()));
            }
            operands.push(operand);
        }
        if instruction.dst.iter().any(|dst| dst.register.is_indirect()) {
            self.not_taken("destinations that are addressed indirectly");
        }
        operands
    }
}

/// Whether w of the fog coordinate is read.
fn is_fog_alpha(src: &Src, inputs: &Semantics) -> bool {
    inputs.name(&src.register) == Some(Semantic::Fog) && src.swizzle.contains(&3)
}

/// Counts the resources that the compiler of fragment programs would use.
pub(crate) fn count_fragment(shader: &Shader, chip: Chip, usage: &mut Usage) {
    let outputs = shader.declarations.iter().filter(|d| d.file == File::Output).count() as u32;
    let numbering = Numbering { temporaries_before: outputs, immediates_after: None, is_renumbered: false };
    let registers = RegisterCount::new(shader, numbering);
    let inputs = Semantics::of(shader, File::Input);
    let taken = outputs.saturating_add(DeclaredRegisters::of(shader, File::Temporary).end);
    let mut emission = Emission { is_fragment: true, taken, scratch: 0, span: Span::default(), usage };
    for instruction in &shader.instructions {
        registers.instruction(instruction, emission.usage);
        emission.begin(instruction.span);
        fragment_instruction(instruction, chip, &inputs, &mut emission);
    }
    // The last slot is the target of branches to the end.
    usage.add(Resource::Slots, 1, shader.instructions.last().map_or(shader.processor_span, |last| last.span));
    if outputs > 0 {
        usage.at_least(Resource::Temporaries, outputs, shader.processor_span);
    }
    registers.declarations(shader, usage);
    count_semantics(shader, File::Input, Resource::Interpolators, is_texture_coordinate, usage);
    count_semantics(shader, File::Output, Resource::Colors, |semantic| semantic == Semantic::Color, usage);
    for d in shader.declarations.iter().filter(|d| matches!(d.file, File::Input | File::Output)) {
        let Some(semantic) = d.semantic.map(|semantic| semantic.name) else { continue };
        let is_taken = match d.file {
            File::Output => matches!(semantic, Semantic::Color | Semantic::Position),
            _ => {
                is_texture_coordinate(semantic)
                    || matches!(semantic, Semantic::Position | Semantic::Color | Semantic::Fog | Semantic::Face)
            }
        };
        if !is_taken {
            usage.not_taken(d.span, format!("{} of semantic {}", d.file.name(), semantic.name()));
        }
    }
}

fn fragment_instruction(instruction: &Instruction, chip: Chip, inputs: &Semantics, emission: &mut Emission<'_>) {
    use Opcode::*;
    if instruction.opcode == End {
        return;
    }
    let operands = emission.operands(instruction, Some(inputs));
    let is_nv40 = chip == Chip::Nv40;
    let mask = instruction.dst.first().map_or(0, |dst| dst.write_mask);
    match instruction.opcode {
        Add | Cos | Dp3 | Dp4 | Dst | Ex2 | Flr | Frc | Lg2 | Mad | Max | Min | Mov | Mul | Rcp | Seq | Sge | Sgt
        | Sin | Sle | Slt | Sne => emission.emit(&operands),
        Nop | Bgnsub | Endsub | Endloop => {}
        Ceil => {
            emission.scratch();
            emission.emit(&operands);
            emission.emit(&[]);
        }
        Cmp => {
            let operand = |index: usize| operands.get(index..=index).unwrap_or_default();
            emission.emit(operand(0));
            emission.emit(operand(2));
            emission.emit(operand(1));
        }
        Ddx | Ddy if mask & 0b1100 != 0 => {
            emission.scratch();
            emission.emit(&operands);
            emission.emit(&[]);
            emission.emit(&operands);
            emission.emit(&[]);
        }
        Ddx | Ddy => emission.emit(&operands),
        Dp2 => {
            emission.scratch();
            emission.emit(&operands);
            emission.emit(&[]);
        }
        // It uses an arithmetic instruction.
        Kill => emission.emit(&[]),
        KillIf => {
            emission.emit(&operands);
            emission.emit(&[]);
        }
        Lit if !is_nv40 => emission.emit(&operands),
        Lit => {
            emission.scratch();
            // The smallest number is an immediate of the compiler.
            if operands.contains(&Constant) {
                emission.emit(&[Constant]);
            }
            emission.emit(&[Constant]);
            emission.emit(&[]);
            emission.emit(&operands);
            emission.emit(&[]);
        }
        Lrp if !is_nv40 => emission.emit(&operands),
        Lrp => {
            emission.scratch();
            let first = [operands.first(), operands.get(2)].map(|operand| operand.copied().unwrap_or(Register));
            emission.emit(&first);
            emission.emit(operands.get(..2).unwrap_or_default());
        }
        Pow if !is_nv40 => emission.emit(&operands),
        Pow => {
            emission.scratch();
            emission.emit(operands.get(..1).unwrap_or_default());
            emission.emit(operands.get(1..).unwrap_or_default());
            emission.emit(&[]);
        }
        Rsq if !is_nv40 => emission.emit(&operands),
        Rsq => {
            emission.scratch();
            emission.emit(&operands);
            emission.emit(&[]);
        }
        Ssg => {
            emission.emit(&operands);
            emission.emit(&[]);
            if !instruction.saturate {
                emission.emit(&[Constant]);
            }
        }
        Trunc => {
            emission.scratch();
            emission.emit(&operands);
            emission.emit(&operands);
            emission.emit_times(2);
        }
        Tex | Txb | Txl | Txp => emission.emit_as(Resource::Tex, &operands),
        If if is_nv40 => {
            emission.emit(&operands);
            emission.emit(&[]);
        }
        Else | Endif if is_nv40 => {}
        Cal | Ret | Bgnloop | Brk if is_nv40 => emission.emit(&[]),
        other => emission.not_taken(other.name()),
    }
}

/// Counts the resources that the compiler of vertex programs would use.
pub(crate) fn count_vertex(shader: &Shader, chip: Chip, usage: &mut Usage) {
    let is_clip_vertex = |d: &&tgsi::shader::Declaration| d.semantic.is_some_and(|s| s.name == Semantic::ClipVertex);
    let outputs = shader.declarations.iter().filter(|d| d.file == File::Output).filter(is_clip_vertex).count() as u32;
    let constants = DeclaredRegisters::of(shader, File::Constant).end;
    let numbering = Numbering { temporaries_before: outputs, immediates_after: Some(constants), is_renumbered: false };
    let registers = RegisterCount::new(shader, numbering);
    let taken = outputs.saturating_add(DeclaredRegisters::of(shader, File::Temporary).end);
    let mut emission = Emission { is_fragment: false, taken, scratch: 0, span: Span::default(), usage };
    let mut clamps = false;
    for instruction in &shader.instructions {
        registers.instruction(instruction, emission.usage);
        emission.begin(instruction.span);
        vertex_instruction(instruction, &mut emission);
        if instruction.saturate && chip == Chip::Nv30 {
            // The bounds are in a constant; results to other files use a temporary.
            let is_temporary = instruction.dst.first().is_some_and(|dst| dst.register.file == File::Temporary);
            if !is_temporary {
                emission.scratch();
            }
            emission.emit_times(2);
            if !std::mem::replace(&mut clamps, true) {
                let used = constants.saturating_add(shader.immediates.len() as u32).saturating_add(1);
                emission.usage.at_least(Resource::Constants, used, instruction.span);
            }
        }
    }
    registers.declarations(shader, usage);
    count_semantics(shader, File::Output, Resource::Interpolators, is_texture_coordinate, usage);
}

fn vertex_instruction(instruction: &Instruction, emission: &mut Emission<'_>) {
    use Opcode::*;
    let operands = emission.operands(instruction, None);
    let is_address = instruction.dst.first().is_some_and(|dst| dst.register.file == File::Address);
    if is_address && instruction.opcode != Arl {
        emission.not_taken(format!("{} to an address register", instruction.opcode.name()));
        return;
    }
    match instruction.opcode {
        Add | Arl | Cos | Dp3 | Dp4 | Dst | Ex2 | Exp | Flr | Frc | Lg2 | Lit | Log | Mad | Max | Min | Mov | Mul
        | Rcp | Rsq | Seq | Sge | Sgt | Sin | Sle | Slt | Sne | Ssg => emission.emit(&operands),
        Nop | Endif | Bgnsub | Endsub | Bgnloop => {}
        Ceil | Dp2 | Lrp => {
            emission.scratch();
            emission.emit_times(2);
        }
        Cmp => emission.emit_times(3),
        Pow => {
            emission.scratch();
            emission.emit_times(3);
        }
        Trunc => {
            emission.scratch();
            emission.emit_times(4);
        }
        If => emission.emit_times(2),
        // The end is an instruction without effect.
        Else | Cal | Ret | Endloop | Cont | Brk | End => emission.emit(&[]),
        other => emission.not_taken(other.name()),
    }
}

//! Fragment programs of Intel 915 to G33, as Mesa's `i915_fpc_translate.c` and `i915_fpc_emit.c` translate them from
//! TGSI.
//!
//! Counts the instructions that the compiler emits for each TGSI instruction, after its [peephole
//! pass](super::i915_peephole):
//!
//! - An instruction reads one constant register: others are first copied to a scratch register (`U`). Each immediate
//!   takes a constant; components that are 0, 1 or -1 are read by the swizzle.
//! - Operands do not support absolute values: `MAX(a, -a)`.
//! - A lookup needs its coordinates unswizzled in a register that is not a constant (otherwise they are copied to a
//!   temporary), and writes whole registers (otherwise its result is copied).
//! - A lookup from a temporary written in the current phase begins a new phase, and so does one that writes an output.
//!   A program begins with one phase.

use tgsi::Shader;
use tgsi::shader::{Dst, Register, Src};
use tgsi::tables::{File, Opcode, Semantic, TextureTarget};
use tgsi_diagnostics::Span;

use super::i915_peephole::{ONE, PeepholeInstruction, ZERO, peephole};
use super::registers::{
    DeclaredRegisters, Numbering, RegisterCount, Semantics, buffer, count_semantics, is_texture_coordinate, number,
};
use super::usage::{Resource, Usage};

/// All components.
const XYZW: u8 = 0xf;

/// The components of a coordinate that a lookup reads.
pub(crate) fn coordinate_mask(opcode: Opcode, target: TextureTarget) -> u8 {
    let of_opcode = if matches!(opcode, Opcode::Txp | Opcode::Txb) { 0b1000 } else { 0 };
    of_opcode
        | match target {
            TextureTarget::Texture1D | TextureTarget::Texture2D | TextureTarget::Rect => 0b11,
            _ => 0b111,
        }
}

/// An operand of the hardware.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Operand {
    /// A temporary (`R`).
    Temporary(u32),
    /// An interpolated value (`T`).
    Interpolated,
    /// A constant register (`C`).
    Constant(u32),
    /// A scratch register (`U`).
    Scratch,
    /// Zeros and ones of a swizzle, independent of the register.
    Swizzle {
        /// Whether all are 0.0, not negated.
        is_zero: bool,
    },
}

/// Counts the resources that the compiler would use for a shader.
pub(crate) fn count(shader: &Shader, usage: &mut Usage) {
    let constants = DeclaredRegisters::of(shader, File::Constant);
    let numbering = Numbering { temporaries_before: 0, immediates_after: Some(constants.count), is_renumbered: false };
    let registers = RegisterCount::new(shader, numbering);
    let temporaries = DeclaredRegisters::of(shader, File::Temporary);
    let mut emission = Emission {
        shader,
        inputs: Semantics::of(shader, File::Input),
        outputs: Semantics::of(shader, File::Output),
        coordinates: Vec::new(),
        temporaries: temporaries.count,
        immediates_after: constants.count,
        phase: 1,
        phases: vec![0; temporaries.end.max(1) as usize],
        scratch: 0,
        span: Span::default(),
        usage,
    };
    emission.usage.at_least(Resource::Phases, 1, Span::default());
    if shader.instructions.iter().all(|instruction| instruction.opcode == Opcode::End) {
        emission.usage.not_taken(shader.processor_span, "shaders without instructions");
    }
    for step in peephole(shader) {
        registers.instruction(step.instruction, emission.usage);
        emission.instruction(&step);
    }
    // The depth is moved to its component at the end.
    let depth = shader.declarations.iter().filter(|d| d.semantic.is_some_and(|s| s.name == Semantic::Position));
    for d in depth.filter(|d| d.file == File::Output) {
        emission.span = d.span;
        emission.arithmetic(None, &[]);
    }
    registers.declarations(shader, usage);
    count_semantics(shader, File::Output, Resource::Colors, |semantic| semantic == Semantic::Color, usage);
}

/// The state of the compiler.
struct Emission<'s, 'u> {
    shader: &'s Shader,
    inputs: Semantics,
    outputs: Semantics,
    /// The semantics with a texture coordinate, in the order of their first use.
    coordinates: Vec<(Semantic, u16)>,
    /// The number of declared temporaries.
    temporaries: u32,
    /// The number of constants before the first immediate.
    immediates_after: u32,
    /// The current phase, from 1.
    phase: u32,
    /// By temporary: the phase in which it was last written.
    phases: Vec<u32>,
    /// The number of scratch registers in use.
    scratch: u32,
    /// The position of the instruction.
    span: Span,
    usage: &'u mut Usage,
}

impl Emission<'_, '_> {
    fn instruction(&mut self, step: &PeepholeInstruction<'_>) {
        use Opcode::*;
        self.span = step.instruction.span;
        self.scratch = 0;
        self.destination(step);
        match step.opcode {
            Nop | End | Ret => {}
            Add | Cmp | Dp2 | Dp3 | Dp4 | Dst | Flr | Frc | Mad | Max | Min | Mov | Mul | Sge | Sle | Slt | Sgt
            | Trunc | Ex2 | Lg2 | Rcp | Rsq => {
                let sources = self.sources(step);
                self.arithmetic(step.dst, &sources);
            }
            // Derivatives are zero.
            Ddx | Ddy => self.arithmetic(step.dst, &[]),
            Ceil => {
                let sources = self.sources(step);
                self.emit_to_scratch(&sources);
                self.arithmetic(step.dst, &[Operand::Scratch]);
            }
            Lit => {
                let sources = self.sources(step);
                self.emit_to_scratch(&sources);
                // The logarithm, the product and the power.
                for _ in 0..3 {
                    self.arithmetic(None, &[Operand::Scratch]);
                }
                self.arithmetic(step.dst, &[Operand::Scratch]);
            }
            Lrp => {
                let sources = self.sources(step);
                self.emit_to_scratch(&sources);
                let rest: Vec<Operand> = sources.iter().rev().take(1).chain(sources.first()).copied().collect();
                self.arithmetic(step.dst, &rest);
            }
            Pow => {
                let sources = self.sources(step);
                self.emit_to_scratch(sources.get(..1).unwrap_or_default());
                self.arithmetic(None, sources.get(1..).unwrap_or_default());
                self.arithmetic(step.dst, &[Operand::Scratch]);
            }
            Seq | Sne => {
                let sources = self.sources(step);
                self.emit_to_scratch(&sources);
                if !sources.contains(&Operand::Swizzle { is_zero: true }) {
                    self.arithmetic(step.dst, &sources);
                }
                self.arithmetic(step.dst, &[Operand::Scratch]);
            }
            Ssg => {
                let sources = self.sources(step);
                self.emit_to_scratch(&sources);
                self.arithmetic(step.dst, &sources);
                self.arithmetic(step.dst, &[Operand::Scratch]);
            }
            KillIf => {
                let coordinate = self.source(step.src[0].as_ref());
                self.scratch(1);
                let is_plain = step.src[0].is_some_and(|src| is_plain(&src, XYZW));
                self.lookup(None, coordinate, is_plain);
            }
            // The driver kills by a coordinate of -1.
            Kill => {
                self.scratch(1);
                self.lookup(None, Operand::Swizzle { is_zero: false }, false);
            }
            Tex | Txb | Txp => self.texture(step),
            other => self.usage.not_taken(self.span, other.name()),
        }
    }

    fn texture(&mut self, step: &PeepholeInstruction<'_>) {
        use TextureTarget::*;
        let target = step.instruction.texture.as_ref().map_or(Unknown, |texture| texture.target);
        if !matches!(target, Texture1D | Texture2D | Texture3D | Cube | Rect | Shadow1D | Shadow2D | ShadowRect) {
            self.usage.not_taken(self.span, format!("textures of target {}", target.name()));
            return;
        }
        let is_chosen = |register: &Register| register.file == File::Sampler && register.is_indirect();
        if step.instruction.registers().any(is_chosen) {
            self.usage.not_taken(self.span, "samplers that are addressed indirectly");
        }
        let Some(src) = step.src[0] else { return };
        let coordinate = self.source(Some(&src));
        let mask = coordinate_mask(step.opcode, target);
        // For 1D textures, y is a copy of x.
        let is_one_dimensional = matches!(target, Texture1D | Shadow1D);
        let is_plain = is_plain(&src, mask) && !is_one_dimensional && self.is_whole(&src, mask);
        let whole = step.dst.filter(|dst| dst.write_mask == XYZW && !step.instruction.saturate);
        if whole.is_some() {
            self.lookup(whole, coordinate, is_plain);
        } else {
            self.scratch(1);
            self.lookup(None, coordinate, is_plain);
            self.arithmetic(step.dst, &[Operand::Scratch]);
        }
    }

    /// Whether an input is in its register as in TGSI: fog is in w alone, and the second colour has no w.
    fn is_whole(&self, src: &Src, mask: u8) -> bool {
        let semantic = (src.register.file == File::Input).then(|| self.inputs.get(&src.register)).flatten();
        semantic.is_none_or(|semantic| match semantic.name {
            Semantic::Fog => false,
            Semantic::Color => semantic.index == 0 || mask & 0b1000 == 0,
            _ => true,
        })
    }

    /// Reports a destination that the hardware does not support.
    fn destination(&mut self, step: &PeepholeInstruction<'_>) {
        let Some(dst) = &step.dst else { return };
        if step.opcode == Opcode::Nop {
            return;
        }
        if dst.register.is_indirect() {
            self.usage.not_taken(self.span, "destinations that are addressed indirectly");
        }
        match dst.register.file {
            File::Temporary => {}
            File::Output => {
                let name = self.outputs.name(&dst.register);
                if let Some(name) = name.filter(|name| !matches!(name, Semantic::Color | Semantic::Position)) {
                    self.usage.not_taken(self.span, format!("outputs of semantic {}", name.name()));
                }
            }
            other => self.usage.not_taken(self.span, format!("destinations in {}", other.name())),
        }
    }

    fn sources(&mut self, step: &PeepholeInstruction<'_>) -> Vec<Operand> {
        let sources: Vec<Src> = step.src.iter().flatten().copied().collect();
        sources.iter().map(|src| self.source(Some(src))).collect()
    }

    /// Returns the operand of a source, and counts the instruction for its absolute value.
    fn source(&mut self, src: Option<&Src>) -> Operand {
        let Some(src) = src else { return Operand::Scratch };
        let register = &src.register;
        if register.is_indirect() {
            self.usage.not_taken(self.span, "operands that are addressed indirectly");
        }
        let operand = match register.file {
            File::Temporary => Operand::Temporary(number(register)),
            File::Input => self.input(src),
            File::Constant if buffer(register) == 0 => Operand::Constant(number(register)),
            // Other buffers are reported by the limit of constant buffers.
            File::Constant => Operand::Constant(0),
            File::Immediate => match self.immediate(src) {
                // Zeros and ones of a swizzle need no instruction for their absolute value.
                operand @ Operand::Swizzle { .. } => return operand,
                operand => operand,
            },
            other => {
                self.usage.not_taken(self.span, format!("operands in {}", other.name()));
                Operand::Scratch
            }
        };
        if !src.absolute {
            return operand;
        }
        self.scratch(1);
        self.arithmetic(None, &[operand]);
        Operand::Scratch
    }

    fn input(&mut self, src: &Src) -> Operand {
        let Some(semantic) = self.inputs.get(&src.register) else { return Operand::Interpolated };
        match semantic.name {
            Semantic::Color | Semantic::Fog => {}
            name if is_texture_coordinate(name) || matches!(name, Semantic::Position | Semantic::Face) => {
                // There are few, so a linear search suffices.
                let key = (name, semantic.index);
                if !self.coordinates.contains(&key) && self.coordinates.len() < MAX_COORDINATES {
                    self.coordinates.push(key);
                }
                self.usage.at_least(Resource::Interpolators, self.coordinates.len() as u32, self.span);
            }
            name => self.usage.not_taken(self.span, format!("inputs of semantic {}", name.name())),
        }
        Operand::Interpolated
    }

    /// An immediate, unless the swizzle can provide all of it.
    fn immediate(&self, src: &Src) -> Operand {
        let immediate = usize::try_from(src.register.index).ok().and_then(|i| self.shader.immediates.get(i));
        let value = |swizzle: u8| match swizzle {
            ZERO => 0.0,
            ONE => 1.0,
            component => immediate.map_or(0.0, |i| f32::from_bits(i.word(usize::from(component)))),
        };
        let values = src.swizzle.map(value);
        if values.iter().all(|&value| value == 0.0 || value.abs() == 1.0) {
            let is_zero = !src.negate && values.iter().all(|&value| value == 0.0);
            return Operand::Swizzle { is_zero };
        }
        Operand::Constant(self.immediates_after.saturating_add(number(&src.register)))
    }

    /// Allocates scratch registers.
    fn scratch(&mut self, count: u32) {
        self.scratch = self.scratch.saturating_add(count);
        self.usage.at_least(Resource::Scratch, self.scratch, self.span);
    }

    fn emit_to_scratch(&mut self, sources: &[Operand]) {
        self.scratch(1);
        self.arithmetic(None, sources);
    }

    /// Counts an arithmetic instruction, and copies of all constants except one.
    fn arithmetic(&mut self, dst: Option<Dst>, sources: &[Operand]) {
        let constants = sources.iter().filter_map(|source| match source {
            Operand::Constant(number) => Some(*number),
            _ => None,
        });
        let mut first = None;
        let mut copies = 0;
        for constant in constants {
            copies += u32::from(*first.get_or_insert(constant) != constant);
        }
        if copies > 0 {
            self.usage.at_least(Resource::Scratch, self.scratch.saturating_add(copies), self.span);
        }
        self.usage.add(Resource::Alu, 1 + copies, self.span);
        self.usage.add(Resource::Instructions, 1 + copies, self.span);
        self.written(dst);
    }

    fn written(&mut self, dst: Option<Dst>) {
        let register = dst.map(|dst| dst.register).filter(|register| register.file == File::Temporary);
        let slot = register.and_then(|register| self.phases.get_mut(number(&register) as usize));
        if let Some(slot) = slot {
            *slot = self.phase;
        }
    }

    /// Counts a lookup, with a destination if it writes a whole register.
    fn lookup(&mut self, dst: Option<Dst>, coordinate: Operand, is_plain: bool) {
        let is_copied = !is_plain || matches!(coordinate, Operand::Constant(_) | Operand::Swizzle { .. });
        let mut written_in = match coordinate {
            Operand::Temporary(number) => self.phases.get(number as usize).copied(),
            _ => None,
        };
        if is_copied {
            // To a temporary, because scratch registers are not live across phases.
            self.usage.at_least(Resource::Temporaries, self.temporaries.saturating_add(1), self.span);
            self.arithmetic(None, &[coordinate]);
            written_in = Some(self.phase);
        }
        if dst.is_some_and(|dst| dst.register.file == File::Output) {
            self.phase += 1;
        }
        if written_in == Some(self.phase) {
            self.phase += 1;
        }
        self.usage.at_least(Resource::Phases, self.phase, self.span);
        self.usage.add(Resource::Tex, 1, self.span);
        self.usage.add(Resource::Instructions, 1, self.span);
        self.written(dst);
    }
}

/// The maximum number of coordinates distinguished: more than the hardware has.
const MAX_COORDINATES: usize = 64;

/// Whether the components of a mask are read unswizzled. An absolute value is in a separate scratch register.
fn is_plain(src: &Src, mask: u8) -> bool {
    let mut channels = src.swizzle.iter().zip(0u8..);
    let is_in_place = channels.all(|(&swizzle, channel)| mask & 1 << channel == 0 || swizzle == channel);
    !src.negate && (src.absolute || is_in_place)
}

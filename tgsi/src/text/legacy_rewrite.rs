//! The instruction sequences that replace old opcodes.
//!
//! A sequence reads all sources before it first writes the destination, or writes only destination components that none
//! of its later instructions read, so operands may overlap.

use arrayvec::ArrayVec;

use super::error::ParseErrorKind;
use super::legacy::{Legacy, LegacyOpcode, Rewrite, Saturation, Suffixes};
use crate::shader::{Dst, Instruction, InstructionTexture, Register, Shader, Src};
use crate::tables::{File, ImmediateType, Opcode, TextureTarget};
use tgsi_diagnostics::Span;

/// An old instruction as parsed.
#[derive(Default)]
pub(crate) struct OldInstruction {
    pub(crate) dst: ArrayVec<Dst, 2>,
    pub(crate) src: ArrayVec<Src, 5>,
    pub(crate) target: Option<TextureTarget>,
    pub(crate) label: Option<u32>,
    pub(crate) span: Span,
}

pub(crate) struct Rewriter<'a> {
    legacy: &'a mut Legacy,
    shader: &'a mut Shader,
    suffixes: Suffixes,
    span: Span,
}

const X: u8 = 1;
const Y: u8 = 2;
const XY: u8 = 3;
const XYZ: u8 = 7;
const W: u8 = 8;

/// Returns the source with another selection of its (already swizzled) components.
fn select(src: Src, components: [u8; 4]) -> Src {
    Src { swizzle: components.map(|c| src.swizzle.get(c as usize).copied().unwrap_or(0)), ..src }
}

fn masked(dst: Dst, mask: u8) -> Dst {
    Dst { write_mask: dst.write_mask & mask, ..dst }
}

/// Returns one component of a scratch register, replicated to all components.
fn part(register: Register, component: u8) -> Src {
    Src::new(register).swizzled([component; 4])
}

fn write(register: Register, mask: u8) -> Dst {
    Dst::new(register).masked(mask)
}

impl<'a> Rewriter<'a> {
    pub(crate) fn new(legacy: &'a mut Legacy, shader: &'a mut Shader, suffixes: Suffixes, span: Span) -> Rewriter<'a> {
        Rewriter { legacy, shader, suffixes, span }
    }

    /// Appends an instruction with a final result.
    pub(crate) fn push(&mut self, mut instruction: Instruction) {
        instruction.precise |= self.suffixes.precise;
        match (self.suffixes.saturation, instruction.dst.first().copied()) {
            (Saturation::MinusOneOne, Some(dst)) => {
                let t = self.legacy.scratch(7);
                if let Some(first) = instruction.dst.first_mut() {
                    *first = Dst { register: t, ..dst };
                }
                self.shader.push_instruction(instruction);
                let one = self.float(1.0);
                self.step(Opcode::Max, write(t, dst.write_mask), &[Src::new(t), one.negated()]);
                self.step(Opcode::Min, dst, &[Src::new(t), one]);
            }
            (saturation, _) => {
                instruction.saturate |= saturation == Saturation::ZeroOne;
                self.shader.push_instruction(instruction);
            }
        }
    }

    fn instruction(&self, opcode: Opcode, dst: Option<Dst>, src: &[Src]) -> Instruction {
        Instruction { span: self.span, ..Instruction::with_operands(opcode, dst, src) }
    }

    /// Appends an instruction with a result that is only used by the sequence.
    fn step(&mut self, opcode: Opcode, dst: Dst, src: &[Src]) {
        let mut instruction = self.instruction(opcode, Some(dst), src);
        instruction.precise = self.suffixes.precise;
        self.shader.push_instruction(instruction);
    }

    /// Appends an instruction with a final result, unless its write mask is empty.
    fn result(&mut self, opcode: Opcode, dst: Dst, src: &[Src]) {
        if dst.write_mask != 0 {
            let instruction = self.instruction(opcode, Some(dst), src);
            self.push(instruction);
        }
    }

    /// Appends an instruction without destination.
    fn control(&mut self, opcode: Opcode, src: &[Src], label: Option<u32>) {
        let mut instruction = self.instruction(opcode, None, src);
        instruction.label = label;
        self.shader.push_instruction(instruction);
    }

    fn float(&mut self, value: f32) -> Src {
        self.legacy.constant(ImmediateType::Float32, [value.to_bits(); 4])
    }

    fn uint(&mut self, value: u32) -> Src {
        self.legacy.constant(ImmediateType::Uint32, [value; 4])
    }

    /// Appends the replacement of `old`.
    pub(crate) fn rewrite(&mut self, row: &'static LegacyOpcode, old: &OldInstruction) -> Result<(), ParseErrorKind> {
        let null = Register::new(File::Null, 0);
        let d = old.dst.first().copied().unwrap_or(Dst::new(null));
        let source = |position: usize| old.src.get(position).copied().unwrap_or(Src::new(null));
        let (a, b, c) = (source(0), source(1), source(2));
        let t = match row.rewrite {
            // Scratch registers are declared only if they are used.
            Rewrite::Renamed(_) | Rewrite::Sub | Rewrite::Abs | Rewrite::Neg | Rewrite::Sfl | Rewrite::Str => null,
            Rewrite::Breakc | Rewrite::Callnz | Rewrite::TxqLz | Rewrite::Fence | Rewrite::Gone(_) => null,
            _ => self.legacy.scratch(0),
        };
        match row.rewrite {
            Rewrite::Renamed(opcode) => {
                let mut instruction = self.instruction(opcode, old.dst.first().copied(), &old.src);
                instruction.label = old.label;
                if opcode.info().is_sample_family {
                    instruction.texture = Some(Box::new(InstructionTexture::new(TextureTarget::Unknown)));
                }
                self.push(instruction);
            }
            Rewrite::Sub => self.result(Opcode::Add, d, &[a, b.negated()]),
            Rewrite::Abs => self.result(Opcode::Mov, d, &[a.absolute_value()]),
            Rewrite::Neg => self.result(Opcode::Mov, d, &[a.negated()]),
            Rewrite::Clamp => {
                self.step(Opcode::Max, write(t, d.write_mask), &[a, b]);
                self.result(Opcode::Min, d, &[Src::new(t), c]);
            }
            Rewrite::Xpd => {
                const LEFT: [u8; 4] = [1, 2, 0, 3];
                const RIGHT: [u8; 4] = [2, 0, 1, 3];
                self.step(Opcode::Mul, write(t, XYZ), &[select(a, RIGHT), select(b, LEFT)]);
                self.result(Opcode::Mad, masked(d, XYZ), &[select(a, LEFT), select(b, RIGHT), Src::new(t).negated()]);
                self.one_in_w(d);
            }
            Rewrite::Dp2a => {
                self.step(Opcode::Dp2, write(t, X), &[a, b]);
                self.result(Opcode::Add, d, &[part(t, 0), c.replicated(0)]);
            }
            Rewrite::Dph => {
                self.step(Opcode::Mov, write(t, XYZ), &[a]);
                let one = self.float(1.0);
                self.step(Opcode::Mov, write(t, W), &[one]);
                self.result(Opcode::Dp4, d, &[Src::new(t), b]);
            }
            Rewrite::Scs => {
                self.step(Opcode::Cos, write(t, X), &[a.replicated(0)]);
                self.step(Opcode::Sin, write(t, Y), &[a.replicated(0)]);
                self.result(Opcode::Mov, masked(d, XY), &[Src::new(t)]);
                let rest = self.legacy.constant(ImmediateType::Float32, [0, 0, 0, 1.0f32.to_bits()]);
                self.result(Opcode::Mov, masked(d, !XY), &[rest]);
            }
            Rewrite::Cnd => {
                let half = self.float(0.5);
                self.step(Opcode::Add, write(t, d.write_mask), &[half, c.negated()]);
                self.result(Opcode::Cmp, d, &[Src::new(t), a, b]);
            }
            Rewrite::Cnd0 => self.result(Opcode::Cmp, d, &[c, b, a]),
            Rewrite::Nrm => {
                self.step(Opcode::Dp3, write(t, X), &[a, a]);
                self.step(Opcode::Rsq, write(t, X), &[part(t, 0)]);
                self.result(Opcode::Mul, masked(d, XYZ), &[a, part(t, 0)]);
                self.one_in_w(d);
            }
            Rewrite::Nrm4 => {
                self.step(Opcode::Dp4, write(t, X), &[a, a]);
                self.step(Opcode::Rsq, write(t, X), &[part(t, 0)]);
                self.result(Opcode::Mul, d, &[a, part(t, 0)]);
            }
            Rewrite::Rfl => {
                self.step(Opcode::Dp3, write(t, X), &[a, b]);
                self.step(Opcode::Dp3, write(t, Y), &[a, a]);
                self.step(Opcode::Rcp, write(t, Y), &[part(t, 1)]);
                self.step(Opcode::Mul, write(t, X), &[part(t, 0), part(t, 1)]);
                self.step(Opcode::Add, write(t, X), &[part(t, 0), part(t, 0)]);
                self.result(Opcode::Mad, masked(d, XYZ), &[part(t, 0), a, b.negated()]);
                self.one_in_w(d);
            }
            Rewrite::Rcc => {
                let (low, high) = (self.float((-64f32).exp2()), self.float(64f32.exp2()));
                self.step(Opcode::Rcp, write(t, X), &[a.replicated(0)]);
                self.step(Opcode::Max, write(t, Y), &[part(t, 0).absolute_value(), low]);
                self.step(Opcode::Min, write(t, Y), &[part(t, 1), high]);
                self.result(Opcode::Cmp, d, &[part(t, 0), part(t, 1).negated(), part(t, 1)]);
            }
            Rewrite::X2d => {
                let first = [b.replicated(0), select(c, [0, 2, 0, 2]), select(a, [0, 1, 0, 1])];
                self.step(Opcode::Mad, write(t, 0xf), &first);
                self.result(Opcode::Mad, d, &[b.replicated(1), select(c, [1, 3, 1, 3]), Src::new(t)]);
            }
            Rewrite::Sfl | Rewrite::Str => {
                let value = self.float(if row.rewrite == Rewrite::Str { 1.0 } else { 0.0 });
                self.result(Opcode::Mov, d, &[value]);
            }
            Rewrite::Sad => {
                // Negation of an operand would flip the sign of a float.
                self.step(Opcode::Ineg, write(t, d.write_mask), &[b]);
                self.step(Opcode::Uadd, write(t, d.write_mask), &[a, Src::new(t)]);
                self.step(Opcode::Iabs, write(t, d.write_mask), &[Src::new(t)]);
                self.result(Opcode::Uadd, d, &[Src::new(t), c]);
            }
            Rewrite::Breakc => {
                self.control(Opcode::Uif, &[a], None);
                self.control(Opcode::Brk, &[], None);
                self.control(Opcode::Endif, &[], None);
            }
            Rewrite::Callnz => {
                self.control(Opcode::Uif, &[a], None);
                self.control(Opcode::Cal, &[], old.label);
                self.control(Opcode::Endif, &[], None);
            }
            Rewrite::TxqLz => {
                let level = self.uint(0);
                let mut instruction = self.instruction(Opcode::Txq, Some(d), &[level, a]);
                let target = old.target.unwrap_or(TextureTarget::Unknown);
                instruction.texture = Some(Box::new(InstructionTexture::new(target)));
                self.push(instruction);
            }
            Rewrite::Dfracexp => {
                let exponent = old.dst.get(1).copied().unwrap_or(Dst::new(null));
                self.split_double(d, exponent, a);
            }
            Rewrite::Fence => {
                let bits = match a.register.file {
                    File::Buffer => 1,
                    File::HwAtomic => 2,
                    File::Image => 4,
                    File::Memory => 1 | 8,
                    _ => 15,
                };
                let bits = self.uint(bits);
                self.control(Opcode::Membar, &[bits], None);
            }
            Rewrite::Gone(reason) => return Err(ParseErrorKind::RemovedOpcode { name: row.name, reason }),
        }
        Ok(())
    }

    fn one_in_w(&mut self, d: Dst) {
        let one = self.float(1.0);
        self.result(Opcode::Mov, masked(d, W), &[one]);
    }

    /// `frexp` of the double in components xy of `a`: writes the significand in [0.5, 1) to both pairs of
    /// `significand`, and the exponent to all components of `exponent`. Zero, infinity and NaN are their own
    /// significands and have exponent 0. Works on the bits; numbers below the normal range are scaled up first.
    fn split_double(&mut self, significand: Dst, exponent: Dst, a: Src) {
        const SCALE: i32 = 54;
        let [value, normal, field, special] = [0, 1, 2, 3].map(|number| self.legacy.scratch(number));
        let factor = (SCALE as f64).exp2().to_bits();
        let factor = [factor as u32, (factor >> 32) as u32, factor as u32, (factor >> 32) as u32];
        let factor = self.legacy.constant(ImmediateType::Float64, factor);
        let pair = |register: Register| Src::new(register).swizzled([0, 1, 0, 1]);
        // Modifiers have no effect on a 64-bit operand, but would have one on a move.
        let a = Src { negate: false, absolute: false, ..a };
        self.step(Opcode::Mov, write(value, XY), &[select(a, [0, 1, 0, 1])]);
        let (exponent_bits, zero) = (self.uint(0x7ff0_0000), self.uint(0));
        // Exponent field 0: zero, or a denormal that must be scaled.
        self.step(Opcode::And, write(field, X), &[part(value, 1), exponent_bits]);
        self.step(Opcode::Useq, write(field, Y), &[part(field, 0), zero]);
        self.step(Opcode::Dmul, write(normal, XY), &[pair(value), factor]);
        self.step(Opcode::Ucmp, write(normal, XY), &[part(field, 1), pair(normal), pair(value)]);
        self.step(Opcode::And, write(field, X), &[part(normal, 1), exponent_bits]);
        let (shift, all) = (self.uint(20), self.uint(0x7ff));
        self.step(Opcode::Ushr, write(field, X), &[part(field, 0), shift]);
        // Still 0: zero. All ones: infinity or NaN.
        self.step(Opcode::Useq, write(special, X), &[part(field, 0), zero]);
        self.step(Opcode::Useq, write(special, Y), &[part(field, 0), all]);
        self.step(Opcode::Or, write(special, X), &[part(special, 0), part(special, 1)]);
        // Exponent: field - 1022, minus the scale if it was applied.
        let (scale, bias) = (self.uint(-SCALE as u32), self.uint(-1022i32 as u32));
        self.step(Opcode::And, write(field, Y), &[part(field, 1), scale]);
        self.step(Opcode::Uadd, write(field, X), &[part(field, 0), bias]);
        self.step(Opcode::Uadd, write(field, X), &[part(field, 0), part(field, 1)]);
        // Significand: with the exponent field of 0.5.
        let (others, half) = (self.uint(0x800f_ffff), self.uint(0x3fe0_0000));
        self.step(Opcode::And, write(normal, Y), &[part(normal, 1), others]);
        self.step(Opcode::Or, write(normal, Y), &[part(normal, 1), half]);
        self.step(Opcode::Ucmp, write(normal, XY), &[part(special, 0), pair(value), pair(normal)]);
        if significand.write_mask != 0 {
            self.step(Opcode::Mov, significand, &[pair(normal)]);
        }
        if exponent.write_mask != 0 {
            self.step(Opcode::Ucmp, exponent, &[part(special, 0), zero, part(field, 0)]);
        }
    }
}

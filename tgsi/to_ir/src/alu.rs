//! 32-bit arithmetic.

use tgsi_ir::AluFlags;
use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;

use super::computed_lanes::Lanes;
use super::control_flow::Translator;
use super::opcodes::{OperandForm, into_ir};
use tgsi::shader::{Instruction, Src};
use tgsi::tables::{Opcode, OperandType};

impl Translator<'_, '_> {
    /// Returns the sources of an instruction as read in `lanes`.
    fn sources(&mut self, instruction: &Instruction, lanes: Lanes) -> arrayvec::ArrayVec<AluSrc, 5> {
        let mut sources = arrayvec::ArrayVec::new();
        for (position, src) in instruction.src.iter().enumerate() {
            sources.push(self.fetch(src, instruction.opcode.source_type(position), lanes));
        }
        sources
    }

    /// `a * b`, with the shader's rule for multiplication by zero.
    pub(super) fn multiply(&mut self, count: u8, a: AluSrc, b: AluSrc) -> Def {
        let op = if self.context.legacy_math { AluOp::Fmulz } else { AluOp::Fmul };
        self.b.alu_sized(op, count, &[a, b])
    }

    /// Translates an opcode of 32-bit arithmetic.
    pub(super) fn alu(&mut self, instruction: &Instruction) {
        let opcode = instruction.opcode;
        if let Some((form, op)) = into_ir(opcode) {
            if form == OperandForm::Replicated {
                return self.replicated(instruction, op);
            }
            let lanes = Self::result_lanes(instruction);
            let mut sources = self.sources(instruction, lanes);
            if form == OperandForm::ExchangedNumber {
                sources.swap(0, 1);
            }
            let result = self.b.alu_sized(op, lanes.count, &sources);
            let def = match form {
                OperandForm::Number | OperandForm::ExchangedNumber => {
                    self.b.alu_sized(AluOp::B2f32, lanes.count, &[result.into()])
                }
                OperandForm::Truth => self.truth(result.into(), lanes.count),
                _ => result,
            };
            return self.write(instruction, lanes.by_channel(def));
        }
        match opcode {
            Opcode::Mov | Opcode::Uarl => self.mov(instruction),
            Opcode::Cmp => self.cmp(instruction),
            Opcode::Dp2 => self.dot(instruction, 2),
            Opcode::Dp3 => self.dot(instruction, 3),
            Opcode::Dp4 => self.dot(instruction, 4),
            Opcode::Dst => self.dst(instruction),
            Opcode::Exp => self.exp(instruction),
            Opcode::Log => self.log(instruction),
            Opcode::Lit => self.lit(instruction),
            _ => self.componentwise(instruction),
        }
    }

    /// A constant for all channels.
    fn scalar_constant(&mut self, value: u32) -> AluSrc {
        AluSrc::component(self.constant(value), 0)
    }

    /// `a < 0 ? b : c`. A negated `a` is compared with `>` instead of being negated.
    fn cmp(&mut self, instruction: &Instruction) {
        let [condition, b, c] = instruction.src[..] else { return };
        let lanes = Self::result_lanes(instruction);
        let count = lanes.count;
        let a = self.fetch(&Src { negate: false, ..condition }, instruction.opcode.source_type(0), lanes);
        let b = self.fetch(&b, instruction.opcode.source_type(1), lanes);
        let c = self.fetch(&c, instruction.opcode.source_type(2), lanes);
        let zero = self.scalar_constant(0);
        let operands = if condition.negate { [zero, a] } else { [a, zero] };
        let chosen = self.b.alu_sized(AluOp::Flt, count, &operands);
        let def = self.b.alu_sized(AluOp::Bcsel, count, &[chosen.into(), b, c]);
        self.write(instruction, lanes.by_channel(def));
    }

    /// Emits only the load and the store, unless there are modifiers.
    fn mov(&mut self, instruction: &Instruction) {
        let Some(src) = instruction.src.first() else { return };
        let lanes = Self::result_lanes(instruction);
        let value = self.fetch(src, instruction.opcode.source_type(0), lanes);
        self.write(instruction, lanes.swizzled_by_channel(value));
    }

    fn componentwise(&mut self, instruction: &Instruction) {
        let lanes = Self::result_lanes(instruction);
        let n = lanes.count;
        let sources = self.sources(instruction, lanes);
        let source = |position: usize| sources.get(position).copied();
        let (Some(a), b, c, d) = (source(0), source(1), source(2), source(3)) else { return };
        // Operand counts were checked; missing operands are never read.
        let (b, c, d) = (b.unwrap_or(a), c.unwrap_or(a), d.unwrap_or(a));
        let def = match instruction.opcode {
            Opcode::Mul => self.multiply(n, a, b),
            // Two roundings: a fused multiply-add would have one.
            Opcode::Mad => {
                let op = if self.context.legacy_math { AluOp::Fmadz } else { AluOp::Fmad };
                self.b.alu_sized(op, n, &[a, b, c])
            }
            Opcode::Fma => {
                let op = if self.context.legacy_math { AluOp::Ffmaz } else { AluOp::Ffma };
                self.with_flags(AluFlags::EXACT, |t| t.b.alu_sized(op, n, &[a, b, c]))
            }
            Opcode::Lrp => {
                let op = if self.context.legacy_math { AluOp::FlrpMadz } else { AluOp::FlrpMad };
                self.b.alu_sized(op, n, &[a, b, c])
            }
            Opcode::Ucmp => {
                let zero = self.scalar_constant(0);
                let chosen = self.b.alu_sized(AluOp::Ine, n, &[a, zero]);
                self.b.alu_sized(AluOp::Bcsel, n, &[chosen.into(), b, c])
            }
            Opcode::Arl => {
                let floor = self.b.alu_sized(AluOp::Ffloor, n, &[a]);
                self.b.alu_sized(AluOp::F2i32, n, &[floor.into()])
            }
            Opcode::Arr => {
                let half = AluSrc::component(self.float(0.5), 0);
                let sum = self.b.alu_sized(AluOp::Fadd, n, &[a, half]);
                let floor = self.b.alu_sized(AluOp::Ffloor, n, &[sum.into()]);
                self.b.alu_sized(AluOp::F2i32, n, &[floor.into()])
            }
            Opcode::Ldexp => self.scale(n, a, b, 32),
            Opcode::Ssg => {
                let zero = self.scalar_constant(0);
                self.sign(n, a, zero)
            }
            Opcode::Umad => {
                let product = self.b.alu_sized(AluOp::Imul, n, &[a, b]);
                self.b.alu_sized(AluOp::Iadd, n, &[product.into(), c])
            }
            Opcode::Udiv | Opcode::Umod | Opcode::Mod => {
                let op = match instruction.opcode {
                    Opcode::Udiv => AluOp::Udiv,
                    Opcode::Umod => AluOp::Umod,
                    _ => AluOp::Irem,
                };
                let quotient = self.b.alu_sized(op, n, &[a, b]);
                if self.is_nowhere(instruction, 1, lanes, |word| word == 0) {
                    quotient
                } else {
                    let (zero, all_ones) = (self.scalar_constant(0), self.scalar_constant(u32::MAX));
                    let by_zero = self.b.alu_sized(AluOp::Ieq, n, &[b, zero]);
                    self.b.alu_sized(AluOp::Bcsel, n, &[by_zero.into(), all_ones, quotient.into()])
                }
            }
            Opcode::Ibfe | Opcode::Ubfe => {
                let op = if instruction.opcode == Opcode::Ibfe { AluOp::Ibfe } else { AluOp::Ubfe };
                let field = self.b.alu_sized(op, n, &[a, b, c]);
                // A width of 32 counts as 0, except at offset 0, where it means the whole word.
                if self.is_nowhere(instruction, 2, lanes, |width| width == 32)
                    || self.is_nowhere(instruction, 1, lanes, |offset| offset & 31 == 0)
                {
                    field
                } else {
                    let (zero, low_bits) = (self.scalar_constant(0), self.scalar_constant(31));
                    let word_size = self.scalar_constant(32);
                    let offset = self.b.alu_sized(AluOp::Iand, n, &[b, low_bits]);
                    let width = self.b.alu_sized(AluOp::Ixor, n, &[c, word_size]);
                    let neither = self.b.alu_sized(AluOp::Ior, n, &[offset.into(), width.into()]);
                    let whole = self.b.alu_sized(AluOp::Ieq, n, &[neither.into(), zero]);
                    self.b.alu_sized(AluOp::Bcsel, n, &[whole.into(), a, field.into()])
                }
            }
            Opcode::Bfi => {
                let mask = self.b.alu_sized(AluOp::Bfm, n, &[d, c]);
                let field = self.b.alu_sized(AluOp::Bfi, n, &[mask.into(), b, a]);
                if self.is_nowhere(instruction, 3, lanes, |width| width == 32) {
                    field
                } else {
                    let word_size = self.scalar_constant(32);
                    let whole = self.b.alu_sized(AluOp::Ieq, n, &[d, word_size]);
                    self.b.alu_sized(AluOp::Bcsel, n, &[whole.into(), b, field.into()])
                }
            }
            other => {
                other.lacks_code();
                return;
            }
        };
        self.write(instruction, lanes.by_channel(def));
    }

    /// `a * 2^b` for floats of `bits` bits. `ldexp` of the IR flushes infinite and denormal results to 0, so this
    /// multiplies by powers of two instead. The last one has the largest possible magnitude, so that a result that the
    /// others round becomes 0 or infinite anyway; three of them reach from the smallest number to the largest.
    pub(super) fn scale(&mut self, n: u8, mut a: AluSrc, b: AluSrc, bits: u8) -> Def {
        // Number of fraction bits in the word with the exponent. For a double this is the high word, so that targets
        // without 64-bit integers can execute it.
        let (least, most, fraction_bits) = if bits == 64 { (-1022, 1023, 20) } else { (-126, 127, 23) };
        let zero = self.scalar_constant(0);
        let least = self.scalar_constant(least as u32);
        let most = self.scalar_constant(most as u32);
        let bias = most;
        let shift = self.scalar_constant(fraction_bits);
        let clamped = |t: &mut Self, exponent: AluSrc| -> AluSrc {
            let low = t.b.alu_sized(AluOp::Imax, n, &[exponent, least]);
            t.b.alu_sized(AluOp::Imin, n, &[low.into(), most]).into()
        };
        let last = clamped(self, b);
        let excess: AluSrc = self.b.alu_sized(AluOp::Isub, n, &[b, last]).into();
        let first = clamped(self, excess);
        let rest: AluSrc = self.b.alu_sized(AluOp::Isub, n, &[excess, first]).into();
        let second = clamped(self, rest);
        for exponent in [first, second, last] {
            let biased = self.b.alu_sized(AluOp::Iadd, n, &[exponent, bias]);
            let mut power = self.b.alu_sized(AluOp::Ishl, n, &[biased.into(), shift]);
            if bits == 64 {
                power = self.b.alu_sized(AluOp::Pack642x32Split, n, &[zero, power.into()]);
            }
            a = self.with_flags(AluFlags::EXACT, |t| t.b.alu_sized(AluOp::Fmul, n, &[a, power.into()])).into();
        }
        a.def
    }

    /// -1, 0 or 1. The sign of -0 is 0, whereas `fsign` gives -0.
    pub(super) fn sign(&mut self, n: u8, a: AluSrc, zero: AluSrc) -> Def {
        let sign = self.b.alu_sized(AluOp::Fsign, n, &[a]);
        self.with_flags(AluFlags::EXACT, |t| t.b.alu_sized(AluOp::Fadd, n, &[sign.into(), zero]))
    }

    /// Whether an operand is known in all lanes, and `is` is false for each of them.
    fn is_nowhere(&self, instruction: &Instruction, position: usize, lanes: Lanes, is: impl Fn(u32) -> bool) -> bool {
        let Some(src) = instruction.src.get(position) else { return false };
        (0..usize::from(lanes.count))
            .all(|lane| self.known_word(src, usize::from(lanes.channel[lane])).is_some_and(|word| !is(word)))
    }

    /// One result of the x channels, replicated to all channels.
    fn replicated(&mut self, instruction: &Instruction, op: AluOp) {
        let sources = self.sources(instruction, Lanes::one(0));
        let def = self.b.alu_sized(op, 1, &sources);
        self.write_scalar(instruction, def);
    }

    fn dot(&mut self, instruction: &Instruction, count: u8) {
        let sources = self.sources(instruction, Lanes::first(count));
        let (Some(&a), Some(&b)) = (sources.first(), sources.get(1)) else { return };
        // NIR's dot products add in another order.
        let ops = if self.context.legacy_math {
            [AluOp::Fdot2Madz, AluOp::Fdot3Madz, AluOp::Fdot4Madz]
        } else {
            [AluOp::Fdot2Mad, AluOp::Fdot3Mad, AluOp::Fdot4Mad]
        };
        let op = ops[usize::from(count.clamp(2, 4)) - 2];
        let def = self.b.alu_sized(op, 1, &[a, b]);
        self.write_scalar(instruction, def);
    }

    /// Writes a result with a separate formula for each channel; computes only those of the write mask.
    pub(super) fn write_channels(
        &mut self,
        instruction: &Instruction,
        mut channel: impl FnMut(&mut Self, u8) -> AluSrc,
    ) {
        let mask = instruction.dst.first().map_or(0, |dst| dst.write_mask & 0xf);
        let mut channels = [None; 4];
        for position in (0..4u8).filter(|position| mask >> position & 1 != 0) {
            channels[usize::from(position)] = Some(channel(self, position));
        }
        let Some(first) = channels.iter().flatten().next().copied() else { return };
        let sources = channels.map(|channel| channel.unwrap_or(first));
        let def = self.b.vec(&sources);
        self.write(instruction, def.into());
    }

    fn one(&mut self) -> AluSrc {
        AluSrc::component(self.float(1.0), 0)
    }

    fn dst(&mut self, instruction: &Instruction) {
        let (Some(&a), Some(&b)) = (instruction.src.first(), instruction.src.get(1)) else { return };
        self.write_channels(instruction, |t, channel| match channel {
            0 => t.one(),
            1 => {
                let factors = [a, b].map(|src| t.fetch_channel(&src, OperandType::Float, 1));
                AluSrc::component(t.multiply(1, factors[0], factors[1]), 0)
            }
            2 => t.fetch_channel(&a, OperandType::Float, 2),
            _ => t.fetch_channel(&b, OperandType::Float, 3),
        });
    }

    fn exp(&mut self, instruction: &Instruction) {
        let Some(src) = instruction.src.first() else { return };
        let x = self.fetch_channel(src, OperandType::Float, 0);
        self.write_channels(instruction, |t, channel| {
            let def = match channel {
                0 => {
                    let floor = t.b.alu_sized(AluOp::Ffloor, 1, &[x]);
                    t.b.alu_sized(AluOp::Fexp2, 1, &[floor.into()])
                }
                1 => t.b.alu_sized(AluOp::Ffract, 1, &[x]),
                2 => t.b.alu_sized(AluOp::Fexp2, 1, &[x]),
                _ => return t.one(),
            };
            AluSrc::component(def, 0)
        });
    }

    fn log(&mut self, instruction: &Instruction) {
        let Some(src) = instruction.src.first() else { return };
        let x = self.fetch_channel(src, OperandType::Float, 0);
        let magnitude = self.b.alu_sized(AluOp::Fabs, 1, &[x]);
        let log = self.b.alu_sized(AluOp::Flog2, 1, &[magnitude.into()]);
        let floor = self.b.alu_sized(AluOp::Ffloor, 1, &[log.into()]);
        self.write_channels(instruction, |t, channel| {
            let def = match channel {
                0 => floor,
                1 => {
                    let power = t.b.alu_sized(AluOp::Fexp2, 1, &[floor.into()]);
                    t.b.alu_sized(AluOp::Fdiv, 1, &[magnitude.into(), power.into()])
                }
                2 => log,
                _ => return t.one(),
            };
            AluSrc::component(def, 0)
        });
    }

    fn lit(&mut self, instruction: &Instruction) {
        let Some(&src) = instruction.src.first() else { return };
        let zero = self.scalar_constant(0);
        self.write_channels(instruction, |t, channel| match channel {
            1 => {
                let x = t.fetch_channel(&src, OperandType::Float, 0);
                AluSrc::component(t.b.alu_sized(AluOp::Fmax, 1, &[x, zero]), 0)
            }
            2 => {
                let [x, y, w] = [0, 1, 3].map(|channel| t.fetch_channel(&src, OperandType::Float, channel));
                let base = t.b.alu_sized(AluOp::Fmax, 1, &[y, zero]);
                let most = AluSrc::component(t.float(128.0), 0);
                let least = AluSrc::component(t.float(-128.0), 0);
                let exponent = t.b.alu_sized(AluOp::Fmin, 1, &[w, most]);
                let exponent = t.b.alu_sized(AluOp::Fmax, 1, &[exponent.into(), least]);
                let power = t.b.alu_sized(AluOp::Fpow, 1, &[base.into(), exponent.into()]);
                let lit = t.b.alu_sized(AluOp::Flt, 1, &[zero, x]);
                AluSrc::component(t.b.alu_sized(AluOp::Bcsel, 1, &[lit.into(), power.into(), zero]), 0)
            }
            _ => t.one(),
        });
    }
}

//! 64-bit arithmetic: values in channel pairs xy and zw, low word first.
//!
//! Only the written pairs are computed: a value of one or two 64-bit components, packed from words that are read
//! through the operand's swizzle, and unpacked into the channels of its pairs. The computed and written pairs for each
//! mask are the same as in the interpreter.

use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::{AluFlags, Swizzle};

use super::control_flow::Translator;
use super::sources::Lanes;
use tgsi::shader::{Instruction, Src};
use tgsi::tables::{Opcode, OperandType};

/// Sources, result and write mask of a 64-bit opcode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// 64-bit sources and result; a pair is computed if both channels are in the mask.
    Both(AluOp),
    /// 64-bit sources and result; a pair is computed if one of its channels is in the mask, and both are written.
    Either(AluOp),
    /// `Either`, all ones where the second source is 0.
    OnesForZero(AluOp),
    /// The second source is a 32-bit number in the first channel of each pair.
    ByWord(AluOp),
    /// All ones or 0, in the first channel of each pair in the mask.
    Compare(AluOp),
    /// Channel x gives the first pair, y the second.
    Widen(AluOp),
    /// The first pair gives the first channel of the mask, the second pair the second.
    Narrow(AluOp),
    /// `a * b + c`, rounded twice.
    MultiplyAdd,
}

const fn shape(opcode: Opcode) -> Option<Shape> {
    use Shape::*;
    Some(match opcode {
        Opcode::Dadd => Either(AluOp::Fadd),
        Opcode::Dmul => Either(AluOp::Fmul),
        Opcode::Ddiv => Either(AluOp::Fdiv),
        Opcode::Dmin => Either(AluOp::Fmin),
        Opcode::Dmax => Either(AluOp::Fmax),
        Opcode::Dmad => MultiplyAdd,
        Opcode::Dfma => Both(AluOp::Ffma),
        Opcode::Dabs => Both(AluOp::Fabs),
        Opcode::Dneg => Both(AluOp::Fneg),
        Opcode::Drcp => Both(AluOp::Frcp),
        Opcode::Dsqrt => Both(AluOp::Fsqrt),
        Opcode::Drsq => Both(AluOp::Frsq),
        Opcode::Dfrac => Both(AluOp::Ffract),
        Opcode::Dtrunc => Both(AluOp::Ftrunc),
        Opcode::Dceil => Both(AluOp::Fceil),
        Opcode::Dflr => Both(AluOp::Ffloor),
        Opcode::Dround => Both(AluOp::FroundEven),
        Opcode::Dssg => Both(AluOp::Fsign),
        Opcode::Dldexp => ByWord(AluOp::Ldexp),
        Opcode::Dslt => Compare(AluOp::Flt),
        Opcode::Dsge => Compare(AluOp::Fge),
        Opcode::Dseq => Compare(AluOp::Feq),
        Opcode::Dsne => Compare(AluOp::Fneu),
        Opcode::U64seq => Compare(AluOp::Ieq),
        Opcode::U64sne => Compare(AluOp::Ine),
        Opcode::U64slt => Compare(AluOp::Ult),
        Opcode::U64sge => Compare(AluOp::Uge),
        Opcode::I64slt => Compare(AluOp::Ilt),
        Opcode::I64sge => Compare(AluOp::Ige),
        Opcode::I64min => Either(AluOp::Imin),
        Opcode::I64max => Either(AluOp::Imax),
        Opcode::U64min => Either(AluOp::Umin),
        Opcode::U64max => Either(AluOp::Umax),
        Opcode::I64abs => Both(AluOp::Iabs),
        Opcode::I64neg => Both(AluOp::Ineg),
        Opcode::I64ssg => Both(AluOp::Isign),
        Opcode::U64add => Either(AluOp::Iadd),
        Opcode::U64mul => Either(AluOp::Imul),
        Opcode::I64div => Either(AluOp::Idiv),
        Opcode::I64mod => OnesForZero(AluOp::Irem),
        Opcode::U64div => OnesForZero(AluOp::Udiv),
        Opcode::U64mod => OnesForZero(AluOp::Umod),
        Opcode::U64shl => ByWord(AluOp::Ishl),
        Opcode::U64shr => ByWord(AluOp::Ushr),
        Opcode::I64shr => ByWord(AluOp::Ishr),
        Opcode::F2d => Widen(AluOp::F2f64),
        Opcode::I2d => Widen(AluOp::I2f64),
        Opcode::U2d => Widen(AluOp::U2f64),
        Opcode::F2i64 => Widen(AluOp::F2i64),
        Opcode::F2u64 => Widen(AluOp::F2u64),
        Opcode::I2i64 => Widen(AluOp::I2i64),
        Opcode::U2i64 => Widen(AluOp::U2u64),
        Opcode::D2i64 => Both(AluOp::F2i64),
        Opcode::D2u64 => Both(AluOp::F2u64),
        Opcode::I642d => Both(AluOp::I2f64),
        Opcode::U642d => Both(AluOp::U2f64),
        Opcode::D2f => Narrow(AluOp::F2f32),
        Opcode::D2i => Narrow(AluOp::F2i32),
        Opcode::D2u => Narrow(AluOp::F2u32),
        Opcode::I642f => Narrow(AluOp::I2f32),
        Opcode::U642f => Narrow(AluOp::U2f32),
        _ => return None,
    })
}

/// The computed pairs: their numbers in ascending order.
#[derive(Clone, Copy)]
struct Pairs {
    count: u8,
    number: [u8; 2],
}

impl Pairs {
    fn of(wanted: impl Fn(u8) -> bool) -> Option<Pairs> {
        match (wanted(0), wanted(1)) {
            (true, true) => Some(Pairs { count: 2, number: [0, 1] }),
            (true, false) => Some(Pairs { count: 1, number: [0, 0] }),
            (false, true) => Some(Pairs { count: 1, number: [1, 1] }),
            (false, false) => None,
        }
    }

    /// Returns channel `2 * pair + offset` of each pair.
    fn lanes(self, offset: u8) -> Lanes {
        Lanes {
            count: self.count,
            channel: [
                2 * self.number[0] + offset,
                2 * self.number[1] + offset,
                2 * self.number[0] + offset,
                2 * self.number[0] + offset,
            ],
        }
    }

    fn iter(self) -> impl Iterator<Item = (u8, u8)> {
        (0..self.count).map(move |position| (position, self.number[usize::from(position)]))
    }
}

impl Translator<'_, '_> {
    /// Returns the 64-bit values of an operand.
    fn wide(&mut self, src: &Src, pairs: Pairs) -> AluSrc {
        let low = self.fetch(src, OperandType::Uint64, pairs.lanes(0));
        let high = self.fetch(src, OperandType::Uint64, pairs.lanes(1));
        self.b.alu_sized(AluOp::Pack642x32Split, pairs.count, &[low, high]).into()
    }

    /// Writes 64-bit values to their pairs.
    fn write_wide(&mut self, instruction: &Instruction, pairs: Pairs, mut value: Def) {
        let Some(dst) = instruction.dst.first() else { return };
        if instruction.saturate {
            // Not `fsat`, because -0 must be kept.
            let [zero, one] = [0.0f64, 1.0].map(|bound| AluSrc::component(self.constant_of(64, &[bound.to_bits()]), 0));
            let n = pairs.count;
            let positive = self.b.alu_sized(AluOp::Fge, n, &[value.into(), zero]);
            value = self.b.alu_sized(AluOp::Bcsel, n, &[positive.into(), value.into(), zero]);
            value = self.b.alu_sized(AluOp::Fmin, n, &[value.into(), one]);
        }
        let flags = std::mem::replace(&mut self.b.flags, AluFlags::NONE);
        let low = self.b.alu_sized(AluOp::Unpack642x32SplitX, pairs.count, &[value.into()]);
        let high = self.b.alu_sized(AluOp::Unpack642x32SplitY, pairs.count, &[value.into()]);
        let last = pairs.count - 1;
        let words =
            [(low, 0), (high, 0), (low, last), (high, last)].map(|(def, position)| AluSrc::component(def, position));
        let words = self.b.vec(&words);
        self.b.flags = flags;
        let mask = pairs.iter().fold(0, |mask, (_, pair)| mask | 3 << (2 * pair));
        self.store_wide(dst, mask, words);
    }

    /// Translates a 64-bit opcode.
    pub(super) fn alu64(&mut self, instruction: &Instruction) {
        let Some(shape) = shape(instruction.opcode) else { return instruction.opcode.lacks_code() };
        let mask = instruction.dst.first().map_or(0, |dst| dst.write_mask & 0xf);
        let bits = |pair: u8| mask >> (2 * pair) & 3;
        let pairs = match shape {
            Shape::Both(_) | Shape::Widen(_) | Shape::MultiplyAdd => Pairs::of(|pair| bits(pair) == 3),
            Shape::Narrow(_) => Pairs::of(|pair| mask.count_ones() > u32::from(pair)),
            _ => Pairs::of(|pair| bits(pair) != 0),
        };
        // Nothing is written.
        let Some(pairs) = pairs else { return };
        let Some(&first) = instruction.src.first() else { return };
        let n = pairs.count;
        let result = match shape {
            Shape::Both(op) | Shape::Either(op) | Shape::OnesForZero(op) => {
                let sources: arrayvec::ArrayVec<AluSrc, 5> =
                    instruction.src.iter().map(|src| self.wide(src, pairs)).collect();
                let result = match (op, sources.first()) {
                    (AluOp::Fsign, Some(&source)) => {
                        let zero = AluSrc::component(self.constant_of(64, &[0]), 0);
                        self.sign(n, source, zero)
                    }
                    (AluOp::Ffma, _) => self.with_flags(AluFlags::EXACT, |t| t.b.alu_sized(op, n, &sources)),
                    _ => self.b.alu_sized(op, n, &sources),
                };
                match (shape, sources.get(1)) {
                    (Shape::OnesForZero(_), Some(&divisor)) => {
                        let zero = AluSrc::component(self.constant_of(64, &[0]), 0);
                        let ones = AluSrc::component(self.constant_of(64, &[u64::MAX]), 0);
                        let by_zero = self.b.alu_sized(AluOp::Ieq, n, &[divisor, zero]);
                        self.b.alu_sized(AluOp::Bcsel, n, &[by_zero.into(), ones, result.into()])
                    }
                    _ => result,
                }
            }
            Shape::MultiplyAdd => {
                let sources: arrayvec::ArrayVec<AluSrc, 5> =
                    instruction.src.iter().map(|src| self.wide(src, pairs)).collect();
                let [a, b, c] = [0, 1, 2].map(|position| sources.get(position).copied());
                let (Some(a), Some(b), Some(c)) = (a, b, c) else { return };
                let product = self.b.alu_sized(AluOp::Fmul, n, &[a, b]);
                self.b.alu_sized(AluOp::Fadd, n, &[product.into(), c])
            }
            Shape::ByWord(op) => {
                let Some(&second) = instruction.src.get(1) else { return };
                let value = self.wide(&first, pairs);
                if op == AluOp::Ldexp {
                    let exponent = self.fetch(&second, OperandType::Int, pairs.lanes(0));
                    self.scale(n, value, exponent, 64)
                } else {
                    let count = self.fetch(&second, OperandType::Uint, pairs.lanes(0));
                    self.b.alu_sized(op, n, &[value, count])
                }
            }
            Shape::Widen(op) => {
                let mut lanes = Lanes { count: n, channel: [pairs.number[0]; 4] };
                lanes.channel[1] = pairs.number[1];
                let operand = instruction.opcode.info().src_types.first().copied().unwrap_or(OperandType::Untyped);
                let value = self.fetch(&first, operand, lanes);
                self.b.alu_sized(op, n, &[value])
            }
            Shape::Compare(op) => {
                let Some(&second) = instruction.src.get(1) else { return };
                let (a, b) = (self.wide(&first, pairs), self.wide(&second, pairs));
                let flag = self.b.alu_sized(op, n, &[a, b]);
                let truth = self.truth(flag.into(), n);
                let mut swizzle = Swizzle::replicate(0);
                let mut written = 0;
                for (position, pair) in pairs.iter() {
                    let channel = 2 * pair + u8::from(bits(pair) & 1 == 0);
                    swizzle = swizzle.with(usize::from(channel), position);
                    written |= 1 << channel;
                }
                return self.write_masked(instruction, written, AluSrc::new(truth, swizzle));
            }
            Shape::Narrow(op) => {
                let value = self.wide(&first, pairs);
                let narrow = self.b.alu_sized(op, n, &[value]);
                let mut swizzle = Swizzle::replicate(0);
                let mut written = 0;
                let channels = (0..4u8).filter(|channel| mask >> channel & 1 != 0);
                for (position, channel) in channels.take(usize::from(n)).enumerate() {
                    swizzle = swizzle.with(usize::from(channel), position as u8);
                    written |= 1 << channel;
                }
                return self.write_masked(instruction, written, AluSrc::new(narrow, swizzle));
            }
        };
        self.write_wide(instruction, pairs, result);
    }
}

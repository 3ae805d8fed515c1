//! 64-bit arithmetic: values in channel pairs xy and zw, low word first.
//!
//! Only the written pairs are computed: a value of one or two 64-bit components, packed from words that are read
//! through the operand's swizzle, and unpacked into the channels of its pairs. The computed and written pairs for each
//! mask are the same as in the interpreter.

use tgsi_ir::alu::AluOp;
use tgsi_ir::builder::AluSrc;
use tgsi_ir::entities::Def;
use tgsi_ir::{AluFlags, Swizzle};

use super::computed_lanes::Lanes;
use super::control_flow::Translator;
use super::opcodes::{OperandForm, into_ir_wide, into_ir_widening};
use tgsi::shader::{Instruction, Src};
use tgsi::tables::{Opcode, OperandType};

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
        let opcode = instruction.opcode;
        // `DMAD` rounds twice.
        let row = match opcode {
            Opcode::Dmad => Some((OperandForm::BothChannels, AluOp::Fmul)),
            _ => into_ir_wide(opcode).or(into_ir_widening(opcode)),
        };
        let Some((form, op)) = row else { return opcode.lacks_code() };
        let mask = instruction.dst.first().map_or(0, |dst| dst.write_mask & 0xf);
        let bits = |pair: u8| mask >> (2 * pair) & 3;
        let pairs = match form {
            OperandForm::BothChannels | OperandForm::Widen => Pairs::of(|pair| bits(pair) == 3),
            OperandForm::Narrow => Pairs::of(|pair| mask.count_ones() > u32::from(pair)),
            _ => Pairs::of(|pair| bits(pair) != 0),
        };
        // Nothing is written.
        let Some(pairs) = pairs else { return };
        let Some(&first) = instruction.src.first() else { return };
        let n = pairs.count;
        let result = match form {
            OperandForm::ByWord => {
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
            OperandForm::Widen => {
                let mut lanes = Lanes { count: n, channel: [pairs.number[0]; 4] };
                lanes.channel[1] = pairs.number[1];
                let operand = opcode.info().src_types.first().copied().unwrap_or(OperandType::Untyped);
                let value = self.fetch(&first, operand, lanes);
                self.b.alu_sized(op, n, &[value])
            }
            OperandForm::WideTruth => {
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
            OperandForm::Narrow => {
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
            _ => {
                let sources: arrayvec::ArrayVec<AluSrc, 5> =
                    instruction.src.iter().map(|src| self.wide(src, pairs)).collect();
                self.wide_result(opcode, form, op, n, &sources)
            }
        };
        self.write_wide(instruction, pairs, result);
    }

    /// The result for 64-bit sources.
    fn wide_result(&mut self, opcode: Opcode, form: OperandForm, op: AluOp, n: u8, sources: &[AluSrc]) -> Def {
        match (opcode, sources) {
            (Opcode::Dmad, &[a, b, c]) => {
                let product = self.b.alu_sized(op, n, &[a, b]);
                self.b.alu_sized(AluOp::Fadd, n, &[product.into(), c])
            }
            (Opcode::Dssg, &[source, ..]) => {
                let zero = AluSrc::component(self.constant_of(64, &[0]), 0);
                self.sign(n, source, zero)
            }
            (Opcode::Dfma, _) => self.with_flags(AluFlags::EXACT, |t| t.b.alu_sized(op, n, sources)),
            (_, &[_, divisor]) if form == OperandForm::OnesForZero => {
                let result = self.b.alu_sized(op, n, sources);
                let zero = AluSrc::component(self.constant_of(64, &[0]), 0);
                let ones = AluSrc::component(self.constant_of(64, &[u64::MAX]), 0);
                let by_zero = self.b.alu_sized(AluOp::Ieq, n, &[divisor, zero]);
                self.b.alu_sized(AluOp::Bcsel, n, &[by_zero.into(), ones, result.into()])
            }
            _ => self.b.alu_sized(op, n, sources),
        }
    }
}

//! Expressions of small floats: sums and products that are exact in any order of evaluation.
//!
//! A value is a multiple of `2^-bits` with magnitude at most `most`. While `most * 2^bits`, over all terms of a sum, is
//! far below `2^24`, every order of evaluation is exact, fused or not. The result is finally reduced to a
//! [`RegisterType::Small`].

use super::generator::Generator;
use super::registers::RegisterType;
use tgsi::scan::needed_channels;
use tgsi::shader::{Instruction, Src};
use tgsi::tables::Opcode;

/// The known properties of a value.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Range {
    most: f32,
    bits: u32,
}

/// The range of every [`RegisterType::Small`].
const SMALL_RANGE: Range = Range { most: 8.0, bits: 1 };

/// Far enough below the 24 bits of a float to allow a few more terms.
const MOST: f32 = (1 << 21) as f32;

impl Range {
    fn fits(self) -> bool {
        self.most * ((1u32 << self.bits.min(24)) as f32) < MOST
    }

    fn sum(self, other: Range) -> Range {
        Range { most: self.most + other.most, bits: self.bits.max(other.bits) }
    }

    fn product(self, other: Range) -> Range {
        Range { most: self.most * other.most, bits: self.bits + other.bits }
    }

    fn times(self, count: f32) -> Range {
        Range { most: self.most * count, ..self }
    }

    fn rounded(self) -> Range {
        Range { most: self.most + 1.0, bits: 0 }
    }

    fn either(self, other: Range) -> Range {
        Range { most: self.most.max(other.most), bits: self.bits.max(other.bits) }
    }
}

/// Returns the range of a result for those of three sources. Absent sources have the range of the first.
type ResultRange = fn(Range, Range, Range) -> Range;

/// Opcodes that compute small floats from small floats.
const SMALL: &[(Opcode, ResultRange)] = {
    use Opcode::*;
    const TO_ONE: Range = Range { most: 1.0, bits: 0 };
    &[
        (Mov, |a, _, _| a),
        (Add, |a, b, _| a.sum(b)),
        (Mul, |a, b, _| a.product(b)),
        (Mad, |a, b, c| a.product(b).sum(c)),
        (Fma, |a, b, c| a.product(b).sum(c)),
        // The maximum over all formulas: the products, and the difference first.
        (Lrp, |a, b, c| a.product(b.sum(c)).sum(b.sum(c))),
        (Dp2, |a, b, _| a.product(b).times(2.0)),
        (Dp3, |a, b, _| a.product(b).times(3.0)),
        (Dp4, |a, b, _| a.product(b).times(4.0)),
        (Min, |a, b, _| a.either(b)),
        (Max, |a, b, _| a.either(b)),
        (Flr, |a, _, _| a.rounded()),
        (Ceil, |a, _, _| a.rounded()),
        (Trunc, |a, _, _| a.rounded()),
        (Round, |a, _, _| a.rounded()),
        (Frc, |a, _, _| Range { bits: a.bits, ..TO_ONE }),
        (Ssg, |_, _, _| TO_ONE),
        (Slt, |_, _, _| TO_ONE),
        (Sge, |_, _, _| TO_ONE),
        (Seq, |_, _, _| TO_ONE),
        (Sne, |_, _, _| TO_ONE),
        (Sgt, |_, _, _| TO_ONE),
        (Sle, |_, _, _| TO_ONE),
        (Cmp, |_, b, c| b.either(c)),
        (Dst, |a, b, _| TO_ONE.either(a.product(b)).either(a).either(b)),
        // By one half to four.
        (Ldexp, |a, _, _| Range { bits: a.bits + 1, ..a.times(4.0) }),
    ]
};

impl Generator<'_> {
    /// Emits a few instructions with a small float as the final result.
    pub(super) fn small_expression(&mut self) {
        let mut known: Vec<(Src, Range)> = Vec::new();
        let count = 1 + self.choices.below(4);
        for _ in 0..count {
            let Some(step) = self.step(&known) else { continue };
            known.push(step);
        }
        let Some((mut value, mut range)) = known.pop() else { return };
        if range.bits > SMALL_RANGE.bits {
            let opcode = self.choices.of([Opcode::Flr, Opcode::Round, Opcode::Trunc, Opcode::Ceil]);
            value = self.scratch(opcode, &[value]);
            range = range.rounded();
        }
        let destination = self.destination(RegisterType::Small);
        let saturate = self.choices.one_in(3);
        if range.most > SMALL_RANGE.most && !saturate {
            let limit = self.builder.immediate_f32(&[SMALL_RANGE.most]).replicated(0);
            value = self.scratch(Opcode::Min, &[value, limit]);
            if self.choices.one_in(2) {
                return self.put_to(Opcode::Max, destination, &[value, limit.negated()]);
            }
            let value = self.scratch(Opcode::Max, &[value, limit.negated()]);
            return self.put_to(Opcode::Mov, destination, &[value.negated()]);
        }
        let mut instruction = Instruction::with_operands(Opcode::Mov, None, &[value]);
        instruction.saturate = saturate;
        self.put_instruction(instruction, destination);
    }

    /// Emits an instruction to a scratch register; returns it with the result in all components.
    fn scratch(&mut self, opcode: Opcode, sources: &[Src]) -> Src {
        let position = self.new_scratch();
        let destination = self.to_temporary(position, 15);
        self.put_to(opcode, destination, sources);
        Src::new(self.temporaries[position].register)
    }

    /// Returns a scratch register that the current expression does not use.
    pub(super) fn new_scratch(&mut self) -> usize {
        self.next_scratch = self.next_scratch % 8 + 1;
        let number = self.next_scratch - 1;
        let mut all =
            (0..self.temporaries.len()).filter(|&position| self.temporaries[position].kind == RegisterType::Scratch);
        match all.nth(number) {
            Some(position) => position,
            None => self.new_temporary(RegisterType::Scratch),
        }
    }

    /// Emits one instruction of an expression, with operands from the previous ones.
    fn step(&mut self, known: &[(Src, Range)]) -> Option<(Src, Range)> {
        let (opcode, range_of) = SMALL[self.choices.below(SMALL.len())];
        if matches!(opcode, Opcode::Ldexp | Opcode::Fma) && !self.integers {
            return None;
        }
        let count = usize::from(opcode.info().num_src);
        let position = self.new_scratch();
        let mut instruction = Instruction::new(opcode);
        instruction.dst.push(self.to_temporary(position, 15).dst);
        let mut ranges = Vec::new();
        for number in 0..count {
            let needed = needed_channels(&instruction, number);
            let (source, range) = match self.choices.below(3) {
                0 if !known.is_empty() => {
                    let (value, range) = known[self.choices.below(known.len())];
                    (self.turned(value), range)
                }
                _ => (self.modified_source(RegisterType::Small, needed), SMALL_RANGE),
            };
            instruction.src.push(source);
            ranges.push(range);
        }
        if opcode == Opcode::Ldexp {
            // The count is an integer.
            let count = self.choices.of([0, 1, 2, u32::MAX]);
            instruction.src[1] = self.builder.immediate_u32(&[count]).replicated(0);
        }
        let source = |number: usize| ranges.get(number).copied().unwrap_or(ranges[0]);
        let range = range_of(ranges[0], source(1), source(2));
        if !range.fits() {
            return None;
        }
        instruction.precise = self.choices.one_in(8);
        instruction.saturate = self.choices.one_in(8);
        self.put(instruction);
        let destination = self.to_temporary(position, 15);
        self.written(destination, 15);
        Some((Src::new(self.temporaries[position].register), range))
    }

    /// Returns a scratch value with another swizzle and modifiers.
    fn turned(&mut self, mut value: Src) -> Src {
        if self.choices.one_in(2) {
            value.swizzle = std::array::from_fn(|_| self.choices.below(4) as u8);
        }
        value.negate = self.choices.one_in(4);
        value.absolute = self.choices.one_in(6);
        value
    }
}

#[cfg(test)]
mod tests {
    use super::super::signature::signature;
    use super::*;

    #[test]
    fn small_results_are_floats() {
        for &(opcode, _) in SMALL {
            assert!(signature(opcode).is_some_and(|s| s.dst == RegisterType::Float), "{opcode}");
        }
    }
}

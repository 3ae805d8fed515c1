//! Constants of bundles: immediates, and up to four embedded words.

use arrayvec::ArrayVec;
use half::f16;
use tgsi_vec4::Constants;
use tgsi_vec4::simple::{File, Source};

use crate::isa::alu::Input;
use crate::machine::{MachineInstruction, Op};

/// The words of the channels of a source.
fn words(constants: &Constants, source: &Source, channels: u8) -> ArrayVec<u32, 4> {
    let row = constants.row(source.index);
    let used = (0..4).filter(|c| channels >> c & 1 != 0);
    used.map(|c: usize| row[usize::from(source.swizzle[c] & 3)]).collect()
}

/// The number of the operand that can be an immediate. Operations on one operand take it as the second one.
fn immediate_operand(op: Op) -> Option<usize> {
    match op {
        Op::Mov => Some(0),
        Op::Alu(op) if op.reads()[1] => Some(usize::from(op.row().sources) - 1),
        _ => None,
    }
}

/// A float as 16 bits, if that is exact.
fn half(value: f32) -> Option<u16> {
    let half = f16::from_f32(value);
    (half.to_f32().to_bits() == value.to_bits()).then_some(half.to_bits())
}

/// The constant operand of an instruction that can be an immediate: its number, and the value.
pub(crate) fn immediate(
    instruction: &MachineInstruction,
    constants: &Constants,
    channels: impl Fn(usize) -> u8,
) -> Option<(usize, u16)> {
    let number = immediate_operand(instruction.op)?;
    let source = instruction.sources.get(number).filter(|source| source.file == File::Constant)?;
    let words = words(constants, source, channels(number));
    let &word = words.first().filter(|&&first| words.iter().all(|&word| word == first))?;
    let float = || {
        let value = f32::from_bits(word);
        let value = if source.absolute { value.abs() } else { value };
        half(if source.negate { -value } else { value })
    };
    let integer = || i16::try_from(word as i32).ok().map(|value| value as u16);
    let value = match instruction.op {
        Op::Mov if !instruction.saturate && source.is_plain() => integer().or_else(float),
        Op::Mov => float(),
        Op::Alu(op) if op.row().input == Input::Float => float(),
        _ => integer(),
    };
    value.map(|value| (number, value))
}

/// Whether a copy of bits has an immediate that is a float.
pub(crate) fn is_float_copy(
    instruction: &MachineInstruction,
    constants: &Constants,
    channels: impl Fn(usize) -> u8,
) -> bool {
    let (Op::Mov, Some(source)) = (instruction.op, instruction.sources.first()) else { return false };
    let Some((_, value)) = immediate(instruction, constants, &channels) else { return false };
    let word = words(constants, source, channels(0)).first().copied();
    !instruction.saturate && source.is_plain() && word != Some(i32::from(value as i16) as u32)
}

/// The embedded words of a bundle.
#[derive(Clone, Default, Debug)]
pub(crate) struct Embedded(pub(crate) ArrayVec<u32, 4>);

impl Embedded {
    /// Adds the words that an instruction reads, unless they do not fit. Returns whether they do.
    pub(crate) fn add(
        &mut self,
        instruction: &MachineInstruction,
        constants: &Constants,
        channels: impl Fn(usize) -> u8,
    ) -> bool {
        let immediate = immediate(instruction, constants, &channels).map(|(number, _)| number);
        let mut added = self.clone();
        for (number, source) in instruction.sources.iter().enumerate() {
            if source.file != File::Constant || immediate == Some(number) {
                continue;
            }
            for word in words(constants, source, channels(number)) {
                if !added.0.contains(&word) && added.0.try_push(word).is_err() {
                    return false;
                }
            }
        }
        *self = added;
        true
    }

    /// The component of a word.
    pub(crate) fn position(&self, word: u32) -> u8 {
        self.0.iter().position(|&known| known == word).unwrap_or(0) as u8
    }
}

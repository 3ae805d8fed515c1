//! Converts words to fragment instructions.

use super::layout as at;
use super::{Clamp, Class, Flow, FragmentOp, Instruction, Precision, Register, Scale, Source, SourceKind};
use crate::isa::bits::Field;
use crate::isa::{Chip, Condition, DecodeError, Mask, Predicate, Swizzle};

/// Converts the first words to an instruction; the number of words follows from [`Instruction::slots`]. Fields that no
/// part of the instruction uses are dropped.
pub fn decode(words: &[u32], chip: Chip) -> Result<Instruction, DecodeError> {
    let (slot, rest) = words.split_first_chunk().ok_or(DecodeError::Truncated)?;
    let decoder = Decoder { words: slot, chip };
    let code = decoder.get(at::OPCODE) | decoder.get(at::IS_FLOW) << 6;
    let op = FragmentOp::from_code(code, chip).ok_or(DecodeError::Opcode("fragment", code))?;
    let mut instruction = Instruction { end: decoder.is_set(at::END), ..Instruction::new(op) };
    decoder.result(&mut instruction)?;
    decoder.condition(&mut instruction)?;
    if op.row().class == Class::Flow {
        instruction.flow = decoder.flow(op)?;
    } else {
        decoder.operands(&mut instruction)?;
    }
    if instruction.has_source(SourceKind::Constant) {
        instruction.constant = Some(*rest.first_chunk().ok_or(DecodeError::Truncated)?);
    }
    Ok(instruction)
}

struct Decoder<'w> {
    words: &'w [u32; 4],
    chip: Chip,
}

impl Decoder<'_> {
    fn get(&self, field: Field) -> u32 {
        field.get(self.words)
    }

    fn is_set(&self, field: Field) -> bool {
        field.is_set(self.words)
    }

    fn register(&self, number: u32, is_half: bool) -> Result<Register, DecodeError> {
        let limits = &self.chip.limits().fragment;
        if is_half {
            Ok(Register::H(DecodeError::below("register H", number, limits.half)? as u8))
        } else {
            Ok(Register::R(DecodeError::below("register R", number, limits.full)? as u8))
        }
    }

    fn result(&self, instruction: &mut Instruction) -> Result<(), DecodeError> {
        let number = self.get(at::DESTINATION);
        let is_absent = number == at::NO_REGISTER && self.chip != Chip::Nv30;
        if !is_absent && !self.is_set(at::NO_DESTINATION) {
            instruction.destination = Some(self.register(number, self.is_set(at::DESTINATION_IS_HALF))?);
        }
        instruction.precision = match self.get(at::PRECISION) {
            0 => Precision::Fp32,
            1 => Precision::Fp16,
            2 => Precision::Fx12,
            _ if self.chip != Chip::Nv30 => Precision::Fx9,
            number => return Err(DecodeError::Field("precision", number)),
        };
        instruction.mask = Mask(self.get(at::MASK) as u8);
        instruction.saturate = self.is_set(at::SATURATE);
        instruction.expands = self.is_set(at::EXPANDS);
        if instruction.op.row().class == Class::Texture {
            let unit = DecodeError::below("texture unit", self.get(at::TEXTURE), self.chip.limits().fragment.textures)?;
            instruction.texture = Some(unit as u8);
        }
        Ok(())
    }

    fn condition(&self, instruction: &mut Instruction) -> Result<(), DecodeError> {
        let limit = self.chip.limits().fragment.conditions;
        instruction.predicate = Predicate {
            register: DecodeError::below("condition register", self.get(at::TESTED_CONDITION), limit)? as u8,
            condition: Condition(self.get(at::CONDITION) as u8),
            swizzle: Swizzle::from_packed(self.get(at::CONDITION_SWIZZLE)),
        };
        if self.is_set(at::WRITES_CONDITION) {
            let register = DecodeError::below("condition register", self.get(at::WRITTEN_CONDITION), limit)?;
            instruction.writes_condition = Some(register as u8);
        }
        Ok(())
    }

    fn operands(&self, instruction: &mut Instruction) -> Result<(), DecodeError> {
        for (number, source) in instruction.sources.iter_mut().enumerate() {
            *source = self.source(number)?;
        }
        if instruction.has_source(SourceKind::Input) {
            let number = DecodeError::below("input", self.get(at::INPUT), self.chip.limits().fragment.inputs)?;
            instruction.input = Some(number as u8);
        }
        let scale = self.get(at::SCALE);
        instruction.scale = Scale::from_code(scale).ok_or(DecodeError::Field("scale", scale))?;
        instruction.input_offset = self.get(at::INPUT_OFFSET) as u16;
        instruction.indexes_input = self.is_set(at::INDEXES_INPUT);
        if instruction.indexes_input && self.chip == Chip::Nv30 {
            return Err(DecodeError::Reserved(3, 1 << 30));
        }
        instruction.disables_perspective = self.is_set(at::DISABLES_PERSPECTIVE);
        Ok(())
    }

    fn source(&self, number: usize) -> Result<Source, DecodeError> {
        let bits = self.get(at::SOURCES[number]);
        let kind = match bits & 3 {
            0 => SourceKind::Register(self.register(bits >> 2 & 63, bits >> 8 & 1 != 0)?),
            1 => SourceKind::Input,
            2 => SourceKind::Constant,
            invalid => return Err(DecodeError::Field("operand type", invalid)),
        };
        let clamp = self.get(at::CLAMPS[number]);
        Ok(Source {
            kind,
            swizzle: Swizzle::from_packed(bits >> 9),
            negate: bits >> 17 & 1 != 0,
            abs: self.is_set(at::ABS[number]),
            clamp: *Clamp::ALL.get(clamp as usize).ok_or(DecodeError::Field("clamp", clamp))?,
        })
    }

    fn flow(&self, op: FragmentOp) -> Result<Option<Flow>, DecodeError> {
        Ok(match op {
            FragmentOp::If => {
                Some(Flow::If { otherwise: self.target(at::FIRST_TARGET)?, end: self.target(at::END_TARGET)? })
            }
            FragmentOp::Loop | FragmentOp::Rep => Some(Flow::Repeat {
                count: self.get(at::COUNT) as u8,
                start: self.get(at::START) as u8,
                step: self.get(at::STEP) as u8,
                end: self.target(at::END_TARGET)?,
            }),
            FragmentOp::Cal => Some(Flow::Call { target: self.target(at::FIRST_TARGET)? }),
            _ => None,
        })
    }

    fn target(&self, field: Field) -> Result<u32, DecodeError> {
        let offset = self.get(field);
        if !offset.is_multiple_of(4) {
            return Err(DecodeError::Field("target offset", offset));
        }
        DecodeError::below("target slot", offset / 4, at::TARGETS)
    }
}

//! Converts fragment instructions to words.

use super::layout as at;
use super::{Class, Flow, FragmentOp, Instruction, Precision, Register, Source, SourceKind};
use crate::isa::bits::Field;
use crate::isa::{Chip, EncodeError};

/// Appends the words of an instruction: four, or eight with a constant.
pub fn encode(instruction: &Instruction, chip: Chip, words: &mut Vec<u32>) -> Result<(), EncodeError> {
    let encoder = Encoder { instruction, chip, words: [0; 4] };
    words.extend(encoder.encode()?);
    words.extend(instruction.constant.iter().flatten());
    Ok(())
}

struct Encoder<'i> {
    instruction: &'i Instruction,
    chip: Chip,
    words: [u32; 4],
}

impl Encoder<'_> {
    fn set(&mut self, field: Field, value: u32) {
        field.set(&mut self.words, value);
    }

    fn flag(&mut self, field: Field, value: bool) {
        self.set(field, u32::from(value));
    }

    fn encode(mut self) -> Result<[u32; 4], EncodeError> {
        let instruction = self.instruction;
        let row = instruction.op.row();
        if !self.chip.is_in(row.chips) {
            return Err(EncodeError::Lacks(self.chip, row.name));
        }
        self.set(at::OPCODE, row.code.into());
        self.result()?;
        self.condition()?;
        self.flag(at::END, instruction.end);
        let fetches = row.class == Class::Texture;
        EncodeError::unless_used(instruction.texture.is_some(), fetches, "a texture unit")?;
        if let Some(unit) = instruction.texture {
            self.set(at::TEXTURE, EncodeError::below("texture unit", unit, self.chip.limits().fragment.textures)?);
        }
        self.flag(at::EXPANDS, instruction.expands);
        if row.class == Class::Flow {
            self.flow()?
        } else {
            self.operands()?
        }
        Ok(self.words)
    }

    fn register(&self, register: Register) -> Result<(u32, bool), EncodeError> {
        let limits = &self.chip.limits().fragment;
        match register {
            Register::R(number) => Ok((EncodeError::below("register R", number, limits.full)?, false)),
            Register::H(number) => Ok((EncodeError::below("register H", number, limits.half)?, true)),
        }
    }

    fn result(&mut self) -> Result<(), EncodeError> {
        let instruction = self.instruction;
        match instruction.destination {
            Some(register) => {
                let (number, is_half) = self.register(register)?;
                self.set(at::DESTINATION, number);
                self.flag(at::DESTINATION_IS_HALF, is_half);
            }
            None => {
                let is_flow = instruction.op.row().class == Class::Flow;
                self.set(at::DESTINATION, if is_flow { 0 } else { at::NO_REGISTER });
                self.flag(at::NO_DESTINATION, true);
            }
        }
        if instruction.precision == Precision::Fx9 && self.chip == Chip::Nv30 {
            return Err(EncodeError::Lacks(self.chip, "precision fx9"));
        }
        self.set(at::PRECISION, instruction.precision as u32);
        self.set(at::MASK, instruction.mask.0.into());
        self.flag(at::SATURATE, instruction.saturate);
        Ok(())
    }

    fn condition(&mut self) -> Result<(), EncodeError> {
        let limit = self.chip.limits().fragment.conditions;
        let predicate = self.instruction.predicate;
        self.set(at::CONDITION, EncodeError::below("condition", predicate.condition.0, 8u32)?);
        self.set(at::CONDITION_SWIZZLE, predicate.swizzle.packed());
        self.set(at::TESTED_CONDITION, EncodeError::below("condition register", predicate.register, limit)?);
        if let Some(register) = self.instruction.writes_condition {
            self.flag(at::WRITES_CONDITION, true);
            self.set(at::WRITTEN_CONDITION, EncodeError::below("condition register", register, limit)?);
        }
        Ok(())
    }

    fn operands(&mut self) -> Result<(), EncodeError> {
        let instruction = self.instruction;
        EncodeError::unless_used(instruction.input.is_some(), instruction.has_source(SourceKind::Input), "an input")?;
        EncodeError::unless_used(
            instruction.constant.is_some(),
            instruction.has_source(SourceKind::Constant),
            "a constant",
        )?;
        EncodeError::unless_used(instruction.flow.is_some(), false, "flow targets")?;
        if let Some(number) = instruction.input {
            self.set(at::INPUT, EncodeError::below("input", number, self.chip.limits().fragment.inputs)?);
        }
        for (number, source) in instruction.sources.into_iter().enumerate() {
            let bits = self.source(source)?;
            self.set(at::SOURCES[number], bits);
            self.flag(at::ABS[number], source.abs);
            self.set(at::CLAMPS[number], source.clamp as u32);
        }
        self.set(at::SCALE, instruction.scale.code());
        self.set(at::INPUT_OFFSET, EncodeError::below("input offset", instruction.input_offset, 1u32 << 11)?);
        if instruction.indexes_input && self.chip == Chip::Nv30 {
            return Err(EncodeError::Lacks(self.chip, "index of inputs"));
        }
        self.flag(at::INDEXES_INPUT, instruction.indexes_input);
        self.flag(at::DISABLES_PERSPECTIVE, instruction.disables_perspective);
        Ok(())
    }

    fn source(&self, source: Source) -> Result<u32, EncodeError> {
        let kind = match source.kind {
            SourceKind::Register(register) => {
                let (number, is_half) = self.register(register)?;
                number << 2 | u32::from(is_half) << 8
            }
            SourceKind::Input => 1,
            SourceKind::Constant => 2,
        };
        Ok(kind | source.swizzle.packed() << 9 | u32::from(source.negate) << 17)
    }

    fn flow(&mut self) -> Result<(), EncodeError> {
        let instruction = self.instruction;
        let has_operands = instruction.sources != [Source::default(); 3] || instruction.constant.is_some();
        EncodeError::unless_used(has_operands || instruction.input.is_some(), false, "operands of flow")?;
        self.flag(at::IS_FLOW, true);
        match (instruction.op, instruction.flow) {
            (FragmentOp::If, Some(Flow::If { otherwise, end })) => {
                self.set(at::FIRST_TARGET, Self::target(otherwise)?);
                self.set(at::END_TARGET, Self::target(end)?);
            }
            (FragmentOp::Loop | FragmentOp::Rep, Some(Flow::Repeat { count, start, step, end })) => {
                self.set(at::COUNT, count.into());
                self.set(at::START, start.into());
                self.set(at::STEP, step.into());
                self.set(at::END_TARGET, Self::target(end)?);
            }
            (FragmentOp::Cal, Some(Flow::Call { target })) => {
                self.set(at::FIRST_TARGET, Self::target(target)?);
            }
            (FragmentOp::Brk | FragmentOp::Ret, None) => {}
            (FragmentOp::Brk | FragmentOp::Ret, Some(_)) => return Err(EncodeError::Unused("flow targets")),
            _ => return Err(EncodeError::Missing("flow targets of the opcode")),
        }
        Ok(())
    }

    /// The offset of a slot in words. Programs, not instructions, have a limit of slots.
    fn target(slot: u32) -> Result<u32, EncodeError> {
        Ok(EncodeError::below("target slot", slot, at::TARGETS)? * 4)
    }
}

//! Converts words to vertex instructions.

use super::layout::{BOOLEAN_SHIFT, CONSTANT, INPUT, Layout, TARGET_BITS, TEMPORARY, TEXTURE_SHIFT};
use super::{
    Address, Boolean, Branch, BranchFields, ConditionWrite, Part, ScaOp, Slot, Source, SourceKind, Unit, VecOp,
};
use crate::isa::bits::{Field, get_split};
use crate::isa::{Chip, Condition, DecodeError, Mask, Predicate, Swizzle};

/// Words with the layout of their chip.
struct Decoder<'w> {
    words: &'w [u32; 4],
    chip: Chip,
    layout: &'static Layout,
}

/// Converts words of a chip to an instruction. Fields that no part of the instruction uses are dropped.
pub fn decode(words: &[u32; 4], chip: Chip) -> Result<Slot, DecodeError> {
    let layout = Layout::of(chip);
    for (number, (word, reserved)) in words.iter().zip(layout.reserved).enumerate() {
        if word & reserved != 0 {
            return Err(DecodeError::Reserved(number as u8, word & reserved));
        }
    }
    let decoder = Decoder { words, chip, layout };
    let mut slot = Slot { end: layout.end.is_set(words), ..Slot::default() };
    decoder.destinations(&mut slot)?;
    decoder.sources(&mut slot)?;
    decoder.branch(&mut slot)?;
    decoder.address(&mut slot);
    decoder.condition(&mut slot)?;
    Ok(slot)
}

impl Decoder<'_> {
    fn get(&self, field: Field) -> u32 {
        field.get(self.words)
    }

    fn is_set(&self, field: Field) -> bool {
        field.is_set(self.words)
    }

    fn mask(&self, field: Field) -> Mask {
        Mask::from_reversed(self.get(field))
    }

    /// The register of a field; a field with all bits set has none.
    fn register(&self, field: Field, is_address: bool) -> Result<Option<u8>, DecodeError> {
        let number = self.get(field);
        let temporaries = self.chip.limits().vertex.temporaries;
        if number == field.max() {
            return Ok(None);
        }
        let (what, limit) = if is_address { ("address register", 2) } else { ("temporary", temporaries) };
        DecodeError::below(what, number, limit).map(|number| Some(number as u8))
    }

    /// Sets the register of a part that has a mask. Beside an output mask, the mask without a register has no meaning.
    fn rankine_register<O>(&self, part: &mut Part<O>, is_address: bool) -> Result<(), DecodeError> {
        if !part.mask.is_empty() {
            part.register = self.register(self.layout.vec_register, is_address)?;
        }
        if part.register.is_none() && !part.output_mask.is_empty() {
            part.mask = Mask::NONE;
        }
        Ok(())
    }

    fn destinations(&self, slot: &mut Slot) -> Result<(), DecodeError> {
        let layout = self.layout;
        let vec_code = self.get(layout.vec);
        let sca_code = get_split(layout.sca, self.words);
        let op = VecOp::from_code(vec_code, self.chip).ok_or(DecodeError::Opcode("vector", vec_code))?;
        let mut vec = Part::to_condition(op, self.mask(layout.vec_mask));
        let op = ScaOp::from_code(sca_code, self.chip).ok_or(DecodeError::Opcode("scalar", sca_code))?;
        let mut sca = Part::to_condition(op, self.mask(layout.sca_mask));
        let number = self.get(layout.output);
        if let Some(curie) = &layout.curie {
            vec.register = self.register(layout.vec_register, vec.op.writes_address())?;
            sca.register = self.register(curie.sca_register, false)?;
            slot.output = (number != layout.output.max()).then_some(number as u8);
            slot.saturate = self.is_set(curie.saturate);
            if slot.output.is_some() && self.is_set(curie.vec_writes_output) {
                vec.output_mask = vec.mask;
            }
            if slot.output.is_some() && vec.output_mask.is_empty() && sca.register.is_none() {
                sca.output_mask = sca.mask;
            }
        }
        if let Some(rankine) = &layout.rankine {
            vec.output_mask = self.mask(rankine.vec_output_mask);
            sca.output_mask = self.mask(rankine.sca_output_mask);
            let is_address = vec.op.writes_address();
            self.rankine_register(&mut vec, is_address)?;
            self.rankine_register(&mut sca, false)?;
            if self.is_set(rankine.output_enable) {
                slot.output = Some(number as u8);
            } else if !vec.output_mask.or(sca.output_mask).is_empty() {
                return Err(DecodeError::Field("write of constant", number));
            }
        }
        if let Some(number) = slot.output {
            DecodeError::below("output", number.into(), self.chip.limits().vertex.outputs)?;
        }
        let is_idle = |mask: Mask, register: Option<u8>| mask.is_empty() && register.is_none();
        if vec.op != VecOp::Nop || !is_idle(vec.mask.or(vec.output_mask), vec.register) {
            slot.vec = Some(vec);
        }
        if sca.op != ScaOp::Nop || !is_idle(sca.mask.or(sca.output_mask), sca.register) {
            slot.sca = Some(sca);
        }
        Ok(())
    }

    fn sources(&self, slot: &mut Slot) -> Result<(), DecodeError> {
        let limits = &self.chip.limits().vertex;
        let reads = slot.reads();
        for at in (0..3).filter(|at| reads >> at & 1 != 0) {
            slot.sources[at] = Some(self.source(at)?);
        }
        if slot.has_source(SourceKind::Input) {
            slot.input = Some(DecodeError::below("input", self.get(self.layout.input), limits.inputs)? as u8);
        }
        if slot.has_source(SourceKind::Constant) {
            slot.constant =
                Some(DecodeError::below("constant", self.get(self.layout.constant), limits.constants)? as u16);
        }
        if slot.vec.is_some_and(|part| part.op == VecOp::Txl) {
            let unit = get_split(self.layout.sources[1], self.words) >> TEXTURE_SHIFT & 3;
            slot.texture = Some(DecodeError::below("texture unit", unit, limits.textures)? as u8);
        }
        Ok(())
    }

    fn source(&self, at: usize) -> Result<Source, DecodeError> {
        let bits = get_split(self.layout.sources[at], self.words);
        let number = bits >> 2 & ((1 << self.layout.register_bits) - 1);
        let kind = match bits & 3 {
            TEMPORARY => {
                SourceKind::Temporary(
                    DecodeError::below("temporary", number, self.chip.limits().vertex.temporaries)? as u8
                )
            }
            INPUT => SourceKind::Input,
            CONSTANT => SourceKind::Constant,
            invalid => return Err(DecodeError::Field("operand type", invalid)),
        };
        Ok(Source {
            kind,
            swizzle: Swizzle::from_reversed(bits >> self.layout.swizzle_shift()),
            abs: self.is_set(self.layout.abs[at]),
            negate: bits >> self.layout.negate_shift() & 1 != 0,
        })
    }

    fn branch(&self, slot: &mut Slot) -> Result<(), DecodeError> {
        let fields = slot.branch_fields();
        if fields == BranchFields::None {
            return Ok(());
        }
        if slot.sources[2].is_some() {
            return Err(DecodeError::Field("operand S2 of a branch", 2));
        }
        let bits = get_split(self.layout.sources[2], self.words);
        let high = if self.layout.curie.is_some() { self.get(self.layout.abs[2]) << TARGET_BITS } else { 0 };
        let target = bits >> self.layout.swizzle_shift() & ((1 << TARGET_BITS) - 1) | high;
        let target = DecodeError::below("branch target", target, self.chip.limits().vertex.slots)? as u16;
        let boolean = bits >> BOOLEAN_SHIFT;
        let boolean = (fields == BranchFields::Boolean)
            .then_some(Boolean { number: (boolean & 31) as u8, taken_if: boolean & 32 != 0 });
        slot.branch = Some(Branch { target, boolean });
        Ok(())
    }

    fn address(&self, slot: &mut Slot) {
        slot.indexes_constant = slot.constant.is_some() && self.is_set(self.layout.indexes_constant);
        if let Some(curie) = &self.layout.curie {
            slot.indexes_input = slot.input.is_some() && self.is_set(curie.indexes_input);
            slot.indexes_output = slot.output.is_some() && self.is_set(curie.indexes_output);
        }
        if slot.uses_address() {
            slot.address = Some(Address {
                register: self.get(self.layout.address_register) as u8,
                component: self.get(self.layout.address_component) as u8,
            });
        }
    }

    fn condition(&self, slot: &mut Slot) -> Result<(), DecodeError> {
        let layout = self.layout;
        let register = layout.curie.as_ref().map_or(0, |curie| self.get(curie.condition_register)) as u8;
        if self.is_set(layout.tests_condition) {
            let condition = Condition(self.get(layout.condition) as u8);
            let swizzle = Swizzle::from_reversed(self.get(layout.condition_swizzle));
            slot.predicate = Some(Predicate { register, condition, swizzle });
        }
        let by_vec = match &layout.curie {
            Some(curie) => self.is_set(curie.vec_writes_condition),
            None => slot.vec.is_some(),
        };
        if self.is_set(layout.writes_condition) {
            slot.writes_condition = Some(ConditionWrite { unit: if by_vec { Unit::Vec } else { Unit::Sca }, register });
        } else if layout.curie.is_some() && by_vec {
            return Err(DecodeError::Reserved(0, 1 << 29));
        }
        Ok(())
    }
}

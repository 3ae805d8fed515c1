//! Converts vertex instructions to words.

use super::layout::{BOOLEAN_SHIFT, CONSTANT, Curie, INPUT, Layout, Rankine, TARGET_BITS, TEMPORARY, TEXTURE_SHIFT};
use super::{BranchFields, ScaPart, Slot, Source, SourceKind, Unit, VecOp, VecPart};
use crate::isa::bits::{Field, set_split};
use crate::isa::{Chip, EncodeError, Mask, Predicate};

/// An instruction in progress.
struct Encoder<'s> {
    slot: &'s Slot,
    chip: Chip,
    layout: &'static Layout,
    words: [u32; 4],
}

/// Converts an instruction to the words of a chip.
pub fn encode(slot: &Slot, chip: Chip) -> Result<[u32; 4], EncodeError> {
    let mut encoder = Encoder { slot, chip, layout: Layout::of(chip), words: [0; 4] };
    encoder.operations()?;
    encoder.sources()?;
    encoder.branch()?;
    encoder.address()?;
    encoder.condition()?;
    match (&encoder.layout.curie, &encoder.layout.rankine) {
        (Some(curie), _) => encoder.curie_destinations(curie)?,
        (None, Some(rankine)) => encoder.rankine_destinations(rankine)?,
        (None, None) => {}
    }
    encoder.flag(encoder.layout.end, slot.end);
    Ok(encoder.words)
}

/// Returns a field, or an error if it is present without a use, or absent with one.
fn present<T>(field: Option<T>, is_used: bool, what: &'static str) -> Result<Option<T>, EncodeError> {
    EncodeError::unless_used(field.is_some(), is_used, what).map(|()| field)
}

impl Encoder<'_> {
    fn set(&mut self, field: Field, value: u32) {
        field.set(&mut self.words, value);
    }

    fn flag(&mut self, field: Field, value: bool) {
        self.set(field, u32::from(value));
    }

    /// A feature that only some chips have.
    fn curie_flag(&mut self, field: Option<Field>, value: bool, what: &'static str) -> Result<(), EncodeError> {
        match field {
            Some(field) => self.flag(field, value),
            None if value => return Err(EncodeError::Lacks(self.chip, what)),
            None => {}
        }
        Ok(())
    }

    fn operations(&mut self) -> Result<(), EncodeError> {
        if let Some(part) = self.slot.vec {
            let row = part.op.row();
            if !self.chip.is_in(row.chips) {
                return Err(EncodeError::Lacks(self.chip, row.name));
            }
            self.set(self.layout.vec, row.code.into());
        }
        if let Some(part) = self.slot.sca {
            let row = part.op.row();
            if !self.chip.is_in(row.chips) {
                return Err(EncodeError::Lacks(self.chip, row.name));
            }
            set_split(self.layout.sca, &mut self.words, row.code.into());
        }
        Ok(())
    }

    fn sources(&mut self) -> Result<(), EncodeError> {
        let limits = &self.chip.limits().vertex;
        let reads = self.slot.reads();
        for (at, source) in self.slot.sources.into_iter().enumerate() {
            let source = present(source, reads >> at & 1 != 0, ["operand S0", "operand S1", "operand S2"][at])?;
            let bits = source.map_or(Ok(self.layout.unread()), |source| self.source(source))?;
            set_split(self.layout.sources[at], &mut self.words, bits);
            self.flag(self.layout.abs[at], source.is_some_and(|source| source.abs));
        }
        if let Some(number) = present(self.slot.input, self.slot.has_source(SourceKind::Input), "an input")? {
            self.set(self.layout.input, EncodeError::below("input", number, limits.inputs)?);
        }
        if let Some(number) = present(self.slot.constant, self.slot.has_source(SourceKind::Constant), "a constant")? {
            self.set(self.layout.constant, EncodeError::below("constant", number, limits.constants)?);
        }
        let samples = self.slot.vec.is_some_and(|part| part.op == VecOp::Txl);
        if let Some(unit) = present(self.slot.texture, samples, "a texture unit")? {
            let bits =
                self.layout.unread() | EncodeError::below("texture unit", unit, limits.textures)? << TEXTURE_SHIFT;
            set_split(self.layout.sources[1], &mut self.words, bits);
        }
        Ok(())
    }

    fn source(&self, source: Source) -> Result<u32, EncodeError> {
        let kind = match source.kind {
            SourceKind::Temporary(number) => {
                TEMPORARY | EncodeError::below("temporary", number, self.chip.limits().vertex.temporaries)? << 2
            }
            SourceKind::Input => INPUT,
            SourceKind::Constant => CONSTANT,
        };
        let modifiers = source.swizzle.reversed() << self.layout.swizzle_shift()
            | u32::from(source.negate) << self.layout.negate_shift();
        Ok(kind | modifiers)
    }

    fn branch(&mut self) -> Result<(), EncodeError> {
        let fields = self.slot.branch_fields();
        let Some(branch) = present(self.slot.branch, fields != BranchFields::None, "a branch target")? else {
            return Ok(());
        };
        if self.slot.sources[2].is_some() {
            return Err(EncodeError::Conflict("a branch and an operand S2"));
        }
        let target = EncodeError::below("branch target", branch.target, self.chip.limits().vertex.slots)?;
        let mut bits = INPUT | (target & ((1 << TARGET_BITS) - 1)) << self.layout.swizzle_shift();
        if let Some(boolean) = present(branch.boolean, fields == BranchFields::Boolean, "a boolean")? {
            bits |= (EncodeError::below("boolean", boolean.number, 32u32)? | u32::from(boolean.taken_if) << 5)
                << BOOLEAN_SHIFT;
        }
        set_split(self.layout.sources[2], &mut self.words, bits);
        self.flag(self.layout.abs[2], target >> TARGET_BITS != 0);
        Ok(())
    }

    fn address(&mut self) -> Result<(), EncodeError> {
        let slot = self.slot;
        if let Some(address) = present(slot.address, slot.uses_address(), "an address component")? {
            self.set(self.layout.address_register, EncodeError::below("address register", address.register, 2u32)?);
            self.set(self.layout.address_component, EncodeError::below("component", address.component, 4u32)?);
        }
        let indexes = [
            (slot.indexes_input, slot.input.is_some(), "an index of the input"),
            (slot.indexes_constant, slot.constant.is_some(), "an index of the constant"),
            (slot.indexes_output, slot.output.is_some(), "an index of the output"),
        ];
        for (indexes, has_base, what) in indexes {
            if indexes && !has_base {
                return Err(EncodeError::Unused(what));
            }
        }
        let curie = self.layout.curie.as_ref();
        self.flag(self.layout.indexes_constant, slot.indexes_constant);
        self.curie_flag(curie.map(|curie| curie.indexes_input), slot.indexes_input, "index of inputs")?;
        self.curie_flag(curie.map(|curie| curie.indexes_output), slot.indexes_output, "index of outputs")?;
        self.curie_flag(curie.map(|curie| curie.saturate), slot.saturate, "saturation in vertex programs")
    }

    fn condition(&mut self) -> Result<(), EncodeError> {
        let limit = self.chip.limits().vertex.conditions;
        let predicate = self.slot.predicate.unwrap_or(Predicate::ALWAYS);
        self.set(self.layout.condition, EncodeError::below("condition", predicate.condition.0, 8u32)?);
        self.set(self.layout.condition_swizzle, predicate.swizzle.reversed());
        self.flag(self.layout.tests_condition, self.slot.predicate.is_some());
        let mut register = self.slot.predicate.map(|predicate| predicate.register);
        if let Some(write) = self.slot.writes_condition {
            if register.replace(write.register).is_some_and(|tested| tested != write.register) {
                return Err(EncodeError::Conflict("two condition registers"));
            }
            self.flag(self.layout.writes_condition, true);
            match &self.layout.curie {
                Some(curie) => self.flag(curie.vec_writes_condition, write.unit == Unit::Vec),
                None if (write.unit == Unit::Vec) != self.slot.vec.is_some() => {
                    return Err(EncodeError::Conflict("a choice of the unit that writes the condition register"));
                }
                None => {}
            }
        }
        let register = EncodeError::below("condition register", register.unwrap_or(0), limit)?;
        let field = self.layout.curie.as_ref().map(|curie| curie.condition_register);
        self.curie_flag(field, register != 0, "second condition register")
    }

    /// Checks the number of a register.
    fn register(&self, part: Option<VecPart>, sca: Option<ScaPart>) -> Result<Option<u32>, EncodeError> {
        let temporaries = self.chip.limits().vertex.temporaries;
        let vec = part.and_then(|part| Some((part.register?, part.op.writes_address())));
        let sca = sca.and_then(|part| Some((part.register?, false)));
        let Some((number, is_address)) = vec.or(sca) else { return Ok(None) };
        let (what, limit) = if is_address { ("address register", 2) } else { ("temporary", temporaries) };
        EncodeError::below(what, number, limit).map(Some)
    }

    fn curie_destinations(&mut self, curie: &Curie) -> Result<(), EncodeError> {
        let layout = self.layout;
        let (vec, sca) = (self.slot.vec, self.slot.sca);
        let vec_register = self.register(vec, None)?;
        let sca_register = self.register(None, sca)?;
        let (vec_mask, vec_output) = vec.map_or_else(Default::default, |part| (part.mask, part.output_mask));
        let (sca_mask, sca_output) = sca.map_or_else(Default::default, |part| (part.mask, part.output_mask));
        if [(vec_mask, vec_output), (sca_mask, sca_output)].iter().any(|(mask, out)| !out.is_empty() && out != mask) {
            return Err(EncodeError::Conflict("different masks of register and output"));
        }
        if !vec_output.is_empty() && !sca_output.is_empty() {
            return Err(EncodeError::Conflict("two writes of the output"));
        }
        if !sca_output.is_empty() && sca_register.is_some() {
            return Err(EncodeError::Conflict("a scalar operation with register and output"));
        }
        self.output()?;
        let is_written = self.slot.output.is_some() && vec_output.is_empty() && sca_register.is_none();
        if is_written && sca_output != sca_mask {
            return Err(EncodeError::Conflict("a scalar operation that does not write the output"));
        }
        self.set(layout.output, self.slot.output.map_or(layout.output.max(), u32::from));
        self.flag(curie.vec_writes_output, !vec_output.is_empty());
        self.set(layout.vec_register, vec_register.unwrap_or(layout.vec_register.max()));
        self.set(curie.sca_register, sca_register.unwrap_or(curie.sca_register.max()));
        self.set(layout.vec_mask, vec_mask.reversed());
        self.set(layout.sca_mask, sca_mask.reversed());
        Ok(())
    }

    fn rankine_destinations(&mut self, rankine: &Rankine) -> Result<(), EncodeError> {
        let layout = self.layout;
        // Beside an output mask, the mask without a register has no meaning.
        let writes = |register: Option<u8>, mask: Mask, output_mask: Mask| {
            !mask.is_empty() && (register.is_some() || output_mask.is_empty())
        };
        let vec = self.slot.vec.filter(|part| writes(part.register, part.mask, part.output_mask));
        let sca = self.slot.sca.filter(|part| writes(part.register, part.mask, part.output_mask));
        let vec_register = self.register(vec, None)?;
        let sca_register = self.register(None, sca)?;
        if vec.is_some() && sca.is_some() && vec_register != sca_register {
            return Err(EncodeError::Conflict("two registers"));
        }
        self.output()?;
        self.set(layout.vec_register, vec_register.or(sca_register).unwrap_or(layout.vec_register.max()));
        self.set(layout.vec_mask, vec.map_or(0, |part| part.mask.reversed()));
        self.set(layout.sca_mask, sca.map_or(0, |part| part.mask.reversed()));
        if let Some(number) = self.slot.output {
            self.flag(rankine.output_enable, true);
            self.set(layout.output, number.into());
        }
        self.set(rankine.vec_output_mask, self.slot.vec.map_or(0, |part| part.output_mask.reversed()));
        self.set(rankine.sca_output_mask, self.slot.sca.map_or(0, |part| part.output_mask.reversed()));
        Ok(())
    }

    /// Checks the output.
    fn output(&self) -> Result<(), EncodeError> {
        let masks = [self.slot.vec.map(|part| part.output_mask), self.slot.sca.map(|part| part.output_mask)];
        if let Some(number) = self.slot.output {
            EncodeError::below("output", number, self.chip.limits().vertex.outputs)?;
        } else if masks.iter().flatten().any(|mask| !mask.is_empty()) {
            return Err(EncodeError::Missing("an output"));
        }
        Ok(())
    }
}

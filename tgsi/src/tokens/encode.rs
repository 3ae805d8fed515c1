//! Encodes a shader as words.

use super::EncodeError;
use crate::limits::{MAX_ARRAY_ID, MAX_BODY_WORDS, MAX_LABEL};
use crate::shader::{Declaration, Immediate, Indirect, Instruction, Property, Register, Shader, ShaderItem};
use crate::tables::File;

/// Encodes a token stream.
///
/// Sizes follow the convention of Mesa's text parser. If the shader was decoded from a stream with other sizes or with
/// bits in the padding, these are restored, unless [`Shader::forget_encoding`] was called.
///
/// # Errors
///
/// A number that does not fit into its field, a shader that is too long, or a shader with inconsistent lists.
pub fn encode(shader: &Shader) -> Result<Vec<u32>, EncodeError> {
    let items =
        shader.declarations.len() + shader.immediates.len() + shader.properties.len() + shader.instructions.len();
    let mut ordered = 0;
    // Rarely exceeded: most instructions have a destination and two or three sources.
    let expected = 4 * (shader.declarations.len() + shader.properties.len())
        + 5 * (shader.immediates.len() + shader.instructions.len());
    let mut words = Vec::with_capacity(2 + expected);
    words.extend([0, shader.processor.value() as u32]);
    for item in shader.items() {
        ordered += 1;
        match item {
            ShaderItem::Declaration(index, declaration) => {
                Writer { words: &mut words, item: "declaration", index }.declaration(declaration)?;
            }
            ShaderItem::Immediate(index, immediate) => {
                Writer { words: &mut words, item: "immediate", index }.immediate(immediate);
            }
            ShaderItem::Property(index, property) => {
                Writer { words: &mut words, item: "property", index }.property(property)
            }
            ShaderItem::Instruction(index, instruction) => {
                Writer { words: &mut words, item: "instruction", index }.instruction(instruction)?;
            }
        }
        if words.len() - 2 > MAX_BODY_WORDS {
            return Err(EncodeError::TooLong { words: words.len() - 2, limit: MAX_BODY_WORDS });
        }
    }
    if ordered != items {
        return Err(EncodeError::Order { ordered, items });
    }
    words[0] = 2 | ((words.len() - 2) as u32) << 8;
    for &(at, bits) in &shader.encoding_quirks {
        if let Some(word) = words.get_mut(at as usize) {
            *word ^= bits;
        }
    }
    Ok(words)
}

struct Writer<'a> {
    words: &'a mut Vec<u32>,
    item: &'static str,
    index: usize,
}

impl Writer<'_> {
    fn check(&self, field: &'static str, value: impl Into<i64>, low: i64, high: i64) -> Result<u32, EncodeError> {
        let value = value.into();
        if (low..=high).contains(&value) {
            Ok(value as u32)
        } else {
            Err(EncodeError::Field { item: self.item, index: self.index, field, value })
        }
    }

    /// Returns a signed index as the 16 bits of its field.
    fn signed(&self, field: &'static str, value: i32) -> Result<u32, EncodeError> {
        Ok(self.check(field, value, i16::MIN as i64, i16::MAX as i64)? & 0xffff)
    }

    fn mask(&self, field: &'static str, mask: u8) -> Result<u32, EncodeError> {
        self.check(field, mask, 0, 15)
    }

    /// Packs two-bit components from bit `low` on.
    fn components(&self, field: &'static str, components: &[u8], low: u32) -> Result<u32, EncodeError> {
        let mut word = 0;
        for (position, &component) in components.iter().enumerate() {
            word |= self.check(field, component, 0, 3)? << (low + 2 * position as u32);
        }
        Ok(word)
    }

    fn declaration(&mut self, d: &Declaration) -> Result<(), EncodeError> {
        if d.image.is_some() != (d.file == File::Image) || d.sampler_view.is_some() != (d.file == File::SamplerView) {
            return Err(EncodeError::FileWord { index: self.index, file: d.file });
        }
        let first = self.words.len();
        let flags = [d.dimension.is_some(), d.semantic.is_some(), d.interpolation.is_some(), d.invariant, d.local];
        let mut word = (d.file.value() as u32) << 12 | self.mask("usage mask", d.usage_mask)? << 16;
        for (position, set) in flags.into_iter().enumerate() {
            word |= (set as u32) << (20 + position);
        }
        word |= (d.array_id.is_some() as u32) << 25 | (d.atomic as u32) << 26 | (d.memory_type.value() as u32) << 27;
        self.words.push(word);
        self.words.push(d.first as u32 | (d.last as u32) << 16);
        self.words.extend(d.dimension.map(u32::from));
        if let Some(interpolation) = d.interpolation {
            self.words.push(interpolation.mode.value() as u32 | (interpolation.location.value() as u32) << 4);
        }
        if let Some(semantic) = d.semantic {
            let streams = self.components("stream", &semantic.streams, 24)?;
            self.words.push(semantic.name.value() as u32 | (semantic.index as u32) << 8 | streams);
        }
        if let Some(image) = d.image {
            let flags = (image.raw as u32) << 8 | (image.writable as u32) << 9;
            self.words.push(image.target.value() as u32 | flags | (image.format.value() as u32) << 10);
        }
        if let Some(view) = d.sampler_view {
            let [x, y, z, w] = view.return_types.map(|t| t.value() as u32);
            self.words.push(view.target.value() as u32 | x << 8 | y << 14 | z << 20 | w << 26);
        }
        if let Some(array) = d.array_id {
            let array = self.check("array number", array, 0, MAX_ARRAY_ID as i64)?;
            self.words.push(array);
        }
        let size = (self.words.len() - first) as u32;
        self.words[first] |= size << 4;
        Ok(())
    }

    fn immediate(&mut self, immediate: &Immediate) {
        let size = immediate.words.len() as u32 + 1;
        self.words.push(1 | size << 4 | (immediate.data_type.value() as u32) << 18);
        self.words.extend_from_slice(&immediate.words);
    }

    fn property(&mut self, property: &Property) {
        let size = property.data.len() as u32 + 1;
        self.words.push(3 | size << 4 | (property.name.value() as u32) << 12);
        self.words.extend_from_slice(&property.data);
    }

    fn instruction(&mut self, i: &Instruction) -> Result<(), EncodeError> {
        let first = self.words.len();
        self.words.push(
            2 | (i.opcode.value() as u32) << 12
                | (i.saturate as u32) << 20
                | (i.dst.len() as u32) << 21
                | (i.src.len() as u32) << 23
                | (i.label.is_some() as u32) << 27
                | (i.texture.is_some() as u32) << 28
                | (i.memory.is_some() as u32) << 29
                | (i.precise as u32) << 30,
        );
        if let Some(label) = i.label {
            let label = self.check("label", label, 0, MAX_LABEL as i64)?;
            self.words.push(label);
        }
        if let Some(texture) = &i.texture {
            let count = texture.offsets.len() as u32;
            self.words.push(texture.target.value() as u32 | count << 8 | (texture.return_type.value() as u32) << 12);
            for offset in &texture.offsets {
                let word = self.signed("texture offset index", offset.index)? | (offset.file.value() as u32) << 16;
                let word = word | self.components("texture offset swizzle", &offset.swizzle, 20)?;
                self.words.push(word);
            }
        }
        if let Some(memory) = i.memory {
            let qualifiers = self.check("memory qualifiers", memory.qualifiers.0, 0, 15)?;
            self.words.push(qualifiers | (memory.target.value() as u32) << 4 | (memory.format.value() as u32) << 12);
        }
        for dst in &i.dst {
            let r = &dst.register;
            let word = r.file.value() as u32
                | self.mask("write mask", dst.write_mask)? << 4
                | (r.indirect.is_some() as u32) << 8
                | (r.dimension.is_some() as u32) << 9
                | self.signed("register index", r.index)? << 10;
            self.words.push(word);
            self.register(r)?;
        }
        for src in &i.src {
            let r = &src.register;
            let word = r.file.value() as u32
                | (r.indirect.is_some() as u32) << 4
                | (r.dimension.is_some() as u32) << 5
                | self.signed("register index", r.index)? << 6
                | self.components("swizzle", &src.swizzle, 22)?
                | (src.absolute as u32) << 30
                | (src.negate as u32) << 31;
            self.words.push(word);
            self.register(r)?;
        }
        // At most about thirty words, so the size fits into its eight bits.
        let size = (self.words.len() - first - 1) as u32;
        self.words[first] |= size << 4;
        Ok(())
    }

    /// Encodes the words after the first word of a register.
    fn register(&mut self, register: &Register) -> Result<(), EncodeError> {
        self.indirect(register.indirect.as_ref())?;
        if let Some(dimension) = &register.dimension {
            let index = self.signed("outer index", dimension.index)?;
            self.words.push(dimension.indirect.is_some() as u32 | index << 16);
            self.indirect(dimension.indirect.as_ref())?;
        }
        Ok(())
    }

    fn indirect(&mut self, indirect: Option<&Indirect>) -> Result<(), EncodeError> {
        if let Some(indirect) = indirect {
            let word = indirect.file.value() as u32
                | self.signed("index of an indirect index", indirect.index)? << 4
                | self.components("component of an indirect index", &[indirect.component], 20)?
                | self.check("array number", indirect.array_id, 0, MAX_ARRAY_ID as i64)? << 22;
            self.words.push(word);
        }
        Ok(())
    }
}

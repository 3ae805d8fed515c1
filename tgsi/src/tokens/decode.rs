//! Decodes words into a shader.

use arrayvec::ArrayVec;

use super::{DecodeError, encode};
use crate::limits::Limits;
use crate::shader::{
    Declaration, DeclarationImage, DeclarationInterpolation, DeclarationSamplerView, DeclarationSemantic, Dimension,
    Dst, Immediate, Indirect, Instruction, InstructionMemory, InstructionTexture, Property, Register, Shader, Src,
    TextureOffset,
};
use crate::tables::{
    File, ImmediateType, Interpolation, InterpolationLocation, MemoryQualifiers, MemoryType, Opcode, PixelFormat,
    Processor, PropertyName, ReturnType, Semantic, TextureTarget,
};
use tgsi_diagnostics::Span;

/// Maximum number of items for which capacity is reserved before they are decoded: wrong sizes must not be expensive.
const MAX_EXPECTED: usize = 1 << 12;

/// Decodes a token stream. Spans of the items and operands are in words.
///
/// Sizes in declarations and instructions are not trusted (producers count differently); sizes of immediates and
/// properties determine their length. Padding is kept as [`Shader::encoding_quirks`].
///
/// # Errors
///
/// The first error, with its word.
pub fn decode(words: &[u32]) -> Result<Shader, DecodeError> {
    decode_within(words, &Limits::default())
}

/// Decodes a token stream with the given limits.
///
/// # Errors
///
/// See [`decode`].
pub fn decode_within(words: &[u32], limits: &Limits) -> Result<Shader, DecodeError> {
    if words.len() as u64 > limits.tokens {
        return Err(DecodeError::TooLong { words: words.len(), limit: limits.tokens });
    }
    let items = [limits.instructions, limits.declarations, limits.immediates].into_iter().fold(0, u64::saturating_add);
    let mut reader = Reader { words, at: 0 };
    let header = reader.next("the header")?;
    let header_size = field(header, 0, 8) as usize;
    if header_size < 2 {
        return Err(DecodeError::HeaderSize { size: header_size as u32 });
    }
    let announced = header_size + (header >> 8) as usize;
    if announced != words.len() {
        // A truncated stream is more common than a wrong header.
        if words.len() < 2 {
            return Err(DecodeError::Truncated { word: 1, expected: "the processor" });
        }
        return Err(DecodeError::BodySize { announced, actual: words.len() });
    }
    let processor = reader.next("the processor")?;
    let processor = reader.table(Processor::from_value, "processor", field(processor, 0, 4))?;
    let mut shader = Shader::new(processor);
    shader.processor_span = reader.span(1);
    reader.at = header_size;
    reader.make_room(&mut shader);
    // The check reports which limit is exceeded; this bound only makes decoding terminate.
    while reader.at < words.len() && shader.order.len() as u64 <= items {
        let start = reader.at;
        let word = reader.next("an item")?;
        match field(word, 0, 4) {
            0 => {
                let mut declaration = reader.declaration(word)?;
                declaration.span = reader.span(start);
                shader.push_declaration(declaration);
            }
            1 => {
                let mut immediate = reader.immediate(word)?;
                immediate.span = reader.span(start);
                shader.push_immediate(immediate);
            }
            2 => {
                let mut instruction = reader.instruction(word)?;
                instruction.span = reader.span(start);
                shader.push_instruction(instruction);
            }
            3 => {
                let mut property = reader.property(word)?;
                property.span = reader.span(start);
                shader.push_property(property);
            }
            value => return Err(DecodeError::Undefined { word: start, kind: "token type", value }),
        }
    }
    // The decoded values always fit into the fields. If a header has extra words, the lengths differ, and those words
    // have no meaning.
    if let Ok(canonical) = encode(&shader)
        && canonical.len() == words.len()
    {
        let differences = canonical.iter().zip(words).enumerate().filter(|(_, (ours, theirs))| ours != theirs);
        shader.encoding_quirks = differences.map(|(at, (ours, theirs))| (at as u32, ours ^ theirs)).collect();
    }
    Ok(shader)
}

/// Returns `width` bits of `word` from bit `low`.
const fn field(word: u32, low: u32, width: u32) -> u32 {
    (word >> low) & (u32::MAX >> (32 - width))
}

const fn flag(word: u32, bit: u32) -> bool {
    field(word, bit, 1) != 0
}

const fn signed(word: u32, low: u32) -> i32 {
    field(word, low, 16) as u16 as i16 as i32
}

const fn swizzle(word: u32, low: u32) -> u8 {
    field(word, low, 2) as u8
}

struct Reader<'a> {
    words: &'a [u32],
    at: usize,
}

impl Reader<'_> {
    fn next(&mut self, expected: &'static str) -> Result<u32, DecodeError> {
        let word = *self.words.get(self.at).ok_or(DecodeError::Truncated { word: self.at, expected })?;
        self.at += 1;
        Ok(word)
    }

    /// Reserves capacity in a shader for the remaining items according to their sizes, which may be wrong; then the
    /// capacity is too large or too small.
    fn make_room(&self, shader: &mut Shader) {
        let mut counts = [0; 4];
        let mut at = self.at;
        for _ in 0..MAX_EXPECTED {
            let Some(&word) = self.words.get(at) else { break };
            let (kind, size) = (field(word, 0, 4) as usize, field(word, 4, 8) as usize);
            if let Some(count) = counts.get_mut(kind) {
                *count += 1;
            }
            // The size of an instruction excludes its first word.
            at += if kind == 2 { size + 1 } else { size.max(1) };
        }
        let [declarations, immediates, instructions, properties] = counts;
        shader.order.reserve(counts.iter().sum());
        shader.declarations.reserve(declarations);
        shader.immediates.reserve(immediates);
        shader.instructions.reserve(instructions);
        shader.properties.reserve(properties);
    }

    fn span(&self, start: usize) -> Span {
        Span::new(start as u32, self.at as u32)
    }

    /// Looks up a number of the last word in a table.
    fn table<T>(
        &self,
        from_value: impl Fn(u32) -> Option<T>,
        kind: &'static str,
        value: u32,
    ) -> Result<T, DecodeError> {
        from_value(value).ok_or(DecodeError::Undefined { word: self.at - 1, kind, value })
    }

    fn file(&self, value: u32) -> Result<File, DecodeError> {
        self.table(File::from_value, "register file", value)
    }

    fn target(&self, value: u32) -> Result<TextureTarget, DecodeError> {
        self.table(TextureTarget::from_value, "texture target", value)
    }

    fn format(&self, value: u32) -> Result<PixelFormat, DecodeError> {
        self.table(PixelFormat::from_value, "pixel format", value)
    }

    fn return_type(&self, value: u32) -> Result<ReturnType, DecodeError> {
        self.table(ReturnType::from_value, "return type", value)
    }

    fn declaration(&mut self, word: u32) -> Result<Declaration, DecodeError> {
        let file = self.file(field(word, 12, 4))?;
        let memory_type = self.table(MemoryType::from_value, "memory type", field(word, 27, 2))?;
        let range = self.next("the range of a declaration")?;
        let (first, last) = (range as u16, (range >> 16) as u16);
        if last < first {
            return Err(DecodeError::Range { word: self.at - 1, first, last });
        }
        let mut declaration = Declaration::new(file, first, last);
        declaration.usage_mask = field(word, 16, 4) as u8;
        declaration.invariant = flag(word, 23);
        declaration.local = flag(word, 24);
        declaration.atomic = flag(word, 26);
        declaration.memory_type = memory_type;
        if flag(word, 20) {
            declaration.dimension = Some(self.next("the dimension of a declaration")? as u16);
        }
        if flag(word, 22) {
            let word = self.next("the interpolation of a declaration")?;
            declaration.interpolation = Some(DeclarationInterpolation {
                mode: self.table(Interpolation::from_value, "interpolation mode", field(word, 0, 4))?,
                location: self.table(InterpolationLocation::from_value, "interpolation location", field(word, 4, 2))?,
            });
        }
        if flag(word, 21) {
            let word = self.next("the semantic of a declaration")?;
            declaration.semantic = Some(DeclarationSemantic {
                name: self.table(Semantic::from_value, "semantic", field(word, 0, 8))?,
                index: field(word, 8, 16) as u16,
                streams: [swizzle(word, 24), swizzle(word, 26), swizzle(word, 28), swizzle(word, 30)],
            });
        }
        if file == File::Image {
            let word = self.next("the image word of a declaration")?;
            declaration.image = Some(DeclarationImage {
                target: self.target(field(word, 0, 8))?,
                raw: flag(word, 8),
                writable: flag(word, 9),
                format: self.format(field(word, 10, 10))?,
            });
        }
        if file == File::SamplerView {
            let word = self.next("the sampler view word of a declaration")?;
            declaration.sampler_view = Some(DeclarationSamplerView {
                target: self.target(field(word, 0, 8))?,
                return_types: [
                    self.return_type(field(word, 8, 6))?,
                    self.return_type(field(word, 14, 6))?,
                    self.return_type(field(word, 20, 6))?,
                    self.return_type(field(word, 26, 6))?,
                ],
            });
        }
        if flag(word, 25) {
            declaration.array_id = Some(field(self.next("the array word of a declaration")?, 0, 10) as u16);
        }
        Ok(declaration)
    }

    /// Reads the data words of an item with a first word that specifies `size`, including that word.
    fn data<const LIMIT: usize>(&mut self, what: &'static str, size: u32) -> Result<ArrayVec<u32, LIMIT>, DecodeError> {
        let word = self.at - 1;
        let count = size.checked_sub(1).ok_or(DecodeError::EmptyItem { word, what })?;
        if count as usize > LIMIT {
            return Err(DecodeError::TooMany { word, what: "data words", count, limit: LIMIT as u32 });
        }
        (0..count).map(|_| self.next("a data word")).collect()
    }

    fn immediate(&mut self, word: u32) -> Result<Immediate, DecodeError> {
        let data_type = self.table(ImmediateType::from_value, "immediate type", field(word, 18, 4))?;
        let words = self.data("an immediate", field(word, 4, 14))?;
        Ok(Immediate { data_type, words, span: Span::default() })
    }

    fn property(&mut self, word: u32) -> Result<Property, DecodeError> {
        let name = self.table(PropertyName::from_value, "property", field(word, 12, 8))?;
        let data = self.data("a property", field(word, 4, 8))?;
        Ok(Property { name, data, span: Span::default() })
    }

    fn instruction(&mut self, word: u32) -> Result<Instruction, DecodeError> {
        let opcode = self.table(Opcode::from_value, "opcode", field(word, 12, 8))?;
        let mut instruction = Instruction::new(opcode);
        instruction.saturate = flag(word, 20);
        instruction.precise = flag(word, 30);
        let (num_dst, num_src) = (field(word, 21, 2), field(word, 23, 4));
        let first = self.at - 1;
        for (what, count, limit) in
            [("destinations", num_dst, instruction.dst.capacity()), ("sources", num_src, instruction.src.capacity())]
        {
            if count as usize > limit {
                return Err(DecodeError::TooMany { word: first, what, count, limit: limit as u32 });
            }
        }
        if flag(word, 27) {
            instruction.label = Some(field(self.next("the label of an instruction")?, 0, 24));
        }
        if flag(word, 28) {
            instruction.texture = Some(Box::new(self.texture()?));
        }
        if flag(word, 29) {
            let word = self.next("the memory word of an instruction")?;
            instruction.memory = Some(InstructionMemory {
                qualifiers: MemoryQualifiers(field(word, 0, 4) as u8),
                target: self.target(field(word, 4, 8))?,
                format: self.format(field(word, 12, 10))?,
            });
        }
        for _ in 0..num_dst {
            let start = self.at;
            let word = self.next("a destination")?;
            let register = self.register(field(word, 0, 4), signed(word, 10), flag(word, 8), flag(word, 9))?;
            instruction.dst.push(Dst { register, write_mask: field(word, 4, 4) as u8, span: self.span(start) });
        }
        for _ in 0..num_src {
            let start = self.at;
            let word = self.next("a source")?;
            let register = self.register(field(word, 0, 4), signed(word, 6), flag(word, 4), flag(word, 5))?;
            instruction.src.push(Src {
                register,
                swizzle: [swizzle(word, 22), swizzle(word, 24), swizzle(word, 26), swizzle(word, 28)],
                absolute: flag(word, 30),
                negate: flag(word, 31),
                span: self.span(start),
            });
        }
        Ok(instruction)
    }

    fn texture(&mut self) -> Result<InstructionTexture, DecodeError> {
        let word = self.next("the texture word of an instruction")?;
        let mut texture = InstructionTexture {
            target: self.target(field(word, 0, 8))?,
            return_type: self.return_type(field(word, 12, 3))?,
            offsets: ArrayVec::new(),
        };
        let (count, limit) = (field(word, 8, 4), texture.offsets.capacity());
        if count as usize > limit {
            return Err(DecodeError::TooMany {
                word: self.at - 1,
                what: "texture offsets",
                count,
                limit: limit as u32,
            });
        }
        for _ in 0..count {
            let start = self.at;
            let word = self.next("a texture offset")?;
            texture.offsets.push(TextureOffset {
                file: self.file(field(word, 16, 4))?,
                index: signed(word, 0),
                swizzle: [swizzle(word, 20), swizzle(word, 22), swizzle(word, 24)],
                span: self.span(start),
            });
        }
        Ok(texture)
    }

    /// Reads the rest of a register after its first word.
    fn register(&mut self, file: u32, index: i32, indirect: bool, dimension: bool) -> Result<Register, DecodeError> {
        let mut register = Register::new(self.file(file)?, index);
        if indirect {
            register.indirect = Some(self.indirect()?);
        }
        if dimension {
            let word = self.next("the dimension of a register")?;
            if flag(word, 1) {
                return Err(DecodeError::ThirdDimension { word: self.at - 1 });
            }
            let indirect = if flag(word, 0) { Some(self.indirect()?) } else { None };
            register.dimension = Some(Dimension { index: signed(word, 16), indirect });
        }
        Ok(register)
    }

    fn indirect(&mut self) -> Result<Indirect, DecodeError> {
        let word = self.next("the indirect index of a register")?;
        Ok(Indirect {
            file: self.file(field(word, 0, 4))?,
            index: signed(word, 4),
            component: swizzle(word, 20),
            array_id: field(word, 22, 10) as u16,
        })
    }
}

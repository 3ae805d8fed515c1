//! Prints a shader as text.
//!
//! With [`PrintOptions::mesa`] the text is byte for byte what Mesa 25 prints for the tokens of the shader. That is
//! lossy: floats are rounded, and some words of the stream have no text. The default print loses only the count and
//! padding bits of a decoded stream: it is the same text with floats that read back exactly, and, where they are
//! needed, with the following extensions, which [`parse`](super::parse) accepts and Mesa does not:
//!
//! | text | meaning |
//! |---|---|
//! | `DCL IN[][2][0..1]` | a dimension word on a file with the vertex in its first bracket |
//! | `TESS_DEFAULT_OUTER_LEVEL`, `TESS_DEFAULT_INNER_LEVEL`, `UNKNOWN` | semantics 47 and 48, return type 5 |
//! | `, INTERPOLATE(COLOR)` | an interpolation word with mode `COLOR`, where `COLOR` alone would be read as a semantic |
//!
//! | after the operands of an instruction | meaning |
//! |---|---|
//! | `, TARGET(2D)` | a texture word with this target, on opcodes that print none |
//! | `, RETURN(UINT)` | return type of the texture word, if not unknown |
//! | `, NO_TEXTURE`, `, NO_MEMORY` | the word that the opcode has by default is missing |
//! | `, WITH_MEMORY` | a memory word on an opcode that has none by default; its items may follow |
//! | ` :5` | a label, on any opcode |
//!
//! | elsewhere | meaning |
//! |---|---|
//! | `IMM[0] INT64 WORDS {0x1, 0x2, 0x3}` | words of an immediate that are not whole values |
//! | `PROPERTY NAME {}`, `PROPERTY NAME 1, 2` | properties with no words, with several |
//! | `TEMP[NULL[0].x+1](0)` | an indirect index through file `NULL` |

use std::fmt::Write;

use super::float;
use crate::limits::MAX_INDENT;
use crate::shader::{
    Declaration, Immediate, Indirect, Instruction, InstructionMemory, InstructionTexture, Property, Register, Shader,
    ShaderItem,
};
use crate::tables::{
    File, ImmediateType, Interpolation, InterpolationLocation, MemoryQualifiers, MemoryType, Opcode, PixelFormat,
    Processor, ReturnType, Semantic, TextureTarget,
};

/// Options of the printer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct PrintOptions {
    /// Print byte for byte as Mesa 25 does.
    pub mesa: bool,
    /// Print 32-bit floats as `0x` and eight digits, for virgl hosts.
    pub hex_floats: bool,
}

impl PrintOptions {
    /// Returns the options with [`mesa`](Self::mesa).
    #[must_use]
    pub fn with_mesa(self, mesa: bool) -> PrintOptions {
        PrintOptions { mesa, ..self }
    }

    /// Returns the options with [`hex_floats`](Self::hex_floats).
    #[must_use]
    pub fn with_hex_floats(self, hex_floats: bool) -> PrintOptions {
        PrintOptions { hex_floats, ..self }
    }
}

/// Prints a shader, one line per item.
pub fn print(shader: &Shader, options: PrintOptions) -> String {
    // The average line has about forty bytes.
    let mut printer = Printer { out: String::with_capacity(shader.order.len() * 48 + 16), options };
    printer.text(shader.processor.name());
    printer.out.push('\n');
    let mut level = 0i64;
    for item in shader.items() {
        match item {
            ShaderItem::Declaration(_, declaration) => printer.declaration(shader.processor, declaration),
            ShaderItem::Immediate(index, immediate) => printer.immediate(index, immediate),
            ShaderItem::Property(_, property) => printer.property(property),
            ShaderItem::Instruction(number, instruction) => {
                let info = instruction.opcode.info();
                level -= info.dedents as i64;
                let indent = (level.max(0) as usize).min(MAX_INDENT) * 2;
                printer.instruction_number(number);
                printer.out.extend(std::iter::repeat_n(' ', indent));
                printer.instruction(instruction);
                level += info.indents as i64;
            }
        }
        printer.out.push('\n');
    }
    printer.out
}

struct Printer {
    out: String,
    options: PrintOptions,
}

impl Printer {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    /// Prints a decimal number.
    fn number(&mut self, number: impl Into<i128>) {
        let number = number.into();
        if number < 0 {
            self.out.push('-');
        }
        match u32::try_from(number.unsigned_abs()) {
            Ok(number) => self.digits(number),
            // Writing to a string cannot fail.
            Err(_) => drop(write!(self.out, "{}", number.unsigned_abs())),
        }
    }

    fn digits(&mut self, number: u32) {
        let mut power = 1;
        while number / power >= 10 {
            power *= 10;
        }
        while power > 0 {
            self.out.push(char::from(b'0' + (number / power % 10) as u8));
            power /= 10;
        }
    }

    /// Prints an instruction number, at least three digits wide: `  0: `.
    fn instruction_number(&mut self, number: usize) {
        self.text(match number {
            0..10 => "  ",
            10..100 => " ",
            _ => "",
        });
        self.number(number as u32);
        self.text(": ");
    }

    /// Prints `[number`.
    fn open(&mut self, number: impl Into<i128>) {
        self.out.push('[');
        self.number(number);
    }

    /// Prints `, text`.
    fn part(&mut self, text: &str) {
        self.out.push_str(", ");
        self.out.push_str(text);
    }

    fn components(&mut self, components: &[u8]) {
        self.out.push('.');
        for &component in components {
            self.out.push(['x', 'y', 'z', 'w'][usize::from(component & 3)]);
        }
    }

    fn mask(&mut self, mask: u8) {
        if mask != 0xf {
            const MASKS: [&str; 16] = [
                ".", ".x", ".y", ".xy", ".z", ".xz", ".yz", ".xyz", ".w", ".xw", ".yw", ".xyw", ".zw", ".xzw", ".yzw",
                ".xyzw",
            ];
            self.text(MASKS[usize::from(mask & 0xf)]);
        }
    }

    fn index(&mut self, index: i32, indirect: Option<&Indirect>) {
        let Some(indirect) = indirect else {
            self.open(index);
            self.out.push(']');
            return;
        };
        self.out.push('[');
        self.text(indirect.file.name());
        self.open(indirect.index);
        self.out.push(']');
        self.components(&[indirect.component]);
        if index > 0 {
            self.out.push('+');
        }
        if index != 0 {
            self.number(index);
        }
        self.out.push(']');
        // Without an array number the parser reads NULL as "no register", like Mesa's.
        if indirect.array_id != 0 || (indirect.file == File::Null && !self.options.mesa) {
            self.out.push('(');
            self.number(indirect.array_id);
            self.out.push(')');
        }
    }

    fn register(&mut self, register: &Register) {
        self.text(register.file.name());
        if let Some(dimension) = &register.dimension {
            self.index(dimension.index, dimension.indirect.as_ref());
        }
        self.index(register.index, register.indirect.as_ref());
    }

    fn semantic(&self, semantic: Semantic) -> &'static str {
        match semantic {
            Semantic::TessDefaultOuterLevel | Semantic::TessDefaultInnerLevel if self.options.mesa => "(null)",
            _ => semantic.name(),
        }
    }

    fn return_type(&self, return_type: ReturnType) -> &'static str {
        if self.options.mesa && return_type == ReturnType::Unknown { "(null)" } else { return_type.name() }
    }

    fn format(&mut self, format: PixelFormat) {
        // Mesa's table has no names for two formats.
        if self.options.mesa && matches!(format.value(), 425 | 426) {
            self.part("(null)");
        } else {
            self.part(PixelFormat::PREFIX);
            self.text(format.short_name());
        }
    }

    fn declaration(&mut self, processor: Processor, d: &Declaration) {
        self.text("DCL ");
        self.text(d.file.name());
        let mesa = self.options.mesa;
        // The content of the vertex bracket has no meaning.
        let vertex_bracket = processor.has_vertices(d.file);
        let per_patch = processor != Processor::Geometry && d.semantic.is_some_and(|s| s.name.is_patch());
        if vertex_bracket && (!per_patch || (d.dimension.is_some() && !mesa)) {
            self.text("[]");
        }
        if let Some(dimension) = d.dimension {
            self.open(dimension);
            self.out.push(']');
        }
        self.open(d.first);
        if d.first != d.last {
            self.text("..");
            self.number(d.last);
        }
        self.out.push(']');
        self.mask(d.usage_mask);
        if let Some(array) = d.array_id {
            let _ = write!(self.out, ", ARRAY({array})");
        }
        if d.local {
            self.part("LOCAL");
        }
        if let Some(semantic) = d.semantic {
            self.part(self.semantic(semantic.name));
            if semantic.index != 0 || matches!(semantic.name, Semantic::Generic | Semantic::TexCoord) {
                self.open(semantic.index);
                self.out.push(']');
            }
            if semantic.streams != [0; 4] {
                let [x, y, z, w] = semantic.streams;
                let _ = write!(self.out, ", STREAM({x}, {y}, {z}, {w})");
            }
        }
        if let Some(image) = d.image {
            self.part(image.target.name());
            self.format(image.format);
            if image.writable {
                self.part("WR");
            }
            if image.raw {
                self.part("RAW");
            }
        }
        if d.atomic && (d.file == File::Buffer || !mesa) {
            self.part("ATOMIC");
        }
        if d.file == File::Memory || (d.memory_type != MemoryType::Global && !mesa) {
            self.part(d.memory_type.name());
        }
        if let Some(view) = d.sampler_view {
            self.part(view.target.name());
            let [first, rest @ ..] = view.return_types;
            self.part(self.return_type(first));
            if rest != [first; 3] {
                for return_type in rest {
                    self.part(self.return_type(return_type));
                }
            }
        }
        if let Some(interpolation) = d.interpolation {
            if !mesa && d.semantic.is_none() && interpolation.mode == Interpolation::Color {
                self.part("INTERPOLATE(COLOR)");
            } else if !mesa || (processor == Processor::Fragment && d.file == File::Input) {
                self.part(interpolation.mode.name());
            }
            if interpolation.location != InterpolationLocation::Center {
                self.part(interpolation.location.name());
            }
        }
        if d.invariant {
            self.part("INVARIANT");
        }
    }

    fn immediate(&mut self, index: usize, immediate: &Immediate) {
        self.text("IMM");
        self.open(index as u32);
        self.text("] ");
        self.text(immediate.data_type.name());
        self.out.push(' ');
        let wide = immediate.data_type.is_64bit();
        if wide && immediate.words.len() % 2 == 1 && !self.options.mesa {
            self.text("WORDS {");
            for (position, word) in immediate.words.iter().enumerate() {
                let _ = write!(self.out, "{}0x{word:x}", if position == 0 { "" } else { ", " });
            }
            self.out.push('}');
            return;
        }
        self.out.push('{');
        let step = if wide { 2 } else { 1 };
        for (position, words) in immediate.words.chunks_exact(step).enumerate() {
            if position != 0 {
                self.text(", ");
            }
            let low = words.first().copied().unwrap_or(0);
            let value = (words.get(1).copied().unwrap_or(0) as u64) << 32 | low as u64;
            let (hex, mesa) = (self.options.hex_floats, self.options.mesa);
            match immediate.data_type {
                ImmediateType::Float32 if hex => drop(write!(self.out, "0x{low:08x}")),
                ImmediateType::Float32 if mesa => float::print_f32_fixed(&mut self.out, low),
                ImmediateType::Float32 => float::print_f32_exact(&mut self.out, low),
                ImmediateType::Float64 if mesa => float::print_f64_fixed(&mut self.out, value),
                ImmediateType::Float64 => float::print_f64_exact(&mut self.out, value),
                ImmediateType::Uint32 => self.number(low),
                ImmediateType::Int32 => self.number(low as i32),
                ImmediateType::Uint64 => self.number(value),
                ImmediateType::Int64 => self.number(value as i64),
            }
        }
        self.out.push('}');
    }

    fn property(&mut self, property: &Property) {
        self.text("PROPERTY ");
        self.text(property.name.name());
        if property.data.is_empty() && !self.options.mesa {
            self.text(" {}");
        }
        for (position, &value) in property.data.iter().enumerate() {
            self.text(if position == 0 { " " } else { ", " });
            match property.name.value_names().map(|names| names.get(value as usize)) {
                Some(Some(name)) => self.text(name),
                Some(None) => self.number(value),
                None => self.number(value as i32),
            }
        }
    }

    fn instruction(&mut self, i: &Instruction) {
        let info = i.opcode.info();
        self.text(info.name);
        if i.saturate {
            self.text("_SAT");
        }
        if i.precise {
            self.text("_PRECISE");
        }
        let mut separator = " ";
        for dst in &i.dst {
            self.text(separator);
            separator = ", ";
            self.register(&dst.register);
            self.mask(dst.write_mask);
        }
        for src in &i.src {
            self.text(separator);
            separator = ", ";
            if src.negate {
                self.out.push('-');
            }
            if src.absolute {
                self.out.push('|');
            }
            self.register(&src.register);
            if src.swizzle != [0, 1, 2, 3] {
                self.components(&src.swizzle);
            }
            if src.absolute {
                self.out.push('|');
            }
        }
        self.texture(i.opcode, i.texture.as_deref());
        self.memory(i.opcode, i.memory);
        if let Some(label) = i.label {
            let shown = info.is_branch || i.opcode == Opcode::Bgnsub || !self.options.mesa;
            if shown {
                self.text(" :");
                self.number(label);
            }
        }
    }

    fn texture(&mut self, opcode: Opcode, texture: Option<&InstructionTexture>) {
        let info = opcode.info();
        let mesa = self.options.mesa;
        let Some(texture) = texture else {
            if !mesa && (info.is_tex || info.is_sample_family) {
                self.part("NO_TEXTURE");
            }
            return;
        };
        if info.is_tex || (mesa && !info.is_sample_family) {
            self.part(texture.target.name());
        } else if !mesa && (!info.is_sample_family || texture.target != TextureTarget::Unknown) {
            self.part("TARGET(");
            self.text(texture.target.name());
            self.out.push(')');
        }
        for offset in &texture.offsets {
            self.part(offset.file.name());
            self.open(offset.index);
            self.out.push(']');
            self.components(&offset.swizzle);
        }
        if !mesa && texture.return_type != ReturnType::Unknown {
            self.part("RETURN(");
            self.text(texture.return_type.name());
            self.out.push(')');
        }
    }

    fn memory(&mut self, opcode: Opcode, memory: Option<InstructionMemory>) {
        let info = opcode.info();
        let Some(memory) = memory else {
            if !self.options.mesa && info.has_memory {
                self.part("NO_MEMORY");
            }
            return;
        };
        // The items of atomics imply the memory word.
        let implied = info.has_memory || (info.is_store && memory != InstructionMemory::default());
        if !self.options.mesa && !implied {
            self.part("WITH_MEMORY");
        }
        for (bit, name) in MemoryQualifiers::NAMES {
            if memory.qualifiers.contains(bit) {
                self.part(name);
            }
        }
        if memory.target != TextureTarget::Buffer {
            self.part(memory.target.name());
        }
        if memory.format != PixelFormat::NONE {
            self.format(memory.format);
        }
    }
}

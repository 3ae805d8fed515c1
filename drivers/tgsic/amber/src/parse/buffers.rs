//! Buffers, images, samplers, structs.

use tgsi_driver_cpu::sampler::{Compare, Filter, MipFilter, Sampler, WrapMode};

use super::Parser;
use crate::buffer::{Buffer, Dimension, MAX_BYTES, Value};
use crate::error::Refusal;
use crate::layout::{DataType, Layout, Member, Rules};
use crate::tokens::{Token, Tokens, integer, number};

/// Structs in structs.
const MAX_NESTING: usize = 6;
/// Most members of a struct, and most elements of one.
const MAX_MEMBERS: usize = 1 << 10;
const MAX_LENGTH: u32 = 1 << 14;
const MAX_LEVELS: u32 = 16;

impl<'s> Parser<'s> {
    /// Reads a type; returns it with its name.
    fn data_type(&mut self) -> Result<(DataType, bool, &'s str), Refusal> {
        let line = self.tokens.line();
        let name = self.tokens.word("a type")?;
        let (element, is_array) = name.strip_suffix("[]").map_or((name, false), |element| (element, true));
        let ty = self.types.get(element).cloned().or_else(|| DataType::from_name(element));
        Ok((ty.ok_or_else(|| Refusal::syntax(line, format!("there is no type {name}")))?, is_array, name))
    }

    fn rules(&mut self) -> Rules {
        if self.tokens.eat("STD140") {
            return Rules::Std140;
        }
        self.tokens.eat("STD430");
        Rules::Std430
    }

    /// Reads the type of a buffer.
    fn typed(&mut self, name: &str) -> Result<Buffer, Refusal> {
        let line = self.tokens.line();
        let (ty, is_array, type_name) = self.data_type()?;
        let rules = self.rules();
        let layout = Layout::new(&ty, is_array, rules);
        let layout = layout.ok_or_else(|| Refusal::command(line, format!("numbers in buffers of {type_name}")))?;
        Ok(Buffer::new(name, format!("{type_name} {rules:?}"), &ty, layout))
    }

    /// Reads the format of a buffer whose size is that of a framebuffer.
    fn formatted(&mut self, name: &str) -> Result<Buffer, Refusal> {
        let line = self.tokens.line();
        let (ty, _, type_name) = self.data_type()?;
        // Parts other than bytes have no numbers, only texels.
        let texel = |ty: &DataType| {
            let stride = ty.pixel_format()?.bytes;
            Some(Layout { segments: Vec::new(), stride })
        };
        let layout = Layout::new(&ty, false, Rules::Std430).or_else(|| texel(&ty));
        let layout = layout.ok_or_else(|| Refusal::syntax(line, format!("{type_name} is not a format")))?;
        Ok(Buffer::new(name, format!("{type_name} {:?}", Rules::Std430), &ty, layout))
    }

    pub(super) fn buffer(&mut self) -> Result<(), Refusal> {
        let line = self.tokens.line();
        let name = self.new_name("buffer")?;
        let mut buffer;
        match self.tokens.word("DATA_TYPE or FORMAT")? {
            "DATA_TYPE" => {
                buffer = self.typed(&name)?;
                match self.tokens.word("an initialiser")? {
                    "SIZE" => {
                        let count = self.tokens.integer("a size")?;
                        self.fill(&mut buffer, count as usize)?;
                    }
                    "WIDTH" => {
                        let width = self.tokens.integer("a width")?;
                        self.tokens.expect("HEIGHT")?;
                        let height = self.tokens.integer("a height")?;
                        self.fill(&mut buffer, (width as usize).saturating_mul(height as usize))?;
                        self.sized(&mut buffer, [width, height, 1], line)?;
                    }
                    "DATA" => self.data(&mut buffer)?,
                    other => return Err(Refusal::command(line, format!("BUFFER {other}"))),
                }
            }
            "FORMAT" => {
                buffer = self.formatted(&name)?;
                while let Some(word) = self.tokens.try_word() {
                    match word {
                        "MIP_LEVELS" => buffer.levels = self.levels()?,
                        "SAMPLES" => buffer.samples = self.samples()?,
                        other => return Err(Refusal::command(line, format!("BUFFER FORMAT {other}"))),
                    }
                }
            }
            other => return Err(Refusal::syntax(line, format!("expected DATA_TYPE or FORMAT, found {other}"))),
        }
        self.tokens.end_of_line("BUFFER")?;
        self.add_buffer(name, buffer, line)
    }

    pub(super) fn add_buffer(&mut self, name: String, buffer: Buffer, line: usize) -> Result<(), Refusal> {
        if self.names.buffers.insert(name.clone(), self.script.buffers.len()).is_some() {
            return Err(Refusal::syntax(line, format!("a second buffer {name}")));
        }
        self.script.buffers.push(buffer);
        Ok(())
    }

    fn levels(&mut self) -> Result<u32, Refusal> {
        Ok(self.tokens.integer("a number of levels")?.clamp(1, MAX_LEVELS))
    }

    fn samples(&mut self) -> Result<u32, Refusal> {
        let line = self.tokens.line();
        let samples = self.tokens.integer("a number of samples")?;
        match samples {
            1 | 2 | 4 | 8 | 16 | 32 | 64 => Ok(samples),
            _ => Err(Refusal::command(line, format!("SAMPLES {samples}"))),
        }
    }

    fn sized(&self, buffer: &mut Buffer, size: [u32; 3], line: usize) -> Result<(), Refusal> {
        if buffer.set_size(size) { Ok(()) } else { Err(Refusal::syntax(line, "the image is too large")) }
    }

    /// Reads an initialiser for a number of elements.
    fn fill(&mut self, buffer: &mut Buffer, count: usize) -> Result<(), Refusal> {
        let line = self.tokens.line();
        let numbers = count.checked_mul(buffer.layout.segments.len());
        let fits = count.checked_mul(buffer.layout.stride).is_some_and(|bytes| bytes <= MAX_BYTES);
        let numbers = numbers.filter(|_| fits).ok_or_else(|| Refusal::syntax(line, "the buffer is too large"))?;
        let encoding = buffer.layout.segments.first().map(|segment| segment.encoding);
        let is_float = encoding.is_some_and(|encoding| encoding.is_float());
        let wrong = |word: &str| Refusal::syntax(line, format!("expected a number, found {word}"));
        // A float fills integers by its integral part.
        let value = |word: &str| match integer(word) {
            Some(value) if !is_float => Ok(Value::Integer(value)),
            _ => number(word).map(Value::Float).ok_or_else(|| wrong(word)),
        };
        let values: Vec<Value> = match self.tokens.word("an initialiser")? {
            "FILL" => vec![value(self.tokens.word("a number")?)?; numbers],
            "SERIES_FROM" => {
                let first = value(self.tokens.word("a number")?)?;
                self.tokens.expect("INC_BY")?;
                let step = value(self.tokens.word("a number")?)?;
                let mut next = first;
                let mut all = Vec::with_capacity(numbers);
                for _ in 0..numbers {
                    all.push(next);
                    next = match (next, step) {
                        (Value::Integer(next), Value::Integer(step)) => Value::Integer(next.wrapping_add(step)),
                        (Value::Float(next), Value::Float(step)) => Value::Float(next + step),
                        (other, _) => other,
                    };
                }
                all
            }
            "FILE" => return self.file(buffer),
            other => return Err(Refusal::command(line, format!("BUFFER SIZE {other}"))),
        };
        self.written(buffer, &values, line)
    }

    fn written(&self, buffer: &mut Buffer, values: &[Value], line: usize) -> Result<(), Refusal> {
        let layout = buffer.layout.clone();
        if buffer.write(&layout, 0, values) { Ok(()) } else { Err(Refusal::syntax(line, "the buffer is too large")) }
    }

    fn file(&mut self, buffer: &mut Buffer) -> Result<(), Refusal> {
        let line = self.tokens.line();
        let kind = self.tokens.word("the kind of a file")?;
        let name = self.tokens.word("the name of a file")?;
        let bytes = (self.files)(name).ok_or_else(|| Refusal::syntax(line, format!("there is no file {name}")))?;
        match kind {
            "TEXT" => {
                let text = String::from_utf8_lossy(&bytes);
                let values = values(&mut Tokens::new(&text, 1), buffer)?;
                self.written(buffer, &values, line)
            }
            "BINARY" if bytes.len() <= MAX_BYTES => {
                buffer.bytes = bytes;
                Ok(())
            }
            other => Err(Refusal::command(line, format!("FILE {other}"))),
        }
    }

    /// Reads numbers until `END`.
    fn data(&mut self, buffer: &mut Buffer) -> Result<(), Refusal> {
        let line = self.tokens.line();
        let values = values(&mut self.tokens, buffer)?;
        self.tokens.expect("END")?;
        self.written(buffer, &values, line)
    }

    pub(super) fn image(&mut self) -> Result<(), Refusal> {
        let line = self.tokens.line();
        let name = self.new_name("image")?;
        let (mut levels, mut samples, mut size) = (1, 1, [1; 3]);
        let (mut dimension, mut image) = (Dimension::Two, None);
        while let Some(word) = self.tokens.peek_word() {
            if ["FILL", "SERIES_FROM", "DATA"].contains(&word) {
                break;
            }
            self.tokens.next();
            match word {
                "DATA_TYPE" => image = Some(self.typed(&name)?),
                "FORMAT" => image = Some(self.formatted(&name)?),
                "MIP_LEVELS" => levels = self.levels()?,
                "SAMPLES" => samples = self.samples()?,
                "DIM_1D" => dimension = Dimension::One,
                "DIM_2D" => dimension = Dimension::Two,
                "DIM_3D" => dimension = Dimension::Three,
                "WIDTH" => size[0] = self.tokens.integer("a width")?.max(1),
                "HEIGHT" => size[1] = self.tokens.integer("a height")?.max(1),
                "DEPTH" => size[2] = self.tokens.integer("a depth")?.max(1),
                other => return Err(Refusal::command(line, format!("IMAGE {other}"))),
            }
        }
        let mut image = image.ok_or_else(|| Refusal::syntax(line, "expected DATA_TYPE or FORMAT"))?;
        (image.levels, image.samples, image.dimension) = (levels, samples, dimension);
        self.sized(&mut image, size, line)?;
        let count = size.iter().fold(1usize, |count, side| count.saturating_mul(*side as usize));
        match self.tokens.peek_word() {
            None => {}
            Some("DATA") => {
                self.tokens.next();
                self.data(&mut image)?;
            }
            Some(_) => self.fill(&mut image, count)?,
        }
        self.tokens.end_of_line("IMAGE")?;
        self.add_buffer(name, image, line)
    }

    pub(super) fn sampler(&mut self) -> Result<(), Refusal> {
        let line = self.tokens.line();
        let name = self.new_name("sampler")?;
        let mut sampler = Sampler {
            min_filter: Filter::Nearest,
            mag_filter: Filter::Nearest,
            mip_filter: MipFilter::Nearest,
            wrap: [WrapMode::Repeat; 3],
            min_lod: 0.0,
            max_lod: 1.0,
            compare: Compare::Never,
            ..Sampler::default()
        };
        while let Some(word) = self.tokens.try_word() {
            match word {
                "MAG_FILTER" => sampler.mag_filter = self.filter()?,
                "MIN_FILTER" => sampler.min_filter = self.filter()?,
                "ADDRESS_MODE_U" => sampler.wrap[0] = self.wrap()?,
                "ADDRESS_MODE_V" => sampler.wrap[1] = self.wrap()?,
                "ADDRESS_MODE_W" => sampler.wrap[2] = self.wrap()?,
                "BORDER_COLOR" => {
                    let (zero, one) = (0, 1f32.to_bits());
                    sampler.border = match self.tokens.word("a colour")? {
                        "float_transparent_black" | "int_transparent_black" => [zero; 4],
                        "float_opaque_black" => [zero, zero, zero, one],
                        "float_opaque_white" => [one; 4],
                        "int_opaque_black" => [0, 0, 0, 1],
                        "int_opaque_white" => [1; 4],
                        other => return Err(Refusal::syntax(line, format!("there is no border colour {other}"))),
                    };
                }
                "MIN_LOD" => sampler.min_lod = self.tokens.float("a level")?,
                "MAX_LOD" => sampler.max_lod = self.tokens.float("a level")?,
                "NORMALIZED_COORDS" => sampler.unnormalized = false,
                "UNNORMALIZED_COORDS" => {
                    sampler.unnormalized = true;
                    (sampler.min_lod, sampler.max_lod) = (0.0, 0.0);
                }
                // Lookups say whether they compare.
                "COMPARE" => _ = self.tokens.switch("COMPARE")?,
                "COMPARE_OP" => sampler.compare = self.compare()?,
                other => return Err(Refusal::command(line, format!("SAMPLER {other}"))),
            }
        }
        self.tokens.end_of_line("SAMPLER")?;
        if self.names.samplers.insert(name.clone(), self.script.samplers.len()).is_some() {
            return Err(Refusal::syntax(line, format!("a second sampler {name}")));
        }
        self.script.samplers.push((name, sampler));
        Ok(())
    }

    fn filter(&mut self) -> Result<Filter, Refusal> {
        let line = self.tokens.line();
        match self.tokens.word("a filter")? {
            "nearest" => Ok(Filter::Nearest),
            "linear" => Ok(Filter::Linear),
            other => Err(Refusal::syntax(line, format!("there is no filter {other}"))),
        }
    }

    fn wrap(&mut self) -> Result<WrapMode, Refusal> {
        let line = self.tokens.line();
        match self.tokens.word("an address mode")? {
            "repeat" => Ok(WrapMode::Repeat),
            "mirrored_repeat" => Ok(WrapMode::MirroredRepeat),
            "clamp_to_edge" => Ok(WrapMode::ClampToEdge),
            "clamp_to_border" => Ok(WrapMode::ClampToBorder),
            "mirrored_clamp_to_edge" | "mirror_clamp_to_edge" => Ok(WrapMode::MirrorClampToEdge),
            other => Err(Refusal::syntax(line, format!("there is no address mode {other}"))),
        }
    }

    pub(super) fn compare(&mut self) -> Result<Compare, Refusal> {
        let line = self.tokens.line();
        match self.tokens.word("a comparison")? {
            "never" => Ok(Compare::Never),
            "less" => Ok(Compare::Less),
            "equal" => Ok(Compare::Equal),
            "less_or_equal" => Ok(Compare::LessOrEqual),
            "greater" => Ok(Compare::Greater),
            "not_equal" => Ok(Compare::NotEqual),
            "greater_or_equal" => Ok(Compare::GreaterOrEqual),
            "always" => Ok(Compare::Always),
            other => Err(Refusal::syntax(line, format!("there is no comparison {other}"))),
        }
    }

    pub(super) fn structure(&mut self) -> Result<(), Refusal> {
        let line = self.tokens.line();
        let name = self.new_name("struct")?;
        let stride = if self.tokens.eat("STRIDE") { Some(self.tokens.integer("a stride")?) } else { None };
        self.tokens.end_of_line("STRUCT")?;
        let mut members = Vec::new();
        while let Some(type_name) = self.tokens.block_word("STRUCT")? {
            let (element, length) = match type_name.strip_suffix(']').and_then(|rest| rest.split_once('[')) {
                Some((element, length)) => (element, length.parse().ok().filter(|length| *length <= MAX_LENGTH)),
                None => (type_name, None),
            };
            let ty = self.types.get(element).cloned().or_else(|| DataType::from_name(element));
            let is_known = length.is_some() || element == type_name;
            let ty = ty.filter(|ty| is_known && depth(ty) < MAX_NESTING && members.len() < MAX_MEMBERS);
            let line = self.tokens.line();
            let ty = ty.ok_or_else(|| Refusal::syntax(line, format!("there is no type {type_name} for a member")))?;
            self.tokens.word("the name of a member")?;
            let mut member = Member { ty, length, offset: None, array_stride: None, matrix_stride: None };
            while let Some(word) = self.tokens.try_word() {
                let value = Some(self.tokens.integer("a number of bytes")?);
                match word {
                    "OFFSET" => member.offset = value,
                    "ARRAY_STRIDE" => member.array_stride = value,
                    "MATRIX_STRIDE" => member.matrix_stride = value,
                    other => return Err(Refusal::command(line, format!("STRUCT {other}"))),
                }
            }
            members.push(member);
        }
        self.tokens.end_of_line("STRUCT")?;
        if self.types.insert(name.clone(), DataType::Struct { members, stride }).is_some() {
            return Err(Refusal::syntax(line, format!("a second type {name}")));
        }
        Ok(())
    }
}

/// Nesting of structs.
fn depth(ty: &DataType) -> usize {
    match ty {
        DataType::Struct { members, .. } => 1 + members.iter().map(|member| depth(&member.ty)).max().unwrap_or(0),
        DataType::Numbers { .. } | DataType::Texel(_) => 0,
    }
}

/// Reads numbers of elements, until `END` or the end.
fn values(tokens: &mut Tokens<'_>, buffer: &Buffer) -> Result<Vec<Value>, Refusal> {
    let segments = &buffer.layout.segments;
    let mut values = Vec::new();
    loop {
        let line = tokens.line();
        match tokens.peek() {
            None | Some(Token::Word("END")) => return Ok(values),
            Some(Token::EndOfLine) => {}
            Some(Token::Word(word)) => {
                let segment = segments.get(values.len() % segments.len().max(1));
                let value = segment.and_then(|segment| Value::parse(word, segment.encoding));
                values.push(value.ok_or_else(|| Refusal::syntax(line, format!("expected a number, found {word}")))?);
            }
        }
        tokens.next();
    }
}

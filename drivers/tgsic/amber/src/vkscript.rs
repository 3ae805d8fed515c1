//! The parser of VkScript, the older dialect: sections with shaders, vertices, and a test.

use tgsi_ir::shader::ShaderStage;

use crate::buffer::{Buffer, MAX_BYTES, Value};
use crate::compare::{Area, Relation, Tolerance};
use crate::error::Refusal;
use crate::layout::{DataType, Layout, Rules};
use crate::parse::{MAX_SIDE, in_clip_space, passthrough, rectangle_strip, stage_named};
use crate::script::{
    Attachment, Binding, BindingKind, BoundBuffer, ColorTarget, Command, Expectation, Language, Pipeline, Script,
    Shader, Shape, VertexData,
};
use crate::tokens::{Token, Tokens};
use tgsi_raster::primitives::Topology;

/// The number of the only pipeline.
const PIPELINE: usize = 0;
/// The format of the framebuffer unless the script requires another.
const FRAMEBUFFER_FORMAT: &str = "B8G8R8A8_UNORM";

/// A section: its title, the number of the line behind the title, and its text.
struct Section<'s> {
    title: &'s str,
    line: usize,
    text: &'s str,
}

fn sections(text: &str) -> Vec<Section<'_>> {
    let mut sections: Vec<Section<'_>> = Vec::new();
    let mut at = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let next = at + line.len();
        let title = line.trim().strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Some(title) = title {
            sections.push(Section { title, line: number + 1, text: "" });
        } else if let Some(last) = sections.last_mut() {
            let start = at - last.text.len();
            last.text = text.get(start..next).unwrap_or_default();
        }
        at = next;
    }
    sections
}

/// Reads a script.
pub(crate) fn parse(text: &str) -> Result<Script, Refusal> {
    let sections = sections(text);
    let is_compute = !sections.iter().any(|section| {
        let stage = section.title.split_once(" shader").and_then(|(stage, _)| stage_named(&stage.replace(' ', "_")));
        stage.is_some_and(|stage| stage != ShaderStage::Compute)
    });
    let mut parser = Parser {
        script: Script::default(),
        pipeline: Pipeline::new("pipeline", is_compute),
        environment: None,
        framebuffer: FRAMEBUFFER_FORMAT,
        depth_format: None,
        tolerances: Vec::new(),
    };
    for section in &sections {
        parser.section(section)?;
    }
    parser.finish()
}

struct Parser<'s> {
    script: Script,
    pipeline: Pipeline,
    /// The version of SPIR-V.
    environment: Option<&'static str>,
    framebuffer: &'s str,
    depth_format: Option<&'s str>,
    tolerances: Vec<Tolerance>,
}

impl<'s> Parser<'s> {
    fn section(&mut self, section: &Section<'s>) -> Result<(), Refusal> {
        let tokens = Tokens::new(section.text, section.line);
        match section.title {
            "require" => self.require(tokens),
            "vertex data" => self.vertex_data(tokens),
            "indices" => self.indices(tokens),
            "test" => self.test(tokens),
            title => self.shader(title, section),
        }
    }

    fn finish(mut self) -> Result<Script, Refusal> {
        if !self.pipeline.is_compute {
            let [width, height] = self.pipeline.size;
            if width.max(height) > MAX_SIDE || width.min(height) == 0 {
                return Err(Refusal::syntax(1, format!("a framebuffer of {width} x {height}")));
            }
            let color = self.attachment("framebuffer", self.framebuffer)?;
            self.pipeline.colors.push(ColorTarget { buffer: color, location: 0, level: 0 });
            if let Some(format) = self.depth_format {
                self.pipeline.depth_target = Some(self.attachment("depth_buffer", format)?);
            }
        }
        // Probes name the framebuffer before it exists.
        let color = self.pipeline.colors.first().map(|target| target.buffer);
        for (line, command) in &mut self.script.commands {
            if let Command::Expect(Expectation::Colors { buffer, .. }) = command {
                *buffer = color.ok_or_else(|| Refusal::syntax(*line, "there is no framebuffer"))?;
            }
        }
        self.script.pipelines.push(self.pipeline);
        Ok(self.script)
    }

    fn attachment(&mut self, name: &str, format: &str) -> Result<usize, Refusal> {
        let ty = DataType::from_name(format);
        let ty = ty.ok_or_else(|| Refusal::syntax(1, format!("there is no format {format}")))?;
        let stride = ty.pixel_format().map_or(0, |format| format.bytes);
        let layout = Layout::new(&ty, false, Rules::Std430).unwrap_or(Layout { segments: Vec::new(), stride });
        let mut buffer = Buffer::new(name, format.to_owned(), &ty, layout);
        let [width, height] = self.pipeline.size;
        if !buffer.set_size([width, height, 1]) {
            return Err(Refusal::syntax(1, "the framebuffer is too large"));
        }
        self.script.buffers.push(buffer);
        Ok(self.script.buffers.len() - 1)
    }

    fn shader(&mut self, title: &str, section: &Section<'s>) -> Result<(), Refusal> {
        let line = section.line.saturating_sub(1);
        let unknown = || Refusal::command(line, format!("[{title}]"));
        let (stage, form) = title.split_once(" shader").ok_or_else(unknown)?;
        let stage = stage_named(&stage.replace(' ', "_")).ok_or_else(unknown)?;
        let name = format!("shader {}", self.script.shaders.len());
        let language = match form.trim() {
            "passthrough" => None,
            "" => Some(Language::Glsl),
            "spirv" => Some(Language::SpirvAssembly),
            "spirv hex" => Some(Language::SpirvHex),
            _ => return Err(unknown()),
        };
        let environment = self.environment.map(str::to_owned);
        let shader = match language {
            None => passthrough(name, line),
            Some(language) => {
                Shader { name, line, stage: Some(stage), language, environment, text: section.text.to_owned() }
            }
        };
        let number = self.script.shaders.len();
        self.script.shaders.push(shader);
        self.pipeline.stages.retain(|known| known.stage != stage);
        let attachment = Attachment { line, shader: number, stage, entry: "main".to_owned(), constants: Vec::new() };
        self.pipeline.stages.push(attachment);
        Ok(())
    }

    fn require(&mut self, mut tokens: Tokens<'s>) -> Result<(), Refusal> {
        while let Some(word) = tokens.first_word() {
            match word {
                "fbsize" => self.pipeline.size = [tokens.integer("a width")?, tokens.integer("a height")?],
                "framebuffer" => self.framebuffer = tokens.word("a format")?,
                "depthstencil" => self.depth_format = Some(tokens.word("a format")?),
                "VK_KHR_spirv_1_4" => self.environment = Some("spv1.4"),
                // All features that drivers have are enabled.
                _ => while tokens.try_word().is_some() {},
            }
            tokens.end_of_line(word)?;
        }
        Ok(())
    }

    fn vertex_data(&mut self, mut tokens: Tokens<'s>) -> Result<(), Refusal> {
        let mut columns: Vec<(u32, DataType, Layout, Vec<Value>)> = Vec::new();
        let mut next = tokens.first_word();
        let line = tokens.line();
        while let Some(word) = next {
            let column = word.split_once('/').and_then(|(location, format)| {
                let ty = DataType::from_name(format)?;
                Some((location.parse().ok()?, ty.clone(), Layout::new(&ty, false, Rules::Std430)?, Vec::new()))
            });
            columns.push(column.ok_or_else(|| Refusal::command(line, format!("vertex data {word}")))?);
            next = tokens.try_word();
        }
        while let Some(mut word) = tokens.first_word() {
            let line = tokens.line();
            for (.., layout, values) in &mut columns {
                for segment in &layout.segments {
                    if word.is_empty() {
                        word = tokens.word("a number")?;
                    }
                    let value = Value::parse(word, segment.encoding);
                    values.push(value.ok_or_else(|| Refusal::syntax(line, format!("expected a number: {word}")))?);
                    word = "";
                }
            }
            tokens.end_of_line("a row")?;
        }
        for (location, ty, layout, values) in columns {
            let mut buffer = Buffer::new("vertices", String::new(), &ty, layout.clone());
            let format = buffer.format.clone().filter(|_| buffer.write(&layout, 0, &values));
            let format = format.ok_or_else(|| Refusal::syntax(line, "too many vertices"))?;
            let number = self.script.buffers.len();
            self.script.buffers.push(buffer);
            let stride = layout.stride;
            let data = VertexData { buffer: number, location, is_per_instance: false, format, offset: 0, stride };
            self.pipeline.vertex_data.push(data);
        }
        Ok(())
    }

    fn indices(&mut self, mut tokens: Tokens<'s>) -> Result<(), Refusal> {
        let mut values = Vec::new();
        while let Some(token) = tokens.peek() {
            match token {
                Token::EndOfLine => _ = tokens.next(),
                Token::Word(_) => values.push(Value::Integer(tokens.integer("an index")?.into())),
            }
        }
        let line = tokens.line();
        let number = self.buffer_of("uint32", "indices", line)?;
        if let Some(buffer) = self.script.buffers.get_mut(number) {
            let layout = buffer.layout.clone();
            buffer.write(&layout, 0, &values);
        }
        self.pipeline.indices = Some(number);
        Ok(())
    }

    /// Adds an empty buffer.
    fn buffer_of(&mut self, type_name: &str, name: &str, line: usize) -> Result<usize, Refusal> {
        let typed = DataType::from_name(type_name).and_then(|ty| {
            let layout = Layout::new(&ty, false, Rules::Std430)?;
            Some(Buffer::new(name, type_name.to_owned(), &ty, layout))
        });
        self.script.buffers.push(typed.ok_or_else(|| Refusal::syntax(line, "there is no such type"))?);
        Ok(self.script.buffers.len() - 1)
    }

    /// Returns the buffer of a descriptor, which is created.
    fn bound(&mut self, place: (u32, u32), kind: BindingKind, line: usize) -> Result<usize, Refusal> {
        let known = self.pipeline.bindings.iter().find(|binding| binding.place == place);
        if let Some(known) = known.and_then(|binding| binding.buffers.first()) {
            return Ok(known.buffer);
        }
        let number = self.buffer_of("uint8", &format!("buffer {}:{}", place.0, place.1), line)?;
        let bound = BoundBuffer { buffer: number, sampler: None, offset: 0, range: None, level: 0 };
        self.pipeline.bindings.push(Binding { place, kind, buffers: vec![bound] });
        Ok(number)
    }

    /// Adds memory to a buffer.
    fn reserve(&mut self, number: usize, bytes: usize, line: usize) -> Result<(), Refusal> {
        if bytes > MAX_BYTES {
            return Err(Refusal::syntax(line, "the buffer is too large"));
        }
        if let Some(buffer) = self.script.buffers.get_mut(number)
            && buffer.bytes.len() < bytes
        {
            buffer.bytes.resize(bytes, 0);
        }
        Ok(())
    }

    fn test(&mut self, mut tokens: Tokens<'s>) -> Result<(), Refusal> {
        while let Some(word) = tokens.first_word() {
            let line = tokens.line();
            if let Some(command) = self.command(word, &mut tokens)? {
                self.script.commands.push((line, command));
            }
            tokens.end_of_line(word)?;
        }
        Ok(())
    }

    fn command(&mut self, word: &'s str, tokens: &mut Tokens<'s>) -> Result<Option<Command>, Refusal> {
        let line = tokens.line();
        let command = match word {
            "clear" => match tokens.try_word() {
                None => Command::Clear(PIPELINE),
                Some("color") => {
                    let mut color = [0.0; 4];
                    for value in &mut color {
                        *value = tokens.float("a component")?;
                    }
                    Command::ClearColor(PIPELINE, color)
                }
                Some("depth") => Command::ClearDepth(PIPELINE, tokens.float("a depth")?),
                Some(other) => return Err(Refusal::command(line, format!("clear {other}"))),
            },
            "compute" if tokens.peek_word() != Some("entrypoint") => {
                let mut groups = [0; 3];
                for count in &mut groups {
                    *count = tokens.integer("a number of workgroups")?;
                }
                Command::Compute(PIPELINE, groups)
            }
            "draw" if tokens.eat("rect") => self.draw_rect(tokens)?,
            "draw" if tokens.eat("arrays") => draw_arrays(tokens)?,
            "patch" if tokens.eat("parameter") => {
                tokens.expect("vertices")?;
                self.pipeline.patch_vertices = tokens.integer("a number of vertices")?.clamp(1, 32);
                return Ok(None);
            }
            "tolerance" => {
                self.tolerances.clear();
                while let Some(word) = tokens.try_word() {
                    let (digits, is_percent) = word.strip_suffix('%').map_or((word, false), |digits| (digits, true));
                    let value = crate::tokens::number(digits);
                    let value = value.ok_or_else(|| Refusal::syntax(line, format!("expected a number: {word}")))?;
                    self.tolerances.push(Tolerance { value, is_percent });
                }
                return Ok(None);
            }
            "ssbo" => return self.storage(tokens),
            "uniform" => return self.uniform(tokens).map(Some),
            "probe" if tokens.eat("ssbo") => Command::Expect(self.probe_storage(tokens)?),
            "probe" => Command::Expect(self.probe(tokens, false)?),
            "relative" => {
                tokens.expect("probe")?;
                Command::Expect(self.probe(tokens, true)?)
            }
            _ => {
                let stage = if word == "tessellation" {
                    stage_named(&format!("tessellation_{}", tokens.word("a stage")?))
                } else {
                    stage_named(word)
                };
                match stage {
                    Some(stage) if tokens.eat("entrypoint") => {
                        Command::EntryPoint(PIPELINE, stage, tokens.word("an entry point")?.to_owned())
                    }
                    _ => return Err(Refusal::command(line, word)),
                }
            }
        };
        Ok(Some(command))
    }

    fn draw_rect(&mut self, tokens: &mut Tokens<'s>) -> Result<Command, Refusal> {
        let (mut is_ortho, mut topology) = (false, Topology::TriangleStrip);
        loop {
            if tokens.eat("ortho") {
                is_ortho = true;
            } else if tokens.eat("patch") {
                topology = Topology::PatchList;
            } else {
                break;
            }
        }
        let mut rectangle = [0.0; 4];
        for value in &mut rectangle {
            *value = tokens.float("a coordinate")?;
        }
        let [x, y, width, height] = rectangle;
        if is_ortho {
            rectangle = in_clip_space([x, y], [width, height], self.pipeline.size);
        }
        Ok(Command::Draw(PIPELINE, Shape::Positions(rectangle_strip(rectangle), topology)))
    }

    /// `ssbo [SET:]BINDING SIZE` or `ssbo [SET:]BINDING subdata TYPE OFFSET VALUES`.
    fn storage(&mut self, tokens: &mut Tokens<'s>) -> Result<Option<Command>, Refusal> {
        let line = tokens.line();
        let place = place(tokens)?;
        let buffer = self.bound(place, BindingKind::Storage, line)?;
        if tokens.eat("subdata") {
            return self.write(buffer, Rules::Std430, tokens).map(Some);
        }
        let bytes = tokens.integer("a size")? as usize;
        self.reserve(buffer, bytes, line)?;
        Ok(None)
    }

    /// `uniform ubo [SET:]BINDING TYPE OFFSET VALUES`, or `uniform TYPE OFFSET VALUES` for push constants.
    fn uniform(&mut self, tokens: &mut Tokens<'s>) -> Result<Command, Refusal> {
        let line = tokens.line();
        if tokens.eat("ubo") {
            let place = place(tokens)?;
            let buffer = self.bound(place, BindingKind::Uniform, line)?;
            return self.write(buffer, Rules::Std140, tokens);
        }
        let buffer = match self.pipeline.push_constants {
            Some(buffer) => buffer,
            None => self.buffer_of("uint8", "push constants", line)?,
        };
        self.pipeline.push_constants = Some(buffer);
        self.write(buffer, Rules::Std430, tokens)
    }

    /// The rest of a command that writes: a type, an offset, values.
    fn write(&mut self, buffer: usize, rules: Rules, tokens: &mut Tokens<'s>) -> Result<Command, Refusal> {
        let line = tokens.line();
        let layout = layout(tokens, rules)?;
        let offset = tokens.integer("an offset")? as usize;
        let values = values(tokens, &layout)?;
        let elements = values.len().div_ceil(layout.segments.len().max(1));
        let size = elements.saturating_mul(layout.stride).saturating_add(offset);
        self.reserve(buffer, size, line)?;
        Ok(Command::Write { buffer, layout, offset, values })
    }

    fn probe_storage(&mut self, tokens: &mut Tokens<'s>) -> Result<Expectation, Refusal> {
        let line = tokens.line();
        let layout = layout(tokens, Rules::Std430)?;
        let place = place(tokens)?;
        let known = self.pipeline.bindings.iter().find(|binding| binding.place == place);
        let buffer = known.and_then(|binding| Some(binding.buffers.first()?.buffer));
        let buffer = buffer.ok_or_else(|| Refusal::syntax(line, "there is no such buffer"))?;
        let offset = tokens.integer("an offset")? as usize;
        let name = tokens.word("a comparison")?;
        let relation = Relation::from_name(name);
        let relation = relation.ok_or_else(|| Refusal::command(line, format!("probe ssbo {name}")))?;
        let values = values(tokens, &layout)?;
        let tolerances = self.tolerances.clone();
        Ok(Expectation::Numbers { buffer, layout: Some(layout), offset, relation, tolerances, values })
    }

    fn probe(&mut self, tokens: &mut Tokens<'s>, is_relative: bool) -> Result<Expectation, Refusal> {
        let line = tokens.line();
        let is_all = tokens.eat("all");
        let is_rect = !is_all && tokens.eat("rect");
        let components = match tokens.word("rgb or rgba")? {
            "rgb" => 3,
            "rgba" => 4,
            other => return Err(Refusal::command(line, format!("probe {other}"))),
        };
        let mut numbers = Vec::new();
        while let Some(word) = tokens.try_word() {
            if !matches!(word, "(" | ")" | ",") {
                let number = crate::tokens::number(word);
                numbers.push(number.ok_or_else(|| Refusal::syntax(line, format!("expected a number: {word}")))?);
            }
        }
        let places = if is_all { 0 } else { 2 + 2 * usize::from(is_rect) };
        if numbers.len() != places + components {
            return Err(Refusal::syntax(line, format!("expected {} numbers", places + components)));
        }
        let values = numbers.split_off(places);
        let [width, height] = self.pipeline.size.map(f64::from);
        let pixel = |number: Option<&f64>, side: f64| number.map(|&at| if is_relative { at * side } else { at } as u32);
        let sides = [width, height, width, height];
        let mut places = numbers.iter().zip(sides).map(|(number, side)| pixel(Some(number), side));
        let mut next = || places.next().flatten();
        let area = match (next(), next()) {
            (Some(x), Some(y)) => Some(Area { corner: [x, y], size: [next().unwrap_or(1), next().unwrap_or(1)] }),
            _ => None,
        };
        Ok(Expectation::Colors { buffer: 0, area, values, tolerances: self.tolerances.clone() })
    }
}

fn draw_arrays(tokens: &mut Tokens<'_>) -> Result<Command, Refusal> {
    let line = tokens.line();
    let (mut is_indexed, mut is_instanced) = (false, false);
    loop {
        if tokens.eat("indexed") {
            is_indexed = true;
        } else if tokens.eat("instanced") {
            is_instanced = true;
        } else {
            break;
        }
    }
    let name = tokens.word("a topology")?;
    let topology = Topology::from_name(name.trim_start_matches("GL_"));
    let topology = topology.ok_or_else(|| Refusal::command(line, format!("draw arrays {name}")))?;
    let (first, count) = (tokens.integer("a vertex")?, Some(tokens.integer("a number of vertices")?));
    let instances =
        if is_instanced && tokens.peek_word().is_some() { tokens.integer("a number of instances")? } else { 1 };
    let shape = Shape::Arrays { topology, is_indexed, first, count, first_instance: 0, instances };
    Ok(Command::Draw(PIPELINE, shape))
}

/// `SET:BINDING` or `BINDING`.
fn place(tokens: &mut Tokens<'_>) -> Result<(u32, u32), Refusal> {
    let line = tokens.line();
    let word = tokens.word("a binding")?;
    let (set, binding) = word.split_once(':').unwrap_or(("0", word));
    let parsed = set.parse().ok().zip(binding.parse().ok());
    parsed.ok_or_else(|| Refusal::syntax(line, format!("expected a binding, found {word}")))
}

fn layout(tokens: &mut Tokens<'_>, rules: Rules) -> Result<Layout, Refusal> {
    let line = tokens.line();
    let name = tokens.word("a type")?;
    let layout = DataType::from_glsl_name(name).and_then(|ty| Layout::new(&ty, false, rules));
    layout.ok_or_else(|| Refusal::syntax(line, format!("there is no type {name}")))
}

fn values(tokens: &mut Tokens<'_>, layout: &Layout) -> Result<Vec<Value>, Refusal> {
    let line = tokens.line();
    let mut values = Vec::new();
    while let Some(word) = tokens.try_word() {
        let segment = layout.segments.get(values.len() % layout.segments.len().max(1));
        let value = segment.and_then(|segment| Value::parse(word, segment.encoding));
        values.push(value.ok_or_else(|| Refusal::syntax(line, format!("expected a number: {word}")))?);
    }
    Ok(values)
}

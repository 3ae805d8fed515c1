//! Pipelines.

use tgsi_ir::shader::ShaderStage;
use tgsi_raster::primitives::PolygonMode;

use super::{Parser, stage_named};
use crate::buffer::Buffer;
use crate::error::Refusal;
use crate::layout::{DataType, Layout, Rules};
use crate::script::{Attachment, ColorTarget, DepthBias, Pipeline, VertexData, ViewportState};
use crate::tokens::integer;

/// Largest side of a framebuffer.
pub(crate) const MAX_SIDE: u32 = 4096;
/// Most vertices of a patch.
const MAX_PATCH: u32 = 32;

/// The image that a pipeline without colour attachments draws on.
const FRAMEBUFFER: (&str, &str) = ("framebuffer", "B8G8R8A8_UNORM");

impl<'s> Parser<'s> {
    pub(super) fn pipeline(&mut self) -> Result<(), Refusal> {
        let line = self.tokens.line();
        let is_compute = match self.tokens.word("graphics or compute")? {
            "graphics" => false,
            "compute" => true,
            other => return Err(Refusal::command(line, format!("PIPELINE {other}"))),
        };
        let name = self.new_name("pipeline")?;
        self.tokens.end_of_line("PIPELINE")?;
        let pipeline = Pipeline::new(&name, is_compute);
        self.pipeline_body(pipeline, line)
    }

    pub(super) fn derived_pipeline(&mut self) -> Result<(), Refusal> {
        let line = self.tokens.line();
        let name = self.new_name("pipeline")?;
        self.tokens.expect("FROM")?;
        let parent = self.known_pipeline()?;
        self.tokens.end_of_line("DERIVE_PIPELINE")?;
        let parent = self.script.pipelines.get(parent).cloned();
        let parent = parent.ok_or_else(|| Refusal::syntax(line, "there is no such pipeline"))?;
        self.pipeline_body(Pipeline { name, ..parent }, line)
    }

    fn pipeline_body(&mut self, mut pipeline: Pipeline, line: usize) -> Result<(), Refusal> {
        while let Some(word) = self.tokens.block_word("PIPELINE")? {
            self.pipeline_command(&mut pipeline, word)?;
        }
        self.tokens.end_of_line("PIPELINE")?;
        if !pipeline.is_compute && pipeline.colors.is_empty() {
            let buffer = self.framebuffer(line)?;
            pipeline.colors.push(ColorTarget { buffer, location: 0, level: 0 });
        }
        self.add_pipeline(pipeline, line)
    }

    /// Adds a pipeline, and the memory of its attachments.
    fn add_pipeline(&mut self, pipeline: Pipeline, line: usize) -> Result<(), Refusal> {
        let [width, height] = pipeline.size;
        if !pipeline.is_compute && (width.max(height) > MAX_SIDE || width.min(height) == 0) {
            return Err(Refusal::syntax(line, format!("a framebuffer of {width} x {height}")));
        }
        let colors = pipeline.colors.iter().map(|target| (target.buffer, target.level));
        let others = pipeline.depth_target.iter().chain(&pipeline.resolves).map(|&buffer| (buffer, 0));
        for (buffer, level) in colors.chain(others) {
            let Some(buffer) = self.script.buffers.get_mut(buffer) else { continue };
            let size = [width << level.min(16), height << level.min(16), 1];
            if !buffer.set_size(size) {
                return Err(Refusal::syntax(line, "the framebuffer is too large"));
            }
        }
        if self.names.pipelines.insert(pipeline.name.clone(), self.script.pipelines.len()).is_some() {
            return Err(Refusal::syntax(line, format!("a second pipeline {}", pipeline.name)));
        }
        self.script.pipelines.push(pipeline);
        Ok(())
    }

    fn framebuffer(&mut self, line: usize) -> Result<usize, Refusal> {
        let (name, format) = FRAMEBUFFER;
        if let Some(&known) = self.names.buffers.get(name) {
            return Ok(known);
        }
        let buffer = DataType::from_name(format)
            .and_then(|ty| Some(Buffer::new(name, format.to_owned(), &ty, Layout::new(&ty, false, Rules::Std430)?)));
        let buffer = buffer.ok_or_else(|| Refusal::syntax(line, "there is no framebuffer"))?;
        self.add_buffer(name.to_owned(), buffer, line)?;
        Ok(self.script.buffers.len() - 1)
    }

    fn pipeline_command(&mut self, pipeline: &mut Pipeline, word: &'s str) -> Result<(), Refusal> {
        let line = self.tokens.line();
        match word {
            "ATTACH" => self.attach(pipeline)?,
            "BIND" => self.bind(pipeline)?,
            "FRAMEBUFFER_SIZE" => {
                pipeline.size = [self.tokens.integer("a width")?, self.tokens.integer("a height")?];
            }
            "VIEWPORT" => pipeline.viewport = Some(self.viewport()?),
            "VERTEX_DATA" => {
                let data = self.vertex_data()?;
                pipeline.vertex_data.retain(|known| known.location != data.location);
                pipeline.vertex_data.push(data);
            }
            "INDEX_DATA" => pipeline.indices = Some(self.known_buffer()?),
            "DEPTH" => self.depth(pipeline)?,
            "POLYGON_MODE" => {
                pipeline.polygon_mode = match self.tokens.word("a mode")? {
                    "fill" => PolygonMode::Fill,
                    "line" => PolygonMode::Line,
                    "point" => PolygonMode::Point,
                    other => return Err(Refusal::syntax(line, format!("there is no mode {other}"))),
                };
            }
            "PATCH_CONTROL_POINTS" => {
                pipeline.patch_vertices = self.tokens.integer("a number of vertices")?.clamp(1, MAX_PATCH);
            }
            "SUBGROUP" => self.subgroup()?,
            // Options for programs that are not used here.
            "SHADER_OPTIMIZATION" | "COMPILE_OPTIONS" => {
                self.tokens.word("the name of a shader")?;
                while self.tokens.block_word(word)?.is_some() {
                    while self.tokens.try_word().is_some() {}
                }
            }
            other => return Err(Refusal::command(line, other)),
        }
        self.tokens.end_of_line(word)
    }

    fn attach(&mut self, pipeline: &mut Pipeline) -> Result<(), Refusal> {
        let line = self.tokens.line();
        let number = self.known("shader", |names| &names.shaders)?;
        let of_shader = self.script.shaders.get(number).and_then(|shader| shader.stage);
        let stage = if self.tokens.eat("TYPE") {
            let kind = self.tokens.word("a stage")?;
            stage_named(kind).ok_or_else(|| Refusal::command(line, format!("ATTACH TYPE {kind}")))?
        } else {
            of_shader.ok_or_else(|| Refusal::syntax(line, "the module has several stages: expected TYPE"))?
        };
        if pipeline.is_compute != (stage == ShaderStage::Compute) {
            return Err(Refusal::syntax(line, "a shader for another kind of pipeline"));
        }
        let mut attachment =
            Attachment { line, shader: number, stage, entry: "main".to_owned(), constants: Vec::new() };
        while let Some(word) = self.tokens.try_word() {
            match word {
                "ENTRY_POINT" => attachment.entry = self.tokens.word("an entry point")?.to_owned(),
                "SPECIALIZE" => {
                    let id = self.tokens.integer("the number of a constant")?;
                    self.tokens.expect("AS")?;
                    let ty = self.tokens.word("a type")?;
                    let word = self.tokens.word("a value")?;
                    let bits = match ty {
                        "float" => crate::tokens::number(word).map(|value| (value as f32).to_bits()),
                        "int32" | "uint32" => integer(word).map(|value| value as u32),
                        other => return Err(Refusal::command(line, format!("SPECIALIZE AS {other}"))),
                    };
                    let bits = bits.ok_or_else(|| Refusal::syntax(line, format!("expected a value, found {word}")))?;
                    attachment.constants.push((id, bits));
                }
                other => return Err(Refusal::command(line, format!("ATTACH {other}"))),
            }
        }
        pipeline.stages.retain(|known| known.stage != stage);
        pipeline.stages.push(attachment);
        Ok(())
    }

    fn viewport(&mut self) -> Result<ViewportState, Refusal> {
        let line = self.tokens.line();
        let corner = [self.tokens.float("a coordinate")?, self.tokens.float("a coordinate")?];
        self.tokens.expect("SIZE")?;
        let size = [self.tokens.float("a width")?, self.tokens.float("a height")?];
        let mut depths = [0.0, 1.0];
        while let Some(word) = self.tokens.try_word() {
            match word {
                "MIN_DEPTH" => depths[0] = self.tokens.float("a depth")?,
                "MAX_DEPTH" => depths[1] = self.tokens.float("a depth")?,
                other => return Err(Refusal::command(line, format!("VIEWPORT {other}"))),
            }
        }
        Ok(ViewportState { corner, size, depths })
    }

    fn vertex_data(&mut self) -> Result<VertexData, Refusal> {
        let line = self.tokens.line();
        let number = self.known_buffer()?;
        self.tokens.expect("LOCATION")?;
        let location = self.tokens.integer("a location")?;
        let (mut is_per_instance, mut offset, mut stride, mut format) = (false, 0, None, None);
        while let Some(word) = self.tokens.try_word() {
            match word {
                "RATE" => is_per_instance = self.tokens.word("a rate")? == "instance",
                "OFFSET" => offset = self.tokens.integer("an offset")? as usize,
                "STRIDE" => stride = Some(self.tokens.integer("a stride")? as usize),
                "FORMAT" => {
                    let name = self.tokens.word("a format")?;
                    let known = DataType::from_name(name).and_then(|ty| ty.pixel_format());
                    format = Some(known.ok_or_else(|| Refusal::syntax(line, format!("there is no format {name}")))?);
                }
                other => return Err(Refusal::command(line, format!("VERTEX_DATA {other}"))),
            }
        }
        let buffer = self.script.buffers.get(number);
        let own = stride.or(format.as_ref().map(|format| format.bytes));
        let stride = own.or(buffer.map(|buffer| buffer.layout.stride)).unwrap_or(0);
        let format = format.or_else(|| buffer?.format.clone());
        let format = format.ok_or_else(|| Refusal::command(line, "VERTEX_DATA of matrices"))?;
        Ok(VertexData { buffer: number, location, is_per_instance, format, offset, stride })
    }

    fn depth(&mut self, pipeline: &mut Pipeline) -> Result<(), Refusal> {
        let state = &mut pipeline.depth;
        self.tokens.end_of_line("DEPTH")?;
        while let Some(word) = self.tokens.block_word("DEPTH")? {
            let line = self.tokens.line();
            match word {
                "TEST" => state.test = self.tokens.switch("TEST")?,
                "WRITE" => state.write = self.tokens.switch("WRITE")?,
                "CLAMP" => state.clamp = self.tokens.switch("CLAMP")?,
                "COMPARE_OP" => state.compare = self.compare()?,
                // Amber sets the bounds, but does not enable their test.
                "BOUNDS" => {
                    self.tokens.expect("min")?;
                    self.tokens.float("a depth")?;
                    self.tokens.expect("max")?;
                    self.tokens.float("a depth")?;
                }
                "BIAS" => {
                    let mut bias = DepthBias::default();
                    self.tokens.expect("constant")?;
                    bias.constant = self.tokens.float("a number")?;
                    self.tokens.expect("clamp")?;
                    bias.clamp = self.tokens.float("a number")?;
                    self.tokens.expect("slope")?;
                    bias.slope = self.tokens.float("a number")?;
                    state.bias = Some(bias);
                }
                other => return Err(Refusal::command(line, format!("DEPTH {other}"))),
            }
        }
        Ok(())
    }

    /// Reads requirements of subgroups.
    fn subgroup(&mut self) -> Result<(), Refusal> {
        self.tokens.word("the name of a shader")?;
        self.tokens.end_of_line("SUBGROUP")?;
        while let Some(word) = self.tokens.block_word("SUBGROUP")? {
            let line = self.tokens.line();
            match word {
                // Subgroups have one size, and are full if workgroups are multiples of it.
                "FULLY_POPULATED" | "VARYING_SIZE" => _ = self.tokens.switch(word)?,
                "REQUIRED_SIZE" => match self.tokens.word("a size")? {
                    "MIN" | "MAX" => {}
                    size if integer(size) == Some(tgsi_environment::SUBGROUP_SIZE as u64) => {}
                    size => return Err(Refusal::command(line, format!("SUBGROUP REQUIRED_SIZE {size}"))),
                },
                other => return Err(Refusal::command(line, format!("SUBGROUP {other}"))),
            }
        }
        Ok(())
    }
}

//! Bindings of buffers and samplers to pipelines.

use super::Parser;
use crate::error::Refusal;
use crate::script::{Binding, BindingKind, BoundBuffer, ColorTarget, Pipeline};

/// Most elements of a descriptor.
const MAX_ELEMENTS: usize = 1024;

impl<'s> Parser<'s> {
    pub(super) fn bind(&mut self, pipeline: &mut Pipeline) -> Result<(), Refusal> {
        let line = self.tokens.line();
        match self.tokens.word("BUFFER or SAMPLER")? {
            "BUFFER" => {
                let buffer = self.known_buffer()?;
                self.bind_buffers(pipeline, vec![buffer])
            }
            "BUFFER_ARRAY" => {
                let mut buffers = vec![self.known_buffer()?];
                while self.tokens.peek_word().is_some_and(|word| word != "AS") && buffers.len() < MAX_ELEMENTS {
                    buffers.push(self.known_buffer()?);
                }
                self.bind_buffers(pipeline, buffers)
            }
            "SAMPLER" => {
                let sampler = self.known("sampler", |names| &names.samplers)?;
                self.bind_samplers(pipeline, vec![sampler])
            }
            "SAMPLER_ARRAY" => {
                let mut samplers = vec![self.known("sampler", |names| &names.samplers)?];
                while self.tokens.peek_word().is_some_and(|word| word != "DESCRIPTOR_SET")
                    && samplers.len() < MAX_ELEMENTS
                {
                    samplers.push(self.known("sampler", |names| &names.samplers)?);
                }
                self.bind_samplers(pipeline, samplers)
            }
            other => Err(Refusal::command(line, format!("BIND {other}"))),
        }
    }

    /// Reads a set and a binding.
    fn place(&mut self) -> Result<(u32, u32), Refusal> {
        self.tokens.expect("DESCRIPTOR_SET")?;
        let set = self.tokens.integer("a set")?;
        self.tokens.expect("BINDING")?;
        Ok((set, self.tokens.integer("a binding")?))
    }

    fn bind_samplers(&mut self, pipeline: &mut Pipeline, samplers: Vec<usize>) -> Result<(), Refusal> {
        let place = self.place()?;
        pipeline.samplers.retain(|(known, _)| *known != place);
        pipeline.samplers.push((place, samplers));
        Ok(())
    }

    fn bind_buffers(&mut self, pipeline: &mut Pipeline, buffers: Vec<usize>) -> Result<(), Refusal> {
        let line = self.tokens.line();
        self.tokens.expect("AS")?;
        let first = buffers.first().copied().unwrap_or(0);
        let (mut is_dynamic, mut sampler) = (false, None);
        let kind = match self.tokens.word("a use")? {
            "color" => {
                self.tokens.expect("LOCATION")?;
                let location = self.tokens.integer("a location")?;
                let level = self.level()?;
                pipeline.colors.retain(|known| known.location != location);
                pipeline.colors.push(ColorTarget { buffer: first, location, level });
                return Ok(());
            }
            "depth_stencil" => {
                pipeline.depth_target = Some(first);
                return Ok(());
            }
            "push_constant" => {
                pipeline.push_constants = Some(first);
                return Ok(());
            }
            "resolve" => {
                pipeline.resolves.push(first);
                return Ok(());
            }
            "uniform" => BindingKind::Uniform,
            "storage" => BindingKind::Storage,
            "uniform_dynamic" => {
                is_dynamic = true;
                BindingKind::Uniform
            }
            "storage_dynamic" => {
                is_dynamic = true;
                BindingKind::Storage
            }
            "storage_image" => BindingKind::StorageImage,
            "sampled_image" => BindingKind::SampledImage,
            "combined_image_sampler" => {
                self.tokens.expect("SAMPLER")?;
                sampler = Some(self.known("sampler", |names| &names.samplers)?);
                BindingKind::CombinedImageSampler
            }
            "uniform_texel_buffer" => BindingKind::UniformTexelBuffer,
            "storage_texel_buffer" => BindingKind::StorageTexelBuffer,
            "input_attachment" => BindingKind::InputAttachment,
            other => return Err(Refusal::command(line, format!("BIND BUFFER AS {other}"))),
        };
        let place = self.place()?;
        let level = self.level()?;
        let mut bound: Vec<BoundBuffer> =
            buffers.iter().map(|&buffer| BoundBuffer { buffer, sampler, offset: 0, range: None, level }).collect();
        if is_dynamic {
            self.tokens.expect("OFFSET")?;
            for element in &mut bound {
                element.offset = self.tokens.integer("an offset")? as usize;
            }
        }
        if self.tokens.eat("DESCRIPTOR_OFFSET") {
            for element in &mut bound {
                element.offset += self.tokens.integer("an offset")? as usize;
            }
        }
        if self.tokens.eat("DESCRIPTOR_RANGE") {
            for element in &mut bound {
                element.range = Some(self.tokens.integer("a range")? as usize);
            }
        }
        pipeline.bindings.retain(|known| known.place != place);
        pipeline.bindings.push(Binding { place, kind, buffers: bound });
        Ok(())
    }

    fn level(&mut self) -> Result<u32, Refusal> {
        if self.tokens.eat("BASE_MIP_LEVEL") { self.tokens.integer("a level") } else { Ok(0) }
    }
}

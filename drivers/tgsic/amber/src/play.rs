//! The machine: commands change buffers, run pipelines, and check expectations.

use std::collections::HashMap;
use std::rc::Rc;

use tgsi_ir::shader::ShaderStage;
use tgsi_raster::Picture;
use tgsi_raster::format::PixelFormat;

use crate::assemble::Modules;
use crate::buffer::Buffer;
use crate::compare;
use crate::compute::dispatch;
use crate::error::{Refusal, RefusalKind};
use crate::graphics::Draw;
use crate::program::{Executor, Program};
use crate::resources::Registers;
use crate::script::{Attachment, Command, Expectation, Pipeline, Script, Shape};

/// An expectation that is not met.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The line in the script, from 1.
    pub line: usize,
    /// The expected and the found values.
    pub message: String,
}

/// The result of a script.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Expectations that are not met, in order.
    pub failures: Vec<Failure>,
    /// The number of expectations.
    pub expectations: usize,
    /// The buffers at the end.
    pub buffers: Vec<Buffer>,
    /// The number of the buffer that the last draw drew on.
    pub target: Option<usize>,
}

impl Outcome {
    /// The picture that was drawn last; `None` if nothing was drawn.
    pub fn picture(&self) -> Option<Picture> {
        let buffer = self.buffers.get(self.target?)?;
        let format = buffer.format.as_ref()?;
        let [width, height, _] = buffer.level_size(0);
        let mut picture = Picture::new((width, height), [0, 0, 0, 255]);
        let stride = buffer.layout.stride.max(1);
        let texels = buffer.bytes.chunks_exact(stride * buffer.samples as usize);
        for (pixel, texel) in picture.pixels.chunks_exact_mut(4).zip(texels) {
            for (byte, value) in pixel.iter_mut().zip(format.values(texel)) {
                *byte = value.map_or(*byte, |value| (value.clamp(0.0, 1.0) * 255.0).round() as u8);
            }
        }
        Some(picture)
    }
}

/// Plays a script.
///
/// # Errors
/// A shader cannot be compiled or run, or the script needs something that this crate lacks.
pub fn play(script: &Script, modules: &Modules, executor: Executor<'_>) -> Result<Outcome, Refusal> {
    let state = |pipeline: &Pipeline| State { pipeline: pipeline.clone(), color: [0.0; 4], depth: 1.0 };
    let mut player = Player {
        script,
        modules,
        executor,
        programs: HashMap::new(),
        states: script.pipelines.iter().map(state).collect(),
        buffers: script.buffers.clone(),
        failures: Vec::new(),
        expectations: 0,
        target: None,
    };
    player.commands(&script.commands)?;
    let Player { failures, expectations, buffers, target, .. } = player;
    Ok(Outcome { failures, expectations, buffers, target })
}

/// A pipeline, and the values to clear its attachments with.
struct State {
    pipeline: Pipeline,
    color: [f32; 4],
    depth: f32,
}

/// A stage of a pipeline with an entry point.
type ProgramKey = (usize, ShaderStage, String);

struct Player<'a> {
    script: &'a Script,
    modules: &'a Modules,
    executor: Executor<'a>,
    programs: HashMap<ProgramKey, Rc<Program>>,
    states: Vec<State>,
    buffers: Vec<Buffer>,
    failures: Vec<Failure>,
    expectations: usize,
    target: Option<usize>,
}

impl Player<'_> {
    fn commands(&mut self, commands: &[(usize, Command)]) -> Result<(), Refusal> {
        for (line, command) in commands {
            match command {
                Command::Repeat(count, commands) => {
                    for _ in 0..*count {
                        self.commands(commands)?;
                    }
                }
                Command::Expect(expectation) => {
                    self.expectations += 1;
                    if let Err(message) = self.check(expectation) {
                        self.failures.push(Failure { line: *line, message });
                    }
                }
                command => self.command(*line, command)?,
            }
        }
        Ok(())
    }

    fn command(&mut self, line: usize, command: &Command) -> Result<(), Refusal> {
        match command {
            &Command::ClearColor(pipeline, color) => self.state(pipeline, line)?.color = color,
            &Command::ClearDepth(pipeline, depth) => self.state(pipeline, line)?.depth = depth,
            &Command::Clear(pipeline) => self.clear(pipeline, line)?,
            Command::EntryPoint(pipeline, stage, name) => {
                let stages = &mut self.state(*pipeline, line)?.pipeline.stages;
                for attachment in stages.iter_mut().filter(|attachment| attachment.stage == *stage) {
                    attachment.entry.clone_from(name);
                }
            }
            &Command::Copy(from, to) => {
                let Some(bytes) = self.buffers.get(from).map(|buffer| buffer.bytes.clone()) else { return Ok(()) };
                if let Some(to) = self.buffers.get_mut(to) {
                    if to.bytes.len() != bytes.len() {
                        let sizes = format!("{} and {} bytes", bytes.len(), to.bytes.len());
                        return Err(Refusal::new(line, RefusalKind::Syntax, "COPY of buffers of two sizes", sizes));
                    }
                    to.bytes = bytes;
                }
            }
            Command::Write { buffer, layout, offset, values } => {
                if let Some(buffer) = self.buffers.get_mut(*buffer) {
                    buffer.write(layout, *offset, values);
                }
            }
            &Command::Compute(pipeline, groups) => {
                let [(_, program), ..] = self.programs_of(pipeline, line)?.try_into().map_or_else(
                    |_: Vec<_>| Err(Refusal::syntax(line, "the pipeline has no compute shader")),
                    |programs: [(ShaderStage, Rc<Program>); 1]| Ok(programs),
                )?;
                let state = self.states.get(pipeline).map(|state| &state.pipeline);
                let Some(state) = state else { return Ok(()) };
                let registers = Registers::new(&program, self.script, state, &self.buffers);
                dispatch(&program, &registers, groups, &mut self.buffers, line)?;
            }
            Command::Draw(pipeline, shape) => self.draw(*pipeline, shape, line)?,
            Command::Expect(_) | Command::Repeat(..) => {}
        }
        Ok(())
    }

    fn state(&mut self, pipeline: usize, line: usize) -> Result<&mut State, Refusal> {
        self.states.get_mut(pipeline).ok_or_else(|| Refusal::syntax(line, "there is no such pipeline"))
    }

    /// The shaders of a pipeline, compiled at their first use.
    fn programs_of(&mut self, pipeline: usize, line: usize) -> Result<Vec<(ShaderStage, Rc<Program>)>, Refusal> {
        let state = &self.state(pipeline, line)?.pipeline;
        let lengths = state.bindings.iter().filter(|binding| binding.buffers.len() > 1);
        let counts: Vec<(u32, u32, usize)> =
            lengths.map(|binding| (binding.place.0, binding.place.1, binding.buffers.len())).collect();
        let attachments: Vec<Attachment> = state.stages.clone();
        let mut programs = Vec::with_capacity(attachments.len());
        for attachment in attachments {
            let key = (pipeline, attachment.stage, attachment.entry.clone());
            let known = self.programs.get(&key).cloned();
            let program = match known {
                Some(program) => program,
                None => {
                    let module = self.modules.get(attachment.shader);
                    let module = module.ok_or_else(|| Refusal::syntax(line, "the shader has no module"))?;
                    let program = Rc::new(Program::new(self.executor, module, &attachment, &counts)?);
                    self.programs.insert(key, program.clone());
                    program
                }
            };
            programs.push((attachment.stage, program));
        }
        Ok(programs)
    }

    fn draw(&mut self, pipeline: usize, shape: &Shape, line: usize) -> Result<(), Refusal> {
        let programs = self.programs_of(pipeline, line)?;
        let Some(state) = self.states.get(pipeline) else { return Ok(()) };
        self.target = state.pipeline.colors.first().map(|color| color.buffer);
        let draw = Draw { script: self.script, pipeline: &state.pipeline, programs: &programs, line };
        draw.run(shape, &mut self.buffers)
    }

    fn clear(&mut self, pipeline: usize, line: usize) -> Result<(), Refusal> {
        let state = self.state(pipeline, line)?;
        let (color, depth) = (state.color, state.depth);
        let colors: Vec<(usize, u32)> = state.pipeline.colors.iter().map(|color| (color.buffer, color.level)).collect();
        let depth_target = state.pipeline.depth_target;
        for (buffer, level) in colors {
            let Some(buffer) = self.buffers.get_mut(buffer) else { continue };
            // The colour of images with integers has the bits of the floats, as the union of both in Vulkan has.
            let words = color.map(f32::to_bits);
            fill(buffer, level, words);
        }
        if let Some(buffer) = depth_target.and_then(|target| self.buffers.get_mut(target)) {
            fill(buffer, 0, [depth.to_bits(), 0, 0, 0]);
        }
        Ok(())
    }

    fn check(&self, expectation: &Expectation) -> Result<(), String> {
        let buffer = |number: usize| self.buffers.get(number).ok_or_else(|| "there is no buffer".to_owned());
        match expectation {
            Expectation::Numbers { buffer: number, layout, offset, relation, tolerances, values } => {
                let found = buffer(*number)?;
                let layout = layout.as_ref().unwrap_or(&found.layout);
                compare::numbers(found, layout, *offset, *relation, tolerances, values)
            }
            Expectation::Colors { buffer: number, area, values, tolerances } => {
                let found = buffer(*number)?;
                let [width, height, _] = found.level_size(0);
                let whole = compare::Area { corner: [0, 0], size: [width, height] };
                compare::colors(found, area.unwrap_or(whole), values, tolerances)
            }
            &Expectation::Bytes(a, b) => compare::bytes(buffer(a)?, buffer(b)?),
            &Expectation::RootMeanSquare(a, b, tolerance) => {
                compare::root_mean_square(buffer(a)?, buffer(b)?, tolerance)
            }
            &Expectation::Histograms(a, b, tolerance) => compare::histograms(buffer(a)?, buffer(b)?, tolerance),
        }
    }
}

/// Sets all texels of a level.
fn fill(buffer: &mut Buffer, level: u32, words: [u32; 4]) {
    let Some(format) = buffer.format.clone() else { return };
    let range = buffer.level_range(level);
    let stride = buffer.layout.stride.max(1);
    let texel = |bytes: &mut [u8], format: &PixelFormat| format.encode(words, bytes);
    if let Some(bytes) = buffer.bytes.get_mut(range) {
        bytes.chunks_exact_mut(stride).for_each(|bytes| texel(bytes, &format));
    }
}

//! Draws: vertices, tessellation, geometry, the rasteriser, fragments.
//!
//! Follows Vulkan: y points down in clip space, depths are between 0 and w, the first vertex of a primitive is
//! provoking. Primitives are drawn in order, and so are the effects of shaders on memory.

mod domain;
mod fragments;
mod geometry;
mod link;
mod primitives;
mod setup;
mod stage;
mod tessellation;
mod vertices;

use std::rc::Rc;

use tgsi_environment::sample_positions;
use tgsi_ir::shader::ShaderStage;

use crate::buffer::Buffer;
use crate::error::Refusal;
use crate::format::Encoding;
use crate::program::Program;
use crate::resources;
use crate::script::{Pipeline, Script, Shape, Topology};
use fragments::Fragments;
use link::{Link, Registers};
use primitives::Primitive;
use setup::Setup;
use stage::Stage;
use tessellation::Tessellation;
use vertices::Vertices;

/// The shaders of a draw.
pub(crate) struct Draw<'a> {
    pub script: &'a Script,
    pub pipeline: &'a Pipeline,
    /// The shaders, with their stages.
    pub programs: &'a [(ShaderStage, Rc<Program>)],
    /// The line of the command.
    pub line: usize,
}

impl Draw<'_> {
    fn stage(&self, stage: ShaderStage, buffers: &[Buffer]) -> Option<Stage<'_>> {
        let (_, program) = self.programs.iter().find(|(known, _)| *known == stage)?;
        let registers = resources::Registers::new(program, self.script, self.pipeline, buffers);
        Some(Stage::new(program, registers))
    }

    /// Draws.
    pub(crate) fn run(&self, shape: &Shape, buffers: &mut [Buffer]) -> Result<(), Refusal> {
        let line = self.line;
        let vertex = self.stage(ShaderStage::Vertex, buffers);
        let vertex = vertex.ok_or_else(|| Refusal::syntax(line, "the pipeline has no vertex shader"))?;
        let control = self.stage(ShaderStage::TessCtrl, buffers);
        let evaluation = self.stage(ShaderStage::TessEval, buffers);
        let geometry = self.stage(ShaderStage::Geometry, buffers);
        let fragment = self.stage(ShaderStage::Fragment, buffers);
        let tessellation = control.as_ref().zip(evaluation.as_ref()).map(|(c, e)| Tessellation::new(&vertex, c, e));

        let before_geometry = if tessellation.is_some() { evaluation.as_ref() } else { None }.unwrap_or(&vertex);
        let last = geometry.as_ref().unwrap_or(before_geometry);
        let to_geometry = geometry.as_ref().map(|stage| Link::new(&before_geometry.outputs, &stage.inputs, false));
        let info = &last.ir().info;
        let distances = [info.clip_distance_array_size, info.cull_distance_array_size].map(|count| count as usize);
        let inputs = fragment.as_ref().map_or(&[][..], |stage| &stage.inputs);
        let mut setup = Setup::new(self.pipeline, &last.outputs, distances, inputs, self.resolution(buffers));
        let mut fragments = Fragments::new(fragment.as_ref(), self.pipeline, self.script.limits_depths);
        let target = self.pipeline.colors.first().and_then(|color| buffers.get(color.buffer));
        let samples = target.map_or(1, |buffer| buffer.samples);

        let vertices = Vertices::new(shape, self.pipeline, buffers, line)?;
        let is_patch = vertices.topology == Topology::PatchList;
        if is_patch != tessellation.is_some() {
            return Err(Refusal::syntax(line, "patches need tessellation shaders, and these need patches"));
        }
        for instance in 0..vertices.instances() {
            let shaded = vertices.run(instance, &vertex, buffers)?;
            let patch = self.pipeline.patch_vertices as usize;
            let assembled = primitives::assemble(vertices.topology, shaded.len(), patch);
            let assembled = assembled
                .ok_or_else(|| Refusal::command(line, format!("RUN DRAW_ARRAY AS {:?}", vertices.topology)))?;
            // With several stages between vertices and rasteriser, all primitives of a stage precede those of the next.
            let mut done: (Vec<Registers>, Vec<Vec<usize>>) = (shaded, assembled);
            let mut topology = vertices.topology;
            if let Some(tessellation) = &tessellation {
                let mut tessellated = (Vec::new(), Vec::new());
                for (number, places) in (0..).zip(&done.1) {
                    let patch = at(&done.0, places);
                    tessellation.run(&patch, number, &mut tessellated, buffers)?;
                }
                let (all, primitives) = tessellated;
                topology = match primitives.first() {
                    Some(Primitive::Point(_)) => Topology::PointList,
                    Some(Primitive::Line(_)) => Topology::LineList,
                    _ => Topology::TriangleList,
                };
                done = (all, primitives.iter().map(places_of).collect());
            }
            let primitives: Vec<Primitive> = match (&geometry, &to_geometry) {
                (Some(stage), Some(link)) => {
                    let mut emitted = (Vec::new(), Vec::new());
                    for (number, places) in (0..).zip(&done.1) {
                        let vertices = at(&done.0, places);
                        geometry::run(stage, link, &vertices, number, &mut emitted, buffers)?;
                    }
                    done.0 = emitted.0;
                    emitted.1
                }
                _ => done.1.iter().filter_map(|places| primitives::primitive(topology, places)).collect(),
            };
            // Each sample is shaded.
            for sample in 0..samples {
                let position = sample_positions::sample_position(samples, sample);
                setup.set_sample(position);
                fragments.set_sample(sample, position);
                for (number, primitive) in (0..).zip(&primitives) {
                    for piece in setup.pieces(primitive, &done.0, number) {
                        fragments.draw(&piece, buffers)?;
                    }
                }
                fragments.flush(buffers)?;
            }
        }
        for (color, &target) in self.pipeline.colors.iter().zip(&self.pipeline.resolves) {
            resolve(color.buffer, target, buffers);
        }
        Ok(())
    }

    /// The difference of two depths in the depth attachment, if it has integers.
    fn resolution(&self, buffers: &[Buffer]) -> Option<f64> {
        let format = buffers.get(self.pipeline.depth_target?)?.format.as_ref()?;
        let part = format.part(crate::format::Channel::Depth)?;
        (part.encoding == Encoding::Unorm).then(|| 2f64.powi(-(part.bits as i32)))
    }
}

/// Writes the mean of the samples of a buffer to another; of integers the first sample.
fn resolve(from: usize, to: usize, buffers: &mut [Buffer]) {
    let Some(source) = buffers.get(from).cloned() else { return };
    let (Some(target), Some(format)) = (buffers.get_mut(to), &source.format) else { return };
    let (stride, samples) = (source.layout.stride.max(1), source.samples as usize);
    let texels = source.bytes.chunks_exact(stride * samples);
    for (texel, all) in target.bytes.chunks_exact_mut(target.layout.stride.max(1)).zip(texels) {
        let each: Vec<[u32; 4]> = all.chunks_exact(stride).map(|sample| format.decode(sample)).collect();
        let mean = |component: usize| {
            let sum: f32 = each.iter().map(|words| f32::from_bits(words[component])).sum();
            (sum / samples as f32).to_bits()
        };
        let first = each.first().copied().unwrap_or_default();
        let words = if format.is_integer() { first } else { [0, 1, 2, 3].map(mean) };
        if let Some(format) = &target.format {
            format.encode(words, texel);
        }
    }
}

fn places_of(primitive: &Primitive) -> Vec<usize> {
    match primitive {
        Primitive::Point(places) => places.to_vec(),
        Primitive::Line(places) => places.to_vec(),
        Primitive::Triangle(places) => places.to_vec(),
    }
}

/// The vertices at places.
fn at<'v>(vertices: &'v [Registers], places: &[usize]) -> Vec<&'v Registers> {
    places.iter().filter_map(|&place| vertices.get(place)).collect()
}

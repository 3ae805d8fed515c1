//! Draws: vertices, tessellation, geometry, the rasteriser, fragments.
//!
//! Follows Vulkan: y points down in clip space, depths are between 0 and w, the first vertex of a primitive is
//! provoking. Primitives are drawn in order, and so are the effects of shaders on memory.

mod fragments;
mod geometry;
mod link;
mod setup;
mod stage;
mod tessellation;
mod vertices;

use std::rc::Rc;

use tgsi_environment::{Inputs, sample_positions};
use tgsi_ir::shader::ShaderStage;
use tgsi_raster::format::Encoding;
use tgsi_raster::primitives::{Provoking, Topology};
use tgsi_raster::stages;

use crate::buffer::Buffer;
use crate::error::Refusal;
use crate::program::Program;
use crate::resources;
use crate::script::{Pipeline, Script, Shape};
use fragments::Fragments;
use setup::Setup;
use stage::Stage;
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
        let tessellation =
            control.as_ref().zip(evaluation.as_ref()).map(|(c, e)| tessellation::tessellation(&vertex, c, e));

        let before_geometry = if tessellation.is_some() { evaluation.as_ref() } else { None }.unwrap_or(&vertex);
        let last = geometry.as_ref().unwrap_or(before_geometry);
        let to_geometry = geometry.as_ref().map(|stage| geometry::geometry(before_geometry, stage));
        let info = &last.ir().info;
        let distances = [info.clip_distance_array_size, info.cull_distance_array_size].map(|count| count as usize);
        let inputs = fragment.as_ref().map_or(&[][..], |stage| &stage.inputs);
        let mut setup = Setup::new(self.pipeline, &last.outputs, distances, inputs, self.resolution(buffers));
        let mut fragments = Fragments::new(fragment.as_ref(), self.pipeline, self.script.limits_depths);
        let target = self.pipeline.colors.first().and_then(|color| buffers.get(color.buffer));
        let samples = target.map_or(1, |buffer| buffer.samples);

        let vertices = Vertices::new(shape, self.pipeline, buffers, line)?;
        let stages = stages::Pipeline {
            topology: vertices.topology,
            patch_vertices: self.pipeline.patch_vertices as usize,
            provoking: Provoking::First,
            tessellation,
            geometry: to_geometry,
        };
        let is_patch = vertices.topology == Topology::PatchList;
        if is_patch != stages.tessellation.is_some() {
            return Err(Refusal::syntax(line, "patches need tessellation shaders, and these need patches"));
        }
        for instance in 0..vertices.instances() {
            let shaded = vertices.run(instance, &vertex, buffers)?;
            let mut run = |stage: stages::Stage, inputs: &mut Inputs| {
                let stage = match stage {
                    stages::Stage::Control => control.as_ref(),
                    stages::Stage::Evaluation => evaluation.as_ref(),
                    stages::Stage::Geometry => geometry.as_ref(),
                };
                stage.unwrap_or(&vertex).run(inputs, buffers)
            };
            let (processed, primitives) = stages.run(shaded, &mut run)?;
            // Each sample is shaded.
            for sample in 0..samples {
                let position = sample_positions::sample_position(samples, sample);
                setup.set_sample(position);
                fragments.set_sample(sample, position);
                for (number, primitive) in &primitives {
                    for piece in setup.pieces(primitive, &processed, *number) {
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
        let part = format.part(tgsi_raster::format::Channel::Depth)?;
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

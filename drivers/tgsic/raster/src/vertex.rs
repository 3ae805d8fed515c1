//! The vertex stage: a shader, or the built-in one, which forwards the attributes of the mesh.
//!
//! Keeps the position, clip distances, and the outputs that the fragment shader reads by semantic.

use tgsi::Shader;
use tgsi::tables::{File, PropertyName, Semantic};
use tgsi_driver_cpu::Shared;
use tgsi_environment::SystemValue;
use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, Vec4};

use crate::clip::{MAX_DISTANCES, ShadedVertex};
use crate::interface::{Slot, find, slots};
use crate::mesh::{Attribute, Vertex};
use crate::scene::{FixedFunctions, Scene, SceneShader, VertexInput};
use crate::stages::Registers;
use crate::texture::units;

/// The value of fragment inputs that were not written.
const UNWRITTEN: [f32; 4] = [0.0, 0.0, 0.0, 1.0];

/// Processes the vertices of the scene's mesh; returns them with values for the slots of the fragment shader.
///
/// # Errors
/// A run of the shader failed.
pub(crate) fn process(scene: &Scene<'_>, fragment_slots: &[Slot]) -> Result<Vec<ShadedVertex>, String> {
    let vertices = &scene.mesh.vertices;
    match &scene.vertex {
        None => Ok(vertices.iter().map(|vertex| built_in(vertex, fragment_slots)).collect()),
        Some(stage) => {
            let mut result = Vec::with_capacity(vertices.len());
            for (number, batch) in vertices.chunks(MAX_LANES).enumerate() {
                result.extend(run(scene, stage, fragment_slots, number * MAX_LANES, batch)?);
            }
            Ok(result)
        }
    }
}

/// The built-in vertex shader: the position is that of the mesh, coordinates and colours are matched by name, and
/// generic varyings are texture coordinates, normal and position, cyclically in this order.
fn built_in(vertex: &Vertex, fragment_slots: &[Slot]) -> ShadedVertex {
    let value = |slot: &Slot| match slot.semantic {
        Semantic::Color | Semantic::BackColor => vertex.get(Attribute::Color),
        Semantic::Normal => vertex.get(Attribute::Normal),
        Semantic::TexCoord => vertex.get(Attribute::TextureCoordinate),
        Semantic::Generic => match slot.index % 3 {
            0 => vertex.get(Attribute::TextureCoordinate),
            1 => vertex.get(Attribute::Normal),
            _ => vertex.get(Attribute::Position),
        },
        _ => UNWRITTEN,
    };
    ShadedVertex {
        position: vertex.get(Attribute::Position),
        distances: [0.0; MAX_DISTANCES],
        varyings: fragment_slots.iter().map(value).collect(),
    }
}

/// The inputs of a run of the vertex shader for vertices that are numbered from `base`.
pub fn vertex_inputs(sources: &[VertexInput], batch: &[Vertex], base: usize) -> Inputs {
    let lanes = batch.len();
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, sources.len()), ..Inputs::default() };
    for (register, input) in sources.iter().enumerate() {
        let words: Vec<[u32; 4]> =
            batch.iter().zip(base..).map(|(vertex, number)| input.words(vertex, number)).collect();
        inputs.inputs.set_lanes(register, &words, |words| *words);
    }
    let numbers: Vec<u32> = (0..lanes).map(|lane| (base + lane) as u32).collect();
    for value in [SystemValue::VertexId, SystemValue::VertexIdZeroBase] {
        inputs.system_values.insert(value, vec![numbers.clone()]);
    }
    inputs
}

fn run(
    scene: &Scene<'_>,
    stage: &SceneShader<'_>,
    fragment_slots: &[Slot],
    base: usize,
    batch: &[Vertex],
) -> Result<Vec<ShadedVertex>, String> {
    let lanes = batch.len();
    let mut inputs = vertex_inputs(scene.inputs, batch, base);
    inputs.constants = stage.constants.to_vec();
    let outputs = (stage.run)(&inputs, &mut Shared(&units(stage.textures)))?.outputs;

    let shading = Shading::new(stage.source, scene.fixed_functions, fragment_slots);
    let read = |lane: usize| {
        let outputs = &outputs;
        move |register: usize| std::array::from_fn(|component| outputs.get(register, component, lane))
    };
    Ok((0..lanes).map(|lane| shading.vertex(&read(lane))).collect())
}

/// The outputs of a stage that the rasteriser needs.
pub(crate) struct Shading<'a> {
    position: Option<usize>,
    /// The size of points.
    pub size: Option<usize>,
    /// The number of the primitive.
    pub primitive: Option<usize>,
    clip_registers: [Option<usize>; 2],
    clip_vertex: Option<usize>,
    num_distances: usize,
    /// Cull distances follow clip distances.
    num_culls: usize,
    fixed_functions: &'a FixedFunctions,
    /// By input of the fragment shader: the output, and whether it is a colour.
    sources: Vec<(Option<usize>, bool)>,
}

impl<'a> Shading<'a> {
    /// The outputs of a shader for the inputs of the fragment shader.
    pub(crate) fn new(source: &Shader, fixed_functions: &'a FixedFunctions, fragment_slots: &[Slot]) -> Shading<'a> {
        let declared = slots(source, File::Output);
        let register = |semantic, index| find(&declared, semantic, index).map(usize::from);
        let position = register(Semantic::Position, 0);
        let is_color = |slot: &Slot| {
            fixed_functions.clamps_colors && matches!(slot.semantic, Semantic::Color | Semantic::BackColor)
        };
        Shading {
            position,
            size: register(Semantic::PointSize, 0),
            primitive: register(Semantic::PrimitiveId, 0),
            clip_registers: [0, 1].map(|index| register(Semantic::ClipDistance, index)),
            clip_vertex: register(Semantic::ClipVertex, 0).or(position),
            num_distances: source.property(PropertyName::NumClipdistEnabled).map_or(MAX_DISTANCES, |n| n as usize),
            num_culls: source.property(PropertyName::NumCulldistEnabled).unwrap_or(0) as usize,
            fixed_functions,
            sources: fragment_slots.iter().map(|slot| (register(slot.semantic, slot.index), is_color(slot))).collect(),
        }
    }

    /// Whether a cull distance is negative at all vertices of a primitive.
    pub(crate) fn is_culled(&self, vertices: &[&Registers]) -> bool {
        let first = if self.num_culls == 0 { MAX_DISTANCES } else { self.num_distances };
        (first..MAX_DISTANCES.min(first + self.num_culls)).any(|at| {
            let register = self.clip_registers[at / 4];
            let distance = |registers: &&Registers| {
                let words = register.and_then(|register| registers.get(register));
                words.map_or(0.0, |words| f32::from_bits(words[at % 4]))
            };
            !vertices.is_empty() && vertices.iter().all(|registers| distance(registers) < 0.0)
        })
    }

    /// The vertex with these output registers.
    pub(crate) fn vertex(&self, words: &dyn Fn(usize) -> Vec4) -> ShadedVertex {
        let read = |register: usize| words(register).map(f32::from_bits);
        let mut distances = [0.0; MAX_DISTANCES];
        for (at, distance) in distances.iter_mut().enumerate().take(self.num_distances) {
            let plane = || {
                let (plane, register) =
                    (self.fixed_functions.clip_planes.get(at).copied().flatten()?, self.clip_vertex?);
                Some(plane.iter().zip(read(register)).map(|(factor, value)| factor * value).sum())
            };
            let is_ignored = self.fixed_functions.ignored_distances >> at & 1 != 0;
            let written = self.clip_registers[at / 4].map(|register| read(register)[at % 4]);
            let written = written.map(|written| if is_ignored { 0.0 } else { written });
            *distance = written.or_else(plane).unwrap_or(0.0);
        }
        let varying = |&(register, is_color): &(Option<usize>, bool)| {
            let value = register.map_or(UNWRITTEN, read);
            if is_color { value.map(|value| value.clamp(0.0, 1.0)) } else { value }
        };
        ShadedVertex {
            position: self.position.map_or(UNWRITTEN, read),
            distances,
            varyings: self.sources.iter().map(varying).collect(),
        }
    }
}

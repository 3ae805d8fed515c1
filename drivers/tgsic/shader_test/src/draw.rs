//! Draws: the inputs, constants and textures of the shaders, and their runs.

use std::collections::BTreeMap;
use std::sync::Mutex;

use tgsi::tables::PropertyName;
use tgsi_compiler::front_end::Interface;
use tgsi_driver_cpu::Shared;
use tgsi_environment::{Inputs, LaneRegisters, MAX_LANES, Outputs, Resources, SystemValue};
use tgsi_ir::slots::VertAttrib;
use tgsi_raster::between::{Between, PatchState};
use tgsi_raster::mesh::Vertex;
use tgsi_raster::primitives::Topology;
use tgsi_raster::setup::{Units, units, vertex_inputs};
use tgsi_raster::stages::{Registers, Stage, registers_of_lanes};
use tgsi_raster::workgroups::Workgroups;
use tgsi_raster::{FixedFunctions, Processed, SceneShader, Texture, VertexInput};

use crate::command::{Arrays, Rectangle};
use crate::framebuffer::{self, Framebuffer};
use crate::matrices::{Matrix, inverse, transpose};
use crate::memory;
use crate::play::{Loaded, Player, TestShader};
use crate::stream_output::StreamCommand;
use crate::vertex_data::VertexData;

/// The values of an attribute with a name or location: for each of its registers the words of all vertices.
type Attributes<'a> = dyn Fn(&str, Option<u32>) -> Option<Vec<Vec<[u32; 4]>>> + 'a;

/// A shader of a draw.
struct Prepared<'a> {
    shader: &'a TestShader<'a>,
    constants: Vec<Vec<u32>>,
    units: Units,
}

/// The most vertices of a draw without attributes.
const MAX_VERTICES: usize = 1 << 16;

/// A vertex, whose attributes are inputs of the shader.
const VERTEX: Vertex = Vertex { attributes: [[0.0; 4]; 4] };

/// The values of an attribute in the section of vertices, whose columns have names or locations.
fn vertex_data(data: &VertexData, name: &str, location: Option<u32>) -> Option<Vec<Vec<[u32; 4]>>> {
    let number = location.map(|location| location.to_string());
    let same = if name == "gl_Vertex" { "piglit_vertex" } else { name };
    let names = [Some(name), Some(same), number.as_deref()];
    let values = names.into_iter().flatten().map(|name| data.get(name)).find(|values| !values.is_empty())?;
    Some(values.into_iter().map(<[_]>::to_vec).collect())
}

impl Player<'_> {
    pub(crate) fn draw_rect(&mut self, rectangle: &Rectangle) -> Result<(), String> {
        let [mut x, mut y, mut width, mut height] = rectangle.area;
        if rectangle.is_ortho {
            let [across, up] = [self.picture.size.0, self.picture.size.1].map(|side| side as f32);
            [x, y, width, height] =
                [x / across * 2.0 - 1.0, y / up * 2.0 - 1.0, 2.0 * width / across, 2.0 * height / up];
        }
        let [s, t, across, up] = rectangle.coordinates;
        let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
        let positions = corners.map(|[u, v]| [x + u * width, y + v * height, 0.0, 1.0].map(f32::to_bits));
        let coordinates = corners.map(|[u, v]| [s + u * across, t + v * up, 0.0, 1.0].map(f32::to_bits));
        // Attributes with these names have the first two locations.
        let (mut has_position, mut has_coordinate) = (false, false);
        for input in self.vertex.iter().flat_map(|vertex| &vertex.shader.names.inputs) {
            has_position |= matches!(input.name.as_str(), "gl_Vertex" | "piglit_vertex");
            has_coordinate |= matches!(input.name.as_str(), "gl_MultiTexCoord0" | "piglit_texcoord");
        }
        let attributes = |name: &str, location: Option<u32>| match (name, location) {
            ("gl_Vertex" | "piglit_vertex", _) => Some(vec![positions.to_vec()]),
            ("gl_MultiTexCoord0" | "piglit_texcoord", _) => Some(vec![coordinates.to_vec()]),
            (_, Some(0)) if !has_position => Some(vec![positions.to_vec()]),
            (_, Some(1)) if !has_coordinate => Some(vec![coordinates.to_vec()]),
            _ => None,
        };
        let (topology, patch) = match rectangle.is_patch {
            true => (Topology::PatchList, PatchState { vertices: corners.len(), ..self.patch }),
            false => (Topology::TriangleStrip, self.patch),
        };
        let arrays = Arrays { topology, first: 0, count: corners.len(), instances: rectangle.instances };
        self.draw(&arrays, &patch, &attributes)
    }

    pub(crate) fn draw_arrays(&mut self, arrays: &Arrays) -> Result<(), String> {
        let data = &self.script.vertices;
        let patch = self.patch;
        // Without a section, vertices differ by their numbers.
        let rows = if data.rows() == 0 { MAX_VERTICES } else { data.rows() };
        if arrays.first.checked_add(arrays.count).is_none_or(|last| last > rows) {
            return Err(format!("there are {rows} vertices"));
        }
        self.draw(arrays, &patch, &|name, location| vertex_data(data, name, location))
    }

    /// Draws vertices whose attributes are those of `attributes`, or the current ones.
    fn draw(&mut self, arrays: &Arrays, patch: &PatchState, attributes: &Attributes<'_>) -> Result<(), String> {
        let (Some(vertex), Some(fragment)) = (&self.vertex, &self.fragment) else {
            return Err("a draw needs a vertex and a fragment shader".to_owned());
        };
        let loaded = [Some(vertex), self.control.as_ref(), self.evaluation.as_ref(), self.geometry.as_ref()];
        let [_, control, evaluation, geometry] = loaded.map(|loaded| loaded.map(|loaded| loaded.shader.source));
        let between = Between { vertex: vertex.shader.source, control, evaluation, geometry };
        if (arrays.topology == Topology::PatchList) != evaluation.is_some() {
            return Err("patches need tessellation shaders, and these need patches".to_owned());
        }
        let pipeline = between.pipeline(arrays.topology, patch);
        let sources = self.inputs(vertex, attributes);
        let memory = Mutex::new(self.memory.clone());
        let prepared = loaded.map(|loaded| loaded.map(|loaded| self.prepared(loaded)));
        let run = |stage: usize, inputs: &mut Inputs| -> Result<Outputs, String> {
            let stage = prepared.get(stage).and_then(Option::as_ref).ok_or("the pipeline has no such stage")?;
            inputs.constants.clone_from(&stage.constants);
            memory::run(stage.shader, &memory, inputs, &mut Shared(&stage.units))
        };
        let constants = self.constants_of(fragment);
        let textures = self.textures_of(fragment.shader.names);
        let run_fragment =
            |inputs: &Inputs, resources: &mut dyn Resources| memory::run(&fragment.shader, &memory, inputs, resources);
        let changes_memory = memory::has_memory(fragment.shader.names);
        let is_early = fragment.shader.source.property(PropertyName::FsEarlyDepthStencil) == Some(1);
        let fragment = SceneShader {
            source: fragment.shader.source,
            run: &run_fragment,
            constants: &constants,
            textures: &textures,
        };
        let planes = self.planes.iter().enumerate().filter(|(_, (is_enabled, _))| !is_enabled);
        let fixed_functions = FixedFunctions {
            // Textures have no depth.
            ignores_depth: !self.tests_depth || self.framebuffer != Framebuffer::Window,
            tests_late: changes_memory && !is_early,
            polygon_mode: self.polygon_mode,
            clamps_colors: true,
            clip_planes: self.clip_planes(),
            ignored_distances: planes.fold(0, |all, (number, _)| all | 1 << number),
        };
        let targets = self.framebuffer.targets(&self.memory);
        let (is_layered, picture) = (self.framebuffer.is_layered(), &mut self.picture);
        let mut errors = Vec::new();
        for instance in 0..arrays.instances {
            let mut shaded: Vec<Registers> = Vec::with_capacity(arrays.count);
            for start in (0..arrays.count).step_by(MAX_LANES) {
                let lanes = (arrays.count - start).min(MAX_LANES);
                let mut inputs = vertex_inputs(&sources, &vec![VERTEX; lanes], arrays.first + start);
                inputs.system_values.insert(SystemValue::InstanceId, vec![vec![instance; lanes]]);
                let outputs = run(0, &mut inputs)?;
                shaded.extend(registers_of_lanes(&outputs.outputs, lanes));
            }
            let mut run_stage = |stage: Stage, inputs: &mut Inputs| match stage {
                Stage::Control => run(1, inputs),
                Stage::Evaluation => run(2, inputs),
                Stage::Geometry => run(3, inputs),
            };
            let (vertices, primitives) = pipeline.run(shaded, &mut run_stage)?;
            let processed = Processed { source: between.last(), vertices: &vertices, primitives: &primitives };
            let layers = if is_layered { tgsi_raster::layers(&processed, patch.provoking) } else { Vec::new() };
            for &target in &targets {
                let Some(target) = target else {
                    tgsi_raster::draw_primitives(&processed, &fragment, &fixed_functions, patch.provoking, picture);
                    errors.append(&mut picture.errors);
                    continue;
                };
                let numbers = (0..primitives.len()).filter(|&at| layers.get(at).is_none_or(|&layer| layer == target.1));
                let chosen: Vec<_> = numbers.filter_map(|at| primitives.get(at).copied()).collect();
                let processed = Processed { primitives: &chosen, ..processed };
                let lock = || memory.lock().map_err(|error| error.to_string());
                let mut drawn = framebuffer::load(&*lock()?, target)?;
                tgsi_raster::draw_primitives(&processed, &fragment, &fixed_functions, patch.provoking, &mut drawn);
                framebuffer::store(&mut *lock()?, target, &drawn)?;
                errors.append(&mut drawn.errors);
            }
        }
        self.memory = memory.into_inner().map_err(|error| error.to_string())?;
        self.refresh()?;
        match errors.pop() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// A shader with its constants and textures for runs.
    fn prepared<'s>(&self, loaded: &'s Loaded<'s>) -> Prepared<'s> {
        let units = units(&self.textures_of(loaded.shader.names));
        Prepared { shader: &loaded.shader, constants: self.constants_of(loaded), units }
    }

    /// Plays a command for stream output.
    pub(crate) fn stream(&mut self, command: &StreamCommand) -> Result<(), String> {
        let (vertices, first, count) = match *command {
            StreamCommand::Buffer(buffer, size) => {
                self.streams.buffers.insert(buffer, vec![0; size]);
                return Ok(());
            }
            StreamCommand::Probe(number, buffer, at, value) => return self.streams.probe(number, buffer, at, value),
            StreamCommand::Draw(vertices, first, count) => (vertices, first, count),
        };
        let Some(vertex) = &self.vertex else { return Err("there is no vertex shader".to_owned()) };
        let shader = &vertex.shader;
        let data = &self.script.vertices;
        let sources = self.inputs(vertex, &|name, location| vertex_data(data, name, location));
        let constants = self.constants_of(vertex);
        let textures = units(&self.textures_of(shader.names));
        let memory = Mutex::new(std::mem::take(&mut self.memory));
        let batch = vec![VERTEX; count];
        let mut outputs = LaneRegisters::new(count, 0);
        let mut run = |from: usize, batch: &[Vertex]| -> Result<(), String> {
            let mut inputs = vertex_inputs(&sources, batch, first + from);
            inputs.constants.clone_from(&constants);
            let found = memory::run(shader, &memory, &inputs, &mut Shared(&textures))?.outputs;
            for (register, component) in (0..found.len()).flat_map(|register| (0..4).map(move |part| (register, part)))
            {
                for (lane, &word) in found.component(register, component).iter().enumerate() {
                    outputs.set(register, component, from + lane, word);
                }
            }
            Ok(())
        };
        let mut batches = batch.chunks(MAX_LANES).enumerate();
        let result = batches.try_for_each(|(number, batch)| run(number * MAX_LANES, batch));
        self.memory = memory.into_inner().map_err(|error| error.to_string())?;
        result?;
        self.streams.capture(&shader.names.stream_output, &outputs, vertices)
    }

    /// Runs workgroups.
    pub(crate) fn dispatch(&mut self, groups: [u32; 3], size: Option<[u32; 3]>) -> Result<(), String> {
        let Some(compute) = &self.compute else { return Err("there is no compute shader".to_owned()) };
        let shader = &compute.shader;
        let sides =
            [PropertyName::CsFixedBlockWidth, PropertyName::CsFixedBlockHeight, PropertyName::CsFixedBlockDepth];
        let size = size.unwrap_or_else(|| sides.map(|side| shader.source.property(side).unwrap_or(1)));
        let workgroups = Workgroups::new(size, groups)
            .map_err(|lanes| format!("workgroups of {lanes} invocations exceed {MAX_LANES}"))?;
        let mut inputs = workgroups.inputs(0);
        inputs.constants = self.constants_of(compute);
        let textures = units(&self.textures_of(shader.names));
        let memory = Mutex::new(std::mem::take(&mut self.memory));
        let result = workgroups
            .run(&mut inputs, |inputs| memory::run(shader, &memory, inputs, &mut Shared(&textures)).map(|_| ()));
        self.memory = memory.into_inner().map_err(|error| error.to_string())?;
        result
    }

    /// The inputs of the vertex shader by register.
    fn inputs(&self, vertex: &Loaded<'_>, attributes: &Attributes<'_>) -> Vec<VertexInput> {
        let default = VertexInput::Constant([0.0f32, 0.0, 0.0, 1.0].map(f32::to_bits));
        let mut inputs = Vec::new();
        let first = i32::from(VertAttrib::GENERIC0);
        // Attributes of three or four doubles have one location and two slots.
        let mut wide = 0;
        let mut variables = Vec::new();
        for known in &vertex.shader.names.inputs {
            let location = u32::try_from(known.location - first - wide).ok();
            variables.push((known.name.as_str(), location, known.register));
            wide += i32::from(matches!(known.ty.as_str(), "dvec3" | "dvec4"));
        }
        if self.script.is_spirv() && variables.is_empty() {
            // The shader that forwards the position has no names.
            variables.push(("", Some(0), 0));
        }
        for (name, location, register) in variables {
            let register = register as usize;
            inputs.resize(inputs.len().max(register + 1), default.clone());
            let constant = |value: [f32; 4]| VertexInput::Constant(value.map(f32::to_bits));
            inputs[register] = match (attributes(name, location), name) {
                (Some(columns), _) => {
                    inputs.resize(inputs.len().max(register + columns.len()), default.clone());
                    for (column, place) in columns.into_iter().zip(&mut inputs[register..]) {
                        *place = VertexInput::Vertices(column);
                    }
                    continue;
                }
                (None, "gl_Color") => constant(self.color),
                (None, "gl_Normal") => constant([0.0, 0.0, 1.0, 0.0]),
                // Another attribute may share the location.
                (None, _) => continue,
            };
        }
        // A matrix at the end takes further registers.
        inputs.resize(inputs.len() + 3, default);
        inputs
    }

    /// The constants of a shader with the state of the fixed-function pipeline, and its uniform buffers.
    fn constants_of(&self, stage: &Loaded<'_>) -> Vec<Vec<u32>> {
        let mut constants = stage.constants.clone();
        let names = stage.shader.names;
        let mut set = |name: &str, matrix: Matrix| {
            for (suffix, matrix) in [
                ("", matrix),
                ("Inverse", inverse(matrix)),
                ("Transpose", transpose(matrix)),
                ("InverseTranspose", transpose(inverse(matrix))),
            ] {
                // A shader without this state has nothing to set.
                let _ = names.set(&format!("{name}{suffix}"), matrix.as_flattened(), &mut constants);
            }
        };
        set("gl_ProjectionMatrix", self.projection);
        set("gl_ModelViewProjectionMatrix", self.projection);
        for (number, (_, plane)) in self.planes.iter().enumerate() {
            let _ = names.set(&format!("gl_ClipPlane[{number}]"), plane, &mut constants);
        }
        self.memory.constants(names, constants)
    }

    /// The textures of a shader, by the units of the shader.
    fn textures_of(&self, names: &Interface) -> BTreeMap<u32, Texture> {
        let mut textures = BTreeMap::new();
        for sampler in &names.samplers {
            for element in 0..sampler.num_units {
                let initial = sampler.initial_unit + element;
                let unit = match sampler.locations.get(element as usize) {
                    Some(location) => self.unit_locations.get(location).copied().unwrap_or(initial),
                    None => self.memory.unit(&sampler.name, element, initial),
                };
                // A texture that was not created is black.
                let texture = self
                    .memory
                    .textures
                    .get(&unit)
                    .map(|(_, texture)| texture.clone())
                    .or_else(|| Texture::from_rgba8(1, 1, &[0, 0, 0, 255]));
                textures.extend(texture.map(|texture| (sampler.unit + element, texture)));
            }
        }
        textures
    }

    /// The enabled clip planes, which are compared with the clip vertex or the position as the shader writes them.
    fn clip_planes(&self) -> Vec<Option<[f32; 4]>> {
        self.planes.iter().map(|&(is_enabled, plane)| is_enabled.then(|| plane.map(|factor| factor as f32))).collect()
    }
}

//! The machine: state that commands change, draws and probes.

use std::collections::BTreeMap;

use tgsi::Shader;
use tgsi_compiler::front_end::Interface;
use tgsi_raster::mesh::Vertex;
use tgsi_raster::{FixedFunctions, Mesh, Picture, Scene, SceneShader, ShaderRunner, Texture, VertexInput};

use crate::command::{Area, Command, Mode};
use crate::matrices::{IDENTITY, Matrix, frustum, inverse, ortho, transpose};
use crate::script::Script;
use crate::textures::{Target, TextureKind};

/// The difference between colours that counts as equal.
const TOLERANCE: f32 = 0.01;

/// A shader of a test.
#[derive(Clone, Copy)]
pub struct TestShader<'a> {
    /// Its declarations and properties.
    pub source: &'a Shader,
    /// The executor.
    pub run: &'a ShaderRunner<'a>,
    /// Its interface by name.
    pub names: &'a Interface,
}

/// A command that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Failure {
    /// The line in the file, from 1.
    pub line: usize,
    /// The reason.
    pub message: String,
}

/// The result of a test.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The picture at the end.
    pub picture: Picture,
    /// Commands that failed, in order.
    pub failures: Vec<Failure>,
    /// The number of probes.
    pub probes: usize,
}

/// Plays a test.
pub fn play(script: &Script, vertex: &TestShader<'_>, fragment: &TestShader<'_>) -> Outcome {
    let mut player = Player {
        script,
        shaders: [vertex, fragment],
        constants: [vertex.names.initial_constants(), fragment.names.initial_constants()],
        units: BTreeMap::new(),
        textures: BTreeMap::new(),
        latest: Vec::new(),
        picture: Picture::new(script.size, [0; 4]),
        clear_color: [0; 4],
        clear_depth: 1.0,
        color: [1.0; 4],
        projection: IDENTITY,
        planes: [(false, [0.0; 4]); 8],
        tests_depth: false,
        tolerance: [TOLERANCE; 4],
    };
    let (mut failures, mut probes) = (Vec::new(), 0);
    for (line, command) in &script.commands {
        probes += usize::from(matches!(command, Command::Probe { .. } | Command::ProbeDepth(..)));
        if let Err(message) = player.command(command) {
            failures.push(Failure { line: *line, message });
        }
    }
    Outcome { picture: player.picture, failures, probes }
}

struct Player<'a> {
    script: &'a Script,
    /// Vertex and fragment shader.
    shaders: [&'a TestShader<'a>; 2],
    constants: [Vec<u32>; 2],
    /// Texture units by the names of samplers.
    units: BTreeMap<String, u32>,
    textures: BTreeMap<u32, (TextureKind, Texture)>,
    /// The latest texture of each target: its unit.
    latest: Vec<(Target, u32)>,
    picture: Picture,
    clear_color: [u8; 4],
    clear_depth: f32,
    color: [f32; 4],
    projection: Matrix,
    /// Whether each clip plane is enabled, and its equation.
    planes: [(bool, [f64; 4]); 8],
    tests_depth: bool,
    tolerance: [f32; 4],
}

impl Player<'_> {
    fn command(&mut self, command: &Command) -> Result<(), String> {
        match command {
            Command::ClearColor(color) => {
                self.clear_color = color.map(|value| (value.clamp(0.0, 1.0) * 255.0).round() as u8)
            }
            Command::ClearDepth(depth) => self.clear_depth = *depth,
            Command::Clear => {
                self.picture = Picture::new(self.script.size, self.clear_color);
                self.picture.depths.fill(self.clear_depth);
            }
            Command::Color(color) => self.color = *color,
            Command::DrawRect(rect, coordinates) => {
                return self.draw_rect(*rect, coordinates.unwrap_or([0.0, 0.0, 1.0, 1.0]));
            }
            Command::DrawRectOrtho([x, y, width, height]) => {
                let [across, down] = [self.script.size.0, self.script.size.1].map(|side| side as f32);
                let rect = [x / across * 2.0 - 1.0, y / down * 2.0 - 1.0, 2.0 * width / across, 2.0 * height / down];
                return self.draw_rect(rect, [0.0, 0.0, 1.0, 1.0]);
            }
            &Command::DrawArrays(mode, first, count) => return self.draw_arrays(mode, first, count),
            Command::Probe { area, is_relative, expected } => return self.probe(*area, *is_relative, expected),
            &Command::ProbeDepth(at, expected) => return self.probe_depth(at, expected),
            Command::Tolerance(values) => {
                self.tolerance.iter_mut().zip(values).for_each(|(to, value)| *to = *value);
            }
            Command::Uniform(name, values) => return self.uniform(name, values),
            &Command::Ortho(bounds) => self.projection = ortho(bounds),
            Command::OrthoWindow => {
                let (width, height) = self.script.size;
                self.projection = ortho([0.0, width.into(), 0.0, height.into(), -1.0, 1.0]);
            }
            &Command::Frustum(bounds) => self.projection = frustum(bounds),
            &Command::ClipPlane(number, plane) => self.planes[number].1 = plane,
            &Command::EnableClipPlane(number, is_enabled) => self.planes[number].0 = is_enabled,
            &Command::EnableDepthTest(is_enabled) => self.tests_depth = is_enabled,
            Command::Light(number, field, values) => {
                // Shaders that do not use the field have nothing to set.
                for (shader, constants) in self.shaders.iter().zip(&mut self.constants) {
                    let _ = shader.names.set(&format!("gl_LightSource[{number}].{field}"), values, constants);
                }
            }
            Command::Texture(unit, kind) => {
                let texture = kind.create().ok_or("the texture is too large")?;
                self.textures.insert(*unit, (*kind, texture));
                self.latest.retain(|(target, _)| *target != kind.target());
                self.latest.push((kind.target(), *unit));
            }
            Command::TexParameter(parameter) => {
                let found = self.latest.iter().find(|(target, _)| *target == parameter.target);
                let texture = found.and_then(|(_, unit)| self.textures.get_mut(unit));
                let (kind, texture) = texture.ok_or("no texture has this target")?;
                parameter.apply(*kind, texture);
            }
            Command::LinkSuccess | Command::Nothing => {}
            Command::LinkError => return Err("the shaders link".to_owned()),
            Command::Unknown(text) => return Err(format!("cannot do `{text}`")),
        }
        Ok(())
    }

    /// Sets a uniform in both shaders, or the unit of a sampler.
    fn uniform(&mut self, name: &str, values: &[f64]) -> Result<(), String> {
        let mut error = None;
        let mut is_found = false;
        for (shader, constants) in self.shaders.iter().zip(&mut self.constants) {
            if let (Some(_), &[unit]) = (shader.names.unit(name), values) {
                self.units.insert(name.to_owned(), unit as u32);
                is_found = true;
                continue;
            }
            match shader.names.set(name, values, constants) {
                Ok(()) => is_found = true,
                Err(_) if shader.names.is_unused(name) => is_found = true,
                Err(found) => error = Some(found.to_string()),
            }
        }
        match error {
            Some(error) if !is_found => Err(error),
            _ => Ok(()),
        }
    }

    fn draw_rect(&mut self, [x, y, width, height]: [f32; 4], [s, t, across, up]: [f32; 4]) -> Result<(), String> {
        let corners = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]];
        let positions = corners.map(|[u, v]| [x + u * width, y + v * height, 0.0, 1.0].map(f32::to_bits));
        let coordinates = corners.map(|[u, v]| [s + u * across, t + v * up, 0.0, 1.0].map(f32::to_bits));
        let arrays = |name: &str| match name {
            "gl_Vertex" | "piglit_vertex" => Some(positions.to_vec()),
            "gl_MultiTexCoord0" | "piglit_texcoord" => Some(coordinates.to_vec()),
            _ => None,
        };
        self.draw(4, vec![[0, 1, 2], [2, 1, 3]], &arrays)
    }

    fn draw_arrays(&mut self, mode: Mode, first: usize, count: usize) -> Result<(), String> {
        let data = &self.script.vertices;
        let last = first.checked_add(count).filter(|&last| last <= data.rows());
        let last = last.ok_or_else(|| format!("there are {} vertices", data.rows()))? as u32;
        let first = first as u32;
        let triangles: Vec<[u32; 3]> = match mode {
            Mode::Triangles => (first..last).step_by(3).map(|at| [at, at + 1, at + 2]).collect(),
            Mode::Strip => (first..last.saturating_sub(2))
                .map(|at| if (at - first).is_multiple_of(2) { [at, at + 1, at + 2] } else { [at + 1, at, at + 2] })
                .collect(),
            Mode::Fan => (first + 1..last.saturating_sub(1)).map(|at| [first, at, at + 1]).collect(),
            Mode::Quads => {
                (first..last).step_by(4).flat_map(|at| [[at, at + 1, at + 3], [at + 1, at + 2, at + 3]]).collect()
            }
        };
        let rows = data.rows();
        let triangles = triangles.into_iter().filter(|triangle| triangle.iter().all(|&at| (at as usize) < rows));
        let arrays = |name: &str| {
            let same = if name == "gl_Vertex" { "piglit_vertex" } else { name };
            data.get(name).or_else(|| data.get(same)).map(<[_]>::to_vec)
        };
        self.draw(rows, triangles.collect(), &arrays)
    }

    /// Draws triangles of vertices whose attributes are those of `arrays`, or the current ones.
    fn draw(
        &mut self,
        vertices: usize,
        triangles: Vec<[u32; 3]>,
        arrays: &dyn Fn(&str) -> Option<Vec<[u32; 4]>>,
    ) -> Result<(), String> {
        let inputs = self.inputs(arrays);
        let constants = [0, 1].map(|stage| vec![self.constants_of(stage)]);
        let textures = self.shaders.map(|shader| self.textures_of(shader.names));
        let mesh = Mesh { vertices: vec![Vertex { attributes: [[0.0; 4]; 4] }; vertices], triangles };
        let fixed_functions =
            FixedFunctions { ignores_depth: !self.tests_depth, clamps_colors: true, clip_planes: self.clip_planes() };
        let shader = |stage: usize| SceneShader {
            source: self.shaders[stage].source,
            run: self.shaders[stage].run,
            constants: &constants[stage],
            textures: &textures[stage],
        };
        let scene = Scene {
            vertex: Some(shader(0)),
            fragment: shader(1),
            mesh: &mesh,
            inputs: &inputs,
            fixed_functions: &fixed_functions,
        };
        tgsi_raster::draw(&scene, &mut self.picture);
        match self.picture.errors.pop() {
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// The inputs of the vertex shader by register.
    fn inputs(&self, arrays: &dyn Fn(&str) -> Option<Vec<[u32; 4]>>) -> Vec<VertexInput> {
        let default = VertexInput::Constant([0.0f32, 0.0, 0.0, 1.0].map(f32::to_bits));
        let mut inputs = Vec::new();
        for variable in &self.shaders[0].names.inputs {
            let register = variable.register as usize;
            inputs.resize(inputs.len().max(register + 1), default.clone());
            let constant = |value: [f32; 4]| VertexInput::Constant(value.map(f32::to_bits));
            inputs[register] = match (arrays(&variable.name), variable.name.as_str()) {
                (Some(words), _) => VertexInput::Vertices(words),
                (None, "gl_Color") => constant(self.color),
                (None, "gl_Normal") => constant([0.0, 0.0, 1.0, 0.0]),
                (None, _) => default.clone(),
            };
        }
        // A matrix at the end takes further registers.
        inputs.resize(inputs.len() + 3, default);
        inputs
    }

    /// The constants of a shader with the state of the fixed-function pipeline.
    fn constants_of(&self, stage: usize) -> Vec<u32> {
        let mut constants = self.constants[stage].clone();
        let names = self.shaders[stage].names;
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
        constants
    }

    /// The textures of a shader by its own units.
    fn textures_of(&self, names: &Interface) -> BTreeMap<u32, Texture> {
        let mut textures = BTreeMap::new();
        for sampler in &names.samplers {
            for element in 0..sampler.num_units {
                let of_element = format!("{}[{element}]", sampler.name);
                let named =
                    self.units.get(&of_element).or_else(|| self.units.get(&sampler.name).filter(|_| element == 0));
                let unit = named.copied().unwrap_or(0);
                // A texture that was not created is black.
                let texture = self
                    .textures
                    .get(&unit)
                    .map(|(_, texture)| texture.clone())
                    .or_else(|| Texture::from_rgba8(1, 1, &[0, 0, 0, 255]));
                textures.extend(texture.map(|texture| (sampler.unit + element, texture)));
            }
        }
        textures
    }

    /// The enabled clip planes in the space of the clip vertex: that of the eye if the shader writes one, else that of
    /// the position.
    fn clip_planes(&self) -> Vec<Option<[f32; 4]>> {
        let has_clip_vertex = self.shaders[0].names.outputs.iter().any(|output| output.name == "gl_ClipVertex");
        let matrix = if has_clip_vertex { IDENTITY } else { inverse(self.projection) };
        let transformed = |plane: [f64; 4]| -> [f32; 4] {
            std::array::from_fn(|at| (0..4).map(|row| plane[row] * matrix[at][row]).sum::<f64>() as f32)
        };
        self.planes.iter().map(|&(is_enabled, plane)| is_enabled.then(|| transformed(plane))).collect()
    }

    /// The rows and columns of an area.
    fn pixels(&self, area: Area, is_relative: bool) -> Result<Vec<(usize, usize)>, String> {
        let (width, height) = (self.script.size.0 as usize, self.script.size.1 as usize);
        let [across, up] = if is_relative { [width as f64, height as f64] } else { [1.0; 2] };
        let [x, y, columns, rows] = match area {
            Area::All => [0, 0, width, height],
            Area::Pixel([x, y]) => {
                let (x, y) = ((x * across) as usize, (y * up) as usize);
                let (x, y) = if is_relative { (x.min(width - 1), y.min(height - 1)) } else { (x, y) };
                [x, y, 1, 1]
            }
            Area::Rect([x, y, w, h]) => [x * across, y * up, w * across, h * up].map(|value| value as usize),
        };
        if x + columns > width || y + rows > height {
            return Err("the area is outside of the window".to_owned());
        }
        Ok((y..y + rows).flat_map(|row| (x..x + columns).map(move |column| (column, row))).collect())
    }

    /// The index of a pixel, whose row counts from the bottom.
    fn index(&self, (column, row): (usize, usize)) -> usize {
        let (width, height) = (self.script.size.0 as usize, self.script.size.1 as usize);
        (height - 1 - row.min(height - 1)) * width + column
    }

    fn probe(&self, area: Area, is_relative: bool, expected: &[f32]) -> Result<(), String> {
        for at in self.pixels(area, is_relative)? {
            let index = self.index(at);
            let found = self.picture.pixels.get(4 * index..4 * index + 4).unwrap_or_default();
            let found: Vec<f32> = found.iter().take(expected.len()).map(|&byte| f32::from(byte) / 255.0).collect();
            let differs =
                |((found, expected), tolerance): ((&f32, &f32), &f32)| is_other(*found, *expected, *tolerance);
            if found.iter().zip(expected).zip(&self.tolerance).any(differs) {
                let (x, y) = at;
                return Err(format!("at ({x}, {y}): expected {expected:?}, found {found:?}"));
            }
        }
        Ok(())
    }

    fn probe_depth(&self, at: [f64; 2], expected: f32) -> Result<(), String> {
        for at in self.pixels(Area::Pixel(at), false)? {
            let found = self.picture.depths.get(self.index(at)).copied().unwrap_or(0.0);
            if is_other(found, expected, TOLERANCE) {
                return Err(format!("depth at {at:?}: expected {expected}, found {found}"));
            }
        }
        Ok(())
    }
}

/// Whether values differ by more than a tolerance. NaN differs from everything.
fn is_other(found: f32, expected: f32, tolerance: f32) -> bool {
    let difference = (found - expected).abs();
    difference.is_nan() || difference > tolerance
}

//! The machine: state that commands change, and probes.

use std::collections::BTreeMap;

use tgsi::Shader;
use tgsi_compiler::front_end::{ComponentType, Interface};
use tgsi_ir::shader::ShaderStage;
use tgsi_raster::between::PatchState;
use tgsi_raster::primitives::PolygonMode;
use tgsi_raster::{Picture, ShaderRunner};

use crate::blocks::{BlockPlace, set_member};
use crate::command::{Area, Command};
use crate::framebuffer::Framebuffer;
use crate::images::Image;
use crate::lists::List;
use crate::matrices::{IDENTITY, Matrix, frustum, ortho};
use crate::memory::{Memory, has_image};
use crate::queries::Query;
use crate::script::Script;
use crate::stream_output::Streams;
use crate::textures::Target;

/// The difference between colours that counts as equal.
const TOLERANCE: f32 = 0.01;

/// The stages, in order.
const STAGES: [ShaderStage; 6] = [
    ShaderStage::Vertex,
    ShaderStage::TessCtrl,
    ShaderStage::TessEval,
    ShaderStage::Geometry,
    ShaderStage::Fragment,
    ShaderStage::Compute,
];

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

/// The shaders of a test.
#[derive(Clone, Copy, Default)]
pub struct Shaders<'a> {
    /// The vertex shader.
    pub vertex: Option<TestShader<'a>>,
    /// The tessellation control shader.
    pub control: Option<TestShader<'a>>,
    /// The tessellation evaluation shader.
    pub evaluation: Option<TestShader<'a>>,
    /// The geometry shader.
    pub geometry: Option<TestShader<'a>>,
    /// The fragment shader.
    pub fragment: Option<TestShader<'a>>,
    /// The compute shader.
    pub compute: Option<TestShader<'a>>,
}

impl<'a> Shaders<'a> {
    /// The shaders that a function returns by stage.
    pub fn from_fn(shader: impl Fn(ShaderStage) -> Option<TestShader<'a>>) -> Shaders<'a> {
        Shaders {
            vertex: shader(ShaderStage::Vertex),
            control: shader(ShaderStage::TessCtrl),
            evaluation: shader(ShaderStage::TessEval),
            geometry: shader(ShaderStage::Geometry),
            fragment: shader(ShaderStage::Fragment),
            compute: shader(ShaderStage::Compute),
        }
    }
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
    /// The lines of `verify` commands for properties that no reflection has.
    pub unchecked: Vec<usize>,
}

/// Plays a test.
pub fn play(script: &Script, shaders: &Shaders<'_>) -> Outcome {
    let mut player = Player {
        script,
        vertex: shaders.vertex.map(Loaded::new),
        control: shaders.control.map(Loaded::new),
        evaluation: shaders.evaluation.map(Loaded::new),
        geometry: shaders.geometry.map(Loaded::new),
        fragment: shaders.fragment.map(Loaded::new),
        compute: shaders.compute.map(Loaded::new),
        unit_locations: BTreeMap::new(),
        latest: Vec::new(),
        memory: Memory::default(),
        block: BlockPlace::default(),
        block_element: 0,
        patch: PatchState::default(),
        streams: Streams::default(),
        active: None,
        polygon_mode: PolygonMode::default(),
        framebuffer: Framebuffer::default(),
        window: Picture::new(script.size, [0; 4]),
        picture: Picture::new(script.size, [0; 4]),
        clear_color: [0; 4],
        clear_depth: 1.0,
        color: [1.0; 4],
        projection: IDENTITY,
        planes: [(false, [0.0; 4]); 8],
        tests_depth: false,
        tolerance: [TOLERANCE; 4],
    };
    let (mut failures, mut probes, mut unchecked) = (Vec::new(), 0, Vec::new());
    let mut list = List::default();
    let numbers = script.commands.iter().enumerate().flat_map(|(number, (_, command))| list.play(number, command));
    for (line, command) in numbers.filter_map(|number| script.commands.get(number)) {
        probes += usize::from(command.is_probe());
        let result = match command {
            Command::Verify(query) => player.verify(query),
            command => player.command(command).map(|()| true),
        };
        match result {
            Ok(true) => {}
            Ok(false) => unchecked.push(*line),
            Err(message) => failures.push(Failure { line: *line, message }),
        }
    }
    Outcome { picture: player.picture, failures, probes, unchecked }
}

/// A shader with its first constant buffer.
pub(crate) struct Loaded<'a> {
    pub(crate) shader: TestShader<'a>,
    pub(crate) constants: Vec<u32>,
}

impl<'a> Loaded<'a> {
    fn new(shader: TestShader<'a>) -> Loaded<'a> {
        Loaded { constants: shader.names.initial_constants(), shader }
    }
}

pub(crate) struct Player<'a> {
    pub(crate) script: &'a Script,
    pub(crate) vertex: Option<Loaded<'a>>,
    pub(crate) control: Option<Loaded<'a>>,
    pub(crate) evaluation: Option<Loaded<'a>>,
    pub(crate) geometry: Option<Loaded<'a>>,
    pub(crate) fragment: Option<Loaded<'a>>,
    pub(crate) compute: Option<Loaded<'a>>,
    /// Texture units by the locations of samplers.
    pub(crate) unit_locations: BTreeMap<u32, u32>,
    /// The latest texture of each target: its unit.
    latest: Vec<(Target, u32)>,
    pub(crate) memory: Memory,
    /// The place of the next uniform in a block.
    block: BlockPlace,
    /// The element of arrays of blocks that the next uniforms are in.
    block_element: u32,
    pub(crate) patch: PatchState,
    pub(crate) streams: Streams,
    /// The shader that uniforms are set in; `None` for all.
    active: Option<ShaderStage>,
    pub(crate) polygon_mode: PolygonMode,
    pub(crate) framebuffer: Framebuffer,
    /// The picture of the framebuffer: of its first layer.
    pub(crate) picture: Picture,
    /// The picture of the window, unless that is the framebuffer.
    pub(crate) window: Picture,
    pub(crate) clear_color: [u8; 4],
    pub(crate) clear_depth: f32,
    pub(crate) color: [f32; 4],
    pub(crate) projection: Matrix,
    /// Whether each clip plane is enabled, and its equation.
    pub(crate) planes: [(bool, [f64; 4]); 8],
    pub(crate) tests_depth: bool,
    tolerance: [f32; 4],
}

impl<'a> Player<'a> {
    fn command(&mut self, command: &Command) -> Result<(), String> {
        match command {
            Command::ClearColor(color) => {
                self.clear_color = color.map(|value| (value.clamp(0.0, 1.0) * 255.0).round() as u8)
            }
            Command::ClearDepth(depth) => self.clear_depth = *depth,
            Command::Clear => return self.clear(),
            &Command::Framebuffer(framebuffer) => return self.select(framebuffer),
            &Command::PolygonMode(mode) => self.polygon_mode = mode,
            &Command::ActiveShader(stage) => self.active = Some(stage),
            Command::Color(color) => self.color = *color,
            Command::DrawRect(rectangle) => return self.draw_rect(rectangle),
            Command::DrawArrays(arrays) => return self.draw_arrays(arrays),
            &Command::PatchVertices(count) => self.patch.vertices = count,
            &Command::OuterLevels(levels) => self.patch.default_levels.0 = levels,
            &Command::InnerLevels(levels) => self.patch.default_levels.1 = levels,
            &Command::Provoking(provoking) => self.patch.provoking = provoking,
            &Command::BlockElement(element) => self.block_element = element,
            Command::Probe { area, is_relative, expected } => return self.probe(*area, *is_relative, expected),
            &Command::ProbeDepth(at, expected) => return self.probe_depth(at, expected),
            Command::Tolerance(values) => {
                self.tolerance.iter_mut().zip(values).for_each(|(to, value)| *to = *value);
            }
            Command::Uniform(ty, name, values) => return self.uniform(ty, name, values),
            Command::UniformBits(name, bits) => return self.uniform_bits(name, bits),
            Command::UniformAt(location, values) => return self.uniform_at(*location, values),
            Command::ResetUniforms => {
                self.memory.units.clear();
                self.unit_locations.clear();
                self.loaded().for_each(|loaded| loaded.constants = loaded.shader.names.initial_constants());
            }
            Command::Subroutine(name, function) => return self.subroutine(name, function),
            &Command::Block(command) => self.block.set(command),
            Command::Buffer(command) => return command.play(&mut self.memory),
            Command::Stream(command) => return self.stream(command),
            &Command::Compute(groups, size) => {
                self.dispatch(groups, size)?;
                return self.refresh();
            }
            &Command::Ortho(bounds) => self.projection = ortho(bounds),
            Command::OrthoWindow => {
                let (width, height) = self.picture.size;
                self.projection = ortho([0.0, width.into(), 0.0, height.into(), -1.0, 1.0]);
            }
            &Command::Frustum(bounds) => self.projection = frustum(bounds),
            &Command::ClipPlane(number, plane) => self.planes[number].1 = plane,
            &Command::EnableClipPlane(number, is_enabled) => self.planes[number].0 = is_enabled,
            &Command::EnableDepthTest(is_enabled) => self.tests_depth = is_enabled,
            Command::Light(number, field, values) => {
                // Shaders that do not use the field have nothing to set.
                for Loaded { shader, constants } in self.loaded() {
                    let _ = shader.names.set(&format!("gl_LightSource[{number}].{field}"), values, constants);
                }
            }
            Command::Texture(unit, kind) => {
                let texture = kind.create().ok_or("the texture is too large")?;
                self.memory.textures.insert(*unit, (kind.clone(), texture));
                self.latest.retain(|(target, _)| *target != kind.target());
                self.latest.push((kind.target(), *unit));
            }
            Command::TexParameter(parameter) => {
                let found = self.latest.iter().find(|(target, _)| *target == parameter.target);
                let texture = found.and_then(|(_, unit)| self.memory.textures.get_mut(unit));
                let (kind, texture) = texture.ok_or("no texture has this target")?;
                parameter.apply(kind, texture, self.script.has_new_comparisons);
            }
            Command::Image(unit, format) => {
                let (_, texture) = self.memory.textures.get(unit).ok_or("the unit has no texture")?;
                if texture.texels().format().bytes() != format.bytes {
                    return Err("the texels of the image have another size".to_owned());
                }
                self.memory.images.insert(*unit, Image { texture: *unit, format: format.clone() });
            }
            Command::LinkSuccess | Command::Nothing | Command::Verify(_) | Command::List(_) => {}
            Command::LinkError => return Err("the shaders link".to_owned()),
            Command::Unknown(text) => return Err(format!("cannot do `{text}`")),
        }
        Ok(())
    }

    fn loaded(&mut self) -> impl Iterator<Item = &mut Loaded<'a>> {
        let stages = [&mut self.vertex, &mut self.control, &mut self.evaluation, &mut self.geometry];
        stages.into_iter().chain([&mut self.fragment, &mut self.compute]).flatten()
    }

    /// The shaders that uniforms are set in.
    fn active(&mut self) -> impl Iterator<Item = &mut Loaded<'a>> {
        let active = self.active;
        let stages = [&mut self.vertex, &mut self.control, &mut self.evaluation, &mut self.geometry];
        let stages = stages.into_iter().chain([&mut self.fragment, &mut self.compute]);
        let is_active = move |stage: ShaderStage| active.is_none_or(|active| active == stage);
        STAGES
            .into_iter()
            .zip(stages)
            .filter(move |(stage, _)| is_active(*stage))
            .filter_map(|(_, loaded)| loaded.as_mut())
    }

    /// The stages, in order.
    fn stages(&self) -> impl Iterator<Item = &Loaded<'a>> {
        let stages = [&self.vertex, &self.control, &self.evaluation, &self.geometry, &self.fragment, &self.compute];
        stages.into_iter().flatten()
    }

    /// Compares a property of the program. Returns `false` if it is not known.
    fn verify(&self, query: &Query) -> Result<bool, String> {
        let names: Vec<&Interface> = self.stages().map(|loaded| loaded.shader.names).collect();
        query.check(&names, self.block.binding, self.streams.primitives)
    }

    /// Sets a uniform in all shaders, or the unit of a sampler. In SPIR-V, names are those of members of blocks.
    fn uniform(&mut self, ty: &str, name: &str, values: &[f64]) -> Result<(), String> {
        if self.script.is_spirv() {
            return self.block.write(ty, values, &mut self.memory);
        }
        let names: Vec<&Interface> = self.stages().map(|loaded| loaded.shader.names).collect();
        let mut is_found = false;
        for names in names {
            is_found |= set_member(names, (name, self.block_element), values, ComponentType::bits, &mut self.memory);
        }
        let mut error = None;
        let mut unit_of = None;
        for Loaded { shader, constants } in self.active() {
            let is_opaque = shader.names.unit(name).is_some() || has_image(shader.names, name);
            if let (true, &[unit]) = (is_opaque, values) {
                unit_of = Some(unit as u32);
                is_found = true;
                continue;
            }
            match shader.names.set(name, values, constants) {
                Ok(()) => is_found = true,
                Err(_) if shader.names.is_unused(name) => is_found = true,
                Err(found) => error = Some(found.to_string()),
            }
        }
        if let Some(unit) = unit_of {
            self.memory.units.insert(name.to_owned(), unit);
        }
        match error {
            Some(error) if !is_found => Err(error),
            _ => Ok(()),
        }
    }

    /// Sets a uniform of 64-bit integers or doubles in all shaders that have it.
    fn uniform_bits(&mut self, name: &str, bits: &[u64]) -> Result<(), String> {
        let mut error = None;
        let mut is_found = false;
        let names: Vec<&Interface> = self.stages().map(|loaded| loaded.shader.names).collect();
        for names in names {
            is_found |= set_member(names, (name, self.block_element), bits, |_, bits| bits, &mut self.memory);
        }
        for Loaded { shader, constants } in self.active() {
            match shader.names.set_bits(name, bits, constants) {
                Ok(()) => is_found = true,
                Err(_) if shader.names.is_unused(name) => is_found = true,
                Err(found) => error = Some(found.to_string()),
            }
        }
        error.filter(|_| !is_found).map_or(Ok(()), Err)
    }

    /// Sets a subroutine uniform of the shader that has the function.
    fn subroutine(&mut self, name: &str, function: &str) -> Result<(), String> {
        for Loaded { shader, constants } in self.loaded() {
            let Some(found) = shader.names.subroutines.iter().find(|found| found.name == function) else { continue };
            match shader.names.set(name, &[found.index.into()], constants) {
                Err(error) if !shader.names.is_unused(name) => return Err(error.to_string()),
                _ => return Ok(()),
            }
        }
        Err(format!("there is no subroutine `{function}`"))
    }

    /// Sets the uniform or the sampler at a location in all shaders.
    fn uniform_at(&mut self, location: u32, values: &[f64]) -> Result<(), String> {
        let mut unit_of = None;
        for Loaded { shader, constants } in self.active() {
            if shader.names.samplers.iter().any(|sampler| sampler.locations.contains(&location)) {
                unit_of = values.first().map(|&unit| unit as u32);
                continue;
            }
            // Uniforms that no shader uses have no location.
            shader.names.set_at_location(location, values, constants).map_err(|error| error.to_string())?;
        }
        self.unit_locations.extend(unit_of.map(|unit| (location, unit)));
        Ok(())
    }

    /// The rows and columns of an area.
    fn pixels(&self, area: Area, is_relative: bool) -> Result<Vec<(usize, usize)>, String> {
        let (width, height) = (self.picture.size.0 as usize, self.picture.size.1 as usize);
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
        let (width, height) = (self.picture.size.0 as usize, self.picture.size.1 as usize);
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

//! `draw`: renders a picture with a fragment shader, with or without a vertex shader, or by the test of a file.

mod amber;
mod constants;
mod test;

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use tgsi_compiler::Stage;
use tgsi_compiler::front_end::{Interface, InterfaceVariable};
use tgsi_environment::{Inputs, Resources, RunLimits};
use tgsi_ir::shader::ShaderStage;
use tgsi_raster::{
    Attribute, FixedFunctions, Mesh, Picture, Scene, SceneShader, Texture, VertexInput, draw as draw_scene,
};
use tgsi_verify::{Executor, ExecutorKind};

use crate::args::{Color, DrawArguments};
use crate::diagnostics::{self, Reporter};
use crate::draw_arguments::{TextureArgument, TextureUnit};
use crate::input::{InputPath, ShaderError, Source};
use crate::input_shader::InputShader;
use crate::limits::current;
use crate::plan::Plan;
use crate::status::{Failure, Status};
use crate::{front_ends, output};
use constants::Constants;

/// The driver that runs shaders unless another executor is requested.
const PROCESSOR: &str = "cpu";

/// A shader ready to run.
struct Loaded {
    shader: InputShader,
    executor: Executor,
    names: Interface,
}

/// Draws.
pub fn draw(arguments: &DrawArguments, color: Color) -> Result<Status, Failure> {
    let named = &arguments.passes.driver_options.driver;
    let via = arguments.via.unwrap_or_else(|| match tgsi_registry::find(PROCESSOR) {
        Some(driver) if named.is_none() => ExecutorKind::Driver(driver.name()),
        _ => ExecutorKind::Stage(Stage::Opt),
    });
    let plan = Plan::to_be_run(&arguments.passes, Some(via))?;
    let reporter = Reporter::for_inputs(1, color);
    if let Some(file) = &arguments.test {
        if file.extension().is_some_and(|extension| extension == "amber") {
            return amber::draw(file, arguments, via, &plan);
        }
        return test::draw(file, arguments, via, &plan, &reporter);
    }
    let mut mesh = read_mesh(&arguments.mesh)?;
    if arguments.fit || arguments.vertex.is_none() {
        mesh.fit();
    }
    let files = arguments.vertex.iter().map(|file| (file, ShaderStage::Vertex));
    let files = files.chain(arguments.fragment.iter().map(|file| (file, ShaderStage::Fragment)));
    let inputs: Vec<(InputPath, ShaderStage)> = files.map(|(file, stage)| (of_stage(file, stage), stage)).collect();
    let Some(mut loaded) = load(&inputs, via, &plan, &reporter)? else { return Ok(Status::ShaderError) };
    let Some(fragment) = loaded.pop() else { return Ok(Status::UsageError) };
    let vertex = loaded.pop();
    let stages = [vertex.as_ref(), Some(&fragment)];

    let constants = Constants::new(arguments, stages)?;
    let textures = textures(arguments, stages)?;
    let vertex_inputs = vertex_inputs(arguments, vertex.as_ref());
    let limits = current().of_runs();
    let mut frames = Vec::new();
    for number in 0..arguments.frames {
        let seconds = number as f32 / f32::from(arguments.fps);
        let [for_vertex, for_fragment] = constants.at(seconds);
        let run_fragment = runner(&fragment, limits);
        let run_vertex = vertex.as_ref().map(|vertex| runner(vertex, limits));
        let [of_vertex, of_fragment] = &textures;
        let mut picture = Picture::new(arguments.size, arguments.background);
        let scene = Scene {
            vertex: vertex.as_ref().zip(run_vertex.as_ref()).map(|(vertex, run)| SceneShader {
                source: vertex.shader.interface(),
                run,
                constants: &for_vertex,
                textures: of_vertex,
            }),
            fragment: SceneShader {
                source: fragment.shader.interface(),
                run: &run_fragment,
                constants: &for_fragment,
                textures: of_fragment,
            },
            mesh: &mesh,
            inputs: &vertex_inputs,
            fixed_functions: &FixedFunctions::default(),
        };
        draw_scene(&scene, &mut picture);
        frames.push(picture);
    }
    let errors = say_errors(&frames);
    write(frames, arguments)?;
    Ok(if errors { Status::ShaderError } else { Status::Success })
}

/// Writes pictures to the output file.
fn write(mut frames: Vec<Picture>, arguments: &DrawArguments) -> Result<(), Failure> {
    if !arguments.alpha {
        for picture in &mut frames {
            picture.pixels.iter_mut().skip(3).step_by(4).for_each(|alpha| *alpha = 255);
        }
    }
    let failed = |error: png::EncodingError| Failure::Write {
        path: arguments.output.clone(),
        error: std::io::Error::other(error),
    };
    output::write_file(&arguments.output, &encode(&frames, arguments.fps).map_err(failed)?)
}

/// The shader of a stage, if the file has several.
fn of_stage(file: &Path, stage: ShaderStage) -> InputPath {
    let is_several = front_ends::of_extension(file).is_some();
    InputPath { file: file.to_owned(), stage: is_several.then_some(stage) }
}

/// Reads the shaders of a pipeline, which must have these stages, and prepares them to run. If it returns `None`, the
/// errors have been shown.
fn load(
    inputs: &[(InputPath, ShaderStage)],
    via: ExecutorKind,
    plan: &Plan,
    reporter: &Reporter,
) -> Result<Option<Vec<Loaded>>, Failure> {
    let sources = inputs.iter().map(|(path, _)| Source::read(path)).collect::<Result<Vec<Source>, Failure>>()?;
    let stages: Vec<ShaderStage> = inputs.iter().map(|(_, stage)| *stage).collect();
    load_sources(sources, &stages, via, plan, reporter)
}

/// Prepares the shaders of a pipeline, which must have these stages, to run.
fn load_sources(
    sources: Vec<Source>,
    stages: &[ShaderStage],
    via: ExecutorKind,
    plan: &Plan,
    reporter: &Reporter,
) -> Result<Option<Vec<Loaded>>, Failure> {
    let read = InputShader::checked_pipeline(&sources, plan);
    let (mut loaded, count) = (Vec::with_capacity(sources.len()), sources.len());
    for ((result, source), stage) in read.into_iter().zip(sources).zip(stages) {
        let result = result.and_then(|(shader, warnings)| {
            reporter.diagnostics(&source, &warnings);
            let wanted = tgsi_to_ir::slots::processor_of(*stage);
            let shader = shader.ok_or_else(|| {
                ShaderError::Other(format!("expected a {} shader, found a part of another one", wanted.name()))
            })?;
            let found = shader.interface().processor;
            if found != wanted {
                let (wanted, found) = (wanted.name(), found.name());
                return Err(ShaderError::Other(format!("expected a {wanted} shader, found {found}")));
            }
            let executor = plan.checker().executor(&shader.source(), via)?;
            Ok((shader, executor))
        });
        match result {
            Ok((shader, executor)) => {
                let names = shader.names().cloned().unwrap_or_default();
                loaded.push(Loaded { shader, executor, names });
            }
            Err(problem) => reporter.problem(&source, &problem),
        }
    }
    Ok((loaded.len() == count).then_some(loaded))
}

fn runner(
    loaded: &Loaded,
    limits: RunLimits,
) -> impl Fn(&Inputs, &mut dyn Resources) -> Result<tgsi_environment::Outputs, String> + Sync + '_ {
    move |inputs, resources| loaded.executor.run_with(inputs, resources, limits).map_err(|error| error.to_string())
}

/// The inputs of the vertex shader: those of the command line, or attributes that fit the names of the inputs.
fn vertex_inputs(arguments: &DrawArguments, vertex: Option<&Loaded>) -> Vec<VertexInput> {
    let names: &[InterfaceVariable] = vertex.map_or(&[], |vertex| &vertex.names.inputs);
    if !arguments.attributes.is_empty() {
        return arguments.attributes.iter().copied().map(VertexInput::Attribute).collect();
    }
    if names.is_empty() {
        return Attribute::ALL.map(VertexInput::Attribute).to_vec();
    }
    let mut inputs = Vec::new();
    for variable in names {
        let name = variable.name.to_ascii_lowercase();
        let has = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        let attribute = if has(&["norm"]) {
            Attribute::Normal
        } else if has(&["col"]) {
            Attribute::Color
        } else if has(&["tex", "uv", "coord", "st"]) {
            Attribute::TextureCoordinate
        } else {
            Attribute::Position
        };
        let register = variable.register as usize;
        inputs.resize(inputs.len().max(register + 1), VertexInput::Constant([0; 4]));
        if let Some(input) = inputs.get_mut(register) {
            *input = VertexInput::Attribute(attribute);
        }
    }
    // A matrix at the end takes further registers.
    inputs.resize(inputs.len() + 3, VertexInput::Constant([0; 4]));
    inputs
}

/// The textures of the vertex and the fragment shader.
fn textures(arguments: &DrawArguments, stages: [Option<&Loaded>; 2]) -> Result<[BTreeMap<u32, Texture>; 2], Failure> {
    let mut textures = [BTreeMap::new(), BTreeMap::new()];
    for argument in &arguments.textures {
        let texture = read_texture(argument)?;
        let mut is_used = false;
        for (stage, textures) in stages.iter().zip(&mut textures) {
            let unit = match &argument.unit {
                TextureUnit::Number(unit) => Some(*unit),
                TextureUnit::Sampler(name) => stage.and_then(|stage| stage.names.unit(name)),
            };
            is_used |= unit.is_some();
            textures.extend(unit.map(|unit| (unit, texture.clone())));
        }
        if let (false, TextureUnit::Sampler(name)) = (is_used, &argument.unit) {
            let unused = stages.iter().flatten().any(|stage| stage.names.is_unused(name));
            if !unused {
                return Err(Failure::Usage(format!("no shader has a sampler `{name}`")));
            }
        }
    }
    Ok(textures)
}

fn read_mesh(path: &PathBuf) -> Result<Mesh, Failure> {
    match path.to_str() {
        Some("quad") => return Ok(Mesh::quad()),
        Some("sphere") => return Ok(Mesh::sphere()),
        _ => {}
    }
    let file = std::fs::File::open(path).map_err(|error| Failure::Read { path: path.clone(), error })?;
    Mesh::from_obj(&mut BufReader::new(file)).map_err(|error| Failure::Usage(format!("{}: {error}", path.display())))
}

/// Reads a PNG of any colour type.
fn read_texture(argument: &TextureArgument) -> Result<Texture, Failure> {
    let path = &argument.path;
    let file = std::fs::File::open(path).map_err(|error| Failure::Read { path: path.clone(), error })?;
    let wrong = |error: &dyn std::fmt::Display| Failure::Usage(format!("{}: not a PNG: {error}", path.display()));
    let mut decoder = png::Decoder::new(BufReader::new(file));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info().map_err(|error| wrong(&error))?;
    let size = reader.output_buffer_size().ok_or_else(|| wrong(&"it is too large"))?;
    let mut bytes = vec![0; size];
    let frame = reader.next_frame(&mut bytes).map_err(|error| wrong(&error))?;
    bytes.truncate(frame.buffer_size());
    let texels: Vec<u8> = match frame.color_type {
        png::ColorType::Rgba => bytes,
        png::ColorType::Rgb => bytes.chunks_exact(3).flat_map(|t| [t[0], t[1], t[2], 255]).collect(),
        png::ColorType::GrayscaleAlpha => bytes.chunks_exact(2).flat_map(|t| [t[0], t[0], t[0], t[1]]).collect(),
        // Palettes have been expanded.
        png::ColorType::Grayscale | png::ColorType::Indexed => bytes.iter().flat_map(|&t| [t, t, t, 255]).collect(),
    };
    let mut texture = Texture::from_rgba8(frame.width, frame.height, &texels)
        .ok_or_else(|| wrong(&"it has no pixels, or too many"))?;
    texture.set_wrap(argument.wrap);
    if argument.nearest {
        texture.set_nearest();
    }
    Ok(texture)
}

/// Reports parts that could not be drawn. Returns whether there were any.
fn say_errors(frames: &[Picture]) -> bool {
    let mut errors: Vec<&String> = frames.iter().flat_map(|picture| &picture.errors).collect();
    errors.sort();
    errors.dedup();
    for error in &errors {
        diagnostics::print(&format!("tgsic: a part of the picture was not drawn: {error}\n"));
    }
    !errors.is_empty()
}

/// Encodes the pictures as PNG, animated if there are several.
fn encode(frames: &[Picture], fps: u16) -> Result<Vec<u8>, png::EncodingError> {
    let mut bytes = Vec::new();
    let Some(first) = frames.first() else { return Ok(bytes) };
    let mut encoder = png::Encoder::new(&mut bytes, first.size.0, first.size.1);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    if frames.len() > 1 {
        encoder.set_animated(frames.len() as u32, 0)?;
        encoder.set_frame_delay(1, fps)?;
    }
    let mut writer = encoder.write_header()?;
    for frame in frames {
        writer.write_image_data(&frame.pixels)?;
    }
    writer.finish()?;
    Ok(bytes)
}

//! `draw`: renders a picture with a fragment shader, with or without a vertex shader.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use tgsi::tables::Processor;
use tgsi_compiler::Stage;
use tgsi_environment::{Inputs, Resources, RunLimits};
use tgsi_raster::{Mesh, Picture, Scene, SceneShader, Texture, draw as draw_scene};
use tgsi_verify::{Executor, ExecutorKind};

use crate::args::{Color, DrawArguments};
use crate::diagnostics::{self, Reporter};
use crate::draw_arguments::{ConstantRegister, TextureArgument};
use crate::input::{ShaderError, Source};
use crate::input_shader::InputShader;
use crate::limits::current;
use crate::output;
use crate::plan::Plan;
use crate::status::{Failure, Status};

/// The driver that runs shaders unless another executor is requested.
const PROCESSOR: &str = "cpu";

/// A shader ready to run.
struct Loaded {
    shader: InputShader,
    executor: Executor,
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
    let mut mesh = read_mesh(&arguments.mesh)?;
    if arguments.fit || arguments.vertex.is_none() {
        mesh.fit();
    }
    let textures = arguments.textures.iter().map(|argument| Ok((argument.unit, read_texture(argument)?)));
    let textures = textures.collect::<Result<BTreeMap<u32, Texture>, Failure>>()?;
    let fragment = load(&arguments.fragment, Processor::Fragment, via, &plan, &reporter)?;
    let vertex = match &arguments.vertex {
        Some(path) => match load(path, Processor::Vertex, via, &plan, &reporter)? {
            Some(loaded) => Some(loaded),
            None => return Ok(Status::ShaderError),
        },
        None => None,
    };
    let Some(fragment) = fragment else { return Ok(Status::ShaderError) };

    let limits = current().of_runs();
    let mut frames = Vec::new();
    for number in 0..arguments.frames {
        let seconds = number as f32 / f32::from(arguments.fps);
        let [for_vertex, for_fragment] = constants(arguments, seconds);
        let run_fragment = runner(&fragment, limits);
        let run_vertex = vertex.as_ref().map(|vertex| runner(vertex, limits));
        let mut picture = draw_scene(&Scene {
            size: arguments.size,
            vertex: vertex.as_ref().zip(run_vertex.as_ref()).map(|(vertex, run)| SceneShader {
                source: vertex.shader.interface(),
                run,
                constants: &for_vertex,
            }),
            fragment: SceneShader { source: fragment.shader.interface(), run: &run_fragment, constants: &for_fragment },
            mesh: &mesh,
            attributes: &arguments.attributes,
            textures: &textures,
            background: arguments.background,
        });
        if !arguments.alpha {
            picture.pixels.iter_mut().skip(3).step_by(4).for_each(|alpha| *alpha = 255);
        }
        frames.push(picture);
    }
    let errors = say_errors(&frames);
    let failed = |error: png::EncodingError| Failure::Write {
        path: arguments.output.clone(),
        error: std::io::Error::other(error),
    };
    output::write_file(&arguments.output, &encode(&frames, arguments.fps).map_err(failed)?)?;
    Ok(if errors { Status::ShaderError } else { Status::Success })
}

/// Reads a shader of a stage and prepares it to run. If it returns `None`, the errors have been shown.
fn load(
    path: &Path,
    stage: Processor,
    via: ExecutorKind,
    plan: &Plan,
    reporter: &Reporter,
) -> Result<Option<Loaded>, Failure> {
    let source = Source::read(path)?;
    let loaded = InputShader::checked(&source, plan).and_then(|(shader, warnings)| {
        reporter.diagnostics(&source, &warnings);
        let found = shader.interface().processor;
        if found != stage {
            let (wanted, is) = (stage.name(), found.name());
            return Err(ShaderError::Other(format!("expected a {wanted} shader, found {is}")));
        }
        let executor = plan.checker().executor(&shader.source(), via)?;
        Ok(Loaded { shader, executor })
    });
    match loaded {
        Ok(loaded) => Ok(Some(loaded)),
        Err(problem) => {
            reporter.problem(&source, &problem);
            Ok(None)
        }
    }
}

fn runner(
    loaded: &Loaded,
    limits: RunLimits,
) -> impl Fn(&Inputs, &mut dyn Resources) -> Result<tgsi_environment::Outputs, String> + Sync + '_ {
    move |inputs, resources| loaded.executor.run_with(inputs, resources, limits).map_err(|error| error.to_string())
}

/// Returns the constant buffers of the vertex and the fragment shader.
fn constants(arguments: &DrawArguments, seconds: f32) -> [Vec<Vec<u32>>; 2] {
    let mut buffers = [Vec::new(), Vec::new()];
    let mut set =
        |stage: usize, ConstantRegister { buffer, register }: ConstantRegister, first: usize, words: &[u32]| {
            let buffers: &mut Vec<Vec<u32>> = &mut buffers[stage];
            let (buffer, start) = (buffer as usize, 4 * register as usize + first);
            if buffers.len() <= buffer {
                buffers.resize(buffer + 1, Vec::new());
            }
            let content = &mut buffers[buffer];
            // Buffers consist of whole vec4s.
            let end = (start + words.len()).next_multiple_of(4);
            if content.len() < end {
                content.resize(end, 0);
            }
            content[start..start + words.len()].copy_from_slice(words);
        };
    for constant in &arguments.constants {
        for (stage, _) in [constant.for_vertex, constant.for_fragment].into_iter().enumerate().filter(|(_, is)| *is) {
            set(stage, constant.start, 0, &constant.words);
        }
    }
    if let Some(time) = arguments.time {
        for stage in 0..2 {
            set(stage, time.register, time.component, &[seconds.to_bits()]);
        }
    }
    buffers
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
    (texture.wrap, texture.nearest) = (argument.wrap, argument.nearest);
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

//! Commands of the test section.

use tgsi_ir::shader::ShaderStage;
use tgsi_raster::format::PixelFormat;
use tgsi_raster::primitives::{PolygonMode, Provoking, Topology};

use crate::blocks::BlockCommand;
use crate::buffers::BufferCommand;
use crate::formats::pixel_format;
use crate::framebuffer::Framebuffer;
use crate::lists::ListCommand;
use crate::queries::Query;
use crate::stream_output::StreamCommand;
use crate::textures::{Parameter, TextureKind};
use crate::words::{Words, components, double, float, integer};

/// An area of the window.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Area {
    /// A pixel.
    Pixel([f64; 2]),
    /// A rectangle: x, y, width, height.
    Rect([f64; 4]),
    /// The window.
    All,
}

/// A rectangle to draw.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Rectangle {
    /// x, y, width, height.
    pub area: [f32; 4],
    /// Texture coordinates of its corner, width, height.
    pub coordinates: [f32; 4],
    /// Whether the area is in pixels.
    pub is_ortho: bool,
    /// Whether the corners are a patch.
    pub is_patch: bool,
    /// The number of instances.
    pub instances: u32,
}

/// Vertices to draw.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrays {
    /// The way to form primitives.
    pub topology: Topology,
    /// The first vertex.
    pub first: usize,
    /// The number of vertices.
    pub count: usize,
    /// The number of instances.
    pub instances: u32,
}

/// A command.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Command {
    /// Sets the colour to clear with.
    ClearColor([f32; 4]),
    /// Sets the depth to clear with.
    ClearDepth(f32),
    /// Clears.
    Clear,
    /// Sets the colour of vertices.
    Color([f32; 4]),
    /// Draws a rectangle.
    DrawRect(Rectangle),
    /// Draws vertices.
    DrawArrays(Arrays),
    /// Sets the vertices of a patch.
    PatchVertices(usize),
    /// Sets the outer levels of pipelines without a tessellation control shader.
    OuterLevels([f32; 4]),
    /// Sets the inner levels of pipelines without a tessellation control shader.
    InnerLevels([f32; 2]),
    /// Sets the vertex that flat inputs come from.
    Provoking(Provoking),
    /// Selects an element of arrays of uniform blocks.
    BlockElement(u32),
    /// Compares colours. Coordinates are fractions of the window if `is_relative`.
    Probe { area: Area, is_relative: bool, expected: Vec<f32> },
    /// Compares the depth of a pixel.
    ProbeDepth([f64; 2], f32),
    /// Sets the tolerance of probes.
    Tolerance(Vec<f32>),
    /// Sets a uniform: type, name and values.
    Uniform(String, String, Vec<f64>),
    /// Sets a uniform of 64-bit integers or doubles: name and bits.
    UniformBits(String, Vec<u64>),
    /// Sets a uniform by location.
    UniformAt(u32, Vec<f64>),
    /// Gives all uniforms their initial values.
    ResetUniforms,
    /// Selects a function for a subroutine uniform.
    Subroutine(String, String),
    /// States a part of the place of uniforms in blocks.
    Block(BlockCommand),
    /// Changes or compares a buffer.
    Buffer(BufferCommand),
    /// Captures outputs, or compares captured values.
    Stream(StreamCommand),
    /// Compares a property of the program.
    Verify(Query),
    /// Runs workgroups, with the size of one if the shader does not state it.
    Compute([u32; 3], Option<[u32; 3]>),
    /// Sets the projection: left, right, bottom, top, near, far.
    Ortho([f64; 6]),
    /// The same with the size of the window.
    OrthoWindow,
    /// Sets the perspective projection: left, right, bottom, top, near, far.
    Frustum([f64; 6]),
    /// Sets a clip plane.
    ClipPlane(usize, [f64; 4]),
    /// Enables or disables a clip plane.
    EnableClipPlane(usize, bool),
    /// Enables or disables the depth test.
    EnableDepthTest(bool),
    /// Creates a texture for a unit.
    Texture(u32, TextureKind),
    /// Uses the texture of a unit as an image: unit, format.
    Image(u32, PixelFormat),
    /// Selects the framebuffer.
    Framebuffer(Framebuffer),
    /// Sets the part of triangles that is drawn.
    PolygonMode(PolygonMode),
    /// Selects the shader that uniforms are set in.
    ActiveShader(ShaderStage),
    /// Records, or plays recorded commands.
    List(ListCommand),
    /// Sets a field of a light: number, field, values.
    Light(usize, &'static str, Vec<f64>),
    /// Changes the last texture that was created with a target.
    TexParameter(Parameter),
    /// The shaders link.
    LinkSuccess,
    /// The shaders do not link.
    LinkError,
    /// A command without effect here.
    Nothing,
    /// Anything else.
    Unknown(String),
}

impl Command {
    /// Whether it compares results of shaders.
    pub(crate) fn is_probe(&self) -> bool {
        match self {
            Command::Probe { .. } | Command::ProbeDepth(..) => true,
            Command::Buffer(command) => command.is_probe(),
            Command::Stream(command) => matches!(command, StreamCommand::Probe(..)),
            _ => false,
        }
    }

    /// Parses a line without remarks.
    pub(crate) fn parse(line: &str) -> Command {
        parse(&mut Words::new(line)).unwrap_or_else(|| Command::Unknown(line.to_owned()))
    }
}

fn parse(words: &mut Words) -> Option<Command> {
    match words.next()?.as_str() {
        "clear" => match words.next().as_deref() {
            None => Some(Command::Clear),
            Some("color") => Some(Command::ClearColor(words.floats()?)),
            Some("depth") => Some(Command::ClearDepth(words.floats::<1>()?[0])),
            Some(_) => None,
        },
        "color" => Some(Command::Color(words.floats()?)),
        "draw" => draw(words),
        "probe" => probe(words, false),
        "relative" if words.eat("probe") => probe(words, true),
        "tolerance" => Some(Command::Tolerance(words.rest()?.into_iter().map(|value| value as f32).collect())),
        "uniform" => {
            let (ty, name) = (words.next()?, words.next()?);
            if ["int64", "uint64", "i64", "u64"].iter().any(|wide| ty.starts_with(wide)) {
                let values: Option<Vec<u64>> = std::iter::from_fn(|| words.next()).map(|word| integer(&word)).collect();
                return Some(Command::UniformBits(name, values?));
            }
            if ["double", "dvec", "dmat"].iter().any(|double| ty.starts_with(double)) && name.parse::<u32>().is_err() {
                let values: Option<Vec<u64>> = std::iter::from_fn(|| words.next()).map(|word| double(&word)).collect();
                let mut values = values?;
                values.extend(std::iter::repeat_n(0, components(&ty).saturating_sub(values.len())));
                return Some(Command::UniformBits(name, values));
            }
            // The interface knows the type, but not those of other sizes.
            let is_known =
                ["float", "double", "int", "uint", "bool", "vec", "dvec", "ivec", "uvec", "bvec", "mat", "dmat"];
            let is_number = is_known.iter().any(|known| ty.starts_with(known));
            let is_float = ["float", "vec", "mat"].iter().any(|known| ty.starts_with(known));
            let mut values = if is_float { words.rest_of(float)? } else { words.rest()? };
            // The original accepts too few values.
            let missing = components(&ty).saturating_sub(values.len());
            values.extend(std::iter::repeat_n(0.0, missing));
            let command = match name.parse() {
                Ok(location) => Command::UniformAt(location, values),
                Err(_) => Command::Uniform(ty, name, values),
            };
            Some(command).filter(|_| is_number)
        }
        "program" if words.eat("binary save restore") => Some(Command::ResetUniforms),
        "subuniform" => {
            let (_stage, name, function) = (words.next()?, words.next()?, words.next()?);
            Some(Command::Subroutine(name, function))
        }
        "ortho" if words.is_done() => Some(Command::OrthoWindow),
        "ortho" => {
            let [left, right, bottom, top] = words.numbers()?;
            Some(Command::Ortho([left, right, bottom, top, -1.0, 1.0]))
        }
        "frustum" => Some(Command::Frustum(words.numbers()?)),
        "clip" if words.eat("plane") => Some(Command::ClipPlane(clip_plane(words.index()?)?, words.numbers()?)),
        "enable" => enable(&words.next()?, true),
        "disable" => enable(&words.next()?, false),
        "texture" => {
            let (unit, kind) = TextureKind::parse(words)?;
            Some(Command::Texture(unit, kind))
        }
        "light" => {
            let number = words.index()?;
            let (_, field) = LIGHT_FIELDS.iter().find(|(name, _)| words.eat(name))?;
            // The type.
            words.eat("float");
            Some(Command::Light(number, field, words.rest()?))
        }
        "image" if words.eat("texture") => {
            let unit = words.uint()?;
            Some(Command::Image(unit, pixel_format(&words.next()?).filter(|format| format.sampled().is_some())?))
        }
        "fb" => Some(Command::Framebuffer(Framebuffer::parse(words)?)),
        "polygon" if words.eat("mode GL_FRONT_AND_BACK") => Some(Command::PolygonMode(match words.next()?.as_str() {
            "GL_FILL" => PolygonMode::Fill,
            "GL_LINE" => PolygonMode::Line,
            "GL_POINT" => PolygonMode::Point,
            "GL_FILL_RECTANGLE_NV" => PolygonMode::Rectangle,
            _ => return None,
        })),
        first @ ("newlist" | "endlist" | "calllist" | "deletelist") => {
            Some(Command::List(ListCommand::parse(first, words)?))
        }
        "texparameter" => Some(Command::TexParameter(Parameter::parse(words)?)),
        "link" if words.eat("success") => Some(Command::LinkSuccess),
        "link" if words.eat("error") => Some(Command::LinkError),
        "hint" => Some(Command::Nothing),
        "block" => Some(Command::Block(BlockCommand::parse(words)?)),
        "patch" if words.eat("parameter vertices") => Some(Command::PatchVertices(words.index().filter(|&n| n > 0)?)),
        "patch" if words.eat("parameter default level outer") => Some(Command::OuterLevels(words.floats()?)),
        "patch" if words.eat("parameter default level inner") => Some(Command::InnerLevels(words.floats()?)),
        "provoking" if words.eat("vertex first") => Some(Command::Provoking(Provoking::First)),
        "provoking" if words.eat("vertex last") => Some(Command::Provoking(Provoking::Last)),
        "ubo" if words.eat("array index") => Some(Command::BlockElement(words.uint()?)),
        // Each draw sees the memory of those before it.
        "memory" if words.eat("barrier") => Some(Command::Nothing),
        "active" if words.eat("shader program") => Some(Command::ActiveShader(match words.next()?.as_str() {
            "GL_VERTEX_SHADER" => ShaderStage::Vertex,
            "GL_TESS_CONTROL_SHADER" => ShaderStage::TessCtrl,
            "GL_TESS_EVALUATION_SHADER" => ShaderStage::TessEval,
            "GL_GEOMETRY_SHADER" => ShaderStage::Geometry,
            "GL_FRAGMENT_SHADER" => ShaderStage::Fragment,
            "GL_COMPUTE_SHADER" => ShaderStage::Compute,
            _ => return None,
        })),
        "active" if words.eat("uniform") => Some(Command::Verify(Query::uniform(words)?)),
        "ssbo" => Some(Command::Buffer(BufferCommand::storage(words)?)),
        "atomic" => Some(Command::Buffer(BufferCommand::counters(words)?)),
        "xfb" => Some(Command::Stream(StreamCommand::parse(words)?)),
        "verify" => Some(Command::Verify(Query::parse(words)?)),
        "compute" => {
            let has_size = words.eat("group size");
            let mut three = || Some([words.uint()?, words.uint()?, words.uint()?]);
            Some(Command::Compute(three()?, if has_size { Some(three()?) } else { None }))
        }
        _ => None,
    }
}

/// Fields of lights, and their names in the language.
const LIGHT_FIELDS: &[(&str, &str)] = &[
    ("GL_AMBIENT", "ambient"),
    ("GL_DIFFUSE", "diffuse"),
    ("GL_SPECULAR", "specular"),
    ("GL_POSITION", "position"),
    ("GL_SPOT_DIRECTION", "spotDirection"),
    ("GL_SPOT_EXPONENT", "spotExponent"),
    ("GL_SPOT_CUTOFF", "spotCutoff"),
    ("GL_CONSTANT_ATTENUATION", "constantAttenuation"),
    ("GL_LINEAR_ATTENUATION", "linearAttenuation"),
    ("GL_QUADRATIC_ATTENUATION", "quadraticAttenuation"),
];

/// The number of a clip plane.
fn clip_plane(number: usize) -> Option<usize> {
    const MAX_PLANES: usize = 8;
    (number < MAX_PLANES).then_some(number)
}

/// The largest number of instances.
const MAX_INSTANCES: u32 = 1 << 12;

fn draw(words: &mut Words) -> Option<Command> {
    if words.eat("arrays") {
        let is_instanced = words.eat("instanced");
        let topology = Topology::from_gl_name(&words.next()?)?;
        let (first, count) = (words.index()?, words.index()?);
        let instances = if is_instanced { words.uint().filter(|&count| count <= MAX_INSTANCES)? } else { 1 };
        return Some(Command::DrawArrays(Arrays { topology, first, count, instances }));
    }
    let is_instanced = words.eat("instanced");
    words.eat("rect").then_some(())?;
    let has_coordinates = words.eat("tex");
    let (is_ortho, is_patch) = (words.eat("ortho"), words.eat("patch"));
    let instances = if is_instanced { words.uint().filter(|&count| count <= MAX_INSTANCES)? } else { 1 };
    let area = words.floats()?;
    let coordinates = if has_coordinates { words.floats()? } else { [0.0, 0.0, 1.0, 1.0] };
    Some(Command::DrawRect(Rectangle { area, coordinates, is_ortho, is_patch, instances }))
}

fn probe(words: &mut Words, is_relative: bool) -> Option<Command> {
    if words.eat("warn") {
        // A difference is only a warning.
        return Some(Command::Nothing);
    }
    if words.eat("depth") {
        return Some(Command::ProbeDepth(words.numbers()?, words.floats::<1>()?[0]));
    }
    if words.eat("xfb buffer") {
        return Some(Command::Stream(StreamCommand::probe(words)?));
    }
    if let Some(command) = BufferCommand::probe(words) {
        return Some(Command::Buffer(command));
    }
    let (is_all, is_rect) = (words.eat("all"), words.eat("rect"));
    let components = match words.next()?.as_str() {
        "rgb" => 3,
        "rgba" => 4,
        _ => return None,
    };
    let area = match (is_all, is_rect) {
        (true, _) => Area::All,
        (_, true) => Area::Rect(words.numbers()?),
        _ => Area::Pixel(words.numbers()?),
    };
    let expected: Vec<f32> = words.rest()?.into_iter().map(|value| value as f32).collect();
    // Further values of `all` and `rect` probes are ignored by the original.
    let expected = expected.get(..components)?.to_vec();
    Some(Command::Probe { area, is_relative, expected })
}

fn enable(capability: &str, is_enabled: bool) -> Option<Command> {
    match capability {
        "GL_DEPTH_TEST" => Some(Command::EnableDepthTest(is_enabled)),
        "GL_PROGRAM_POINT_SIZE" | "GL_VERTEX_PROGRAM_POINT_SIZE" => Some(Command::Nothing),
        _ => {
            let number = capability.strip_prefix("GL_CLIP_PLANE").or(capability.strip_prefix("GL_CLIP_DISTANCE"))?;
            Some(Command::EnableClipPlane(clip_plane(number.parse().ok()?)?, is_enabled))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pretty_assertions::assert_eq;

    #[test]
    fn commands_are_read() {
        for (line, command) in [
            ("clear color 0 0.5 1 1", Command::ClearColor([0.0, 0.5, 1.0, 1.0])),
            (
                "draw rect -1 -1 2 2",
                Command::DrawRect(Rectangle {
                    area: [-1.0, -1.0, 2.0, 2.0],
                    coordinates: [0.0, 0.0, 1.0, 1.0],
                    is_ortho: false,
                    is_patch: false,
                    instances: 1,
                }),
            ),
            (
                "draw instanced rect ortho patch 3 0 0 20 20",
                Command::DrawRect(Rectangle {
                    area: [0.0, 0.0, 20.0, 20.0],
                    coordinates: [0.0, 0.0, 1.0, 1.0],
                    is_ortho: true,
                    is_patch: true,
                    instances: 3,
                }),
            ),
            (
                "draw arrays GL_TRIANGLE_FAN 0 4",
                Command::DrawArrays(Arrays { topology: Topology::TriangleFan, first: 0, count: 4, instances: 1 }),
            ),
            ("patch parameter vertices 4", Command::PatchVertices(4)),
            ("patch parameter default level inner 2 0.5", Command::InnerLevels([2.0, 0.5])),
            ("provoking vertex first", Command::Provoking(Provoking::First)),
            ("ubo array index 2", Command::BlockElement(2)),
            (
                "relative probe rgba (0.5, 0.25) (1, 0, 0, 1)",
                Command::Probe {
                    area: Area::Pixel([0.5, 0.25]),
                    is_relative: true,
                    expected: vec![1.0, 0.0, 0.0, 1.0],
                },
            ),
            (
                "probe all rgb 0.0 1.0 0.0",
                Command::Probe { area: Area::All, is_relative: false, expected: vec![0.0, 1.0, 0.0] },
            ),
            ("uniform ivec2 at[1] 3 -4", Command::Uniform("ivec2".to_owned(), "at[1]".to_owned(), vec![3.0, -4.0])),
            ("subuniform GL_FRAGMENT_SHADER f[1] red", Command::Subroutine("f[1]".to_owned(), "red".to_owned())),
            ("uniform dvec2 a 1 0x8000000000000000", Command::UniformBits("a".to_owned(), vec![1023 << 52, 1 << 63])),
            ("uniform i64vec2 a -1 0x10", Command::UniformBits("a".to_owned(), vec![u64::MAX, 16])),
            ("uniform int64_t a -0x10", Command::UniformBits("a".to_owned(), vec![16u64.wrapping_neg()])),
            ("uniform uint 3 7", Command::UniformAt(3, vec![7.0])),
            ("block offset 16", Command::Block(BlockCommand::Offset(16))),
            ("compute 1 2 3", Command::Compute([1, 2, 3], None)),
            ("compute group size 2 1 1 8 4 2", Command::Compute([2, 1, 1], Some([8, 4, 2]))),
            ("polygon mode GL_FRONT_AND_BACK GL_LINE", Command::PolygonMode(PolygonMode::Line)),
            ("active shader program GL_VERTEX_SHADER", Command::ActiveShader(ShaderStage::Vertex)),
            ("enable GL_CLIP_PLANE5", Command::EnableClipPlane(5, true)),
            ("draw arrays GL_CUBES 0 2", Command::Unknown("draw arrays GL_CUBES 0 2".to_owned())),
            ("probe rgba 1 2 3", Command::Unknown("probe rgba 1 2 3".to_owned())),
            ("enable GL_CLIP_PLANE9", Command::Unknown("enable GL_CLIP_PLANE9".to_owned())),
        ] {
            assert_eq!(Command::parse(line), command);
        }
    }
}

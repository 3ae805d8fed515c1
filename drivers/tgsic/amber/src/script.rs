//! The content of a script: declarations and commands. Names are resolved to indices.

use tgsi_driver_cpu::sampler::{Compare, Sampler};
use tgsi_ir::shader::ShaderStage;
use tgsi_raster::format::PixelFormat;
use tgsi_raster::primitives::{PolygonMode, Topology};

use crate::buffer::{Buffer, Value};
use crate::compare::{Area, Relation, Tolerance};
use crate::error::Refusal;
use crate::layout::Layout;

/// The language of a shader.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// The assembly of SPIR-V.
    SpirvAssembly,
    /// The words of SPIR-V in hexadecimal digits.
    SpirvHex,
    /// GLSL for Vulkan.
    Glsl,
}

/// A shader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shader {
    /// Its name.
    pub name: String,
    /// Its line.
    pub line: usize,
    /// Its stage; `None` for a module with several.
    pub stage: Option<ShaderStage>,
    /// Its language.
    pub language: Language,
    /// The version of SPIR-V or Vulkan, as programs name it: `spv1.3`, `vulkan1.1`.
    pub environment: Option<String>,
    /// Its source.
    pub text: String,
}

/// A shader of a pipeline.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attachment {
    /// The line of the command.
    pub line: usize,
    /// The number of the shader.
    pub shader: usize,
    /// The stage.
    pub stage: ShaderStage,
    /// The name of the entry point.
    pub entry: String,
    /// Specialisation constants: number and bits.
    pub constants: Vec<(u32, u32)>,
}

/// The use of a buffer by shaders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are those of the script")]
pub enum BindingKind {
    Uniform,
    Storage,
    StorageImage,
    SampledImage,
    CombinedImageSampler,
    UniformTexelBuffer,
    StorageTexelBuffer,
    InputAttachment,
}

/// An element of a descriptor.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BoundBuffer {
    /// The number of the buffer.
    pub buffer: usize,
    /// The number of the sampler, of a combined image.
    pub sampler: Option<usize>,
    /// The first byte that shaders see.
    pub offset: usize,
    /// The number of bytes; `None` for all.
    pub range: Option<usize>,
    /// The first mip level that shaders see.
    pub level: u32,
}

/// A descriptor with buffers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Binding {
    /// Set and binding.
    pub place: (u32, u32),
    /// Its use.
    pub kind: BindingKind,
    /// The elements.
    pub buffers: Vec<BoundBuffer>,
}

/// An image that is drawn on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ColorTarget {
    /// The number of the buffer.
    pub buffer: usize,
    /// The location of the output.
    pub location: u32,
    /// The mip level.
    pub level: u32,
}

/// An attribute of vertices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VertexData {
    /// The number of the buffer.
    pub buffer: usize,
    /// The location of the input.
    pub location: u32,
    /// Whether it changes by instance.
    pub is_per_instance: bool,
    /// The format.
    pub format: PixelFormat,
    /// The byte of the first vertex.
    pub offset: usize,
    /// Bytes from a vertex to the next.
    pub stride: usize,
}

/// Depth bias.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
#[expect(missing_docs, reason = "the names are those of the script")]
pub struct DepthBias {
    pub constant: f32,
    pub clamp: f32,
    pub slope: f32,
}

/// The test of depths.
#[derive(Clone, PartialEq, Debug)]
pub struct DepthState {
    /// Whether fragments are tested.
    pub test: bool,
    /// Whether depths are written.
    pub write: bool,
    /// The relation of new to old depths.
    pub compare: Compare,
    /// Whether primitives are not clipped at the near and far plane.
    pub clamp: bool,
    /// Bias.
    pub bias: Option<DepthBias>,
}

impl Default for DepthState {
    fn default() -> Self {
        DepthState { test: false, write: false, compare: Compare::Always, clamp: false, bias: None }
    }
}

/// The place of clip space in the framebuffer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ViewportState {
    /// The upper left corner.
    pub corner: [f32; 2],
    /// Width and height.
    pub size: [f32; 2],
    /// Depths of the near and the far plane.
    pub depths: [f32; 2],
}

/// A pipeline.
#[derive(Clone, PartialEq, Debug)]
pub struct Pipeline {
    /// Its name.
    pub name: String,
    /// Whether it is a compute pipeline.
    pub is_compute: bool,
    /// Its shaders.
    pub stages: Vec<Attachment>,
    /// Descriptors with buffers.
    pub bindings: Vec<Binding>,
    /// Descriptors with samplers: set and binding, numbers of samplers.
    pub samplers: Vec<((u32, u32), Vec<usize>)>,
    /// Colour attachments.
    pub colors: Vec<ColorTarget>,
    /// Buffers that receive the mean of the samples of colour attachments, in order.
    pub resolves: Vec<usize>,
    /// The depth attachment.
    pub depth_target: Option<usize>,
    /// The buffer with push constants.
    pub push_constants: Option<usize>,
    /// Attributes of vertices.
    pub vertex_data: Vec<VertexData>,
    /// The buffer of indices.
    pub indices: Option<usize>,
    /// Width and height of the framebuffer.
    pub size: [u32; 2],
    /// The viewport, unless it is the framebuffer.
    pub viewport: Option<ViewportState>,
    /// The test of depths.
    pub depth: DepthState,
    /// The form of triangles.
    pub polygon_mode: PolygonMode,
    /// Vertices of a patch.
    pub patch_vertices: u32,
}

/// The size of a framebuffer that the script leaves open.
const DEFAULT_SIZE: [u32; 2] = [250, 250];

impl Pipeline {
    /// An empty pipeline.
    pub fn new(name: &str, is_compute: bool) -> Pipeline {
        Pipeline {
            name: name.to_owned(),
            is_compute,
            stages: Vec::new(),
            bindings: Vec::new(),
            samplers: Vec::new(),
            colors: Vec::new(),
            resolves: Vec::new(),
            depth_target: None,
            push_constants: None,
            vertex_data: Vec::new(),
            indices: None,
            size: DEFAULT_SIZE,
            viewport: None,
            depth: DepthState::default(),
            polygon_mode: PolygonMode::Fill,
            patch_vertices: 3,
        }
    }

    /// The shader of a stage.
    pub fn stage(&self, stage: ShaderStage) -> Option<&Attachment> {
        self.stages.iter().find(|attachment| attachment.stage == stage)
    }
}

/// The vertices of a draw.
#[derive(Clone, PartialEq, Debug)]
pub enum Shape {
    /// Positions at location 0.
    Positions(Vec<[f32; 2]>, Topology),
    /// The attributes of the pipeline.
    Arrays {
        /// The way to form primitives.
        topology: Topology,
        /// Whether indices choose the vertices.
        is_indexed: bool,
        /// The first vertex or index.
        first: u32,
        /// The number of vertices; `None` for the rest.
        count: Option<u32>,
        /// The first instance.
        first_instance: u32,
        /// The number of instances.
        instances: u32,
    },
}

/// An expectation.
#[derive(Clone, PartialEq, Debug)]
pub enum Expectation {
    /// Numbers of a buffer.
    Numbers {
        /// The number of the buffer.
        buffer: usize,
        /// Places of the numbers; `None` for those of the buffer.
        layout: Option<Layout>,
        /// The first byte.
        offset: usize,
        /// The relation.
        relation: Relation,
        /// Tolerances.
        tolerances: Vec<Tolerance>,
        /// The values.
        values: Vec<Value>,
    },
    /// Colours of an area.
    Colors {
        /// The number of the buffer.
        buffer: usize,
        /// The area; `None` for the image.
        area: Option<Area>,
        /// Red, green, blue, and alpha if it counts.
        values: Vec<f64>,
        /// Tolerances.
        tolerances: Vec<Tolerance>,
    },
    /// Equal bytes of two buffers.
    Bytes(usize, usize),
    /// The root of the mean square of the differences of two buffers, and its greatest value.
    RootMeanSquare(usize, usize, f64),
    /// The distance of the histograms of two buffers, and its greatest value.
    Histograms(usize, usize, f64),
}

/// A command.
#[derive(Clone, PartialEq, Debug)]
pub enum Command {
    /// Sets the colour to clear with.
    ClearColor(usize, [f32; 4]),
    /// Sets the depth to clear with.
    ClearDepth(usize, f32),
    /// Clears the attachments of a pipeline.
    Clear(usize),
    /// Runs workgroups: their number in each dimension.
    Compute(usize, [u32; 3]),
    /// Draws.
    Draw(usize, Shape),
    /// Copies a buffer to another.
    Copy(usize, usize),
    /// Writes numbers to a buffer.
    Write {
        /// The number of the buffer.
        buffer: usize,
        /// Places of the numbers.
        layout: Layout,
        /// The first byte.
        offset: usize,
        /// The values.
        values: Vec<Value>,
    },
    /// Chooses the entry point of a stage of a pipeline.
    EntryPoint(usize, ShaderStage, String),
    /// An expectation.
    Expect(Expectation),
    /// Repeats commands.
    Repeat(u32, Vec<(usize, Command)>),
}

/// A script.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Script {
    /// Shaders.
    pub shaders: Vec<Shader>,
    /// Buffers with their content at the start.
    pub buffers: Vec<Buffer>,
    /// Samplers with their names.
    pub samplers: Vec<(String, Sampler)>,
    /// Pipelines.
    pub pipelines: Vec<Pipeline>,
    /// Commands with their lines.
    pub commands: Vec<(usize, Command)>,
    /// Whether the script requires that depths are limited to 0 to 1.
    pub limits_depths: bool,
}

/// Reads the files that scripts name; `None` if there is no such file.
pub type ReadFile<'a> = dyn Fn(&str) -> Option<Vec<u8>> + 'a;

impl Script {
    /// Reads a script in either dialect: AmberScript if it begins with `#!amber`, else VkScript.
    ///
    /// # Errors
    /// The first line that is malformed, or has a command that this crate lacks.
    pub fn parse(text: &str, files: &ReadFile<'_>) -> Result<Script, Refusal> {
        if text.starts_with("#!amber") { crate::parse::parse(text, files) } else { crate::vkscript::parse(text) }
    }

    /// The number of expectations, without repetitions.
    pub fn expectations(&self) -> usize {
        fn count(commands: &[(usize, Command)]) -> usize {
            let counts = commands.iter().map(|(_, command)| match command {
                Command::Expect(_) => 1,
                Command::Repeat(_, commands) => count(commands),
                _ => 0,
            });
            counts.sum()
        }
        count(&self.commands)
    }
}

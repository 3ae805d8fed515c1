//! The data of a scene and of its picture.

use std::collections::BTreeMap;

use tgsi::Shader;
use tgsi_environment::{Inputs, Outputs, Resources};

use crate::mesh::{Attribute, Mesh, Vertex};
use crate::primitives::{PolygonMode, Primitive};
use crate::stages::Registers;
use crate::texture::Texture;

/// Runs a shader once for all lanes.
pub type ShaderRunner<'a> = dyn Fn(&Inputs, &mut dyn Resources) -> Result<Outputs, String> + Sync + 'a;

/// A shader of a scene.
#[derive(Clone, Copy)]
pub struct SceneShader<'a> {
    /// The shader, for its declarations and properties.
    pub source: &'a Shader,
    /// The executor.
    pub run: &'a ShaderRunner<'a>,
    /// Constant buffers: words from vec4 0.
    pub constants: &'a [Vec<u32>],
    /// Textures by unit; the other units have a checkerboard.
    pub textures: &'a BTreeMap<u32, Texture>,
}

/// The source of an input of the vertex shader.
#[derive(Clone, PartialEq, Debug)]
pub enum VertexInput {
    /// An attribute of the mesh.
    Attribute(Attribute),
    /// Four words for each vertex.
    Vertices(Vec<[u32; 4]>),
    /// The same four words for all vertices.
    Constant([u32; 4]),
}

impl VertexInput {
    /// The words of a vertex; zeros if there are too few.
    pub(crate) fn words(&self, vertex: &Vertex, number: usize) -> [u32; 4] {
        match self {
            VertexInput::Attribute(attribute) => vertex.get(*attribute).map(f32::to_bits),
            VertexInput::Vertices(words) => words.get(number).copied().unwrap_or_default(),
            VertexInput::Constant(words) => *words,
        }
    }
}

/// Rules of the fixed-function pipeline that apply besides the shaders.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FixedFunctions {
    /// Whether hidden pixels are drawn, and depths are not written.
    pub ignores_depth: bool,
    /// Whether colours between the stages are limited to 0 to 1.
    pub clamps_colors: bool,
    /// User clip planes: the factors of x, y, z and w of the clip vertex, or of the position of shaders that do not write
    /// one. A clip distance that the shader writes replaces that of its plane.
    pub clip_planes: Vec<Option<[f32; 4]>>,
    /// The clip distances of shaders that do not clip: one bit each.
    pub ignored_distances: u8,
    /// The part of triangles that is drawn.
    pub polygon_mode: PolygonMode,
    /// Whether the fragment shader runs for hidden pixels, too, as it changes memory.
    pub tests_late: bool,
}

/// A scene to draw.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The vertex shader. Without one, positions are those of the mesh, and inputs of the fragment shader are
    /// attributes of the mesh, selected by semantic.
    pub vertex: Option<SceneShader<'a>>,
    /// The fragment shader; output `COLOR[0]` is drawn.
    pub fragment: SceneShader<'a>,
    /// The triangles.
    pub mesh: &'a Mesh,
    /// The inputs of the vertex shader, from `IN[0]` on.
    pub inputs: &'a [VertexInput],
    /// Other rules.
    pub fixed_functions: &'a FixedFunctions,
}

/// The outputs of the last stage before the rasteriser, and the primitives between its vertices.
#[derive(Clone, Copy, Debug)]
pub struct Processed<'a> {
    /// The shader of the stage, for its declarations.
    pub source: &'a Shader,
    /// The output registers of each vertex.
    pub vertices: &'a [Registers],
    /// The primitives, in order, each with the number that the fragment shader sees.
    pub primitives: &'a [(u32, Primitive)],
}

/// A picture, with the depths of its pixels.
#[derive(Clone, PartialEq, Debug)]
pub struct Picture {
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// Red, green, blue, alpha of each pixel, rows from the top.
    pub pixels: Vec<u8>,
    /// The depth of each pixel, 0 to 1.
    pub depths: Vec<f32>,
    /// The reasons why some pixels, or all, are not drawn, without duplicates.
    pub errors: Vec<String>,
}

impl Picture {
    /// A picture of one colour (red, green, blue, alpha) at the greatest depth.
    pub fn new(size: (u32, u32), color: [u8; 4]) -> Picture {
        let count = size.0 as usize * size.1 as usize;
        Picture { size, pixels: color.repeat(count), depths: vec![1.0; count], errors: Vec::new() }
    }
}

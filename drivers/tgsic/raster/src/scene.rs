//! The data of a scene and of its picture.

use std::collections::BTreeMap;

use tgsi::Shader;
use tgsi_environment::{Inputs, Outputs, Resources};

use crate::mesh::{Attribute, Mesh};
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
}

/// A scene to draw.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// The vertex shader. Without one, positions are those of the mesh, and inputs of the fragment shader are
    /// attributes of the mesh, selected by semantic.
    pub vertex: Option<SceneShader<'a>>,
    /// The fragment shader; output `COLOR[0]` is drawn.
    pub fragment: SceneShader<'a>,
    /// The triangles.
    pub mesh: &'a Mesh,
    /// The attributes for the inputs of the vertex shader, from `IN[0]` on.
    pub attributes: &'a [Attribute],
    /// Textures by unit.
    pub textures: &'a BTreeMap<u32, Texture>,
    /// The colour of uncovered pixels: red, green, blue, alpha.
    pub background: [u8; 4],
}

/// A picture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Picture {
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// Red, green, blue, alpha of each pixel, rows from the top.
    pub pixels: Vec<u8>,
    /// The reasons why some pixels, or all, are not drawn, without duplicates.
    pub errors: Vec<String>,
}

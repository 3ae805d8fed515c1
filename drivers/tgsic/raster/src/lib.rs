//! A small rasteriser: draws pictures with a vertex and a fragment shader, on the CPU.
//!
//! It serves to inspect the effect of shaders, and to compare it with a driver. The pipeline is that of OpenGL:
//!
//! ```text
//! mesh ──vertices──> clip space ──clip──> triangles ──set up, binned into tiles──> quads ──fragments──> depth, colour
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `mesh` | triangles with positions, texture coordinates, normals and colours; Wavefront OBJ |
//! | `format` | pixel formats by name, and their texels |
//! | `texture` | images with mip levels, as textures of the built-in sampler |
//! | `vertex` | the vertex stage: a shader, or the built-in one, which forwards the mesh |
//! | `clip` | clipping at the near and far planes and where clip distances are negative |
//! | `triangle` | set-up: edges with the top-left rule, depth, interpolation |
//! | `fragment` | the fragment stage over many quads at once |
//! | `scene` | the data of scenes and pictures |
//! | `primitives` | primitives from vertices |
//! | `domain` | the subdivision of patches |
//! | `stages` | the tessellation and geometry stages |
//! | `between` | the properties of these stages, by declarations of shaders |
//! | `pieces` | points, lines and triangles as triangles in the framebuffer |
//! | `workgroups` | the inputs of compute shaders |
//! | `draw` | the whole pipeline, tile by tile |
//!
//! - The executor of shaders is a parameter ([`ShaderRunner`]): an interpreter, or code of a driver.
//! - Window coordinates have their origin in the upper left corner. In clip space, as in OpenGL, y points up and z is
//!   between -w and w. Triangles that are counter-clockwise on the screen face the viewer. No face is culled.
//! - Lanes of a run are quads in the order of [`tgsi_environment`]; uncovered pixels of a quad are helpers.
//! - [`setup`] has the parts between vertices and pixels for other pipelines, such as Vulkan's.
//! - A run that fails draws nothing: its pixels keep the background, and the error is reported with the picture.

pub mod between;
mod clip;
pub mod domain;
mod draw;
pub mod format;
mod fragment;
mod interface;
pub mod mesh;
mod pieces;
pub mod primitives;
mod scene;
pub mod stages;
pub mod texture;
mod triangle;
mod vertex;
pub mod workgroups;

/// The inputs of vertex shaders, clipping, and set-up of triangles.
pub mod setup {
    pub use crate::clip::{DepthRange, MAX_DISTANCES, ShadedVertex, clip};
    pub use crate::pieces::{Piece, Pieces, Sprite};
    pub use crate::texture::{Units, units};
    pub use crate::triangle::{Triangle, Viewport, Weights};
    pub use crate::vertex::vertex_inputs;
}

pub use draw::{draw, draw_primitives, layers};
pub use mesh::{Attribute, Mesh, MeshError};
pub use scene::{FixedFunctions, Picture, Processed, Scene, SceneShader, ShaderRunner, VertexInput};
pub use texture::{Channel, Texture, WrapMode};

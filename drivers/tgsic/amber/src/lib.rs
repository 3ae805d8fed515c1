//! Plays Amber scripts: tests of shaders, with pipelines, buffers, draws, and the expected results.
//!
//! ```text
//! script ──Script──> commands ──Modules──> SPIR-V ──play, with a front end and an executor──> failures by line
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `error` | the reasons why a script is not played |
//! | `tokens`, `script` | words by line; the content of a script |
//! | `parse`, `vkscript` | the parsers of AmberScript and of the older VkScript |
//! | `layout`, `buffer` | data types in memory; buffers and images |
//! | `compare` | expectations |
//! | `assemble` | modules of shaders, by the programs `spirv-as` and `glslangValidator` |
//! | `program` | a shader ready to run by an executor |
//! | `textures`, `resources` | the registers of a shader from the descriptors of a pipeline |
//! | `compute`, `graphics` | workgroups; draws |
//! | `play` | the machine: commands, and checks of expectations |
//!
//! The scripts are described in the documentation of Amber, <https://github.com/google/amber>. Where the description
//! leaves a choice, the meaning is that of Amber on Vulkan.
//!
//! - The executor of shaders is a parameter ([`Executor`]): the interpreter of the IR at a stage, or the code of a
//!   driver.
//! - A script that needs something else is not played, and the reason is returned ([`Refusal`]).

mod assemble;
mod buffer;
mod compare;
mod compute;
mod error;
mod graphics;
mod layout;
mod parse;
mod play;
mod program;
mod resources;
mod script;
mod textures;
mod tokens;
mod vkscript;

pub use assemble::{Modules, programs};
pub use buffer::{Buffer, Dimension, Value};
pub use compare::{Area, Relation, Tolerance};
pub use error::{Refusal, RefusalKind};
pub use layout::{DataType, Layout, Member, Rules, Segment};
pub use play::{Failure, Outcome, play};
pub use program::Executor;
pub use script::{
    Attachment, Binding, BindingKind, BoundBuffer, ColorTarget, Command, DepthBias, DepthState, Expectation, Language,
    Pipeline, ReadFile, Script, Shader, Shape, VertexData, ViewportState,
};
pub use tgsi_raster::format::{Channel, Encoding, Part, PixelFormat};
pub use tgsi_raster::primitives::{PolygonMode, Topology};

//! The environment of a shader: inputs, outputs and resources of a run, and what every executor of shaders must agree
//! on: dimensions of textures, pixel formats, positions of samples, system values.
//!
//! The interpreter of TGSI, the interpreter of the IR and every driver that runs code take the same [`Inputs`] and
//! [`Resources`], so that their [`Outputs`] can be compared word by word.

#[macro_use]
mod named_enum;
mod interface_integers;
mod io;
mod pixel_format;
mod random;
pub mod sample_positions;
mod sampler_dim;
pub mod special;
mod system_value;

pub use interface_integers::{EVERY_REGISTER, InterfaceIntegers, is_integer};
pub use io::{
    AnalyticResources, ImageTexel, Inputs, KILLED_STEPS, LaneRegisters, MAX_LANES, Outputs, Resources, RunLimits,
    SUBGROUP_SIZE, TextureLookup, TextureRequest, TextureSize, Vec4,
};
pub use pixel_format::PixelFormat;
pub use random::Random;
pub use sampler_dim::SamplerDim;
pub use system_value::SystemValue;

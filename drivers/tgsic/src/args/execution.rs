//! Arguments of commands that run shaders.

use std::path::PathBuf;

use clap::Args;
use tgsi_raster::Attribute;
use tgsi_verify::ExecutorKind;

use super::driver_options::PassArguments;
use crate::draw_arguments::{self, ConstantArgument, TextureArgument, TimeArgument, UniformArgument};
use crate::executor_kind::executor_kind;

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Shader: TGSI, GLSL, SPIR-V or IR, told apart by extension and content. Without one, or for `-`, standard input
    /// is read.
    pub file: Option<PathBuf>,
    /// Executor: `tgsi`, `ir` (as converted, or as given), `ssa`, `opt`, `registers`, or `driver:<name>`, which implies
    /// `--driver`. The default is `tgsi` for TGSI and `ir` for IR.
    #[arg(long, value_name = "EXECUTOR", value_parser = executor_kind)]
    pub via: Option<ExecutorKind>,
    /// A file of recorded results (JSON lines, gzip if the name ends in `.gz`): use the inputs of the first result.
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    pub vector: Option<PathBuf>,
    /// Set of generated inputs: 0 floats, 1 small integers, 2 integers as floats, 3 a mixture, 4 special values.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Print the result as JSON.
    #[arg(long)]
    pub json: bool,
    /// Print the inputs as the left side of a `; value:` line of a fixture, instead of running the shader.
    #[arg(long, conflicts_with = "json")]
    pub inputs: bool,
    /// Maximum number of executed instructions, the same as `--limit steps=N`.
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,
    #[command(flatten)]
    pub passes: PassArguments,
}

/// Arguments of `draw`.
#[derive(Debug, Args)]
pub struct DrawArguments {
    /// A file with the shaders of a pipeline (`.shader_test`), whose test section is played, or an Amber script
    /// (`.amber`): the picture is that at its end. Probes that fail are shown, and the exit status is 1 then. Files
    /// that require SPIR-V are played with their sections in SPIR-V text, which `spirv-as` assembles: uniforms by
    /// location, buffers, atomic counters, `compute`, `xfb` and `verify`.
    #[arg(conflicts_with_all = ["fragment", "vertex", "mesh", "fit", "attributes", "textures", "constants", "uniforms",
          "time", "size", "frames", "background"])]
    pub test: Option<PathBuf>,
    /// Fragment shader.
    #[arg(long, value_name = "FILE", required_unless_present = "test")]
    pub fragment: Option<PathBuf>,
    /// Vertex shader. Without one, the mesh is scaled to fit and shown unchanged, and inputs of the fragment shader
    /// are, by semantic: COLOR the colour, NORMAL the normal, TEXCOORD and `GENERIC[0]` the texture coordinates,
    /// `GENERIC[1]` the normal, `GENERIC[2]` the position.
    #[arg(long, value_name = "FILE")]
    pub vertex: Option<PathBuf>,
    /// `quad`, a square from -1 to 1; `sphere`, of radius 1; or a file in Wavefront's OBJ format.
    #[arg(long, value_name = "quad|sphere|FILE", default_value = "quad")]
    pub mesh: PathBuf,
    /// Move and scale the mesh into the cube from -1 to 1 even with a vertex shader.
    #[arg(long)]
    pub fit: bool,
    /// The inputs of the vertex shader, from `IN[0]` on. The default is `position,texcoord,normal,color`; in a
    /// language with names, attributes that fit the names of the inputs.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = draw_arguments::attribute)]
    pub attributes: Vec<Attribute>,
    /// A texture for a sampler or a unit, PNG: `image=wood.png`, `0=wood.png`; with `,nearest` not filtered, with
    /// `,clamp` not repeated. Other units have a checkerboard.
    #[arg(long = "texture", value_name = "NAME|UNIT=FILE")]
    pub textures: Vec<TextureArgument>,
    /// Values of a uniform, of languages with names: `tint=1,0,0.5,1`, `lights[2].color=1,1,1`; matrices in the order
    /// of columns, arrays from the first element on. May be repeated.
    #[arg(long = "uniform", value_name = "NAME=VALUES")]
    pub uniforms: Vec<UniformArgument>,
    /// Values of constants: `3=1,0,0.5,1` for `CONST[0][3]`, more than four continue in the next registers; `1/3=...`
    /// for `CONST[1][3]`; `vertex:3=...` and `fragment:3=...` for one of the shaders. Floats, integers as `7i`, bits as
    /// `0x3f800000`. May be repeated.
    #[arg(long = "const", value_name = "REGISTER=VALUES")]
    pub constants: Vec<ConstantArgument>,
    /// Destination of the time in seconds, N / FPS for frame N: a uniform, `5.x` for `CONST[0][5].x`, `1/5.w` for
    /// `CONST[1][5].w`.
    #[arg(long, value_name = "NAME|REGISTER.COMPONENT")]
    pub time: Option<TimeArgument>,
    /// Number of frames; several frames make an animated PNG.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub frames: u32,
    /// Frames per second.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub fps: u16,
    /// Width and height in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "512x512", value_parser = draw_arguments::size)]
    pub size: (u32, u32),
    /// Colour of the background: red, green, blue, alpha, two hexadecimal digits each.
    #[arg(long, value_name = "RRGGBBAA", default_value = "000000ff", value_parser = draw_arguments::color)]
    pub background: [u8; 4],
    /// Keep the alpha that the shader writes. The default is an opaque picture.
    #[arg(long)]
    pub alpha: bool,
    /// The picture, PNG.
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Executor of the shaders: `tgsi`, `ir`, `ssa`, `opt`, `registers`, `driver:<name>`. The default is the CPU
    /// driver, or `opt` if another driver is named or this build lacks the CPU driver.
    #[arg(long, value_name = "EXECUTOR", value_parser = executor_kind)]
    pub via: Option<ExecutorKind>,
    #[command(flatten)]
    pub passes: PassArguments,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Shaders to run with generated inputs through every stage: TGSI, GLSL, SPIR-V or IR, told apart by extension
    /// and content. Without any, or for `-`, standard input is read.
    pub files: Vec<PathBuf>,
    /// Recorded results (JSON lines, gzip if the name ends in `.gz`) to compare with instead.
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub vectors: Option<PathBuf>,
    /// Folder that the paths in the recorded results are relative to.
    #[arg(long, value_name = "DIR", default_value = ".", requires = "vectors")]
    pub root: PathBuf,
    /// Executor of recorded results: `tgsi`, `ir` (as converted), `ssa`, `opt`, `registers`, or `driver:<name>`, which
    /// implies `--driver`.
    #[arg(long, value_name = "EXECUTOR", default_value = "tgsi", requires = "vectors", value_parser = executor_kind)]
    pub via: ExecutorKind,
    /// Print the totals as one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Sets of inputs to make for each shader.
    #[arg(long, default_value_t = 12, value_name = "N", conflicts_with = "vectors")]
    pub seeds: u64,
    /// Compare bit by bit, except for NaN and the sign of zero. This fits shaders of `smith`, and targets that keep
    /// rounding (`--dialect virgl`). For the latter, also compare with the results of a consumer that rounds
    /// differently inside MAD, LRP and dot products.
    #[arg(long, conflicts_with = "vectors")]
    pub exact: bool,
    /// Also validate and run the IR after every pass that changed it, and name the first pass that breaks it.
    #[arg(long, conflicts_with = "vectors")]
    pub each_pass: bool,
    /// Compare vertex, tessellation and geometry shaders with N variants of themselves (other outputs, other code
    /// around the same expressions; 16 without a number): outputs that both have must be bit-identical, even for a
    /// consumer that rounds differently inside MAD, LRP and dot products.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "16",
          conflicts_with_all = ["vectors", "each_pass", "exact"])]
    pub invariance: Option<u64>,
    #[command(flatten)]
    pub passes: PassArguments,
}

//! Arguments of commands that check and convert shaders.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tgsi_compiler::Stage;
use tgsi_ir::passes::pipeline;

use super::driver_options::{DialectName, PassArguments, TargetListParser};
use super::help_texts::FIT_TARGET;
use super::{Files, WarningArguments};
use crate::pass_list;

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Shaders: TGSI, GLSL, SPIR-V or IR, told apart by extension and content. Without any, or for `-`, standard input
    /// is read.
    pub files: Vec<PathBuf>,
    /// Do not show warnings.
    #[arg(short, long)]
    pub quiet: bool,
    /// Show all findings. The default is the first 20 of a shader, errors before warnings.
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub warnings: WarningArguments,
    /// Dialect of TGSI. Shaders recorded by `proxy --record` have the dialect `virgl`.
    #[arg(long, value_enum, default_value_t = DialectName::Mesa, value_name = "DIALECT")]
    pub dialect: DialectName,
}

/// Arguments of `extract`.
#[derive(Debug, Args)]
pub struct ExtractArguments {
    /// Texts. Without any, or for `-`, standard input is read.
    pub files: Vec<PathBuf>,
    /// Write the shader to this file, if there is one. The default is standard output.
    #[arg(short, long, value_name = "FILE", conflicts_with = "out_dir")]
    pub output: Option<PathBuf>,
    /// Write each shader of a text `a/b.log` to `DIR/a/b-1.vert.tgsi`, with its number and stage.
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// List the shaders, with line and stage, instead of printing one. With --out-dir, print the list, too.
    #[arg(long)]
    pub list: bool,
    /// Print one line of JSON per shader.
    #[arg(long, conflicts_with = "list")]
    pub json: bool,
}

/// Arguments of `link`.
#[derive(Debug, Args)]
pub struct LinkArguments {
    /// Shaders of a pipeline, in any order: TGSI, GLSL, SPIR-V or IR, told apart by extension and content; standard
    /// input for `-`. Several files of one stage in GLSL are units of one shader.
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// Write the result of each input `a/b.tgsi` to `DIR/a/b` with the extension of the result. Without it, results go
    /// to standard output as text, each under a line that names its stage and file.
    #[arg(short, long = "out-dir", value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// All stages see the same constant buffers: a constant that is an output is loaded by the next stage instead.
    #[arg(long)]
    pub shared_constants: bool,
    /// The rasteriser may replace texture coordinates (TEXCOORD) by those of point sprites: do not change them.
    #[arg(long)]
    pub point_sprites: bool,
    /// An output register of the last stage before the rasteriser that is read by other consumers, such as stream
    /// output: do not change it. May be repeated.
    #[arg(long = "keep", value_name = "REGISTER")]
    pub kept: Vec<u32>,
    /// Print binary code (of drivers such as spirv) as text, also with --out-dir.
    #[arg(long)]
    pub assembly: bool,
    /// Print one line of JSON per shader on standard output, instead of its code: the driver's assignments for inputs,
    /// outputs and resources. `translate --help` lists the keys.
    #[arg(long, conflicts_with = "json")]
    pub reflect: bool,
    /// Print the changes made by linking as one JSON object on standard output, instead of the code.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub passes: PassArguments,
}

/// Arguments of `fit`.
#[derive(Debug, Args)]
#[command(mut_arg("target", |target| target.value_name("NAMES").value_parser(TargetListParser).help(FIT_TARGET)))]
pub struct FitArguments {
    /// Shaders, and folders: of these, all files below them with a file extension of a language. Without any, or for
    /// `-`, standard input is read.
    pub files: Vec<PathBuf>,
    /// Measure shaders as they are. By default they are translated for the target first, like those that its driver
    /// gets.
    #[arg(long)]
    pub as_is: bool,
    /// Print one line of JSON per shader and target, with both.
    #[arg(long)]
    pub json: bool,
    /// Also print the source, with the instructions that come from each line, in the units of the target (`alu`, `texture`
    /// and so on), then those that come from no line, and totals. The instructions of a statement are those of its first
    /// line. With --json, add `lines` to the objects.
    #[arg(long)]
    pub lines: bool,
    /// Also write a self-contained HTML page: the matrix, and for each shader counts, findings and the source with the
    /// instructions of each line; the languages of the targets.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Measure each shader with each set of definitions in this file, shown as `shader.frag [NAME]`. A line is a name and
    /// definitions: `shadows: -D SHADOWS=1 -D FOO`; comments begin with `#`. They are added to those of the command line.
    #[arg(long, value_name = "FILE")]
    pub variants: Option<PathBuf>,
    /// Accept languages that the target's driver does not have. By default, shaders are read with its versions, extensions
    /// and built-in constants. Options of front ends always take precedence.
    #[arg(long)]
    pub any_language: bool,
    /// Print these versions, extensions and constants as a table, for the targets or for all of the driver.
    #[arg(long, conflicts_with = "files")]
    pub languages: bool,
    #[command(flatten)]
    pub warnings: WarningArguments,
    #[command(flatten)]
    pub passes: PassArguments,
}

/// The passes of the pipelines.
pub(super) fn pass_names() -> Vec<&'static str> {
    pipeline::passes().iter().map(|pass| pass.info().name).collect()
}

/// The stages by name.
pub(super) fn stages() -> impl TypedValueParser<Value = Stage> {
    let about = |stage| match stage {
        Stage::Parsed => "As converted from TGSI, or as given",
        Stage::Ssa => "In SSA form, without copies and dead code",
        Stage::Opt => "Optimised for the driver",
        Stage::Registers => {
            "Lowered for the code generation of the driver: for TGSI out of SSA, with trivial register accesses"
        }
    };
    let values = Stage::ALL.map(|stage| PossibleValue::new(stage.name()).help(about(stage)));
    PossibleValuesParser::new(values).map(|name| Stage::from_name(&name).unwrap_or(Stage::Ssa))
}

/// Arguments of `ir`.
#[derive(Debug, Args)]
pub struct IrArguments {
    #[command(flatten)]
    pub files: Files,
    /// Stage to print. The default is `ssa`, or with `--after` the stage of that pass.
    #[arg(long, value_name = "STAGE", value_parser = stages())]
    pub stage: Option<Stage>,
    /// Print the block graph of each function in DOT format instead.
    #[arg(long, conflicts_with = "print_changed")]
    pub dot: bool,
    /// Stop after the first run of a pass. A wrong name lists all passes.
    #[arg(long, value_name = "PASS", hide_possible_values = true, value_parser = PossibleValuesParser::new(pass_names()))]
    pub after: Option<String>,
    /// Run these passes in this order, instead of compiling to a stage. `tgsic passes` lists all.
    #[arg(long = "passes", value_name = "PASS,...", value_delimiter = ',', conflicts_with_all = ["stage", "after"],
          hide_possible_values = true, value_parser = PossibleValuesParser::new(pass_list::names()))]
    pub passes_to_run: Vec<String>,
    /// Print the IR at the start and after each pass that changed it, each under a line that names the pass and the
    /// round: `2.3` is the third clean-up round within the second round of the optimiser.
    #[arg(long)]
    pub print_changed: bool,
    /// Print the time of every pass, summed over all shaders, on standard error.
    #[arg(long)]
    pub time_passes: bool,
    #[command(flatten)]
    pub passes: PassArguments,
}

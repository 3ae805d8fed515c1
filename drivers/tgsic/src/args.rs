//! Arguments of the command line.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use tgsi_compiler::Stage;
use tgsi_ir::passes::pipeline;
use tgsi_raster::Attribute;
use tgsi_smith::{Features, STAGES};
use tgsi_verify::ExecutorKind;

use crate::draw_arguments::{self, ConstantArgument, TextureArgument, TimeArgument};
use crate::executor_kind::executor_kind;
use crate::limits;
use crate::pass_list;
use crate::selector::{Selector, selector};

/// Reads, checks, runs, optimises and translates TGSI shaders.
#[derive(Debug, Parser)]
#[command(name = "tgsic", version, about, max_term_width = 100)]
pub struct Arguments {
    /// Options of every subcommand.
    #[command(flatten)]
    pub global: Global,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every subcommand.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Log the passes that change something, and their times. Given twice, log all passes. The variable TGSIC_LOG
    /// (`debug`, `tgsi_ir::passes=trace`, ...) gives finer control and takes precedence.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Colours in diagnostics.
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, value_name = "WHEN")]
    pub color: Color,
    /// Format of findings on standard error. By default, findings of one shader are shown with their source lines, and
    /// those of several shaders in one line each.
    #[arg(long, value_enum, global = true, value_name = "FORMAT", help_heading = "Findings")]
    pub error_format: Option<ErrorFormat>,
    /// The language of all inputs. By default, content and file extension decide.
    #[arg(long, global = true, value_name = "NAME", value_parser = languages(), help_heading = "Inputs")]
    pub language: Option<String>,
    /// Set an option of the front end; may be repeated. `tgsic languages` lists them.
    #[arg(long = "front-end-option", global = true, value_name = "NAME[=VALUE]", help_heading = "Inputs")]
    pub front_end_options: Vec<String>,
    /// Accept only TGSI text that the parser of Mesa 25 accepts (the front-end option `strict`). By default, text of
    /// every era is accepted.
    #[arg(long, global = true, help_heading = "Inputs")]
    pub strict: bool,
    /// Set a limit, for example `nesting=64`; may be repeated. `tgsic limits` lists the limits.
    #[arg(long = "limit", value_parser = limits::setting, global = true, value_name = "NAME=VALUE",
          help_heading = "Limits")]
    pub limits: Vec<limits::Setting>,
}

impl Global {
    /// The options of front ends, `--strict` among them.
    pub fn front_end_options(&self) -> Vec<String> {
        let strict = self.strict.then(|| "strict".to_owned());
        self.front_end_options.iter().cloned().chain(strict).collect()
    }
}

/// The names of front ends.
fn languages() -> PossibleValuesParser {
    let front_ends = tgsi_registry::front_ends().iter();
    PossibleValuesParser::new(
        front_ends.map(|front_end| PossibleValue::new(front_end.name()).help(front_end.about())).collect::<Vec<_>>(),
    )
}

/// Formats of findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ErrorFormat {
    /// The source line with a caret under the token, notes and a hint
    Human,
    /// One JSON object per line; `tgsic check --help` lists the keys
    Json,
    /// `path:line:column: error: message [code]`, notes on separate lines
    Gcc,
}

/// The treatment of warnings.
#[derive(Clone, Debug, Default, Args)]
pub struct WarningArguments {
    /// Turn a warning into an error, by code (T0500) or name, or all (`warnings`); may be repeated.
    #[arg(long, value_name = "CODE", value_parser = selector, help_heading = "Findings")]
    pub deny: Vec<Selector>,
    /// Suppress a warning, by code or name, or all (`warnings`); takes precedence over --deny. May be repeated.
    #[arg(long, value_name = "CODE", value_parser = selector, help_heading = "Findings")]
    pub allow: Vec<Selector>,
}

const SCAN_JSON: &str = "JSON: one object per line and shader. `f` is the file; the other keys are all fields of \
`tgsi::scan::ShaderScan`. Files, semantics and other enums have the names of TGSI text. For TGSI text, `origin` is a \
guess: `producer` (nir_to_tgsi, glsl_to_tgsi, hand, unknown), `era`, and `virgl` (whether sent to a virgl host).";

const EXTRACT_HELP: &str =
    "A shader begins with a line that ends with the name of its stage, and ends with END. Text around its lines is
ignored: time stamps and prefixes of logs, line numbers, quotation marks and `\\n` of C strings, `> ` of quoted mail,
tags and `&#10;` of XML. Lines between those of a shader that are not TGSI are ignored with a warning. The exit status
is 1 if there is no shader, or one is cut off.

JSON: one object per line and shader.
  f                 the text
  line, end_line    the first and the last line of the shader in it, from 1
  stage             VERT, FRAG, ...
  complete          whether it has its END
  skipped           lines that were ignored
  file              the file that was written, or null
  text              the shader";

const CHECK_JSON: &str = "JSON of --error-format json: one object per line and finding, on standard error.
  file, severity, code, name    the file; error or warning; T0402; undeclared-register
  message, hint                 the error; the remedy, or null
  line, column,
  end_line, end_column, byte    the token, from 1, the end excluded; its first byte, from 0 (of tokens: word)
  notes                         related positions: message and position
Findings without a position (a file that cannot be read) lack the keys of positions.";

const RUN_JSON: &str = "JSON: one object. Words are numbers, bit patterns of 32 bits.
  f, via      the file and the executor
  out         by output register: for x, y, z, w the words of all lanes
  live        by lane: neither killed nor demoted
  vertices    per-vertex outputs of a tessellation control shader: by vertex, by register, 4 words
  emitted     by stream, primitive, vertex, register: 4 words
  buffers     by BUFFER: its bytes
  counters    by HWATOMIC buffer: its words
  shared      bytes of shared memory
  texels      stored texels: [[image, [x, y, z], sample], 4 words]
  steps       instructions executed";

const TRANSLATE_JSON: &str = "JSON: one object per line for each translated shader. A shader with errors has none.
  f                                            the file
  ok                                           true
  stage                                        VERT, FRAG, ...
  instructions_before, instructions_after      END included
  temporaries_before, temporaries_after        TEMP registers declared
  immediates_before, immediates_after          IMM registers
  loops_after                                  loops; null if the result is not TGSI
  microseconds                                 time taken
The sizes before are null if the source is IR.
With --reflect, instead (driver spirv):
  f, stage                                     the file; `vertex`, `fragment`, ...
  inputs, outputs                              with a location: register, semantic, index, location, component,
                                               components, type, source (of blending), patch, vertices, interpolation
                                               (smooth, noperspective, flat), sampling (centroid, sample)
  built_in_inputs, built_in_outputs            names in SPIR-V
  resources                                    kind, index, set, binding, count, about
  driver_parameters                            name, offset, size, type: push constants that the host sets
  stream_output                                register, component, components, buffer, offset, stride, stream,
                                               location (of the variable that has them)
  execution_modes                              with operands
  capabilities, extensions                     name, and the feature or extension of Vulkan that it needs
With --texts:
  source, result                               the source as text; the result, null if it is binary
  ir                                           the IR that the first pass was given
  passes                                       for each pass that changed something: pass, round, and change, the
                                               difference of the IR in the unified format. The last is `registers`:
                                               the driver's lowering";

const LINK_JSON: &str = "JSON: one object.
  shaders     in the order of the pipeline: f, stage, instructions_before, instructions_after (of the optimised IR,
              without and with linking)
  links       for each pair of neighbours; components: removed (outputs that are not read), zeros (inputs that are
              not written), constants, uniforms (loaded by the reader), duplicates; slots_before, slots_after";

const REPORT_TEXT: &str = "Runs: the output of `tgsic translate --json`, or lines as shader-db's `run` prints them:
  shaders/a/1.shader_test - FS shader: 30 inst, 2 tex, 5 temps
A word may precede the name. Shaders with the same name and stage are numbered in order.
`FILE NAME` begins or resumes a file, `RESULT NAME ok` gives its result; all other lines are
ignored.

JSON: one object.
  old, new      the runs: f, shaders, microseconds (null if not known)
  summaries     of all shaders (stage null), then of each stage: stage; shared, lost, gained: numbers
                of shaders; totals: by statistic old, new, affected_old, affected_new over the
                shaders in both runs, helped, hurt: numbers of shaders
  lost, gained  shaders that only the old run or only the new run has: f, stage, number (from 0)
  results       files with different results: f, old, new
  programs      shaders: f, stage, number; old, new: value by statistic, null if missing;
                helped, hurt: statistics";

const FIT_JSON: &str = "JSON: one object per line and shader.
  f, target            the file and the target
  fits                 whether the exit status of this shader is 0
  verdict              `fits`, `may not fit` (only estimates are exceeded), `does not fit`
  translated, as_is    limits used by the translation and by the source: target, stage, fits, verdict, limits;
                       null if not measured
For each limit: name, about; used, limit and left (null: no limit; below 0: too many); estimate; source (of the
figure); beyond (the consequence of using more); first (the first excess: line, column, code and, in `what`, an
unsupported construct; null if there is none). Lines and columns are those of the output of `tgsic translate`, or of
the file. In `source`, `first` has line, column and code in the file of the construct that was translated to this code.";

const VERIFY_JSON: &str = "JSON: one object.
  of files:    shaders, equal, different, error: shader counts; first: a line for each that differs or cannot be run
  of vectors:  vectors, exact, close, different, error: vector counts; undetermined_words: words not compared because
               the recording depends on uninitialised memory; first: the first differences and errors";

const PROXY_RECIPE: &str = "How to start it (Debian 12: virgl-server libgl1-mesa-dri mesa-utils xvfb xauth):
  virgl_test_server --use-egl-surfaceless --socket-path=/tmp/virgl-host &
  tgsic proxy --listen /tmp/.virgl_test --connect /tmp/virgl-host --stats &
  GALLIUM_DRIVER=virpipe LIBGL_ALWAYS_SOFTWARE=1 xvfb-run -a timeout 6 glxgears
  kill %2 %1
Clients of Mesa 22.3 have the path /tmp/.virgl_test built in, so the proxy listens there and the
host has to be elsewhere; newer ones take VTEST_SOCKET_NAME. GALLIUM_DRIVER=virpipe is only for
the client. This is for vtest, the protocol of virgl_test_server; the virtual GPU of QEMU has no
has no such socket: preload libtgsic-virgl.so there, which drivers/tgsic/capi/install makes.";

const PROXY_JSON: &str = "JSON of --stats: one object.
  clients, unconnected       clients served; clients for which there was no host
  unread                     clients with an error in their stream; the rest of it was passed on unread
  shaders, distinct          shaders seen; distinct shaders among them
  shorter, equal, longer     translated shaders, by number of instructions compared with the source
  failed, different          shaders that cannot be translated; shaders with other results after translation (--verify).
                             Both are passed on unchanged
  instructions_before,
  instructions_after         over all translated shaders, END included
  microseconds               time per shader: median, p99, max; for all shaders, and for new ones
  to_host, to_client,
  shader_bytes, descriptors  traffic: bytes, bytes of shaders among them, descriptors
  messages, submits,
  rewritten                  messages of clients, command buffers among them, rewritten command buffers
  microseconds_a_megabyte    CPU time for everything except shaders, per 1,000,000 bytes; null for less traffic
";

/// The use of colours in diagnostics.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Color {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Shaders to read, and destinations of results.
#[derive(Clone, Debug, Args)]
pub struct Files {
    /// Shaders: TGSI text, TGSI tokens or IR text, told apart by content. Without any, or for `-`, standard input is
    /// read.
    pub files: Vec<PathBuf>,
    /// Write the result to this file (for a single input). Files that accompany it, such as the header of an object
    /// file, get the same name with another extension.
    #[arg(short, long, value_name = "FILE", conflicts_with = "out_dir")]
    pub output: Option<PathBuf>,
    /// Write the result of each input `a/b.tgsi` to `DIR/a/b` with the extension of the result; never outside of DIR,
    /// whatever `/` and `..` the name has.
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
}

/// The driver and its options.
#[derive(Clone, Debug, Default, Args)]
pub struct DriverOptions {
    /// The driver.
    #[arg(long, value_name = "DRIVER", value_parser = PossibleValuesParser::new(driver_names()))]
    pub driver: Option<String>,
    /// Target: a consumer of the code that is known to the driver. It sets all options that fit it.
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(profile_names()))]
    pub target: Option<String>,
    /// Set an option of the driver, such as a feature that the target lacks; may be repeated. Added to the options of
    /// `--target`. A wrong name lists all options. Some take a value: `symbol=NAME`.
    #[arg(long = "driver-option", value_name = "NAME[=VALUE]", hide_possible_values = true,
          value_parser = DriverOptionParser)]
    pub names: Vec<String>,
    /// Stream output (driver spirv): the components of output registers that are written to buffers, separated by
    /// commas, such as `OUT[1].xyz->0@16/32`: to buffer 0, 16 bytes from the start of each vertex, with a stride of 32
    /// bytes. A suffix `:1` selects vertex stream 1.
    #[arg(long, value_name = "ENTRIES")]
    pub stream_output: Option<String>,
    /// Dialect of TGSI. With `virgl`, text is read as virgl hosts read it, and results keep the declarations and
    /// properties of the source. The proxy accepts only `virgl`.
    ///
    /// [default: mesa; for the proxy virgl]
    #[arg(long, value_enum, value_name = "DIALECT")]
    pub dialect: Option<DialectName>,
    /// Allow different rounding of sums and products where that saves instructions, in every stage. By default, vertex,
    /// tessellation and geometry shaders keep the rounding of the source, so that every program computes the same
    /// position. With `--dialect virgl` all shaders do, so that images stay the same.
    #[arg(long)]
    pub fast: bool,
}

fn driver_names() -> Vec<PossibleValue> {
    tgsi_registry::drivers().map(|driver| PossibleValue::new(driver.name()).help(driver.about())).collect()
}

fn profile_names() -> Vec<PossibleValue> {
    let profiles = tgsi_registry::drivers().flat_map(|driver| driver.profiles());
    profiles.map(|profile| PossibleValue::new(profile.name).help(profile.about)).collect()
}

fn option_names() -> Vec<PossibleValue> {
    let options = tgsi_registry::drivers().flat_map(|driver| driver.options());
    options.map(|option| PossibleValue::new(option.name).help(option.about)).collect()
}

/// Parses options of drivers, by name. The value after `=` is left to the driver.
#[derive(Clone, Copy, Debug)]
struct DriverOptionParser;

impl TypedValueParser for DriverOptionParser {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        let whole = value.to_string_lossy();
        let (name, _) = whole.split_once('=').unwrap_or((&whole, ""));
        PossibleValuesParser::new(option_names()).parse_ref(command, argument, OsStr::new(name))?;
        Ok(whole.into_owned())
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(option_names().into_iter()))
    }
}

/// Dialects of TGSI.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DialectName {
    /// The TGSI of Mesa's own drivers
    Mesa,
    /// The TGSI of virgl hosts
    Virgl,
}

/// Options of the optimiser.
#[derive(Clone, Debug, Args)]
pub struct PassArguments {
    /// Optimisation level.
    #[arg(short = 'O', value_enum, default_value_t = OptimizationLevel::Full, value_name = "LEVEL")]
    pub level: OptimizationLevel,
    /// Skip a pass; may be repeated. A wrong name lists all passes.
    #[arg(long, value_name = "PASS", hide_possible_values = true, value_parser = PossibleValuesParser::new(pass_names()))]
    pub skip: Vec<String>,
    #[command(flatten)]
    pub driver_options: DriverOptions,
}

/// The optimisation level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum OptimizationLevel {
    /// Only lower to forms that the target supports
    #[value(name = "0")]
    LowerOnly,
    /// Nothing that can increase code size (no unrolling)
    #[value(name = "1")]
    NoSizeGrowth,
    /// Everything
    #[value(name = "2")]
    Full,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print TGSI shaders as text.
    Print {
        #[command(flatten)]
        files: Files,
        /// Print byte for byte like Mesa 25, which rounds floats. The default is lossless.
        #[arg(long)]
        mesa: bool,
        /// Print floats as bit patterns, as virgl hosts read them.
        #[arg(long)]
        hex_floats: bool,
    },
    /// Encode TGSI shaders as tokens (32-bit words, little-endian).
    Encode {
        #[command(flatten)]
        files: Files,
    },
    /// Check shaders for everything that drivers (for IR, passes) rely on, and report code without effect.
    #[command(after_help = CHECK_JSON)]
    Check(CheckArguments),
    /// List the limits: names, values and reasons.
    Limits,
    /// Print completions for a shell: `tgsic completions bash > ~/.local/share/bash-completion/completions/tgsic`.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page tgsic(1), or write it and a page for each subcommand.
    Man {
        /// Write the pages to this folder.
        #[arg(long, value_name = "DIR")]
        out_dir: Option<PathBuf>,
    },
    /// List the languages of inputs: names, file extensions and options of their front ends.
    Languages,
    /// Explain an error code, with a wrong and a right example.
    Explain {
        /// Codes (T0402) or names (undeclared-register).
        #[arg(required_unless_present = "list")]
        codes: Vec<String>,
        /// List all codes.
        #[arg(long, conflicts_with = "codes")]
        list: bool,
    },
    /// Find the TGSI shaders in any text (logs, reports, C sources, traces), and write them.
    #[command(after_help = EXTRACT_HELP)]
    Extract(ExtractArguments),
    /// Print the summary of a TGSI shader that drivers use.
    #[command(after_help = SCAN_JSON)]
    Scan {
        #[command(flatten)]
        files: Files,
        /// Print JSON, one object per shader.
        #[arg(long)]
        json: bool,
    },
    /// Run a shader and print its results.
    #[command(after_help = RUN_JSON)]
    Run(RunArguments),
    /// Draw a picture with a fragment shader: over the whole picture, a mesh, or the output of a vertex shader.
    Draw(Box<DrawArguments>),
    /// Print the IR of shaders at a stage. The input may be IR text.
    Ir(IrArguments),
    /// List the passes, one per line: those of the pipelines and those that targets and `ir --passes` use.
    Passes,
    /// Translate shaders, TGSI or IR, for a driver.
    #[command(after_help = TRANSLATE_JSON)]
    Translate {
        #[command(flatten)]
        files: Files,
        /// Print one line of JSON per shader on standard output: sizes before and after.
        #[arg(long)]
        json: bool,
        /// With --json: also print the source, the result, and the changes of each pass. `report --html` shows them.
        #[arg(long, requires = "json")]
        texts: bool,
        /// Print one line per shader on standard output in the format of shader-db's `run`, which its `report.py`
        /// reads.
        #[arg(long, conflicts_with = "json")]
        shader_db: bool,
        /// Print the result byte for byte like Mesa 25 (rounds floats).
        #[arg(long)]
        mesa: bool,
        /// Print the time of every pass, summed over all shaders, on standard error.
        #[arg(long)]
        time_passes: bool,
        /// Print binary code (of drivers such as spirv) as text, in the form of its usual disassembler
        #[arg(long)]
        assembly: bool,
        /// Print one line of JSON per shader on standard output: the driver's assignments for inputs, outputs and
        /// resources, and the requirements of the code.
        #[arg(long, conflicts_with_all = ["json", "shader_db"])]
        reflect: bool,
        #[command(flatten)]
        warnings: WarningArguments,
        #[command(flatten)]
        passes: PassArguments,
    },
    /// Translate the shaders of a pipeline together: remove outputs that the next stage does not read, move constants
    /// into the reader, pack the rest, and give both sides the same locations.
    #[command(after_help = LINK_JSON)]
    Link(LinkArguments),
    /// Compare two runs of a compiler: totals, and shaders helped and hurt, by stage and by program.
    #[command(after_help = REPORT_TEXT)]
    Report(ReportArguments),
    /// Report whether shaders fit a target: how much of its limits they use, and where they first exceed one. The exit
    /// status is 1 if one does not fit.
    #[command(after_help = FIT_JSON)]
    Fit(FitArguments),
    /// Check that every stage of the translation computes the same.
    #[command(after_help = VERIFY_JSON)]
    Verify(VerifyArguments),
    /// Generate valid shaders with defined results, and check the translation with them.
    Smith(SmithArguments),
    /// Reduce a shader while it keeps failing.
    Reduce(ReduceArguments),
    /// Run as a proxy between virgl clients and their host (vtest sockets), and translate every shader. A shader that
    /// cannot be translated is passed on unchanged.
    #[command(before_help = PROXY_RECIPE, after_help = PROXY_JSON)]
    Proxy(ProxyArguments),
    /// Wait for the end of standard input, then remove the file of a socket that has no listener. The proxy starts this
    /// itself.
    #[command(hide = true)]
    ProxyGuard {
        /// The socket.
        socket: PathBuf,
    },
    /// Run code on a device as requested by messages on standard input. `verify`, `smith` and others start this
    /// themselves.
    #[command(hide = true)]
    ServeRuns,
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Shaders: TGSI text, TGSI tokens or IR text, told apart by content. Without any, or for `-`, standard input is
    /// read.
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
    /// Shaders of different stages, in any order: TGSI text, TGSI tokens or IR text, told apart by content; standard
    /// input for `-`.
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
pub struct FitArguments {
    /// Shaders: TGSI text, TGSI tokens or IR text, told apart by content. Without any, or for `-`, standard input is
    /// read.
    pub files: Vec<PathBuf>,
    /// Measure shaders as they are. By default they are translated for the target first, like those that its driver
    /// gets.
    #[arg(long)]
    pub as_is: bool,
    /// Print one line of JSON per shader, with both.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub warnings: WarningArguments,
    #[command(flatten)]
    pub passes: PassArguments,
}

/// The passes of the pipelines.
fn pass_names() -> Vec<&'static str> {
    pipeline::passes().iter().map(|pass| pass.info().name).collect()
}

/// The stages by name.
fn stages() -> impl TypedValueParser<Value = Stage> {
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

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Shader: TGSI text, TGSI tokens or IR text, told apart by content. Without one, or for `-`, standard input is
    /// read.
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
    /// Fragment shader, TGSI or IR.
    #[arg(long, value_name = "FILE")]
    pub fragment: PathBuf,
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
    /// The inputs of the vertex shader, from `IN[0]` on.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = draw_arguments::attribute,
        default_value = "position,texcoord,normal,color"
    )]
    pub attributes: Vec<Attribute>,
    /// A texture for a unit, PNG: `0=wood.png`; with `,nearest` not filtered, with `,clamp` not repeated. Other units
    /// have a checkerboard.
    #[arg(long = "texture", value_name = "UNIT=FILE")]
    pub textures: Vec<TextureArgument>,
    /// Values of constants: `3=1,0,0.5,1` for `CONST[0][3]`, more than four continue in the next registers; `1/3=...`
    /// for `CONST[1][3]`; `vertex:3=...` and `fragment:3=...` for one of the shaders. Floats, integers as `7i`, bits as
    /// `0x3f800000`. May be repeated.
    #[arg(long = "const", value_name = "REGISTER=VALUES")]
    pub constants: Vec<ConstantArgument>,
    /// Destination of the time in seconds, N / FPS for frame N: `5.x` for `CONST[0][5].x`, `1/5.w` for `CONST[1][5].w`.
    #[arg(long, value_name = "REGISTER.COMPONENT")]
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
    /// Shaders to run with generated inputs through every stage: TGSI text, TGSI tokens or IR text, told apart by
    /// content. Without any, or for `-`, standard input is read.
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

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArguments {
    /// The old run, its format detected by content; unpacked if the name ends in `.gz`; standard input for `-`.
    pub old: PathBuf,
    /// The new run.
    pub new: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Print the new run (or the only one) in the format of shader-db's `run`, which its `report.py` reads.
    #[arg(long, conflicts_with_all = ["json", "html"])]
    pub shader_db: bool,
    /// Also write a self-contained HTML page: sortable tables, and for each shader source, result and the changes of
    /// each pass if the runs have them (`translate --json --texts`).
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Maximum number of shaders to list in each group: helped most, hurt most, lost and gained.
    #[arg(long, default_value_t = 10, value_name = "N")]
    pub most: usize,
}

/// Arguments of `smith`.
#[derive(Debug, Args)]
pub struct SmithArguments {
    /// Seed of the first shader. Each further shader has the next seed.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// Number of shaders.
    #[arg(long, default_value_t = 1, value_name = "K")]
    pub count: u64,
    /// Shader stage. The default is any stage that the target has.
    #[arg(long, value_parser = PossibleValuesParser::new(STAGES.map(|stage| stage.name())), ignore_case = true)]
    pub stage: Option<String>,
    /// Approximate maximum number of instructions of a shader.
    #[arg(long, default_value_t = 40, value_name = "N")]
    pub size: u32,
    /// Language features that may be used, separated by commas. The default is all.
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(Features::NAMES.iter().map(|(name, _)| *name)))]
    pub features: Vec<String>,
    /// Write the shaders to `DIR/<seed>.tgsi`. With --verify, write only those that fail.
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// Check that every stage of the translation computes the same results, bit by bit, and that text and tokens
    /// reproduce the shader.
    #[arg(long)]
    pub verify: bool,
    /// Mutate these shaders (TGSI text or tokens) without changing their results, instead of generating new ones.
    #[arg(long, value_name = "SHADER", num_args = 1..)]
    pub mutate: Vec<PathBuf>,
    /// With --mutate: mutate in ways that may break the shaders. With --verify, they may be rejected but must not
    /// panic.
    #[arg(long, requires = "mutate")]
    pub spoil: bool,
    /// Sets of inputs to make for each shader.
    #[arg(long, default_value_t = 6, value_name = "N")]
    pub inputs: u64,
    /// Do not reduce shaders that fail.
    #[arg(long, requires = "verify")]
    pub keep: bool,
    /// Stop when this many shaders have failed.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub max_failures: usize,
    /// Show how often each opcode was executed.
    #[arg(long, requires = "verify")]
    pub opcodes: bool,
    #[command(flatten)]
    pub passes: PassArguments,
}

/// Arguments of `reduce`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("interesting").required(true).multiple(false))]
pub struct ReduceArguments {
    /// Shader, TGSI text or tokens. Without one, or for `-`, standard input is read.
    pub file: Option<PathBuf>,
    /// Shell command that decides whether a candidate is kept. It is called with the path of the candidate, and exits
    /// with status 0 to keep it.
    #[arg(long = "while", value_name = "CMD", group = "interesting")]
    pub command: Option<String>,
    /// Keep candidates for which the same stage of the translation fails, as `verify` reports it.
    #[arg(long, group = "interesting")]
    pub verify: bool,
    /// With --verify: compare bit by bit, except for NaN and the sign of zero.
    #[arg(long, requires = "verify")]
    pub exact: bool,
    /// Maximum number of candidates to try.
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    pub max_candidates: u64,
    /// Write the result to this file.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub passes: PassArguments,
}

/// Arguments of `proxy`.
#[derive(Debug, Args)]
pub struct ProxyArguments {
    /// Socket to listen on. A stale socket file is replaced.
    #[arg(long, value_name = "SOCK")]
    pub listen: PathBuf,
    /// Socket of the host, such as `virgl_test_server`. It need not exist yet.
    #[arg(long, value_name = "SOCK")]
    pub connect: PathBuf,
    /// Write every distinct shader to `DIR/<stage>-<hash>.tgsi`, and its translation next to it. `check`, `verify`
    /// and `translate` read them with `--dialect virgl`.
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Run every shader and its translation with generated inputs. If the results differ, the shader is passed on
    /// unchanged.
    #[arg(long)]
    pub verify: bool,
    /// Print totals at the end: a table on standard error, and JSON on standard output or in FILE. SIGUSR1 prints the
    /// totals so far, also without this option.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub stats: Option<PathBuf>,
    /// Print totals at this interval, and at the end.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub stats_every: Option<u32>,
    /// Pass every shader on unchanged. With --record or --stats, the proxy only observes.
    #[arg(long)]
    pub keep: bool,
    /// Exit when the first client disconnects.
    #[arg(long)]
    pub once: bool,
    #[command(flatten)]
    pub passes: PassArguments,
}

//! Arguments of the command line.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use tgsi::smith::{Features, STAGES};
use tgsi_compiler::Stage;
use tgsi_drivers::DRIVERS;
use tgsi_ir::passes::pipeline::PASSES;

use crate::executor_kind::ExecutorKind;
use crate::limits;
use crate::selector::{Selector, selector};

/// Reads, checks, runs, optimises and translates TGSI shaders.
#[derive(Debug, Parser)]
#[command(name = "tgsic", version, about, max_term_width = 100)]
pub struct Arguments {
    /// Options of every subcommand.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options of every subcommand.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Show which passes change something, and how long they take; twice: all passes. The variable
    /// TGSIC_LOG (`debug`, `tgsi_ir::passes=trace`, ...) says it in detail and goes before this.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Colours in diagnostics.
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, value_name = "WHEN")]
    pub color: Color,
    /// How findings are shown on standard error. Without it, those of one shader with their source lines, those of
    /// several in a line each.
    #[arg(long, value_enum, global = true, value_name = "FORMAT", help_heading = "Findings")]
    pub error_format: Option<ErrorFormat>,
    /// Take only texts of TGSI that the parser of Mesa 25 takes. Without it, texts of every era.
    #[arg(long, global = true, help_heading = "Limits")]
    pub strict: bool,
    /// What a shader may take, for example `nesting=64`; may be repeated. `tgsic limits` lists what can be set.
    #[arg(long = "limit", value_parser = limits::setting, global = true, value_name = "NAME=VALUE",
          help_heading = "Limits")]
    pub limits: Vec<limits::Setting>,
}

/// Forms of findings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ErrorFormat {
    /// The source line with a caret under the token, notes and a hint
    Human,
    /// One object a line; its keys stand in `tgsic check --help`
    Json,
    /// `path:line:column: error: message [code]`, notes on lines of their own
    Gcc,
}

/// What becomes of warnings.
#[derive(Clone, Debug, Default, Args)]
pub struct WarningArguments {
    /// Make an error of a warning, by its code (T0500) or name, or of all (`warnings`); may be repeated.
    #[arg(long, value_name = "CODE", value_parser = selector, help_heading = "Findings")]
    pub deny: Vec<Selector>,
    /// Say nothing of a warning, by its code or name, or of all (`warnings`); goes before --deny. May be repeated.
    #[arg(long, value_name = "CODE", value_parser = selector, help_heading = "Findings")]
    pub allow: Vec<Selector>,
}

const SCAN_JSON: &str = "JSON: one object a line and shader. `f` is the file; the other keys are the fields of \
`tgsi::scan::Scan`, always all of them. Files, semantics and the like are named as in TGSI text. Of texts, `origin` \
says what they look like: `producer` (nir_to_tgsi, glsl_to_tgsi, hand, unknown), `era`, and `virgl`, whether as sent to its host.";

const CHECK_JSON: &str = "JSON of --error-format json: one object a line and finding, on standard error.
  file, severity, code, name    the file; error or warning; T0402; undeclared-register
  message, hint                 what is wrong; how to put it right, or null
  line, column,
  end_line, end_column, byte    the token, from 1, the end excluded; its first byte, from 0 (of tokens: word)
  notes                         other places that it is about: message and place
What has no place in a shader (a file that cannot be read) has none of the keys of places.";

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

const TRANSLATE_JSON: &str = "JSON: one object a line for each shader that was translated; one that is wrong has none.
  f                                            the file
  ok                                           true
  stage                                        VERT, FRAG, ...
  instructions_before, instructions_after      END included
  temporaries_before, temporaries_after        TEMP registers declared
  immediates_before, immediates_after          IMM registers
  microseconds                                 time taken
What was before is null for a shader given as IR.";

const VERIFY_JSON: &str = "JSON: one object.
  of files:    shaders, equal, different, error: how many; first: a line for each that differs or cannot be run
  of vectors:  vectors, exact, close, different, error: how many; undetermined_words: words not compared because
               the recording depends on uninitialised memory; first: the first differences and errors";

const PROXY_RECIPE: &str = "How to start it (Debian 12: virgl-server libgl1-mesa-dri mesa-utils xvfb xauth):
  virgl_test_server --use-egl-surfaceless --socket-path=/tmp/virgl-host &
  tgsic proxy --listen /tmp/.virgl_test --connect /tmp/virgl-host --stats &
  GALLIUM_DRIVER=virpipe LIBGL_ALWAYS_SOFTWARE=1 xvfb-run -a timeout 6 glxgears
  kill %2 %1
Clients of Mesa 22.3 have the path /tmp/.virgl_test built in, so the proxy listens there and the
host has to be elsewhere; newer ones take VTEST_SOCKET_NAME. GALLIUM_DRIVER=virpipe is for the
client alone. This is for vtest, the protocol of virgl_test_server; the virtual GPU of QEMU
has no such socket.";

const PROXY_JSON: &str = "JSON of --stats: one object.
  clients, unconnected       clients served; clients for which there was no host
  unread                     clients whose stream was passed on unread from an error on
  shaders, distinct          shaders seen; different ones among them
  shorter, equal, longer     shaders that were translated, by their instructions after and before
  failed, different          shaders that could not be translated; that computed something else (--verify): both went on as they came
  instructions_before,
  instructions_after         over all shaders that were translated, END included
  microseconds               what a shader took: median, p99, max; of all, and of those that were not known already
  to_host, to_client,
  shader_bytes, descriptors  what went through: bytes, bytes of shaders among them, descriptors
  messages, submits,
  rewritten                  messages of clients, buffers of commands among them, those of them that were written anew
  microseconds_a_megabyte    processor time for everything but shaders, for 1,000,000 bytes; null if less went through
";

/// When diagnostics have colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Color {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// Shaders to read and where results go.
#[derive(Clone, Debug, Args)]
pub struct Files {
    /// Shaders: TGSI text, TGSI tokens or IR text, told apart by content; standard input if there are
    /// none, or for `-`.
    pub files: Vec<PathBuf>,
    /// Write the result to this file (for a single input).
    #[arg(short, long, value_name = "FILE", conflicts_with = "out_dir")]
    pub output: Option<PathBuf>,
    /// Write the result of each input `a/b.tgsi` to `DIR/a/b` with the extension of the result;
    /// never outside of DIR, whatever `/` and `..` there are.
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
}

/// The driver and what its target lacks.
#[derive(Clone, Debug, Default, Args)]
pub struct DriverOptions {
    /// The driver.
    #[arg(long, value_name = "DRIVER", value_parser = PossibleValuesParser::new(driver_names()))]
    pub driver: Option<String>,
    /// Translate for a target that lacks something, or leave out steps of the driver; may be repeated. A wrong name
    /// shows all.
    #[arg(long = "driver-option", value_name = "NAME", hide_possible_values = true,
          value_parser = PossibleValuesParser::new(option_names()))]
    pub names: Vec<String>,
    /// Who writes and reads the TGSI. For `virgl`, texts are read as its hosts do, and results keep the
    /// declarations and properties of the source. The proxy takes no other.
    ///
    /// [default: mesa; of the proxy virgl]
    #[arg(long, value_enum, value_name = "DIALECT")]
    pub dialect: Option<DialectName>,
    /// Let sums and products be rounded otherwise where that saves instructions, in every stage. Without it vertex,
    /// tessellation and geometry shaders keep the rounding of the source, so that the same position comes out
    /// alike in every program, and with `--dialect virgl` all shaders do, so that pictures stay the same.
    #[arg(long)]
    pub fast: bool,
}

fn driver_names() -> Vec<PossibleValue> {
    DRIVERS.iter().map(|driver| PossibleValue::new(driver.name()).help(driver.about())).collect()
}

fn option_names() -> Vec<PossibleValue> {
    let options = DRIVERS.iter().flat_map(|driver| driver.options());
    options.map(|option| PossibleValue::new(option.name).help(option.about)).collect()
}

/// Dialects of TGSI.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DialectName {
    /// All that Mesa's own drivers take
    Mesa,
    /// What hosts of virgl take
    Virgl,
}

/// What the optimiser does.
#[derive(Clone, Debug, Args)]
pub struct PassArguments {
    /// How far the optimiser goes.
    #[arg(short = 'O', value_enum, default_value_t = OptimizationLevel::All, value_name = "LEVEL")]
    pub level: OptimizationLevel,
    /// Leave out a pass; may be repeated. A wrong name shows all.
    #[arg(long, value_name = "PASS", hide_possible_values = true, value_parser = PossibleValuesParser::new(PASSES))]
    pub skip: Vec<String>,
    #[command(flatten)]
    pub driver_options: DriverOptions,
}

/// How far the optimiser goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum OptimizationLevel {
    /// Nothing but the forms that the target has
    #[value(name = "0")]
    Finish,
    /// Nothing that can make the code larger (no unrolling)
    #[value(name = "1")]
    NoGrowth,
    /// Everything
    #[value(name = "2")]
    All,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print TGSI shaders as text.
    Print {
        #[command(flatten)]
        files: Files,
        /// Byte for byte as Mesa 25 prints, which rounds floats; without it nothing is lost.
        #[arg(long)]
        mesa: bool,
        /// Floats as bit patterns, as hosts of virgl read them.
        #[arg(long)]
        hex_floats: bool,
    },
    /// Encode TGSI shaders as tokens (32-bit words, little-endian).
    Encode {
        #[command(flatten)]
        files: Files,
    },
    /// Check shaders for everything that a driver may rely on (IR: that passes may rely on), and for what they
    /// say in vain.
    #[command(after_help = CHECK_JSON)]
    Check(CheckArguments),
    /// List what `--limit` can set: names, values and reasons.
    Limits,
    /// Explain what a code means, with a wrong and a right example.
    Explain {
        /// Codes (T0402) or names (undeclared-register).
        #[arg(required_unless_present = "list")]
        codes: Vec<String>,
        /// List all codes.
        #[arg(long, conflicts_with = "codes")]
        list: bool,
    },
    /// Tell what a driver wants to know of a TGSI shader.
    #[command(after_help = SCAN_JSON)]
    Scan {
        #[command(flatten)]
        files: Files,
        /// As JSON, one object a shader.
        #[arg(long)]
        json: bool,
    },
    /// Run a shader and print what it leaves.
    #[command(after_help = RUN_JSON)]
    Run(RunArguments),
    /// Print the IR of shaders. IR text is taken as well, and taken to the stage.
    Ir(IrArguments),
    /// Translate shaders, TGSI or IR, for a driver.
    #[command(after_help = TRANSLATE_JSON)]
    Translate {
        #[command(flatten)]
        files: Files,
        /// One line of JSON a shader on standard output: sizes before and after.
        #[arg(long)]
        json: bool,
        /// Print the result byte for byte as Mesa 25 would (rounds floats).
        #[arg(long)]
        mesa: bool,
        /// Show on standard error what every pass took for all shaders, the longest first.
        #[arg(long)]
        time_passes: bool,
        #[command(flatten)]
        warnings: WarningArguments,
        #[command(flatten)]
        passes: PassArguments,
    },
    /// Check that every stage of the translation computes the same.
    #[command(after_help = VERIFY_JSON)]
    Verify(VerifyArguments),
    /// Make shaders up, valid ones whose results are defined, and check the translation with them.
    Smith(SmithArguments),
    /// Make a shader as small as it can be while something stays wrong with it.
    Reduce(ReduceArguments),
    /// Stand between virgl clients and their host (vtest sockets) and translate every shader on its way.
    /// A shader that cannot be translated goes on as it came.
    #[command(before_help = PROXY_RECIPE, after_help = PROXY_JSON)]
    Proxy(ProxyArguments),
    /// Wait for the end of standard input, then remove the file of a socket that nobody listens on. The proxy
    /// starts this for itself.
    #[command(hide = true)]
    ProxyGuard {
        /// The socket.
        socket: PathBuf,
    },
}

/// Arguments of `check`.
#[derive(Debug, Args)]
pub struct CheckArguments {
    /// Shaders: TGSI text, TGSI tokens or IR text, told apart by content; standard input if there are
    /// none, or for `-`.
    pub files: Vec<PathBuf>,
    /// Do not show warnings.
    #[arg(short, long)]
    pub quiet: bool,
    /// Show all findings; without it, the first 20 of a shader, errors before warnings.
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub warnings: WarningArguments,
    /// Who reads the TGSI: shaders that `proxy --record` kept are for hosts of virgl.
    #[arg(long, value_enum, default_value_t = DialectName::Mesa, value_name = "DIALECT")]
    pub dialect: DialectName,
}

/// The stages by name.
fn stages() -> impl TypedValueParser<Value = Stage> {
    let about = |stage| match stage {
        Stage::Parsed => "As converted from TGSI, or as given",
        Stage::Ssa => "In SSA form, without copies and dead code",
        Stage::Opt => "Optimised for the driver",
        Stage::Registers => "As the driver makes code from it: for TGSI out of SSA, register accesses trivial",
    };
    let values = Stage::ALL.map(|stage| PossibleValue::new(stage.name()).help(about(stage)));
    PossibleValuesParser::new(values).map(|name| Stage::from_name(&name).unwrap_or(Stage::Ssa))
}

/// Arguments of `ir`.
#[derive(Debug, Args)]
pub struct IrArguments {
    #[command(flatten)]
    pub files: Files,
    /// How far to go; without it `ssa`, or with `--after` as far as that pass.
    #[arg(long, value_name = "STAGE", value_parser = stages())]
    pub stage: Option<Stage>,
    /// The block graph of each function in DOT instead.
    #[arg(long, conflicts_with = "print_changed")]
    pub dot: bool,
    /// End after the first run of a pass. A wrong name shows all.
    #[arg(long, value_name = "PASS", hide_possible_values = true, value_parser = PossibleValuesParser::new(PASSES))]
    pub after: Option<String>,
    /// Print the IR at the start and after each pass that changed it, each under a line that names the pass and
    /// the round: `2.3` is the third round of cleaning within the second of the optimiser.
    #[arg(long)]
    pub print_changed: bool,
    /// Show on standard error what every pass took for all shaders, the longest first.
    #[arg(long)]
    pub time_passes: bool,
    #[command(flatten)]
    pub passes: PassArguments,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Shader: TGSI text, TGSI tokens or IR text, told apart by content; standard input if there is none,
    /// or for `-`.
    pub file: Option<PathBuf>,
    /// Executor: `tgsi`, `ir` (as converted, or as given), `ssa`, `opt`, `registers`, `driver:tgsi`.
    /// Without it,
    /// `tgsi` for TGSI and `ir` for IR.
    #[arg(long, value_name = "EXECUTOR")]
    pub via: Option<ExecutorKind>,
    /// A file of recorded results (JSON lines, gzip if the name ends in `.gz`): take the inputs of the first.
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    pub vector: Option<PathBuf>,
    /// Set of made-up inputs: 0 floats, 1 small integers, 2 integers as floats, 3 a mixture, 4 special values.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Result as JSON.
    #[arg(long)]
    pub json: bool,
    /// Most instructions executed: the same as `--limit steps=N`.
    #[arg(long, value_name = "N")]
    pub max_steps: Option<u64>,
    #[command(flatten)]
    pub passes: PassArguments,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Shaders to run with made-up inputs through every stage: TGSI text, TGSI tokens or IR text, told
    /// apart by content; standard input if there are none, or for `-`.
    pub files: Vec<PathBuf>,
    /// Recorded results (JSON lines, gzip if the name ends in `.gz`) to compare with instead.
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub vectors: Option<PathBuf>,
    /// Folder that the paths in the recorded results are relative to.
    #[arg(long, value_name = "DIR", default_value = ".", requires = "vectors")]
    pub root: PathBuf,
    /// Executor of recorded results: `tgsi`, `ir` (as converted), `ssa`, `opt`, `registers`,
    /// `driver:tgsi`.
    #[arg(long, value_name = "EXECUTOR", default_value = "tgsi", requires = "vectors")]
    pub via: ExecutorKind,
    /// End with one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Sets of inputs to make for each shader.
    #[arg(long, default_value_t = 6, value_name = "N", conflicts_with = "vectors")]
    pub seeds: u64,
    /// Compare bit by bit, but for NaN and the sign of zero: for shaders of `smith`, whose results are defined so far,
    /// and where rounding is kept (`--dialect virgl`), then also as a consumer would compute them that rounds
    /// otherwise inside MAD, LRP and dot products.
    #[arg(long, conflicts_with = "vectors")]
    pub exact: bool,
    /// Validate and run the IR after every pass that changed it too, and name the first that is to blame.
    #[arg(long, conflicts_with = "vectors")]
    pub each_pass: bool,
    /// Compare vertex, tessellation and geometry shaders with N variants of themselves (other outputs, other code
    /// around the same expressions; 16 without a number): outputs that both have must be the same bit for bit,
    /// also where a consumer rounds otherwise inside MAD, LRP and dot products.
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true, default_missing_value = "16",
          conflicts_with_all = ["vectors", "each_pass", "exact"])]
    pub invariance: Option<u64>,
    #[command(flatten)]
    pub passes: PassArguments,
}

/// Arguments of `smith`.
#[derive(Debug, Args)]
pub struct SmithArguments {
    /// Seed of the first shader. The next ones have the seeds that follow.
    #[arg(long, default_value_t = 0, value_name = "N")]
    pub seed: u64,
    /// How many shaders.
    #[arg(long, default_value_t = 1, value_name = "K")]
    pub count: u64,
    /// Stage; without it any.
    #[arg(long, value_parser = PossibleValuesParser::new(STAGES.map(|stage| stage.name())), ignore_case = true)]
    pub stage: Option<String>,
    /// About how many instructions a shader has at most.
    #[arg(long, default_value_t = 40, value_name = "N")]
    pub size: u32,
    /// Parts of the language that may be used, separated by commas; without it all.
    #[arg(long, value_delimiter = ',', value_parser = PossibleValuesParser::new(Features::NAMES.iter().map(|(name, _)| *name)))]
    pub features: Vec<String>,
    /// Write the shaders to `DIR/<seed>.tgsi`; with --verify only those that fail.
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
    /// Check that every stage of the translation computes the same, bit by bit, and that text and tokens keep the shader.
    #[arg(long)]
    pub verify: bool,
    /// Change these shaders (TGSI text or tokens) in ways that keep what they compute, instead of making new ones.
    #[arg(long, value_name = "SHADER", num_args = 1..)]
    pub mutate: Vec<PathBuf>,
    /// With --mutate: change them in ways that may break them; with --verify nothing may go worse than being refused.
    #[arg(long, requires = "mutate")]
    pub spoil: bool,
    /// Sets of inputs to make for each shader.
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub inputs: u64,
    /// Leave shaders that fail as they were made.
    #[arg(long, requires = "verify")]
    pub keep: bool,
    /// End when that many shaders have failed.
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
    /// Shader, TGSI text or tokens; standard input if there is none, or for `-`.
    pub file: Option<PathBuf>,
    /// Command of the shell that is run with the path of each candidate behind it; status 0 says that the candidate still is what is looked for.
    #[arg(long = "while", value_name = "CMD", group = "interesting")]
    pub command: Option<String>,
    /// Look for shaders with which the same stage of the translation goes wrong, as `verify` sees it.
    #[arg(long, group = "interesting")]
    pub verify: bool,
    /// With --verify: compare bit by bit, but for NaN and the sign of zero.
    #[arg(long, requires = "verify")]
    pub exact: bool,
    /// Most candidates to try.
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
    /// Socket to listen on. A file that nobody listens on any more is replaced.
    #[arg(long, value_name = "SOCK")]
    pub listen: PathBuf,
    /// Socket of the host, such as `virgl_test_server` has. It need not be there yet.
    #[arg(long, value_name = "SOCK")]
    pub connect: PathBuf,
    /// Keep every distinct shader as `DIR/<stage>-<hash>.tgsi`, with what was made of it beside it. `check`, `verify`
    /// and `translate` read them with `--dialect virgl`.
    #[arg(long, value_name = "DIR")]
    pub record: Option<PathBuf>,
    /// Run every shader before and after with made-up inputs; one that computes something else goes on as it
    /// came.
    #[arg(long)]
    pub verify: bool,
    /// Print totals at the end: a table on standard error, JSON on standard output or in FILE, which has those so far
    /// at any time that they are asked for. At SIGUSR1 they are printed at once, with or without this.
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-")]
    pub stats: Option<PathBuf>,
    /// Print totals every so many seconds, and at the end.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    pub stats_every: Option<u32>,
    /// Pass every shader on as it came (with --record, --stats: only look).
    #[arg(long)]
    pub keep: bool,
    /// End when the first client has gone.
    #[arg(long)]
    pub once: bool,
    #[command(flatten)]
    pub passes: PassArguments,
}

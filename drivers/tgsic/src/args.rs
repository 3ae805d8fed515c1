//! Arguments of the command line.

mod conversion;
mod driver_options;
mod execution;
mod help_texts;
mod tools;

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::limits;
use crate::selector::{Selector, selector};
use conversion::pass_names;
pub use conversion::{CheckArguments, ExtractArguments, FitArguments, IrArguments, LinkArguments};
pub use driver_options::{DialectName, DriverOptions, OptimizationLevel, PassArguments};
pub use execution::{DrawArguments, RunArguments, VerifyArguments};
use help_texts::{
    CHECK_JSON, EXTRACT_HELP, FIT_JSON, LINK_JSON, PROXY_JSON, PROXY_RECIPE, REPORT_TEXT, RUN_JSON, SCAN_JSON,
    TRANSLATE_JSON, VERIFY_JSON,
};
pub use tools::{ProxyArguments, ReduceArguments, ReportArguments, SmithArguments};

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
    /// The entry point of a SPIR-V module that has several of the stage.
    #[arg(long, global = true, value_name = "NAME", help_heading = "Inputs")]
    pub entry: Option<String>,
    /// Set a specialisation constant of a SPIR-V module, such as `3=0.5`; may be repeated.
    #[arg(long = "spec", global = true, value_name = "NUMBER=VALUE", help_heading = "Inputs")]
    pub specialization: Vec<String>,
    /// Choose the register of a SPIR-V resource: `unit:SET:BINDING=NUMBER`, also for `constant`, `buffer` and `image`;
    /// may be repeated.
    #[arg(long = "bind", global = true, value_name = "KIND:SET:BINDING=NUMBER", help_heading = "Inputs")]
    pub binds: Vec<String>,
    /// The API whose rules a SPIR-V module follows: `vulkan`, `opengl`, or `tgsic` for modules of the SPIR-V driver.
    #[arg(long, global = true, value_name = "NAME", help_heading = "Inputs")]
    pub environment: Option<String>,
    /// Change the sign of y of positions, for consumers whose clip space is OpenGL's.
    #[arg(long, global = true, help_heading = "Inputs")]
    pub flip_y: bool,
    /// The range of depth of the consumer's clip space: `zero-to-one` or `minus-one-to-one`.
    #[arg(long, global = true, value_name = "RANGE", help_heading = "Inputs")]
    pub depth: Option<String>,
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
    /// The options of front ends, with those that have separate arguments.
    pub fn front_end_options(&self) -> Vec<String> {
        let set = |name: &str, value: &String| format!("{name}={value}");
        let strict = self.strict.then(|| "strict".to_owned());
        let flip_y = self.flip_y.then(|| "flip-y".to_owned());
        let named = [("entry", &self.entry), ("environment", &self.environment), ("depth", &self.depth)];
        let named = named.into_iter().filter_map(|(name, value)| value.as_ref().map(|value| set(name, value)));
        let repeated = [("spec", &self.specialization), ("bind", &self.binds)];
        let repeated = repeated
            .into_iter()
            .flat_map(|(name, values)| values.iter().map(move |value| set(name, &value.replacen('=', ":", 1))));
        let own = self.front_end_options.iter().cloned();
        own.chain(strict).chain(flip_y).chain(named).chain(repeated).collect()
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
    /// Shaders: TGSI, GLSL, SPIR-V or IR, told apart by extension and content. Without any, or for `-`, standard input
    /// is read.
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
    /// Translate shaders for a driver.
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

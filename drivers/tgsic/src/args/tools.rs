//! Arguments of commands that compare runs, generate and reduce shaders, and of the proxy.

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValuesParser;
use tgsi_smith::{Features, STAGES};

use super::driver_options::PassArguments;

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
    /// Shader. One in a language other than TGSI is reduced as text: lines and words are removed while it can be read.
    /// Without a file, or for `-`, standard input is read.
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

//! Arguments of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

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
    /// Show what passes do and how long they take; twice or thrice: more of it. `TGSIC_LOG` says it in detail.
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub verbose: u8,
    /// Colours in diagnostics.
    #[arg(long, value_enum, default_value_t = Color::Auto, global = true, value_name = "WHEN")]
    pub color: Color,
}

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
    /// Shaders, as text or tokens; standard input if there are none.
    pub files: Vec<PathBuf>,
    /// Write the result to this file (for a single input).
    #[arg(short, long, value_name = "FILE", conflicts_with = "out_dir")]
    pub output: Option<PathBuf>,
    /// Write the result of each input `a/b.tgsi` to `DIR/a/b.tgsi`.
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print shaders as text.
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
    /// Encode shaders as tokens (32-bit words, little-endian).
    Encode {
        #[command(flatten)]
        files: Files,
    },
    /// Check shaders for everything that a driver may rely on.
    Check {
        /// Shaders, as text or tokens; standard input if there are none.
        files: Vec<PathBuf>,
        /// Do not show warnings.
        #[arg(short, long)]
        quiet: bool,
    },
    /// Tell what a driver wants to know of a shader.
    Scan {
        #[command(flatten)]
        files: Files,
        /// As JSON, one object a shader.
        #[arg(long)]
        json: bool,
    },
    /// Run a shader and print what it leaves.
    Run(RunArguments),
    /// Print the IR of shaders.
    Ir {
        #[command(flatten)]
        files: Files,
        /// How far to go.
        #[arg(long, value_enum, default_value_t = Stage::Ssa)]
        stage: Stage,
        /// The block graph in DOT instead.
        #[arg(long)]
        dot: bool,
    },
    /// Translate shaders for a driver.
    Translate {
        #[command(flatten)]
        files: Files,
        /// The driver.
        #[arg(long, value_enum, default_value_t = DriverName::Tgsi)]
        driver: DriverName,
        /// One line of JSON a shader on standard output: sizes before and after.
        #[arg(long)]
        json: bool,
        /// Print the result byte for byte as Mesa 25 would (rounds floats).
        #[arg(long)]
        mesa: bool,
    },
    /// Check that every stage of the translation computes the same.
    Verify(VerifyArguments),
}

/// How far a shader goes into the IR.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Stage {
    /// As converted from TGSI.
    Parsed,
    /// In SSA form, cleaned.
    Ssa,
    /// As the TGSI driver selects instructions from: lowered, out of SSA, registers trivial.
    Registers,
}

/// Drivers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DriverName {
    /// TGSI again.
    Tgsi,
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// Shader, as text or tokens; standard input if there is none.
    pub file: Option<PathBuf>,
    /// Executor: `tgsi`, `ir` (as converted), `ssa`, `registers`, `driver:tgsi`.
    #[arg(long, default_value = "tgsi", value_name = "EXECUTOR")]
    pub via: verify::Via,
    /// A JSON file with a recorded run, whose inputs are taken.
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    pub vector: Option<PathBuf>,
    /// Set of made-up inputs: 0 floats, 1 small integers, 2 integers as floats, 3 a mixture, 4 special values.
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Result as JSON.
    #[arg(long)]
    pub json: bool,
    /// Most instructions executed.
    #[arg(long, default_value_t = 4_000_000, value_name = "N")]
    pub max_steps: u64,
}

/// Arguments of `verify`.
#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Shaders to run with made-up inputs through every stage.
    #[arg(required_unless_present = "vectors")]
    pub files: Vec<PathBuf>,
    /// Recorded results (JSON lines, gzip if the name ends in `.gz`) to compare with instead.
    #[arg(long, value_name = "FILE", conflicts_with = "files")]
    pub vectors: Option<PathBuf>,
    /// Folder that the paths in the recorded results are relative to.
    #[arg(long, value_name = "DIR", default_value = ".", requires = "vectors")]
    pub root: PathBuf,
    /// Executor of recorded results: `tgsi`, `ir` (as converted), `ssa`, `registers`, `driver:tgsi`.
    #[arg(long, value_name = "EXECUTOR", default_value = "tgsi", requires = "vectors")]
    pub via: verify::Via,
    /// End with one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Sets of inputs to make for each shader.
    #[arg(long, default_value_t = 6, value_name = "N")]
    pub seeds: u64,
}

use crate::verify;

//! `tgsic`: the command line of the TGSI toolkit, as a library: [`main`] takes front ends and drivers of other
//! repositories.
//!
//! A suite of small tools over one format. All subcommands follow these conventions:
//!
//! - Input comes from the named files, or from standard input if no file is named or the name is `-`. Languages
//!   are told apart by content and file extension.
//! - Output is written to standard output, to `-o FILE`, or for many inputs to `--out-dir DIR`. Binary output is never
//!   written to a terminal.
//! - The exit status is 0 for success; 1 if a shader has errors (each is shown with its position); 2 for wrong usage
//!   and for files that cannot be read or written. An error in one shader or file does not stop the work on the others.
//! - `-v` (or the variable `TGSIC_LOG`) turns on logging, `--color` controls colours in diagnostics.

#![forbid(unsafe_code)]

mod args;
mod assembly;
mod batch;
mod commands;
mod diagnostics;
mod draw_arguments;
mod executor_kind;
mod explanations;
mod front_ends;
mod input;
mod input_shader;
mod limits;
mod output;
mod page;
mod pass_list;
mod pass_log;
mod plan;
mod policy;
mod report;
mod selector;
mod status;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use tgsi_compiler::front_end::FrontEnd;

pub use tgsi_registry::DriverRow;

/// Runs the command with the arguments of the process, and with front ends and drivers on top of those of the
/// [registry](tgsi_registry). A driver in another repository thus is a crate with this `main`:
///
/// ```no_run
/// # use tgsi_registry::DriverRow;
/// # static MY_DRIVER: DriverRow = DriverRow::new(&tgsi_driver_tgsi::DRIVER);
/// fn main() -> std::process::ExitCode {
///     tgsic::main(&[], &[MY_DRIVER])
/// }
/// ```
///
/// `translate`, `ir`, `run`, `verify`, `reduce`, `fit` and the others then take the driver by name, and the front end
/// for files that it recognises.
pub fn main(languages: &[&'static dyn FrontEnd], drivers: &[DriverRow]) -> ExitCode {
    tgsi_registry::extend(languages, drivers);
    let arguments = args::Arguments::parse();
    diagnostics::set_format(arguments.global.error_format);
    limits::set(&arguments.global.limits);
    let global = &arguments.global;
    if let Err(message) = front_ends::set(global.language.as_deref(), global.front_end_options()) {
        diagnostics::failure(&status::Failure::Usage(message));
        return ExitCode::from(status::Status::UsageError as u8);
    }
    start_logging(arguments.global.verbose, matches!(arguments.command, args::Command::Proxy(_)));
    tgsi_registry::run_in_processes(|| {
        let mut command = std::process::Command::new(std::env::current_exe()?);
        command.arg("serve-runs");
        Ok(command)
    });
    let status = commands::dispatch(&arguments).unwrap_or_else(|failure| {
        diagnostics::failure(&failure);
        status::Status::UsageError
    });
    ExitCode::from(status as u8)
}

/// Starts logging. `TGSIC_LOG` selects the messages; without it `-v` logs passes that changed something, `-vv` every
/// pass. Long runs also log the time and the client.
fn start_logging(verbose: u8, runs_long: bool) {
    let level = match verbose {
        0 => log::LevelFilter::Warn,
        1 => log::LevelFilter::Debug,
        _ => log::LevelFilter::Trace,
    };
    let mut builder = env_logger::Builder::new();
    builder.filter_level(level).format_timestamp(None);
    if let Ok(filter) = std::env::var("TGSIC_LOG") {
        builder.parse_filters(&filter);
    }
    if runs_long {
        builder.format(|out, record| {
            let thread = std::thread::current();
            let client = thread.name().and_then(|name| name.strip_prefix("client-"));
            let client = client.map_or_else(String::new, |number| format!(" client {number}"));
            let now = humantime::format_rfc3339_seconds(std::time::SystemTime::now());
            writeln!(out, "[{now} {}{client}] {}", record.level(), record.args())
        });
    }
    builder.init();
}

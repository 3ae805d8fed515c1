//! Tests the proxy between a real client and a real host: piglit's tests on Mesa's virgl driver, Debian's
//! `virgl_test_server`, and the proxy between them.
//!
//! As a test program, it runs a short list, each test directly and through the proxy, a client that draws where the
//! depth is equal, and a few kills. If a requirement is missing, the tests are ignored, and the runner names it.
//! `piglit run` is the long form (see `drivers/tgsic/virgl/tests/piglit`); its exit status is 1 if a test got worse.

#[path = "../common/mod.rs"]
mod common;
mod compare;
mod ends;
mod equal;
mod kills;
mod lists;
mod outcome;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Parser;
use libtest_mimic::{Arguments, Trial};

use compare::{Options, compare};
use ends::Installed;

/// Kills in the short run: each process at least once.
const FEW: usize = 6;

/// Compares piglit's results with and without the proxy.
#[derive(Parser)]
#[command(name = "piglit")]
struct Run {
    /// The folder that the other paths are relative to.
    #[arg(long, hide = true)]
    from: Option<PathBuf>,
    /// Run all of piglit's tests on shaders instead of the short list.
    #[arg(long)]
    long: bool,
    /// Run only every Nth test of the list.
    #[arg(long, default_value_t = 1, value_name = "N")]
    every: usize,
    /// A file with tests, one per line: paths below piglit's folder, or programs with arguments.
    #[arg(long, value_name = "FILE", conflicts_with = "long")]
    list: Option<PathBuf>,
    /// Keep results in a file, one JSON object per line. Tests in it are not run again, so an interrupted run can be
    /// resumed.
    #[arg(long, value_name = "FILE")]
    results: Option<PathBuf>,
    /// Record all shaders, with their translations or the reasons for having none.
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Number of kills [default: 100 with --long, else 6].
    #[arg(long, value_name = "N")]
    kills: Option<usize>,
    /// Seed of the random times of the kills [default: the time].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Only print the list.
    #[arg(long)]
    show: bool,
}

fn main() -> ExitCode {
    ends::catch_signals();
    if std::env::args().nth(1).is_some_and(|first| first == "run") {
        return match long(&Run::parse_from(std::env::args().skip(1))) {
            Ok(()) => ExitCode::SUCCESS,
            Err(reason) => {
                eprintln!("piglit: {reason}");
                ExitCode::FAILURE
            }
        };
    }
    let mut arguments = Arguments::from_args();
    // These tests measure and use all CPUs.
    arguments.test_threads = Some(1);
    let installed = Installed::find();
    if let Err(reason) = &installed {
        println!("piglit: skipped, {reason}");
    }
    let ignored = installed.is_err();
    let installed = Arc::new(installed);
    let trial = |name: &str, run: fn(&Installed) -> Result<(), String>| {
        let installed = Arc::clone(&installed);
        let body = move || run(installed.as_ref().as_ref().map_err(String::as_str)?).map_err(Into::into);
        Trial::test(name, body).with_ignored_flag(ignored)
    };
    let trials = vec![
        trial("short_list", |installed| compare(installed, &lists::short(), &Options::default())),
        trial("equal_pass", equal::equal),
        trial("kills", |installed| kills::kills(installed, FEW, time())),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

fn long(arguments: &Run) -> Result<(), String> {
    if let Some(folder) = &arguments.from {
        std::env::set_current_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let installed = Installed::find()?;
    let mut tests = match &arguments.list {
        Some(path) => lists::parse(&std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?),
        None if arguments.long => lists::long(&installed.piglit),
        None => lists::short(),
    };
    tests = tests.into_iter().step_by(arguments.every.max(1)).collect();
    if arguments.show {
        tests.iter().for_each(|test| println!("{test}"));
        return Ok(());
    }
    println!("{} tests of {}", tests.len(), installed.piglit.display());
    let options =
        Options { results: arguments.results.as_deref(), record: arguments.record.as_deref(), progress: true };
    let compared = compare(&installed, &tests, &options);
    let kills = arguments.kills.unwrap_or(if arguments.long { 100 } else { FEW });
    let killed = kills::kills(&installed, kills, arguments.seed.unwrap_or_else(time));
    compared.and(killed)
}

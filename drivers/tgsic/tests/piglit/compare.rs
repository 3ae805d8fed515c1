//! Runs a list of tests, each directly and through the proxy, and compares the results.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::common::files_below;
use crate::ends::{Ends, Installed, go_on};
use crate::outcome::{LIMIT, LIMIT_ALONE, TestOutcome, run};

const WORKERS: usize = 2;

/// The outcome of a test with and without the proxy.
#[derive(Serialize, Deserialize)]
struct Pair {
    test: String,
    straight: TestOutcome,
    proxied: TestOutcome,
}

/// The parameters of a comparison.
#[derive(Default)]
pub struct Options<'o> {
    /// A file of results, one JSON object per line. Tests in it are not run again, and new results are added.
    pub results: Option<&'o Path>,
    /// The folder for the shaders.
    pub record: Option<&'o Path>,
    /// Prints the progress regularly.
    pub progress: bool,
}

/// Runs a list and prints the results. Fails if a test got worse, or a shader was passed on because it could not be
/// translated.
pub fn compare(installed: &Installed, tests: &[String], options: &Options<'_>) -> Result<(), String> {
    let mut straight = Ends::straight(installed)?;
    let mut proxied = Ends::proxied(installed)?;
    let known = options.results.map_or_else(Vec::new, read_results);
    let file = options
        .results
        .map(|path| {
            File::options().create(true).append(true).open(path).map_err(|e| format!("{}: {e}", path.display()))
        })
        .transpose()?;
    let done: std::collections::HashSet<&str> = known.iter().map(|pair| pair.test.as_str()).collect();
    let todo: Vec<&String> = tests.iter().filter(|test| !done.contains(test.as_str())).collect();
    if todo.len() < tests.len() {
        println!(
            "{} of {} tests have results already; the figures of shaders are of the rest",
            tests.len() - todo.len(),
            tests.len()
        );
    }
    let work = CompareQueue {
        started: Instant::now(),
        next: Mutex::new(0),
        state: Mutex::new(CompareState { pairs: Vec::new(), file }),
    };
    std::thread::scope(|scope| {
        let worker = || work.run(&todo, &straight, &proxied, installed, options.progress);
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().map_err(|_| "a worker panicked".to_owned())?)
    })?;
    let elapsed = work.started.elapsed();
    if !straight.running() || !proxied.running() {
        let logs = (straight.log("host.log"), proxied.log("host.log"), proxied.log("proxy.log"));
        return Err(format!("a host or the proxy ended meanwhile:\n{}\n{}\n{}", logs.0, logs.1, logs.2));
    }
    let mut state = work.state.into_inner().map_err(|_| "a worker panicked")?;
    let wanted: std::collections::HashSet<&str> = tests.iter().map(String::as_str).collect();
    state.pairs.extend(known.into_iter().filter(|pair| wanted.contains(pair.test.as_str())));
    state.pairs.sort_by(|a, b| a.test.cmp(&b.test));
    let worse = judge(&state.pairs, &straight, &proxied, installed)?;
    counts(&state.pairs, elapsed);
    let totals = proxied.end_proxy()?;
    let failed = shaders(&totals, &proxied.record());
    if let Some(folder) = options.record {
        keep(&proxied.record(), folder)?;
    }
    for (name, ends) in [("straight", &mut straight), ("with the proxy", &mut proxied)] {
        let left = ends.end_host();
        if !left.is_empty() {
            return Err(format!("processes stay behind ({name}): {}", left.join(", ")));
        }
    }
    let passed = state.pairs.iter().filter(|pair| pair.straight.passes()).count();
    match (worse, failed) {
        (0, 0) if passed * 2 > state.pairs.len() => Ok(()),
        (0, 0) => Err(format!("only {passed} of {} tests pass straight: the host is unusable", state.pairs.len())),
        _ => Err(format!("{worse} tests got worse, {failed} shaders could not be translated")),
    }
}

struct CompareState {
    pairs: Vec<Pair>,
    file: Option<File>,
}

struct CompareQueue {
    started: Instant,
    next: Mutex<usize>,
    state: Mutex<CompareState>,
}

impl CompareQueue {
    fn run(
        &self,
        todo: &[&String],
        straight: &Ends<'_>,
        proxied: &Ends<'_>,
        installed: &Installed,
        progress: bool,
    ) -> Result<(), String> {
        loop {
            go_on()?;
            let place = {
                let mut next = self.next.lock().map_err(|_| "a worker panicked")?;
                *next += 1;
                *next - 1
            };
            let Some(test) = todo.get(place) else { return Ok(()) };
            let pair = Pair {
                test: test.to_string(),
                straight: run(straight, &installed.piglit, test, LIMIT)?,
                proxied: run(proxied, &installed.piglit, test, LIMIT)?,
            };
            let mut state = self.state.lock().map_err(|_| "a worker panicked")?;
            if let (Some(file), Ok(line)) = (&mut state.file, serde_json::to_string(&pair)) {
                writeln!(file, "{line}").map_err(|error| format!("results: {error}"))?;
            }
            if progress && !pair.straight.lost(&pair.proxied).is_empty() {
                println!("differs: {}: straight {}, with the proxy {}", pair.test, pair.straight, pair.proxied);
            }
            state.pairs.push(pair);
            let count = state.pairs.len();
            if progress && count % 100 == 0 {
                println!("{count} of {} tests, {} s", todo.len(), self.started.elapsed().as_secs());
            }
        }
    }
}

fn read_results(path: &Path) -> Vec<Pair> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    // The last line of an interrupted run may be incomplete.
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// Runs tests that differ once more, alone and with more time; returns the number of tests that are worse again.
fn judge(pairs: &[Pair], straight: &Ends<'_>, proxied: &Ends<'_>, installed: &Installed) -> Result<usize, String> {
    let mut worse = 0;
    for pair in pairs {
        go_on()?;
        let lost = pair.straight.lost(&pair.proxied);
        if !lost.is_empty() {
            let here = run(straight, &installed.piglit, &pair.test, LIMIT_ALONE)?;
            let again = here.lost(&run(proxied, &installed.piglit, &pair.test, LIMIT_ALONE)?);
            let (word, lost) = if again.is_empty() { ("flaky", lost) } else { ("worse", again) };
            worse += usize::from(word == "worse");
            println!("{word}: {}: {}", pair.test, lost.join(", "));
        } else if pair.straight.result != pair.proxied.result {
            println!("other: {}: straight {}, with the proxy {}", pair.test, pair.straight, pair.proxied);
        }
    }
    Ok(worse)
}

fn counts(pairs: &[Pair], elapsed: Duration) {
    let subtests: usize = pairs.iter().map(|pair| pair.straight.subtests.len()).sum();
    println!("{} tests with {subtests} subtests in both ways in {:.1} s", pairs.len(), elapsed.as_secs_f64());
    let count = |outcomes: &mut dyn Iterator<Item = &TestOutcome>| {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for outcome in outcomes {
            *counts.entry(&outcome.result).or_default() += 1;
        }
        counts.iter().map(|(result, count)| format!("{count} {result}")).collect::<Vec<_>>().join(", ")
    };
    println!("straight        {}", count(&mut pairs.iter().map(|pair| &pair.straight)));
    println!("with the proxy  {}", count(&mut pairs.iter().map(|pair| &pair.proxied)));
}

/// Prints the totals of the proxy; returns the number of shaders that it could not translate.
fn shaders(totals: &Value, record: &Path) -> u64 {
    let number = |key: &str| totals[key].as_u64().unwrap_or(0);
    let (before, after) = (number("instructions_before"), number("instructions_after"));
    let failed = number("failed");
    println!(
        "shaders         {} ({} distinct), {} shorter, {} equal, {} longer, {failed} failed",
        number("shaders"),
        number("distinct"),
        number("shorter"),
        number("equal"),
        number("longer")
    );
    println!("instructions    {after} of {before} ({:.3})", after as f64 / before.max(1) as f64);
    let times = &totals["microseconds"];
    for (name, times) in [("a shader", &times["all"]), ("a new shader", &times["new"])] {
        println!("{name:<15} median {} us, p99 {} us", times["median"], times["p99"]);
    }
    let other = (number("to_host") + number("to_client")).saturating_sub(number("shader_bytes"));
    let (clients, messages) = (number("clients"), number("messages"));
    let time = totals["microseconds_a_megabyte"].as_f64().map_or_else(String::new, |t| format!("{t} us a megabyte, "));
    println!("other traffic   {time}{other} bytes, {messages} messages, {clients} clients");
    for reason in files_below(record, "txt").iter().take(20) {
        println!("{}: {}", reason.display(), std::fs::read_to_string(reason).unwrap_or_default().trim());
    }
    failed
}

fn keep(from: &Path, to: &Path) -> Result<(), String> {
    let error = |error: std::io::Error| format!("{}: {error}", to.display());
    std::fs::create_dir_all(to).map_err(error)?;
    for entry in std::fs::read_dir(from).map_err(error)?.flatten() {
        std::fs::copy(entry.path(), to.join(entry.file_name())).map_err(error)?;
    }
    Ok(())
}

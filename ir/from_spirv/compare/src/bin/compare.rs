//! `spirv-compare [OPTION...] FILE...` compares the results of modules, each in a separate process.
//!
//! Options: `--seed N` (contents), `--vulkan` (runs modules on Vulkan), `--translated` (and the driver's SPIR-V),
//! `--mutants A..B` (changed modules), `--changes N` (of each), `--pass FLAG` (a pass of `spirv-opt`), `--no-front-end`
//! (changed modules on Vulkan), `--jobs N`, `--as-is` (undefined behaviour gets no result first), `--all` (also prints what agrees). A FILE may be a
//! folder.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tgsi_spirv_compare::{Checks, Report, check};

/// Seconds after which the process of a module is ended.
const SECONDS: u64 = 60;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut checks = Checks {
        seed: 0,
        define: true,
        vulkan: false,
        translated: false,
        front_end: true,
        mutants: (0, 0),
        changes: 6,
        passes: Vec::new(),
    };
    let (mut files, mut passed, mut is_child, mut jobs, mut all) = (Vec::new(), Vec::new(), false, 1, false);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let mut number = || rest.next().and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let start = passed.len();
        match argument.as_str() {
            "--seed" => {
                checks.seed = number();
                passed.extend(["--seed".to_owned(), checks.seed.to_string()]);
            }
            "--changes" => {
                checks.changes = number() as usize;
                passed.extend(["--changes".to_owned(), checks.changes.to_string()]);
            }
            "--pass" => {
                let pass = rest.next().cloned().unwrap_or_default();
                passed.extend(["--pass".to_owned(), pass.clone()]);
                checks.passes.push(pass);
            }
            "--jobs" => jobs = number(),
            "--mutants" => {
                let text = rest.next().map_or("0..1", String::as_str);
                let (first, end) = text.split_once("..").unwrap_or(("0", text));
                checks.mutants = (first.parse().unwrap_or(0), end.parse().unwrap_or(0));
                passed.extend(["--mutants".to_owned(), text.to_owned()]);
            }
            "--as-is" => checks.define = false,
            "--vulkan" => checks.vulkan = true,
            "--translated" => checks.translated = true,
            "--no-front-end" => checks.front_end = false,
            "--all" => all = true,
            "--child" => is_child = true,
            file => files.push(PathBuf::from(file)),
        }
        let is_flag = matches!(argument.as_str(), "--as-is" | "--vulkan" | "--translated" | "--no-front-end" | "--all");
        if start == passed.len() && is_flag {
            passed.push(argument.clone());
        }
    }
    if is_child {
        return child(&files, &checks, all);
    }
    let mut modules = Vec::new();
    files.iter().for_each(|file| collect(file, &mut modules));
    modules.sort();
    let queue = Mutex::new(modules.into_iter());
    std::thread::scope(|scope| {
        for _ in 0..jobs.max(1) {
            scope.spawn(|| {
                loop {
                    let next = queue.lock().map(|mut queue| queue.next()).ok().flatten();
                    let Some(file) = next else { break };
                    let text = run(&file, &passed);
                    let _ = std::io::stdout().lock().write_all(text.as_bytes());
                }
            });
        }
    });
    ExitCode::SUCCESS
}

fn collect(path: &Path, modules: &mut Vec<PathBuf>) {
    // Explicit: folders may be deep.
    let mut pending = vec![path.to_owned()];
    while let Some(path) = pending.pop() {
        match std::fs::read_dir(&path) {
            Ok(entries) => pending.extend(entries.flatten().map(|entry| entry.path())),
            Err(_) if path.extension().is_some_and(|extension| extension == "spv") => modules.push(path),
            Err(_) => {}
        }
    }
}

/// Checks a module in another process. Returns the lines for it.
fn run(file: &Path, passed: &[String]) -> String {
    let start = || {
        let program = std::env::current_exe()?;
        Command::new(program).args(passed).arg("--child").arg(file).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    };
    let mut process = match start() {
        Ok(process) => process,
        Err(error) => return format!("ERROR {}: {error}\n", file.display()),
    };
    let output = process.stdout.take();
    let reader = std::thread::spawn(move || {
        let mut text = String::new();
        let _ = output.map(|mut output| output.read_to_string(&mut text));
        text
    });
    let began = Instant::now();
    let status = loop {
        match process.try_wait() {
            Ok(Some(status)) => break Some(status),
            _ if began.elapsed() > Duration::from_secs(SECONDS) => {
                let _ = process.kill();
                let _ = process.wait();
                break None;
            }
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut text = reader.join().unwrap_or_default();
    match status {
        None => text += &format!("TIMEOUT {}\n", file.display()),
        Some(status) if !status.success() => text += &format!("CRASH {}: {status}\n", file.display()),
        Some(_) => {}
    }
    text
}

fn child(files: &[PathBuf], checks: &Checks, all: bool) -> ExitCode {
    for file in files {
        let bytes = match std::fs::read(file) {
            Ok(bytes) => bytes,
            Err(error) => {
                println!("ERROR {}: {error}", file.display());
                continue;
            }
        };
        let words: Vec<u32> =
            bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
        for report in check(&words, checks) {
            match report {
                Report::Skipped(reason) => println!("SKIPPED {}: {reason}", file.display()),
                Report::Refused(reason) => println!("REFUSED {}: {reason}", file.display()),
                Report::Failed(reason) => println!("FAILED {}: {reason}", file.display()),
                Report::Same(names) if all => println!("SAME {}: {names}", file.display()),
                Report::Same(_) => {}
                Report::Differs(names, found) => {
                    let first: Vec<String> = found.iter().take(3).map(ToString::to_string).collect();
                    println!("DIFFERS {}: {names}: {} words: {}", file.display(), found.len(), first.join("; "));
                }
            }
        }
    }
    ExitCode::SUCCESS
}

//! Plays all scripts of a folder or an archive, and counts by executor.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;

use libtest_mimic::Failed;
use rayon::prelude::*;
use tgsi_amber::{Modules, Refusal, RefusalKind, Script};

use crate::executors::Executors;

/// Returns the folder or archive with scripts, if there is one.
pub fn source() -> Option<PathBuf> {
    let named = std::env::var_os("TGSIC_AMBER").map(PathBuf::from);
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let shared = std::env::var_os("TGSIC_SHARED").map_or_else(|| repository.join("../shared"), PathBuf::from);
    let found = named.unwrap_or_else(|| shared.join("frontends/amber.tar.xz"));
    found.exists().then_some(found)
}

/// Returns all scripts below a folder.
pub fn scripts_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![folder.to_owned()];
    while let Some(folder) = pending.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
            } else if path.extension().is_some_and(|extension| extension == "amber") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Reads a script. Files that it names are in its folder.
pub fn read(file: &Path) -> Result<Script, Refusal> {
    let text = std::fs::read(file).expect("a readable file");
    let folder = file.parent().unwrap_or(Path::new("")).to_owned();
    Script::parse(&String::from_utf8_lossy(&text), &|name| std::fs::read(folder.join(name)).ok())
}

/// Scripts that expect what Vulkan does not say, with the reason. With Amber, their tolerances accept any colour.
const WRONG: &[(&str, &str)] = &[
    ("signed_op/uint_umulextended", "components beyond the end of a vector are expected to be those behind it"),
    ("texel_buffer/uniform/snorm/b8g8r8-snorm", "red is expected in the first byte of texels whose first byte is blue"),
    (
        "texel_buffer/uniform/snorm/b8g8r8a8-snorm",
        "red is expected in the first byte of texels whose first byte is blue",
    ),
];

/// The results of an executor.
#[derive(Default)]
struct Counts {
    passed: usize,
    failed: Vec<String>,
    /// Scripts that are not played, by reason.
    refused: BTreeMap<String, Vec<String>>,
    seconds: f64,
}

/// Plays all scripts, prints counts, and fails if an expectation is not met.
pub fn play(source: Option<&Path>) -> Result<(), Failed> {
    let source = source.ok_or("there are no scripts")?;
    let unpacked = unpacked(source)?;
    let folder = unpacked.as_ref().map_or(source, |folder| folder.path());
    let filter = std::env::var("TGSIC_AMBER_FILTER").unwrap_or_default();
    let chosen = std::env::var("TGSIC_AMBER_VIA").unwrap_or_default();
    let names: Vec<&str> = match chosen.as_str() {
        "" => Executors::NAMES.to_vec(),
        chosen => chosen.split(',').collect(),
    };
    // Without the variables, a sample: all scripts take minutes for each executor.
    let is_sample =
        ["TGSIC_AMBER", "TGSIC_AMBER_FILTER", "TGSIC_LONG"].iter().all(|name| std::env::var_os(name).is_none());
    let files = scripts_below(folder).into_iter().filter(|file| file.to_string_lossy().contains(&filter));
    let files: Vec<PathBuf> = files.step_by(if is_sample { 24 } else { 1 }).collect();
    let executors = Executors::new(&names);
    let results: Vec<Mutex<Counts>> = names.iter().map(|_| Mutex::default()).collect();
    let at = |number: usize| results[number].lock().expect("no panic");
    files.par_iter().for_each(|file| {
        let name = file.strip_prefix(folder).unwrap_or(file).display().to_string();
        let refuse = |number: usize, refusal: &Refusal| {
            let reason = format!("{}: {}", refusal.kind, refusal.reason);
            let entry = format!("{name}:{}: {}", refusal.line, refusal.detail);
            at(number).refused.entry(reason).or_default().push(entry);
        };
        if let Some((_, reason)) = WRONG.iter().find(|(part, _)| name.contains(part)) {
            let refusal = Refusal::new(1, RefusalKind::Syntax, *reason, "");
            return (0..names.len()).for_each(|number| refuse(number, &refusal));
        }
        let read = read(file).and_then(|script| Ok((Modules::of(&script)?, script)));
        let (modules, script) = match read {
            Ok(read) => read,
            Err(refusal) => return (0..names.len()).for_each(|number| refuse(number, &refusal)),
        };
        for (number, executor) in executors.list().enumerate() {
            let start = Instant::now();
            let outcome = tgsi_amber::play(&script, &modules, executor);
            at(number).seconds += start.elapsed().as_secs_f64();
            match outcome {
                Err(refusal) => refuse(number, &refusal),
                Ok(outcome) if outcome.failures.is_empty() => at(number).passed += 1,
                Ok(outcome) => {
                    let first = &outcome.failures[0];
                    at(number).failed.push(format!("{name}:{}: {}", first.line, first.message));
                }
            }
        }
    });
    let mut failures = 0;
    for (name, counts) in names.iter().zip(&results) {
        let counts = counts.lock().expect("no panic");
        let refused: usize = counts.refused.values().map(Vec::len).sum();
        println!(
            "\n== {name}: {} scripts, {} passed, {} failed, {refused} not played, {:.0} s",
            files.len(),
            counts.passed,
            counts.failed.len(),
            counts.seconds
        );
        let mut reasons: Vec<_> = counts.refused.iter().collect();
        reasons.sort_by_key(|(_, scripts)| std::cmp::Reverse(scripts.len()));
        for (reason, scripts) in reasons {
            println!("{:5}  {reason}; such as {}", scripts.len(), scripts.first().map_or("", String::as_str));
        }
        let mut failed = counts.failed.clone();
        failed.sort();
        failed.iter().for_each(|failure| println!("FAILED {name}: {failure}"));
        failures += failed.len();
    }
    if failures > 0 { Err(format!("{failures} scripts failed").into()) } else { Ok(()) }
}

/// Unpacks an archive; a folder stays.
fn unpacked(source: &Path) -> Result<Option<tempfile::TempDir>, Failed> {
    if source.is_dir() {
        return Ok(None);
    }
    let folder = tempfile::tempdir()?;
    let status = Command::new("tar").arg("-xf").arg(source).arg("-C").arg(folder.path()).status();
    match status {
        Ok(status) if status.success() => Ok(Some(folder)),
        Ok(status) => Err(format!("tar ends with {status}").into()),
        Err(error) => Err(format!("tar cannot be run: {error}").into()),
    }
}

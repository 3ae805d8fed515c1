//! The driver on real shaders: every one translates, and `spirv-val` accepts every module for its target.
//!
//! `TGSIC_ONLY=text` restricts the runs to shaders whose path contains the text, `TGSIC_EVERY=n` to every n-th.

#[path = "../../../tgsi/tests/common/mod.rs"]
mod common;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use common::{shaders, shared};
use rayon::prelude::*;
use tgsi_compiler::{Compiler, Driver, input};

/// The corpus, or the part of it that the environment asks for.
fn corpus() -> Vec<PathBuf> {
    let only = std::env::var("TGSIC_ONLY").unwrap_or_default();
    let every = std::env::var("TGSIC_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let all = shaders(&shared("corpus"));
    all.into_iter().filter(|path| path.to_string_lossy().contains(&only)).step_by(every).collect()
}

/// The first line of what is wrong with a module, without its ids and numbers, so that the same fault reads the same.
fn kind(message: &str) -> String {
    let line = message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let line = line.split_once(": ").filter(|(start, _)| start.starts_with("error")).map_or(line, |(_, rest)| rest);
    let mut kind = String::new();
    for c in line.chars() {
        let c = if c.is_ascii_digit() { '#' } else { c };
        if c != '#' || !kind.ends_with('#') {
            kind.push(c);
        }
    }
    kind
}

/// Translates all for a target and validates. Prints what is wrong, by kind, and returns how many are.
fn validate(options: &[&str], environment: &str) -> usize {
    let target = tgsi_driver_spirv::DRIVER.target(options).expect("known options");
    let compiler = Compiler::for_target(target.into());
    let folder = tempfile::tempdir().expect("a folder");
    let corpus = corpus();
    let results: Vec<(String, PathBuf)> = corpus
        .par_iter()
        .enumerate()
        .filter_map(|(number, path)| {
            let bytes = std::fs::read(path).expect("a file");
            let (source, findings) = compiler.read(&bytes, input::Language::of(&bytes), false);
            let Some(source) = source else { return Some((format!("not read: {findings:?}"), path.clone())) };
            match compiler.compile(source) {
                Err(error) => Some((format!("translation: {}", kind(&error.to_string())), path.clone())),
                Ok(code) => {
                    let module = folder.path().join(format!("{number}.spv"));
                    std::fs::write(&module, code.into_bytes()).expect("a file");
                    let output = Command::new("spirv-val").args(["--target-env", environment]).arg(&module).output();
                    let output = output.expect("spirv-val");
                    let message =
                        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
                    (!output.status.success()).then(|| (format!("spirv-val: {}", kind(&message)), path.clone()))
                }
            }
        })
        .collect();
    let mut kinds: BTreeMap<String, Vec<&PathBuf>> = BTreeMap::new();
    for (kind, path) in &results {
        kinds.entry(kind.clone()).or_default().push(path);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|(_, paths)| std::cmp::Reverse(paths.len()));
    println!("{options:?} for {environment}: {} of {} wrong", results.len(), corpus.len());
    for (kind, paths) in kinds {
        println!("{:6} {kind}\n       {}", paths.len(), paths[0].display());
    }
    results.len()
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn every_module_is_valid() {
    assert_eq!(validate(&["vulkan1.1"], "vulkan1.1"), 0);
}

#[test]
#[ignore = "the same for the other targets, each as long"]
fn every_module_is_valid_for_every_target() {
    let wrong: usize = [
        (&["vulkan1.0"], "vulkan1.0"),
        (&["vulkan1.2"], "vulkan1.2"),
        (&["vulkan1.3"], "vulkan1.3"),
        (&["portable"], "vulkan1.1"),
    ]
    .map(|(options, environment)| validate(options, environment))
    .iter()
    .sum();
    assert_eq!(wrong, 0);
}

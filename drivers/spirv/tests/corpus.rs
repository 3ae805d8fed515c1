//! Runs the driver on real shaders: all must translate, and `spirv-val` must accept every module for its target.
//!
//! `TGSIC_ONLY=text` restricts the runs to paths that contain the text, `TGSIC_EVERY=n` to every n-th shader.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

use crate::common::{shaders, shared};
use rayon::prelude::*;
use tgsi_compiler::front_end::{Reading, TGSI_TEXT};
use tgsi_compiler::{Compiler, Driver};

/// Returns the corpus, or the part selected by the environment.
fn corpus() -> Vec<PathBuf> {
    let only = std::env::var("TGSIC_ONLY").unwrap_or_default();
    let every = std::env::var("TGSIC_EVERY").ok().and_then(|n| n.parse().ok()).unwrap_or(1);
    let all = shaders(&shared("corpus"));
    all.into_iter().filter(|path| path.to_string_lossy().contains(&only)).step_by(every).collect()
}

/// Returns the first line of an error message, without ids and numbers, so that equal faults have equal texts.
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

/// Translates all shaders for a target and validates them. Prints the failures by kind, and returns their number.
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
            let Reading { source, findings, .. } = compiler.read(&TGSI_TEXT, &bytes);
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

/// Tessellation evaluation shaders that read 60 slots of vertices and patch; devices have 32 locations.
const WITHOUT_LOCATIONS: usize = 4;

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn every_module_is_valid() {
    assert_eq!(validate(&["vulkan1.1"], "vulkan1.1"), WITHOUT_LOCATIONS);
}

#[test]
#[ignore = "the same for the other targets, each as long"]
fn every_module_is_valid_for_every_target() {
    for (options, environment, expected) in [
        (&["vulkan1.0"][..], "vulkan1.0", WITHOUT_LOCATIONS),
        (&["vulkan1.2"], "vulkan1.2", WITHOUT_LOCATIONS),
        (&["vulkan1.3"], "vulkan1.3", WITHOUT_LOCATIONS),
        // One reads and writes an image without a format, which the target languages of this profile lack.
        (&["portable"], "vulkan1.1", 1 + WITHOUT_LOCATIONS),
        (&["vulkan1.2", "vulkan_memory_model"], "vulkan1.2", WITHOUT_LOCATIONS),
        (&["vulkan1.3", "vulkan_memory_model"], "vulkan1.3", WITHOUT_LOCATIONS),
    ] {
        assert_eq!(validate(options, environment), expected, "{options:?}");
    }
}

/// Counts the instructions in functions by opcode, without labels, lines and variables.
fn instructions(bytes: &[u8]) -> BTreeMap<u32, usize> {
    let words: Vec<u32> =
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let (mut at, mut within, mut counts) = (5, false, BTreeMap::new());
    while let Some(&word) = words.get(at) {
        let op = word & 0xffff;
        within |= op == spirv::Op::Function as u32;
        let counts_not = [spirv::Op::Label, spirv::Op::Line, spirv::Op::Variable].map(|op| op as u32);
        if within && !counts_not.contains(&op) {
            *counts.entry(op).or_default() += 1;
        }
        at += (word >> 16).max(1) as usize;
    }
    counts
}

/// Checks that `spirv-opt -O` finds next to nothing. Prints the opcodes that it removes most, and the shaders
/// concerned.
#[test]
#[ignore = "minutes"]
fn little_is_left_for_spirv_opt() {
    let target = tgsi_driver_spirv::DRIVER.target(&["vulkan1.1"]).expect("known options");
    let compiler = Compiler::for_target(target.into());
    let folder = tempfile::tempdir().expect("a folder");
    let results: Vec<_> = corpus()
        .par_iter()
        .enumerate()
        .filter_map(|(number, path)| {
            let bytes = std::fs::read(path).expect("a file");
            let source = compiler.read(&TGSI_TEXT, &bytes).source?;
            let code = compiler.compile(source).ok()?.into_bytes();
            let (before, after) =
                (folder.path().join(format!("{number}.spv")), folder.path().join(format!("{number}.opt.spv")));
            std::fs::write(&before, &code).expect("a file");
            let arguments = [before.as_os_str(), "-o".as_ref(), after.as_os_str()];
            let output = Command::new("spirv-opt").arg("-O").args(arguments).output().expect("spirv-opt");
            if !output.status.success() {
                println!("{}: {}", path.display(), String::from_utf8_lossy(&output.stderr));
                return None;
            }
            Some((path.clone(), instructions(&code), instructions(&std::fs::read(&after).ok()?), code.len()))
        })
        .collect();
    let total = |counts: &BTreeMap<u32, usize>| counts.values().sum::<usize>();
    let before: usize = results.iter().map(|(_, before, ..)| total(before)).sum();
    let after: usize = results.iter().map(|(_, _, after, _)| total(after)).sum();
    let bytes: usize = results.iter().map(|(.., bytes)| bytes).sum();
    let mut opcodes: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    for (_, before, after, _) in &results {
        for (&op, &count) in before {
            opcodes.entry(op).or_default().0 += count;
        }
        for (&op, &count) in after {
            opcodes.entry(op).or_default().1 += count;
        }
    }
    let mut opcodes: Vec<_> = opcodes.into_iter().collect();
    opcodes.sort_by_key(|&(_, (before, after))| after as isize - before as isize);
    println!("{} modules of {bytes} bytes: {before} instructions, {after} after spirv-opt -O", results.len());
    for (op, (before, after)) in opcodes.iter().take(12) {
        println!("  {:?}: {before} -> {after}", spirv::Op::from_u32(*op));
    }
    let mut worst: Vec<_> = results
        .iter()
        .map(|(path, before, after, _)| (total(before) as isize - total(after) as isize, total(before), path))
        .collect();
    worst.sort();
    for (gain, before, path) in worst.iter().rev().take(12) {
        println!("  {gain} of {before}: {}", path.display());
    }
    assert!(after * 100 >= before * 95, "spirv-opt finds more than 5 %");
}

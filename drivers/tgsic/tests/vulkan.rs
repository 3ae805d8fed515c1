//! Code for SPIR-V on Vulkan: recorded results, and generated shaders.
//!
//! Of the recorded results of real shaders those of every 32nd shader are tried, and of every one with `TGSIC_EVERY=1`.
//! `TGSIC_GENERATED=20000` tries that many generated shaders instead of a few.

mod common;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};

use common::{Folder, shared, tgsic};

/// Real shaders that need not compute the same on every device, and why.
const OTHERWISE: &[(&str, &str)] = &[
    ("bin.fbo-blit-scaled-linear.vert", "the sine of an angle of 1e9"),
    ("multisample-interpolation-0-non-centroid-deriv.vert", "the same shader"),
    ("si_query.comp", "addresses that are no multiples of four"),
    ("r600_query.comp", "addresses that are no multiples of four"),
    ("trivial.compute-4.comp", "invocations that write one word of shared memory without a barrier"),
    ("tes-input-mat2_2.tesc", "invocations that write the same output"),
    ("max-input-components.geom", "lavapipe compiles it for minutes"),
];

/// Whether there is no Vulkan, which is said.
fn is_skipped() -> bool {
    let output = tgsic(&["verify", "--driver", "spirv"], "VERT\nDCL OUT[0], POSITION\nMOV OUT[0], OUT[0]\nEND\n");
    // Nothing else is wrong with arguments that name no more than the driver.
    let is_missing = output.status == 2;
    if is_missing {
        println!("skipped: {}", output.stderr);
        assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped: {}", output.stderr);
    }
    is_missing
}

fn number(variable: &str, default: usize) -> usize {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(default)
}

/// Runs recorded results; all of them agree.
#[track_caller]
fn verify(folder: &Folder, vectors: &std::path::Path, root: &std::path::Path, least: usize) {
    let (vectors, root) = (vectors.to_string_lossy(), root.to_string_lossy());
    let arguments =
        ["verify", "--driver", "spirv", "--via", "driver:spirv", "--vectors", &vectors, "--root", &root, "--json"];
    let output = folder.run(&arguments);
    let totals: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let count = |key: &str| totals[key].as_u64().expect("a number") as usize;
    assert_eq!((count("different"), count("error")), (0, 0), "{totals:#}");
    assert!(count("vectors") >= least && count("exact") > count("vectors") / 2, "{totals:#}");
    output.success();
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn recorded_results_of_opcodes() {
    if !is_skipped() {
        let oracle = shared().join("oracle");
        verify(&Folder::new(), &oracle.join("opcode-vectors.jsonl.gz"), &oracle, 7000);
    }
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn recorded_results_of_real_shaders() {
    if is_skipped() {
        return;
    }
    let every = number("TGSIC_EVERY", 32);
    let file = std::fs::File::open(shared().join("oracle/corpus-vectors.jsonl.gz")).expect("recorded results");
    let lines = BufReader::new(flate2::read::MultiGzDecoder::new(file)).lines();
    let (mut shaders, mut chosen) = (BTreeSet::new(), String::new());
    for line in lines {
        let line = line.expect("a line");
        let vector = tgsi::run::vectors::Vector::parse(&line).expect("a recorded result");
        if !OTHERWISE.iter().any(|(name, _)| vector.file.contains(name)) {
            shaders.insert(vector.file.clone());
            // Those of a shader follow each other.
            if shaders.len() % every == 0 {
                writeln!(chosen, "{line}").expect("written");
            }
        }
    }
    let folder = Folder::new();
    let path = folder.path("vectors.jsonl");
    std::fs::File::create(&path).and_then(|mut file| file.write_all(chosen.as_bytes())).expect("written");
    verify(&folder, &path, &shared(), 4000 / every);
}

#[test]
fn generated_shaders_compute_the_same() {
    if is_skipped() {
        return;
    }
    let count = number("TGSIC_GENERATED", 60).to_string();
    let folder = Folder::new();
    let output = folder.run(&["smith", "--verify", "--driver", "spirv", "--count", &count, "--out-dir", "failed"]);
    assert!(output.text().contains(": 0 failed"), "{}", output.text());
}

//! Tests SPIR-V code on Vulkan: recorded results, and generated shaders.
//!
//! The recorded results of every 32nd real shader are tested, and those of every shader with `TGSIC_EVERY=1`.
//! `TGSIC_GENERATED=20000` sets the number of generated shaders.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};

use crate::common::{Folder, shared, tgsic};

/// Real shaders that need not compute the same on every device, and the reasons.
const OTHERWISE: &[(&str, &str)] = &[
    ("trivial.compute-4.comp", "invocations that write one word of shared memory without a barrier"),
    ("tes-input-mat2_2.tesc", "invocations that write the same output"),
    ("max-input-components.geom", "lavapipe compiles it for minutes"),
];

/// Returns whether Vulkan is missing, and prints that.
fn is_skipped() -> bool {
    let output = tgsic(&["verify", "--driver", "spirv"], "VERT\nDCL OUT[0], POSITION\nMOV OUT[0], OUT[0]\nEND\n");
    // With these arguments, nothing else can be wrong.
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

/// Runs recorded results, all of which must agree.
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
        let vector = tgsi_run::vectors::Vector::parse(&line).expect("a recorded result");
        if !OTHERWISE.iter().any(|(name, _)| vector.file.contains(name)) {
            shaders.insert(vector.file.clone());
            // The vectors of a shader are adjacent.
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

/// Words that depend on uninitialised memory of the recording interpreter are not compared for any executor.
#[test]
fn undetermined_words_are_the_same_for_every_executor() {
    if is_skipped() {
        return;
    }
    let fetch = |target: &str, more: &str| {
        format!(
            "FRAG\nDCL IN[0], GENERIC[0], CONSTANT\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SVIEW[0], {target}, FLOAT\n\
             IMM[0] INT32 {{0, 0, 0, 0}}\nDCL TEMP[0]\n{more}END\n"
        )
    };
    let one = |target| fetch(target, &format!("TXF OUT[0], IMM[0].xxxx, SAMP[0], {target}\n"));
    let two = |target| fetch(target, &format!("TXF TEMP[0], IMM[0].xxxx, SAMP[0], {target}\nNOT OUT[0], TEMP[0]\n"));
    let shaders = [("a", one("BUFFER")), ("b", one("2D_MSAA")), ("c", two("BUFFER")), ("d", two("2D_MSAA"))];
    let words = "3f123456".repeat(16);
    let vector = |name: &str| {
        format!("{{\"f\":\"{name}.frag.tgsi\",\"seed\":0,\"in\":{{}},\"out\":{{\"0\":\"{words}\"}},\"live\":15}}\n")
    };
    let vectors: String = shaders.iter().map(|(name, _)| vector(name)).collect();
    let files: Vec<(String, &str)> =
        shaders.iter().map(|(name, text)| (format!("{name}.frag.tgsi"), text.as_str())).collect();
    let mut files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), *text)).collect();
    files.push(("vectors.jsonl", &vectors));
    let folder = Folder::with(&files);
    let totals = |driver: &str| -> serde_json::Value {
        let via = format!("driver:{driver}");
        let arguments = ["verify", "--driver", driver, "--via", &via, "--vectors", "vectors.jsonl", "--json"];
        serde_json::from_slice(&folder.run(&arguments).stdout).expect("JSON")
    };
    let (tgsi, spirv) = (totals("tgsi"), totals("spirv"));
    for key in ["vectors", "different", "error", "undetermined_words"] {
        assert_eq!(tgsi[key], spirv[key], "{key}: {tgsi:#} {spirv:#}");
    }
    assert!(tgsi["undetermined_words"].as_u64() > Some(0), "{tgsi:#}");
}

/// A compiler that clears this array element by element takes minutes.
#[test]
fn large_arrays_end() {
    if is_skipped() {
        return;
    }
    let text = "FRAG\nDCL OUT[0], COLOR\nDCL CONST[0][0]\nDCL TEMP[0..3], LOCAL\nDCL TEMP[4..2051], ARRAY(1), LOCAL\nDCL ADDR[0]\n\
        IMM[0] INT32 {0, 2048, 1, 2047}\nIMM[1] FLT32 {0.0, 1.0, 0.0, 1.0}\nMOV TEMP[0].x, IMM[0].xxxx\nBGNLOOP\n\
        ISGE TEMP[1].x, TEMP[0].xxxx, IMM[0].yyyy\nUIF TEMP[1].xxxx\nBRK\nENDIF\nUARL ADDR[0].x, TEMP[0].xxxx\n\
        MOV TEMP[ADDR[0].x+4](1).x, IMM[0].xxxx\nUADD TEMP[0].x, TEMP[0].xxxx, IMM[0].zzzz\nENDLOOP\n\
        AND TEMP[2].x, CONST[0][0].xxxx, IMM[0].wwww\nBGNLOOP\nUARL ADDR[0].x, TEMP[2].xxxx\n\
        USEQ TEMP[1].x, TEMP[ADDR[0].x+4](1).xxxx, IMM[0].zzzz\nUIF TEMP[1].xxxx\nBRK\nENDIF\n\
        UARL ADDR[0].x, TEMP[2].xxxx\nMOV TEMP[ADDR[0].x+4](1).x, IMM[0].zzzz\nENDLOOP\nMOV OUT[0], IMM[1]\nEND\n";
    let folder = Folder::with(&[("large.frag.tgsi", text)]);
    let mut command = folder.command(&["verify", "--driver", "spirv", "large.frag.tgsi"]);
    command.env("TGSIC_VULKAN_SECONDS", "30");
    crate::common::run(command, b"").success();
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

/// Returns a shader with many reads, for which lavapipe takes minutes, mostly in LLVM's coroutine passes.
fn slow_shader() -> String {
    let mut text = String::from("GEOM\nPROPERTY GS_INPUT_PRIMITIVE TRIANGLES_ADJACENCY\n");
    text += "PROPERTY GS_OUTPUT_PRIMITIVE POINTS\nPROPERTY GS_MAX_OUTPUT_VERTICES 1\n";
    (0..32).for_each(|input| writeln!(text, "DCL IN[][{input}], GENERIC[{input}]").expect("written"));
    text += "DCL OUT[0], POSITION\nDCL TEMP[0..191], ARRAY(1), LOCAL\nDCL ADDR[0]\nIMM[0] UINT32 {0, 0, 0, 0}\n";
    for register in 0..192 {
        writeln!(text, "MOV TEMP[{register}], IN[{}][{}]", register / 32, register % 32).expect("written");
    }
    text += "UARL ADDR[0].x, IN[0][0].xxxx\nMOV OUT[0], TEMP[ADDR[0].x](1)\nEMIT IMM[0].xxxx\nEND\n";
    text
}

/// Creates two shaders and a recorded result for each.
fn two_shaders() -> Folder {
    let words = "3f800000".repeat(16);
    let vectors = format!(
        "{{\"f\":\"a.geom.tgsi\",\"seed\":0,\"gs_in\":[{{\"0\":\"{}\"}}],\"out\":{{}},\"live\":1}}\n\
         {{\"f\":\"b.vert.tgsi\",\"seed\":0,\"in\":{{\"0\":\"{words}\"}},\"out\":{{\"0\":\"{words}\"}},\"live\":15}}\n",
        "0".repeat(32)
    );
    let fast = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nMOV OUT[0], IN[0]\nEND\n";
    Folder::with(&[("a.geom.tgsi", &slow_shader()), ("b.vert.tgsi", fast), ("vectors.jsonl", &vectors)])
}

const RUN_BOTH: [&str; 7] = ["verify", "--driver", "spirv", "--via", "driver:spirv", "--vectors", "vectors.jsonl"];

#[test]
fn runs_that_are_given_up_are_named_and_take_no_others_with_them() {
    if is_skipped() {
        return;
    }
    let folder = two_shaders();
    // Without any time, even a fast shader is abandoned, and it must have been tried.
    let mut command = folder.command(&RUN_BOTH);
    command.env("TGSIC_VULKAN_SECONDS", "0").env("RAYON_NUM_THREADS", "1");
    let output = crate::common::run(command, b"");
    assert_eq!(output.status, 1, "{}", output.stderr);
    for name in ["a.geom.tgsi", "b.vert.tgsi"] {
        let line = format!("{name} seed 0: did not end within 0 s on Vulkan");
        assert!(output.text().contains(&line), "{}", output.text());
    }
    assert!(output.text().contains("2 vectors of shaders that did not end"), "{}", output.text());
}

/// Returns the processes with a variable in their environment.
#[cfg(target_os = "linux")]
fn processes_with(variable: &str) -> usize {
    let entries = std::fs::read_dir("/proc").expect("processes");
    let environments = entries.flatten().filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    environments.filter(|bytes| bytes.split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes())).count()
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_that_runs_code_ends_with_the_program() {
    use std::time::{Duration, Instant};
    if is_skipped() {
        return;
    }
    let folder = two_shaders();
    let mark = format!("TGSIC_TEST_MARK={}", std::process::id());
    let (name, value) = mark.split_once('=').expect("a variable");
    let mut command = folder.command(&RUN_BOTH);
    let output = std::process::Stdio::null();
    let mut child = command.env(name, value).env("RAYON_NUM_THREADS", "1").stdout(output).spawn().expect("it starts");
    let begun = Instant::now();
    let is_late = || begun.elapsed() > Duration::from_secs(60);
    while processes_with(&mark) < 2 && child.try_wait().expect("a status").is_none() && !is_late() {
        std::thread::sleep(Duration::from_millis(20));
    }
    // The slow shader is being compiled by now, or soon.
    std::thread::sleep(Duration::from_secs(2));
    child.kill().expect("killed");
    child.wait().expect("a status");
    while processes_with(&mark) > 0 {
        assert!(!is_late(), "a process is left");
        std::thread::sleep(Duration::from_millis(20));
    }
}

//! One lookup each: every operation with every dimensionality, layers, comparison, offset and result type, with
//! combined and separate samplers. Each must have the expected instruction, and `spirv-val` must accept the module.

use std::fmt::Write as _;
use std::process::Command;

use rayon::prelude::*;
use tgsi_compiler::front_end::{Reading, TGSI_TEXT};
use tgsi_compiler::{Code, Compiler, Driver};

/// A texture target: its name in TGSI, coordinate components with the layer, whether it compares and accepts offsets.
struct Target {
    name: &'static str,
    coordinates: u8,
    shadow: bool,
    offsets: bool,
}

const fn target(name: &'static str, coordinates: u8, shadow: bool, offsets: bool) -> Target {
    Target { name, coordinates, shadow, offsets }
}

/// The targets that are sampled.
const SAMPLED: &[Target] = &[
    target("1D", 1, false, true),
    target("2D", 2, false, true),
    target("3D", 3, false, true),
    target("CUBE", 3, false, false),
    target("RECT", 2, false, true),
    target("1D_ARRAY", 2, false, true),
    target("2D_ARRAY", 3, false, true),
    target("CUBEARRAY", 4, false, false),
    target("SHADOW1D", 1, true, true),
    target("SHADOW2D", 2, true, true),
    target("SHADOWRECT", 2, true, true),
    target("SHADOWCUBE", 3, true, false),
    target("SHADOW1D_ARRAY", 2, true, true),
    target("SHADOW2D_ARRAY", 3, true, true),
    target("SHADOWCUBEARRAY", 4, true, false),
];

/// The targets that are only fetched from.
const FETCHED: &[&str] =
    &["1D", "2D", "3D", "RECT", "1D_ARRAY", "2D_ARRAY", "2D_MSAA", "2D_ARRAY_MSAA", "BUFFER", "CUBE"];

/// A shader and its expected instruction.
struct Case {
    name: String,
    source: String,
    instruction: &'static str,
    words: &'static [&'static str],
}

fn fragment(view: &str, ty: &str, instructions: &str) -> String {
    format!(
        "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL IN[1], GENERIC[1], PERSPECTIVE\nDCL IN[2], GENERIC[2], \
         PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[0]\nDCL SVIEW[0], {view}, {ty}\nDCL TEMP[0]\nIMM[0] INT32 {{1, -2, \
         3, 0}}\nIMM[1] INT32 {{-9, 20, 0, 1}}\n{instructions}\nMOV OUT[0], TEMP[0]\nEND\n"
    )
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, source: String, instruction, words| {
        cases.push(Case { name, source, instruction, words });
    };
    let plain: &[&str] = &["UINT", "SINT", "FLOAT"];
    for target in SAMPLED {
        let Target { name, coordinates, shadow, offsets } = *target;
        let implicit = if shadow { "OpImageSampleDrefImplicitLod" } else { "OpImageSampleImplicitLod" };
        let explicit = if shadow { "OpImageSampleDrefExplicitLod" } else { "OpImageSampleExplicitLod" };
        // If the coordinates fill the operand, the comparator is in a second one.
        let second = shadow && coordinates == 4 || name == "CUBEARRAY";
        let third = shadow && coordinates == 3 || second;
        let types = if shadow { &plain[2..] } else { plain };
        for ty in types {
            let mut lookup = |op: &str, text: String, instruction, words| {
                add(format!("{op} {name} {ty}"), fragment(name, ty, &text), instruction, words);
            };
            if shadow && coordinates == 4 {
                lookup("TEX2", format!("TEX2 TEMP[0], IN[0], IN[1].xxxx, SAMP[0], {name}"), implicit, &[]);
            } else {
                lookup("TEX", format!("TEX TEMP[0], IN[0], SAMP[0], {name}"), implicit, &[]);
            }
            if third {
                if !(shadow && coordinates == 4) {
                    lookup("TXB2", format!("TXB2 TEMP[0], IN[0], IN[1].xxxx, SAMP[0], {name}"), implicit, &["Bias"]);
                    lookup("TXL2", format!("TXL2 TEMP[0], IN[0], IN[1].xxxx, SAMP[0], {name}"), explicit, &["Lod"]);
                }
            } else {
                lookup("TXB", format!("TXB TEMP[0], IN[0], SAMP[0], {name}"), implicit, &["Bias"]);
                lookup("TXL", format!("TXL TEMP[0], IN[0], SAMP[0], {name}"), explicit, &["Lod"]);
            }
            if !(shadow && coordinates == 4) {
                lookup("TXD", format!("TXD TEMP[0], IN[0], IN[1], IN[2], SAMP[0], {name}"), explicit, &["Grad"]);
            }
            if coordinates < 4 && !third && !name.ends_with("ARRAY") {
                lookup("TXP", format!("TXP TEMP[0], IN[0], SAMP[0], {name}"), implicit, &[]);
            }
        }
        let mut once = |op: &str, text: String, instruction, words| {
            add(format!("{op} {name}"), fragment(name, "FLOAT", &text), instruction, words);
        };
        once("TXQ", format!("TXQ TEMP[0], IMM[0].wwww, SAMP[0], {name}"), "OpImageQuerySizeLod", &[]);
        once("TXQ run-time", format!("TXQ TEMP[0], IN[0].xxxx, SAMP[0], {name}"), "OpImageQueryLevels", &["OpSelect"]);
        once("LODQ", format!("LODQ TEMP[0], IN[0], SAMP[0], {name}"), "OpImageQueryLod", &[]);
        if offsets {
            if !(shadow && coordinates == 4) {
                once(
                    "TEX offset",
                    format!("TEX TEMP[0], IN[0], SAMP[0], {name}, IMM[0].xyz"),
                    implicit,
                    &["ConstOffset"],
                );
                once(
                    "TEX far offset",
                    format!("TEX TEMP[0], IN[0], SAMP[0], {name}, IMM[1].xyz"),
                    implicit,
                    &["OpImageQuerySizeLod"],
                );
            }
            once(
                "TXD offset",
                format!("TXD TEMP[0], IN[0], IN[1], IN[2], SAMP[0], {name}, IMM[0].xyz"),
                explicit,
                &["Grad|ConstOffset"],
            );
        }
    }
    for (name, offsets) in [("2D", true), ("CUBE", false), ("RECT", true), ("2D_ARRAY", true), ("CUBEARRAY", false)] {
        for ty in plain {
            let text = format!("TG4 TEMP[0], IN[0], IMM[0].xxxx, SAMP[0], {name}");
            add(format!("TG4 {name} {ty}"), fragment(name, ty, &text), "OpImageGather", &[]);
        }
        if offsets {
            let text = format!("TG4 TEMP[0], IN[0], IMM[0].xxxx, SAMP[0], {name}, IMM[0].xyz");
            add(format!("TG4 offset {name}"), fragment(name, "FLOAT", &text), "OpImageGather", &["ConstOffset"]);
            let text = format!("TG4 TEMP[0], IN[0], IMM[0].xxxx, SAMP[0], {name}, IN[1].xyz");
            let words = &["Offset", "ImageGatherExtended"];
            add(format!("TG4 run-time offset {name}"), fragment(name, "FLOAT", &text), "OpImageGather", words);
            let text = format!(
                "TG4 TEMP[0], IN[0], IMM[0].xxxx, SAMP[0], {name}, IMM[0].xyz, IMM[0].yyz, IMM[0].wyz, IMM[0].xxz"
            );
            add(format!("TG4 offsets {name}"), fragment(name, "FLOAT", &text), "OpImageGather", &["ConstOffsets"]);
        }
    }
    for name in ["SHADOW2D", "SHADOWCUBE", "SHADOWRECT", "SHADOW2D_ARRAY"] {
        let text = format!("TG4 TEMP[0], IN[0], IMM[0].xxxx, SAMP[0], {name}");
        add(format!("TG4 {name}"), fragment(name, "FLOAT", &text), "OpImageDrefGather", &[]);
    }
    for name in FETCHED {
        for ty in plain {
            let text = format!("TXF TEMP[0], IN[0], SAMP[0], {name}");
            add(format!("TXF {name} {ty}"), fragment(name, ty, &text), "OpImageFetch", &["OpULessThan"]);
        }
        let sized =
            if name.ends_with("MSAA") || *name == "BUFFER" { "OpImageQuerySize" } else { "OpImageQuerySizeLod" };
        let text = format!("TXQ TEMP[0], IMM[0].wwww, SAMP[0], {name}");
        add(format!("TXQ {name}"), fragment(name, "UINT", &text), sized, &[]);
        if !name.ends_with("MSAA") && !matches!(*name, "BUFFER" | "CUBE") {
            let text = format!("TXF TEMP[0], IN[0], SAMP[0], {name}, IMM[0].xyz");
            add(format!("TXF offset {name}"), fragment(name, "FLOAT", &text), "OpImageFetch", &["OpIAdd"]);
        }
        if name.ends_with("MSAA") {
            let text = format!("TXQS TEMP[0].x, SAMP[0], {name}\nMOV TEMP[0].yzw, IMM[0].wwww");
            add(format!("TXQS {name}"), fragment(name, "SINT", &text), "OpImageQuerySamples", &[]);
        }
    }
    cases
}

fn translate(source: &str, options: &[&str]) -> Result<Vec<u8>, String> {
    let target = tgsi_driver_spirv::DRIVER.target(options).map_err(|error| error.to_string())?;
    let compiler = Compiler::for_target(target.into());
    let Reading { source: read, findings, .. } = compiler.read(&TGSI_TEXT, source.as_bytes());
    let read = read.ok_or_else(|| format!("{findings:?}"))?;
    compiler.compile(read).map(Code::into_bytes).map_err(|error| error.to_string())
}

fn disassembly(bytes: &[u8]) -> Result<String, String> {
    tgsi_driver_spirv::disassemble(&Code::Binary(bytes.to_vec())).ok_or("no module")?
}

fn has_tool(tool: &str) -> bool {
    Command::new(tool).arg("--version").output().is_ok()
}

/// Returns the error of `spirv-val`; `None` if it accepts the module or is not installed.
fn rejected(bytes: &[u8], environment: &str) -> Option<String> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("a file");
    let output = Command::new("spirv-val").args(["--target-env", environment]).arg(file.path()).output().ok()?;
    (!output.status.success()).then(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn check(options: &[&str], environment: &str, expects: bool) {
    if !has_tool("spirv-val") {
        eprintln!("not validated: there is no spirv-val");
    }
    let cases = cases();
    assert!(cases.len() > 150, "{} cases", cases.len());
    let wrong: Vec<String> = cases
        .par_iter()
        .filter_map(|case| {
            let found = translate(&case.source, options).and_then(|bytes| {
                if let Some(message) = rejected(&bytes, environment) {
                    return Err(message);
                }
                let text = disassembly(&bytes)?;
                let lacks = [case.instruction].into_iter().chain(case.words.iter().copied());
                let mut lacks = lacks.filter(|word| expects && !text.contains(*word));
                lacks.next().map_or(Ok(()), |word| Err(format!("no {word} in\n{text}")))
            });
            found.err().map(|message| format!("{}: {message}", case.name))
        })
        .collect();
    let mut text = String::new();
    for message in wrong.iter().take(20) {
        let _ = writeln!(text, "{message}");
    }
    assert!(wrong.is_empty(), "{options:?}: {} of {} wrong\n{text}", wrong.len(), cases.len());
}

#[test]
fn combined() {
    check(&["vulkan1.1"], "vulkan1.1", true);
}

#[test]
fn separate() {
    check(&["vulkan1.1", "separate_samplers"], "vulkan1.1", true);
}

#[test]
fn other_versions() {
    check(&["vulkan1.0"], "vulkan1.0", true);
    check(&["vulkan1.3"], "vulkan1.3", true);
}

#[test]
fn portable() {
    check(&["portable"], "vulkan1.1", false);
}

/// Disassembles a fragment shader's module.
fn text_of(view: &str, instructions: &str, options: &[&str]) -> String {
    let bytes = translate(&fragment(view, "FLOAT", instructions), options).expect("a module");
    assert_eq!(rejected(&bytes, "vulkan1.1"), None);
    disassembly(&bytes).expect("a text")
}

#[test]
fn samplers_are_combined_or_not() {
    let combined = text_of("2D", "TEX TEMP[0], IN[0], SAMP[0], 2D", &[]);
    assert!(combined.contains("OpTypeSampledImage") && !combined.contains("OpSampledImage"));
    let separate = text_of("2D", "TEX TEMP[0], IN[0], SAMP[0], 2D", &["separate_samplers"]);
    assert!(separate.contains("OpTypeSampler") && separate.contains("OpSampledImage"));
}

#[test]
fn views_with_samplers_of_other_units_are_separate() {
    let source = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[1]\nDCL SVIEW[0], 2D, FLOAT\n\
                  DCL TEMP[0]\nSAMPLE TEMP[0], IN[0], SVIEW[0], SAMP[1]\nMOV OUT[0], TEMP[0]\nEND\n";
    let bytes = translate(source, &["vulkan1.1"]).expect("a module");
    assert_eq!(rejected(&bytes, "vulkan1.1"), None);
    assert!(disassembly(&bytes).expect("a text").contains("OpSampledImage"));
}

#[test]
fn indices_of_the_run_are_held_within() {
    let source = "FRAG\nDCL IN[0], GENERIC[0], PERSPECTIVE\nDCL OUT[0], COLOR\nDCL SAMP[0..3]\n\
                  DCL SVIEW[0..3], 2D, FLOAT\nDCL CONST[0][0]\nDCL TEMP[0]\nDCL ADDR[0]\nUARL ADDR[0].x, WHERE\n\
                  TEX TEMP[0], IN[0], SAMP[ADDR[0].x], 2D\nMOV OUT[0], TEMP[0]\nEND\n";
    for (place, divergent) in [("CONST[0][0].xxxx", false), ("IN[0].xxxx", true)] {
        let bytes = translate(&source.replace("WHERE", place), &["vulkan1.2"]).expect("a module");
        assert_eq!(rejected(&bytes, "vulkan1.2"), None);
        let text = disassembly(&bytes).expect("a text");
        assert!(text.contains("SampledImageArrayDynamicIndexing") && text.contains("UMin"), "{text}");
        assert_eq!(text.contains("NonUniform"), divergent, "{text}");
    }
    let bytes = translate(&source.replace("WHERE", "IN[0].xxxx"), &["portable"]).expect("a module");
    let text = disassembly(&bytes).expect("a text");
    assert_eq!(text.matches("OpImageSampleImplicitLod").count(), 4, "{text}");
}

#[test]
fn outside_of_fragment_shaders_levels_are_explicit() {
    let source = "VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nDCL SAMP[0]\nDCL SVIEW[0], 2D, FLOAT\nDCL TEMP[0]\n\
                  TEX TEMP[0], IN[0], SAMP[0], 2D\nMOV OUT[0], TEMP[0]\nEND\n";
    let bytes = translate(source, &["vulkan1.1"]).expect("a module");
    assert_eq!(rejected(&bytes, "vulkan1.1"), None);
    assert!(disassembly(&bytes).expect("a text").contains("OpImageSampleExplicitLod"));
}

#[test]
fn robust_targets_need_no_conditions() {
    let text = text_of("2D", "TXF TEMP[0], IN[0], SAMP[0], 2D", &["vulkan1.1", "robust"]);
    assert!(text.contains("OpImageFetch") && !text.contains("OpULessThan"), "{text}");
}

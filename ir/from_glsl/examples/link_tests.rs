//! Checks piglit's tests of linking: programs of `.shader_test` files that must or must not link.
//!
//! ```sh
//! TGSIC_SHADER_TESTS=/usr/lib/x86_64-linux-gnu/piglit cargo run --release -p tgsi-glsl --example link_tests -- tests
//! ```
//!
//! Reads the files below the folder whose test is `link success` or `link error`. The arguments are parts of paths. Prints
//! the counts, and each difference with its first finding; with `reasons`, also the finding of each program that must not
//! link.

mod shared;

use std::collections::BTreeMap;
use std::path::PathBuf;

use shared::find_files;
use tgsi::limits::Limits;
use tgsi_compiler::front_end::{FrontEnd, ReadRequest};
use tgsi_glsl::GLSL;
use tgsi_ir::shader::ShaderStage;

/// The heads of sections, in pipeline order.
const STAGES: [(&str, ShaderStage); 6] = [
    ("[vertex shader", ShaderStage::Vertex),
    ("[tessellation control shader", ShaderStage::TessCtrl),
    ("[tessellation evaluation shader", ShaderStage::TessEval),
    ("[geometry shader", ShaderStage::Geometry),
    ("[fragment shader", ShaderStage::Fragment),
    ("[compute shader", ShaderStage::Compute),
];

/// Whether the program must link; `None` for other tests.
fn expectation(text: &str) -> Option<bool> {
    let (_, test) = text.split_once("[test]")?;
    let mut lines = test.lines().map(str::trim);
    lines.find_map(|line| match line {
        "link success" => Some(true),
        "link error" => Some(false),
        _ => None,
    })
}

/// The first error of the program.
fn link(text: &str) -> Option<String> {
    let has = |head: &str| text.lines().any(|line| line.starts_with(head));
    let stages: Vec<ShaderStage> = STAGES.iter().filter(|(head, _)| has(head)).map(|&(_, stage)| stage).collect();
    let limits = Limits::default();
    let reader = GLSL.reader(&[]).ok()?;
    let inputs: Vec<_> = stages
        .iter()
        .map(|&stage| {
            (text.as_bytes(), ReadRequest { limits: &limits, compiler: None, path: None, stage: Some(stage) })
        })
        .collect();
    let readings = reader.read_pipeline(&inputs);
    let mut errors = readings.iter().flat_map(|reading| &reading.findings).filter(|finding| finding.is_error());
    errors.next().map(|error| {
        let line = text.get(..error.span.start as usize).map_or(0, |before| before.lines().count());
        format!("{line}: {} {}", error.code.name, error.message)
    })
}

fn main() {
    let Some(root) = std::env::var_os("TGSIC_SHADER_TESTS").map(PathBuf::from) else {
        eprintln!("set TGSIC_SHADER_TESTS to the folder of the tests");
        std::process::exit(2);
    };
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let shows_reasons = arguments.iter().any(|argument| argument == "reasons");
    let parts: Vec<&String> = arguments.iter().filter(|argument| *argument != "reasons").collect();
    let mut counts: BTreeMap<bool, (u32, u32)> = BTreeMap::new();
    for path in find_files(&root, &["shader_test"]) {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        if !parts.is_empty() && !parts.iter().any(|part| name.contains(part.as_str())) {
            continue;
        }
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        let Some(links) = expectation(&text) else { continue };
        let error = link(&text);
        let (right, all) = counts.entry(links).or_default();
        *all += 1;
        *right += u32::from(error.is_none() == links);
        match error {
            Some(error) if links => println!("refused {name}: {error}"),
            None if !links => println!("linked {name}"),
            Some(error) if shows_reasons => println!("reason {name}: {error}"),
            _ => {}
        }
    }
    for (links, (right, all)) in counts {
        println!("{}: {right} of {all}", if links { "linked" } else { "refused" });
    }
}

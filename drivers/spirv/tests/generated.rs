//! Generated shaders of every stage: each translates for every target, and `spirv-val` accepts the module.
//!
//! `TGSIC_COUNT=n` generates n shaders of each stage instead of 60, `TGSIC_SEED=n` sets the first seed.

use std::collections::BTreeMap;
use std::process::Command;

use rayon::prelude::*;
use tgsi::tables::Processor;
use tgsi_compiler::{Compiler, Driver};
use tgsi_smith::Config;

const STAGES: [Processor; 6] = [
    Processor::Vertex,
    Processor::Fragment,
    Processor::Geometry,
    Processor::TessControl,
    Processor::TessEval,
    Processor::Compute,
];

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn has_validator() -> bool {
    Command::new("spirv-val").arg("--version").output().is_ok()
}

#[test]
fn every_module_is_valid() {
    let validates = has_validator();
    let (count, seed) = (number("TGSIC_COUNT", 60), number("TGSIC_SEED", 1));
    let folder = tempfile::tempdir().expect("a folder");
    let targets = [("vulkan1.0", "vulkan1.0"), ("vulkan1.1", "vulkan1.1"), ("vulkan1.3", "vulkan1.3")];
    let compilers = targets.map(|(profile, environment)| {
        let target = tgsi_driver_spirv::DRIVER.target(&[profile, "bindless"]).expect("a profile");
        (Compiler::for_target(target.into()), environment)
    });
    let cases: Vec<(Processor, u64)> =
        STAGES.iter().flat_map(|&stage| (seed..seed + count).map(move |seed| (stage, seed))).collect();
    let wrong: Vec<(String, String)> = cases
        .par_iter()
        .filter_map(|&(stage, seed)| {
            let config = Config::default().with_stage(stage);
            let shader = tgsi_smith::from_seed(seed, &config).expect("a shader");
            let (compiler, environment) = &compilers[(seed % 3) as usize];
            let name = format!("{} {seed} for {environment}", stage.name());
            let code = match compiler.compile(&shader) {
                Ok(code) => code,
                // Handles of bound textures, and comparisons with 3D textures.
                Err(error) if error.to_string().contains("Vulkan ") => return None,
                Err(error) => return Some((error.to_string(), name)),
            };
            if !validates {
                return None;
            }
            let module = folder.path().join(format!("{}-{seed}.spv", stage.name()));
            std::fs::write(&module, code.into_bytes()).expect("a file");
            let output = Command::new("spirv-val").args(["--target-env", environment]).arg(&module).output();
            let output = output.expect("spirv-val");
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            (!output.status.success()).then_some((message, name))
        })
        .collect();
    let mut kinds: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (message, name) in &wrong {
        let kind = message.lines().next().unwrap_or_default();
        let kind: String = kind.chars().map(|c| if c.is_ascii_digit() { '#' } else { c }).collect();
        kinds.entry(kind).or_default().push(name);
    }
    for (kind, names) in &kinds {
        println!("{:6} {kind} (first: {})", names.len(), names[0]);
    }
    assert!(wrong.is_empty(), "{} of {} wrong", wrong.len(), cases.len());
    assert!(validates || std::env::var_os("CI").is_none(), "no program spirv-val (apt-get install spirv-tools)");
}

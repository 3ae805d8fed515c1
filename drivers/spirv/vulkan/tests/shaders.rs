//! Runs code of the SPIR-V driver on Vulkan, and compares with the interpreter of the IR.
//!
//! Of real shaders every 32nd runs, every eighth with `TGSIC_LONG`, and every one with `TGSIC_EVERY=1`.
//! `TGSIC_ONLY=text` restricts the runs to paths that contain the text.
//!
//! Many inputs are small integers, which are denormals for shaders that read them as floats. If the device flushes
//! denormals, a shader with other results is tried again with zeros in their place.

use std::path::PathBuf;
use std::sync::OnceLock;

use crate::runs::{
    LIMITS, all_are_wanted, close, close_but_denormals, corpus, declared, difference, inputs, is_wanted, parsed,
    repository, texts, without_denormals, without_nan,
};
use tgsi_compiler::{Compiler, Runner, Stage};
use tgsi_driver_spirv::SpirvOptions;
use tgsi_environment::{AnalyticResources, Inputs, Resources};
use tgsi_ir::shader::Shader;
use tgsi_spirv_vulkan::run_target;

/// Shaders that take lavapipe longer than a minute to compile: arrays of hundreds of vectors in registers.
const SLOW: &[&str] = &["max-input-components.geom"];
/// Shaders that may give different results on different devices, with the reason.
const OTHERWISE: &[(&str, &str)] = &[
    ("tes-input-mat2_2.tesc", "invocations that write the same output"),
    ("trivial.compute-4.comp", "invocations that write one word of shared memory without a barrier"),
    ("storage_buffer_object.execution.indirect", "invocations that write one word of a buffer without a barrier"),
    ("r600_query.comp", "addresses that are not multiples of four"),
    ("glsl-fs-log2.frag", "the logarithm of a denormal"),
    ("frag-lit.frag", "a power that is a denormal"),
];

fn compiler() -> Compiler {
    Compiler::for_target(run_target(&SpirvOptions::default()).expect("a target").into())
}

/// A lowered shader, and the runner of its code.
type LoweredShader = (Shader, Box<dyn Runner>);

/// Returns a lowered shader, and the runner of its code; `None` if the source is invalid.
fn made(compiler: &Compiler, source: &tgsi::Shader) -> Option<Result<LoweredShader, String>> {
    if tgsi::check::check(source).has_errors() {
        return None;
    }
    let make = || {
        let mut compilation = compiler.start(source).map_err(|error| error.to_string())?;
        compilation.advance(Stage::Registers).map_err(|error| error.to_string())?;
        let lowered = compilation.ir().clone();
        let code = compilation.finish().map_err(|error| error.to_string())?;
        let runner = tgsi_spirv_vulkan::runner(compiler.target(), &code).ok_or("no runner")?;
        Ok((lowered, runner.map_err(|error| error.to_string())?))
    };
    Some(make())
}

fn compare(source: &tgsi::Shader, shader: &Shader, runner: &dyn Runner, seeds: u64) -> Result<(), String> {
    for seed in 0..seeds {
        let inputs = declared(source, without_nan(inputs(shader, seed)));
        let mut result = compare_run(shader, runner, &inputs, close);
        if result.is_err() && flushes_denormals() {
            result = compare_run(shader, runner, &without_denormals(inputs), close_but_denormals);
        }
        result.map_err(|error| format!("inputs {seed}: {error}"))?;
    }
    Ok(())
}

fn compare_run(
    shader: &Shader,
    runner: &dyn Runner,
    inputs: &Inputs,
    same: fn(u32, u32) -> bool,
) -> Result<(), String> {
    let (mut expected_texels, mut texels) = (AnalyticResources::default(), AnalyticResources::default());
    let Ok(expected) = tgsi_ir::run::run(shader, inputs, &mut expected_texels, LIMITS) else { return Ok(()) };
    let found = runner.run(inputs, &mut texels, LIMITS).map_err(|error| error.to_string())?;
    if let Some(difference) = difference(shader.stage, &expected, &found, &same) {
        return Err(difference);
    }
    if expected_texels.stored_texels() != texels.stored_texels() {
        return Err("stored texels differ".to_owned());
    }
    Ok(())
}

/// Returns whether the device flushes denormals, as it may.
fn flushes_denormals() -> bool {
    static FLUSHES: OnceLock<bool> = OnceLock::new();
    *FLUSHES.get_or_init(|| {
        let text = b"VERT\nDCL IN[0]\nDCL OUT[0], POSITION\nADD OUT[0], IN[0], IN[0]\nEND\n";
        let (shader, runner) = made(&compiler(), &parsed(text).expect("a shader")).expect("a shader").expect("code");
        let mut inputs = inputs(&shader, 0);
        (0..4).for_each(|lane| inputs.inputs.set(0, 0, lane, 1));
        let found = runner.run(&inputs, &mut AnalyticResources::default(), LIMITS).expect("a run");
        found.outputs.get(0, 0, 0) == 0
    })
}

/// Returns the number of shaders, and the failures.
fn compare_files(files: &[PathBuf]) -> (usize, Vec<String>) {
    let compiler = compiler();
    let (mut count, mut wrong) = (0, Vec::new());
    for file in files.iter().filter(|file| is_wanted(file)) {
        let Some(source) = parsed(&std::fs::read(file).expect("a file")) else { continue };
        let Some(made) = made(&compiler, &source) else { continue };
        count += 1;
        if let Err(error) = made.and_then(|(shader, runner)| compare(&source, &shader, &*runner, 4)) {
            wrong.push(format!("{}: {error}", file.display()));
        }
    }
    (count, wrong)
}

/// Returns whether Vulkan is unavailable; prints the reason.
fn is_skipped() -> bool {
    let reason = tgsi_spirv_vulkan::unavailable();
    if let Some(reason) = &reason {
        println!("skipped: {reason}");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "in CI nothing may be skipped: {reason}");
    }
    reason.is_some()
}

#[test]
fn fixtures_compute_the_same() {
    if is_skipped() {
        return;
    }
    let (count, wrong) = compare_files(&texts(repository().join("fixtures/tgsi")));
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 30 || !all_are_wanted(), "{count}");
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn real_shaders_compute_the_same() {
    if is_skipped() {
        return;
    }
    let usual = if std::env::var_os("TGSIC_LONG").is_some() { 8 } else { 32 };
    let every = std::env::var("TGSIC_EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(usual);
    let files: Vec<PathBuf> = texts(corpus())
        .into_iter()
        .filter(|path| {
            let otherwise = OTHERWISE.iter().map(|(name, _)| name);
            !SLOW.iter().chain(otherwise).any(|name| path.to_string_lossy().contains(name))
        })
        .step_by(every)
        .collect();
    let (count, wrong) = compare_files(&files);
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 1400 / every || !all_are_wanted(), "{count}");
}

//! Code of the driver for SPIR-V on Vulkan, against the interpreter of the IR.
//!
//! Of real shaders every eighth runs, and every one with `TGSIC_EVERY=1`. `TGSIC_ONLY=text` restricts it to shaders whose
//! path contains the text.

#[path = "../../tests/runs/mod.rs"]
mod runs;

use std::path::PathBuf;

use runs::{LIMITS, all_are_wanted, corpus, difference, inputs, is_wanted, parsed, repository, texts};
use tgsi::run::vectors::Agreement;
use tgsi::tables::File;
use tgsi_compiler::{Compiler, Driver, Runner, Stage};
use tgsi_driver_spirv::DRIVER;
use tgsi_ir::run::{AnalyticResources, Inputs, LaneRegisters, Resources};
use tgsi_ir::shader::Shader;

/// Shaders whose code lavapipe compiles for longer than a minute: arrays of hundreds of vectors in registers.
const SLOW: &[&str] = &["max-input-components.geom"];
/// Shaders that need not compute the same on every device, and why.
const OTHERWISE: &[(&str, &str)] = &[
    ("tes-input-mat2_2.tesc", "invocations that write the same output"),
    ("trivial.compute-4.comp", "invocations that write one word of shared memory without a barrier"),
    ("r600_query.comp", "addresses that are no multiples of four"),
    ("glsl-fs-log2.frag", "the logarithm of a denormal"),
    ("frag-lit.frag", "a power that is a denormal"),
];

/// Words of approximate functions agree as those of recorded results do. Devices need not keep NaN and infinities; a
/// small negative integer is none.
fn close(expected: u32, found: u32) -> bool {
    let is_kept = f32::from_bits(expected).is_finite() || expected >= 0xffff_ff00;
    !is_kept || Agreement::of(expected, found) != Agreement::Different
}

fn compiler() -> Compiler {
    Compiler::for_target(DRIVER.target(DRIVER.run_options()).expect("the options").into())
}

/// A lowered shader, and what runs its code.
type Made = (Shader, Box<dyn Runner>);

/// A shader as it is before its code is made, and what runs the code; none if it is no valid shader.
fn made(compiler: &Compiler, source: &tgsi::Shader) -> Option<Result<Made, String>> {
    if tgsi::check::check(source).has_errors() {
        return None;
    }
    let make = || {
        let mut compilation = compiler.start(source).map_err(|error| error.to_string())?;
        compilation.advance(Stage::Registers).map_err(|error| error.to_string())?;
        let lowered = compilation.ir().clone();
        let code = compilation.finish().map_err(|error| error.to_string())?;
        let runner = tgsi_spirv_vulkan::runner(compiler.target(), &code).unwrap_or_else(|| Err("no runner".to_owned()));
        Ok((lowered, runner?))
    };
    Some(make())
}

/// Devices need not keep NaN: what is given as a small negative integer may be read as a float, and becomes positive.
fn without_nan(mut inputs: Inputs) -> Inputs {
    let positive = |word: &mut u32| {
        if *word > 0xff80_0000 {
            *word = word.wrapping_neg() & 0xff;
        }
    };
    for register in 0..inputs.inputs.len() {
        for component in 0..4 {
            inputs.inputs.component_mut(register, component).iter_mut().for_each(positive);
        }
    }
    inputs.vertices.iter_mut().flatten().flatten().for_each(positive);
    inputs.constants.iter_mut().flatten().for_each(positive);
    inputs.system_values.values_mut().flatten().flatten().for_each(positive);
    inputs
}

/// Inputs and constants that are declared: what an index beyond them reads is nobody's business.
fn declared(source: &tgsi::Shader, mut inputs: Inputs) -> Inputs {
    let end = |file: File, dimension: Option<u16>| {
        let declarations = source.declarations.iter().filter(|d| d.file == file);
        let of_dimension =
            declarations.filter(|d| dimension.is_none() || d.dimension.unwrap_or(0) == dimension.unwrap_or(0));
        of_dimension.map(|d| usize::from(d.last) + 1).max().unwrap_or(0)
    };
    let mut registers = LaneRegisters::new(inputs.lanes, end(File::Input, None).min(inputs.inputs.len()));
    for register in 0..registers.len() {
        for component in 0..4 {
            let words = inputs.inputs.component(register, component);
            registers.component_mut(register, component).copy_from_slice(words);
        }
    }
    inputs.inputs = registers;
    for (number, words) in (0..).zip(&mut inputs.constants) {
        words.truncate(4 * end(File::Constant, Some(number)));
    }
    inputs
}

fn compare(source: &tgsi::Shader, shader: &Shader, runner: &dyn Runner, seeds: u64) -> Result<(), String> {
    for seed in 0..seeds {
        let inputs = declared(source, without_nan(inputs(shader, seed)));
        let (mut expected_texels, mut texels) = (AnalyticResources::default(), AnalyticResources::default());
        let Ok(expected) = tgsi_ir::run::run(shader, &inputs, &mut expected_texels, LIMITS) else { continue };
        let found = runner.run(&inputs, &mut texels, LIMITS)?;
        if let Some(difference) = difference(shader.stage, &expected, &found, &close) {
            return Err(format!("inputs {seed}: {difference}"));
        }
        if expected_texels.stored_texels() != texels.stored_texels() {
            return Err(format!("inputs {seed}: stored texels differ"));
        }
    }
    Ok(())
}

/// The number of shaders, and what is wrong with some.
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

/// Whether there is no Vulkan, which is said.
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
    let every = std::env::var("TGSIC_EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(8);
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

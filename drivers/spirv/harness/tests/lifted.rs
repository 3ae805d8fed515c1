//! Runs lifted shaders in the interpreter of the IR, and compares with the originals.
//!
//! `TGSIC_ONLY=text` restricts the runs to paths that contain the text, and prints the lifted shaders.

use std::path::PathBuf;

use crate::runs::{
    LIMITS, all_are_wanted, corpus, difference, inputs, is_wanted, optimized, parsed, repository, texts,
};
use tgsi_environment::SystemValue;
use tgsi_environment::{AnalyticResources, Inputs, KILLED_STEPS, Outputs, Resources, RunLimits};
use tgsi_ir::shader::Shader;
use tgsi_spirv_harness::{BUFFER, Layout, decode, encode, lift};

/// Runs a lifted shader in the interpreter; with a distance of eight, every second quad is idle.
fn run_lifted(
    shader: &Shader,
    layout: &Layout,
    inputs: &Inputs,
    distance: u32,
    resources: &mut AnalyticResources,
) -> Result<Outputs, String> {
    let encoded = encode(layout, inputs, resources, LIMITS, distance)?;
    let mut buffers = inputs.buffers.clone();
    let own = buffers.len();
    buffers.resize(BUFFER as usize + 1, Vec::new());
    buffers[BUFFER as usize] = encoded.iter().flat_map(|word| word.to_le_bytes()).collect();
    let lanes = inputs.lanes.div_ceil(4) * distance as usize;
    let given = Inputs {
        lanes,
        constants: inputs.constants.clone(),
        buffers,
        shared_size: inputs.shared_size,
        system_values: [(SystemValue::LocalInvocationIndex, vec![(0..lanes as u32).collect()])].into(),
        ..Inputs::default()
    };
    let limits = RunLimits::of_steps(LIMITS.steps * 20);
    let mut after = tgsi_ir::run::run(shader, &given, &mut AnalyticResources::default(), limits)
        .map_err(|error| error.to_string())?;
    let words: Vec<u32> = after.buffers[BUFFER as usize]
        .chunks_exact(4)
        .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    after.buffers.truncate(own);
    decode(layout, inputs, &words, after.buffers, resources)
}

/// All NaNs are equal.
fn same(expected: u32, found: u32) -> bool {
    expected == found || (f32::from_bits(expected).is_nan() && f32::from_bits(found).is_nan())
}

/// Runs an optimised shader and its lifted form.
fn compare(shader: &Shader, seeds: u64) -> Result<(), String> {
    let mut lifted = shader.clone();
    let layout = lift(&mut lifted).map_err(|error| error.to_string())?;
    if !all_are_wanted() {
        println!("{}", tgsi_ir::text::print(&lifted));
    }
    tgsi_ir::validate::validate(&lifted).map_err(|errors| format!("invalid: {errors:?}"))?;
    for seed in 0..seeds {
        let inputs = inputs(shader, seed);
        let mut expected_texels = AnalyticResources::default();
        let Ok(expected) = tgsi_ir::run::run(shader, &inputs, &mut expected_texels, LIMITS) else { continue };
        // Code that was lifted knows no quads, whose killed lanes leave loops.
        if expected.steps > KILLED_STEPS {
            continue;
        }
        for distance in [4, 8] {
            let mut texels = AnalyticResources::default();
            let found = run_lifted(&lifted, &layout, &inputs, distance, &mut texels)?;
            if let Some(difference) = difference(shader.stage, &expected, &found, &same) {
                return Err(format!("inputs {seed}: {difference}"));
            }
            if expected_texels.stored_texels() != texels.stored_texels() {
                return Err(format!("inputs {seed}: stored texels differ"));
            }
        }
    }
    Ok(())
}

/// Compares the shaders of files selected by `TGSIC_ONLY`.
fn compare_files(files: &[PathBuf]) -> (usize, Vec<String>) {
    let (mut count, mut wrong) = (0, Vec::new());
    for file in files.iter().filter(|file| is_wanted(file)) {
        let Some(shader) = parsed(&std::fs::read(file).expect("a file")).and_then(|source| optimized(&source)) else {
            continue;
        };
        count += 1;
        if let Err(error) = compare(&shader, 4) {
            wrong.push(format!("{}: {error}", file.display()));
        }
    }
    (count, wrong)
}

#[test]
fn fixtures_compute_the_same() {
    let (count, wrong) = compare_files(&texts(repository().join("fixtures/tgsi")));
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 30 || !all_are_wanted(), "{count}");
}

#[test]
#[cfg_attr(not(reference_data), ignore = "no reference data")]
fn real_shaders_compute_the_same() {
    let (count, wrong) = compare_files(&texts(corpus()));
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count > 1500 || !all_are_wanted(), "{count}");
}

#[test]
fn generated_shaders_compute_the_same() {
    let mut wrong = Vec::new();
    for seed in 0..300 {
        let source = tgsi_smith::from_seed(seed, &tgsi_smith::Config::default()).expect("a shader");
        if let Some(shader) = optimized(&source)
            && let Err(error) = compare(&shader, 2)
        {
            wrong.push(format!("{seed}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}

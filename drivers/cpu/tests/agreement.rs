//! Compares machine code with the interpreter of the IR, bit for bit: for generated shaders of every stage, and for
//! real shaders and single opcodes on recorded inputs.
//!
//! `TGSIC_COUNT=n` generates n shaders of each stage instead of 40, `TGSIC_SEED=n` sets the first seed.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{lines, references_by_path, shared};
use rayon::prelude::*;
use tgsi::tables::Processor;
use tgsi_compiler::{Compiler, Driver, Stage};
use tgsi_driver_cpu::{NoResources, Options, Program, Shared, compile};
use tgsi_environment::SystemValue;
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, Outputs, Resources, RunLimits};
use tgsi_ir::run::run;
use tgsi_run::vectors::{Vector, as_recorded};
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

fn compiler() -> Compiler {
    Compiler::for_target(tgsi_driver_cpu::DRIVER.target(&[]).expect("no options").into())
}

/// Returns small floats, small integers and arbitrary words.
fn words(state: &mut u64) -> impl FnMut() -> u32 {
    move || {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = (*state >> 32) as u32;
        match word % 7 {
            0 => word >> 3 & 15,
            1 => word,
            _ => (((word >> 8 & 0xfff) as f32 - 2048.0) / 512.0).to_bits(),
        }
    }
}

fn inputs(processor: Processor, seed: u64) -> Inputs {
    let mut state = seed ^ 0x9e37_79b9_7f4a_7c15;
    let mut next = words(&mut state);
    let lanes = match processor {
        Processor::Geometry => 3,
        Processor::TessControl => 4,
        Processor::Compute => 40,
        _ => 12,
    };
    let mut inputs = Inputs { lanes, inputs: LaneRegisters::new(lanes, 32), shared_size: 256, ..Inputs::default() };
    inputs.framebuffer = LaneRegisters::new(lanes, 8);
    if matches!(processor, Processor::Geometry | Processor::TessControl | Processor::TessEval) {
        inputs.inputs = LaneRegisters::new(lanes, 0);
        inputs.vertices = (0..6).map(|_| (0..32).map(|_| [next(), next(), next(), next()]).collect()).collect();
    }
    for file in [&mut inputs.inputs, &mut inputs.framebuffer] {
        for register in 0..file.len() {
            for component in 0..4 {
                file.component_mut(register, component).fill_with(&mut next);
            }
        }
    }
    for &value in SystemValue::ALL {
        let words = (0..4).map(|_| {
            (0..lanes).map(|_| if value.bit_size() == 1 { 0u32.wrapping_sub(next() & 1) } else { next() & 7 }).collect()
        });
        inputs.system_values.insert(value, words.collect());
    }
    let ids = |dimension: usize| (0..lanes as u32).map(|lane| [lane % 8, lane / 8, 0][dimension]).collect::<Vec<u32>>();
    inputs.system_values.insert(SystemValue::LocalInvocationId, vec![ids(0), ids(1), ids(2)]);
    inputs.constants = (0..4).map(|_| (0..256).map(|_| next()).collect()).collect();
    inputs.buffers = (0..4).map(|_| (0..64).flat_map(|_| next().to_le_bytes()).collect()).collect();
    inputs.counters = (0..2).map(|_| (0..16).map(|_| next()).collect()).collect();
    inputs.helpers =
        if processor == Processor::Fragment { (0..lanes).map(|lane| lane % 5 == 3).collect() } else { Vec::new() };
    inputs
}

/// Returns whether two words are equal, or both NaN.
fn same(a: u32, b: u32) -> bool {
    a == b || (f32::from_bits(a).is_nan() && f32::from_bits(b).is_nan())
}

fn difference(expected: &Outputs, found: &Outputs) -> Option<String> {
    let words = |outputs: &Outputs| -> Vec<u32> {
        let registers =
            (0..outputs.outputs.len()).flat_map(|r| (0..4).flat_map(move |c| outputs.outputs.component(r, c)));
        let emitted = outputs.emitted.iter().flatten().flatten().flatten().flatten();
        registers.chain(outputs.vertices.iter().flatten().flatten()).chain(emitted).copied().collect()
    };
    let bytes = |outputs: &Outputs| -> Vec<u32> {
        let all = outputs.buffers.iter().flatten().chain(&outputs.shared).copied().collect::<Vec<u8>>();
        all.chunks(4).map(|b| b.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte))).collect()
    };
    if expected.live != found.live {
        return Some(format!("live lanes {:?}, not {:?}", found.live, expected.live));
    }
    if expected.emitted.each_ref().map(Vec::len) != found.emitted.each_ref().map(Vec::len) {
        return Some("numbers of primitives".into());
    }
    for (what, a, b) in [("output", words(expected), words(found)), ("memory", bytes(expected), bytes(found))] {
        if a.len() != b.len() {
            return Some(format!("{} words of {what}, not {}", b.len(), a.len()));
        }
        if let Some(at) = (0..a.len()).find(|&at| !same(a[at], b[at])) {
            return Some(format!("{what} word {at}: {:08x}, not {:08x}", b[at], a[at]));
        }
    }
    (expected.counters != found.counters).then(|| "counters".into())
}

/// Runs a lowered shader in both interpreters; returns whether there was a result to compare.
fn compare(lowered: &tgsi_ir::Shader, program: &Program, inputs: &Inputs) -> Result<bool, String> {
    let limits = RunLimits::of_steps(400_000);
    let mut resources = AnalyticResources::default();
    // A shader that exceeds the interpreter's limits proves nothing.
    let Ok(expected) = run(lowered, inputs, &mut resources, limits) else { return Ok(false) };
    let texels = resources.stored_texels();
    let mut resources = AnalyticResources::default();
    let found = program.run(inputs, &mut resources, RunLimits::default()).map_err(|error| error.to_string())?;
    if let Some(text) = difference(&expected, &found) {
        return Err(text);
    }
    if texels != resources.stored_texels() {
        return Err("stored texels".into());
    }
    in_used_memory(lowered, program, inputs)?;
    Ok(true)
}

/// Runs a shader with independent lanes as hosts do, with outputs in memory with arbitrary contents.
fn in_used_memory(lowered: &tgsi_ir::Shader, program: &Program, inputs: &Inputs) -> Result<(), String> {
    if !matches!(program.stage(), tgsi_ir::ShaderStage::Vertex | tgsi_ir::ShaderStage::Fragment)
        || program.writes_memory()
    {
        return Ok(());
    }
    let limits = RunLimits::of_steps(400_000);
    let Ok(expected) = run(lowered, inputs, &mut Shared(&NoResources), limits) else { return Ok(()) };
    let words = LaneRegisters::stride_of(inputs.lanes) * 4 * program.output_registers();
    let outputs = LaneRegisters::from_words(inputs.lanes, vec![0xbad0_bad0; words]);
    let mut found = Outputs { outputs, ..Outputs::default() };
    let result = program.run_into(inputs, &NoResources, RunLimits::default(), &mut found);
    result.map_err(|error| error.to_string())?;
    difference(&expected, &found).map_or(Ok(()), |text| Err(format!("in used memory: {text}")))
}

fn report(failed: &BTreeMap<String, Vec<String>>, total: usize, compared: usize) {
    for (kind, names) in failed {
        println!("{:6} {kind} (first: {})", names.len(), names[0]);
    }
    let count: usize = failed.values().map(Vec::len).sum();
    println!("{total} runs, {compared} compared, {count} differ");
    assert!(failed.is_empty(), "{count} of {total} differ");
    // Some generated shaders do not terminate.
    assert!(total > 0 && compared * 10 >= total * 9, "{compared} of {total} compared");
}

#[test]
fn generated_shaders_agree() {
    let (count, seed) = (number("TGSIC_COUNT", 40), number("TGSIC_SEED", 1));
    let compiler = compiler();
    let cases: Vec<(Processor, u64)> =
        (seed..seed + count).flat_map(|seed| STAGES.iter().map(move |&stage| (stage, seed))).collect();
    let compared = AtomicUsize::new(0);
    let wrong: Vec<(String, String)> = cases
        .par_iter()
        .filter_map(|&(stage, seed)| {
            let config = Config::default().with_stage(stage);
            let shader = tgsi_smith::from_seed(seed, &config).expect("a shader");
            let name = format!("{} {seed}", stage.name());
            let lowered = compiler.ir_at(Stage::Registers, &shader).map_err(|error| (error.to_string(), name.clone()));
            let result = lowered.and_then(|lowered| {
                // Alternates between the usual mode and keeping inactive lanes as the interpreter does.
                for keep_inactive in [true, false] {
                    let quick = keep_inactive == (seed % 2 == 0);
                    let program = compile(&lowered, Options { keep_inactive, quick, ..Options::default() })
                        .map_err(|error| (error.to_string(), name.clone()))?;
                    let was_compared = compare(&lowered, &program, &inputs(stage, seed)).map_err(|error| {
                        (format!("keep {keep_inactive}, quick {quick}"), format!("{name}: {error}"))
                    })?;
                    compared.fetch_add(usize::from(was_compared && keep_inactive), Ordering::Relaxed);
                }
                Ok(())
            });
            result.err()
        })
        .collect();
    let mut failed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (kind, name) in wrong {
        failed.entry(kind).or_default().push(name);
    }
    report(&failed, cases.len(), compared.into_inner());
}

fn vectors_agree(file: &str, mut shader: impl FnMut(&str) -> Result<tgsi::Shader, String>) {
    let compiler = compiler();
    let mut failed: BTreeMap<String, Vec<String>> = BTreeMap::new();
    type Forms = (tgsi::Shader, tgsi_ir::Shader, Program);
    let mut all: HashMap<String, Result<Forms, String>> = HashMap::new();
    let (mut total, mut compared) = (0, 0);
    for line in lines(shared(file)) {
        let vector = Vector::parse(&line).expect("a vector");
        let forms = all.entry(vector.file.clone()).or_insert_with(|| {
            let tgsi = as_recorded(&shader(&vector.file)?);
            let lowered = compiler.ir_at(Stage::Registers, &tgsi).map_err(|error| error.to_string())?;
            let program = compile(&lowered, Options::default()).map_err(|error| error.to_string())?;
            Ok((tgsi, lowered, program))
        });
        total += 1;
        let result = forms
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|(tgsi, lowered, program)| compare(lowered, program, &vector.inputs(tgsi)));
        compared += usize::from(result == Ok(true));
        if let Err(error) = result {
            failed.entry(error).or_default().push(format!("{} seed {}", vector.file, vector.seed));
        }
    }
    report(&failed, total, compared);
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn real_shaders_agree() {
    let references = references_by_path();
    vectors_agree("oracle/corpus-vectors.jsonl.gz", |file| references.get(file).ok_or("no tokens")?.shader());
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn opcodes_agree() {
    vectors_agree("oracle/opcode-vectors.jsonl.gz", |file| {
        let text = std::fs::read(shared("oracle").join(file)).map_err(|error| error.to_string())?;
        tgsi::text::parse(&text).map(|parsed| parsed.shader).map_err(|errors| format!("{errors:?}"))
    });
}

//! The interpreter of the IR against recorded results and against the TGSI interpreter, with every shader of the shared
//! data, after conversion and in SSA form.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::common::{lines, references_by_path, shared};
use tgsi::Shader;
use tgsi::tables::{Opcode, Processor};
use tgsi_environment::{AnalyticResources, LaneRegisters, Outputs, Resources, RunLimits};
use tgsi_run::vectors::{Agreement, UninitialisedWords, Vector, as_recorded};
use tgsi_to_ir::{ToIrOptions, to_ir};

/// The forms of one shader.
struct Forms {
    tgsi: Shader,
    program: tgsi_run::Program,
    stages: Vec<(&'static str, tgsi_ir::Shader)>,
}

fn forms(shader: Shader) -> Result<Forms, String> {
    let tgsi = as_recorded(&shader);
    let program = tgsi_run::Program::new(&tgsi).map_err(|error| error.to_string())?;
    let parsed = to_ir(&tgsi, &ToIrOptions::default()).map_err(|error| error.to_string())?;
    let mut ssa = parsed.clone();
    tgsi_ir::passes::pipeline::into_ssa(&mut ssa);
    Ok(Forms { tgsi, program, stages: vec![("parsed", parsed), ("ssa", ssa)] })
}

/// Returns the reason, if any, why the results of a shader in the IR may differ from the recorded ones.
fn excuse(shader: &Shader) -> Option<&'static str> {
    shader.instructions.iter().find_map(|instruction| match instruction.opcode {
        // Near powers of two the logarithm is rounded up to the next integer before its floor is taken.
        Opcode::Log => Some("computed from the logarithm"),
        // The halves of a NaN are compared as words.
        Opcode::Dmin | Opcode::Dmax => Some("which of two NaNs comes out"),
        _ => None,
    })
}

/// Whether two words are equal, or both NaN, or floats that differ in the last places (a product and a sum that one
/// side fuses).
fn same(a: u32, b: u32) -> bool {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    a == b || (x.is_nan() && y.is_nan()) || Agreement::of(a, b) != Agreement::Different
}

/// Describes how two results differ, if they do.
fn difference(processor: Processor, a: &Outputs, b: &Outputs) -> Option<String> {
    let registers = |a: &LaneRegisters, b: &LaneRegisters| {
        for register in 0..a.len().max(b.len()) {
            for component in 0..4 {
                for lane in 0..a.lanes() {
                    let (x, y) = (a.get(register, component, lane), b.get(register, component, lane));
                    if !same(x, y) {
                        return Some(format!("OUT[{register}].{component} lane {lane}: {x:08x} and {y:08x}"));
                    }
                }
            }
        }
        None
    };
    if a.live != b.live {
        return Some(format!("live lanes {:?} and {:?}", a.live, b.live));
    }
    // Values of dead lanes, and those after the last vertex of a geometry shader, do not matter.
    let counts = a.live.iter().all(|&live| live) && processor != Processor::Geometry;
    if counts && let Some(text) = registers(&a.outputs, &b.outputs) {
        return Some(text);
    }
    let words = |o: &Outputs| -> Vec<u32> {
        let vertices = o.vertices.iter().flatten().flatten();
        let emitted = o.emitted.iter().flatten().flatten().flatten().flatten();
        vertices.chain(emitted).copied().collect()
    };
    let (x, y) = (words(a), words(b));
    if x.len() != y.len() || x.iter().zip(&y).any(|(&x, &y)| !same(x, y)) {
        return Some(format!("vertices {:x?} and {:x?}", a.emitted, b.emitted));
    }
    if a.buffers != b.buffers || a.shared != b.shared || a.counters != b.counters {
        return Some("memory".into());
    }
    None
}

fn run_all(name: &str, vectors: PathBuf, mut shader: impl FnMut(&str) -> Result<Shader, String>) {
    let mut all: HashMap<String, Result<Forms, String>> = HashMap::new();
    let mut failed: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut verdicts: BTreeMap<(&str, Agreement), usize> = BTreeMap::new();
    let mut excused: BTreeMap<&str, usize> = BTreeMap::new();
    let mut uninitialised = 0;
    let mut elapsed: BTreeMap<&str, (Duration, u64)> = BTreeMap::new();
    for line in lines(vectors) {
        let vector = Vector::parse(&line).unwrap();
        let forms = all.entry(vector.file.clone()).or_insert_with(|| forms(shader(&vector.file)?));
        let reason = forms.as_ref().ok().and_then(|forms| excuse(&forms.tgsi));
        let mut fail = |text: String| {
            if let Some(reason) = reason {
                *excused.entry(reason).or_default() += 1;
                return;
            }
            let entry = failed.entry(vector.file.clone()).or_insert((0, format!("seed {}: {text}", vector.seed)));
            entry.0 += 1;
        };
        let forms = match forms {
            Ok(forms) => forms,
            Err(error) => {
                fail(error.clone());
                continue;
            }
        };
        let inputs = vector.inputs(&forms.tgsi);
        let mut resources = AnalyticResources::default();
        let reference = tgsi_run::run(&forms.program, &inputs, &mut resources, RunLimits::default());
        let stored = resources.stored_texels();
        for (stage, ir) in &forms.stages {
            let mut resources = AnalyticResources::default();
            let start = Instant::now();
            let result = tgsi_ir::run::run(ir, &inputs, &mut resources, RunLimits::default());
            let entry = elapsed.entry(stage).or_default();
            entry.0 += start.elapsed();
            let outputs = match result {
                Ok(outputs) => outputs,
                Err(error) => {
                    fail(format!("{stage}: {error}"));
                    continue;
                }
            };
            entry.1 += outputs.steps;
            let mut comparison = vector.compare(&outputs);
            uninitialised += UninitialisedWords::new(&forms.tgsi).excuse(&forms.tgsi, &vector, &mut comparison);
            *verdicts.entry((stage, comparison.verdict())).or_default() += 1;
            if comparison.verdict() == Agreement::Different {
                fail(format!("{stage}: {:x?}", comparison.different.iter().take(4).collect::<Vec<_>>()));
            }
            if let Ok(reference) = &reference
                && let Some(text) = difference(forms.tgsi.processor, reference, &outputs)
            {
                fail(format!("{stage}: TGSI and IR: {text}"));
            }
            if stored != resources.stored_texels() {
                fail(format!("{stage}: TGSI and IR: stored texels"));
            }
        }
    }
    println!(
        "{name}: {} shaders, {verdicts:?}, uninitialised {uninitialised}, excused {excused:?}, {elapsed:?}",
        all.len()
    );
    for (file, (count, text)) in failed.iter().take(60) {
        println!("  {file} ({count}): {text}");
    }
    assert!(failed.is_empty(), "{} shaders of {name} disagree", failed.len());
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn corpus_vectors_agree_in_the_ir() {
    let vectors = shared("oracle/corpus-vectors.jsonl.gz");
    let references = references_by_path();
    run_all("corpus-vectors", vectors, |file| references.get(file).ok_or("no tokens")?.shader());
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn opcode_vectors_agree_in_the_ir() {
    let vectors = shared("oracle/opcode-vectors.jsonl.gz");
    let texts = shared("oracle/opcodes");
    let texts = texts.parent().unwrap().to_owned();
    run_all("opcode-vectors", vectors, |file| {
        let text = std::fs::read(texts.join(file)).map_err(|error| error.to_string())?;
        tgsi::text::parse(&text).map(|parsed| parsed.shader).map_err(|errors| format!("{errors:?}"))
    });
}

/// Randomly damaged shaders (replaced values, changed shapes and constant indices) may be rejected, but nothing may
/// panic.
#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn damaged_shaders_do_not_panic() {
    let texts = shared("oracle/opcodes");
    let mut files: Vec<PathBuf> = std::fs::read_dir(texts).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize % below.max(1)
    };
    let (mut runs, mut refused) = (0, 0);
    for file in &files {
        let Ok(parsed) = tgsi::text::parse(&std::fs::read(file).unwrap()) else { continue };
        let Ok(original) = to_ir(&parsed.shader, &ToIrOptions::default()) else { continue };
        for round in 0..12 {
            let mut shader = original.clone();
            if round % 2 == 1 {
                tgsi_ir::passes::pipeline::into_ssa(&mut shader);
            }
            let body = shader.main_mut();
            let insts: Vec<_> = body.blocks().flat_map(|block| body.insts(block).collect::<Vec<_>>()).collect();
            if insts.is_empty() {
                continue;
            }
            for _ in 0..1 + random(3) {
                let inst = insts[random(insts.len())];
                match random(4) {
                    0 if body.num_sources(inst) != 0 => {
                        let source = body.source(inst, random(body.num_sources(inst)));
                        let def = body.inst_def(insts[random(insts.len())]);
                        if let Some(def) = def {
                            body.set_src(source, def);
                        }
                    }
                    1 => {
                        if let Some(def) = body.inst_def(inst) {
                            let components = [1, 2, 3, 4, 5, 8, 16][random(7)];
                            let bits = [1, 8, 16, 32, 64][random(5)];
                            body.set_shape(def, tgsi_ir::Shape::new(components, bits));
                        }
                    }
                    2 => {
                        if let Some(op) = body.intrinsic(inst)
                            && !op.info().indices.is_empty()
                        {
                            let kind = op.info().indices[random(op.info().indices.len())];
                            let value = [0, 1, 3, -1, 16, i32::MAX, i32::MIN, 255][random(8)];
                            body.set_index(inst, kind, value);
                        }
                    }
                    _ => {
                        if let Some(tex) = body.tex_mut(inst) {
                            tex.coord_components = random(256) as u8;
                            tex.is_sparse = random(2) == 0;
                        }
                    }
                }
            }
            let lanes = [1, 4, 6][random(3)];
            let mut inputs =
                tgsi_environment::Inputs { lanes, inputs: LaneRegisters::new(lanes, 4), ..Default::default() };
            for register in 0..4 {
                for component in 0..4 {
                    for lane in 0..lanes {
                        inputs.inputs.set(register, component, lane, random(1 << 32) as u32);
                    }
                }
            }
            inputs.buffers = vec![vec![7; 33]; 2];
            inputs.constants = vec![vec![9; 17]; 2];
            inputs.counters = vec![vec![1; 2]];
            inputs.shared_size = 21;
            runs += 1;
            let limits = RunLimits::of_steps(20_000);
            refused +=
                usize::from(tgsi_ir::run::run(&shader, &inputs, &mut AnalyticResources::default(), limits).is_err());
        }
    }
    println!("{runs} damaged shaders, {refused} refused");
    assert!(runs > 1000 && refused > 0 && refused < runs);
}

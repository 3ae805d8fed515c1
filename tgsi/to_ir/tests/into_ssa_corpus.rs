//! The passes into SSA on every shader of the shared corpus: the result is valid, has no registers except arrays, and
//! gives the same results.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::common::{shaders, shared};
use flate2::read::GzDecoder;
use tgsi::text;
use tgsi_environment::{AnalyticResources, Inputs, Outputs, RunLimits};
use tgsi_ir::Shader;
use tgsi_ir::body::InstData;
use tgsi_ir::intrinsics::{IndexKind, IntrinsicOp};
use tgsi_ir::passes::into_ssa;
use tgsi_ir::passes::pass_manager::count_instructions;
use tgsi_ir::run::Program;
use tgsi_ir::validate::validate;
use tgsi_run::vectors::Vector;
use tgsi_to_ir::{ToIrOptions, to_ir};

fn convert(path: &Path) -> (tgsi::Shader, Shader) {
    let parsed = text::parse(&std::fs::read(path).unwrap()).unwrap();
    let ir = to_ir(&parsed.shader, &ToIrOptions::default()).unwrap();
    (parsed.shader, ir)
}

/// Counts registers that are not arrays, calls, and `return`s.
fn leftovers(shader: &Shader) -> usize {
    let bodies = shader.functions.values().filter_map(|f| f.body.as_ref());
    bodies
        .flat_map(|body| body.blocks().flat_map(|block| body.insts(block)).map(move |inst| (body, inst)))
        .filter(|&(body, inst)| match *body.inst(inst) {
            InstData::Intrinsic { op: IntrinsicOp::DeclReg, .. } => body.index(inst, IndexKind::NumArrayElems) == 0,
            InstData::Call { .. } | InstData::Jump(tgsi_ir::body::JumpKind::Return) => true,
            _ => false,
        })
        .count()
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn corpus_into_ssa() {
    let corpus = shared("corpus");
    let paths = shaders(&corpus);
    let (mut before, mut after, mut elapsed) = (0, 0, Duration::ZERO);
    let mut slowest = (Duration::ZERO, String::new(), 0);
    let mut kept_variables = 0;
    for path in &paths {
        let (_, mut ir) = convert(path);
        let count = count_instructions(&ir);
        before += count;
        let start = Instant::now();
        into_ssa(&mut ir);
        let time = start.elapsed();
        elapsed += time;
        if time > slowest.0 {
            slowest = (time, path.display().to_string(), count);
        }
        after += count_instructions(&ir);
        validate(&ir).unwrap_or_else(|errors| panic!("{}: {errors}", path.display()));
        assert_eq!(leftovers(&ir), 0, "{}", path.display());
        kept_variables += usize::from(!ir.main().locals.is_empty());
    }
    println!("{} shaders, {before} -> {after} instructions, {elapsed:?}; slowest: {slowest:?}", paths.len());
    println!("{kept_variables} shaders keep variables that are indexed at run time");
    assert!(paths.len() > 1000);
}

/// The words of a run, with all NaNs made equal.
fn comparable(outputs: &Outputs) -> Outputs {
    let mut outputs = outputs.clone();
    let same = |word: &mut u32| {
        if f32::from_bits(*word).is_nan() {
            *word = 0x7fc0_0000;
        }
    };
    for register in 0..outputs.outputs.len() {
        for component in 0..4 {
            outputs.outputs.component_mut(register, component).iter_mut().for_each(same);
        }
    }
    let vertices = outputs.emitted.iter_mut().flatten().flatten().chain(&mut outputs.vertices);
    vertices.flatten().flatten().for_each(same);
    outputs
}

fn run(program: &Program, inputs: &Inputs) -> Result<Outputs, String> {
    let outputs = program.run(inputs, &mut AnalyticResources::default(), RunLimits::default());
    outputs.map(|o| comparable(&o)).map_err(|error| error.to_string())
}

fn compare(vectors: &Path, find: impl Fn(&str) -> PathBuf) {
    let lines = BufReader::new(GzDecoder::new(std::fs::File::open(vectors).unwrap())).lines().map(Result::unwrap);
    let mut by_file: BTreeMap<String, Vec<Vector>> = BTreeMap::new();
    for line in lines {
        let vector = Vector::parse(&line).unwrap();
        by_file.entry(vector.file.clone()).or_default().push(vector);
    }
    let mut failed = Vec::new();
    let (mut count, mut steps_before, mut steps_after) = (0, 0, 0);
    for (file, vectors) in by_file {
        let (shader, ir) = convert(&find(&file));
        let mut ssa = ir.clone();
        into_ssa(&mut ssa);
        let (before, after) = (Program::new(&ir).unwrap(), Program::new(&ssa).unwrap());
        for vector in vectors {
            let inputs = vector.inputs(&shader);
            let (mut expected, mut found) = (run(&before, &inputs), run(&after, &inputs));
            for (outcome, steps) in [(&mut expected, &mut steps_before), (&mut found, &mut steps_after)] {
                if let Ok(outputs) = outcome {
                    *steps += std::mem::take(&mut outputs.steps);
                }
            }
            // If both failed alike, the test would prove nothing.
            if expected.is_err() || expected != found {
                failed.push(format!("{file} seed {}", vector.seed));
            }
            count += 1;
        }
    }
    println!("{count} runs, {steps_before} -> {steps_after} steps");
    assert!(failed.is_empty(), "{} differ:\n{}", failed.len(), failed[..failed.len().min(40)].join("\n"));
    assert!(count > 1000);
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn corpus_means_the_same() {
    let vectors = shared("oracle/corpus-vectors.jsonl.gz");
    let root = vectors.parent().and_then(Path::parent).unwrap().to_owned();
    compare(&vectors, |file| {
        let path = root.join(file);
        if path.exists() { path } else { root.join("corpus").join(file) }
    });
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn opcodes_mean_the_same() {
    let vectors = shared("oracle/opcode-vectors.jsonl.gz");
    let root = vectors.parent().unwrap().to_owned();
    compare(&vectors, |file| root.join(file));
}

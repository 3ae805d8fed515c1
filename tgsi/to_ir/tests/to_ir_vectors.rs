//! Recorded results against the IR of the converted shaders.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::common::{lines, references_by_path, shared};
use tgsi::Shader;
use tgsi_environment::{AnalyticResources, RunLimits};
use tgsi_run::vectors::{Agreement, UninitialisedWords, Vector, as_recorded};
use tgsi_to_ir::{ToIrOptions, to_ir};

/// Counts of vectors by verdict.
#[derive(Default, Debug)]
struct Totals {
    exact: usize,
    close: usize,
    different: usize,
    errors: usize,
    special: usize,
    /// Words with recorded values from uninitialised memory of the recording interpreter.
    uninitialised: usize,
    convert: Duration,
    run: Duration,
}

/// Runs every vector for which `shader` returns a shader. Special values are not binding for the IR.
fn run_all(name: &str, vectors: PathBuf, mut shader: impl FnMut(&str) -> Result<Shader, String>) -> Totals {
    let mut totals = Totals::default();
    let mut failed: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut by_file: BTreeMap<String, Vec<Vector>> = BTreeMap::new();
    for line in lines(vectors) {
        let vector = Vector::parse(&line).unwrap();
        by_file.entry(vector.file.clone()).or_default().push(vector);
    }
    let mut fail = |file: &str, text: String| {
        failed.entry(file.to_owned()).or_insert((0, text)).0 += 1;
    };
    for (file, vectors) in &by_file {
        let source = match shader(file) {
            Ok(shader) => as_recorded(&shader),
            Err(error) => {
                totals.errors += vectors.len();
                fail(file, error);
                continue;
            }
        };
        let start = Instant::now();
        let ir = to_ir(&source, &ToIrOptions::default()).unwrap();
        totals.convert += start.elapsed();
        if let Err(errors) = tgsi_ir::validate::validate(&ir) {
            fail(file, format!("invalid: {errors}"));
        }
        let start = Instant::now();
        let program = match tgsi_ir::run::Program::new(&ir) {
            Ok(program) => program,
            Err(error) => {
                totals.errors += vectors.len();
                fail(file, error.to_string());
                continue;
            }
        };
        let uninitialised = UninitialisedWords::new(&source);
        for vector in vectors {
            if vector.has_special_values() {
                totals.special += 1;
                continue;
            }
            let inputs = vector.inputs(&source);
            let outputs = match program.run(&inputs, &mut AnalyticResources::default(), RunLimits::default()) {
                Ok(outputs) => outputs,
                Err(error) => {
                    totals.errors += 1;
                    fail(file, error.to_string());
                    continue;
                }
            };
            let mut comparison = vector.compare(&outputs);
            totals.uninitialised += uninitialised.excuse(&source, vector, &mut comparison);
            match comparison.verdict() {
                Agreement::Exact => totals.exact += 1,
                Agreement::Close => totals.close += 1,
                Agreement::Different => {
                    totals.different += 1;
                    let differences: Vec<_> = comparison.different.iter().take(4).collect();
                    fail(file, format!("seed {}: {differences:x?}", vector.seed));
                }
            }
        }
        totals.run += start.elapsed();
    }
    println!("{name}: {totals:?}");
    for (file, (count, text)) in failed.iter().take(60) {
        println!("  {file} ({count}): {text}");
    }
    assert!(failed.is_empty(), "{} shaders of {name} disagree", failed.len());
    totals
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn corpus_vectors_agree_through_the_ir() {
    let vectors = shared("oracle/corpus-vectors.jsonl.gz");
    let references = references_by_path();
    let totals = run_all("corpus-vectors", vectors, |file| references.get(file).ok_or("no tokens")?.shader());
    assert!(totals.exact > 2000);
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn opcode_vectors_agree_through_the_ir() {
    let vectors = shared("oracle/opcode-vectors.jsonl.gz");
    let texts = shared("oracle/opcodes");
    let texts = texts.parent().unwrap().to_owned();
    let totals = run_all("opcode-vectors", vectors, |file| {
        let text = std::fs::read(texts.join(file)).map_err(|error| error.to_string())?;
        tgsi::text::parse(&text).map(|parsed| parsed.shader).map_err(|errors| format!("{errors:?}"))
    });
    assert!(totals.exact > 3000);
}

//! The interpreter against recorded results: every row of the shared data.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::time::Instant;

use crate::common::{lines, references_by_path, shared};
use tgsi::Shader;
use tgsi::shader::{Declaration, Dst, Instruction, Register, Src};
use tgsi::tables::{File, Opcode, Processor};
use tgsi_environment::{AnalyticResources, Inputs, LaneRegisters, RunLimits};
use tgsi_run::vectors::{Agreement, UninitialisedWords, Vector, as_recorded};
use tgsi_run::{Program, run};

/// Counts of vectors by verdict.
#[derive(Default, Debug)]
struct Totals {
    exact: usize,
    close: usize,
    different: usize,
    errors: usize,
    /// Number of different vectors with recorded results that depend on uninitialised memory.
    uninitialised: usize,
}

/// Runs every vector for which `shader` returns a shader; reports up to `shown` that are worse than `allowed`.
fn run_all(
    name: &str,
    vectors: PathBuf,
    mut shader: impl FnMut(&str) -> Result<Shader, String>,
    allowed: impl Fn(&Shader, Agreement) -> bool,
) -> Totals {
    let mut totals = Totals::default();
    let mut programs: HashMap<String, Result<(Shader, Program), String>> = HashMap::new();
    let mut failed: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let mut close: BTreeMap<String, usize> = BTreeMap::new();
    let all: Vec<Vector> = lines(vectors).map(|line| Vector::parse(&line).unwrap()).collect();
    for vector in &all {
        programs.entry(vector.file.clone()).or_insert_with(|| {
            let shader = as_recorded(&shader(&vector.file)?);
            let program = Program::new(&shader).map_err(|error| error.to_string())?;
            Ok((shader, program))
        });
    }
    let inputs: Vec<Option<Inputs>> =
        all.iter().map(|v| programs[&v.file].as_ref().ok().map(|(shader, _)| v.inputs(shader))).collect();
    let start = Instant::now();
    let results: Vec<_> = all
        .iter()
        .zip(&inputs)
        .map(|(vector, inputs)| match (&programs[&vector.file], inputs) {
            (Ok((_, program)), Some(inputs)) => {
                run(program, inputs, &mut AnalyticResources::default(), RunLimits::default())
                    .map_err(|error| error.to_string())
            }
            (Err(error), _) => Err(error.clone()),
            _ => Err("no inputs".into()),
        })
        .collect();
    let elapsed = start.elapsed();
    let steps: u64 = results.iter().flatten().map(|outputs| outputs.steps).sum();
    for (vector, result) in all.iter().zip(results) {
        let outcome = result.map(|outputs| {
            let mut comparison = vector.compare(&outputs);
            if let Ok((shader, _)) = &programs[&vector.file] {
                totals.uninitialised += UninitialisedWords::new(shader).excuse(shader, vector, &mut comparison);
            }
            comparison
        });
        let (ok, text) = match &outcome {
            Err(error) => {
                totals.errors += 1;
                (false, error.clone())
            }
            Ok(comparison) => {
                match comparison.verdict() {
                    Agreement::Exact => totals.exact += 1,
                    Agreement::Close => {
                        totals.close += 1;
                        *close.entry(vector.file.clone()).or_insert(0) += 1;
                    }
                    Agreement::Different => totals.different += 1,
                }
                let ok = programs[&vector.file].as_ref().is_ok_and(|(shader, _)| allowed(shader, comparison.verdict()));
                (ok, format!("{:x?}", comparison.different.iter().take(4).collect::<Vec<_>>()))
            }
        };
        if !ok {
            let entry = failed.entry(vector.file.clone()).or_insert((0, format!("seed {}: {text}", vector.seed)));
            entry.0 += 1;
        }
    }
    println!("{name}: {totals:?}, {steps} steps in {elapsed:?}; close: {close:?}");
    for (file, (count, text)) in failed.iter().take(60) {
        println!("  {file} ({count}): {text}");
    }
    assert!(failed.is_empty(), "{} shaders of {name} disagree", failed.len());
    totals
}

/// Opcodes with results from a math library, which may differ in the last bit between versions; and DABS, for which the
/// recording interpreter kept the sign of a zero and flipped that of a NaN.
fn may_differ(shader: &Shader) -> bool {
    use Opcode::*;
    shader.instructions.iter().any(|i| matches!(i.opcode, Ex2 | Lg2 | Pow | Exp | Log | Lit | Sin | Cos | Dabs))
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn corpus_vectors_agree() {
    let vectors = shared("oracle/corpus-vectors.jsonl.gz");
    let references = references_by_path();
    let totals = run_all(
        "corpus-vectors",
        vectors,
        |file| references.get(file).ok_or("no tokens")?.shader(),
        |_, agreement| agreement != Agreement::Different,
    );
    assert_eq!(totals.errors, 0);
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn opcode_vectors_agree() {
    let vectors = shared("oracle/opcode-vectors.jsonl.gz");
    let texts = shared("oracle/opcodes");
    let texts = texts.parent().unwrap().to_owned();
    let totals = run_all(
        "opcode-vectors",
        vectors,
        |file| {
            let text = std::fs::read(texts.join(file)).map_err(|error| error.to_string())?;
            tgsi::text::parse(&text).map(|parsed| parsed.shader).map_err(|errors| format!("{errors:?}"))
        },
        |shader, agreement| agreement == Agreement::Exact || (agreement == Agreement::Close && may_differ(shader)),
    );
    assert_eq!(totals.errors, 0);
}

/// Words of a field of the table: components separated by slashes; 16 digits are a pair, low word first.
fn field_words(field: &str) -> Vec<u32> {
    field
        .split('/')
        .flat_map(|part| {
            let value = u64::from_str_radix(part, 16).unwrap();
            if part.len() > 8 { vec![value as u32, (value >> 32) as u32] } else { vec![value as u32] }
        })
        .collect()
}

#[test]
#[cfg_attr(not(reference_data), ignore = "there is no reference data")]
fn alu_table_agrees() {
    let path = shared("spec/tgsi-alu-vectors.csv");
    let text = std::fs::read_to_string(path).unwrap();
    let mut programs: HashMap<Opcode, Program> = HashMap::new();
    let (mut exact, mut library, mut nan, mut undefined) = (0, 0, 0, 0);
    let mut failed = Vec::new();
    for row in text.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let (name, note) = (fields[0], fields[6]);
        if note.contains("out_of_range") || row.starts_with("DABS,8000000000000000,") {
            // Undefined conversions, and the sign of a zero; ours are covered by separate tests.
            undefined += 1;
            continue;
        }
        let opcode = Opcode::from_name(name.trim_end_matches(".y")).unwrap();
        let program = programs.entry(opcode).or_insert_with(|| {
            let mut shader = Shader::new(Processor::Compute);
            shader.push_declaration(Declaration::new(File::Input, 0, 3));
            shader.push_declaration(Declaration::new(File::Output, 0, 0));
            let mut instruction = Instruction::new(opcode);
            instruction.dst.push(Dst::new(Register::new(File::Output, 0)));
            for source in 0..opcode.info().num_src {
                instruction.src.push(Src::new(Register::new(File::Input, i32::from(source))));
            }
            shader.push_instruction(instruction);
            Program::new(&shader).unwrap()
        });
        let mut inputs = Inputs { lanes: 1, inputs: LaneRegisters::new(1, 4), ..Inputs::default() };
        let sources = fields[1..5].iter().filter(|field| !field.is_empty());
        for (source, field) in sources.enumerate() {
            for (component, word) in field_words(field).into_iter().enumerate() {
                // PK2H lists its two components as two sources.
                let (register, component) = if opcode == Opcode::Pk2h { (0, source) } else { (source, component) };
                inputs.inputs.set(register, component, 0, word);
            }
        }
        let outputs = run(program, &inputs, &mut AnalyticResources::default(), RunLimits::default()).unwrap();
        let expected = field_words(fields[5]);
        let first = usize::from(name.ends_with(".y"));
        let found: Vec<u32> = (first..first + expected.len()).map(|c| outputs.outputs.get(0, c, 0)).collect();
        let wide = fields[5].len() == 16;
        let float = f32::from_bits;
        let close = |a: u32, b: u32| a == b || (float(a).is_nan() && float(b).is_nan()) || a.abs_diff(b) <= 2;
        let agrees = if found == expected {
            exact += 1;
            true
        } else if note.contains("libm") {
            library += 1;
            expected.iter().zip(&found).all(|(&a, &b)| close(a, b))
        } else if note.contains("nan") {
            nan += 1;
            if opcode == Opcode::Pk2h {
                let half_nan = |half: u32| half & 0x7c00 == 0x7c00 && half & 0x3ff != 0;
                [0, 16].into_iter().all(|shift| {
                    let (a, b) = (expected[0] >> shift & 0xffff, found[0] >> shift & 0xffff);
                    a == b || (half_nan(a) && half_nan(b))
                })
            } else if wide {
                let double = |words: &[u32]| f64::from_bits(u64::from(words[1]) << 32 | u64::from(words[0]));
                double(&expected).is_nan() && double(&found).is_nan()
            } else {
                expected.iter().zip(&found).all(|(&a, &b)| a == b || (float(a).is_nan() && float(b).is_nan()))
            }
        } else {
            false
        };
        if !agrees {
            failed.push(format!("{row}: found {found:08x?}"));
        }
    }
    println!("alu table: exact {exact}, library within 2 ulp {library}, NaN {nan}, undefined {undefined}");
    assert!(failed.is_empty(), "{} rows: {:#?}", failed.len(), &failed[..failed.len().min(20)]);
}
